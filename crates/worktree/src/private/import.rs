//! Imports a child's work in its private tree as a branch of the project.

use std::fs;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(unix)]
use pi_subagent_warden::{FileTime, remove_unless_changed};
use tokio::time::sleep;

use super::create::{INDEX, PrivateTree};
use super::incoming::{References, Source};
use crate::snapshot::{
    Artifacts, Call, Change, Snapshot, SnapshotError, SnapshotStore, copy_with_time, named, off_thread,
};
use files::canonical;
use files::{FileError, private};
use sanitizer::{chain, quoted_path};

/// The clock step of a coarse file system. Files that are saved within one tick after the start of an import are
/// imported.
const TICK: Duration = Duration::from_millis(10);

/// The time of a file.
#[cfg(not(unix))]
type FileTime = (i64, i64);

/// The patch, in the directory of the snapshot.
pub(crate) const PATCH: &str = "changes.patch";
const NEW_PATCH: &str = "changes.patch.new";
/// The number of names tried for a kept tree.
const ATTEMPTS: u32 = 64;

/// The content imported from a private tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The branch in the project's repository; `None` if nothing has changed, nothing could be imported, or no branch
    /// could be made.
    pub branch: Option<String>,
    /// Its commit.
    pub commit: Option<String>,
    /// The number of the child's commits that were imported.
    pub commits: u32,
    /// The file with all changes as a patch.
    pub patch: Option<PathBuf>,
    /// The differences from the tree that the child started with.
    pub changes: Vec<Change>,
    /// Lines that were added, in text files.
    pub insertions: u64,
    /// Lines that were removed.
    pub deletions: u64,
    /// The private tree, if it was kept because something in it was not imported.
    pub kept_tree: Option<PathBuf>,
    /// The content that was not imported, with the reasons.
    pub notices: Vec<String>,
}

impl SnapshotStore {
    /// Imports the work in a private tree whose child has ended, and removes the tree unless that would lose something.
    ///
    /// A person may save a file in the tree at any moment. A file that changes after the import has begun stays, and so
    /// does the tree.
    pub async fn import(&self, tree: &PrivateTree) -> Imported {
        let mut imported = Imported::default();
        let directory = tree.directory.clone();
        let start = off_thread(move || time_in(&directory)).await;
        sleep(TICK).await;
        if let Err(error) = self.import_into(tree, &mut imported).await {
            imported.notices.push(format!("the child's changes could not be imported: {}", chain(&error)));
        }
        // The record is removed before any file: a missing file would look like a file that the child removed.
        self.forget_tree(&tree.snapshot.id).await;
        let is_whole = imported.notices.is_empty();
        let snapshot_id = tree.snapshot.id.clone();
        let tree = tree.clone();
        let (kept_tree, notice) = off_thread(move || {
            // A save by path fails from now on.
            let root = set_aside(&tree);
            match start.filter(|_| is_whole).map(|start| remove_aside(&root, start)) {
                Some(Ok(None)) => (None, None),
                Some(Ok(Some(file))) => {
                    let file = quoted_path(&file.to_string_lossy());
                    let notice = format!("{file} was saved in the private tree while it was imported");
                    (Some(root), Some(notice))
                }
                Some(Err(_)) | None => (Some(root), None),
            }
        })
        .await;
        imported.kept_tree = kept_tree;
        imported.notices.extend(notice);
        self.note_failed_import(&snapshot_id, &imported).await;
        imported
    }

    /// Records the reason why nothing was imported, for later commands on the run.
    pub(super) async fn note_failed_import(&self, id: &str, imported: &Imported) {
        if imported.commit.is_some() || imported.notices.is_empty() {
            return;
        }
        if let Ok(snapshot) = self.open(id).await {
            let import_error = Some(imported.notices.join("; "));
            // Without it, commands say that no import is recorded.
            drop(self.keep(&Snapshot { import_error, ..snapshot }).await);
        }
    }

    async fn import_into(&self, tree: &PrivateTree, imported: &mut Imported) -> Result<(), SnapshotError> {
        let snapshot = &tree.snapshot;
        let snapshot_dir = self.directory(&snapshot.id);
        let from = snapshot_dir.join(INDEX);
        let now = snapshot_dir.join("index.now");
        let to = now.clone();
        off_thread(move || copy_with_time(&from, &to)).await?;
        // An earlier version recorded paths with links if pi's directory has links in its path.
        let root = tree.root.clone();
        let root = off_thread(move || canonical(&root)).await;
        let recorded = self.recorder_at(snapshot, &snapshot_dir, &root).record(&now, true).await?;
        let missed = recorded.submodules.iter().filter(|path| !snapshot.submodules.contains(path));
        let filled = filled(&tree.root, &snapshot.submodules).await;
        let repositories = missed.chain(&filled).map(|path| (path, "it is a separate repository"));
        let hidden = self.program().hidden().showing(&tree.root);
        let unreadable = recorded.omitted.iter().map(|path| {
            let is_hidden = hidden.place_of(&tree.root.join(path)).is_some();
            (path, if is_hidden { "it is hidden" } else { "it cannot be read" })
        });
        let unimported = repositories.chain(unreadable).take(8);
        let notices = unimported.map(|(path, why)| format!("`{}` was not imported: {why}", named(path)));
        imported.notices.extend(notices);
        let root = tree.root.clone();
        let branch = tree.branch.clone();
        let tip = match off_thread(move || References::read(&root, &branch)).await {
            Ok(References { tip, has_others }) => {
                if has_others {
                    imported
                        .notices
                        .push("the child has made other branches, which were not imported".into());
                }
                self.tip(tree, tip, Source::Repository, imported).await?
            }
            Err(why) => {
                imported.notices.push(format!("the child's commits were not imported: {why}"));
                tree.base.clone()
            }
        };
        self.record_changes(tree, &recorded.tree, tip, imported).await
    }

    /// Makes branch, figures and patch of the child's last commit, which has been imported, and of its final `files`.
    pub(super) async fn record_changes(
        &self,
        tree: &PrivateTree,
        files: &str,
        tip: String,
        imported: &mut Imported,
    ) -> Result<(), SnapshotError> {
        let snapshot = &tree.snapshot;
        let tip_tree = self.git_text(snapshot, &["rev-parse", &format!("{tip}^{{tree}}")]).await?;
        let commit = if tip_tree == files {
            tip
        } else {
            let message = format!("Changes of the sub-agent's run {}", snapshot.id);
            self.commit(snapshot, files, Some(&tip), &message).await?
        };
        // A continued run still has the work of its earlier parts.
        if commit == tree.base && snapshot.branch.is_none() {
            return Ok(());
        }
        let noted = self.make_branch(tree, &commit, imported).await;
        // The branch and the patch are independent: if the disk is full now, only the patch and the figures are
        // missing.
        if let Err(error) = self.describe(snapshot, files, imported).await {
            imported.notices.push(format!(
                "the patch of its changes or their statistics could not be created: {}",
                chain(&error)
            ));
        }
        noted
    }

    /// Makes a branch, and notes the commit with or without one: our objects are all that `diff` and `apply` need.
    async fn make_branch(
        &self,
        tree: &PrivateTree,
        commit: &str,
        imported: &mut Imported,
    ) -> Result<(), SnapshotError> {
        match self.publish(&tree.snapshot, (&tree.branch, &tree.base), commit).await {
            Ok(branch) => imported.branch = Some(branch),
            Err(error) => imported.notices.push(format!(
                "its changes could not be put on a branch: {1}. `/subagents diff {0}` still shows them, and \
                 `/subagents apply {0}` applies them",
                tree.snapshot.id,
                chain(&error)
            )),
        }
        let branch = imported.branch.clone();
        let artifacts = Artifacts { branch, commit: commit.to_owned(), files: None, is_discarded: false };
        self.keep(&Snapshot { artifacts: Some(artifacts), ..self.open(&tree.snapshot.id).await? }).await?;
        imported.commit = Some(commit.to_owned());
        Ok(())
    }

    /// Adds the changes to `imported`, in figures and as a patch, and notes the number of files.
    async fn describe(
        &self,
        snapshot: &Snapshot,
        tree: &str,
        imported: &mut Imported,
    ) -> Result<(), SnapshotError> {
        imported.changes = self.changes(snapshot, &snapshot.tree, tree).await?;
        let noted = self.open(&snapshot.id).await?;
        let files = Some(imported.changes.len());
        let artifacts = noted.artifacts.map(|artifacts| Artifacts { files, ..artifacts });
        self.keep(&Snapshot { artifacts, ..noted }).await?;
        (imported.insertions, imported.deletions) = self.lines(snapshot, tree).await?;
        imported.patch = Some(self.patch(snapshot, tree).await?);
        Ok(())
    }

    /// Returns the child's last commit if its whole history was imported, else the commit that it started with.
    pub(super) async fn tip(
        &self,
        tree: &PrivateTree,
        tip: String,
        source: Source<'_>,
        imported: &mut Imported,
    ) -> Result<String, SnapshotError> {
        if tip == tree.base {
            return Ok(tip);
        }
        if let Err(why) = self.import_commits(tree, &tip, source).await {
            imported.notices.push(format!("the child's commits were not imported: {why}"));
            return Ok(tree.base.clone());
        }
        let range = format!("{}..{tip}", tree.base);
        let count = self.git_text(&tree.snapshot, &["rev-list", "--count", &range]).await?;
        imported.commits = count.parse().unwrap_or_default();
        Ok(tip)
    }

    async fn lines(&self, snapshot: &Snapshot, tree: &str) -> Result<(u64, u64), SnapshotError> {
        let args = [
            "diff-tree",
            "-r",
            "--numstat",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            &snapshot.tree,
            tree,
        ];
        let printed = self.git_text(snapshot, &args).await?;
        let sum = |column: usize| {
            // Binary files have a hyphen.
            printed.lines().filter_map(|line| line.split('\t').nth(column)?.parse::<u64>().ok()).sum()
        };
        Ok((sum(0), sum(1)))
    }

    /// Writes the changes since a snapshot to a patch next to it. git writes the file: a patch can be larger than the limit
    /// for a command's output.
    pub(crate) async fn patch(&self, snapshot: &Snapshot, tree: &str) -> Result<PathBuf, SnapshotError> {
        let snapshot_dir = self.directory(&snapshot.id);
        let to = snapshot_dir.join(PATCH);
        let new = snapshot_dir.join(NEW_PATCH);
        let at = new.clone();
        off_thread(move || private::write(&at, b"").map_err(FileError::at(&at))).await?;
        // In our directory, so that its name need not be UTF-8.
        let call = Call { alternates: &[&snapshot.objects], work_tree: &snapshot_dir, ..Call::of(snapshot) };
        let output = format!("--output={NEW_PATCH}");
        let args = [
            "diff-tree",
            "-r",
            "-p",
            "--binary",
            "--full-index",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            &output,
            &snapshot.tree,
            tree,
        ];
        self.call(snapshot, call, &args, Vec::new()).await?;
        Ok(off_thread(move || fs::rename(&new, &to).map_err(FileError::at(&to)).map(|()| to)).await?)
    }
}

/// Removes a tree that was set aside, unless a file in it has changed since. Returns that file. Blocks.
#[cfg(unix)]
fn remove_aside(root: &Path, since: FileTime) -> io::Result<Option<PathBuf>> {
    remove_unless_changed(root.parent().unwrap_or(root), since)
}

#[cfg(not(unix))]
fn remove_aside(root: &Path, _: FileTime) -> io::Result<Option<PathBuf>> {
    fs::remove_dir_all(root.parent().unwrap_or(root)).map(|()| None)
}

/// Returns the time by the clock of the file system of a directory. `None` if the directory is not ours. Blocks.
fn time_in(directory: &Path) -> Option<FileTime> {
    let found = fs::symlink_metadata(directory).ok()?;
    // Counts as a change, even on a full disk.
    fs::set_permissions(directory, found.permissions()).ok()?;
    #[cfg(unix)]
    return fs::symlink_metadata(directory).ok().map(|found| (found.ctime(), found.ctime_nsec()));
    #[cfg(not(unix))]
    return Some((0, 0));
}

/// Gives a kept tree a name that no run needs, because a session continues only in the directory where it began.
/// Returns the root of the tree. Blocks.
pub(super) fn set_aside(tree: &PrivateTree) -> PathBuf {
    let (Some(root), Some(name)) = (tree.root.file_name(), tree.directory.file_name()) else {
        return tree.root.clone();
    };
    let name = name.to_string_lossy();
    for number in 1..=ATTEMPTS {
        let aside = tree.directory.with_file_name(format!("{name}.kept-{number}"));
        if aside.symlink_metadata().is_err() && fs::rename(&tree.directory, &aside).is_ok() {
            return aside.join(root);
        }
    }
    tree.root.clone()
}

/// Returns the directories that were empty when the child started and have content now. Their content is not recorded,
/// because git takes them for separate repositories.
async fn filled(root: &Path, directories: &[PathBuf]) -> Vec<PathBuf> {
    let root = root.to_owned();
    let directories = directories.to_owned();
    let is_filled = move |directory: &PathBuf| {
        let place = root.join(directory);
        let is_directory = fs::symlink_metadata(&place).is_ok_and(|found| found.is_dir());
        is_directory && fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some())
    };
    off_thread(move || directories.into_iter().filter(is_filled).collect()).await
}
