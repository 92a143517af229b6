//! A call of one of the tools, parsed, and its answer.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::present::{Report, ReportLine, SessionDetails, ToolDetails};
use crate::run::text_content;
use agents::{Tool, prepare_arguments};

/// The default number of runs in a list, and of messages of a conversation.
const DEFAULT_LIMIT: u32 = 20;
/// The most of both.
pub(super) const MAX_LIMIT: u32 = 200;
/// The longest wait for a reply: a day.
const MAX_WAIT_SECONDS: u32 = 24 * 60 * 60;

/// A call of one of the tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionCall {
    /// Lists the runs of the conversation.
    List(ListWanted),
    /// Does something with the run of this name.
    Of(String, RunCall),
}

/// An operation on one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunCall {
    /// Reads its conversation.
    History(HistoryWanted),
    /// Sends it a message.
    Send(Message),
    /// Ends it.
    Stop,
}

/// The filter for the listed runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListWanted {
    #[serde(default = "default_limit")]
    limit: u32,
    /// Lists only live runs, and runs that have changed within this number of minutes.
    pub(super) active_minutes: Option<u32>,
}

/// The requested part of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryWanted {
    pub(super) limit: usize,
    /// The number of the newest messages to skip.
    pub(super) offset: usize,
    pub(super) tools: bool,
}

/// A message, and the maximum wait for its reply. Zero is no wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub(super) text: String,
    pub(super) wait: Duration,
}

impl ListWanted {
    pub(super) fn limit(self) -> usize {
        bounded(self.limit)
    }
}

/// The answer to a call, as pi takes the result of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAnswer {
    /// For the model.
    #[serde(rename = "content", serialize_with = "content")]
    pub value: Value,
    /// True if the call failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The same for people.
    #[serde(serialize_with = "stamped")]
    pub details: SessionDetails,
}

fn content<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    text_content(&value.to_string(), serializer)
}

fn stamped<S: Serializer>(details: &SessionDetails, serializer: S) -> Result<S::Ok, S::Error> {
    details.stamped().serialize(serializer)
}

impl SessionAnswer {
    pub(super) fn new(value: Value, report: Report) -> Self {
        let is_error = report.is_error;
        Self { value, is_error, details: SessionDetails { report, delivery_ids: Vec::new() } }
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct History {
    session_key: String,
    #[serde(default = "default_limit")]
    limit: u32,
    #[serde(default)]
    offset: u32,
    #[serde(default)]
    include_tools: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Send {
    session_key: String,
    message: String,
    #[serde(default)]
    timeout_seconds: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stop {
    session_key: String,
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

fn bounded(limit: u32) -> usize {
    limit.clamp(1, MAX_LIMIT) as usize
}

/// Parses the parameters of a tool. `None`: it is none of these tools.
///
/// # Errors
///
/// A report that names the parameter that is missing, unknown or of another type.
#[must_use]
pub fn parse_call(tool: &str, params: Value) -> Option<Result<SessionCall, Report>> {
    let tool = Tool::parse(tool)?;
    Some(match tool {
        Tool::SessionsList => read(tool, params).map(SessionCall::List),
        Tool::SessionsHistory => read(tool, params).map(|call| {
            let History { session_key, limit, offset, include_tools } = call;
            let wanted =
                HistoryWanted { limit: bounded(limit), offset: offset as usize, tools: include_tools };
            SessionCall::Of(session_key, RunCall::History(wanted))
        }),
        Tool::SessionsSend => read(tool, params).map(|Send { session_key, message, timeout_seconds }| {
            let wait = Duration::from_secs(timeout_seconds.min(MAX_WAIT_SECONDS).into());
            let text = message.trim().to_owned();
            SessionCall::Of(session_key, RunCall::Send(Message { text, wait }))
        }),
        Tool::SessionsStop => {
            read(tool, params).map(|Stop { session_key }| SessionCall::Of(session_key, RunCall::Stop))
        }
        Tool::Subagent | Tool::Parallel | Tool::Chain | Tool::SessionsSpawn | Tool::AgentsList => {
            return None;
        }
    })
}

fn read<T: DeserializeOwned>(tool: Tool, params: Value) -> Result<T, Report> {
    let params = prepare_arguments(tool, params).map_err(|misuse| {
        Report::error(format!("{tool}: {}", misuse.problems.join("; "))).with(ReportLine::below(misuse.usage))
    })?;
    serde_json::from_value(params).map_err(|error| Report::error(format!("{tool}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(tool: &str, params: Value) -> Result<SessionCall, Report> {
        parse_call(tool, params).expect("the name is a session tool")
    }

    #[test]
    fn the_extension_knows_a_session_tool_by_its_name() {
        for &tool in Tool::TEXTS {
            let is_known = tool.starts_with("sessions_") && tool != Tool::SessionsSpawn.as_str();
            assert_eq!(parse_call(tool, json!({})).is_some(), is_known, "{tool}");
        }
    }

    #[test]
    fn limits_are_clamped_to_their_bounds() {
        for (asked, expected) in [(None, 20), (Some(0), 1), (Some(7), 7), (Some(4_000_000_000_u32), 200)] {
            let Ok(SessionCall::List(wanted)) =
                parsed("sessions_list", json!({ "limit": asked.unwrap_or(20) }))
            else {
                panic!("{asked:?} was refused as a limit");
            };
            assert_eq!(wanted.limit(), expected);
        }
        assert!(parsed("sessions_list", json!({})).is_ok());
    }

    #[test]
    fn a_mistake_names_the_tool_and_the_parameter() {
        for (tool, params, expected) in [
            ("sessions_history", json!({}), "sessions_history: `sessionKey` is missing"),
            ("sessions_stop", json!({ "sessionKey": "a", "force": true }), "`force` is not a parameter of"),
            ("sessions_send", json!({ "sessionKey": "a", "message": " \n" }), "`message` is empty"),
            ("sessions_list", json!({ "limit": "all" }), "sessions_list: `limit` is `all`; expected a whole"),
        ] {
            let report = parsed(tool, params).expect_err("the parameters are refused");
            let error = &report.lines[0].text;
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(parse_call("subagent", json!({})), None);
        assert_eq!(parse_call("nothing", json!({})), None);
    }
}
