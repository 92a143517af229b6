//! The requests of a run to its host.

use std::future::ready;
use std::pin::Pin;
use std::time::Duration;

use serde::Deserialize;

use pi_events::Question;
use sanitizer::Visible;

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
    /// True if the conversation that started the run is asked, too. The user may answer, and need not.
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
            options: question.options.iter().map(|option| Visible::prose_line(option)).collect(),
            placeholder: question.placeholder.as_deref().map(Visible::prose_line),
            prefill: question.prefill.as_ref().map(|text| Visible::code(text.as_bytes())),
        }
    }
}

/// A model as the hosting pi knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostModel {
    /// `provider/id`; `None` if no model or several are meant.
    pub model: Option<String>,
    /// True if pi has a login for its provider.
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
    /// No answer: no one can be asked.
    NoUser,
}

/// The maximum wait for a person's answer. Afterwards the harmless answer counts.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// A future whose type is erased, so that the code that waits for it is compiled only once.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The requests of a run to its host. By default no one can be asked, and no token is refreshed.
pub trait HostCallbacks: Send + Sync {
    /// Returns true if there is a user who can be asked at all.
    fn is_interactive(&self) -> bool {
        false
    }

    /// Returns true if the user can answer now. If not, the policy does not decide instead.
    fn is_reachable(&self) -> bool {
        true
    }

    /// Returns the maximum wait for an answer.
    fn answer_timeout(&self) -> Duration {
        ANSWER_TIMEOUT
    }

    /// Asks the user whether an agent may run. `None` when the user does not reply.
    fn confirm(&self, _request: ConfirmRequest) -> BoxFuture<'_, Option<bool>> {
        Box::pin(ready(None))
    }

    /// Asks the user a child's question.
    fn ask(&self, _question: ChildQuestion) -> BoxFuture<'_, Answer> {
        Box::pin(ready(Answer::NoUser))
    }

    /// Asks the question of an agent with `ask: parent`. Only hosts of background runs know a conversation that can
    /// answer in the user's place.
    fn ask_parent(&self, question: ChildQuestion) -> BoxFuture<'_, Answer> {
        self.ask(question)
    }

    /// Looks up a model as pi does: by `provider/id`, id, or part of its name. `None` if the host does not know.
    fn model<'a>(&'a self, _asked: &'a str) -> BoxFuture<'a, Option<HostModel>> {
        Box::pin(ready(None))
    }

    /// Makes the host's pi refresh the provider's token, unless it is valid for `valid_for`. Waits until the new token
    /// is stored. Returns false if that failed.
    fn refresh<'a>(&'a self, _provider: &'a str, _valid_for: Duration) -> BoxFuture<'a, bool> {
        Box::pin(ready(false))
    }
}
