//! The reasons why a run may not start in the background, or continue there.

use crate::run::Timeout;
use agents::config::Config;

/// The number of runs, waiting or running, that one process may have per slot of `maxConcurrent`.
const RUNS_PER_SLOT: usize = 32;

/// The reason why the configuration or a limit forbids a background run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpawnRefusal {
    /// The process has as many runs as it may have.
    #[error(
        "the limit of {} queued and running background runs is reached ({RUNS_PER_SLOT} for each of the {slots} \
         slots of `subagents.maxConcurrent`): wait until one ends, or stop one",
        slots.saturating_mul(RUNS_PER_SLOT)
    )]
    TooMany {
        /// The number of slots.
        slots: usize,
    },
    /// The agent is not one of the allowed ones.
    #[error(
        "agent `{agent}` may not run in the background: `subagents.allowAgents` allows {} ({})",
        if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") },
        allowed.len()
    )]
    AgentNotAllowed {
        /// The agent's name.
        agent: String,
        /// The names of the allowed agents.
        allowed: Vec<String>,
    },
    /// A detached run has no time limit.
    #[error(
        "a run that continues after pi has ended needs a hard limit: set `runTimeoutSeconds` \
         (`background.onExit` is `keep`)"
    )]
    DetachedWithoutLimit,
    /// A detached run would have to share the budget of its session.
    #[error(
        "a run that continues after pi has ended cannot share the budget of its session: \
         `sessionBudget.maxCost` is ${max_cost} and `background.onExit` is `keep`"
    )]
    DetachedWithSessionBudget {
        /// The budget in USD.
        max_cost: f64,
    },
}

/// Returns the reason why an agent may not run in the background, or why no further run may start. `hosted` is the number of runs
/// that this process hosts.
pub(crate) fn refusal(config: &Config, agent: &str, is_allowed: bool, hosted: usize) -> Option<SpawnRefusal> {
    if hosted >= max_runs(config) {
        return Some(too_many(config));
    }
    let not_allowed =
        || SpawnRefusal::AgentNotAllowed { agent: agent.to_owned(), allowed: config.allow_agents.clone() };
    (!is_allowed).then(not_allowed)
}

/// Returns the number of runs, waiting or running, that one process may have.
pub(crate) fn max_runs(config: &Config) -> usize {
    config.max_concurrent.saturating_mul(RUNS_PER_SLOT)
}

/// Returns the refusal of a run beyond the limit.
pub(crate) fn too_many(config: &Config) -> SpawnRefusal {
    SpawnRefusal::TooMany { slots: config.max_concurrent }
}

/// Returns the reason why a run cannot be detached, if there is one.
pub(super) fn detach_refusal(config: &Config, limit: Timeout) -> Option<SpawnRefusal> {
    if !matches!(limit, Timeout::After(_)) {
        return Some(SpawnRefusal::DetachedWithoutLimit);
    }
    config.session_budget.max_cost.map(|max_cost| SpawnRefusal::DetachedWithSessionBudget { max_cost })
}
