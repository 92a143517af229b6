//! Finds a record that does not begin its line.
//!
//! An extension, or a program that it starts, may write to the child's standard output without a line end: a terminal
//! bell, a title, a progress bar. The next record of pi then comes after these bytes, on the same line.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::names::{EventKind, is_unknown};

/// The maximum length of an event's name, in bytes. The longest known name has 32.
const MAX_NAME: usize = 40;
/// The maximum length of the id of a response, in bytes. Our ids have at most 8.
const MAX_ID: usize = 64;

/// Within one record, a closing brace is never followed by an opening one and a quote: not in its structure, and in its
/// strings a quote is escaped.
static AFTER_RECORD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"}{\""));
static AFTER_TEXT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"{\""));

/// The possible beginnings of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// A record begins at this byte.
    At(usize),
    /// A record may begin at this byte. That depends on the next bytes. At most 128 bytes are undecided.
    Undecided(usize),
    /// No record begins in these bytes.
    NotFound,
}

/// Finds the first record in `bytes`, which are part of a line. If the line is a record itself, only a record directly
/// after it counts. `ends` is true if the line ends with these bytes.
pub(crate) fn find(bytes: &[u8], is_record: bool, ends: bool) -> Start {
    let (finder, before) = if is_record { (&AFTER_RECORD, 1) } else { (&AFTER_TEXT, 0) };
    for at in finder.find_iter(bytes) {
        match begins_record(&bytes[at + before..]) {
            Some(true) => return Start::At(at + before),
            None if !ends => return Start::Undecided(at),
            None | Some(false) => {}
        }
    }
    let needle = finder.needle();
    let rest = (1..needle.len()).rev().find(|&length| bytes.ends_with(&needle[..length]));
    match rest {
        Some(length) if !ends => Start::Undecided(bytes.len() - length),
        _ => Start::NotFound,
    }
}

/// Returns true if `bytes` begin as pi writes a record: with the name of a known event, or with the id of a response.
/// Returns `None` if the bytes are too few to tell.
fn begins_record(bytes: &[u8]) -> Option<bool> {
    match (after(bytes, br#"{"type":""#), after(bytes, br#"{"id":""#)) {
        (Some(Some(rest)), _) => {
            let name = quoted(rest, MAX_NAME)?;
            let name = name.and_then(|name| std::str::from_utf8(name).ok());
            Some(name.is_some_and(|name| EventKind::of(name) != EventKind::Other || !is_unknown(name)))
        }
        (_, Some(Some(rest))) => {
            let Some(id) = quoted(rest, MAX_ID)? else { return Some(false) };
            let is_response = after(&rest[id.len()..], br#"","type":"response""#);
            is_response.map(|rest| rest.is_some())
        }
        (Some(None), Some(None)) => Some(false),
        _ => None,
    }
}

/// Returns the bytes after `prefix`, `Some(None)` if the bytes begin differently, and `None` if they are too few to
/// tell.
#[expect(clippy::option_option, reason = "the three cases have no other name")]
fn after<'a>(bytes: &'a [u8], prefix: &[u8]) -> Option<Option<&'a [u8]>> {
    match bytes.strip_prefix(prefix) {
        None if prefix.starts_with(bytes) => None,
        rest => Some(rest),
    }
}

/// Returns a text of at most `limit` bytes up to a quote, `Some(None)` if it is longer, and `None` if its end is not
/// known yet.
#[expect(clippy::option_option, reason = "the three cases have no other name")]
fn quoted(bytes: &[u8], limit: usize) -> Option<Option<&[u8]>> {
    match bytes.iter().take(limit + 1).position(|byte| matches!(byte, b'"' | b'\\')) {
        Some(end) => Some((bytes[end] == b'"').then(|| &bytes[..end])),
        None if bytes.len() > limit => Some(None),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_found_after_other_output() {
        use Start::{At, NotFound, Undecided};
        let long = format!(r#"{{"id":"{}","type":"response""#, "x".repeat(MAX_ID + 1));
        let cases: &[(&str, bool, Start)] = &[
            (r#"x{"type":"agent_end","messages":[]}"#, false, At(1)),
            (r#"{"a":1} {"type":"agent_end"}"#, false, At(8)),
            (r#"x{"id":"prompt","type":"response","#, false, At(1)),
            (r#"{"type":"x"}{"type":"agent_end"}"#, true, At(12)),
            (r#"{"type":"x"} {"type":"agent_end""#, true, NotFound),
            (r#"x{"type":"text"}"#, false, NotFound),
            (r#"x{"type": "agent_end"}"#, false, NotFound),
            (r#"x{\"type\":\"agent_end\"}"#, false, NotFound),
            (r#"x{"id":"1","name":"response"}"#, false, NotFound),
            (&long, false, NotFound),
            (r#"x{"type":"agent_e"#, false, Undecided(1)),
            (r#"x{"ty"#, false, Undecided(1)),
            (r#"x{"id":"prompt","typ"#, false, Undecided(1)),
            ("x{", false, Undecided(1)),
            (r#"{"a":{}"#, true, Undecided(6)),
            (r#"{"a":{}{"typ"#, true, Undecided(6)),
        ];
        for (bytes, is_record, expected) in cases {
            let bytes = bytes.as_bytes();
            assert_eq!(find(bytes, *is_record, false), *expected, "{}", String::from_utf8_lossy(bytes));
            let whole = if matches!(expected, Undecided(_)) { NotFound } else { *expected };
            assert_eq!(find(bytes, *is_record, true), whole, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
