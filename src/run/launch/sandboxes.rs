//! Builds the options of a child's two sandboxes: the one around the whole child, and the one around programs that its
//! shell starts.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::files::RunFiles;
use super::private_dirs::PrivateDirs;
use crate::run::admit::resolve::ResolvedRun;
use crate::run::context::HostContext;
use crate::run::sandbox::hidden::{self, CREDENTIALS, SERVERS, below_home, private_tree, private_trees};
use crate::run::sandbox::{EnforcedSandbox, WriteScope};
use crate::run::spec::RunSpec;
use agents::Network;
use files::canonical;
use files::{layout, private};
use sanitizer::{covers, names_secret};
use supervisor::{Sandbox, ToolShell, resolve_program, search_path, trusted_env};
use worktree::root_of;

/// The maximum file size for a child that cannot write in its project, in bytes. Its session alone must not fill the
/// disk.
const FILE_BYTES: u64 = 1 << 30;
/// The size of a child's own `/tmp` and `/dev/shm` together, in bytes. They are in memory; build output is in
/// `TMPDIR`, on a disk.
const TEMPORARY_BYTES: u64 = 512 << 20;
/// The directories that are replaced by the child's own.
const TEMPORARIES: [&str; 2] = ["/tmp", "/dev/shm"];
/// The shells that pi chooses from, in this order: a path, then names.
const USUAL_SHELL: &str = "/bin/bash";
const SHELLS: [&str; 2] = ["bash", "sh"];

/// Returns the options of the sandbox around a child. `None` if it has none. Blocks.
pub(super) fn sandbox(resolved: &ResolvedRun, spec: &RunSpec, files: &RunFiles) -> Option<Sandbox> {
    let sandbox = resolved.sandbox.enforced()?;
    if sandbox.metadata {
        // Only an existing directory can be masked. If this fails, no run can create a private tree either.
        drop(private::create_dir_all(&layout::private_trees(&spec.context.agent_dir)));
    }
    let hidden = hidden::hidden(&resolved.config, &spec.context);
    let shows_directory = hidden.iter().any(|place| files.child_directory.starts_with(place));
    let shown = shows_directory.then(|| files.child_directory.clone());
    // A child that cannot write to its project sees the real files there, not a copy.
    let project = root_of(&canonical(&spec.cwd));
    let project = (has_temporaries(sandbox, &spec.context) && is_temporary(&project)).then_some(project);
    let scope = resolved.scope.as_ref();
    let protected = scope.filter(|_| sandbox.metadata).map(|scope| scope.find_protected().protected);
    let private_dirs = files.private_dirs.iter().filter(|_| sandbox.metadata);
    Some(Sandbox {
        // The path must not contain links, because the warden does not follow them.
        writable: files
            .writable()
            .iter()
            .map(|path| canonical(path))
            .chain(scope.into_iter().flat_map(WriteScope::writable))
            .collect(),
        protected: protected
            .into_iter()
            .flatten()
            .chain(private_dirs.flat_map(PrivateDirs::fixed).map(|path| canonical(path)))
            .collect(),
        metadata: sandbox.metadata,
        temporary_bytes: has_temporaries(sandbox, &spec.context).then_some(TEMPORARY_BYTES),
        shown: shown.into_iter().chain(private_tree(&spec.context, &spec.cwd)).chain(project).collect(),
        hidden,
        file_bytes: file_bytes(sandbox),
        ..Sandbox::default()
    })
}

/// Returns true if a child gets its own `/tmp` and `/dev/shm`. It does not if they contain the user's agent directory.
/// A shell that may write in a directory could read everything below it, including the child's copies of credentials.
pub(super) fn has_temporaries(sandbox: &EnforcedSandbox, context: &HostContext) -> bool {
    sandbox.temporaries && !is_temporary(&canonical(&context.agent_dir))
}

fn is_temporary(path: &Path) -> bool {
    TEMPORARIES.iter().any(|own| path.starts_with(own))
}

/// Returns the maximum file size of a child that cannot write, in bytes. `None` for a child that can write, because
/// build output may be large.
fn file_bytes(sandbox: &EnforcedSandbox) -> Option<u64> {
    (!sandbox.writes).then_some(FILE_BYTES)
}

/// Returns the options of the sandbox around the child's shell. `None` if it gets no sandboxed shell. `env` is the
/// child's environment. `has_view` says that the child's own sandbox hides files and sockets. Blocks.
pub(super) fn tool_shell(
    resolved: &ResolvedRun,
    spec: &RunSpec,
    files: &RunFiles,
    env: &[(OsString, OsString)],
    has_view: bool,
) -> Option<ToolShell> {
    let sandbox = resolved.sandbox.enforced()?;
    let own = files.private_dirs.as_ref()?;
    let network = sandbox.shell?;
    let agent_dir = &spec.context.agent_dir;
    let own_dir = agent_dir.join(layout::SUBAGENTS);
    // A command costs less if fewer directories lead to a hidden path, because all of their entries are listed.
    let mut hidden =
        vec![if own.agent().starts_with(&own_dir) { own_dir } else { own.agent().to_path_buf() }];
    hidden.extend(CREDENTIALS.into_iter().chain([SERVERS]).map(|name| agent_dir.join(name)));
    hidden.push(private_trees(&spec.context));
    let mut masked = Vec::new();
    if has_view {
        masked = hidden::configured(&resolved.config, &spec.context);
    } else {
        hidden.extend(hidden::hidden(&resolved.config, &spec.context));
    }
    let mut unset = unset(env, &resolved.config.sandbox.env);
    // The cache is only for pi. Tools keep their compiled code in their own directory.
    unset.extend(own.compile_cache().map(|(name, _)| OsString::from(name)));
    let scope = resolved.scope.iter().flat_map(WriteScope::writable);
    let child_env = trusted_env(env, &resolved.untrusted);
    let [path, child_path] = [env, &child_env].map(|env| search_path(env).map(OsStr::to_owned));
    let is_shorter = path != child_path;
    Some(ToolShell {
        shell: shell(own.shell(), spec, env),
        writable: own.temporary().into_iter().map(canonical).chain(scope).collect(),
        hidden,
        shown: private_tree(&spec.context, &spec.cwd).into_iter().collect(),
        masked,
        temporaries: has_view && has_temporaries(sandbox, &spec.context),
        network: network == Network::On,
        // Servers are reached by paths. If these are hidden, sockets do no harm.
        unix_sockets: has_view,
        path: path.filter(|_| is_shorter),
        child_path: child_path.filter(|_| is_shorter),
        unset,
        file_bytes: file_bytes(sandbox),
    })
}

/// Returns the shell that pi would start: the one from the user's settings, else the usual one. A missing shell fails
/// when it is started, as it does in pi.
pub(super) fn shell(named: Option<&str>, spec: &RunSpec, env: &[(OsString, OsString)]) -> PathBuf {
    if let Some(named) = named {
        return below_home(named, spec.context.home.as_deref()).unwrap_or_else(|| spec.cwd.join(named));
    }
    if Path::new(USUAL_SHELL).exists() {
        return USUAL_SHELL.into();
    }
    SHELLS
        .iter()
        .find_map(|name| resolve_program(OsStr::new(name), env, &[]).ok())
        .unwrap_or_else(|| "/bin/sh".into())
}

/// Returns the variables that the shell does not get. Their names look like secrets, and no pattern of `allowed` covers
/// them.
fn unset(env: &[(OsString, OsString)], allowed: &[String]) -> Vec<OsString> {
    let is_unset = |name: &str| names_secret(name) && !allowed.iter().any(|pattern| covers(pattern, name));
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
