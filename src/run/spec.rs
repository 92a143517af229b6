//! What a caller asks for, and what the host knows.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

/// A tool that the hosting pi has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTool {
    /// Its name, as a child's allow-list would spell it.
    pub name: String,
    /// The extension that provides it; `None` for pi's own tools.
    pub extension: Option<String>,
}

/// The pi that asks for the run, as far as the caller knows it.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// The executable that runs pi (Node, Bun, or pi itself).
    pub executable: Option<PathBuf>,
    /// The script that executable runs, where there is one.
    pub script: Option<PathBuf>,
    /// The session file of the conversation that delegates.
    pub session_file: Option<PathBuf>,
    /// Its model, `provider/id`.
    pub model: Option<String>,
    /// True when an extension, and not pi or `models.json`, provides that model.
    pub model_from_extension: bool,
    /// Its thinking level.
    pub thinking: Option<String>,
    /// Its tools; `None` when unknown, and then no declared tool is dropped for being unavailable.
    pub tools: Option<Vec<HostTool>>,
}

/// Where the caller's world lies and what it is made of. Read once, at the edge.
#[derive(Clone, Debug)]
pub struct World {
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

impl World {
    /// Where programs of this world put temporary files.
    #[must_use]
    pub fn temporaries(&self) -> PathBuf {
        let named = self.env.iter().find(|(key, _)| key == "TMPDIR").map(|(_, value)| PathBuf::from(value));
        named.filter(|path| path.is_absolute()).unwrap_or_else(std::env::temp_dir)
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
    pub world: World,
}
