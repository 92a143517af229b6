//! The answer of one check.

use crate::text::text_enum;

text_enum! {
    /// How good the answer of one check is.
    pub enum Status {
        /// As it should be.
        Ok = "ok",
        /// Worth knowing.
        Info = "info",
        /// Works, but not as one might think.
        Warning = "warning",
        /// Delegation does not work, or not all of it.
        Error = "error",
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
