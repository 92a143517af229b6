//! Measures creating and removing the tree of a run: a private tree, and git's linked work tree.
//!
//! `tools/bench.mjs` runs it. The measurement prints one line of JSON.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};

use serde_json::{Value, json};
use supervisor::probe;
use worktree::{Git, SnapshotLimits, SnapshotStore};

const USAGE: &str = "usage: trees trees <warden> <folder> <files> <rounds>";
/// The id of the run.
const RUN_ID: &str = "0badcafe";
/// The id of the run that is undone.
const UNDONE_RUN_ID: &str = "0badf00d";
/// The number of changed files to restore.
const CHANGED_FILES: usize = 100;
/// The number of files in one directory.
const FILES_PER_DIRECTORY: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    // cargo adds `--bench` when it runs a benchmark itself.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let report = match arguments.as_slice() {
        ["trees", warden, folder, files, rounds] => measure(warden, folder, files, rounds)?,
        // `cargo bench` alone measures nothing, because the warden and the folder are missing.
        [] => return Ok(writeln!(std::io::stdout(), "run `npm run bench`; {USAGE}")?),
        _ => return Err(USAGE.into()),
    };
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

/// Measures the following in a new repository of `files` files in `folder`, in milliseconds each: the snapshot, the
/// private tree, and the end of a run that changed one file; `git worktree add` and `remove`; restoring 100 changed
/// files, and `git checkout`. `warden` may be `none`.
fn measure(warden: &str, folder: &str, files: &str, rounds: &str) -> Result<Value, Box<dyn Error>> {
    let folder = Path::new(folder).canonicalize()?;
    let root = folder.join("project");
    let files: usize = files.parse()?;
    make(&root, files)?;
    let env: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut snapshots = Vec::new();
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    let mut undone = Vec::new();
    let mut checked_out = Vec::new();
    runtime.block_on(async {
        let sandbox = match warden {
            "none" => None,
            warden => {
                let abilities = probe(Path::new(warden)).await?;
                abilities.landlock.is_ok().then(|| (PathBuf::from(warden), abilities.mount_namespace.is_ok()))
            }
        };
        let git = Git::find(&env, &[], sandbox).await?;
        let limits = SnapshotLimits { bytes: 1 << 28, files: 200_000 };
        let store = SnapshotStore::new(git, &folder.join("agent"), &env, limits);
        for round in 0..rounds.parse::<usize>()? {
            // Each side's writes are flushed before the other side begins, and the sides take turns at being first.
            for is_private in [round % 2 == 0, round % 2 == 1] {
                flush()?;
                if is_private {
                    private(&store, &folder, &mut snapshots, &mut ours).await?;
                } else {
                    theirs.push(linked(&folder)?);
                }
            }
            flush()?;

            let snapshot = store.take(UNDONE_RUN_ID, &root).await?;
            change(&root, files)?;
            let began = Instant::now();
            store.note_end(&snapshot).await?;
            let ended = store.open(UNDONE_RUN_ID).await?;
            let back = store.undo(&ended, SystemTime::now()).await?;
            undone.push(millis(began));
            if back.restored.len() != CHANGED_FILES.min(files) {
                return Err(format!("{} files were brought back", back.restored.len()).into());
            }
            change(&root, files)?;
            let began = Instant::now();
            run(&root, &["checkout", "-q", "--", "."])?;
            checked_out.push(millis(began));
        }
        Ok::<_, Box<dyn Error>>(())
    })?;
    Ok(json!({
        "snapshots": snapshots, "ours": ours, "theirs": theirs, "undone": undone, "checkedOut": checked_out,
    }))
}

/// Performs one run in a private tree that changes one file.
async fn private(
    store: &SnapshotStore,
    folder: &Path,
    snapshots: &mut Vec<f64>,
    all: &mut Vec<f64>,
) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let snapshot = store.take(RUN_ID, &folder.join("project")).await?;
    snapshots.push(millis(began));
    let tree = store.private_tree(&snapshot, &folder.join("trees"), &[]).await?;
    fs::write(tree.root.join("changed.txt"), "changed")?;
    let imported = store.import(&tree).await;
    all.push(millis(began));
    if imported.branch.is_none() || imported.kept_tree.is_some() {
        return Err(format!("{:?}", imported.notices).into());
    }
    Ok(())
}

/// Does the same with git's linked work tree. Returns milliseconds.
fn linked(folder: &Path) -> Result<f64, Box<dyn Error>> {
    let root = folder.join("project");
    let side = folder.join("side");
    let began = Instant::now();
    run(&root, &["worktree", "add", "-q", "-b", "side", "../side"])?;
    fs::write(side.join("changed.txt"), "changed")?;
    run(&side, &["add", "changed.txt"])?;
    run(&side, &["commit", "-qm", "changed"])?;
    run(&root, &["worktree", "remove", "../side"])?;
    let duration = millis(began);
    run(&root, &["branch", "-qD", "side"])?;
    Ok(duration)
}

fn flush() -> Result<(), Box<dyn Error>> {
    Ok(Command::new("sync").status().map(drop)?)
}

fn change(root: &Path, files: usize) -> Result<(), Box<dyn Error>> {
    for number in 0..CHANGED_FILES.min(files) {
        fs::write(path_of(root, number), "changed")?;
    }
    Ok(())
}

fn path_of(root: &Path, number: usize) -> PathBuf {
    root.join(format!(
        "d{}/e{}/f{number}.rs",
        number / (FILES_PER_DIRECTORY * FILES_PER_DIRECTORY),
        number / FILES_PER_DIRECTORY
    ))
}

fn make(root: &Path, files: usize) -> Result<(), Box<dyn Error>> {
    for number in 0..files {
        let path = path_of(root, number);
        if number % FILES_PER_DIRECTORY == 0 {
            fs::create_dir_all(path.parent().unwrap_or(root))?;
        }
        fs::write(path, format!("// {number}\n").repeat(40))?;
    }
    run(root, &["init", "-q"])?;
    run(root, &["add", "."])?;
    run(root, &["commit", "-qm", "all"])
}

fn run(directory: &Path, args: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new("git");
    let identity = ["-c", "user.name=n", "-c", "user.email=n@localhost", "-c", "gc.auto=0"];
    let done = command.args(identity).args(args).current_dir(directory).output()?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into()) }
}

fn millis(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}
