//! The wanted fields of a record, and the targets of their values.

use super::record::Record;

/// A container that is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    Root,
    Update,
    Message,
    /// The messages that `agent_end` repeats.
    Messages,
    Content,
    Part,
    Usage,
    Cost,
    Data,
    Options,
    Result,
    /// The details of a tool result.
    Details,
    /// The tool results that `turn_end` repeats.
    ToolResults,
    ToolResult,
}

/// Finds the place of a value.
type Slot<T> = fn(&mut Record) -> &mut T;

/// A field that is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field {
    Type,
    /// The message of a `message_…` event, or a text of a dialog.
    Message,
    /// The messages that `agent_end` repeats.
    Messages,
    /// The tool results that `turn_end` repeats.
    ToolResults,
    Update,
    UpdateType,
    Delta,
    Partial,
    Content,
    PartType,
    PartText,
    PartArguments,
    Usage,
    /// All costs by name, or their sum.
    Cost,
    Data,
    Options,
    Option,
    Result,
    Details,
    /// The result that a child submits, as JSON.
    Submitted,
    /// Any value. Only its hash is stored.
    Digest(Slot<Option<u64>>),
    /// A text, or a number that is stored as written.
    Id,
    /// A name or an identifier.
    Name(Slot<Option<String>>),
    /// A text that is normally short.
    Short(Slot<Option<String>>),
    /// A text of a dialog, which may be long.
    Long(Slot<Option<String>>),
    Flag(Slot<Option<bool>>),
    Number(Slot<Option<u64>>),
    Tokens(Slot<u64>),
    Amount(Slot<f64>),
}

impl Field {
    pub(super) fn of(container: Container, key: &str) -> Option<Self> {
        use Container::{Cost, Data, Details, Message, Part, Result, Root, ToolResult, Update, Usage};
        Some(match (container, key) {
            (Root, "type") => Self::Type,
            (Root, "message") => Self::Message,
            (Root, "messages") => Self::Messages,
            (Root, "assistantMessageEvent") => Self::Update,
            (Root, "toolCallId") => Self::Name(|record| &mut record.tool_call_id),
            (Root, "toolResults") => Self::ToolResults,
            (Root | Message | ToolResult, "toolName") => Self::Name(|record| &mut record.tool_name),
            (Root, "args") => Self::Digest(|record| &mut record.tool_args),
            (Root, "result") => Self::Result,
            // The content that the model reads. The details next to it may hold times and paths.
            (Result, "content") => Self::Digest(|record| &mut record.tool_result),
            (Result | Message | ToolResult, "details") => Self::Details,
            (Details, "submitted") => Self::Submitted,
            (Root | Message | ToolResult, "isError") => Self::Flag(|record| &mut record.is_error),
            (Root, "willRetry") => Self::Flag(|record| &mut record.will_retry),
            (Root, "attempt") => Self::Number(|record| &mut record.control().attempt),
            (Root, "maxAttempts") => Self::Number(|record| &mut record.control().max_attempts),
            (Root, "delayMs") => Self::Number(|record| &mut record.control().delay_ms),
            (Root, "errorMessage") => Self::Short(|record| &mut record.control().retried_error),
            (Root, "finalError") => Self::Short(|record| &mut record.control().final_error),
            (Root, "id") => Self::Id,
            (Root, "command") => Self::Name(|record| &mut record.control().command),
            (Root, "success") => Self::Flag(|record| &mut record.control().success),
            (Root, "error") => Self::Short(|record| &mut record.control().error),
            (Root, "data") => Self::Data,
            (Data, "disposition") => Self::Name(|record| &mut record.control().disposition),
            (Root, "method") => Self::Name(|record| &mut record.control().method),
            (Root, "title") => Self::Long(|record| &mut record.control().title),
            (Root, "options") => Self::Options,
            (Root, "placeholder") => Self::Long(|record| &mut record.control().placeholder),
            (Root, "prefill") => Self::Long(|record| &mut record.control().prefill),
            (Root, "statusKey") => Self::Name(|record| &mut record.control().status_key),
            (Root, "statusText") => Self::Name(|record| &mut record.control().status_text),
            (Root, "timeout") => Self::Number(|record| &mut record.control().timeout_ms),
            (Update, "type") => Self::UpdateType,
            (Update, "delta") => Self::Delta,
            (Update, "partial") => Self::Partial,
            (Message, "role") => Self::Name(|record| &mut record.message().role),
            (Message, "content") => Self::Content,
            (Message, "provider") => Self::Name(|record| &mut record.message().provider),
            (Message, "model") => Self::Name(|record| &mut record.message().model),
            (Message, "usage") => Self::Usage,
            (Message, "stopReason") => Self::Name(|record| &mut record.message().stop_reason),
            (Message, "errorMessage") => Self::Short(|record| &mut record.message().error),
            (Part, "type") => Self::PartType,
            (Part, "text") => Self::PartText,
            (Part, "id") => Self::Name(|record| &mut record.message().part.id),
            (Part, "name") => Self::Name(|record| &mut record.message().part.name),
            (Part, "arguments") => Self::PartArguments,
            (Usage, "input") => Self::Tokens(|record| &mut record.message().usage.input),
            (Usage, "output") => Self::Tokens(|record| &mut record.message().usage.output),
            (Usage, "cacheRead") => Self::Tokens(|record| &mut record.message().usage.cache_read),
            (Usage, "cacheWrite") => Self::Tokens(|record| &mut record.message().usage.cache_write),
            (Usage, "totalTokens") => Self::Tokens(|record| &mut record.message().usage.total_tokens),
            (Usage, "cost") => Self::Cost,
            (Cost, "input") => Self::Amount(|record| &mut record.message().usage.cost.input),
            (Cost, "output") => Self::Amount(|record| &mut record.message().usage.cost.output),
            (Cost, "cacheRead") => Self::Amount(|record| &mut record.message().usage.cost.cache_read),
            (Cost, "cacheWrite") => Self::Amount(|record| &mut record.message().usage.cost.cache_write),
            (Cost, "total") => Self::Amount(|record| &mut record.message().usage.cost.total),
            _ => return None,
        })
    }
}
