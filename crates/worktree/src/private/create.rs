//! Makes a private repository from a snapshot.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use pi_subagent_warden::remove_tree;
use serde::{Deserialize, Serialize};
#[cfg(not(unix))]
use std::fs::remove_dir_all as remove_tree;

use super::copy::copy_listed;
use super::publish::branch_of;
use crate::obstacle::MAX_TEXT;
use crate::snapshot::{Call, SHOWN, Snapshot, SnapshotError, SnapshotStore, copy_with_time, off_thread};
use files::{FileError, Hidden, open, private};

/// The index that the tree was checked out with, in the directory of the snapshot.
pub(super) const INDEX: &str = "index.private";
/// The number of names tried for a tree: a kept tree may block the next tree of its run.
const ATTEMPTS: u32 = 16;

/// A private repository with a work tree, for one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrivateTree {
    /// The snapshot that it was made from.
    pub snapshot: Snapshot,
    /// The directory that holds it and nothing else.
    pub directory: PathBuf,
    /// The root of the work tree.
    pub root: PathBuf,
    /// The commit that the child starts from.
    pub base: String,
    /// The branch that it works on.
    pub branch: String,
    /// The missing parts of the tree.
    pub notices: Vec<String>,
}

impl SnapshotStore {
    /// Makes a private tree from a snapshot in a new directory below `place`. `copied` are ignored paths to bring
    /// along, relative to the root.
    ///
    /// # Errors
    ///
    /// If it cannot be made. Nothing of it remains.
    pub async fn private_tree(
        &self,
        snapshot: &Snapshot,
        place: &Path,
        copied: &[String],
    ) -> Result<PrivateTree, SnapshotError> {
        let base = self.base_commit(snapshot).await?;
        let place = place.to_owned();
        let id = snapshot.id.clone();
        let name = snapshot.root.file_name().map_or_else(|| "tree".into(), ToOwned::to_owned);
        let directory = off_thread(move || new_directory(&place, &id)).await?;
        let root = directory.join(name);
        let branch = snapshot.branch.clone().unwrap_or_else(|| branch_of(&snapshot.id));
        let tree =
            PrivateTree { snapshot: snapshot.clone(), directory, root, base, branch, notices: Vec::new() };
        let filled = match self.fill(tree.clone(), copied).await {
            // Only a complete tree is recorded for a recovery: a missing file in it would look like a file that the
            // child removed.
            Ok(tree) => self.note_tree(&tree).await.map(|()| tree),
            Err(error) => Err(error),
        };
        match filled {
            Ok(tree) => Ok(tree),
            Err(error) => {
                let directory = tree.directory;
                drop(off_thread(move || remove_tree(&directory)).await);
                Err(error)
            }
        }
    }

    /// Removes a private tree in which no child has worked, and its snapshot.
    pub async fn remove_unused_tree(&self, tree: &PrivateTree) {
        let id = &tree.snapshot.id;
        self.forget_tree(id).await;
        let directory = tree.directory.clone();
        drop(off_thread(move || remove_tree(&directory)).await);
        // The next sweep finds the remaining entries.
        drop(self.release(id).await);
        self.restore_earlier(id).await;
    }

    /// Returns the commit of a snapshot: the checked-out commit if nothing differs from it, else a new commit on top.
    pub(super) async fn base_commit(&self, snapshot: &Snapshot) -> Result<String, SnapshotError> {
        if let (Some(_), Some(tip)) = (&snapshot.branch, &snapshot.base) {
            return Ok(tip.clone());
        }
        if let Some(head) = &snapshot.base {
            let tree = format!("{head}^{{tree}}");
            let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &tree];
            if self.git_text(snapshot, &args).await? == snapshot.tree {
                return Ok(head.clone());
            }
        }
        let message = "Uncommitted changes when the sub-agent started";
        self.commit(snapshot, &snapshot.tree, snapshot.base.as_deref(), message).await
    }

    /// Writes a commit of ours.
    pub(super) async fn commit(
        &self,
        snapshot: &Snapshot,
        tree: &str,
        parent: Option<&str>,
        message: &str,
    ) -> Result<String, SnapshotError> {
        let parent = parent.into_iter().flat_map(|parent| ["-p", parent]);
        let args: Vec<&str> =
            ["commit-tree", tree].into_iter().chain(parent).chain(["-m", message]).collect();
        self.git_text(snapshot, &args).await
    }

    /// Returns the single-line output of a git command.
    pub(crate) async fn git_text(&self, snapshot: &Snapshot, args: &[&str]) -> Result<String, SnapshotError> {
        let printed = self.git(snapshot, args, Vec::new()).await?;
        Ok(String::from_utf8_lossy(&printed).trim().to_owned())
    }

    async fn fill(&self, mut tree: PrivateTree, copied: &[String]) -> Result<PrivateTree, SnapshotError> {
        let snapshot_dir = self.directory(&tree.snapshot.id);
        let shared = self.repository(&tree.snapshot.root).await?.shared;
        let hidden = self.program().hidden().showing(&tree.snapshot.root);
        let made = tree.clone();
        let from = snapshot_dir.clone();
        off_thread(move || write_repository(&made, &from, &shared, &hidden)).await?;
        let index = tree.root.join(".git/index");
        let call = Call {
            index: Some(&index),
            work_tree: &tree.root,
            alternates: &[&tree.snapshot.objects],
            objects: None,
            writable: &[&tree.root],
        };
        let files = format!("{}^{{tree}}", tree.base);
        let checkout = ["read-tree", "-u", "--reset", &files];
        self.call(&tree.snapshot, call, &checkout, Vec::new()).await?;
        // On some file systems, names that differ only in capitals are the same file.
        let differ = ["diff-files", "-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all"];
        let differ = self.call(&tree.snapshot, call, &differ, Vec::new()).await?;
        if let Some(path) = differ.split(|byte| *byte == 0).find(|path| !path.is_empty()) {
            let path = PathBuf::from(String::from_utf8_lossy(path).into_owned());
            return Err(SnapshotError::Differs { path });
        }
        let from = tree.snapshot.root.clone();
        let to = tree.root.clone();
        let listed = copied.to_vec();
        let git = self.program().clone();
        let hidden = git.hidden().showing(&from);
        let notices = off_thread(move || {
            copy_with_time(&index, &snapshot_dir.join(INDEX))
                .map(|()| copy_listed(&from, &to, &listed, &hidden, &|| git.is_stopped()))
        });
        tree.notices = notices.await?;
        let hidden = self.program().hidden().showing(&tree.snapshot.root);
        tree.notices.extend(tree.snapshot.missing_parts(&hidden).collect::<Vec<_>>());
        Ok(tree)
    }
}

/// Makes a private directory for the run. The returned path has no links.
pub(super) fn new_directory(place: &Path, id: &str) -> Result<PathBuf, FileError> {
    private::create_dir_all(place).map_err(FileError::at(place))?;
    let place = &place.canonicalize().map_err(FileError::at(place))?;
    let names =
        (1..=ATTEMPTS).map(|number| if number > 1 { format!("{id}-{number}") } else { id.to_owned() });
    let mut exists = None;
    for path in names.map(|name| place.join(name)) {
        match private::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                exists = Some(FileError::at(&path)(error));
            }
            Err(error) => return Err(FileError::at(&path)(error)),
        }
    }
    Err(exists.expect("there was an attempt"))
}

/// Writes the repository: the branch of the run, and the project's objects as an alternate. `shared` is the directory
/// of the project's repository.
fn write_repository(
    tree: &PrivateTree,
    snapshot_dir: &Path,
    shared: &Path,
    hidden: &Hidden,
) -> Result<(), SnapshotError> {
    let git = tree.root.join(".git");
    let at = |name: &str| git.join(name);
    let failed = FileError::at(&git);
    let write = || {
        let branch = at(&format!("refs/heads/{}", tree.branch));
        for directory in
            [&at("objects/info"), &at("objects/pack"), &at("info"), branch.parent().unwrap_or(&git)]
        {
            fs::create_dir_all(directory)?;
        }
        let alternate = tree.snapshot.objects.as_os_str().as_encoded_bytes();
        if alternate.contains(&b'\n') {
            return Err(io::Error::other("a line break in the path of the repository"));
        }
        fs::write(at("HEAD"), format!("ref: refs/heads/{}\n", tree.branch))?;
        fs::write(&branch, format!("{}\n", tree.base))?;
        fs::write(at("objects/info/alternates"), [alternate, b"\n"].concat())?;
        for (from, name) in
            [("config", "config"), ("info/attributes", "info/attributes"), (SHOWN, "info/exclude")]
        {
            fs::copy(snapshot_dir.join(from), at(name))?;
        }
        // Not through a link: the child reads the copied content.
        if let Ok(shallow) = hidden.no_follow(&shared.join("shallow")) {
            open::copy(shallow, &mut fs::File::create_new(at("shallow"))?, MAX_TEXT)?;
        }
        copy_objects(&snapshot_dir.join("objects"), &at("objects"))
    };
    Ok(write().map_err(failed)?)
}

/// Copies the objects that the repository does not have: our own, all of them loose.
fn copy_objects(from: &Path, to: &Path) -> io::Result<()> {
    for fan in fs::read_dir(from)? {
        let fan = fan?;
        if fan.file_name().len() != 2 {
            continue;
        }
        let target = to.join(fan.file_name());
        fs::create_dir_all(&target)?;
        for object in fs::read_dir(fan.path())? {
            let object = object?;
            fs::copy(object.path(), target.join(object.file_name()))?;
        }
    }
    Ok(())
}
