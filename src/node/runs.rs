//! Background runs, as the panel and the widget draw them. Runs come in as JSON, with fields that only the extension knows.

use napi_derive::napi;

use super::drawing::{Drawing, Palette, drawn};
use crate::present::{now_ms, runs};

/// The panel's list of runs.
///
/// @example
/// ```ts
/// import { Palette, RunList } from "pi-subagent-native";
///
/// const list = new RunList("[]");
/// const palette = new Palette("{}");
/// const view = { unread: [], chosen: 0, hasHeading: true, from: 0, rows: 10 };
/// console.log(list.head(palette, 80, false).length, list.draw(palette, 80, view).length);
/// ```
#[napi]
pub struct RunList(runs::RunList);

/// The visible part of a list of runs.
#[napi(object, object_to_js = false)]
pub struct RunListView {
    /// The keys of the runs with unread results.
    pub unread: Vec<String>,
    /// The position of the chosen run.
    pub chosen: u32,
    /// True if the names of the columns are above the list.
    pub has_heading: bool,
    /// The position of the first visible run.
    pub from: u32,
    /// The number of visible runs.
    pub rows: u32,
    /// The time, in milliseconds since 1970.
    /// @default now
    pub now_ms: Option<i64>,
}

#[napi]
impl RunList {
    /// Reads the runs from JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(runs: String) -> Self {
        Self(runs::RunList::read(&runs))
    }

    /// Draws the title of the list, the number of runs in each state, and their usage. `isAll`: the runs of all sessions.
    #[napi(catch_unwind)]
    pub fn head(&self, palette: &Palette, width: u32, is_all: bool) -> Drawing {
        drawn(palette, width, |page| self.0.draw_head(page, is_all))
    }

    /// Draws a line for each visible run.
    #[napi(catch_unwind)]
    pub fn draw(&self, palette: &Palette, width: u32, view: RunListView) -> Drawing {
        let RunListView { unread, chosen, has_heading, from, rows, now_ms: at } = view;
        let [chosen, from, rows] = [chosen, from, rows].map(|lines| lines as usize);
        let now_ms = at.unwrap_or_else(now_ms);
        let view = runs::ListView { unread, chosen, has_heading, from, rows, now_ms };
        drawn(palette, width, |page| self.0.draw(page, &view))
    }
}

/// A run, as the panel shows it. Nothing is drawn of foreign data.
///
/// @example
/// ```ts
/// import { Palette, RunDrawing } from "pi-subagent-native";
///
/// const run = new RunDrawing("{}");
/// console.log(run.name, run.draw(new Palette("{}"), 80, "head").length);
/// ```
#[napi]
pub struct RunDrawing(Option<runs::RunDrawing>);

#[napi]
impl RunDrawing {
    /// Reads the run from JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(run: String) -> Self {
        Self(runs::RunDrawing::read(&run))
    }

    /// Its name for people.
    #[napi(getter, catch_unwind)]
    pub fn name(&self) -> String {
        self.0.as_ref().map(runs::RunDrawing::name).unwrap_or_default()
    }

    /// Draws a part of it. `head`, `outcome` and `current` (all that it is saying) are for its transcript, `task`, `latest`
    /// (its newest text or its result) and `usage` for the list, `question` for both.
    #[napi(catch_unwind)]
    pub fn draw(
        &self,
        palette: &Palette,
        width: u32,
        #[napi(
            ts_arg_type = "\"head\" | \"question\" | \"task\" | \"latest\" | \"usage\" | \"outcome\" | \"current\""
        )]
        part: String,
        now: Option<i64>,
    ) -> Drawing {
        let (Some(run), Some(part)) = (&self.0, runs::RunPart::parse(&part)) else { return Drawing::new() };
        drawn(palette, width, |page| run.draw(page, part, now.unwrap_or_else(now_ms)))
    }
}

/// The keys of an action of the panel.
#[napi(object, object_from_js = false)]
pub struct PanelKey {
    /// The action.
    #[napi(
        ts_type = "\"up\" | \"down\" | \"pageUp\" | \"pageDown\" | \"halfUp\" | \"halfDown\" | \"top\" | \"bottom\" | \"open\" | \"tools\" | \"answer\" | \"stop\" | \"background\" | \"message\" | \"resume\" | \"log\" | \"info\" | \"diff\" | \"all\" | \"again\" | \"keys\" | \"back\" | \"left\""
    )]
    pub action: &'static str,
    /// The action of pi's that is the same: the keys that the user has chosen for it come first.
    pub pi: Option<&'static str>,
    /// The panel's own keys, as pi names keys.
    pub own: Vec<&'static str>,
    /// The action in words.
    pub description: &'static str,
}

/// All keys of the panel, in the order in which they are shown.
///
/// @example
/// ```ts
/// import { panelKeys } from "pi-subagent-native";
///
/// for (const { action, own, description } of panelKeys()) console.log(action, own.join(" "), description);
/// ```
#[napi(catch_unwind)]
pub fn panel_keys() -> Vec<PanelKey> {
    let key = |runs::PanelKey { action, pi, own, description }| PanelKey {
        action: action.as_str(),
        pi,
        own: own.to_vec(),
        description,
    };
    runs::panel_keys().into_iter().map(key).collect()
}

/// Draws the text that the panel shows if there are no runs. `isAll`: of all sessions; `isComplete`: the store has
/// answered; `problem`: the reason why it has not.
///
/// @example
/// ```ts
/// import { drawEmptyList, Palette } from "pi-subagent-native";
///
/// console.log(drawEmptyList(new Palette("{}"), 80, false, true).length);
/// ```
#[napi(catch_unwind)]
pub fn draw_empty_list(
    palette: &Palette,
    width: u32,
    is_all: bool,
    is_complete: bool,
    problem: Option<String>,
) -> Drawing {
    drawn(palette, width, |page| runs::draw_empty_list(page, is_all, is_complete, problem.as_deref()))
}

/// Draws the widget above the editor in at most `maxRows` + 1 lines: the active runs, and the ended runs whose results are
/// unread, both given as JSON.
///
/// @example
/// ```ts
/// import { drawWidget, Palette } from "pi-subagent-native";
///
/// console.log(drawWidget(new Palette("{}"), 80, "[]", "[]", 5).length);
/// ```
#[napi(catch_unwind)]
pub fn draw_widget(
    palette: &Palette,
    width: u32,
    live: String,
    unread: String,
    max_rows: u32,
    now: Option<i64>,
) -> Drawing {
    let now = now.unwrap_or_else(now_ms);
    drawn(palette, width, |page| runs::draw_widget(page, &live, &unread, max_rows as usize, now))
}

/// Draws an entry of a transcript, given as JSON.
///
/// @example
/// ```ts
/// import { drawEntry, Palette } from "pi-subagent-native";
///
/// const entry = { role: "assistant", text: "Found it." };
/// console.log(drawEntry(new Palette("{}"), 80, JSON.stringify(entry)).length);
/// ```
#[napi(catch_unwind)]
pub fn draw_entry(palette: &Palette, width: u32, entry: String) -> Drawing {
    drawn(palette, width, |page| runs::draw_entry(page, &entry))
}

/// Draws the note above the oldest loaded entry of a transcript: older ones are being read, or cannot be, but are in `file`.
///
/// @example
/// ```ts
/// import { drawOlderEntries, Palette } from "pi-subagent-native";
///
/// console.log(drawOlderEntries(new Palette("{}"), 80, "/sessions/run.jsonl").length);
/// ```
#[napi(catch_unwind)]
pub fn draw_older_entries(palette: &Palette, width: u32, file: Option<String>) -> Drawing {
    drawn(palette, width, |page| runs::draw_older_entries(page, file.as_deref()))
}
