//! The result of a whole stream.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use super::display::DisplayItem;
use super::stop_reason::StopReason;
use super::usage::{ContextUse, Usage, run_usage};
use crate::wire::arguments::Submitted;

/// The collected content of a stream. Not sanitized; every part is bounded. Its JSON is the part that does not depend on
/// a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Collected {
    /// The answer: the text blocks, joined by LF, of the last assistant message that ended without an error or abort
    /// and calls no tool. `None` if there is no such message, or if its text is blank. At most 1 MiB.
    #[serde(rename = "output", serialize_with = "or_empty")]
    pub text: Option<String>,
    /// The number of bytes left out in the middle of the answer, where a note replaces them; 0 if the answer is
    /// complete.
    pub omitted_bytes: u64,
    /// The newest assistant text if it is not the answer: from a message that was incomplete at the end of the stream,
    /// that ended by an error or an abort, or that continued with a tool call. The newest 64 KiB.
    #[serde(rename = "partialOutput", skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// The stop reason of the last assistant message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// The error of the last assistant message.
    #[serde(rename = "error", skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Sums over all assistant messages.
    #[serde(with = "run_usage")]
    pub usage: Usage,
    /// The fill level of the context, if the child has reported it.
    #[serde(skip)]
    pub context: Option<ContextUse>,
    /// `provider/model` of the first assistant message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The newest texts and tool calls, oldest first.
    pub display_items: Vec<DisplayItem>,
    /// The type of the last event. Responses to commands do not count.
    #[serde(rename = "lastEventType", skip_serializing_if = "Option::is_none")]
    pub last_event: Option<String>,
    /// The number of tool executions that began.
    #[serde(skip)]
    pub tools_started: u64,
    /// The number of tool executions that ended.
    #[serde(skip)]
    pub tools_completed: u64,
    /// The names of the tools that began, at most the first 64.
    #[serde(skip)]
    pub tool_names: BTreeSet<String>,
    /// The kernel refusal named at the end of a failed shell command's output. If there are several, the more specific
    /// one.
    #[serde(skip)]
    pub refusal: Option<Refusal>,
    /// The number of tool executions that began under a name that is not in `tool_names`, or without a name.
    #[serde(skip)]
    pub tools_unnamed: u64,
    /// The work is done: `agent_settled`, or on pi before 0.84 `agent_end` with no retry announced after it.
    #[serde(rename = "final")]
    pub settled: bool,
    /// The child has finished its answer or submitted its result, and nothing has begun or was sent since then that needs
    /// another answer. pi may not have reported the end of the work yet.
    #[serde(skip)]
    pub ends_with_answer: bool,
    /// The newest result that the child has submitted, if a result is expected.
    #[serde(skip)]
    pub submitted: Option<Submitted>,
    /// The submitted results that pi refused, if a result is expected.
    #[serde(skip)]
    pub refused_results: RefusedResults,
    /// Pi's own retries of the last failed request.
    #[serde(skip)]
    pub retry: Option<Retry>,
    /// Counts of bytes, lines and events.
    pub counts: Counts,
    /// The newest lines that do not look like JSON.
    pub noise: String,
    /// The stream after [`Collector::begin_epilogue`](super::Collector::begin_epilogue). All other fields describe the
    /// stream before that, except `usage`, `counts` and `noise`, which cover the whole.
    #[serde(skip)]
    pub epilogue: Option<Box<Self>>,
}

#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn or_empty<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text.as_deref().unwrap_or_default())
}

/// Submitted results that pi refused because they do not match the schema.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusedResults {
    /// Refusals so far.
    pub count: u32,
    /// The reason for the last refusal. Not sanitized; at most 2 KiB.
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
    /// True if pi gave up and made no further request.
    pub exhausted: bool,
    /// The error of the last attempt, after pi gave up or was told to give up.
    pub final_error: Option<String>,
}

/// Counts of a collector. Every line that is not blank is an event or invalid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Bytes, including line ends.
    pub bytes: u64,
    /// Lines that are not blank.
    pub lines: u64,
    /// Lines that are events.
    pub events: u64,
    /// Events of an unknown type, which also count in `events`.
    pub unknown_events: u64,
    /// Lines that are not events: noise, broken records, objects without a type.
    pub invalid_lines: u64,
}
