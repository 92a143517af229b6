//! The finding of one check.

use serde::Serialize;

use sanitizer::text_enum;

text_enum! {
    /// The rating of a check's finding.
    pub enum Status {
        /// As it should be.
        Ok = "ok",
        /// Worth knowing.
        Info = "info",
        /// Works, but not as one would expect.
        Warning = "warning",
        /// Delegation does not work, or not all of it.
        Error = "error",
    }
}

/// The finding of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The area that was checked.
    pub area: &'static str,
    /// The rating of the finding.
    pub status: Status,
    /// The finding, for people.
    pub message: String,
    /// The advice for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
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
