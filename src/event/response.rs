//! Answers of a child to the commands it was sent.

/// The answer to one command in RPC mode. What a command gives back as data is passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The id of the command, if it had one.
    pub id: Option<String>,
    /// The type of the command; `parse` for a line that was no command.
    pub command: String,
    /// Whether the command was carried out.
    pub success: bool,
    /// Why it was not. At most 8 KiB, not sanitized.
    pub error: Option<String>,
    /// What became of a prompt: `started`, `queued`, or `handled` when no run comes of it. Older versions of pi do not
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
