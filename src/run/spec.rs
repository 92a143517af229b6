//! What a caller asks for, and what the host knows.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How Node names the directory of compiled code in that for temporary files.
pub(super) const COMPILE_CACHE: &str = "node-compile-cache";

/// A tool that the hosting pi has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostTool {
    /// Its name, as a child's allow-list would spell it.
    pub name: String,
    /// The extension that provides it; `None` for pi's own tools.
    pub extension: Option<String>,
}

/// The pi that asks for the run, as far as the caller knows it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Host {
    /// The executable that runs pi (Node, Bun, or pi itself).
    pub executable: Option<PathBuf>,
    /// The script that executable runs, where there is one.
    pub script: Option<PathBuf>,
    /// The directory of the conversation, where a child may work elsewhere.
    pub cwd: Option<PathBuf>,
    /// The session file of the conversation that delegates.
    pub session_file: Option<PathBuf>,
    /// The id of its session.
    pub session_id: Option<String>,
    /// Its model, `provider/id`.
    pub model: Option<String>,
    /// True when an extension, and not pi or `models.json`, provides that model.
    pub model_from_extension: bool,
    /// The providers that extensions have registered.
    pub extension_providers: Vec<String>,
    /// Its thinking level.
    pub thinking: Option<String>,
    /// Its tools; `None` when unknown, and then no declared tool is dropped for being unavailable.
    pub tools: Option<Vec<HostTool>>,
}

/// Where the caller's world lies and what it is made of. Read once, at the edge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostContext {
    /// pi's own directory for agents, settings and sessions.
    pub agent_dir: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The whole environment a child inherits.
    pub env: Vec<(OsString, OsString)>,
    /// The caller's own values, laid over the configuration files: the `subagents` object.
    pub config: Option<Value>,
    /// The command that starts pi, when the caller chooses it.
    pub pi_command: Option<Vec<String>>,
    /// The warden's program, where there is one beside the addon.
    pub warden: Option<PathBuf>,
    /// The hosting pi.
    pub host: Host,
}

impl HostContext {
    /// Where programs of this world put temporary files.
    #[must_use]
    pub fn temporaries(&self) -> PathBuf {
        let named = self.env.iter().find(|(key, _)| key == "TMPDIR").map(|(_, value)| PathBuf::from(value));
        named.filter(|path| path.is_absolute()).unwrap_or_else(std::env::temp_dir)
    }

    /// Where pi keeps its compiled code between its starts: Node's own place, which a variable could move, and then every
    /// child finds it without help.
    #[must_use]
    pub fn compile_cache(&self) -> Option<PathBuf> {
        let moved = self.var("NODE_COMPILE_CACHE").is_some_and(|place| !place.is_empty());
        (!moved).then(|| self.temporaries().join(COMPILE_CACHE))
    }

    /// What the spending of the conversation is kept under; `None` without a session.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        let Host { session_id, session_file, .. } = &self.host;
        session_id.as_deref().or_else(|| session_file.as_ref()?.to_str())
    }

    /// The value of an environment variable, if it is set. What is no Unicode becomes U+FFFD.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<Cow<'_, str>> {
        self.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.to_string_lossy())
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
