//! The answer to a command, as JavaScript sees it.

use napi_derive::napi;

use crate::node::into_js::{IntoJs, object_into_js};
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
    /// The same for the screen of the person who asked, if something in the others is redacted. Do not store it, and do not
    /// give it to a model.
    pub exact: Option<ExactReport>,
    /// `RunRecord.key` of a run to show at work, after `run --wait`.
    pub watch: Option<String>,
}

/// A report for a person's screen.
#[napi(object, object_from_js = false)]
pub struct ExactReport {
    /// The lines below the title.
    pub lines: Vec<ReportLine>,
    /// Title and lines as plain text.
    pub text: String,
}

/// One line of a report.
#[napi(object, object_from_js = false)]
pub struct ReportLine {
    /// The mark before it; absent: none.
    #[napi(
        ts_type = "\"ok\" | \"info\" | \"warning\" | \"error\" | \"running\" | \"asking\" | \"queued\" | \"starting\" | \"retrying\" | \"skipped\" | \"added\" | \"removed\" | \"hunk\""
    )]
    pub mark: Option<&'static str>,
    /// Its first column; absent: none.
    pub name: Option<String>,
    /// The text.
    pub text: String,
    /// Levels below the lines before it.
    /// @default 0
    pub indent: Option<u32>,
}

/// A report of one sentence, for what commands do not say themselves. Another word than a mark is none.
///
/// @example
/// ```ts
/// import { sentenceReport } from "pi-subagent-native";
///
/// console.log(sentenceReport("info", "There is no question").text);
/// ```
#[napi(catch_unwind)]
pub fn sentence_report(
    #[napi(ts_arg_type = "Exclude<ReportLine[\"mark\"], undefined>")] mark: String,
    text: String,
) -> CommandReport {
    present::Report::sentence(Mark::parse(&mark).unwrap_or_default(), text).into_js()
}

/// One way to complete a command.
#[napi(object, object_from_js = false)]
pub struct Completion {
    /// Everything that then follows `/subagents `.
    pub value: String,
    /// Its name in the list of completions.
    pub label: String,
    /// The effect of the command, or a description of the run that it names.
    pub description: String,
}

object_into_js! { |report: present::Report| CommandReport {
    text: report.plain(),
    exact: report.plain_exact().zip(report.exact),
    is_error, title, lines, watch,
} }

impl IntoJs<ExactReport> for (String, Vec<present::ReportLine>) {
    fn into_js(self) -> ExactReport {
        let (text, lines) = self;
        ExactReport { lines: lines.into_js(), text }
    }
}

object_into_js! { |line: present::ReportLine| ReportLine {
    mark: (line.mark != Mark::None).then_some(line.mark),
    name: (!line.name.is_empty()).then_some(line.name),
    text,
    indent: (line.indent > 0).then_some(u32::from(line.indent)),
} }

object_into_js! { |completion: commands::Completion| Completion { value, label, description } }
