//! Lines with common columns.

use super::page::Page;
use super::parts::{Part, joined_width};
use super::span::{MIN_COLUMNS, Span, blanks, cell, clip, distinguished, is_empty, trim_end, width};
use super::width::{slice, width_of};

/// The space between columns.
const GAP: usize = 2;
/// The width of the parts before columns at the end, unless a row needs more. In a very wide terminal those columns would
/// otherwise be far away from the others.
const PARTS_COLUMNS: usize = 72;

/// The beginning that a text shares with others, and the end that tells them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedPrefix {
    /// The number of columns that are the same.
    pub shared: usize,
    /// The part that is shown if there is no room for the whole text.
    pub end: String,
}

/// A field of a line. A column is as wide as the longest text in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub span: Span,
    /// The most columns that its text gives to the column.
    pub max_columns: usize,
    pub is_right: bool,
    pub shared_prefix: Option<SharedPrefix>,
}

/// A line of a table: a lead, columns, then parts in the room between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableRow {
    /// Never shortened.
    pub lead: Vec<Span>,
    pub cells: Vec<Cell>,
    pub parts: Vec<Part>,
    /// Columns at the end of the line.
    pub trailing: Vec<Cell>,
}

/// The widths of the columns.
pub(crate) struct Widths {
    cells: Vec<usize>,
    /// The widest parts of a row.
    parts: usize,
    trailing: Vec<usize>,
}

impl Widths {
    pub(crate) fn of(rows: &[TableRow]) -> Self {
        let parts = |row: &TableRow| {
            let widths: Vec<usize> = row.parts.iter().map(|part| width(&part.spans)).collect();
            joined_width(&widths)
        };
        Self {
            cells: widest(rows, |row| &row.cells),
            parts: rows.iter().map(parts).max().unwrap_or_default(),
            trailing: widest(rows, |row| &row.trailing),
        }
    }
}

fn widest(rows: &[TableRow], cells: impl Fn(&TableRow) -> &[Cell]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        let cells = cells(row);
        widths.resize(widths.len().max(cells.len()), 0);
        for (widest, Cell { span, max_columns, .. }) in widths.iter_mut().zip(cells) {
            // A text can be much longer than its column.
            let columns = width_of(slice(&span.text, 0..max_columns + 1));
            *widest = columns.min(*max_columns).max(*widest);
        }
    }
    widths
}

/// Returns the share of a width that a column may take.
pub(crate) fn share(width: usize, share: usize, max_columns: usize) -> usize {
    max_columns.min((width / share).max(MIN_COLUMNS))
}

impl Page<'_> {
    /// Draws a line of a table. Its parts share the room that the columns leave.
    pub(crate) fn row(&mut self, TableRow { lead, cells, parts, trailing }: &TableRow, widths: &Widths) {
        let before = drawn(cells, &widths.cells);
        let after = drawn(trailing, &widths.trailing);
        let columns = before.iter().chain(&after).map(|cell| width(cell) + GAP).sum::<usize>() + width(lead);
        let page = self.width();
        let room = page.saturating_sub(columns);
        let room = if after.is_empty() { room } else { room.min(widths.parts.max(PARTS_COLUMNS)) };
        self.with_below(parts, room, |middle| {
            // The columns after the parts begin at the same position in each line.
            let middle = if after.is_empty() || room < MIN_COLUMNS { middle } else { cell(middle, room) };
            let mut line = lead.clone();
            let drawn = before.iter().chain([&middle]).chain(&after).filter(|part| !is_empty(part));
            for (index, part) in drawn.enumerate() {
                line.extend((index > 0).then(|| blanks(GAP)));
                line.extend_from_slice(part);
            }
            trim_end(if columns > page { clip(line, page) } else { line })
        });
    }
}

fn drawn(cells: &[Cell], widths: &[usize]) -> Vec<Vec<Span>> {
    let shown = cells.iter().zip(widths).filter(|(_, columns)| **columns > 0);
    let draw = |(Cell { span, is_right, shared_prefix, .. }, &columns): (&Cell, &usize)| {
        let mut span = span.clone();
        if let Some(prefix) = shared_prefix.as_ref().filter(|prefix| prefix.shared + 1 >= columns) {
            span.text = distinguished(&span.text, &prefix.end, prefix.shared, columns);
        }
        let missing = if *is_right { columns.saturating_sub(width_of(&span.text)) } else { 0 };
        cell(vec![blanks(missing), span], columns)
    };
    shown.map(draw).collect()
}
