//! Finds the root of a directory's tree.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use files::Hidden;
use supervisor::resolve_program;

/// The entry in which git keeps a repository.
pub const REPOSITORY: &str = ".git";
/// The directory of a repository's objects.
pub(super) const OBJECTS: &str = "objects";

/// Returns the root of the git work tree around a directory without links in its path, or the directory itself if there
/// is no work tree.
///
/// git itself is not asked: its answer depends on variables and on files that a child may write. Blocks.
#[must_use]
pub fn root_of(directory: &Path) -> PathBuf {
    let is_root = |path: &&Path| is_repository(&path.join(REPOSITORY));
    directory.ancestors().find(is_root).unwrap_or(directory).to_path_buf()
}

/// Returns true if `directory` lies in a git work tree, and the search path of this environment has a git outside of
/// the directories `untrusted`. Blocks.
#[must_use]
pub fn has_git(directory: &Path, env: &[(OsString, OsString)], untrusted: &[PathBuf]) -> bool {
    let repository = directory.canonicalize().ok().and_then(|path| RepositoryDirs::of(&root_of(&path)));
    repository.is_some() && resolve_program("git".as_ref(), env, untrusted).is_ok()
}

/// Returns true if a directory is itself a repository, without a work tree. Blocks.
#[must_use]
pub fn is_bare(directory: &Path) -> bool {
    directory.join("HEAD").is_file() && directory.join(OBJECTS).is_dir() && directory.join("refs").is_dir()
}

/// Returns true for a directory, and for a file that names one. A file with other content belongs to the user.
pub(super) fn is_repository(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => named_by(path).is_some(),
        Ok(_) => is_bare(path) || path.join("commondir").is_file(),
        Err(_) => false,
    }
}

/// Returns the directories with a repository's metadata outside of its `.git`: the directory named by a file of this
/// name, and the directory shared with other work trees. Blocks.
pub(super) fn external_dirs(git: &Path) -> Vec<PathBuf> {
    let own = named_by(git);
    let base = own.as_deref().unwrap_or(git);
    let shared = first_line(&base.join("commondir")).map(|shared| base.join(shared));
    let found = own.clone().into_iter().chain(shared);
    found.filter_map(|path| path.canonicalize().ok()).collect()
}

/// The directories in which git keeps a repository: the part of one work tree, and the part shared by all of its work
/// trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RepositoryDirs {
    /// `.git`, or the directory that it names.
    pub own: PathBuf,
    /// The same as `own`, except for a linked work tree.
    pub shared: PathBuf,
    /// Its objects.
    pub objects: PathBuf,
}

impl RepositoryDirs {
    /// Returns the directories of the work tree that begins at `root`, without links. `None` without a repository.
    /// Blocks.
    ///
    /// # Errors
    ///
    /// If one of them is hidden: git could read other hidden files there. The error is the hidden place.
    pub(super) fn visible(root: &Path, hidden: &Hidden) -> Result<Option<Self>, PathBuf> {
        let Some(dirs) = Self::of(root) else { return Ok(None) };
        let hidden = hidden.showing(root);
        let found =
            [&dirs.own, &dirs.shared, &dirs.objects].into_iter().find_map(|path| hidden.place_of(path));
        found.map_or(Ok(Some(dirs.clone())), |place| Err(place.to_owned()))
    }

    /// Returns the directories of the work tree that begins at `root`, without links. Blocks.
    pub(crate) fn of(root: &Path) -> Option<Self> {
        let git = root.join(REPOSITORY);
        let own = named_by(&git).unwrap_or(git).canonicalize().ok()?;
        let shared = match first_line(&own.join("commondir")) {
            Some(shared) => own.join(shared).canonicalize().ok()?,
            None => own.clone(),
        };
        let objects = shared.join(OBJECTS).canonicalize().ok()?;
        is_bare(&shared).then_some(Self { own, shared, objects })
    }
}

/// Returns the directory that a `.git` file names. Blocks.
pub(super) fn named_by(git: &Path) -> Option<PathBuf> {
    if !git.is_file() {
        return None;
    }
    let line = first_line(git)?;
    Some(git.parent()?.join(line.strip_prefix("gitdir:")?.trim()))
}

/// Returns the first line of a small file. Blocks.
pub(super) fn first_line(path: &Path) -> Option<String> {
    use std::io::Read as _;
    /// The number of bytes that are read. No path is longer.
    const MAX_BYTES: u64 = 8 * 1024;
    let mut text = String::new();
    let file = files::open::regular(path).ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_begins_at_its_repository_or_is_the_directory_itself() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let root = root.path().canonicalize().expect("the path exists");
        for directory in ["a/.git/objects", "a/.git/refs", "a/b/c", "w/x", "shared/objects", "shared/refs"] {
            fs::create_dir_all(root.join(directory)).expect("the directory is created");
        }
        for (file, text) in [
            ("a/.git/HEAD", "ref: refs/heads/main\n"),
            ("shared/HEAD", ""),
            ("own", "gitdir: x"),
            ("w/.git", "gitdir: ../own-dir\n"),
        ] {
            fs::write(root.join(file), text).expect("the file is written");
        }
        for (directory, expected) in [("a/b/c", "a"), ("a", "a"), ("w/x", "w"), ("shared", "shared")] {
            assert_eq!(root_of(&root.join(directory)), root.join(expected), "{directory}");
        }
        assert!(is_bare(&root.join("shared")) && !is_bare(&root.join("a")));
        // A file with this name that names no directory, and an empty directory, are not repositories.
        fs::create_dir_all(root.join("n/.git")).expect("the directory is created");
        fs::create_dir_all(root.join("m/below")).expect("the directory is created");
        fs::write(root.join("m/.git"), "text").expect("the file is written");
        assert_eq!(root_of(&root.join("n")), root.join("n"));
        assert_eq!(root_of(&root.join("m/below")), root.join("m/below"));
    }

    #[test]
    fn the_directories_of_a_linked_work_tree_are_found() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let root = root.path().canonicalize().expect("the path exists");
        fs::create_dir_all(root.join("main/.git/worktrees/w")).expect("the directory is created");
        fs::create_dir_all(root.join("w")).expect("the directory is created");
        fs::write(root.join("w/.git"), "gitdir: ../main/.git/worktrees/w\n").expect("the file is written");
        fs::write(root.join("main/.git/worktrees/w/commondir"), "../..\n").expect("the file is written");
        let expected = [root.join("main/.git/worktrees/w"), root.join("main/.git")];
        assert_eq!(external_dirs(&root.join("w/.git")), expected);
        assert_eq!(external_dirs(&root.join("main/.git")), Vec::<PathBuf>::new());
    }
}
