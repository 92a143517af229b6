//! Finds the parts of a text that a later pass must check.
//!
//! A rule reads the line of its trigger, and a little of the lines around it. Text far from a redaction has been
//! judged already, and its verdict does not change.

use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::redact::Edit;

/// The maximum number of bytes that a rule reads from the lines before and after its own.
const AROUND: usize = 512;

/// Returns the whole text as one part.
pub(super) fn all(text: &str) -> Vec<Range<usize>> {
    std::iter::once(0..text.len()).collect()
}

/// Returns the parts of a text in which edits can have formed a new secret: the edited lines, and the text around them
/// that the rules read.
pub(super) fn changed_parts(before: &str, edits: &[Edit], after: &str) -> Vec<Range<usize>> {
    // Lines, and perhaps marks of code, were removed, so any part may have changed.
    if edits.iter().any(|edit| before[edit.range.clone()].contains(['\n', '`']) || edit.with.contains('\n')) {
        return all(after);
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    for edit in edits {
        at += edit.range.start - copied;
        let end = at + edit.with.len();
        let known = parts.last().map_or(0, |part| part.end);
        if end > known {
            let bytes = after.as_bytes();
            let first = at.saturating_sub(AROUND).max(known);
            let first = memrchr(b'\n', &bytes[known..first]).map_or(known, |newline| known + newline + 1);
            let last = (end + AROUND).min(bytes.len());
            let last = memchr(b'\n', &bytes[last..]).map_or(bytes.len(), |length| last + length);
            match parts.last_mut() {
                Some(part) if first <= part.end => part.end = last,
                _ => parts.push(first..last),
            }
        }
        at = end;
        copied = edit.range.end;
    }
    parts
}
