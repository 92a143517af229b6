//! A run that may start, and what others may ask about it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::resolve::ResolvedRun;
use crate::agent::ToolPlan;
use crate::config::Config;
use crate::process::CancelReason;
use crate::run::blocking::blocking;
use crate::run::drive::protocol::protocol_of;
use crate::run::launch::private_dirs::PrivateDirs;
use crate::run::outcome::report::ResultBuilder;
use crate::run::result::ToolResult;
use crate::run::spec::{RunId, RunSpec};
use crate::text::Sanitizer;

/// A run that may start: everything about it is decided, nothing is started or spent.
pub struct AdmittedRun {
    pub(in crate::run) spec: Arc<RunSpec>,
    pub(in crate::run) id: RunId,
    pub(in crate::run) sanitizer: Arc<Sanitizer>,
    pub(in crate::run) resolved: Arc<ResolvedRun>,
    pub(in crate::run) plan: Arc<ToolPlan>,
    pub(in crate::run) builder: ResultBuilder,
}

impl AdmittedRun {
    /// The configuration in force for the run.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.resolved.config
    }

    /// The agent's name.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.resolved.agent.name
    }

    /// pi's directory for agents, settings and sessions.
    #[must_use]
    pub fn agent_dir(&self) -> &Path {
        &self.spec.context.agent_dir
    }

    /// The task.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.spec.task
    }

    /// The provider of the child's model, if known.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.resolved.provider()
    }

    /// The tools that the child gets.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.plan.tools
    }

    /// The child's model, if one was chosen.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.resolved.model.as_deref()
    }

    /// The child's thinking level, if one was chosen.
    #[must_use]
    pub fn thinking(&self) -> Option<&str> {
        self.resolved.thinking.as_deref()
    }

    /// The sanitizer for every text of the run.
    #[must_use]
    pub fn sanitizer(&self) -> &Arc<Sanitizer> {
        &self.sanitizer
    }

    /// Why the budget is exhausted, if it is.
    pub async fn over_budget(&self) -> Option<String> {
        self.meter().await.refusal().map(|over| over.to_string())
    }

    /// Whether the child can be started before the call arrives. Not when its protocol needs the task at once, when the
    /// budget is exhausted, or when a token must be refreshed before the child gets its copy.
    pub async fn may_boot_early(&self) -> bool {
        if !protocol_of(self.config().protocol).waits_for_task() || self.meter().await.refusal().is_some() {
            return false;
        }
        let until = self.resolved.timeout.and_then(|limit| SystemTime::now().checked_add(limit));
        let (true, Some(provider), Some(until)) =
            (self.resolved.needs_private_dirs(), self.provider(), until)
        else {
            return true;
        };
        let (agent_dir, provider) = (self.spec.context.agent_dir.clone(), provider.to_owned());
        let credentials = self.resolved.credentials.clone();
        blocking(move || !PrivateDirs::need_refresh(&agent_dir, credentials.as_deref(), &provider, until))
            .await
    }

    /// Replaces the task.
    pub fn set_task(&mut self, task: String) {
        Arc::make_mut(&mut self.spec).task.clone_from(&task);
        self.builder.task = task;
    }

    /// The notices for the caller so far.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.builder.diagnostics
    }

    /// Adds a notice for the caller.
    pub fn note(&mut self, diagnostic: String) {
        self.builder.diagnostics.push(diagnostic);
    }

    /// The result of a run that never starts because of another run.
    #[must_use]
    pub fn skipped(self, why: &str) -> ToolResult {
        self.builder.skipped(why)
    }

    /// The result of a run that could not be started.
    #[must_use]
    pub fn not_started(self, why: &str) -> ToolResult {
        self.builder.not_started(why, Duration::ZERO, None)
    }

    /// The result of a run that was aborted before it started.
    #[must_use]
    pub fn aborted(self, reason: &CancelReason) -> ToolResult {
        self.builder.never_started(reason)
    }
}
