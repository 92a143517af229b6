//! A run that may start, and what others may ask about it.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::resolve::ResolvedRun;
use crate::agent::{ASK, Asks, ToolPlan};
use crate::config::Config;
use crate::process::CancelReason;
use crate::run::blocking::blocking;
use crate::run::drive::protocol::protocol_of;
use crate::run::launch::launcher::{Job, WorkThere};
use crate::run::launch::private_files::TokenUse;
use crate::run::outcome::report::ResultBuilder;
use crate::run::outcome::verdict::Verdict;
use crate::run::result::ToolResult;
use crate::run::spec::{RunSpec, SharedRunId};

/// A run that may start: everything about it is decided, nothing is started or spent.
#[derive(Clone)]
pub struct AdmittedRun {
    pub(crate) spec: Arc<RunSpec>,
    pub(crate) resolved: Arc<ResolvedRun>,
    pub(in crate::run) plan: Arc<ToolPlan>,
    pub(in crate::run) builder: ResultBuilder,
    /// The lock of the work tree that the run writes to, once it has its turn.
    pub(crate) tree_lock: Option<Arc<File>>,
    /// The private tree of a child that a launcher starts elsewhere, once it is known.
    pub(in crate::run) work_there: Option<Arc<WorkThere>>,
}

impl AdmittedRun {
    /// The configuration in force for the run.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.resolved.config
    }

    /// The id of the run; it is drawn again when its directory already exists.
    #[must_use]
    pub fn id(&self) -> &SharedRunId {
        &self.builder.run_id
    }

    /// Gives the run the id of the child that it takes over.
    pub(crate) fn rename(&self, id: &str) {
        self.builder.run_id.set(id);
    }

    /// The first `bytes` of the task, without secrets.
    #[must_use]
    pub fn shown_task(&self, bytes: usize) -> String {
        self.builder.sanitizer.clip(&self.spec.task, bytes).into_string()
    }

    /// Whom the child may ask with the tool `ask`.
    pub(in crate::run) fn asks(&self) -> Asks {
        if self.tools().iter().any(|tool| tool == ASK) { self.resolved.agent.ask } else { Asks::Nobody }
    }

    /// The launcher that starts the child elsewhere, and how many of its children may exist at once.
    #[must_use]
    pub fn launcher(&self) -> Option<(&str, usize)> {
        let launcher = &self.resolved.launcher;
        launcher.elsewhere().zip(launcher.max_concurrent())
    }

    /// What a launcher is told of the child with this id.
    pub(in crate::run) fn job<'a>(&'a self, run_id: &'a str) -> Job<'a> {
        Job { run_id, agent: &self.resolved.agent.name, cwd: &self.spec.cwd }
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

    /// What the run requires and does not get, so that it must not start.
    #[must_use]
    pub fn unmet(&self) -> Option<&str> {
        self.resolved.unmet.as_deref()
    }

    /// Why the budget is exhausted, if it is.
    pub async fn over_budget(&self) -> Option<String> {
        self.meter().await.refusal().map(|over| over.to_string())
    }

    /// Whether the child can be started before the call arrives. Not when it gets a tree of its own, which is made first, when it
    /// runs elsewhere, when its protocol needs the task at once, when the
    /// budget is exhausted, or when a token must be refreshed before the child gets its copy.
    pub async fn may_boot_early(&self) -> bool {
        if self.resolved.is_isolated || self.resolved.launcher.elsewhere().is_some() {
            return false;
        }
        if !protocol_of(self.config().protocol).waits_for_task() || self.meter().await.refusal().is_some() {
            return false;
        }
        match self.token_use() {
            Some(token) => blocking(move || !token.needs_refresh()).await,
            None => true,
        }
    }

    /// The login that the child's copy of the credentials relies on, if it gets a copy and its end is known.
    pub(in crate::run) fn token_use(&self) -> Option<TokenUse> {
        let until = SystemTime::now().checked_add(self.resolved.timeout?)?;
        let provider = self.provider()?;
        let has_key = self.resolved.keys.iter().any(|known| known.provider == provider);
        (self.resolved.needs_private_dirs() && !has_key).then_some(TokenUse {
            agent_dir: self.spec.context.agent_dir.clone(),
            credentials: self.resolved.credentials.clone(),
            provider: provider.to_owned(),
            until,
        })
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

    /// Adds a notice about an option of the call that is skipped. The caller's model reads it below the answer.
    pub fn note_skipped(&mut self, warning: String) {
        self.builder.skipped_options.push(warning.clone());
        self.builder.diagnostics.push(warning);
    }

    /// The notices about options of the call that are skipped.
    #[must_use]
    pub fn skipped_options(&self) -> &[String] {
        &self.builder.skipped_options
    }

    /// The result of a run that never starts because of another run.
    #[must_use]
    pub fn skipped(self, why: &str) -> ToolResult {
        self.builder.never_started(Verdict::skipped(why.to_owned()))
    }

    /// The result of a run that could not be started.
    #[must_use]
    pub fn not_started(self, why: &str) -> ToolResult {
        self.builder.without_child(&Verdict::failed(1, why.to_owned()), Duration::ZERO, None)
    }

    /// The result of a run that was aborted before it started.
    #[must_use]
    pub fn aborted(self, reason: &CancelReason) -> ToolResult {
        self.builder.never_started(Verdict::cancelled(reason))
    }
}
