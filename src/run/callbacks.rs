//! What a run asks of its host.

use std::future::ready;
use std::pin::Pin;
use std::time::Duration;

use crate::event::Question;

/// Asks the user whether an agent that a project defines may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmRequest {
    /// The run that waits for the answer.
    pub run_id: String,
    /// The agent's name.
    pub agent: String,
    /// The path of its definition.
    pub path: String,
    /// The question, in a few words.
    pub title: String,
    /// What is about to run, and what the answer means.
    pub message: String,
}

/// A question of an extension in a child, as the user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildQuestion {
    /// The run whose child asks.
    pub run_id: String,
    /// The name of its agent.
    pub agent: String,
    /// The name of the run, if it has one.
    pub label: Option<String>,
    /// The question, with every text sanitized.
    pub question: Question,
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

/// How long a person's answer is waited for; then it is the harmless one.
const PATIENCE: Duration = Duration::from_secs(600);

/// A future whose type is erased, so that what waits for it is compiled once.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a run asks its host for. By default nobody can be asked, and no token is refreshed.
pub trait HostCallbacks: Send + Sync {
    /// Whether there is a user who can be asked at all.
    fn is_interactive(&self) -> bool {
        false
    }

    /// Whether the user can answer now. If not, do not fall back to the policy.
    fn is_reachable(&self) -> bool {
        true
    }

    /// How long an answer is waited for, at most.
    fn patience(&self) -> Duration {
        PATIENCE
    }

    /// Asks the user whether an agent may run. `None` when the user does not reply.
    fn confirm(&self, _request: ConfirmRequest) -> BoxFuture<'_, Option<bool>> {
        Box::pin(ready(None))
    }

    /// Asks the user a child's question.
    fn ask(&self, _question: ChildQuestion) -> BoxFuture<'_, Answer> {
        Box::pin(ready(Answer::Cancelled))
    }

    /// Has the host's pi refresh the provider's token unless it is valid for `valid_for`, and waits until the new one
    /// is stored. `false` when that failed.
    fn refresh<'a>(&'a self, _provider: &'a str, _valid_for: Duration) -> BoxFuture<'a, bool> {
        Box::pin(ready(false))
    }
}
