//! What stands in a conversation, as drawings. What a session keeps comes in as JSON: whatever it is, reading it is safe.

use napi_derive::napi;

use super::drawing::Row;
use super::into_js::{IntoJs, object_into_js};
use crate::present::cards;

/// A card: the upper part, and what came of the call.
#[napi(object, object_from_js = false)]
pub struct CardDrawing {
    /// Who works on what.
    pub head: Vec<Row>,
    /// How it goes, or what came of it.
    pub body: Vec<Row>,
}

/// A call of a tool for work in the background.
#[napi(object, object_to_js = false)]
pub struct ToolCard {
    /// The tool's name.
    pub tool: String,
    /// The call's arguments as JSON.
    pub arguments: String,
    /// The result's details as JSON; absent before the result.
    pub details: Option<String>,
    /// The text of the result.
    pub text: String,
    pub has_started: bool,
    pub is_over: bool,
    pub is_error: bool,
    pub is_expanded: bool,
}

/// Draws the card of a call of a tool for work in the background.
///
/// @example
/// ```ts
/// import { toolCard } from "pi-subagent-native";
///
/// const call = { tool: "agents_list", arguments: "{}", text: "explorer", hasStarted: true };
/// const { head, body } = toolCard({ ...call, isOver: true, isError: false, isExpanded: false });
/// console.log(head.length, body.length);
/// ```
#[napi(catch_unwind)]
pub fn tool_card(card: ToolCard) -> CardDrawing {
    let ToolCard { tool, arguments, details, text, has_started, is_over, is_error, is_expanded } = card;
    let card =
        cards::ToolCard { tool, arguments, details, text, has_started, is_over, is_error, is_expanded };
    cards::tool_card(&card).into_js()
}

/// Draws a report, given as JSON, as commands keep it; `null` for anything else.
///
/// @example
/// ```ts
/// import { reportDrawing } from "pi-subagent-native";
///
/// const rows = reportDrawing(JSON.stringify({ title: "Runs", lines: [{ mark: "ok", text: "one" }], text: "" }));
/// console.log(rows?.length);
/// ```
#[napi(catch_unwind)]
pub fn report_drawing(data: String) -> Option<Vec<Row>> {
    cards::entry_drawing(&data).into_js()
}

object_into_js! { |card: cards::CardDrawing| CardDrawing { head, body } }
