//! The `message` of a record, and the current part of its content.

use super::arguments::Arguments;
use super::names::PartKind;
use crate::event::display::{DisplayItem, DisplayItems};
use crate::event::stop_reason::StopReason;
use crate::event::usage::Usage;
use crate::text::{HeadTail, Mark};

/// Bytes of text kept of one message: head and tail.
const MAX_TEXT: usize = 1024 * 1024;
/// Bytes of a text block that are displayed.
const MAX_DISPLAY_TEXT: usize = 4 * 1024;

/// The wanted fields of a `message`.
#[derive(Debug)]
pub(in crate::event) struct Message {
    pub(in crate::event) is_assistant: Option<bool>,
    pub(in crate::event) is_system: bool,
    pub(in crate::event) text: HeadTail,
    text_parts: u32,
    pub(in crate::event) has_tool_call: bool,
    pub(in crate::event) items: DisplayItems,
    pub(in crate::event) provider: Option<String>,
    pub(in crate::event) model: Option<String>,
    pub(in crate::event) usage: Usage,
    pub(in crate::event) stop_reason: Option<StopReason>,
    pub(in crate::event) error: Option<String>,
}

/// The current part of the content.
#[derive(Debug)]
pub(in crate::event) struct Part {
    pub(in crate::event) kind: PartKind,
    /// State of the message's text before this part.
    pub(in crate::event) mark: Mark,
    pub(in crate::event) has_text: bool,
    pub(in crate::event) text: HeadTail,
    pub(in crate::event) name: Option<String>,
    pub(in crate::event) arguments: Arguments,
}

impl Message {
    pub(in crate::event) const fn new() -> Self {
        Self {
            is_assistant: None,
            is_system: false,
            text: HeadTail::new(MAX_TEXT),
            text_parts: 0,
            has_tool_call: false,
            items: DisplayItems::new(),
            provider: None,
            model: None,
            usage: Usage::ZERO,
            stop_reason: None,
            error: None,
        }
    }

    pub(in crate::event) fn take_text(&mut self) -> HeadTail {
        std::mem::replace(&mut self.text, HeadTail::new(MAX_TEXT))
    }

    pub(in crate::event) fn clear(&mut self) {
        self.is_assistant = None;
        self.is_system = false;
        self.clear_content();
        self.provider = None;
        self.model = None;
        self.usage = Usage::ZERO;
        self.stop_reason = None;
        self.error = None;
    }

    pub(in crate::event) fn clear_content(&mut self) {
        // Long answers are rare, so their buffers are freed.
        self.text = HeadTail::new(MAX_TEXT);
        self.text_parts = 0;
        self.has_tool_call = false;
        self.items.clear();
    }

    /// Call before the text of another block.
    pub(in crate::event) fn begin_text(&mut self) {
        if self.text_parts > 0 {
            self.text.push("\n");
        }
    }

    /// Adds a finished part of the content.
    pub(in crate::event) fn part_ended(&mut self, part: &mut Part) {
        match part.kind {
            PartKind::Text if part.has_text => {
                self.text_parts += 1;
                if !part.text.is_empty() {
                    self.items.push(DisplayItem::Text { text: part.text.to_text().0 });
                }
            }
            PartKind::ToolCall => {
                self.text.rewind(part.mark);
                self.has_tool_call = true;
                let name = part.name.take().unwrap_or_default();
                let args = part.arguments.take().unwrap_or_default();
                self.items.push(DisplayItem::ToolCall { name, args });
            }
            PartKind::Text | PartKind::Other => self.text.rewind(part.mark),
        }
    }

    pub(in crate::event) fn memory_bytes(&self) -> usize {
        self.text.memory_bytes() + self.items.memory_bytes()
    }
}

impl Part {
    pub(in crate::event) const fn new() -> Self {
        Self {
            kind: PartKind::Other,
            mark: Mark::START,
            has_text: false,
            text: HeadTail::new(MAX_DISPLAY_TEXT),
            name: None,
            arguments: Arguments::new(),
        }
    }

    pub(in crate::event) fn clear(&mut self, mark: Mark) {
        self.kind = PartKind::Other;
        self.mark = mark;
        self.has_text = false;
        self.text.clear();
        self.name = None;
        self.arguments.clear();
    }

    pub(in crate::event) fn memory_bytes(&self) -> usize {
        self.text.memory_bytes() + self.arguments.memory_bytes()
    }
}
