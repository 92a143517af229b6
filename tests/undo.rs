//! Undo in a real work tree: the run's changes are reverted, and no other file is touched.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::support::repository::{ID, Scene};
use crate::support::saver::{Plan, Saver};
use worktree::{Difference, Git, Snapshot, SnapshotLimits, SnapshotStore, Undone};

impl Scene {
    async fn store_with_snapshot(&self) -> SnapshotStore {
        let store = self.store().await;
        store.take(ID, &self.root()).await.expect("the snapshot is taken");
        store
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).expect("the file is readable")
    }
}

async fn kept(store: &SnapshotStore) -> Snapshot {
    store.open(ID).await.expect("the snapshot is readable")
}

async fn undo(store: &SnapshotStore) -> Undone {
    store.undo(&kept(store).await, SystemTime::now()).await.expect("git succeeds")
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[tokio::test]
async fn an_undo_restores_every_change_of_a_run() {
    let scene = Scene::committed();
    let root = scene.root();
    scene.write("kept.txt", "not committed");
    scene.write("untracked.txt", "untracked");
    scene.write("script.sh", "#!/bin/sh\n");
    fs::set_permissions(root.join("script.sh"), fs::Permissions::from_mode(0o755))
        .expect("the permissions are set");
    symlink("kept.txt", root.join("link")).expect("the link is created");
    scene.write(".gitignore", "*.log\n");
    scene.write("x.log", "ignored");
    let store = scene.store_with_snapshot().await;

    scene.write("kept.txt", "the run's\0 words\n");
    fs::remove_file(root.join("untracked.txt")).expect("the file is removed");
    fs::remove_dir_all(root.join("dir")).expect("the directory is removed");
    scene.write("dir", "a file where a directory was");
    fs::set_permissions(root.join("script.sh"), fs::Permissions::from_mode(0o644))
        .expect("the permissions are set");
    fs::remove_file(root.join("link")).expect("the file is removed");
    symlink("/etc/passwd", root.join("link")).expect("the link is created");
    scene.write("new/deep/file", "new");
    scene.write("x.log", "the run's");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));

    let undone = undo(&store).await;
    let expected =
        ["dir", "dir/inner.txt", "kept.txt", "link", "new/deep/file", "script.sh", "untracked.txt"];
    assert_eq!(undone, Undone { restored: paths(&expected), ..Undone::default() });
    assert_eq!(scene.text("kept.txt"), "not committed");
    assert_eq!(scene.text("untracked.txt"), "untracked");
    assert_eq!(scene.text("dir/inner.txt"), "inner");
    assert_eq!(fs::read_link(root.join("link")).expect("the link is readable"), PathBuf::from("kept.txt"));
    let mode = fs::metadata(root.join("script.sh")).expect("the file exists").permissions().mode();
    assert_eq!(mode & 0o100, 0o100, "{mode:o}");
    assert!(!root.join("new").exists(), "a directory with only new files is removed");
    assert_eq!(scene.text("x.log"), "the run's", "ignored files are kept");
    let remaining: Vec<_> = fs::read_dir(&root)
        .expect("the directory is readable")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(!remaining.iter().any(|name| name.to_string_lossy().contains("undo")), "{remaining:?}");

    let repeated = Undone { is_repeated: true, ..Undone::default() };
    assert_eq!(undo(&store).await, repeated, "a second undo restores nothing");
}

#[tokio::test]
async fn a_run_that_hides_its_new_files_from_git_has_changed_something() {
    for (place, planted) in [("", "planted.sh"), ("tools/", "tools/planted.sh"), ("a/b/", "a/b/c/planted.sh")]
    {
        let scene = Scene::committed();
        let store = scene.store().await;
        // A file that ignores itself from the start is not reported.
        scene.write("cache/.gitignore", "*\n");
        store.take_in_place(ID, &scene.root()).await.expect("the snapshot is taken");
        let ignore_file = format!("{place}.gitignore");
        scene.write(&ignore_file, "*\n");
        scene.write(planted, "evil");
        scene.write("cache/file", "text");
        assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"), "{ignore_file}");

        let expected = [PathBuf::from(ignore_file)];
        assert_eq!(store.changed_ignore_files(&kept(&store).await).await, expected);
        assert_eq!(difference(&store).await.0.ignore_files, expected);
        assert_eq!(undo(&store).await.ignore_files, expected);
    }
    let scene = Scene::committed();
    scene.write(".gitignore", "*.log\n");
    scene.commit();
    let store = scene.store().await;
    store.take_in_place(ID, &scene.root()).await.expect("the snapshot is taken");
    scene.write("x.log", "text");
    assert!(!store.note_end(&kept(&store).await).await.expect("git succeeds"));
    scene.write(".gitignore", "*\n");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    assert_eq!(undo(&store).await.ignore_files, paths(&[".gitignore"]));
    assert_eq!(scene.text(".gitignore"), "*.log\n");
}

/// Returns the difference of a run, and its text.
async fn difference(store: &SnapshotStore) -> (Difference, String) {
    let shown = store.difference(ID, SystemTime::now()).await.expect("git succeeds");
    let text = String::from_utf8_lossy(&shown.text).into_owned();
    (shown, text)
}

/// The files of a diff in git's format, each with its changed lines.
fn files_of(text: &str) -> Vec<(String, Vec<&str>)> {
    let mut files: Vec<(String, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        if let Some(names) = line.strip_prefix("diff --git a/") {
            files.push((names.split(" b/").next().unwrap_or_default().to_owned(), Vec::new()));
        } else if !line.starts_with("index ")
            && !line.starts_with("---")
            && !line.starts_with("+++")
            && !line.starts_with("@@")
            && let Some((_, lines)) = files.last_mut()
        {
            lines.push(line);
        }
    }
    files
}

#[tokio::test]
async fn a_difference_in_place_has_exactly_the_changes_of_the_run() {
    let scene = Scene::committed();
    let root = scene.root();
    let set_mode = |name: &str, mode: u32| {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).expect("the mode is set");
    };
    scene.write(".gitignore", "*.log\n");
    for name in ["script.sh", "private.txt", "committed.txt"] {
        scene.write(name, "text\n");
    }
    scene.write("binary", "a\0b");
    symlink("kept.txt", root.join("link")).expect("the link is created");
    fs::create_dir(root.join("empty")).expect("the directory is created");
    scene.commit();
    // The person's work before the run.
    scene.write("kept.txt", "mine, not committed\n");
    scene.write("untracked.txt", "mine, untracked\n");
    scene.write("mine.txt", "mine\n");
    let store = scene.store().await;
    store.take_in_place(ID, &root).await.expect("the snapshot is taken");

    scene.write("kept.txt", "the run's\n");
    scene.write("committed.txt", "the run's\n");
    scene.write("new/file.txt", "new\n");
    scene.write("ignored.log", "ignored");
    scene.write("binary", "a\0c");
    fs::remove_file(root.join("untracked.txt")).expect("the file is removed");
    fs::remove_file(root.join("link")).expect("the link is removed");
    symlink("mine.txt", root.join("link")).expect("the link is created");
    fs::remove_dir(root.join("empty")).expect("the directory is removed");
    set_mode("script.sh", 0o755);
    set_mode("private.txt", 0o600);
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));

    let expected = |text: &str| {
        let link = ["-kept.txt", "\\ No newline at end of file", "+mine.txt", "\\ No newline at end of file"];
        let expected = [
            ("binary", vec!["Binary files a/binary and b/binary differ"]),
            ("committed.txt", vec!["-text", "+the run's"]),
            ("kept.txt", vec!["-mine, not committed", "+the run's"]),
            ("link", link.to_vec()),
            ("new/file.txt", vec!["new file mode 100644", "+new"]),
            ("script.sh", vec!["old mode 100644", "new mode 100755"]),
            ("untracked.txt", vec!["deleted file mode 100644", "-mine, untracked"]),
        ];
        let expected: Vec<_> = expected.into_iter().map(|(name, lines)| (name.to_owned(), lines)).collect();
        assert_eq!(files_of(text), expected);
    };
    let (shown, text) = difference(&store).await;
    expected(&text);
    let unrecorded: Vec<_> = shown
        .unrecorded
        .iter()
        .map(|change| (change.path.to_str(), change.is_directory, change.old.is_some(), change.new))
        .collect();
    assert_eq!(
        unrecorded,
        [(Some("empty"), true, true, None), (Some("private.txt"), false, true, Some(0o600))]
    );
    assert_eq!(shown.changed_since, paths(&[]));

    // The person works on: edits, commits, and removes a file.
    scene.git(&["add", "committed.txt", "new"]);
    scene.git(&["commit", "-qm", "of the person"]);
    scene.write("kept.txt", "mine again\n");
    scene.write("mine.txt", "mine, edited\n");
    scene.write("later.txt", "mine\n");
    scene.write("untracked.txt", "mine, made again\n");
    fs::remove_file(root.join("binary")).expect("the file is removed");
    let before = scene.git(&["status", "--porcelain"]);
    let (shown, text) = difference(&store).await;
    expected(&text);
    assert_eq!(shown.changed_since, paths(&["binary", "kept.txt", "untracked.txt"]));
    assert!(!shown.is_until_now && !shown.is_undone);
    assert_eq!(scene.git(&["status", "--porcelain"]), before, "the tree is unchanged");
    // The patch makes the same changes, binary ones included.
    let patch = fs::read_to_string(shown.patch.expect("the diff names a patch")).expect("it is readable");
    assert!(patch.contains("GIT binary patch"), "{patch}");
}

#[tokio::test]
async fn an_undo_is_recorded_once_every_file_is_restored() {
    let scene = Scene::committed();
    let store = scene.store().await;
    store.take_in_place(ID, &scene.root()).await.expect("the snapshot is taken");
    scene.write("kept.txt", "the run's");
    scene.write("new.txt", "the run's");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    scene.write("new.txt", "mine");
    assert_eq!(undo(&store).await.changed_since, paths(&["new.txt"]));
    assert!(!difference(&store).await.0.is_undone, "a file of the run is still there");
    scene.write("new.txt", "the run's");
    assert_eq!(undo(&store).await.restored, paths(&["new.txt"]));
    assert!(difference(&store).await.0.is_undone);
    scene.write("kept.txt", "mine");
    assert!(undo(&store).await.is_repeated, "a later edit is not the run's");
}

/// The tree of git is the same at the start and at the end.
#[tokio::test]
async fn a_run_that_changed_only_permissions_is_not_taken_for_an_isolated_one() {
    let scene = Scene::committed();
    let store = scene.store().await;
    store.take_in_place(ID, &scene.root()).await.expect("the snapshot is taken");
    fs::set_permissions(scene.root().join("kept.txt"), fs::Permissions::from_mode(0o600))
        .expect("the permissions are set");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    assert!(!kept(&store).await.is_of_private_tree());
    let (shown, text) = difference(&store).await;
    assert_eq!((text.as_str(), shown.unrecorded.len()), ("", 1));
    assert_eq!(undo(&store).await.restored, paths(&["kept.txt"]));
}

/// Its host was killed.
#[tokio::test]
async fn without_a_recorded_end_a_difference_reaches_until_now_and_names_newer_files() {
    let scene = Scene::committed();
    let store = scene.store().await;
    store.take_in_place(ID, &scene.root()).await.expect("the snapshot is taken");
    scene.write("kept.txt", "the run's");
    let found = fs::symlink_metadata(scene.root().join("kept.txt")).expect("the file exists");
    let since = Duration::new(found.ctime().unsigned_abs(), u32::try_from(found.ctime_nsec()).unwrap_or(0));
    let changed = SystemTime::UNIX_EPOCH + since;
    let shown = store.difference(ID, changed).await.expect("git succeeds");
    assert!(shown.is_until_now && shown.changed_since.is_empty(), "{shown:?}");
    let shown = store.difference(ID, changed - Duration::from_secs(1)).await.expect("git succeeds");
    assert_eq!(shown.changed_since, paths(&["kept.txt"]));
}

#[tokio::test]
async fn files_changed_after_the_run_are_named_and_kept() {
    let scene = Scene::committed();
    let store = scene.store_with_snapshot().await;
    scene.write("kept.txt", "the run's");
    scene.write("dir/inner.txt", "the run's");
    scene.write("new.txt", "the run's");
    scene.write("gone.txt", "the run's");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    scene.write("kept.txt", "somebody's");
    scene.write("new.txt", "somebody's");
    scene.write("own.txt", "somebody's");
    fs::remove_file(scene.root().join("gone.txt")).expect("the file is removed");

    let undone = undo(&store).await;
    assert_eq!(undone.restored, paths(&["dir/inner.txt"]));
    assert_eq!(undone.changed_since, paths(&["kept.txt", "new.txt"]));
    assert_eq!(undone.failed, []);
    for name in ["kept.txt", "new.txt", "own.txt"] {
        assert_eq!(scene.text(name), "somebody's");
    }
}

/// Its host was killed, so only the times of the files are known.
#[tokio::test]
async fn if_the_end_was_not_recorded_newer_files_stay() {
    let scene = Scene::committed();
    let store = scene.store_with_snapshot().await;
    scene.write("kept.txt", "the run's");
    scene.write("dir/inner.txt", "somebody's");
    scene.write("moved.txt", "somebody's");
    let changed = |name: &str| {
        let found = fs::symlink_metadata(scene.root().join(name)).expect("the file exists");
        (found.ctime(), found.ctime_nsec())
    };
    let (seconds, part) = changed("kept.txt");
    let since = Duration::new(
        seconds.try_into().expect("the number is positive"),
        part.try_into().expect("the number is positive"),
    );
    for name in ["dir/inner.txt", "moved.txt"] {
        // The clock of a file system advances in steps.
        while changed(name) <= (seconds, part) {
            scene.write(name, "somebody's");
        }
    }
    // The file was moved there, and keeps the time of its content.
    let moved =
        fs::File::options().write(true).open(scene.root().join("moved.txt")).expect("the file is opened");
    moved.set_modified(SystemTime::UNIX_EPOCH + since - Duration::from_secs(60)).expect("the time is set");
    let undone = store.undo(&kept(&store).await, SystemTime::UNIX_EPOCH + since).await.expect("git succeeds");
    assert_eq!(undone.restored, paths(&["kept.txt"]));
    assert_eq!(undone.changed_since, paths(&["dir/inner.txt", "moved.txt"]));
}

/// More than the limit for git's output. The limit of a snapshot counts only uncommitted files.
#[tokio::test]
async fn large_files_removed_by_a_run_are_restored() {
    const BYTES: u64 = 90 * 1024 * 1024;
    let scene = Scene::committed();
    let large = ["a", "b", "c"].map(|name| scene.root().join(name));
    for (number, path) in large.iter().enumerate() {
        scene.write(path.to_str().expect("the path is UTF-8"), &number.to_string());
        fs::File::options()
            .write(true)
            .open(path)
            .expect("the file is opened")
            .set_len(BYTES)
            .expect("the file is extended");
    }
    scene.git(&["config", "core.compression", "1"]);
    scene.commit();
    let store = scene.store_with_snapshot().await;
    for path in &large {
        fs::remove_file(path).expect("the file is removed");
    }
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    assert_eq!(undo(&store).await, Undone { restored: paths(&["a", "b", "c"]), ..Undone::default() });
    assert!(large.iter().all(|path| fs::metadata(path).expect("the file exists").len() == BYTES));
}

/// A concurrent reader, or a crash, finds the old record or the new one.
#[tokio::test]
async fn the_record_of_a_snapshot_is_replaced_in_one_step() {
    use std::io::Read as _;
    let scene = Scene::committed();
    let store = scene.store_with_snapshot().await;
    let record = store.directory(ID).join("snapshot.json");
    let before = fs::read(&record).expect("the file is readable");
    let mut opened = fs::File::open(&record).expect("the file is opened");
    scene.write("kept.txt", "the run's");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    let mut old = Vec::new();
    opened.read_to_end(&mut old).expect("the file is readable");
    assert!(old == before && fs::read(&record).expect("the file is readable") != before);
}

#[tokio::test]
async fn a_private_file_stays_private() {
    let scene = Scene::committed();
    let path = scene.root().join("kept.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("the permissions are set");
    let store = scene.store_with_snapshot().await;
    scene.write("kept.txt", "the run's");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    assert_eq!(undo(&store).await.restored, paths(&["kept.txt"]));
    assert_eq!(fs::metadata(path).expect("the file exists").permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_link_in_place_of_a_directory_does_not_lead_out_of_the_tree() {
    let scene = Scene::committed();
    let root = scene.root();
    let outside = scene.at("outside");
    fs::create_dir(&outside).expect("the directory is created");
    fs::write(outside.join("inner.txt"), "outside").expect("the file is written");
    let store = scene.store_with_snapshot().await;
    scene.write("dir/inner.txt", "the run's");
    scene.write("dir/new.txt", "the run's");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    // git looks for a directory at its place, so it shows as a change of its own.
    fs::rename(root.join("dir"), root.join("moved")).expect("the rename succeeds");
    symlink(&outside, root.join("dir")).expect("the link is created");
    fs::write(outside.join("new.txt"), "outside").expect("the file is written");

    let undone = undo(&store).await;
    assert!(undone.restored.is_empty(), "{undone:?}");
    assert_eq!(fs::read_to_string(outside.join("inner.txt")).expect("the file is readable"), "outside");
    assert_eq!(fs::read_to_string(outside.join("new.txt")).expect("the file is readable"), "outside");
    assert_eq!(fs::read_dir(&outside).expect("the directory is readable").count(), 2);
}

#[tokio::test]
async fn changes_here_during_an_isolated_run_are_not_attributed_to_it() {
    let scene = Scene::committed();
    let store = scene.store_with_snapshot().await;
    store.note_other_tree(&kept(&store).await).await.expect("the other tree is recorded");
    scene.write("kept.txt", "somebody's");
    assert_eq!(undo(&store).await, Undone::default());
    assert_eq!(scene.text("kept.txt"), "somebody's");
}

#[tokio::test]
async fn a_run_without_changes_says_so() {
    let scene = Scene::committed();
    let store = scene.store_with_snapshot().await;
    assert!(!store.note_end(&kept(&store).await).await.expect("git succeeds"));
}

/// Some file systems show every file as executable.
#[tokio::test]
async fn files_are_restored_if_git_does_not_trust_their_modes() {
    let scene = Scene::committed();
    scene.git(&["config", "core.fileMode", "false"]);
    let path = scene.root().join("kept.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the permissions are set");
    let store = scene.store_with_snapshot().await;
    scene.write("kept.txt", "the run's");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    assert_eq!(undo(&store).await, Undone { restored: paths(&["kept.txt"]), ..Undone::default() });
    assert_eq!(scene.text("kept.txt"), "kept");
}

/// A killed undo leaves temporary files.
#[tokio::test]
async fn a_killed_undo_is_completed_by_the_next_undo() {
    let scene = Scene::committed();
    let root = scene.root();
    let store = scene.store_with_snapshot().await;
    scene.write("kept.txt", "the run's");
    scene.write("dir/inner.txt", "the run's");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    let name = |number| format!(".pi-subagent-undo-{ID}-mark-{number}");
    store
        .keep(&Snapshot { undo_mark: Some("mark".to_owned()), ..kept(&store).await })
        .await
        .expect("it is noted");
    scene.write(&name(7), "the run's");
    scene.write(&format!("dir/{}", name(8)), "ker");
    scene.write(&format!("dir/{}", name(9)), "somebody's");
    let undone = undo(&store).await;
    assert_eq!(undone.restored, paths(&["dir/inner.txt", "kept.txt"]));
    let remaining: Vec<_> = undone.failed.iter().map(|(path, _)| path.display().to_string()).collect();
    assert_eq!(remaining, [8, 9].map(|number| format!("dir/{}", name(number))), "{undone:?}");
    assert!(undone.failed[0].1.contains("no snapshot has its content"), "{undone:?}");
    let has = |directory: &str, number| root.join(directory).join(name(number)).exists();
    assert!(!has("", 7) && has("dir", 8) && has("dir", 9));
}

/// A child knows the id of its run.
#[tokio::test]
async fn a_run_cannot_take_the_names_of_its_undos_temporary_files() {
    let scene = Scene::committed();
    let store = scene.store_with_snapshot().await;
    scene.write("kept.txt", "the run's");
    for number in 0..200 {
        scene.write(&format!(".pi-subagent-undo-{ID}-{number}"), "kept");
    }
    scene.write(".gitignore", ".pi-subagent-undo-*\n");
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    let undone = undo(&store).await;
    assert_eq!(undone, Undone { restored: paths(&[".gitignore", "kept.txt"]), ..Undone::default() });
    assert_eq!(scene.text("kept.txt"), "kept");
    let repeated = Undone { is_repeated: true, ..Undone::default() };
    assert_eq!(undo(&store).await, repeated);
}

/// The kinds of changes, with the number of files of each.
const KINDS: [(&str, usize); 3] = [("added", 800), ("modified", 1200), ("removed", 400)];
/// The saver watches the first file of each group and saves the others.
const GROUP: usize = 8;
/// The minimum number of saves in the race.
const SAVES: usize = 10_000;

/// The saver follows the undo from file to file, so that each save is close to the moment when its file is restored.
#[tokio::test]
async fn no_save_is_lost_during_an_undo() {
    let scene = Scene::in_memory();
    let root = scene.root();
    let files = |kind: &'static str, count| (0..count).map(move |number| format!("{kind}{number:05}"));
    let all = || KINDS.into_iter().flat_map(|(kind, count)| files(kind, count));
    for name in all().filter(|name| !name.starts_with("added")) {
        scene.write(&name, "before the run\n");
    }
    scene.commit();
    let git = Git::find(&scene.env(), &[], None).await.expect("git is found");
    let limits = SnapshotLimits { bytes: 1 << 20, files: 100_000 };
    let store = SnapshotStore::new(git, &scene.at("agent"), &scene.env(), limits);
    let mut saves = 0;
    let mut restored = 0;
    for round in 0.. {
        scene.git(&["checkout", "-q", "--", "."]);
        scene.git(&["clean", "-qfd"]);
        store.take(ID, &root).await.expect("the snapshot is taken");
        for name in all() {
            if name.starts_with("removed") {
                fs::remove_file(root.join(name)).expect("the file is removed");
            } else {
                scene.write(&name, "of the run\n");
            }
        }
        // The host of one run was killed.
        if round != 1 {
            assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
        }
        let plans = KINDS.into_iter().flat_map(|(kind, count)| {
            let plan = |number: usize| {
                let leader = (number - number % GROUP).saturating_sub(GROUP * (number % 3));
                let after = Some(root.join(format!("{kind}{leader:05}")));
                Plan { file: root.join(format!("{kind}{number:05}")), after }
            };
            (0..count).filter(|number| number % GROUP != 0).map(plan).collect::<Vec<_>>()
        });
        let editor = Saver::start(plans.collect());
        let undone = undo(&store).await;
        let kept_as: Vec<_> = undone.kept_versions.iter().map(|(_, aside)| root.join(aside)).collect();
        saves += editor.check(&kept_as);
        for (path, why) in &undone.failed {
            assert!(why.contains("a program has it open for writing"), "{}: {why}", path.display());
        }
        restored += undone.restored.len();
        for name in
            fs::read_dir(&root).expect("the directory is readable").flatten().map(|entry| entry.file_name())
        {
            assert!(!name.to_string_lossy().contains("undo"), "the temporary file {name:?} remains");
        }
        if saves >= SAVES {
            break;
        }
    }
    assert!(restored > 0, "at least one file was restored");
}

/// A later line of that program must not be lost.
#[tokio::test]
async fn a_file_open_for_writing_stays_until_it_is_closed() {
    let scene = Scene::committed();
    let root = scene.root();
    let store = scene.store_with_snapshot().await;
    for name in ["kept.txt", "dir/inner.txt", "new.txt"] {
        scene.write(name, "the run's\n");
    }
    assert!(store.note_end(&kept(&store).await).await.expect("git succeeds"));
    let open =
        |name: &str| fs::File::options().append(true).open(root.join(name)).expect("the file is opened");
    let mut opened = ["kept.txt", "new.txt"].map(open);
    let undone = undo(&store).await;
    assert_eq!(undone.restored, paths(&["dir/inner.txt"]));
    let failed: Vec<_> = undone.failed.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(failed, paths(&["kept.txt", "new.txt"]), "{undone:?}");
    let why = &undone.failed[0].1;
    assert!(why.contains("a program has it open for writing: close it there"), "{why}");
    for file in &mut opened {
        file.write_all(b"a line of the log\n").expect("the file is written");
    }
    for name in ["kept.txt", "new.txt"] {
        assert_eq!(scene.text(name), "the run's\na line of the log\n");
    }
}
