//! Copies a child's commits out of its repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::create::PrivateTree;
use crate::root::REPOSITORY;
use crate::snapshot::{Call, SnapshotError, SnapshotStore, named, off_thread};
use files::{Directory, Entry, open};

/// The largest file with references that is read.
const MAX_REFS: u64 = 1024 * 1024;
/// Files of a repository that name commits.
const HEAD: &str = "HEAD";
const PACKED: &str = "packed-refs";
/// The directory of the child's objects until they are checked.
const INCOMING: &str = "incoming";
/// The maximum depth of reference directories. Each level is an open file, and a child can nest them without end.
const MAX_DEPTH: usize = 64;
/// The maximum number of copied objects, and of references.
const MAX_OBJECTS: usize = 200_000;

/// The reason why a child's commits were not imported. The messages end a sentence about the commits and contain the
/// system's error.
#[derive(Debug, thiserror::Error)]
pub(super) enum ImportError {
    /// A directory of its repository is missing, or is something else.
    #[error("`{}` is not a directory", named(path))]
    NotADirectory {
        /// The directory, within the tree.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of its repository cannot be read.
    #[error("its `{name}` cannot be read: {source}")]
    Unreadable {
        /// The name of the file.
        name: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// Its branch is missing.
    #[error("its branch no longer exists")]
    NoBranch,
    /// Its branch has something other than the name of a commit.
    #[error("its branch does not point to a commit")]
    NoCommit,
    /// Its objects cannot be read.
    #[error("its objects cannot be read: {0}")]
    Objects(#[source] io::Error),
    /// The pack from another machine cannot be read.
    #[error("they cannot be read: {0}")]
    Pack(#[source] io::Error),
    /// The pack from another machine has too many objects.
    #[error("there are more than {limit} objects", limit = MAX_OBJECTS)]
    TooMany,
    /// They are too large to keep.
    #[error("they take up more than `snapshot.maxBytes` allows, {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// They have another history.
    #[error("they do not descend from the commit that it started with")]
    Unrelated(#[source] SnapshotError),
    /// git refused them, or failed.
    #[error(transparent)]
    Git(#[from] SnapshotError),
}

/// The location of a child's commits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// In the repository of its tree.
    Repository,
    /// In a pack that has come from another machine.
    Pack(&'a Path),
}

/// The references of a child's repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    /// The commit that is checked out.
    pub tip: String,
    /// True if there are other references, whose content would be lost.
    pub has_others: bool,
}

impl References {
    /// Reads the references of the repository in the tree at `root`, without git and without following links. Blocks.
    pub(super) fn read(root: &Path, branch: &str) -> Result<Self, ImportError> {
        let open = |name: &str| {
            let path = Path::new(REPOSITORY).join(name);
            let opened = Directory::open(root).and_then(|tree| tree.below(&path));
            opened.map_err(|source| ImportError::NotADirectory { path, source })
        };
        let unreadable = |name| move |source| ImportError::Unreadable { name, source };
        let git = open("")?;
        let refs = open("refs")?;
        open("refs/heads")?;
        let full = format!("refs/heads/{branch}");
        let packed = match text(&git, PACKED) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(unreadable(PACKED))?,
        };
        let packed = packed.lines().filter(|line| !line.starts_with(['#', '^']));
        let packed: Vec<(&str, &str)> = packed.filter_map(|line| line.split_once(' ')).collect();
        let loose = text(&git, &full).ok();
        let own = packed.iter().find(|(_, name)| *name == full).map(|(object, _)| (*object).to_owned());
        let own = loose.or(own).ok_or(ImportError::NoBranch)?;
        let head = text(&git, HEAD).map_err(unreadable(HEAD))?;
        let is_own = head.trim() == format!("ref: {full}");
        let others =
            packed.iter().any(|(_, name)| *name != full) || has_other(&refs, "refs".as_ref(), full.as_ref());
        let tip = own.trim().to_owned();
        let is_name = matches!(tip.len(), 40 | 64) && tip.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_name {
            return Err(ImportError::NoCommit);
        }
        Ok(Self { tip, has_others: others || !is_own })
    }
}

/// Returns true if the directory at `path` holds anything except directories and the file `own`, or directories that
/// are nested deeper than reference directories.
fn has_other(directory: &Directory, path: &Path, own: &Path) -> bool {
    let Ok(names) = directory.names(MAX_OBJECTS) else { return true };
    names.iter().any(|name| match directory.entry(name) {
        Ok(Entry::Directory(inner)) => {
            path.components().count() >= MAX_DEPTH || has_other(&inner, &path.join(name), own)
        }
        _ => path.join(name) != own,
    })
}

fn text(git: &Directory, path: &str) -> io::Result<String> {
    let bytes = open::read(git.file(path.as_ref())?, MAX_REFS)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

impl SnapshotStore {
    /// Imports the commits from the base of a private tree to `tip` into our objects, and checks them: each object is
    /// hashed again, and every object that it names must exist.
    pub(super) async fn import_commits(
        &self,
        tree: &PrivateTree,
        tip: &str,
        source: Source<'_>,
    ) -> Result<(), ImportError> {
        let snapshot_dir = self.directory(&tree.snapshot.id);
        let incoming = snapshot_dir.join(INCOMING);
        let result = self.import_commits_into(tree, tip, source, &incoming).await;
        let _ = off_thread(move || fs::remove_dir_all(incoming)).await;
        result
    }

    async fn import_commits_into(
        &self,
        tree: &PrivateTree,
        tip: &str,
        source: Source<'_>,
        incoming: &Path,
    ) -> Result<(), ImportError> {
        let to = incoming.to_owned();
        let limit = self.limits().bytes;
        let packs = match source {
            Source::Repository => {
                let from = tree.root.clone();
                let known = self.directory(&tree.snapshot.id).join("objects");
                off_thread(move || copy_objects(&from, &to, &known, limit)).await?
            }
            Source::Pack(pack) => {
                let pack = pack.to_owned();
                vec![off_thread(move || copy_pack(&pack, &to)).await?]
            }
        };
        let project: &[&Path] = &[&tree.snapshot.objects];
        let with_incoming: &[&Path] = &[&tree.snapshot.objects, incoming];
        let ask = async |alternates: &[&Path], args: &[&str], input: Vec<u8>| {
            let call = Call { alternates, ..Call::of(&tree.snapshot) };
            self.call(&tree.snapshot, call, args, input).await
        };
        for pack in packs {
            let pack = pack.to_string_lossy().into_owned();
            ask(project, &["index-pack", &pack], Vec::new()).await?;
        }
        ask(with_incoming, &["merge-base", "--is-ancestor", &tree.base, tip], Vec::new())
            .await
            .map_err(ImportError::Unrelated)?;
        let excluded = format!("^{}", tree.base);
        if let Source::Pack(_) = source {
            // The files with these contents were on another machine, so their size has not been checked here.
            let list = ["rev-list", "--objects", "--no-object-names", "--end-of-options", tip, &excluded];
            let named = ask(with_incoming, &list, Vec::new()).await?;
            let sizes = ask(with_incoming, &["cat-file", "--batch-check=%(objectsize)"], named).await?;
            let sizes = String::from_utf8_lossy(&sizes);
            let bytes =
                sizes.lines().map(|size| size.parse().unwrap_or(u64::MAX)).fold(0, u64::saturating_add);
            if bytes > limit {
                return Err(ImportError::TooLarge { limit });
            }
        }
        let range = format!("{tip}\n{excluded}\n").into_bytes();
        let pack = ask(with_incoming, &["pack-objects", "--revs", "--stdout", "-q"], range).await?;
        // Hashes every object again, so that the names in the child's repository do not matter.
        ask(project, &["index-pack", "--strict", "--stdin"], pack).await?;
        ask(project, &["rev-list", "--objects", "--quiet", "--end-of-options", tip, &excluded], Vec::new())
            .await?;
        Ok(())
    }
}

/// Puts a pack into the directory where git searches its objects, unless its header gives too many objects. Returns its
/// path. Blocks.
fn copy_pack(pack: &Path, to: &Path) -> Result<PathBuf, ImportError> {
    let mut header = [0; 12];
    io::Read::read_exact(&mut fs::File::open(pack).map_err(ImportError::Pack)?, &mut header)
        .map_err(ImportError::Pack)?;
    let count = header[8..].iter().fold(0, |count, byte| count << 8 | usize::from(*byte));
    if count > MAX_OBJECTS {
        return Err(ImportError::TooMany);
    }
    let copied = to.join("pack/pack-back.pack");
    fs::create_dir_all(to.join("pack")).map_err(ImportError::Pack)?;
    fs::copy(pack, &copied).map_err(ImportError::Pack)?;
    Ok(copied)
}

/// Copies regular files with the names of objects from the repository in the tree at `from`, and none that we have.
/// Follows no links, and copies nothing that the repository borrows from other places. Returns the packs. Blocks.
fn copy_objects(from: &Path, to: &Path, known: &Path, limit: u64) -> Result<Vec<PathBuf>, ImportError> {
    let failed = ImportError::Objects;
    let is_hex = |name: &str| name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut bytes = 0_u64;
    let mut count = 0;
    let mut packs = Vec::new();
    let objects = Directory::open(from).and_then(|tree| tree.below(&Path::new(REPOSITORY).join("objects")));
    let objects = objects.map_err(failed)?;
    fs::create_dir_all(to.join("pack")).map_err(failed)?;
    for name in objects.names(MAX_OBJECTS).map_err(failed)? {
        let Some(name) = name.to_str() else { continue };
        let is_pack = name == "pack";
        if !(is_pack || (name.len() == 2 && is_hex(name))) {
            continue;
        }
        let Entry::Directory(fan) = objects.entry(name.as_ref()).map_err(failed)? else { continue };
        fs::create_dir_all(to.join(name)).map_err(failed)?;
        for file in fan.names(MAX_OBJECTS).map_err(failed)? {
            let Some(file) = file.to_str() else { continue };
            let stem = file.strip_prefix("pack-").and_then(|file| file.strip_suffix(".pack"));
            let is_object = if is_pack { stem.is_some_and(is_hex) } else { file.len() >= 38 && is_hex(file) };
            if !is_object || known.join(name).join(file).exists() {
                continue;
            }
            let mut source = fan.file(file.as_ref()).map_err(failed)?;
            let length = source.metadata().map_err(failed)?.len();
            (bytes, count) = (bytes.saturating_add(length), count + 1);
            if bytes > limit || count > MAX_OBJECTS {
                return Err(ImportError::TooLarge { limit });
            }
            let target = to.join(name).join(file);
            let mut copy = fs::File::create_new(&target).map_err(failed)?;
            io::copy(&mut io::Read::take(&mut source, length), &mut copy).map_err(failed)?;
            if is_pack {
                packs.push(target);
            }
        }
    }
    Ok(packs)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    /// More levels than the stack of a thread has room for, and fewer than Node opens files.
    const LEVELS: usize = 4_000;

    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let at = |name: &str| root.path().join(".git").join(name);
        fs::create_dir_all(at("refs/heads/subagent")).expect("the directory is created");
        fs::write(at("HEAD"), "ref: refs/heads/subagent/1\n").expect("the file is written");
        fs::write(at("refs/heads/subagent/1"), "0".repeat(40)).expect("the file is written");
        root
    }

    #[test]
    fn endlessly_nested_reference_directories_count_as_other_branches() {
        // As Node does when it starts.
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("the limit is raised");
        let root = repository();
        let read =
            || References::read(root.path(), "subagent/1").expect("the references are readable").has_others;
        assert!(!read());
        let mut inner = openat(CWD, root.path().join(".git/refs"), OFlags::DIRECTORY, Mode::empty())
            .expect("the directory is opened");
        for _ in 0..LEVELS {
            mkdirat(&inner, "a", Mode::RWXU).expect("the directory is created");
            inner = openat(&inner, "a", OFlags::DIRECTORY, Mode::empty()).expect("the directory is opened");
        }
        assert!(read());
        drop(inner);
        pi_subagent_warden::remove_tree(root.path()).expect("the directory is removed");
    }
}
