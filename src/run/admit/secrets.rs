//! The sanitizer of a run: it knows the secrets that this process knows.

use std::path::{Path, PathBuf};

use super::prepare::load_config;
use crate::config::Config;
use crate::files::layout;
use crate::run::context::HostContext;
use crate::text::{Sanitizer, SanitizerOptions, auth_secrets, secret_values};

/// pi's own store of credentials, in its agent directory.
const AUTH_FILE: &str = "auth.json";
/// A credential store larger than this is not one.
const AUTH_BYTES: u64 = 1024 * 1024;

/// More agents than anybody has credentials for.
const MAX_STORES: usize = 256;

/// A sanitizer that redacts, beside what looks like a secret, the values this process holds and those that the
/// configuration gives to children.
#[must_use]
pub fn sanitizer_for(cwd: &Path, context: &HostContext) -> Sanitizer {
    let config = load_config(cwd, context).map_or_else(|_| Config::default(), |loaded| loaded.config);
    let inherited = context.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let configured = config.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut secrets = secret_values(inherited.chain(configured));
    for auth in stores(&context.agent_dir) {
        let is_sane =
            std::fs::metadata(&auth).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= AUTH_BYTES);
        if is_sane && let Ok(text) = std::fs::read_to_string(&auth) {
            secrets.extend(auth_secrets(&text));
        }
    }
    let homes = context.home.iter().map(|home| home.to_string_lossy().into_owned()).collect();
    Sanitizer::new(SanitizerOptions { secrets, homes })
}

/// pi's store of credentials, and those of single agents.
fn stores(agent_dir: &Path) -> Vec<PathBuf> {
    let of_agents = std::fs::read_dir(layout::credentials(agent_dir));
    let of_agents = of_agents.into_iter().flatten().flatten().take(MAX_STORES).map(|entry| entry.path());
    let of_agents =
        of_agents.filter(|path| path.extension().is_some_and(|attempt_report| attempt_report == "json"));
    [agent_dir.join(AUTH_FILE)].into_iter().chain(of_agents).collect()
}
