//! Truncates text by bytes and lines.
//!
//! One pass over the text counts its bytes and lines. After that, only the kept parts are read. A cut never splits a
//! character or a CRLF, and prefers a nearby line end.

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};
use serde::{Deserialize, Serialize};

use crate::lines::{ceil_char_boundary, floor_char_boundary};

/// The maximum length of a location in a marker, in bytes.
const MAX_LOCATION: usize = 4096;

/// The maximum size of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TruncateLimits {
    /// Bytes of UTF-8.
    pub max_bytes: usize,
    /// Lines; the last one counts even without a line end.
    pub max_lines: usize,
}

impl TruncateLimits {
    /// Returns the remaining limits after using this much, at least one byte and one line.
    #[must_use]
    pub fn remaining_after(self, bytes: usize, lines: usize) -> Self {
        Self {
            max_bytes: self.max_bytes.saturating_sub(bytes).max(1),
            max_lines: self.max_lines.saturating_sub(lines).max(1),
        }
    }

    /// Returns half of each limit, at least one.
    #[must_use]
    pub fn halved(self) -> Self {
        Self { max_bytes: (self.max_bytes / 2).max(1), max_lines: (self.max_lines / 2).max(1) }
    }
}

impl Default for TruncateLimits {
    /// Returns pi's own limits for a tool's output.
    fn default() -> Self {
        Self { max_bytes: 51_200, max_lines: 2000 }
    }
}

/// The location of the full text, for the marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FullText<'a> {
    /// The path or name of the full text.
    pub path: Option<&'a str>,
    /// The number of bytes that the full text lacks in its middle; 0 if it is complete.
    pub missing_bytes: u64,
    /// The session that contains the missing bytes.
    pub session: Option<&'a str>,
}

impl<'a> FullText<'a> {
    /// Creates the location of a complete text.
    #[must_use]
    pub fn at(path: Option<&'a str>) -> Self {
        Self { path, ..Self::default() }
    }

    /// Drops locations that are too long for a marker.
    fn fitting(self) -> Self {
        let fits = |location: &&str| location.len() <= MAX_LOCATION && !location.contains('\n');
        Self { path: self.path.filter(fits), session: self.session.filter(fits), ..self }
    }
}

/// A text within its limits, with counts of the kept parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncated {
    /// The text, including the marker.
    pub text: String,
    /// Set if anything was left out.
    pub truncated: bool,
    /// The number of input lines that were kept, whole or in part.
    pub kept_lines: usize,
    /// The number of input lines.
    pub total_lines: usize,
    /// The number of input bytes that were kept.
    pub kept_bytes: usize,
    /// The number of input bytes.
    pub total_bytes: usize,
}

/// The part of a text that a cut keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Head,
    Tail,
    Both,
}

/// Keeps head and tail, with a marker between them that gives the size of the removed part.
///
/// The marker counts within the limits. If there is no room for it, a shorter marker is used, and then none. Without a
/// marker only the head stays. The result never exceeds the limits. `full_text` is the location of the whole text, for
/// the marker.
#[must_use]
pub fn truncate(text: &str, limits: TruncateLimits, full_text: Option<&str>) -> Truncated {
    cut(text, limits, FullText::at(full_text), 0, Keep::Both)
}

/// Truncates like [`truncate`], for a text that already lacks `missing_bytes` bytes in its middle.
#[must_use]
pub fn truncate_partial(
    text: &str,
    limits: TruncateLimits,
    full_text: FullText<'_>,
    missing_bytes: u64,
) -> Truncated {
    cut(text, limits, full_text, missing_bytes, Keep::Both)
}

/// Keeps the head; otherwise like [`truncate`].
#[must_use]
pub fn truncate_head(text: &str, limits: TruncateLimits, full_text: Option<&str>) -> Truncated {
    cut(text, limits, FullText::at(full_text), 0, Keep::Head)
}

/// Keeps the tail; otherwise like [`truncate`].
#[must_use]
pub fn truncate_tail(text: &str, limits: TruncateLimits, full_text: Option<&str>) -> Truncated {
    cut(text, limits, FullText::at(full_text), 0, Keep::Tail)
}

fn cut(
    text: &str,
    limits: TruncateLimits,
    full_text: FullText<'_>,
    missing_bytes: u64,
    keep: Keep,
) -> Truncated {
    let total_lines = count_lines(text);
    let whole = Truncated {
        text: String::new(),
        truncated: false,
        kept_lines: total_lines,
        total_lines,
        kept_bytes: text.len(),
        total_bytes: text.len(),
    };
    if text.len() <= limits.max_bytes && total_lines <= limits.max_lines {
        return Truncated { text: text.to_owned(), ..whole };
    }
    if limits.max_lines == 0 {
        return Truncated { truncated: true, kept_lines: 0, kept_bytes: 0, ..whole };
    }
    let totals = [total_lines, total_lines, text.len(), text.len()];
    let marker = Marker::choose(limits, full_text, missing_bytes, totals);
    let room = limits.max_bytes - marker.as_ref().map_or(0, |marker| marker.max_bytes(totals));
    // With more than one line, the marker has a line of its own.
    let lines =
        if marker.is_some() && limits.max_lines > 1 { limits.max_lines - 1 } else { limits.max_lines };
    // Without a marker, joining head and tail would form words that are not in the input.
    let keep = if keep == Keep::Both && marker.is_none() { Keep::Head } else { keep };
    let (head, tail) = head_and_tail(text, room, lines, keep);
    let kept_bytes = head.len() + tail.len();
    // A line cut in its middle is in both parts, and then no line is missing.
    let kept_lines = (count_lines(head) + count_lines(tail)).min(total_lines);
    let mut out = String::with_capacity(limits.max_bytes.min(text.len()));
    out.push_str(head);
    if let Some(marker) = marker {
        let gap = if limits.max_lines > 1 { '\n' } else { ' ' };
        if !out.is_empty() && !out.ends_with('\n') {
            out.push(gap);
        }
        out.push_str(&marker.text([kept_lines, total_lines, kept_bytes, text.len()]));
        if !tail.is_empty() {
            out.push(gap);
        }
    }
    out.push_str(tail);
    Truncated { text: out, truncated: true, kept_lines, kept_bytes, ..whole }
}

/// Returns the kept head and tail.
fn head_and_tail(text: &str, room: usize, lines: usize, keep: Keep) -> (&str, &str) {
    let is_one_line = lines == 1;
    match keep {
        Keep::Head => (head(text, room, lines, is_one_line), ""),
        Keep::Tail => ("", tail(text, room, lines)),
        Keep::Both => {
            let head_lines = lines.div_ceil(2);
            let first = head(text, room / 2, head_lines, is_one_line);
            let tail_lines = if is_one_line { 0 } else { lines - head_lines };
            let last = tail(&text[first.len()..], room - first.len(), tail_lines);
            // The head gets the bytes that the tail could not use because of its line limit.
            (head(&text[..text.len() - last.len()], room - last.len(), head_lines, is_one_line), last)
        }
    }
}

/// Returns the longest head within the limits, without its line end if only one line is allowed.
fn head(text: &str, room: usize, lines: usize, is_one_line: bool) -> &str {
    if lines == 0 {
        return "";
    }
    let reach = floor_char_boundary(text, room);
    let by_lines =
        memchr_iter(b'\n', &text.as_bytes()[..reach]).nth(lines - 1).map_or(reach, |newline| newline + 1);
    let mut end = by_lines;
    if end == reach && end < text.len() {
        let bytes = text.as_bytes();
        match memrchr(b'\n', &bytes[..end]) {
            Some(newline) if newline + 1 >= end / 2 => end = newline + 1,
            _ if bytes[end - usize::from(end > 0)] == b'\r' && bytes[end] == b'\n' => {
                end = end.saturating_sub(1);
            }
            _ => {}
        }
    }
    let head = &text[..end];
    if is_one_line { head.trim_end_matches(['\n', '\r']) } else { head }
}

/// Returns the longest tail within the limits.
fn tail(text: &str, room: usize, lines: usize) -> &str {
    if lines == 0 || room == 0 {
        return "";
    }
    let bytes = text.as_bytes();
    let mut start = ceil_char_boundary(text, text.len().saturating_sub(room));
    // The line end at the end of the text does not begin a line.
    let inner = bytes.len().saturating_sub(1);
    let inner_lines = bytes.get(start..inner).unwrap_or_default();
    let by_lines = memrchr_iter(b'\n', inner_lines).nth(lines - 1).map(|newline| start + newline + 1);
    if let Some(by_lines) = by_lines {
        return &text[by_lines..];
    }
    if start > 0 && bytes[start - 1] != b'\n' {
        match memchr(b'\n', &bytes[start..]) {
            Some(length) if length < (bytes.len() - start).div_ceil(2) => start += length + 1,
            _ if bytes[start - 1] == b'\r' && bytes.get(start) == Some(&b'\n') => start += 1,
            _ => {}
        }
    }
    &text[start..]
}

fn count_lines(text: &str) -> usize {
    let ends = memchr_iter(b'\n', text.as_bytes()).count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The text between head and tail.
enum Marker<'a> {
    /// A marker with locations and the number of bytes that the text lacked before.
    Full(FullText<'a>, u64),
    Short,
}

impl<'a> Marker<'a> {
    /// Returns the most detailed marker that fits into the byte limit.
    fn choose(
        limits: TruncateLimits,
        full_text: FullText<'a>,
        missing_bytes: u64,
        totals: [usize; 4],
    ) -> Option<Self> {
        let fits = |marker: &Self| marker.max_bytes(totals) <= limits.max_bytes;
        let without_location = FullText::default();
        [
            Self::Full(full_text.fitting(), missing_bytes),
            Self::Full(without_location, missing_bytes),
            Self::Short,
        ]
        .into_iter()
        .find(fits)
    }

    /// Returns the maximum length of the marker with its line ends. No number in it exceeds the totals.
    fn max_bytes(&self, totals: [usize; 4]) -> usize {
        self.text(totals).len() + 2
    }

    fn text(&self, [kept_lines, lines, kept_bytes, bytes]: [usize; 4]) -> String {
        let Self::Full(FullText { path, missing_bytes, session }, missing_before) = self else {
            return "[truncated]".to_owned();
        };
        let full_text = path.map_or(String::new(), |path| match missing_bytes {
            0 => format!("; full text: {path}"),
            missing_bytes => format!("; all but {missing_bytes} bytes: {path}"),
        });
        let session =
            session.map_or(String::new(), |session| format!("; complete in the session: {session}"));
        let kept = match missing_before {
            0 => format!("{kept_lines} of {lines} lines, {kept_bytes} of {bytes} bytes"),
            // The number of missing lines is unknown.
            missing_before => format!("{kept_bytes} of {} bytes", bytes as u64 + missing_before),
        };
        format!("[truncated: kept {kept}{full_text}{session}]")
    }
}
