//! The answer of one check.

/// How good the answer of one check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Info,
    /// Works, but not as one might think.
    Warning,
    /// Delegation does not work, or not all of it.
    Error,
}

impl Status {
    /// The status as callers see it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The answer of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub area: &'static str,
    /// How good the answer is.
    pub status: Status,
    /// The answer.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Check {
    pub(super) fn new(area: &'static str, status: Status, message: impl Into<String>) -> Self {
        Self { area, status, message: message.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
