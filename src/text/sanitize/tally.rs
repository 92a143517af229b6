//! How many values were redacted in the texts of a result, and by which rules.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::text::figures::counted;
use crate::text::redact::{Edit, is_secret_rule};

/// Different values that are counted; a child that prints more gets no more memory for it.
const MOST: usize = 10_000;

/// Rules that a line names.
const NAMED: usize = 6;

/// How many different values went by one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedValues {
    /// The rule's name.
    pub rule: &'static str,
    /// Each value counts once, wherever it stood.
    pub count: usize,
}

/// 3 values redacted: 2 by `github_token`, 1 by `assignment`; nothing when there is none.
pub(crate) fn redacted_words(redacted: &[RedactedValues]) -> Option<String> {
    let (values, rules) = redacted_counts(redacted.iter().map(|rule| (rule.rule, rule.count)))?;
    Some(format!("{values} redacted: {rules}"))
}

/// How many values (`3 values`), and by which rules.
pub(crate) fn redacted_counts<'a>(
    counts: impl Iterator<Item = (&'a str, usize)>,
) -> Option<(String, String)> {
    let (mut total, mut more, mut rules) = (0_usize, 0, Vec::new());
    for (rule, count) in counts {
        total = total.saturating_add(count);
        if rules.len() < NAMED {
            rules.push(format!("{count} by `{rule}`"));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        rules.push(format!("the others by {}", counted(more, "more rule")));
    }
    (total > 0).then(|| (counted(total, "value"), rules.join(", ")))
}

/// Counts by hashes: no value is kept.
#[derive(Debug, Default)]
pub(super) struct Tally {
    seen: HashSet<u64>,
    counts: BTreeMap<&'static str, usize>,
}

impl Tally {
    /// Counts the secrets among the edits of a text. Home directories and stack frames are none, and what an earlier pass
    /// has redacted was counted then.
    pub(super) fn edits(&mut self, text: &str, edits: &[Edit]) {
        for edit in edits.iter().filter(|edit| is_secret_rule(edit.rule)) {
            self.value(edit.rule, &text[edit.range.clone()]);
        }
    }

    pub(super) fn value(&mut self, rule: &'static str, value: &str) {
        if self.seen.len() >= MOST || value.contains("REDACTED]") {
            return;
        }
        let mut hasher = DefaultHasher::new();
        value.trim().hash(&mut hasher);
        if self.seen.insert(hasher.finish()) {
            *self.counts.entry(rule).or_default() += 1;
        }
    }

    /// The most frequent rule first.
    pub(super) fn counts(&self) -> Vec<RedactedValues> {
        let mut counts: Vec<_> =
            self.counts.iter().map(|(&rule, &count)| RedactedValues { rule, count }).collect();
        counts.sort_by_key(|redacted| usize::MAX - redacted.count);
        counts
    }
}
