//! Opens files of ours, in places where another user may have replaced them.
//!
//! A file of ours is regular, belongs to us and has one name. Anything else is refused, and neither written, nor
//! changed in its permissions, nor waited for.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use super::error::Foreign;
use super::open::refuse_links;

/// Opens a file of ours as `options` say.
///
/// # Errors
///
/// If it cannot be opened, or is not ours; the cause is then [`Foreign`].
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Checked first, because opening a device may have effects of its own.
    check_path(path)?;
    let file = refuse_links(options).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Checks the entry at `path`, if there is one.
///
/// # Errors
///
/// If it is not ours; the cause is then [`Foreign`].
pub fn check_path(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) => check(&found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn check(found: &Metadata) -> io::Result<()> {
    let refuse = |foreign| Err(io::Error::new(io::ErrorKind::InvalidInput, foreign));
    if found.is_symlink() {
        return refuse(Foreign::Link);
    }
    if !found.is_file() {
        return refuse(Foreign::Kind);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return refuse(Foreign::Owner);
        }
        // No link is left: the file was removed in the meantime.
        if found.nlink() > 1 {
            return refuse(Foreign::Names);
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn refusal(path: &Path) -> Option<Foreign> {
        let opened = open(path, OpenOptions::new().mode(0o600).read(true).write(true).create(true));
        let error = opened.err()?;
        Some(
            *error
                .get_ref()
                .expect("the error has a source")
                .downcast_ref::<Foreign>()
                .expect("the source is a `Foreign`"),
        )
    }

    #[test]
    fn only_a_regular_file_with_one_name_is_opened_and_nothing_else_is_changed() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let at = |name: &str| root.path().join(name);
        fs::write(at("target"), "text").expect("the file is written");
        fs::set_permissions(at("target"), fs::Permissions::from_mode(0o644))
            .expect("the permissions are set");
        symlink(at("target"), at("link")).expect("the link is created");
        symlink(at("nothing"), at("dangling")).expect("the link is created");
        fs::hard_link(at("target"), at("name")).expect("the hard link is created");
        fs::create_dir(at("directory")).expect("the directory is created");
        mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RWXU, 0).expect("the FIFO is created");
        symlink("/dev/null", at("device")).expect("the link is created");
        for (name, expected) in [
            ("fresh", None),
            ("fresh", None),
            ("link", Some(Foreign::Link)),
            ("dangling", Some(Foreign::Link)),
            ("device", Some(Foreign::Link)),
            ("name", Some(Foreign::Names)),
            ("directory", Some(Foreign::Kind)),
            ("fifo", Some(Foreign::Kind)),
        ] {
            assert_eq!(refusal(&at(name)), expected, "{name}");
        }
        assert_eq!(refusal(Path::new("/dev/null")), Some(Foreign::Kind));
        assert_eq!(fs::read_to_string(at("target")).expect("the file is readable"), "text");
        let mode = |name: &str| fs::metadata(at(name)).expect("the file exists").permissions().mode() & 0o777;
        assert_eq!((mode("target"), mode("fresh")), (0o644, 0o600));
        assert!(!at("nothing").exists());
    }

    #[test]
    fn a_file_of_another_user_is_refused() {
        // Root's, unless this is root, who gives one away.
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let given = root.path().join("given");
        fs::write(&given, "").expect("the file is written");
        let is_given = std::os::unix::fs::chown(&given, Some(4242), None).is_ok();
        let path = if is_given { given } else { "/etc/passwd".into() };
        let error = check_path(&path).expect_err("the path is refused");
        assert_eq!(error.to_string(), Foreign::Owner.to_string());
    }
}
