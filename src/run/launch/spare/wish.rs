//! What a call asks for, as far as it decides which child can serve it.

use std::path::PathBuf;

use crate::run::admit::admitted::AdmittedRun;
use crate::run::spec::{RunId, RunOverrides, SharedRunId, Timeout};

/// Stands in for the task in the spec; the child is never told it.
const NO_TASK: &str = "not known yet";

/// What a call asks for, as far as it decides which child can serve it. Of two equal ones the later call may get another
/// child all the same, because what it asks for has changed; then the waiting child is of no use to anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpareWish {
    agent_dir: PathBuf,
    agent: String,
    cwd: PathBuf,
    overrides: RunOverrides,
}

impl SpareWish {
    /// Whether both count towards the same limit.
    #[must_use]
    pub fn is_of_same_host(&self, other: &Self) -> bool {
        self.agent_dir == other.agent_dir
    }
}

impl AdmittedRun {
    /// What this run asks of a waiting child. `None` if it can have none: spare children are off, the run continues another
    /// one, it runs elsewhere, or nobody waits for it.
    #[must_use]
    pub fn spare_wish(&self) -> Option<SpareWish> {
        let (spec, resolved) = (&self.spec, &self.resolved);
        let may_have_one = resolved.config.spare.count > 0
            && spec.overrides.resumes.is_none()
            && !resolved.announces
            && resolved.launcher.elsewhere().is_none();
        may_have_one.then(|| SpareWish {
            agent_dir: spec.context.agent_dir.clone(),
            agent: resolved.agent.name.clone(),
            cwd: spec.cwd.clone(),
            // Limits of time count from the task, whatever child gets it.
            overrides: RunOverrides { timeout: Timeout::default(), ..spec.overrides.clone() },
        })
    }

    /// A run with the same plan and no task, for a child that is to wait. `None` if there can be none.
    #[must_use]
    pub fn successor(&self) -> Option<Self> {
        self.spare_wish()?;
        let mut next = self.clone();
        next.builder.run_id = SharedRunId::new(RunId::random());
        next.builder.diagnostics.clear();
        next.builder.skipped_options.clear();
        next.set_task(NO_TASK.to_owned());
        Some(next)
    }
}
