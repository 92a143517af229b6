//! How far a child elsewhere has come that failed: its launcher ends alike whether it never got there, pi did not start there, or
//! the connection was lost.

use super::bootstrap::{ENDED, STARTED};

/// What became of a child elsewhere.
#[derive(Clone, Debug)]
pub(in crate::run) struct Elsewhere {
    /// The name of its launcher.
    pub launcher: String,
    pub fate: Fate,
}

/// How far it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Fate {
    /// Nothing there has run the script to the point where it starts pi.
    NotStarted,
    /// pi has ended there and was never heard.
    Mute,
    /// The launcher has ended, and nobody said that pi there has.
    CutOff,
    /// pi was heard, and has ended there.
    Ended,
}

impl Fate {
    /// Reads it from what was printed beside the events.
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
    /// Puts before an error what it is the error of.
    pub(in crate::run) fn explained(&self, error: &str) -> String {
        let launcher = &self.launcher;
        match self.fate {
            Fate::NotStarted => format!("`{launcher}` ended before a child was heard: {error}"),
            Fate::Mute => format!("`{launcher}`: pi there has ended and said nothing: {error}"),
            Fate::CutOff => {
                format!(
                    "`{launcher}` ended before its child: the connection was lost, or the job was ended: {error}"
                )
            }
            Fate::Ended => error.to_owned(),
        }
    }

    /// Whether its end was told.
    pub(in crate::run) fn has_ended(&self) -> bool {
        matches!(self.fate, Fate::Ended | Fate::Mute)
    }

    /// What to do about a failure, where the task is not what failed.
    pub(in crate::run) fn next_step(&self) -> Option<&'static str> {
        match self.fate {
            Fate::NotStarted | Fate::Mute => Some(
                "the launcher failed and not the task: tell the user, who can try it with `/subagents doctor`",
            ),
            Fate::CutOff => Some(
                "it was not started again: see what it has done there before you run it once more; \
                 `/subagents doctor` tries the launcher",
            ),
            Fate::Ended => None,
        }
    }

    /// The same after a limit of time. A run there cannot be continued from its session.
    pub(in crate::run) fn after_limit() -> &'static str {
        "give it a smaller task; if nothing came from it, the user can try the launcher with `/subagents doctor`"
    }
}

#[cfg(test)]
mod tests {
    use super::Fate;

    #[test]
    fn what_was_printed_says_how_far_a_child_came() {
        for (printed, has_spoken, expected) in [
            ("", false, Fate::NotStarted),
            ("Welcome\nLast login: never", false, Fate::NotStarted),
            ("Welcome\npi-subagent-started", false, Fate::CutOff),
            ("Last login: never pi-subagent-started\nWarning: old\npi-subagent-ended", false, Fate::Mute),
            ("pi-subagent-started\npi-subagent-ended", true, Fate::Ended),
            ("pi-subagent-started", true, Fate::CutOff),
            // What came first may be too much to keep.
            ("so many words\npi-subagent-ended", false, Fate::Mute),
            ("so many words", true, Fate::CutOff),
            ("it printed pi-subagent-ended itself", true, Fate::CutOff),
        ] {
            assert_eq!(Fate::of(printed, has_spoken), expected, "{printed:?}, {has_spoken}");
        }
    }
}
