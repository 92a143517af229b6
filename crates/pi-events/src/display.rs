//! The newest texts and tool calls of a run, for display. A tool call is one line, worded like pi's own tools.

use sanitizer::{ceil_char_boundary, one_line, without_controls};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::newest::{Measured, Newest};

/// The maximum number of stored items, more than a screen shows.
const MAX_ITEMS: usize = 64;
/// The maximum size of all items as JSON, in bytes. The limit keeps an update small that also carries the live text.
const MAX_JSON_BYTES: usize = 48 * 1024;
/// Bytes by which the ends of two texts are compared.
const COMPARED_BYTES: usize = 200;

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
        /// True if the call has failed. Absent in what earlier releases stored.
        #[serde(default, rename = "isError", skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        /// pi's id of the call, which its end names. Only of an item that the collector holds.
        #[serde(skip)]
        id: Option<String>,
    },
}

/// The newest items within bounds.
pub(super) type DisplayItems = Newest<DisplayItem, MAX_ITEMS, MAX_JSON_BYTES>;

impl DisplayItem {
    /// Creates a call of a tool. Leaves out arguments that are too large as JSON. Bounded arguments only become this
    /// large if they contain control characters, which take six bytes each.
    #[must_use]
    pub fn tool_call(name: String, args: Value) -> Self {
        let call = |name, args| Self::ToolCall { name, args, is_error: false, id: None };
        match call(name, args) {
            long @ Self::ToolCall { .. } if long.json_bytes() > MAX_JSON_BYTES => match long {
                Self::ToolCall { name, .. } => call(name, "[arguments omitted]".into()),
                text @ Self::Text { .. } => text,
            },
            item => item,
        }
    }

    /// Sets pi's id of a call.
    pub(super) fn with_id(mut self, call_id: Option<String>) -> Self {
        if let Self::ToolCall { id, .. } = &mut self {
            *id = call_id;
        }
        self
    }

    /// Notes that the call with this id has failed. Returns false if this item is another one.
    pub(super) fn fail(&mut self, call_id: &str) -> bool {
        match self {
            Self::ToolCall { id, is_error, .. } if id.as_deref() == Some(call_id) => {
                *is_error = true;
                true
            }
            _ => false,
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

/// Returns the current text of a run, whose items are its texts, and `None` for each call: nothing while the run makes the calls that
/// followed its last text.
#[must_use]
pub fn current_text<'text, 'item>(
    text: &'text str,
    items: impl DoubleEndedIterator<Item = Option<&'item str>>,
) -> &'text str {
    let text = text.trim();
    let mut newest = items.rev();
    if newest.next() != Some(None) {
        return text;
    }
    // Both may lack the beginning of a long text.
    let end = |text: &str| ceil_char_boundary(text, text.len().saturating_sub(COMPARED_BYTES));
    let is_same = |last: &str| text.ends_with(&last[end(last)..]);
    if newest.flatten().next().is_some_and(|last| is_same(last.trim())) { "" } else { text }
}

/// Counts the bytes that JSON's escapes add to a text.
fn escapes(text: &str) -> usize {
    /// The bytes that are counted at once, in one vector register or two.
    const LANES: usize = 32;
    /// Each byte adds at most 5, so that as many rows fit a lane.
    const ROWS: usize = u8::MAX as usize / 5;
    let added = |byte: u8| {
        let has_name = matches!(byte, b'"' | b'\\' | b'\n' | b'\t' | b'\r' | 8 | 12);
        u8::from(has_name) + 5 * u8::from(byte < b' ' && !has_name)
    };
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| usize::from(added(byte))).sum::<usize>();
    let (rows, rest) = text.as_bytes().as_chunks::<LANES>();
    let sums = rows.chunks(ROWS).map(|rows| {
        let mut lanes = [0_u8; LANES];
        for row in rows {
            for (lane, &byte) in lanes.iter_mut().zip(row) {
                *lane += added(byte);
            }
        }
        lanes.iter().map(|&lane| usize::from(lane)).sum::<usize>()
    });
    sums.sum::<usize>() + sum(rest)
}

impl Measured for DisplayItem {
    fn bytes(&self) -> usize {
        // With the brackets of a list, or a comma.
        self.json_bytes() + 2
    }
}

/// The maximum length of an argument value of a tool that is not pi's own, in characters.
const MAX_VALUE_CHARS: usize = 60;
/// The maximum number of characters of a text that are read. A `write` contains a whole file.
const MAX_INPUT_CHARS: usize = 2_000;
/// The maximum length of the line in characters, more columns than any screen has.
const MAX_LINE_CHARS: usize = 300;

/// Returns the line that a card shows: `$ cargo test`, `read ~/p.rs:1-10`, `grep /a b/ in src (*.rs)`,
/// `web_search "…" limit=5`.
///
/// Control sequences and line breaks are removed, and the line has at most 300 characters. It is not sanitized.
/// Sanitize the arguments first, which also turns a home directory into `~`.
#[must_use]
pub fn short_form(name: &str, arguments: &Value) -> String {
    let nothing = Map::new();
    let args = arguments.as_object().unwrap_or(&nothing);
    let line = match name {
        "bash" | "powershell" => format!("$ {}", or(text(args, "command"), "…")),
        "read" => format!("read {}{}", path(args, "…"), range(args)),
        "grep" => format!("grep /{}/{}{}", text(args, "pattern"), place(args), filter(args)),
        "find" => format!("find {}{}", or(text(args, "pattern"), "*"), place(args)),
        "ls" => format!("ls {}", path(args, ".")),
        "edit" | "write" => format!("{name} {}", path(args, "…")),
        _ => format!("{} {}", line_of(name, MAX_VALUE_CHARS), compact(arguments)),
    };
    one_line(&line, MAX_LINE_CHARS).into_string()
}

/// Puts a text of the model on one line.
fn line_of(text: &str, max_chars: usize) -> String {
    one_line(&without_controls(text), max_chars).into_string()
}

/// Returns a text argument on one line, or an empty text if the argument is missing or not a text.
fn text(args: &Map<String, Value>, key: &str) -> String {
    args.get(key).and_then(Value::as_str).map(|value| line_of(value, MAX_INPUT_CHARS)).unwrap_or_default()
}

fn or(text: String, absent: &str) -> String {
    if text.is_empty() { absent.to_owned() } else { text }
}

fn path(args: &Map<String, Value>, absent: &str) -> String {
    or(or(text(args, "path"), &text(args, "file_path")), absent)
}

fn place(args: &Map<String, Value>) -> String {
    format!(" in {}", or(text(args, "path"), "."))
}

fn filter(args: &Map<String, Value>) -> String {
    let glob = text(args, "glob");
    if glob.is_empty() { glob } else { format!(" ({glob})") }
}

/// Formats a range of lines: `:3-12` with a limit, `:3` without a limit.
fn range(args: &Map<String, Value>) -> String {
    let given = |key: &str| args.get(key).filter(|value| !value.is_null());
    let offset = given("offset").and_then(count);
    let limit = given("limit").and_then(count);
    let first = match (offset, given("limit")) {
        (Some(offset), _) => offset,
        (None, Some(_)) => 1,
        (None, None) => return String::new(),
    };
    match limit.filter(|limit| *limit > 0) {
        Some(limit) => format!(":{first}-{}", first.saturating_add(limit - 1)),
        None => format!(":{first}"),
    }
}

/// Reads a whole number, even if the model wrote it as text.
fn count(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the cast saturates, and lines are counted in whole numbers"
        )]
        value => value.as_i64().or_else(|| value.as_f64().map(|number| number as i64)),
    }
}

/// Formats arguments as `query="…" limit=5`, and a single text argument without its name.
fn compact(arguments: &Value) -> String {
    let Value::Object(args) = arguments else {
        return if arguments.is_null() { String::new() } else { shown(arguments) };
    };
    let present: Vec<_> = args.iter().filter(|(_, value)| !value.is_null()).collect();
    if let [(_, only @ Value::String(_))] = present[..] {
        return shown(only);
    }
    let entry =
        |(key, value): (&String, &Value)| format!("{}={}", line_of(key, MAX_VALUE_CHARS), shown(value));
    present.into_iter().map(entry).collect::<Vec<_>>().join(" ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => line_of(text, MAX_VALUE_CHARS),
        value => line_of(&value.to_string(), MAX_VALUE_CHARS),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    fn text_is_current_until_a_tool_call_follows() {
        let long = "é".repeat(COMPARED_BYTES);
        let longer = format!("Before.{long}");
        for (text, items, expected) in [
            ("I look.", vec![], "I look."),
            ("I look.", vec![Some("I look.")], "I look."),
            ("I look.\n", vec![Some("I look."), None, None], ""),
            ("Now I", vec![Some("I look."), None], "Now I"),
            // The first call came without a word.
            ("It is", vec![None], "It is"),
            ("", vec![None], ""),
            (&long, vec![Some(longer.as_str()), None], ""),
        ] {
            assert_eq!(current_text(text, items.into_iter()), expected, "{text}");
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
            let whole = DisplayItem::ToolCall { name: "bash".to_owned(), args, is_error: false, id: None };
            assert_eq!(call == whole, is_retained);
        }
    }

    #[test]
    fn a_tool_call_is_one_line_as_in_pi() {
        let long = "x".repeat(400);
        for (name, args, expected) in [
            ("bash", json!({ "command": "cargo test\n  --all" }), "$ cargo test --all"),
            ("bash", json!({ "command": "ls \u{1b}[31m\u{1b}]0;x\u{7}\u{202e}a" }), "$ ls a"),
            ("bash", json!({}), "$ …"),
            ("powershell", json!({ "command": "dir" }), "$ dir"),
            ("read", json!({ "path": "~/p" }), "read ~/p"),
            ("read", json!({ "file_path": "a.rs", "offset": 5, "limit": 10 }), "read a.rs:5-14"),
            ("read", json!({ "path": "a.rs", "offset": "5" }), "read a.rs:5"),
            ("read", json!({ "path": "a.rs", "limit": 10.0 }), "read a.rs:1-10"),
            (
                "read",
                json!({ "path": "a.rs", "offset": i64::MAX, "limit": i64::MAX }),
                "read a.rs:9223372036854775807-9223372036854775807",
            ),
            ("read", json!("nonsense"), "read …"),
            ("grep", json!({ "pattern": "a b", "path": "src", "glob": "*.rs" }), "grep /a b/ in src (*.rs)"),
            ("find", json!({}), "find * in ."),
            ("ls", json!({}), "ls ."),
            ("write", json!({ "path": "a", "content": long }), "write a"),
            ("web_search", json!({ "query": "rust" }), "web_search rust"),
            ("lsp", json!({ "action": "hover", "line": 5, "none": null }), "lsp action=hover line=5"),
            ("tool\u{1b}[31m", json!({ "a": [1, 2] }), "tool a=[1,2]"),
            ("now", json!(null), "now"),
        ] {
            assert_eq!(short_form(name, &args), expected, "{name} {args}");
        }
        let line = short_form("bash", &json!({ "command": long }));
        assert!(line.chars().count() <= MAX_LINE_CHARS && line.ends_with('…'), "{line}");
        let value = short_form("other", &json!({ "query": long }));
        assert_eq!(value.chars().count(), "other ".len() + MAX_VALUE_CHARS, "{value}");
    }
}
