//! Decides which tree a child changes, and which of its changes cannot be undone.

use super::remote_limits::remote_changes_notice;
use super::values::AgentValues;
use crate::run::launcher::Launcher;
use crate::run::spec::RunSpec;
use agents::config::Config;
use agents::{AgentDefinition, Isolation, ToolPlan, is_free_of_side_effects};
use sanitizer::text_enum;
use std::path::PathBuf;
use worktree::{WRITES, WorkTree, has_git};

/// The notes for the user before a run writes in place.
const NOT_IGNORED: &str =
    "it writes here; `/subagents undo` reverts its changes, except in files that git ignores";
const NO_GIT: &str = "it writes here, and without git its changes cannot be undone";
/// The notes for a child that is not confined to its tree.
const NOT_IGNORED_ANYWHERE: &str = "it may write wherever you can; `/subagents undo` reverts its changes here, except in files that git ignores";
const NO_GIT_ANYWHERE: &str = "it may write wherever you can, and without git its changes cannot be undone";
const NOT_CONFINED: &str = "it may write wherever you can, even outside its private tree";
/// The notice about a child that is not confined to its tree.
const EVERYWHERE: &str = "the agent may write wherever you can";

text_enum! {
    /// The files that a child may change.
    pub enum WriteReach {
        /// Only files in its tree, enforced by the kernel.
        Tree = "tree",
        /// All files that the user can change.
        Anywhere = "anywhere",
    }
}

/// Returns true if a child changes no file although its agent is not readonly: it has only reading tools, and it has
/// no check or setup command. If `allowWrite` is off, the agent must not request other tools either, because it would
/// get them once `allowWrite` is on.
pub(crate) fn only_reads(
    agent: &AgentDefinition,
    values: &AgentValues,
    config: &Config,
    plan: &ToolPlan,
) -> bool {
    let has_command = agent.check.is_some() || agent.setup.is_some() || values.check.value.is_some();
    let requests_more = || {
        let asked = values.tools.value.as_deref();
        asked.is_none_or(|tools| !tools.iter().all(|tool| is_free_of_side_effects(tool, false)))
    };
    plan.only_reads() && !has_command && (config.allow_write.is_on() || !requests_more())
}

/// Returns the notice about a child that changes files of another machine in place, or that no sandbox confines to its
/// tree.
pub(super) fn write_notice(launcher: &dyn Launcher, is_isolated: bool, is_sandboxed: bool) -> Option<String> {
    match launcher.remote_name() {
        Some(name) => (!is_isolated).then(|| remote_changes_notice(name)),
        None => (!is_sandboxed).then(|| EVERYWHERE.to_owned()),
    }
}

/// Returns true if a writing child gets a private tree. Otherwise also returns the tree that it writes to. The note
/// tells the user which changes cannot be undone, or that the child is not confined to its private tree.
pub(super) fn write_target(
    values: &AgentValues,
    spec: &RunSpec,
    untrusted: &[PathBuf],
    is_sandboxed: bool,
) -> (bool, Option<WorkTree>, Option<&'static str>) {
    let has_git = has_git(&spec.cwd, &spec.context.env, untrusted);
    let is_isolated = match values.isolation.value {
        Isolation::None => false,
        Isolation::Auto => has_git,
        Isolation::Private => true,
    };
    if is_isolated {
        return (true, None, (!is_sandboxed).then_some(NOT_CONFINED));
    }
    let tree = WorkTree::of(&spec.cwd, spec.context.var(WRITES).as_deref());
    let note = match (is_sandboxed, has_git) {
        (true, true) => NOT_IGNORED,
        (true, false) => NO_GIT,
        (false, true) => NOT_IGNORED_ANYWHERE,
        (false, false) => NO_GIT_ANYWHERE,
    };
    (false, tree, Some(note))
}
