//! The newest texts and tool calls of a run, for display.

use serde::Serialize;
use serde_json::Value;

/// Items kept at most; more than a screen shows.
const MAX_ITEMS: usize = 64;
/// Bytes of JSON that the items take together, so that an update with the live text beside them stays small.
const MAX_JSON_BYTES: usize = 48 * 1024;

/// A part of an assistant message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum DisplayItem {
    /// A text block; head and tail of a long one.
    Text {
        /// The text.
        text: String,
    },
    /// A call of a tool.
    ToolCall {
        /// The tool.
        name: String,
        /// Its arguments; long strings are cut in the middle, entries beyond a bound are left out.
        args: Value,
    },
}

/// The newest items within bounds.
#[derive(Debug, Clone, Default)]
pub(super) struct DisplayItems {
    items: Vec<DisplayItem>,
    sizes: Vec<usize>,
}

impl DisplayItems {
    pub(super) fn push(&mut self, mut item: DisplayItem) {
        let mut size = json_bytes(&item);
        if size > MAX_JSON_BYTES
            && let DisplayItem::ToolCall { args, .. } = &mut item
        {
            // Only control characters, six bytes each as JSON, make bounded arguments so large.
            *args = Value::String("[arguments omitted]".to_owned());
            size = json_bytes(&item);
        }
        self.items.push(item);
        self.sizes.push(size);
        let mut total: usize = self.sizes.iter().sum();
        let mut surplus = self.items.len().saturating_sub(MAX_ITEMS);
        total -= self.sizes[..surplus].iter().sum::<usize>();
        while total > MAX_JSON_BYTES {
            total -= self.sizes[surplus];
            surplus += 1;
        }
        self.items.drain(..surplus);
        self.sizes.drain(..surplus);
    }

    pub(super) fn append(&mut self, other: &mut Self) {
        other.items.drain(..).for_each(|item| self.push(item));
        other.sizes.clear();
    }

    pub(super) fn as_slice(&self) -> &[DisplayItem] {
        &self.items
    }

    pub(super) fn into_vec(self) -> Vec<DisplayItem> {
        self.items
    }
}

/// An upper bound of what an item takes as JSON.
fn json_bytes(item: &DisplayItem) -> usize {
    match item {
        DisplayItem::Text { text } => 24 + string_bytes(text),
        DisplayItem::ToolCall { name, args } => 40 + string_bytes(name) + value_bytes(args),
    }
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 25,
        Value::String(text) => string_bytes(text),
        Value::Array(values) => 2 + values.iter().map(|value| 1 + value_bytes(value)).sum::<usize>(),
        Value::Object(map) => {
            2 + map.iter().map(|(key, value)| 2 + string_bytes(key) + value_bytes(value)).sum::<usize>()
        }
    }
}

/// A control character takes six bytes, a quote or a backslash two.
fn string_bytes(text: &str) -> usize {
    let extra = |byte: &u8| match byte {
        0..0x20 => 5,
        b'"' | b'\\' => 1,
        _ => 0,
    };
    2 + text.len() + text.as_bytes().iter().map(extra).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: String) -> DisplayItem {
        DisplayItem::Text { text }
    }

    #[test]
    fn the_newest_items_stay() {
        let mut items = DisplayItems::default();
        (0..100).for_each(|i| items.push(text(i.to_string())));
        assert_eq!(items.as_slice().len(), MAX_ITEMS);
        assert_eq!(items.as_slice().last(), Some(&text("99".to_owned())));
        (0..100).for_each(|_| items.push(text("\0".repeat(1000))));
        assert_eq!(items.as_slice().len(), 8, "6 KB of JSON each");
    }

    #[test]
    fn arguments_that_grow_as_json_are_left_out() {
        let mut items = DisplayItems::default();
        items.push(text("before".to_owned()));
        let args = Value::String("\u{1}".repeat(16 * 1024));
        items.push(DisplayItem::ToolCall { name: "bash".to_owned(), args });
        assert_eq!(items.as_slice().len(), 2);
    }
}
