//! Applying the artifacts of an isolated run to a real work tree, without losing the person's work.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use crate::support::program;
use crate::support::repository::{ID, Scene};
use crate::support::saver::{Plan, Saver};
use worktree::{Applied, ApplyError, Git, PrivateTree, Snapshot, SnapshotLimits, SnapshotStore};

const BRANCH: &str = "subagent/0badcafe";
/// Room for the largest tree of these tests.
const MANY: usize = 5_000;
/// The attempts to apply while files are saved.
const ROUNDS: usize = 8;

/// A run that has worked in a private tree.
struct Run {
    scene: Scene,
    store: SnapshotStore,
    tree: PrivateTree,
}

impl Run {
    async fn of(scene: Scene) -> Self {
        let store = roomy(&scene).await;
        Self::with(scene, store).await
    }

    async fn with(scene: Scene, store: SnapshotStore) -> Self {
        let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
        store.note_other_tree(&snapshot).await.expect("the other tree is recorded");
        let tree = store
            .private_tree(&snapshot, &scene.at("agent/trees"), &[])
            .await
            .expect("the private tree is created");
        Self { scene, store, tree }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.tree.root.join(name);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        fs::write(path, text).expect("the file is written");
    }

    async fn end(&self) {
        let imported = self.store.import(&self.tree).await;
        assert_eq!(imported.branch.as_deref(), Some(BRANCH), "{:?}", imported.notices);
    }

    async fn apply(&self) -> Result<Applied, ApplyError> {
        self.store.apply(ID, false).await
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.scene.root().join(name)).expect(name)
    }

    /// Replaces the run's commit with a commit of this tree, without git's checks.
    fn forge(&self, entries: &[u8]) {
        let tree = self.pipe(&["hash-object", "-t", "tree", "-w", "--stdin", "--literally"], entries);
        let commit = self.pipe(&["commit-tree", &tree, "-m", "forged"], b"");
        let record = self.store.directory(ID).join("snapshot.json");
        let text = fs::read_to_string(&record).expect("the file is readable");
        let mut kept: serde_json::Value = serde_json::from_str(&text).expect("the text is valid JSON");
        kept["artifacts"]["commit"] = commit.into();
        fs::write(record, kept.to_string()).expect("the file is written");
    }

    fn pipe(&self, args: &[&str], input: &[u8]) -> String {
        use std::io::Write as _;
        let mut child = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=n@localhost"])
            .args(args)
            .env_clear()
            .envs(self.scene.env())
            .current_dir(self.scene.root())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("git runs");
        child.stdin.take().expect("the input is a pipe").write_all(input).expect("the input is written");
        let done = child.wait_with_output().expect("the process ends");
        assert!(done.status.success(), "{args:?}");
        String::from_utf8(done.stdout).expect("the output is UTF-8").trim().to_owned()
    }

    /// An entry of a tree.
    fn entry(&self, mode: &str, name: &str, text: &str) -> Vec<u8> {
        let object = self.pipe(&["hash-object", "-w", "--stdin"], text.as_bytes());
        Self::entry_of(mode, name, &object)
    }

    fn entry_of(mode: &str, name: &str, object: &str) -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&object[at..at + 2], 16).expect("the digits are hexadecimal");
        let object: Vec<u8> = (0..object.len()).step_by(2).map(byte).collect();
        [format!("{mode} {name}\0").as_bytes(), &object].concat()
    }
}

async fn roomy(scene: &Scene) -> SnapshotStore {
    let git = Git::find(&scene.env(), &[], None).await.expect("git is found");
    let limits = SnapshotLimits { bytes: 64 << 20, files: 4 * MANY };
    SnapshotStore::new(git, &scene.at("agent"), &scene.env(), limits)
}

/// Returns everything below a directory except the repository: kind, permissions and content of each path.
fn everything(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).expect("the directory is readable").flatten() {
            let path = entry.path();
            if path == root.join(".git") {
                continue;
            }
            let known = fs::symlink_metadata(&path).expect("the file exists");
            let content = if known.is_symlink() {
                fs::read_link(&path).expect("the link is readable").into_os_string().into_vec()
            } else if known.is_dir() {
                waiting.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).expect("the file is readable")
            };
            let mode = known.permissions().mode();
            found.insert(
                path.strip_prefix(root).expect("the path is below the root").to_owned(),
                (mode, content),
            );
        }
    }
    found
}

fn files_in(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).expect("the directory is readable").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the permissions are set");
}

/// A tree with many files that could be lost.
fn furnished() -> Scene {
    let scene = Scene::new();
    for name in ["kept.txt", "gone.txt", "dir/inner.txt", "dir/deep/two.txt", "plain", "script.sh"] {
        scene.write(name, &format!("{name}\none\ntwo\nthree\n"));
    }
    scene.write(".gitignore", "*.log\n");
    symlink("kept.txt", scene.root().join("link")).expect("the link is created");
    chmod(&scene.root().join("script.sh"), 0o755);
    scene.commit();
    let root = scene.root();
    scene.write("kept.txt", "not committed\none\ntwo\nthree\n");
    scene.write("staged.txt", "staged\n");
    scene.git(&["add", "staged.txt"]);
    scene.write("untracked.txt", "untracked\n");
    scene.write("x.log", "ignored\n");
    chmod(&root.join("gone.txt"), 0o640);
    chmod(&root.join("kept.txt"), 0o600);
    chmod(&root.join("dir/deep"), 0o700);
    fs::create_dir(root.join("empty")).expect("the directory is created");
    scene
}

/// Changes of every kind.
fn change_all(run: &Run) {
    let root = &run.tree.root;
    run.write("kept.txt", "not committed\none\nTWO\nthree\n");
    run.write("untracked.txt", "the run's\n");
    fs::remove_file(root.join("gone.txt")).expect("the file is removed");
    fs::remove_dir_all(root.join("dir")).expect("the directory is removed");
    run.write("dir", "a file where a directory was\n");
    fs::remove_file(root.join("plain")).expect("the file is removed");
    run.write("plain/below.txt", "a directory where a file was\n");
    fs::remove_file(root.join("link")).expect("the file is removed");
    symlink("untracked.txt", root.join("link")).expect("the link is created");
    chmod(&root.join("script.sh"), 0o644);
    run.write("new/deep/file", "new\r\nwith line ends\r\n");
    run.write("empty/file", "new\n");
    run.write("binary", "\0\u{1}binary");
    fs::write(root.join(OsStr::from_bytes(b"new\nline \xff.txt")), "odd\n").expect("the file is written");
}

#[tokio::test]
async fn every_kind_of_change_is_applied_and_undone_exactly() {
    for sandboxed in [false, true] {
        let scene = furnished();
        let store = if sandboxed { scene.sandboxed().await } else { scene.store().await };
        let run = Run::with(scene, store).await;
        change_all(&run);
        let wanted = everything(&run.tree.root);
        run.end().await;
        let root = run.scene.root();
        let before = everything(&root);
        let index = fs::read(root.join(".git/index")).expect("the file is readable");

        let applied = run.apply().await.expect("the apply succeeds");
        assert_eq!(applied.conflicts, [], "sandboxed: {sandboxed}");
        let after = everything(&root);
        for (path, (mode, content)) in &wanted {
            let (found, text) = after.get(path).unwrap_or_else(|| panic!("{path:?}"));
            assert_eq!((found & 0o170_100, text), (mode & 0o170_100, content), "{path:?}");
        }
        let more: Vec<_> = after.keys().filter(|path| !wanted.contains_key(*path)).collect();
        assert_eq!(more, [Path::new("x.log")], "only ignored files remain next to the expected ones");
        assert_eq!(after[Path::new("kept.txt")].0 & 0o7777, 0o600, "a private file keeps its permissions");
        assert_eq!(
            fs::read(root.join(".git/index")).expect("the file is readable"),
            index,
            "the index is unchanged"
        );

        assert!(
            matches!(run.apply().await, Err(ApplyError::AppliedAlready { .. })),
            "a second apply is refused"
        );
        run.store.abort_apply(ID).await.expect("the apply is aborted");
        assert_eq!(everything(&root), before);
        assert!(matches!(run.store.abort_apply(ID).await, Err(ApplyError::UndoneAlready)));
        run.apply().await.expect("a second apply succeeds after the abort");
        assert_eq!(everything(&root), after);
    }
}

#[tokio::test]
async fn concurrent_changes_are_merged_or_kept_and_named() {
    let run = Run::of(furnished()).await;
    change_all(&run);
    run.write("both.txt", "the run's\n");
    run.write("x.log", "the run's\n");
    run.write("here/file", "the run's\n");
    run.write(".gitignore", "");
    run.end().await;
    let root = run.scene.root();
    run.scene.write(".gitignore", "*.log\nmine\n");
    run.scene.write("kept.txt", "mine\none\ntwo\nthree\n");
    fs::set_permissions(root.join("kept.txt"), fs::Permissions::from_mode(0o755))
        .expect("the permissions are set");
    run.scene.write("gone.txt", "mine\n");
    run.scene.write("untracked.txt", "mine\n");
    run.scene.write("both.txt", "mine\n");
    run.scene.write("binary", "\0\u{1}mine");
    run.scene.write("here", "mine\n");
    run.scene.write("dir/mine.txt", "mine\n");
    fs::remove_file(root.join("script.sh")).expect("the file is removed");
    let before = everything(&root);

    let applied = run.apply().await.expect("the apply succeeds");
    let named: Vec<_> = applied.conflicts.iter().map(|(path, _)| path.clone()).collect();
    let expected = [
        ".gitignore",
        "binary",
        "both.txt",
        "dir",
        "gone.txt",
        "here/file",
        "script.sh",
        "untracked.txt",
        "x.log",
    ];
    assert_eq!(named, paths(&expected), "{:?}", applied.conflicts);
    assert_eq!(run.text("kept.txt"), "mine\none\nTWO\nthree\n", "different lines are merged");
    let kept = fs::metadata(root.join("kept.txt")).expect("the file exists");
    assert_eq!(kept.permissions().mode() & 0o777, 0o755, "the user's permissions are kept");
    let markers = format!("<<<<<<< yours\nmine\n=======\nthe run's\n>>>>>>> {BRANCH}\n");
    assert_eq!(run.text("untracked.txt"), markers);
    assert_eq!(run.text("both.txt"), markers);
    for (name, text) in [
        ("gone.txt", "mine\n"),
        ("here", "mine\n"),
        ("binary", "\0\u{1}mine"),
        ("x.log", "ignored\n"),
        ("dir/mine.txt", "mine\n"),
    ] {
        assert_eq!(run.text(name), text);
    }
    assert_eq!(
        run.text("script.sh"),
        "script.sh\none\ntwo\nthree\n",
        "the run's version of a locally deleted file is kept"
    );
    run.store.abort_apply(ID).await.expect("the apply is aborted");
    assert_eq!(everything(&root), before);
}

#[tokio::test]
async fn changes_after_an_apply_are_named_and_prevent_its_undo() {
    let run = Run::of(furnished()).await;
    change_all(&run);
    run.end().await;
    run.apply().await.expect("the apply succeeds");
    run.scene.write("kept.txt", "mine\n");
    run.scene.write("gone.txt", "mine\n");
    // A file that is already in its old state is no reason to refuse.
    fs::remove_file(run.scene.root().join("new/deep/file")).expect("the file is removed");
    let now = everything(&run.scene.root());
    let Err(ApplyError::ChangedSince { paths: named }) = run.store.abort_apply(ID).await else {
        panic!("the apply was not refused")
    };
    assert_eq!(named, paths(&["gone.txt", "kept.txt"]));
    assert_eq!(everything(&run.scene.root()), now);
}

#[tokio::test]
async fn files_that_run_code_later_and_links_out_of_the_tree_need_a_yes() {
    let run = Run::of(Scene::committed()).await;
    for name in
        [".pi/extensions/x.ts", "sub/.mcp.json", ".vscode/tasks.json", ".husky/pre-commit", "plain.txt"]
    {
        run.write(name, "the run's");
    }
    symlink("/etc", run.tree.root.join("out")).expect("the link is created");
    symlink("plain.txt", run.tree.root.join("within")).expect("the link is created");
    run.end().await;
    let before = everything(&run.scene.root());
    let refused = run.apply().await.expect_err("the apply is refused");
    let effects = "`out` (leads out of the tree), `sub/.mcp.json` (configures agents), `.pi/extensions/x.ts` \
                   (configures pi), `.husky/pre-commit` (runs code later), `.vscode/tasks.json` (";
    assert!(refused.to_string().contains(effects), "{refused}");
    let ApplyError::Flagged { paths: named, .. } = refused else { panic!("{refused}") };
    let expected = ["out", "sub/.mcp.json", ".pi/extensions/x.ts", ".husky/pre-commit", ".vscode/tasks.json"];
    assert_eq!(named, paths(&expected));
    assert_eq!(everything(&run.scene.root()), before, "nothing was written");
    run.store.apply(ID, true).await.expect("the apply succeeds");
    assert_eq!(run.text(".pi/extensions/x.ts"), "the run's");
}

/// git refuses to create such a branch, but nothing here relies on git's checks.
#[tokio::test]
async fn paths_out_of_the_tree_or_into_the_repository_are_refused() {
    let run = Run::of(Scene::committed()).await;
    run.write("new.txt", "new");
    run.end().await;
    let before = everything(run.scene.0.path());
    let config = fs::read(run.scene.root().join(".git/config")).expect("the file is readable");
    for name in ["..", ".git", ".GIT"] {
        let inner = run.entry("100644", "config", "[core]\n\thooksPath = x\n");
        let inner = run.pipe(&["hash-object", "-t", "tree", "-w", "--stdin", "--literally"], &inner);
        run.forge(&Run::entry_of("40000", name, &inner));
        let refused = run.apply().await;
        assert!(matches!(refused, Err(ApplyError::Unsafe { .. })), "{name}: {refused:?}");
    }
    let entry = run.entry("100644", "../beside", "out");
    run.forge(&entry);
    let refused = run.apply().await;
    assert!(matches!(refused, Err(ApplyError::Unsafe { .. })), "{refused:?}");
    assert_eq!(fs::read(run.scene.root().join(".git/config")).expect("the file is readable"), config);
    let now = everything(run.scene.0.path());
    let differs = |name: &str| before.get(Path::new(name)) != now.get(Path::new(name));
    assert!(!now.contains_key(Path::new("beside")) && !differs("project/kept.txt"));
}

#[tokio::test]
async fn nothing_is_written_through_a_link() {
    let run = Run::of(furnished()).await;
    run.write("dir/inner.txt", "the run's\n");
    run.write("dir/new.txt", "the run's\n");
    run.end().await;
    let root = run.scene.root();
    let outside = run.scene.at("outside");
    fs::create_dir(&outside).expect("the directory is created");
    fs::write(outside.join("inner.txt"), "outside").expect("the file is written");
    fs::rename(root.join("dir"), root.join("moved")).expect("the rename succeeds");
    symlink(&outside, root.join("dir")).expect("the link is created");
    let applied = run.apply().await.expect("the apply reports the conflicts");
    assert_eq!(applied.written, paths(&[]));
    assert_eq!(applied.conflicts.len(), 2, "{applied:?}");
    assert_eq!(fs::read_to_string(outside.join("inner.txt")).expect("the file is readable"), "outside");
    assert_eq!(fs::read_dir(&outside).expect("the directory is readable").count(), 1);
}

/// The repository's own configuration, attributes and hooks come from a hostile project.
#[tokio::test]
async fn no_filter_driver_or_hook_of_the_repository_runs() {
    let scene = furnished();
    let ran = scene.at("ran");
    let program = format!("touch '{}'", ran.display());
    for key in [
        "filter.x.clean",
        "filter.x.smudge",
        "diff.x.textconv",
        "diff.x.command",
        "diff.external",
        "merge.x.driver",
        "core.fsmonitor",
        "core.pager",
        "core.editor",
    ] {
        scene.git(&["config", key, &program]);
    }
    scene.write(".git/info/attributes", "* filter=x diff=x merge=x\n");
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-merge"] {
        scene.write(&format!(".git/hooks/{hook}"), &format!("#!/bin/sh\n{program}\n"));
        chmod(&scene.root().join(".git/hooks").join(hook), 0o755);
    }
    let run = Run::of(scene).await;
    run.write("kept.txt", "not committed\r\none\nTWO\nthree\n");
    run.write(".gitattributes", "* filter=x diff=x merge=x text eol=lf\n");
    run.end().await;
    run.scene.write("kept.txt", "mine\none\ntwo\nthree\n");
    run.scene.write(".gitattributes", "*.txt merge=union filter=x diff=x\n");
    let shown = run.store.difference(ID, SystemTime::now()).await.expect("the diff is available");
    assert!(String::from_utf8_lossy(&shown.text).contains("\n+TWO\n"));
    run.store.apply(ID, true).await.expect("the apply succeeds");
    assert!(run.text("kept.txt").contains("<<<<<<< yours\nmine\n"), "{}", run.text("kept.txt"));
    run.store.abort_apply(ID).await.expect("the apply is aborted");
    assert_eq!(run.text("kept.txt"), "mine\none\ntwo\nthree\n");
    run.store.discard(ID, true).await.expect("the changes are discarded");
    assert!(!ran.exists(), "a program of the repository ran");
}

/// A later line of that program must not be lost.
#[tokio::test]
async fn an_apply_changes_nothing_while_a_program_has_one_of_the_files_open_for_writing() {
    let run = Run::of(furnished()).await;
    change_all(&run);
    run.end().await;
    let root = run.scene.root();
    let before = everything(&root);
    // The last replaced file, and a removed file.
    for name in ["untracked.txt", "gone.txt"] {
        let path = root.join(name);
        let mut opened = fs::File::options().append(true).open(&path).expect("the file is opened");
        let refused = run.apply().await.expect_err("the apply is refused").to_string();
        let expected = format!(
            "`{name}` could not be written: a program has it open for writing: close it there and try again. Nothing has changed"
        );
        assert!(refused.starts_with(&expected), "{refused}");
        assert_eq!(everything(&root), before);
        opened.write_all(b"a line of the log\n").expect("the bytes are written");
        let text = fs::read_to_string(&path).expect("the file is readable");
        assert!(text.ends_with("a line of the log\n"), "{text}");
        fs::write(&path, &before[Path::new(name)].1).expect("the file is written");
    }
    run.apply().await.expect("the apply succeeds");

    let applied = everything(&root);
    let mut opened =
        fs::File::options().append(true).open(root.join("kept.txt")).expect("the file is opened");
    let refused = run.store.abort_apply(ID).await;
    assert!(matches!(refused, Err(ApplyError::HalfWritten { .. })), "{refused:?}");
    opened.write_all(b"a line of the log\n").expect("the bytes are written");
    assert!(run.text("kept.txt").ends_with("a line of the log\n"));
    drop(opened);
    fs::write(root.join("kept.txt"), &applied[Path::new("kept.txt")].1).expect("the file is written");
    run.store.abort_apply(ID).await.expect("the apply is aborted");
    assert_eq!(everything(&root), before);
}

/// Some file systems show every file as executable.
#[tokio::test]
async fn changes_are_applied_and_undone_if_git_does_not_trust_file_modes() {
    let scene = Scene::committed();
    scene.git(&["config", "core.fileMode", "false"]);
    chmod(&scene.root().join("kept.txt"), 0o755);
    let run = Run::of(scene).await;
    run.write("kept.txt", "the run's");
    run.end().await;
    assert_eq!(run.apply().await.expect("the apply succeeds").written, paths(&["kept.txt"]));
    assert_eq!(run.text("kept.txt"), "the run's");
    run.store.abort_apply(ID).await.expect("the apply is aborted");
    assert_eq!(run.text("kept.txt"), "kept");
}

/// Each apply ends at the first file that was saved in the meantime. The saver continues while the others are reverted.
#[tokio::test]
async fn no_save_is_lost_during_an_apply_or_its_undo() {
    let scene = Scene::in_memory();
    let names = |kind: &'static str| (0..100).map(move |number| format!("{kind}{number:03}"));
    let all: Vec<String> = ["added", "modified", "removed"].into_iter().flat_map(names).collect();
    let is_new = |name: &&String| name.starts_with("added");
    let old = || all.iter().filter(|name| !is_new(name));
    let reset = |scene: &Scene| {
        for name in &all {
            if is_new(&name) {
                let _ = fs::remove_file(scene.root().join(name));
            } else {
                scene.write(name, "before the run\n");
            }
        }
    };
    old().for_each(|name| scene.write(name, "before the run\n"));
    scene.commit();
    let run = Run::of(scene).await;
    for name in &all {
        if name.starts_with("removed") {
            fs::remove_file(run.tree.root.join(name)).expect("the file is removed");
        } else {
            run.write(name, "of the run\n");
        }
    }
    run.end().await;
    let root = run.scene.root();
    for round in 0..ROUNDS {
        // Each apply writes a different number of files before the saver starts.
        let leader = root.join(&all[round * 37 % all.len()]);
        let plan = |(number, name): (usize, &String)| Plan {
            file: root.join(name),
            after: (number == 0).then(|| leader.clone()),
        };
        let others = all.iter().skip(round * 53 % all.len()).chain(&all).take(all.len());
        let saver = Saver::start(others.filter(|name| **name != leader).enumerate().map(plan).collect());
        let mut report = match run.apply().await {
            Ok(applied) => format!("{applied:?}"),
            Err(error) => error.to_string(),
        };
        if let Err(error) = run.store.abort_apply(ID).await {
            report += &error.to_string();
        }
        let kept: Vec<_> = files_in(&root).filter(|name| name.contains(".kept")).collect();
        assert!(kept.iter().all(|name| report.contains(&format!("`{name}`"))), "{kept:?}: {report}");
        let kept: Vec<_> = kept.iter().map(|name| root.join(name)).collect();
        saver.check(&kept);
        assert!(!files_in(&root).any(|name| name.starts_with(".pi-subagent")), "no temporary file remains");
        for path in kept {
            fs::remove_file(path).expect("the file is removed");
        }
        // Now the next apply can start from the same state.
        reset(&run.scene);
        let _ = run.store.abort_apply(ID).await;
    }
    run.apply().await.expect("the apply succeeds");
}

#[tokio::test]
async fn only_an_unchanged_branch_is_discarded() {
    let run = Run::of(Scene::committed()).await;
    run.write("new.txt", "new");
    run.end().await;
    let scene = &run.scene;
    let shown = run.store.difference(ID, SystemTime::now()).await.expect("the diff is available");
    let patch = shown.patch.expect("the diff names the patch");
    run.store.discard(ID, false).await.expect("the changes are discarded");
    let tip = scene.git(&["rev-parse", BRANCH]);
    assert!(patch.exists(), "a discard without a confirmation keeps the patch");

    scene.git(&["checkout", "-q", BRANCH]);
    assert!(matches!(run.store.discard(ID, true).await, Err(ApplyError::CheckedOut { .. })));
    scene.write("more.txt", "mine");
    scene.commit();
    scene.git(&["checkout", "-q", "main"]);
    assert!(matches!(run.store.discard(ID, true).await, Err(ApplyError::Moved { .. })));
    assert_ne!(scene.git(&["rev-parse", BRANCH]), tip, "the person's commit stays");
    scene.git(&["update-ref", &format!("refs/heads/{BRANCH}"), &tip]);
    let linked = scene.at("linked");
    scene.git(&["worktree", "add", "-q", &linked.to_string_lossy(), BRANCH]);
    assert!(matches!(run.store.discard(ID, true).await, Err(ApplyError::CheckedOut { .. })));
    scene.git(&["worktree", "remove", &linked.to_string_lossy()]);

    scene.git(&["branch", "subagent/another"]);
    run.store.discard(ID, true).await.expect("the changes are discarded");
    assert_eq!(scene.git(&["branch", "--format=%(refname:short)"]), "main\nsubagent/another");
    assert!(!patch.exists());
    assert!(matches!(run.store.discard(ID, true).await, Err(ApplyError::Discarded)));
    assert!(matches!(run.apply().await, Err(ApplyError::Discarded)));
}

#[tokio::test]
async fn a_run_without_artifacts_gives_the_reason() {
    let scene = Scene::committed();
    let store = scene.store().await;
    assert!(matches!(store.apply(ID, false).await, Err(ApplyError::Nothing)));
    assert!(matches!(store.apply("../x", false).await, Err(ApplyError::Nothing)));
    let snapshot = store.take(ID, &scene.root()).await.expect("the snapshot is taken");
    assert!(matches!(store.apply(ID, false).await, Err(ApplyError::InPlace { .. })));
    store.note_other_tree(&snapshot).await.expect("the other tree is recorded");
    assert!(matches!(store.discard(ID, true).await, Err(ApplyError::NoBranch)));
    let failed = Snapshot {
        import_error: Some("the disk is full".into()),
        ..store.open(ID).await.expect("the snapshot is readable")
    };
    store.keep(&failed).await.expect("the record is written");
    let error = store.discard(ID, true).await.expect_err("there are no artifacts");
    assert_eq!(error.to_string(), "the import of its changes failed: the disk is full");
}

#[tokio::test]
async fn an_existing_change_is_not_written_again() {
    let run = Run::of(Scene::committed()).await;
    run.write("new.txt", "new");
    run.end().await;
    run.scene.write("new.txt", "new");
    assert_eq!(run.apply().await.expect("the apply succeeds"), Applied::default());
    assert_eq!(run.store.abort_apply(ID).await.expect("nothing is to be reverted"), Vec::<PathBuf>::new());
}

/// Applies in a separate process, which [`a_killed_apply_can_be_undone`] kills.
#[tokio::test]
#[ignore = "it is started by another test"]
async fn apply_in_another_process() {
    let at = |name| PathBuf::from(std::env::var_os(name).expect("`PATH` is set"));
    let path = std::env::var_os("PATH").expect("`PATH` is set");
    let env = vec![("PATH".into(), path), ("HOME".into(), at("STAGE").join("home").into())];
    let git = Git::find(&env, &[], None).await.expect("git is found");
    let limits = SnapshotLimits { bytes: 64 << 20, files: 4 * MANY };
    let store = SnapshotStore::new(git, &at("STAGE").join("agent"), &env, limits);
    store.apply(ID, false).await.expect("the apply succeeds");
}

#[tokio::test]
async fn a_killed_apply_can_be_undone() {
    let run = Run::of(furnished()).await;
    change_all(&run);
    for number in 0..MANY {
        run.write(&format!("many/{}/{number}", number % 50), "new\n");
    }
    run.end().await;
    let root = run.scene.root();
    let before = everything(&root);
    // Kills the process when no file is written yet, when few are, and in the middle.
    for seen in [".git/x", "many/25/25"] {
        let mut child = Command::new(program::path())
            .args(["--exact", &program::test_name("apply_in_another_process"), "--ignored"])
            .env("STAGE", run.scene.at(""))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the test program starts");
        let record = run.store.directory(ID).join("snapshot.json");
        let began = || fs::read_to_string(&record).is_ok_and(|text| text.contains("\"isComplete\""));
        let is_there = || if seen == ".git/x" { began() } else { root.join(seen).exists() };
        let bound = Instant::now() + Duration::from_secs(60);
        while !is_there()
            && child.try_wait().expect("the process can be polled").is_none()
            && Instant::now() < bound
        {
            std::thread::yield_now();
        }
        child.kill().expect("the process can be killed");
        child.wait().expect("the process ends");
        let kept = run.store.open(ID).await.expect("the snapshot is readable");
        let apply = kept.applied.expect("the apply had started");
        if !apply.is_complete {
            assert!(matches!(run.apply().await, Err(ApplyError::Interrupted { .. })));
        }
        run.store.abort_apply(ID).await.expect("the apply is aborted");
        assert!(everything(&root) == before, "{seen}: the abort did not restore every file");
    }
    let applied = run.apply().await.expect("the apply succeeds");
    assert!(applied.written.len() > MANY);
}

/// A diff held in memory on both sides has a limit, and its error names the alternative.
#[tokio::test]
async fn changes_too_large_to_merge_are_refused_before_anything_is_written() {
    let scene = Scene::committed();
    let large = fs::File::create(scene.root().join("large")).expect("the file is created");
    large.set_len(210 << 20).expect("the file is extended");
    scene.git(&["config", "core.compression", "1"]);
    scene.commit();
    let run = Run::of(scene).await;
    fs::remove_file(run.tree.root.join("large")).expect("the file is removed");
    run.end().await;
    let refused = run.apply().await.expect_err("the changes are too large").to_string();
    assert!(refused.contains("210 MiB") && refused.contains("merge its branch with git"), "{refused}");
    assert!(run.scene.root().join("large").exists());
    assert!(matches!(run.store.abort_apply(ID).await, Err(ApplyError::NotApplied)));
}

/// Applies on a file system with little room, which [`an_apply_on_a_full_disk_changes_nothing`] mounts.
#[tokio::test]
#[ignore = "it is started by another test"]
async fn apply_on_a_full_disk() {
    let run = Run::of(furnished()).await;
    change_all(&run);
    let lines: Vec<_> = (0..400_000_u64).map(|number| (number * 7919 % 1_000_003).to_string()).collect();
    let text = lines.join("\n");
    run.write("zz-large", &text);
    run.end().await;
    let root = run.scene.root();
    let filler = run.scene.at("filler");
    let before = everything(&root);
    // The first leaves room for no byte, the others for a part of the files.
    for room in [0, 256, 1024, 2048] {
        let mut file = fs::File::create(&filler).expect("the file is created");
        let block = [1; 4096];
        while file.write(&block).is_ok_and(|bytes| bytes > 0) {}
        let length = file.metadata().expect("the file exists").len();
        file.set_len(length.saturating_sub(room * 1024)).expect("the file is truncated");
        let refused = run.apply().await;
        assert!(
            matches!(refused, Err(ApplyError::NotWritten { .. } | ApplyError::Snapshot(_))),
            "{room}: {refused:?}"
        );
        assert!(everything(&root) == before, "{room} KiB: the failed apply changed a file");
        fs::remove_file(&filler).expect("the file is removed");
        assert!(matches!(run.store.abort_apply(ID).await, Err(ApplyError::NotApplied)), "{room}");
    }
    run.apply().await.expect("the apply succeeds once there is space");
    assert_eq!(run.text("zz-large"), text);
}

#[tokio::test]
async fn an_apply_on_a_full_disk_changes_nothing() {
    let place = tempfile::tempdir().expect("a temporary directory is created");
    let script = r#"mount -t tmpfs -o size=48m none "$STAGE" || exit 77
TMPDIR="$STAGE" exec "$0" --exact "$1" --ignored"#;
    let done = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script])
        .arg(program::path())
        .arg(program::test_name("apply_on_a_full_disk"))
        .env("STAGE", place.path())
        .output()
        .expect("unshare runs");
    if matches!(done.status.code(), Some(1 | 77)) {
        return drop(writeln!(
            io::stderr(),
            "not played: this machine gives no file system of its own to a test"
        ));
    }
    let output = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && output.contains("1 passed"), "{output}");
}

/// The names look harmless, but the tree makes these files run code.
#[tokio::test]
async fn a_file_that_runs_code_needs_its_own_yes() {
    let scene = Scene::committed();
    for (name, text) in [("tools/hooks/check", "echo"), ("scripts/build.sh", "echo"), ("husky/x", "echo")] {
        scene.write(name, text);
    }
    symlink("husky", scene.root().join(".husky")).expect("the link is created");
    scene.commit();
    scene.git(&["config", "core.hooksPath", "tools/hooks"]);
    symlink("../../scripts/build.sh", scene.root().join(".git/hooks/pre-push")).expect("the link is created");
    let run = Run::of(scene).await;
    for name in
        ["tools/hooks/pre-commit", "scripts/build.sh", "husky/pre-commit", "src/lib.rs", "agents/a.md"]
    {
        run.write(name, "of the run");
    }
    run.end().await;
    let store = run.store.clone().with_agent_dirs(vec!["agents".into()]);
    let refused = store.apply(ID, false).await.expect_err("the apply is refused");
    let ApplyError::Flagged { paths, .. } = &refused else { panic!("{refused}") };
    let names: Vec<_> = paths.iter().map(|path| path.to_str().expect("the path is UTF-8")).collect();
    assert_eq!(
        names,
        ["agents/a.md", "husky/pre-commit", "scripts/build.sh", "tools/hooks/pre-commit"],
        "{refused}"
    );
    assert!(!run.scene.root().join("tools/hooks/pre-commit").exists());
    let applied = store.apply(ID, true).await.expect("the apply succeeds");
    assert_eq!(applied.written.len(), 5);
}
