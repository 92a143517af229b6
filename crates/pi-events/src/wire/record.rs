//! The wanted fields of one event.

use super::arguments::{Reply, Submitted};
use super::control::Control;
use super::message::Message;
use super::names::{EventKind, UpdateKind};
use crate::collected::Refusal;
use sanitizer::Tail;

/// The maximum number of stored bytes of one delta, and of the live text that it becomes part of.
pub(crate) const MAX_LIVE: usize = 64 * 1024;
/// The maximum number of stored bytes of names and identifiers.
pub(super) const MAX_NAME: usize = 1024;

/// The wanted fields of the record being read.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the record or the stream")]
pub(crate) struct Record {
    pub(crate) kind: Option<EventKind>,
    /// The name of an unused event type.
    pub(crate) other_kind: String,
    pub(super) message: Option<Message>,
    pub(crate) update: Option<UpdateKind>,
    pub(crate) delta: Tail,
    pub(super) has_delta: bool,
    pub(crate) tool_call_id: Option<String>,
    pub(crate) tool_name: Option<String>,
    /// A hash of the arguments of a tool call.
    pub(crate) tool_args: Option<u64>,
    /// A hash of the result's content for the model.
    pub(crate) tool_result: Option<u64>,
    /// The refusal in a text of the result.
    pub(crate) refusal: Option<Refusal>,
    /// The result that the child submits by a tool call, if one is awaited.
    pub(crate) submitted: Option<Submitted>,
    /// pi's reply to that result.
    pub(crate) reply: Reply,
    pub(crate) is_error: Option<bool>,
    pub(crate) will_retry: Option<bool>,
    control: Option<Control>,
    /// The tool from which a result is expected. Kept over records.
    pub(crate) submit_tool: Option<&'static str>,
    /// Set if the model is known, so that only the role of a `message_start` matters. Kept over records.
    pub(crate) knows_model: bool,
    /// Set if an assistant message has begun and its end has not arrived, so that later events that repeat it are read.
    /// Set by the fold, kept over records.
    pub(crate) lacks_message: bool,
    /// The number of assistant messages that an `agent_end` repeats. `message` is the last of them.
    pub(crate) repeated: u64,
    last_repeated: Option<Message>,
    /// The number of replies to submitted results that a `turn_end` or an `agent_end` repeats.
    pub(crate) repeated_replies: u64,
    /// The last result in these replies that pi accepted.
    pub(crate) repeated_result: Option<Submitted>,
    /// Set if the record is read to its end, because other output precedes it on its line.
    pub(crate) is_exact: bool,
    /// Set if this pi ends its work with `agent_settled`. Set by the fold, kept over records.
    pub(crate) announces_end: bool,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            kind: None,
            other_kind: String::new(),
            message: None,
            update: None,
            delta: Tail::new(MAX_LIVE),
            has_delta: false,
            tool_call_id: None,
            tool_name: None,
            tool_args: None,
            tool_result: None,
            refusal: None,
            submitted: None,
            reply: Reply::default(),
            is_error: None,
            will_retry: None,
            control: None,
            submit_tool: None,
            knows_model: false,
            lacks_message: false,
            repeated: 0,
            last_repeated: None,
            repeated_replies: 0,
            repeated_result: None,
            is_exact: false,
            announces_end: false,
        }
    }
}

impl Record {
    /// Prepares for the next record.
    pub(crate) fn clear(&mut self) {
        self.kind = None;
        self.other_kind.clear();
        self.message = None;
        self.update = None;
        self.delta.clear();
        self.has_delta = false;
        self.tool_call_id = None;
        self.tool_name = None;
        (self.tool_args, self.tool_result, self.refusal, self.is_error) = (None, None, None, None);
        self.submitted = None;
        self.reply.clear();
        self.will_retry = None;
        self.control = None;
        self.begin_repeated();
        self.begin_repeated_replies();
        self.is_exact = false;
    }

    /// Returns true if the current tool result is pi's reply to a submitted result.
    pub(crate) fn is_submission(&self) -> bool {
        self.kind == Some(EventKind::ToolEnd) && self.is_reply()
    }

    /// Returns true if the current tool result, which may be a repeated one, is pi's reply to a submitted result.
    pub(super) fn is_reply(&self) -> bool {
        self.submit_tool.is_some() && self.tool_name.as_deref() == self.submit_tool
    }

    /// Returns true if the tool results that an event repeats are wanted.
    pub(super) fn wants_replies(&self) -> bool {
        self.submit_tool.is_some() && matches!(self.kind, Some(EventKind::TurnEnd | EventKind::AgentEnd))
    }

    /// Returns true if the message of the event is wanted.
    pub(super) fn wants_message(&self) -> bool {
        self.kind != Some(EventKind::TurnEnd) || self.lacks_message
    }

    /// Call before the tool results that an event repeats.
    pub(super) fn begin_repeated_replies(&mut self) {
        (self.repeated_replies, self.repeated_result) = (0, None);
    }

    /// Call before each repeated tool result.
    pub(super) fn begin_reply(&mut self) {
        (self.tool_name, self.is_error, self.submitted) = (None, None, None);
    }

    /// Call after each repeated tool result.
    pub(super) fn end_reply(&mut self) {
        let submitted = self.submitted.take();
        if !self.is_reply() {
            return;
        }
        self.repeated_replies += 1;
        if submitted.is_some() && self.is_error != Some(true) {
            self.repeated_result = submitted;
        }
    }

    pub(crate) fn message(&mut self) -> &mut Message {
        self.message.get_or_insert_default()
    }

    /// Returns the fields of responses, questions and retries.
    pub(crate) fn control(&mut self) -> &mut Control {
        self.control.get_or_insert_default()
    }

    /// Returns true if the message is the assistant's.
    pub(crate) fn is_from_assistant(&mut self) -> bool {
        // Only a pi that announces its end sends its system message.
        self.announces_end |= self.role() == Some("system");
        self.role() == Some("assistant")
    }

    /// Returns true if the message is a prompt, or was sent while the child worked.
    pub(crate) fn is_from_user(&self) -> bool {
        self.role() == Some("user")
    }

    /// Returns true if the message may begin a turn: a prompt, or an extension's message.
    pub(crate) fn asks_for_answer(&self) -> bool {
        matches!(self.role(), Some("user" | "custom"))
    }

    fn role(&self) -> Option<&str> {
        self.message.as_ref()?.role.as_deref()
    }

    /// Returns true if the messages that an `agent_end` repeats are wanted.
    pub(super) fn wants_repeated(&self) -> bool {
        self.wants_replies()
            || (self.lacks_message && self.kind.is_none_or(|kind| kind == EventKind::AgentEnd))
    }

    /// Call before the messages that an `agent_end` repeats.
    pub(super) fn begin_repeated(&mut self) {
        (self.message, self.last_repeated, self.repeated) = (None, None, 0);
    }

    /// Call before each repeated message, and after the last one.
    pub(super) fn next_repeated(&mut self) {
        if self.role() == Some("assistant") {
            self.repeated += 1;
            self.last_repeated = self.message.take();
        }
        self.message = None;
    }

    /// Call after the repeated messages.
    pub(super) fn end_repeated(&mut self) {
        self.next_repeated();
        self.message = self.last_repeated.take();
    }

    /// Returns true if the content of the repeated message is wanted. Frees the message before it, so that only one
    /// content is kept at a time.
    pub(super) fn wants_repeated_content(&mut self) -> bool {
        let is_wanted = self.lacks_message && self.role() == Some("assistant");
        if is_wanted {
            self.last_repeated = None;
        }
        is_wanted
    }

    /// Returns true if the rest of the record holds nothing wanted.
    pub(super) fn can_skip_rest(&self) -> bool {
        if self.is_exact {
            return false;
        }
        match self.kind {
            None
            | Some(
                EventKind::RetryStart
                | EventKind::RetryEnd
                | EventKind::Response
                | EventKind::ToolStart
                | EventKind::ToolEnd,
            ) => false,
            Some(EventKind::MessageStart) if self.role() == Some("assistant") => {
                let is_model = |message: &Message| message.provider.is_some() && message.model.is_some();
                self.knows_model || self.message.as_ref().is_some_and(is_model)
            }
            Some(EventKind::MessageStart) => self.role().is_some(),
            Some(EventKind::MessageEnd) => self.role().is_some_and(|role| role != "assistant"),
            Some(EventKind::MessageUpdate) => {
                matches!(self.update, Some(UpdateKind::TextStart | UpdateKind::Other))
            }
            // The event repeats all messages. After them it only says if a retry follows.
            Some(EventKind::AgentEnd) => self.announces_end && !self.lacks_message && !self.wants_replies(),
            Some(EventKind::TurnEnd) => !self.lacks_message && !self.wants_replies(),
            Some(EventKind::UiRequest) => self.control.as_ref().is_some_and(Control::needs_no_answer),
            Some(_) => true,
        }
    }

    pub(super) fn has_whole_delta(&self) -> bool {
        self.kind == Some(EventKind::MessageUpdate)
            && self.update == Some(UpdateKind::TextDelta)
            && self.has_delta
    }
}
