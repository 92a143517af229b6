//! The columns of a list of runs.

use std::collections::BTreeSet;

use crate::present::paint::{Cell, Color, Part, SharedPrefix, Span, TableRow, share, width_of};

const NAME: Column = Column { max_columns: 28, share: Some(3), ..Column::NEW };
/// A wide page has room for longer names: this share of its width, up to this many columns.
const WIDE_NAME_SHARE: usize = 4;
const WIDE_NAME_COLUMNS: usize = 60;
/// A narrower page has no room for a readable activity next to long names, so that names get half of it.
const ACTIVITY_FROM: usize = 38;
/// The room that an activity and the time need next to short names.
const ACTIVITY_COLUMNS: usize = 24;
const AGENT: Column = Column { max_columns: 14, from: 60, ..Column::NEW };
const MODEL: Column = Column { max_columns: 20, from: 116, ..Column::NEW };
/// `59m59s`.
const TIME: Column = Column { max_columns: 6, is_right: true, ..Column::NEW };
/// `↑12.3k ↓12.3k`.
const TOKENS: Column = Column { max_columns: 13, from: 84, ..Column::NEW };
/// `$123.45`.
const COST: Column = Column { max_columns: 7, from: 100, is_right: true, ..Column::NEW };

/// The layout of a column.
struct Column {
    max_columns: usize,
    /// Its share of the width: at most the width divided by this number.
    share: Option<usize>,
    /// The minimum width at which it is shown.
    from: usize,
    is_right: bool,
}

impl Column {
    const NEW: Self = Self { max_columns: 0, share: None, from: 0, is_right: false };

    /// As wide as its longest text. `None` if the page is too narrow for it.
    fn cell(&self, width: usize, span: Span) -> Option<Cell> {
        let share_of = |part| {
            let part = if width < ACTIVITY_FROM { 2 } else { part };
            share(width, part, self.max_columns).max(share(width, WIDE_NAME_SHARE, WIDE_NAME_COLUMNS))
        };
        let max_columns = self.share.map_or(self.max_columns, share_of);
        let cell = Cell { span, max_columns, is_right: self.is_right, shared_prefix: None };
        (width >= self.from).then_some(cell)
    }

    /// Returns a cell of the maximum width, for any content.
    fn steady(&self, width: usize, mut span: Span) -> Option<Cell> {
        let columns = self.max_columns;
        span.text = if self.is_right {
            format!("{:>columns$}", span.text)
        } else {
            format!("{:columns$}", span.text)
        };
        self.cell(width, span)
    }

    /// Its name, which does not widen it.
    fn heading(&self, width: usize, name: &str) -> Option<Cell> {
        self.cell(width, Span::new("dim", name)).map(|cell| Cell { max_columns: 1, ..cell })
    }
}

/// The texts of a row in the columns.
#[derive(Clone, Debug, Default)]
pub(super) struct RowTexts {
    pub mark: Span,
    pub name: String,
    pub agent: String,
    pub model: String,
    pub elapsed: String,
    pub tokens: String,
    pub cost: String,
}

/// A table of runs in a width.
#[expect(clippy::struct_excessive_bools, reason = "each says that a column has a text")]
pub(super) struct Columns {
    width: usize,
    /// The beginning that each name shares with another one.
    shared_prefix: Vec<Option<SharedPrefix>>,
    has_agents: bool,
    /// A column with one model everywhere would take its room from the activity.
    has_models: bool,
    has_activity: bool,
    has_tokens: bool,
    has_costs: bool,
}

impl Columns {
    /// Only where runs are numbered costs are compared.
    pub(super) fn of(rows: &[RowTexts], is_numbered: bool, width: usize) -> Self {
        let names: Vec<_> = rows.iter().map(|row| row.name.clone()).collect();
        let models: BTreeSet<_> =
            rows.iter().map(|row| &row.model).filter(|model| !model.is_empty()).collect();
        Self {
            width,
            shared_prefix: distinguished(&names),
            has_agents: rows.iter().any(|row| !row.agent.is_empty()),
            has_models: models.len() > 1,
            has_activity: width >= ACTIVITY_FROM
                || names.iter().all(|name| width_of(name) + ACTIVITY_COLUMNS <= width),
            has_tokens: rows.iter().any(|row| !row.tokens.is_empty()),
            has_costs: is_numbered && rows.iter().any(|row| !row.cost.is_empty()),
        }
    }

    /// The names of the columns.
    pub(super) fn heading(&self, lead: Span) -> TableRow {
        // A list of only workflows has neither column.
        let agent = if self.has_agents { "agent" } else { "" };
        let model = if self.has_models { "model" } else { "" };
        let cells = [(NAME, "run"), (AGENT, agent), (MODEL, model), (TIME, "time")];
        let cells = cells.into_iter().filter_map(|(column, name)| column.heading(self.width, name)).collect();
        let trailing = self.trailing(TOKENS.heading(self.width, "tokens"), COST.heading(self.width, "cost"));
        let parts = vec![self.activity_part(vec![Span::new("dim", "doing")])];
        TableRow { lead: vec![lead], cells, parts, trailing, ..TableRow::default() }
    }

    /// The line of a row, with its name in `color` and without its activity.
    pub(super) fn line(&self, index: usize, row: &RowTexts, color: Color) -> TableRow {
        let width = self.width;
        let name = NAME.cell(width, Span::new(color, &row.name));
        let cells = [
            name.map(|cell| Cell { shared_prefix: self.shared_prefix[index].clone(), ..cell }),
            AGENT.cell(width, Span::new("muted", &row.agent)),
            MODEL.cell(width, Span::new("muted", if self.has_models { row.model.as_str() } else { "" })),
            TIME.steady(width, Span::new("muted", &row.elapsed)),
        ];
        let trailing = self.trailing(
            TOKENS.steady(width, Span::new("muted", &row.tokens)),
            COST.steady(width, Span::new("muted", &row.cost)),
        );
        TableRow {
            lead: vec![Span { text: format!("{} ", row.mark.text), ..row.mark.clone() }],
            cells: cells.into_iter().flatten().collect(),
            trailing,
            ..TableRow::default()
        }
    }

    /// Returns the part in the room that the columns leave, unless that is almost none.
    pub(super) fn activity_part(&self, spans: Vec<Span>) -> Part {
        Part { min_columns: Some(0), ..Part::new(if self.has_activity { spans } else { Vec::new() }) }
    }

    fn trailing(&self, tokens: Option<Cell>, cost: Option<Cell>) -> Vec<Cell> {
        let tokens = tokens.filter(|_| self.has_tokens);
        tokens.into_iter().chain(cost.filter(|_| self.has_costs)).collect()
    }
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
        Some(SharedPrefix { shared: width_of(&name[..shared]), end: format!("…{}", &name[word..]) })
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
