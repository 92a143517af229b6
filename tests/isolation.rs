//! Private trees of runs, made from real repositories, and the import of their changes.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::program;
use crate::support::repository::{ID, Scene};
use worktree::{Imported, PrivateTree, SnapshotError, SnapshotStore};

const BRANCH: &str = "subagent/0badcafe";

/// A private tree of a project.
struct Isolated {
    scene: Scene,
    store: SnapshotStore,
    tree: PrivateTree,
}

impl Isolated {
    async fn of(scene: Scene, copied: &[&str]) -> Self {
        let store = scene.store().await;
        Self::with(scene, store, copied).await
    }

    async fn with(scene: Scene, store: SnapshotStore, copied: &[&str]) -> Self {
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        let copied: Vec<String> = copied.iter().map(|path| (*path).to_owned()).collect();
        let tree = store
            .private_tree(&snapshot, &scene.at("agent/trees"), &copied)
            .await
            .expect("the private tree is created");
        Self { scene, store, tree }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.tree.root.join(name);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        fs::write(path, text).expect("the file is written");
    }

    fn git(&self, args: &[&str]) -> String {
        self.scene.git_in(&self.tree.root, args)
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-qm", message]);
    }

    async fn import(&self) -> Imported {
        let other = |line: &String| !line.contains(BRANCH);
        let before: Vec<_> = refs(&self.scene).into_iter().filter(other).collect();
        let files = self.scene.git(&["status", "--porcelain"]);
        let imported = self.store.import(&self.tree).await;
        let after: Vec<_> = refs(&self.scene).into_iter().filter(other).collect();
        assert_eq!(before, after, "no other reference has changed");
        assert_eq!(files, self.scene.git(&["status", "--porcelain"]), "the user's tree has not changed");
        imported
    }

    /// Returns the changes of a branch since the start of the run.
    fn changes_on_branch(&self, imported: &Imported) -> String {
        self.scene.git(&[
            "diff",
            "--stat",
            &self.tree.base,
            imported.branch.as_deref().expect("the result names a branch"),
        ])
    }
}

fn refs(scene: &Scene) -> Vec<String> {
    let listed = scene.git(&["for-each-ref"])
        + "\n"
        + &fs::read_to_string(scene.root().join(".git/HEAD")).expect("the file is readable");
    listed.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[tokio::test]
async fn the_changes_of_a_child_become_a_branch_and_a_patch_and_the_tree_is_removed() {
    for sandboxed in [false, true] {
        let scene = Scene::committed();
        scene.write("kept.txt", "not committed");
        scene.write("untracked.txt", "untracked");
        scene.write(".gitignore", "*.log\n");
        let store = if sandboxed { scene.sandboxed().await } else { scene.store().await };
        let isolated = Isolated::with(scene, store, &[]).await;
        assert_eq!(isolated.git(&["status", "--porcelain"]), "", "uncommitted changes are part of the base");
        assert_eq!(
            fs::read_to_string(isolated.tree.root.join("kept.txt")).expect("the file is readable"),
            "not committed"
        );
        isolated.write("kept.txt", "changed");
        isolated.write("new/file.txt", "one\ntwo\n");
        isolated.write("ignored.log", "ignored");
        fs::remove_file(isolated.tree.root.join("untracked.txt")).expect("the file is removed");
        let imported = isolated.import().await;
        assert_eq!(imported.notices, Vec::<String>::new());
        assert_eq!((imported.branch.as_deref(), imported.commits), (Some(BRANCH), 0));
        assert_eq!((imported.insertions, imported.deletions), (3, 2));
        let paths: Vec<_> =
            imported.changes.iter().map(|change| change.path.to_str().expect("the path is UTF-8")).collect();
        assert_eq!(paths, ["kept.txt", "new/file.txt", "untracked.txt"]);
        assert!(
            isolated
                .changes_on_branch(&imported)
                .contains("3 files changed, 3 insertions(+), 2 deletions(-)")
        );
        assert!(imported.kept_tree.is_none() && !isolated.tree.directory.exists());
        isolated.scene.git(&["fsck", "--strict"]);
        // The patch makes the same changes in the user's tree.
        let patch = imported.patch.expect("the import has a patch").display().to_string();
        isolated.scene.git(&["apply", &patch]);
        assert_eq!(
            fs::read_to_string(isolated.scene.root().join("kept.txt")).expect("the file is readable"),
            "changed"
        );
        assert!(!isolated.scene.root().join("untracked.txt").exists());
    }
}

#[tokio::test]
async fn commits_are_imported_with_the_uncommitted_changes_on_top() {
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    assert_eq!(
        isolated.tree.base,
        isolated.scene.git(&["rev-parse", "HEAD"]),
        "a clean tree needs no base commit"
    );
    isolated.write("a.txt", "a");
    isolated.commit("first of the child");
    isolated.write("b.txt", "b");
    isolated.commit("second of the child");
    isolated.git(&["gc", "-q"]);
    isolated.write("b.txt", "b, changed");
    let imported = isolated.import().await;
    assert_eq!((&imported.notices, imported.commits), (&vec![], 2));
    let log = isolated.scene.git(&["log", "--format=%s", &format!("{}..{BRANCH}", isolated.tree.base)]);
    assert_eq!(log, "Changes of the sub-agent's run 0badcafe\nsecond of the child\nfirst of the child");
    assert_eq!(isolated.scene.git(&["show", &format!("{BRANCH}:b.txt")]), "b, changed");
    isolated.scene.git(&["fsck", "--strict"]);
    assert!(!isolated.tree.directory.exists());
}

#[tokio::test]
async fn a_run_that_changes_nothing_leaves_nothing() {
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    let imported = isolated.import().await;
    assert_eq!(imported, Imported::default());
    assert!(!isolated.tree.directory.exists());
    assert_eq!(isolated.scene.git(&["branch", "--list", "subagent/*"]), "");
}

/// The child has written every byte of the inspected repository.
#[tokio::test]
async fn no_hook_or_link_of_the_childs_repository_is_used() {
    let scene = Scene::committed();
    // Another repository of the user, whose objects the child must not see.
    fs::create_dir_all(scene.at("other")).expect("the directory is created");
    scene.git_in(&scene.at("other"), &["init", "-q"]);
    fs::write(scene.at("other/secret"), "of another project").expect("the file is written");
    scene.git_in(&scene.at("other"), &["add", "."]);
    scene.git_in(&scene.at("other"), &["commit", "-qm", "secret"]);
    let secret = scene.git_in(&scene.at("other"), &["rev-parse", "HEAD^{tree}"]);
    let isolated = Isolated::of(scene, &[]).await;
    let git = isolated.tree.root.join(".git");
    let mark = isolated.scene.at("mark");
    let script = isolated.scene.at("script");
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", mark.display()))
        .expect("the file is written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("the permissions are set");
    let program = script.display().to_string();
    isolated.write("honest.txt", "honest");
    isolated.commit("honest");
    // A commit whose tree is in the other repository.
    let alternates = fs::read_to_string(git.join("objects/info/alternates")).expect("the file is readable");
    let other = isolated.scene.at("other/.git/objects").display().to_string();
    fs::write(git.join("objects/info/alternates"), format!("{alternates}{other}\n"))
        .expect("the file is written");
    let forged = isolated.git(&["commit-tree", &secret, "-p", "HEAD", "-m", "forged"]);
    isolated.git(&["update-ref", "HEAD", &forged]);
    for (key, value) in [
        ("core.fsmonitor", &program),
        ("filter.evil.clean", &program),
        ("uploadpack.packObjectsHook", &program),
        ("core.alternateRefsCommand", &program),
        ("core.sshCommand", &program),
        ("diff.external", &program),
    ] {
        isolated.git(&["config", key, value]);
    }
    isolated.write(".gitattributes", "* filter=evil diff=evil\n");
    for hook in ["post-index-change", "reference-transaction", "pre-auto-gc"] {
        fs::create_dir_all(git.join("hooks")).expect("the directory is created");
        fs::copy(&script, git.join("hooks").join(hook)).expect("the file is copied");
    }
    let imported = isolated.import().await;
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap_or_default());
    // The files are imported. The commits are refused as a whole, and kept.
    assert!(
        imported.notices[0].starts_with("the child's commits were not imported: "),
        "{:?}",
        imported.notices
    );
    let kept = imported.kept_tree.as_deref().expect("the tree is kept");
    assert!(
        kept.join("honest.txt").exists() && !isolated.tree.directory.exists(),
        "the tree is kept under another name"
    );
    assert_eq!(isolated.scene.git(&["show", &format!("{BRANCH}:honest.txt")]), "honest");
    let known =
        Command::new("git").args(["cat-file", "-e", &secret]).current_dir(isolated.scene.root()).output();
    assert!(!known.expect("git runs").status.success(), "the other project's objects are not copied");
}

/// Leaves a file at a path that is longer than a system call accepts.
fn too_deep(isolated: &Isolated) {
    let outer = ["0".repeat(200).as_str(); 11].join("/");
    let inner = isolated.scene.at("inner");
    fs::create_dir_all(isolated.tree.root.join(&outer)).expect("the directory is created");
    fs::create_dir_all(inner.join(&outer)).expect("the directory is created");
    fs::write(inner.join(&outer).join("file"), "text").expect("the file is written");
    fs::rename(inner, isolated.tree.root.join(outer).join("inner")).expect("the rename succeeds");
}
/// Leaves a commit on a branch that is not checked out.
fn leave_a_branch(isolated: &Isolated) {
    isolated.write("other.txt", "on another branch");
    isolated.commit("other");
    isolated.git(&["branch", "-q", "other"]);
    isolated.git(&["reset", "-q", "--hard", "HEAD^"]);
    isolated.write("kept.txt", "changed");
}

/// A doubtful change: a name, its cause, and words of the notice.
type Doubt = (&'static str, fn(&Isolated), &'static str);

const DOUBTFUL: &[Doubt] = &[
    (
        "the repository is a link",
        |isolated| {
            let git = isolated.tree.root.join(".git");
            fs::rename(&git, isolated.scene.at("moved")).expect("the rename succeeds");
            symlink(isolated.scene.at("moved"), git).expect("the link is created");
        },
        "is not a directory",
    ),
    (
        "the repository is missing",
        |isolated| fs::remove_dir_all(isolated.tree.root.join(".git")).expect("the directory is removed"),
        "is not a directory",
    ),
    (
        "another branch",
        |isolated| {
            isolated.git(&["checkout", "-qb", "other"]);
            isolated.write("other.txt", "on another branch");
            isolated.commit("other");
        },
        "other branches",
    ),
    ("another branch, which is not checked out", leave_a_branch, "other branches"),
    (
        "another branch among packed references",
        |isolated| {
            leave_a_branch(isolated);
            isolated.git(&["pack-refs", "--all"]);
        },
        "other branches",
    ),
    (
        "commits on no branch",
        |isolated| {
            isolated.git(&["checkout", "-q", "--detach"]);
            isolated.write("other.txt", "on no branch");
            isolated.commit("other");
        },
        "other branches",
    ),
    (
        "a stash",
        |isolated| {
            isolated.write("other.txt", "put aside");
            isolated.git(&["add", "."]);
            isolated.git(&["-c", "user.name=n", "-c", "user.email=n@localhost", "stash", "-q"]);
            isolated.write("kept.txt", "changed");
        },
        "other branches",
    ),
    (
        "history that does not follow",
        |isolated| {
            isolated.git(&["checkout", "-q", "--orphan", "new"]);
            isolated.commit("orphan");
            isolated.git(&["branch", "-qf", BRANCH, "new"]);
            isolated.git(&["checkout", "-q", BRANCH]);
            isolated.git(&["branch", "-qD", "new"]);
        },
        "do not descend from the commit",
    ),
    (
        "an object with another content than its name",
        |isolated| {
            isolated.write("mine.txt", "mine");
            isolated.commit("mine");
            let blob = isolated.git(&["rev-parse", "HEAD:mine.txt"]);
            let other = isolated.git(&["rev-parse", "HEAD"]);
            let at = |name: &str| isolated.tree.root.join(".git/objects").join(&name[..2]).join(&name[2..]);
            fs::remove_file(at(&blob)).expect("the file is removed");
            fs::copy(at(&other), at(&blob)).expect("the file is copied");
            isolated.write("mine.txt", "something else");
        },
        "commits were not imported",
    ),
    (
        "objects that are links",
        |isolated| {
            isolated.write("mine.txt", "mine");
            isolated.commit("mine");
            let commit = isolated.git(&["rev-parse", "HEAD"]);
            let at = isolated.tree.root.join(".git/objects").join(&commit[..2]).join(&commit[2..]);
            fs::rename(&at, isolated.scene.at("object")).expect("the rename succeeds");
            symlink(isolated.scene.at("object"), at).expect("the link is created");
        },
        "commits were not imported",
    ),
    (
        "references that cannot be read",
        |isolated| {
            fs::create_dir(isolated.tree.root.join(".git/packed-refs")).expect("the directory is created");
        },
        "`packed-refs` cannot be read",
    ),
    ("a directory that git does not enter", too_deep, "cannot be read"),
    ("a name that git refuses", |isolated| isolated.write("git~1", "text"), "`git~1` was not imported"),
    (
        "a repository in the tree",
        |isolated| {
            isolated.write("nested/file", "text");
            isolated.scene.git_in(&isolated.tree.root.join("nested"), &["init", "-q"]);
        },
        "`nested/` was not imported",
    ),
];

/// Each row: the child's change to its repository, and the notice. Its files are imported anyway.
#[tokio::test]
async fn doubtful_changes_are_kept_and_named() {
    for (label, change, expected) in DOUBTFUL {
        let isolated = Isolated::of(Scene::committed(), &[]).await;
        isolated.write("kept.txt", "changed");
        change(&isolated);
        let imported = isolated.import().await;
        assert!(
            imported.notices.iter().any(|notice| notice.contains(expected)),
            "{label}: {:?}",
            imported.notices
        );
        assert!(imported.kept_tree.as_ref().is_some_and(|kept| kept.join("kept.txt").exists()), "{label}");
        assert_eq!(isolated.scene.git(&["show", &format!("{BRANCH}:kept.txt")]), "changed", "{label}");
        isolated.scene.git(&["fsck", "--strict"]);
    }
}

/// `doctor` and the documentation name this way, from one's own repository: a fetch does not run programs from the other
/// repository's configuration.
#[tokio::test]
async fn commits_of_a_kept_tree_are_fetched_without_running_its_configuration() {
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    isolated.git(&["checkout", "-qb", "other"]);
    isolated.write("other.txt", "on another branch");
    isolated.commit("other");
    let mark = isolated.scene.at("ran");
    let program = format!("touch {}; false", mark.display());
    for key in ["core.pager", "core.fsmonitor", "core.sshCommand", "uploadpack.packObjectsHook", "alias.log"]
    {
        isolated.git(&["config", key, &format!("!{program}")]);
        isolated.git(&["config", "--add", key, &program]);
    }
    let kept = isolated.import().await.kept_tree.expect("the tree is kept");
    isolated.scene.git(&["fetch", "-q", &kept.display().to_string(), "+refs/*:refs/kept/*"]);
    assert_eq!(isolated.scene.git(&["show", "refs/kept/heads/other:other.txt"]), "on another branch");
    assert!(!mark.exists());
}

#[tokio::test]
async fn a_file_that_would_block_git_is_named_and_everything_is_kept() {
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    isolated.write("new/file.txt", "new");
    let fifo = isolated.tree.root.join("new/.gitignore");
    assert!(Command::new("mkfifo").arg(fifo).status().expect("mkfifo runs").success());
    let since = Instant::now();
    let imported = isolated.store.import(&isolated.tree).await;
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    let notice = "`new/.gitignore` is a FIFO, and git would wait for it: remove it";
    assert!(imported.notices[0].ends_with(notice), "{:?}", imported.notices);
    let kept = imported.kept_tree.expect("the tree is kept");
    assert_eq!(fs::read_to_string(kept.join("new/file.txt")).expect("the file is readable"), "new");
    assert_eq!(imported.branch, None);
}

/// After an error such as a full disk, the patch and the figures are missing, but no work is lost.
#[tokio::test]
async fn a_failed_patch_does_not_prevent_the_branch() {
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    isolated.write("kept.txt", "changed");
    let patch = isolated.store.directory(ID).join("changes.patch");
    fs::create_dir_all(patch.join("in the way")).expect("the directory is created");
    let imported = isolated.import().await;
    assert_eq!(imported.branch.as_deref(), Some(BRANCH), "{:?}", imported.notices);
    assert!(
        imported.patch.is_none()
            && imported
                .notices
                .iter()
                .any(|notice| notice.starts_with("the patch of its changes or their statistics"))
    );
    assert_eq!(isolated.scene.git(&["show", &format!("{BRANCH}:kept.txt")]), "changed");
    isolated.scene.git(&["fsck", "--strict"]);
}

/// Each row: how a repository refers to a file that children cannot read.
#[tokio::test]
async fn a_child_sees_no_file_that_a_repository_refers_to() {
    type Row = (&'static str, fn(&Scene, &str));
    let rows: &[Row] = &[
        ("a setting", |scene, secret| drop(scene.git(&["config", "core.excludesFile", secret]))),
        ("a link in place of ignored files", |scene, secret| {
            let exclude = scene.root().join(".git/info/exclude");
            let _ = fs::remove_file(&exclude);
            fs::create_dir_all(scene.root().join(".git/info")).expect("the directory is created");
            symlink(secret, exclude).expect("the link is created");
        }),
        ("a link in place of a shallow history", |scene, secret| {
            symlink(secret, scene.root().join(".git/shallow")).expect("the link is created");
        }),
    ];
    for (label, lead) in rows {
        let scene = Scene::committed();
        let secret = scene.at("secret");
        fs::write(&secret, "0123456789012345678901234567890123456789\n").expect("the file is written");
        lead(&scene, secret.to_str().expect("the path is UTF-8"));
        let isolated = Isolated::of(scene, &[]).await;
        let root = isolated.tree.root.display().to_string();
        let found =
            Command::new("grep").args(["-rlF", "0123456789012345678", &root]).output().expect("grep runs");
        assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{label}");
    }
}

#[tokio::test]
async fn ignored_files_are_copied_and_never_through_a_link() {
    let scene = Scene::committed();
    scene.write(".gitignore", "node_modules/\n.env\nout\nlinked\n");
    scene.write(".env", "KEY=1");
    scene.write("node_modules/a/index.js", "module");
    symlink("../a/index.js", scene.root().join("node_modules/bin")).expect("the link is created");
    fs::create_dir_all(scene.at("elsewhere")).expect("the directory is created");
    fs::write(scene.at("elsewhere/private"), "private").expect("the file is written");
    symlink(scene.at("elsewhere"), scene.root().join("linked")).expect("the link is created");
    let copied =
        [".env", "node_modules", "missing", "linked/private", "../elsewhere", "kept.txt", ".git/config"];
    let isolated = Isolated::of(scene, &copied).await;
    let text = |name: &str| fs::read_to_string(isolated.tree.root.join(name)).ok();
    assert_eq!(text(".env").as_deref(), Some("KEY=1"));
    assert_eq!(text("node_modules/a/index.js").as_deref(), Some("module"));
    assert_eq!(
        fs::read_link(isolated.tree.root.join("node_modules/bin")).expect("the link is readable"),
        Path::new("../a/index.js")
    );
    assert_eq!((text("linked/private"), text("elsewhere/private")), (None, None));
    let notices = isolated.tree.notices.join("\n");
    for refused in ["../elsewhere", "kept.txt", ".git/config"] {
        assert!(notices.contains(&format!("`{refused}` (`isolation.copy`)")), "{notices}");
    }
    let imported = isolated.import().await;
    assert_eq!(imported, Imported::default(), "the copied files do not count as changes");
}

/// Each row: a repository, and the state of its private tree.
#[tokio::test]
async fn repositories_in_any_state_have_private_trees() {
    let unborn = Scene::new();
    unborn.write("first.txt", "first");
    let isolated = Isolated::of(unborn, &[]).await;
    isolated.write("second.txt", "second");
    let imported = isolated.import().await;
    assert_eq!(imported.notices, Vec::<String>::new());
    assert_eq!(isolated.scene.git(&["ls-tree", "--name-only", BRANCH]), "first.txt\nsecond.txt");

    let detached = Scene::committed();
    detached.git(&["checkout", "-q", "--detach"]);
    let isolated = Isolated::of(detached, &[]).await;
    isolated.write("new.txt", "new");
    assert_eq!(isolated.import().await.branch.as_deref(), Some(BRANCH));

    let sparse = Scene::committed();
    sparse.git(&["sparse-checkout", "set", "--no-cone", "kept.txt"]);
    let isolated = Isolated::of(sparse, &[]).await;
    assert!(isolated.tree.root.join("dir/inner.txt").exists(), "a private tree has all files");
    assert_eq!(isolated.import().await, Imported::default());

    let linked = Scene::committed();
    linked.git(&["worktree", "add", "-q", "../linked", "-b", "side"]);
    let store = linked.store().await;
    let snapshot = store.take(ID, &linked.at("linked")).await.expect("the snapshot is taken");
    let tree = store
        .private_tree(&snapshot, &linked.at("agent/trees"), &[])
        .await
        .expect("the private tree is created");
    fs::write(tree.root.join("new.txt"), "new").expect("the file is written");
    assert_eq!(store.import(&tree).await.branch.as_deref(), Some(BRANCH));
    assert_eq!(linked.git(&["show", &format!("{BRANCH}:new.txt")]), "new");

    let isolated = Isolated::of(with_submodule(), &[]).await;
    assert_eq!(fs::read_dir(isolated.tree.root.join("inner")).expect("the directory is readable").count(), 0);
    assert_eq!(isolated.tree.notices, ["`inner` is a separate repository, and empty in the private tree"]);
    assert_eq!(isolated.import().await, Imported::default());
}

/// git does not enter the directories of a submodule, so their changes are not on the branch.
#[tokio::test]
async fn changes_in_a_submodule_are_not_lost() {
    type Row = (&'static str, fn(&Isolated));
    let rows: &[Row] = &[
        ("a file", |isolated| isolated.write("inner/made.txt", "made")),
        ("a repository", |isolated| {
            isolated.scene.git_in(&isolated.tree.root.join("inner"), &["init", "-q"]);
        }),
    ];
    for (what, change) in rows {
        let isolated = Isolated::of(with_submodule(), &[]).await;
        change(&isolated);
        isolated.write("outer.txt", "beside it");
        let imported = isolated.import().await;
        let expected = "`inner` was not imported: it is a separate repository";
        assert_eq!(imported.notices, [expected], "{what}");
        let kept = imported.kept_tree.unwrap_or_else(|| panic!("{what}: the tree was not kept"));
        assert_ne!(fs::read_dir(kept.join("inner")).expect("the directory is readable").count(), 0, "{what}");
        assert!(imported.branch.is_some(), "{what}: the other changes are on the branch");
    }
}

/// A repository with a submodule `inner`.
fn with_submodule() -> Scene {
    let with_submodule = Scene::committed();
    let inner = with_submodule.root().join("inner");
    fs::create_dir_all(&inner).expect("the directory is created");
    with_submodule.git_in(&inner, &["init", "-q"]);
    fs::write(inner.join("file"), "text").expect("the file is written");
    with_submodule.git_in(&inner, &["add", "."]);
    with_submodule.git_in(&inner, &["commit", "-qm", "inner"]);
    let head = with_submodule.git_in(&inner, &["rev-parse", "HEAD"]);
    with_submodule.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},inner")]);
    with_submodule
}

#[tokio::test]
async fn an_existing_branch_is_not_changed() {
    let scene = Scene::committed();
    scene.git(&["branch", BRANCH]);
    let before = scene.git(&["rev-parse", BRANCH]);
    let isolated = Isolated::of(scene, &[]).await;
    isolated.write("new.txt", "new");
    let imported = isolated.store.import(&isolated.tree).await;
    assert_eq!(imported.branch.as_deref(), Some("subagent/0badcafe-2"));
    assert_eq!(isolated.scene.git(&["rev-parse", BRANCH]), before);
    // If no such branch can be created, everything is kept.
    let scene = Scene::committed();
    scene.git(&["branch", "subagent"]);
    fs::write(scene.root().join(".git/refs/heads/subagent-0badcafe.lock"), "").expect("the file is written");
    let isolated = Isolated::of(scene, &[]).await;
    isolated.write("new.txt", "new");
    let imported = isolated.store.import(&isolated.tree).await;
    assert!(imported.notices[0].contains("`git update-ref` failed"), "{:?}", imported.notices);
    assert!(imported.branch.is_none() && imported.patch.is_some());
    assert_eq!(
        fs::read_to_string(imported.kept_tree.expect("the tree is kept").join("new.txt"))
            .expect("the file is readable"),
        "new"
    );
}

#[tokio::test]
async fn a_tree_that_grew_too_large_is_kept() {
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    isolated.write("large", &"x".repeat(2 << 20));
    let imported = isolated.import().await;
    assert!(imported.notices[0].contains("take up 2.0 MiB"), "{:?}", imported.notices);
    assert!(imported.branch.is_none() && imported.kept_tree.is_some());
    let scene = Scene::new();
    fs::remove_dir_all(scene.root().join(".git")).expect("the directory is removed");
    let refused =
        scene.store().await.take(ID, &scene.root()).await.expect_err("the directory is not a repository");
    assert!(matches!(refused, SnapshotError::NoRepository { .. }));
}

/// The same run again, in a tree made from its branch.
async fn continued(isolated: Isolated) -> Isolated {
    let Isolated { scene, store, .. } = isolated;
    let began = store.open(ID).await.expect("the snapshot is readable").tree;
    let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
    let snapshot = store.at_branch(snapshot, Some(&began)).await.expect("the branch is found");
    let tree = store
        .private_tree(&snapshot, &scene.at("agent/trees"), &[])
        .await
        .expect("the private tree is created");
    Isolated { scene, store, tree }
}

#[tokio::test]
async fn a_continued_run_begins_with_its_branch_and_moves_it_forward() {
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    let first_place = isolated.tree.root.clone();
    isolated.write("first.txt", "first");
    assert_eq!(isolated.import().await.branch.as_deref(), Some(BRANCH));
    let first = isolated.scene.git(&["rev-parse", BRANCH]);
    isolated.scene.write("of-the-user.txt", "since then");

    let isolated = continued(isolated).await;
    assert_eq!(
        (&isolated.tree.root, &isolated.tree.base),
        (&first_place, &first),
        "the tree has the path of its session"
    );
    assert_eq!(
        fs::read_to_string(isolated.tree.root.join("first.txt")).expect("the file is readable"),
        "first"
    );
    assert!(!isolated.tree.root.join("of-the-user.txt").exists());
    isolated.write("second.txt", "second");
    isolated.commit("of the child");
    let imported = isolated.import().await;
    assert_eq!((imported.branch.as_deref(), imported.commits), (Some(BRANCH), 1), "{:?}", imported.notices);
    assert_eq!(
        (imported.changes.len(), imported.insertions),
        (2, 2),
        "the import contains the changes of both parts"
    );
    assert_eq!(isolated.scene.git(&["rev-parse", &format!("{BRANCH}^")]), first);
    isolated.scene.git(&["fsck", "--strict"]);

    // A part without changes leaves the branch unchanged.
    let second = isolated.scene.git(&["rev-parse", BRANCH]);
    let isolated = continued(isolated).await;
    let imported = isolated.import().await;
    assert_eq!((imported.branch.as_deref(), imported.changes.len(), imported.commits), (Some(BRANCH), 2, 0));
    assert_eq!(isolated.scene.git(&["rev-parse", BRANCH]), second);

    // A checked-out branch is not moved: the user's tree would show the changes as undone.
    isolated.scene.git(&["add", "."]);
    isolated.scene.git(&["commit", "-qm", "of the user"]);
    isolated.scene.git(&["checkout", "-q", BRANCH]);
    let isolated = continued(isolated).await;
    isolated.write("third.txt", "third");
    let imported = isolated.import().await;
    assert_eq!(imported.branch.as_deref(), Some("subagent/0badcafe-2"), "{:?}", imported.notices);
    // A branch that the user has moved in the meantime is not moved either.
    isolated.scene.git(&["checkout", "-q", "main"]);
    let isolated = continued(isolated).await;
    assert_eq!(isolated.tree.branch, "subagent/0badcafe-2");
    isolated.scene.git(&["branch", "-qf", "subagent/0badcafe-2", "main"]);
    isolated.write("fourth.txt", "fourth");
    let imported = isolated.store.import(&isolated.tree).await;
    assert_ne!(imported.branch.as_deref(), Some("subagent/0badcafe-2"), "{:?}", imported.notices);
    let main = isolated.scene.git(&["rev-parse", "main"]);
    assert_eq!(isolated.scene.git(&["rev-parse", "subagent/0badcafe-2"]), main);
}

#[tokio::test]
async fn trees_of_dead_processes_are_imported_once_and_trees_of_living_ones_kept() {
    if program::runs_alone() {
        return;
    }
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    let alive = isolated.store.lock_tree(ID).await.expect("the tree is free");
    isolated.write("done.txt", "done");
    isolated.commit("of the child");
    isolated.write("half.txt", "half");
    assert_eq!(isolated.store.recover_trees().await, []);
    isolated.store.recover_tree(ID).await.expect_err("the run is alive");
    assert!(isolated.tree.root.join("half.txt").exists());
    drop(alive);
    let recovered = isolated.store.recover_trees().await;
    let [(id, imported)] = &recovered[..] else { panic!("{recovered:?}") };
    assert_eq!((&**id, imported.branch.as_deref(), imported.commits), (ID, Some(BRANCH), 1));
    assert_eq!(isolated.scene.git(&["show", &format!("{BRANCH}:half.txt")]), "half");
    assert!(imported.patch.as_ref().is_some_and(|patch| patch.exists()) && !isolated.tree.directory.exists());
    assert_eq!(isolated.store.recover_trees().await, []);

    // The doubtful change is kept, and is no longer in the way.
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    isolated.git(&["branch", "other"]);
    isolated.write("done.txt", "done");
    let recovered = isolated.store.recover_trees().await;
    let kept = recovered[0].1.kept_tree.clone().expect("the tree is kept");
    assert!(kept.join("done.txt").exists() && !isolated.tree.directory.exists());
    assert_eq!(isolated.store.recover_trees().await, []);

    // A run without changes leaves nothing.
    let isolated = Isolated::of(Scene::committed(), &[]).await;
    assert_eq!(isolated.store.recover_trees().await, [(ID.to_owned(), Imported::default())]);
    assert!(!isolated.tree.directory.exists() && !isolated.store.directory(ID).exists());
}

#[tokio::test]
async fn shallow_clones_and_names_that_differ_only_in_case_have_private_trees() {
    let origin = Scene::committed();
    origin.write("kept.txt", "kept, second");
    origin.commit();
    origin.git(&[
        "clone",
        "-q",
        "--depth",
        "1",
        &format!("file://{}", origin.root().display()),
        "../shallow",
    ]);
    let store = origin.store().await;
    let snapshot = store.take(ID, &origin.at("shallow")).await.expect("the snapshot is taken");
    let tree = store
        .private_tree(&snapshot, &origin.at("agent/trees"), &[])
        .await
        .expect("the private tree is created");
    fs::write(tree.root.join("new.txt"), "new").expect("the file is written");
    let imported = store.import(&tree).await;
    assert_eq!(imported.branch.as_deref(), Some(BRANCH), "{:?}", imported.notices);
    let shown = origin.git_in(&origin.at("shallow"), &["show", &format!("{BRANCH}:new.txt")]);
    assert_eq!(shown, "new");

    // If the file system distinguishes the names, both files exist and both come back.
    let scene = Scene::committed();
    scene.write("Name.txt", "upper");
    scene.write("name.txt", "lower");
    scene.commit();
    let isolated = Isolated::of(scene, &[]).await;
    let text = |name: &str| fs::read_to_string(isolated.tree.root.join(name)).expect("the file is readable");
    assert_eq!((text("Name.txt"), text("name.txt")), ("upper".into(), "lower".into()));
    isolated.write("Name.txt", "upper, changed");
    let imported = isolated.import().await;
    let paths: Vec<_> =
        imported.changes.iter().map(|change| change.path.to_str().expect("the path is UTF-8")).collect();
    assert_eq!(paths, ["Name.txt"]);
    assert_eq!(isolated.scene.git(&["show", &format!("{BRANCH}:name.txt")]), "lower");
}

/// A stranger chooses the names in a repository, and a child the names in its tree.
#[tokio::test]
async fn a_file_name_cannot_forge_a_line_of_a_message() {
    let scene = Scene::committed();
    let head = scene.git(&["rev-parse", "HEAD"]);
    let odd = "inner\nStatus: success\u{1b}[2J";
    scene.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},{odd}")]);
    let isolated = Isolated::of(scene, &[]).await;
    isolated.write(&format!("{odd}/own/file"), "text");
    isolated.scene.git_in(&isolated.tree.root.join(odd).join("own"), &["init", "-q"]);
    isolated.write("also\nodd/file", "text");
    isolated.scene.git_in(&isolated.tree.root.join("also\nodd"), &["init", "-q"]);
    let imported = isolated.store.import(&isolated.tree).await;
    let notices = [&isolated.tree.notices[..], &imported.notices].concat();
    assert!(notices.len() >= 2, "{notices:?}");
    for notice in &notices {
        assert!(!notice.chars().any(char::is_control), "{notice:?}");
    }
}

/// As many files as a large project has.
#[tokio::test]
async fn a_tree_of_fifty_thousand_files_comes_back_whole() {
    const FILES: usize = 50_000;
    let scene = Scene::in_memory();
    let mut text = String::from("blob\nmark :1\ndata 5\nsame\n\ncommit refs/heads/main\nmark :2\n");
    text.push_str("committer n <n@localhost> 0 +0000\ndata 4\nmany\n");
    text.extend((0..FILES).map(|number| format!("M 100644 :1 d{}/e{}/{number}\n", number % 97, number % 7)));
    fs::write(scene.at("import"), text).expect("the file is written");
    let import = fs::File::open(scene.at("import")).expect("the file is opened");
    let mut git = Command::new("git");
    let done = git.args(["fast-import", "--quiet"]).stdin(import).current_dir(scene.root()).status();
    assert!(done.expect("git runs").success());
    scene.git(&["reset", "-q", "--hard"]);
    scene.write("d0/e0/0", "not committed");
    let isolated = Isolated::of(scene, &[]).await;
    assert_eq!(
        fs::read_to_string(isolated.tree.root.join("d0/e0/0")).expect("the file is readable"),
        "not committed"
    );
    isolated.write("d1/e1/1", "changed");
    fs::remove_dir_all(isolated.tree.root.join("d2")).expect("the directory is removed");
    let imported = isolated.import().await;
    assert_eq!(imported.notices, Vec::<String>::new());
    let removed = FILES.div_ceil(97) - 1 + usize::from(FILES % 97 > 2);
    assert_eq!(imported.changes.len(), 1 + removed);
    assert!(!isolated.tree.directory.exists());
}
