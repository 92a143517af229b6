//! The scan engine: one search for all triggers, which calls the rule of each trigger.
//!
//! Afterwards it redacts further occurrences of a redacted value in the same text: `export API_KEY=x`, and later
//! `got x`. Only values of at least 16 random characters count, so that ordinary words stay. While a text arrives, a
//! bare value before its name is visible until the name has arrived. After that it is redacted everywhere.

use std::ops::Range;

use super::cursor::Cursor;
use super::detect::block::opening_line;
use super::detect::pem;
use super::judgement::JUDGED;
use super::rule::{Edit, Rule};
use super::search::Literals;
use super::search::{Trigger, Triggers};
use super::shape::{Shape, has_digit, is_made_up, shape_of};
use super::{columns, manifests};

/// The maximum distance from the end of the text, in bytes, at which a finding with an open verdict can begin. A longer
/// value is redacted up to the end of the text.
const REACH: usize = 1536;

/// The maximum number of lines from the line of a name to the line of its value, including the former.
const LINES_ABOVE: usize = 3;

/// The minimum length of a word at the end that is held back, in characters. It may be the beginning of a token that
/// no rule recognizes before it is complete. A shorter word reveals nothing.
const TORN_CHARS: usize = 8;

/// The maximum length of a word that is held back.
const MAX_WORD: usize = 8 * 1024;

/// The compiled rules.
pub(crate) struct Scanner {
    triggers: Triggers,
    rules: Vec<Box<dyn Rule>>,
    /// The index of the rule for every trigger of a rule. The triggers after these are pieces of known values.
    owners: Vec<usize>,
    has_known: bool,
    /// The names of the rules that are switched off.
    disabled: Vec<String>,
}

impl Scanner {
    /// Compiles the rules. `disabled` has the names of the rules that are switched off. The same search finds the
    /// pieces of `known` values.
    pub(crate) fn new<'a>(
        rules: Vec<Box<dyn Rule>>,
        disabled: &[String],
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut words = Vec::new();
        let mut owners = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            words.extend(rule.triggers());
            owners.resize(words.len(), index);
        }
        words.extend(known.into_iter().map(|piece| Trigger::exact(piece.to_owned())));
        let has_known = words.len() > owners.len();
        Self { triggers: Triggers::new(words), rules, owners, has_known, disabled: disabled.to_vec() }
    }

    /// Adds an edit for every redaction whose trigger is in one of the `parts` of a text, and for each further
    /// occurrence of the same value. The parts are in order. Returns the positions of the pieces of known values, with
    /// their numbers.
    pub(crate) fn collect(
        &self,
        text: &str,
        parts: &[Range<usize>],
        edits: &mut Vec<Edit>,
    ) -> Vec<(usize, Range<usize>)> {
        // The position where each switched-off rule continues after a finding. Other rules may read the finding, but
        // this rule reads nothing twice.
        let mut stays: Vec<usize> =
            if self.disabled.is_empty() { Vec::new() } else { vec![0; self.rules.len()] };
        let mut judge = |cursor: &mut Cursor<'_>, index: usize, trigger: Range<usize>| {
            let next = trigger.start + 1;
            if stays.get(index).is_some_and(|end| trigger.start < *end) {
                return NextStep::OtherRules(next);
            }
            let edit = match self.rules[index].find(cursor, trigger) {
                Ok(edit) => edit,
                Err(resume) => return NextStep::OtherRules(resume),
            };
            if self.disabled.iter().any(|disabled| disabled == edit.rule) {
                stays[index] = edit.range.end;
                return NextStep::OtherRules(next);
            }
            cursor.floor = edit.range.end;
            edits.push(edit);
            NextStep::Continue(cursor.floor)
        };
        let mut cursor = Cursor::new(text);
        let mut known = Vec::new();
        for part in parts {
            self.call_rules(&mut cursor, part.clone(), &mut judge, &mut known);
        }
        columns::collect(text, edits);
        manifests::collect(text, edits);
        redact_repeated(text, edits);
        known
    }

    /// Returns the start of the part of a growing text that is held back, because the following text may show that it
    /// is a secret. Returns the text's length if nothing is held back.
    pub(crate) fn open_from(&self, text: &str) -> usize {
        let word = torn_word(text);
        // The text before the last word may be a key without its end.
        let mut open = word.min(pem::open_lines(text)).min(pem::open_lines(&text[..word]));
        let mut cursor = Cursor::new(text);
        let line = cursor.line_before(word, REACH);
        let mut at = opening_line(text, word - line.len());
        // Include a few more lines, for values on another line than their names.
        for _ in 0..LINES_ABOVE {
            at -= cursor.line_before(at.saturating_sub(1), REACH).len() + usize::from(at > 0);
        }
        at = cursor.floor_char(at.max(text.len().saturating_sub(REACH)).min(word));
        let judge = |cursor: &mut Cursor<'_>, index: usize, trigger: Range<usize>| {
            if trigger.start >= word {
                return NextStep::Stop;
            }
            let next = trigger.start + 1;
            let Some(from) = self.rules[index].open_from(cursor, trigger) else {
                return NextStep::OtherRules(next);
            };
            open = open.min(from);
            NextStep::Stop
        };
        self.call_rules(&mut cursor, at..text.len(), judge, &mut Vec::new());
        open
    }

    /// Calls the rules whose triggers are in a part of the text, position by position. The rule with the longest
    /// trigger comes first: `secret_` may begin a vendor's token, or the name `secret_value`.
    fn call_rules(
        &self,
        cursor: &mut Cursor<'_>,
        part: Range<usize>,
        mut judge: impl FnMut(&mut Cursor<'_>, usize, Range<usize>) -> NextStep,
        known: &mut Vec<(usize, Range<usize>)>,
    ) {
        let mut at = part.start;
        let mut rules_from = part.start;
        while let Some(place) = self.triggers.find(&cursor.bytes[..part.end], at) {
            // The first rule has read the most. If the scan continues where this rule says, it takes linear time.
            let mut resume = None;
            let mut is_settled = place < rules_from;
            for (word, trigger) in self.triggers.words_at(cursor.bytes, place) {
                let Some(owner) = self.owners.get(word) else {
                    known.push((word - self.owners.len(), trigger));
                    continue;
                };
                if is_settled {
                    continue;
                }
                match judge(cursor, *owner, trigger) {
                    NextStep::OtherRules(next) => _ = resume.get_or_insert(next),
                    NextStep::Continue(next) => {
                        resume = Some(next);
                        is_settled = true;
                    }
                    NextStep::Stop => return,
                }
            }
            rules_from = rules_from.max(resume.unwrap_or_default());
            // A known value may begin within text that the rules have read.
            at = if self.has_known { place + 1 } else { rules_from.max(place + 1) };
        }
    }
}

/// The next step after a rule.
enum NextStep {
    /// Call the other rules of this position, then continue the scan from here.
    OtherRules(usize),
    /// Continue the scan from here.
    Continue(usize),
    /// End the scan.
    Stop,
}

/// Returns the start of a long word at the end of the text that may be incomplete.
fn torn_word(text: &str) -> usize {
    let word = text.bytes().rev().take(MAX_WORD).take_while(u8::is_ascii_graphic).count();
    if word < TORN_CHARS { text.len() } else { text.len() - word }
}

/// The minimum length of a value, in bytes. A shorter value may be an ordinary word.
const MIN_BYTES: usize = 16;

/// The maximum number of different values that are searched in a text, so that the time stays linear.
const MAX_VALUES: usize = 256;

/// Adds an edit for every further occurrence of the value of another edit.
fn redact_repeated(text: &str, edits: &mut Vec<Edit>) {
    let mut values: Vec<(&str, usize)> = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        values.extend(parts(&text[edit.range.clone()], edit.rule).map(|value| (value, index)));
    }
    values.sort_unstable();
    values.dedup_by_key(|(value, _)| *value);
    values.truncate(MAX_VALUES);
    let Some(literals) = Literals::new(values.iter().map(|(value, _)| *value)) else { return };
    let places = literals.find_all(text);
    let again = places.into_iter().map(|(value, range)| Edit { range, ..edits[values[value].1].clone() });
    let again: Vec<Edit> = again.collect();
    edits.extend(again);
}

/// Returns the random parts of a redacted text: all of it, or the words of a header.
fn parts<'a>(redacted: &'a str, rule: &str) -> impl Iterator<Item = &'a str> {
    let is_header = matches!(rule, "authorization" | "cookie");
    let ends = move |character: char| is_header && matches!(character, ' ' | ';' | ',' | '"' | '\'');
    let words = redacted.split(ends);
    words
        .flat_map(move |word| {
            let value = word.split_once('=').map(|(_, value)| value).filter(|_| is_header);
            [Some(word), value].into_iter().flatten()
        })
        .filter(|value| is_random(value))
}

fn is_random(value: &str) -> bool {
    let judged = &value[..crate::floor_char_boundary(value, JUDGED)];
    value.len() >= MIN_BYTES
        && !value.contains('\n')
        && has_digit(judged.as_bytes())
        && shape_of(judged) == Shape::Random
        && !is_made_up(judged.as_bytes())
}
