//! A run's knowledge about its host: directories, environment, the caller's configuration, the hosting pi.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use sanitizer::text_enum;

/// Set in the environment of every child, so that a child never delegates.
pub(crate) const CHILD_MARKER: &str = "PI_SUBAGENT_CHILD";
/// The provider that one of pi's built-in extensions registers.
pub(crate) const BUILT_IN_PROVIDER: &str = "llama.cpp";
/// The directory of Node's compile cache, inside the temporary directory.
const COMPILE_CACHE: &str = "node-compile-cache";
/// The variable that names another directory for this cache, and the variable that disables the cache.
pub(super) const COMPILE_CACHE_VARIABLE: &str = "NODE_COMPILE_CACHE";
#[cfg(unix)]
pub(super) const NO_COMPILE_CACHE_VARIABLE: &str = "NODE_DISABLE_COMPILE_CACHE";

/// The directory for temporary files, unless a variable names another.
const DEFAULT_TEMPORARIES: &str = if cfg!(windows) { r"C:\Windows\Temp" } else { "/tmp" };

/// A tool of the hosting pi.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostTool {
    /// Its name, as a child's allow-list would spell it.
    pub name: String,
    /// The extension that provides it; `None` for pi's own tools.
    pub extension: Option<String>,
}

/// An extension that the hosting pi loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostExtension {
    /// Its file, as pi names it.
    pub path: PathBuf,
    /// The directory of the package that brings it, if one does.
    pub package: Option<PathBuf>,
}

/// A key for a provider that the hosting pi has in memory only, as given with `--api-key`. `Debug` omits the key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionKey {
    /// The provider.
    pub provider: String,
    /// The key.
    pub key: String,
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SessionKey").field(&self.provider).finish()
    }
}

text_enum! {
    /// The kinds of names of this package.
    pub enum NameKind {
        /// A tool for the model.
        Tool = "tool",
        /// A prompt template, or a command in its place.
        Prompt = "prompt",
        /// A command. If several have the same name, pi numbers them.
        Command = "command",
    }
}

/// A name of this package that the hosting pi gives to something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenName {
    /// The kind of the name.
    pub kind: NameKind,
    /// The name, without a slash.
    pub name: String,
    /// The file of its owner; `None` for a part of the program around pi.
    pub path: Option<String>,
    /// The package that brings the file, as `pi remove` takes it.
    pub package: Option<String>,
    /// True when the command line names the file.
    #[serde(default, alias = "isNamed")]
    pub is_named: bool,
    /// The numbered name of this package's own command, if pi has loaded it.
    #[serde(alias = "ownName")]
    pub own_name: Option<String>,
}

/// A skill of the hosting pi.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSkill {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
}

/// The pi that delegates, as far as the caller knows it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Host {
    /// The executable that runs pi (Node, Bun, or pi itself).
    pub executable: Option<PathBuf>,
    /// The script that the executable runs, if any.
    pub script: Option<PathBuf>,
    /// The directory of the conversation. A child may work in another one.
    pub cwd: Option<PathBuf>,
    /// The session file of the conversation that delegates.
    pub session_file: Option<PathBuf>,
    /// The id of that session.
    pub session_id: Option<String>,
    /// Its model, `provider/id`.
    pub model: Option<String>,
    /// True when an extension, and not pi or `models.json`, provides that model.
    pub model_from_extension: bool,
    /// The providers that extensions have registered.
    pub extension_providers: Vec<String>,
    /// The extension providers that pi does not know without an extension.
    #[serde(default)]
    pub extension_only_providers: Vec<String>,
    /// Its thinking level.
    pub thinking: Option<String>,
    /// Its tools; `None` when unknown, and then no declared tool is dropped for being unavailable.
    pub tools: Option<Vec<HostTool>>,
    /// The extensions that it loads, without pi's built-in ones and this package's. `None` if unknown; then pi's files
    /// are read.
    #[serde(default)]
    pub extensions: Option<Vec<HostExtension>>,
    /// True when it loads only the extensions that its command line names: `--no-extensions`.
    #[serde(default)]
    pub only_named_extensions: bool,
    /// The keys that it has in memory only.
    #[serde(default)]
    pub session_keys: Vec<SessionKey>,
    /// The names of this package that it gives to something else.
    #[serde(default)]
    pub taken_names: Vec<TakenName>,
    /// Its skills; `None` when unknown.
    pub skills: Option<Vec<HostSkill>>,
    /// The text of each agent that a program defines itself.
    #[serde(default)]
    pub agents: Vec<String>,
    /// The account of a group of runs whose cost counts together, in place of the session's.
    #[serde(default)]
    pub account: Option<String>,
}

impl Host {
    /// Returns true if one of the user's extensions provides a model, or changes its provider.
    pub(crate) fn extends(&self, model: Option<&str>) -> bool {
        self.is_virtual(model) || is_provided(model, &self.extension_providers)
    }

    /// Returns true if pi does not know a model without one of the user's extensions.
    pub(crate) fn needs_extension(&self, model: Option<&str>) -> bool {
        self.is_virtual(model) || is_provided(model, &self.extension_only_providers)
    }

    /// Returns true if a model is the session's virtual one, which selects another model for each request.
    fn is_virtual(&self, model: Option<&str>) -> bool {
        self.model_from_extension && model == self.model.as_deref()
    }
}

fn is_provided(model: Option<&str>, providers: &[String]) -> bool {
    let provider = model.and_then(|model| model.split_once('/')).map(|(provider, _)| provider);
    provider.is_some_and(|provider| {
        provider != BUILT_IN_PROVIDER && providers.iter().any(|known| known == provider)
    })
}

/// The caller's directories, environment and configuration. Read once, at the edge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostContext {
    /// pi's own directory for agents, settings and sessions.
    pub agent_dir: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The whole environment a child inherits.
    pub env: Vec<(OsString, OsString)>,
    /// The caller's own values, laid over the configuration files: the `subagents` object.
    pub config: Option<Value>,
    /// The command that starts pi, when the caller chooses it.
    pub pi_command: Option<Vec<String>>,
    /// The warden's program, if it is next to the addon.
    pub warden: Option<PathBuf>,
    /// The hosting pi.
    pub host: Host,
}

/// Replaces a leading `~` of a path by the home directory.
#[must_use]
pub fn expand_home(path: PathBuf, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

impl HostContext {
    /// Returns the directory for temporary files in this environment. A `TMPDIR` counts as unset if it is empty,
    /// relative, or not valid UTF-8, which pi cannot read.
    #[must_use]
    pub fn temporaries(&self) -> PathBuf {
        let is_usable = |path: &PathBuf| path.is_absolute() && path.to_str().is_some();
        let named = self.env.iter().find(|(key, _)| key == "TMPDIR").map(|(_, value)| PathBuf::from(value));
        // The standard library accepts even an empty `TMPDIR`.
        let default =
            || Some(std::env::temp_dir()).filter(is_usable).unwrap_or_else(|| DEFAULT_TEMPORARIES.into());
        named.filter(is_usable).unwrap_or_else(default)
    }

    /// Returns the directory in which pi caches its compiled code: Node's default. `None` if a variable names another
    /// directory, which every child finds by itself.
    #[must_use]
    pub fn compile_cache(&self) -> Option<PathBuf> {
        let moved = self.var(COMPILE_CACHE_VARIABLE).is_some_and(|place| !place.is_empty());
        (!moved).then(|| self.temporaries().join(COMPILE_CACHE))
    }

    /// Makes the path of an extension absolute: a relative one would name a file of the project.
    pub(crate) fn anchored(&self, file: &str) -> String {
        let is_file = !file.contains(':') && !file.starts_with('~') && Path::new(file).is_relative();
        if is_file { self.agent_dir.join(file).to_string_lossy().into_owned() } else { file.to_owned() }
    }

    /// Returns the key under which spending is recorded: of the group of runs, or of the conversation.
    #[must_use]
    pub fn account(&self) -> Option<&str> {
        self.host.account.as_deref().or_else(|| self.session())
    }

    /// Returns the key of the conversation. `None` without a session.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        let Host { session_id, session_file, .. } = &self.host;
        session_id.as_deref().or_else(|| session_file.as_ref()?.to_str())
    }

    /// Returns the value of an environment variable, if it is set. Invalid Unicode becomes U+FFFD.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<Cow<'_, str>> {
        self.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.to_string_lossy())
    }
}
