//! Builds the child's command line and environment.
//!
//! Another command can run in a child's tree. It gets the sandboxes of the child's shell, and no file that the child
//! could have replaced.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use agents::{DEPTH, MAX_DEPTH, ask_tool, config, submit_tool};
use files::FileError;
use sanitizer::chain;
use serde::Serialize;
use supervisor::{ChildCommand, Guardian, Limits, Options, SpawnError, Supervision};
use worktree::{WRITES, leads_git, without_git_variables};

use super::files::RunFiles;
use super::private_dirs::PrivateDirs;
use super::sandboxes::{self, shell, tool_shell};
use crate::log::VARIABLE;
use crate::run::admit::extensions::{Extensions, MCP, builtin_needed, may_download};
use crate::run::admit::prepare::AdmittedRun;
use crate::run::admit::resolve::ResolvedRun;
use crate::run::admit::values::SkillFiles;
use crate::run::context::CHILD_MARKER;
use crate::run::launcher::Materials;
use crate::run::pi::{PiProgram, PiVersion};
use crate::run::protocol::ASK_KEY_PREFIX;

/// The environment variable with the tools that the guard allows, separated by commas.
const TOOLS: &str = "PI_SUBAGENT_TOOLS";
const ALLOW_LSP: &str = "PI_SUBAGENT_ALLOW_LSP";
const LSP_ACTIONS: &str = "PI_SUBAGENT_LSP_ACTIONS";
/// `1` limits the child to pi's own shell, the only shell with its own sandbox.
const OWN_SHELL: &str = "PI_SUBAGENT_OWN_SHELL";
/// The tool `ask` with the texts for its answers, as JSON. If set, the guard registers the tool.
const ASK_TOOL: &str = "PI_SUBAGENT_ASK";
/// The tool with which the child submits its result, as JSON. If set, the guard registers the tool.
const SUBMIT_TOOL: &str = "PI_SUBAGENT_SUBMIT";
/// `1` delays each turn until the host grants it.
const NEEDS_TURN_GRANTS: &str = "PI_SUBAGENT_HOLDS_TURNS";
const RUN_ID: &str = "PI_SUBAGENT_RUN_ID";
const AGENT_DIR: &str = "PI_CODING_AGENT_DIR";
const TEMPORARY: &str = "TMPDIR";
/// The variable for the prefix of the files that zsh creates for here-documents.
const ZSH_FILES: &str = "TMPPREFIX";
/// The variable with options for each Java virtual machine, and the option for its temporary directory.
const JAVA_OPTIONS: &str = "JAVA_TOOL_OPTIONS";
const JAVA_TEMPORARY: &str = "-Djava.io.tmpdir=";
/// `1` stops network requests of pi that its task does not need. Any other value allows them.
const OFFLINE: &str = "PI_OFFLINE";
const GIT_NO_LOCKS: &str = "GIT_OPTIONAL_LOCKS";

/// pi would read the model or the thinking level as an option.
#[derive(Debug, thiserror::Error)]
#[error("arguments: `{0}` begins with a hyphen, which pi would read as an option")]
pub(crate) struct OptionLikeValue(String);

/// The parts from which a child's command is built.
pub(crate) struct Invocation<'a> {
    /// The run, with all decisions about it.
    pub run: &'a AdmittedRun,
    /// The pi program to run.
    pub pi: &'a PiProgram,
    /// The run's files.
    pub files: &'a RunFiles,
}

impl Invocation<'_> {
    /// Builds the command of a child. The task goes to standard input and never into an argument, where length,
    /// quoting, a leading `-` or a leading `@` would change it.
    ///
    /// # Errors
    ///
    /// Fails if pi would read the model or the thinking level as an option.
    pub(crate) fn command(&self) -> Result<ChildCommand, OptionLikeValue> {
        let chosen = [&self.run.resolved.values.model.value, &self.run.resolved.thinking];
        if let Some(option) = chosen.into_iter().flatten().find(|value| value.starts_with('-')) {
            return Err(OptionLikeValue(option.to_owned()));
        }
        let extensions = self.extensions();
        let mut env = self.environment();
        // Its own programs would run outside of the sandbox of its shell, which gets the whole `PATH`.
        let is_enforced = self.run.resolved.sandbox.is_enforced();
        let untrusted = if is_enforced { self.run.resolved.untrusted.clone() } else { Vec::new() };
        let offline = self.keeps_offline(&extensions, &mut env, &untrusted);
        Ok(ChildCommand {
            program: self.pi.program.clone(),
            args: self.arguments(extensions, offline),
            cwd: self.run.spec.cwd.clone(),
            env,
            untrusted,
            guardian: self.guardian(),
        })
    }

    /// Returns the child's extensions, including the necessary built-in ones.
    fn extensions(&self) -> Extensions {
        let chosen = self.run.resolved.extensions(&self.run.spec.context, self.run.tools());
        let chosen = match chosen {
            // The listed extensions are files of this machine.
            Extensions::Only(_) if self.is_remote() => return Extensions::Only(Vec::new()),
            chosen => chosen,
        };
        let needed = builtin_needed(self.run.tools(), self.run.provider());
        match (chosen, self.pi.version.map(PiVersion::names_builtin_extensions)) {
            (Extensions::Only(mut list), Some(true)) => {
                list.extend(needed.into_iter().map(str::to_owned));
                Extensions::Only(list)
            }
            (chosen, _) => chosen,
        }
    }

    /// Returns true if the child must make no network requests beyond those for its task.
    ///
    /// In `rpc` mode, pi starts by fetching the model lists of all logged-in providers, and refreshes their tokens for
    /// this. A sandboxed child would refresh them in its copy and so revoke the user's own tokens. Any other
    /// child must do nothing before it has a task. The token of the run's own provider is still refreshed.
    ///
    /// If the run has to download something, this function only sets the variable, to a value that allows downloads
    /// but still stops these requests. For model lists, pi only checks whether the variable is set.
    fn keeps_offline(
        &self,
        extensions: &Extensions,
        env: &mut Vec<(OsString, OsString)>,
        untrusted: &[PathBuf],
    ) -> bool {
        if !self.run.resolved.protocol.refreshes_models() {
            return false;
        }
        // The programs that a remote machine lacks are not known here.
        if !self.is_remote()
            && !may_download(self.run.tools(), extensions, &self.run.spec.context.agent_dir, env, untrusted)
        {
            return true;
        }
        if !env.iter().any(|(name, _)| name == OFFLINE) {
            env.push((OFFLINE.into(), "0".into()));
        }
        false
    }

    fn is_remote(&self) -> bool {
        self.run.resolved.launcher.remote_name().is_some()
    }

    fn arguments(&self, extensions: Extensions, offline: bool) -> Vec<OsString> {
        let mut args = Arguments(self.pi.args.clone());
        args.add(self.run.resolved.protocol.args());
        if offline {
            args.add(&["--offline"]);
        }
        let own = self.run.resolved.launcher.materialize(Materials {
            prompt: self.files.prompt.clone(),
            guard: self.files.guard.clone(),
            session: self.files.session().map(Path::to_path_buf),
        });
        match &own.session {
            Some(session) => args.pair("--session", session),
            None => args.add(&["--no-session"]),
        }
        // Passed as it was requested, because the child's pi resolves model names best.
        if let Some(model) = &self.run.resolved.values.model.value {
            args.pair("--model", model);
        }
        if let Some(thinking) = &self.run.resolved.thinking {
            args.pair("--thinking", thinking);
        }
        if self.run.tools().is_empty() {
            args.add(&["--no-tools"]);
        } else {
            args.pair("--tools", self.run.tools().join(","));
        }
        args.pair("--append-system-prompt", &own.prompt);
        // Loaded first, so that the guard knows the child's rights before any other extension runs.
        args.pair("-e", &own.guard);
        let named = match extensions {
            Extensions::Only(files) => {
                args.add(&["--no-extensions"]);
                files
            }
            // pi loads no extension twice.
            Extensions::All => self.run.resolved.of_host(&self.run.spec.context),
        };
        for file in named {
            args.pair("-e", file);
        }
        if let SkillFiles::Only(files) = &self.run.resolved.skills {
            args.add(&["--no-skills"]);
            for file in files.iter().filter(|_| !self.is_remote()) {
                args.pair("--skill", file);
            }
        }
        args.add(&["--no-prompt-templates", "--no-themes"]);
        if !self.run.resolved.reads_context {
            args.add(&["--no-context-files"]);
        }
        let wants_mcp = builtin_needed(self.run.tools(), None).contains(&MCP);
        if !wants_mcp && self.pi.version.is_some_and(PiVersion::knows_no_mcp) {
            args.add(&["--no-mcp"]);
        }
        args.0
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let ResolvedRun { agent, depth, sandbox, .. } = &*self.run.resolved;
        let config = &self.run.resolved.config;
        let own = [
            (CHILD_MARKER, "1".to_owned()),
            (DEPTH, (depth.current + 1).to_string()),
            (MAX_DEPTH, depth.max.to_string()),
            (TOOLS, self.run.tools().join(",")),
            (ALLOW_LSP, if config.allow_lsp_tools { "1" } else { "0" }.to_owned()),
            (LSP_ACTIONS, config.allowed_lsp_actions.join(",")),
            (OWN_SHELL, if sandbox.is_enforced() { "1" } else { "0" }.to_owned()),
            (ASK_TOOL, json_of(ask_tool(self.run.ask_target(), ASK_KEY_PREFIX).as_ref())),
            (SUBMIT_TOOL, json_of(agent.output_schema.as_ref().map(submit_tool).as_ref())),
            (NEEDS_TURN_GRANTS, if self.run.resolved.needs_turn_grants() { "1" } else { "0" }.to_owned()),
            (RUN_ID, self.files.run_id.clone()),
        ];
        let writes = self.run.resolved.tree.as_ref().map(|tree| {
            let above = self.run.spec.context.var(WRITES);
            (WRITES, OsString::from(tree.with(above.as_deref())))
        });
        let mut env = without_git_variables(&self.run.spec.context.env);
        // The host's log covers its children. A pi that a child starts must not write a log because of this variable.
        env.retain(|(name, _)| name != VARIABLE);
        let configured = config.env.iter().filter(|(name, _)| !leads_git(name));
        let configured = configured.map(|(name, value)| (name.as_str(), OsString::from(value)));
        let own = own.map(|(name, value)| (name, OsString::from(value)));
        let set = |env: &mut Vec<(OsString, OsString)>, name: &str, value| {
            env.retain(|(existing, _)| existing != name);
            env.push((name.into(), value));
        };
        for (name, value) in configured.chain(own).chain(writes).chain(self.private_dirs()) {
            set(&mut env, name, value);
        }
        for (name, value) in self.temporaries(&env) {
            set(&mut env, name, value);
        }
        env
    }

    /// Returns variables that lead programs to the child's temporary directory if they ignore `TMPDIR` and the child
    /// has no `/tmp` of its own. `env` is the rest of the environment.
    fn temporaries(&self, env: &[(OsString, OsString)]) -> Vec<(&'static str, OsString)> {
        let sandbox = self.run.resolved.sandbox.enforced();
        let Some(temporary) = self.files.private_dirs.as_ref().and_then(|own| own.temporary()) else {
            return Vec::new();
        };
        if sandbox.is_none_or(|sandbox| sandboxes::has_temporaries(sandbox, &self.run.spec.context)) {
            return Vec::new();
        }
        let mut variables = vec![(ZSH_FILES, temporary.join("zsh").into_os_string())];
        let before = env.iter().find(|(name, _)| name == JAVA_OPTIONS).map(|(_, value)| value.as_os_str());
        let options = before.unwrap_or_default().to_string_lossy();
        if !options.contains(JAVA_TEMPORARY) {
            // Java removes the quotes. Without them it would split the path at spaces.
            let own = format!("{JAVA_TEMPORARY}\"{}\"", temporary.display());
            variables.push((JAVA_OPTIONS, format!("{options} {own}").trim_start().into()));
        }
        variables
    }

    /// Returns the child's warden and its options, if there is one.
    fn guardian(&self) -> Option<Guardian> {
        let resolved = &*self.run.resolved;
        let config::Limits { memory_bytes, processes, cpu_seconds, open_files } = resolved.config.limits;
        let options = Options {
            sandbox: sandboxes::sandbox(resolved, &self.run.spec, self.files),
            limits: Limits { memory_bytes, processes, cpu_seconds, open_files },
            scratch: self.files.scratch(),
            unless_kept: self.files.unless_kept(),
            directory: Some(self.files.child_directory.clone()),
            pid_namespace: resolved.supervision == Supervision::WardenNamespace,
            grace: resolved.config.grace,
            ..Options::default()
        };
        Some(Guardian { program: resolved.capabilities.warden()?.to_path_buf(), options })
    }

    /// Returns the environment variables that name the child's private directories.
    fn private_dirs(&self) -> Vec<(&'static str, OsString)> {
        let Some(private_dirs) = &self.files.private_dirs else { return Vec::new() };
        let mut own = vec![(AGENT_DIR, private_dirs.agent().into())];
        if let Some(temporary) = private_dirs.temporary() {
            // Otherwise `git status` would refresh the index, which is a write.
            own.extend([(TEMPORARY, temporary.into()), (GIT_NO_LOCKS, "0".into())]);
        }
        own.extend(private_dirs.compile_cache().cloned());
        own
    }
}

/// Encodes a tool for the guard. Empty if the child does not have the tool.
fn json_of(tool: Option<&impl Serialize>) -> String {
    tool.map(|tool| serde_json::to_string(tool).expect("a tool is JSON")).unwrap_or_default()
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn add(&mut self, flags: &[&str]) {
        self.0.extend(flags.iter().map(OsString::from));
    }

    fn pair(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.0.push(name.into());
        self.0.push(value.as_ref().into());
    }
}

/// Merges both streams, so that the output keeps its order. Of standard error, the beginning and the end are kept.
const ONE_STREAM: &str = "exec 1>&2\n";

/// The reason why a command in a child's tree was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeCommandError {
    /// The child's shell would have a sandbox, but the command cannot.
    #[error("this machine has no sandbox for a shell")]
    NoSandbox,
    /// The files for its sandbox cannot be written.
    #[error("{}", chain(.0))]
    Files(FileError),
    /// A layer of its sandbox is missing.
    #[error("{0}")]
    MissingLayer(String),
    /// The system refused to start it.
    #[error("{}", .0.stage())]
    Spawn(#[source] SpawnError),
}

impl AdmittedRun {
    /// Builds a shell command for the tree of the child that `child` started. `has_view` is true if the child's sandbox
    /// hides files and sockets, and `protected` are the paths of the tree that are protected now. Writes two small
    /// files.
    ///
    /// # Errors
    ///
    /// Fails if the command cannot be confined like the child's shell.
    pub(crate) fn tree_command(
        &self,
        shell_command: &str,
        child: &ChildCommand,
        files: &RunFiles,
        has_view: bool,
        protected: Vec<PathBuf>,
    ) -> Result<ChildCommand, TreeCommandError> {
        let Self { spec, resolved, .. } = self;
        let mut command = child.clone();
        // It runs in the tools' sandbox.
        command.untrusted = Vec::new();
        command.args = vec![OsString::from("-c"), format!("{ONE_STREAM}{shell_command}").into()];
        if let Some(guardian) = &mut command.guardian {
            let options = &mut guardian.options;
            if let Some(sandbox) = &mut options.sandbox {
                // The child may have moved directories around the protected paths.
                sandbox.protected = protected;
            }
            // The child's warden and this process remove the run's files, so this command must not.
            (options.scratch, options.unless_kept, options.directory) = (Vec::new(), Vec::new(), None);
        }
        command.program = if resolved.sandbox.is_enforced() {
            let confined = tool_shell(resolved, spec, files, &command.env, has_view);
            let (Some(confined), Some(warden)) = (confined, resolved.capabilities.warden()) else {
                return Err(TreeCommandError::NoSandbox);
            };
            PrivateDirs::shell_of_commands(&files.child_directory, warden, &confined.to_bytes())
                .map_err(TreeCommandError::Files)?
        } else {
            shell(None, spec, &command.env)
        };
        Ok(command)
    }
}
