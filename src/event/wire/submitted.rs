//! The result that a child submits by a tool call.

/// Bytes kept of one, so that a child of many bytes cannot fill the memory.
pub const MAX_SUBMITTED: usize = 2 * 1024 * 1024;

/// A result as JSON, as its child has written it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submitted {
    /// The JSON; nothing if it is too long.
    pub json: Vec<u8>,
    /// It has more bytes than are kept.
    pub is_too_long: bool,
}

impl Submitted {
    pub(super) fn push(&mut self, part: &[u8]) {
        if self.is_too_long || self.json.len() + part.len() > MAX_SUBMITTED {
            *self = Self { json: Vec::new(), is_too_long: true };
        } else {
            self.json.extend_from_slice(part);
        }
    }
}
