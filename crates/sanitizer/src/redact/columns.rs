//! Redacts table columns with a secret heading, in the formats of databases and Markdown.

use memchr::memmem;

use super::judgement::{Place, is_secret};
use super::names::{NameKind, name_kind};
use super::rule::{Edit, REDACTED};

const RULE: &str = "table_column";

/// The part of the line below the headings that a search looks for.
const RULER: &[u8] = b"---";

/// The maximum length of a line of headings, in bytes. A longer line does not begin a table.
const MAX_LINE: usize = 1024;

/// The maximum number of columns that are checked.
const MAX_COLUMNS: usize = 64;

/// Adds an edit for every secret below a heading such as `password`.
pub(super) fn collect(text: &str, edits: &mut Vec<Edit>) {
    let mut at = 0;
    while let Some(found) = memmem::find(&text.as_bytes()[at..], RULER) {
        let start = line_start(text, at, at + found);
        let end = line_end(text, at + found);
        let is_ruler = text[start..end].bytes().all(|byte| b"-+|:= \t\r".contains(&byte));
        at = end;
        // The line above the headings has no headings itself.
        if is_ruler && text[start..end].contains(['|', '+']) && start > 1 {
            let above = line_start(text, start.saturating_sub(MAX_LINE), start - 1);
            let headings = headings(&text[above..start - 1]);
            if headings.iter().any(Option::is_some) {
                at = rows(text, end, &headings, edits);
            }
        }
    }
}

/// Returns the heading of every column and its kind, or `None` for columns without secrets.
fn headings(line: &str) -> Vec<Option<(&str, NameKind)>> {
    if !line.contains('|') {
        return Vec::new();
    }
    cells(line)
        .take(MAX_COLUMNS)
        .map(|(_, cell)| {
            let kind = name_kind(cell);
            matches!(kind, NameKind::Password | NameKind::Secret | NameKind::Possible).then_some((cell, kind))
        })
        .collect()
}

/// Judges the rows after `from` and returns the end of the table.
fn rows(text: &str, from: usize, headings: &[Option<(&str, NameKind)>], edits: &mut Vec<Edit>) -> usize {
    let mut at = from;
    while at < text.len() {
        let start = at + 1;
        let end = line_end(text, start);
        let row = &text[start..end];
        if !row.contains('|') || cells(row).take(MAX_COLUMNS + 1).count() > headings.len() {
            break;
        }
        for ((offset, cell), heading) in cells(row).zip(headings) {
            let Some((name, kind)) = heading else { continue };
            if !cell.contains(char::is_whitespace) && is_secret(*kind, name, cell, Place::Alone) {
                let value = start + offset..start + offset + cell.len();
                edits.push(Edit::new(value, REDACTED, RULE));
            }
        }
        at = end;
    }
    at
}

/// Returns the cells of a line and their positions, without the blanks and code marks around them.
fn cells(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_around = |character: char| character.is_whitespace() || matches!(character, '`' | '*' | '"');
    let mut from = 0;
    line.split('|').map(move |cell| {
        let trimmed = cell.trim_start_matches(is_around);
        let begin = from + cell.len() - trimmed.len();
        from += cell.len() + 1;
        (begin, trimmed.trim_end_matches(is_around))
    })
}

/// Returns the start of the line that contains `at`, but not before `least`.
fn line_start(text: &str, least: usize, at: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[least..at])
        .map_or_else(|| crate::ceil_char_boundary(text, least), |newline| least + newline + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at.min(text.len())..]).map_or(text.len(), |length| at + length)
}
