//! The wanted fields of one event.

use super::control::Control;
use super::message::{Message, Part};
use super::names::{Container, EventKind, Field, UpdateKind};
use crate::text::{HeadTail, Mark, Tail, floor_char_boundary};

/// Bytes kept of one delta, and of the live text that it goes into.
pub(in crate::event) const MAX_LIVE: usize = 64 * 1024;
/// Bytes kept of an error message and of every other short string.
const MAX_SHORT: usize = 8 * 1024;
/// Bytes kept of names and identifiers.
const MAX_NAME: usize = 1024;

/// The wanted fields of the record being read.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the record")]
pub(in crate::event) struct Record {
    pub(in crate::event) kind: Option<EventKind>,
    /// The name of an ignored or unknown event type, empty for the others.
    pub(in crate::event) type_name: String,
    pub(in crate::event) message: Message,
    pub(in crate::event) update: Option<UpdateKind>,
    pub(in crate::event) delta: Tail,
    pub(in crate::event) has_delta: bool,
    pub(in crate::event) tool_call_id: Option<String>,
    pub(in crate::event) tool_name: Option<String>,
    pub(in crate::event) will_retry: Option<bool>,
    pub(in crate::event) control: Control,
    /// The model is known already, so only the role of a `message_start` matters. Kept over records.
    pub(in crate::event) knows_model: bool,
    /// This pi ends its work with `agent_settled`. Set by the fold, kept over records.
    pub(in crate::event) announces_end: bool,

    pub(in crate::event) containers: Vec<Container>,
    pub(in crate::event) field: Option<Field>,
    pub(in crate::event) part: Part,
    pub(in crate::event) short: HeadTail,
    /// A message was entered and must be cleared.
    pub(in crate::event) has_message: bool,
}

impl Record {
    pub(in crate::event) const fn new() -> Self {
        Self {
            kind: None,
            type_name: String::new(),
            message: Message::new(),
            update: None,
            delta: Tail::new(MAX_LIVE),
            has_delta: false,
            tool_call_id: None,
            tool_name: None,
            will_retry: None,
            control: Control::new(),
            knows_model: false,
            announces_end: false,
            containers: Vec::new(),
            field: None,
            part: Part::new(),
            short: HeadTail::new(MAX_SHORT),
            has_message: false,
        }
    }

    /// Prepares for the next record.
    pub(in crate::event) fn clear(&mut self) {
        self.kind = None;
        self.type_name.clear();
        self.containers.clear();
        self.field = None;
        self.update = None;
        self.delta.clear();
        self.has_delta = false;
        self.tool_call_id = None;
        self.tool_name = None;
        self.will_retry = None;
        self.control.clear();
        if std::mem::take(&mut self.has_message) {
            self.message.clear();
            self.part.clear(Mark::START);
        }
    }

    pub(in crate::event) fn memory_bytes(&self) -> usize {
        self.type_name.capacity()
            + self.message.memory_bytes()
            + self.delta.memory_bytes()
            + self.part.memory_bytes()
            + self.control.memory_bytes()
            + self.short.memory_bytes()
            + 8 * MAX_NAME
    }

    /// Whether the rest of the record holds nothing that is wanted.
    pub(in crate::event) fn is_enough(&self) -> bool {
        match self.kind {
            None => false,
            Some(EventKind::MessageStart) => match self.message.is_assistant {
                Some(true) => {
                    self.knows_model || (self.message.provider.is_some() && self.message.model.is_some())
                }
                Some(false) => true,
                None => false,
            },
            Some(EventKind::MessageEnd) => self.message.is_assistant == Some(false),
            Some(EventKind::MessageUpdate) => {
                matches!(self.update, Some(UpdateKind::TextStart | UpdateKind::Other))
            }
            // The result of a tool is skipped.
            Some(EventKind::ToolStart) => self.tool_call_id.is_some() && self.tool_name.is_some(),
            Some(EventKind::ToolEnd) => self.tool_call_id.is_some(),
            // It repeats all messages, and says after them only whether a retry follows.
            Some(EventKind::AgentEnd) if self.announces_end => true,
            Some(EventKind::UiRequest) => self.control.is_no_question(),
            Some(kind) => !kind.has_body(),
        }
    }

    pub(in crate::event) fn has_whole_delta(&self) -> bool {
        self.kind == Some(EventKind::MessageUpdate)
            && self.update == Some(UpdateKind::TextDelta)
            && self.has_delta
    }

    /// The current short string as a name.
    pub(in crate::event) fn name(&self) -> String {
        short_name(&self.short).to_owned()
    }
}

/// The beginning of a string, as long as a name may be.
pub(in crate::event) fn short_name(text: &HeadTail) -> &str {
    let head = text.head();
    &head[..floor_char_boundary(head, MAX_NAME)]
}
