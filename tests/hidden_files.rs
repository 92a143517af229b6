//! Hidden files stay out of snapshots, private trees and messages, even while a writer replaces files with links.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use crate::support::repository::{ID, Scene};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use worktree::{PrivateTree, SnapshotStore};

/// The content of the hidden file. It is longer than the files that links replace: git reads only their number of bytes.
const SECRET: &str = "THE-HIDDEN-KEY abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij\n";
/// The part of it that no object may contain.
const TELLING: &[u8] = b"THE-HIDDEN-KEY";
/// Snapshots taken while files and links are exchanged. Without protection about one in five has the secret, and most others fail.
const SNAPSHOTS: usize = 12;
/// Snapshots for each speed at which the root of a tree is exchanged with a link.
const ROOTS: usize = 6;
/// The time to wait for the first snapshot of a root that is exchanged slowly.
const PATIENCE: Duration = Duration::from_secs(20);
/// Files that are exchanged. With more files each one is exchanged less often.
const FILES: usize = 5;
/// Directories above these files. git walks through all of them between its `lstat` of a file and its `open`.
const DEPTH: usize = 60;

/// A thread that exchanges files and links until it is dropped.
struct Swapper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Swapper {
    /// Exchanges files of a directory with links to a hidden file.
    fn start(directory: &Path, target: &Path) -> Self {
        let links = directory.join(".links");
        fs::create_dir_all(&links).expect("the directory is created");
        // git skips the links.
        fs::write(links.join(".gitignore"), "*\n").expect("the file is written");
        for number in 0..FILES {
            fs::write(directory.join(format!("f{number}")), ".".repeat(40 + number))
                .expect("the file is written");
            symlink(target, links.join(format!("l{number}"))).expect("the link is created");
        }
        let names = (0..FILES).map(|number| (format!("f{number}"), format!(".links/l{number}")));
        Self::exchange(directory, names.collect(), Duration::ZERO)
    }

    /// Exchanges pairs of names in a directory, with a pause after each round.
    fn exchange(directory: &Path, names: Vec<(String, String)>, pause: Duration) -> Self {
        let directory = File::open(directory).expect("the file is opened");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                for (one, other) in &names {
                    renameat_with(&directory, one, &directory, other, RenameFlags::EXCHANGE)
                        .expect("both paths exist");
                }
                std::thread::sleep(pause);
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the thread does not panic");
        }
    }
}

/// A project in which deeply nested files are exchanged, and the path of a hidden key.
fn scene() -> (Scene, PathBuf, PathBuf) {
    let scene = Scene::committed();
    let key = scene.at("home/.ssh/id_ed25519");
    fs::create_dir_all(key.parent().expect("the path has a parent")).expect("the directory is created");
    fs::write(&key, SECRET).expect("the file is written");
    fs::write(key.with_file_name("known_hosts"), "example.org\n").expect("the file is written");
    let deep: PathBuf = std::iter::repeat_n("d", DEPTH).collect();
    let deep = scene.root().join(deep);
    fs::create_dir_all(&deep).expect("the directory is created");
    (scene, key, deep)
}

/// Panics if an object of a repository, or of its alternates, has the secret.
fn assert_no_object_has_secret(git_dir: &Path) {
    let listed = Command::new("git")
        .args(["cat-file", "--batch-all-objects", "--batch"])
        .env("GIT_DIR", git_dir)
        .output()
        .expect("git runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let found = memchr::memmem::find(&listed.stdout, TELLING);
    assert!(found.is_none(), "no object in {} contains the secret", git_dir.display());
}

/// Panics if a file below a directory has the plain secret.
fn assert_no_file_has_secret(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let (path, kind) =
            entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))).expect("the entry is readable");
        if kind.is_dir() {
            assert_no_file_has_secret(&path);
        } else if kind.is_file() {
            let bytes = fs::read(&path).expect("the file is readable");
            assert!(
                memchr::memmem::find(&bytes, TELLING).is_none(),
                "the file {} does not contain the secret",
                path.display()
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exchanging_a_file_with_a_link_brings_no_hidden_file_into_a_snapshot() {
    let (scene, key, deep) = scene();
    for store in [scene.store().await, scene.sandboxed().await] {
        let store = store.hiding(&[scene.at("home/.ssh")]);
        let swapper = Swapper::start(&deep, &key);
        for number in 0..SNAPSHOTS {
            let snapshot = store.take(ID, &scene.root()).await;
            let snapshot = snapshot.unwrap_or_else(|error| panic!("snapshot {number}: {error}"));
            assert_no_object_has_secret(&store.directory(&snapshot.id));
        }
        drop(swapper);
        fs::remove_dir_all(&deep).expect("the directory is removed");
        fs::create_dir_all(&deep).expect("the directory is created");
    }
}

/// A child that writes in a tree can exchange a directory in it that is the root of another tree.
#[tokio::test(flavor = "multi_thread")]
async fn exchanging_a_root_with_a_link_brings_no_hidden_file_into_a_snapshot() {
    let (scene, _, _) = scene();
    let inner = scene.root().join("inner");
    fs::create_dir(&inner).expect("the directory is created");
    scene.git_in(&inner, &["init", "-q", "-b", "main"]);
    fs::write(inner.join("id_ed25519"), "visible").expect("the file is written");
    symlink(scene.at("home/.ssh"), scene.root().join("link")).expect("the link is created");
    for store in [scene.store().await, scene.sandboxed().await] {
        let store = store.hiding(&[scene.at("home/.ssh")]);
        let mut taken = 0;
        for pause in [0, 1, 5, 20, 60, 300, 1_500].map(Duration::from_millis) {
            // A busy machine needs the long pauses for a first snapshot.
            if taken > 0 && pause.as_millis() > 60 {
                break;
            }
            let names = vec![("inner".to_owned(), "link".to_owned())];
            let swapper = Swapper::exchange(&scene.root(), names, pause);
            let started = Instant::now();
            // While the link is there, one attempt after the other fails at once.
            let has_time = |pause: Duration| pause.as_millis() > 60 && started.elapsed() < PATIENCE;
            for attempt in 0.. {
                if attempt >= ROOTS && (taken > 0 || !has_time(pause)) {
                    break;
                }
                // The snapshot may fail: at times there is no repository.
                if let Ok(snapshot) = store.take(ID, &inner).await {
                    taken += 1;
                    assert_no_object_has_secret(&store.directory(&snapshot.id));
                    // The names of hidden files are hidden, too.
                    let text = format!("{snapshot:?}");
                    assert!(!text.contains("known_hosts"), "{text}");
                }
            }
            drop(swapper);
            if inner.is_symlink() {
                let one = &inner;
                let other = &scene.root().join("link");
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).expect("both paths exist");
            }
        }
        assert!(taken > 0, "at least one snapshot succeeds");
    }
}

/// The sandbox shows git the objects of a repository. If they are a link, it must not show git hidden files.
#[tokio::test(flavor = "multi_thread")]
async fn a_repository_with_objects_in_a_hidden_directory_is_refused() {
    let (scene, _, _) = scene();
    let hidden = scene.at("home/.ssh");
    for (place, name) in [("objects", ".git/objects"), (".git", ".git")] {
        for store in [scene.store().await, scene.sandboxed().await] {
            let store = store.hiding(std::slice::from_ref(&hidden));
            let root = scene.root();
            let from = hidden.join(place);
            let link = root.join(name);
            fs::rename(&link, &from).expect("the rename succeeds");
            symlink(&from, &link).expect("the link is created");
            let refused = store.take(ID, &root).await.expect_err("the tree is hidden").to_string();
            let expected = format!(
                "the repository of `{}` keeps files in `{}`, which is hidden from sub-agents: remove the link or the \
                 `gitdir:` line that leads there",
                root.display(),
                hidden.display()
            );
            assert_eq!(refused, expected, "{name}");
            assert!(!store.directory(ID).exists());
            fs::remove_file(&link).expect("the file is removed");
            fs::rename(&from, &link).expect("the rename succeeds");
        }
    }
}

/// A run whose directory is exchanged with a link after its admission starts in another place.
#[tokio::test]
async fn a_tree_in_a_hidden_directory_is_refused_unless_it_is_a_private_tree() {
    let scene = Scene::committed();
    let hidden = scene.at("home/.ssh");
    let tree = scene.at("agent/subagent-trees/1/project");
    for place in [&hidden, &tree] {
        fs::create_dir_all(place).expect("the directory is created");
        scene.git_in(place, &["clone", "-q", scene.root().to_str().expect("the path is UTF-8"), "."]);
    }
    let store = scene.sandboxed().await.hiding(std::slice::from_ref(&hidden));
    let refused = store.take(ID, &hidden).await.expect_err("the tree is hidden").to_string();
    assert!(refused.contains("which is hidden from sub-agents"), "{refused}");
    assert!(store.take(ID, &tree).await.is_ok());
}

/// A child sees the lines of this file if no link replaces it.
#[tokio::test(flavor = "multi_thread")]
async fn exchanging_the_exclude_file_with_a_link_shows_a_child_no_hidden_file() {
    let (scene, key, _) = scene();
    let info = scene.root().join(".git/info");
    fs::write(info.join("exclude"), "visible\n").expect("the file is written");
    symlink(&key, info.join("link")).expect("the link is created");
    let store = scene.store().await;
    let names = vec![("exclude".to_owned(), "link".to_owned())];
    let swapper = Swapper::exchange(&info, names, Duration::ZERO);
    for _ in 0..SNAPSHOTS {
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        let shown = store.directory(&snapshot.id).join("info/exclude.shown");
        let shown = fs::read_to_string(shown).expect("the file is readable");
        assert!(!shown.contains("HIDDEN"), "{shown}");
    }
    drop(swapper);
}

#[tokio::test]
async fn a_hidden_file_of_the_tree_is_skipped_and_reported() {
    let scene = Scene::committed();
    scene.write("tracked.key", "committed");
    scene.write("keys/tracked", "committed");
    scene.commit();
    for name in ["tracked.key", "untracked.key", "keys/tracked", "keys/one", "keys/two"] {
        scene.write(name, SECRET);
    }
    scene.write("open", "visible");
    let hidden = ["tracked.key", "untracked.key", "keys", "missing"].map(|name| scene.root().join(name));
    for store in [scene.store().await, scene.sandboxed().await] {
        let store = store.hiding(&hidden);
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        assert_eq!(snapshot.omitted, ["keys", "tracked.key", "untracked.key"].map(PathBuf::from));
        assert_no_object_has_secret(&store.directory(ID));
        let head = snapshot.base.clone().expect("there is a commit");
        let changes = store.changes(&snapshot, &head, &snapshot.tree).await.expect("the changes are listed");
        let paths: Vec<_> = changes.iter().map(|change| change.path.as_path()).collect();
        assert_eq!(paths, [Path::new("open")], "only the new file is listed as changed");
        // The link is not a change of a run either.
        assert_eq!(store.tree_of_now(&snapshot).await.expect("the tree is recorded"), snapshot.tree);
        let tree = store
            .private_tree(&snapshot, &scene.at("agent/subagent-trees"), &[])
            .await
            .expect("the private tree is created");
        assert_no_file_has_secret(&tree.root);
        let notice = |path| format!("`{path}` was not copied unchanged into the private tree: it is hidden");
        assert_eq!(tree.notices, ["keys", "tracked.key", "untracked.key"].map(notice));
        fs::remove_dir_all(scene.at("agent/subagent-trees")).expect("the directory is removed");
    }
}

/// Takes a snapshot, works in a private tree of it, and imports the work. Returns all errors and notices.
async fn work(scene: &Scene, store: &SnapshotStore) -> String {
    let made = async {
        let snapshot = store.take(ID, &scene.root()).await?;
        store.private_tree(&snapshot, &scene.at("agent/subagent-trees"), &[]).await
    };
    let tree: PrivateTree = match made.await {
        Ok(tree) => tree,
        Err(error) => return format!("{error}: {error:?}"),
    };
    assert_no_file_has_secret(&tree.root);
    assert_no_object_has_secret(&tree.root.join(".git"));
    fs::write(tree.root.join("kept.txt"), "changed").expect("the file is written");
    format!("{:?}", store.import(&tree).await)
}

/// Each of these files of a repository is a link to the key, or its settings name the key.
#[tokio::test]
async fn a_hidden_file_in_place_of_a_repository_file_is_in_no_message_and_no_copy() {
    let links = [
        ".git/shallow",
        ".git/packed-refs",
        ".git/HEAD",
        ".git/index",
        ".git/config",
        ".git/info/exclude",
        ".git/info/attributes",
        ".git/info/grafts",
        ".git/objects/info/alternates",
        ".git/refs/heads/main",
        ".gitignore",
        ".gitattributes",
        ".gitmodules",
        "kept.txt",
    ];
    let settings = ["core.excludesFile", "core.attributesFile", "include.path"];
    for place in links.into_iter().chain(settings) {
        for is_sandboxed in [false, true] {
            let scene = Scene::committed();
            let key = scene.at("home/.ssh/id_ed25519");
            fs::create_dir_all(key.parent().expect("the path has a parent"))
                .expect("the directory is created");
            fs::write(&key, SECRET).expect("the file is written");
            let store = if is_sandboxed { scene.sandboxed().await } else { scene.store().await };
            let store = store.hiding(&[scene.at("home/.ssh")]);
            if settings.contains(&place) {
                scene.git(&["config", place, key.to_str().expect("the path is UTF-8")]);
            } else {
                let link = scene.root().join(place);
                let _ = fs::remove_file(&link);
                fs::create_dir_all(link.parent().expect("the path has a parent"))
                    .expect("the directory is created");
                symlink(&key, link).expect("the link is created");
            }
            let text = work(&scene, &store).await;
            assert!(!text.contains("HIDDEN"), "{place}, sandboxed {is_sandboxed}: {text}");
            assert_no_file_has_secret(&scene.at("agent"));
        }
    }
}

/// Everything next to a hidden file is allowed individually.
#[tokio::test]
async fn a_directory_too_large_to_hide_a_file_in_it_is_named_with_a_solution() {
    /// More than the sandbox allows.
    const TOO_MANY: usize = 20_001;
    let scene = Scene::committed();
    let full = scene.at("full");
    fs::create_dir(&full).expect("the directory is created");
    for number in 0..TOO_MANY {
        File::create(full.join(number.to_string())).expect("the file is created");
    }
    let store = scene.sandboxed().await.hiding(&[full.join("0")]);
    let refused = store.take(ID, &scene.root()).await.expect_err("the directory is too large");
    let mut text = refused.to_string();
    let mut source = std::error::Error::source(&refused);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    let expected = format!(
        "`{}`: it has too many entries to hide a path in it: move some to another directory, so that at \
         most 20000 files and directories remain",
        full.display()
    );
    assert!(text.contains(&expected), "{text}");
}
