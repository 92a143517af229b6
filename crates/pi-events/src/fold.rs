//! The effects of each event.

use std::collections::BTreeMap;
use std::mem::{replace, take};
use std::time::{Duration, SystemTime};

use super::collected::{Collected, Counts, RefusedResults, Retry};
use super::display::DisplayItems;
use super::live::{Live, LiveText, PendingRetry};
use super::loops::Loops;
use super::newest::Newest;
use super::question::{Question, Response};
use super::stop_reason::StopReason;
use super::wire::digest::hash_of;
use super::wire::names::{EventKind, UpdateKind};
use super::wire::record::Record;
use crate::provider_error::RateLimit;
use crate::question::SentMessages;
use sanitizer::HeadTail;

/// The tool that runs commands.
const SHELL: &str = "bash";

/// The maximum number of tracked running tools, far more than a model starts.
const MAX_RUNNING: usize = 256;
/// The maximum number of different tool names that are stored.
const MAX_TOOL_NAMES: usize = 64;
/// The maximum number of questions that wait to be taken, and the maximum size of their texts together, in bytes. A
/// child may have as many questions open, and all may arrive at once. A single question always fits.
const MAX_QUESTIONS: usize = 16;
const MAX_QUESTION_BYTES: usize = 192 * 1024;
/// The maximum number of ids of questions that newer ones have displaced.
const MAX_DROPPED: usize = 1024;
const MAX_DROPPED_BYTES: usize = 64 * 1024;
/// The maximum number of responses that wait to be taken, more than the open commands of a client.
const MAX_RESPONSES: usize = 16;
const MAX_RESPONSE_BYTES: usize = 32 * 1024;
/// The final error of a retry that was cancelled, which does not mean that pi gave up.
const CANCELLED: &str = "Retry cancelled";

/// The state that events fold into.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the stream")]
pub(crate) struct State {
    /// The part of the stream that is only known at the end.
    collected: Collected,
    answer: Option<HeadTail>,
    live: LiveText,
    items: DisplayItems,
    last_kind: Option<EventKind>,
    /// The name of a last event of [`EventKind::Other`].
    last_name: String,
    /// A hash of each running call, by its id.
    running: BTreeMap<String, u64>,
    loops: Loops,
    is_settled: bool,
    /// Set if `agent_settled` has reported the end, and no later event has reopened the work.
    is_end_reported: bool,
    is_compacting: bool,
    /// Set while a turn is under way.
    is_in_turn: bool,
    /// Set if an `agent_end` has arrived and no further work has begun.
    has_ended: bool,
    /// Assistant messages that have ended since the last `agent_start`.
    messages_ended: u64,
    /// Set if an assistant message has begun and not ended.
    is_streaming: bool,
    turns_begun: u64,
    awaits_turn: bool,
    /// Prompts, and messages sent into the work, that the child has read.
    messages_read: u64,
    /// The messages that were sent.
    pub(super) sent: SentMessages,
    is_concluded: bool,
    /// Set if a finished answer or a submitted result is the newest part of the work.
    ends_with_answer: bool,
    /// The replies to submitted results that have arrived since the last `agent_start`, and in the current turn.
    replies: u64,
    replies_in_turn: u64,
    /// Set if the work has ended with an answer, and no later message has asked for another answer.
    is_answered: bool,
    announced_pause: Option<Duration>,
    pub(super) responses: Newest<Response, MAX_RESPONSES, MAX_RESPONSE_BYTES>,
    pub(super) questions: Newest<Question, MAX_QUESTIONS, MAX_QUESTION_BYTES>,
    pub(super) dropped_questions: Newest<String, MAX_DROPPED, MAX_DROPPED_BYTES>,
    pub(super) rate_limit: Option<RateLimit>,
    retry: Option<PendingRetry>,
}

impl State {
    /// Returns the state in which a further prompt begins. Sums continue, and the questions and responses that were not
    /// taken yet move to the new state. All other fields start anew.
    pub(super) fn next(&mut self) -> Self {
        let Collected { usage, model, context, .. } = &self.collected;
        Self {
            collected: Collected {
                usage: usage.clone(),
                model: model.clone(),
                context: *context,
                ..Collected::default()
            },
            responses: take(&mut self.responses),
            questions: take(&mut self.questions),
            dropped_questions: take(&mut self.dropped_questions),
            rate_limit: self.rate_limit.take(),
            turns_begun: self.turns_begun,
            messages_read: self.messages_read,
            sent: self.sent.clone(),
            ..Self::default()
        }
    }

    /// Notes that the work continues, so that nothing has settled.
    pub(super) fn reopen(&mut self) {
        (self.is_settled, self.is_end_reported) = (false, false);
        (self.is_concluded, self.is_answered, self.ends_with_answer) = (false, false, false);
    }

    /// Returns a view of the run, with the texts of `shown`.
    pub(super) fn live<'a>(&'a self, shown: &'a Self) -> Live<'a> {
        Live {
            text: shown.live.view(),
            code: shown.live.code(),
            display_items: &shown.items.items,
            usage: &self.collected.usage,
            context: self.collected.context,
            repeats: self.loops.repeats(),
            running_tools: self.running.len(),
            settled: self.is_settled(),
            finished: self.is_settled() && self.is_end_reported,
            model: self.collected.model.as_deref(),
            stop_reason: self.collected.stop_reason.as_ref(),
            streaming: self.is_streaming,
            turns_begun: self.turns_begun,
            awaits_turn: self.awaits_turn,
            announced_pause: self.announced_pause,
            compacting: self.is_compacting,
            answered: self.is_answered(),
            is_concluded: self.is_concluded,
            has_answer: self.answer.is_some() || self.collected.submitted.is_some(),
            refused_results: &self.collected.refused_results,
            retry: self.retry.as_ref(),
        }
    }

    /// Returns true if the work has ended with an answer, and no message that needs another answer is on its way.
    fn is_answered(&self) -> bool {
        self.is_answered && !self.sent.has_unread_required(self.messages_read)
    }

    /// Returns true if the newest answer or submitted result is the result of the work, even if pi has not reported the
    /// end of the work yet.
    fn ends_with_answer(&self) -> bool {
        let is_newest = self.ends_with_answer && !self.sent.has_unread_required(self.messages_read);
        is_newest || self.is_answered() || self.is_concluded
    }

    fn is_settled(&self) -> bool {
        self.is_settled && !self.is_compacting
    }

    /// Returns true if an event fits the events before it. Used for a record after other output on its line, because
    /// that output may quote the record. Only work that has begun can end.
    pub(super) fn expects(&self, kind: EventKind, record: &mut Record) -> bool {
        match kind {
            EventKind::MessageEnd => !record.is_from_assistant() || self.is_streaming,
            EventKind::ToolEnd => {
                record.tool_call_id.as_ref().is_some_and(|id| self.running.contains_key(id))
            }
            EventKind::TurnEnd => self.is_in_turn,
            EventKind::AgentEnd => !self.has_ended && self.running.is_empty(),
            EventKind::AgentSettled => self.has_ended,
            _ => true,
        }
    }

    /// Folds a complete event. Returns true if a live view shows something new.
    pub(super) fn fold(&mut self, kind: EventKind, record: &mut Record) -> bool {
        if kind != EventKind::Response {
            // A response does not concern the work.
            self.last_kind = Some(kind);
        }
        match kind {
            EventKind::MessageStart => self.message_started(record),
            EventKind::MessageUpdate => self.message_updated(record),
            EventKind::MessageEnd => self.message_ended(record),
            EventKind::ToolStart => self.tool_started(record),
            EventKind::ToolEnd => self.tool_ended(record),
            EventKind::TurnStart => {
                self.turns_begun += 1;
                (self.awaits_turn, self.is_in_turn, self.has_ended) = (true, true, false);
                (self.ends_with_answer, self.replies_in_turn) = (false, 0);
                record.lacks_message = true;
                false
            }
            // Every tool of a turn has ended by then, even one whose own end was lost.
            EventKind::TurnEnd => {
                self.loops.turn_ended();
                self.is_in_turn = false;
                // The event repeats the message. If the end of the message is missing, the answer would be lost without
                // the repetition.
                let has_submitted = self.ends_with_answer;
                let has_message = record.lacks_message && self.message_ended(record);
                self.ends_with_answer |= has_submitted;
                let in_turn = take(&mut self.replies_in_turn);
                let has_result = self.result_repeated(record, in_turn);
                !take(&mut self.running).is_empty() || has_message || has_result
            }
            EventKind::AgentStart => {
                (self.is_settled, self.is_end_reported) = (false, false);
                self.is_streaming = false;
                self.announced_pause = None;
                (self.has_ended, self.messages_ended) = (false, 0);
                (self.ends_with_answer, self.replies, self.replies_in_turn) = (false, 0, 0);
                record.lacks_message = true;
                // The child works from here on, long before the first word of a slow model.
                true
            }
            EventKind::AgentEnd => {
                self.running.clear();
                (self.is_in_turn, self.has_ended) = (false, true);
                // The event repeats all messages of the work. The last one counts if its own end is missing.
                let is_missing = record.lacks_message && record.repeated > self.messages_ended;
                let has_message = is_missing && self.message_ended(record);
                let has_result = self.result_repeated(record, self.replies);
                self.awaits_turn = false;
                let has_answer =
                    self.answer.is_some() && self.collected.stop_reason == Some(StopReason::Stop);
                self.is_answered |= (has_answer || self.collected.submitted.is_some())
                    && !self.sent.has_unread_required(self.messages_read);
                let was_streaming = take(&mut self.is_streaming) || has_message || has_result;
                // Since pi 0.84 the event says if a retry follows, and `agent_settled` ends the work. Earlier versions
                // do not say so, and announce a retry directly after the event.
                self.is_settled = record.will_retry.is_none() && !record.announces_end;
                self.is_settled || was_streaming
            }
            EventKind::AgentSettled => {
                self.running.clear();
                self.is_streaming = false;
                self.is_compacting = false;
                (self.is_settled, self.is_end_reported) = (true, true);
                (self.retry, self.announced_pause) = (None, None);
                true
            }
            EventKind::RetryStart => self.retry_started(record),
            EventKind::RetryEnd => self.retry_ended(record),
            EventKind::CompactionStart => {
                self.is_compacting = true;
                false
            }
            EventKind::CompactionEnd => {
                self.is_compacting = false;
                self.is_settled
            }
            EventKind::UiRequest => {
                let context = record.control().context();
                self.ui_requested(record);
                self.collected.context = context.or(self.collected.context);
                context.is_some()
            }
            EventKind::Response => {
                self.responses.push(record.control().take_response());
                false
            }
            EventKind::Other => {
                self.last_name.clone_from(&record.other_kind);
                false
            }
        }
    }

    /// Notes that a message is under way. Returns true if no message was under way before.
    fn stream_began(&mut self) -> bool {
        (self.awaits_turn, self.ends_with_answer) = (false, false);
        (self.is_in_turn, self.has_ended) = (true, false);
        !replace(&mut self.is_streaming, true)
    }

    fn message_started(&mut self, record: &mut Record) -> bool {
        if !record.is_from_assistant() {
            self.messages_read += u64::from(record.is_from_user());
            // The sender of a message, for example an extension, wants another answer.
            let asks = record.asks_for_answer();
            self.is_answered &= !asks;
            self.ends_with_answer &= !asks;
            return false;
        }
        self.live.end();
        record.lacks_message = true;
        self.announced_pause = None;
        let was_pending = self.retry.take().is_some();
        was_pending | self.stream_began() | self.learn_model(record)
    }

    fn message_updated(&mut self, record: &mut Record) -> bool {
        record.lacks_message = true;
        let began = self.stream_began();
        match record.update {
            _ if self.is_concluded => began,
            Some(UpdateKind::TextDelta) => self.live.delta(&record.delta) || began,
            Some(UpdateKind::TextStart) => {
                self.live.begin_block();
                began
            }
            Some(UpdateKind::Other) | None => began,
        }
    }

    fn learn_model(&mut self, record: &mut Record) -> bool {
        if self.collected.model.is_some() {
            return false;
        }
        let message = record.message();
        self.collected.model = match (message.provider.take(), message.model.take()) {
            (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
            (None, model) => model,
            (Some(_), None) => None,
        };
        record.knows_model = self.collected.model.is_some();
        record.knows_model
    }

    fn message_ended(&mut self, record: &mut Record) -> bool {
        if !record.is_from_assistant() {
            return false;
        }
        self.learn_model(record);
        (self.is_streaming, self.awaits_turn) = (false, false);
        record.lacks_message = false;
        self.messages_ended += 1;
        // If no event reported it, the previous turn has ended by now.
        self.loops.turn_ended();
        let was_answered = self.is_answered();
        let collected = &mut self.collected;
        let message = record.message();
        // Retries that gave up belong to an earlier request.
        collected.retry.take_if(|retry| retry.exhausted);
        collected.usage.add(&message.usage);
        collected.usage.turns += 1;
        let is_failure =
            message.stop_reason.as_deref().is_some_and(|reason| StopReason::from(reason).is_failure());
        // A request that pi makes after the answer, by itself, cannot make the answer a failure.
        if self.is_concluded || (was_answered && is_failure) {
            return true;
        }
        collected.stop_reason = message.stop_reason.take().as_deref().map(StopReason::from);
        collected.error_message = message.error.take();
        let is_complete = !collected.stop_reason.as_ref().is_some_and(StopReason::is_failure);
        // Pi does not retry every rate limit.
        let limit = collected.error_message.as_deref().and_then(|error| RateLimit::of(error, None));
        self.rate_limit = self.rate_limit.max(limit);
        let content = &mut message.content;
        for item in content.items.take() {
            self.items.push(item);
        }

        let has_text = !content.text.is_blank();
        let is_answer = is_complete && !content.has_tool_call;
        if has_text {
            self.live.replace(&content.text, is_answer);
        } else if is_answer {
            self.live.mark_not_answer();
        }
        if is_answer {
            self.loops = Loops::default();
            // Free the old answer first, so that two answers are never in memory at the same time.
            self.answer = None;
            self.answer = has_text.then(|| take(content).text);
            self.is_concluded = has_text && self.sent.has_only_advisory_unread(self.messages_read);
        }
        self.ends_with_answer = is_answer && has_text && self.collected.stop_reason == Some(StopReason::Stop);
        self.live.end();
        true
    }

    /// Uses the submitted result that an event repeats, if its own event is missing. `arrived` counts the replies to
    /// such results that have arrived. Returns true if there is such a result.
    fn result_repeated(&mut self, record: &mut Record, arrived: u64) -> bool {
        let missing = record.repeated_replies.saturating_sub(arrived);
        self.replies += missing;
        let Some(submitted) = record.repeated_result.take().filter(|_| missing > 0) else { return false };
        self.collected.submitted = Some(submitted);
        self.ends_with_answer = true;
        true
    }

    fn tool_started(&mut self, record: &mut Record) -> bool {
        self.ends_with_answer = false;
        let collected = &mut self.collected;
        collected.tools_started += 1;
        if let Some(id) = record.tool_call_id.take()
            && self.running.len() < MAX_RUNNING
        {
            self.running.insert(id, hash_of(&(&record.tool_name, record.tool_args)));
        }
        let names = &mut collected.tool_names;
        match record.tool_name.take() {
            Some(name) if names.len() < MAX_TOOL_NAMES || names.contains(&name) => drop(names.insert(name)),
            _ => collected.tools_unnamed += 1,
        }
        true
    }

    fn tool_ended(&mut self, record: &mut Record) -> bool {
        self.collected.tools_completed += 1;
        let call = record.tool_call_id.as_ref().and_then(|id| self.running.remove(id));
        if let Some(id) = record.tool_call_id.as_deref().filter(|_| record.is_error == Some(true)) {
            let _is_shown = self.items.items.iter_mut().rev().any(|item| item.fail(id));
        }
        if record.is_error == Some(true) && record.tool_name.as_deref() == Some(SHELL) {
            self.collected.refusal = self.collected.refusal.max(record.refusal);
        }
        if record.is_submission() {
            (self.replies, self.replies_in_turn) = (self.replies + 1, self.replies_in_turn + 1);
        }
        if record.is_error == Some(true) && record.is_submission() {
            let count = self.collected.refused_results.count.saturating_add(1);
            self.collected.refused_results = RefusedResults { count, reason: record.reply.text() };
        }
        if let Some(submitted) = record.submitted.take().filter(|_| record.is_error != Some(true)) {
            self.collected.submitted = Some(submitted);
            self.ends_with_answer = self.running.is_empty();
        }
        if let Some(call) = call {
            self.loops.call_ended(call, hash_of(&(record.tool_result, record.is_error)));
        }
        true
    }

    fn retry_started(&mut self, record: &mut Record) -> bool {
        (self.is_settled, self.is_end_reported) = (false, false);
        let control = record.control();
        let before = self.collected.retry.take().map_or(0, |retry| retry.attempts);
        let attempts = control
            .attempt
            .map_or(before.saturating_add(1), |attempt| u32::try_from(attempt).unwrap_or(u32::MAX));
        self.collected.retry = Some(Retry { attempts, exhausted: false, final_error: None });
        let delay = control.delay_ms.map(Duration::from_millis);
        self.announced_pause = delay;
        if let Some(error) = &control.retried_error {
            self.rate_limit = self.rate_limit.max(RateLimit::of(error, delay));
        }
        let now = SystemTime::now();
        self.retry = Some(PendingRetry {
            attempt: attempts,
            max_attempts: control.max_attempts.and_then(|max| u32::try_from(max).ok()),
            at: now.checked_add(delay.unwrap_or_default()).unwrap_or(now),
            error: control.retried_error.take(),
        });
        true
    }

    fn retry_ended(&mut self, record: &mut Record) -> bool {
        (self.retry, self.announced_pause) = (None, None);
        let control = record.control();
        let retry = self.collected.retry.get_or_insert_default();
        retry.final_error = control.final_error.take();
        retry.exhausted = control.success == Some(false) && retry.final_error.as_deref() != Some(CANCELLED);
        true
    }

    fn ui_requested(&mut self, record: &mut Record) {
        let Some(question) = record.control().take_question() else { return };
        for dropped in self.questions.push(question) {
            self.dropped_questions.push(dropped.id);
        }
    }

    pub(super) fn into_collected(self, counts: Counts, noise: String) -> Collected {
        let (settled, ends_with_answer) = (self.is_settled(), self.ends_with_answer());
        let last_event = self.last_kind.map(|kind| match kind {
            EventKind::Other => self.last_name,
            kind => kind.as_str().to_owned(),
        });
        let (text, omitted_bytes) = self.answer.map(|answer| answer.to_text()).unzip();
        Collected {
            text,
            omitted_bytes: omitted_bytes.unwrap_or_default(),
            partial: self.live.partial(),
            display_items: self.items.items,
            last_event,
            settled,
            ends_with_answer,
            counts,
            noise,
            ..self.collected
        }
    }
}
