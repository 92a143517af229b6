//! Determines how far a failed remote child came. Its launcher ends in the same way if it never reached the machine,
//! if pi did not start there, or if the connection was lost.

use super::bootstrap::{ENDED, STARTED};

/// The end of a remote child.
#[derive(Clone, Debug)]
pub(in crate::run) struct Elsewhere {
    /// The name of its launcher.
    pub launcher: String,
    pub fate: Fate,
}

/// The stage that a remote child reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Fate {
    /// The script never reached the point where it starts pi.
    NotStarted,
    /// pi has ended without sending an event.
    Mute,
    /// The launcher has ended, but the end of the remote pi was not reported.
    CutOff,
    /// pi has sent events and has ended.
    Ended,
}

impl Fate {
    /// Determines the stage from the output that is not events.
    pub(super) fn of(printed: &str, has_spoken: bool) -> Self {
        let has_ended = printed.lines().any(|line| line == ENDED);
        match (has_spoken || has_ended || printed.contains(STARTED), has_ended) {
            (false, _) => Self::NotStarted,
            (true, false) => Self::CutOff,
            (true, true) if has_spoken => Self::Ended,
            (true, true) => Self::Mute,
        }
    }
}

impl Elsewhere {
    /// Adds the cause to an error of the launcher.
    pub(in crate::run) fn explained(&self, error: &str) -> String {
        let launcher = &self.launcher;
        match self.fate {
            Fate::NotStarted => format!("`{launcher}` ended before it started a child: {error}"),
            Fate::Mute => format!("`{launcher}`: pi on the other machine ended before it answered: {error}"),
            Fate::CutOff => {
                format!(
                    "`{launcher}` ended before its child: the connection was lost, or the job was ended: {error}"
                )
            }
            Fate::Ended => error.to_owned(),
        }
    }

    /// Returns true if the end of the remote pi was reported.
    pub(in crate::run) fn has_ended(&self) -> bool {
        matches!(self.fate, Fate::Ended | Fate::Mute)
    }

    /// Returns advice for a failure that the task did not cause.
    pub(in crate::run) fn next_step(&self) -> Option<&'static str> {
        match self.fate {
            Fate::NotStarted | Fate::Mute => Some(
                "the launcher failed, not the task: tell the user, who can test it with `/subagents doctor`",
            ),
            Fate::CutOff => Some(
                "it was not restarted: check what it has already done there before you run it again; \
                 `/subagents doctor` tests the launcher",
            ),
            Fate::Ended => None,
        }
    }

    /// Returns advice for a run that timed out. A remote run cannot be continued from its session.
    pub(in crate::run) fn after_limit() -> &'static str {
        "give it a smaller task; if it produced no output, the user can test the launcher with `/subagents doctor`"
    }
}

#[cfg(test)]
mod tests {
    use super::Fate;

    #[test]
    fn the_output_shows_how_far_a_child_came() {
        for (printed, has_spoken, expected) in [
            ("", false, Fate::NotStarted),
            ("Welcome\nLast login: never", false, Fate::NotStarted),
            ("Welcome\npi-subagent-started", false, Fate::CutOff),
            ("Last login: never pi-subagent-started\nWarning: old\npi-subagent-ended", false, Fate::Mute),
            ("pi-subagent-started\npi-subagent-ended", true, Fate::Ended),
            ("pi-subagent-started", true, Fate::CutOff),
            // The beginning of the output may have been dropped.
            ("so many words\npi-subagent-ended", false, Fate::Mute),
            ("so many words", true, Fate::CutOff),
            ("it printed pi-subagent-ended itself", true, Fate::CutOff),
        ] {
            assert_eq!(Fate::of(printed, has_spoken), expected, "{printed:?}, {has_spoken}");
        }
    }
}
