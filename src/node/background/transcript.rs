//! The request for a child's conversation.

use napi_derive::napi;

use serde::Serialize;

use crate::transcript::{Transcript, Wanted};

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

impl From<TranscriptOptions> for Wanted {
    fn from(TranscriptOptions { entries, tools }: TranscriptOptions) -> Self {
        let entries = entries.unwrap_or(ENTRIES).clamp(1, MAX_ENTRIES);
        Self { entries: entries as usize, tools: tools == Some(true), skip: 0 }
    }
}

/// A transcript, and the version of its file.
#[derive(Serialize)]
pub(super) struct Versioned {
    #[serde(flatten)]
    pub(super) transcript: Transcript,
    pub(super) version: String,
}
