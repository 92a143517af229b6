//! A run that may start, and the facts about it that other modules need.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use super::resolve::{ResolvedRun, Unmet};
use crate::run::budget::OverBudget;
use crate::run::launcher::{Job, RemoteWork};
use crate::run::result::ToolResult;
use crate::run::result::builder::ResultBuilder;
use crate::run::result::verdict::Verdict;
use crate::run::spec::{RunSpec, SharedRunId};
use agents::{ASK, AskTarget, ToolPlan};
use sanitizer::TruncateLimits;
use supervisor::CancelReason;

/// A run that may start. Everything about it is decided, but nothing has been started or spent.
#[derive(Clone)]
pub struct AdmittedRun {
    pub(crate) spec: Arc<RunSpec>,
    pub(crate) resolved: Arc<ResolvedRun>,
    pub(crate) plan: Arc<ToolPlan>,
    pub(crate) builder: ResultBuilder,
    /// The lock of the work tree that the run writes to, once the run has its write lock.
    pub(crate) tree_lock: Option<Arc<File>>,
    /// The private tree of a child that a launcher starts on another machine, once it is known.
    pub(crate) remote_work: Option<Arc<RemoteWork>>,
}

impl AdmittedRun {
    /// Returns the id of the run. A new id is drawn if a directory with this id already exists.
    #[must_use]
    pub fn id(&self) -> &SharedRunId {
        &self.builder.run_id
    }

    /// Gives the run the id of the booted child that it uses.
    pub(crate) fn rename(&self, id: &str) {
        self.builder.run_id.set(id);
    }

    /// Returns the first `bytes` of the task, without secrets.
    #[must_use]
    pub fn shown_task(&self, bytes: usize) -> String {
        self.builder.sanitizer.clip(&self.spec.task, bytes).into_string()
    }

    /// Returns the recipient of the child's questions with the tool `ask`.
    pub(crate) fn ask_target(&self) -> AskTarget {
        if self.tools().iter().any(|tool| tool == ASK) { self.resolved.agent.ask } else { AskTarget::NoOne }
    }

    /// Returns the launcher that starts the child on another machine, and the limit of its concurrent children.
    #[must_use]
    pub fn launcher(&self) -> Option<(&str, usize)> {
        let launcher = &self.resolved.launcher;
        launcher.remote_name().zip(launcher.max_concurrent())
    }

    /// Describes the child with this id for a launcher.
    pub(crate) fn job<'a>(&'a self, run_id: &'a str) -> Job<'a> {
        Job { run_id, agent: &self.resolved.agent.name, cwd: &self.spec.cwd }
    }

    /// Returns the provider of the child's model, if known.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.resolved.provider()
    }

    /// Returns the tools that the child gets.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.plan.tools
    }

    /// Returns the requirement that the run cannot meet. If there is one, the run must not start.
    #[must_use]
    pub fn unmet(&self) -> Option<&Unmet> {
        self.resolved.unmet.as_ref()
    }

    /// Returns the reason why the budget does not allow a start, if it does not.
    pub async fn over_budget(&self) -> Option<OverBudget> {
        self.meter().await.refusal()
    }

    /// Keeps `bytes` and `lines` of the run's share of a text free for words of its caller. Several runs fit into one text
    /// even if each takes its whole share.
    pub(crate) fn reserve(&mut self, bytes: usize, lines: usize) {
        let limits = &mut self.builder.limits;
        *limits = match self.spec.share {
            0 | 1 => limits.remaining_after(bytes, lines),
            several => {
                let room =
                    (self.resolved.config.output.max_total_bytes / several).saturating_sub(bytes).max(1);
                TruncateLimits { max_bytes: limits.max_bytes.min(room), ..*limits }
            }
        };
    }

    /// Replaces the task.
    pub fn set_task(&mut self, task: String) {
        Arc::make_mut(&mut self.spec).task.clone_from(&task);
        self.builder.task = task;
    }

    /// Returns the notices for the caller so far.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.builder.diagnostics
    }

    /// Adds a notice for the caller.
    pub fn note(&mut self, diagnostic: String) {
        self.builder.diagnostics.push(diagnostic);
    }

    /// Adds a notice about a skipped option of the call. The caller's model reads it below the answer.
    pub fn note_skipped(&mut self, warning: String) {
        self.builder.skipped_options.push(warning.clone());
        self.builder.diagnostics.push(warning);
    }

    /// Returns the notices about skipped options of the call.
    #[must_use]
    pub fn skipped_options(&self) -> &[String] {
        &self.builder.skipped_options
    }

    /// Returns the result of a run that never starts because of another run.
    #[must_use]
    pub fn skipped(self, why: &str) -> ToolResult {
        self.builder.never_started(Verdict::skipped(why.to_owned()))
    }

    /// Returns the result of a run that could not be started.
    #[must_use]
    pub fn not_started(self, why: &str) -> ToolResult {
        self.builder.without_child(&Verdict::failed(1, why.to_owned()), Duration::ZERO, None)
    }

    /// Returns the result of a run that was aborted before it started.
    #[must_use]
    pub fn aborted(self, reason: &CancelReason) -> ToolResult {
        self.builder.never_started(Verdict::cancelled(reason))
    }
}
