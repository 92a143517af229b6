//! A child's conversation, as JavaScript sees it.

use napi_derive::napi;

use crate::node::into_js::IntoJs;
use crate::transcript::{self, TranscriptEntry as Entry, Wanted};

/// The default number of entries that are read.
const ENTRIES: u32 = 40;
/// The most entries that are read.
const MAX_ENTRIES: u32 = 2_000;

/// The part of a conversation to read.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct TranscriptOptions {
    /// The number of the newest entries to read: 1 to 2000. Other numbers are clamped.
    /// @default 40
    pub entries: Option<u32>,
    /// True if tool calls and their results count as entries.
    /// @default false
    pub tools: Option<bool>,
}

/// The newest part of a child's conversation.
#[napi(object, object_from_js = false)]
pub struct Transcript {
    /// Oldest first; at most 1 MiB of text.
    pub entries: Vec<TranscriptEntry>,
    /// True when there are, or may be, older entries.
    pub has_more: bool,
    /// The size of the file in bytes.
    pub bytes: f64,
    /// Changes whenever the file does.
    pub version: String,
}

/// A message, a tool call or its result.
#[napi(object, object_from_js = false)]
pub struct TranscriptEntry {
    /// The speaker, or the kind of event.
    #[napi(ts_type = "\"user\" | \"assistant\" | \"toolCall\" | \"toolResult\"")]
    pub role: &'static str,
    /// The words; of a tool call one line. Sanitized, at most 16 KiB.
    pub text: String,
    /// The tool; of an assistant's message the model.
    pub name: Option<String>,
    /// True when the answer or the tool failed.
    /// @default false
    pub is_error: Option<bool>,
}

impl From<TranscriptOptions> for Wanted {
    fn from(TranscriptOptions { entries, tools }: TranscriptOptions) -> Self {
        let entries = entries.unwrap_or(ENTRIES).clamp(1, MAX_ENTRIES);
        Self { entries: entries as usize, tools: tools == Some(true), skip: 0 }
    }
}

impl Transcript {
    pub(super) fn new(read: transcript::Transcript, version: String) -> Self {
        let transcript::Transcript { entries, has_more, bytes } = read;
        Self { entries: entries.into_js(), has_more, bytes: bytes.into_js(), version }
    }
}

impl IntoJs<TranscriptEntry> for Entry {
    fn into_js(self) -> TranscriptEntry {
        let role = self.role().as_str();
        let (text, name, is_error) = match self {
            Self::User(text) => (text, None, false),
            Self::Assistant { text, model, error: None } => (text, model, false),
            Self::Assistant { text, model, error: Some(error) } if text.is_empty() => (error, model, true),
            Self::Assistant { text, model, error: Some(error) } => (format!("{text}\n{error}"), model, true),
            Self::ToolCall { name, summary } => (summary, Some(name), false),
            Self::ToolResult { name, is_error, text } => (text, Some(name), is_error),
        };
        TranscriptEntry { role, text, name, is_error: is_error.into_js() }
    }
}
