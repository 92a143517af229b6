//! Drawings, as the painter gets them.

use napi::bindgen_prelude::{Env, Function, JsObjectValue, Object, Unknown};
use napi_derive::napi;
use serde::Serialize;

use super::into_js::{IntoJs, object_into_js};
use crate::present;

/// Makes an object of JavaScript by way of one text. A list of fifty runs is eight thousand small values: handed over one by
/// one they take four times as long.
pub(super) fn parsed<Js: Serialize>(env: &Env, drawing: impl IntoJs<Js>) -> napi::Result<Unknown<'_>> {
    let json: Object = env.get_global()?.get_named_property("JSON")?;
    let parse: Function<String, Unknown> = json.get_named_property("parse")?;
    parse.call(serde_json::to_string(&drawing.into_js())?)
}

/// A row of a drawing: one line of a terminal or more.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Columns that it is moved to the right.
    pub indent: u32,
    /// The content, and its fit to a width.
    pub fit: Fit,
}

/// Text in one style.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// Safe for a terminal.
    pub text: String,
    /// The name of a colour in pi's theme; absent for the terminal's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_bold: Option<bool>,
    /// It is a path, which is shortened from the left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_path: Option<bool>,
    /// An action of pi's whose key stands in the text for `{key}`; without a key the span is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[napi(ts_type = "\"app.tools.expand\"")]
    pub action: Option<&'static str>,
}

/// Spans that belong together.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// A part without text is left out with its separator.
    pub spans: Vec<Span>,
    /// Without room for all parts, the highest rank is dropped first; 0 stays.
    pub rank: u32,
    /// It may be cut to so many columns before another part goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewest: Option<u32>,
    /// It stands below, in at most so many lines, where it is not shown whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<u32>,
    /// Only for widths from here on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// Only for widths below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<u32>,
}

/// A column: as wide as the longest text at this place in all lines of a drawing.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// The content.
    pub span: Span,
    /// Columns at most.
    pub most: u32,
    /// At most one part in so many of the width.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<u32>,
    /// Only for widths from here on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// It is compared by its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_right: Option<bool>,
    /// Its text still grows and must not move the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_growing: Option<bool>,
    /// The difference from the other cells of its column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_prefix: Option<SharedPrefix>,
}

/// The difference of a text from others with the same beginning.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedPrefix {
    /// In so many characters they are alike.
    pub shared: u32,
    /// The part that is shown without room for the whole text.
    pub end: String,
}

/// The fit of a row to a width.
#[napi(discriminant = "kind", discriminant_case = "camelCase", object_from_js = false)]
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fit {
    /// One line: a lead, columns, parts joined by ` · `, and columns at its end.
    Line { lead: Vec<Span>, cells: Vec<Cell>, parts: Vec<Part>, behind: Vec<Cell> },
    /// Parts joined by ` · `, on as many lines as they need, or at most so many.
    Parts {
        parts: Vec<Vec<Span>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        most: Option<u32>,
    },
    /// Wrapped text. `label`: a name before it, in a column with the others; `most`: so many lines; `more` says how many are
    /// left out, as `{rest}`, and an ellipsis where it is empty.
    Text {
        lead: Vec<Span>,
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<Span>,
        spans: Vec<Span>,
        #[serde(skip_serializing_if = "Option::is_none")]
        most: Option<u32>,
        more: Vec<Span>,
    },
    /// Markdown: all of it, or so many of its first or last lines without blank ones. `more` says how many are left out, as
    /// `{rest}`; `isOpen`: it ends with code that still grows.
    Prose {
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        first: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        last: Option<u32>,
        more: Vec<Span>,
        is_open: bool,
    },
    /// As many paths as fit into a line.
    Paths { lead: Vec<Span>, paths: Vec<String> },
}

object_into_js! { |row: present::Row| Row { indent, fit } }

object_into_js! { |span: present::Span| Span { text, color, is_bold, is_path, action } }

object_into_js! { |part: present::Part| Part { spans, rank, fewest, below, from, until } }

object_into_js! { |cell: present::Cell| Cell { span, most, share, from, is_right, is_growing, shared_prefix } }

object_into_js! { |shared_prefix: present::SharedPrefix| SharedPrefix { shared, end } }

impl IntoJs<Fit> for present::Fit {
    fn into_js(self) -> Fit {
        match self {
            Self::Line { lead, cells, parts, behind } => Fit::Line {
                lead: lead.into_js(),
                cells: cells.into_js(),
                parts: parts.into_js(),
                behind: behind.into_js(),
            },
            Self::Parts { parts, most } => {
                Fit::Parts { parts: parts.into_iter().map(IntoJs::into_js).collect(), most }
            }
            Self::Text { lead, label, spans, most, more } => Fit::Text {
                lead: lead.into_js(),
                label: label.into_js(),
                spans: spans.into_js(),
                most,
                more: more.into_js(),
            },
            Self::Prose { text, first, last, more, is_open } => {
                Fit::Prose { text, first, last, more: more.into_js(), is_open }
            }
            Self::Paths { lead, paths } => Fit::Paths { lead: lead.into_js(), paths },
        }
    }
}
