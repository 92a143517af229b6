//! Collects the state of a stream from its bytes.

use super::collected::{Collected, Counts};
use super::fold::State;
use super::live::Live;
use super::noise::{MAX_LINE, Noise};
use super::question::{Question, Response};
use super::wire::fast::FastReader;
use super::wire::names::{EventKind, is_unknown};
use super::wire::reader::Reader;
use super::wire::start::{self, Start};
use crate::provider_error::RateLimit;
use crate::question::SentMessages;
use sanitizer::json::skim::{Skimmer, Status};
use sanitizer::lines::{Lines, Piece};

/// Folds the event stream of a child, in chunks of any size, into a small state.
///
/// Any chunking of the same bytes gives the same state. No line is too long: memory stays below 3 MiB for any stream, 9
/// MiB if a result is expected, and at about 100 KiB while messages are short. An event counts once its line is
/// complete. An incomplete line, or one that is not JSON, changes nothing and does not disturb the next line.
///
/// A record after other output on its line counts if it is spelled as pi spells it, is complete, ends the line and fits
/// the events before it. Records quoted in the output of a tool do not end the work.
#[derive(Debug, Default)]
pub struct Collector {
    lines: Lines,
    line: Line,
    /// The last bytes of a piece, which may begin a further record on the line.
    undecided: Vec<u8>,
    /// The record after other output.
    late: LateRecord,
    /// The last byte of the line that is not white space; it distinguishes a complete record from a torn one if the
    /// rest of the record was skipped.
    last_byte: u8,
    skimmer: Skimmer,
    reader: Reader,
    fast: FastReader,
    state: State,
    /// The state at the end of the work, while a further prompt is under way.
    before: Option<Box<State>>,
    counts: Counts,
    noise: Noise,
    /// The last line of a banner, until it has arrived. Nothing before it is an event.
    banner_ends: Option<&'static str>,
}

/// A record after other output on its line.
#[derive(Debug, Default)]
struct LateRecord {
    is_open: bool,
    /// Its first bytes: if it is not a record, they are noise.
    bytes: Vec<u8>,
    /// Set if a record on the current line counted.
    has_counted: bool,
}

/// The state of the current line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    /// Nothing but white space so far.
    #[default]
    Blank,
    /// A record that is being read.
    Json,
    /// A record whose rest is not wanted.
    Passed,
    /// It began like a record, but is not JSON.
    Broken,
    /// It does not begin like a record.
    Noise,
}

/// The changes made by one chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Valid events; a stream with events is alive.
    pub events: u32,
    /// [`Collector::live`] shows something new.
    pub changed: bool,
}

impl Collector {
    /// Creates the state before the first byte.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps the newest result that the child submits by this tool: the object `submitted` in the details of its
    /// result.
    #[must_use]
    pub fn with_submit_tool(mut self, tool: &'static str) -> Self {
        self.reader.record.submit_tool = Some(tool);
        self
    }

    /// Sets the counts of the messages sent to the child, so that the reply to a late message does not replace the
    /// answer.
    #[must_use]
    pub fn with_sent_messages(mut self, sent: SentMessages) -> Self {
        self.state.sent = sent;
        self
    }

    /// Treats all output up to and including the first occurrence of this line as noise. `None` treats no output as
    /// noise.
    #[must_use]
    pub fn after_banner(mut self, line: Option<&'static str>) -> Self {
        self.banner_ends = line;
        self
    }

    /// Takes the next bytes of the stream, cut anywhere.
    pub fn push(&mut self, chunk: &[u8]) -> Progress {
        let mut progress = Progress::default();
        self.counts.bytes += chunk.len() as u64;
        let pieces = self.lines.pieces(chunk);
        for Piece { bytes, ends } in pieces {
            let is_event = self.banner_ends.is_none();
            if ends && is_event && self.line == Line::Blank && self.read_known_line(bytes, &mut progress) {
                continue;
            }
            self.read(bytes, ends, &mut progress);
            if ends {
                self.end_line(true, &mut progress);
            }
        }
        progress
    }

    /// Ends the stream: a last line without LF counts if it is complete.
    pub fn finish(&mut self) -> Progress {
        let mut progress = Progress::default();
        if !self.undecided.is_empty() {
            self.read(&[], true, &mut progress);
        }
        self.end_line(false, &mut progress);
        progress
    }

    /// Returns a view of the state so far. The call is cheap.
    #[must_use]
    pub fn live(&self) -> Live<'_> {
        self.state.live(self.before.as_deref().unwrap_or(&self.state))
    }

    /// Starts the epilogue: a further prompt begins after the work, and its content is kept separate. Sums continue.
    /// The second call does nothing.
    pub fn begin_epilogue(&mut self) {
        if self.before.is_none() {
            let next = self.state.next();
            self.before = Some(Box::new(std::mem::replace(&mut self.state, next)));
        }
    }

    /// Notes that another prompt follows as part of the same work. The work is done once this prompt is done.
    pub fn reopen(&mut self) {
        self.state.reopen();
    }

    /// Returns the responses to commands since the last call, oldest first: the newest 16, and at most 32 KiB.
    pub fn take_responses(&mut self) -> Vec<Response> {
        self.state.responses.take()
    }

    /// Returns the questions since the last call, oldest first: the newest 16, and at most 192 KiB. Each waits for its
    /// answer.
    pub fn take_questions(&mut self) -> Vec<Question> {
        self.state.questions.take()
    }

    /// Returns the ids of the questions that newer ones have displaced since the last call, at most the newest 1024.
    /// These questions can only be cancelled.
    pub fn take_dropped_questions(&mut self) -> Vec<String> {
        self.state.dropped_questions.take()
    }

    /// Returns the longest rate limit that a provider has announced since the last call.
    pub fn take_rate_limit(&mut self) -> Option<RateLimit> {
        self.state.rate_limit.take()
    }

    /// Ends the stream, unless it has ended, and returns its result.
    #[must_use]
    pub fn into_collected(mut self) -> Collected {
        self.finish();
        let noise = self.noise.to_text();
        // Frees its buffers before the result is built.
        drop(self.reader);
        let Some(before) = self.before else { return self.state.into_collected(self.counts, noise) };
        let epilogue = self.state.into_collected(Counts::default(), String::new());
        let mut collected = before.into_collected(self.counts, noise);
        collected.usage.clone_from(&epilogue.usage);
        collected.context = epilogue.context;
        collected.epilogue = Some(Box::new(epilogue));
        collected
    }

    /// Tries to read a whole line as a `message_update`.
    fn read_known_line(&mut self, line: &[u8], progress: &mut Progress) -> bool {
        let record = &mut self.reader.record;
        record.update = self.fast.message_update(line, &mut record.delta);
        let is_known = record.update.is_some();
        if is_known {
            progress.changed |= self.state.fold(EventKind::MessageUpdate, record);
        }
        record.update = None;
        record.delta.clear();
        if is_known {
            self.count_event(progress);
        }
        is_known
    }

    fn count_event(&mut self, progress: &mut Progress) {
        self.counts.lines += 1;
        self.counts.events += 1;
        progress.events = progress.events.saturating_add(1);
    }

    /// Reads part of a line, which may hold several records.
    fn read(&mut self, bytes: &[u8], ends: bool, progress: &mut Progress) {
        if self.undecided.is_empty() {
            return self.read_records(bytes, ends, progress);
        }
        let mut joined = std::mem::take(&mut self.undecided);
        joined.extend_from_slice(bytes);
        self.read_records(&joined, ends, progress);
    }

    fn read_records(&mut self, mut bytes: &[u8], ends: bool, progress: &mut Progress) {
        if self.line == Line::Blank {
            bytes = bytes.trim_ascii_start();
            let Some(&first) = bytes.first() else { return };
            self.line = if first == b'{' && self.banner_ends.is_none() { Line::Json } else { Line::Noise };
            self.last_byte = 0;
            self.skimmer.reset();
            self.noise.begin_line();
        }
        // The bytes before the end of a banner are not an event.
        while self.banner_ends.is_none() {
            match start::find(bytes, self.line != Line::Noise, ends) {
                Start::NotFound => break,
                Start::Undecided(at) => {
                    self.take(&bytes[..at]);
                    self.undecided = bytes[at..].to_vec();
                    return;
                }
                Start::At(at) => {
                    self.take(&bytes[..at]);
                    bytes = &bytes[at..];
                    self.begin_record(progress);
                    // The next search begins after the first bytes of the record.
                    let first = bytes.len().min(2);
                    self.take(&bytes[..first]);
                    bytes = &bytes[first..];
                }
            }
        }
        self.take(bytes);
    }

    /// Prepares for a record that does not begin its line.
    fn begin_record(&mut self, progress: &mut Progress) {
        if self.line == Line::Noise {
            self.end_late(progress);
            self.late.is_open = true;
            self.reader.record.is_exact = true;
            self.skimmer.reset();
        } else if self.reader.record.kind != Some(EventKind::MessageUpdate) {
            // No record is searched after an update, because most updates are recognized as whole lines.
            self.end_line(true, progress);
            self.line = Line::Json;
            self.last_byte = 0;
            self.skimmer.reset();
            self.noise.begin_line();
        }
    }

    /// Ends a record after other output. It counts if it is complete and fits the events before it.
    fn end_late(&mut self, progress: &mut Progress) {
        if !std::mem::take(&mut self.late.is_open) {
            return;
        }
        let record = &mut self.reader.record;
        let is_whole = self.skimmer.is_complete();
        match record.kind.filter(|&kind| is_whole && self.state.expects(kind, record)) {
            Some(kind) => {
                let is_unknown = kind == EventKind::Other && is_unknown(&record.other_kind);
                self.counts.unknown_events += u64::from(is_unknown);
                progress.changed |= self.state.fold(kind, record);
                self.count_event(progress);
                self.late.has_counted = true;
            }
            None => self.noise.push(&self.late.bytes),
        }
        self.late.bytes.clear();
        self.reader.clear();
    }

    /// Takes part of a line that belongs to one record, or to none.
    fn take(&mut self, bytes: &[u8]) {
        if self.late.is_open {
            match self.skimmer.feed(bytes, &mut self.reader) {
                Status::More => {
                    let room = MAX_LINE.saturating_sub(self.late.bytes.len());
                    self.late.bytes.extend_from_slice(&bytes[..room.min(bytes.len())]);
                    return;
                }
                Status::Finished | Status::Broken => {
                    self.late.is_open = false;
                    self.reader.clear();
                    self.noise.push(&self.late.bytes);
                    self.late.bytes.clear();
                }
            }
        }
        if self.line == Line::Json {
            match self.skimmer.feed(bytes, &mut self.reader) {
                Status::More => return,
                Status::Finished => self.line = Line::Passed,
                Status::Broken => self.line = Line::Broken,
            }
        }
        match self.line {
            Line::Passed => {
                if let Some(&last) = bytes.trim_ascii_end().last() {
                    self.last_byte = last;
                }
            }
            Line::Noise => self.noise.push(bytes),
            _ => {}
        }
    }

    fn end_line(&mut self, has_end: bool, progress: &mut Progress) {
        let is_whole = match std::mem::replace(&mut self.line, Line::Blank) {
            Line::Blank => return,
            Line::Noise => {
                self.end_late(progress);
                self.noise.end_line();
                self.banner_ends = self.banner_ends.filter(|line| !self.noise.ends_with_line(line));
                if std::mem::take(&mut self.late.has_counted) {
                    return;
                }
                false
            }
            Line::Json => self.skimmer.is_complete(),
            Line::Passed => has_end || self.last_byte == b'}',
            Line::Broken => false,
        };
        let record = &mut self.reader.record;
        if let Some(kind) = record.kind.filter(|_| is_whole) {
            let is_unknown = kind == EventKind::Other && is_unknown(&record.other_kind);
            self.counts.unknown_events += u64::from(is_unknown);
            progress.changed |= self.state.fold(kind, record);
            self.count_event(progress);
        } else {
            self.counts.lines += 1;
            self.counts.invalid_lines += 1;
        }
        self.reader.clear();
    }
}
