//! The sanitizer: its options, the steps of a pass, and how much of a text that goes on can be shown.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde::Serialize;

use super::allowed::{Allowed, AllowedPlaces};
use super::controls::strip;
use super::known::KnownValues;
use super::tally::{RedactedValues, Tally};
use super::{Sanitized, frames, parts};
use crate::text::floor_char_boundary;
use crate::text::redact::{Edit, HomePaths, Homes, REDACTED, STACK_FRAMES, Scanner, rules, what_rule_finds};
use crate::text::secrets::is_fit;

/// The most passes over a text. A redaction can bring together what is a new pattern; usually the second pass finds it
/// and the third finds nothing more.
const MOST_PASSES: usize = 6;

/// How much of the end of a text that goes on is looked at; nothing that waits is longer.
pub(super) const REACH: usize = 16 * 1024;

/// The rule of exact values.
const KNOWN: &str = "known_secret";

/// Values that a sanitizer redacts beside what its rules find.
#[derive(Clone, Debug, Default)]
pub struct SanitizerOptions {
    /// Exact values to redact wherever they stand. Values that are unfit to be searched for (see
    /// [`secret_values`](crate::text::secret_values)) are ignored.
    pub secrets: Vec<String>,
    /// The user's home directories.
    pub homes: Vec<String>,
    /// Which home directories become `~`.
    pub home_paths: HomePaths,
    /// What is left alone.
    pub allowed: Allowed,
}

#[cfg(test)]
impl SanitizerOptions {
    /// Those of a test with one exact value.
    pub(crate) fn with_secret(secret: &str) -> Self {
        Self { secrets: vec![secret.to_owned()], ..Self::default() }
    }
}

/// How often one rule fired, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Redaction {
    /// The name of the rule, such as `github_token`, `assignment` or `control_sequence`.
    pub rule: &'static str,
    /// What the rule finds, in plain words.
    pub what: String,
    /// How often it fired.
    pub count: usize,
    /// Byte ranges in the input, in order. A range covers control sequences inside what was redacted.
    pub ranges: Vec<Range<usize>>,
}

/// Removes secrets, home directories, control sequences and long stack traces from text.
///
/// Linear in the text, and idempotent: sanitized text stays as it is. Compile it once and share it.
pub struct Sanitizer {
    rules: Arc<Rules>,
    /// What was redacted, where somebody counts.
    tally: Option<Mutex<Tally>>,
}

/// The compiled rules.
struct Rules {
    scanner: Scanner,
    known: KnownValues,
    allowed: Allowed,
    places: AllowedPlaces,
}

impl Sanitizer {
    /// Compiles the rules, which takes some 20 microseconds.
    #[must_use]
    pub fn new(options: SanitizerOptions) -> Self {
        let SanitizerOptions { secrets, homes, home_paths, allowed } = options;
        let is_searched =
            |value: &&String| is_fit(value.trim()) && !allowed.has_rule(KNOWN) && !allowed.has_value(value);
        let known = KnownValues::new(secrets.iter().filter(is_searched).map(String::as_str));
        let homes = Homes { own: homes, paths: home_paths };
        let scanner = Scanner::new(rules(&homes), allowed.rules(), known.pieces());
        let places = AllowedPlaces::new(&allowed);
        Self { rules: Arc::new(Rules { scanner, known, allowed, places }), tally: None }
    }

    /// The same sanitizer, which counts what it redacts from now on.
    #[must_use]
    pub fn counting(&self) -> Self {
        Self { rules: Arc::clone(&self.rules), tally: Some(Mutex::default()) }
    }

    /// What was redacted since it began to count, the most frequent rule first. A value counts once.
    #[must_use]
    pub fn redacted(&self) -> Vec<RedactedValues> {
        let tally = self.tally.as_ref();
        tally.map(|tally| tally.lock().unwrap_or_else(PoisonError::into_inner).counts()).unwrap_or_default()
    }

    /// Whether a value is left alone that this rule would redact.
    pub(super) fn allows(&self, rule: &str, value: &str) -> bool {
        self.rules.allowed.has_rule(rule) || self.rules.allowed.has_value(value)
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Tally)) {
        if let Some(tally) = &self.tally {
            count(&mut tally.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Redacts a text, so that it may leave the process.
    #[must_use]
    pub fn sanitize(&self, text: &str) -> Sanitized {
        let mut text = strip(text).text;
        let mut parts = parts::all(&text);
        for _ in 0..MOST_PASSES {
            let edits = self.edits(&text, &parts);
            if edits.is_empty() {
                break;
            }
            self.count(|tally| tally.edits(&text, &edits));
            let next = apply(&text, &edits);
            if next == text {
                break;
            }
            parts = parts::changed(&text, &edits, &next);
            text = Cow::Owned(next);
        }
        Sanitized::new(text.into_owned())
    }

    /// As [`Sanitizer::sanitize`], for the newest state of a text that goes on. It leaves out the beginning of an exact
    /// value at the end, because only a complete value is recognized.
    ///
    /// [`settled_length`](crate::text::settled_length) does the same for what the rules cannot recognize yet.
    #[must_use]
    pub fn sanitize_growing(&self, text: &str) -> Sanitized {
        let text = strip(text).text;
        let begun = self.rules.known.begun(&text);
        self.sanitize(&text[..begun.unwrap_or(text.len())])
    }

    /// Lists the rules that fire on a text, without the text that they hit.
    ///
    /// Rules are in the order of their first hit. Overlapping hits count once, for the rule that covers the most.
    #[must_use]
    pub fn inspect(&self, text: &str) -> Vec<Redaction> {
        let stripped = strip(text);
        let mut hits: Vec<(&'static str, Range<usize>)> =
            stripped.removed.iter().map(|piece| ("control_sequence", piece.input.clone())).collect();
        hits.extend(
            self.edits(&stripped.text, &parts::all(&stripped.text))
                .iter()
                .map(|edit| (edit.rule, stripped.to_input(&edit.range))),
        );
        hits.sort_by_key(|(_, range)| range.start);
        let mut redactions: Vec<Redaction> = Vec::new();
        for (rule, range) in hits {
            match redactions.iter_mut().find(|redaction| redaction.rule == rule) {
                Some(redaction) => {
                    redaction.count += 1;
                    redaction.ranges.push(range);
                }
                None => redactions.push(Redaction {
                    rule,
                    what: what_rule_finds(rule),
                    count: 1,
                    ranges: vec![range],
                }),
            }
        }
        redactions
    }

    /// What to redact in some parts of a text, and what is found in all of it without a search for triggers.
    fn edits(&self, text: &str, parts: &[Range<usize>]) -> Vec<Edit> {
        let mut edits = Vec::new();
        let rules = &*self.rules;
        let pieces = rules.scanner.collect(text, parts, &mut edits);
        let known = rules.known.find_all(text, pieces);
        edits.extend(known.into_iter().map(|hit| Edit::new(hit, REDACTED, KNOWN)));
        if !rules.allowed.has_rule(STACK_FRAMES) {
            frames::collect(text, &mut edits);
        }
        // Some are found beside the scan.
        edits.retain(|edit| !rules.allowed.has_rule(edit.rule));
        let mut edits = settle(edits);
        rules.places.spare(text, &mut edits);
        edits
    }
}

/// How much of a text that goes on can be shown: what is left out at its end may be part of a secret that no rule
/// recognizes before it is complete.
///
/// Whatever follows, eight characters in a row of a secret that the whole text has redacted are never in the part
/// before this position, sanitized. What waits is the end of a long word, a value whose end is not there yet, and lines
/// that may be those of a private key.
#[must_use]
pub fn settled_length(text: &str) -> usize {
    static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(rules(&Homes::default()), &[], []));
    let from = floor_char_boundary(text, text.len().saturating_sub(REACH));
    let stripped = strip(&text[from..]);
    let open = SCANNER.open_from(&stripped.text);
    if open == stripped.text.len() {
        return text.len();
    }
    from + stripped.to_input(&(open..open)).start
}

/// Sorts the edits and resolves overlaps: the one that covers another wins, and two that overlap in part become one
/// redaction of both. Of two equal ranges the earlier pushed stays.
fn settle(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.range.start, usize::MAX - edit.range.end));
    let mut settled: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match settled.last_mut() {
            Some(last) if edit.range.start < last.range.end => {
                if edit.range.end > last.range.end {
                    last.range.end = edit.range.end;
                    last.with = Cow::Borrowed(REDACTED);
                }
            }
            _ => settled.push(edit),
        }
    }
    settled
}

/// Applies settled edits.
fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        out.push_str(&text[from..edit.range.start]);
        out.push_str(&edit.with);
        from = edit.range.end;
    }
    out.push_str(&text[from..]);
    out
}
