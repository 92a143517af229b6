//! The fields of responses to commands, of questions and of retries.

use std::mem::take;
use std::time::Duration;

use crate::question::{Question, QuestionMethod, Response};
use crate::usage::ContextUse;
use sanitizer::floor_char_boundary;

/// The status with which the guard in a child reports the fill level of the child's context.
const CONTEXT_STATUS: &str = "pi-subagent-context";
/// The method that sets a status. It expects no answer.
const SET_STATUS: &str = "setStatus";

/// The maximum number of stored bytes of one option.
const MAX_OPTION: usize = 1024;
/// The maximum number of stored options of one question, far more than a dialog shows.
const MAX_OPTIONS: usize = 64;

/// The wanted fields of a record other than messages and tools. The type may come after the other fields, so all of
/// them are kept until the record ends.
#[derive(Debug, Default)]
pub(crate) struct Control {
    pub(super) id: Option<String>,
    // The fields of a response to a command.
    pub(super) command: Option<String>,
    pub(crate) success: Option<bool>,
    pub(super) error: Option<String>,
    pub(super) disposition: Option<String>,
    // The fields of a retry.
    pub(crate) attempt: Option<u64>,
    pub(crate) max_attempts: Option<u64>,
    pub(crate) delay_ms: Option<u64>,
    pub(crate) retried_error: Option<String>,
    pub(crate) final_error: Option<String>,
    // The fields of a question.
    pub(super) method: Option<String>,
    pub(super) title: Option<String>,
    pub(super) message: Option<String>,
    options: Vec<String>,
    pub(super) placeholder: Option<String>,
    pub(super) prefill: Option<String>,
    pub(super) timeout_ms: Option<u64>,
    // The fields of a status.
    pub(super) status_key: Option<String>,
    pub(super) status_text: Option<String>,
    /// Set if a part of a text of the question, or of its options, is left out.
    pub(super) is_cut: bool,
}

impl Control {
    /// Returns true if the request certainly does not wait for an answer.
    pub(super) fn needs_no_answer(&self) -> bool {
        let Some(method) = self.method.as_deref() else { return false };
        let is_other = |key: &str| key != CONTEXT_STATUS;
        let awaits_status = method == SET_STATUS
            && self.status_text.is_none()
            && !self.status_key.as_deref().is_some_and(is_other);
        QuestionMethod::parse(method).is_none() && !awaits_status
    }

    /// Reads the record as the guard's report on the context.
    pub(crate) fn context(&self) -> Option<ContextUse> {
        let is_status = self.method.as_deref() == Some(SET_STATUS);
        let is_context_status = is_status && self.status_key.as_deref() == Some(CONTEXT_STATUS);
        ContextUse::parse(self.status_text.as_deref().filter(|_| is_context_status)?)
    }

    /// Returns the record as a response to a command.
    pub(crate) fn take_response(&mut self) -> Response {
        Response {
            id: self.id.take(),
            command: self.command.take().unwrap_or_default(),
            success: self.success == Some(true),
            error: self.error.take(),
            disposition: self.disposition.take(),
        }
    }

    /// Returns the record as a question, or `None` without an id, or if its method expects no answer.
    pub(crate) fn take_question(&mut self) -> Option<Question> {
        let method = QuestionMethod::parse(self.method.as_deref()?)?;
        Some(Question {
            id: self.id.take()?,
            method,
            title: self.title.take().unwrap_or_default(),
            message: self.message.take(),
            options: take(&mut self.options),
            placeholder: self.placeholder.take(),
            prefill: self.prefill.take(),
            timeout: self.timeout_ms.filter(|&ms| ms > 0).map(Duration::from_millis),
            is_whole: !self.is_cut,
        })
    }

    /// Call before the options of a question.
    pub(super) fn begin_options(&mut self) {
        self.options.clear();
    }

    /// Call before each option. Returns true if the option is wanted: only texts are.
    pub(super) fn begin_option(&mut self, is_text: bool) -> bool {
        let is_wanted = is_text && self.options.len() < MAX_OPTIONS;
        self.is_cut |= !is_wanted;
        is_wanted
    }

    pub(super) fn option(&mut self, text: &str) {
        let end = floor_char_boundary(text, MAX_OPTION);
        self.is_cut |= end < text.len();
        self.options.push(text[..end].to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_names_the_status() {
        let guard = include_str!("../../../../extension/child-guard.cjs");
        assert!(guard.contains(&format!("CONTEXT_STATUS = \"{CONTEXT_STATUS}\"")));
    }
}
