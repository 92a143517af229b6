//! The child's command line and environment.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::files::RunFiles;
use super::pi::PiProgram;
use super::prepare::Prepared;
use super::settings::Extensions;
use super::spec::World;
use crate::process::ChildCommand;

/// Set in every child; its presence is why a child never delegates.
pub(super) const CHILD_MARKER: &str = "PI_SUBAGENT_CHILD";
/// How many delegations lie above this process.
pub(super) const DEPTH: &str = "PI_SUBAGENT_DEPTH";
/// How many there may be.
pub(super) const MAX_DEPTH: &str = "PI_SUBAGENT_MAX_DEPTH";
/// The tools that the guard lets through, separated by commas.
const TOOLS: &str = "PI_SUBAGENT_TOOLS";
const ALLOW_LSP: &str = "PI_SUBAGENT_ALLOW_LSP";
const LSP_ACTIONS: &str = "PI_SUBAGENT_LSP_ACTIONS";
const RUN_ID: &str = "PI_SUBAGENT_RUN_ID";
const AGENT_DIR: &str = "PI_CODING_AGENT_DIR";
const TEMPORARY: &str = "TMPDIR";
const GIT_NO_LOCKS: &str = "GIT_OPTIONAL_LOCKS";
/// Tools of MCP servers begin like this in pi.
const MCP_PREFIX: &str = "mcp__";

/// What a child is started with, decided and checked.
#[derive(Debug)]
pub(super) struct Invocation<'a> {
    /// The pi to run.
    pub pi: &'a PiProgram,
    /// The directory to work in.
    pub cwd: &'a Path,
    /// The run's files.
    pub files: &'a RunFiles,
    /// The tools the child gets; none is `--no-tools`.
    pub tools: &'a [String],
    /// What was decided about the run.
    pub prepared: &'a Prepared,
    /// Everything around it.
    pub world: &'a World,
    /// The text for its standard input.
    pub task: &'a str,
}

impl Invocation<'_> {
    /// The command for a child that speaks the `json` protocol: its task is its whole standard input, never an
    /// argument, where length, quoting, a leading `-` or a leading `@` would change it.
    ///
    /// # Errors
    ///
    /// The model or thinking level that pi would take for an option.
    pub(super) fn command(&self) -> Result<ChildCommand, String> {
        let chosen = [self.prepared.model(self.world), self.prepared.thinking(self.world)];
        if let Some(option) = chosen.into_iter().flatten().find(|value| value.starts_with('-')) {
            return Err(option.to_owned());
        }
        Ok(ChildCommand {
            program: self.pi.program.clone(),
            args: self.arguments(),
            cwd: self.cwd.to_path_buf(),
            env: self.environment(),
            stdin: self.task.as_bytes().to_vec(),
            guardian: self.prepared.guardian(self.files),
        })
    }

    fn arguments(&self) -> Vec<OsString> {
        let mut args = Arguments(self.pi.args.clone());
        args.words(["--mode", "json", "-p"]);
        match self.files.session() {
            Some(session) => args.pair("--session", session),
            None => args.words(["--no-session"]),
        }
        if let Some(model) = self.prepared.model(self.world) {
            args.pair("--model", model);
        }
        if let Some(thinking) = self.prepared.thinking(self.world) {
            args.pair("--thinking", thinking);
        }
        if self.tools.is_empty() {
            args.words(["--no-tools"]);
        } else {
            args.pair("--tools", self.tools.join(","));
        }
        args.pair("--append-system-prompt", self.files.prompt());
        // First, so that no other extension runs before the guard has read what this child may do.
        args.pair("-e", self.files.guard());
        if let Extensions::Only(files) = self.prepared.extensions(self.world, self.tools) {
            args.words(["--no-extensions"]);
            for file in files {
                args.pair("-e", file);
            }
        }
        if !self.prepared.sees_skills() {
            args.words(["--no-skills"]);
        }
        args.words(["--no-prompt-templates", "--no-themes"]);
        if !self.prepared.reads_context() {
            args.words(["--no-context-files"]);
        }
        let wants_mcp = self.tools.iter().any(|tool| tool.starts_with(MCP_PREFIX));
        if !wants_mcp && self.pi.version.is_some_and(super::pi::PiVersion::knows_no_mcp) {
            args.words(["--no-mcp"]);
        }
        args.0
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let Prepared { config, depth, .. } = self.prepared;
        let own = [
            (CHILD_MARKER, "1".to_owned()),
            (DEPTH, (depth.current + 1).to_string()),
            (MAX_DEPTH, depth.max.to_string()),
            (TOOLS, self.tools.join(",")),
            (ALLOW_LSP, if config.allow_lsp_tools { "1" } else { "0" }.to_owned()),
            (LSP_ACTIONS, config.allowed_lsp_actions.join(",")),
            (RUN_ID, self.files.run_id().to_owned()),
        ];
        let mut env = self.world.env.clone();
        let configured = config.env.iter().map(|(name, value)| (name.as_str(), OsString::from(value)));
        let own = own.map(|(name, value)| (name, OsString::from(value)));
        for (name, value) in configured.chain(own).chain(self.places()) {
            env.retain(|(existing, _)| existing != name);
            env.push((name.into(), value));
        }
        env
    }

    /// Where a sandboxed child may write.
    fn places(&self) -> Vec<(&'static str, OsString)> {
        let Some(places) = self.files.places() else { return Vec::new() };
        vec![
            (AGENT_DIR, places.agent().into()),
            (TEMPORARY, places.temporary().into()),
            // `git status` otherwise refreshes the index, which is a write that nobody asked for.
            (GIT_NO_LOCKS, "0".into()),
        ]
    }
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn words<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }

    fn pair(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.0.push(name.into());
        self.0.push(value.as_ref().into());
    }
}
