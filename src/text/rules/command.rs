//! Passwords that programs take as an argument of a flag that says nothing.

use std::ops::Range;

use super::cursor::{Cursor, Quote};
use super::look::{Look, look};
use super::scan::Found;
use crate::text::sanitize::{Edit, REDACTED};

/// How far before its flag the name of a program is looked for.
const REACH: usize = 512;

/// The longest password that is looked for.
const LONGEST: usize = 256;

/// The flags, with the blank before them.
pub(super) const FLAGS: [&str; 6] = [" -p", " -a ", " -k ", " -passin ", " -passout ", " -pass "];

/// Judges `mysql -psecret`, `sshpass -p secret`, `docker login -p secret` and their like.
pub(super) fn password(cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
    let nothing = Found::nothing(trigger.end - usize::from(cursor.bytes[trigger.end - 1] == b' '));
    let before = cursor.line_before(trigger.start, REACH);
    let Some(mut start) = value_start(cursor, &trigger, before) else { return nothing };
    let quote = cursor.quote(start);
    start += quote.map_or(0, Quote::len);
    let end = if let Some(quote) = quote {
        cursor.string_end(start, quote, LONGEST).content
    } else {
        let window = &cursor.bytes[start..cursor.line_end(start, LONGEST)];
        start + window.iter().position(|&byte| ends_word(byte)).unwrap_or(window.len())
    };
    match look(&cursor.text[start..end]) {
        Look::Empty | Look::Placeholder | Look::Reference | Look::Plain | Look::Path | Look::Url => nothing,
        // A port, or ports.
        Look::Number if cursor.text[start..end].len() < 6 => nothing,
        _ => Found::edit(Edit::new(start..end, REDACTED, "command_password"), end),
    }
}

/// Whether the value of a flag may go on.
pub(super) fn is_open(cursor: &Cursor<'_>, trigger: &Range<usize>) -> bool {
    let before = cursor.line_before(trigger.start, REACH);
    value_start(cursor, trigger, before).is_some_and(|start| cursor.word_is_open(start, ends_word))
}

/// Where the value of a flag begins, when it is the flag of a program that takes a password there.
fn value_start(cursor: &Cursor<'_>, trigger: &Range<usize>, before: &[u8]) -> Option<usize> {
    let runs = |program: &str| memchr::memmem::find(before, program.as_bytes()).is_some();
    let next = cursor.skip_blanks(trigger.end);
    match &cursor.bytes[trigger.clone()] {
        b" -p" if next == trigger.end => {
            let is_client = ["mysql", "mariadb"].iter().any(|client| runs(client)) && !runs("docker");
            is_client.then_some(next)
        }
        b" -p" => (before.ends_with(b"sshpass") || runs(" login")).then_some(next),
        b" -a " => runs("redis-cli").then_some(next),
        b" -k " => runs("openssl enc").then_some(next),
        b" -passin " | b" -passout " | b" -pass " => {
            (runs("openssl") && cursor.bytes[next..].starts_with(b"pass:")).then(|| next + "pass:".len())
        }
        _ => None,
    }
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'|' | b';' | b')')
}
