//! The columns of a list of runs.

use super::view::ShownRun;
use crate::present::drawing::{Cell, Fit, Part, Row, SharedPrefix, Span};

const NAME: Column = Column { max_columns: 28, share: Some(3), ..Column::NEW };
const AGENT: Column = Column { max_columns: 14, from: Some(60), ..Column::NEW };
const MODEL: Column = Column { max_columns: 20, from: Some(116), ..Column::NEW };
/// `59m59s`.
const TIME: Column = Column { max_columns: 6, is_right: true, ..Column::NEW };
/// `↑12.3k ↓12.3k`.
const TOKENS: Column = Column { max_columns: 13, from: Some(84), ..Column::NEW };
/// `$123.45`.
const COST: Column = Column { max_columns: 7, from: Some(100), is_right: true, ..Column::NEW };

/// The layout of a column.
struct Column {
    max_columns: u32,
    share: Option<u32>,
    from: Option<u32>,
    is_right: bool,
}

impl Column {
    const NEW: Self = Self { max_columns: 0, share: None, from: None, is_right: false };

    /// As wide as its longest text.
    fn cell(&self, span: Span) -> Cell {
        let Self { max_columns, share, from, is_right } = *self;
        Cell { span, max_columns, share, from, is_right, ..Cell::default() }
    }

    /// Returns a cell of the maximum width, for any content.
    fn steady(&self, mut span: Span) -> Cell {
        let width = self.max_columns as usize;
        span.text =
            if self.is_right { format!("{:>width$}", span.text) } else { format!("{:width$}", span.text) };
        self.cell(span)
    }

    /// Its name, which does not widen it.
    fn heading(&self, name: &str) -> Cell {
        Cell { is_growing: true, ..self.cell(Span::new("dim", name)) }
    }
}

/// The common widths of these runs' columns.
pub(super) struct Columns {
    /// The beginning that each name shares with another one.
    shared_prefix: Vec<Option<SharedPrefix>>,
    has_tokens: bool,
    has_costs: bool,
}

impl Columns {
    /// Only where runs are numbered costs are compared.
    pub(super) fn of(runs: &[ShownRun], is_numbered: bool) -> Self {
        let names: Vec<_> = runs.iter().map(ShownRun::name).collect();
        Self {
            shared_prefix: distinguished(&names),
            has_tokens: runs.iter().any(|run| !run.tokens().is_empty()),
            has_costs: is_numbered && runs.iter().any(|run| run.usage.cost.total > 0.0),
        }
    }

    /// The names of the columns.
    pub(super) fn heading(&self, number_columns: usize) -> Row {
        let lead = vec![Span::new("dim", format!("  {:>number_columns$} ", "#"))];
        let cells =
            vec![NAME.heading("run"), AGENT.heading("agent"), MODEL.heading("model"), TIME.heading("time")];
        let trailing = self.trailing(TOKENS.heading("tokens"), COST.heading("cost"));
        let activity = activity_part(vec![Span::new("dim", "doing")]);
        Fit::Line { lead, cells, parts: vec![activity], trailing }.into()
    }

    /// The line of a run.
    pub(super) fn line(&self, index: usize, run: &ShownRun, is_unread: bool, now_ms: i64) -> Row {
        let mark = run.mark(now_ms);
        let lead = vec![Span { text: format!("{} ", mark.text), ..mark }];
        let name = Cell {
            shared_prefix: self.shared_prefix[index].clone(),
            ..NAME.cell(Span::new("accent", run.name()))
        };
        let cells = vec![
            name,
            AGENT.cell(Span::new("muted", run.agent())),
            MODEL.cell(Span::new("dim", run.model())),
            TIME.steady(Span::new("muted", run.elapsed(now_ms))),
        ];
        let cost = run.usage_text().cost.unwrap_or_default();
        let trailing =
            self.trailing(TOKENS.steady(Span::new("dim", run.tokens())), COST.steady(Span::new("dim", cost)));
        let activity = activity_part(run.activity(is_unread, now_ms));
        Fit::Line { lead, cells, parts: vec![activity], trailing }.into()
    }

    fn trailing(&self, tokens: Cell, cost: Cell) -> Vec<Cell> {
        let tokens = self.has_tokens.then_some(tokens);
        tokens.into_iter().chain(self.has_costs.then_some(cost)).collect()
    }
}

/// Returns the part in the room that the columns leave, unless that is almost none.
fn activity_part(spans: Vec<Span>) -> Part {
    Part { min_columns: Some(0), ..Part::new(spans) }
}

/// Returns the differences of names with the same beginning.
fn distinguished(names: &[String]) -> Vec<Option<SharedPrefix>> {
    // Sorted, each name is next to the one with the longest common beginning.
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let shared_prefix = |name: &str| {
        let index = sorted.binary_search(&name).ok()?;
        let neighbours = [index.checked_sub(1).map(|before| sorted[before]), sorted.get(index + 1).copied()];
        let shared = neighbours.into_iter().flatten().map(|other| shared_bytes(name, other)).max()?;
        // It is the beginning of another one.
        if shared == 0 || shared == name.len() {
            return None;
        }
        let word = name[..shared].rfind([' ', '/', '\\']).map_or(0, |blank| blank + 1);
        let characters = name[..shared].chars().count();
        Some(SharedPrefix {
            shared: u32::try_from(characters).unwrap_or(u32::MAX),
            end: format!("…{}", &name[word..]),
        })
    };
    names.iter().map(|name| shared_prefix(name)).collect()
}

/// The length of what two texts begin with, in whole characters.
fn shared_bytes(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    same.map(|(character, _)| character.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_common_prefix_are_cut_to_their_difference() {
        let names =
            ["Look in src/store/mod.rs", "Look in src/store/map.rs", "Look", "Tést"].map(str::to_owned);
        let shared_prefix = distinguished(&names)
            .into_iter()
            .map(|shared_prefix| shared_prefix.map(|SharedPrefix { shared, end }| (shared, end)));
        let end = |end: &str| Some((19, end.to_owned()));
        assert_eq!(shared_prefix.collect::<Vec<_>>(), [end("…mod.rs"), end("…map.rs"), None, None]);
    }
}
