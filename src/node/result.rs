//! The result of a call, as JavaScript sees it.

use napi_derive::napi;
use serde_json::Value;

use super::into_js::{IntoJs, object_into_js};
use crate::event;
use crate::run;
use crate::text;

/// The result of a call and, with `details.streaming` or `details.tasks`, an update on the way to it.
#[napi(object, object_from_js = false)]
pub struct ToolResult {
    /// One block, for the model and the user: sanitized and within `output.maxBytes` and `output.maxLines`. With
    /// several tasks each answer is within these limits, and all together are within `output.maxTotalBytes`.
    pub content: Vec<TextContent>,
    /// True when the run failed. A truncated success is no failure.
    /// @default false
    pub is_error: Option<bool>,
    /// The usage of the children, in pi's own shape. Absent if no child was started.
    pub usage: Option<PiUsage>,
    /// Everything that is not text.
    pub details: RunDetails,
}

/// A block of text.
#[napi(object, object_from_js = false)]
pub struct TextContent {
    /// Always `text`.
    #[napi(js_name = "type", ts_type = "\"text\"")]
    pub kind: &'static str,
    /// Sanitized.
    pub text: String,
}

/// Everything about a call that is not its text.
#[napi(object, object_from_js = false)]
pub struct RunDetails {
    /// Tells them from details of other tools of the same name.
    #[napi(ts_type = "\"subagent-run\"")]
    pub kind: Option<&'static str>,
    /// The version of their shape: 1.
    pub version: Option<u32>,
    /// `management`: any kind of call, refused because of `maxDepth`.
    #[napi(ts_type = "\"single\" | \"parallel\" | \"chain\" | \"management\"")]
    pub mode: &'static str,
    /// Eight hexadecimal characters; absent when the call was refused.
    pub run_id: Option<String>,
    /// One entry per run, in the order of the tasks; empty for refusals and in updates.
    pub results: Vec<SingleResult>,
    /// The reason why the call did not simply succeed. A truncated success has one as well.
    pub error: Option<CallError>,
    /// Only in updates of one run, never in a result.
    pub streaming: Option<Streaming>,
    /// Only in updates of several runs, never in a result: one entry per task, in their order.
    pub tasks: Option<Vec<TaskProgress>>,
}

/// A code for programs and a sentence for people.
#[napi(object, object_from_js = false)]
pub struct CallError {
    /// Stable; match on this.
    #[napi(
        ts_type = "\"INVALID_INPUT\" | \"SUBAGENTS_DISABLED\" | \"UNKNOWN_AGENT\" | \"SUBAGENT_DISABLED\" | \"SUBAGENT_DEPTH_EXCEEDED\" | \"SUBAGENT_TIMEOUT\" | \"SUBAGENT_FAILED\" | \"SUBAGENT_OUTPUT_TRUNCATED\""
    )]
    pub code: &'static str,
    /// May change between releases.
    pub message: String,
}

/// The progress of one run.
#[napi(object, object_from_js = false)]
pub struct Streaming {
    /// True if the text of the update is the child's. Otherwise the child has not said anything yet, and the text says so.
    pub has_text: bool,
    /// `starting`: the child has not said anything yet; `retrying`: an attempt has failed, and the next one is about to
    /// start.
    #[napi(ts_type = "\"queued\" | \"starting\" | \"running\" | \"retrying\" | \"awaiting_quota\"")]
    pub state: &'static str,
    /// The position in the queue of this process, from 1; absent once the run has a slot.
    pub position: Option<u32>,
    /// Milliseconds until the rate limit of its provider lets it start; absent unless that holds it back.
    pub rate_limited_for_ms: Option<f64>,
    /// The run that writes to the same work tree and has to end first, as `worker (1a2b3c4d)`; absent unless that holds it back.
    pub blocked_by: Option<String>,
    /// A note on undoing its changes. Absent unless it writes in place.
    pub undo_note: Option<&'static str>,
    /// From 1.
    pub attempt: u32,
    /// The newest texts and tool calls, oldest first; at most 64, and 32 KiB of JSON.
    pub display_items: Vec<DisplayItem>,
    /// Spent so far, earlier attempts included.
    pub usage: RunUsage,
    /// The child's context use; absent before the end of its first turn.
    pub context: Option<ContextUse>,
    /// Assistant messages completed so far.
    pub turn_count: f64,
    /// Milliseconds since the run got its slot; while it is queued, since the call.
    pub elapsed_ms: f64,
    /// Milliseconds since the child's last event.
    pub since_event_ms: f64,
    /// The pending retry.
    pub retry: Option<RetryNotice>,
    /// The model that answers, `provider/id`; absent before its first message.
    pub model: Option<String>,
}

/// A failed request that is about to be repeated, or a failed attempt that is followed by another.
#[napi(object)]
pub struct RetryNotice {
    /// The number of the repetition, from 1.
    pub attempt: u32,
    /// The most repetitions; absent when it is not known.
    pub max_attempts: Option<u32>,
    /// The time at which it starts, in milliseconds since 1970.
    pub at_ms: i64,
    /// The provider's message, on one line.
    pub error: Option<String>,
}

/// The progress of one of several tasks.
#[napi(object, object_from_js = false)]
pub struct TaskProgress {
    /// The agent's name.
    pub agent: String,
    /// `waiting`: a step of a chain that has to wait for the one before; from `completed` on the task has ended.
    #[napi(
        ts_type = "\"waiting\" | \"queued\" | \"starting\" | \"running\" | \"retrying\" | \"awaiting_quota\" | \"completed\" | \"failed\" | \"aborted\" | \"idle_timeout\" | \"hard_timeout\" | \"budget\" | \"killed\" | \"skipped\" | \"interrupted\" | \"background\""
    )]
    pub state: &'static str,
    /// The position in the queue of this process, from 1; absent once the task has a slot.
    pub position: Option<u32>,
    /// Milliseconds until the rate limit of its provider lets it start; absent unless that holds it back.
    pub rate_limited_for_ms: Option<f64>,
    /// The run that writes to the same work tree and has to end first, as `worker (1a2b3c4d)`; absent unless that holds it back.
    pub blocked_by: Option<String>,
    /// A note on undoing its changes. Absent unless it writes in place.
    pub undo_note: Option<&'static str>,
    /// From 1.
    pub attempt: u32,
    /// Milliseconds since the task got its slot; while it is queued, since the call.
    pub elapsed_ms: f64,
    /// Milliseconds since the child's last event.
    pub since_event_ms: f64,
    /// The pending retry.
    pub retry: Option<RetryNotice>,
    /// Spent so far, earlier attempts included.
    pub usage: RunUsage,
    /// The child's context use; absent before the end of its first turn.
    pub context: Option<ContextUse>,
    /// Assistant messages completed so far.
    pub turn_count: f64,
    /// The model that answers, `provider/id`; absent before its first message.
    pub model: Option<String>,
    /// The reason of the failure. Absent before the task's end.
    pub error: Option<String>,
    /// The newest text of the child; the tasks of a call share 24 KiB. Absent when neither this nor `displayItems` has
    /// changed since the update before.
    pub text: Option<String>,
    /// The newest texts and tool calls, oldest first; at most 64, and the tasks of a call share 32 KiB of JSON. Absent
    /// like `text`.
    pub display_items: Option<Vec<DisplayItem>>,
}

/// A text or tool call of a child.
#[napi(discriminant = "type", discriminant_case = "camelCase", object_from_js = false)]
pub enum DisplayItem {
    /// A text.
    Text {
        /// Sanitized, at most 4 KiB: a longer text is cut in the middle.
        text: String,
    },
    /// A call of a tool.
    ToolCall {
        /// The tool's name.
        name: String,
        /// The arguments. Sanitized, at most 32 KiB: long strings are cut in the middle.
        #[napi(ts_type = "Record<string, unknown>")]
        args: Value,
    },
}

/// The result of one agent's work on one task. Every string is sanitized.
#[napi(object, object_from_js = false)]
pub struct SingleResult {
    /// The agent's name.
    pub agent: String,
    /// At most 16 KiB.
    pub task: String,
    /// The id by which the session tools and commands know the run. Absent when the call belongs to no session, or the run
    /// never began. With a `sessionFile` the run can be continued.
    pub run_id: Option<String>,
    /// 0 for success; otherwise the child's own code, 124 for a time limit, 130 for an abort, 128 + n for signal n.
    pub exit_code: i32,
    /// The usage of all attempts. Zeros if no child reported any.
    pub usage: RunUsage,
    /// The child's context use after its last turn; absent in JSON mode and if the child did not report it.
    pub context: Option<ContextUse>,
    /// The reason of the failure, at most 16 KiB. Present if and only if `exitCode` is not 0.
    pub error: Option<String>,
    /// The child's session file, after success and after failure. Absent when `persistSession` is false or no child
    /// could be prepared.
    pub session_file: Option<String>,
    /// The text of the last complete assistant message, or the beginning of a message that an early end cut off. At most 64 KiB:
    /// a longer text is cut in the middle.
    pub output: Option<String>,
    /// The newest texts and tool calls, oldest first; at most 64, and 48 KiB of JSON.
    pub display_items: Option<Vec<DisplayItem>>,
    /// The outcome of the run. `killed`: its processes used more than `limits` allows; `skipped`: another run prevented its
    /// start; `interrupted`: its host ended.
    #[napi(
        ts_type = "\"completed\" | \"failed\" | \"aborted\" | \"idle_timeout\" | \"hard_timeout\" | \"budget\" | \"killed\" | \"skipped\" | \"interrupted\" | \"background\""
    )]
    pub outcome: &'static str,
    /// The number of started children: 0 if none was, otherwise 1 to `retry.maxAttempts`.
    pub attempts: u32,
    /// Milliseconds from the time at which the run got its slot to its result; 0 when it never got one.
    pub duration_ms: f64,
    /// The model that answered, `provider/id`.
    pub model: Option<String>,
    /// The reason why the last assistant message ended. `length` is a success whose text says that it was cut.
    pub stop_reason: Option<String>,
    /// The signal that ended the child when the addon did not send it, such as `SIGKILL`.
    pub signal: Option<String>,
    /// `runtime`: the limit of the whole run; `idle`: the limit on silence. Absent unless one of them ended the run.
    #[napi(ts_type = "\"runtime\" | \"idle\"")]
    pub timeout_reason: Option<&'static str>,
    /// The report on the child's sandbox. Absent if the run was refused before its sandbox was decided.
    pub sandbox: Option<SandboxReport>,
    /// The level of certainty that all processes of the child have ended. The type lists the most certain level first.
    /// Absent if no child was started.
    #[napi(ts_type = "\"warden+pid-ns\" | \"warden+cgroup\" | \"warden\" | \"process-group\" | \"process\"")]
    pub supervision: Option<&'static str>,
    /// The resources of the child's processes together. Absent without a warden.
    pub resources: Option<Resources>,
    /// The file with the sanitized text; absent unless `content` was truncated. If an answer has more than 1 MiB, its
    /// middle is missing there too: a note replaces it, and the session file has it.
    pub full_output_file: Option<String>,
    /// The value that the child has submitted, if its agent or the call has an `outputSchema`: sanitized, and valid
    /// against the schema as far as pi checks it. Absent if it has more than 64 KiB as JSON; then `structuredFile`
    /// names it.
    #[napi(ts_type = "unknown")]
    pub structured: Option<Value>,
    /// The file with all of it as JSON; absent when the text holds it.
    pub structured_file: Option<String>,
    /// The result of the check of its work. Absent if the agent has no check, or the run ended before it.
    pub check: Option<CheckReport>,
    /// The files the run changed, sorted, relative to the root of the git work tree it wrote in; files that git ignores
    /// are not among them. At most 200, then one entry `and n more`. Absent outside a work tree and for agents that may
    /// not write.
    pub changes: Option<Vec<String>>,
    /// The files that the run created or changed and that run code later without being asked, or give instructions to agents:
    /// `.pi`, hooks, `.mcp.json`, tasks of editors. Sorted, relative to the root of its tree, including files that git ignores;
    /// at most 50, then one entry `and n more`. Absent if there are none.
    pub flagged: Option<Vec<String>>,
    /// The reason why `flagged` may lack files, in at most 1,200 characters: the search stopped at a limit, or could not read a
    /// directory. Absent if the whole tree was searched.
    pub flagged_gap: Option<String>,
    /// The artifacts of a run with `isolation: private`. They are not in the caller's tree.
    pub isolation: Option<IsolationReport>,
    /// The number of secrets replaced in the texts of this result, by rule, the most frequent first. Absent if there
    /// were none. Each value counts once, however often it occurs.
    pub redacted: Option<Vec<RedactedValues>>,
    /// Notes on how the run was set up and ended, such as tools that were dropped; at most 16 KiB each.
    pub diagnostics: Option<Vec<String>>,
}

/// The number of different values that one rule replaced. It never holds a value.
#[napi(object, object_from_js = false)]
pub struct RedactedValues {
    /// The rule's name, which `sanitize.allow` takes as `rule:NAME`.
    pub rule: &'static str,
    /// From 1.
    pub count: u32,
}

/// The artifacts of a run that worked in a private tree.
#[napi(object, object_from_js = false)]
pub struct IsolationReport {
    /// The branch with all that it did; absent when it changed nothing, or nothing could be imported.
    pub branch: Option<String>,
    /// The file with the same as a patch.
    pub patch: Option<String>,
    /// The number of commits that the child has made itself.
    pub commits: u32,
    /// Files that differ from the tree that it began with.
    pub files: f64,
    /// Lines that were added.
    pub insertions: f64,
    /// Lines that were removed.
    pub deletions: f64,
    /// The private tree, if it was kept because not everything could be imported; `diagnostics` says what.
    pub kept_tree: Option<String>,
}

/// The result of the check of a run's work, which is a command that its agent names.
#[napi(object, object_from_js = false)]
pub struct CheckReport {
    /// The command, on one line.
    pub command: String,
    /// True if it ended with exit code 0. A run whose check failed has failed.
    pub passed: bool,
    /// Its outcome, such as `exit code 1`.
    pub ended: String,
    /// The number of times it ran, from 1.
    pub runs: u32,
    /// The end of the output of its last run; at most 2 KiB.
    pub output: String,
}

/// The report on a child's sandbox, which keeps a readonly child from writing, and a writing child within its tree.
#[napi(object, object_from_js = false)]
pub struct SandboxReport {
    /// True if the kernel kept a readonly child from writing, or a writing child within its tree. False if only the
    /// choice of tools limited it, and for a child that may write everywhere (`allowWrite: "all"`).
    pub enforced: bool,
    /// The active mechanisms, such as `landlock`.
    pub mechanism: Vec<String>,
    /// `off`: programs that the child's shell starts have no network. pi itself and its other tools still have it.
    #[napi(ts_type = "\"on\" | \"off\"")]
    pub network: &'static str,
    /// The reason why it was not enforced, or the gaps that remain.
    pub reason: Option<String>,
}

/// The resources of all processes of a child together.
#[napi(object, object_from_js = false)]
pub struct Resources {
    /// The peak of resident memory, in bytes, sampled every 250 ms; never less than the peak of the largest process.
    /// Pages that processes share count for each of them.
    pub peak_rss_bytes: f64,
    /// Processor time in milliseconds.
    pub cpu_ms: f64,
    /// The most processes at once, sampled every 250 ms.
    pub processes: f64,
}

/// The usage of a run, summed over its assistant messages.
#[napi(object)]
pub struct RunUsage {
    /// Tokens the model read.
    pub input: f64,
    /// Tokens the model wrote.
    pub output: f64,
    /// Tokens read from the provider's cache.
    pub cache_read: f64,
    /// Tokens written to the provider's cache.
    pub cache_write: f64,
    /// US dollars, by pi's price list.
    pub cost: f64,
    /// Assistant messages.
    pub turns: f64,
}

/// The context use of a child, as its pi shows it.
#[napi(object)]
pub struct ContextUse {
    /// Tokens in the context; absent after a compaction, until the model has answered.
    pub tokens: Option<f64>,
    /// Tokens that the model's context holds.
    pub window: f64,
    /// The used part of the window in percent, from 0; can be above 100. Absent without `tokens`.
    pub percent: Option<f64>,
}

/// The usage of a run, in the shape of pi's own messages, for the totals of the parent session.
#[napi(object, object_from_js = false)]
pub struct PiUsage {
    /// Tokens the model read.
    pub input: f64,
    /// Tokens the model wrote.
    pub output: f64,
    /// Tokens read from the provider's cache.
    pub cache_read: f64,
    /// Tokens written to the provider's cache.
    pub cache_write: f64,
    /// Tokens, as the provider counts them together.
    pub total_tokens: f64,
    /// US dollars, by pi's price list.
    pub cost: PiCost,
}

/// US dollars, by kind of token.
#[napi(object, object_from_js = false)]
pub struct PiCost {
    /// US dollars for `input`.
    pub input: f64,
    /// US dollars for `output`.
    pub output: f64,
    /// US dollars for `cacheRead`.
    pub cache_read: f64,
    /// US dollars for `cacheWrite`.
    pub cache_write: f64,
    /// US dollars together.
    pub total: f64,
}

object_into_js! { |result: run::ToolResult| ToolResult {
    content: vec![result.text], is_error, usage, details,
} }

object_into_js! { |text: String| TextContent { kind: "text", text: text } }

object_into_js! { |details: run::RunDetails| RunDetails {
    kind: Some(run::RunDetails::KIND), version: Some(run::RunDetails::VERSION),
    mode, run_id, results, error, streaming, tasks,
} }

object_into_js! { |error: run::CallError| CallError { code, message } }

object_into_js! { |progress: run::Progress| Streaming {
    has_text: !progress.text.trim().is_empty(),
    state, position, rate_limited_for_ms, blocked_by, undo_note, attempt, display_items, usage, context, turn_count, elapsed_ms, since_event_ms, model,
    retry,
} }

object_into_js! { |retry: run::RetryNotice| RetryNotice { attempt, max_attempts, at_ms, error } }

object_into_js! { |task: run::TaskProgress| TaskProgress {
    agent, state: task.state.as_str(), error,
    position: task.progress.position,
    rate_limited_for_ms: task.progress.rate_limited_for_ms,
    blocked_by: task.progress.blocked_by,
    undo_note: task.progress.undo_note,
    attempt: task.progress.attempt,
    elapsed_ms: task.progress.elapsed_ms,
    since_event_ms: task.progress.since_event_ms,
    retry: task.progress.retry,
    usage: task.progress.usage,
    context: task.progress.context,
    turn_count: task.progress.turn_count,
    model: task.progress.model,
    text: (!task.is_unchanged).then(|| task.progress.text.as_ref().to_owned()),
    display_items: (!task.is_unchanged).then_some(task.progress.display_items),
} }

impl IntoJs<DisplayItem> for event::DisplayItem {
    fn into_js(self) -> DisplayItem {
        match self {
            Self::Text { text } => DisplayItem::Text { text },
            Self::ToolCall { name, args } => DisplayItem::ToolCall { name, args },
        }
    }
}

object_into_js! { |single: run::SingleResult| SingleResult {
    agent, task, run_id, exit_code, usage, context, error, session_file, output, outcome, attempts, duration_ms, model, stop_reason,
    signal, timeout_reason, sandbox, supervision, resources, full_output_file, structured, structured_file, check, changes, flagged_gap, isolation,
    redacted, diagnostics,
    flagged: Some(single.flagged).filter(|flagged| !flagged.is_empty()),
    display_items: Some(single.display_items),
} }

object_into_js! { |redacted: text::RedactedValues| RedactedValues { rule, count } }

object_into_js! { |resources: run::Resources| Resources { peak_rss_bytes, cpu_ms, processes } }

object_into_js! { |report: run::IsolationReport| IsolationReport {
    branch, patch, commits, files, insertions, deletions, kept_tree,
} }

object_into_js! { |report: run::CheckReport| CheckReport { command, passed, ended, runs, output } }

object_into_js! { |report: run::SandboxReport| SandboxReport {
    enforced, mechanism, network, reason,
} }

object_into_js! { |usage: event::Usage| RunUsage {
    input, output, cache_read, cache_write, cost: usage.cost.total, turns,
} }

object_into_js! { |context: event::ContextUse| ContextUse { tokens, window, percent: context.percent() } }

object_into_js! { |usage: event::Usage| PiUsage { input, output, cache_read, cache_write, total_tokens, cost } }

object_into_js! { |cost: event::Cost| PiCost { input, output, cache_read, cache_write, total } }
