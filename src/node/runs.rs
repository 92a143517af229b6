//! Background runs, as drawings. Runs come in as JSON, with fields that only the extension knows.

use napi::bindgen_prelude::{Env, Unknown};
use napi_derive::napi;
use serde::Serialize;

use super::drawing::{Row, Span, parsed};
use super::into_js::object_into_js;
use crate::present::{now_ms, runs};

/// The panel's list of runs.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunList {
    /// The number of runs in each state, and their usage.
    pub head: Vec<Span>,
    /// The names of the columns, then a line for each run.
    pub lines: Vec<Row>,
}

/// A run, as the panel shows it.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDrawing {
    /// Its name for people.
    pub name: String,
    /// The head of its transcript.
    pub head: Vec<Row>,
    /// Its question, on one line. Empty without a question.
    pub question: Vec<Row>,
    /// Its task, and its newest call.
    pub task: Vec<Row>,
    /// Its newest text, or its result.
    pub latest: Vec<Row>,
    /// Its usage.
    pub usage: Vec<Row>,
    /// Its outcome. Empty while it works.
    pub outcome: Vec<Row>,
    /// All that it is saying.
    pub current: Vec<Row>,
}

/// Draws the panel's list of runs, given as JSON. `unread`: the keys of those whose results wait to be read; `chosen`: the key
/// of one.
///
/// @example
/// ```ts
/// import { runList } from "pi-subagent-native";
///
/// const { head, lines } = runList("[]", []);
/// console.log(head.length, lines.length);
/// ```
#[napi(catch_unwind, ts_return_type = "RunList")]
pub fn run_list(
    env: &Env,
    runs: String,
    unread: Vec<String>,
    chosen: Option<String>,
    now: Option<i64>,
) -> napi::Result<Unknown<'_>> {
    let list = runs::run_list(&runs, &unread, chosen.as_deref(), now.unwrap_or_else(now_ms));
    parsed::<RunList>(env, list)
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
/// import { emptyRunList } from "pi-subagent-native";
///
/// console.log(emptyRunList(false, true).length);
/// ```
#[napi(catch_unwind, ts_return_type = "Array<Row>")]
pub fn empty_run_list(
    env: &Env,
    is_all: bool,
    is_complete: bool,
    problem: Option<String>,
) -> napi::Result<Unknown<'_>> {
    parsed::<Vec<Row>>(env, runs::empty_run_list(is_all, is_complete, problem.as_deref()))
}

/// Draws the widget above the editor in at most `most` + 1 lines: the active runs, and the ended runs whose results are
/// unread, both given as JSON.
///
/// @example
/// ```ts
/// import { runWidget } from "pi-subagent-native";
///
/// console.log(runWidget("[]", "[]", 5).length);
/// ```
#[napi(catch_unwind, ts_return_type = "Array<Row>")]
pub fn run_widget(
    env: &Env,
    live: String,
    unread: String,
    max_rows: u32,
    now: Option<i64>,
) -> napi::Result<Unknown<'_>> {
    parsed::<Vec<Row>>(env, runs::run_widget(&live, &unread, max_rows as usize, now.unwrap_or_else(now_ms)))
}

/// Draws one run, given as JSON.
///
/// @example
/// ```ts
/// import { runDrawing } from "pi-subagent-native";
///
/// console.log(runDrawing("{}").head.length);
/// ```
#[napi(catch_unwind, ts_return_type = "RunDrawing")]
pub fn run_drawing(env: &Env, run: String, now: Option<i64>) -> napi::Result<Unknown<'_>> {
    parsed::<RunDrawing>(env, runs::run_drawing(&run, now.unwrap_or_else(now_ms)))
}

/// Draws an entry of a transcript, given as JSON.
///
/// @example
/// ```ts
/// import { entryDrawing } from "pi-subagent-native";
///
/// console.log(entryDrawing(JSON.stringify({ role: "assistant", text: "Found it." })).length);
/// ```
#[napi(catch_unwind, ts_return_type = "Array<Row>")]
pub fn entry_drawing(env: &Env, entry: String) -> napi::Result<Unknown<'_>> {
    parsed::<Vec<Row>>(env, runs::entry_drawing(&entry))
}

object_into_js! { |list: runs::RunList| RunList { head, lines } }

object_into_js! { |run: runs::RunDrawing| RunDrawing { name, head, question, task, latest, usage, outcome, current } }
