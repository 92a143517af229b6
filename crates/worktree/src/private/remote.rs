//! A private tree on a remote machine: the pack that is sent for it, and the import of the returned pack.
//!
//! The returned pack has two commits: one of the child's branch, and one with the final state of the files. It is
//! checked like all content of a local private tree. Nothing of it is read before.

use std::fs;
use std::path::{Path, PathBuf};

use super::create::{PrivateTree, new_directory};
use super::import::{Imported, set_aside};
use super::incoming::Source;
use super::publish::branch_of;
use crate::snapshot::{Call, SHOWN, Snapshot, SnapshotError, SnapshotStore, index_line, named, off_thread};
use files::{FileError, private};
use sanitizer::{chain, quoted_within};

/// The sent pack and the returned pack, in the directory of the snapshot.
const SENT: &str = "sent.pack";
const RETURNED: &str = "back.pack";
/// The mode of a repository in a tree.
const SUBMODULE: u32 = 0o160_000;

/// The content of a private tree on a remote machine.
#[derive(Clone, Debug)]
pub struct RemoteTree {
    /// The snapshot that it is made from.
    pub snapshot: Snapshot,
    /// The commit that the child starts from.
    pub base: String,
    /// The branch that it works on.
    pub branch: String,
    /// True if the base has a history, which is not sent.
    pub is_shallow: bool,
    /// The base and its files, in a file: a run may take long, and only its start needs them.
    pub pack: PathBuf,
    /// The bytes of that pack.
    pub pack_bytes: usize,
    /// The configuration of its repository, its attributes, and its ignore rules.
    pub settings: [Vec<u8>; 3],
    /// The path to which the returned pack is written.
    pub returned_pack: PathBuf,
    /// The maximum size of that pack, and of the files in it, in bytes.
    pub limit: u64,
    /// The missing parts of the tree.
    pub notices: Vec<String>,
    place: PathBuf,
}

/// The data that returned with the pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteChanges {
    /// The commit with the files as they were left, on top of the base.
    pub files: String,
    /// The commit of the child's branch, if it has one.
    pub tip: Option<String>,
    /// True if the child has made other branches.
    pub has_others: bool,
    /// The messages of git on the remote machine about files that it did not add.
    pub notes: String,
}

/// The reason why the changes in a remote tree are unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteChangesError {
    /// The connection ended before the changes.
    #[error("the child's changes were not received: the connection ended first")]
    Disconnected,
    /// The remote machine could not send them.
    #[error("the child's changes could not be sent back: {why}")]
    NotSent {
        /// The message of the remote machine.
        why: String,
    },
    /// They have an unknown format, or exceed a limit.
    #[error("the child's changes were received in an unknown format")]
    UnknownFormat,
    /// Their pack could not be written on this machine.
    #[error("the child's changes were received, but could not be written on this machine")]
    NotWritten,
}

impl SnapshotStore {
    /// Returns the content of a remote private tree. If something of it must be kept on this machine later, it is
    /// written below `place`.
    ///
    /// # Errors
    ///
    /// If git fails, or the pack exceeds the limit for git's output or takes longer than one git call may.
    pub async fn remote_tree(&self, snapshot: &Snapshot, place: &Path) -> Result<RemoteTree, SnapshotError> {
        let base = self.base_commit(snapshot).await?;
        let commit = self.git_text(snapshot, &["cat-file", "commit", &base]).await?;
        let is_shallow =
            commit.lines().take_while(|line| !line.is_empty()).any(|line| line.starts_with("parent "));
        let listed = self.git(snapshot, &["rev-list", "--objects", "--no-walk", &base], Vec::new()).await?;
        let packed = ["pack-objects", "--stdout", "--delta-base-offset", "-q"];
        let pack = self.git(snapshot, &packed, listed).await?;
        let snapshot_dir = self.directory(&snapshot.id);
        let pack_bytes = pack.len();
        let from = snapshot_dir.clone();
        let settings = off_thread(move || {
            let sent = from.join(SENT);
            private::write(&sent, &pack).map_err(FileError::at(&sent))?;
            let read = |name: &str| fs::read(from.join(name)).map_err(FileError::at(&from.join(name)));
            Ok::<_, FileError>([read("config")?, read("info/attributes")?, read(SHOWN)?])
        });
        Ok(RemoteTree {
            snapshot: snapshot.clone(),
            base,
            branch: branch_of(&snapshot.id),
            is_shallow,
            pack: snapshot_dir.join(SENT),
            pack_bytes,
            settings: settings.await?,
            returned_pack: snapshot_dir.join(RETURNED),
            limit: self.limits().bytes,
            notices: snapshot.missing_parts(&self.program().hidden().showing(&snapshot.root)).collect(),
            place: place.to_owned(),
        })
    }

    /// Imports the work in a remote private tree. `remote_changes` is `Ok(None)` if nothing has changed there, and the
    /// reason if nothing is known about the changes.
    pub async fn import_remote(
        &self,
        tree: &RemoteTree,
        remote_changes: Result<Option<RemoteChanges>, RemoteChangesError>,
    ) -> Imported {
        let mut imported = Imported::default();
        let (remote_changes, is_doubtful) = match remote_changes {
            Ok(Some(remote_changes)) => {
                let result = self.import_remote_commits(tree, &remote_changes, &mut imported).await;
                let is_doubtful = result.unwrap_or_else(|error| {
                    let why = chain(&error);
                    imported.notices.push(format!("the child's changes could not be imported: {why}"));
                    true
                });
                (remote_changes, is_doubtful)
            }
            Ok(None) => (RemoteChanges::default(), false),
            Err(why) => {
                imported.notices.push(why.to_string());
                (RemoteChanges::default(), false)
            }
        };
        if is_doubtful {
            match self.keep_bundle(tree, &remote_changes).await {
                Ok(path) => imported.kept_tree = Some(path),
                Err(error) => {
                    imported.notices.push(format!("the returned pack could not be kept: {}", chain(&error)));
                }
            }
        }
        let packs = [tree.pack.clone(), tree.returned_pack.clone()];
        off_thread(move || packs.iter().for_each(|pack| drop(fs::remove_file(pack)))).await;
        self.note_failed_import(&tree.snapshot.id, &imported).await;
        imported
    }

    /// Imports the commits of the returned pack. Returns true if something in the pack was not imported.
    async fn import_remote_commits(
        &self,
        tree: &RemoteTree,
        remote_changes: &RemoteChanges,
        imported: &mut Imported,
    ) -> Result<bool, SnapshotError> {
        let snapshot = &tree.snapshot;
        let local = tree.as_local_tree();
        let pack = Source::Pack(&tree.returned_pack);
        if remote_changes.has_others {
            imported.notices.push("the child has made other branches, which were not imported".into());
        }
        // The notes are few, and they are cut when they are sanitized.
        if !remote_changes.notes.trim().is_empty() {
            let notes = quoted_within(&remote_changes.notes, usize::MAX);
            imported.notices.push(format!("not everything in the remote tree was imported: {notes}"));
        }
        let mut is_doubtful = false;
        let mut files = snapshot.tree.clone();
        if remote_changes.files != tree.base {
            match self.import_commits(&local, &remote_changes.files, pack).await {
                Ok(()) => {
                    let named = format!("{}^{{tree}}", remote_changes.files);
                    let received = self.git_text(snapshot, &["rev-parse", &named]).await?;
                    files = self.without_repositories(snapshot, received, imported).await?;
                }
                Err(why) => {
                    is_doubtful = true;
                    imported.notices.push(format!("the child's files were not imported: {why}"));
                }
            }
        }
        let tip = if let Some(tip) = &remote_changes.tip {
            self.tip(&local, tip.clone(), pack, imported).await?
        } else {
            imported
                .notices
                .push("the child's commits were not imported: its branch no longer exists".into());
            tree.base.clone()
        };
        let is_tip_imported = remote_changes.tip.as_ref().is_none_or(|known| *known == tip);
        if is_doubtful && is_tip_imported && tip != tree.base {
            // Without the files, the child's last commit is the best known state.
            files = self.git_text(snapshot, &["rev-parse", &format!("{tip}^{{tree}}")]).await?;
        }
        self.record_changes(&local, &files, tip, imported).await?;
        Ok(is_doubtful || !is_tip_imported)
    }

    /// Returns a tree without the repositories that the child has made in it, because their objects are missing.
    async fn without_repositories(
        &self,
        snapshot: &Snapshot,
        tree: String,
        imported: &mut Imported,
    ) -> Result<String, SnapshotError> {
        let mut changes = self.changes(snapshot, &snapshot.tree, &tree).await?;
        changes.retain(|change| change.new.as_ref().is_some_and(|file| file.mode == SUBMODULE));
        if changes.is_empty() {
            return Ok(tree);
        }
        for change in changes.iter().take(8) {
            let path = named(&change.path);
            imported.notices.push(format!("`{path}` was not imported: it is a separate repository"));
        }
        let none = "0".repeat(tree.len());
        let index_lines = changes.iter().flat_map(|change| {
            let old = change.old.as_ref().filter(|file| file.mode == SUBMODULE);
            let (mode, object) = old.map_or(("0", &*none), |file| ("160000", &*file.object));
            index_line(mode, object, change.path.as_os_str().as_encoded_bytes())
        });
        let snapshot_dir = self.directory(&snapshot.id);
        let index = snapshot_dir.join("index.now");
        let call = Call {
            index: Some(&index),
            work_tree: &snapshot_dir,
            alternates: &[&snapshot.objects],
            ..Call::of(snapshot)
        };
        self.call(snapshot, call, &["read-tree", &tree], Vec::new()).await?;
        self.call(snapshot, call, &["update-index", "-z", "--index-info"], index_lines.collect()).await?;
        let written = self.call(snapshot, call, &["write-tree", "--missing-ok"], Vec::new()).await?;
        Ok(String::from_utf8_lossy(&written).trim().to_owned())
    }

    /// Keeps the pack as a bundle, which `git fetch` reads. Returns its path.
    async fn keep_bundle(
        &self,
        tree: &RemoteTree,
        remote_changes: &RemoteChanges,
    ) -> Result<PathBuf, SnapshotError> {
        let mut local = tree.as_local_tree();
        let returned_pack = tree.returned_pack.clone();
        let header = tree.header(remote_changes);
        let place = tree.place.clone();
        let written = off_thread(move || {
            local.directory = new_directory(&place, &local.snapshot.id)?;
            local.root = local.directory.join(format!("{}.bundle", local.snapshot.id));
            let write = || {
                let mut bundle = private::options().write(true).create_new(true).open(&local.root)?;
                std::io::Write::write_all(&mut bundle, header.as_bytes())?;
                std::io::copy(&mut fs::File::open(&returned_pack)?, &mut bundle)
            };
            write().map_err(FileError::at(&local.root))?;
            Ok::<_, FileError>(set_aside(&local))
        });
        Ok(written.await?)
    }
}

impl RemoteTree {
    /// Returns the tree in the form of a local private tree, although none of its files is on this machine.
    fn as_local_tree(&self) -> PrivateTree {
        PrivateTree {
            snapshot: self.snapshot.clone(),
            directory: self.place.clone(),
            root: self.place.clone(),
            base: self.base.clone(),
            branch: self.branch.clone(),
            notices: Vec::new(),
        }
    }

    /// Returns the bytes before the pack in a bundle.
    fn header(&self, RemoteChanges { files, tip, .. }: &RemoteChanges) -> String {
        let form = if self.snapshot.is_sha256 {
            "# v3 git bundle\n@object-format=sha256"
        } else {
            "# v2 git bundle"
        };
        let tip = tip.as_ref().map_or_else(String::new, |tip| format!("{tip} refs/heads/{}\n", self.branch));
        format!("{form}\n-{}\n{tip}{files} refs/heads/{}-files\n\n", self.base, self.branch)
    }
}
