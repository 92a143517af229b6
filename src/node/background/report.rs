//! What a command has to say, as JavaScript sees it.

use napi_derive::napi;

use crate::orchestrate::background::commands::{self, Mark};

/// An answer to a command.
#[napi(object, object_from_js = false)]
pub struct CommandReport {
    /// Whether nothing was done, because of what was asked for.
    pub is_error: bool,
    /// What it is about.
    pub title: String,
    /// What there is to say.
    pub lines: Vec<ReportLine>,
    /// All of it as plain text.
    pub text: String,
}

/// One line of an answer.
#[napi(object, object_from_js = false)]
pub struct ReportLine {
    /// What stands before it.
    #[napi(ts_type = "\"ok\" | \"info\" | \"warning\" | \"error\" | \"running\" | \"queued\"")]
    pub mark: Option<&'static str>,
    /// What it is about.
    pub name: Option<String>,
    /// What is said.
    pub text: String,
    /// How deep it stands below the lines before it; absent is 0.
    pub indent: Option<u32>,
}

/// Something that can be typed.
#[napi(object, object_from_js = false)]
pub struct Completion {
    /// All that then follows `/subagents `.
    pub value: String,
    /// What it is called in the list.
    pub label: String,
    /// What it is.
    pub description: String,
}

impl From<commands::Report> for CommandReport {
    fn from(report: commands::Report) -> Self {
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
