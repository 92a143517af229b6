//! Determines how far a failed remote child came. Its launcher ends in the same way if it never reached the machine,
//! if pi did not start there, or if the connection was lost.

use super::bootstrap::{ENDED, STARTED};

/// The end of a remote child.
#[derive(Clone, Debug)]
pub(crate) struct RemoteEnd {
    /// The name of its launcher.
    pub launcher: String,
    pub exit: RemoteExit,
}

/// The stage that a remote child reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoteExit {
    /// The script never reached the point where it starts pi.
    NotStarted,
    /// pi has ended without sending an event.
    Silent,
    /// The launcher has ended, but the end of the remote pi was not reported.
    Disconnected,
    /// pi has sent events and has ended.
    Ended,
}

impl RemoteExit {
    /// Determines the stage from the output that is not events.
    pub(super) fn of(printed: &str, has_spoken: bool) -> Self {
        let has_ended = printed.lines().any(|line| line == ENDED);
        match (has_spoken || has_ended || printed.contains(STARTED), has_ended) {
            (false, _) => Self::NotStarted,
            (true, false) => Self::Disconnected,
            (true, true) if has_spoken => Self::Ended,
            (true, true) => Self::Silent,
        }
    }
}

impl RemoteEnd {
    /// Adds the cause to an error of the launcher.
    pub(crate) fn explained(&self, error: &str) -> String {
        let launcher = &self.launcher;
        match self.exit {
            RemoteExit::NotStarted => format!("`{launcher}` ended before it started a child: {error}"),
            RemoteExit::Silent => {
                format!("pi on the other machine (`{launcher}`) ended before it answered: {error}")
            }
            RemoteExit::Disconnected => {
                format!("`{launcher}` ended without reporting the end of its child: {error}")
            }
            RemoteExit::Ended => error.to_owned(),
        }
    }

    /// Returns true if the end of the remote pi was reported.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.exit, RemoteExit::Ended | RemoteExit::Silent)
    }

    /// Returns advice for a failure that the task did not cause.
    pub(crate) fn next_step(&self) -> Option<&'static str> {
        match self.exit {
            RemoteExit::NotStarted | RemoteExit::Silent => Some(
                "the launcher failed, not the task: tell the user, who can test it with `/subagents doctor`",
            ),
            RemoteExit::Disconnected => Some(
                "it was not restarted: check what it has already done there before you run it again; \
                 `/subagents doctor` tests the launcher",
            ),
            RemoteExit::Ended => None,
        }
    }

    /// Returns advice for a run that timed out. A remote run cannot be continued from its session.
    pub(crate) fn after_limit() -> &'static str {
        "give it a smaller task; if it produced no output, the user can test the launcher with `/subagents doctor`"
    }
}

#[cfg(test)]
mod tests {
    use super::RemoteExit;

    #[test]
    fn the_output_shows_the_progress_of_a_child() {
        for (printed, has_spoken, expected) in [
            ("", false, RemoteExit::NotStarted),
            ("Welcome\nLast login: never", false, RemoteExit::NotStarted),
            ("Welcome\npi-subagent-started", false, RemoteExit::Disconnected),
            (
                "Last login: never pi-subagent-started\nWarning: old\npi-subagent-ended",
                false,
                RemoteExit::Silent,
            ),
            ("pi-subagent-started\npi-subagent-ended", true, RemoteExit::Ended),
            ("pi-subagent-started", true, RemoteExit::Disconnected),
            // The beginning of the output may have been dropped.
            ("so many words\npi-subagent-ended", false, RemoteExit::Silent),
            ("so many words", true, RemoteExit::Disconnected),
            ("it printed pi-subagent-ended itself", true, RemoteExit::Disconnected),
        ] {
            assert_eq!(RemoteExit::of(printed, has_spoken), expected, "{printed:?}, {has_spoken}");
        }
    }
}
