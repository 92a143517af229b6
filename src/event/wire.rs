//! The names pi writes on the wire: event types, and where in a record the fields lie.

/// Type of an event, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    MessageStart,
    MessageUpdate,
    MessageEnd,
    AgentStart,
    AgentEnd,
    AgentSettled,
    TurnEnd,
    ToolStart,
    ToolEnd,
    RetryStart,
    RetryEnd,
    CompactionStart,
    CompactionEnd,
    UiRequest,
    Response,
    /// Known, and nothing in it is of use.
    Ignored,
    /// Not known to this version.
    Unknown,
}

impl EventKind {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "message_start" => Self::MessageStart,
            "message_update" => Self::MessageUpdate,
            "message_end" => Self::MessageEnd,
            "agent_start" => Self::AgentStart,
            "agent_end" => Self::AgentEnd,
            "agent_settled" => Self::AgentSettled,
            "turn_end" => Self::TurnEnd,
            "tool_execution_start" => Self::ToolStart,
            "tool_execution_end" => Self::ToolEnd,
            "auto_retry_start" => Self::RetryStart,
            "auto_retry_end" => Self::RetryEnd,
            "compaction_start" | "auto_compaction_start" => Self::CompactionStart,
            "compaction_end" | "auto_compaction_end" => Self::CompactionEnd,
            "extension_ui_request" => Self::UiRequest,
            "response" => Self::Response,
            "session"
            | "turn_start"
            | "tool_execution_update"
            | "entry_appended"
            | "queue_update"
            | "session_info_changed"
            | "thinking_level_changed"
            | "summarization_retry_start"
            | "summarization_retry_end"
            | "extension_error" => Self::Ignored,
            _ => Self::Unknown,
        }
    }

    /// The name on the wire of what can be the last event, unless several share the value.
    pub(super) fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::MessageStart => "message_start",
            Self::MessageUpdate => "message_update",
            Self::MessageEnd => "message_end",
            Self::AgentStart => "agent_start",
            Self::AgentEnd => "agent_end",
            Self::AgentSettled => "agent_settled",
            Self::TurnEnd => "turn_end",
            Self::ToolStart => "tool_execution_start",
            Self::ToolEnd => "tool_execution_end",
            Self::RetryStart => "auto_retry_start",
            Self::RetryEnd => "auto_retry_end",
            Self::CompactionStart => "compaction_start",
            Self::CompactionEnd => "compaction_end",
            Self::UiRequest => "extension_ui_request",
            Self::Response | Self::Ignored | Self::Unknown => return None,
        })
    }

    /// Whether anything beside the type is wanted.
    pub(super) fn has_body(self) -> bool {
        matches!(
            self,
            Self::MessageStart
                | Self::MessageUpdate
                | Self::MessageEnd
                | Self::AgentEnd
                | Self::ToolStart
                | Self::ToolEnd
                | Self::RetryStart
                | Self::RetryEnd
                | Self::UiRequest
                | Self::Response
        )
    }
}

/// Type of an `assistantMessageEvent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UpdateKind {
    TextStart,
    TextDelta,
    Other,
}

impl UpdateKind {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "text_start" => Self::TextStart,
            "text_delta" => Self::TextDelta,
            _ => Self::Other,
        }
    }
}

/// Type of a part of a message's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    Text,
    ToolCall,
    Other,
}

/// A container that is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    Update,
    Message,
    Content,
    Part,
    Usage,
    Cost,
    Data,
    Options,
}

/// A field that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Type,
    Message,
    Update,
    ToolCallId,
    ToolName,
    WillRetry,
    Attempt,
    DelayMs,
    RetriedError,
    FinalError,
    RequestId,
    Command,
    Success,
    ResponseError,
    Data,
    Disposition,
    Method,
    Title,
    Options,
    Option,
    Placeholder,
    Prefill,
    Timeout,
    UpdateType,
    Delta,
    Partial,
    Role,
    Content,
    Provider,
    Model,
    Usage,
    StopReason,
    ErrorMessage,
    PartType,
    PartText,
    PartName,
    PartArguments,
    Input,
    Output,
    CacheRead,
    CacheWrite,
    TotalTokens,
    Cost,
    CostInput,
    CostOutput,
    CostCacheRead,
    CostCacheWrite,
    CostTotal,
}

impl Field {
    /// Whether it holds what a person is to read or to edit, as a string.
    pub(super) fn is_long(self) -> bool {
        matches!(self, Self::Title | Self::Message | Self::Placeholder | Self::Prefill | Self::Option)
    }

    pub(super) fn of(place: Place, key: &str) -> Option<Self> {
        Some(match (place, key) {
            (Place::Root, "type") => Self::Type,
            (Place::Root, "message") => Self::Message,
            (Place::Root, "assistantMessageEvent") => Self::Update,
            (Place::Root, "toolCallId") => Self::ToolCallId,
            (Place::Root, "toolName") => Self::ToolName,
            (Place::Root, "willRetry") => Self::WillRetry,
            (Place::Root, "attempt") => Self::Attempt,
            (Place::Root, "delayMs") => Self::DelayMs,
            (Place::Root, "errorMessage") => Self::RetriedError,
            (Place::Root, "finalError") => Self::FinalError,
            (Place::Root, "id") => Self::RequestId,
            (Place::Root, "command") => Self::Command,
            (Place::Root, "success") => Self::Success,
            (Place::Root, "error") => Self::ResponseError,
            (Place::Root, "data") => Self::Data,
            (Place::Root, "method") => Self::Method,
            (Place::Root, "title") => Self::Title,
            (Place::Root, "options") => Self::Options,
            (Place::Root, "placeholder") => Self::Placeholder,
            (Place::Root, "prefill") => Self::Prefill,
            (Place::Root, "timeout") => Self::Timeout,
            (Place::Data, "disposition") => Self::Disposition,
            (Place::Update, "type") => Self::UpdateType,
            (Place::Update, "delta") => Self::Delta,
            (Place::Update, "partial") => Self::Partial,
            (Place::Message, "role") => Self::Role,
            (Place::Message, "content") => Self::Content,
            (Place::Message, "provider") => Self::Provider,
            (Place::Message, "model") => Self::Model,
            (Place::Message, "usage") => Self::Usage,
            (Place::Message, "stopReason") => Self::StopReason,
            (Place::Message, "errorMessage") => Self::ErrorMessage,
            (Place::Part, "type") => Self::PartType,
            (Place::Part, "text") => Self::PartText,
            (Place::Part, "name") => Self::PartName,
            (Place::Part, "arguments") => Self::PartArguments,
            (Place::Usage, "input") => Self::Input,
            (Place::Usage, "output") => Self::Output,
            (Place::Usage, "cacheRead") => Self::CacheRead,
            (Place::Usage, "cacheWrite") => Self::CacheWrite,
            (Place::Usage, "totalTokens") => Self::TotalTokens,
            (Place::Usage, "cost") => Self::Cost,
            (Place::Cost, "input") => Self::CostInput,
            (Place::Cost, "output") => Self::CostOutput,
            (Place::Cost, "cacheRead") => Self::CostCacheRead,
            (Place::Cost, "cacheWrite") => Self::CostCacheWrite,
            (Place::Cost, "total") => Self::CostTotal,
            _ => return None,
        })
    }
}
