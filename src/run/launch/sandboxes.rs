//! What the two sandboxes of a child are told: the one around all of it, and the one around what its shell starts.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::files::RunFiles;
use crate::agent::Network;
use crate::files::layout;
use crate::process::{Sandbox, ToolShell, resolve_program, search_path};
use crate::run::admit::resolve::ResolvedRun;
use crate::run::spec::RunSpec;
use crate::text::{covers, names_secret};

/// The largest file that a sandboxed child may write, in bytes: a child must not fill the disk with its session alone.
const FILE_BYTES: u64 = 1 << 30;
/// The user's own credentials, below pi's directory; models come with keys. The child has copies, without what works
/// only once.
const CREDENTIALS: [&str; 3] = ["auth.json", "mcp-auth.json", "models.json"];
/// What pi in the child reads where it is, and its tools do not: the keys of servers.
const SERVERS: &str = "mcp.json";
/// The shells that pi chooses from, in this order: a path, then names.
const USUAL_SHELL: &str = "/bin/bash";
const SHELLS: [&str; 2] = ["bash", "sh"];

/// What the sandbox around a child is told; `None` if it has none. Blocks.
pub(super) fn sandbox(resolved: &ResolvedRun, spec: &RunSpec, files: &RunFiles) -> Option<Sandbox> {
    let held = resolved.sandbox.held()?;
    let hidden = hidden(resolved, spec);
    let shown = hidden.iter().any(|place| files.directory.starts_with(place));
    Some(Sandbox {
        writable: files.writable(),
        metadata: held.metadata,
        shown: if shown { vec![files.directory.clone()] } else { Vec::new() },
        hidden,
        file_bytes: Some(FILE_BYTES),
    })
}

/// What the sandbox around the shell of a child is told; `None` if it gets no shell of that kind. `env` is the child's
/// environment. Blocks.
pub(super) fn tool_shell(
    resolved: &ResolvedRun,
    spec: &RunSpec,
    files: &RunFiles,
    env: &[(OsString, OsString)],
) -> Option<ToolShell> {
    let (held, own) = (resolved.sandbox.held()?, files.private_dirs.as_ref()?);
    let network = held.shell?;
    let agent_dir = &spec.context.agent_dir;
    let ours = agent_dir.join(layout::SUBAGENTS);
    // The fewer directories lead to something hidden, the less a command costs: all that lies beside them is listed.
    let mut hidden = vec![if own.agent().starts_with(&ours) { ours } else { own.agent().to_path_buf() }];
    hidden.extend(CREDENTIALS.into_iter().chain([SERVERS]).map(|name| agent_dir.join(name)));
    if !held.metadata {
        hidden.extend(self::hidden(resolved, spec));
    }
    Some(ToolShell {
        shell: shell(own.shell(), spec, env),
        writable: own.temporary().into_iter().map(Path::to_path_buf).collect(),
        hidden,
        network: network == Network::On,
        // Servers are reached by paths, so where these are hidden, sockets do no harm.
        unix_sockets: held.metadata,
        unset: unset(env, &resolved.config.sandbox.env),
        file_bytes: Some(FILE_BYTES),
    })
}

/// What a sandboxed child does not see, as far as it exists: our files, the user's credentials, and what is configured.
/// Links are followed, so that nothing is visible under its other name.
fn hidden(resolved: &ResolvedRun, spec: &RunSpec) -> Vec<PathBuf> {
    let context = &spec.context;
    let ours = [layout::SUBAGENTS].into_iter().chain(CREDENTIALS).map(|name| context.agent_dir.join(name));
    let configured = &resolved.config.sandbox.hidden;
    let theirs = configured.iter().filter_map(|place| below_home(place, context.home.as_deref()));
    let mut found: Vec<PathBuf> = ours.chain(theirs).filter_map(|place| place.canonicalize().ok()).collect();
    found.sort();
    found.dedup();
    found
}

/// An absolute path, or one below the home directory.
pub(in crate::run) fn below_home(place: &str, home: Option<&Path>) -> Option<PathBuf> {
    let path = match place.strip_prefix("~/") {
        Some(rest) => home?.join(rest),
        None => PathBuf::from(place),
    };
    path.is_absolute().then_some(path)
}

/// The shell that pi would start: the one that the user's settings name, else the usual one. One that does not exist
/// fails when it is started, as it does in pi.
fn shell(named: Option<&str>, spec: &RunSpec, env: &[(OsString, OsString)]) -> PathBuf {
    if let Some(named) = named {
        return below_home(named, spec.context.home.as_deref()).unwrap_or_else(|| spec.cwd.join(named));
    }
    if Path::new(USUAL_SHELL).exists() {
        return USUAL_SHELL.into();
    }
    let path = search_path(env);
    SHELLS.iter().find_map(|name| resolve_program(OsStr::new(name), path)).unwrap_or_else(|| "/bin/sh".into())
}

/// The variables that the shell does not get: their names say that they hold a secret, and none of `kept` covers them.
fn unset(env: &[(OsString, OsString)], kept: &[String]) -> Vec<OsString> {
    let is_unset = |name: &str| names_secret(name) && !kept.iter().any(|pattern| covers(pattern, name));
    let mut names: Vec<OsString> = env
        .iter()
        .filter(|(name, _)| name.to_str().is_some_and(is_unset))
        .map(|(name, _)| name.clone())
        .collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_does_not_get_variables_with_secret_names_unless_they_are_kept() {
        let names =
            ["GITHUB_TOKEN", "PATH", "AWS_SECRET_ACCESS_KEY", "PWD", "DB_PASSWORD", "KEYBOARD", "AWS_REGION"];
        let env: Vec<_> = names.iter().map(|name| (OsString::from(name), OsString::from("x"))).collect();
        assert_eq!(unset(&env, &[]), ["AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "GITHUB_TOKEN"]);
        assert_eq!(unset(&env, &["AWS_*".to_owned(), "DB_PASSWORD".to_owned()]), ["GITHUB_TOKEN"]);
    }

    #[test]
    fn a_place_is_absolute_or_below_the_home_directory() {
        let home = Some(Path::new("/home/me"));
        assert_eq!(below_home("~/.ssh", home), Some("/home/me/.ssh".into()));
        assert_eq!(below_home("/etc/x", home), Some("/etc/x".into()));
        assert_eq!(below_home("x", home), None);
        assert_eq!(below_home("~/.ssh", None), None);
    }
}
