//! Lines with common columns.

use super::page::Page;
use super::parts::Part;
use super::span::{MIN_COLUMNS, Span, blanks, cell, clip, distinguished, is_empty, trim_end, width};
use super::width::{slice, width_of};

/// The space between columns.
const GAP: usize = 2;
/// The maximum width of the parts before text at the end. In a very wide terminal that text would otherwise be far away from
/// the other columns. It is constant, so that a growing activity moves no column.
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
    /// Always at the end of the room for the parts. May be empty.
    pub aside: Span,
    /// Columns at the end of the line.
    pub trailing: Vec<Cell>,
}

/// The widths of the columns.
pub(crate) struct Widths {
    cells: Vec<usize>,
    trailing: Vec<usize>,
}

impl Widths {
    pub(crate) fn of(rows: &[TableRow]) -> Self {
        Self { cells: widest(rows, |row| &row.cells), trailing: widest(rows, |row| &row.trailing) }
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
    /// Returns the columns that a row has for its parts.
    pub(crate) fn room(&self, row: &TableRow, widths: &Widths) -> usize {
        let before = drawn(&row.cells, &widths.cells);
        let after = drawn(&row.trailing, &widths.trailing);
        let room = self.width().saturating_sub(columns_of(row, &before, &after));
        let has_end = !after.is_empty() || !row.aside.text.is_empty();
        if has_end { room.min(PARTS_COLUMNS) } else { room }
    }

    /// Draws a line of a table. Its parts share the room that the columns leave.
    pub(crate) fn row(&mut self, row: &TableRow, widths: &Widths) {
        let TableRow { lead, cells, parts, aside, trailing } = row;
        let before = drawn(cells, &widths.cells);
        let after = drawn(trailing, &widths.trailing);
        let columns = columns_of(row, &before, &after);
        let page = self.width();
        let all = self.room(row, widths);
        let aside_columns = if aside.text.is_empty() { 0 } else { width_of(&aside.text) + GAP };
        let room = all.saturating_sub(aside_columns);
        self.with_below(parts, room, |middle| {
            // The columns after the parts begin at the same position in each line.
            let has_end = !after.is_empty() || aside_columns > 0;
            let mut middle = if !has_end || all < MIN_COLUMNS { middle } else { cell(middle, room) };
            if aside_columns > 0 {
                middle.extend([blanks(GAP), aside.clone()]);
            }
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

/// Returns the columns of a row without its parts.
fn columns_of(row: &TableRow, before: &[Vec<Span>], after: &[Vec<Span>]) -> usize {
    before.iter().chain(after).map(|cell| width(cell) + GAP).sum::<usize>() + width(&row.lead)
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
