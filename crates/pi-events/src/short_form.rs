//! A tool call in one line, worded like pi's own tools.

use serde_json::{Map, Value};

use sanitizer::{one_line, without_controls};

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
