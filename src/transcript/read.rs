//! Transcripts: their content, and the reading of a session file.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_with_macros::skip_serializing_none;

use super::lines::LinesFromEnd;
use super::message::{Entry, Field, Part};
use files::open::regular_no_follow;
use pi_events::{StopReason, short_form};
use sanitizer::json::skim::{Skimmer, Status};
use sanitizer::{Sanitizer, TruncateLimits, text_enum, truncate};

/// Bytes of one text; the file keeps all of it.
const MAX_TEXT: usize = 16 * 1024;
/// Bytes of text of all entries together.
const MAX_TOTAL: usize = 1024 * 1024;
/// The beginning of the request for an announcement, which a transcript shows shortened.
pub(crate) const ANNOUNCE_PROMPT_START: &str = "Your work on the task is done, and its result is kept.";
/// The beginning of the request for a report after the end of the time limit.
pub(crate) const REPORT_PROMPT_START: &str = "Your time for this task is up.";
/// Bytes looked at for the header, the first line of a file; it has an id, a time and a directory.
pub(crate) const MAX_HEADER: u64 = 64 * 1024;
/// Longest session id.
const MAX_ID: usize = 64;

/// The selection of the entries of a transcript to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The maximum number of entries. The newest count.
    pub entries: usize,
    /// True if tool calls and their results count as entries.
    pub tools: bool,
    /// The number of the newest entries to skip: the pages that were read before.
    pub skip: usize,
}

/// The newest part of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// Oldest first.
    pub entries: Vec<TranscriptEntry>,
    /// True if there are older entries, or may be.
    pub has_more: bool,
    /// The size of the file.
    pub bytes: u64,
}

/// An entry of a transcript. All texts are sanitized and have at most 16 KiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranscriptEntry {
    /// The task, or a message sent during the run.
    User(String),
    /// The model.
    Assistant {
        /// Its text; empty when there is only an error.
        text: String,
        /// `provider/id`.
        model: Option<String>,
        /// The reason why the message is incomplete.
        error: Option<String>,
    },
    /// The model calls a tool.
    ToolCall {
        /// The tool.
        name: String,
        /// The call in one line, as [`short_form`](pi_events::short_form) writes it.
        summary: String,
    },
    /// The result of a tool call.
    ToolResult {
        /// The tool.
        name: String,
        /// True if the call failed.
        is_error: bool,
        /// Its output.
        text: String,
    },
}

text_enum! {
    /// The kinds of entries.
    pub enum TranscriptRole {
        /// [`TranscriptEntry::User`].
        User = "user",
        /// [`TranscriptEntry::Assistant`].
        Assistant = "assistant",
        /// [`TranscriptEntry::ToolCall`].
        ToolCall = "toolCall",
        /// [`TranscriptEntry::ToolResult`].
        ToolResult = "toolResult",
    }
}

impl Serialize for TranscriptEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[skip_serializing_none]
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Entry<'a> {
            role: TranscriptRole,
            text: Cow<'a, str>,
            name: Option<&'a str>,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            is_error: bool,
        }

        let (text, name, is_error) = self.parts();
        Entry { role: self.role(), text, name, is_error }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TranscriptEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Entry {
            role: TranscriptRole,
            text: String,
            name: Option<String>,
            #[serde(default)]
            is_error: bool,
        }

        let Entry { role, text, name, is_error } = Entry::deserialize(deserializer)?;
        let tool = || name.clone().unwrap_or_default();
        Ok(match role {
            TranscriptRole::User => Self::User(text),
            TranscriptRole::Assistant if is_error => {
                Self::Assistant { text: String::new(), model: name, error: Some(text) }
            }
            TranscriptRole::Assistant => Self::Assistant { text, model: name, error: None },
            TranscriptRole::ToolCall => Self::ToolCall { name: tool(), summary: text },
            TranscriptRole::ToolResult => Self::ToolResult { name: tool(), is_error, text },
        })
    }
}

impl TranscriptEntry {
    /// Its kind.
    #[must_use]
    pub fn role(&self) -> TranscriptRole {
        match self {
            Self::User(_) => TranscriptRole::User,
            Self::Assistant { .. } => TranscriptRole::Assistant,
            Self::ToolCall { .. } => TranscriptRole::ToolCall,
            Self::ToolResult { .. } => TranscriptRole::ToolResult,
        }
    }

    /// Returns the entry's words, the name of its tool or model, and whether it failed.
    #[must_use]
    pub fn parts(&self) -> (Cow<'_, str>, Option<&str>, bool) {
        match self {
            Self::User(text) => (text.into(), None, false),
            Self::Assistant { text, model, error: None } => (text.into(), model.as_deref(), false),
            Self::Assistant { text, model, error: Some(error) } if text.is_empty() => {
                (error.into(), model.as_deref(), true)
            }
            Self::Assistant { text, model, error: Some(error) } => {
                (format!("{text}\n{error}").into(), model.as_deref(), true)
            }
            Self::ToolCall { name, summary } => (summary.into(), Some(name), false),
            Self::ToolResult { name, is_error, text } => (text.into(), Some(name), *is_error),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::User(text) | Self::ToolResult { text, .. } => text.len(),
            Self::Assistant { text, error, .. } => text.len() + error.as_ref().map_or(0, String::len),
            Self::ToolCall { summary, .. } => summary.len(),
        }
    }

    fn is_tool(&self) -> bool {
        matches!(self, Self::ToolCall { .. } | Self::ToolResult { .. })
    }
}

/// Reads the newest entries of the session's current branch, after the skipped ones.
///
/// Skips lines that cannot be read, and a last line that is still being written.
///
/// # Errors
///
/// The file cannot be opened or read, or is not a regular file. A session that has not said anything yet may have no
/// file.
pub fn read_transcript(path: &Path, wanted: Wanted, sanitizer: &Sanitizer) -> io::Result<Transcript> {
    let mut newest_first: Vec<TranscriptEntry> = Vec::new();
    let mut total = 0;
    let mut skip = wanted.skip;
    let mut is_cut = false;
    let (bytes, passage_is_cut) = visit_entries(path, sanitizer, |entries| {
        for entry in entries.into_iter().rev().filter(|entry| wanted.tools || !entry.is_tool()) {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            total += entry.bytes();
            if newest_first.len() == wanted.entries || (total > MAX_TOTAL && !newest_first.is_empty()) {
                is_cut = true;
                return ControlFlow::Break(());
            }
            newest_first.push(entry);
        }
        ControlFlow::Continue(())
    })?;
    newest_first.reverse();
    Ok(Transcript { entries: newest_first, has_more: is_cut || passage_is_cut, bytes })
}

/// Returns the newest text of the model, which is what remains of an interrupted run's work.
///
/// # Errors
///
/// As for [`read_transcript`].
pub fn last_text(path: &Path, sanitizer: &Sanitizer) -> io::Result<Option<String>> {
    let mut last = None;
    visit_entries(path, sanitizer, |entries| {
        last = entries.into_iter().rev().find_map(|entry| match entry {
            TranscriptEntry::Assistant { text, .. } if !text.trim().is_empty() => Some(text),
            _ => None,
        });
        if last.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(last)
}

/// The id of a session, from the first line of its file; `None` when that is no session header, or cannot be read.
#[must_use]
pub fn session_id(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Header {
        r#type: String,
        id: String,
    }
    let mut head = Vec::new();
    regular_no_follow(path).ok()?.take(MAX_HEADER).read_to_end(&mut head).ok()?;
    let line = head.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    let header: Header = serde_json::from_slice(line).ok()?;
    // The child wrote the file, and the id appears in our messages, so it must not be able to hold a sentence.
    let is_id = |id: &String| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_plain)
    };
    Some(header).filter(|header| header.r#type == "session").map(|header| header.id).filter(is_id)
}

/// Walks from the newest message to the oldest and passes the entries of each to `visit`. Returns the size of the file,
/// and whether something was left out because of a limit.
fn visit_entries(
    path: &Path,
    sanitizer: &Sanitizer,
    mut visit: impl FnMut(Vec<TranscriptEntry>) -> ControlFlow<()>,
) -> io::Result<(u64, bool)> {
    let mut lines = LinesFromEnd::new(regular_no_follow(path)?)?;
    let bytes = lines.bytes();
    let mut skimmer = Skimmer::default();
    // The parent of the last entry. Unknown at the end of the file, and after a line that cannot be read, which may have
    // been that parent.
    let mut expected: Option<String> = None;
    let mut is_cut = false;
    while let Some(line) = lines.previous()? {
        if line.is_empty() {
            continue;
        }
        let mut entry = Entry::new(sanitizer, expected.as_deref());
        let mut status = Status::More;
        skimmer.reset();
        lines.feed(&line, |part| {
            status = skimmer.feed(part, &mut entry);
            if status == Status::More { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let is_whole = status == Status::Finished || (status == Status::More && skimmer.is_complete());
        if entry.is_on_other_branch() {
            continue;
        }
        let entries = if is_whole { entries_of(&mut entry) } else { Vec::new() };
        is_cut |= is_whole && entry.is_cut;
        expected = entry.take_parent().filter(|_| is_whole);
        let is_first = expected.as_ref().is_some_and(String::is_empty);
        if (!entries.is_empty() && visit(entries).is_break()) || is_first {
            break;
        }
    }
    Ok((bytes, is_cut || lines.is_cut()))
}

/// The transcript entries of one message.
fn entries_of(entry: &mut Entry<'_>) -> Vec<TranscriptEntry> {
    if entry.get(Field::Type) != "message" {
        return Vec::new();
    }
    match entry.get(Field::Role) {
        "user" => vec![TranscriptEntry::User(user_text(whole_text(entry)))],
        "toolResult" => {
            let name = entry.clean(entry.get(Field::ToolName));
            let text = whole_text(entry);
            vec![TranscriptEntry::ToolResult { name, is_error: entry.is_error, text }]
        }
        "assistant" => assistant_entries(entry),
        _ => Vec::new(),
    }
}

fn whole_text(entry: &mut Entry<'_>) -> String {
    let text = |part| if let Part::Text(text) = part { Some(text) } else { None };
    let texts: Vec<String> = entry.parts().into_iter().filter_map(text).collect();
    match texts.join("\n") {
        text if text.is_empty() && entry.has_image => "[image]".to_owned(),
        text => bounded(&text),
    }
}

/// A text cut to the size of an entry.
fn bounded(text: &str) -> String {
    truncate(text, TruncateLimits { max_bytes: MAX_TEXT, max_lines: usize::MAX }, None).text
}

fn assistant_entries(entry: &mut Entry<'_>) -> Vec<TranscriptEntry> {
    let model = entry.speaker();
    let mut entries: Vec<TranscriptEntry> = Vec::new();
    for part in entry.parts() {
        match (part, entries.last_mut()) {
            (Part::Text(more), Some(TranscriptEntry::Assistant { text, .. })) => {
                text.push('\n');
                text.push_str(&more);
            }
            (Part::Text(text), _) => {
                entries.push(TranscriptEntry::Assistant { text, model: model.clone(), error: None });
            }
            (Part::ToolCall { name, arguments }, _) => {
                let summary = short_form(&name, &arguments);
                entries.push(TranscriptEntry::ToolCall { name, summary });
            }
        }
    }
    for entry in &mut entries {
        if let TranscriptEntry::Assistant { text, .. } = entry {
            *text = bounded(text);
        }
    }
    let reason = StopReason::from(entry.get(Field::StopReason));
    let why = match entry.get(Field::Error) {
        "" if reason.is_failure() => reason.as_str(),
        error => error,
    };
    if !why.is_empty() {
        let why = Some(entry.clean(why));
        match entries.last_mut() {
            Some(TranscriptEntry::Assistant { error, .. }) => *error = why,
            _ => entries.push(TranscriptEntry::Assistant { text: String::new(), model, error: why }),
        }
    }
    entries
}

/// A message of the user; the host's request for an announcement or a report is shortened.
fn user_text(text: String) -> String {
    if text.starts_with(ANNOUNCE_PROMPT_START) {
        "(asked for its announcement)".to_owned()
    } else if text.starts_with(REPORT_PROMPT_START) {
        "(asked for a report, because its time was up)".to_owned()
    } else {
        text
    }
}
