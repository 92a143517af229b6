//! What a recording keeps of a child's output.
//!
//! A text that is still growing comes in deltas, and half a secret in each of two matches no rule. The end of its message has
//! it whole, so deltas are left out; only of a message that never ended the text so far is kept, as one delta.

use serde_json::{Map, Value, json};

use crate::text::lines::{Lines, Piece};

/// Longest line that is kept.
pub(super) const MAX_LINE: usize = 4 << 20;
/// Most text that is remembered of a message under way, and its blocks.
const MAX_GROWING: usize = 1 << 20;
const MAX_BLOCKS: usize = 64;

/// Something of the child's output.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Frame {
    /// A record.
    Record(Value),
    /// A line that is none.
    Noise(String),
    /// Something that is left out, but shows that the child is alive: what stands for it.
    Alive(Value),
    /// The text so far of a message that never ended: the record with an empty `delta`, and the text for it.
    Growing(Value, String),
    /// A line that is too long to be kept.
    TooLong,
    /// So many bytes of the text of a message that never ended were too many to be remembered.
    Forgotten(usize),
}

/// Cuts the output of one child into frames.
#[derive(Debug, Default)]
pub(super) struct Frames {
    lines: Lines,
    line: Vec<u8>,
    is_too_long: bool,
    growing: Growing,
}

/// The message under way.
#[derive(Debug, Default)]
struct Growing {
    /// The newest update of its text, without that.
    update: Option<Map<String, Value>>,
    /// Its blocks of text: the index of each, and the text so far.
    blocks: Vec<(u64, String)>,
    /// The bytes of all of them, and those that are missing in them.
    bytes: usize,
    forgotten: usize,
}

impl Frames {
    /// Takes the next bytes, cut anywhere.
    pub(super) fn push(&mut self, chunk: &[u8], mut keep: impl FnMut(Frame)) {
        let pieces = self.lines.pieces(chunk);
        for Piece { bytes, ends } in pieces {
            self.is_too_long |= self.line.len() + bytes.len() > MAX_LINE;
            if self.is_too_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(bytes);
            }
            if ends {
                self.end_line(true, &mut keep);
            }
        }
    }

    /// Ends the output.
    pub(super) fn finish(&mut self, mut keep: impl FnMut(Frame)) {
        self.end_line(false, &mut keep);
        let Growing { update, blocks, forgotten, .. } = std::mem::take(&mut self.growing);
        if forgotten > 0 {
            keep(Frame::Forgotten(forgotten));
        }
        let Some(update) = update else { return };
        for (index, text) in blocks {
            let mut update = update.clone();
            update.insert(EVENT.into(), json!({ "type": "text_delta", "contentIndex": index, "delta": "" }));
            keep(Frame::Growing(update.into(), text));
        }
    }

    fn end_line(&mut self, has_end: bool, keep: &mut impl FnMut(Frame)) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            return keep(Frame::TooLong);
        }
        let bytes = line.trim_ascii();
        if bytes.is_empty() {
            return;
        }
        keep(match serde_json::from_slice(bytes) {
            Ok(Value::Object(record)) => self.frame_of(record),
            // A torn record changes nothing; with a line end it could.
            _ if !has_end && bytes.starts_with(b"{") => return,
            _ => Frame::Noise(String::from_utf8_lossy(bytes).into_owned()),
        });
    }

    fn frame_of(&mut self, mut record: Map<String, Value>) -> Frame {
        match record.get("type").and_then(Value::as_str) {
            Some("message_update") => self.growing.update(record),
            Some("tool_execution_update") => {
                record.retain(|name, _| name == "type" || name.starts_with("tool"));
                Frame::Alive(record.into())
            }
            kind => {
                if matches!(kind, Some("message_start" | "message_end")) {
                    self.growing = Growing::default();
                }
                Frame::Record(record.into())
            }
        }
    }
}

/// The part of an update that says what was added.
const EVENT: &str = "assistantMessageEvent";

impl Growing {
    /// Remembers what an update adds. What it leaves of the record has no words of the model.
    fn update(&mut self, mut record: Map<String, Value>) -> Frame {
        let event = record.remove(EVENT).unwrap_or_default();
        // Older versions of pi repeat the whole message.
        if let Some(Value::Object(message)) = record.get_mut("message") {
            message.remove("content");
        }
        let index = event.get("contentIndex").and_then(Value::as_u64).unwrap_or_default();
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if let ("text_delta", Some(delta)) = (kind, event.get("delta").and_then(Value::as_str)) {
            self.add(index, delta);
            self.update = Some(record.clone());
        }
        let is_start = kind.ends_with("_start");
        let event = json!({ "type": if is_start { kind } else { "thinking_delta" }, "contentIndex": index });
        record.insert(EVENT.into(), event);
        if is_start { Frame::Record(record.into()) } else { Frame::Alive(record.into()) }
    }

    fn add(&mut self, index: u64, delta: &str) {
        // Behind a gap nothing is added.
        let fits = self.forgotten == 0 && self.bytes + delta.len() <= MAX_GROWING;
        let is_new = self.blocks.len() < MAX_BLOCKS;
        match self.blocks.iter_mut().find(|(known, _)| *known == index) {
            Some((_, text)) if fits => text.push_str(delta),
            None if fits && is_new => self.blocks.push((index, delta.to_owned())),
            _ => {
                self.forgotten += delta.len();
                return;
            }
        }
        self.bytes += delta.len();
    }
}

#[cfg(test)]
mod tests;
