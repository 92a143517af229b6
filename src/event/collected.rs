//! The result of a whole stream.

use std::collections::BTreeSet;

use super::display::DisplayItem;
use super::stop_reason::StopReason;
use super::usage::{ContextUse, Usage};
use super::wire::submitted::Submitted;

/// The collected content of a stream. Not sanitized; every part is bounded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// The answer: the text blocks, joined by LF, of the last assistant message that ended without an error or abort and
    /// calls no tool. `None` when there is none or it is blank. At most 1 MiB.
    pub text: Option<String>,
    /// Bytes left out in the middle of the answer, where a note stands; 0 when it is whole.
    pub omitted_bytes: u64,
    /// The newest assistant text if it is not the answer: from a message that was incomplete at the end of the stream, that ended
    /// by an error or an abort, or that continued with a tool call. The newest 64 KiB.
    pub partial: Option<String>,
    /// The stop reason of the last assistant message.
    pub stop_reason: Option<StopReason>,
    /// The error of the last assistant message.
    pub error_message: Option<String>,
    /// Sums over all assistant messages.
    pub usage: Usage,
    /// The fill level of the context, if the child has reported it.
    pub context: Option<ContextUse>,
    /// `provider/model` of the first assistant message.
    pub model: Option<String>,
    /// The newest texts and tool calls, oldest first.
    pub display_items: Vec<DisplayItem>,
    /// Type of the last event; answers to commands do not count.
    pub last_event: Option<String>,
    /// Tool executions that began.
    pub tools_started: u64,
    /// Tool executions that ended.
    pub tools_completed: u64,
    /// Names of the tools that began, the first 64 of them.
    pub tool_names: BTreeSet<String>,
    /// The kernel refusal named at the end of a failed shell command's output. If there are several, the more specific one.
    pub refusal: Option<Refusal>,
    /// Tool executions that began under a name that is not among them, or under none.
    pub tools_unnamed: u64,
    /// The work is done: `agent_settled`, or on pi before 0.84 `agent_end` with no retry announced after it.
    pub settled: bool,
    /// The newest result that the child has submitted, where one is awaited.
    pub submitted: Option<Submitted>,
    /// The submitted results that pi refused, where one is awaited.
    pub refused_results: RefusedResults,
    /// Pi's own retries of the last failed request.
    pub retry: Option<Retry>,
    /// Counts of bytes, lines and events.
    pub counts: Counts,
    /// The newest lines that do not look like JSON.
    pub noise: String,
    /// The stream after [`Collector::begin_epilogue`](super::Collector::begin_epilogue). All other fields describe the stream
    /// before that, except `usage`, `counts` and `noise`, which cover the whole.
    pub epilogue: Option<Box<Self>>,
}

/// Submitted results that pi refused because they do not match the schema.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusedResults {
    /// Refusals so far.
    pub count: u32,
    /// The reason of the last refusal. Not sanitized; at most 2 KiB.
    pub reason: String,
}

/// The kernel's refusals, in the words of the C library. The more specific one is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// `Permission denied`: writing, reading or executing.
    Denied,
    /// `Read-only file system`: writing.
    ReadOnly,
}

/// Pi's retries of a failed request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retry {
    /// Attempts announced so far.
    pub attempts: u32,
    /// Pi gave up, and no request came after that.
    pub exhausted: bool,
    /// The error of the last attempt, after pi gave up or was told to give up.
    pub final_error: Option<String>,
}

/// Counts of a collector. Every line that is not blank is an event or invalid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes, line ends included.
    pub bytes: u64,
    /// Lines that are not blank.
    pub lines: u64,
    /// Lines that are events.
    pub events: u64,
    /// Events of a type that is not known here, counted in `events` as well.
    pub unknown_events: u64,
    /// Lines that are no event: noise, broken records, objects without a type.
    pub invalid_lines: u64,
}
