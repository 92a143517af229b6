//! The details of the tools for work in the background. The caller gets them, the session keeps them, and the cards are
//! drawn from them.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::report::{Mark, Report};
use crate::run::WriteReach;
use agents::{AskTarget, Source};

/// Details of a tool. A session file outlives releases and may hold details of other tools, so they are kept with their
/// kind and version.
pub trait ToolDetails: Serialize {
    /// The kind of the details.
    const KIND: &str;

    /// Returns the details with their kind and version.
    fn stamped(&self) -> impl Serialize {
        Stamped { kind: Self::KIND, version: VERSION, details: self }
    }
}

/// It changes with the meaning of a field.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Stamped<'a, T: ?Sized> {
    kind: &'static str,
    version: u32,
    #[serde(flatten)]
    details: &'a T,
}

/// The answer to a request for a background run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Receipt {
    /// The run was accepted.
    Accepted {
        /// As in [`RunRecord`](crate::run::RunRecord).
        run_id: String,
        /// As in [`RunRecord`](crate::run::RunRecord).
        #[serde(rename = "childSessionKey")]
        session_key: String,
        /// The note for the model. No card draws it.
        #[serde(default)]
        note: String,
        /// Options that were skipped, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// True if it waits until the user has allowed its agent. A host process cannot ask the user, so no receipt from
        /// another process needs it.
        #[serde(skip)]
        awaits_consent: bool,
    },
    /// The configuration or a limit forbids it.
    Forbidden {
        /// The reason.
        error: String,
    },
    /// The request, or something that it needs, is invalid.
    Error {
        /// The reason.
        error: String,
    },
}

impl Receipt {
    pub(crate) fn forbidden(reason: impl Into<String>) -> Self {
        Self::Forbidden { error: reason.into() }
    }

    pub(crate) fn error(reason: impl Into<String>) -> Self {
        Self::Error { error: reason.into() }
    }
}

impl ToolDetails for Receipt {
    const KIND: &str = "subagent-receipt";
}

/// The agents that may run in the background here and now.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnableAgents {
    /// Builtins first, then the user's, then the project's.
    pub agents: Vec<SpawnableAgent>,
    /// The agent of a request that names none, if it is one of `agents`.
    pub default_agent: Option<String>,
}

impl ToolDetails for SpawnableAgents {
    const KIND: &str = "subagent-agents";
}

/// An agent that may run in the background here and now.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnableAgent {
    /// Its name.
    pub id: String,
    /// Its purpose, in one line.
    pub description: String,
    /// The source of its definition.
    pub source: Source,
    /// True if it may only read.
    pub readonly: bool,
    /// The model that it would get as `provider/id`, if known.
    pub model: Option<String>,
    /// The source of the model.
    pub model_from: Option<String>,
    /// The thinking level that it would get, if known.
    pub thinking: Option<String>,
    /// True if its child could change files. The sessions of the first releases lack it.
    #[serde(default = "is_unknown")]
    pub can_write: bool,
    /// The places where its child could change files. `None` if it could not.
    pub writes: Option<WriteReach>,
    /// Whom its child may ask.
    #[serde(default, skip_serializing_if = "AskTarget::is_no_one")]
    pub ask_target: AskTarget,
}

/// No card says of an old entry that it cannot write.
const fn is_unknown() -> bool {
    true
}

/// The details of a session tool: its answer for people, and the deliveries that the model has with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionDetails {
    /// The answer for people.
    pub report: Report,
    /// The deliveries whose content the answer has: they count as delivered once the conversation contains it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delivery_ids: Vec<String>,
}

impl SessionDetails {
    /// Returns true if the call starts or continues a run, and does not have the run's result.
    pub(super) fn starts_run(&self) -> bool {
        self.delivery_ids.is_empty()
            && self.report.lines.first().is_some_and(|line| line.mark == Mark::Started)
    }
}

impl ToolDetails for SessionDetails {
    const KIND: &str = "subagent-session";
}
