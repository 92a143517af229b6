//! The engine: one search for all triggers, and the rule of each trigger is asked.

use std::ops::Range;

use super::cursor::Cursor;
use super::detect::block::opening_line;
use super::detect::pem;
use super::rule::{Edit, Rule};
use super::triggers::{Trigger, Triggers};
use super::{columns, manifests, repeated};

/// How far before the end a rule can begin whose verdict is still open. A longer value is redacted as far as it goes.
const REACH: usize = 1536;

/// The most lines between the line of a name and that of its value, and the line of the name.
const LINES_ABOVE: usize = 3;

/// A word of this many characters at the end may be the beginning of a token that no rule recognizes before it is
/// complete. A shorter one gives nothing away.
const TORN_CHARS: usize = 8;

/// The longest word that waits for its end.
const LONGEST_WORD: usize = 8 * 1024;

/// The compiled rules.
pub(crate) struct Scanner {
    triggers: Triggers,
    rules: Vec<Box<dyn Rule>>,
    /// For every trigger of a rule the index of the rule. The triggers behind them are pieces of known values.
    owners: Vec<usize>,
    has_known: bool,
    /// The names of rules whose findings stay.
    off: Vec<String>,
}

impl Scanner {
    /// `off` has the names of rules whose findings stay. The same search looks for the pieces of `known` values.
    pub(crate) fn new<'a>(
        rules: Vec<Box<dyn Rule>>,
        off: &[String],
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
        Self { triggers: Triggers::new(words), rules, owners, has_known, off: off.to_vec() }
    }

    /// Adds an edit for everything that a rule redacts whose trigger stands in one of the `parts` of a text, which are in
    /// order, and for each place where the same value stands again. Returns the places of the pieces of known values, with
    /// their numbers.
    pub(crate) fn collect(
        &self,
        text: &str,
        parts: &[Range<usize>],
        edits: &mut Vec<Edit>,
    ) -> Vec<(usize, Range<usize>)> {
        // Where each rule goes on behind a finding that stays. What it holds is for the other rules, and this one reads
        // nothing twice.
        let mut stays: Vec<usize> = if self.off.is_empty() { Vec::new() } else { vec![0; self.rules.len()] };
        let mut judge = |cursor: &mut Cursor<'_>, index: usize, trigger: Range<usize>| {
            let next = trigger.start + 1;
            if stays.get(index).is_some_and(|end| trigger.start < *end) {
                return Answer::Pass(next);
            }
            let edit = match self.rules[index].find(cursor, trigger) {
                Ok(edit) => edit,
                Err(resume) => return Answer::Pass(resume),
            };
            if self.off.iter().any(|off| off == edit.rule) {
                stays[index] = edit.range.end;
                return Answer::Pass(next);
            }
            cursor.floor = edit.range.end;
            edits.push(edit);
            Answer::Settle(cursor.floor)
        };
        let mut cursor = Cursor::new(text);
        let mut known = Vec::new();
        for part in parts {
            self.ask(&mut cursor, part.clone(), &mut judge, &mut known);
        }
        columns::collect(text, edits);
        manifests::collect(text, edits);
        repeated::collect(text, edits);
        known
    }

    /// For a text that goes on: where the part begins that waits, because what follows may show that it is a secret;
    /// the text's length when nothing waits.
    pub(crate) fn open_from(&self, text: &str) -> usize {
        let word = torn_word(text);
        // Without the word, what stands before it may be a key without its end.
        let mut open = word.min(pem::open_lines(text)).min(pem::open_lines(&text[..word]));
        let mut cursor = Cursor::new(text);
        let line = cursor.line_before(word, REACH);
        let mut at = opening_line(text, word - line.len());
        // A few lines more, for values that stand on another line than their names.
        for _ in 0..LINES_ABOVE {
            at -= cursor.line_before(at.saturating_sub(1), REACH).len() + usize::from(at > 0);
        }
        at = cursor.floor_char(at.max(text.len().saturating_sub(REACH)).min(word));
        let judge = |cursor: &mut Cursor<'_>, index: usize, trigger: Range<usize>| {
            if trigger.start >= word {
                return Answer::Stop;
            }
            let next = trigger.start + 1;
            let Some(from) = self.rules[index].open_from(cursor, trigger) else { return Answer::Pass(next) };
            open = open.min(from);
            Answer::Stop
        };
        self.ask(&mut cursor, at..text.len(), judge, &mut Vec::new());
        open
    }

    /// Asks the rules whose triggers stand in a part of the text, place by place, and at each place the one with the
    /// longest trigger first: `secret_` may begin a vendor's token, and the name `secret_value` otherwise.
    fn ask(
        &self,
        cursor: &mut Cursor<'_>,
        part: Range<usize>,
        mut judge: impl FnMut(&mut Cursor<'_>, usize, Range<usize>) -> Answer,
        known: &mut Vec<(usize, Range<usize>)>,
    ) {
        let (mut at, mut rules_from) = (part.start, part.start);
        while let Some(place) = self.triggers.find(&cursor.bytes[..part.end], at) {
            // The first rule has read the most, so that the scan stays linear when it goes on where that one says.
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
                    Answer::Pass(next) => _ = resume.get_or_insert(next),
                    Answer::Settle(next) => {
                        resume = Some(next);
                        is_settled = true;
                    }
                    Answer::Stop => return,
                }
            }
            rules_from = rules_from.max(resume.unwrap_or_default());
            // A known value may begin within what the rules have read.
            at = if self.has_known { place + 1 } else { rules_from.max(place + 1) };
        }
    }
}

/// What comes after a rule was asked.
enum Answer {
    /// The other rules of the place, and then the scan from here on.
    Pass(usize),
    /// The scan from here on.
    Settle(usize),
    /// Nothing.
    Stop,
}

/// Where a long word at the end begins that may go on.
fn torn_word(text: &str) -> usize {
    let word = text.bytes().rev().take(LONGEST_WORD).take_while(u8::is_ascii_graphic).count();
    if word < TORN_CHARS { text.len() } else { text.len() - word }
}
