//! Opens paths that another user may control, and reads within bounds.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
#[cfg(unix)]
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::error::Foreign;
#[cfg(unix)]
use rustix::fs::{CWD, Mode, OFlags, openat};
#[cfg(unix)]
use rustix::io::Errno;

/// Neither waits for the other end of a FIFO nor makes a terminal our controlling one.
#[cfg(unix)]
const SAFE_FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// The file systems of the kernel's own files, from `linux/magic.h`: proc, sysfs, debugfs, tracefs, securityfs,
/// cgroup, cgroup2, bpf.
#[cfg(target_os = "linux")]
const KERNEL: [rustix::fs::FsWord; 8] = [
    0x9fa0,
    0x6265_6572,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x0027_e0eb,
    0x6367_7270,
    0xcafe_4a11_u32 as rustix::fs::FsWord,
];

/// Resolves links and `..` in a path. A path that cannot be resolved, such as one that does not exist, stays unchanged.
#[must_use]
pub fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Resolves an absolute path, or one below the home directory.
#[must_use]
pub fn below_home(path: &str, home: Option<&Path>) -> Option<PathBuf> {
    let path = match path.strip_prefix("~/") {
        Some(rest) => home?.join(rest),
        None => PathBuf::from(path),
    };
    path.is_absolute().then_some(path)
}

/// Opens a regular file for reading. Follows links.
///
/// # Errors
///
/// If it cannot be opened, or is not a regular file.
pub fn regular(path: &Path) -> io::Result<File> {
    // Looked at first, because opening a device may have effects of its own.
    if !std::fs::metadata(path)?.is_file() {
        return Err(not_regular_error());
    }
    #[cfg(unix)]
    let file = openat(CWD, path, OFlags::RDONLY | SAFE_FLAGS, Mode::empty())?.into();
    #[cfg(not(unix))]
    let file = File::open(path)?;
    require_regular(file)
}

/// Opens a regular file for reading that a project has brought. Follows links. On Unix the file and a link to it must
/// belong to this user or to root.
///
/// # Errors
///
/// If it cannot be opened, is not a regular file, or is another user's; the cause is then [`Foreign::Owner`].
pub fn of_project(path: &Path) -> io::Result<File> {
    let foreign = || io::Error::new(io::ErrorKind::PermissionDenied, Foreign::Owner);
    // Looked at first: what others have put there may be anything, and need not even open.
    if is_placed_by_others(path) {
        return Err(foreign());
    }
    let file = regular(path)?;
    if is_trusted(&file.metadata()?) { Ok(file) } else { Err(foreign()) }
}

/// Returns true if the entry at `path`, or the link that leads to its directory, is owned by a user other than the current user
/// or root. The link may lead to a file of ours. Always false on systems without Unix owners.
#[must_use]
pub fn is_placed_by_others(path: &Path) -> bool {
    let metadata = |path: &Path| std::fs::symlink_metadata(path).ok();
    let link = path.parent().and_then(metadata).filter(Metadata::is_symlink);
    link.into_iter().chain(metadata(path)).any(|found| !is_trusted(&found))
}

/// Returns true if a file or directory belongs to this user or to root. Always true on systems without Unix owners.
#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix has owners to compare"))]
#[must_use]
pub fn is_trusted(found: &Metadata) -> bool {
    #[cfg(unix)]
    {
        let owner = std::os::unix::fs::MetadataExt::uid(found);
        owner == 0 || owner == rustix::process::geteuid().as_raw()
    }
    #[cfg(not(unix))]
    true
}

/// Returns true if an error means that a file is another user's.
#[must_use]
pub fn is_foreign(error: &io::Error) -> bool {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Foreign>());
    cause == Some(&Foreign::Owner)
}

/// Opens a regular file for reading. On Unix, refuses a link in its place.
///
/// # Errors
///
/// If it cannot be opened, or is not a regular file.
pub fn regular_no_follow(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    return regular_no_follow_at(CWD, path);
    #[cfg(not(unix))]
    require_regular(File::open(path)?)
}

/// Opens a regular file in `directory` for reading. Refuses a link in its place.
///
/// # Errors
///
/// If it cannot be opened, or is not a regular file.
#[cfg(unix)]
pub fn regular_no_follow_at(directory: impl AsFd, path: impl AsRef<Path>) -> io::Result<File> {
    let flags = OFlags::RDONLY | SAFE_FLAGS | OFlags::NOFOLLOW;
    require_regular(openat(directory, path.as_ref(), flags, Mode::empty())?.into())
}

/// Returns the path of an open file without links, as the kernel knows it, even if `path` was replaced. A removed file has a path
/// at which nothing exists.
///
/// # Errors
///
/// If the system does not know it.
#[cfg(target_os = "linux")]
pub fn location(file: impl AsFd, _path: &Path) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd as _;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()))
}

/// Returns `path` with its links resolved, whichever file is there now. Without a sandbox children can read hidden
/// files anyway.
#[cfg(not(target_os = "linux"))]
pub fn location<T>(_file: T, path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Returns true if an open file is at `path` and no link has led there. Only on Linux, where a sandboxed child could
/// have put a link into the path, this can be false.
///
/// # Errors
///
/// If the system does not know the path of the file.
#[cfg(target_os = "linux")]
pub fn is_real(file: impl AsFd, path: &Path) -> io::Result<bool> {
    Ok(location(file, path)? == path)
}

/// Returns true.
#[cfg(not(target_os = "linux"))]
pub fn is_real<T>(_file: T, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Reads a whole file. One of more than `limit` bytes is an error; it is never cut.
///
/// # Errors
///
/// If it cannot be read, or is larger.
pub fn read(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let is_larger = file.metadata()?.len() > limit;
    // It may grow during the read.
    if is_larger || file.take(limit + 1).read_to_end(&mut bytes)? as u64 > limit {
        return Err(too_large_error(limit));
    }
    Ok(bytes)
}

fn too_large_error(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"))
}

/// Copies a whole file. A file of more than `limit` bytes is an error, and the copy stops there.
///
/// # Errors
///
/// If it cannot be copied, or is larger.
pub fn copy(source: File, target: &mut File, limit: u64) -> io::Result<()> {
    let is_larger = source.metadata()?.len() > limit;
    // It may grow while it is copied.
    if is_larger || io::copy(&mut source.take(limit + 1), target)? > limit {
        return Err(too_large_error(limit));
    }
    Ok(())
}

/// Opens a directory in `parent`. Refuses a link in its place.
///
/// # Errors
///
/// [`Errno::LOOP`] or [`Errno::NOTDIR`] when something else is there.
#[cfg(unix)]
pub fn directory_no_follow_at(parent: impl AsFd, path: impl AsRef<Path>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(parent, path.as_ref(), flags, Mode::empty())
}

/// On Unix, sets `options` to refuse a link in the place of the file, and to return at once from a FIFO.
pub fn refuse_links(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        (SAFE_FLAGS | OFlags::NOFOLLOW).bits().cast_signed(),
    );
    options
}

fn require_regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() && !is_of_kernel(&file)? { Ok(file) } else { Err(not_regular_error()) }
}

fn not_regular_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Returns true if the kernel generates the file. Such a file looks regular, but may have no end, block, or lose its
/// content when it is read. A link to `/proc/kmsg` would take the kernel's log away from its readers.
#[cfg(target_os = "linux")]
fn is_of_kernel(file: &File) -> io::Result<bool> {
    let found = rustix::fs::fstatfs(file)?.f_type;
    Ok(KERNEL.contains(&found))
}

#[cfg(not(target_os = "linux"))]
fn is_of_kernel(_file: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_file_generated_by_the_kernel_is_not_a_regular_file() {
        for path in ["/proc/self/status", "/sys/kernel/uevent_seqnum", "/dev/null", "/"] {
            if Path::new(path).exists() {
                let error = regular(Path::new(path)).expect_err("the file is refused");
                assert_eq!(error.to_string(), "it is not a regular file", "{path}");
            }
        }
        assert!(regular(&std::env::current_exe().expect("the test program has a path")).is_ok());
    }
}
