//! The sanitizer of a run: it knows the secrets that this process knows.

use std::path::Path;

use super::prepare::load_config;
use super::spec::World;
use crate::config::Config;
use crate::text::{Sanitizer, SanitizerOptions, auth_secrets, secret_values};

/// pi's own store of credentials, in its agent directory.
const AUTH_FILE: &str = "auth.json";
/// A credential store larger than this is not one.
const AUTH_BYTES: u64 = 1024 * 1024;

/// A sanitizer that redacts, beside what looks like a secret, the values this process holds and those that the
/// configuration gives to children.
#[must_use]
pub fn sanitizer_for(cwd: &Path, world: &World) -> Sanitizer {
    let config = load_config(cwd, world).map_or_else(|_| Config::default(), |loaded| loaded.config);
    let inherited = world.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let configured = config.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut secrets = secret_values(inherited.chain(configured));
    let auth = world.agent_dir.join(AUTH_FILE);
    let is_sane = std::fs::metadata(&auth).is_ok_and(|metadata| metadata.len() <= AUTH_BYTES);
    if is_sane && let Ok(text) = std::fs::read_to_string(&auth) {
        secrets.extend(auth_secrets(&text));
    }
    let homes = world.home.iter().map(|home| home.to_string_lossy().into_owned()).collect();
    Sanitizer::new(SanitizerOptions { secrets, homes })
}
