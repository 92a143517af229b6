//! What a run asks of its host.

use std::time::Duration;

use crate::event::QuestionMethod;

/// A question that only a person may answer: whether an agent that a project defines may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmRequest {
    /// The agent it is about.
    pub agent: String,
    /// Its definition.
    pub path: String,
    /// The question in a few words.
    pub title: String,
    /// What the answer means.
    pub message: String,
}

/// A question of an extension in the child. All strings are sanitized and bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildQuestion {
    /// The run whose child asks.
    pub run_id: String,
    /// Its agent.
    pub agent: String,
    /// What kind of answer is wanted.
    pub method: QuestionMethod,
    /// The question.
    pub title: String,
    /// More about it.
    pub message: Option<String>,
    /// What there is to choose from.
    pub options: Vec<String>,
    /// What stands in an empty field.
    pub placeholder: Option<String>,
    /// What stands in the field to begin with.
    pub prefill: Option<String>,
    /// How long the child waits for the answer.
    pub timeout_ms: Option<u64>,
}

/// The answer to a child's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes or no.
    Confirmed(bool),
    /// What was chosen or written.
    Value(String),
    /// Nobody answers.
    Cancelled,
}

/// Has the host's pi refresh a token.
pub trait Refresh: Send + Sync {
    /// Makes pi refresh the provider's token if it is not valid for this much longer, and waits until that is done and
    /// stored. `false` when it could not be.
    fn refresh(&self, provider: &str, valid_for: Duration) -> impl Future<Output = bool> + Send;
}

/// What a run may ask its host for.
pub trait HostCallbacks: Refresh + Send + Sync {
    /// Whether a person can be asked at all.
    fn is_interactive(&self) -> bool;

    /// Whether he can be asked at this moment. One who cannot is no reason for a policy to decide instead.
    fn is_reachable(&self) -> bool {
        true
    }

    /// Asks whether an agent may run. `false` is the answer of one who does not reply.
    fn confirm(&self, request: ConfirmRequest) -> impl Future<Output = bool> + Send;

    /// Passes a child's question on.
    fn ask(&self, question: ChildQuestion) -> impl Future<Output = Answer> + Send;
}
