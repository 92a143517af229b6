//! The directory of snapshots: one subdirectory for each run.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use pi_subagent_warden::remove_tree;
use serde::{Deserialize, Serialize};
#[cfg(not(unix))]
use std::fs::remove_dir_all as remove_tree;

use super::artifacts::{Apply, Artifacts};
use super::change::{Change, parse};
use super::error::{SnapshotError, named};
use super::facts::{Facts, off_thread};
use super::record::{ALTERNATES, Recorded, Recorder, SnapshotLimits, alternate};
use crate::git::{Git, KEPT_OBJECTS, Scope};
use crate::obstacle::{MAX_INDEX, Obstacle, Place, Reads, unless_blocked};
use crate::root::RepositoryDirs;
use files::canonical;
use files::layout::{self, is_run_id};
use files::{FileError, Hidden, open, private};
use supervisor::Cancel;

/// The record of a snapshot, next to its objects.
pub(super) const RECORD: &str = "snapshot.json";
/// The index that the snapshot was made with.
pub(super) const INDEX: &str = "index";
/// The index of a later state.
pub(crate) const INDEX_NOW: &str = "index.now";
/// The file that says where the history of a repository ends.
const SHALLOW: &str = "shallow";
/// The name of an index that never exists.
const NO_INDEX: &str = "index.none";
/// The ignore rules that a child may read.
pub(crate) const SHOWN: &str = "info/exclude.shown";
/// The suffix of the directory of a run's earlier part, after the id.
const EARLIER: &str = ".earlier";
/// The largest record that is read.
pub(super) const MAX_RECORD: u64 = 16 * 1024 * 1024;
/// The attributes that take precedence over all others. With them git reads files unconverted.
const ATTRIBUTES: &str = "* -text !eol !crlf -ident !filter !working-tree-encoding\n";

/// The state of a work tree at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the tree or its changes")]
pub struct Snapshot {
    /// The id of its run.
    pub id: String,
    /// The root of the work tree.
    pub root: PathBuf,
    /// The name of the tree.
    pub tree: String,
    /// The commit that was checked out, if there was one.
    pub base: Option<String>,
    /// The objects of the repository.
    pub objects: PathBuf,
    /// True if objects are named by SHA-256.
    pub is_sha256: bool,
    /// Submodules and other repositories in the tree: nothing in them is part of the snapshot.
    pub submodules: Vec<PathBuf>,
    /// Files and directories that are not in it as they are, because they are hidden or cannot be read.
    #[serde(rename = "leftOut")]
    pub omitted: Vec<PathBuf>,
    /// The name of the tree when the run ended, if that was noted.
    #[serde(default)]
    pub end: Option<String>,
    /// The artifacts of the run, if it worked in a private tree.
    #[serde(default, alias = "left")]
    pub artifacts: Option<Artifacts>,
    /// The record of the apply, from its start until it is undone.
    #[serde(default)]
    pub applied: Option<Apply>,
    /// The branch that it was taken from instead of the files.
    #[serde(default)]
    pub branch: Option<String>,
    /// True if its run works in the tree itself. Absent in the record of an earlier version.
    #[serde(default)]
    pub is_in_place: bool,
    /// True if an undo has restored every file of its run.
    #[serde(default)]
    pub is_undone: bool,
    /// The random part in the names of temporary files of its undo, once one has begun.
    #[serde(default)]
    pub undo_mark: Option<String>,
    /// True if its run was applied, and `apply --abort` has restored the tree.
    #[serde(default)]
    pub is_apply_undone: bool,
    /// The reason why no changes were imported from the private tree.
    #[serde(default)]
    pub import_error: Option<String>,
}

impl Snapshot {
    /// Returns true if its run has worked in a private tree. In the record of an earlier version, the same tree at the
    /// start and at the end means that.
    #[must_use]
    pub fn is_of_private_tree(&self) -> bool {
        !self.is_in_place && self.end.as_ref() == Some(&self.tree)
    }

    /// Returns a sentence for each part of the tree that a private tree lacks: separate repositories, which are empty
    /// directories there, and files that are hidden or cannot be read. At most eight of each kind.
    pub(crate) fn missing_parts<'a>(&'a self, hidden: &'a Hidden) -> impl Iterator<Item = String> + 'a {
        /// More would hide the other notices of a run.
        const MAX_NAMED: usize = 8;
        let submodules =
            self.submodules.iter().take(MAX_NAMED).map(|path| {
                format!("`{}` is a separate repository, and empty in the private tree", named(path))
            });
        let omitted = self.omitted.iter().take(MAX_NAMED).map(|path| {
            let is_hidden = hidden.place_of(&self.root.join(path)).is_some();
            let why = if is_hidden { "is hidden" } else { "cannot be read" };
            format!("`{}` was not copied unchanged into the private tree: it {why}", named(path))
        });
        submodules.chain(omitted)
    }
}

/// The objects that a command on a snapshot sees and may write.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// The index; `None` is an empty one.
    pub index: Option<&'a Path>,
    pub work_tree: &'a Path,
    /// Further objects that it reads.
    pub alternates: &'a [&'a Path],
    /// The directory for new objects, if not the snapshot's.
    pub objects: Option<&'a Path>,
    /// The paths that it may write besides the snapshot's directory.
    pub writable: &'a [&'a Path],
}

impl<'a> Call<'a> {
    /// Creates a call on the objects of the snapshot alone.
    pub(crate) fn of(snapshot: &'a Snapshot) -> Self {
        Self { index: None, work_tree: &snapshot.root, alternates: &[], objects: None, writable: &[] }
    }
}

/// The snapshots of one user.
#[derive(Clone, Debug)]
pub struct SnapshotStore {
    git: Git,
    directory: PathBuf,
    /// The directory of all private trees. It is hidden, and a run may work in a tree in it.
    trees: PathBuf,
    env: Vec<(OsString, OsString)>,
    limits: SnapshotLimits,
    agent_dirs: Vec<PathBuf>,
}

impl SnapshotStore {
    /// Creates a store for the snapshots in pi's directory `agent_dir`. `env` locates the user's git configuration with
    /// the global ignore rules. Blocks.
    #[must_use]
    pub fn new(git: Git, agent_dir: &Path, env: &[(OsString, OsString)], limits: SnapshotLimits) -> Self {
        let real = canonical(agent_dir);
        let own_dirs = [layout::SUBAGENTS, layout::PRIVATE_TREES].map(|name| canonical(&real.join(name)));
        let git = git.hiding(Hidden::new(own_dirs.to_vec()));
        // Without links in it: the sandbox shows git no place that a link leads to.
        let directory = canonical(&own_dirs[0].join(layout::SNAPSHOTS));
        let [_, trees] = own_dirs;
        Self { git, directory, trees, env: env.to_vec(), limits, agent_dirs: Vec::new() }
    }

    /// Adds the directories of a project that may hold agents, relative to any directory of it.
    #[must_use]
    pub fn with_agent_dirs(self, agent_dirs: Vec<PathBuf>) -> Self {
        Self { agent_dirs, ..self }
    }

    /// Returns true if a path is in a directory that may hold agents.
    pub(crate) fn is_of_agents(&self, path: &Path) -> bool {
        self.agent_dirs.iter().any(|agents| {
            path.ancestors().any(|above| !agents.as_os_str().is_empty() && above.ends_with(agents))
        })
    }

    /// Returns the same store with a git that ends with `stop`.
    #[must_use]
    pub fn until(&self, stop: &Cancel) -> Self {
        Self { git: self.git.until(stop), ..self.clone() }
    }

    /// Hides more files and directories, by paths without links. Hidden files are not read, and get into no snapshot.
    /// Our own files in pi's directory are always hidden.
    #[must_use]
    pub fn hiding(self, more: &[PathBuf]) -> Self {
        let paths = [self.git.hidden().paths(), more].concat();
        Self { git: self.git.hiding(Hidden::new(paths)), ..self }
    }

    /// Returns the directory of all snapshots.
    pub(crate) fn place(&self) -> &Path {
        &self.directory
    }

    /// Returns the directory of one snapshot.
    #[must_use]
    pub fn directory(&self, id: &str) -> PathBuf {
        self.directory.join(id)
    }

    /// Takes a snapshot of the work tree that begins at `root`, for the run `id`. An earlier snapshot of the same run
    /// is replaced. The repository and the tree stay unchanged, including the times of their files.
    ///
    /// # Errors
    ///
    /// If there is no repository, if too much differs from the last commit, or if git fails. Nothing remains then.
    pub async fn take(&self, id: &str, root: &Path) -> Result<Snapshot, SnapshotError> {
        if !is_run_id(id) {
            return Err(SnapshotError::Unknown { id: id.to_owned() });
        }
        let snapshot_dir = self.directory(id);
        self.release(id).await?;
        let created = self.create_in(&snapshot_dir, id, root).await;
        if created.is_err() {
            self.release(id).await?;
        }
        created
    }

    async fn create_in(&self, snapshot_dir: &Path, id: &str, root: &Path) -> Result<Snapshot, SnapshotError> {
        let at = snapshot_dir.to_owned();
        let dirs = self.repository(root).await?;
        let prepared = off_thread(move || {
            let made = ["objects/info", "objects/pack", "refs", "info"]
                .iter()
                .try_for_each(|name| private::create_dir_all(&at.join(name)));
            made.map_err(FileError::at(&at))
        });
        prepared.await?;
        let facts = Facts::of(&self.git, &dirs, snapshot_dir, &self.env).await?;
        let at = snapshot_dir.to_owned();
        let written = facts.clone();
        let from = dirs.clone();
        let hidden = self.git.hidden().showing(root);
        off_thread(move || write_repository(&at, &written, &from, &hidden)).await?;
        let root = root.to_owned();
        let objects = dirs.objects;
        let base = facts.head;
        let is_sha256 = facts.is_sha256;
        let snapshot = Snapshot {
            id: id.to_owned(),
            root,
            tree: String::new(),
            base,
            objects,
            is_sha256,
            submodules: Vec::new(),
            omitted: Vec::new(),
            end: None,
            artifacts: None,
            applied: None,
            branch: None,
            is_in_place: false,
            is_undone: false,
            undo_mark: None,
            is_apply_undone: false,
            import_error: None,
        };
        let Recorded { tree, submodules, omitted } =
            self.recorder(&snapshot, snapshot_dir).record(&snapshot_dir.join(INDEX), false).await?;
        let snapshot = Snapshot { tree, submodules, omitted, ..snapshot };
        // Without kept objects, the snapshot works until the history is rewritten and the old objects are removed.
        drop(self.keep_objects(&snapshot).await);
        self.keep(&snapshot).await?;
        Ok(snapshot)
    }

    /// Returns the directories of the repository whose work tree begins at `root`.
    ///
    /// # Errors
    ///
    /// If there is no repository, a part of it is hidden, or git would wait for a file in it.
    pub(crate) async fn repository(&self, root: &Path) -> Result<RepositoryDirs, SnapshotError> {
        let hidden_place = self.git.hidden().place_of(root).filter(|place| *place != self.trees);
        if let Some(place) = hidden_place {
            return Err(SnapshotError::Hidden { root: root.to_owned(), place: place.to_owned() });
        }
        let searched = root.to_owned();
        let hidden = self.git.hidden().clone();
        let search = move || match Obstacle::in_repository(&searched, Reads::References, &hidden) {
            Some(obstacle) => Err(obstacle),
            None => Ok(RepositoryDirs::visible(&searched, &hidden)),
        };
        let found = off_thread(search).await?;
        let found = found.map_err(|place| SnapshotError::Hidden { root: root.to_owned(), place })?;
        found.ok_or_else(|| SnapshotError::NoRepository { root: root.to_owned() })
    }

    /// Writes the record of a snapshot next to its objects.
    ///
    /// # Errors
    ///
    /// If the record cannot be written.
    pub async fn keep(&self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let record = self.directory(&snapshot.id).join(RECORD);
        let record_content = snapshot.clone();
        let written = off_thread(move || {
            let text = serde_json::to_vec(&record_content).map_err(std::io::Error::other);
            // In one step: without its record a snapshot is lost, and the disk may be full.
            let written = text.and_then(|text| private::write_temporary(&record, &text));
            let replaced = written.and_then(|file| file.persist(&record).map_err(|error| error.error));
            replaced.map(drop).map_err(FileError::at(&record))
        });
        Ok(written.await?)
    }

    /// Reads the snapshot of a run, which this process or another one has taken.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub async fn open(&self, id: &str) -> Result<Snapshot, SnapshotError> {
        let unknown = || SnapshotError::Unknown { id: id.to_owned() };
        if !is_run_id(id) {
            return Err(unknown());
        }
        let path = self.directory(id).join(RECORD);
        let read = off_thread(move || {
            let file = open::regular_no_follow(&path)?;
            open::read(file, MAX_RECORD)
        });
        let text = read.await.map_err(|_| unknown())?;
        let found: Option<Snapshot> = serde_json::from_slice(&text).ok();
        found.filter(|found| found.id == id).ok_or_else(unknown)
    }

    /// Returns the name of the tree of the current files. The contents that have changed since the snapshot are stored
    /// with it.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub async fn tree_of_now(&self, snapshot: &Snapshot) -> Result<String, SnapshotError> {
        let snapshot_dir = self.directory(&snapshot.id);
        let from = snapshot_dir.join(INDEX);
        let now = snapshot_dir.join(INDEX_NOW);
        let copied = from;
        let to = now.clone();
        off_thread(move || copy_with_time(&copied, &to)).await?;
        Ok(self.recorder(snapshot, &snapshot_dir).record(&now, true).await?.tree)
    }

    /// Returns the files that are in an index of a snapshot and not in the work tree, because git leaves them out.
    pub(crate) async fn absent(
        &self,
        snapshot: &Snapshot,
        index: &str,
    ) -> Result<BTreeSet<PathBuf>, SnapshotError> {
        let snapshot_dir = self.directory(&snapshot.id);
        self.recorder(snapshot, &snapshot_dir).absent(&snapshot_dir.join(index)).await
    }

    /// Returns the differences between two trees of a snapshot's repository: its own, one of [`Self::tree_of_now`], or
    /// a commit.
    ///
    /// # Errors
    ///
    /// If one of them is missing, or git fails.
    pub async fn changes(
        &self,
        snapshot: &Snapshot,
        from: &str,
        to: &str,
    ) -> Result<Vec<Change>, SnapshotError> {
        let args =
            ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", from, to];
        let printed = self.git(snapshot, &args, Vec::new()).await?;
        parse(&printed).ok_or(SnapshotError::Unreadable { command: "diff-tree" })
    }

    /// Returns the content of a file.
    ///
    /// # Errors
    ///
    /// If it is missing: the repository was changed, and earlier commits are no longer in it.
    pub async fn read(&self, snapshot: &Snapshot, object: &str) -> Result<Vec<u8>, SnapshotError> {
        self.git(snapshot, &["cat-file", "blob", object], Vec::new()).await
    }

    /// Runs git on the objects of a snapshot and of its repository. Not in the work tree, whose attributes it would
    /// read.
    pub(crate) async fn git(
        &self,
        snapshot: &Snapshot,
        args: &[&str],
        input: Vec<u8>,
    ) -> Result<Vec<u8>, SnapshotError> {
        let snapshot_dir = self.directory(&snapshot.id);
        let call = Call { alternates: &[&snapshot.objects], work_tree: &snapshot_dir, ..Call::of(snapshot) };
        self.call(snapshot, call, args, input).await
    }

    /// Runs git like [`Self::git`], with other objects or another tree.
    pub(crate) async fn call(
        &self,
        snapshot: &Snapshot,
        call: Call<'_>,
        args: &[&str],
        input: Vec<u8>,
    ) -> Result<Vec<u8>, SnapshotError> {
        let snapshot_dir = self.directory(&snapshot.id);
        // The repository may have lost objects that we have kept.
        let kept_objects = snapshot_dir.join(KEPT_OBJECTS);
        let needs_kept_objects = call.alternates.contains(&&*snapshot.objects) && kept_objects.is_dir();
        let kept_objects = needs_kept_objects.then_some(&*kept_objects);
        let alternates: Vec<_> = call.alternates.iter().copied().chain(kept_objects).map(alternate).collect();
        let alternates = alternates.join(OsStr::new(":"));
        let no_index = snapshot_dir.join(NO_INDEX);
        let mut env = vec![
            ("GIT_WORK_TREE", call.work_tree.as_os_str()),
            ("GIT_INDEX_FILE", call.index.unwrap_or(&no_index).as_os_str()),
            (ALTERNATES, alternates.as_os_str()),
        ];
        env.extend(call.objects.map(|objects| ("GIT_OBJECT_DIRECTORY", objects.as_os_str())));
        let writable: Vec<&Path> =
            [snapshot_dir.as_path()].into_iter().chain(call.writable.iter().copied()).collect();
        let reads: Vec<&Path> = call.alternates.iter().copied().chain(call.objects).collect();
        let scope = Scope {
            git_dir: &snapshot_dir,
            writable: &writable,
            reads: &reads,
            cwd: call.work_tree,
            env: &env,
        };
        let place = Place::Files { root: call.work_tree.to_owned(), objects: snapshot.objects.clone() };
        // Boxed to keep the surrounding futures small.
        Ok(unless_blocked(place, self.git.hidden(), Box::pin(self.git.run(scope, args, input))).await??)
    }

    pub(crate) fn program(&self) -> &Git {
        &self.git
    }

    pub(crate) fn limits(&self) -> SnapshotLimits {
        self.limits
    }

    /// Removes the snapshot of a run, if it has one.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub async fn release(&self, id: &str) -> Result<(), SnapshotError> {
        if !is_run_id(id) {
            return Ok(());
        }
        let directory = self.directory(id);
        let removed = off_thread(move || match remove_tree(&directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(FileError::at(&directory)(error))
            }
            _ => Ok(()),
        });
        Ok(removed.await?)
    }

    /// Moves the snapshot of the run `id` away before the run continues. If the run cannot continue, its artifacts must
    /// not be lost.
    ///
    /// # Errors
    ///
    /// If it cannot be moved. It then stays in its place.
    pub async fn move_to_earlier(&self, id: &str) -> Result<(), SnapshotError> {
        let [from, to] = self.current_and_earlier(id);
        let moved = off_thread(move || {
            if !from.join(RECORD).exists() {
                return Ok(());
            }
            let _ = remove_tree(&to);
            fs::rename(&from, &to).map_err(FileError::at(&to))
        });
        Ok(moved.await?)
    }

    /// Restores the snapshot that was moved away, and replaces the run's new one. Does nothing if there is none.
    pub async fn restore_earlier(&self, id: &str) {
        let [to, from] = self.current_and_earlier(id);
        let back = move || from.exists().then(|| remove_tree(&to).and_then(|()| fs::rename(from, to)));
        drop(off_thread(back).await);
    }

    /// Removes the snapshot that was moved away.
    pub async fn remove_earlier(&self, id: &str) {
        let [_, earlier] = self.current_and_earlier(id);
        drop(off_thread(move || remove_tree(&earlier)).await);
    }

    /// Returns the directory of a run's snapshot, and the directory of its earlier part.
    fn current_and_earlier(&self, id: &str) -> [PathBuf; 2] {
        [self.directory(id), self.directory.join(format!("{id}{EARLIER}"))]
    }

    pub(super) fn recorder<'a>(&'a self, snapshot: &'a Snapshot, snapshot_dir: &'a Path) -> Recorder<'a> {
        self.recorder_at(snapshot, snapshot_dir, &snapshot.root)
    }

    /// Returns a recorder for another tree than the snapshot's own.
    pub(crate) fn recorder_at<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        snapshot_dir: &'a Path,
        root: &'a Path,
    ) -> Recorder<'a> {
        Recorder {
            git: &self.git,
            snapshot_dir,
            root,
            objects: &snapshot.objects,
            object_bytes: if snapshot.is_sha256 { 32 } else { 20 },
            limits: self.limits,
        }
    }
}

/// Writes the files that git needs to recognize a directory as a repository, and copies the index.
fn write_repository(
    snapshot_dir: &Path,
    facts: &Facts,
    dirs: &RepositoryDirs,
    hidden: &Hidden,
) -> Result<(), FileError> {
    let write = |name: &str, bytes: &[u8]| {
        let path = snapshot_dir.join(name);
        private::write(&path, bytes).map_err(FileError::at(&path))
    };
    write("HEAD", b"ref: refs/heads/none\n")?;
    write("config", facts.config().as_bytes())?;
    write("info/attributes", ATTRIBUTES.as_bytes())?;
    write("info/exclude", &facts.excludes)?;
    write(SHOWN, &facts.shown)?;
    let index = dirs.own.join(INDEX);
    // Otherwise history would seem to lack commits.
    if let Ok(shallow) = hidden.no_follow(&dirs.shared.join(SHALLOW)) {
        copy_open_with_time(shallow, &snapshot_dir.join(SHALLOW)).map_err(FileError::at(snapshot_dir))?;
    }
    if !index.exists() {
        return Ok(());
    }
    // A link may lead to any file, and git quotes lines that it does not understand.
    let copy = |from: &Path, name: &OsStr| {
        let source = hidden.regular(from).map_err(FileError::at(from))?;
        copy_open_with_time(source, &snapshot_dir.join(name)).map_err(FileError::at(from))
    };
    copy(&index, INDEX.as_ref())?;
    // The shared part of a split index.
    for entry in fs::read_dir(&dirs.own).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if AsRef::<OsStr>::as_ref(&name).to_string_lossy().starts_with("sharedindex.") {
            copy(&entry.path(), &name)?;
        }
    }
    Ok(())
}

/// Copies a file of ours with its time of modification: git treats files that are as new as its index as changed.
pub(crate) fn copy_with_time(from: &Path, to: &Path) -> Result<(), FileError> {
    match open::regular(from).and_then(|source| copy_open_with_time(source, to)) {
        // The index does not exist, because nothing was tracked yet.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !from.exists() => Ok(()),
        copied => copied.map_err(FileError::at(from)),
    }
}

fn copy_open_with_time(source: fs::File, to: &Path) -> std::io::Result<()> {
    let modified = source.metadata()?.modified()?;
    let mut options = private::options();
    let mut target = options.write(true).create(true).truncate(true).open(to)?;
    open::copy(source, &mut target, MAX_INDEX)?;
    target.set_modified(modified)
}
