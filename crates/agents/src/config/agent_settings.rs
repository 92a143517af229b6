//! The settings of single agents in a configuration.

use serde::{Deserialize, Serialize};

use crate::{Context, Isolation, Skills};

/// An agent's settings from the user's file and from the project's files. Absent values leave the agent file unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSettings {
    /// The model. `inherit` is the configured model, or the session's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The thinking level. `inherit` works as with the model.
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
    /// The stricter values from a project's files.
    #[serde(skip_serializing_if = "AgentBounds::is_empty")]
    pub project: AgentBounds,
}

/// The settings of an agent that a project may make stricter. A limit of 0 cancels the limit of the agent file.
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
    /// The maximum number of assistant messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// The cost limit in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// The number of repetitions of the same tool calls after which the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_stop_after: Option<u64>,
    /// The skills that the child sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Skills>,
    /// The context files that the child reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// The tree in which the agent works if it may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// True if the agent may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

impl AgentBounds {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
