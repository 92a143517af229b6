//! Finds values on the lines below their name: block scalars of YAML (`|`, `>-`) and heredocs (`<<EOT`).

use std::ops::Range;

use memchr::{memchr, memchr2, memchr2_iter, memrchr, memrchr_iter};

use super::extent::after_tag;
use super::tie::{Separator, Tie};
use crate::redact::cursor::{Cursor, line_break, run_before};
use crate::redact::judgement::JUDGED;

/// The number of bytes of a block that are read to judge it, including indentation. A longer block does not wait for
/// its end.
pub(crate) const BLOCK_REACH: usize = 1024;

/// The maximum redacted length of a heredoc without its last line.
const MAX_HEREDOC: usize = 8 * 1024;

/// The maximum indentation of a name that is counted.
const MAX_INDENT: usize = 256;

/// The maximum length of the word that ends a heredoc.
const MAX_WORD: usize = 32;

/// A value of one or more lines.
pub(crate) struct Block<'a> {
    /// The beginning of the content on one line. Lines without blanks are joined to one word.
    pub(crate) judged: String,
    /// Set if the text ends before the block does.
    pub(crate) is_open: bool,
    content: Range<usize>,
    lines: Lines<'a>,
}

/// The lines of a block.
#[derive(Clone)]
struct Lines<'a> {
    cursor: &'a Cursor<'a>,
    /// The position of the next line.
    at: usize,
    /// Set if the line ends are escaped, so the block is part of a string.
    is_escaped: bool,
    end: End<'a>,
    is_open: bool,
}

/// The first line after a block.
#[derive(Clone, Copy)]
enum End<'a> {
    /// A line whose indentation is at most this.
    Indent(usize),
    /// The line with this word.
    Word(&'a [u8]),
}

/// Finds the block after a separator.
pub(crate) fn block<'a>(cursor: &'a Cursor<'a>, separator: &Separator) -> Option<Block<'a>> {
    // A cheap check that rejects nearly every value.
    if !matches!(cursor.byte(separator.value), Some(b'|' | b'>' | b'<' | b'!')) {
        return None;
    }
    let at = after_tag(cursor, separator);
    let (end, header) = match separator.tie {
        Tie::Colon => (End::Indent(column(cursor, separator)), scalar_header(&cursor.bytes[at..])?),
        Tie::Equals | Tie::Tight => {
            let (word, length) = heredoc_header(&cursor.bytes[at..])?;
            (End::Word(word), length)
        }
        _ => return None,
    };
    let newline = line_break(cursor.bytes, at + header);
    (newline > 0).then_some(())?;
    let is_escaped = cursor.byte(at + header) == Some(b'\\');
    let mut lines = Lines { cursor, at: at + header + newline, is_escaped, end, is_open: false };
    let stop = lines.at + BLOCK_REACH;
    let mut judged = String::new();
    let mut content = None;
    let mut is_split = false;
    let mut words = 0;
    while judged.len() < JUDGED
        && lines.at < stop
        && let Some(line) = lines.next()
    {
        let Some(line) = trimmed(cursor.text, line) else { continue };
        content = Some(content.map_or(line.start, |content: Range<usize>| content.start)..line.end);
        let text = &cursor.text[line];
        is_split |= text.bytes().any(|byte| byte.is_ascii_whitespace());
        words += 1;
        judged.push(' ');
        judged.push_str(&text[..crate::floor_char_boundary(text, JUDGED)]);
    }
    let mut judged = if is_split || words == 1 { judged } else { judged.replace(' ', "") };
    judged.truncate(crate::floor_char_boundary(&judged, JUDGED));
    let content = content.unwrap_or(lines.at..lines.at);
    Some(Block { judged, is_open: lines.is_open, content, lines })
}

impl Block<'_> {
    /// Returns the range of the whole content, without the blanks around it.
    pub(crate) fn content(self) -> Range<usize> {
        let Self { mut lines, mut content, .. } = self;
        let limit = if matches!(lines.end, End::Word(_)) { content.start + MAX_HEREDOC } else { usize::MAX };
        while lines.at < limit
            && let Some(line) = lines.next()
        {
            content.end = trimmed(lines.cursor.text, line).map_or(content.end, |line| line.end);
        }
        content
    }
}

/// Returns the range of a line without the blanks around it, or `None` for a blank line.
fn trimmed(text: &str, line: Range<usize>) -> Option<Range<usize>> {
    let content = text[line.clone()].trim_ascii_start();
    let start = line.end - content.len();
    let length = content.trim_ascii_end().len();
    (length > 0).then_some(start..start + length)
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.cursor.bytes;
        if self.at >= bytes.len() {
            self.is_open = true;
            return None;
        }
        let (end, next) = self.line_end();
        let line = &bytes[self.at..end];
        let content = line.trim_ascii();
        let is_last = match self.end {
            End::Indent(indent) => {
                !content.is_empty() && line.len() - line.trim_ascii_start().len() <= indent
            }
            End::Word(word) => content.strip_prefix(word).is_some_and(|rest| {
                rest.first().is_none_or(|byte| matches!(byte, b';' | b',' | b')' | b'.'))
            }),
        };
        if is_last {
            return None;
        }
        let range = self.at..end;
        self.at = next;
        // An incomplete line may still end the block.
        self.is_open = next == bytes.len() && (end == next);
        Some(range)
    }
}

impl Lines<'_> {
    /// Returns the end of the current line and the beginning of the next one.
    fn line_end(&self) -> (usize, usize) {
        let bytes = self.cursor.bytes;
        if !self.is_escaped {
            let end = memchr(b'\n', &bytes[self.at..]).map(|length| self.at + length);
            return end.map_or((bytes.len(), bytes.len()), |end| (end, end + 1));
        }
        let mut at = self.at;
        while let Some(length) = memchr2(b'\\', b'"', &bytes[at..]) {
            at += length;
            let newline = line_break(bytes, at);
            if newline > 0 {
                return (at, at + newline);
            }
            if bytes[at] == b'"' || bytes.get(at + 1) == Some(&b'"') {
                break;
            }
            at += 1 + usize::from(bytes.get(at + 1).is_some_and(u8::is_ascii));
            at = at.min(bytes.len());
        }
        let end = if memchr2(b'\\', b'"', &bytes[at..]) == Some(0) { at } else { bytes.len() };
        (end, end)
    }
}

/// Returns the start of the line that may open the block around `at`: the nearest line above that is not indented, or
/// that has the sign of a heredoc.
pub(crate) fn opening_line(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let from = crate::ceil_char_boundary(text, at.saturating_sub(BLOCK_REACH));
    let line_start = |at: usize| memrchr(b'\n', &bytes[from..at]).map_or(from, |newline| from + newline + 1);
    let searched = &bytes[from..at];
    let mut ends = memrchr_iter(b'<', searched).filter(|&end| end > 0 && searched[end - 1] == b'<');
    let heredoc = ends.next().map_or(at, |end| line_start(from + end));
    let mut line = line_start(at);
    // A cheap check, because most text has no such sign.
    if !memchr2_iter(b'|', b'>', searched).any(|sign| is_scalar_header(bytes, from + sign)) {
        return line.min(heredoc);
    }
    while line > from && is_blank_or_indented(&bytes[line..]) {
        line = line_start(line - 1);
    }
    line.min(heredoc)
}

/// Returns true if the header of a block scalar stands at `at` and ends its line.
fn is_scalar_header(bytes: &[u8], at: usize) -> bool {
    scalar_header(&bytes[at..]).is_some_and(|length| line_break(bytes, at + length) > 0)
}

/// Returns true if the line at the start of the bytes is blank, or begins with a space or a tab.
fn is_blank_or_indented(bytes: &[u8]) -> bool {
    matches!(bytes.first(), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
}

/// Returns the column of a name. The content of its block is indented further.
fn column(cursor: &Cursor<'_>, separator: &Separator) -> usize {
    // An escaped quote may close a name that no quote opens, also at the start of the text.
    let start = separator.name.start.saturating_sub(usize::from(separator.name_quote.is_some()));
    let before = &cursor.bytes[start.saturating_sub(MAX_INDENT)..start];
    run_before(before, |byte| matches!(byte, b' ' | b'\t' | b'-'))
}

/// Returns the length of `|`, `>-` or `|2+`, including a comment after it.
fn scalar_header(rest: &[u8]) -> Option<usize> {
    /// The maximum length of a comment.
    const MAX_COMMENT: usize = 128;
    matches!(rest.first(), Some(b'|' | b'>')).then_some(())?;
    let signs =
        rest[1..].iter().take(2).take_while(|&&byte| byte == b'-' || byte == b'+' || byte.is_ascii_digit());
    let length = 1 + signs.count();
    let blank = rest[length..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if blank > 0 && rest.get(length + blank) == Some(&b'#') {
        let window = &rest[..rest.len().min(MAX_COMMENT)];
        return memchr2(b'\n', b'\\', window);
    }
    Some(length + blank)
}

/// Returns the word of `<<EOT`, `<<-'EOT'` or `<<~EOT`, and the length of the whole sign.
fn heredoc_header(rest: &[u8]) -> Option<(&[u8], usize)> {
    let tail = rest.strip_prefix(b"<<")?;
    let tail = if let [b'-' | b'~' | b'<', tail @ ..] = tail { tail } else { tail };
    let (tail, is_quoted) = if let [b'"' | b'\'', tail @ ..] = tail { (tail, true) } else { (tail, false) };
    let length =
        tail.iter().take(MAX_WORD).take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    let word = tail.get(..length).filter(|word| word.first().is_some_and(u8::is_ascii_alphabetic))?;
    Some((word, rest.len() - tail.len() + length + usize::from(is_quoted)))
}
