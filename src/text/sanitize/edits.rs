//! Edits on a text: collected in any order, settled, applied once.

use std::borrow::Cow;

use crate::text::redact::{Edit, REDACTED};

/// Sorts the edits and resolves overlaps: the one that covers another wins, and two that overlap in part become one
/// redaction of both. Of two equal ranges the earlier pushed stays.
pub(super) fn settle(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.range.start, usize::MAX - edit.range.end));
    let mut settled: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match settled.last_mut() {
            Some(last) if edit.range.start < last.range.end => {
                if edit.range.end > last.range.end {
                    last.range.end = edit.range.end;
                    last.with = Cow::Borrowed(REDACTED);
                }
            }
            _ => settled.push(edit),
        }
    }
    settled
}

/// Applies settled edits.
pub(super) fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        out.push_str(&text[from..edit.range.start]);
        out.push_str(&edit.with);
        from = edit.range.end;
    }
    out.push_str(&text[from..]);
    out
}
