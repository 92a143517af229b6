//! The arguments of a tool call, within bounds.

use serde_json::{Map, Number, Value};

use sanitizer::HeadTail;
use sanitizer::json::skim::{Kind, Verdict, Word};

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
