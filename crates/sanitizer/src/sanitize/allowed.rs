//! The exact values and rules that a user excludes from redaction.

use crate::redact::{Edit, Literals, STACK_FRAMES, is_secret_rule, secret_rules};
use crate::{nearest, quoted, suggestion};

/// The prefix of an entry that names a rule.
const RULE: &str = "rule:";

/// The minimum length of a value, in bytes. Shorter values would occur inside other values.
const MIN_VALUE_BYTES: usize = 3;

/// Values and rules that the sanitizer does not redact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    values: Vec<String>,
    rules: Vec<String>,
}

impl Allowed {
    /// Parses entries: `rule:NAME`, or an exact value. Invalid entries are ignored.
    #[must_use]
    pub fn new(entries: &[String]) -> Self {
        let mut allowed = Self::default();
        for entry in entries.iter().filter(|entry| check_allowed(entry).is_ok()) {
            match entry.strip_prefix(RULE) {
                Some(rule) => allowed.rules.push(rule.to_owned()),
                None => allowed.values.push(entry.trim().to_owned()),
            }
        }
        allowed
    }

    /// Returns the rules that are switched off.
    #[must_use]
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// Returns the number of exact values that are not redacted.
    #[must_use]
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    pub(super) fn has_rule(&self, rule: &str) -> bool {
        self.rules.iter().any(|allowed| allowed == rule)
    }

    pub(super) fn has_value(&self, value: &str) -> bool {
        !self.values.is_empty() && self.values.iter().any(|allowed| allowed == value.trim())
    }
}

/// The reason why an entry of `sanitize.allow` is invalid. The messages end a sentence about the list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllowedError {
    /// There is no rule with this name.
    #[error("names the rule {}, which does not exist{}", quoted(name), suggestion(*nearest))]
    UnknownRule {
        /// The name.
        name: String,
        /// The rule with the nearest name.
        nearest: Option<&'static str>,
    },
    /// The name of a rule, without the prefix of such names.
    #[error("contains the name of a rule; write `{prefix}{rule}`", prefix = RULE)]
    NoPrefix {
        /// The rule.
        rule: String,
    },
    /// The value is too short.
    #[error("contains {}; expected values of at least {limit} bytes", quoted(value), limit = MIN_VALUE_BYTES)]
    TooShort {
        /// The value.
        value: String,
    },
}

/// Checks an entry of `sanitize.allow`.
///
/// # Errors
///
/// Returns an error for an unknown rule, a rule's name without `rule:`, and a value that is too short.
pub fn check_allowed(entry: &str) -> Result<(), AllowedError> {
    let is_rule = |name: &str| is_secret_rule(name) || name == STACK_FRAMES;
    match entry.strip_prefix(RULE) {
        Some(name) if is_rule(name) => Ok(()),
        Some(name) => {
            let nearest = nearest(name, secret_rules().chain([STACK_FRAMES]));
            Err(AllowedError::UnknownRule { name: name.to_owned(), nearest })
        }
        None if is_rule(entry) => Err(AllowedError::NoPrefix { rule: entry.to_owned() }),
        None if entry.trim().len() < MIN_VALUE_BYTES => {
            Err(AllowedError::TooShort { value: entry.to_owned() })
        }
        None => Ok(()),
    }
}

/// The positions of the allowed values in a text.
pub(super) struct AllowedPlaces(Option<Literals>);

impl AllowedPlaces {
    pub(super) fn new(allowed: &Allowed) -> Self {
        Self(Literals::new(allowed.values.iter().map(String::as_str)))
    }

    /// Removes the edits that are inside an allowed value. The edits are in order.
    pub(super) fn drop_allowed(&self, text: &str, edits: &mut Vec<Edit>) {
        let Some(values) = self.0.as_ref().filter(|_| !edits.is_empty()) else { return };
        let places: Vec<_> = values.find_all(text).into_iter().map(|(_, place)| place).collect();
        edits.retain(|edit| {
            let begun = places.partition_point(|place| place.start <= edit.range.start);
            !places[..begun].iter().rev().take(MAX_NESTED).any(|place| edit.range.end <= place.end)
        });
    }
}

/// The number of earlier allowed values that are checked for each edit. A user's own values do not overlap more often.
const MAX_NESTED: usize = 16;
