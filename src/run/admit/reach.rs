//! Whether a child can change files, where, and what of that cannot be undone.

use super::values::AgentValues;
use crate::agent::{AgentDefinition, Isolation, ToolPlan, is_free_of_side_effects};
use crate::config::Config;
use crate::run::launch::launcher::{Launcher, changes_there};
use crate::run::spec::RunSpec;
use crate::text::text_enum;
use crate::workspace::{WRITES, WorkTree, has_git};

/// What is told before a run writes in place.
const NOT_IGNORED: &str = "it writes here; `/subagents undo` takes that back, but for files that git ignores";
const NO_GIT: &str = "it writes here, and without git nothing of that can be undone";
/// The same of one that nothing keeps in its tree.
const NOT_ELSEWHERE: &str = "it may write wherever you can; `/subagents undo` takes back what it does here, but for files that git ignores";
const NO_GIT_ANYWHERE: &str = "it may write wherever you can, and without git nothing of that can be undone";
const NOT_HELD_IN: &str = "it may write wherever you can, also outside its private tree";
/// What is said of a child that nothing keeps in its tree.
const EVERYWHERE: &str = "the agent may write wherever you can";

text_enum! {
    /// Where a child may write.
    pub enum WriteReach {
        /// In its tree, where the kernel keeps it.
        Tree = "tree",
        /// Wherever the user can.
        Anywhere = "anywhere",
    }
}

/// Whether a child changes no file although nothing makes its agent readonly: it has only tools that read, and no command
/// is run for it. Where `allowWrite` is off, the agent must not ask for others either, which it would have with that.
pub(in crate::run) fn only_reads(
    agent: &AgentDefinition,
    values: &AgentValues,
    config: &Config,
    plan: &ToolPlan,
) -> bool {
    let has_command = agent.check.is_some() || agent.setup.is_some() || values.check.value.is_some();
    let asks_for_more = || {
        let asked = values.tools.value.as_deref();
        asked.is_none_or(|tools| !tools.iter().all(|tool| is_free_of_side_effects(tool, false)))
    };
    plan.only_reads() && !has_command && (config.allow_write.is_on() || !asks_for_more())
}

/// What is said of where a child writes, unless that is in its tree.
pub(super) fn writes_where(launcher: &dyn Launcher, is_isolated: bool, is_held: bool) -> Option<String> {
    match launcher.elsewhere() {
        Some(name) => (!is_isolated).then(|| changes_there(name)),
        None => (!is_held).then(|| EVERYWHERE.to_owned()),
    }
}

/// Whether a child that may write gets a private tree; if not, the tree that it writes to, and what cannot be undone there.
pub(super) fn writes_to(
    values: &AgentValues,
    spec: &RunSpec,
    is_held: bool,
) -> (bool, Option<WorkTree>, Option<&'static str>) {
    let has_git = has_git(&spec.cwd, &spec.context.env);
    let is_isolated = match values.isolation.value {
        Isolation::None => false,
        Isolation::Auto => has_git,
        Isolation::Private => true,
    };
    if is_isolated {
        return (true, None, (!is_held).then_some(NOT_HELD_IN));
    }
    let tree = WorkTree::of(&spec.cwd, spec.context.var(WRITES).as_deref());
    let note = match (is_held, has_git) {
        (true, true) => NOT_IGNORED,
        (true, false) => NO_GIT,
        (false, true) => NOT_ELSEWHERE,
        (false, false) => NO_GIT_ANYWHERE,
    };
    (false, tree, Some(note))
}
