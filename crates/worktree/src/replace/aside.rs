//! Names the temporary files next to a replaced file: its new version until the exchange, and its old version
//! afterwards.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, RenameFlags, linkat, readlinkat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::compare::is_open_for_writing;
use super::directories::parent;
use super::step::State;
use files::open;

/// The extension of a kept version. A number may follow.
const KEPT_SUFFIX: &str = ".kept";
/// The maximum number of names that are tried.
pub(super) const ATTEMPTS: u32 = 100;

/// Returns true if the file system does not have this kind of rename.
pub(super) fn is_unsupported(error: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error)
}

/// Moves the file `name` to the temporary name `aside`, unless a file has that name.
pub(super) fn set_aside(directory: impl AsFd, name: &OsStr, aside: &OsStr) -> Result<(), Errno> {
    match renameat_with(&directory, name, &directory, aside, RenameFlags::NOREPLACE) {
        Err(error) if is_unsupported(error) => match statat(&directory, aside, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => renameat(&directory, name, &directory, aside),
            Err(error) => Err(error),
            Ok(_) => Err(Errno::EXIST),
        },
        moved => moved,
    }
}

/// Moves a temporary file to `name`. Fails with [`Errno::EXIST`] if something has this name.
pub(super) fn move_to_name(directory: impl AsFd, aside: &OsStr, name: &OsStr) -> Result<(), Errno> {
    match renameat_with(&directory, aside, &directory, name, RenameFlags::NOREPLACE) {
        Err(error) if is_unsupported(error) => {
            let found = statat(&directory, aside, AtFlags::SYMLINK_NOFOLLOW)?;
            if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
                // A rename of a directory replaces only an empty directory.
                return renameat(&directory, aside, &directory, name);
            }
            match linkat(&directory, aside, &directory, name, AtFlags::empty()) {
                Err(error) if has_no_links(error) => move_without_links(&directory, aside, name),
                linked => linked.and_then(|()| unlinkat(&directory, aside, AtFlags::empty())),
            }
        }
        moved => moved,
    }
}

/// Returns true if a second name cannot be given to a file: the file system has no hard links, or the file is not ours.
fn has_no_links(error: Errno) -> bool {
    is_unsupported(error) || [Errno::PERM, Errno::MLINK].contains(&error)
}

/// Moves a temporary file to a free `name` on a file system that can do nothing better: a file that another program
/// puts there between the two calls is replaced.
fn move_without_links(directory: impl AsFd, aside: &OsStr, name: &OsStr) -> Result<(), Errno> {
    match statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => renameat(&directory, aside, &directory, name),
        Err(error) => Err(error),
        Ok(_) => Err(Errno::EXIST),
    }
}

/// Gives a temporary file a name that a person understands, and returns its path. The file keeps its temporary name if
/// every other name is taken.
pub(super) fn keep(directory: impl AsFd, aside: &OsStr, path: &Path) -> PathBuf {
    for number in 1..=ATTEMPTS {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(KEPT_SUFFIX);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        match move_to_name(&directory, aside, &name) {
            Ok(()) => return path.with_file_name(name),
            Err(Errno::EXIST) => {}
            Err(_) => break,
        }
    }
    path.with_file_name(aside)
}

/// Returns true if a directory has temporary files of an interrupted write.
pub(crate) fn has_asides(root: &Path, directory: &Path, aside_prefix: &str) -> bool {
    let Ok((opened, _)) = parent(root, &directory.join(aside_prefix), false) else { return false };
    names(opened, aside_prefix).is_ok_and(|names| !names.is_empty())
}

/// Removes the temporary files of an interrupted write from the directories of `known`. Returns the paths of files with
/// an unknown content, which a person may have saved.
///
/// # Errors
///
/// Returns the first path that cannot be read or removed, with the reason.
pub(crate) fn remove_asides(
    root: &Path,
    aside_prefix: &str,
    known: &BTreeMap<&Path, Vec<State<'_>>>,
) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut unknown = Vec::new();
    for (directory, states) in known {
        let Ok((opened, _)) = parent(root, &directory.join(aside_prefix), false) else { continue };
        let listed = names(&opened, aside_prefix).map_err(|error| (directory.to_path_buf(), error))?;
        for name in listed {
            let path = directory.join(&name);
            match is_known(&opened, &name, states) {
                Ok(true) => {
                    unlinkat(&opened, &name, AtFlags::empty()).map_err(|error| (path, error.into()))?;
                }
                Ok(false) => unknown.push(path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err((path, error)),
            }
        }
    }
    Ok(unknown)
}

/// Returns the names of the temporary files in a directory.
fn names(directory: impl AsFd, aside_prefix: &str) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        if name.as_bytes().starts_with(aside_prefix.as_bytes()) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Returns true if a file has the content of one of these states, or the beginning of it.
fn is_known(directory: impl AsFd, name: &OsStr, states: &[State<'_>]) -> io::Result<bool> {
    let found = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let content = match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => readlinkat(directory, name, Vec::new())?.into_bytes(),
        FileType::RegularFile => {
            let file = open::regular_no_follow_at(directory, name)?;
            if is_open_for_writing(&file) {
                return Ok(false);
            }
            let longest = states.iter().map(|state| state.content.len()).max().unwrap_or(0);
            let mut content = Vec::new();
            file.take(longest as u64 + 1).read_to_end(&mut content)?;
            content
        }
        _ => return Ok(false),
    };
    Ok(states.iter().any(|state| state.content.starts_with(&content)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The method without hard links and without special renames. Each row has two flags: the name is taken, and a
    /// directory has it.
    #[test]
    fn a_file_gets_a_free_name_without_links_and_never_a_taken_one() {
        for (is_taken, is_directory) in [(false, false), (true, false), (true, true)] {
            let root = tempfile::tempdir().expect("a temporary directory is created");
            let at = |name: &str| root.path().join(name);
            std::fs::write(at(".aside"), "new").expect("the file is written");
            if is_directory {
                std::fs::create_dir(at("file")).expect("the directory is created");
            } else if is_taken {
                std::fs::write(at("file"), "saved").expect("the file is written");
            }
            let (directory, _) =
                parent(root.path(), Path::new("file"), false).expect("the parent directory is opened");
            let placed = move_without_links(&directory, OsStr::new(".aside"), OsStr::new("file"));
            assert_eq!(placed, if is_taken { Err(Errno::EXIST) } else { Ok(()) });
            assert_eq!(at(".aside").exists(), is_taken);
            if !is_directory {
                let text = std::fs::read_to_string(at("file")).expect("the file is readable");
                assert_eq!(text, if is_taken { "saved" } else { "new" });
            }
        }
    }

    #[test]
    fn a_refused_link_is_distinguished_from_a_taken_name() {
        for (error, expected) in [
            (Errno::PERM, true),
            (Errno::NOTSUP, true),
            (Errno::NOSYS, true),
            (Errno::MLINK, true),
            (Errno::EXIST, false),
            (Errno::NOENT, false),
            (Errno::NOSPC, false),
        ] {
            assert_eq!(has_no_links(error), expected, "{error}");
        }
    }
}
