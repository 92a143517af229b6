//! What an event changes.

use std::collections::BTreeSet;
use std::mem::swap;
use std::time::Duration;

use super::collected::{Collected, Counts, Retry};
use super::display::DisplayItems;
use super::live::LiveText;
use super::pending::Pending;
use super::question::Question;
use super::rate_limit::RateLimit;
use super::response::Response;
use super::stop_reason::StopReason;
use super::usage::Usage;
use super::wire::names::{EventKind, UpdateKind};
use super::wire::record::Record;
use crate::text::{HeadTail, Tail};

/// Running tools that are tracked; far more than a model starts.
const MAX_RUNNING: usize = 256;
/// Different tool names that are kept.
const MAX_TOOL_NAMES: usize = 64;
/// Questions that wait to be taken, as many as a child may have open, because all may come at once; and the bytes of their
/// texts together. A single one always fits.
const MAX_QUESTIONS: usize = 16;
const MAX_QUESTION_BYTES: usize = 192 * 1024;
/// Ids of questions that were dropped for newer ones.
const MAX_DROPPED: usize = 1024;
const MAX_DROPPED_BYTES: usize = 64 * 1024;
/// Responses that wait to be taken; more than the commands that a client has under way.
const MAX_RESPONSES: usize = 16;
const MAX_RESPONSE_BYTES: usize = 32 * 1024;
/// The final error of a retry that was cancelled, which does not mean that pi gave up.
const CANCELLED: &str = "Retry cancelled";

/// The state that events fold into.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the stream")]
pub(super) struct State {
    answer: Option<HeadTail>,
    live: LiveText,
    stop_reason: Option<StopReason>,
    error_message: Option<String>,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    pub(super) items: DisplayItems,
    last_kind: Option<EventKind>,
    last_name: String,
    tools_started: u64,
    tools_completed: u64,
    tool_names: BTreeSet<String>,
    tools_unnamed: u64,
    running: BTreeSet<String>,
    is_settled: bool,
    /// `agent_settled` said so, and nothing has taken it back.
    has_said_so: bool,
    is_compacting: bool,
    retry: Option<Retry>,
    /// An assistant message has begun and not ended.
    pub(super) is_streaming: bool,
    pub(super) responses: Pending<Response>,
    pub(super) questions: Pending<Question>,
    pub(super) dropped_questions: Pending<String>,
    pub(super) rate_limit: Option<RateLimit>,
}

impl State {
    pub(super) const fn new() -> Self {
        Self {
            answer: None,
            live: LiveText::new(),
            stop_reason: None,
            error_message: None,
            usage: Usage::ZERO,
            model: None,
            items: DisplayItems::new(),
            last_kind: None,
            last_name: String::new(),
            tools_started: 0,
            tools_completed: 0,
            tool_names: BTreeSet::new(),
            tools_unnamed: 0,
            running: BTreeSet::new(),
            is_settled: false,
            has_said_so: false,
            is_compacting: false,
            retry: None,
            is_streaming: false,
            responses: Pending::new(MAX_RESPONSES, MAX_RESPONSE_BYTES),
            questions: Pending::new(MAX_QUESTIONS, MAX_QUESTION_BYTES),
            dropped_questions: Pending::new(MAX_DROPPED, MAX_DROPPED_BYTES),
            rate_limit: None,
        }
    }

    /// The state in which a further prompt begins: sums go on, and what waits to be taken moves there; all else starts
    /// anew.
    pub(super) fn next(&mut self) -> Self {
        let mut next = Self { usage: self.usage.clone(), model: self.model.clone(), ..Self::new() };
        swap(&mut next.responses, &mut self.responses);
        swap(&mut next.questions, &mut self.questions);
        swap(&mut next.dropped_questions, &mut self.dropped_questions);
        swap(&mut next.rate_limit, &mut self.rate_limit);
        next
    }

    pub(super) fn has_answer(&self) -> bool {
        self.answer.is_some()
    }

    pub(super) fn live_text(&self) -> &str {
        self.live.view()
    }

    pub(super) fn running_tools(&self) -> usize {
        self.running.len()
    }

    pub(super) fn is_settled(&self) -> bool {
        self.is_settled && !self.is_compacting
    }

    pub(super) fn is_finished(&self) -> bool {
        self.is_settled() && self.has_said_so
    }

    pub(super) fn stop_reason(&self) -> Option<&StopReason> {
        self.stop_reason.as_ref()
    }

    /// Folds a complete event; returns whether a live view shows something new.
    pub(super) fn fold(&mut self, kind: EventKind, record: &mut Record) -> bool {
        if kind != EventKind::Response {
            // A response says nothing about the work.
            self.last_kind = Some(kind);
        }
        match kind {
            EventKind::MessageStart => self.message_started(record),
            EventKind::MessageUpdate => self.message_updated(record),
            EventKind::MessageEnd => self.message_ended(record),
            EventKind::ToolStart => self.tool_started(record),
            EventKind::ToolEnd => {
                self.tools_completed += 1;
                if let Some(id) = &record.tool_call_id {
                    self.running.remove(id);
                }
                true
            }
            // Every tool of a turn has ended by then, even one whose own end was lost.
            EventKind::TurnEnd => !std::mem::take(&mut self.running).is_empty(),
            EventKind::AgentStart => {
                (self.is_settled, self.has_said_so) = (false, false);
                self.stream_ended();
                // The child works from here on, long before the first word of a slow model.
                true
            }
            EventKind::AgentEnd => {
                self.running.clear();
                let was_streaming = self.stream_ended();
                // Since 0.84 it says whether a retry follows, and `agent_settled` ends the work. Before, it does not,
                // and a retry is announced right after it.
                self.is_settled = record.will_retry.is_none() && !record.announces_end;
                self.is_settled || was_streaming
            }
            EventKind::AgentSettled => {
                self.running.clear();
                self.is_streaming = false;
                self.is_compacting = false;
                (self.is_settled, self.has_said_so) = (true, true);
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
                self.asked(record);
                false
            }
            EventKind::Response => {
                let response = record.control.take_response();
                let size = response.size();
                self.responses.push(response, size);
                false
            }
            EventKind::Ignored | EventKind::Unknown => {
                self.last_name.clear();
                self.last_name.push_str(&record.type_name);
                false
            }
        }
    }

    /// Folds a text delta that was read without the tokenizer.
    pub(super) fn fold_delta(&mut self, delta: &Tail) -> bool {
        self.last_kind = Some(EventKind::MessageUpdate);
        self.stream_began() | self.live.delta(delta)
    }

    /// Folds a `message_update` that holds nothing of use.
    pub(super) fn pass_update(&mut self) -> bool {
        self.last_kind = Some(EventKind::MessageUpdate);
        self.stream_began()
    }

    /// Notes that a message is under way; returns whether none was.
    fn stream_began(&mut self) -> bool {
        !std::mem::replace(&mut self.is_streaming, true)
    }

    /// Notes that no message is under way; returns whether one was.
    fn stream_ended(&mut self) -> bool {
        std::mem::take(&mut self.is_streaming)
    }

    fn message_started(&mut self, record: &mut Record) -> bool {
        // Only a pi that announces its end lets its system message be seen.
        record.announces_end |= record.message.is_system;
        if record.message.is_assistant != Some(true) {
            return false;
        }
        self.live.end();
        self.stream_began() | self.learn_model(record)
    }

    fn message_updated(&mut self, record: &mut Record) -> bool {
        let began = self.stream_began();
        match record.update {
            Some(UpdateKind::TextDelta) => self.live.delta(&record.delta) || began,
            Some(UpdateKind::TextStart) => {
                self.live.begin_block();
                began
            }
            Some(UpdateKind::Other) | None => began,
        }
    }

    fn learn_model(&mut self, record: &mut Record) -> bool {
        if self.model.is_some() {
            return false;
        }
        self.model = match (record.message.provider.take(), record.message.model.take()) {
            (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
            (None, model) => model,
            (Some(_), None) => None,
        };
        record.knows_model = self.model.is_some();
        record.knows_model
    }

    fn message_ended(&mut self, record: &mut Record) -> bool {
        // Only a pi that announces its end lets its system message be seen.
        record.announces_end |= record.message.is_system;
        if record.message.is_assistant != Some(true) {
            return false;
        }
        self.learn_model(record);
        self.is_streaming = false;
        // Retries that gave up belong to an earlier request.
        self.retry.take_if(|retry| retry.exhausted);
        let message = &mut record.message;
        self.usage.add(&message.usage);
        self.usage.turns += 1;
        self.stop_reason = message.stop_reason.take();
        self.error_message = message.error.take();
        // Pi does not retry every rate limit.
        if let Some(error) = &self.error_message {
            self.limited(RateLimit::of(error, None));
        }
        self.items.append(&mut message.items);

        let is_complete = !self.stop_reason.as_ref().is_some_and(StopReason::is_failure);
        let has_text = !message.text.is_blank();
        let is_answer = is_complete && !message.has_tool_call;
        if has_text {
            self.live.replace(&message.text, is_answer);
        } else if is_answer {
            self.live.disown();
        }
        if is_answer {
            // Frees the old answer first, so that the two are never held together.
            self.answer = None;
            self.answer = has_text.then(|| message.take_text());
        }
        self.live.end();
        true
    }

    fn tool_started(&mut self, record: &mut Record) -> bool {
        self.tools_started += 1;
        if let Some(id) = record.tool_call_id.take()
            && self.running.len() < MAX_RUNNING
        {
            self.running.insert(id);
        }
        match record.tool_name.take() {
            Some(name) if self.tool_names.len() < MAX_TOOL_NAMES || self.tool_names.contains(&name) => {
                self.tool_names.insert(name);
            }
            _ => self.tools_unnamed += 1,
        }
        true
    }

    fn retry_started(&mut self, record: &mut Record) -> bool {
        (self.is_settled, self.has_said_so) = (false, false);
        let control = &mut record.control;
        let before = self.retry.take().map_or(0, |retry| retry.attempts);
        let attempts = control
            .attempt
            .map_or(before.saturating_add(1), |attempt| u32::try_from(attempt).unwrap_or(u32::MAX));
        self.retry = Some(Retry { attempts, exhausted: false, final_error: None });
        if let Some(error) = &control.retried_error {
            self.limited(RateLimit::of(error, control.delay_ms.map(Duration::from_millis)));
        }
        true
    }

    fn retry_ended(&mut self, record: &mut Record) -> bool {
        let control = &mut record.control;
        let retry = self.retry.get_or_insert_default();
        retry.final_error = control.final_error.take();
        retry.exhausted = control.success == Some(false) && retry.final_error.as_deref() != Some(CANCELLED);
        true
    }

    fn limited(&mut self, limit: Option<RateLimit>) {
        if let Some(limit) = limit
            && self.rate_limit.is_none_or(|before| before.delay < limit.delay)
        {
            self.rate_limit = Some(limit);
        }
    }

    fn asked(&mut self, record: &mut Record) {
        let Some(question) = record.control.take_question() else { return };
        let size = question.size();
        for dropped in self.questions.push(question, size) {
            let size = dropped.id.len();
            self.dropped_questions.push(dropped.id, size);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.answer.as_ref().map_or(0, HeadTail::memory_bytes)
            + self.live.memory_bytes()
            + self.items.memory_bytes()
            + self.running.iter().chain(&self.tool_names).map(|name| name.len() + 64).sum::<usize>()
            + self.responses.memory_bytes()
            + self.questions.memory_bytes()
            + self.dropped_questions.memory_bytes()
            + self.last_name.capacity()
    }

    pub(super) fn into_collected(self, counts: Counts, noise: String) -> Collected {
        let settled = self.is_settled();
        let partial = self.live.partial();
        let (text, omitted_bytes) = match self.answer {
            Some(answer) => {
                let (text, omitted_bytes) = answer.to_text();
                (Some(text), omitted_bytes)
            }
            None => (None, 0),
        };
        let last_event = self.last_kind.map(|kind| kind.name().map_or(self.last_name, str::to_owned));
        Collected {
            text,
            omitted_bytes,
            partial,
            stop_reason: self.stop_reason,
            error_message: self.error_message,
            usage: self.usage,
            model: self.model,
            display_items: self.items.into_vec(),
            last_event,
            tools_started: self.tools_started,
            tools_completed: self.tools_completed,
            tool_names: self.tool_names,
            tools_unnamed: self.tools_unnamed,
            settled,
            retry: self.retry,
            counts,
            noise,
            epilogue: None,
        }
    }
}
