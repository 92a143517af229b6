//! The host of a call as the core sees it: its environment, its directories, its tools.

pub(super) mod location;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{Host, HostContext, expand_home, start_log};
use location::warden;

/// The variable in which pi first looks for its agent directory.
const AGENT_DIR: &str = "PI_CODING_AGENT_DIR";

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
    // pi lets users write `~` in it.
    let configured = || {
        let dir = env.iter().find(|(name, _)| name == AGENT_DIR).map(|(_, value)| PathBuf::from(value));
        dir.filter(|dir| !dir.as_os_str().is_empty()).map(|dir| absolute(expand_home(dir, home.as_deref())))
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

/// Resolves a relative path against this process's directory, not the child's.
pub(super) fn absolute(path: impl AsRef<Path>) -> PathBuf {
    std::path::absolute(&path).unwrap_or_else(|_| path.as_ref().to_path_buf())
}
