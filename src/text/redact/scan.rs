//! The engine: one search for all triggers, and the rule of each trigger is asked.

use std::ops::{ControlFlow, Range};

use super::cursor::Cursor;
use super::detect::{pem, rules};
use super::rule::{Edit, Rule};
use super::triggers::Triggers;

/// How far before the end a rule can begin whose verdict is still open. A longer value is redacted as far as it goes.
const REACH: usize = 1536;

/// A word of this many characters at the end may be the beginning of a token that no rule recognizes before it is
/// complete. A shorter one gives nothing away.
const TORN_CHARS: usize = 8;

/// The longest word that waits for its end.
const LONGEST_WORD: usize = 8 * 1024;

/// The compiled rules.
pub(in crate::text) struct Scanner {
    triggers: Triggers,
    rules: Vec<Box<dyn Rule>>,
    /// For every trigger the index of its rule.
    owners: Vec<usize>,
}

impl Scanner {
    /// `homes` are the directories that become `~`.
    pub(in crate::text) fn new(homes: &[String]) -> Self {
        let rules = rules(homes);
        let mut words = Vec::new();
        let mut owners = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            words.extend(rule.triggers());
            owners.resize(words.len(), index);
        }
        Self { triggers: Triggers::new(words), rules, owners }
    }

    /// Adds an edit for everything that a rule redacts; they do not overlap.
    pub(in crate::text) fn collect(&self, text: &str, edits: &mut Vec<Edit>) {
        self.ask(&mut Cursor::new(text), 0, |cursor, rule, trigger| {
            let found = rule.find(cursor, trigger);
            if let Some(edit) = found.edit {
                cursor.floor = edit.range.end;
                edits.push(edit);
            }
            ControlFlow::Continue(found.resume)
        });
    }

    /// For a text that goes on: where the part begins that waits, because what follows may show that it is a secret;
    /// the text's length when nothing waits.
    pub(in crate::text) fn open_from(&self, text: &str) -> usize {
        let word = torn_word(text);
        // Without the word, what stands before it may be a key without its end.
        let mut open = word.min(pem::open_lines(text)).min(pem::open_lines(&text[..word]));
        let mut cursor = Cursor::new(text);
        let line = cursor.line_before(word, REACH);
        let mut at = word - line.len();
        // One line more, for values that stand on another line than their names.
        at -= cursor.line_before(at.saturating_sub(1), REACH).len() + usize::from(at > 0);
        at = cursor.floor_char(at.max(text.len().saturating_sub(REACH)).min(word));
        self.ask(&mut cursor, at, |cursor, rule, trigger| {
            if trigger.start >= word {
                return ControlFlow::Break(());
            }
            let next = trigger.start + 1;
            let Some(from) = rule.open_from(cursor, trigger) else { return ControlFlow::Continue(next) };
            open = open.min(from);
            ControlFlow::Break(())
        });
        open
    }

    /// Asks the rules of the triggers from `from` on, in order. The answer is where to go on, or to stop.
    fn ask(
        &self,
        cursor: &mut Cursor<'_>,
        from: usize,
        mut judge: impl FnMut(&mut Cursor<'_>, &dyn Rule, Range<usize>) -> ControlFlow<(), usize>,
    ) {
        let mut at = from;
        while let Some(place) = self.triggers.candidate(cursor.bytes, at) {
            at = place + 1;
            if let Some((word, trigger)) = self.triggers.words_at(cursor.bytes, place).next() {
                match judge(cursor, &*self.rules[self.owners[word]], trigger) {
                    ControlFlow::Continue(next) => at = next.max(at),
                    ControlFlow::Break(()) => return,
                }
            }
        }
    }
}

/// Where a long word at the end begins that may go on.
fn torn_word(text: &str) -> usize {
    let word = text.bytes().rev().take(LONGEST_WORD).take_while(u8::is_ascii_graphic).count();
    if word < TORN_CHARS { text.len() } else { text.len() - word }
}
