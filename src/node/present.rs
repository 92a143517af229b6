//! The words and figures of runs, for the code that draws them.

use std::time::Duration;

use napi_derive::napi;
use serde::Deserialize;
use serde_json::Value;

use super::json::{Json, Parsed};
use crate::present::{self, Mark, Report, now_ms};
use pi_events::{Usage, run_usage, short_form};
use sanitizer::figures;

/// A mark: one column wide.
#[napi(object, object_from_js = false)]
pub struct MarkStyle {
    /// The name of the mark.
    #[napi(
        ts_type = "\"none\" | \"ok\" | \"info\" | \"warning\" | \"error\" | \"running\" | \"asking\" | \"queued\" | \"starting\" | \"started\" | \"retrying\" | \"skipped\" | \"added\" | \"removed\" | \"hunk\""
    )]
    pub name: &'static str,
    /// The sign itself; empty for `none`.
    pub sign: &'static str,
    /// The theme colour it is drawn in.
    #[napi(
        ts_type = "\"success\" | \"muted\" | \"warning\" | \"error\" | \"accent\" | \"toolDiffAdded\" | \"toolDiffRemoved\""
    )]
    pub color: &'static str,
}

/// All marks.
///
/// @example
/// ```ts
/// import { markStyles } from "pi-subagent-native/extension";
///
/// for (const { name, sign, color } of markStyles()) console.log(name, sign, color);
/// ```
#[napi(catch_unwind)]
pub fn mark_styles() -> Vec<MarkStyle> {
    let style = |mark: &Mark| MarkStyle { name: mark.as_str(), sign: mark.sign(), color: mark.color() };
    Mark::ALL.iter().map(style).collect()
}

/// Puts a state into the words that every screen uses.
///
/// @example
/// ```ts
/// import { stateLabel } from "pi-subagent-native/extension";
///
/// const { mark, word, note = word } = stateLabel({ state: "queued", position: 3 });
/// console.log(mark, note);
/// ```
#[napi(catch_unwind, ts_return_type = "StateLabel")]
pub fn state_label(#[napi(ts_arg_type = "RunStatus")] status: Parsed<StatusNow>) -> napi::Result<Json> {
    let StatusNow { status, now_ms: at } = status.0;
    Json::new(&present::state_label(&status, at.unwrap_or_else(now_ms)))
}

/// The status of a run, and the time for which a countdown is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusNow {
    #[serde(flatten)]
    status: present::RunStatus,
    now_ms: Option<i64>,
}

/// Writes a duration: `3.2s`, `47s`, `5m12s`, `1h02m`, `3d04h`. With `wholeSeconds`, for a clock that runs, there are no tenths.
///
/// @example
/// ```ts
/// import { durationText } from "pi-subagent-native/extension";
///
/// console.log(durationText(312_000), durationText(3_200, true));
/// ```
#[napi(catch_unwind)]
pub fn duration_text(ms: f64, whole_seconds: Option<bool>) -> String {
    let duration = Duration::try_from_secs_f64(ms.max(0.0) / 1_000.0).unwrap_or_default();
    if whole_seconds == Some(true) { figures::elapsed(duration) } else { figures::duration(duration) }
}

/// Sums up the usage of runs, in words.
///
/// @example
/// ```ts
/// import { usageText } from "pi-subagent-native/extension";
///
/// const usage = { input: 12_340, output: 950, cacheRead: 0, cacheWrite: 0, cost: 0.045, turns: 3 };
/// const { turns = "", tokens = "", cost = "" } = usageText([usage]);
/// console.log(turns, tokens, cost);
/// ```
#[napi(catch_unwind, ts_return_type = "UsageText")]
pub fn usage_text(
    #[napi(ts_arg_type = "Array<RunUsage>")] usages: Parsed<Vec<RunUsage>>,
) -> napi::Result<Json> {
    let mut all = Usage::default();
    for RunUsage(usage) in usages.0 {
        all.add(&usage);
    }
    Json::new(&present::usage_text(&all))
}

/// The usage of a run.
#[derive(Deserialize)]
pub struct RunUsage(#[serde(with = "run_usage")] Usage);

/// Writes a tool call on one line of at most 300 characters, as pi writes calls of its own tools: `$ cargo test`, `read
/// src/main.rs:1-10`. The arguments must be sanitized.
///
/// @example
/// ```ts
/// import { toolCallLine } from "pi-subagent-native/extension";
///
/// console.log(toolCallLine("read", { path: "src/main.rs", offset: 1, limit: 10 }));
/// ```
#[napi(catch_unwind)]
pub fn tool_call_line(name: String, #[napi(ts_arg_type = "unknown")] args: Value) -> String {
    short_form(&name, &args)
}

/// A report of one sentence, for what commands do not say themselves. Another word than a mark is none.
///
/// @example
/// ```ts
/// import { sentenceReport } from "pi-subagent-native/extension";
///
/// console.log(sentenceReport("info", "There is no question").text);
/// ```
#[napi(catch_unwind, ts_return_type = "CommandReport")]
pub fn sentence_report(
    #[napi(ts_arg_type = "Exclude<ReportLine[\"mark\"], undefined>")] mark: String,
    text: String,
) -> napi::Result<Json> {
    Json::new(&Report::sentence(Mark::parse(&mark).unwrap_or_default(), text))
}
