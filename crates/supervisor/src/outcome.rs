//! The end of a supervised child.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::cancel::CancelReason;
use super::guardian::Supervision;
use super::platform;
use super::warden::{Mechanism, OverLimit, Tally};

/// The outcome of a supervised child. The first cause wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It exited by itself, or by a signal that was not sent from here, before its work was settled.
    Exited(ExitStatus),
    /// It has exited, but another part of the host took its status: the host ignores SIGCHLD, or reaps children that are not its
    /// own.
    Lost,
    /// Its work was done. Having to end a child that lingers is no failure.
    Settled {
        /// Its exit status, if it is known.
        status: Option<ExitStatus>,
        /// True if it stayed too long and had to be ended.
        lingered: bool,
    },
    /// No sign of life came for this long.
    IdleTimeout {
        /// The active silence limit.
        limit: Duration,
    },
    /// It ran for longer than allowed.
    HardTimeout {
        /// The limit of the whole run.
        limit: Duration,
    },
    /// Its tree exceeded a resource limit and was ended.
    OverLimit(OverLimit),
    /// Its warden was killed, and so was every process of its tree that could be found.
    Orphaned,
    /// Its run was cancelled.
    Cancelled(CancelReason),
}

/// The known facts about a child that has ended or never started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervised {
    /// The cause of its end.
    pub outcome: Outcome,
    /// Its exit status, for any outcome. `None`: it never started, its status is unknown, or not even SIGKILL ended it in time.
    pub status: Option<ExitStatus>,
    /// True if its output was read to the end. If false, a process out of reach still holds its pipes.
    pub complete: bool,
    /// The level of certainty that its tree was ended; `None` if it never started.
    pub supervision: Option<Supervision>,
    /// The kernel mechanisms that held its tree.
    pub mechanisms: Vec<Mechanism>,
    /// True if its whole tree has ended, as far as is known.
    pub tree_has_ended: bool,
    /// The resource use of its tree; `None` without a warden.
    pub tally: Option<Tally>,
    /// Its standard error: at most the first and the last 16 KiB, with a line between them that counts the omitted
    /// bytes. Invalid UTF-8 becomes U+FFFD. Not sanitized.
    pub stderr: String,
    /// From the request to start it until its tree and its output were dealt with.
    pub duration: Duration,
}

impl Supervised {
    /// Logs how a child has ended.
    #[must_use]
    pub fn logged(self) -> Self {
        let Self { outcome, complete, tally, .. } = &self;
        tracing::info!(target: "child", ?outcome, complete, ?tally, "the child has ended");
        self
    }

    /// The result of a run that was cancelled before its child started.
    #[must_use]
    pub fn never_started(reason: CancelReason, since: Instant) -> Self {
        Self {
            outcome: Outcome::Cancelled(reason),
            status: None,
            complete: true,
            supervision: None,
            mechanisms: Vec::new(),
            tree_has_ended: true,
            tally: None,
            stderr: String::new(),
            duration: since.elapsed(),
        }
    }
}

/// The exit code as a shell shows it: the code itself, or 128 plus the number of the signal.
#[must_use]
pub fn exit_code(status: ExitStatus) -> i32 {
    // An ended process has either a code or a signal; 1 says no more than "not successful".
    status.code().or_else(|| exit_signal(status).map(|signal| 128 + signal)).unwrap_or(1)
}

/// The number of the signal that ended the process, if one did.
#[must_use]
pub fn exit_signal(status: ExitStatus) -> Option<i32> {
    platform::exit_signal(status)
}

/// The name of a signal: `SIGKILL` for 9. A signal without a known name is called by its number, as in `SIG42`.
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
