//! What the two sandboxes of a child are told: the one around all of it, and the one around what its shell starts.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::files::RunFiles;
use crate::agent::{Network, canonical};
use crate::files::{layout, private};
use crate::process::{Sandbox, ToolShell, resolve_program, search_path};
use crate::run::admit::hidden::{
    CREDENTIALS, SERVERS, below_home, configured, hidden, private_tree, private_trees,
};
use crate::run::admit::resolve::ResolvedRun;
use crate::run::admit::sandbox::Held;
use crate::run::admit::scope::WriteScope;
use crate::run::context::HostContext;
use crate::run::spec::RunSpec;
use crate::text::{covers, names_secret};
use crate::workspace::root_of;

/// The largest file that a child may write whose agent may not, in bytes: a child must not fill the disk with its session alone.
const FILE_BYTES: u64 = 1 << 30;
/// The size of a child's own `/tmp` and `/dev/shm` together, in bytes. They lie in memory; what a child builds lies in `TMPDIR`,
/// on a disk.
const TEMPORARY_BYTES: u64 = 512 << 20;
/// The directories that a child gets of its own.
const TEMPORARIES: [&str; 2] = ["/tmp", "/dev/shm"];
/// The shells that pi chooses from, in this order: a path, then names.
const USUAL_SHELL: &str = "/bin/bash";
const SHELLS: [&str; 2] = ["bash", "sh"];

/// What the sandbox around a child is told; `None` if it has none. Blocks.
pub(super) fn sandbox(resolved: &ResolvedRun, spec: &RunSpec, files: &RunFiles) -> Option<Sandbox> {
    let held = resolved.sandbox.held()?;
    if held.metadata {
        // Only an existing directory can be masked. If this fails, no run can make a private tree either.
        drop(private::create_dir_all(&layout::private_trees(&spec.context.agent_dir)));
    }
    let hidden = hidden(&resolved.config, &spec.context);
    let shows_directory = hidden.iter().any(|place| files.directory.starts_with(place));
    let shown = shows_directory.then(|| files.directory.clone());
    // A child that may not write there sees the files of its project as they are, not a copy of its own.
    let project = root_of(&canonical(&spec.cwd));
    let project = (has_temporaries(held, &spec.context) && is_temporary(&project)).then_some(project);
    let scope = resolved.scope.as_ref();
    let protected = scope.filter(|_| held.metadata).map(|scope| scope.look().protected);
    Some(Sandbox {
        // A path without links, because the warden follows none.
        writable: files
            .writable()
            .iter()
            .map(|path| canonical(path))
            .chain(scope.into_iter().flat_map(WriteScope::writable))
            .collect(),
        protected: protected.unwrap_or_default(),
        metadata: held.metadata,
        temporary_bytes: has_temporaries(held, &spec.context).then_some(TEMPORARY_BYTES),
        shown: shown.into_iter().chain(private_tree(&spec.context, &spec.cwd)).chain(project).collect(),
        hidden,
        file_bytes: file_bytes(held),
        ..Sandbox::default()
    })
}

/// Returns true if a child gets its own `/tmp` and `/dev/shm`. Not if the user's agent directory lies there: a shell that may
/// write in a directory could read everything below it, the child's copies of credentials too.
pub(super) fn has_temporaries(held: &Held, context: &HostContext) -> bool {
    held.temporaries && !is_temporary(&canonical(&context.agent_dir))
}

fn is_temporary(path: &Path) -> bool {
    TEMPORARIES.iter().any(|own| path.starts_with(own))
}

/// What a child builds may be large.
fn file_bytes(held: &Held) -> Option<u64> {
    (!held.writes).then_some(FILE_BYTES)
}

/// What the sandbox around the shell of a child is told; `None` if it gets no shell of that kind. `env` is the child's
/// environment; a child `has_view` whose own sandbox hides files and sockets. Blocks.
pub(super) fn tool_shell(
    resolved: &ResolvedRun,
    spec: &RunSpec,
    files: &RunFiles,
    env: &[(OsString, OsString)],
    has_view: bool,
) -> Option<ToolShell> {
    let (held, own) = (resolved.sandbox.held()?, files.private_dirs.as_ref()?);
    let network = held.shell?;
    let agent_dir = &spec.context.agent_dir;
    let ours = agent_dir.join(layout::SUBAGENTS);
    // The fewer directories lead to something hidden, the less a command costs: all that lies beside them is listed.
    let mut hidden = vec![if own.agent().starts_with(&ours) { ours } else { own.agent().to_path_buf() }];
    hidden.extend(CREDENTIALS.into_iter().chain([SERVERS]).map(|name| agent_dir.join(name)));
    hidden.push(private_trees(&spec.context));
    let mut masked = Vec::new();
    if has_view {
        masked = configured(&resolved.config, &spec.context);
    } else {
        hidden.extend(self::hidden(&resolved.config, &spec.context));
    }
    let mut unset = unset(env, &resolved.config.sandbox.env);
    // It is for pi alone; what tools compile they keep in their own directory.
    unset.extend(own.compile_cache().map(|(name, _)| OsString::from(name)));
    let scope = resolved.scope.iter().flat_map(WriteScope::writable);
    Some(ToolShell {
        shell: shell(own.shell(), spec, env),
        writable: own.temporary().into_iter().map(canonical).chain(scope).collect(),
        hidden,
        shown: private_tree(&spec.context, &spec.cwd).into_iter().collect(),
        masked,
        temporaries: has_view && has_temporaries(held, &spec.context),
        network: network == Network::On,
        // Servers are reached by paths, so where these are hidden, sockets do no harm.
        unix_sockets: has_view,
        unset,
        file_bytes: file_bytes(held),
    })
}

/// The shell that pi would start: the one that the user's settings name, else the usual one. One that does not exist
/// fails when it is started, as it does in pi.
pub(super) fn shell(named: Option<&str>, spec: &RunSpec, env: &[(OsString, OsString)]) -> PathBuf {
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
}
