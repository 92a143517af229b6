//! What an event changes.

use std::collections::BTreeSet;

use super::collected::{Collected, Counts, Retry, UiRequest};
use super::display::DisplayItems;
use super::live::LiveText;
use super::record::Record;
use super::tail::{HeadTail, Tail};
use super::usage::Usage;
use super::wire::{EventKind, UpdateKind};

/// Tools that can be seen running at the same time; far more than a model starts.
const MAX_RUNNING: usize = 256;
/// Different tool names that are kept.
const MAX_TOOL_NAMES: usize = 64;
/// Questions of extensions that are kept.
const MAX_UI_REQUESTS: usize = 8;

/// The state that events fold into.
#[derive(Debug)]
pub(super) struct State {
    answer: Option<HeadTail>,
    live: LiveText,
    stop_reason: Option<String>,
    error_message: Option<String>,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    pub(super) items: DisplayItems,
    last_kind: Option<EventKind>,
    last_name: String,
    tools_started: u64,
    tools_completed: u64,
    tool_names: BTreeSet<String>,
    running: BTreeSet<String>,
    is_settled: bool,
    is_compacting: bool,
    retry: Option<Retry>,
    pub(super) ui_requests: Vec<UiRequest>,
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
            running: BTreeSet::new(),
            is_settled: false,
            is_compacting: false,
            retry: None,
            ui_requests: Vec::new(),
        }
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

    /// Folds a complete event and says whether somebody who watches would see a difference.
    pub(super) fn fold(&mut self, kind: EventKind, record: &mut Record) -> bool {
        self.last_kind = Some(kind);
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
                self.is_settled = false;
                false
            }
            EventKind::AgentEnd => {
                self.running.clear();
                // Since 0.84 it says whether a retry follows, and `agent_settled` comes at the very end. Before,
                // it says nothing, and a retry is announced right after it.
                self.is_settled = record.will_retry.is_none() && !record.announces_end;
                self.is_settled
            }
            EventKind::AgentSettled => {
                self.running.clear();
                self.is_compacting = false;
                self.is_settled = true;
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
            EventKind::UiRequest => self.asked(record),
            EventKind::Ignored | EventKind::Unknown => {
                self.last_name.clear();
                self.last_name.push_str(&record.type_name);
                false
            }
        }
    }

    /// Folds a text delta that was recognised without the tokenizer.
    pub(super) fn fold_delta(&mut self, delta: &Tail) -> bool {
        self.last_kind = Some(EventKind::MessageUpdate);
        self.live.delta(delta)
    }

    /// Notes a `message_update` that holds nothing of use.
    pub(super) fn pass_update(&mut self) {
        self.last_kind = Some(EventKind::MessageUpdate);
    }

    fn message_started(&mut self, record: &mut Record) -> bool {
        // Only a pi that announces its end lets its system message be seen.
        record.announces_end |= record.message.is_system;
        if record.message.is_assistant != Some(true) {
            return false;
        }
        self.live.end();
        self.learn_model(record)
    }

    fn message_updated(&mut self, record: &mut Record) -> bool {
        match record.update {
            Some(UpdateKind::TextDelta) => self.live.delta(&record.delta),
            Some(UpdateKind::TextStart) => {
                self.live.begin_block();
                false
            }
            Some(UpdateKind::Other) | None => false,
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
        let message = &mut record.message;
        self.usage.add(&message.usage);
        self.usage.turns += 1;
        self.stop_reason = message.stop_reason.take();
        self.error_message = message.error.take();
        self.items.append(&mut message.items);

        let is_complete = !matches!(self.stop_reason.as_deref(), Some("error" | "aborted"));
        let has_text = !message.text.is_blank();
        let is_answer = is_complete && !message.has_tool_call;
        if has_text {
            self.live.replace(&message.text, is_answer);
        } else if is_answer {
            self.live.disown();
        }
        if is_answer {
            // The old one goes first: the two need not be held together longer than necessary.
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
        if let Some(name) = record.tool_name.take()
            && self.tool_names.len() < MAX_TOOL_NAMES
        {
            self.tool_names.insert(name);
        }
        true
    }

    fn retry_started(&mut self, record: &mut Record) -> bool {
        self.is_settled = false;
        let before = self.retry.take().map_or(0, |retry| retry.attempts);
        let attempts = record
            .attempt
            .map_or(before.saturating_add(1), |attempt| u32::try_from(attempt).unwrap_or(u32::MAX));
        self.retry = Some(Retry { attempts, exhausted: false, final_error: None });
        true
    }

    fn retry_ended(&mut self, record: &mut Record) -> bool {
        let retry = self.retry.get_or_insert_default();
        retry.exhausted = record.success == Some(false);
        retry.final_error = record.final_error.take();
        true
    }

    fn asked(&mut self, record: &mut Record) -> bool {
        let Some(id) = record.request_id.take() else { return false };
        if self.ui_requests.len() == MAX_UI_REQUESTS {
            self.ui_requests.remove(0);
        }
        self.ui_requests.push(UiRequest { id, method: record.method.take().unwrap_or_default() });
        true
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.answer.as_ref().map_or(0, HeadTail::memory_bytes)
            + self.live.memory_bytes()
            + self.items.memory_bytes()
            + self.running.iter().chain(&self.tool_names).map(|name| name.len() + 64).sum::<usize>()
            + self.ui_requests.iter().map(|request| request.id.len() + request.method.len()).sum::<usize>()
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
            settled,
            retry: self.retry,
            ui_requests: self.ui_requests,
            counts,
            noise,
        }
    }
}
