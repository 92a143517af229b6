//! A person saves files in the private tree of a run during its import: no save is lost.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use crate::support::repository::{ID, Scene};
use worktree::{Git, Imported, SnapshotLimits, SnapshotStore};

/// The import grows with the saves, so a slow machine needs a limit.
const MAX_SAVES: usize = 20_000;

/// Room for all saves.
const ROOMY: SnapshotLimits = SnapshotLimits { bytes: 64 << 20, files: 2 * MAX_SAVES };

/// Saves files under new names until a save fails, and sends a message after the first one. Returns the saved names.
fn save_all_the_time(root: &Path, has_ended: &AtomicBool, first: &mpsc::Sender<()>) -> Vec<String> {
    let mut saved = Vec::new();
    while !has_ended.load(Ordering::Acquire) && saved.len() < MAX_SAVES {
        let name = format!("saved-{:06}", saved.len());
        let new = root.join("new.tmp");
        let path = root.join(&name);
        let is_saved = if saved.len() % 2 == 0 {
            fs::write(&path, &name).is_ok()
        } else {
            fs::write(&new, &name).is_ok() && fs::rename(&new, &path).is_ok()
        };
        if !is_saved {
            break;
        }
        if saved.is_empty() {
            first.send(()).expect("the import waits for it");
        }
        saved.push(name);
    }
    saved
}

/// Returns the names on a branch.
fn on_branch(scene: &Scene, branch: &str) -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-tree", "--name-only", branch])
        .env_clear()
        .envs(scene.env())
        .current_dir(scene.root())
        .output()
        .expect("git runs");
    String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
}

fn is_kept(kept: Option<&PathBuf>, name: &str) -> bool {
    kept.is_some_and(|root| fs::read_to_string(root.join(name)).is_ok_and(|text| text == name))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_saved_during_the_import_is_on_the_branch_or_in_the_kept_tree() {
    for round in 0..4 {
        let scene = Scene::committed();
        let git = Git::find(&scene.env(), &[], None).await.expect("git is found");
        let store = SnapshotStore::new(git, &scene.at("agent"), &scene.env(), ROOMY);
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        store.note_other_tree(&snapshot).await.expect("the other tree is recorded");
        let tree = store
            .private_tree(&snapshot, &scene.at("agent/trees"), &[])
            .await
            .expect("the private tree is created");
        fs::write(tree.root.join("kept.txt"), "the run's").expect("the file is written");
        let has_ended = AtomicBool::new(false);
        let (saved, Imported { branch, kept_tree: kept, notices, .. }) = std::thread::scope(|scope| {
            let (sender, first) = mpsc::channel();
            let saving = scope.spawn({
                let root = &tree.root;
                let has_ended = &has_ended;
                move || save_all_the_time(root, has_ended, &sender)
            });
            first.recv().expect("a file is saved");
            let imported = tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(store.import(&tree))
            });
            has_ended.store(true, Ordering::Release);
            (saving.join().expect("the saving thread ends"), imported)
        });
        let branch = branch.unwrap_or_else(|| panic!("{notices:?}"));
        let branch = on_branch(&scene, &branch);
        let lost: Vec<_> =
            saved.iter().filter(|name| !branch.contains(name) && !is_kept(kept.as_ref(), name)).collect();
        assert_eq!(lost, Vec::<&String>::new(), "round {round}: {notices:?}");
        let is_noticed = notices.iter().any(|notice| notice.contains("was saved in the private tree"));
        assert_eq!(kept.is_some(), is_noticed, "{notices:?}");
    }
}

#[tokio::test]
async fn a_tree_without_later_saves_is_removed_with_its_links_and_closed_directories() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::committed();
    let store = scene.store().await;
    let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
    store.note_other_tree(&snapshot).await.expect("the other tree is recorded");
    let tree = store
        .private_tree(&snapshot, &scene.at("agent/trees"), &[])
        .await
        .expect("the private tree is created");
    fs::write(tree.root.join(".gitignore"), "built\n").expect("the file is written");
    fs::create_dir_all(tree.root.join("built/deep")).expect("the directory is created");
    fs::write(tree.root.join("built/one"), "one").expect("the file is written");
    fs::hard_link(tree.root.join("built/one"), tree.root.join("built/deep/two"))
        .expect("the hard link is created");
    fs::hard_link(tree.root.join("built/one"), tree.root.join("three")).expect("the hard link is created");
    fs::set_permissions(tree.root.join("built/deep"), fs::Permissions::from_mode(0o500))
        .expect("the permissions are set");
    let imported = store.import(&tree).await;
    assert_eq!((imported.notices, imported.kept_tree), (Vec::<String>::new(), None));
    assert_eq!(fs::read_dir(scene.at("agent/trees")).expect("the directory is readable").count(), 0);
}
