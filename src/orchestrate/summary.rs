//! From the results of several runs to the result of the call.

use crate::event::Usage;
use crate::run::{Mode, RunDetails, RunOutcome, ToolResult};
use crate::text::{TruncateLimits, truncate};

/// What the names of two steps and the words between them may fill in a result.
const HEADINGS_BYTES: usize = 192;
/// The same in lines.
const HEADINGS_LINES: usize = 6;

/// What went wrong with one of several runs, in one line for the model.
fn heading(result: &ToolResult) -> String {
    let agent = agent(result);
    match (&result.details.error, is_success(result)) {
        (Some(error), false) => format!("✗ {agent}: {}", error.code.as_str()),
        (_, success) => format!("{} {agent}", if success { "✓" } else { "✗" }),
    }
}

fn agent(result: &ToolResult) -> &str {
    result.details.results.first().map_or("", |single| single.agent.as_str())
}

/// Whether the run gave its answer; one that was cut is an answer.
pub(super) fn is_success(result: &ToolResult) -> bool {
    result.details.results.first().is_some_and(|single| single.outcome == RunOutcome::Completed)
}

/// The result of tasks that ran side by side: a success as long as one of them is.
pub(super) fn side_by_side(id: &str, results: Vec<ToolResult>, limits: TruncateLimits) -> ToolResult {
    let parts: Vec<String> =
        results.iter().map(|result| format!("{}\n\n{}", heading(result), result.text)).collect();
    let is_error = !results.iter().any(is_success);
    // Each has its share; where the shares are tiny, their headings alone can be too much.
    let text = truncate(&parts.join("\n\n"), limits, None).text;
    join(Mode::Parallel, id, results, text, is_error)
}

/// The result of steps that ran one after the other: their last text, or where they stopped.
pub(super) fn one_after_the_other(id: &str, results: Vec<ToolResult>, limits: TruncateLimits) -> ToolResult {
    let count = results.len();
    let failed = results.iter().position(|result| !is_success(result));
    let text = match failed {
        None => results.last().map(|result| result.text.clone()).unwrap_or_default(),
        Some(index) => {
            let stopped = format!("Stopped at step {} of {count}", index + 1);
            let (failure, before) = (&results[index], index.checked_sub(1));
            let room = limits.less(HEADINGS_BYTES, HEADINGS_LINES);
            let why = cut(failure, if before.is_some() { room.half() } else { room });
            let mut parts = vec![stopped, heading(failure), why];
            if let Some(last) = before {
                // What the failure does not need.
                let rest = room.less(parts[2].len(), parts[2].lines().count());
                parts.push(format!("The step before it, {} of {count}:", last + 1));
                parts.push(heading(&results[last]));
                parts.push(cut(&results[last], rest));
            }
            parts.join("\n\n")
        }
    };
    join(Mode::Chain, id, results, text, failed.is_some())
}

/// The text of a run within these limits.
fn cut(result: &ToolResult, limits: TruncateLimits) -> String {
    let whole = result.details.results.first().and_then(|single| single.full_output_file.as_deref());
    truncate(&result.text, limits, whole).text
}

fn join(mode: Mode, id: &str, results: Vec<ToolResult>, text: String, is_error: bool) -> ToolResult {
    let mut usage = Usage::default();
    for spent in results.iter().filter_map(|result| result.usage.as_ref()) {
        usage.add(spent);
    }
    // The first that failed says why; only where none did, one whose answer was cut.
    let failure = results.iter().find(|result| !is_success(result));
    let cut = || results.iter().find(|result| result.details.error.is_some());
    let error = failure.or_else(cut).and_then(|result| result.details.error.clone());
    let details = RunDetails {
        results: results.into_iter().flat_map(|result| result.details.results).collect(),
        error,
        ..RunDetails::new(mode, Some(id.to_owned()))
    };
    ToolResult { text, is_error, usage: Some(usage), details }
}
