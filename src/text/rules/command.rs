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
    let Some(mut start) = value_start(cursor, &trigger) else { return nothing };
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
    value_start(cursor, trigger).is_some_and(|start| cursor.word_is_open(start, ends_word))
}

/// Where the value of a flag begins, when it is the first such flag of a program that takes a password there.
///
/// Only the first, and whatever was redacted before it: what a second pass finds must be what the first one found.
fn value_start(cursor: &Cursor<'_>, trigger: &Range<usize>) -> Option<usize> {
    let flag = &cursor.bytes[trigger.clone()];
    let next = cursor.skip_blanks(trigger.end);
    let is_attached = next == trigger.end;
    let programs: &[&[u8]] = match flag {
        b" -p" if is_attached => &[b"mysql", b"mariadb"],
        b" -p" => &[b"sshpass", b" login"],
        b" -a " => &[b"redis-cli"],
        b" -k " => &[b"openssl enc"],
        _ => &[b"openssl"],
    };
    let from = trigger.start.saturating_sub(REACH);
    let before = &cursor.bytes[from..trigger.start];
    let before = memchr::memrchr(b'\n', before).map_or(before, |newline| &before[newline + 1..]);
    let after =
        |program: &&[u8]| memchr::memmem::rfind(before, program).map(|at| &before[at + program.len()..]);
    let options = programs.iter().find_map(after)?;
    if memchr::memmem::find(options, flag).is_some() {
        return None;
    }
    match flag {
        b" -p" if is_attached => memchr::memmem::find(before, b"docker").is_none().then_some(next),
        b" -p" => (before.ends_with(b"sshpass") || memchr::memmem::find(before, b" login").is_some())
            .then_some(next),
        b" -a " | b" -k " => Some(next),
        _ => cursor.bytes[next..].starts_with(b"pass:").then(|| next + "pass:".len()),
    }
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'|' | b';' | b')')
}
