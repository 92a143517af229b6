//! The fields of responses to commands, of questions and of retries.

use std::time::Duration;

use super::names::Field;
use crate::event::question::{Question, QuestionMethod};
use crate::event::response::Response;
use crate::text::{HeadTail, floor_char_boundary};

/// Bytes kept of a title, a message, a placeholder and a prefill each; the rest of 16 KiB is room for the note
/// that says how much is missing.
const MAX_LONG: usize = 16 * 1024 - 64;
/// Bytes kept of one option.
const MAX_OPTION: usize = 1024;
/// Options kept of one question, far more than a dialog shows.
const MAX_OPTIONS: usize = 64;

/// The wanted fields of a record other than messages and tools. The type may come after the other fields, so all of them
/// are kept until the record ends.
#[derive(Debug)]
pub(in crate::event) struct Control {
    /// A field was set since the last [`Control::clear`].
    is_touched: bool,
    id: Option<String>,
    /// Of an answer to a command.
    command: Option<String>,
    pub(in crate::event) success: Option<bool>,
    error: Option<String>,
    disposition: Option<String>,
    /// Of a retry.
    pub(in crate::event) attempt: Option<u64>,
    pub(in crate::event) delay_ms: Option<u64>,
    pub(in crate::event) retried_error: Option<String>,
    pub(in crate::event) final_error: Option<String>,
    /// Of a question.
    method: Option<String>,
    title: Option<String>,
    message: Option<String>,
    options: Vec<String>,
    placeholder: Option<String>,
    prefill: Option<String>,
    timeout_ms: Option<u64>,
    is_cut: bool,
    /// The current long string.
    long: HeadTail,
}

impl Control {
    pub(in crate::event) const fn new() -> Self {
        Self {
            is_touched: false,
            id: None,
            command: None,
            success: None,
            error: None,
            disposition: None,
            attempt: None,
            delay_ms: None,
            retried_error: None,
            final_error: None,
            method: None,
            title: None,
            message: None,
            options: Vec::new(),
            placeholder: None,
            prefill: None,
            timeout_ms: None,
            is_cut: false,
            long: HeadTail::new(MAX_LONG),
        }
    }

    /// Prepares for the next record.
    pub(in crate::event) fn clear(&mut self) {
        if self.is_touched {
            *self = Self::new();
        }
    }

    /// The request is known not to wait for an answer.
    pub(in crate::event) fn is_no_question(&self) -> bool {
        self.method.as_deref().is_some_and(|method| QuestionMethod::parse(method).is_none())
    }

    /// The record as a response to a command.
    pub(in crate::event) fn take_response(&mut self) -> Response {
        Response {
            id: self.id.take(),
            command: self.command.take().unwrap_or_default(),
            success: self.success == Some(true),
            error: self.error.take(),
            disposition: self.disposition.take(),
        }
    }

    /// The record as a question; `None` without an id, or when its method expects no answer.
    pub(in crate::event) fn take_question(&mut self) -> Option<Question> {
        let method = QuestionMethod::parse(self.method.as_deref()?)?;
        Some(Question {
            id: self.id.take()?,
            method,
            title: self.title.take().unwrap_or_default(),
            message: self.message.take(),
            options: std::mem::take(&mut self.options),
            placeholder: self.placeholder.take(),
            prefill: self.prefill.take(),
            timeout: self.timeout_ms.filter(|&ms| ms > 0).map(Duration::from_millis),
            is_whole: !self.is_cut,
        })
    }

    /// Call before a long string.
    pub(in crate::event) fn begin_text(&mut self) {
        self.long.clear();
    }

    /// Adds a part of a long string.
    pub(in crate::event) fn text(&mut self, part: &str) {
        self.long.push(part);
    }

    /// Stores the long string in its field.
    pub(in crate::event) fn text_end(&mut self, field: Field) {
        self.is_touched = true;
        let (text, omitted) = self.long.to_text();
        self.is_cut |= omitted > 0;
        match field {
            Field::Title => self.title = Some(text),
            Field::Message => self.message = Some(text),
            Field::Placeholder => self.placeholder = Some(text),
            Field::Prefill => self.prefill = Some(text),
            Field::Option => {
                let end = floor_char_boundary(&text, MAX_OPTION);
                self.is_cut |= end < text.len();
                self.options.push(text[..end].to_owned());
            }
            _ => {}
        }
    }

    /// Stores a name.
    pub(in crate::event) fn name(&mut self, field: Field, name: String) {
        self.is_touched = true;
        match field {
            Field::RequestId => self.id = Some(name),
            Field::Command => self.command = Some(name),
            Field::Disposition => self.disposition = Some(name),
            Field::Method => self.method = Some(name),
            _ => {}
        }
    }

    /// Stores an error message.
    pub(in crate::event) fn error(&mut self, field: Field, text: String) {
        self.is_touched = true;
        match field {
            Field::ResponseError => self.error = Some(text),
            Field::RetriedError => self.retried_error = Some(text),
            Field::FinalError => self.final_error = Some(text),
            _ => {}
        }
    }

    /// Stores a number; `text` is its spelling.
    pub(in crate::event) fn number(&mut self, field: Field, text: &str, number: u64) {
        self.is_touched = true;
        match field {
            Field::RequestId => self.id = Some(text.to_owned()),
            Field::Attempt => self.attempt = Some(number),
            Field::DelayMs => self.delay_ms = Some(number),
            Field::Timeout => self.timeout_ms = Some(number),
            _ => {}
        }
    }

    /// Stores whether a command or a retry succeeded.
    pub(in crate::event) fn success(&mut self, value: bool) {
        self.is_touched = true;
        self.success = Some(value);
    }

    /// Call before the options of a question.
    pub(in crate::event) fn begin_options(&mut self) {
        self.is_touched = true;
        self.options.clear();
    }

    /// Call before each option; returns whether it is wanted. Only texts are.
    pub(in crate::event) fn begin_option(&mut self, is_text: bool) -> bool {
        let is_wanted = is_text && self.options.len() < MAX_OPTIONS;
        self.is_cut |= !is_wanted;
        self.begin_text();
        is_wanted
    }

    /// Without names, which the record counts.
    pub(in crate::event) fn memory_bytes(&self) -> usize {
        let texts = [
            &self.error,
            &self.retried_error,
            &self.final_error,
            &self.title,
            &self.message,
            &self.placeholder,
            &self.prefill,
        ];
        self.long.memory_bytes()
            + texts.into_iter().flatten().map(String::len).sum::<usize>()
            + self.options.iter().map(|option| option.len() + size_of::<String>()).sum::<usize>()
    }
}
