//! The answer to a command, as JavaScript sees it.

use napi_derive::napi;

use crate::orchestrate::background::commands;
use crate::present::{self, Mark};

/// The answer to a command.
#[napi(object, object_from_js = false)]
pub struct CommandReport {
    /// True when the command was refused and did nothing.
    pub is_error: bool,
    /// A heading.
    pub title: String,
    /// The lines below it.
    pub lines: Vec<ReportLine>,
    /// Title and lines as plain text.
    pub text: String,
}

/// One line of a report.
#[napi(object, object_from_js = false)]
pub struct ReportLine {
    /// The mark before it; absent: none.
    #[napi(ts_type = "\"ok\" | \"info\" | \"warning\" | \"error\" | \"running\" | \"queued\"")]
    pub mark: Option<&'static str>,
    /// Its first column; absent: none.
    pub name: Option<String>,
    /// What it says.
    pub text: String,
    /// Levels below the lines before it.
    /// @default 0
    pub indent: Option<u32>,
}

/// One way to complete a command.
#[napi(object, object_from_js = false)]
pub struct Completion {
    /// Everything that then follows `/subagents `.
    pub value: String,
    /// Its name in the list of completions.
    pub label: String,
    /// What it does, or which run it names.
    pub description: String,
}

impl From<present::Report> for CommandReport {
    fn from(report: present::Report) -> Self {
        let text = report.plain();
        let lines = report.lines.into_iter().map(|line| ReportLine {
            mark: (line.mark != Mark::None).then(|| line.mark.as_str()),
            name: (!line.name.is_empty()).then_some(line.name),
            text: line.text,
            indent: (line.indent > 0).then_some(u32::from(line.indent)),
        });
        Self { is_error: report.is_error, title: report.title, lines: lines.collect(), text }
    }
}

impl From<commands::Completion> for Completion {
    fn from(commands::Completion { value, label, description }: commands::Completion) -> Self {
        Self { value, label, description }
    }
}
