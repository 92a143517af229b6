//! Hidden files, which no child may read, and a way to open other files that never opens a hidden one.

#[cfg(unix)]
use std::fs;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::open;

/// The number of attempts to open a file that is replaced in the meantime. Each attempt fails only if another replacement happens
/// within microseconds.
const ATTEMPTS: usize = 64;

/// Files and directories that no child may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    places: Arc<[PathBuf]>,
    /// A visible directory below one of them.
    shown: Option<PathBuf>,
}

impl Hidden {
    /// The files and directories at these paths, which have no links.
    #[must_use]
    pub fn new(mut paths: Vec<PathBuf>) -> Self {
        paths.sort();
        paths.dedup();
        Self { places: paths.into(), shown: None }
    }

    /// Shows one directory below a hidden one, such as the tree of a run.
    #[must_use]
    pub fn showing(&self, directory: &Path) -> Self {
        Self { places: Arc::clone(&self.places), shown: Some(directory.to_owned()) }
    }

    /// Their paths, sorted.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.places
    }

    /// Returns the hidden file or directory that `path` is, or is in. `path` has no links.
    #[must_use]
    pub fn place_of(&self, path: &Path) -> Option<&Path> {
        let is_shown = |place: &Path| {
            self.shown.as_ref().is_some_and(|shown| shown.starts_with(place) && path.starts_with(shown))
        };
        self.places.iter().map(PathBuf::as_path).find(|place| path.starts_with(place) && !is_shown(place))
    }

    /// Opens a regular file for reading that is not hidden. Follows links.
    ///
    /// # Errors
    ///
    /// If it is hidden under any name, if it cannot be opened, or if it is not a regular file.
    pub fn regular(&self, path: &Path) -> io::Result<File> {
        self.opened(path, open::regular)
    }

    /// Opens a regular file for reading that a project has brought and that is not hidden, as [`open::of_project`] does.
    ///
    /// # Errors
    ///
    /// If the file is hidden under any name, or if [`open::of_project`] fails.
    pub fn of_project(&self, path: &Path) -> io::Result<File> {
        self.opened(path, open::of_project)
    }

    /// Opens a regular file for reading that is not hidden, at a path without links. Refuses a link in any part of it.
    ///
    /// # Errors
    ///
    /// If a link is there, or if [`Self::regular`] fails.
    pub fn no_follow(&self, path: &Path) -> io::Result<File> {
        let file = self.opened(path, open::regular_no_follow)?;
        if open::is_real(&file, path)? { Ok(file) } else { Err(link_error()) }
    }

    /// The path is taken from the open file: a child may exchange a directory of `path` with a link between any two steps.
    fn opened(&self, path: &Path, open: fn(&Path) -> io::Result<File>) -> io::Result<File> {
        for _ in 0..ATTEMPTS {
            let file = open(path)?;
            let real = open::location(&file, path)?;
            if self.place_of(&real).is_some() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is hidden from sub-agents"));
            }
            // Otherwise the file was replaced in between, or is in a part of the file system that has other paths here.
            if is_at(&file, &real)? {
                return Ok(file);
            }
        }
        Err(io::Error::other("it keeps changing"))
    }
}

/// The error for a link where none may be.
fn link_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a symbolic link leads to it")
}

/// Returns true if the open file is at `path`, which has no links.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let opened = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Without a sandbox, no child is kept from reading hidden files anyway.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_hidden_directory_is_hidden() {
        let hidden = Hidden::new(vec!["/home/.ssh".into(), "/home/.netrc".into()]);
        for (path, place) in [
            ("/home/.ssh/key", Some("/home/.ssh")),
            ("/home/.ssh", Some("/home/.ssh")),
            ("/home/.netrc", Some("/home/.netrc")),
            ("/home/.sshd", None),
            ("/home", None),
        ] {
            assert_eq!(hidden.place_of(Path::new(path)), place.map(Path::new), "{path}");
        }
    }

    #[test]
    fn a_shown_directory_is_visible_below_a_hidden_one_and_its_hidden_entries_stay_hidden() {
        let hidden = Hidden::new(vec!["/trees".into(), "/trees/own/.env".into(), "/key".into()]);
        let hidden = hidden.showing(Path::new("/trees/own"));
        for (path, is_hidden) in [
            ("/trees/own/file", false),
            ("/trees/own/.env", true),
            ("/trees/other/file", true),
            ("/trees", true),
            ("/key", true),
        ] {
            assert_eq!(hidden.place_of(Path::new(path)).is_some(), is_hidden, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_hidden_file_is_refused_under_any_name() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let at = |name: &str| root.path().canonicalize().expect("the path exists").join(name);
        fs::create_dir(at("secrets")).expect("the directory is created");
        for name in ["secrets/key", "open"] {
            fs::write(at(name), "text").expect("the file is written");
        }
        for (target, link) in [("secrets/key", "link"), ("secrets", "directory"), ("open", "harmless")] {
            symlink(at(target), at(link)).expect("the link is created");
        }
        let hidden = Hidden::new(vec![at("secrets")]);
        for (name, is_opened) in [
            ("open", true),
            ("harmless", true),
            ("secrets/key", false),
            ("link", false),
            ("directory/key", false),
            ("missing", false),
        ] {
            assert_eq!(hidden.regular(&at(name)).is_ok(), is_opened, "{name}");
        }
    }

    /// The link may be there when the file is opened, and a directory when its path is looked at.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_hidden_file_is_not_opened_while_a_directory_is_exchanged_with_a_link() {
        use std::io::Read as _;
        use std::os::unix::fs::symlink;
        use std::sync::atomic::{AtomicBool, Ordering};

        use rustix::fs::{CWD, RenameFlags, renameat_with};

        /// Without protection hundreds of these read the hidden file.
        const READS: usize = 20_000;
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let at = |name: &str| root.path().canonicalize().expect("the path exists").join(name);
        for (directory, text) in [("secrets", "hidden"), ("open", "visible")] {
            fs::create_dir(at(directory)).expect("the directory is created");
            fs::write(at(directory).join("file"), text).expect("the file is written");
        }
        symlink(at("secrets"), at("link")).expect("the link is created");
        let hidden = Hidden::new(vec![at("secrets")]);
        let is_done = AtomicBool::new(false);
        let directory = at("open");
        let link = at("link");
        let path = at("open/file");
        let read = || {
            let mut text = String::new();
            hidden.regular(&path).and_then(|mut file| file.read_to_string(&mut text)).map(|_| text)
        };
        let leaked = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE)
                        .expect("the exchange succeeds");
                }
            });
            let leaked = (0..READS).filter(|_| read().is_ok_and(|text| text == "hidden")).count();
            is_done.store(true, Ordering::Relaxed);
            leaked
        });
        assert_eq!(leaked, 0, "none of {READS} reads shows the hidden file");
    }
}
