//! The features that remote children do not have.

use std::path::Path;

use crate::run::admit::values::{AgentValues, find_agents};
use crate::run::context::HostContext;
use crate::run::launcher::launcher_of;
use crate::run::spec::RunOverrides;
use agents::Isolation;
use agents::config::{Config, LOCAL};

const CANNOT_CONTINUE: &str = "a run cannot be continued";

/// A run needs a feature that children on another machine do not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "launcher: {what} with `{launcher}`, which starts the child on another machine; `launcher: {local}` keeps it on this one",
    local = LOCAL
)]
pub struct RemoteLimit {
    what: &'static str,
    launcher: String,
}

/// Returns the reason if a child cannot be started on another machine, because it needs a feature of this one.
pub(crate) fn remote_limit(
    launcher: &str,
    writes: bool,
    values: &AgentValues,
    overrides: &RunOverrides,
) -> Option<RemoteLimit> {
    let what = if overrides.resumes.is_some() {
        CANNOT_CONTINUE
    } else if writes && values.isolation.value != Isolation::None && values.setup.value.is_some() {
        "`setup` is not available"
    } else if writes && values.check.value.is_some() {
        "`check` is not available"
    } else {
        return None;
    };
    Some(RemoteLimit { what, launcher: launcher.to_owned() })
}

/// Returns the reason if an agent's run cannot be continued because its children run on another machine. Blocks.
pub(crate) fn cannot_continue(
    agent: &str,
    cwd: &Path,
    context: &HostContext,
    config: &Config,
) -> Option<RemoteLimit> {
    let catalog = find_agents(cwd, context, config);
    let found = catalog.find(agent).ok()?;
    let launcher = launcher_of(&found, config);
    let launcher = launcher.remote_name()?.to_owned();
    Some(RemoteLimit { what: CANNOT_CONTINUE, launcher })
}

/// Returns the notice about a remote child that may write.
pub(crate) fn remote_changes_notice(launcher: &str) -> String {
    format!("the child's changes cannot be listed or undone: `{launcher}` starts it on another machine")
}
