//! The host of a call as the core sees it: its environment, its directories, its tools.

pub(super) mod location;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use napi_derive::napi;
use serde_json::Value;

use crate::run::{
    Host, HostContext, HostExtension as CoreExtension, HostSkill as CoreSkill, HostTool as CoreTool,
    NameKind, SessionKey as CoreKey, TakenName as CoreName, start_log,
};
use location::warden;

/// The variable in which pi first looks for its agent directory.
const AGENT_DIR: &str = "PI_CODING_AGENT_DIR";

/// A tool that the hosting pi has.
#[napi(object, object_to_js = false)]
pub struct HostTool {
    /// The name that models call.
    pub name: String,
    /// The extension that provides it, as pi names it; absent for pi's own tools.
    pub extension: Option<String>,
}

/// An extension that the hosting pi loads.
#[napi(object, object_to_js = false)]
pub struct HostExtension {
    /// Its file; absolute.
    pub path: String,
    /// The directory of the package that brings it; absolute. Absent for a file of its own.
    pub package: Option<String>,
}

/// A skill that the hosting pi has.
#[napi(object, object_to_js = false)]
pub struct HostSkill {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
}

/// A key for a provider that the hosting pi holds in its memory only.
#[napi(object, object_to_js = false)]
pub struct SessionKey {
    /// The provider.
    pub provider: String,
    /// The key.
    pub key: String,
}

/// A name of this package that the hosting pi gives to something else.
#[napi(object, object_to_js = false)]
pub struct TakenName {
    /// The kind of thing that it names.
    #[napi(ts_type = "\"tool\" | \"prompt\" | \"command\"")]
    pub kind: String,
    /// The name, without a slash.
    pub name: String,
    /// The file of its owner; absent for a part of the program around pi.
    pub path: Option<String>,
    /// The package that brings the file, as `pi remove` takes it.
    pub package: Option<String>,
    /// True when the command line names the file.
    /// @default false
    pub is_named: Option<bool>,
    /// The name by which pi knows this package's own, if it has it.
    pub own_name: Option<String>,
}

/// Returns the host as it is now, from options and this process's environment. Call it on the JavaScript thread, the
/// only one that may change the environment.
pub(super) fn context_now(
    agent_dir: Option<String>,
    added: Option<HashMap<String, String>>,
    config: Option<Value>,
    pi_command: Option<Vec<String>>,
    host: Host,
) -> HostContext {
    let mut env: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let mut set = |name: &str, value: OsString| {
        env.retain(|(existing, _)| existing != name);
        env.push((name.into(), value));
    };
    for (name, value) in added.into_iter().flatten() {
        set(&name, value.into());
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let chosen = agent_dir.map(absolute);
    if let Some(dir) = &chosen {
        // The child must find the models and credentials that its caller means.
        set(AGENT_DIR, dir.into());
    }
    let configured = || {
        let dir = env.iter().find(|(name, _)| name == AGENT_DIR).map(|(_, value)| PathBuf::from(value));
        dir.filter(|dir| !dir.as_os_str().is_empty()).map(|dir| absolute(expand_home(dir, home.as_ref())))
    };
    // Without a home, use the root: a path below the working directory would belong to the project.
    let default = || home.as_deref().unwrap_or(Path::new("/")).join(".pi").join("agent");
    let agent_dir = chosen.or_else(configured).unwrap_or_else(default);
    // A call finds its early child by comparing contexts; the caller's map has no order.
    env.sort_unstable();
    let context = HostContext { agent_dir, home, warden: warden(&env), env, config, pi_command, host };
    start_log(&context);
    context
}

/// pi lets users write `~` in `PI_CODING_AGENT_DIR`.
fn expand_home(dir: PathBuf, home: Option<&PathBuf>) -> PathBuf {
    match (dir.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => dir,
    }
}

pub(super) fn core_tools(tools: Option<Vec<HostTool>>) -> Option<Vec<CoreTool>> {
    let core = |HostTool { name, extension }| CoreTool { name, extension };
    tools.map(|tools| tools.into_iter().map(core).collect())
}

pub(super) fn core_keys(keys: Option<Vec<SessionKey>>) -> Vec<CoreKey> {
    let core = |SessionKey { provider, key }| CoreKey { provider, key };
    keys.into_iter().flatten().map(core).collect()
}

/// Returns the names without those of an unknown kind.
pub(super) fn core_names(names: Option<Vec<TakenName>>) -> Vec<CoreName> {
    let core = |TakenName { kind, name, path, package, is_named, own_name }| {
        let kind = NameKind::parse(&kind)?;
        Some(CoreName { kind, name, path, package, is_named: is_named.unwrap_or_default(), own_name })
    };
    names.into_iter().flatten().filter_map(core).collect()
}

pub(super) fn core_extensions(extensions: Option<Vec<HostExtension>>) -> Option<Vec<CoreExtension>> {
    let core = |HostExtension { path, package }| CoreExtension {
        path: absolute(path),
        package: package.map(absolute),
    };
    extensions.map(|extensions| extensions.into_iter().map(core).collect())
}

pub(super) fn core_skills(skills: Option<Vec<HostSkill>>) -> Option<Vec<CoreSkill>> {
    let core = |HostSkill { name, path }| CoreSkill { name, path };
    skills.map(|skills| skills.into_iter().map(core).collect())
}

/// Resolves a relative path against this process's directory, not the child's.
pub(super) fn absolute(path: impl AsRef<Path>) -> PathBuf {
    std::path::absolute(&path).unwrap_or_else(|_| path.as_ref().to_path_buf())
}
