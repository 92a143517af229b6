//! The part of a call that decides which child can serve it.

use std::path::PathBuf;

use crate::run::admit::admitted::AdmittedRun;
use crate::run::spec::{RunId, RunOverrides, SharedRunId, Timeout};

/// A placeholder for the task in the spec. The child never receives it.
const NO_TASK: &str = "not known yet";

/// The part of a call that decides which child can serve it. If two requests are equal, the later call may still need
/// another child, because the configuration, the agent or another file has changed in the meantime. Then the spare
/// child is useless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpareRequest {
    agent_dir: PathBuf,
    agent: String,
    cwd: PathBuf,
    overrides: RunOverrides,
}

impl SpareRequest {
    /// Returns true if both count towards the same limit.
    #[must_use]
    pub fn is_of_same_host(&self, other: &Self) -> bool {
        self.agent_dir == other.agent_dir
    }
}

impl AdmittedRun {
    /// Returns the request with which this run could get a spare child. `None` if the run cannot use one: spare
    /// children are off, the run continues another one, it runs on another machine, or no call waits for it.
    #[must_use]
    pub fn spare_request(&self) -> Option<SpareRequest> {
        let spec = &self.spec;
        let resolved = &self.resolved;
        let may_have_one = resolved.spare().count > 0
            && spec.overrides.resumes.is_none()
            && !resolved.announces
            && resolved.launcher.remote_name().is_none();
        may_have_one.then(|| SpareRequest {
            agent_dir: spec.context.agent_dir.clone(),
            agent: resolved.agent.name.clone(),
            cwd: spec.cwd.clone(),
            // Time limits start with the task, so they do not depend on the child.
            overrides: RunOverrides { timeout: Timeout::default(), ..spec.overrides.clone() },
        })
    }

    /// Returns a run with the same plan and no task, for a spare child. `None` if this run cannot use one.
    #[must_use]
    pub fn successor(&self) -> Option<Self> {
        self.spare_request()?;
        let mut next = self.clone();
        next.builder.run_id = SharedRunId::new(RunId::random());
        next.builder.diagnostics.clear();
        next.builder.skipped_options.clear();
        next.set_task(NO_TASK.to_owned());
        Some(next)
    }
}
