//! The sink of the skimmer: which value goes to which field of the record.

use super::names::{Container, EventKind, Field, PartKind, UpdateKind};
use super::record::{Record, short_name};
use crate::event::usage::{Usage, amount, count};
use crate::text::Mark;
use crate::text::json::skim::{Kind, Sink, Verdict, Word};

fn finish_if(is_enough: bool) -> Verdict {
    if is_enough { Verdict::Finish } else { Verdict::Take }
}

impl Record {
    fn enter(&mut self, container: Container) -> Verdict {
        self.containers.push(container);
        Verdict::Take
    }
}

impl Sink for Record {
    fn key(&mut self, key: &str) -> Verdict {
        if self.part.arguments.is_open() {
            return self.part.arguments.key(key);
        }
        let Some(&container) = self.containers.last() else { return Verdict::Skip };
        self.field = Field::of(container, key);
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
        match self.containers.last() {
            None if kind == Kind::Object => return self.enter(Container::Root),
            None => return Verdict::Finish,
            Some(Container::Content) if kind == Kind::Object => {
                self.part.clear(self.message.text.mark());
                return self.enter(Container::Part);
            }
            Some(Container::Content) => return Verdict::Skip,
            Some(Container::Options) => {
                self.field = Some(Field::Option);
                let is_wanted = self.control.begin_option(kind == Kind::String);
                return if is_wanted { Verdict::Take } else { Verdict::Skip };
            }
            Some(_) => {}
        }
        let Some(field) = self.field else { return Verdict::Skip };
        match (field, kind) {
            (Field::Message, Kind::Object) => {
                self.has_message = true;
                self.message.clear();
                self.enter(Container::Message)
            }
            (Field::Update, Kind::Object) => {
                self.update = None;
                self.has_delta = false;
                self.delta.clear();
                self.enter(Container::Update)
            }
            (Field::Content, Kind::Array) => {
                self.message.clear_content();
                self.enter(Container::Content)
            }
            (Field::Content, Kind::String) => {
                self.message.clear_content();
                self.part.clear(Mark::START);
                Verdict::Take
            }
            (Field::Usage, Kind::Object) => {
                self.message.usage = Usage::ZERO;
                self.enter(Container::Usage)
            }
            (Field::Cost, Kind::Object) => self.enter(Container::Cost),
            (Field::Data, Kind::Object) => self.enter(Container::Data),
            (Field::Data, _) => Verdict::Skip,
            (Field::Options, Kind::Array) => {
                self.control.begin_options();
                self.enter(Container::Options)
            }
            (field, Kind::String) if field.is_long() => {
                self.control.begin_text();
                Verdict::Take
            }
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
            Some(field) if field.is_long() => self.control.text(part),
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
                    self.type_name.push_str(short_name(&self.short));
                }
                return finish_if(self.is_enough());
            }
            Some(Field::Role) => {
                self.message.is_assistant = Some(self.short.head() == "assistant");
                self.message.is_system = self.short.head() == "system";
                return finish_if(self.is_enough());
            }
            Some(Field::UpdateType) => {
                self.update = Some(UpdateKind::of(self.short.head()));
                return finish_if(self.is_enough());
            }
            Some(Field::Provider) => {
                self.message.provider = Some(self.name());
                return finish_if(self.is_enough());
            }
            Some(Field::Model) => {
                self.message.model = Some(self.name());
                return finish_if(self.is_enough());
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
                self.message.part_ended(&mut self.part);
            }
            Some(Field::PartName) => self.part.name = Some(self.name()),
            Some(Field::ToolCallId) => {
                self.tool_call_id = Some(self.name());
                return finish_if(self.is_enough());
            }
            Some(Field::ToolName) => {
                self.tool_name = Some(self.name());
                return finish_if(self.is_enough());
            }
            Some(field) if field.is_long() => self.control.text_end(field),
            Some(field @ (Field::RequestId | Field::Command | Field::Disposition)) => {
                self.control.name(field, self.name());
            }
            Some(Field::Method) => {
                self.control.name(Field::Method, self.name());
                return finish_if(self.is_enough());
            }
            Some(field @ (Field::ResponseError | Field::RetriedError | Field::FinalError)) => {
                self.control.error(field, self.short.to_text().0);
            }
            Some(Field::StopReason) => self.message.stop_reason = Some(short_name(&self.short).into()),
            Some(Field::ErrorMessage) => self.message.error = Some(self.short.to_text().0),
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
                Field::Success => self.control.success(value),
                _ => {}
            },
            Word::Number(number) => {
                let usage = &mut self.message.usage;
                match field {
                    Field::Attempt | Field::DelayMs | Field::RequestId | Field::Timeout => {
                        self.control.number(field, number, count(number));
                    }
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
        if self.containers.pop() == Some(Container::Part) {
            self.message.part_ended(&mut self.part);
        }
    }
}
