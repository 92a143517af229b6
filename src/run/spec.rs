//! The request of a caller: one run.

use std::fmt::{self, Display, Formatter, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::budget::Used;
use super::context::HostContext;
use agents::config::Budget;
use sanitizer::text_enum;

/// The number of characters of an id.
const ID_CHARS: usize = 8;

/// The number of characters of a workflow's key: 128 bits do not collide by chance.
const WORKFLOW_KEY_CHARS: usize = 32;

/// The id of a run: the first characters of a UUID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunId(String);

impl RunId {
    /// Draws a new id: short enough to type, long enough not to collide within a session.
    #[must_use]
    pub fn random() -> Self {
        Self::of_key(&Uuid::new_v4().simple().to_string())
    }

    /// Returns the id of a run whose key is `uuid`.
    #[must_use]
    pub fn of_key(uuid: &str) -> Self {
        Self(uuid.chars().take(ID_CHARS).collect())
    }
}

impl Deref for RunId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for RunId {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

/// The current id of a run that is being prepared, shared by its clones. A run gets a new id if the directory of the
/// first one already exists, or if it uses a child that was started for it before.
#[derive(Clone, Debug)]
pub struct SharedRunId(Arc<Mutex<RunId>>);

impl SharedRunId {
    /// Creates a shared id with the initial value `id`.
    #[must_use]
    pub fn new(id: RunId) -> Self {
        Self(Arc::new(Mutex::new(id)))
    }

    /// Returns the current id.
    #[must_use]
    pub fn get(&self) -> RunId {
        self.0.lock().clone()
    }

    pub(super) fn set(&self, id: &str) {
        id.clone_into(&mut self.0.lock().0);
    }
}

/// One agent, one task.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The agent's name.
    pub agent: String,
    /// The name by which a person knows the run, if it has one: its questions are asked under it.
    pub label: Option<String>,
    /// The task, passed on unchanged.
    pub task: String,
    /// The directory the child works in.
    pub cwd: PathBuf,
    /// The host's directories, environment and configuration.
    pub context: Arc<HostContext>,
    /// The number of runs that share the size limit of one result's text.
    pub share: usize,
    /// The number of runs that share the size limit of one update.
    pub siblings: usize,
    /// The overrides of the agent and the configuration.
    pub overrides: RunOverrides,
}

impl RunSpec {
    /// The task of a child that boots before its task is known. The child never gets it.
    pub const NO_TASK: &str = "not known yet";
}

/// A call's overrides for one run. The default overrides nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOverrides {
    /// The model, `provider/id`; wins over all other settings.
    pub model: Option<String>,
    /// The thinking level; wins over all other settings.
    pub thinking: Option<String>,
    /// The time limit of the whole run.
    pub timeout: Timeout,
    /// The budget. A stricter one of the agent or the configuration still applies.
    pub budget: Budget,
    /// The tools that were allowed when the run was requested, if it was requested earlier: the child gets none beyond
    /// them.
    pub tools: Option<Vec<String>>,
    /// True if the child is asked for an announcement once its work is done and its protocol allows that.
    pub announces: bool,
    /// The JSON Schema of the result that the child has to submit; wins over the agent's.
    pub output_schema: Option<Value>,
    /// The run that this one continues.
    pub resumes: Option<Resumption>,
    /// The usage of the continued run that counts towards the run's own budget.
    pub used_before: Used,
}

/// The time limit that a call asks for. A stricter limit of the agent still applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeout {
    /// The configured limit.
    #[default]
    AsConfigured,
    /// No limit for the whole run; the idle limit still applies.
    Never,
    /// This limit.
    After(Duration),
    /// This limit, which a program sets, or which was configured when the continued run began.
    AsBefore(Duration),
}

text_enum! {
    /// The state of a workflow.
    #[derive(Default)]
    pub enum WorkflowState {
        /// Its script runs.
        #[default]
        Running = "running",
        /// Its script has returned a value.
        Completed = "completed",
        /// Its script has thrown an error.
        Failed = "failed",
        /// A person or its signal has stopped it.
        Stopped = "stopped",
        /// Its process ended before its script had.
        Interrupted = "interrupted",
    }
}

/// The place of a run in a workflow. The request of a caller has the first fields.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkflowRun {
    /// The id of the workflow, which is unique in its project.
    pub id: String,
    /// The key of the run, which is unique in the workflow.
    pub key: String,
    /// The directory that the workflow belongs to. In a request, the default is the directory of the call.
    pub project: PathBuf,
    /// The phase of the workflow in which the run has started.
    pub phase: Option<String>,
    /// The digest of the request: agent, task, directory, model, thinking level and schema.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// The account that pays for the run.
    pub account: Option<String>,
}

impl WorkflowRun {
    /// Returns the name of the workflow for people.
    #[must_use]
    pub fn workflow_name(&self) -> &str {
        workflow_name(&self.id)
    }

    /// Returns the workflow's key in the store. A workflow of another project with the same id has another key.
    #[must_use]
    pub fn workflow_key(&self) -> String {
        workflow_key(&self.project, &self.id)
    }
}

/// The beginning of the ids of workflows that scripts of pi's `codemode` use. A session follows.
pub const CODEMODE_WORKFLOW: &str = "codemode ";

/// Returns the name for people of a workflow with this id: the id of a session means nothing to them.
#[must_use]
pub fn workflow_name(id: &str) -> &str {
    if id.starts_with(CODEMODE_WORKFLOW) { CODEMODE_WORKFLOW.trim_end() } else { id }
}

/// Returns the key of a workflow in the store.
#[must_use]
pub fn workflow_key(project: &Path, id: &str) -> String {
    let mut hash = digest_of([project.as_os_str().as_encoded_bytes(), id.as_bytes()]);
    hash.truncate(WORKFLOW_KEY_CHARS);
    hash
}

/// Returns the SHA-256 of several texts, in lower-case hexadecimal. No other texts have the same digest, wherever they are cut.
pub(super) fn digest_of<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
        hex
    })
}

/// A run whose session another one continues: the task is the next prompt in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// The id, which both runs share.
    pub run_id: String,
    /// The directory of the run.
    pub directory: PathBuf,
    /// The session file in it.
    pub session: PathBuf,
}
