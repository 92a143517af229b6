//! Names and values in fields of their own: `name: X` and then `value: y`, as in Kubernetes, compose files and lists of
//! headers in JSON.

use std::ops::Range;

use super::separator::{Separator, Tie};
use crate::text::redact::cursor::{Cursor, Quote};

/// Bytes between a name and the field of its value: a line end and indentation.
const GAP: usize = 64;

/// How many bytes of a `variable` block are searched for its default.
const BLOCK: usize = 256;

/// The separator of a name that is itself the value of a field `name` or `key`, when a field `value` comes next.
pub(crate) fn entry(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    // Cheap, and nearly every name fails it.
    if !matches!(cursor.byte(name.end), Some(b'"' | b'\'' | b'\\' | b',' | b'\n' | b'\r')) {
        return None;
    }
    let name_quote = cursor.quote_before(name.start);
    if let Some(value) = default_of_variable(cursor, name) {
        return Some(Separator { name: name.clone(), tie: Tie::Entry, value, name_quote });
    }
    let start = name.start - name_quote.map_or(0, Quote::len);
    let before = without_mark(cursor.line_before(start, GAP).trim_ascii_end(), b":=")?;
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before);
    let before = before.strip_suffix(b"\\").unwrap_or(before);
    ends_with_word(before.trim_ascii_end(), &[b"name", b"key"]).then_some(())?;

    let mut at = cursor.skip_quote(name.end);
    at += usize::from(cursor.byte(at) == Some(b','));
    let gap = &cursor.bytes[at..cursor.bytes.len().min(at + GAP)];
    let blank = gap.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    if memchr::memchr_iter(b'\n', &gap[..blank]).nth(1).is_some() {
        return None;
    }
    at = cursor.skip_quote(at + blank);
    let field = cursor.bytes.get(at..at + "value".len())?;
    field.eq_ignore_ascii_case(b"value").then_some(())?;
    at = cursor.skip_blanks(cursor.skip_quote(at + field.len()));
    matches!(cursor.byte(at), Some(b':' | b'=')).then(|| Separator {
        name: name.clone(),
        tie: Tie::Entry,
        value: cursor.skip_blanks(at + 1),
        name_quote,
    })
}

/// Position of the default in Terraform's `variable "X" { default = "y" }`.
fn default_of_variable(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<usize> {
    cursor.line_before(name.start, GAP).ends_with(b"variable \"").then_some(())?;
    let block = &cursor.bytes[name.end..cursor.bytes.len().min(name.end + BLOCK)];
    let block = block.strip_prefix(b"\" {")?;
    let block = &block[..memchr::memchr(b'}', block).unwrap_or(block.len())];
    let default = memchr::memmem::find(block, b"default")? + "default".len();
    let equals = default + block[default..].iter().take_while(|&&byte| byte == b' ').count();
    (block.get(equals) == Some(&b'=')).then(|| cursor.skip_blanks(name.end + "\" {".len() + equals + 1))
}

fn without_mark<'a>(text: &'a [u8], marks: &[u8]) -> Option<&'a [u8]> {
    let (last, rest) = text.split_last()?;
    marks.contains(last).then(|| rest.trim_ascii_end())
}

/// Whether a text ends with one of these words, as a word of its own.
fn ends_with_word(text: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| {
        text.len().checked_sub(word.len()).is_some_and(|at| {
            text[at..].eq_ignore_ascii_case(word) && (at == 0 || !text[at - 1].is_ascii_alphanumeric())
        })
    })
}
