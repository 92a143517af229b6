//! The interface of a rule and its result.

use std::borrow::Cow;
use std::ops::Range;

use super::cursor::Cursor;
use super::kinds::is_rule;
use super::triggers::Trigger;

/// The marker for a value of unknown kind.
pub(crate) const REDACTED: &str = "[REDACTED]";

/// A rule that finds one kind of secret.
///
/// The scan calls a rule at each of its triggers. The rule reads a bounded part of the text around the trigger, so
/// that the scan takes linear time: without a finding, each byte before the position where the scan continues is read
/// at most a constant number of times.
pub(crate) trait Rule: Send + Sync {
    /// Returns the words that call this rule.
    fn triggers(&self) -> Vec<Trigger>;

    /// Judges the text around `trigger`.
    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found;

    /// Returns the start of the part of a growing text that must be held back, because the following text may show that
    /// it is a secret. Returns `None` if the verdict of [`Rule::find`] is final, or if only one word is open, because
    /// the last word is always held back.
    fn open_from(&self, _cursor: &Cursor<'_>, _trigger: Range<usize>) -> Option<usize> {
        None
    }
}

/// One replacement and the name of its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) with: Cow<'static, str>,
    /// The name of the rule, such as `github_token`.
    pub(crate) rule: &'static str,
}

impl Edit {
    pub(crate) fn new(range: Range<usize>, with: impl Into<Cow<'static, str>>, rule: &'static str) -> Self {
        debug_assert!(is_rule(rule), "{rule} is not on any list of rules");
        Self { range, with: with.into(), rule }
    }
}

/// The result of a rule: the redaction, or the position where the scan continues.
pub(super) type Found = Result<Edit, usize>;
