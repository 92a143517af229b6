//! The types of records and of their parts, by their names on the wire.

use sanitizer::text_enum;

text_enum! {
    /// Type of an event.
    pub(crate) enum EventKind {
        MessageStart = "message_start",
        MessageUpdate = "message_update",
        MessageEnd = "message_end",
        AgentStart = "agent_start",
        AgentEnd = "agent_end",
        AgentSettled = "agent_settled",
        TurnStart = "turn_start",
        TurnEnd = "turn_end",
        ToolStart = "tool_execution_start",
        ToolEnd = "tool_execution_end",
        RetryStart = "auto_retry_start",
        RetryEnd = "auto_retry_end",
        CompactionStart = "compaction_start",
        CompactionEnd = "compaction_end",
        UiRequest = "extension_ui_request",
        Response = "response",
        /// An event whose content is not used. The record stores its name.
        Other = "",
    }
}

/// The known event types whose content is not used.
const IGNORED_EVENTS: [&str; 11] = [
    "tool_execution_update",
    "session",
    "entry_appended",
    "queue_update",
    "session_info_changed",
    "thinking_level_changed",
    "summarization_retry_scheduled",
    "summarization_retry_attempt_start",
    "summarization_retry_finished",
    "bash_execution_update",
    "extension_error",
];

/// Returns true if this version does not know the type of an [`EventKind::Other`].
pub(crate) fn is_unknown(name: &str) -> bool {
    !IGNORED_EVENTS.contains(&name)
}

impl EventKind {
    pub(crate) fn of(name: &str) -> Self {
        // Older versions of pi write `auto_compaction_start` and `auto_compaction_end`.
        let plain = name.strip_prefix("auto_").filter(|name| name.starts_with("compaction_"));
        Self::parse(plain.unwrap_or(name)).unwrap_or(Self::Other)
    }
}

text_enum! {
    /// Type of an `assistantMessageEvent`.
    pub(crate) enum UpdateKind {
        TextStart = "text_start",
        TextDelta = "text_delta",
        Other = "",
    }
}

text_enum! {
    /// Type of a part of a message's content, if it is wanted.
    pub(crate) enum PartKind {
        Text = "text",
        ToolCall = "toolCall",
    }
}
