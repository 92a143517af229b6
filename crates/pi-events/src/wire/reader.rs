//! The sink of the skimmer: takes the wanted values of a record.

use super::arguments::Arguments;
use super::arguments::Submitted;
use super::digest::Digest;
use super::field::{Container, Field};
use super::names::{EventKind, PartKind, UpdateKind};
use super::record::{MAX_NAME, Record};
use crate::usage::{Usage, amount, count};
use sanitizer::json::skim::{Kind, Sink, Verdict, Word};
use sanitizer::{HeadTail, floor_char_boundary};

/// The maximum number of stored bytes of an error message, and of every other short string.
const MAX_SHORT: usize = 8 * 1024;
/// The maximum number of stored bytes of a title, a message, a placeholder and a prefill, each. The rest of 16 KiB is
/// room for the note that gives the size of the missing part.
const MAX_LONG: usize = 16 * 1024 - 64;

/// Reads records, one after the other.
#[derive(Debug)]
pub(crate) struct Reader {
    /// The parsed part of the current record.
    pub(crate) record: Record,
    /// Containers that are open, outermost first.
    containers: Vec<Container>,
    field: Option<Field>,
    /// The current string, unless the record or a long string takes it.
    short: HeadTail,
    /// The current long string.
    long: HeadTail,
    digest: Digest,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            record: Record::default(),
            containers: Vec::new(),
            field: None,
            short: HeadTail::new(MAX_SHORT),
            long: HeadTail::new(MAX_LONG),
            digest: Digest::default(),
        }
    }
}

impl Reader {
    /// Prepares for the next record.
    pub(crate) fn clear(&mut self) {
        self.record.clear();
        self.containers.clear();
        self.digest.clear();
        self.field = None;
    }

    fn enter(&mut self, container: Container) -> Verdict {
        self.containers.push(container);
        Verdict::Take
    }

    /// Returns the arguments of a tool call, if a container in them is open.
    fn open_arguments(&mut self) -> Option<&mut Arguments> {
        Some(&mut self.record.message.as_mut()?.part.arguments).filter(|arguments| arguments.is_open())
    }

    /// Returns the arguments of a tool call, if the current value belongs to them.
    fn arguments(&mut self) -> Option<&mut Arguments> {
        let is_whole = matches!(self.field, Some(Field::PartArguments));
        let arguments = &mut self.record.message.as_mut()?.part.arguments;
        (is_whole || arguments.is_open()).then_some(arguments)
    }

    /// Returns the digest, if the current value is hashed.
    fn digest(&mut self) -> Option<&mut Digest> {
        let is_whole = matches!(self.field, Some(Field::Digest(_)));
        (is_whole || self.digest.is_open()).then_some(&mut self.digest)
    }

    /// Stores the hash of a value that has ended.
    fn end_digest(&mut self) {
        if let (Some(Field::Digest(slot)), Some(hash)) = (self.field, self.digest.take()) {
            *slot(&mut self.record) = Some(hash);
        }
    }

    /// Begins the whole record, or an element of an array. Returns `None` for a value whose field decides.
    fn begin_element(&mut self, kind: Kind) -> Option<Verdict> {
        let record = &mut self.record;
        match self.containers.last() {
            None if kind == Kind::Object => Some(self.enter(Container::Root)),
            None => Some(Verdict::Finish),
            Some(Container::Content) if kind == Kind::Object => {
                record.message().begin_part();
                Some(self.enter(Container::Part))
            }
            Some(Container::Messages) if kind == Kind::Object => {
                record.next_repeated();
                record.begin_reply();
                Some(self.enter(Container::Message))
            }
            Some(Container::ToolResults) if kind == Kind::Object => {
                record.begin_reply();
                Some(self.enter(Container::ToolResult))
            }
            Some(Container::Content | Container::Messages | Container::ToolResults) => Some(Verdict::Skip),
            Some(Container::Options) => {
                self.field = Some(Field::Option);
                let is_wanted = record.control().begin_option(kind == Kind::String);
                (!is_wanted).then_some(Verdict::Skip)
            }
            Some(_) => None,
        }
    }

    fn long_text(&mut self) -> String {
        let (text, omitted) = self.long.to_text();
        self.record.control().is_cut |= omitted > 0;
        text
    }
}

/// Returns the beginning of a string, at most the maximum length of a name.
fn name(text: &HeadTail) -> &str {
    let head = text.head();
    &head[..floor_char_boundary(head, MAX_NAME)]
}

impl Sink for Reader {
    fn key(&mut self, key: &str) -> Verdict {
        if let Some(arguments) = self.open_arguments() {
            return arguments.key(key);
        }
        if self.digest.is_open() {
            return self.digest.key(key);
        }
        let Some(&container) = self.containers.last() else { return Verdict::Skip };
        self.field = Field::of(container, key);
        match (self.field, self.record.kind) {
            (None, _) | (Some(Field::Content | Field::Usage), Some(EventKind::MessageStart)) => Verdict::Skip,
            // Only the older, cumulative form continues after the delta. It repeats the whole message so far, twice.
            (Some(Field::Partial), _) | (Some(Field::Message), Some(EventKind::MessageUpdate)) => {
                if self.record.has_whole_delta() && !self.record.is_exact {
                    Verdict::Finish
                } else {
                    Verdict::Skip
                }
            }
            (Some(_), _) => Verdict::Take,
        }
    }

    fn value(&mut self, kind: Kind) -> Verdict {
        if let Some(arguments) = self.open_arguments() {
            return arguments.value(kind);
        }
        if self.digest.is_open() {
            return self.digest.value(kind);
        }
        if let Some(verdict) = self.begin_element(kind) {
            return verdict;
        }
        let record = &mut self.record;
        let Some(field) = self.field else { return Verdict::Skip };
        match (field, kind) {
            (Field::Message, Kind::Object) if !record.wants_message() => return Verdict::Skip,
            (Field::Message, Kind::Object) => {
                // The last of two keys of the same name counts.
                record.message = None;
                return self.enter(Container::Message);
            }
            (Field::Update, Kind::Object) => {
                record.update = None;
                record.has_delta = false;
                record.delta.clear();
                return self.enter(Container::Update);
            }
            (Field::Messages, Kind::Array) if record.wants_repeated() => {
                record.begin_repeated();
                record.begin_repeated_replies();
                return self.enter(Container::Messages);
            }
            (Field::ToolResults, Kind::Array) if record.wants_replies() => {
                record.begin_repeated_replies();
                return self.enter(Container::ToolResults);
            }
            (Field::Content, _)
                if self.containers.contains(&Container::Messages) && !record.wants_repeated_content() =>
            {
                return Verdict::Skip;
            }
            (Field::Content, Kind::Array) => {
                record.message().begin_content();
                return self.enter(Container::Content);
            }
            (Field::Usage, Kind::Object) => {
                record.message().usage = Usage::default();
                return self.enter(Container::Usage);
            }
            (Field::Cost, Kind::Object) => return self.enter(Container::Cost),
            (Field::Data, Kind::Object) => return self.enter(Container::Data),
            (Field::Result, Kind::Object) => return self.enter(Container::Result),
            (Field::Details, Kind::Object)
                if record.is_reply() && (record.is_submission() || record.wants_replies()) =>
            {
                return self.enter(Container::Details);
            }
            (Field::Submitted, Kind::Object) => {
                record.submitted = Some(Submitted::default());
                return Verdict::Raw;
            }
            (Field::Options, Kind::Array) => {
                record.control().begin_options();
                return self.enter(Container::Options);
            }
            (Field::PartArguments, _) => {
                record.message().part.arguments.clear();
                return record.message().part.arguments.value(kind);
            }
            (Field::Digest(slot), _) => {
                // The last of two keys of the same name counts.
                *slot(record) = None;
                self.digest.clear();
                return self.digest.value(kind);
            }
            (
                Field::Messages
                | Field::ToolResults
                | Field::Data
                | Field::Result
                | Field::Details
                | Field::Submitted,
                _,
            )
            | (_, Kind::Object | Kind::Array) => return Verdict::Skip,
            (Field::Content, Kind::String) => {
                record.message().begin_content();
                record.message().part.kind = Some(PartKind::Text);
                record.message().begin_text();
            }
            (Field::PartText, Kind::String) => record.message().begin_text(),
            (Field::Delta, Kind::String) => record.delta.clear(),
            (Field::Message | Field::Option | Field::Long(_), Kind::String) => self.long.clear(),
            (_, Kind::String) => self.short.clear(),
            (_, Kind::Word) => {}
        }
        Verdict::Take
    }

    fn text(&mut self, part: &str) {
        if let Some(arguments) = self.arguments() {
            return arguments.text(part);
        }
        match self.field {
            Some(Field::PartText | Field::Content) => self.record.message().text(part),
            Some(Field::Delta) => self.record.delta.push(part),
            Some(Field::Message | Field::Option | Field::Long(_)) => self.long.push(part),
            _ => self.short.push(part),
        }
    }

    fn raw(&mut self, part: &[u8]) {
        match &mut self.record.submitted {
            Some(submitted) if matches!(self.field, Some(Field::Submitted)) => submitted.push(part),
            _ => {
                if self.record.is_submission() {
                    self.record.reply.push(part);
                }
                self.digest.text(part);
            }
        }
    }

    fn text_end(&mut self) -> Verdict {
        if let Some(arguments) = self.arguments() {
            arguments.text_end();
            return Verdict::Take;
        }
        let is_result = self.record.kind == Some(EventKind::ToolEnd);
        if let Some(digest) = self.digest() {
            let refusal = if is_result { digest.refusal() } else { None };
            digest.text_end();
            self.record.reply.text_end();
            self.record.refusal = self.record.refusal.max(refusal);
            self.end_digest();
            return Verdict::Take;
        }
        match self.field {
            Some(Field::Type) => {
                let kind = EventKind::of(self.short.head());
                self.record.kind = Some(kind);
                self.record.other_kind.clear();
                if kind == EventKind::Other {
                    self.record.other_kind.push_str(name(&self.short));
                }
            }
            Some(Field::UpdateType) => {
                let update = UpdateKind::parse(self.short.head());
                self.record.update = Some(update.unwrap_or(UpdateKind::Other));
            }
            Some(Field::Delta) => {
                self.record.has_delta = true;
                return Verdict::Take;
            }
            Some(Field::PartType) => self.record.message().part.kind = PartKind::parse(self.short.head()),
            Some(Field::Content) => self.record.message().end_part(),
            Some(Field::Id) => self.record.control().id = Some(name(&self.short).to_owned()),
            Some(Field::Name(slot)) => *slot(&mut self.record) = Some(name(&self.short).to_owned()),
            Some(Field::Short(slot)) => *slot(&mut self.record) = Some(self.short.to_text().0),
            Some(Field::Message) => self.record.control().message = Some(self.long_text()),
            Some(Field::Long(slot)) => *slot(&mut self.record) = Some(self.long_text()),
            Some(Field::Option) => {
                let option = self.long_text();
                self.record.control().option(&option);
            }
            _ => {}
        }
        if self.record.can_skip_rest() { Verdict::Finish } else { Verdict::Take }
    }

    fn word(&mut self, word: Word<'_>) {
        if let Some(arguments) = self.arguments() {
            return arguments.word(word);
        }
        if let Some(digest) = self.digest() {
            digest.word(word);
            return self.end_digest();
        }
        let record = &mut self.record;
        match (self.field, word) {
            (Some(Field::Flag(slot)), Word::Bool(value)) => *slot(record) = Some(value),
            (Some(Field::Number(slot)), Word::Number(number)) => *slot(record) = Some(count(number)),
            (Some(Field::Id), Word::Number(number)) => record.control().id = Some(number.to_owned()),
            (Some(Field::Tokens(slot)), Word::Number(number)) => *slot(record) = count(number),
            (Some(Field::Amount(slot)), Word::Number(number)) => *slot(record) = amount(number),
            (Some(Field::Cost), Word::Number(number)) => record.message().usage.cost.total = amount(number),
            _ => {}
        }
    }

    fn close(&mut self) {
        if let Some(arguments) = self.open_arguments() {
            return arguments.close();
        }
        if self.digest.is_open() {
            self.digest.close();
            return self.end_digest();
        }
        self.field = None;
        match self.containers.pop() {
            Some(Container::Part) => self.record.message().end_part(),
            Some(Container::Messages) => self.record.end_repeated(),
            Some(Container::ToolResult) => self.record.end_reply(),
            Some(Container::Message) if self.containers.last() == Some(&Container::Messages) => {
                self.record.end_reply();
            }
            _ => {}
        }
    }
}
