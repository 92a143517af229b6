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
#[expect(clippy::struct_excessive_bools, reason = "what pi tells a renderer, a fact each")]
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
    /// Whether its arguments are complete and pi executes it.
    pub has_started: bool,
    /// Whether it has a result.
    pub is_over: bool,
    /// Whether that result is an error.
    pub is_error: bool,
    /// Whether all of the card is wanted.
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

/// How much of a card is wanted.
#[napi(object, object_to_js = false)]
pub struct CardExtent {
    /// All of it.
    pub is_expanded: bool,
    /// Lines of the terminal, if known.
    pub rows: Option<u32>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

impl From<CardExtent> for cards::Extent {
    fn from(CardExtent { is_expanded, rows, now_ms }: CardExtent) -> Self {
        Self { is_expanded, rows, now_ms }
    }
}

/// The card of a call that runs agents: it remembers what has been told, and is drawn at any time. Details and arguments
/// come as JSON; what is not ours is drawn as its text.
///
/// @example
/// ```ts
/// import { CallCard } from "pi-subagent-native";
///
/// const card = new CallCard("subagent");
/// card.ask(JSON.stringify({ agent: "explorer", task: "Find the loader." }));
/// card.start(Date.now());
/// console.log(card.head({ isExpanded: false, nowMs: Date.now() }).length, card.isRunning);
/// ```
#[napi]
pub struct CallCard(cards::Call);

#[napi]
impl CallCard {
    /// A card of the tool with this name.
    #[napi(constructor, catch_unwind)]
    pub fn new(tool: String) -> Self {
        Self(cards::Call::new(&tool))
    }

    /// Takes the arguments of the call, which can still be arriving.
    #[napi(catch_unwind)]
    pub fn ask(&mut self, arguments: String) {
        self.0.ask(&arguments);
    }

    /// The call is being carried out.
    #[napi(catch_unwind)]
    pub fn start(&mut self, now_ms: i64) {
        self.0.start(now_ms);
    }

    /// Takes an update: its details and its text.
    #[napi(catch_unwind)]
    pub fn update(&mut self, details: String, text: String, now_ms: i64) {
        self.0.update(&details, &text, now_ms);
    }

    /// Takes the result.
    #[napi(catch_unwind)]
    pub fn finish(&mut self, details: String, text: String, has_failed: bool, now_ms: i64) {
        self.0.finish(&details, &text, has_failed, now_ms);
    }

    /// Draws who works on what.
    #[napi(catch_unwind)]
    pub fn head(&self, extent: CardExtent) -> Vec<Row> {
        self.0.head(&extent.into()).into_js()
    }

    /// Draws how it goes, or what came of it.
    #[napi(catch_unwind)]
    pub fn body(&self, extent: CardExtent) -> Vec<Row> {
        self.0.body(&extent.into()).into_js()
    }

    /// True while its clock ticks.
    #[napi(getter)]
    pub fn is_running(&self) -> bool {
        self.0.is_running()
    }

    /// Milliseconds that the call has taken; absent where that is not known.
    #[napi(catch_unwind)]
    pub fn elapsed_ms(&self, now_ms: i64) -> Option<f64> {
        self.0.elapsed_ms(now_ms)
    }
}

/// Draws the message that announces how background runs ended, given its details as JSON; `null` for anything else.
///
/// @example
/// ```ts
/// import { announcementDrawing } from "pi-subagent-native";
///
/// console.log(announcementDrawing("{}", false));
/// ```
#[napi(catch_unwind)]
pub fn announcement_drawing(details: String, is_expanded: bool) -> Option<Vec<Row>> {
    cards::announcement_drawing(&details, is_expanded).into_js()
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
