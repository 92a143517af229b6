//! The `message` of a record, and the current part of its content.

use super::arguments::Arguments;
use super::names::PartKind;
use crate::display::{DisplayItem, DisplayItems};
use crate::usage::Usage;
use sanitizer::HeadTail;

/// The maximum number of stored bytes of one message's text: its head and tail.
const MAX_TEXT: usize = 1024 * 1024;
/// The maximum number of displayed bytes of a text block.
const MAX_DISPLAY_TEXT: usize = 4 * 1024;

/// The wanted fields of a `message`.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub(super) role: Option<String>,
    pub(crate) content: Content,
    pub(super) part: Part,
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) stop_reason: Option<String>,
    pub(crate) error: Option<String>,
}

/// The collected content of a message.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) text: HeadTail,
    text_parts: u32,
    pub(crate) has_tool_call: bool,
    pub(crate) items: DisplayItems,
}

/// The current part of the content.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Option<PartKind>,
    /// The length of the message's text before this part.
    mark: u64,
    has_text: bool,
    text: HeadTail,
    pub(super) name: Option<String>,
    pub(super) id: Option<String>,
    pub(super) arguments: Arguments,
}

impl Default for Content {
    fn default() -> Self {
        Self {
            text: HeadTail::new(MAX_TEXT),
            text_parts: 0,
            has_tool_call: false,
            items: DisplayItems::default(),
        }
    }
}

impl Default for Part {
    fn default() -> Self {
        Self {
            kind: None,
            mark: 0,
            has_text: false,
            text: HeadTail::new(MAX_DISPLAY_TEXT),
            name: None,
            id: None,
            arguments: Arguments::new(),
        }
    }
}

impl Message {
    /// Call before the content.
    pub(super) fn begin_content(&mut self) {
        // Long answers are rare, so their buffers are freed.
        self.content = Content::default();
        self.part = Part::default();
    }

    /// Call before a part of the content.
    pub(super) fn begin_part(&mut self) {
        self.part = Part { mark: self.content.text.pushed_bytes(), ..Part::default() };
    }

    /// Call before the text of a part.
    pub(super) fn begin_text(&mut self) {
        // The last of two keys of the same name counts.
        self.content.text.rewind(self.part.mark);
        if self.content.text_parts > 0 {
            self.content.text.push("\n");
        }
        self.part.text.clear();
        self.part.has_text = true;
    }

    /// Adds to the text of the part.
    pub(crate) fn text(&mut self, part: &str) {
        self.content.text.push(part);
        self.part.text.push(part);
    }

    /// Call after a part of the content.
    pub(super) fn end_part(&mut self) {
        let content = &mut self.content;
        let part = &mut self.part;
        match part.kind {
            Some(PartKind::Text) if part.has_text => {
                content.text_parts += 1;
                if !part.text.is_empty() {
                    content.items.push(DisplayItem::Text { text: part.text.to_text().0 });
                }
            }
            Some(PartKind::ToolCall) => {
                content.text.rewind(part.mark);
                content.has_tool_call = true;
                let name = part.name.take().unwrap_or_default();
                let args = part.arguments.take().unwrap_or_default();
                content.items.push(DisplayItem::tool_call(name, args).with_id(part.id.take()));
            }
            Some(PartKind::Text) | None => content.text.rewind(part.mark),
        }
    }
}
