//! Snapshots of real work trees: their content, and the absence of side effects.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use crate::support::repository::{ID, LIMITS, Scene};
use worktree::{ChangeKind, GIT_VARIABLES, Git, GitError, Snapshot, SnapshotError, SnapshotStore};

impl Scene {
    async fn take(&self) -> (SnapshotStore, Snapshot) {
        let store = self.store().await;
        let snapshot = store.take(ID, &self.root()).await.expect("the snapshot is taken");
        (store, snapshot)
    }

    /// The files of a tree: mode and content.
    async fn files(
        &self,
        store: &SnapshotStore,
        snapshot: &Snapshot,
        tree: &str,
    ) -> BTreeMap<String, (u32, String)> {
        let none = if snapshot.is_sha256 {
            "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
        } else {
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
        };
        let mut files = BTreeMap::new();
        for change in store.changes(snapshot, none, tree).await.expect("the changes are listed") {
            let new = change.new.expect("no file was deleted");
            let content = match new.mode {
                0o160_000 => "a submodule".into(),
                _ => String::from_utf8(
                    store.read(snapshot, &new.object).await.expect("the object is readable"),
                )
                .expect("the output is UTF-8"),
            };
            files.insert(change.path.display().to_string(), (new.mode, content));
        }
        files
    }

    async fn texts(&self, store: &SnapshotStore, snapshot: &Snapshot) -> Vec<(String, String)> {
        let files = self.files(store, snapshot, &snapshot.tree).await;
        files.into_iter().map(|(path, (_, text))| (path, text)).collect()
    }
}

fn texts(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

type State = BTreeMap<PathBuf, (u32, SystemTime, i64, Vec<u8>)>;

/// Every file below a directory: mode, times and content. A file with objects gets a hard link, which changes only its status
/// time.
fn state(directory: &Path) -> State {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path).expect("the file exists");
        let content = if metadata.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        if metadata.is_dir() {
            waiting.extend(
                fs::read_dir(&path)
                    .expect("the directory is readable")
                    .map(|entry| entry.expect("the entry is readable").path()),
            );
        }
        let modified = metadata.modified().expect("the file has a time");
        let has_objects = metadata.is_file() && path.components().any(|part| part.as_os_str() == "objects");
        let changed = if has_objects { 0 } else { metadata.ctime_nsec() };
        found.insert(path, (metadata.mode(), modified, changed, content));
    }
    found
}

#[tokio::test]
async fn a_snapshot_holds_the_files_of_the_tree_without_ignored_files() {
    let scene = Scene::committed();
    scene.write("dir/gone.txt", "gone");
    scene.write("tracked.log", "ignored, but tracked");
    scene.commit();
    fs::create_dir_all(scene.at("home/.config/git")).expect("the directory is created");
    fs::write(scene.at("home/.config/git/ignore"), "*.user").expect("the file is written");
    fs::write(scene.root().join(".git/info/exclude"), "*.excluded\n").expect("the file is written");
    scene.write(".gitignore", "*.log\nbuild/\n");
    scene.write("kept.txt", "staged");
    scene.git(&["add", "kept.txt"]);
    scene.write("kept.txt", "and changed");
    scene.write("new/untracked.txt", "untracked");
    scene.write("with  blank\nand break", "name");
    for ignored in ["x.log", "build/out", "x.user", "x.excluded"] {
        scene.write(ignored, "ignored");
    }
    fs::remove_file(scene.root().join("dir/gone.txt")).expect("the file is removed");
    symlink("kept.txt", scene.root().join("link")).expect("the link is created");
    fs::set_permissions(scene.root().join("dir/inner.txt"), fs::Permissions::from_mode(0o755))
        .expect("the permissions are set");
    let (store, snapshot) = scene.take().await;
    let files = scene.files(&store, &snapshot, &snapshot.tree).await;
    let plain = |text: &str| (0o100_644, text.to_owned());
    let expected = [
        (".gitignore", plain("*.log\nbuild/\n")),
        ("dir/inner.txt", (0o100_755, "inner".to_owned())),
        ("kept.txt", plain("and changed")),
        ("link", (0o120_000, "kept.txt".to_owned())),
        ("new/untracked.txt", plain("untracked")),
        ("tracked.log", plain("ignored, but tracked")),
        ("with  blank\nand break", plain("name")),
    ];
    assert_eq!(files, expected.map(|(path, file)| (path.to_owned(), file)).into_iter().collect());
    assert_eq!(snapshot.base, Some(scene.git(&["rev-parse", "HEAD"])));
}

/// The file is named relative to the home directory, by the user or by the repository.
#[tokio::test]
async fn a_snapshot_leaves_out_the_files_that_core_excludes_file_names() {
    const SETTING: &str = "[core]\n\texcludesFile = ~/ignored\n";
    for place in ["home/.gitconfig", "home/.config/git/config", "project/.git/config"] {
        let scene = Scene::committed();
        fs::create_dir_all(scene.at("home/.config/git")).expect("the directory is created");
        let config = scene.at(place);
        let before = fs::read_to_string(&config).unwrap_or_default();
        fs::write(config, before + SETTING).expect("the file is written");
        fs::write(scene.at("home/ignored"), "*.user\n").expect("the file is written");
        scene.write("x.user", "ignored");
        let (store, snapshot) = scene.take().await;
        let files = scene.files(&store, &snapshot, &snapshot.tree).await;
        assert!(files.contains_key("kept.txt") && !files.contains_key("x.user"), "{place}: {files:?}");
    }
}

#[tokio::test]
async fn a_snapshot_changes_neither_tree_nor_repository_except_the_times_of_packs() {
    let scene = Scene::committed();
    scene.write("kept.txt", "second");
    scene.commit();
    scene.git(&["gc", "-q"]);
    // A hashed object may already be in a pack. git then changes only the pack's time.
    scene.write("kept.txt", "kept");
    scene.write("copy.txt", "inner");
    for store in [scene.store().await, scene.sandboxed().await] {
        let before = state(&scene.root());
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        let now = store.tree_of_now(&snapshot).await.expect("the tree is recorded");
        assert_eq!(now, snapshot.tree);
        let changes = store
            .changes(&snapshot, snapshot.base.as_deref().expect("the snapshot has a base commit"), &now)
            .await;
        assert_eq!(changes.expect("the changes are listed").len(), 2);
        let after = state(&scene.root());
        let differing: Vec<_> = before.iter().filter(|(path, was)| after.get(*path) != Some(was)).collect();
        assert!(differing.is_empty() && before.len() == after.len(), "{differing:?}");
    }
}

#[tokio::test]
async fn a_snapshot_runs_no_program_of_the_repository() {
    let scene = Scene::committed();
    // A submodule with the same settings: `git status` in it would run them.
    let inner = scene.root().join("inner");
    fs::create_dir_all(&inner).expect("the directory is created");
    scene.git_in(&inner, &["init", "-q"]);
    fs::write(inner.join("file"), "text").expect("the file is written");
    scene.git_in(&inner, &["add", "."]);
    scene.git_in(&inner, &["commit", "-qm", "inner"]);
    let head = scene.git_in(&inner, &["rev-parse", "HEAD"]);
    let info = format!("160000,{head},inner");
    scene.git(&["update-index", "--add", "--cacheinfo", &info]);
    let mark = scene.at("mark");
    let script = scene.at("script");
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", mark.display()))
        .expect("the file is written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("the permissions are set");
    let program = script.display().to_string();
    let hooks = scene.at("hooks");
    fs::create_dir(&hooks).expect("the directory is created");
    for hook in ["post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"] {
        fs::copy(&script, hooks.join(hook)).expect("the file is copied");
        fs::copy(&script, scene.root().join(".git/hooks").join(hook)).expect("the file is copied");
    }
    let included = scene.at("included");
    fs::write(&included, format!("[core]\n\tfsmonitor = {program}\n")).expect("the file is written");
    let hooks = hooks.display().to_string();
    let included = included.display().to_string();
    for (key, value) in [
        ("filter.evil.clean", &program),
        ("filter.evil.smudge", &program),
        ("filter.evil.process", &program),
        ("diff.evil.textconv", &program),
        ("diff.evil.command", &program),
        ("diff.external", &program),
        ("core.sshCommand", &program),
        ("core.pager", &program),
        ("core.editor", &program),
        ("core.alternateRefsCommand", &program),
        ("core.gitProxy", &program),
        ("credential.helper", &program),
        ("alias.diff-files", &format!("!{program}")),
        ("core.hooksPath", &hooks),
        ("core.fsmonitor", &program),
        ("include.path", &included),
    ] {
        scene.git(&["config", key, value]);
    }
    scene.git(&["config", "filter.evil.required", "true"]);
    let attributes = "* filter=evil diff=evil merge=evil\n";
    scene.write(".gitattributes", attributes);
    fs::write(scene.root().join(".git/info/attributes"), attributes).expect("the file is written");
    fs::copy(scene.root().join(".git/config"), inner.join(".git/config")).expect("the file is copied");
    fs::write(inner.join("file"), "other text").expect("the file is written");
    let _ = fs::remove_file(&mark);
    scene.write("kept.txt", "changed");
    for store in [scene.store().await, scene.sandboxed().await] {
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        scene.write("kept.txt", "changed again");
        let now = store.tree_of_now(&snapshot).await.expect("the tree is recorded");
        let changes = store.changes(&snapshot, &snapshot.tree, &now).await.expect("the changes are listed");
        let object = &changes[0].new.as_ref().expect("the change has a new version").object;
        assert_eq!(store.read(&snapshot, object).await.expect("the object is readable"), b"changed again");
        assert_eq!(snapshot.submodules, [PathBuf::from("inner")]);
        assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap_or_default());
        scene.write("kept.txt", "changed");
    }
    // The tree that an ordinary git creates from it.
    let ordinary = Command::new("git").arg("status").current_dir(scene.root()).output();
    ordinary.expect("git runs");
    assert!(mark.exists());
}

#[tokio::test]
async fn files_are_kept_as_on_disk_regardless_of_conversions() {
    let scene = Scene::new();
    scene.git(&["config", "core.autocrlf", "true"]);
    scene.write(
        ".gitattributes",
        "*.id ident\n*.up filter=up\n*.u16 working-tree-encoding=UTF-16\n*.none -text\n",
    );
    scene.git(&["config", "filter.up.clean", "sed s/UPPER/lower-case/"]);
    scene.git(&["config", "filter.up.smudge", "sed s/lower-case/UPPER/"]);
    let wide: Vec<u8> = "\u{feff}wide".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, text) in
        [("a.txt", "one\r\ntwo\r\n"), ("b.up", "UPPER\n"), ("c.id", "$Id$\n"), ("d.none", "x\r\n")]
    {
        scene.write(name, text);
    }
    fs::write(scene.root().join("e.u16"), &wide).expect("the file is written");
    scene.commit();
    fs::remove_file(scene.root().join("c.id")).expect("the file is removed");
    scene.git(&["checkout", "c.id"]);
    let on_disk = |name: &str| fs::read(scene.root().join(name)).expect("the file is readable");
    assert!(on_disk("c.id").len() > 10, "git expands the ID in the file");
    let (store, snapshot) = scene.take().await;
    for change in store
        .changes(&snapshot, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", &snapshot.tree)
        .await
        .expect("the changes are listed")
    {
        let kept = store
            .read(&snapshot, &change.new.expect("the change has a new version").object)
            .await
            .expect("the change has a new version");
        let name = change.path.display().to_string();
        assert_eq!(kept, on_disk(&name), "{name}");
    }
}

#[tokio::test]
async fn files_that_git_was_told_to_ignore_are_included() {
    let scene = Scene::committed();
    scene.git(&["update-index", "--assume-unchanged", "kept.txt"]);
    scene.write("kept.txt", "changed");
    scene.write("intended.txt", "intended");
    scene.git(&["add", "--intent-to-add", "intended.txt"]);
    let (store, snapshot) = scene.take().await;
    let expected = [("dir/inner.txt", "inner"), ("intended.txt", "intended"), ("kept.txt", "changed")];
    assert_eq!(scene.texts(&store, &snapshot).await, texts(&expected));
}

/// Each row: a change to a repository, and the files of its snapshot.
#[tokio::test]
async fn a_repository_in_any_state_has_a_snapshot() {
    type Row = (&'static str, fn(&Scene), &'static [(&'static str, &'static str)]);
    let clean: &[(&str, &str)] = &[("dir/inner.txt", "inner"), ("kept.txt", "kept")];
    let rows: &[Row] = &[
        ("clean", |_| (), clean),
        ("detached", |scene| drop(scene.git(&["checkout", "-q", "--detach"])), clean),
        ("split index", |scene| drop(scene.git(&["update-index", "--split-index"])), clean),
        ("index version 4", |scene| drop(scene.git(&["update-index", "--index-version", "4"])), clean),
        (
            "sparse: what is not checked out is kept",
            |scene| {
                scene.git(&["sparse-checkout", "set", "--no-cone", "kept.txt"]);
                assert!(!scene.root().join("dir").exists());
            },
            clean,
        ),
        (
            "sparse index",
            |scene| {
                scene.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "other"]);
                assert!(!scene.root().join("dir").exists());
            },
            clean,
        ),
        (
            "conflict",
            |scene| {
                scene.git(&["checkout", "-qb", "other"]);
                scene.write("kept.txt", "theirs");
                scene.commit();
                scene.git(&["checkout", "-q", "main"]);
                scene.write("kept.txt", "ours");
                scene.commit();
                let merged = Command::new("git").args(["merge", "other"]).current_dir(scene.root()).output();
                assert!(!merged.expect("git runs").status.success());
                scene.write("kept.txt", "half merged");
            },
            &[("dir/inner.txt", "inner"), ("kept.txt", "half merged")],
        ),
        (
            "file and directory swapped",
            |scene| {
                fs::remove_file(scene.root().join("kept.txt")).expect("the file is removed");
                fs::remove_dir_all(scene.root().join("dir")).expect("the directory is removed");
                scene.write("kept.txt/below", "below");
                scene.write("dir", "a file");
            },
            &[("dir", "a file"), ("kept.txt/below", "below")],
        ),
        (
            "special files, and a directory that became a link",
            |scene| {
                fifo(&scene.root().join("fifo"));
                fs::rename(scene.root().join("dir"), scene.at("elsewhere")).expect("the rename succeeds");
                symlink(scene.at("elsewhere"), scene.root().join("dir")).expect("the link is created");
                scene.write("kept.txt", "x");
            },
            &[("dir", "LINK"), ("kept.txt", "x")],
        ),
    ];
    for (label, prepare, expected) in rows {
        let scene = Scene::committed();
        prepare(&scene);
        let (store, snapshot) = scene.take().await;
        let other_path = scene.at("elsewhere").display().to_string();
        let expected: Vec<_> = expected
            .iter()
            .map(|(path, text)| (*path, if *text == "LINK" { &*other_path } else { text }))
            .collect();
        assert_eq!(scene.texts(&store, &snapshot).await, texts(&expected), "{label}");
        assert_eq!(
            store.tree_of_now(&snapshot).await.expect("the tree is recorded"),
            snapshot.tree,
            "{label}"
        );
    }
}

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success());
}

#[tokio::test]
async fn a_file_that_would_block_git_forever_is_named_at_once() {
    let refused = async |path: &str, sandboxed: bool| {
        let scene = Scene::committed();
        fifo(&scene.root().join(path));
        // git reads attributes for every file that it adds.
        scene.write("dir/inner.txt", "changed");
        let store = if sandboxed { scene.sandboxed().await } else { scene.store().await };
        let refused = store.take(ID, &scene.root()).await.expect_err("git would wait");
        let expected = format!("`{path}` is a FIFO, and git would wait for it: remove it");
        assert_eq!(refused.to_string(), expected);
        assert!(!store.directory(ID).exists());
    };
    let since = Instant::now();
    tokio::join!(
        refused(".gitignore", false),
        refused(".gitignore", true),
        refused("dir/.gitignore", false),
        refused(".gitattributes", false),
        refused("dir/.gitattributes", true),
    );
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
}

/// Much less than the time that we wait for git.
const SOON: Duration = Duration::from_secs(20);

/// Each row: a special file for which git does not wait.
#[tokio::test]
async fn special_files_that_do_not_block_are_skipped() {
    for (path, make) in [
        (".gitignore", socket as fn(&Path)),
        ("dir/.gitattributes", socket),
        (".gitmodules", fifo),
        ("ignored/.gitignore", fifo),
        (".git/info/attributes", fifo),
        ("dir/other", fifo),
    ] {
        let scene = Scene::committed();
        fs::write(scene.root().join(".git/info/exclude"), "ignored/\n").expect("the file is written");
        fs::create_dir_all(scene.root().join("ignored")).expect("the directory is created");
        make(&scene.root().join(path));
        scene.write("kept.txt", "changed");
        let (store, snapshot) = scene.take().await;
        let expected = [("dir/inner.txt", "inner"), ("kept.txt", "changed")];
        assert_eq!(scene.texts(&store, &snapshot).await, texts(&expected), "{path}");
    }
}

fn socket(path: &Path) {
    drop(UnixListener::bind(path).expect("the socket is created"));
}

#[tokio::test]
async fn a_repository_without_commits_with_another_hash_or_as_a_linked_tree_has_a_snapshot() {
    let unborn = Scene::new();
    unborn.write("first.txt", "first");
    let (store, snapshot) = unborn.take().await;
    assert_eq!(
        (unborn.texts(&store, &snapshot).await, &snapshot.base),
        (texts(&[("first.txt", "first")]), &None)
    );

    let sha256 = Scene(tempfile::tempdir().expect("a temporary directory is created"));
    fs::create_dir_all(sha256.root()).expect("the directory is created");
    sha256.git(&["init", "-q", "--object-format=sha256"]);
    sha256.write("a", "one");
    sha256.commit();
    sha256.write("a", "two");
    let (store, snapshot) = sha256.take().await;
    assert_eq!(snapshot.tree.len(), 64);
    assert_eq!(sha256.texts(&store, &snapshot).await, texts(&[("a", "two")]));

    let scene = Scene::committed();
    scene.git(&["worktree", "add", "-q", "../linked", "-b", "side"]);
    fs::write(scene.at("linked/kept.txt"), "in the linked tree").expect("the file is written");
    let store = scene.store().await;
    let snapshot = store.take(ID, &scene.at("linked")).await.expect("the snapshot is taken");
    let expected = [("dir/inner.txt", "inner"), ("kept.txt", "in the linked tree")];
    assert_eq!(scene.texts(&store, &snapshot).await, texts(&expected));
}

#[tokio::test]
async fn a_tree_that_is_too_large_is_refused_with_its_size_and_leaves_nothing() {
    let scene = Scene::committed();
    scene.write("large", &"x".repeat(2 << 20));
    let store = scene.store().await;
    let refused = store.take(ID, &scene.root()).await.expect_err("the tree is too large");
    let message = refused.to_string();
    let expected = "take up 2.0 MiB, more than `snapshot.maxBytes` allows, 1.0 MiB";
    assert!(message.ends_with(expected), "{message}");
    assert!(!store.directory(ID).exists());
    // Committed files do not count.
    scene.commit();
    store.take(ID, &scene.root()).await.expect("the snapshot is taken");
    for number in 0..=LIMITS.files {
        scene.write(&format!("many/{number}"), "");
    }
    let refused = store.take(ID, &scene.root()).await.expect_err("the tree has too many files");
    assert!(matches!(refused, SnapshotError::TooMany { files: 1001, limit: 1000, .. }), "{refused}");
}

#[tokio::test]
async fn later_changes_are_listed_and_readable() {
    let scene = Scene::committed();
    scene.write("dirty.txt", "before");
    let (store, snapshot) = scene.take().await;
    scene.write("dirty.txt", "after!");
    scene.write("added.txt", "added");
    fs::remove_file(scene.root().join("kept.txt")).expect("the file is removed");
    scene.commit();
    let snapshot = store.open(&snapshot.id).await.expect("the snapshot is readable");
    let now = store.tree_of_now(&snapshot).await.expect("the tree is recorded");
    let changes = store.changes(&snapshot, &snapshot.tree, &now).await.expect("the changes are listed");
    let listed: Vec<_> = changes
        .iter()
        .map(|change| (change.path.to_str().expect("the path is UTF-8"), change.kind))
        .collect();
    let expected = [
        ("added.txt", ChangeKind::Added),
        ("dirty.txt", ChangeKind::Modified),
        ("kept.txt", ChangeKind::Deleted),
    ];
    assert_eq!(listed, expected);
    let old = changes[1].old.as_ref().expect("the change has an old version");
    assert_eq!(store.read(&snapshot, &old.object).await.expect("the object is readable"), b"before");
    store.release(ID).await.expect("the deliveries are released");
    assert!(matches!(store.open(ID).await, Err(SnapshotError::Unknown { .. })));
    assert_eq!(
        fs::read_dir(scene.at("agent/subagents/snapshots")).expect("the directory is readable").count(),
        0
    );
}

#[tokio::test]
async fn an_unreadable_file_is_reported() {
    let scene = Scene::committed();
    let store = scene.store().await;
    fs::create_dir_all(scene.at("plain")).expect("the directory is created");
    let refused = store.take(ID, &scene.at("plain")).await.expect_err("the directory is not a repository");
    assert!(matches!(refused, SnapshotError::NoRepository { .. }), "{refused}");
    scene.git_in(&scene.at(""), &["init", "-q", "--bare", "bare"]);
    let refused = store.take(ID, &scene.at("bare")).await.expect_err("the repository has no work tree");
    assert!(matches!(refused, SnapshotError::NoRepository { .. }), "{refused}");
    assert!(store.take("../../../x", &scene.root()).await.is_err());
    let nowhere = [("PATH".into(), scene.at("plain").into())];
    assert!(matches!(Git::find(&nowhere, &[], None).await, Err(GitError::Missing(_))));
    let old = scene.at("plain/git");
    fs::write(&old, "#!/bin/sh\necho git version 2.25.1\n").expect("the file is written");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).expect("the permissions are set");
    let error = Git::find(&nowhere, &[], None).await.expect_err("git is too old");
    assert_eq!(error.to_string(), "git 2.25.1 is too old: 2.32 or newer is needed");
}

#[tokio::test]
async fn a_snapshot_is_private() {
    let scene = Scene::committed();
    scene.write("secret", "of mine");
    let (store, _) = scene.take().await;
    let mode = |path: &Path| fs::metadata(path).expect("the file exists").permissions().mode() & 0o777;
    assert_eq!(mode(&scene.at("agent/subagents/snapshots")), 0o700);
    assert_eq!(mode(&store.directory(ID)), 0o700);
}

/// A newer git may have more of them.
#[test]
fn the_removed_variables_are_the_local_variables_of_git() {
    let output = Command::new("git").args(["rev-parse", "--local-env-vars"]).output().expect("git runs");
    let output = String::from_utf8(output.stdout).expect("the output is UTF-8");
    let missing: Vec<_> = output.lines().filter(|name| !GIT_VARIABLES.contains(name)).collect();
    assert!(!output.is_empty() && missing.is_empty(), "add {missing:?} to GIT_VARIABLES");
}
