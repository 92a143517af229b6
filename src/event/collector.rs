//! The way from bytes to state.

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
use crate::text::lines::{Lines, Piece};
use crate::text::skim::{Skimmer, Status};
use crate::text::unescape::LossyUtf8;

/// Bytes kept of the lines that are not JSON.
const MAX_NOISE: usize = 8 * 1024;
/// Bytes kept of one such line, so that a long one does not displace all others.
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

/// What is known of the line at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing but white space so far.
    Blank,
    /// A record that is being read.
    Json,
    /// A record of which nothing more is needed.
    Passed,
    /// It began like a record and is none.
    Broken,
    /// It does not begin like a record.
    Noise,
}

/// What a chunk brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Valid events; a stream with events is alive.
    pub events: u32,
    /// Somebody who looks at [`Collector::live`] would see a difference.
    pub changed: bool,
}

/// A view of a run that is under way.
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

    /// What there is so far; cheap.
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

    /// The work is done, and what comes from here on is about something else: what there is stays as it is, whatever
    /// follows, and what follows is kept apart. Sums go on. Does nothing the second time.
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

    /// The questions that came since the last call, oldest first; the newest 8, and no more than 192 KiB of them. Each
    /// waits for its answer.
    pub fn take_questions(&mut self) -> Vec<Question> {
        self.state.questions.take()
    }

    /// The ids of questions that came since the last call and made room for newer ones: they wait as well, and all
    /// that can be done for them is to cancel them. The newest 1024.
    pub fn take_dropped_questions(&mut self) -> Vec<String> {
        self.state.dropped_questions.take()
    }

    /// The longest time that a provider asked for since the last call, because of too many requests or tokens.
    pub fn take_rate_limit(&mut self) -> Option<RateLimit> {
        self.state.rate_limit.take()
    }

    /// Ends the stream, if that has not been done, and says what it came to.
    #[must_use]
    pub fn into_collected(mut self) -> Collected {
        self.finish();
        let noise = self.noise.view_from_word().trim_end_matches('\n').to_owned();
        // The buffers of the record are given back before the result is built.
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

    /// Tries the frequent kind of line on a line that is here as a whole.
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
