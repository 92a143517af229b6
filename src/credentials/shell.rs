//! Replaces the shell that pi starts for its tools by another program.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::build::PrivateAgentDir;
use super::build::{SETTINGS, SHELL_PATH, members};
use files::FileError;
use files::private::{create_dir, write, write_new};

/// The link to the program that pi starts as its shell.
const SHELL: &str = "shell";
/// The options file that this program reads.
const OPTIONS: &str = "shell.options";

impl PrivateAgentDir {
    /// Returns the shell in the user's settings, as written.
    #[must_use]
    pub fn shell(&self) -> Option<&str> {
        self.shell.as_deref()
    }

    /// Makes pi start `link`, which [`link_shell`] has created, as its shell. Call it before the child starts. The
    /// commands that pi runs, and shows to permission extensions, do not change.
    ///
    /// # Errors
    ///
    /// Returns an error if the settings cannot be written.
    pub fn set_shell(&self, link: &Path) -> Result<(), FileError> {
        let Some(name) = link.to_str() else {
            return Err(FileError::at(link)(io::Error::other(
                "its path is not UTF-8, but pi's settings must be UTF-8",
            )));
        };
        // pi ignores settings that it cannot read, and would then choose a shell itself.
        let settings = self.path().join(SETTINGS);
        let mut named = std::fs::read(&settings).ok().and_then(|bytes| members(&bytes)).unwrap_or_default();
        named.insert(SHELL_PATH.to_owned(), name.into());
        let bytes = serde_json::to_vec_pretty(&named).map_err(io::Error::from);
        bytes.and_then(|bytes| write(&settings, &bytes)).map_err(FileError::at(&settings))
    }
}

/// Creates the directory `directory` with a link to `program`, and with the options that the program finds next to the
/// link. Returns the path of the link. The child must not be able to write in the directory.
///
/// # Errors
///
/// Returns an error if the directory exists or a file in it cannot be written.
pub fn link_shell(directory: &Path, program: &Path, options: &[u8]) -> Result<PathBuf, FileError> {
    let link = directory.join(SHELL);
    let path = directory.join(OPTIONS);
    create_dir(directory).map_err(FileError::at(directory))?;
    write_new(&path, options).map_err(FileError::at(&path))?;
    symlink(program, &link).map_err(FileError::at(&link))?;
    Ok(link)
}

/// Replaces the options in a directory of [`link_shell`]. Call it before any shell starts.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub fn rewrite_options(directory: &Path, options: &[u8]) -> Result<(), FileError> {
    let path = directory.join(OPTIONS);
    write(&path, options).map_err(FileError::at(&path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::*;

    /// Creates a private copy of an agent directory with these settings, if any.
    fn scene(settings: Option<&str>) -> (tempfile::TempDir, PrivateAgentDir) {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let real = root.path().join("real");
        fs::create_dir(&real).expect("the directory is created");
        if let Some(settings) = settings {
            fs::write(real.join(SETTINGS), settings).expect("the file is written");
        }
        let private = PrivateAgentDir::create(&real, &root.path().join("own"))
            .expect("the private directory is created");
        (root, private)
    }

    #[test]
    fn only_the_shell_changes_in_any_user_settings() {
        let named = r#"{"shellPath":"~/bin/zsh","theme":"dark"}"#;
        for (settings, shell, theme) in [
            (Some(named.to_owned()), Some("~/bin/zsh"), Some("dark")),
            (Some(format!("\u{feff}{named}")), Some("~/bin/zsh"), Some("dark")),
            (Some(r#"{"shellPath":""}"#.to_owned()), None, None),
            (Some(r#"{"shellPath":7}"#.to_owned()), None, None),
            (Some("{ broken".to_owned()), None, None),
            (Some("[1]".to_owned()), None, None),
            (Some(String::new()), None, None),
            (None, None, None),
        ] {
            let (_root, private) = scene(settings.as_deref());
            assert_eq!(private.shell(), shell, "{settings:?}");
            let own = private.path().with_extension("shell").join(SHELL);
            private.set_shell(&own).expect("the shell is set");
            let read: Value = serde_json::from_slice(
                &fs::read(private.path().join(SETTINGS)).expect("the file is readable"),
            )
            .expect("the settings are valid JSON");
            assert_eq!(read[SHELL_PATH].as_str(), own.to_str(), "{settings:?}");
            assert_eq!(read["theme"].as_str(), theme, "{settings:?}");
        }
    }
}
