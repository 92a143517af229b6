//! The sanitizer of a run: it knows the secrets that this process knows.

use super::spec::World;
use crate::text::{Sanitizer, SanitizerOptions, auth_secrets, secret_values};

/// pi's own store of credentials, in its agent directory.
const AUTH_FILE: &str = "auth.json";
/// A credential store larger than this is not one.
const AUTH_BYTES: u64 = 1024 * 1024;

/// A sanitizer that redacts, beside what looks like a secret, the values this process holds.
#[must_use]
pub fn sanitizer_for(world: &World) -> Sanitizer {
    let env = world.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let mut secrets = secret_values(env);
    let auth = world.agent_dir.join(AUTH_FILE);
    let is_sane = std::fs::metadata(&auth).is_ok_and(|metadata| metadata.len() <= AUTH_BYTES);
    if is_sane && let Ok(text) = std::fs::read_to_string(&auth) {
        secrets.extend(auth_secrets(&text));
    }
    let homes = world.home.iter().map(|home| home.to_string_lossy().into_owned()).collect();
    Sanitizer::new(SanitizerOptions { secrets, homes })
}
