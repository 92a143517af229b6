//! The content of the screen, before its width is known.
//!
//! A drawing is a list of rows. A row has its content, in colours of pi's theme, and the way it is fitted to a width:
//! one [`Fit`] for each way that a terminal needs. `extension/ui/paint.ts` paints drawings with pi's own measure, and
//! decides nothing else.
//!
//! | Fit | For | Where the width is too small |
//! |---|---|---|
//! | [`Fit::Line`] | heads, rows of a table, tool calls, places of files | parts give way by rank, then the end is cut; a path loses its beginning |
//! | [`Fit::Parts`] | figures | goes on in the next line, between two parts |
//! | [`Fit::Text`] | sentences, tasks, errors | is wrapped, to so many lines |
//! | [`Fit::Prose`] | what a model has written, as Markdown | is wrapped, to so many lines |
//! | [`Fit::Paths`] | files in one line | as many as fit, and the number of the others |
//!
//! Text from elsewhere becomes safe when it becomes part of a row, so a painter can trust every drawing: see `foreign`.

mod foreign;

pub(crate) use foreign::{
    PREVIEW_CHARS, beginning, first_line, folded, gist, newest_words, plain, short_path,
};

/// Rows from top to bottom.
pub type Drawing = Vec<Row>;

/// The name of a colour in pi's theme.
pub type Color = &'static str;

/// The indentation of cards, messages and reports below their first line.
pub(crate) const INDENT: u32 = 2;

/// The key with which pi shows all of a card.
const EXPAND: &str = "app.tools.expand";

/// Text in one style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Without control characters; line breaks only in a [`Fit::Text`].
    pub text: String,
    /// The terminal's own where absent.
    pub color: Option<Color>,
    /// True if it is bold.
    pub is_bold: bool,
    /// True if it is a path, which is shortened from the left.
    pub is_path: bool,
    /// True if its end is the newest part, and its beginning is cut instead.
    pub keeps_end: bool,
    /// An action of pi's, whose key replaces `{key}` in the text. If it has no key, the span is left out.
    pub action: Option<&'static str>,
}

impl Span {
    /// Text on one line.
    pub(crate) fn new(color: Color, text: impl AsRef<str>) -> Self {
        let text = plain(text.as_ref());
        let text = if text.contains('\n') { text.replace('\n', " ") } else { text };
        Self { text, color: Some(color), ..Self::default() }
    }

    /// Text that may have several lines.
    pub(crate) fn block(color: Color, text: &str) -> Self {
        Self { text: plain(text).trim().to_owned(), color: Some(color), ..Self::default() }
    }

    pub(crate) fn path(color: Color, path: &str) -> Self {
        Self { is_path: true, ..Self::new(color, folded(path)) }
    }

    pub(crate) fn bold(self) -> Self {
        Self { is_bold: true, ..self }
    }
}

/// Spans that belong together in a [`Fit::Line`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// A part without text is left out with its separator.
    pub spans: Vec<Span>,
    /// If the parts do not all fit, the part with the highest rank is dropped first. Rank 0 is never dropped.
    pub rank: u32,
    /// The number of columns to which it may be cut before another part is dropped. With almost no columns left, it is
    /// dropped itself.
    pub min_columns: Option<u32>,
    /// The maximum number of lines below the row in which it is shown if the row has no room for all of it.
    pub below: Option<u32>,
    /// The minimum width at which it is shown.
    pub from: Option<u32>,
    /// The width from which on it is no longer shown.
    pub until: Option<u32>,
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

/// A beginning that a text shares with others, and the end that tells them apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedPrefix {
    /// The number of characters that are the same.
    pub shared: u32,
    /// The part that is shown if there is no room for the whole text.
    pub end: String,
}

/// A column: as wide as the longest text at this place in all lines of a drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The content.
    pub span: Span,
    /// Columns at most.
    pub max_columns: u32,
    /// Its share of the width: at most the width divided by this number.
    pub share: Option<u32>,
    /// The minimum width at which it is shown.
    pub from: Option<u32>,
    /// True if it is aligned to the right.
    pub is_right: bool,
    /// True if its text still grows and must not move the other cells.
    pub is_growing: bool,
    /// The beginning that it shares with other cells of its column.
    pub shared_prefix: Option<SharedPrefix>,
}

/// The layout of a row for a width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// One line: a lead, columns, then parts joined by ` · ` in the room that is left.
    Line {
        /// Never shortened.
        lead: Vec<Span>,
        /// Before the parts.
        cells: Vec<Cell>,
        /// From left to right.
        parts: Vec<Part>,
        /// Columns at the end of the line, after the parts.
        trailing: Vec<Cell>,
    },
    /// Parts joined by ` · `, on as many lines as they need.
    Parts {
        /// From left to right.
        parts: Vec<Vec<Span>>,
        /// The maximum number of lines. The rest is omitted.
        max_rows: Option<u32>,
    },
    /// Wrapped text.
    Text {
        /// Before the first line; the others begin below its end.
        lead: Vec<Span>,
        /// A name before the text. The names of a drawing form a column, unless they are long.
        label: Option<Span>,
        /// The text itself.
        spans: Vec<Span>,
        /// Lines at most.
        max_rows: Option<u32>,
        /// Says in a line of its own how many lines are left out, as `{rest}`. Without it an ellipsis says that some are.
        more: Vec<Span>,
    },
    /// Markdown. With a limit its blank lines are left out.
    Prose {
        /// The source.
        text: String,
        /// The number of lines from the beginning.
        first: Option<u32>,
        /// The number of lines from the end.
        last: Option<u32>,
        /// Says in a line of its own how many lines are left out after the first ones, as `{rest}`.
        more: Vec<Span>,
        /// Code at its end still grows, and has no end to draw.
        is_open: bool,
    },
    /// Paths in one line.
    Paths {
        /// Before the first one.
        lead: Vec<Span>,
        /// In the colour of names.
        paths: Vec<String>,
    },
}

/// A row of a drawing: one line or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Columns that it is moved to the right.
    pub indent: u32,
    /// The content, with its layout.
    pub fit: Fit,
}

impl Row {
    /// A line of parts.
    pub(crate) fn line<P: Into<Part>>(parts: impl IntoIterator<Item = P>) -> Self {
        Self::columns(Vec::new(), Vec::new(), parts.into_iter().map(Into::into).collect())
    }

    pub(crate) fn columns(lead: Vec<Span>, cells: Vec<Cell>, parts: Vec<Part>) -> Self {
        Fit::Line { lead, cells, parts, trailing: Vec::new() }.into()
    }

    /// A line of spans that are not separated, cut where the terminal ends.
    pub(crate) fn spans(spans: Vec<Span>) -> Self {
        Self::line([Part::new(spans)])
    }

    /// An empty line.
    pub(crate) fn blank() -> Self {
        Self::line::<Part>([])
    }

    /// Figures and the like.
    pub(crate) fn parts(spans: impl IntoIterator<Item = Span>) -> Self {
        Fit::Parts { parts: spans.into_iter().map(|span| vec![span]).collect(), max_rows: None }.into()
    }

    /// A text in one colour.
    pub(crate) fn text(color: Color, text: &str) -> Self {
        Self::wrapped(vec![Span::block(color, text)])
    }

    pub(crate) fn wrapped(spans: Vec<Span>) -> Self {
        Fit::Text { lead: Vec::new(), label: None, spans, max_rows: None, more: Vec::new() }.into()
    }

    /// Markdown in full.
    pub(crate) fn prose(text: &str) -> Self {
        let text = plain(text).trim().to_owned();
        Fit::Prose { text, first: None, last: None, more: Vec::new(), is_open: false }.into()
    }

    /// Limits it to at most `limit` lines from its beginning. `note` replaces the other lines if there are several.
    pub(crate) fn limited(mut self, limit: u32, note: Vec<Span>) -> Self {
        if let Fit::Text { max_rows: limited, more, .. } | Fit::Prose { first: limited, more, .. } =
            &mut self.fit
        {
            (*limited, *more) = (Some(limit), note);
        }
        self
    }

    /// Shows the end of a growing text, in at most `lines` lines.
    pub(crate) fn end_of_prose(text: &str, lines: u32) -> Self {
        let foreign::Tail { text, is_open } = foreign::tail(text, lines);
        Fit::Prose { text, first: None, last: Some(lines), more: Vec::new(), is_open }.into()
    }

    pub(crate) fn indented(mut self, columns: u32) -> Self {
        self.indent += columns;
        self
    }
}

impl From<Fit> for Row {
    fn from(fit: Fit) -> Self {
        Self { indent: 0, fit }
    }
}

/// Moves rows to the right.
pub(crate) fn indented(rows: Drawing, columns: u32) -> Drawing {
    rows.into_iter().map(|row| row.indented(columns)).collect()
}

/// Returns a note on omitted content.
pub(crate) fn more_note(text: impl AsRef<str>) -> Vec<Span> {
    vec![Span::new("dim", format!("… {}", text.as_ref()))]
}

/// Returns a note on content that only the expanded card shows.
pub(crate) fn hint(text: impl AsRef<str>) -> Vec<Span> {
    let mut spans = more_note(text);
    spans.push(Span { action: Some(EXPAND), ..Span::new("dim", ", {key} to expand") });
    spans
}

/// Returns the hint that names the key to expand a card, as a part of its own.
pub(crate) fn expand_hint() -> Span {
    Span { action: Some(EXPAND), ..Span::new("dim", "{key} to expand") }
}
