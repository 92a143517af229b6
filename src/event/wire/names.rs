//! The names on the wire: event types, and which fields of a record are wanted.

/// Type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::event) enum EventKind {
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
    /// Known, but nothing in it is used.
    Ignored,
    /// Not known to this version.
    Unknown,
}

impl EventKind {
    pub(in crate::event) fn of(name: &str) -> Self {
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

    /// The name on the wire; `None` where several names share the value or the event is no part of the work.
    pub(in crate::event) fn name(self) -> Option<&'static str> {
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

    /// Whether any field beside the type is wanted.
    pub(in crate::event) fn has_body(self) -> bool {
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
pub(in crate::event) enum UpdateKind {
    TextStart,
    TextDelta,
    Other,
}

impl UpdateKind {
    pub(in crate::event) fn of(name: &str) -> Self {
        match name {
            "text_start" => Self::TextStart,
            "text_delta" => Self::TextDelta,
            _ => Self::Other,
        }
    }
}

/// Type of a part of a message's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::event) enum PartKind {
    Text,
    ToolCall,
    Other,
}

/// A container that is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::event) enum Container {
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
pub(in crate::event) enum Field {
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
    /// Whether it is a text of a dialog, which may be long.
    pub(in crate::event) fn is_long(self) -> bool {
        matches!(self, Self::Title | Self::Message | Self::Placeholder | Self::Prefill | Self::Option)
    }

    pub(in crate::event) fn of(container: Container, key: &str) -> Option<Self> {
        Some(match (container, key) {
            (Container::Root, "type") => Self::Type,
            (Container::Root, "message") => Self::Message,
            (Container::Root, "assistantMessageEvent") => Self::Update,
            (Container::Root, "toolCallId") => Self::ToolCallId,
            (Container::Root, "toolName") => Self::ToolName,
            (Container::Root, "willRetry") => Self::WillRetry,
            (Container::Root, "attempt") => Self::Attempt,
            (Container::Root, "delayMs") => Self::DelayMs,
            (Container::Root, "errorMessage") => Self::RetriedError,
            (Container::Root, "finalError") => Self::FinalError,
            (Container::Root, "id") => Self::RequestId,
            (Container::Root, "command") => Self::Command,
            (Container::Root, "success") => Self::Success,
            (Container::Root, "error") => Self::ResponseError,
            (Container::Root, "data") => Self::Data,
            (Container::Root, "method") => Self::Method,
            (Container::Root, "title") => Self::Title,
            (Container::Root, "options") => Self::Options,
            (Container::Root, "placeholder") => Self::Placeholder,
            (Container::Root, "prefill") => Self::Prefill,
            (Container::Root, "timeout") => Self::Timeout,
            (Container::Data, "disposition") => Self::Disposition,
            (Container::Update, "type") => Self::UpdateType,
            (Container::Update, "delta") => Self::Delta,
            (Container::Update, "partial") => Self::Partial,
            (Container::Message, "role") => Self::Role,
            (Container::Message, "content") => Self::Content,
            (Container::Message, "provider") => Self::Provider,
            (Container::Message, "model") => Self::Model,
            (Container::Message, "usage") => Self::Usage,
            (Container::Message, "stopReason") => Self::StopReason,
            (Container::Message, "errorMessage") => Self::ErrorMessage,
            (Container::Part, "type") => Self::PartType,
            (Container::Part, "text") => Self::PartText,
            (Container::Part, "name") => Self::PartName,
            (Container::Part, "arguments") => Self::PartArguments,
            (Container::Usage, "input") => Self::Input,
            (Container::Usage, "output") => Self::Output,
            (Container::Usage, "cacheRead") => Self::CacheRead,
            (Container::Usage, "cacheWrite") => Self::CacheWrite,
            (Container::Usage, "totalTokens") => Self::TotalTokens,
            (Container::Usage, "cost") => Self::Cost,
            (Container::Cost, "input") => Self::CostInput,
            (Container::Cost, "output") => Self::CostOutput,
            (Container::Cost, "cacheRead") => Self::CostCacheRead,
            (Container::Cost, "cacheWrite") => Self::CostCacheWrite,
            (Container::Cost, "total") => Self::CostTotal,
            _ => return None,
        })
    }
}
