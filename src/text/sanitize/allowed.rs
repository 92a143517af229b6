//! What a user says is no secret: exact values, and whole rules.

use crate::text::redact::{Edit, Literals, STACK_FRAMES, is_secret_rule, secret_rules};
use crate::text::{nearest, quoted, suggestion};

/// What an entry that names a rule begins with.
const RULE: &str = "rule:";

/// Shorter values would stand within others.
const LEAST_VALUE: usize = 3;

/// Values and rules that the sanitizer leaves alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    values: Vec<String>,
    rules: Vec<String>,
}

impl Allowed {
    /// Reads entries: `rule:NAME`, or an exact value. What is not valid allows nothing.
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

    /// The rules that are switched off.
    #[must_use]
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// How many exact values are left alone.
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

/// Says what is wrong with an entry of `sanitize.allow`.
///
/// # Errors
///
/// For a rule that there is none of, a rule's name without `rule:`, and a value that is too short.
pub fn check_allowed(entry: &str) -> Result<(), String> {
    let is_rule = |name: &str| is_secret_rule(name) || name == STACK_FRAMES;
    match entry.strip_prefix(RULE) {
        Some(name) if is_rule(name) => Ok(()),
        Some(name) => {
            let meant = nearest(name, secret_rules().chain([STACK_FRAMES]));
            Err(format!("names the rule {}, which there is none of{}", quoted(name), suggestion(meant)))
        }
        None if is_rule(entry) => Err(format!("holds the name of a rule; write `{RULE}{entry}`")),
        None if entry.trim().len() < LEAST_VALUE => {
            Err(format!("holds {}; expected values of at least {LEAST_VALUE} bytes", quoted(entry)))
        }
        None => Ok(()),
    }
}

/// The places of a text at which an allowed value stands.
pub(super) struct AllowedPlaces(Option<Literals>);

impl AllowedPlaces {
    pub(super) fn new(allowed: &Allowed) -> Self {
        Self(Literals::new(allowed.values.iter().map(String::as_str)))
    }

    /// Takes out the edits that lie within an allowed value. They are in order.
    pub(super) fn spare(&self, text: &str, edits: &mut Vec<Edit>) {
        let Some(values) = self.0.as_ref().filter(|_| !edits.is_empty()) else { return };
        let places: Vec<_> = values.find_all(text).into_iter().map(|(_, place)| place).collect();
        edits.retain(|edit| {
            let begun = places.partition_point(|place| place.start <= edit.range.start);
            !places[..begun].iter().rev().take(NESTED).any(|place| edit.range.end <= place.end)
        });
    }
}

/// How many allowed values that begin before a place are looked at; a user's own do not overlap more often.
const NESTED: usize = 16;
