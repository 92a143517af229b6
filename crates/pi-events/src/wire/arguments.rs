//! The arguments of a tool call, within bounds, and the result that a child submits by a tool call.

use sanitizer::HeadTail;
use sanitizer::json::skim::{Kind, Verdict, Word};
use serde_json::{Map, Number, Value};

/// The maximum number of stored bytes of one string: its head and tail.
const MAX_STRING: usize = 16 * 1024;
/// The maximum number of stored bytes of all strings and keys of one call.
const MAX_TOTAL: usize = 32 * 1024;
/// The maximum number of stored values of one call, at any depth.
const MAX_VALUES: usize = 256;
/// The maximum depth of nested containers.
const MAX_DEPTH: usize = 16;

/// Builds one JSON value from the calls of the skimmer, and leaves out what exceeds a bound.
#[derive(Debug)]
pub struct Arguments {
    /// Open containers, outermost first, each with its key in the container around it.
    open: Vec<(Value, Option<String>)>,
    key: Option<String>,
    text: HeadTail,
    spent: usize,
    values: usize,
    done: Option<Value>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self::new()
    }
}

impl Arguments {
    /// Creates an empty value.
    #[must_use]
    pub const fn new() -> Self {
        Self { open: Vec::new(), key: None, text: HeadTail::new(MAX_STRING), spent: 0, values: 0, done: None }
    }

    /// Starts again with an empty value.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Takes the value if it is complete.
    pub fn take(&mut self) -> Option<Value> {
        self.done.take()
    }

    /// Returns true inside an object or array.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes a key of an object.
    pub fn key(&mut self, key: &str) -> Verdict {
        if self.is_full(key.len()) {
            return Verdict::Skip;
        }
        self.spent += key.len();
        self.key = Some(key.to_owned());
        Verdict::Take
    }

    /// Begins a value.
    pub fn value(&mut self, kind: Kind) -> Verdict {
        if self.is_full(0) || self.open.len() == MAX_DEPTH {
            return Verdict::Skip;
        }
        self.values += 1;
        match kind {
            Kind::Object => self.open.push((Value::Object(Map::new()), self.key.take())),
            Kind::Array => self.open.push((Value::Array(Vec::new()), self.key.take())),
            Kind::String => self.text = HeadTail::new(MAX_STRING.min(MAX_TOTAL - self.spent)),
            Kind::Word => {}
        }
        Verdict::Take
    }

    /// Appends a part of a string.
    pub fn text(&mut self, part: &str) {
        self.text.push(part);
    }

    /// Ends a string.
    pub fn text_end(&mut self) {
        let (text, _) = self.text.to_text();
        self.spent += text.len();
        let key = self.key.take();
        self.place(Value::String(text), key);
    }

    /// Adds a number, a boolean or null.
    pub fn word(&mut self, word: Word<'_>) {
        let value = match word {
            Word::Null => Value::Null,
            Word::Bool(value) => Value::Bool(value),
            Word::Number(number) => number.parse::<Number>().map_or(Value::Null, Value::Number),
        };
        let key = self.key.take();
        self.place(value, key);
    }

    /// Ends the innermost object or array.
    pub fn close(&mut self) {
        if let Some((value, key)) = self.open.pop() {
            self.place(value, key);
        }
    }

    fn is_full(&self, more: usize) -> bool {
        self.values >= MAX_VALUES || self.spent + more >= MAX_TOTAL
    }

    fn place(&mut self, value: Value, key: Option<String>) {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some((Value::Array(elements), _)) => elements.push(value),
            Some((Value::Object(entries), _)) => {
                entries.insert(key.unwrap_or_default(), value);
            }
            Some(_) => {}
        }
    }
}

/// The maximum number of stored bytes of a result, so that a child cannot fill the memory.
pub const MAX_SUBMITTED: usize = 2 * 1024 * 1024;
/// The maximum number of stored bytes of pi's reply to a result.
const MAX_REPLY: usize = 2 * 1024;

/// A result as JSON, as its child has written it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submitted {
    /// The JSON, empty if it is too long.
    pub json: Vec<u8>,
    /// True if the result is longer than the limit.
    pub is_too_long: bool,
}

impl Submitted {
    pub(crate) fn push(&mut self, part: &[u8]) {
        if self.is_too_long || self.json.len() + part.len() > MAX_SUBMITTED {
            *self = Self { json: Vec::new(), is_too_long: true };
        } else {
            self.json.extend_from_slice(part);
        }
    }
}

/// The beginning of the longest text in pi's reply to a submitted result: the reason for a refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The text in its JSON form, as in the record.
    current: Vec<u8>,
    longest: Vec<u8>,
}

impl Reply {
    pub(crate) fn push(&mut self, part: &[u8]) {
        let room = MAX_REPLY.saturating_sub(self.current.len());
        self.current.extend_from_slice(&part[..room.min(part.len())]);
    }

    pub(crate) fn text_end(&mut self) {
        if self.current.len() > self.longest.len() {
            std::mem::swap(&mut self.current, &mut self.longest);
        }
        self.current.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.current.clear();
        self.longest.clear();
    }

    /// Returns the text, without an escape or a character that the limit has cut.
    pub(crate) fn text(&self) -> String {
        /// The length of the longest escape, a surrogate pair, in bytes.
        const LONGEST_ESCAPE: usize = 12;
        let length = self.longest.len();
        let decoded = (0..=LONGEST_ESCAPE.min(length)).find_map(|cut| {
            let json = [b"\"", &self.longest[..length - cut], b"\""].concat();
            serde_json::from_slice(&json).ok()
        });
        decoded.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_the_longest_text_without_a_cut_escape() {
        let mut reply = Reply::default();
        reply.push(b"text");
        reply.text_end();
        reply.push(b"must be ");
        reply.push("\\u00e4rray\\n".as_bytes());
        reply.text_end();
        assert_eq!(reply.text(), "must be \u{e4}rray\n");
        let pair = "\\ud83d\\ude00";
        for length in MAX_REPLY - pair.len() - 1..MAX_REPLY {
            reply.clear();
            reply.push("x".repeat(length).as_bytes());
            reply.push(pair.as_bytes());
            reply.text_end();
            assert_eq!(reply.text().trim_end_matches('\u{1f600}'), "x".repeat(length));
        }
        reply.clear();
        assert_eq!(reply.text(), "");
    }
}
