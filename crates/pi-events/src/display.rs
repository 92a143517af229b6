//! The newest texts and tool calls of a run, for display.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::newest::{Measured, Newest};

/// The maximum number of stored items, more than a screen shows.
const MAX_ITEMS: usize = 64;
/// The maximum size of all items as JSON, in bytes. The limit keeps an update small that also carries the live text.
const MAX_JSON_BYTES: usize = 48 * 1024;

/// A part of an assistant message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum DisplayItem {
    /// A text block, or the head and tail of a long block.
    Text {
        /// The text.
        text: String,
    },
    /// A call of a tool.
    ToolCall {
        /// The tool.
        name: String,
        /// Its arguments; long strings are cut in the middle, and entries above the limit are left out.
        args: Value,
    },
}

/// The newest items within bounds.
pub(super) type DisplayItems = Newest<DisplayItem, MAX_ITEMS, MAX_JSON_BYTES>;

impl DisplayItem {
    /// Creates a call of a tool. Leaves out arguments that are too large as JSON. Bounded arguments only become this
    /// large if they contain control characters, which take six bytes each.
    pub(super) fn tool_call(name: String, args: Value) -> Self {
        let call = Self::ToolCall { name, args };
        match call {
            Self::ToolCall { name, .. } if call.json_bytes() > MAX_JSON_BYTES => {
                Self::ToolCall { name, args: "[arguments omitted]".into() }
            }
            call => call,
        }
    }

    /// Returns the size as JSON, in bytes.
    #[must_use]
    pub fn json_bytes(&self) -> usize {
        match self {
            // Answers can be long, and each is measured. Without a branch for each byte, this takes a third of the time
            // of writing the JSON.
            Self::Text { text } => r#"{"type":"text","text":""}"#.len() + text.len() + escapes(text),
            Self::ToolCall { .. } => serde_json::to_string(self).map_or(0, |json| json.len()),
        }
    }
}

/// Counts the bytes that JSON's escapes add to a text.
fn escapes(text: &str) -> usize {
    let added = |byte: u8| {
        let has_name = matches!(byte, b'"' | b'\\' | b'\n' | b'\t' | b'\r' | 8 | 12);
        u32::from(has_name) + 5 * u32::from(byte < b' ' && !has_name)
    };
    text.as_bytes()
        .chunks(4096)
        .map(|chunk| chunk.iter().map(|&byte| added(byte)).sum::<u32>() as usize)
        .sum()
}

impl Measured for DisplayItem {
    fn bytes(&self) -> usize {
        // With the brackets of a list, or a comma.
        self.json_bytes() + 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: String) -> DisplayItem {
        DisplayItem::Text { text }
    }

    #[test]
    fn a_text_counts_with_its_size_as_json() {
        let all: String = (0..0x250).filter_map(char::from_u32).collect();
        for text in [String::new(), "plain".to_owned(), all.repeat(9), "\"".repeat(5000)] {
            let item = DisplayItem::Text { text };
            assert_eq!(
                item.json_bytes(),
                serde_json::to_string(&item).expect("the value is serialized").len()
            );
        }
    }

    #[test]
    fn the_newest_items_stay() {
        let mut items = DisplayItems::default();
        (0..100).for_each(|i| drop(items.push(text(i.to_string()))));
        assert_eq!(items.items.len(), MAX_ITEMS);
        assert_eq!(items.items.last(), Some(&text("99".to_owned())));
        (0..100).for_each(|_| drop(items.push(text("\0".repeat(1000)))));
        assert_eq!(items.items.len(), 8, "eight texts of 6 KB fit");
    }

    #[test]
    fn arguments_that_grow_as_json_are_omitted() {
        for (count, is_retained) in [(1, true), (16 * 1024, false)] {
            let args = Value::String("\u{1}".repeat(count));
            let call = DisplayItem::tool_call("bash".to_owned(), args.clone());
            assert_eq!(call == DisplayItem::ToolCall { name: "bash".to_owned(), args }, is_retained);
        }
    }
}
