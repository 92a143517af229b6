//! The cards and messages of a conversation. The data that a session has stored comes in as JSON. Reading
//! it is safe, whatever it contains.

use napi::bindgen_prelude::Env;
use napi_derive::napi;

use super::drawing::{Palette, drawn, extent};
use crate::present::cards;

/// The requested size of a card.
#[napi(object, object_to_js = false)]
pub struct CardExtent {
    /// All of it.
    pub is_expanded: bool,
    /// Lines of the terminal, if known.
    pub rows: Option<u32>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
    /// The name of the key that stops a call, for the card of a call that has run for a while.
    pub stop_key: Option<String>,
    /// The name of the key that moves it to the background.
    pub background_key: Option<String>,
}

impl From<CardExtent> for cards::Extent {
    fn from(CardExtent { is_expanded, rows, now_ms, stop_key, background_key }: CardExtent) -> Self {
        Self {
            is_expanded,
            rows: rows.map(extent),
            now_ms,
            stop_key: stop_key.unwrap_or_default(),
            background_key: background_key.unwrap_or_default(),
        }
    }
}

/// The card of a call of a tool: it remembers all updates, and can be drawn at any time. Details and arguments come as
/// JSON. If the details are not from this package, their text is drawn.
///
/// @example
/// ```ts
/// import { CallCard, Palette } from "pi-subagent-native/extension";
///
/// const palette = new Palette("{}");
/// const card = new CallCard("subagent");
/// card.ask(JSON.stringify({ agent: "explorer", task: "Find the loader." }));
/// card.start(Date.now());
/// console.log(card.head(palette, 80, { isExpanded: false, nowMs: Date.now() }).length, card.isRunning);
/// ```
#[napi]
pub struct CallCard(cards::CallCard);

#[napi]
impl CallCard {
    /// Creates the card of a call of the tool with this name.
    #[napi(constructor, catch_unwind)]
    pub fn new(tool: String) -> Self {
        Self(cards::CallCard::new(&tool))
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

    /// Takes what commands have done with runs since then, as JSON: `BackgroundEvent.settled`, or an object like
    /// `{ [runId]: { changes?, timesResumed?, hasEnded? } }`. The card of a result then no longer offers these commands.
    #[napi(catch_unwind)]
    pub fn settle(&mut self, settled: String) {
        self.0.settle(&cards::SettledRuns::read(&settled));
    }

    /// Draws who works on what.
    #[napi(catch_unwind)]
    pub fn head(&self, env: Env, palette: &Palette, width: u32, extent: CardExtent) -> Vec<String> {
        drawn(env, palette, width, |page| self.0.draw_head(page, &extent.into()))
    }

    /// Draws its progress, or its result.
    #[napi(catch_unwind)]
    pub fn body(&self, env: Env, palette: &Palette, width: u32, extent: CardExtent) -> Vec<String> {
        drawn(env, palette, width, |page| self.0.draw_body(page, &extent.into()))
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
/// `settled` has the form that `CallCard.settle` takes.
///
/// @example
/// ```ts
/// import { drawAnnouncement, Palette } from "pi-subagent-native/extension";
///
/// console.log(drawAnnouncement(new Palette("{}"), 80, "{}", false));
/// ```
#[napi(catch_unwind)]
pub fn draw_announcement(
    env: Env,
    palette: &Palette,
    width: u32,
    details: String,
    is_expanded: bool,
    settled: Option<String>,
) -> Option<Vec<String>> {
    let announcement = cards::Announcement::read(&details)?;
    let settled = cards::SettledRuns::read(&settled.unwrap_or_default());
    Some(drawn(env, palette, width, |page| announcement.draw(page, is_expanded, &settled)))
}

/// Draws a report, given as the JSON that commands store; `null` for anything else.
///
/// @example
/// ```ts
/// import { drawReport, Palette } from "pi-subagent-native/extension";
///
/// const report = { title: "Runs", lines: [{ mark: "ok", text: "one" }], text: "" };
/// console.log(drawReport(new Palette("{}"), 80, JSON.stringify(report))?.length);
/// ```
#[napi(catch_unwind)]
pub fn draw_report(env: Env, palette: &Palette, width: u32, report: String) -> Option<Vec<String>> {
    let report = cards::read_report(&report)?;
    Some(drawn(env, palette, width, |page| cards::draw_report(page, &report)))
}
