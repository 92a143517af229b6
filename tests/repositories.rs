//! Real repositories: hooks, branches in the way, rewritten history, and files with flags.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::support::repository::{ID, LIMITS, Scene};
use worktree::{Git, Imported, PrivateTree, SnapshotStore};

/// A run in a private tree.
struct Run {
    store: SnapshotStore,
    tree: PrivateTree,
}

impl Run {
    async fn of(scene: &Scene) -> Self {
        Self::with(scene, scene.store().await).await
    }

    async fn with(scene: &Scene, store: SnapshotStore) -> Self {
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        store.note_other_tree(&snapshot).await.expect("the other tree is recorded");
        let tree = store
            .private_tree(&snapshot, &scene.at("agent/trees"), &[])
            .await
            .expect("the private tree is created");
        Self { store, tree }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.tree.root.join(name), text).expect("the file is written");
    }

    async fn import(&self) -> Imported {
        self.store.import(&self.tree).await
    }
}

fn text(scene: &Scene, name: &str) -> String {
    fs::read_to_string(scene.root().join(name)).expect(name)
}

fn branches(scene: &Scene) -> String {
    scene.git(&["branch", "--format=%(refname:short)"])
}

/// Every event for which git knows hooks.
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
];

#[tokio::test]
async fn no_hook_or_program_of_a_repository_runs() {
    for (sandboxed, in_files) in [(false, true), (false, false), (true, true)] {
        let scene = Scene::committed();
        let mark = scene.at("mark");
        let script = scene.at("script");
        fs::write(&script, format!("#!/bin/sh\necho \"$0 $*\" >> {}\nexec cat\n", mark.display()))
            .expect("the file is written");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("the permissions are set");
        let script = script.display().to_string();
        scene.write(".gitattributes", "* filter=x diff=x merge=x\n");
        scene.git(&["branch", "other"]);
        for hook in HOOKS {
            let hooks = scene.root().join(if in_files { ".git/hooks" } else { "hooks" });
            fs::create_dir_all(&hooks).expect("the directory is created");
            symlink(&script, hooks.join(hook)).expect("the link is created");
            // git 2.54 and newer run hooks of the configuration.
            scene.git(&["config", "--add", "hook.a=b.c.event", hook]);
        }
        if !in_files {
            scene.git(&["config", "core.hooksPath", "hooks"]);
        }
        for setting in [
            "hook.a=b.c.command",
            "core.fsmonitor",
            "core.pager",
            "core.editor",
            "core.sshCommand",
            "core.askPass",
            "core.gitProxy",
            "core.alternateRefsCommand",
            "credential.helper",
            "gpg.program",
            "gpg.ssh.program",
            "diff.external",
            "diff.x.command",
            "diff.x.textconv",
            "merge.x.driver",
            "filter.x.clean",
            "filter.x.smudge",
            "filter.x.process",
            "interactive.diffFilter",
            "uploadpack.packObjectsHook",
        ] {
            scene.git(&["config", setting, &script]);
        }
        for alias in ["update-ref", "rev-parse", "pack-objects", "config", "for-each-ref"] {
            scene.git(&["config", &format!("alias.{alias}"), &format!("!{script}")]);
        }
        for (setting, value) in [("commit.gpgSign", "true"), ("tag.gpgSign", "true"), ("gc.auto", "1")] {
            scene.git(&["config", setting, value]);
        }
        // The commands above have run some hooks.
        let _ = fs::remove_file(&mark);

        let store = if sandboxed { scene.sandboxed().await } else { scene.store().await };
        let run = Run::with(&scene, store).await;
        run.write("kept.txt", "the run's");
        let imported = run.import().await;
        assert_eq!(imported.branch.as_deref(), Some("subagent/0badcafe"), "{:?}", imported.notices);
        run.store.difference(ID, SystemTime::now()).await.expect("the diff is available");
        run.store.apply(ID, true).await.expect("the apply succeeds");
        run.store.abort_apply(ID).await.expect("the apply is aborted");
        let before = run.store.open(ID).await.expect("the snapshot is readable");
        let again = run.store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        let again = run.store.at_branch(again, Some(&before.tree)).await.expect("the branch is found");
        assert_eq!(again.branch, imported.branch);
        let tree = run
            .store
            .private_tree(&again, &scene.at("agent/trees"), &[])
            .await
            .expect("the private tree is created");
        let run = Run { store: run.store, tree };
        run.write("kept.txt", "the run's, again");
        let moved = run.import().await;
        assert_eq!(moved.branch, imported.branch, "the branch moved forward: {:?}", moved.notices);
        run.store.discard(ID, true).await.expect("the changes are discarded");

        let snapshot = run.store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        scene.write("dir/inner.txt", "changed");
        assert!(run.store.note_end(&snapshot).await.expect("the end is recorded"));
        let snapshot = run.store.open(ID).await.expect("the snapshot is readable");
        let undone = run.store.undo(&snapshot, SystemTime::now()).await.expect("the undo succeeds");
        assert_eq!(undone.restored, [PathBuf::from("dir/inner.txt")]);
        let output = fs::read_to_string(&mark).unwrap_or_default();
        assert_eq!(output, "", "sandboxed: {sandboxed}, in files: {in_files}");
    }
}

/// Each row has an obstacle and the branch that the run gets.
#[tokio::test]
async fn a_run_gets_another_branch_if_its_name_is_in_use() {
    type Prepare<'a> = &'a dyn Fn(&Scene);
    let lock = |scene: &Scene, name: &str| {
        let path = scene.root().join(format!(".git/refs/heads/{name}.lock"));
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        fs::write(path, "").expect("the file is written");
    };
    let rows: [(&str, Prepare<'_>, Option<&str>); 9] = [
        ("nothing", &|_| {}, Some("subagent/0badcafe")),
        ("a branch", &|scene| drop(scene.git(&["branch", "subagent"])), Some("subagent-0badcafe")),
        (
            "a packed branch",
            &|scene| {
                scene.git(&["branch", "subagent"]);
                scene.git(&["pack-refs", "--all"]);
            },
            Some("subagent-0badcafe"),
        ),
        (
            "a branch without a commit",
            &|scene| drop(scene.git(&["checkout", "-q", "--orphan", "subagent"])),
            Some("subagent-0badcafe"),
        ),
        (
            "a branch and another one",
            &|scene| {
                scene.git(&["branch", "subagent"]);
                scene.git(&["branch", "subagent-0badcafe"]);
            },
            Some("subagent-0badcafe-2"),
        ),
        (
            "a branch below it",
            &|scene| drop(scene.git(&["branch", "subagent/0badcafe/x"])),
            Some("subagent/0badcafe-2"),
        ),
        ("a tag", &|scene| drop(scene.git(&["tag", "subagent/0badcafe"])), Some("subagent/0badcafe-2")),
        ("a remaining lock", &|scene| lock(scene, "subagent/0badcafe"), Some("subagent-0badcafe")),
        (
            "everything",
            &|scene| {
                scene.git(&["branch", "subagent"]);
                lock(scene, "subagent-0badcafe");
            },
            None,
        ),
    ];
    for (what, prepare, expected) in rows {
        let scene = Scene::committed();
        prepare(&scene);
        let before = branches(&scene);
        let run = Run::of(&scene).await;
        run.write("kept.txt", "the run's");
        let imported = run.import().await;
        assert_eq!(imported.branch.as_deref(), expected, "{what}: {:?}", imported.notices);
        assert_eq!(imported.kept_tree.is_some(), expected.is_none(), "{what}");
        assert!(imported.patch.is_some() && imported.changes.len() == 1, "{what}");
        if let Some(branch) = expected {
            assert_eq!(scene.git(&["show", &format!("refs/heads/{branch}:kept.txt")]), "the run's", "{what}");
            assert_eq!(
                scene.git(&["show", &format!("{branch}:kept.txt")]),
                "the run's",
                "{what}: the branch with the run's name has the changes"
            );
        } else {
            let notices = imported.notices.join("\n");
            assert!(notices.contains("`/subagents apply 0badcafe` applies them"), "{notices}");
        }
        let shown = run.store.difference(ID, SystemTime::now()).await.expect(what);
        assert_eq!(shown.branch.as_deref(), expected, "{what}");
        assert!(String::from_utf8_lossy(&shown.text).contains("+the run's"), "{what}");
        let applied = run.store.apply(ID, false).await.expect(what);
        assert_eq!(applied.written, [PathBuf::from("kept.txt")], "{what}");
        assert_eq!(text(&scene, "kept.txt"), "the run's", "{what}");
        run.store.abort_apply(ID).await.expect(what);
        assert_eq!(text(&scene, "kept.txt"), "kept", "{what}");
        run.store.discard(ID, true).await.expect(what);
        assert_eq!(branches(&scene), before, "{what}");
    }
}

/// A continued run moves its branch even if the branch has another name.
#[tokio::test]
async fn a_continued_run_keeps_its_branch() {
    let scene = Scene::committed();
    scene.git(&["branch", "subagent"]);
    let run = Run::of(&scene).await;
    run.write("kept.txt", "first");
    assert_eq!(run.import().await.branch.as_deref(), Some("subagent-0badcafe"));
    let before = run.store.open(ID).await.expect("the snapshot is readable");
    let again = run.store.take(ID, &scene.root()).await.expect("the snapshot is taken");
    let again = run.store.at_branch(again, Some(&before.tree)).await.expect("the branch is found");
    let tree = run
        .store
        .private_tree(&again, &scene.at("agent/trees"), &[])
        .await
        .expect("the private tree is created");
    assert_eq!(fs::read_to_string(tree.root.join("kept.txt")).expect("the file is readable"), "first");
    let run = Run { store: run.store, tree };
    run.write("kept.txt", "second");
    let imported = run.import().await;
    assert_eq!(imported.branch.as_deref(), Some("subagent-0badcafe"), "{:?}", imported.notices);
    assert_eq!(branches(&scene), "main\nsubagent\nsubagent-0badcafe");
    assert_eq!(scene.git(&["show", "subagent-0badcafe:kept.txt"]), "second");
}

/// Rewrites the whole history, as a person does, and removes the old one.
fn rewrite(scene: &Scene) {
    scene.git(&["checkout", "-q", "--orphan", "fresh"]);
    scene.git(&["rm", "-qrf", "--cached", "."]);
    scene.write("fresh.txt", "fresh");
    scene.git(&["add", "fresh.txt"]);
    scene.git(&["commit", "-qm", "fresh"]);
    scene.git(&["branch", "-D", "main"]);
    scene.git(&["reflog", "expire", "--expire=now", "--all"]);
    scene.git(&["gc", "-q", "--prune=now"]);
    fs::remove_file(scene.root().join("fresh.txt")).expect("the file is removed");
}

/// pi's directory is on the project's file system, or on another one, where files cannot get hard links.
fn agent_dirs() -> Vec<(Option<PathBuf>, Option<tempfile::TempDir>)> {
    let memory = tempfile::tempdir_in("/dev/shm").ok();
    let other = memory.map(|memory| (Some(memory.path().join("agent")), Some(memory)));
    [(None, None)].into_iter().chain(other).collect()
}

#[tokio::test]
async fn an_undo_works_after_the_history_was_rewritten() {
    for packed in [false, true] {
        for (place, _memory) in agent_dirs() {
            let scene = Scene::committed();
            scene.write("staged.txt", "staged");
            scene.git(&["add", "staged.txt"]);
            if packed {
                scene.git(&["gc", "-q"]);
            }
            let agent_dir = place.unwrap_or_else(|| scene.at("agent"));
            let git = Git::find(&scene.env(), &[], None).await.expect("git is found");
            let store = SnapshotStore::new(git, &agent_dir, &scene.env(), LIMITS);
            let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
            for name in ["kept.txt", "dir/inner.txt", "staged.txt"] {
                scene.write(name, "the run's");
            }
            assert!(store.note_end(&snapshot).await.expect("the end is recorded"));
            rewrite(&scene);
            let snapshot = store.open(ID).await.expect("the snapshot is readable");
            let undone = store.undo(&snapshot, SystemTime::now()).await.expect("the undo succeeds");
            assert_eq!(undone.failed, [], "{}", agent_dir.display());
            assert_eq!(undone.restored.len(), 3, "{}: {undone:?}", agent_dir.display());
            assert_eq!(
                [text(&scene, "kept.txt"), text(&scene, "dir/inner.txt"), text(&scene, "staged.txt")],
                ["kept", "inner", "staged"]
            );
        }
    }
}

#[tokio::test]
async fn an_import_works_after_the_history_was_rewritten() {
    for (packed, sandboxed) in [(false, false), (true, false), (true, true)] {
        let scene = Scene::committed();
        scene.write("kept.txt", "second");
        scene.commit();
        if packed {
            scene.git(&["gc", "-q"]);
        }
        let store = if sandboxed { scene.sandboxed().await } else { scene.store().await };
        let run = Run::with(&scene, store).await;
        run.write("dir/inner.txt", "committed by the run");
        scene.git_in(&run.tree.root, &["commit", "-qam", "of the run"]);
        run.write("kept.txt", "not committed by the run");
        rewrite(&scene);
        let imported = run.import().await;
        assert_eq!(imported.notices, Vec::<String>::new());
        assert_eq!((imported.branch.as_deref(), imported.commits), (Some("subagent/0badcafe"), 1));
        assert_eq!(scene.git(&["fsck", "--strict", "--connectivity-only"]), "");
        assert_eq!(scene.git(&["log", "--format=%s", "subagent/0badcafe"]).lines().count(), 4);
        scene.git(&["gc", "-q", "--prune=now"]);
        let applied = run.store.apply(ID, false).await.expect("the apply succeeds");
        assert_eq!(applied.conflicts, []);
        assert_eq!(text(&scene, "kept.txt"), "not committed by the run");
        run.store.abort_apply(ID).await.expect("the apply is aborted");
        assert_eq!(text(&scene, "kept.txt"), "second");
    }
}

/// Hard links take up no space. They neither use up the quota of runs nor show in the repository.
#[tokio::test]
async fn kept_objects_take_no_space_and_the_repository_keeps_its_files() {
    let scene = Scene::committed();
    scene.git(&["gc", "-q"]);
    let pack =
        fs::read_dir(scene.root().join(".git/objects/pack")).expect("the directory is readable").flatten();
    let pack = pack.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "pack"));
    let pack = pack.expect("the repository has a pack");
    let times = || {
        fs::metadata(&pack)
            .map(|found| (found.modified().expect("the file has a time"), found.permissions()))
            .expect("the file exists")
    };
    let before = times();
    for sandboxed in [false, true] {
        let store = if sandboxed { scene.sandboxed().await } else { scene.store().await };
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        let kept = store.directory(ID).join("kept/pack").join(pack.file_name().expect("the pack has a name"));
        assert!(fs::metadata(&kept).expect("the file exists").nlink() > 1);
        store.tree_of_now(&snapshot).await.expect("the tree is recorded");
        assert_eq!(times(), before, "sandboxed: {sandboxed}");
        store.release(ID).await.expect("the deliveries are released");
        assert_eq!(times(), before, "sandboxed: {sandboxed}");
    }
    scene.git(&["fsck"]);
}

/// The options that set a flag, and its letter in `git ls-files -v`.
const FLAGS: [[&str; 2]; 2] = [["--skip-worktree", "S"], ["--assume-unchanged", "h"]];

#[tokio::test]
async fn files_with_skip_worktree_or_assume_unchanged_are_undone_like_others() {
    for [flag, letter] in FLAGS {
        let scene = Scene::committed();
        scene.git(&["update-index", flag, "kept.txt", "dir/inner.txt"]);
        scene.write("kept.txt", "the person's own");
        let store = scene.store().await;
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        scene.write("kept.txt", "the run's");
        fs::remove_file(scene.root().join("dir/inner.txt")).expect("the file is removed");
        assert!(store.note_end(&snapshot).await.expect("the end is recorded"), "{flag}");
        let snapshot = store.open(ID).await.expect("the snapshot is readable");
        let undone = store.undo(&snapshot, SystemTime::now()).await.expect("the undo succeeds");
        assert_eq!(undone.restored, ["dir/inner.txt", "kept.txt"].map(PathBuf::from), "{flag}: {undone:?}");
        assert_eq!(
            (text(&scene, "kept.txt"), text(&scene, "dir/inner.txt")),
            ("the person's own".into(), "inner".into())
        );
        let flags = scene.git(&["ls-files", "-v"]);
        assert_eq!(
            flags,
            format!("{letter} dir/inner.txt\n{letter} kept.txt"),
            "the user's index is unchanged"
        );
    }
}

#[tokio::test]
async fn changes_of_files_with_skip_worktree_or_assume_unchanged_are_applied_and_undone() {
    for [flag, _] in FLAGS {
        let scene = Scene::committed();
        scene.git(&["update-index", flag, "kept.txt"]);
        scene.write("kept.txt", "the person's own\n\n\n\nend\n");
        let run = Run::of(&scene).await;
        assert_eq!(
            fs::read_to_string(run.tree.root.join("kept.txt")).expect("the file is readable"),
            text(&scene, "kept.txt")
        );
        run.write("kept.txt", "the person's own\n\n\n\nend of the run\n");
        let imported = run.import().await;
        assert_eq!((imported.notices.len(), imported.changes.len()), (0, 1), "{flag}");
        // Both runs have changed the file now.
        scene.write("kept.txt", "the person's own, later\n\n\n\nend\n");
        let applied = run.store.apply(ID, false).await.expect(flag);
        assert_eq!((applied.written, applied.conflicts), (vec![PathBuf::from("kept.txt")], vec![]), "{flag}");
        assert_eq!(text(&scene, "kept.txt"), "the person's own, later\n\n\n\nend of the run\n");
        run.store.abort_apply(ID).await.expect(flag);
        assert_eq!(text(&scene, "kept.txt"), "the person's own, later\n\n\n\nend\n");
    }
}

/// In a sparse tree such files do not exist.
#[tokio::test]
async fn a_file_missing_in_a_sparse_tree_is_missing_after_an_undo_or_an_abort() {
    let scene = Scene::committed();
    scene.git(&["sparse-checkout", "set", "--no-cone", "kept.txt"]);
    assert!(!scene.root().join("dir").exists());
    let store = scene.store().await;
    let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
    scene.write("dir/inner.txt", "the run's");
    assert!(store.note_end(&snapshot).await.expect("the end is recorded"));
    let snapshot = store.open(ID).await.expect("the snapshot is readable");
    let undone = store.undo(&snapshot, SystemTime::now()).await.expect("the undo succeeds");
    assert_eq!((undone.restored.len(), undone.failed.len()), (1, 0), "{undone:?}");
    assert!(!scene.root().join("dir").exists());

    let run = Run::of(&scene).await;
    run.write("dir/inner.txt", "of the branch");
    run.import().await;
    let applied = run.store.apply(ID, false).await.expect("the apply succeeds");
    assert_eq!(applied.written, [PathBuf::from("dir/inner.txt")]);
    assert_eq!(text(&scene, "dir/inner.txt"), "of the branch");
    run.store.abort_apply(ID).await.expect("the apply is aborted");
    assert!(!scene.root().join("dir").exists());

    let run = Run::of(&scene).await;
    fs::remove_file(run.tree.root.join("dir/inner.txt")).expect("the file is removed");
    run.write("kept.txt", "of the branch");
    run.import().await;
    let applied = run.store.apply(ID, false).await.expect("the apply succeeds");
    assert_eq!(applied.written, [PathBuf::from("kept.txt")]);
}

/// Returns the kind, permissions and content of every entry of a tree, except its repository.
fn listing(root: &Path) -> BTreeMap<PathBuf, (u32, String)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).expect("the directory is readable").flatten() {
            let path = entry.path();
            let metadata = entry.metadata().expect("the entry exists");
            if entry.file_name() == ".git" {
                continue;
            }
            let content = if metadata.is_dir() {
                waiting.push(path.clone());
                String::new()
            } else if metadata.is_symlink() {
                fs::read_link(&path).expect("the link is readable").display().to_string()
            } else {
                fs::read_to_string(&path).expect("the file is readable")
            };
            let path = path.strip_prefix(root).expect("the path is below the root").to_owned();
            found.insert(path, (metadata.mode(), content));
        }
    }
    found
}

fn set(scene: &Scene, name: &str, mode: u32) {
    fs::set_permissions(scene.root().join(name), fs::Permissions::from_mode(mode)).expect(name);
}

#[tokio::test]
async fn an_undo_restores_a_tree_exactly() {
    for has_modes in [true, false] {
        let scene = Scene::new();
        let at = |name: &str| scene.root().join(name);
        let link = |target: &str, name: &str| symlink(target, at(name)).expect(name);
        for name in [
            "plain.txt",
            "private.txt",
            "run.sh",
            "old/a.txt",
            "old/deep/b.txt",
            "only/c.txt",
            "file",
            "dir/inner",
        ] {
            scene.write(name, name);
        }
        scene.write("modules/.bin/.keep", "");
        scene.write("modules/tool/cli.js", "#!/usr/bin/env node\n");
        link("../tool/cli.js", "modules/.bin/tool");
        link("tool", "modules/alias");
        scene.write(".gitignore", "ignored\n");
        set(&scene, "run.sh", 0o755);
        set(&scene, "modules/tool/cli.js", 0o755);
        scene.commit();
        if !has_modes {
            scene.git(&["config", "core.fileMode", "false"]);
            set(&scene, "plain.txt", 0o755);
        }
        set(&scene, "private.txt", 0o600);
        set(&scene, "old/deep", 0o700);
        set(&scene, "only", 0o750);
        for name in ["empty/inner", "filled", "ignored/empty"] {
            fs::create_dir_all(at(name)).expect("the directory is created");
        }
        set(&scene, "empty/inner", 0o711);
        scene.write("untracked/secret.txt", "secret");
        set(&scene, "untracked/secret.txt", 0o600);
        let before = listing(&scene.root());

        let store = scene.store().await;
        let snapshot = store.take_in_place(ID, &scene.root()).await.expect("the snapshot is taken");
        scene.write("plain.txt", "changed");
        set(&scene, "plain.txt", 0o644);
        fs::remove_file(at("private.txt")).expect("the file is removed");
        set(&scene, "run.sh", 0o644);
        fs::rename(at("old"), at("new")).expect("the rename succeeds");
        fs::remove_file(at("only/c.txt")).expect("the file is removed");
        fs::remove_dir_all(at("empty")).expect("the directory is removed");
        scene.write("filled/made.txt", "made");
        fs::create_dir_all(at("made/empty/deep")).expect("the directory is created");
        fs::remove_file(at("file")).expect("the file is removed");
        scene.write("file/in/it.txt", "a directory where a file was");
        fs::remove_dir_all(at("dir")).expect("the directory is removed");
        scene.write("dir", "a file where a directory was");
        fs::remove_dir_all(at("untracked")).expect("the directory is removed");
        // The same as `cp -a` does, and as a package manager removes files.
        let copied = std::process::Command::new("cp").arg("-a").arg(at("modules")).arg(at("copied")).status();
        assert!(copied.expect("cp runs").success());
        fs::remove_dir_all(at("modules/.bin")).expect("the directory is removed");
        fs::remove_file(at("modules/alias")).expect("the file is removed");
        link("../run.sh", "modules/alias");
        assert!(store.note_end(&snapshot).await.expect("the end is recorded"));
        let snapshot = store.open(ID).await.expect("the snapshot is readable");
        let undone = store.undo(&snapshot, SystemTime::now()).await.expect("the undo succeeds");
        assert_eq!((&undone.failed, &undone.changed_since), (&vec![], &vec![]), "has modes: {has_modes}");
        let after = listing(&scene.root());
        let differs = |(path, file): &(&PathBuf, &(u32, String))| after.get(*path) != Some(file);
        let differ: Vec<_> =
            before.iter().filter(differs).map(|(path, file)| (path, file, after.get(path))).collect();
        assert!(differ.is_empty(), "has modes: {has_modes}: {differ:?}");
        let more: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
        assert!(more.is_empty(), "has modes: {has_modes}: {more:?}");
    }
}

/// git does not see such a change: `core.fileMode` is false, or only the permissions of others change.
#[tokio::test]
async fn permissions_changed_by_a_run_are_listed_and_restored_unless_another_program_changes_them_later() {
    for (has_modes, old, new) in [(false, 0o644, 0o755), (true, 0o600, 0o644)] {
        for is_changed_later in [false, true] {
            let scene = Scene::committed();
            scene.git(&["config", "core.fileMode", if has_modes { "true" } else { "false" }]);
            set(&scene, "kept.txt", old);
            let store = scene.store().await;
            let snapshot = store.take_in_place(ID, &scene.root()).await.expect("the snapshot is taken");
            set(&scene, "kept.txt", new);
            assert!(store.note_end(&snapshot).await.expect("the end is recorded"));
            let snapshot = store.open(ID).await.expect("the snapshot is readable");
            assert_eq!(store.changed_modes(&snapshot, &[]).await, [PathBuf::from("kept.txt")]);
            if is_changed_later {
                set(&scene, "kept.txt", 0o640);
            }
            let undone = store.undo(&snapshot, SystemTime::now()).await.expect("the undo succeeds");
            let (named, mode) =
                if is_changed_later { (undone.changed_since, 0o640) } else { (undone.restored, old) };
            assert_eq!(named, [PathBuf::from("kept.txt")]);
            let found =
                fs::metadata(scene.root().join("kept.txt")).expect("the file exists").permissions().mode();
            assert_eq!(found & 0o777, mode);
        }
    }
    let scene = Scene::committed();
    let store = scene.store().await;
    let snapshot = store.take_in_place(ID, &scene.root()).await.expect("the snapshot is taken");
    fs::create_dir(scene.root().join("new")).expect("the directory is created");
    assert!(
        !store.note_end(&snapshot).await.expect("the end is recorded"),
        "an empty directory is not listed as a change"
    );
}
