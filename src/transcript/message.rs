//! The wanted fields of one entry of a session file.

use std::collections::VecDeque;

use serde_json::Value;

use pi_events::Arguments;
use sanitizer::json::skim::{Kind, Sink, Verdict, Word};
use sanitizer::{HeadTail, Sanitizer};

/// Bytes kept of one text: head and tail. The note in the gap must still fit into an
/// entry.
const MAX_TEXT: usize = 15 * 1024;
/// Bytes kept of a name, an id or an error.
const MAX_NAME: usize = 1024;
/// Parts kept of one message, the newest.
const MAX_PARTS: usize = 256;
/// Bytes of these parts together, roughly.
const MAX_PARTS_BYTES: usize = 512 * 1024;

/// A part of a message.
pub(super) enum Part {
    Text(String),
    ToolCall { name: String, arguments: Value },
}

impl Part {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::ToolCall { name, arguments } => name.len() + arguments.to_string().len(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Root,
    Message,
    Content,
    Part,
}

/// The wanted field of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Type,
    Id,
    Parent,
    Message,
    Role,
    Content,
    ToolName,
    IsError,
    Provider,
    Model,
    StopReason,
    Error,
    PartType,
    PartText,
    PartName,
    PartArguments,
}

impl Field {
    const COUNT: usize = Self::PartArguments as usize + 1;

    fn of(container: Container, key: &str) -> Option<Self> {
        Some(match (container, key) {
            (Container::Root, "type") => Self::Type,
            (Container::Root, "id") => Self::Id,
            (Container::Root, "parentId") => Self::Parent,
            (Container::Root, "message") => Self::Message,
            (Container::Message, "role") => Self::Role,
            (Container::Message, "content") => Self::Content,
            (Container::Message, "toolName") => Self::ToolName,
            (Container::Message, "isError") => Self::IsError,
            (Container::Message, "provider") => Self::Provider,
            (Container::Message, "model") => Self::Model,
            (Container::Message, "stopReason") => Self::StopReason,
            (Container::Message, "errorMessage") => Self::Error,
            (Container::Part, "type") => Self::PartType,
            (Container::Part, "text") => Self::PartText,
            (Container::Part, "name") => Self::PartName,
            (Container::Part, "arguments") => Self::PartArguments,
            _ => return None,
        })
    }
}

/// The fields of one line, picked out as it is read.
pub(super) struct Entry<'a> {
    sanitizer: &'a Sanitizer,
    /// The id that this entry must have to be on the branch; `None` if any id matches.
    expected: Option<&'a str>,
    /// The short texts, by field.
    values: [Option<String>; Field::COUNT],
    /// As they stand in the file. Sanitizing costs more than reading, so only the newest are sanitized.
    raw_parts: VecDeque<Part>,
    raw_bytes: usize,
    /// Older parts were left out.
    pub(super) is_cut: bool,
    pub(super) has_image: bool,
    pub(super) is_error: bool,
    containers: Vec<Container>,
    field: Option<Field>,
    short: HeadTail,
    text: HeadTail,
    arguments: Arguments,
}

impl<'a> Entry<'a> {
    pub(super) fn new(sanitizer: &'a Sanitizer, expected: Option<&'a str>) -> Self {
        Self {
            sanitizer,
            expected,
            values: Default::default(),
            raw_parts: VecDeque::new(),
            raw_bytes: 0,
            is_cut: false,
            has_image: false,
            is_error: false,
            containers: Vec::new(),
            field: None,
            short: HeadTail::new(MAX_NAME),
            text: HeadTail::new(MAX_TEXT),
            arguments: Arguments::new(),
        }
    }

    /// The text of a field; empty when it has none.
    pub(super) fn get(&self, field: Field) -> &str {
        self.values[field as usize].as_deref().unwrap_or_default()
    }

    /// The id of the entry that it follows; empty for the first of its branch, `None` in files of version 1.
    pub(super) fn take_parent(&mut self) -> Option<String> {
        self.values[Field::Parent as usize].take()
    }

    /// Returns true if it is on another branch than the conversation.
    pub(super) fn is_on_other_branch(&self) -> bool {
        matches!((&self.values[Field::Id as usize], self.expected), (Some(id), Some(expected)) if id != expected)
    }

    /// The model as `provider/id`.
    pub(super) fn speaker(&self) -> Option<String> {
        match (self.get(Field::Provider), self.get(Field::Model)) {
            (_, "") => None,
            ("", model) => Some(self.clean(model)),
            (provider, model) => Some(self.clean(&format!("{provider}/{model}"))),
        }
    }

    pub(super) fn clean(&self, text: &str) -> String {
        self.sanitizer.sanitize(text).into_string()
    }

    /// Returns true if the rest of the line cannot matter.
    fn is_enough(&self) -> bool {
        let has_no_entry = !matches!(self.get(Field::Type), "" | "message")
            || !matches!(self.get(Field::Role), "" | "user" | "assistant" | "toolResult");
        let is_given = |field| self.values[field as usize].is_some();
        self.is_on_other_branch() || has_no_entry && is_given(Field::Id) && is_given(Field::Parent)
    }

    fn enter(&mut self, container: Container) -> Verdict {
        self.containers.push(container);
        Verdict::Take
    }

    fn verdict(&self) -> Verdict {
        if self.is_enough() { Verdict::Finish } else { Verdict::Take }
    }

    fn begin_part(&mut self) {
        self.values[Field::PartType as usize] = None;
        self.values[Field::PartName as usize] = None;
        self.text.clear();
        self.arguments.clear();
    }

    fn end_part(&mut self) {
        let kind = self.values[Field::PartType as usize].take();
        let part = match kind.as_deref() {
            Some("text") if !self.text.is_blank() => Part::Text(self.text.to_text().0),
            Some("toolCall") => {
                let name = self.values[Field::PartName as usize].take().unwrap_or_default();
                let arguments = self.arguments.take().unwrap_or(Value::Null);
                Part::ToolCall { name, arguments }
            }
            Some("image") => {
                self.has_image = true;
                return;
            }
            _ => return,
        };
        self.raw_bytes += part.bytes();
        self.raw_parts.push_back(part);
        while self.raw_parts.len() > MAX_PARTS || self.raw_bytes > MAX_PARTS_BYTES {
            let Some(oldest) = self.raw_parts.pop_front() else { break };
            self.raw_bytes -= oldest.bytes();
            self.is_cut = true;
        }
    }

    /// Takes the parts of the message, in order, and sanitizes them.
    pub(super) fn parts(&mut self) -> Vec<Part> {
        let raw = std::mem::take(&mut self.raw_parts);
        let clean = |part: Part| match part {
            Part::Text(text) => Part::Text(self.clean(&text)),
            Part::ToolCall { name, arguments } => Part::ToolCall {
                name: self.clean(&name),
                arguments: self.sanitizer.sanitize_json(&arguments),
            },
        };
        raw.into_iter().map(clean).collect()
    }
}

impl Sink for Entry<'_> {
    fn key(&mut self, key: &str) -> Verdict {
        if self.arguments.is_open() {
            return self.arguments.key(key);
        }
        self.field = self.containers.last().and_then(|container| Field::of(*container, key));
        if self.field.is_some() { Verdict::Take } else { Verdict::Skip }
    }

    fn value(&mut self, kind: Kind) -> Verdict {
        if self.arguments.is_open() {
            return self.arguments.value(kind);
        }
        match (self.containers.last(), self.field, kind) {
            (None, _, Kind::Object) => self.enter(Container::Root),
            (None, ..) => Verdict::Finish,
            (Some(Container::Content), _, Kind::Object) => {
                self.begin_part();
                self.enter(Container::Part)
            }
            (Some(Container::Content), ..) => Verdict::Skip,
            (_, Some(Field::Message), Kind::Object) => self.enter(Container::Message),
            (_, Some(Field::Content), Kind::Array) => self.enter(Container::Content),
            (_, Some(Field::Content), Kind::String) => {
                self.begin_part();
                Verdict::Take
            }
            (_, Some(Field::PartArguments), _) => {
                self.arguments.clear();
                self.arguments.value(kind)
            }
            (_, Some(_), Kind::String) => {
                self.short.clear();
                Verdict::Take
            }
            (_, _, Kind::Word) => Verdict::Take,
            _ => Verdict::Skip,
        }
    }

    fn text(&mut self, part: &str) {
        match self.field {
            _ if self.arguments.is_open() => self.arguments.text(part),
            Some(Field::PartArguments) => self.arguments.text(part),
            Some(Field::PartText | Field::Content) => self.text.push(part),
            _ => self.short.push(part),
        }
    }

    fn text_end(&mut self) -> Verdict {
        if self.arguments.is_open() || self.field == Some(Field::PartArguments) {
            self.arguments.text_end();
            return Verdict::Take;
        }
        match self.field {
            Some(Field::Content) => {
                self.values[Field::PartType as usize] = Some("text".to_owned());
                self.end_part();
            }
            Some(field) => self.values[field as usize] = Some(self.short.to_text().0),
            None => {}
        }
        self.verdict()
    }

    fn word(&mut self, word: Word<'_>) {
        if self.arguments.is_open() {
            return self.arguments.word(word);
        }
        match (self.field, word) {
            (Some(Field::PartArguments), word) => self.arguments.word(word),
            (Some(field @ Field::Parent), Word::Null) => self.values[field as usize] = Some(String::new()),
            (Some(Field::IsError), Word::Bool(value)) => self.is_error = value,
            _ => {}
        }
    }

    fn close(&mut self) {
        if self.arguments.is_open() {
            return self.arguments.close();
        }
        self.field = None;
        if self.containers.pop() == Some(Container::Part) {
            self.end_part();
        }
    }
}
