//! The sanitizer: its options, the steps of a pass, and the safe part of a growing text.
//!
//! A later pass checks only the parts of a text that a redaction may have changed. A rule reads the line of its
//! trigger, and a little of the lines around it. Text far from a redaction has been judged already, and its verdict
//! does not change.
//!
//! The beginning of a text is sanitized before it is cut, because half a secret is not recognized.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use memchr::{memchr, memrchr};
use serde::Serialize;

use super::allowed::{Allowed, AllowedPlaces};
use super::controls::strip;
use super::known::KnownValues;
use super::tally::{RedactedValues, Tally};
use super::{Sanitized, frames};
use crate::redact::{Edit, HomePaths, Homes, REDACTED, STACK_FRAMES, Scanner, describe_rule, rules};
use crate::secrets::is_searchable;
use crate::{floor_char_boundary, one_line};

/// The maximum number of passes over a text. A redaction can form a new pattern. Usually the second pass finds it and
/// the third finds nothing more.
const MAX_PASSES: usize = 6;

/// The length of the checked end of a growing text, in bytes. Nothing longer is held back.
pub(super) const REACH: usize = 16 * 1024;

/// The rule for exact values.
const KNOWN: &str = "known_secret";

/// The settings of a sanitizer, and the values that it redacts in addition to its rules.
#[derive(Clone, Debug, Default)]
pub struct SanitizerOptions {
    /// Exact values to redact everywhere. Values that are not searchable are ignored, see
    /// [`secret_values`](crate::secret_values).
    pub secrets: Vec<String>,
    /// The user's home directories.
    pub homes: Vec<String>,
    /// The home directories that become `~`.
    pub home_paths: HomePaths,
    /// Values and rules that are not redacted.
    pub allowed: Allowed,
}

/// The hits of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Redaction {
    /// The name of the rule, such as `github_token`, `assignment` or `control_sequence`.
    pub rule: &'static str,
    /// A plain description of the text that the rule finds.
    pub what: String,
    /// The number of hits.
    pub count: usize,
    /// Byte ranges in the input, in order. A range includes the control sequences inside the redacted text.
    pub ranges: Vec<Range<usize>>,
}

/// Removes secrets, home directories, control sequences and long stack traces from text.
///
/// It takes linear time and is idempotent: sanitized text does not change. Compile it once and share it.
pub struct Sanitizer {
    rules: Arc<Rules>,
    /// The counts of redacted values, if this sanitizer counts.
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
    /// Compiles the rules, which takes about 20 microseconds.
    #[must_use]
    pub fn new(options: SanitizerOptions) -> Self {
        let SanitizerOptions { secrets, homes, home_paths, allowed } = options;
        let is_searched = |value: &&String| {
            is_searchable(value.trim()) && !allowed.has_rule(KNOWN) && !allowed.has_value(value)
        };
        let known = KnownValues::new(secrets.iter().filter(is_searched).map(String::as_str));
        let homes = Homes { own: homes, paths: home_paths };
        let scanner = Scanner::new(rules(&homes), allowed.rules(), known.pieces());
        let places = AllowedPlaces::new(&allowed);
        Self { rules: Arc::new(Rules { scanner, known, allowed, places }), tally: None }
    }

    /// Returns a sanitizer with the same rules that counts its redactions from now on.
    #[must_use]
    pub fn with_new_counts(&self) -> Self {
        Self { rules: Arc::clone(&self.rules), tally: Some(Mutex::default()) }
    }

    /// Returns the redactions since counting began, the most frequent rule first. Each value counts once.
    #[must_use]
    pub fn redacted(&self) -> Vec<RedactedValues> {
        let tally = self.tally.as_ref();
        tally.map(|tally| tally.lock().unwrap_or_else(PoisonError::into_inner).counts()).unwrap_or_default()
    }

    /// Returns true if the user has excluded this value or rule from redaction.
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
        let mut parts = all(&text);
        for _ in 0..MAX_PASSES {
            let edits = self.find_edits(&text, &parts);
            if edits.is_empty() {
                break;
            }
            self.count(|tally| tally.count_edits(&text, &edits));
            let next = apply(&text, &edits);
            if next == text {
                break;
            }
            parts = changed_parts(&text, &edits, &next);
            text = Cow::Owned(next);
        }
        Sanitized::new(text.into_owned())
    }

    /// Sanitizes the current state of a growing text. Leaves out the beginning of an exact value at the end, because
    /// only a complete value is recognized.
    ///
    /// [`settled_length`](crate::settled_length) does the same for text that the rules cannot recognize yet.
    #[must_use]
    pub fn sanitize_growing(&self, text: &str) -> Sanitized {
        let text = strip(text).text;
        let partial = self.rules.known.partial_at_end(&text);
        self.sanitize(&text[..partial.unwrap_or(text.len())])
    }

    /// Lists the rules that hit a text, without the hit text.
    ///
    /// Rules are in the order of their first hit. Overlapping hits count once, for the rule that covers the most.
    #[must_use]
    pub fn inspect(&self, text: &str) -> Vec<Redaction> {
        let stripped = strip(text);
        let mut hits: Vec<(&'static str, Range<usize>)> =
            stripped.removed.iter().map(|piece| ("control_sequence", piece.input.clone())).collect();
        hits.extend(
            self.find_edits(&stripped.text, &all(&stripped.text))
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
                    what: describe_rule(rule),
                    count: 1,
                    ranges: vec![range],
                }),
            }
        }
        redactions
    }

    /// Finds the redactions in some parts of a text, and in the whole text for the rules without triggers.
    fn find_edits(&self, text: &str, parts: &[Range<usize>]) -> Vec<Edit> {
        let mut edits = Vec::new();
        let rules = &*self.rules;
        let pieces = rules.scanner.collect(text, parts, &mut edits);
        let known = rules.known.find_all(text, pieces);
        edits.extend(known.into_iter().map(|hit| Edit::new(hit, REDACTED, KNOWN)));
        if !rules.allowed.has_rule(STACK_FRAMES) {
            frames::collect(text, &mut edits);
        }
        // Some edits come from functions that do not know the allowed rules.
        edits.retain(|edit| !rules.allowed.has_rule(edit.rule));
        let mut edits = resolve_overlaps(edits);
        rules.places.drop_allowed(text, &mut edits);
        edits
    }
}

/// Returns the length of the part of a growing text that can be shown. The rest may be part of a secret that no rule
/// recognizes before it is complete.
///
/// Whichever text follows, the sanitized part never shows eight consecutive characters of a secret that is redacted in
/// the whole text. The end of a long word, a value without its end, and possible lines of a private key are held back.
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

/// Sorts the edits and resolves overlaps. An edit that covers another one wins, and two partly overlapping edits
/// become one redaction of both. Of two equal ranges the earlier one stays.
fn resolve_overlaps(mut edits: Vec<Edit>) -> Vec<Edit> {
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

/// Applies sorted edits without overlaps.
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

/// The maximum number of bytes that a rule reads from the lines before and after its own.
const AROUND: usize = 512;

/// Returns the whole text as one part.
pub(super) fn all(text: &str) -> Vec<Range<usize>> {
    std::iter::once(0..text.len()).collect()
}

/// Returns the parts of a text in which edits can have formed a new secret: the edited lines, and the text around them
/// that the rules read.
fn changed_parts(before: &str, edits: &[Edit], after: &str) -> Vec<Range<usize>> {
    // Lines, and perhaps marks of code, were removed, so any part may have changed.
    if edits.iter().any(|edit| before[edit.range.clone()].contains(['\n', '`']) || edit.with.contains('\n')) {
        return all(after);
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    for edit in edits {
        at += edit.range.start - copied;
        let end = at + edit.with.len();
        let known = parts.last().map_or(0, |part| part.end);
        if end > known {
            let bytes = after.as_bytes();
            let first = at.saturating_sub(AROUND).max(known);
            let first = memrchr(b'\n', &bytes[known..first]).map_or(known, |newline| known + newline + 1);
            let last = (end + AROUND).min(bytes.len());
            let last = memchr(b'\n', &bytes[last..]).map_or(bytes.len(), |length| last + length);
            match parts.last_mut() {
                Some(part) if first <= part.end => part.end = last,
                _ => parts.push(first..last),
            }
        }
        at = end;
        copied = edit.range.end;
    }
    parts
}

/// The maximum length of a character, in bytes.
const CHAR_BYTES: usize = 4;

impl Sanitizer {
    /// Returns the sanitized beginning of a text, at most `max_bytes`. A cut text ends with `…`.
    ///
    /// Reads only a little more than `max_bytes`, even if the text is much longer.
    #[must_use]
    pub fn clip(&self, text: &str, max_bytes: usize) -> Sanitized {
        self.beginning(text, max_bytes, |text| text.into()).clip(max_bytes)
    }

    /// Returns the same as [`Sanitizer::clip`], on one line and with at most `max_chars` characters.
    ///
    /// Control characters become blanks, and the letters of a control sequence stay. So a name or a command is never
    /// shown as a different one.
    #[must_use]
    pub fn line(&self, text: &str, max_chars: usize) -> Sanitized {
        let clean = self.beginning(text, max_chars.saturating_mul(CHAR_BYTES), without_sequences);
        let line = one_line(&clean, usize::MAX).into_string();
        // A text on several lines may become a secret on one line.
        let clean = if line == *clean { clean } else { self.sanitize(&line) };
        clean.line(max_chars)
    }

    /// Sanitizes enough of a text for `bytes` bytes of output. Marks a cut.
    fn beginning(&self, text: &str, bytes: usize, prepared: fn(&str) -> Cow<'_, str>) -> Sanitized {
        let end = floor_char_boundary(text, bytes.saturating_add(REACH));
        let head = &*prepared(&text[..end]);
        if end == text.len() {
            return self.sanitize(head);
        }
        self.sanitize_growing(&head[..settled_length(head)]).with_ellipsis()
    }
}

/// Returns the text with its line ends and without the characters that begin a control sequence.
fn without_sequences(text: &str) -> Cow<'_, str> {
    let is_blank = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_blank) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\r' => '\n',
        c if is_blank(c) => ' ',
        c => c,
    };
    Cow::Owned(text.chars().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SanitizerOptions;

    /// A known value with blanks, and a token with a recognizable shape.
    const SECRETS: [&str; 2] =
        ["made-up value of some words 0123456789", "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"];

    fn sanitizer_of(secret: &str) -> Sanitizer {
        Sanitizer::new(SanitizerOptions { secrets: vec![secret.to_owned()], ..SanitizerOptions::default() })
    }

    fn sanitizer() -> Sanitizer {
        sanitizer_of(SECRETS[0])
    }

    #[test]
    fn no_part_of_a_secret_survives_a_cut_at_any_position() {
        let sanitizer = sanitizer();
        // The second number is the position of the cut before sanitizing.
        for (limit, at) in [(300, 300), (300, 300 + REACH), (300, 300 * CHAR_BYTES + REACH)] {
            for secret in SECRETS {
                for back in 0..=secret.len() {
                    // Filler beyond the limit must be invisible, so that it does not count in the output.
                    let filler = if at == limit { "x" } else { "\u{202e}" };
                    let mut text = filler.repeat((at - back) / filler.len());
                    text.push_str(&" ".repeat(at - back - text.len()));
                    text.push_str(secret);
                    text.push_str(&" end".repeat(8));
                    for shown in [sanitizer.clip(&text, limit), sanitizer.line(&text, limit)] {
                        assert!(!shown.contains(&secret[..8]), "{back} before {at}: {shown}");
                    }
                }
            }
        }
    }

    #[test]
    fn missing_text_is_marked() {
        let sanitizer = sanitizer();
        let long = "\u{202e}".repeat(REACH);
        for (text, limit, clipped, line) in [
            ("a\nb", 3, "a\nb", "a b"),
            ("one two\nthree", 12, "one two\nt…", "one two thr…"),
            (&*format!("said{long}more"), 40, "said…", "said…"),
        ] {
            assert_eq!((&*sanitizer.clip(text, limit), &*sanitizer.line(text, limit)), (clipped, line));
        }
    }

    #[test]
    fn a_secret_is_redacted_on_one_line_and_on_several() {
        let sanitizer = sanitizer_of("made-up\n\nvalue of lines");
        for text in ["api_key =\n\u{2028} 8f3kq0Zx71vTmW2yLb9c", "it is made-up\n\nvalue of lines"] {
            let line = sanitizer.line(text, 80);
            assert!(!line.contains("8f3kq0") && !line.contains("value"), "{line}");
        }
    }

    #[test]
    fn a_line_hides_nothing_in_a_control_sequence() {
        let line = sanitizer().line("evil\u{1b}[31m \u{1b}]0;rm -rf ~\u{7}\r\n\tend", 80);
        assert_eq!(&*line, "evil [31m ]0;rm -rf ~ end");
    }
}
