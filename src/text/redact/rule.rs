//! What a rule is, and what it says about a place in a text.

use std::borrow::Cow;
use std::ops::Range;

use super::cursor::Cursor;
use super::kinds::is_rule;
use super::triggers::Trigger;

/// The marker for a value whose kind is not known.
pub(crate) const REDACTED: &str = "[REDACTED]";

/// One kind of place in which a secret can stand.
///
/// A rule is asked wherever one of its triggers stands. It reads a bounded stretch around it, so that the scan stays
/// linear: without a finding, no byte is read more often than a constant before the place where
/// the scan goes on.
pub(crate) trait Rule: Send + Sync {
    /// The words that call this rule.
    fn triggers(&self) -> Vec<Trigger>;

    /// Judges the place where `trigger` stands.
    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found;

    /// For the end of a text that goes on: where the part begins that has to wait, because what follows may still
    /// show that it is a secret. `None` when the verdict of [`Rule::find`] is final, or when what is open is one word:
    /// the last word waits anyway.
    fn open_from(&self, _cursor: &Cursor<'_>, _trigger: Range<usize>) -> Option<usize> {
        None
    }
}

/// One replacement and the rule that asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) with: Cow<'static, str>,
    /// The name of the rule, such as `github_token`.
    pub(crate) rule: &'static str,
}

impl Edit {
    pub(crate) fn new(range: Range<usize>, with: impl Into<Cow<'static, str>>, rule: &'static str) -> Self {
        debug_assert!(is_rule(rule), "{rule} is on no list of rules");
        Self { range, with: with.into(), rule }
    }
}

/// What a rule says about a place: what to redact, or where the scan goes on when that is nothing.
pub(crate) type Found = Result<Edit, usize>;
