//! Counts the redacted values in the texts of a result, by rule.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::figures::counted;
use crate::redact::{Edit, is_secret_rule};

/// The maximum number of different values that are counted, which bounds the memory.
const MAX_VALUES: usize = 10_000;

/// The maximum number of rules that a line names.
const MAX_NAMED_RULES: usize = 6;

/// The number of different values that one rule redacted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedactedValues {
    /// The name of the rule.
    pub rule: Cow<'static, str>,
    /// The number of values. Each value counts once, even if it occurs several times.
    pub count: usize,
}

/// Formats the counts: `3 values redacted: 2 by github_token, 1 by assignment`. Returns `None` if there are no
/// redactions.
#[must_use]
pub fn redacted_message(redacted: &[RedactedValues]) -> Option<String> {
    let (values, rules) = redacted_counts(redacted.iter().map(|values| (&*values.rule, values.count)))?;
    Some(format!("{values} redacted: {rules}"))
}

/// Formats the number of values (`3 values`) and their rules.
pub fn redacted_counts<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> Option<(String, String)> {
    let mut total = 0_usize;
    let mut more = 0;
    let mut rules = Vec::new();
    for (rule, count) in counts {
        total = total.saturating_add(count);
        if rules.len() < MAX_NAMED_RULES {
            rules.push(format!("{count} by `{rule}`"));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        rules.push(format!("the rest by {}", counted(more, "more rule")));
    }
    (total > 0).then(|| (counted(total, "value"), rules.join(", ")))
}

/// Counts redacted values by their hashes, so that no value is stored.
#[derive(Debug, Default)]
pub(super) struct Tally {
    seen: HashSet<u64>,
    counts: BTreeMap<&'static str, usize>,
}

impl Tally {
    /// Counts the secrets among the edits of a text. Home directories and stack frames are not secrets, and markers
    /// from an earlier pass were counted before.
    pub(super) fn count_edits(&mut self, text: &str, edits: &[Edit]) {
        for edit in edits.iter().filter(|edit| is_secret_rule(edit.rule)) {
            self.value(edit.rule, &text[edit.range.clone()]);
        }
    }

    pub(super) fn value(&mut self, rule: &'static str, value: &str) {
        if self.seen.len() >= MAX_VALUES || value.contains("REDACTED]") {
            return;
        }
        let mut hasher = DefaultHasher::new();
        value.trim().hash(&mut hasher);
        if self.seen.insert(hasher.finish()) {
            *self.counts.entry(rule).or_default() += 1;
        }
    }

    /// Returns the counts, the most frequent rule first.
    pub(super) fn counts(&self) -> Vec<RedactedValues> {
        let mut counts: Vec<_> =
            self.counts.iter().map(|(&rule, &count)| RedactedValues { rule: rule.into(), count }).collect();
        counts.sort_by_key(|redacted| usize::MAX - redacted.count);
        counts
    }
}
