//! Where a later pass over a text has to look.
//!
//! Rules read the line that their trigger stands on, and a little of those before and behind it. What is far from a
//! redaction was judged already, and would be judged alike.

use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::text::redact::Edit;

/// How many bytes of the lines before and behind it a rule reads at most.
const AROUND: usize = 512;

/// All of a text.
pub(super) fn all(text: &str) -> Vec<Range<usize>> {
    std::iter::once(0..text.len()).collect()
}

/// The parts of a text in which edits can have brought together something new: the lines that they are on, and what is
/// read before and behind a line to judge it.
pub(super) fn changed(before: &str, edits: &[Edit], after: &str) -> Vec<Range<usize>> {
    // Lines, and so perhaps marks of code, have gone: anything may have changed.
    if edits.iter().any(|edit| before[edit.range.clone()].contains(['\n', '`']) || edit.with.contains('\n')) {
        return all(after);
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let (mut kept, mut at) = (0, 0);
    for edit in edits {
        at += edit.range.start - kept;
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
        kept = edit.range.end;
    }
    parts
}
