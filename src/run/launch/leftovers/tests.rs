//! Tests which leftovers of a dead run are removed, and which stay because a note is not trusted.

use std::os::unix::fs::symlink;

use rustix::fs::{AtFlags, CWD};
use tempfile::TempDir;

use super::*;
use crate::run::launch::resume::lock_directory;

const ID: &str = "0badcafe";
/// A timeout that is longer than any machine needs.
const START_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(60);

/// An agent directory and a temporary directory, both with leftovers of a run.
struct Scene {
    root: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { root: tempfile::tempdir().expect("a temporary directory is created") };
        for name in ["agent/auth.json", "tmp/x", "prompt.md", "guard.cjs", "session.jsonl", "output.md"] {
            scene.write(&format!("runs/{ID}/{name}"));
        }
        scene.write(&format!("tmp/pi-subagent-{ID}/deep/file"));
        scene.write("mine/file");
        symlink(scene.at("mine"), scene.at(&format!("tmp/pi-subagent-{ID}/link")))
            .expect("the link is created");
        scene
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        fs::write(path, "x").expect("the file is written");
    }

    fn run(&self) -> PathBuf {
        self.at(&format!("runs/{ID}"))
    }

    fn temporary(&self) -> PathBuf {
        self.at(&format!("tmp/pi-subagent-{ID}"))
    }

    fn note(&self, run: &Path, temporary: &Path) -> PathBuf {
        let note = Note::write(self.root.path(), run, Some(temporary)).expect("the note is written");
        note.expect("the run gets a note").path().to_owned()
    }

    /// Returns the sorted names of a directory's entries.
    fn names(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(name)).expect("the directory is readable");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry.expect("the entry is readable").file_name().into_string().expect("the name is UTF-8")
            })
            .collect();
        names.sort();
        names
    }

    fn assert_untouched(&self, label: &str) {
        let names = self.names(&format!("runs/{ID}"));
        assert_eq!(names.iter().filter(|name| *name != layout::LOCK).count(), 6, "{label}");
        assert_eq!(self.names(&format!("tmp/pi-subagent-{ID}")), ["deep", "link"], "{label}");
        assert_eq!(self.names("mine"), ["file"], "{label}");
    }
}

#[test]
fn a_dead_run_keeps_its_session_and_outputs_only() {
    let scene = Scene::new();
    let note = scene.note(&scene.run(), &scene.temporary());
    let agent = agent_dir_of(&note);
    fs::create_dir(&agent).expect("the directory is created");
    symlink(scene.at("mine"), agent.join("skills")).expect("the link is created");
    sweep(scene.root.path()).expect("the sweep succeeds");
    assert_eq!(scene.names(&format!("runs/{ID}")), ["output.md", "session.jsonl"]);
    assert!(!scene.temporary().exists() && !note.exists() && !agent.exists());
    assert_eq!(scene.names("mine"), ["file"], "links are not followed");
}

#[test]
fn a_living_run_is_not_swept_until_it_has_ended() {
    let scene = Scene::new();
    let note = scene.note(&scene.run(), &scene.temporary());
    let lock = lock_directory(&scene.run()).expect("the run is locked");
    sweep(scene.root.path()).expect("the sweep succeeds");
    scene.assert_untouched("alive");
    assert!(note.exists());
    drop(lock);
    sweep(scene.root.path()).expect("the sweep succeeds");
    assert!(!note.exists() && !scene.temporary().exists());
}

#[test]
fn a_temporary_directory_is_removed_if_its_run_is_gone() {
    let scene = Scene::new();
    let note = scene.note(&scene.run(), &scene.temporary());
    fs::remove_dir_all(scene.run()).expect("the directory is removed");
    sweep(scene.root.path()).expect("the sweep succeeds");
    assert!(!scene.temporary().exists() && !note.exists() && !scene.run().exists());
}

#[test]
fn a_file_in_place_of_a_temporary_directory_stays() {
    let scene = Scene::new();
    let note = scene.note(&scene.run(), &scene.temporary());
    fs::remove_dir_all(scene.temporary()).expect("the directory is removed");
    fs::write(scene.temporary(), "another program's").expect("the file is written");
    sweep(scene.root.path()).expect("the sweep succeeds");
    assert!(scene.temporary().is_file() && !note.exists());
}

#[test]
fn a_note_that_names_other_paths_removes_nothing() {
    let scene = Scene::new();
    let run = scene.run();
    let temporary = scene.temporary();
    let mine = scene.at("mine");
    let text = |run: &Path, temporary: &Path| {
        [run.as_os_str().as_bytes(), b"\0", temporary.as_os_str().as_bytes(), b"\0"].concat()
    };
    let complete_note = text(&run, &temporary);
    fs::create_dir_all(layout::scratch(scene.root.path())).expect("the directory is created");
    let note = layout::scratch(scene.root.path()).join("note");
    for (label, bytes) in [
        ("a directory that does not belong to a run", text(&mine, &temporary)),
        ("another temporary directory", text(&run, &mine)),
        ("the temporary directory of another run", text(&run, &scene.at("tmp/pi-subagent-00000000"))),
        ("a relative path", text(Path::new(ID), &temporary)),
        ("half a note", complete_note[..complete_note.len() - 1].to_vec()),
        ("one path", [run.as_os_str().as_bytes(), b"\0"].concat()),
        ("three paths", [&complete_note[..], b"/\0"].concat()),
        ("nothing", Vec::new()),
    ] {
        fs::write(&note, bytes).expect("the file is written");
        sweep(scene.root.path()).expect("the sweep succeeds");
        scene.assert_untouched(label);
        fs::remove_file(&note).expect("a note with other paths stays");
    }
    fs::write(scene.at("elsewhere"), &complete_note).expect("the file is written");
    symlink(scene.at("elsewhere"), &note).expect("the link is created");
    sweep(scene.root.path()).expect("the sweep succeeds");
    scene.assert_untouched("a link in place of a note");
}

#[test]
fn links_in_place_of_directories_are_not_followed() {
    let scene = Scene::new();
    let run = scene.run();
    let temporary = scene.temporary();
    let hidden = scene.at("hidden");
    let deep = scene.at("deep");
    fs::rename(&run, &hidden).expect("the rename succeeds");
    fs::rename(&temporary, &deep).expect("the rename succeeds");
    symlink(&hidden, &run).expect("the link is created");
    symlink(&deep, &temporary).expect("the link is created");
    scene.note(&run, &temporary);
    sweep(scene.root.path()).expect("the sweep succeeds");
    assert_eq!((scene.names("hidden").len(), scene.names("deep").len()), (6, 2));
    // A link in place of the directory of notes is not trusted either.
    let other = Scene::new();
    other.note(&other.run(), &other.temporary());
    let notes = layout::scratch(other.root.path());
    fs::rename(&notes, other.at("notes")).expect("the rename succeeds");
    symlink(other.at("notes"), &notes).expect("the link is created");
    sweep(other.root.path()).expect("the sweep succeeds");
    other.assert_untouched("a link in place of the directory of notes");
}

/// Leftovers of releases that wrote no notes, and of interrupted writes.
#[test]
fn leftovers_without_a_note_are_removed_only_if_they_are_old() {
    let scene = Scene::new();
    let agent_dir = scene.root.path();
    let temporaries = scene.at("tmp");
    let runs = ["subagents/runs/0badcafe", "sessions/--project--/conversation/0badcafe"];
    let young = "sessions/--project--/conversation/1badcafe";
    let alive = "sessions/--project--/conversation/2badcafe";
    for run in runs.into_iter().chain([young, alive]) {
        for name in ["agent/auth.json", "tmp/x", "prompt.md", "guard.ts", "session.jsonl", "mine.md"] {
            scene.write(&format!("{run}/{name}"));
        }
    }
    let cut_off = [".auth.json.a1B2c3.tmp", "subagents/.confirmed-agents.json.a1B2c3.tmp"];
    let retained = [".mine.json.a1B2c3.tmp", "auth.json", "sessions/--project--/.auth.json.x.tmp"];
    for name in cut_off.iter().chain(&retained) {
        scene.write(name);
    }
    for name in ["pi-subagent-3badcafe/x", "pi-subagent-4badcafe/x", "pi-subagent-mine/x", "other-3badcafe/x"]
    {
        scene.write(&format!("tmp/{name}"));
    }
    for name in ["1a2b/auth.json", "3c4d/auth.json"] {
        scene.write(&format!("subagents/scratch/{name}"));
    }
    scene.write("subagents/scratch/3c4d.run");
    let lock = lock_directory(&scene.at(alive)).expect("the run is locked");
    unnoted::sweep(agent_dir, &temporaries).expect("the sweep succeeds");
    assert_eq!(scene.names(runs[0]).len(), 6, "recent files stay");
    for path in all_below(agent_dir) {
        let is_young = path.starts_with(scene.at(young)) || path.ends_with("pi-subagent-4badcafe");
        if !is_young {
            age(&path);
        }
    }
    unnoted::sweep(agent_dir, &temporaries).expect("the sweep succeeds");
    for run in runs {
        assert_eq!(scene.names(run), ["mine.md", "session.jsonl"], "{run}");
    }
    assert_eq!(scene.names(young).len(), 6);
    assert_eq!(scene.names(alive).len(), 7, "a locked run keeps all of its files");
    drop(lock);
    assert!(cut_off.iter().all(|name| !scene.at(name).exists()));
    assert!(retained.iter().all(|name| scene.at(name).exists()));
    assert_eq!(scene.names("subagents/scratch"), ["3c4d", "3c4d.run"], "a directory with a note stays");
    // The directory of the first scene belongs to a run that was swept.
    assert_eq!(scene.names("tmp"), ["other-3badcafe", "pi-subagent-4badcafe", "pi-subagent-mine"]);
    assert_eq!(scene.names("mine"), ["file"], "links are not followed");
}

#[test]
fn a_temporary_directory_in_the_arguments_of_a_process_stays() {
    let scene = Scene::new();
    let path = scene.at("tmp/pi-subagent-5badcafe");
    scene.write("tmp/pi-subagent-5badcafe/x");
    for path in all_below(&scene.at("tmp")) {
        age(&path);
    }
    let mut warden = std::process::Command::new("/bin/sh")
        .args(["-c", "read -r line", "warden", "--scratch"])
        .arg(&path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("the shell starts");
    // The arguments of a program become visible a moment after its start.
    let arguments = format!("/proc/{}/cmdline", warden.id());
    let since = std::time::Instant::now();
    while fs::read(&arguments).expect("the shell runs").is_empty() {
        assert!(since.elapsed() < START_TIMEOUT, "timed out waiting for the arguments of the shell");
        std::thread::yield_now();
    }
    unnoted::sweep(scene.root.path(), &scene.at("tmp")).expect("the sweep succeeds");
    assert!(path.exists());
    drop(warden.stdin.take());
    warden.wait().expect("the shell ends");
    unnoted::sweep(scene.root.path(), &scene.at("tmp")).expect("the sweep succeeds");
    assert!(!path.exists());
}

fn all_below(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).expect("the directory is readable") {
        let path = entry.expect("the entry is readable").path();
        if fs::symlink_metadata(&path).expect("the file exists").is_dir() {
            all.extend(all_below(&path));
        }
        all.push(path);
    }
    all
}

/// Sets the modification time of a path to two days ago.
fn age(path: &Path) {
    let before = std::time::SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
    let since = before.duration_since(std::time::UNIX_EPOCH).expect("the time is after 1970");
    let time = rustix::fs::Timespec { tv_sec: since.as_secs().cast_signed(), tv_nsec: 0 };
    let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
    rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).expect("the time is set");
}

/// With a full table of file descriptors, the directory once looked empty, and this process never swept again.
#[test]
fn a_process_that_cannot_open_files_sweeps_later() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let scene = Scene::new();
    let note = scene.note(&scene.run(), &scene.temporary());
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(0), maximum: before.maximum })
        .expect("the limit is lowered");
    let swept = sweep(scene.root.path());
    let unnoted = unnoted::sweep(scene.root.path(), &scene.at("tmp"));
    setrlimit(Resource::Nofile, before).expect("the limit is restored");
    assert!(swept.is_err() && unnoted.is_err());
    scene.assert_untouched("a sweep without free descriptors");
    assert!(note.exists());
    sweep(scene.root.path()).expect("the sweep succeeds");
    assert!(!note.exists() && !scene.temporary().exists());
}
