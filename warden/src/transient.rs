//! Tells a machine that is short of something for now from one that cannot do something.

use std::io;

/// The exit code of `--probe` when the machine is short of something, so that nothing could be found out.
pub const SHORT_OF_RESOURCES: i32 = 75;

/// Whether an error says that the machine is short of something for now: processes, descriptors, memory, time. Such an
/// error is no answer to what the machine allows, and must neither be remembered nor make anything weaker.
#[must_use]
pub fn is_transient(error: &io::Error) -> bool {
    #[cfg(unix)]
    let is_named = {
        use rustix::io::Errno;
        const NAMED: [Errno; 6] =
            [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS, Errno::TIMEDOUT];
        NAMED.iter().any(|named| error.raw_os_error() == Some(named.raw_os_error()))
    };
    #[cfg(not(unix))]
    let is_named = false;
    is_named || error.kind() == io::ErrorKind::OutOfMemory
}

/// What a trial shows: that it works, or in words why this machine cannot do it.
///
/// # Errors
///
/// When it failed for want of a resource, which shows nothing.
pub fn shown<T>(
    tried: io::Result<T>,
    words: impl FnOnce(io::Error) -> String,
) -> io::Result<Result<T, String>> {
    match tried {
        Err(error) if is_transient(&error) => Err(error),
        tried => Ok(tried.map_err(words)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn only_a_shortage_is_transient() {
        let shows = |errno: Errno| {
            let tried: io::Result<()> = Err(errno.into());
            shown(tried, |error| error.to_string()).is_ok()
        };
        for shortage in
            [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS, Errno::TIMEDOUT]
        {
            assert!(!shows(shortage), "{shortage}");
        }
        for answer in [Errno::PERM, Errno::ACCESS, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOSPC, Errno::NOENT]
        {
            assert!(shows(answer), "{answer}");
        }
    }
}
