//! What a caller asks for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use uuid::Uuid;

use super::context::HostContext;

/// The characters of an id.
const ID_CHARS: usize = 8;

/// The id of a run, shared by all who name it: it is drawn again when its directory turns out to be taken.
#[derive(Clone, Debug)]
pub struct RunId(Arc<Mutex<String>>);

impl RunId {
    /// A new one.
    #[must_use]
    pub fn draw() -> Self {
        Self(Arc::new(Mutex::new(Self::random())))
    }

    /// The first characters of a random UUID: short enough to type, long enough not to collide within a session.
    pub(super) fn random() -> String {
        let mut id = Uuid::new_v4().simple().to_string();
        id.truncate(ID_CHARS);
        id
    }

    /// That of a run which is known elsewhere by a UUID.
    #[must_use]
    pub fn of_key(uuid: &str) -> Self {
        Self(Arc::new(Mutex::new(uuid.chars().take(ID_CHARS).collect())))
    }

    /// The id as it stands.
    #[must_use]
    pub fn get(&self) -> String {
        self.0.lock().clone()
    }

    pub(super) fn set(&self, id: &str) {
        id.clone_into(&mut self.0.lock());
    }
}

/// One agent, one task.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The agent's name.
    pub agent: String,
    /// Its task, passed on as it is.
    pub task: String,
    /// The directory the child works in.
    pub cwd: PathBuf,
    /// Everything around it.
    pub context: Arc<HostContext>,
    /// How many runs share what the text of one result may fill.
    pub share: usize,
    /// How many runs share what one update may fill.
    pub siblings: usize,
    /// What is asked for beyond what the agent and the configuration say.
    pub overrides: RunOverrides,
}

/// What one run is asked for beyond what its agent and the configuration say. The default asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOverrides {
    /// A model before all others, `provider/id`.
    pub model: Option<String>,
    /// A thinking level before all others.
    pub thinking: Option<String>,
    /// The limit of the whole run.
    pub timeout: Timeout,
    /// At most these tools: what was allowed when the run was asked for, where that was before now.
    pub tools: Option<Vec<String>>,
    /// The child is asked for an announcement once it has done its work, where its protocol allows for that.
    pub announces: bool,
    /// The run continues another.
    pub resumes: Option<Resumption>,
}

/// The limit that one run is asked for. An agent's own still counts where it is stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeout {
    /// The configured one.
    #[default]
    AsConfigured,
    /// None; that of silence holds.
    Never,
    /// This one.
    After(Duration),
}

/// A run whose session another one continues: the task is the next prompt in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// The id of the run, which both have.
    pub run_id: String,
    /// Its directory.
    pub directory: PathBuf,
    /// The session file in it.
    pub session: PathBuf,
}
