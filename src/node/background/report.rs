//! The answer to a command, as JavaScript sees it.

use napi_derive::napi;
use serde::Serialize;
use serde_with_macros::skip_serializing_none;

use crate::node::json::Json;
use crate::present::{Mark, Report, ReportLine};

/// A report, and its text.
#[skip_serializing_none]
#[derive(Serialize)]
pub(super) struct CommandReport<'a> {
    #[serde(flatten)]
    report: &'a Report,
    text: String,
    exact: Option<ExactReport<'a>>,
}

/// A report for a person's screen.
#[derive(Serialize)]
struct ExactReport<'a> {
    lines: &'a [ReportLine],
    text: String,
}

impl<'a> From<&'a Report> for CommandReport<'a> {
    fn from(report: &'a Report) -> Self {
        let exact = report.plain_exact().zip(report.exact.as_deref());
        let exact = exact.map(|(text, lines)| ExactReport { lines, text });
        Self { report, text: report.plain(), exact }
    }
}

/// Hands over a report.
pub(super) fn report_json(report: &Report) -> napi::Result<Json> {
    Json::new(&CommandReport::from(report))
}

/// A report of one sentence, for what commands do not say themselves. Another word than a mark is none.
///
/// @example
/// ```ts
/// import { sentenceReport } from "pi-subagent-native/extension";
///
/// console.log(sentenceReport("info", "There is no question").text);
/// ```
#[napi(catch_unwind, ts_return_type = "CommandReport")]
pub fn sentence_report(
    #[napi(ts_arg_type = "Exclude<ReportLine[\"mark\"], undefined>")] mark: String,
    text: String,
) -> napi::Result<Json> {
    report_json(&Report::sentence(Mark::parse(&mark).unwrap_or_default(), text))
}
