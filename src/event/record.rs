//! One event, as far as anything of it is wanted, and how it is picked out of the record.

use super::arguments::Arguments;
use super::display::{DisplayItem, DisplayItems};
use super::tail::{HeadTail, Mark, Tail, floor_boundary};
use super::usage::{Usage, amount, count};
use super::wire::{EventKind, Field, PartKind, Place, UpdateKind};
use crate::text::skim::{Kind, Sink, Verdict, Word};

/// Bytes of text kept of one message: head and tail.
const MAX_TEXT: usize = 1024 * 1024;
/// Bytes kept of one delta; no more than the live text that it goes into.
pub(super) const MAX_LIVE: usize = 64 * 1024;
/// Bytes kept of an error message and of every other short string.
const MAX_SHORT: usize = 8 * 1024;
/// Bytes kept of names and identifiers.
const MAX_NAME: usize = 1024;
/// Bytes of a text block that are displayed.
const MAX_DISPLAY_TEXT: usize = 4 * 1024;

/// The wanted fields of the record that is being read.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the record")]
pub(super) struct Record {
    pub(super) kind: Option<EventKind>,
    /// The name of an event type that is not known here, empty for the others.
    pub(super) type_name: String,
    pub(super) message: Message,
    pub(super) update: Option<UpdateKind>,
    pub(super) delta: Tail,
    has_delta: bool,
    pub(super) tool_call_id: Option<String>,
    pub(super) tool_name: Option<String>,
    pub(super) will_retry: Option<bool>,
    pub(super) attempt: Option<u64>,
    pub(super) success: Option<bool>,
    pub(super) final_error: Option<String>,
    pub(super) request_id: Option<String>,
    pub(super) method: Option<String>,
    /// The model is known already, so a `message_start` has nothing to tell but the role.
    pub(super) knows_model: bool,
    /// This pi says by `agent_settled` when its work is done; set by the fold, kept over records.
    pub(super) announces_end: bool,

    places: Vec<Place>,
    field: Option<Field>,
    part: Part,
    short: HeadTail,
    /// A message was entered: there is something to clear in it.
    has_message: bool,
}

/// The wanted fields of a `message`.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) is_assistant: Option<bool>,
    pub(super) is_system: bool,
    pub(super) text: HeadTail,
    text_parts: u32,
    pub(super) has_tool_call: bool,
    pub(super) items: DisplayItems,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) usage: Usage,
    pub(super) stop_reason: Option<String>,
    pub(super) error: Option<String>,
}

/// The content part at hand.
#[derive(Debug)]
struct Part {
    kind: PartKind,
    /// Where the message's text stood before this part.
    mark: Mark,
    has_text: bool,
    text: HeadTail,
    name: Option<String>,
    arguments: Arguments,
}

impl Record {
    pub(super) const fn new() -> Self {
        Self {
            kind: None,
            type_name: String::new(),
            message: Message {
                is_assistant: None,
                is_system: false,
                text: HeadTail::new(MAX_TEXT),
                text_parts: 0,
                has_tool_call: false,
                items: DisplayItems::new(),
                provider: None,
                model: None,
                usage: Usage::ZERO,
                stop_reason: None,
                error: None,
            },
            update: None,
            delta: Tail::new(MAX_LIVE),
            has_delta: false,
            tool_call_id: None,
            tool_name: None,
            will_retry: None,
            attempt: None,
            success: None,
            final_error: None,
            request_id: None,
            method: None,
            knows_model: false,
            announces_end: false,
            places: Vec::new(),
            field: None,
            part: Part {
                kind: PartKind::Other,
                mark: Mark::START,
                has_text: false,
                text: HeadTail::new(MAX_DISPLAY_TEXT),
                name: None,
                arguments: Arguments::new(),
            },
            short: HeadTail::new(MAX_SHORT),
            has_message: false,
        }
    }

    /// Makes ready for the next record.
    pub(super) fn clear(&mut self) {
        self.kind = None;
        self.type_name.clear();
        self.places.clear();
        self.field = None;
        self.update = None;
        self.delta.clear();
        self.has_delta = false;
        self.tool_call_id = None;
        self.tool_name = None;
        self.will_retry = None;
        self.attempt = None;
        self.success = None;
        self.final_error = None;
        self.request_id = None;
        self.method = None;
        if std::mem::take(&mut self.has_message) {
            self.message.clear();
            self.part.clear(Mark::START);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.type_name.capacity()
            + self.message.text.memory_bytes()
            + self.message.items.memory_bytes()
            + self.delta.memory_bytes()
            + self.part.text.memory_bytes()
            + self.part.arguments.memory_bytes()
            + self.short.memory_bytes()
            + 8 * MAX_NAME
    }

    /// Whether the rest of the record cannot say anything that is wanted.
    fn is_enough(&self) -> bool {
        match self.kind {
            None => false,
            Some(EventKind::MessageStart) => match self.message.is_assistant {
                Some(true) => {
                    self.knows_model || (self.message.provider.is_some() && self.message.model.is_some())
                }
                Some(false) => true,
                None => false,
            },
            Some(EventKind::MessageEnd) => self.message.is_assistant == Some(false),
            Some(EventKind::MessageUpdate) => {
                matches!(self.update, Some(UpdateKind::TextStart | UpdateKind::Other))
            }
            // What a tool returned is passed over.
            Some(EventKind::ToolStart) => self.tool_call_id.is_some() && self.tool_name.is_some(),
            Some(EventKind::ToolEnd) => self.tool_call_id.is_some(),
            // It repeats all messages, only to say behind them whether a retry follows.
            Some(EventKind::AgentEnd) if self.announces_end => true,
            Some(kind) => !kind.has_body(),
        }
    }

    fn finish_if(is_enough: bool) -> Verdict {
        if is_enough { Verdict::Finish } else { Verdict::Take }
    }

    fn has_whole_delta(&self) -> bool {
        self.kind == Some(EventKind::MessageUpdate)
            && self.update == Some(UpdateKind::TextDelta)
            && self.has_delta
    }

    fn enter(&mut self, place: Place) -> Verdict {
        self.places.push(place);
        Verdict::Take
    }

    /// The short string at hand as a name.
    fn name(&self) -> String {
        let head = self.short.head();
        head[..floor_boundary(head, MAX_NAME)].to_owned()
    }

    fn part_ended(&mut self) {
        let part = &mut self.part;
        let message = &mut self.message;
        match part.kind {
            PartKind::Text if part.has_text => {
                message.text_parts += 1;
                if !part.text.is_empty() {
                    message.items.push(DisplayItem::Text { text: part.text.to_text().0 });
                }
            }
            PartKind::ToolCall => {
                message.text.rewind(part.mark);
                message.has_tool_call = true;
                let name = part.name.take().unwrap_or_default();
                let args = part.arguments.take().unwrap_or_default();
                message.items.push(DisplayItem::ToolCall { name, args });
            }
            PartKind::Text | PartKind::Other => message.text.rewind(part.mark),
        }
    }
}

impl Message {
    pub(super) fn take_text(&mut self) -> HeadTail {
        std::mem::replace(&mut self.text, HeadTail::new(MAX_TEXT))
    }

    fn clear(&mut self) {
        self.is_assistant = None;
        self.is_system = false;
        self.clear_content();
        self.provider = None;
        self.model = None;
        self.usage = Usage::ZERO;
        self.stop_reason = None;
        self.error = None;
    }

    fn clear_content(&mut self) {
        // A long answer is rare; its buffers are not worth keeping.
        self.text = HeadTail::new(MAX_TEXT);
        self.text_parts = 0;
        self.has_tool_call = false;
        self.items.clear();
    }

    /// Before the text of one more block.
    fn begin_text(&mut self) {
        if self.text_parts > 0 {
            self.text.push("\n");
        }
    }
}

impl Part {
    fn clear(&mut self, mark: Mark) {
        self.kind = PartKind::Other;
        self.mark = mark;
        self.has_text = false;
        self.text.clear();
        self.name = None;
        self.arguments.clear();
    }
}

impl Sink for Record {
    fn key(&mut self, key: &str) -> Verdict {
        if self.part.arguments.is_open() {
            return self.part.arguments.key(key);
        }
        let Some(&place) = self.places.last() else { return Verdict::Skip };
        self.field = Field::of(place, key);
        match self.field {
            None => Verdict::Skip,
            // Only the older, cumulative form goes on after the delta, with the whole message so far, twice.
            Some(Field::Partial) => {
                if self.has_whole_delta() {
                    Verdict::Finish
                } else {
                    Verdict::Skip
                }
            }
            Some(Field::Message) if self.kind == Some(EventKind::MessageUpdate) => {
                if self.has_whole_delta() {
                    Verdict::Finish
                } else {
                    Verdict::Skip
                }
            }
            Some(Field::Content | Field::Usage) if self.kind == Some(EventKind::MessageStart) => {
                Verdict::Skip
            }
            Some(_) => Verdict::Take,
        }
    }

    fn value(&mut self, kind: Kind) -> Verdict {
        if self.part.arguments.is_open() {
            return self.part.arguments.value(kind);
        }
        let Some(&place) = self.places.last() else {
            return if kind == Kind::Object { self.enter(Place::Root) } else { Verdict::Finish };
        };
        if place == Place::Content {
            if kind != Kind::Object {
                return Verdict::Skip;
            }
            self.part.clear(self.message.text.mark());
            return self.enter(Place::Part);
        }
        let Some(field) = self.field else { return Verdict::Skip };
        match (field, kind) {
            (Field::Message, Kind::Object) => {
                self.has_message = true;
                self.message.clear();
                self.enter(Place::Message)
            }
            (Field::Update, Kind::Object) => {
                self.update = None;
                self.has_delta = false;
                self.delta.clear();
                self.enter(Place::Update)
            }
            (Field::Content, Kind::Array) => {
                self.message.clear_content();
                self.enter(Place::Content)
            }
            (Field::Content, Kind::String) => {
                self.message.clear_content();
                self.part.clear(Mark::START);
                Verdict::Take
            }
            (Field::Usage, Kind::Object) => {
                self.message.usage = Usage::ZERO;
                self.enter(Place::Usage)
            }
            (Field::Cost, Kind::Object) => self.enter(Place::Cost),
            (Field::PartArguments, _) => {
                self.part.arguments.clear();
                self.part.arguments.value(kind)
            }
            (Field::PartText, Kind::String) => {
                // The last of two keys of the same name counts.
                self.message.text.rewind(self.part.mark);
                self.message.begin_text();
                self.part.text.clear();
                self.part.has_text = true;
                Verdict::Take
            }
            (Field::Delta, Kind::String) => {
                self.delta.clear();
                Verdict::Take
            }
            (_, Kind::String) => {
                self.short.clear();
                Verdict::Take
            }
            (_, Kind::Word) => Verdict::Take,
            (_, Kind::Object | Kind::Array) => Verdict::Skip,
        }
    }

    fn text(&mut self, part: &str) {
        match self.field {
            _ if self.part.arguments.is_open() => self.part.arguments.text(part),
            Some(Field::PartArguments) => self.part.arguments.text(part),
            Some(Field::PartText | Field::Content) => {
                self.message.text.push(part);
                self.part.text.push(part);
            }
            Some(Field::Delta) => self.delta.push(part),
            _ => self.short.push(part),
        }
    }

    fn text_end(&mut self) -> Verdict {
        if self.part.arguments.is_open() {
            self.part.arguments.text_end();
            return Verdict::Take;
        }
        match self.field {
            Some(Field::Type) => {
                let kind = EventKind::of(self.short.head());
                self.kind = Some(kind);
                self.type_name.clear();
                if matches!(kind, EventKind::Ignored | EventKind::Unknown) {
                    let name = self.short.head();
                    self.type_name.push_str(&name[..floor_boundary(name, MAX_NAME)]);
                }
                return Self::finish_if(self.is_enough());
            }
            Some(Field::Role) => {
                self.message.is_assistant = Some(self.short.head() == "assistant");
                self.message.is_system = self.short.head() == "system";
                return Self::finish_if(self.is_enough());
            }
            Some(Field::UpdateType) => {
                self.update = Some(UpdateKind::of(self.short.head()));
                return Self::finish_if(self.is_enough());
            }
            Some(Field::Provider) => {
                self.message.provider = Some(self.name());
                return Self::finish_if(self.is_enough());
            }
            Some(Field::Model) => {
                self.message.model = Some(self.name());
                return Self::finish_if(self.is_enough());
            }
            Some(Field::Delta) => self.has_delta = true,
            Some(Field::PartArguments) => self.part.arguments.text_end(),
            Some(Field::PartType) => {
                self.part.kind = match self.short.head() {
                    "text" => PartKind::Text,
                    "toolCall" => PartKind::ToolCall,
                    _ => PartKind::Other,
                };
            }
            Some(Field::Content) => {
                self.part.kind = PartKind::Text;
                self.part.has_text = true;
                self.part_ended();
            }
            Some(Field::PartName) => self.part.name = Some(self.name()),
            Some(Field::ToolCallId) => {
                self.tool_call_id = Some(self.name());
                return Self::finish_if(self.is_enough());
            }
            Some(Field::ToolName) => {
                self.tool_name = Some(self.name());
                return Self::finish_if(self.is_enough());
            }
            Some(Field::RequestId) => self.request_id = Some(self.name()),
            Some(Field::Method) => self.method = Some(self.name()),
            Some(Field::StopReason) => self.message.stop_reason = Some(self.name()),
            Some(Field::ErrorMessage) => self.message.error = Some(self.short.to_text().0),
            Some(Field::FinalError) => self.final_error = Some(self.short.to_text().0),
            _ => {}
        }
        Verdict::Take
    }

    fn word(&mut self, word: Word<'_>) {
        if self.part.arguments.is_open() {
            return self.part.arguments.word(word);
        }
        let Some(field) = self.field else { return };
        if field == Field::PartArguments {
            return self.part.arguments.word(word);
        }
        match word {
            Word::Null => {}
            Word::Bool(value) => match field {
                Field::WillRetry => self.will_retry = Some(value),
                Field::Success => self.success = Some(value),
                _ => {}
            },
            Word::Number(number) => {
                let usage = &mut self.message.usage;
                match field {
                    Field::Attempt => self.attempt = Some(count(number)),
                    Field::Input => usage.input = count(number),
                    Field::Output => usage.output = count(number),
                    Field::CacheRead => usage.cache_read = count(number),
                    Field::CacheWrite => usage.cache_write = count(number),
                    Field::TotalTokens => usage.total_tokens = count(number),
                    Field::CostInput => usage.cost.input = amount(number),
                    Field::CostOutput => usage.cost.output = amount(number),
                    Field::CostCacheRead => usage.cost.cache_read = amount(number),
                    Field::CostCacheWrite => usage.cost.cache_write = amount(number),
                    Field::Cost | Field::CostTotal => usage.cost.total = amount(number),
                    _ => {}
                }
            }
        }
    }

    fn close(&mut self) {
        if self.part.arguments.is_open() {
            return self.part.arguments.close();
        }
        self.field = None;
        if self.places.pop() == Some(Place::Part) {
            self.part_ended();
        }
    }
}
