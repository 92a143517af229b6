//! Which fields of a record are wanted, and where their values go.

use super::record::Record;
use crate::event::usage::{Cost, Usage};

/// A container that is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
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

/// Finds the place of a value.
type Slot<From, To> = fn(&mut From) -> &mut To;

/// A field that is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field {
    Type,
    /// The message of a `message_…` event, or a text of a dialog.
    Message,
    Update,
    UpdateType,
    Delta,
    Partial,
    Role,
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
    /// A text, or a number that is kept as written.
    Id,
    /// A name or an identifier.
    Name(Slot<Record, Option<String>>),
    /// A text that is short as a rule.
    Short(Slot<Record, Option<String>>),
    /// A text of a dialog, which may be long.
    Long(Slot<Record, Option<String>>),
    Flag(Slot<Record, Option<bool>>),
    Number(Slot<Record, Option<u64>>),
    Tokens(Slot<Usage, u64>),
    Amount(Slot<Cost, f64>),
}

impl Field {
    pub(super) fn of(container: Container, key: &str) -> Option<Self> {
        Some(match (container, key) {
            (Container::Root, "type") => Self::Type,
            (Container::Root, "message") => Self::Message,
            (Container::Root, "assistantMessageEvent") => Self::Update,
            (Container::Root, "toolCallId") => Self::Name(|record| &mut record.tool_call_id),
            (Container::Root, "toolName") => Self::Name(|record| &mut record.tool_name),
            (Container::Root, "willRetry") => Self::Flag(|record| &mut record.will_retry),
            (Container::Root, "attempt") => Self::Number(|record| &mut record.control().attempt),
            (Container::Root, "delayMs") => Self::Number(|record| &mut record.control().delay_ms),
            (Container::Root, "errorMessage") => Self::Short(|record| &mut record.control().retried_error),
            (Container::Root, "finalError") => Self::Short(|record| &mut record.control().final_error),
            (Container::Root, "id") => Self::Id,
            (Container::Root, "command") => Self::Name(|record| &mut record.control().command),
            (Container::Root, "success") => Self::Flag(|record| &mut record.control().success),
            (Container::Root, "error") => Self::Short(|record| &mut record.control().error),
            (Container::Root, "data") => Self::Data,
            (Container::Data, "disposition") => Self::Name(|record| &mut record.control().disposition),
            (Container::Root, "method") => Self::Name(|record| &mut record.control().method),
            (Container::Root, "title") => Self::Long(|record| &mut record.control().title),
            (Container::Root, "options") => Self::Options,
            (Container::Root, "placeholder") => Self::Long(|record| &mut record.control().placeholder),
            (Container::Root, "prefill") => Self::Long(|record| &mut record.control().prefill),
            (Container::Root, "timeout") => Self::Number(|record| &mut record.control().timeout_ms),
            (Container::Update, "type") => Self::UpdateType,
            (Container::Update, "delta") => Self::Delta,
            (Container::Update, "partial") => Self::Partial,
            (Container::Message, "role") => Self::Role,
            (Container::Message, "content") => Self::Content,
            (Container::Message, "provider") => Self::Name(|record| &mut record.message.provider),
            (Container::Message, "model") => Self::Name(|record| &mut record.message.model),
            (Container::Message, "usage") => Self::Usage,
            (Container::Message, "stopReason") => Self::Name(|record| &mut record.message.stop_reason),
            (Container::Message, "errorMessage") => Self::Short(|record| &mut record.message.error),
            (Container::Part, "type") => Self::PartType,
            (Container::Part, "text") => Self::PartText,
            (Container::Part, "name") => Self::Name(|record| &mut record.message.part.name),
            (Container::Part, "arguments") => Self::PartArguments,
            (Container::Usage, "input") => Self::Tokens(|usage| &mut usage.input),
            (Container::Usage, "output") => Self::Tokens(|usage| &mut usage.output),
            (Container::Usage, "cacheRead") => Self::Tokens(|usage| &mut usage.cache_read),
            (Container::Usage, "cacheWrite") => Self::Tokens(|usage| &mut usage.cache_write),
            (Container::Usage, "totalTokens") => Self::Tokens(|usage| &mut usage.total_tokens),
            (Container::Usage, "cost") => Self::Cost,
            (Container::Cost, "input") => Self::Amount(|cost| &mut cost.input),
            (Container::Cost, "output") => Self::Amount(|cost| &mut cost.output),
            (Container::Cost, "cacheRead") => Self::Amount(|cost| &mut cost.cache_read),
            (Container::Cost, "cacheWrite") => Self::Amount(|cost| &mut cost.cache_write),
            (Container::Cost, "total") => Self::Amount(|cost| &mut cost.total),
            _ => return None,
        })
    }
}
