//! Redacts Kubernetes secrets: every value in `data` and `stringData` of a manifest with kind `Secret`, regardless of
//! its name.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use super::cursor::{Cursor, Quote};
use super::judgement::JUDGED;
use super::rule::{Edit, REDACTED};
use super::shape::{Shape, shape_of};

const RULE: &str = "kubernetes_secret";

/// The kind. The fields below contain the secret values.
const KIND: &[u8] = b"Secret";
const FIELDS: [&[u8]; 2] = [b"data", b"stringData"];

/// The number of bytes before the kind of a JSON manifest that are searched for its fields.
const REACH: usize = 64 * 1024;

/// Adds an edit for every value of such a manifest, in YAML or JSON.
pub(super) fn collect(text: &str, edits: &mut Vec<Edit>) {
    let cursor = Cursor::new(text);
    // Text before `done` is not read again, so that the search takes linear time.
    let mut at = 0;
    let mut done = 0;
    while let Some(found) = memmem::find(&cursor.bytes[at..], KIND) {
        let kind = at + found..at + found + KIND.len();
        at = kind.end;
        let mut values = Vec::new();
        if let Some(column) = yaml_column(&cursor, &kind) {
            done = yaml(&cursor, done, kind.start, column, &mut values);
        } else if let Some((start, quote)) = json_field(&cursor, &kind) {
            done = json(
                &cursor,
                done.max(start.saturating_sub(REACH)),
                start..kind.end + quote.len(),
                quote,
                &mut values,
            );
        }
        at = at.max(done.min(text.len()));
        edits.extend(
            values
                .into_iter()
                .filter(|value| is_value(&text[value.clone()]))
                .map(|value| Edit::new(value, REDACTED, RULE)),
        );
    }
}

/// Returns true if a field of a manifest has a real value.
fn is_value(value: &str) -> bool {
    let judged = &value[..crate::floor_char_boundary(value, JUDGED)];
    !matches!(shape_of(judged), Shape::Empty | Shape::Placeholder | Shape::Reference)
        && !matches!(value, "null" | "~" | "{}" | "[]" | "|" | ">")
}

/// Returns the column of `kind` in the line `kind: Secret`.
fn yaml_column(cursor: &Cursor<'_>, kind: &Range<usize>) -> Option<usize> {
    let quote = cursor.quote_before(kind.start).map_or(0, Quote::len);
    let line = cursor.line_before(kind.start - quote, 256);
    let before = line.trim_ascii_end().strip_suffix(b"kind:")?;
    before.iter().all(|byte| matches!(byte, b' ' | b'-')).then_some(())?;
    let at = kind.end + quote;
    (cursor.ends_line(at) || cursor.bytes.get(at..).is_some_and(|rest| rest.starts_with(b" #")))
        .then_some(before.len())
}

/// Finds the values of the YAML manifest around `kind`, not before `least`, and returns its end.
fn yaml(
    cursor: &Cursor<'_>,
    least: usize,
    kind: usize,
    column: usize,
    values: &mut Vec<Range<usize>>,
) -> usize {
    let bytes = cursor.bytes;
    let mut start = line_start(bytes, least, kind);
    while start > least {
        let above = line_start(bytes, least, start - 1);
        let line = Line::new(bytes, above);
        if line.column == column && line.has_dash {
            start = above;
            break;
        }
        // A manifest has one kind.
        let is_other = line.column == column && line.name(bytes).is_some_and(|(name, _)| name == b"kind");
        if is_other || line.column < column || !(line.is_blank() || line.column > column || line.is_field()) {
            break;
        }
        start = above;
    }
    let mut at = start;
    let mut is_in_field = false;
    // The column of the names within the field.
    let mut names = None;
    while at < bytes.len() {
        let line = Line::new(bytes, at);
        let is_kind = line.column == column && line.name(bytes).is_some_and(|(name, _)| name == b"kind");
        let begins_other = at > kind && ((line.has_dash && line.column <= column) || is_kind);
        if begins_other
            || (!line.is_blank() && (line.column < column || (line.column == column && !line.is_field())))
        {
            break;
        }
        at = line.next;
        if line.is_blank() {
            continue;
        }
        if line.column == column {
            let name = line.name(bytes);
            is_in_field = name.is_some_and(|(name, rest)| FIELDS.contains(&name) && rest == line.content.end);
            names = None;
        } else if is_in_field {
            let is_name = *names.get_or_insert(line.column) == line.column;
            if is_name && let Some((_, rest)) = line.name(bytes) {
                let is_block = matches!(bytes.get(rest), Some(b'|' | b'>'));
                values.push(if is_block {
                    line.content.end..line.content.end
                } else {
                    unquoted(bytes, rest..line.content.end)
                });
            } else if let Some(last) = values.last_mut() {
                // A line of a block, or of a value on several lines.
                let start = if last.start == last.end { line.content.start } else { last.start };
                *last = start..line.content.end;
            }
        }
    }
    at
}

/// A line of YAML. The column is the column of its content after a dash.
struct Line {
    column: usize,
    has_dash: bool,
    content: Range<usize>,
    next: usize,
    is_document: bool,
    is_field: bool,
}

impl Line {
    fn new(bytes: &[u8], start: usize) -> Self {
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let line = &bytes[start..end];
        let is_document = line.starts_with(b"---");
        let lead = line.iter().take_while(|byte| !is_document && matches!(byte, b' ' | b'-')).count();
        let has_dash = line[..lead].contains(&b'-');
        let length = line.trim_ascii_end().len().max(lead);
        let content = &line[lead..length];
        let name = content
            .iter()
            .take_while(|&&byte| byte.is_ascii_alphanumeric() || b"_./-\"'".contains(&byte))
            .count();
        let ends_name =
            content.get(name) == Some(&b':') && matches!(content.get(name + 1), None | Some(b' '));
        Self {
            column: lead,
            has_dash,
            content: start + lead..start + length,
            next: (end + 1).min(bytes.len()),
            is_document,
            is_field: (name > 0 && ends_name) || content.first() == Some(&b'#'),
        }
    }

    fn is_blank(&self) -> bool {
        self.content.is_empty() && !self.is_document
    }

    /// Returns true for `name: value` and comments.
    fn is_field(&self) -> bool {
        self.is_field && !self.is_document
    }

    /// Returns the name of a field, and the position of its value.
    fn name<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], usize)> {
        let line = &bytes[self.content.clone()];
        let length = memchr(b':', line).filter(|_| self.is_field)?;
        let blank = line[length + 1..].iter().take_while(|byte| **byte == b' ').count();
        let value = self.content.start + length + 1 + blank;
        Some((&line[..length], if bytes.get(value) == Some(&b'#') { self.content.end } else { value }))
    }
}

/// Returns a value without the quotes around it.
fn unquoted(bytes: &[u8], value: Range<usize>) -> Range<usize> {
    match &bytes[value.clone()] {
        [first @ (b'"' | b'\''), .., last] if first == last => value.start + 1..value.end - 1,
        [b'"' | b'\'', ..] => value.start + 1..value.end,
        _ => value,
    }
}

fn line_start(bytes: &[u8], least: usize, at: usize) -> usize {
    memrchr(b'\n', &bytes[least..at]).map_or(least, |newline| least + newline + 1)
}

/// Returns the start of the field `"kind": "Secret"`, and its quotes.
fn json_field(cursor: &Cursor<'_>, kind: &Range<usize>) -> Option<(usize, Quote)> {
    let quote = cursor.quote_before(kind.start).filter(|quote| quote.mark == b'"')?;
    (cursor.quote(kind.end) == Some(quote)).then_some(())?;
    let before = cursor.line_before(kind.start - quote.len(), 64).trim_ascii_end();
    let before = before.strip_suffix(b":")?.trim_ascii_end();
    let name = before.len().checked_sub(quote.len() + "kind".len())?;
    let start = kind.start - quote.len() - cursor.line_before(kind.start - quote.len(), 64).len() + name;
    (before[name..].starts_with(b"kind") && cursor.quote(start + "kind".len()) == Some(quote))
        .then_some(())?;
    let opening = start.checked_sub(quote.len())?;
    (cursor.quote(opening) == Some(quote)).then_some((opening, quote))
}

/// Finds the values of the JSON manifest with `field`, not before `least`, and returns its end.
fn json(
    cursor: &Cursor<'_>,
    least: usize,
    field: Range<usize>,
    quote: Quote,
    values: &mut Vec<Range<usize>>,
) -> usize {
    let marks = &cursor.bytes[field.start..field.start + quote.len()];
    // If the previous manifest overlaps the field, there is no text before it.
    let before = cursor.bytes.get(least..field.start).unwrap_or_default();
    for name in FIELDS {
        let name = [marks, name, marks].concat();
        let Some(found) = memmem::rfind(before, &name) else { continue };
        let mut found_values = Vec::new();
        let Some(end) = members(cursor, least + found + name.len(), quote, &mut found_values) else {
            continue;
        };
        // Both are fields of one object.
        if end <= field.start
            && read_fields(cursor, end, field.start, quote, &mut Vec::new()) == Some(field.start)
        {
            values.append(&mut found_values);
        }
    }
    read_fields(cursor, field.end, cursor.bytes.len(), quote, values).unwrap_or(cursor.bytes.len())
}

/// Reads the fields of an object from `at` to its end, or to `stop` at the latest, and returns the final position.
/// Returns `None` if the object ends before `stop`.
fn read_fields(
    cursor: &Cursor<'_>,
    at: usize,
    stop: usize,
    quote: Quote,
    values: &mut Vec<Range<usize>>,
) -> Option<usize> {
    let mut at = at;
    let mut depth = 0_usize;
    while at < stop {
        match cursor.bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                let Some(less) = depth.checked_sub(1) else {
                    return (stop == cursor.bytes.len()).then_some(at);
                };
                depth = less;
            }
            b'"' | b'\\' => match cursor.quote(at) {
                Some(found) if found == quote => {
                    let start = at + quote.len();
                    let string = cursor.string_end(start, quote, usize::MAX);
                    at = string.content + if string.closed { quote.len() } else { 0 };
                    if depth == 0 && FIELDS.contains(&&cursor.bytes[start..string.content]) {
                        at = members(cursor, at, quote, values).unwrap_or(at);
                    }
                    if !string.closed {
                        return Some(at);
                    }
                    continue;
                }
                // A mark with fewer backslashes ends the string around the object.
                Some(found) if found.escapes < quote.escapes => return Some(at),
                _ => {}
            },
            _ => {}
        }
        at += 1;
    }
    (depth == 0 || stop == cursor.bytes.len()).then_some(at)
}

/// Reads `: {"name": "value", …}` and returns the position after it.
fn members(cursor: &Cursor<'_>, at: usize, quote: Quote, values: &mut Vec<Range<usize>>) -> Option<usize> {
    let mut at = after_sign(cursor, after_sign(cursor, after_blanks(cursor, at), b':')?, b'{')?;
    while let Some((_, end)) = quoted_string(cursor, at, quote) {
        at = after_sign(cursor, after_blanks(cursor, end), b':')?;
        let (value, end) = quoted_string(cursor, at, quote)?;
        values.push(value);
        at = after_blanks(cursor, end);
        match after_sign(cursor, at, b',') {
            Some(next) => at = next,
            None => break,
        }
    }
    after_sign(cursor, at, b'}')
}

/// Returns the position after the blanks at `at`.
fn after_blanks(cursor: &Cursor<'_>, at: usize) -> usize {
    let rest = cursor.bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns the position after the sign at `at` and the blanks after it. `None` if another byte is there.
fn after_sign(cursor: &Cursor<'_>, at: usize, sign: u8) -> Option<usize> {
    (cursor.byte(at) == Some(sign)).then_some(after_blanks(cursor, at + 1))
}

/// Returns the content of the string at `at`, and the position after it.
fn quoted_string(cursor: &Cursor<'_>, at: usize, quote: Quote) -> Option<(Range<usize>, usize)> {
    if cursor.quote(at) != Some(quote) {
        return None;
    }
    let start = at + quote.len();
    let end = cursor.string_end(start, quote, usize::MAX);
    let closing = if end.closed { quote.len() } else { 0 };
    Some((start..end.content, end.content + closing))
}
