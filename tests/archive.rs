//! Archiving and removing the directories of past runs without touching other files, even if the store is wrong.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use pi_subagent_native::archive::{
    ArchiveError, Candidate, RunPlace, archive, current_transcript, disk_use, keep_within, remove,
    run_directories,
};
use tempfile::TempDir;

/// 2025-11-22T07:49:12.345Z
const NOW_MS: i64 = 1_763_797_752_345;
const STAMP: &str = "2025-11-22T07-49-12.345Z";

/// An agent directory, and a conversation whose session file is next to the directories of its runs.
struct Home {
    root: TempDir,
    agent_dir: PathBuf,
    session_file: PathBuf,
}

impl Home {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let agent_dir = root.path().join("agent");
        let session_file = root.path().join("sessions/conversation.jsonl");
        fs::create_dir_all(root.path().join("sessions")).expect("the directory is created");
        fs::create_dir(&agent_dir).expect("the directory is created");
        fs::write(&session_file, "the conversation").expect("the file is written");
        Self { root, agent_dir, session_file }
    }

    /// Returns the directory of a run of the conversation.
    fn run(&self, id: &str) -> PathBuf {
        run_directory(&self.root.path().join("sessions/conversation").join(id))
    }

    /// Returns the directory of a run without a conversation.
    fn homeless(&self, id: &str) -> PathBuf {
        run_directory(&self.agent_dir.join("subagents/runs").join(id))
    }

    fn place<'a>(&'a self, directory: &'a Path) -> RunPlace<'a> {
        RunPlace { directory, agent_dir: &self.agent_dir, session_file: Some(&self.session_file) }
    }

    fn homeless_place<'a>(&'a self, directory: &'a Path) -> RunPlace<'a> {
        RunPlace { directory, agent_dir: &self.agent_dir, session_file: None }
    }

    /// Returns everything below a directory, by path, with the text of files.
    fn everything(&self) -> BTreeMap<PathBuf, String> {
        let mut pending = vec![self.root.path().to_owned()];
        let mut all = BTreeMap::new();
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(directory)
                .expect("the directory is readable")
                .map(|entry| entry.expect("the entry is readable"))
            {
                let kind = entry.file_type().expect("the entry is readable");
                if kind.is_dir() {
                    pending.push(entry.path());
                }
                let text = if kind.is_file() {
                    fs::read_to_string(entry.path()).expect("the file is readable")
                } else {
                    format!("{kind:?}")
                };
                all.insert(entry.path(), text);
            }
        }
        all
    }
}

fn run_directory(path: &Path) -> PathBuf {
    fs::create_dir_all(path).expect("the directory is created");
    fs::write(path.join("session.jsonl"), "first").expect("the file is written");
    fs::write(path.join("session-2.jsonl"), "second").expect("the file is written");
    fs::write(path.join("output.md"), "output").expect("the file is written");
    path.to_owned()
}

/// Returns the space of a file, as the system counts it.
fn space(file: &Path) -> u64 {
    fs::metadata(file).expect("the file exists").blocks() * 512
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory is readable");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("the entry is readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn transcripts_are_archived_once_under_a_name_with_the_time() {
    let home = Home::new();
    for (run, place) in [
        (home.run("0badcafe"), Home::place as for<'a> fn(&'a Home, &'a Path) -> RunPlace<'a>),
        (home.homeless("0badcafe"), Home::homeless_place),
    ] {
        fs::write(run.join("prompt.md"), "{}").expect("the file is written");
        archive(&place(&home, &run), NOW_MS).expect("the transcripts are archived");
        let aside = |name: &str| format!("{name}.deleted.{STAMP}");
        // A result names its output by path, so that file keeps its name.
        let kept = ["output.md", "prompt.md"].map(str::to_owned);
        let expected = [kept.as_slice(), &["session-2.jsonl", "session.jsonl"].map(aside)].concat();
        assert_eq!(names(&run), expected);
        let session = run.join("session.jsonl");
        assert_eq!(current_transcript(&session), Some(run.join(aside("session.jsonl"))));
        assert_eq!(
            fs::read_to_string(run.join(aside("session.jsonl"))).expect("the file is readable"),
            "first"
        );
        archive(&place(&home, &run), NOW_MS + 1).expect("the transcripts are archived");
        assert_eq!(names(&run), expected);
        // The run continued in the meantime, even in the same millisecond. The first archive is not lost.
        fs::write(&session, "third").expect("the file is written");
        assert_eq!(current_transcript(&session).as_ref(), Some(&session));
        archive(&place(&home, &run), NOW_MS).expect("the transcripts are archived");
        assert_eq!(
            fs::read_to_string(run.join(aside("session.jsonl"))).expect("the file is readable"),
            "first"
        );
        let second = run.join(format!("session.jsonl.deleted.{STAMP}-2"));
        assert_eq!(fs::read_to_string(&second).expect("the file is readable"), "third");
        assert_eq!(current_transcript(&session), Some(second), "the transcript is the newest session");
        let all = disk_use(std::slice::from_ref(&run)).bytes;
        assert_eq!(remove(&place(&home, &run)).expect("the files are removed"), all);
        assert!(!run.exists());
        assert_eq!(current_transcript(&session), None);
        for _ in 0..2 {
            archive(&place(&home, &run), NOW_MS).expect("archiving a missing run succeeds");
            assert_eq!(remove(&place(&home, &run)).expect("removing a missing run succeeds"), 0);
        }
    }
    assert_eq!(fs::read_to_string(&home.session_file).expect("the file is readable"), "the conversation");
}

#[test]
fn foreign_files_stay_in_the_directory_of_a_run() {
    let home = Home::new();
    let run = home.run("0badcafe");
    let outside = home.root.path().join("outside.jsonl");
    fs::write(&outside, "not ours").expect("the file is written");
    fs::write(run.join("notes.md"), "mine").expect("the file is written");
    fs::create_dir(run.join("session-3.jsonl")).expect("the directory is created");
    fs::write(run.join("session-3.jsonl/session.jsonl"), "mine").expect("the file is written");
    fs::remove_file(run.join("output.md")).expect("the file is removed");
    symlink(&outside, run.join("output.md")).expect("the link is created");
    symlink(home.root.path(), run.join("session-4.jsonl")).expect("the link is created");
    archive(&home.place(&run), NOW_MS).expect("the transcripts are archived");
    let sessions = ["session", "session-2"].map(|name| format!("{name}.jsonl.deleted.{STAMP}"));
    let both: u64 = sessions.iter().map(|name| space(&run.join(name))).sum();
    assert_eq!(remove(&home.place(&run)).expect("the files are removed"), both, "both sessions are removed");
    assert_eq!(names(&run), ["notes.md", "output.md", "session-3.jsonl", "session-4.jsonl"]);
    assert_eq!(fs::read_to_string(&outside).expect("the file is readable"), "not ours");
    assert_eq!(names(&run.join("session-3.jsonl")), ["session.jsonl"]);
}

#[test]
fn a_foreign_directory_is_refused() {
    let home = Home::new();
    let run = home.run("0badcafe");
    let root = home.root.path();
    // A directory with a similar name, in another place.
    let similar = run_directory(&root.join("project/conversation/0badcafe"));
    let unknown = run_directory(&root.join("sessions/another/0badcafe"));
    let upper = run_directory(&root.join("sessions/conversation/0BADCAFE"));
    let named = run_directory(&root.join("sessions/conversation/important"));
    let deeper = run_directory(&run.join("deadbeef"));
    let homeless = home.homeless("0badcafe");
    let file = root.join("sessions/conversation/0badf11e");
    fs::write(&file, "a file").expect("the file is written");
    // Links on the path, even to a run.
    symlink(&similar, root.join("sessions/conversation/11111111")).expect("the link is created");
    symlink(&run, root.join("sessions/conversation/22222222")).expect("the link is created");
    symlink(root.join("nowhere"), root.join("sessions/conversation/33333333")).expect("the link is created");
    symlink(root.join("sessions/conversation"), root.join("sessions/linked")).expect("the link is created");
    let linked_session = root.join("sessions/linked.jsonl");
    let before = home.everything();
    let refused = [
        home.place(&similar),
        home.place(&unknown),
        home.place(&upper),
        home.place(&named),
        home.place(&deeper),
        home.place(&homeless),
        home.homeless_place(&run),
        home.place(&file),
        home.place(&home.session_file),
        home.place(root),
        home.place(Path::new("/")),
        home.place(Path::new("")),
        home.place(Path::new("0badcafe")),
        home.place(Path::new("conversation/0badcafe")),
    ];
    let odd: Vec<PathBuf> = [
        "sessions/conversation/11111111",
        "sessions/conversation/22222222",
        "sessions/conversation/33333333",
        "sessions/another/../conversation/0badcafe",
        "sessions/conversation/0badcafe/..",
        "sessions/conversation/0badcafe/../0badcafe",
    ]
    .map(|path| root.join(path))
    .into();
    let odd = odd.iter().map(|path| home.place(path));
    let linked = root.join("sessions/linked/0badcafe");
    let linked = RunPlace { session_file: Some(&linked_session), ..home.place(&linked) };
    // The conversation named by a row is not trusted either.
    let up = root.join("sessions/../sessions/conversation.jsonl");
    let [up, relative, empty] = [up.as_path(), Path::new("conversation.jsonl"), Path::new("")]
        .map(|session_file| RunPlace { session_file: Some(session_file), ..home.place(&run) });
    for place in refused.into_iter().chain(odd).chain([linked, up, relative, empty]) {
        for result in [archive(&place, NOW_MS), remove(&place).map(drop)] {
            let error = result.expect_err("the directory does not belong to a run");
            assert!(matches!(error, ArchiveError::Foreign { .. }), "{place:?}: {error:?}");
        }
        let all = [Candidate { place, is_archived: true, is_removable: true }];
        assert!(keep_within(0, &all, |_| true).is_empty(), "{place:?}");
    }
    assert_eq!(home.everything(), before);
}

#[test]
fn links_below_the_agent_directory_are_not_followed_and_links_to_it_are() {
    let home = Home::new();
    let real = home.homeless("0badcafe");
    let moved = home.root.path().join("moved");
    fs::rename(home.agent_dir.join("subagents"), &moved).expect("the rename succeeds");
    symlink(&moved, home.agent_dir.join("subagents")).expect("the link is created");
    let before = home.everything();
    for result in
        [archive(&home.homeless_place(&real), NOW_MS), remove(&home.homeless_place(&real)).map(drop)]
    {
        assert!(matches!(result, Err(ArchiveError::Foreign { .. })));
    }
    assert_eq!(home.everything(), before);
    // The agent directory itself may be a link, and be named by either path.
    fs::remove_file(home.agent_dir.join("subagents")).expect("the file is removed");
    fs::rename(&moved, home.agent_dir.join("subagents")).expect("the rename succeeds");
    let link = home.root.path().join("link");
    symlink(&home.agent_dir, &link).expect("the link is created");
    let place = RunPlace { directory: &real, agent_dir: &link, session_file: None };
    archive(&place, NOW_MS).expect("the transcripts are archived");
    let by_link = link.join("subagents/runs/0badcafe");
    remove(&home.homeless_place(&by_link)).expect("the files are removed");
    assert!(!real.exists());
}

#[test]
fn beyond_the_quota_archived_runs_are_removed_first_and_then_the_oldest() {
    let home = Home::new();
    let ids = ["00000000", "00000001", "00000002", "00000003", "00000004"];
    let runs = ids.map(|id| home.run(id));
    let homeless = home.homeless("00000005");
    // Each has three files. One was archived, one is running.
    let each = disk_use(&[runs[0].clone()]).bytes;
    assert!(each > 0, "the file system reports disk use");
    archive(&home.place(&runs[2]), NOW_MS).expect("the transcripts are archived");
    let candidates: Vec<_> = runs
        .iter()
        .enumerate()
        .map(|(at, run)| Candidate { place: home.place(run), is_archived: at == 2, is_removable: at != 0 })
        .chain([Candidate { place: home.homeless_place(&homeless), is_archived: false, is_removable: true }])
        .collect();
    let all = 6 * each;
    let nothing: [usize; 0] = [];
    assert_eq!(keep_within(all, &candidates, |_| true), nothing);
    assert_eq!(keep_within(all - 1, &candidates, |_| true), [2], "the archived run is removed first");
    // Foreign files take up space, but do not count as removable.
    fs::write(runs[1].join("notes.md"), "x".repeat(1000)).expect("the file is written");
    assert_eq!(keep_within(all - 3 * each, &candidates, |_| true), [1, 3]);
    assert_eq!(names(&runs[1]), ["notes.md"]);
    assert_eq!(
        keep_within(all - 3 * each, &candidates, |_| true),
        nothing,
        "nothing is removed once three runs remain"
    );
    assert_eq!(keep_within(0, &candidates, |_| true), [4, 5], "active runs are kept");
    assert_eq!(names(&runs[0]), ["output.md", "session-2.jsonl", "session.jsonl"]);
    // An unreadable run does not affect the others.
    let gone = home.root.path().join("elsewhere/0badcafe");
    let broken = Candidate { place: home.place(&gone), is_archived: false, is_removable: true };
    assert_eq!(keep_within(0, &[broken, Candidate { is_removable: true, ..candidates[0] }], |_| true), [1]);
}

/// A child claimed this about its session. All transcripts of all runs were removed, its own last.
#[test]
fn a_file_that_only_claims_to_be_large_removes_nothing() {
    let home = Home::new();
    let runs = ["00000000", "00000001", "00000002"].map(|id| home.run(id));
    let sparse =
        fs::File::options().append(true).open(runs[1].join("session.jsonl")).expect("the file is opened");
    sparse.set_len(1 << 42).expect("the file is extended");
    let candidates: Vec<_> = runs
        .iter()
        .map(|run| Candidate { place: home.place(run), is_archived: false, is_removable: true })
        .collect();
    assert_eq!(keep_within(1 << 20, &candidates, |_| true), [0; 0]);
    assert!(disk_use(&runs).bytes < 1 << 20);
}

#[test]
fn a_run_that_alone_exceeds_the_quota_is_removed_first() {
    let home = Home::new();
    let runs = ["00000000", "00000001", "00000002"].map(|id| home.run(id));
    fs::write(runs[2].join("session.jsonl"), "x".repeat(1 << 20)).expect("the file is written");
    archive(&home.place(&runs[0]), NOW_MS).expect("the transcripts are archived");
    let candidates: Vec<_> = runs
        .iter()
        .enumerate()
        .map(|(at, run)| Candidate { place: home.place(run), is_archived: at == 0, is_removable: true })
        .collect();
    assert_eq!(keep_within(1 << 19, &candidates, |_| true), [2]);
}

#[test]
fn disk_use_counts_each_file_once_and_follows_no_link() {
    let home = Home::new();
    let run = home.run("0badcafe");
    let known = home.homeless("00000001");
    let unknown = home.homeless("00000002");
    fs::create_dir(known.parent().expect("the path has a parent").join("not-a-run"))
        .expect("the directory is created");
    symlink(&unknown, known.parent().expect("the path has a parent").join("00000003"))
        .expect("the link is created");
    let nested = run.join("agent");
    fs::create_dir(&nested).expect("the directory is created");
    fs::write(nested.join("x"), "1234").expect("the file is written");
    let all = [run.clone(), nested, run.clone(), known.clone(), home.root.path().join("nothing")];
    let found = disk_use(&all);
    let files = ["session.jsonl", "session-2.jsonl", "output.md"];
    let files: Vec<_> = [&run, &known].iter().flat_map(|run| files.map(|name| run.join(name))).collect();
    let expected: u64 = files.iter().chain([&run.join("agent/x")]).map(|file| space(file)).sum();
    assert_eq!((found.bytes, found.is_complete), (expected, true));
    let parent = known.parent().expect("the path has a parent").to_owned();
    let mut runs = run_directories(&parent);
    runs.sort();
    assert_eq!(runs, [known, unknown]);
    assert!(run_directories(&parent.join("nothing")).is_empty());
}

/// The artifacts of a run's tree count like its own files and are removed with them.
#[test]
fn the_snapshot_of_a_run_counts_towards_the_quota_and_is_removed_with_its_files() {
    let home = Home::new();
    let snapshot = |id: &str| {
        let snapshot = home.agent_dir.join("subagents/snapshots").join(id);
        fs::create_dir_all(snapshot.join("objects/ab")).expect("the directory is created");
        fs::write(snapshot.join("objects/ab/cd"), vec![1; 100_000]).expect("the file is written");
        snapshot
    };
    let runs = ["00000001", "00000002", "00000003"].map(|id| home.run(id));
    let kept = ["00000001", "00000003"].map(snapshot);
    let candidates: Vec<_> = runs
        .iter()
        .map(|run| Candidate { place: home.place(run), is_archived: false, is_removable: true })
        .collect();
    let quota = 150_000;
    let files = disk_use(&runs).bytes;
    assert!(files < quota && files + disk_use(&kept).bytes > quota, "only the snapshots exceed the quota");
    assert_eq!(keep_within(quota, &candidates, |_| true), [0], "the oldest snapshot is removed");
    assert_eq!(kept.each_ref().map(|path| path.exists()), [false, true]);
    // A private tree that was not imported yet holds work that exists nowhere else.
    fs::write(kept[1].join("private.json"), "{}").expect("the file is written");
    let removed = keep_within(0, &candidates, |_| true);
    assert!(removed.contains(&2) && kept[1].exists(), "{removed:?}");
}
