//! What a person is shown of a run: texts and tool calls, the newest of them.

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
    pub(super) const fn new() -> Self {
        Self { items: Vec::new(), sizes: Vec::new() }
    }

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

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.sizes.clear();
    }

    pub(super) fn as_slice(&self) -> &[DisplayItem] {
        &self.items
    }

    pub(super) fn into_vec(self) -> Vec<DisplayItem> {
        self.items
    }

    /// An estimate: what the items take as JSON, and the same again for the tree they are.
    pub(super) fn memory_bytes(&self) -> usize {
        2 * self.sizes.iter().sum::<usize>() + self.items.capacity() * size_of::<DisplayItem>()
    }
}

fn json_bytes(item: &DisplayItem) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, item).expect("a counter accepts everything and the keys are strings");
    counter.0
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
