//! Distinguishes a temporary shortage of the machine from a missing feature.

use std::io;

/// The exit code of `--probe` when the machine is short of something, so that nothing could be found out.
pub const SHORT_OF_RESOURCES: i32 = 75;

/// Returns true if an error means that the machine is temporarily short of processes, descriptors, memory or time. Such an error
/// does not tell which features the machine allows. It must neither be remembered nor weaken anything.
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

/// Something that a machine or a process has run out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// One sentence without its full stop: the short resource, and the next step.
    pub message: &'static str,
    /// True if the path of the failure shows where the shortage is. Otherwise that path does not help.
    pub is_at_path: bool,
}

/// Returns the resource that an operation lacked, and the limit to raise. `None` if it failed for another reason.
#[must_use]
pub fn shortage(error: &io::Error) -> Option<Shortage> {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let number = error.raw_os_error()?;
        let table = [
            (
                Errno::MFILE,
                "this process has reached its limit of open files; raise the limit (`ulimit -n`) and restart pi",
            ),
            (
                Errno::NFILE,
                "this machine has reached its limit of open files; end other programs, or raise the limit (`fs.file-max`, \
                 `kern.maxfiles` on macOS)",
            ),
            (
                Errno::AGAIN,
                "the limit of processes and threads is reached; end other programs, or raise the limit (`ulimit -u`, in a \
                 container its limit of processes)",
            ),
            (
                Errno::NOMEM,
                "out of memory; end other programs, or raise the memory limit of this machine or container",
            ),
            (
                Errno::NOSPC,
                "the disk is full; remove files there (`df -h` shows the space, `df -i` the number of files)",
            ),
            (Errno::DQUOT, "your disk quota is used up; remove files there, or have the quota raised"),
        ];
        let found = table.into_iter().find(|(errno, _)| errno.raw_os_error() == number);
        found.map(|(errno, message)| Shortage {
            message,
            is_at_path: [Errno::NOSPC, Errno::DQUOT].contains(&errno),
        })
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        None
    }
}

/// Returns the result of a probe: success, or the reason why this machine cannot do it.
///
/// # Errors
///
/// If a resource has run out, so that the probe has no result.
pub fn probe_result<T, E>(
    result: io::Result<T>,
    unavailable: impl FnOnce(io::Error) -> E,
) -> io::Result<Result<T, E>> {
    match result {
        Err(error) if is_transient(&error) => Err(error),
        result => Ok(result.map_err(unavailable)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn a_shortage_names_the_resource_and_the_limit_to_raise() {
        let of = |errno: Errno| shortage(&errno.into());
        for (errno, names, is_at_path) in [
            (Errno::MFILE, "`ulimit -n`", false),
            (Errno::NFILE, "`fs.file-max`", false),
            (Errno::AGAIN, "`ulimit -u`", false),
            (Errno::NOMEM, "memory", false),
            (Errno::NOSPC, "disk is full", true),
            (Errno::DQUOT, "quota", true),
        ] {
            let found = of(errno).expect("the error is a shortage");
            assert!(found.message.contains(names), "{errno}: {}", found.message);
            assert_eq!(found.is_at_path, is_at_path, "{errno}");
        }
        assert_eq!(of(Errno::NOENT), None);
        assert_eq!(shortage(&io::ErrorKind::WouldBlock.into()), None);
    }

    #[test]
    fn only_a_shortage_is_transient() {
        let shows = |errno: Errno| {
            let result: io::Result<()> = Err(errno.into());
            probe_result(result, |error| error.to_string()).is_ok()
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
