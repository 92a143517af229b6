//! What a run asks of its host.

use std::future::ready;
use std::pin::Pin;
use std::time::Duration;

use crate::event::Question;
use crate::text::Visible;

/// Asks the user whether an agent that a project defines may run. Its texts are exact: the user decides on all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmRequest {
    /// The run that waits for the answer.
    pub run_id: String,
    /// The agent's name.
    pub agent: String,
    /// The path of its definition.
    pub path: Visible,
    /// The question, in a few words.
    pub title: Visible,
    /// The agent's tools and commands, the changes, the whole file, and the meaning of the answer.
    pub message: Visible,
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
    /// Whether the conversation that started the run is asked, too. The user may answer, and need not.
    pub is_for_conversation: bool,
    /// The question with every text sanitized, for models and for storage.
    pub question: Question,
    /// The exact texts for the user, who decides on them.
    pub shown: ShownQuestion,
}

/// The exact texts of a question, for the user's screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownQuestion {
    /// The question.
    pub title: Visible,
    /// More about it.
    pub message: Option<Visible>,
    /// The choices, in the order of [`Question::options`]. One of them as an answer means that choice.
    pub options: Vec<Visible>,
    /// The hint in an empty field.
    pub placeholder: Option<Visible>,
    /// The initial text of a field. As an answer it means the child's own text.
    pub prefill: Option<Visible>,
}

impl ShownQuestion {
    /// Shows a question.
    #[must_use]
    pub fn of(question: &Question) -> Self {
        Self {
            title: Visible::prose(&question.title),
            message: question.message.as_deref().map(Visible::prose),
            options: question.options.iter().map(|option| Visible::words(option)).collect(),
            placeholder: question.placeholder.as_deref().map(Visible::words),
            prefill: question.prefill.as_ref().map(|text| Visible::code(text.as_bytes())),
        }
    }
}

/// A model as the hosting pi knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostModel {
    /// `provider/id`; `None` if no model or several are meant.
    pub model: Option<String>,
    /// Whether pi has a login for its provider.
    pub has_login: bool,
    /// The environment variables that its provider takes a key from, if known.
    pub variables: Vec<String>,
    /// pi's own words about a name that means no model or several.
    pub problem: Option<String>,
    /// All models, `provider/id`, if none was meant.
    pub known: Vec<String>,
}

/// The answer to a child's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes or no.
    Confirmed(bool),
    /// The chosen option, or the text that was entered.
    Value(String),
    /// No answer: the user dismissed the question, or time ran out.
    Cancelled,
    /// No answer: nobody can be asked.
    Nobody,
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
        Box::pin(ready(Answer::Nobody))
    }

    /// Asks what an agent with `ask: parent` wants to know. Whether there is a conversation that can be asked in the user's
    /// place is known only to those who host background runs.
    fn ask_parent(&self, question: ChildQuestion) -> BoxFuture<'_, Answer> {
        self.ask(question)
    }

    /// Looks up a model as pi does: by `provider/id`, id, or part of its name. `None` when that cannot be said.
    fn model<'a>(&'a self, _asked: &'a str) -> BoxFuture<'a, Option<HostModel>> {
        Box::pin(ready(None))
    }

    /// Has the host's pi refresh the provider's token unless it is valid for `valid_for`, and waits until the new one
    /// is stored. `false` when that failed.
    fn refresh<'a>(&'a self, _provider: &'a str, _valid_for: Duration) -> BoxFuture<'a, bool> {
        Box::pin(ready(false))
    }
}
