//! What of a dead run goes, and what stays where a note cannot be believed.

use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;
use crate::run::launch::resume::lock_directory;

const ID: &str = "0badcafe";

/// An agent directory, and what a run has left there and in a temporary directory.
struct Scene {
    root: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { root: tempfile::tempdir().expect("a temporary directory") };
        for name in ["agent/auth.json", "tmp/x", "prompt.md", "guard.cjs", "session.jsonl", "output.md"] {
            scene.write(&format!("runs/{ID}/{name}"));
        }
        scene.write(&format!("tmp/pi-subagent-{ID}/deep/file"));
        scene.write("mine/file");
        symlink(scene.at("mine"), scene.at(&format!("tmp/pi-subagent-{ID}/link"))).expect("linked");
        scene
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, "x").expect("written");
    }

    fn run(&self) -> PathBuf {
        self.at(&format!("runs/{ID}"))
    }

    fn temporary(&self) -> PathBuf {
        self.at(&format!("tmp/pi-subagent-{ID}"))
    }

    fn note(&self, run: &Path, temporary: &Path) -> PathBuf {
        let note = Note::write(self.root.path(), run, Some(temporary)).expect("no shortage");
        note.expect("it can be written").path().to_owned()
    }

    /// The entries of a directory, sorted.
    fn names(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(name)).expect("readable");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("readable").file_name().into_string().expect("a name"))
            .collect();
        names.sort();
        names
    }

    fn assert_untouched(&self, label: &str) {
        assert_eq!(self.names(&format!("runs/{ID}")).len(), 6, "{label}");
        assert_eq!(self.names(&format!("tmp/pi-subagent-{ID}")), ["deep", "link"], "{label}");
        assert_eq!(self.names("mine"), ["file"], "{label}");
    }
}

#[test]
fn a_dead_run_keeps_what_was_said_and_nothing_else() {
    let scene = Scene::new();
    let note = scene.note(&scene.run(), &scene.temporary());
    let agent = agent_beside(&note);
    fs::create_dir(&agent).expect("made");
    symlink(scene.at("mine"), agent.join("skills")).expect("linked");
    sweep(scene.root.path());
    assert_eq!(scene.names(&format!("runs/{ID}")), ["output.md", "session.jsonl"]);
    assert!(!scene.temporary().exists() && !note.exists() && !agent.exists());
    assert_eq!(scene.names("mine"), ["file"], "links are not followed");
}

#[test]
fn a_run_that_lives_is_left_alone_until_it_has_ended() {
    let scene = Scene::new();
    let note = scene.note(&scene.run(), &scene.temporary());
    let lock = lock_directory(&scene.run()).expect("free");
    sweep(scene.root.path());
    scene.assert_untouched("alive");
    assert!(note.exists());
    drop(lock);
    sweep(scene.root.path());
    assert!(!note.exists() && !scene.temporary().exists());
}

#[test]
fn what_lies_in_the_temporary_directory_goes_where_the_run_is_gone() {
    let scene = Scene::new();
    let note = scene.note(&scene.run(), &scene.temporary());
    fs::remove_dir_all(scene.run()).expect("removed");
    sweep(scene.root.path());
    assert!(!scene.temporary().exists() && !note.exists() && !scene.run().exists());
}

#[test]
fn a_note_that_names_anything_else_removes_nothing() {
    let scene = Scene::new();
    let (run, temporary) = (scene.run(), scene.temporary());
    let mine = scene.at("mine");
    let text = |run: &Path, temporary: &Path| {
        [run.as_os_str().as_bytes(), b"\0", temporary.as_os_str().as_bytes(), b"\0"].concat()
    };
    let whole = text(&run, &temporary);
    fs::create_dir_all(layout::scratch(scene.root.path())).expect("made");
    let note = layout::scratch(scene.root.path()).join("note");
    for (label, bytes) in [
        ("a directory that is no run's", text(&mine, &temporary)),
        ("another temporary directory", text(&run, &mine)),
        ("that of another run", text(&run, &scene.at("tmp/pi-subagent-00000000"))),
        ("a relative path", text(Path::new(ID), &temporary)),
        ("half a note", whole[..whole.len() - 1].to_vec()),
        ("one path", [run.as_os_str().as_bytes(), b"\0"].concat()),
        ("three paths", [&whole[..], b"/\0"].concat()),
        ("nothing", Vec::new()),
    ] {
        fs::write(&note, bytes).expect("written");
        sweep(scene.root.path());
        scene.assert_untouched(label);
        fs::remove_file(&note).expect("it stays");
    }
    fs::write(scene.at("elsewhere"), &whole).expect("written");
    symlink(scene.at("elsewhere"), &note).expect("linked");
    sweep(scene.root.path());
    scene.assert_untouched("a link in the place of a note");
}

#[test]
fn links_in_the_place_of_directories_are_not_followed() {
    let scene = Scene::new();
    let (run, temporary) = (scene.run(), scene.temporary());
    let (hidden, deep) = (scene.at("hidden"), scene.at("deep"));
    fs::rename(&run, &hidden).expect("moved");
    fs::rename(&temporary, &deep).expect("moved");
    symlink(&hidden, &run).expect("linked");
    symlink(&deep, &temporary).expect("linked");
    scene.note(&run, &temporary);
    sweep(scene.root.path());
    assert_eq!((scene.names("hidden").len(), scene.names("deep").len()), (6, 2));
    // Nor is one in the place of the notes.
    let other = Scene::new();
    other.note(&other.run(), &other.temporary());
    let notes = layout::scratch(other.root.path());
    fs::rename(&notes, other.at("notes")).expect("moved");
    symlink(other.at("notes"), &notes).expect("linked");
    sweep(other.root.path());
    other.assert_untouched("a link in the place of the notes");
}
