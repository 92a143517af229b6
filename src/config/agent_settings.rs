//! What a configuration says about single agents.

use serde::{Deserialize, Serialize};

use crate::agent::{Context, Isolation, Skills};

/// What the user's file says about an agent, and what the project's files do. Absent values leave the agent file as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSettings {
    /// `inherit` is the configured model, or the session's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// As with the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The command that checks its work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The command that prepares its private tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// The limits that can be made stricter.
    #[serde(flatten)]
    pub bounds: AgentBounds,
    /// What a project's files make stricter.
    #[serde(skip_serializing_if = "AgentBounds::is_empty")]
    pub project: AgentBounds,
}

/// The settings of an agent that a project may make stricter. A limit of 0 undoes that of the agent file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentBounds {
    /// pi's tool names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Hard timeout in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Idle timeout in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// Assistant messages of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// In USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// After how many equal calls of a tool the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_stop_after: Option<u64>,
    /// Which skills the child sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Skills>,
    /// Which context files it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// Where it works, if it may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// Whether the agent may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

impl AgentBounds {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
