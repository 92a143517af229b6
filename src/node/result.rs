//! The result of a call, as JavaScript sees it.

use napi_derive::napi;
use serde_json::Value;

use crate::event;
use crate::run;

/// The result of a call and, with `details.streaming`, an update on the way to it.
#[napi(object, object_from_js = false)]
pub struct ToolResult {
    /// For the model and the user: sanitized and within the output limit.
    pub content: Vec<TextContent>,
    /// True when the run failed. A truncated success is no failure.
    pub is_error: Option<bool>,
    /// What the child spent, in pi's own shape.
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
    /// The text.
    pub text: String,
}

/// Everything about a call that is not its text.
#[napi(object, object_from_js = false)]
pub struct RunDetails {
    /// How many runs the call stands for.
    #[napi(ts_type = "\"single\" | \"parallel\" | \"chain\" | \"management\"")]
    pub mode: &'static str,
    /// The run's id, eight hexadecimal characters.
    pub run_id: Option<String>,
    /// One entry per run that was prepared; empty for refusals and in updates.
    pub results: Vec<SingleResult>,
    /// Why the call did not simply succeed.
    pub error: Option<CallError>,
    /// Only in updates of one run, never in a result.
    pub streaming: Option<Streaming>,
    /// Only in updates of several, never in a result: one entry per task, in their order.
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

/// What a run shows that is not over.
#[napi(object, object_from_js = false)]
pub struct Streaming {
    /// Where it stands.
    #[napi(ts_type = "\"queued\" | \"starting\" | \"running\" | \"retrying\"")]
    pub state: &'static str,
    /// Its place in the queue of this process, from 1, while it waits in it.
    pub position: Option<u32>,
    /// For how long its provider's rate limit still holds it back, in milliseconds, while it waits for that.
    pub held_for_ms: Option<f64>,
    /// The attempt at hand, from 1.
    pub attempt: u32,
    /// The newest texts and tool calls, oldest first; bounded.
    pub display_items: Vec<DisplayItem>,
    /// Spent so far.
    pub usage: RunUsage,
    /// Assistant messages completed so far.
    pub turn_count: f64,
    /// Since its turn came, in milliseconds; while it is queued, since it was asked for.
    pub elapsed_ms: f64,
    /// Since the child's last event, in milliseconds.
    pub since_event_ms: f64,
    /// The model that answers, `provider/id`.
    pub model: Option<String>,
}

/// How far one of several tasks has come.
#[napi(object, object_from_js = false)]
pub struct TaskProgress {
    /// The agent's name.
    pub agent: String,
    /// Where it stands. `waiting`: a step of a chain whose turn has not come; from `completed` on it is over.
    #[napi(
        ts_type = "\"waiting\" | \"queued\" | \"starting\" | \"running\" | \"retrying\" | \"completed\" | \"failed\" | \"aborted\" | \"idle_timeout\" | \"hard_timeout\" | \"budget\" | \"killed\" | \"skipped\" | \"interrupted\""
    )]
    pub state: &'static str,
    /// Its place in the queue of this process, from 1, while it waits in it.
    pub position: Option<u32>,
    /// For how long its provider's rate limit still holds it back, in milliseconds, while it waits for that.
    pub held_for_ms: Option<f64>,
    /// The attempt at hand, from 1.
    pub attempt: u32,
    /// Since its turn came, in milliseconds; while it is queued, since it was asked for.
    pub elapsed_ms: f64,
    /// Since the child's last event, in milliseconds.
    pub since_event_ms: f64,
    /// Spent so far.
    pub usage: RunUsage,
    /// Assistant messages completed so far.
    pub turn_count: f64,
    /// The model that answers, `provider/id`.
    pub model: Option<String>,
    /// What went wrong, once it is over.
    pub error: Option<String>,
    /// The newest text of the child. Absent when neither it nor the items have changed since the update before.
    pub text: Option<String>,
    /// The newest texts and tool calls, oldest first; bounded. Absent like `text`.
    pub display_items: Option<Vec<DisplayItem>>,
}

/// Something a child said or did.
#[napi(discriminant = "type", discriminant_case = "camelCase", object_from_js = false)]
pub enum DisplayItem {
    /// A text.
    Text {
        /// Sanitized and bounded.
        text: String,
    },
    /// A call of a tool.
    ToolCall {
        /// The tool's name.
        name: String,
        /// Its arguments, sanitized and bounded.
        #[napi(ts_type = "Record<string, unknown>")]
        args: Value,
    },
}

/// What one agent did with one task. Every string is sanitized and bounded.
#[napi(object, object_from_js = false)]
pub struct SingleResult {
    /// The agent's name.
    pub agent: String,
    /// The task it was given.
    pub task: String,
    /// 0 for success; otherwise the child's own code, 124 for a limit, 130 for an abort, 128 + n for a signal.
    pub exit_code: i32,
    /// What the child spent; zeros when unknown.
    pub usage: RunUsage,
    /// What went wrong; present exactly when `exitCode` is not 0.
    pub error: Option<String>,
    /// The child's session file. It exists after success and after failure.
    pub session_file: Option<String>,
    /// The text of the last complete assistant message, or what there was of it when the run ended early.
    pub output: Option<String>,
    /// The newest texts and tool calls, oldest first.
    pub display_items: Option<Vec<DisplayItem>>,
    /// How the run ended.
    #[napi(
        ts_type = "\"completed\" | \"failed\" | \"aborted\" | \"idle_timeout\" | \"hard_timeout\" | \"budget\" | \"killed\" | \"skipped\" | \"interrupted\""
    )]
    pub outcome: &'static str,
    /// How many times a child was started: 1, or 0 when none could be.
    pub attempts: u32,
    /// From the start of the run to its result, in milliseconds.
    pub duration_ms: f64,
    /// The model that really answered, `provider/id`.
    pub model: Option<String>,
    /// Why the last assistant message ended. `length` is a success whose text says that it was cut.
    pub stop_reason: Option<String>,
    /// The signal that ended the child, when nobody here sent it, such as `SIGKILL`.
    pub signal: Option<String>,
    /// Which limit ended the run.
    #[napi(ts_type = "\"runtime\" | \"idle\"")]
    pub timeout_reason: Option<&'static str>,
    /// Whether the kernel held the child to reading.
    pub sandbox: Option<SandboxReport>,
    /// How far the end of everything that the child started was certain; absent when no child was started.
    #[napi(ts_type = "\"warden+pid-ns\" | \"warden+cgroup\" | \"warden\" | \"process-group\" | \"process\"")]
    pub supervision: Option<&'static str>,
    /// What the child's processes used together; absent without a warden.
    pub resources: Option<Resources>,
    /// Where the whole sanitized text lies when `content` was truncated.
    pub full_output_file: Option<String>,
    /// The files the run changed, when it was allowed to write inside a git work tree.
    pub changes: Option<Vec<String>>,
    /// What the caller should know of how the run was set up, such as tools that were dropped.
    pub diagnostics: Option<Vec<String>>,
}

/// Whether the kernel held a child to reading.
#[napi(object, object_from_js = false)]
pub struct SandboxReport {
    /// True when the kernel, and not only the choice of tools, refused writes.
    pub enforced: bool,
    /// The mechanisms in force.
    pub mechanism: Vec<String>,
    /// Why it was not enforced, and what that changed.
    pub reason: Option<String>,
}

/// What all processes of a child used together.
#[napi(object, object_from_js = false)]
pub struct Resources {
    /// The most resident memory at once, in bytes; pages that processes share count for each of them. Sampled every
    /// quarter of a second, and never less than the largest process.
    pub peak_rss_bytes: f64,
    /// Processor time, in milliseconds.
    pub cpu_ms: f64,
    /// The most processes at once. Sampled.
    pub processes: f64,
}

/// What a run spent, added up over its assistant messages.
#[napi(object, object_from_js = false)]
pub struct RunUsage {
    /// Tokens read by the model.
    pub input: f64,
    /// Tokens written by the model.
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

/// What a run spent, in the shape of pi's own messages, for the totals of the parent session.
#[napi(object, object_from_js = false)]
pub struct PiUsage {
    /// Tokens read by the model.
    pub input: f64,
    /// Tokens written by the model.
    pub output: f64,
    /// Tokens read from the provider's cache.
    pub cache_read: f64,
    /// Tokens written to the provider's cache.
    pub cache_write: f64,
    /// All of them.
    pub total_tokens: f64,
    /// US dollars, by pi's price list.
    pub cost: PiCost,
}

/// US dollars, by what they were spent on.
#[napi(object, object_from_js = false)]
pub struct PiCost {
    /// For `input`.
    pub input: f64,
    /// For `output`.
    pub output: f64,
    /// For `cacheRead`.
    pub cache_read: f64,
    /// For `cacheWrite`.
    pub cache_write: f64,
    /// All of it.
    pub total: f64,
}

/// Counts stay exact in a JavaScript number up to 2^53, which no run reaches.
#[expect(clippy::cast_precision_loss, reason = "counts and milliseconds stay below 2^53")]
pub(super) fn number(count: u64) -> f64 {
    count as f64
}

impl From<run::ToolResult> for ToolResult {
    fn from(result: run::ToolResult) -> Self {
        Self {
            content: vec![TextContent { kind: "text", text: result.text }],
            is_error: result.is_error.then_some(true),
            usage: result.usage.as_ref().map(Into::into),
            details: result.details.into(),
        }
    }
}

impl From<run::RunDetails> for RunDetails {
    fn from(details: run::RunDetails) -> Self {
        Self {
            mode: details.mode.as_str(),
            run_id: details.run_id,
            results: details.results.into_iter().map(Into::into).collect(),
            error: details.error.map(|error| CallError { code: error.code.as_str(), message: error.message }),
            streaming: details.streaming.map(Into::into),
            tasks: (!details.tasks.is_empty()).then(|| details.tasks.into_iter().map(Into::into).collect()),
        }
    }
}

impl From<run::Progress> for Streaming {
    fn from(progress: run::Progress) -> Self {
        Self {
            state: progress.state.as_str(),
            position: progress.position.map(queue_position),
            held_for_ms: progress.held_for_ms.map(number),
            attempt: progress.attempt,
            display_items: items(&progress.display_items),
            usage: (&progress.usage).into(),
            turn_count: number(progress.turn_count),
            elapsed_ms: number(progress.elapsed_ms),
            since_event_ms: number(progress.since_event_ms),
            model: progress.model,
        }
    }
}

impl From<run::TaskProgress> for TaskProgress {
    fn from(task: run::TaskProgress) -> Self {
        let run::TaskProgress { agent, state, progress, error, is_unchanged } = task;
        Self {
            agent,
            state: state.as_str(),
            position: progress.position.map(queue_position),
            held_for_ms: progress.held_for_ms.map(number),
            attempt: progress.attempt,
            elapsed_ms: number(progress.elapsed_ms),
            since_event_ms: number(progress.since_event_ms),
            usage: (&progress.usage).into(),
            turn_count: number(progress.turn_count),
            model: progress.model,
            error,
            text: (!is_unchanged).then(|| progress.text.as_ref().to_owned()),
            display_items: (!is_unchanged).then(|| items(&progress.display_items)),
        }
    }
}

fn queue_position(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

fn items(items: &[event::DisplayItem]) -> Vec<DisplayItem> {
    items.iter().cloned().map(Into::into).collect()
}

impl From<event::DisplayItem> for DisplayItem {
    fn from(item: event::DisplayItem) -> Self {
        match item {
            event::DisplayItem::Text { text } => Self::Text { text },
            event::DisplayItem::ToolCall { name, args } => Self::ToolCall { name, args },
        }
    }
}

impl From<run::SingleResult> for SingleResult {
    fn from(single: run::SingleResult) -> Self {
        Self {
            agent: single.agent,
            task: single.task,
            exit_code: single.exit_code,
            usage: (&single.usage).into(),
            error: single.error,
            session_file: single.session_file,
            output: single.output,
            display_items: Some(single.display_items.into_iter().map(Into::into).collect()),
            outcome: single.outcome.as_str(),
            attempts: single.attempts,
            duration_ms: number(single.duration_ms),
            model: single.model,
            stop_reason: single.stop_reason,
            signal: single.signal,
            timeout_reason: single.timeout_reason.map(run::TimeoutReason::as_str),
            sandbox: single.sandbox.map(Into::into),
            supervision: single.supervision,
            resources: single.resources.map(Into::into),
            full_output_file: single.full_output_file,
            changes: single.changes,
            diagnostics: (!single.diagnostics.is_empty()).then_some(single.diagnostics),
        }
    }
}

impl From<run::Resources> for Resources {
    fn from(resources: run::Resources) -> Self {
        let run::Resources { peak_rss_bytes, cpu_ms, processes } = resources;
        let [peak_rss_bytes, cpu_ms, processes] = [peak_rss_bytes, cpu_ms, processes].map(number);
        Self { peak_rss_bytes, cpu_ms, processes }
    }
}

impl From<run::SandboxReport> for SandboxReport {
    fn from(report: run::SandboxReport) -> Self {
        Self { enforced: report.enforced, mechanism: report.mechanism, reason: report.reason }
    }
}

impl From<&event::Usage> for RunUsage {
    fn from(usage: &event::Usage) -> Self {
        Self {
            input: number(usage.input),
            output: number(usage.output),
            cache_read: number(usage.cache_read),
            cache_write: number(usage.cache_write),
            cost: usage.cost.total,
            turns: number(usage.turns),
        }
    }
}

impl From<&event::Usage> for PiUsage {
    fn from(usage: &event::Usage) -> Self {
        Self {
            input: number(usage.input),
            output: number(usage.output),
            cache_read: number(usage.cache_read),
            cache_write: number(usage.cache_write),
            total_tokens: number(usage.total_tokens),
            cost: PiCost {
                input: usage.cost.input,
                output: usage.cost.output,
                cache_read: usage.cost.cache_read,
                cache_write: usage.cost.cache_write,
                total: usage.cost.total,
            },
        }
    }
}
