//! The result that a child submits by a tool call.

/// The maximum number of stored bytes of a result, so that a child cannot fill the memory.
pub const MAX_SUBMITTED: usize = 2 * 1024 * 1024;
/// The maximum number of stored bytes of pi's reply to a result.
const MAX_REPLY: usize = 2 * 1024;

/// A result as JSON, as its child has written it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submitted {
    /// The JSON, empty if it is too long.
    pub json: Vec<u8>,
    /// True if the result is longer than the limit.
    pub is_too_long: bool,
}

impl Submitted {
    pub(crate) fn push(&mut self, part: &[u8]) {
        if self.is_too_long || self.json.len() + part.len() > MAX_SUBMITTED {
            *self = Self { json: Vec::new(), is_too_long: true };
        } else {
            self.json.extend_from_slice(part);
        }
    }
}

/// The beginning of the longest text in pi's reply to a submitted result: the reason for a refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The text in its JSON form, as in the record.
    current: Vec<u8>,
    longest: Vec<u8>,
}

impl Reply {
    pub(crate) fn push(&mut self, part: &[u8]) {
        let room = MAX_REPLY.saturating_sub(self.current.len());
        self.current.extend_from_slice(&part[..room.min(part.len())]);
    }

    pub(crate) fn text_end(&mut self) {
        if self.current.len() > self.longest.len() {
            std::mem::swap(&mut self.current, &mut self.longest);
        }
        self.current.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.current.clear();
        self.longest.clear();
    }

    /// Returns the text, without an escape or a character that the limit has cut.
    pub(crate) fn text(&self) -> String {
        /// The length of the longest escape, a surrogate pair, in bytes.
        const LONGEST_ESCAPE: usize = 12;
        let length = self.longest.len();
        let decoded = (0..=LONGEST_ESCAPE.min(length)).find_map(|cut| {
            let json = [b"\"", &self.longest[..length - cut], b"\""].concat();
            serde_json::from_slice(&json).ok()
        });
        decoded.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_the_longest_text_without_a_cut_escape() {
        let mut reply = Reply::default();
        reply.push(b"text");
        reply.text_end();
        reply.push(b"must be ");
        reply.push("\\u00e4rray\\n".as_bytes());
        reply.text_end();
        assert_eq!(reply.text(), "must be \u{e4}rray\n");
        let pair = "\\ud83d\\ude00";
        for length in MAX_REPLY - pair.len() - 1..MAX_REPLY {
            reply.clear();
            reply.push("x".repeat(length).as_bytes());
            reply.push(pair.as_bytes());
            reply.text_end();
            assert_eq!(reply.text().trim_end_matches('\u{1f600}'), "x".repeat(length));
        }
        reply.clear();
        assert_eq!(reply.text(), "");
    }
}
