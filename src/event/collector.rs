//! From bytes to state.

use super::collected::{Collected, Counts};
use super::display::DisplayItem;
use super::fold::State;
use super::question::Question;
use super::rate_limit::RateLimit;
use super::response::Response;
use super::stop_reason::StopReason;
use super::usage::Usage;
use super::wire::fast::{Fast, Update};
use super::wire::names::EventKind;
use super::wire::record::Record;
use crate::text::Tail;
use crate::text::json::skim::{Skimmer, Status};
use crate::text::json::unescape::LossyUtf8;
use crate::text::lines::{Lines, Piece};

/// Bytes kept of the lines that are not JSON.
const MAX_NOISE: usize = 8 * 1024;
/// Bytes kept of one such line, so that a long one does not displace the others.
const MAX_NOISE_LINE: usize = 2 * 1024;

/// Folds the event stream of a child, in chunks of any size, into a small state.
///
/// Any chunking of the same bytes gives the same state. No line is too long: memory stays below 3 MiB whatever the
/// stream holds, and at about 100 KiB while messages are short. An event counts when its line is complete; a line
/// that breaks off or is not JSON changes nothing and does not disturb the next.
#[derive(Debug)]
pub struct Collector {
    lines: Lines,
    line: Line,
    /// The last byte of the line that is not white space; it tells a whole record from a torn one where the rest of
    /// the record was passed over.
    last_byte: u8,
    skimmer: Skimmer,
    record: Record,
    fast: Fast,
    state: State,
    /// The state at the end of the work, while a further prompt is under way.
    before: Option<Box<State>>,
    counts: Counts,
    noise: Tail,
    noise_room: usize,
    noise_is_cut: bool,
    utf8: LossyUtf8,
}

/// What is known of the current line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing but white space so far.
    Blank,
    /// A record that is being read.
    Json,
    /// A record of which nothing more is wanted.
    Passed,
    /// It began like a record, but is not JSON.
    Broken,
    /// It does not begin like a record.
    Noise,
}

/// What a chunk changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Valid events; a stream with events is alive.
    pub events: u32,
    /// [`Collector::live`] shows something new.
    pub changed: bool,
}

/// A view of a running child.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the run")]
pub struct Live<'a> {
    /// The newest assistant text: of the message under way once it says something, else of the last that did. The
    /// newest 64 KiB. Neither this nor `display_items` shows anything of an epilogue.
    pub text: &'a str,
    /// The newest texts and tool calls, oldest first; 48 KiB as JSON at most.
    pub display_items: &'a [DisplayItem],
    /// Sums over the assistant messages so far.
    pub usage: &'a Usage,
    /// Tools that are running.
    pub running_tools: usize,
    /// The work is done. On pi before 0.84 this can become false again when a retry is announced.
    pub settled: bool,
    /// The work is done, and nothing is taken up again by itself: a pi from 0.84 on has said so.
    pub finished: bool,
    /// `provider/model` of the first assistant message.
    pub model: Option<&'a str>,
    /// Why the last assistant message that ended did so.
    pub stop_reason: Option<&'a StopReason>,
    /// An assistant message is under way.
    pub streaming: bool,
    /// There is an answer.
    pub has_answer: bool,
}

impl Default for Collector {
    fn default() -> Self {
        Self::new()
    }
}

impl Collector {
    /// The state before the first byte.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lines: Lines::new(),
            line: Line::Blank,
            last_byte: 0,
            skimmer: Skimmer::default(),
            record: Record::new(),
            fast: Fast::default(),
            state: State::new(),
            before: None,
            counts: Counts::default(),
            noise: Tail::new(MAX_NOISE),
            noise_room: 0,
            noise_is_cut: false,
            utf8: LossyUtf8::default(),
        }
    }

    /// Takes the next bytes of the stream, cut anywhere.
    pub fn push(&mut self, chunk: &[u8]) -> Progress {
        let mut progress = Progress::default();
        self.counts.bytes += chunk.len() as u64;
        let pieces = self.lines.pieces(chunk);
        for Piece { bytes, ends } in pieces {
            if ends && self.line == Line::Blank && self.known_line(bytes, &mut progress) {
                continue;
            }
            self.read(bytes);
            if ends {
                self.end_line(true, &mut progress);
            }
        }
        progress
    }

    /// Ends the stream: a last line without LF counts if it is complete.
    pub fn finish(&mut self) -> Progress {
        let mut progress = Progress::default();
        self.end_line(false, &mut progress);
        progress
    }

    /// The state so far; cheap.
    #[must_use]
    pub fn live(&self) -> Live<'_> {
        let shown = self.before.as_deref().unwrap_or(&self.state);
        Live {
            text: shown.live_text(),
            display_items: shown.items.as_slice(),
            usage: &self.state.usage,
            running_tools: self.state.running_tools(),
            settled: self.state.is_settled(),
            finished: self.state.is_finished(),
            model: self.state.model.as_deref(),
            stop_reason: self.state.stop_reason(),
            streaming: self.state.is_streaming,
            has_answer: self.state.has_answer(),
        }
    }

    /// Keeps what follows apart from what there is, because a further prompt begins after the work. Sums go on. The second
    /// call does nothing.
    pub fn begin_epilogue(&mut self) {
        if self.before.is_none() {
            let next = self.state.next();
            self.before = Some(Box::new(std::mem::replace(&mut self.state, next)));
        }
    }

    /// The answers to commands that came since the last call, oldest first; the newest 16, and no more than 32 KiB of
    /// them.
    pub fn take_responses(&mut self) -> Vec<Response> {
        self.state.responses.take()
    }

    /// The questions that came since the last call, oldest first; the newest 16, and no more than 192 KiB of them. Each
    /// waits for its answer.
    pub fn take_questions(&mut self) -> Vec<Question> {
        self.state.questions.take()
    }

    /// The ids of questions that were dropped for newer ones since the last call; they can only be cancelled. The newest
    /// 1024.
    pub fn take_dropped_questions(&mut self) -> Vec<String> {
        self.state.dropped_questions.take()
    }

    /// The longest rate limit that a provider announced since the last call.
    pub fn take_rate_limit(&mut self) -> Option<RateLimit> {
        self.state.rate_limit.take()
    }

    /// Ends the stream, unless that is done, and returns its result.
    #[must_use]
    pub fn into_collected(mut self) -> Collected {
        self.finish();
        let noise = self.noise.view_from_word().trim_end_matches('\n').to_owned();
        // Frees the buffers of the record before the result is built.
        drop(self.record);
        let Some(before) = self.before else { return self.state.into_collected(self.counts, noise) };
        let epilogue = self.state.into_collected(Counts::default(), String::new());
        let mut collected = before.into_collected(self.counts, noise);
        collected.usage.clone_from(&epilogue.usage);
        collected.epilogue = Some(Box::new(epilogue));
        collected
    }

    /// Bytes of memory held, up to a small constant.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.skimmer.memory_bytes()
            + self.record.memory_bytes()
            + self.fast.memory_bytes()
            + self.state.memory_bytes()
            + self.before.as_ref().map_or(0, |before| before.memory_bytes())
            + self.noise.memory_bytes()
            + size_of::<Self>()
    }

    /// Tries to read a whole line as a `message_update`.
    fn known_line(&mut self, line: &[u8], progress: &mut Progress) -> bool {
        let delta = &mut self.record.delta;
        match self.fast.message_update(line, delta) {
            Some(Update::TextDelta) => {
                progress.changed |= self.state.fold_delta(delta);
                delta.clear();
            }
            Some(Update::Other) => progress.changed |= self.state.pass_update(),
            None => {
                delta.clear();
                return false;
            }
        }
        self.count_event(progress);
        true
    }

    fn count_event(&mut self, progress: &mut Progress) {
        self.counts.lines += 1;
        self.counts.events += 1;
        progress.events = progress.events.saturating_add(1);
    }

    /// Reads part of a line.
    fn read(&mut self, mut bytes: &[u8]) {
        if self.line == Line::Blank {
            bytes = bytes.trim_ascii_start();
            let Some(&first) = bytes.first() else { return };
            self.line = if first == b'{' { Line::Json } else { Line::Noise };
            self.last_byte = 0;
            self.skimmer.reset();
            self.noise_room = MAX_NOISE_LINE;
            self.noise_is_cut = false;
        }
        if self.line == Line::Json {
            match self.skimmer.feed(bytes, &mut self.record) {
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
            Line::Noise => {
                self.noise_is_cut |= bytes.len() > self.noise_room;
                let bytes = &bytes[..bytes.len().min(self.noise_room)];
                self.noise_room -= bytes.len();
                let noise = &mut self.noise;
                self.utf8.feed(bytes, &mut |part| noise.push(part));
            }
            _ => {}
        }
    }

    fn end_line(&mut self, has_end: bool, progress: &mut Progress) {
        let is_whole = match std::mem::replace(&mut self.line, Line::Blank) {
            Line::Blank => return,
            Line::Noise => {
                self.counts.lines += 1;
                self.counts.invalid_lines += 1;
                let noise = &mut self.noise;
                self.utf8.flush(&mut |part| noise.push(part));
                if self.noise_is_cut {
                    noise.strip_torn_word();
                } else {
                    noise.strip('\r');
                }
                noise.push("\n");
                return;
            }
            Line::Json => self.skimmer.is_complete(),
            Line::Passed => has_end || self.last_byte == b'}',
            Line::Broken => false,
        };
        if let Some(kind) = self.record.kind.filter(|_| is_whole) {
            self.count_event(progress);
            self.counts.unknown_events += u64::from(kind == EventKind::Unknown);
            progress.changed |= self.state.fold(kind, &mut self.record);
        } else {
            self.counts.lines += 1;
            self.counts.invalid_lines += 1;
        }
        self.record.clear();
    }
}
