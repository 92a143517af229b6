//! What a run asks of its host.

use std::time::Duration;

use crate::event::QuestionMethod;

/// Asks the user whether an agent that a project defines may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmRequest {
    /// The agent's name.
    pub agent: String,
    /// The path of its definition.
    pub path: String,
    /// The question, in a few words.
    pub title: String,
    /// What is about to run, and what the answer means.
    pub message: String,
}

/// A question of an extension in the child. All strings are sanitized and bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildQuestion {
    /// The run whose child asks.
    pub run_id: String,
    /// The name of its agent.
    pub agent: String,
    /// What kind of answer is wanted.
    pub method: QuestionMethod,
    /// The question.
    pub title: String,
    /// Details of the question.
    pub message: Option<String>,
    /// The options to choose from.
    pub options: Vec<String>,
    /// The placeholder of an empty field.
    pub placeholder: Option<String>,
    /// The initial value of the field.
    pub prefill: Option<String>,
    /// How long the child waits for the answer, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// The answer to a child's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes or no.
    Confirmed(bool),
    /// The chosen option, or the text that was entered.
    Value(String),
    /// No answer: nobody can be asked, the user dismissed the question, or time ran out.
    Cancelled,
}

/// Refreshes tokens through the host's pi.
pub trait Refresh: Send + Sync {
    /// Has pi refresh the provider's token unless it is valid for `valid_for`, and waits until the new one is stored.
    /// `false` when that failed.
    fn refresh(&self, provider: &str, valid_for: Duration) -> impl Future<Output = bool> + Send;
}

/// What a run asks its host for.
pub trait HostCallbacks: Refresh + Send + Sync {
    /// Whether there is a user who can be asked at all.
    fn is_interactive(&self) -> bool;

    /// Whether the user can answer now. If not, do not fall back to the policy.
    fn is_reachable(&self) -> bool {
        true
    }

    /// Asks the user whether an agent may run. `false` when the user does not reply.
    fn confirm(&self, request: ConfirmRequest) -> impl Future<Output = bool> + Send;

    /// Asks the user a child's question.
    fn ask(&self, question: ChildQuestion) -> impl Future<Output = Answer> + Send;
}
