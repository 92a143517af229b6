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
    /// The content, with its layout for a width.
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
    /// True if it is a path, which is shortened from the left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_path: Option<bool>,
    /// True if its end is the newest part, and its beginning is cut instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeps_end: Option<bool>,
    /// An action of pi's, whose key replaces `{key}` in the text. If it has no key, the span is left out.
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
    /// If the parts do not all fit, the part with the highest rank is dropped first. Rank 0 is never dropped.
    pub rank: u32,
    /// The number of columns to which it may be cut before another part is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_columns: Option<u32>,
    /// The maximum number of lines below the row in which it is shown if the row has no room for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<u32>,
    /// The minimum width at which it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// The width from which on it is no longer shown.
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
    pub max_columns: u32,
    /// Its share of the width: at most the width divided by this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<u32>,
    /// The minimum width at which it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// True if it is aligned to the right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_right: Option<bool>,
    /// True if its text still grows and must not move the other cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_growing: Option<bool>,
    /// The beginning that it shares with other cells of its column. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_prefix: Option<SharedPrefix>,
}

/// A beginning that a text shares with others, and the end that tells them apart.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedPrefix {
    /// The number of characters that are the same.
    pub shared: u32,
    /// The part that is shown if there is no room for the whole text.
    pub end: String,
}

/// The layout of a row for a width.
#[napi(discriminant = "kind", discriminant_case = "camelCase", object_from_js = false)]
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fit {
    /// One line: a lead, columns, parts joined by ` · `, and columns at its end.
    Line { lead: Vec<Span>, cells: Vec<Cell>, parts: Vec<Part>, trailing: Vec<Cell> },
    /// Parts joined by ` · `, on as many lines as they need, at most `most`.
    Parts {
        parts: Vec<Vec<Span>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_rows: Option<u32>,
    },
    /// Wrapped text. `label`: a name before it, in a column with the others; `maxRows`: the maximum number of lines;
    /// `more`: the text that replaces the other lines, with their number as `{rest}`. If `more` is empty, an ellipsis
    /// replaces them.
    Text {
        lead: Vec<Span>,
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<Span>,
        spans: Vec<Span>,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_rows: Option<u32>,
        more: Vec<Span>,
    },
    /// Markdown: all of it, or the given number of its `first` or `last` lines, without blank ones. `more`: the text
    /// that replaces the other lines, with their number as `{rest}`. `isOpen`: it ends with code that still grows.
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

object_into_js! { |span: present::Span| Span { text, color, is_bold, is_path, keeps_end, action } }

object_into_js! { |part: present::Part| Part { spans, rank, min_columns, below, from, until } }

object_into_js! { |cell: present::Cell| Cell { span, max_columns, share, from, is_right, is_growing, shared_prefix } }

object_into_js! { |shared_prefix: present::SharedPrefix| SharedPrefix { shared, end } }

impl IntoJs<Fit> for present::Fit {
    fn into_js(self) -> Fit {
        match self {
            Self::Line { lead, cells, parts, trailing } => Fit::Line {
                lead: lead.into_js(),
                cells: cells.into_js(),
                parts: parts.into_js(),
                trailing: trailing.into_js(),
            },
            Self::Parts { parts, max_rows } => {
                Fit::Parts { parts: parts.into_iter().map(IntoJs::into_js).collect(), max_rows }
            }
            Self::Text { lead, label, spans, max_rows, more } => Fit::Text {
                lead: lead.into_js(),
                label: label.into_js(),
                spans: spans.into_js(),
                max_rows,
                more: more.into_js(),
            },
            Self::Prose { text, first, last, more, is_open } => {
                Fit::Prose { text, first, last, more: more.into_js(), is_open }
            }
            Self::Paths { lead, paths } => Fit::Paths { lead: lead.into_js(), paths },
        }
    }
}
