//! How a supervised child came to its end.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::cancel::CancelReason;
use super::guardian::Supervision;
use super::platform;
use super::warden::{Mechanism, OverLimit, Tally};

/// How a supervised child came to its end. The first cause wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It left by itself, or a signal that nobody here sent ended it, before its work was settled.
    Exited(ExitStatus),
    /// It has gone, but how it ended is not known: its status went to somebody else (the host ignores SIGCHLD, or reaps what
    /// is not its own).
    Lost,
    /// Its work was done. That it lingered and had to be ended is no failure.
    Settled {
        /// How it ended, when that could be seen.
        status: Option<ExitStatus>,
        /// It was still there when it should have gone, and was ended.
        lingered: bool,
    },
    /// Nothing that counts as life came for this long.
    IdleTimeout {
        /// The silence limit that was in force.
        limit: Duration,
    },
    /// It ran for longer than it may.
    HardTimeout {
        /// The limit of the whole run.
        limit: Duration,
    },
    /// Its tree used more than it may, and was ended.
    OverLimit(OverLimit),
    /// Its warden was killed, and whoever could be found of its tree with it.
    Orphaned,
    /// Somebody asked for the end.
    Cancelled(CancelReason),
}

/// What is known of a child that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervised {
    /// Why it ended.
    pub outcome: Outcome,
    /// How it ended, whatever the reason was. `None`: it was never started, its status was lost, or even SIGKILL did not
    /// end it in time.
    pub status: Option<ExitStatus>,
    /// Whether its output was read to the end. `false`: somebody out of reach still holds its pipes.
    pub complete: bool,
    /// How far the end of its tree was certain; `None` when it was never started.
    pub supervision: Option<Supervision>,
    /// What the kernel held it with.
    pub mechanisms: Vec<Mechanism>,
    /// Whether everybody of its tree has gone, as far as anybody can know.
    pub gone: bool,
    /// What its tree used; `None` without a warden.
    pub tally: Option<Tally>,
    /// What it wrote to its standard error: at most the first and the last 16 KiB, with a line between them that says how
    /// many bytes were left out. Invalid UTF-8 became U+FFFD. Not sanitized.
    pub stderr: String,
    /// From the request to start it until everything was over.
    pub duration: Duration,
}

impl Supervised {
    /// A child that was cancelled before there was one.
    #[must_use]
    pub fn never_started(reason: CancelReason, since: Instant) -> Self {
        Self {
            outcome: Outcome::Cancelled(reason),
            status: None,
            complete: true,
            supervision: None,
            mechanisms: Vec::new(),
            gone: true,
            tally: None,
            stderr: String::new(),
            duration: since.elapsed(),
        }
    }
}

/// The exit code of a status as a shell gives it: the code itself, or 128 plus the number of the signal.
#[must_use]
pub fn exit_code(status: ExitStatus) -> i32 {
    // A status has either a code or a signal once the process has ended; 1 says no more than "not successful".
    status.code().or_else(|| exit_signal(status).map(|signal| 128 + signal)).unwrap_or(1)
}

/// The number of the signal that ended the process, if one did.
#[must_use]
pub fn exit_signal(status: ExitStatus) -> Option<i32> {
    platform::exit_signal(status)
}

/// The name of a signal: `SIGKILL` for 9. One without a name is called by its number, as in `SIG42`.
#[must_use]
pub fn signal_name(signal: i32) -> String {
    platform::signal_name(signal).map_or_else(|| format!("SIG{signal}"), Into::into)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn a_status_becomes_the_code_that_a_shell_shows() {
        for (label, raw, code, signal) in [
            ("success", 0, 0, None),
            ("code", 3 << 8, 3, None),
            ("largest code", 255 << 8, 255, None),
            ("signal", 9, 137, Some("SIGKILL")),
            ("signal with core", 0x8b, 139, Some("SIGSEGV")),
            ("nameless signal", 42, 170, Some("SIG42")),
        ] {
            let status = ExitStatus::from_raw(raw);
            assert_eq!(exit_code(status), code, "{label}");
            assert_eq!(exit_signal(status).map(signal_name).as_deref(), signal, "{label}");
        }
    }
}
