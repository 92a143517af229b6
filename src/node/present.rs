//! The words and figures of runs, for the code that draws them.

use std::time::Duration;

use napi_derive::napi;
use serde::Deserialize;
use serde_json::Value;

use super::json::Parsed;
use crate::present::{self, Mark, now_ms};
use crate::run;
use pi_events::{Usage, run_usage, short_form};
use sanitizer::figures;

/// The state of a run.
#[napi(object, object_to_js = false)]
pub struct RunStatus {
    /// As in `TaskProgress.state` or `SingleResult.outcome`, or `planned`: the call is not running yet. Another word is
    /// shown as it is.
    pub state: String,
    /// The question that it has asked and whose answer it waits for.
    pub pending_question: Option<String>,
    /// The place in the queue, from 1.
    pub position: Option<u32>,
    /// Milliseconds until a rate limit lets it start.
    pub rate_limited_for_ms: Option<f64>,
    /// The run that writes to the same work tree and has to end first.
    pub blocked_by: Option<String>,
    /// The attempt, from 1; after the end, how many there were.
    pub attempt: Option<u32>,
    /// The pending retry.
    #[napi(ts_type = "RetryNotice")]
    pub retry: Option<Parsed<run::RetryNotice>>,
    /// The reason why the model stopped.
    pub stop_reason: Option<String>,
    /// The signal that ended the child.
    pub signal: Option<String>,
    /// The most important fact that the answer of a completed run may contradict: the first of `SingleResult.caveats`.
    #[napi(ts_type = "\"write_off\" | \"readonly\" | \"no_write\" | \"unchanged\" | \"refused\"")]
    pub caveat: Option<String>,
    /// The time for which a countdown is written, in milliseconds since 1970.
    /// @default now
    pub now_ms: Option<i64>,
}

/// The label of a state.
#[napi(object, object_from_js = false)]
pub struct StateLabel {
    /// The name of its mark; `markStyles` has the sign.
    #[napi(
        ts_type = "\"none\" | \"ok\" | \"info\" | \"warning\" | \"error\" | \"running\" | \"asking\" | \"queued\" | \"starting\" | \"started\" | \"retrying\" | \"skipped\" | \"added\" | \"removed\" | \"hunk\""
    )]
    pub mark: &'static str,
    /// The state in a word or two.
    pub word: String,
    /// The text next to the mark. Absent for a run that simply runs or has simply completed.
    pub note: Option<String>,
}

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
#[napi(catch_unwind)]
pub fn state_label(status: RunStatus) -> StateLabel {
    let RunStatus {
        state,
        pending_question,
        position,
        rate_limited_for_ms,
        blocked_by,
        attempt,
        retry,
        stop_reason,
        signal,
        caveat,
        now_ms: at,
    } = status;
    let status = present::RunStatus {
        state,
        pending_question,
        position: position.and_then(|position| usize::try_from(position).ok()),
        rate_limited_for: rate_limited_for_ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok()),
        blocked_by,
        attempt,
        retry: retry.map(|Parsed(retry)| retry),
        stop_reason,
        signal,
        caveat: caveat.as_deref().and_then(run::Caveat::parse),
    };
    let present::StateLabel { mark, word, note } = present::state_label(&status, at.unwrap_or_else(now_ms));
    StateLabel { mark: mark.as_str(), word, note }
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
#[napi(catch_unwind)]
pub fn usage_text(#[napi(ts_arg_type = "Array<RunUsage>")] usages: Parsed<Vec<RunUsage>>) -> UsageText {
    let mut all = Usage::default();
    for RunUsage(usage) in usages.0 {
        all.add(&usage);
    }
    let present::UsageText { turns, tokens, cost } = present::usage_text(&all);
    UsageText { turns, tokens, cost }
}

/// The usage of a run.
#[derive(Deserialize)]
pub struct RunUsage(#[serde(with = "run_usage")] Usage);

/// The usage in words. A part is absent if there is nothing to show, such as the turns of runs that used no tokens and
/// cost nothing.
#[napi(object, object_from_js = false)]
pub struct UsageText {
    /// `3 turns`.
    pub turns: Option<String>,
    /// `↑12.3k ↓950 R34k W2.1k`: read, written, read from the provider's cache, written to it.
    pub tokens: Option<String>,
    /// `$0.04`.
    pub cost: Option<String>,
}

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
