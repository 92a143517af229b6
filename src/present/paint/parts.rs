//! Parts of a line that give way to each other where the terminal is narrow.

use std::cmp::Reverse;

use super::span::{MIN_COLUMNS, Span, clip, cut, is_empty, width};
use super::width::{slice, width_of};

/// A part that is too long keeps its first words if they are at least this share of it.
const MIN_SHARE: usize = 3;
/// Stands between two parts.
const SEPARATOR: &str = " · ";

/// Spans that belong together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// A part without text is left out with its separator.
    pub spans: Vec<Span>,
    /// If the parts do not all fit, the part with the highest rank is dropped first. Parts of rank 0 are shortened only if
    /// they are too wide without the others, the last one first.
    pub rank: u32,
    /// The number of columns to which it may be cut before another part is dropped. With almost no columns left, it is
    /// dropped itself. One part of a line has this.
    pub min_columns: Option<usize>,
    /// The maximum number of lines below the line in which it is shown if the line has no room for all of it.
    pub below: Option<usize>,
    /// The minimum width of the page at which the line itself has it.
    pub from: usize,
}

impl Part {
    pub(crate) fn new(spans: Vec<Span>) -> Self {
        Self { spans, ..Self::default() }
    }

    pub(crate) fn ranked(self, rank: u32) -> Self {
        Self { rank, ..self }
    }
}

impl From<Span> for Part {
    fn from(span: Span) -> Self {
        Self::new(vec![span])
    }
}

/// Joins parts in a line and leaves out the empty ones.
pub(super) fn joined(parts: Vec<Vec<Span>>) -> Vec<Span> {
    let mut line = Vec::new();
    for part in parts.into_iter().filter(|part| !is_empty(part)) {
        if !line.is_empty() {
            line.push(Span::new("dim", SEPARATOR));
        }
        line.extend(part);
    }
    line
}

/// Returns the columns of joined parts, given the columns of each.
pub(super) fn joined_width(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|width| **width > 0).count();
    widths.iter().sum::<usize>() + shown.saturating_sub(1) * width_of(SEPARATOR)
}

/// Returns the parts that fit: one may be cut, others are dropped by rank. The first part can still be too wide.
pub(super) fn fitted(parts: &[&Part], room: usize) -> Vec<Vec<Span>> {
    let mut drawn: Vec<Vec<Span>> = parts.iter().map(|part| part.spans.clone()).collect();
    let widths: Vec<usize> = drawn.iter().map(|spans| width(spans)).collect();
    if joined_width(&widths) <= room {
        return drawn;
    }
    let cuttable = parts.iter().position(|part| part.min_columns.is_some());
    let mut wanted = widths.clone();
    if let Some(at) = cuttable {
        wanted[at] = widths[at].min(parts[at].min_columns.unwrap_or_default());
    }
    let mut order: Vec<usize> = (0..parts.len()).filter(|&at| parts[at].rank > 0).collect();
    order.sort_by_key(|&at| Reverse(parts[at].rank));
    for at in order {
        if joined_width(&wanted) <= room {
            break;
        }
        wanted[at] = 0;
        drawn[at].clear();
    }
    match (cuttable, drawn.as_mut_slice()) {
        (Some(at), _) => {
            let remaining = (room + wanted[at]).saturating_sub(joined_width(&wanted));
            let fits = remaining >= widths[at].min(MIN_COLUMNS);
            drawn[at] = if fits { cut(parts[at].spans.clone(), remaining) } else { Vec::new() };
        }
        // A single part may lose the beginning of its path.
        (None, [part]) => *part = cut(std::mem::take(part), room),
        (None, _) => {}
    }
    shorten(&mut drawn, room);
    drawn
}

/// Shortens parts that are too wide together, from the last one on: to its whole words if these are a share of it worth
/// reading, else it is dropped. The first part stays, and is cut where the line ends.
fn shorten(drawn: &mut [Vec<Span>], room: usize) {
    loop {
        let widths: Vec<usize> = drawn.iter().map(|spans| width(spans)).collect();
        let excess = joined_width(&widths).saturating_sub(room);
        let mut shown = (0..drawn.len()).rev().filter(|&at| widths[at] > 0);
        let (Some(last), Some(_)) = (shown.next(), shown.next()) else { return };
        if excess == 0 {
            return;
        }
        let text: String = drawn[last].iter().map(|span| span.text.as_str()).collect();
        let kept = slice(&text, 0..widths[last].saturating_sub(excess + 1));
        let words = kept.rfind(' ').map_or(0, |blank| width_of(kept[..blank].trim_end()));
        let is_worth_it = words * MIN_SHARE >= widths[last];
        drawn[last] =
            if is_worth_it { clip(std::mem::take(&mut drawn[last]), words + 1) } else { Vec::new() };
    }
}
