//! Background runs, as the panel and the widget draw them. Runs come in as JSON.

#![expect(
    clippy::too_many_arguments,
    reason = "JavaScript passes them by position, and napi copies an expectation"
)]

use napi::bindgen_prelude::Env;
use napi_derive::napi;

use super::drawing::{Palette, drawn, extent};
use crate::present::panel::{self, KeyNames, PanelAction, PanelStepName};
use crate::present::{now_ms, runs};

/// A request of the panel. Which of the other fields it has depends on `step`.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct PanelStep {
    /// `close`: leave the screen. `answer`: open the question of the run `text`. `type`: ask for a line of text with the label
    /// `text`, for `submit`. `command`: run the command `text` of `/subagents`. `runs`: read the runs. `transcript`: read the
    /// transcript of the run with the key `text`. The last three expect an `answer`.
    #[napi(ts_type = "\"close\" | \"answer\" | \"type\" | \"command\" | \"runs\" | \"transcript\"")]
    pub step: &'static str,
    /// The id of the answer.
    pub id: u32,
    /// A run, a label, a command or a key.
    pub text: String,
    /// True for the runs of all sessions.
    pub is_all: bool,
    /// The number of entries to read.
    pub entries: u32,
    /// True if tool calls count as entries.
    pub tools: bool,
}

impl From<panel::PanelStep> for PanelStep {
    fn from(step: panel::PanelStep) -> Self {
        let none = Self::default();
        match step {
            panel::PanelStep::Close => Self { step: PanelStepName::Close.as_str(), ..none },
            panel::PanelStep::Answer { run_id } => {
                Self { step: PanelStepName::Answer.as_str(), text: run_id, ..none }
            }
            panel::PanelStep::Type { label } => {
                Self { step: PanelStepName::Type.as_str(), text: label, ..none }
            }
            panel::PanelStep::Command { id, line } => {
                Self { step: PanelStepName::Command.as_str(), id, text: line, ..none }
            }
            panel::PanelStep::Runs { id, is_all } => {
                Self { step: PanelStepName::Runs.as_str(), id, is_all, ..none }
            }
            panel::PanelStep::Transcript { id, key, entries, tools } => {
                let entries = u32::try_from(entries).unwrap_or(u32::MAX);
                Self { step: PanelStepName::Transcript.as_str(), id, text: key, entries, tools, ..none }
            }
        }
    }
}

/// The appearance of the panel.
#[napi(object, object_to_js = false)]
pub struct PanelView {
    /// The height of the screen.
    pub rows: u32,
    /// Changes whenever the theme does.
    pub theme: u32,
    /// The names of the keys for each of `panelKeys`, with the user's own keys first.
    pub keys: Vec<Vec<String>>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// The panel of background runs. After each call, carry out its steps until there is none, and draw it again.
///
/// @example
/// ```ts
/// import { Palette, Panel, panelKeys } from "pi-subagent-native/extension";
///
/// const panel = new Panel(true);
/// panel.setRuns("[]", [], Date.now());
/// for (let next = panel.next(); next; next = panel.next()) {
/// 	if (next.step === "runs") panel.answer(next.id, '{"runs":[],"workflows":[]}', undefined, Date.now());
/// }
/// const view = { rows: 24, theme: 0, keys: panelKeys().map(({ own }) => own), nowMs: Date.now() };
/// for (const line of panel.draw(new Palette("{}"), 80, view)) console.log(line);
/// ```
#[napi]
pub struct Panel(panel::Panel);

#[napi]
impl Panel {
    /// Opens the panel, with the transcript of the run with the key `requested`. `canAnswer`: `answer` steps are possible.
    #[napi(constructor, catch_unwind)]
    pub fn new(can_answer: bool, requested: Option<String>) -> Self {
        Self(panel::Panel::new(requested, can_answer))
    }

    /// Takes the runs of the session as JSON, and the keys of the runs with unread results.
    #[napi(catch_unwind)]
    pub fn set_runs(&mut self, runs: String, unread: Vec<String>, now_ms: i64) {
        self.0.set_runs(&runs, unread, now_ms);
    }

    /// Takes the answer to a step as JSON, or the message of its error.
    #[napi(catch_unwind)]
    pub fn answer(&mut self, id: u32, answer: Option<String>, problem: Option<String>, now_ms: i64) {
        let answer = problem.as_deref().map_or(Ok(answer.as_deref().unwrap_or_default()), Err);
        self.0.answer(id, answer, now_ms);
    }

    /// Allows the next read of the transcript that the step with this id has read. Call it some time after each answer.
    #[napi(catch_unwind)]
    pub fn rested(&mut self, id: u32) {
        self.0.rested(id);
    }

    /// Updates the clocks, and requests old data again. Call it once a second.
    #[napi(catch_unwind)]
    pub fn tick(&mut self, now_ms: i64) {
        self.0.tick(now_ms);
    }

    /// Does the action of a key; `undefined` stands for any other key.
    #[napi(catch_unwind)]
    pub fn press(
        &mut self,
        #[napi(ts_arg_type = "PanelKey[\"action\"] | undefined | null")] action: Option<String>,
    ) {
        self.0.press(action.and_then(|action| PanelAction::parse(&action)));
    }

    /// Scrolls up (negative) or down.
    #[napi(catch_unwind)]
    pub fn scroll(&mut self, lines: i32) {
        self.0.scroll(lines);
    }

    /// Takes the text that a `type` step has asked for.
    #[napi(catch_unwind)]
    pub fn submit(&mut self, text: String) {
        self.0.submit(&text);
    }

    /// Returns the next step.
    #[napi(catch_unwind)]
    pub fn next(&mut self) -> Option<PanelStep> {
        self.0.next_step().map(Into::into)
    }

    /// Draws exactly `view.rows` lines.
    #[napi(catch_unwind)]
    pub fn draw(&mut self, env: Env, palette: &Palette, width: u32, view: PanelView) -> Vec<String> {
        let PanelView { rows, theme: version, keys, now_ms } = view;
        let view = panel::PanelView { rows: extent(rows), theme: version, keys: KeyNames(&keys), now_ms };
        palette.with_theme(env, |theme| self.0.draw(theme, extent(width), view))
    }
}

/// The keys of an action of the panel.
#[napi(object, object_from_js = false)]
pub struct PanelKey {
    /// The action.
    #[napi(
        ts_type = "\"up\" | \"down\" | \"pageUp\" | \"pageDown\" | \"halfUp\" | \"halfDown\" | \"top\" | \"bottom\" | \"open\" | \"tools\" | \"answer\" | \"stop\" | \"background\" | \"message\" | \"resume\" | \"log\" | \"info\" | \"diff\" | \"all\" | \"discard\" | \"again\" | \"keys\" | \"back\" | \"left\""
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
/// import { panelKeys } from "pi-subagent-native/extension";
///
/// for (const { action, own, description } of panelKeys()) console.log(action, own.join(" "), description);
/// ```
#[napi(catch_unwind)]
pub fn panel_keys() -> Vec<PanelKey> {
    let key = |panel::PanelKey { action, pi, own, description }| PanelKey {
        action: action.as_str(),
        pi,
        own: own.to_vec(),
        description,
    };
    panel::panel_keys().into_iter().map(key).collect()
}

/// Draws the widget above the editor in at most `maxRows` + 1 lines: the running workflows in place of their runs, the other active
/// runs, and the ended runs whose results are unread, all given as JSON.
///
/// @example
/// ```ts
/// import { drawWidget, Palette } from "pi-subagent-native/extension";
///
/// console.log(drawWidget(new Palette("{}"), 80, "[]", "[]", "[]", 5).length);
/// ```
#[napi(catch_unwind)]
pub fn draw_widget(
    env: Env,
    palette: &Palette,
    width: u32,
    live: String,
    unread: String,
    workflows: String,
    max_rows: u32,
    now: Option<i64>,
) -> Vec<String> {
    let now = now.unwrap_or_else(now_ms);
    drawn(env, palette, width, |page| {
        runs::draw_widget(page, &live, &unread, &workflows, extent(max_rows), now);
    })
}
