//! One writer at a time in a work tree, over all processes that share an agent directory.
//!
//! A writer holds the tree's lock, which the kernel releases when its process ends. The wardens of its children also
//! hold it, so that a killed process keeps the tree until its children have ended. A waiting writer holds the gate, so
//! that a process with many writers cannot keep the tree from the others: its next writer waits at the gate.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::root::root_of;
use files::exclusive::{lock, remove};
use files::{layout, open, owned, private};
use sanitizer::one_line;

/// The variable with the trees that a child or the runs above it write to. The child's own runs do not wait for these
/// trees, because they would wait for the child.
pub const WRITES: &str = "PI_SUBAGENT_WRITES";
const SEPARATOR: char = ',';

/// The maximum length of a writer's name, in bytes.
const NAME_BYTES: u64 = 256;
/// The longest name that is shown, in characters.
const NAME_CHARS: usize = 80;

/// A work tree that a run writes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkTree {
    /// The same text for a directory under every path. It is also used as a file name.
    pub key: String,
    /// True if an ancestor run of this process writes to the tree and waits for the runs that it has started.
    pub is_locked_by_ancestor: bool,
}

impl WorkTree {
    /// Returns the tree around `directory`. `writes` is the value of [`WRITES`]. Returns `None` if there is no such
    /// directory. Blocks.
    #[must_use]
    pub fn of(directory: &Path, writes: Option<&str>) -> Option<Self> {
        let root = root_of(&directory.canonicalize().ok()?);
        let key = key_of(&root)?;
        let is_locked_by_ancestor =
            writes.is_some_and(|writes| writes.split(SEPARATOR).any(|locked| locked == key));
        Some(Self { key, is_locked_by_ancestor })
    }

    /// Returns the value of [`WRITES`] for a child that writes to this tree, in addition to the trees in `writes`.
    #[must_use]
    pub fn with(&self, writes: Option<&str>) -> String {
        match writes.filter(|writes| !writes.is_empty()) {
            Some(writes) if self.is_locked_by_ancestor => writes.to_owned(),
            Some(writes) => format!("{writes}{SEPARATOR}{}", self.key),
            None => self.key.clone(),
        }
    }
}

#[cfg(unix)]
fn key_of(root: &Path) -> Option<String> {
    let (device, inode) = files::exclusive::identity(root)?;
    Some(format!("{device:x}-{inode:x}"))
}

#[cfg(not(unix))]
fn key_of(root: &Path) -> Option<String> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    root.hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

/// A place in the order of writers of a tree.
pub struct WriteLockQueue {
    directory: PathBuf,
    key: String,
    gate: Option<File>,
}

/// The result of an attempt to lock the tree.
pub enum LockAttempt {
    /// The caller now holds the write lock.
    Acquired(WriteLock),
    /// Another writer holds it, under this name if it is known.
    Busy(Option<String>),
}

/// The right to write to a tree. Dropping it releases the tree.
#[derive(Debug)]
pub struct WriteLock {
    lock: Arc<File>,
    path: PathBuf,
    name: PathBuf,
}

impl WriteLock {
    /// Returns the lock file of the tree. Another process that also has it, such as the warden of a child, keeps the
    /// lock if we are killed, and no longer once we release it.
    #[must_use]
    pub fn lock(&self) -> Arc<File> {
        Arc::clone(&self.lock)
    }
}

impl WriteLockQueue {
    /// Creates a place in the order of the writers of `tree`.
    #[must_use]
    pub fn new(agent_dir: &Path, tree: &WorkTree) -> Self {
        Self { directory: layout::writers(agent_dir), key: tree.key.clone(), gate: None }
    }

    /// Takes the tree for `writer` if it is free. Blocks.
    ///
    /// # Errors
    ///
    /// If the files of the queue cannot be used.
    pub fn try_lock(&mut self, writer: &str) -> io::Result<LockAttempt> {
        private::create_dir_all(&self.directory)?;
        let name = self.path("json");
        if self.gate.is_none() {
            self.gate = lock(&self.path("gate"), true)?;
        }
        let path = self.path("lock");
        let lock_file = if self.gate.is_some() { lock(&path, true)? } else { None };
        let Some(lock_file) = lock_file else { return Ok(LockAttempt::Busy(read(&name))) };
        let tree = WriteLock { lock: Arc::new(lock_file), path, name };
        self.release_gate();
        // The name is only shown. Without it others wait for an unnamed writer.
        let _ = private::write_temporary(&tree.name, writer.as_bytes())
            .and_then(|file| Ok(file.persist(&tree.name)?));
        Ok(LockAttempt::Acquired(tree))
    }

    fn release_gate(&mut self) {
        if let Some(gate) = self.gate.take() {
            remove(&self.path("gate"), gate);
        }
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.directory.join(&self.key).with_extension(extension)
    }
}

impl Drop for WriteLockQueue {
    fn drop(&mut self) {
        self.release_gate();
    }
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.name);
        // Removed before it is unlocked: a process that opens it in between can see that it was removed.
        let _ = fs::remove_file(&self.path);
    }
}

fn read(name: &Path) -> Option<String> {
    let file = owned::open(name, File::options().read(true)).ok()?;
    let name = open::read(file, NAME_BYTES).ok()?;
    Some(one_line(&String::from_utf8_lossy(&name), NAME_CHARS).into_string())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, WorkTree) {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        fs::create_dir_all(root.path().join("a/b")).expect("the directory is created");
        let tree = WorkTree::of(&root.path().join("a"), None).expect("the work tree exists");
        (root, tree)
    }

    fn busy(try_lock: LockAttempt) -> Option<String> {
        match try_lock {
            LockAttempt::Busy(by) => by,
            LockAttempt::Acquired(_) => panic!("the write lock is free"),
        }
    }

    fn free(try_lock: LockAttempt) -> WriteLock {
        match try_lock {
            LockAttempt::Acquired(tree) => tree,
            LockAttempt::Busy(by) => panic!("{by:?} has the write lock"),
        }
    }

    #[test]
    fn a_tree_has_one_key_for_every_path_and_every_directory_in_it() {
        let (root, _) = tree();
        let tree = root.path().join("a");
        let link = root.path().join("link");
        for directory in [".git/objects", ".git/refs"] {
            fs::create_dir_all(tree.join(directory)).expect("the directory is created");
        }
        fs::write(tree.join(".git/HEAD"), "ref: refs/heads/main\n").expect("the file is written");
        std::os::unix::fs::symlink(&tree, &link).expect("the link is created");
        let key = |path: &Path| WorkTree::of(path, None).expect("the work tree exists").key;
        assert_eq!((key(&tree.join("b")), key(&link)), (key(&tree), key(&tree)));
        assert_ne!(key(root.path()), key(&tree));
        assert_eq!(WorkTree::of(&root.path().join("none"), None), None);
    }

    #[test]
    fn the_next_writer_gets_the_name_of_the_current_one() {
        let (root, tree) = tree();
        let mut first = WriteLockQueue::new(root.path(), &tree);
        let current = free(first.try_lock("worker (1a2b3c4d)").expect("the lock can be tested"));
        let mut second = WriteLockQueue::new(root.path(), &tree);
        assert_eq!(
            busy(second.try_lock("other").expect("the lock can be tested")).as_deref(),
            Some("worker (1a2b3c4d)")
        );
        drop(current);
        let current = free(second.try_lock("other").expect("the lock can be tested"));
        drop((current, first, second));
        let remaining =
            fs::read_dir(layout::writers(root.path())).expect("the directory is readable").count();
        assert_eq!(remaining, 0, "no lock file stays");
    }

    #[test]
    fn a_waiting_process_precedes_the_next_writer_of_the_current_process() {
        let (root, tree) = tree();
        let current =
            free(WriteLockQueue::new(root.path(), &tree).try_lock("first").expect("the lock can be tested"));
        let mut waits = WriteLockQueue::new(root.path(), &tree);
        busy(waits.try_lock("waits").expect("the lock can be tested"));
        drop(current);
        let mut next = WriteLockQueue::new(root.path(), &tree);
        assert_eq!(
            busy(next.try_lock("next").expect("the lock can be tested")),
            None,
            "a waiting process precedes a new writer"
        );
        let current = free(waits.try_lock("waits").expect("the lock can be tested"));
        assert_eq!(busy(next.try_lock("next").expect("the lock can be tested")).as_deref(), Some("waits"));
        drop(current);
        free(next.try_lock("next").expect("the lock can be tested"));
    }

    #[test]
    fn a_writer_that_stops_waiting_releases_the_gate() {
        let (root, tree) = tree();
        let current =
            free(WriteLockQueue::new(root.path(), &tree).try_lock("first").expect("the lock can be tested"));
        let mut waits = WriteLockQueue::new(root.path(), &tree);
        busy(waits.try_lock("waits").expect("the lock can be tested"));
        drop((waits, current));
        free(WriteLockQueue::new(root.path(), &tree).try_lock("next").expect("the lock can be tested"));
    }

    #[test]
    fn a_run_does_not_wait_for_its_parent_run() {
        let (root, tree) = tree();
        assert!(!tree.is_locked_by_ancestor);
        let below = WorkTree::of(&root.path().join("a"), Some(&tree.with(Some("1-2"))))
            .expect("the work tree exists");
        assert!(below.is_locked_by_ancestor);
        assert_eq!(below.with(Some("1-2")), "1-2", "a run keeps the write locks above it");
        assert_eq!(
            (tree.with(None), tree.with(Some("1-2"))),
            (tree.key.clone(), format!("1-2,{}", tree.key))
        );
    }
}
