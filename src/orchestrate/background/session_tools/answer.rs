//! The answer to a call.

use serde_json::{Value, json};

use crate::present::Report;

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionAnswer {
    /// For the model.
    pub value: Value,
    /// True if the call failed.
    pub is_error: bool,
    /// The same for people.
    pub report: Report,
    /// The deliveries whose content the answer has: they count as delivered once the conversation contains it.
    pub delivery_ids: Vec<String>,
}

impl SessionAnswer {
    /// The kind of these details in a session file, which outlives releases and may hold details of other tools.
    pub const KIND: &str = "subagent-session";
    /// Changes with the meaning of a field.
    pub const VERSION: u32 = 1;

    pub(super) fn new(value: Value, report: Report) -> Self {
        Self { value, is_error: report.is_error, report, delivery_ids: Vec::new() }
    }

    /// The answer to a call that did nothing.
    #[must_use]
    pub fn refused(report: Report) -> Self {
        let why: Vec<String> =
            report.lines.iter().map(|line| format!("{} {}", line.name, line.text)).collect();
        let value = json!({ "status": "error", "error": why.join("\n").trim() });
        Self { is_error: true, ..Self::new(value, report) }
    }
}
