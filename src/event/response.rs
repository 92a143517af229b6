//! Responses of a child to commands.

/// The response to one command in RPC mode, without its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The id of the command, if it had one.
    pub id: Option<String>,
    /// The type of the command; `parse` for a line that pi could not read.
    pub command: String,
    /// Whether the command succeeded.
    pub success: bool,
    /// Why it failed. At most 8 KiB, not sanitized.
    pub error: Option<String>,
    /// What became of a prompt: `started`, `queued`, or `handled` when no model works on it. Older versions of pi do not
    /// say.
    pub disposition: Option<String>,
}

impl Response {
    /// Bytes of its texts.
    pub(super) fn size(&self) -> usize {
        let texts = [&self.id, &self.error, &self.disposition];
        self.command.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}
