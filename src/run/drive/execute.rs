//! Drives one run from its permit to its result.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::active_run::ActiveRun;
use super::control::{Control, QuotaWaitTooLong, Watchers};
use crate::run::admit::prepare::AdmittedRun;
use crate::run::blocking::{blocking, spawn_task, unless_cancelled};
use crate::run::budget::account::{account_of, note, spent_before, take_notice};
use crate::run::budget::enforcer::BudgetEnforcer;
use crate::run::budget::meter::Meter;
use crate::run::callbacks::HostCallbacks;
use crate::run::facts::StoredChanges;
use crate::run::launch::boot::{Booted, StartFailure};
use crate::run::launch::files::RunFiles;
use crate::run::outcome::retry::{Limited, backoff, has_no_side_effects, may_retry};
use crate::run::progress::{Progress, RetryNotice};
use crate::run::record::changes::{Changed, WorkTree, listed, paths_of};
use crate::run::record::changes::{Watched, flagged_in_branch};
use crate::run::record::git::{NoAnswer, read_only};
use crate::run::record::isolation::{Isolated, IsolationError};
use crate::run::record::snapshots::{Before, NotRecorded, TreeAtEnd, snapshot_store};
use crate::run::result::ToolResult;
use crate::run::result::artifacts::MAX_CHANGES;
use crate::run::result::verdict::{RunReport, Verdict};
use crate::run::spec::Resumption;
use crate::run::state::RunState;
use agents::is_free_of_side_effects;
use files::canonical;
use pi_events::{RateLimit, Usage};
use sanitizer::with_cause;
use supervisor::{CancelReason, Outcome};
use worktree::root_of;

/// The prompt of a child whose session continues after its provider's quota was used up.
const AFTER_QUOTA: &str = "The provider's usage limit interrupted you and has been lifted. Continue with your task where you left off, and finish it.";
/// The time before the end of a retry pause at which the next attempt's child boots. Even a busy machine needs less.
const BOOT_TIME: Duration = Duration::from_secs(5);

/// The reason why a wait for a provider's quota ended without the quota.
enum QuotaError {
    Cancelled(CancelReason),
    TooLong(QuotaWaitTooLong),
}

/// All spending without a session shares one account.
const NO_SESSION: &str = "";

impl AdmittedRun {
    /// Runs the agent until it has a result. Uses the child in `early` if it is exactly the child that would be started
    /// now, and ends it otherwise.
    pub async fn run(
        self,
        mut early: Option<Booted>,
        watchers: Watchers<'_>,
        callbacks: &dyn HostCallbacks,
        control: &Control,
    ) -> ToolResult {
        let result = Box::pin(self.run_with(&mut early, watchers, callbacks, control)).await;
        // The run ended before it needed a child.
        if let Some(unused) = early {
            unused.discard().await;
        }
        result
    }

    /// Does the same, and leaves the child in `early` if the run ends before it needs a child.
    async fn run_with(
        mut self,
        early: &mut Option<Booted>,
        watchers: Watchers<'_>,
        callbacks: &dyn HostCallbacks,
        control: &Control,
    ) -> ToolResult {
        let cancel = control.cancel.child();
        let Ok(meter) = unless_cancelled(&cancel, self.meter()).await else {
            return self.aborted(&cancel.reason().unwrap_or(CancelReason::Dropped));
        };
        let enforcer = BudgetEnforcer::new(meter, cancel.clone());
        self.builder.diagnostics.extend(take_notice());
        let context = Arc::clone(&self.spec.context);
        let stop = cancel.child();
        let mut active = ActiveRun {
            admitted: self,
            started: Instant::now(),
            enforcer,
            cancel,
            stop,
            steering: &control.steering,
            watchers,
            limited: Limited::default(),
            time_limit: JoinSet::new(),
            continued: 0,
            callbacks,
            isolated: None,
            is_unrecorded: false,
            remote_output: Mutex::new(None),
        };
        active.start_time_limit();
        let mut result = Box::pin(active.drive(early)).await;
        if let Some(isolated) = active.isolated.take() {
            // No child has ended in this tree. But a child may have started, and the set-up command may have changed
            // files.
            let outcome = active.import_changes(isolated).await;
            active.admitted.builder.add_artifacts(&mut result, outcome);
        }
        // Recorded for every outcome: the money is spent.
        let spent = active.enforcer.spent();
        result.log(spent);
        if !active.admitted.is_charged_by_record {
            blocking(move || note(&context, spent)).await;
        }
        result
    }

    pub(crate) async fn meter(&self) -> Meter {
        // The account is charged even without a bound, because one may be set later.
        let limit = self.resolved.max_session_cost().unwrap_or_default();
        let context = Arc::clone(&self.spec.context);
        let account = move || account_of(context.account().unwrap_or(NO_SESSION), || spent_before(&context));
        let session = Some((blocking(account).await, limit));
        Meter::new(self.resolved.budget, session, &self.resolved.agent.name)
            .continuing(self.spec.overrides.used_before)
    }
}

impl ActiveRun<'_> {
    /// Starts the timer that ends the run's work once the rest of its time has passed. Dropping `time_limit` stops the
    /// timer.
    fn start_time_limit(&mut self) {
        let Some(timeout) = self.admitted.resolved.timeout else { return };
        let stop = self.stop.clone();
        let limited_by = self.admitted.resolved.limited_by;
        let rest = timeout.saturating_sub(self.started.elapsed());
        self.time_limit.spawn(async move {
            sleep(rest).await;
            tracing::warn!(
                target: "run", limit = ?timeout, setting = limited_by,
                "the time of the run is up"
            );
            stop.cancel(CancelReason::Bound(limited_by.to_owned()));
        });
    }

    /// Returns the stored changes of a run that worked in place, or the reason why there are none.
    fn stored_in_place(
        &self,
        tree: &TreeAtEnd,
        is_committed: bool,
        is_recorded: bool,
    ) -> Option<StoredChanges> {
        match tree {
            _ if self.is_unrecorded => Some(StoredChanges::NotRecorded),
            TreeAtEnd::Same => (!is_committed).then_some(StoredChanges::Nothing),
            TreeAtEnd::Other(_) => Some(StoredChanges::Snapshot),
            TreeAtEnd::Unknown(_) => is_recorded.then_some(StoredChanges::Snapshot),
        }
    }

    async fn drive(&mut self, early: &mut Option<Booted>) -> ToolResult {
        let mut booted = match Box::pin(self.prepare_start(early)).await {
            Ok(booted) => booted,
            Err(result) => return result,
        };
        let watched = unless_cancelled(&self.stop, self.watched()).await.ok().flatten();
        self.admitted.builder.diagnostics.extend(watched.iter().flat_map(Watched::gaps));
        let (before, snapshot) = self.record_tree().await;
        loop {
            let attempt = self.admitted.builder.earlier.count + 1;
            let child = match self.child(booted.take(), attempt).await {
                Ok(child) => child,
                Err(result) => {
                    self.end_snapshot(snapshot).await;
                    return result;
                }
            };
            self.admitted.builder.run_id.set(child.run_id());
            let (mut files, mut last) = match Box::pin(self.attempt(attempt, child)).await {
                (files, Ok(last)) => (files, last),
                (files, Err(verdict)) => {
                    let result = self.without_child(&verdict, files.session());
                    files.remove().await;
                    self.end_snapshot(snapshot).await;
                    return result;
                }
            };
            let notices = self.conclude_remote(&files, &last).await;
            self.admitted.builder.diagnostics.extend(notices);
            let usage = last.collected.usage.clone();
            self.enforcer.record(&usage);
            if let Outcome::Cancelled(reason) = &mut last.supervised.outcome
                && let Some(refreshed) = self.enforcer.refreshed(reason)
            {
                *reason = refreshed;
            }
            let mut report = RunReport::new(last, self.started.elapsed(), self.sanitizer());
            if self.may_wait_for_quota(&report, &files) {
                match self.after_quota(files, report).await {
                    Ok(()) => continue,
                    Err(ended) => (files, report) = *ended,
                }
            } else if let Some(pause) = self.pause_after(attempt, &report) {
                tracing::info!(target: "run", next = attempt + 1, ?pause, "another attempt follows");
                (files, report) = self.give_back(files, report).await;
                let mut all = usage.clone();
                all.add(self.earlier_usage());
                let retry = self.notice_of(attempt, pause, &report);
                let retrying =
                    Progress { retry: Some(retry), ..self.progress(RunState::Retrying, attempt + 1, all) };
                self.watchers.progress.send_replace(retrying);
                let (rest, waited) = Box::pin(self.pause_and_boot(pause, attempt + 1, files)).await;
                files = rest;
                match waited {
                    Ok(next) => {
                        booted = next;
                        self.admitted.builder.earlier.add(&usage, files.session());
                        files.remove().await;
                        self.enforcer.next_attempt();
                        continue;
                    }
                    Err(reason) => report.cancel(reason, self.started.elapsed()),
                }
            }
            let is_listed = before.is_some();
            let is_recorded = snapshot.is_some();
            let (changed, tree) = tokio::join!(self.changes_since(before), self.tree_since(snapshot));
            let (changed, unlisted) = match changed {
                Ok(changed) => (changed, None),
                Err(error) => (None, Some(error.to_string())),
            };
            let is_committed = changed.as_ref().is_some_and(|changed| changed.is_committed);
            let changed = changed.map(|changed| changed.with(tree.paths()));
            report.changes = changed.as_ref().map(Changed::listed);
            let existing = blocking(move || changed.map(|changed| changed.existing())).await;
            if let Some(isolated) = self.isolated.take() {
                let outcome = self.import_changes(isolated).await;
                report.changes =
                    outcome.changes.as_ref().map(|changes| listed(paths_of(changes), MAX_CHANGES));
                report.flagged = flagged_in_branch(&outcome);
                self.admitted.builder.diagnostics.extend(outcome.notices);
                report.stored_changes = outcome.changes.is_some().then(|| outcome.report.stored_changes());
                report.isolation = Some(outcome.report);
            } else {
                report.flagged = self.flagged_since(watched, &existing.unwrap_or_default()).await;
                report.stored_changes = self.stored_in_place(&tree, is_committed, is_recorded);
            }
            // A commit shows in no file.
            let is_unknown = is_listed && report.changes.is_none();
            match tree {
                // A file that was only rewritten with the same content is not a change that a person could look at or
                // undo.
                TreeAtEnd::Same if !is_committed && !is_unknown => report.changes = Some(Vec::new()),
                TreeAtEnd::Same | TreeAtEnd::Other(_) => {}
                TreeAtEnd::Unknown(notice) => self.admitted.builder.diagnostics.extend(notice),
            }
            self.admitted.builder.diagnostics.extend(unlisted.filter(|_| is_unknown));
            let builder = self.admitted.builder.clone();
            // Blocks: writes a long answer.
            let (result, files) = blocking(move || (builder.finish(report, &files), files)).await;
            files.remove().await;
            return result;
        }
    }

    /// Waits for the pause before an attempt. Boots its child near the end of the pause, if that child can wait for its
    /// task. `files` are those of the attempt before. Returns the reason if the run is cancelled in the meantime.
    async fn pause_and_boot(
        &self,
        pause: Duration,
        attempt: u32,
        files: RunFiles,
    ) -> (RunFiles, Result<Option<Booted>, CancelReason>) {
        let AdmittedRun { resolved, .. } = &self.admitted;
        let boots = resolved.concurrency().ahead > 0
            && resolved.protocol.waits_for_task()
            && resolved.launcher.remote_name().is_none();
        let boot = async {
            let until_boot = sleep(pause.saturating_sub(BOOT_TIME));
            if !boots || unless_cancelled(&self.cancel, until_boot).await.is_err() {
                return (files, None);
            }
            let files = files.make_room().await;
            // If this fails, the attempt tries again and reports the error.
            (files, self.admitted.launch(attempt, &self.stop).await.ok())
        };
        let (waited, (files, booted)) = tokio::join!(unless_cancelled(&self.cancel, sleep(pause)), boot);
        match waited {
            Ok(()) => (files, Ok(booted)),
            Err(reason) => {
                if let Some(unneeded) = booted {
                    unneeded.discard().await;
                }
                (files, Err(reason))
            }
        }
    }

    /// Writes the refreshed token of an attempt back, before the next attempt starts. Blocks no thread.
    async fn give_back(&mut self, files: RunFiles, report: RunReport) -> (RunFiles, RunReport) {
        let builder = self.admitted.builder.clone();
        let given_back = move || {
            let notice = builder.give_back(&files, &report.last);
            (files, report, notice)
        };
        let (files, report, notice) = blocking(given_back).await;
        let diagnostics = &mut self.admitted.builder.diagnostics;
        diagnostics.extend(notice.filter(|notice| !diagnostics.contains(notice)));
        (files, report)
    }

    /// Returns true if the run can continue once its provider's quota is available again: in its session, or from its
    /// start if it has none and has changed nothing.
    fn may_wait_for_quota(&self, report: &RunReport, files: &RunFiles) -> bool {
        let resolved = &self.admitted.resolved;
        let has_session = files.session().is_some() && resolved.launcher.remote_name().is_none();
        let is_harmless = |tool: &str| is_free_of_side_effects(tool, resolved.sandbox.is_read_only());
        report.verdict.is_provider_error()
            && self.limited.is_quota()
            && (has_session || has_no_side_effects(&report.last.collected, is_harmless))
    }

    /// Waits for the provider's quota, and prepares the next attempt. If the quota does not become available, returns
    /// the files and the report.
    async fn after_quota(
        &mut self,
        files: RunFiles,
        report: RunReport,
    ) -> Result<(), Box<(RunFiles, RunReport)>> {
        let (files, mut report) = self.give_back(files, report).await;
        let usage = report.last.collected.usage.clone();
        let mut all = usage.clone();
        all.add(self.earlier_usage());
        match self.wait_for_quota(&report, &all).await {
            Ok(()) => {
                self.continue_session(&files);
                self.admitted.builder.earlier.add(&usage, files.session());
                files.remove().await;
                self.enforcer.next_attempt();
                return Ok(());
            }
            Err(QuotaError::Cancelled(reason)) => report.cancel(reason, self.started.elapsed()),
            Err(QuotaError::TooLong(error)) => {
                self.admitted.builder.diagnostics.push(error.to_string());
                self.admitted.builder.quota_exhausted = Some(error.provider);
            }
        }
        Err(Box::new((files, report)))
    }

    /// Waits without a slot until the provider's quota is available again. The waiting time does not count towards the
    /// run's limit.
    async fn wait_for_quota(&mut self, report: &RunReport, usage: &Usage) -> Result<(), QuotaError> {
        let next = self.admitted.builder.earlier.count + 2;
        self.time_limit.abort_all();
        let since = Instant::now();
        let error = report.verdict.error.as_deref().map(|error| self.sanitizer().sanitize(error));
        let show = |until: Option<Duration>| {
            let retry =
                RetryNotice::by_run(self.continued + 1, None, until.unwrap_or_default(), error.as_ref());
            let waiting = Progress {
                retry: Some(retry),
                ..self.progress(RunState::AwaitingQuota, next, usage.clone())
            };
            self.watchers.progress.send_replace(waiting);
        };
        let waited = unless_cancelled(&self.cancel, self.watchers.provider.wait_for_quota(&show)).await;
        match waited {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(QuotaError::TooLong(error)),
            Err(reason) => return Err(QuotaError::Cancelled(reason)),
        }
        self.limited.clear();
        self.continued += 1;
        self.started += since.elapsed();
        self.start_time_limit();
        Ok(())
    }

    /// Lets the next attempt continue the session of the last one, if it has one on this machine.
    fn continue_session(&mut self, files: &RunFiles) {
        let AdmittedRun { spec, resolved, .. } = &mut self.admitted;
        let Some(session) = files.session().filter(|_| resolved.launcher.remote_name().is_none()) else {
            return;
        };
        let Some(directory) = session.parent() else { return };
        let spec = Arc::make_mut(spec);
        spec.overrides.resumes = Some(Resumption {
            run_id: files.run_id.clone(),
            directory: directory.to_owned(),
            session: session.to_owned(),
        });
        AFTER_QUOTA.clone_into(&mut spec.task);
    }

    /// Ends the snapshot of a run that gets no further child. The snapshot is removed unless an earlier child has
    /// changed something.
    async fn end_snapshot(&self, snapshot: Option<Before>) {
        // If the end cannot be recorded, an undo is less exact. The result is complete already.
        let _ = self.tree_since(snapshot).await;
    }

    /// Prepares the run for its first child, and returns the early child if the run can use it.
    async fn prepare_start(&mut self, early: &mut Option<Booted>) -> Result<Option<Booted>, ToolResult> {
        // This comes first, because a new private tree replaces the artifacts of the run's earlier part.
        if let Some(unmet) = self.admitted.unmet() {
            return Err(self.without_child(&Verdict::failed(1, unmet.to_string()), None));
        }
        if let Some(exceeded) = self.enforcer.refusal() {
            tracing::warn!(target: "budget", reason = %exceeded, "the budget does not allow the run to start");
            return Err(self.admitted.builder.never_started(Verdict::over_budget(exceeded.to_string())));
        }
        let starting = Progress { state: RunState::Starting, ..Progress::default() };
        self.watchers.progress.send_replace(starting);
        if let Err(verdict) = self.isolate().await {
            return Err(self.without_child(&verdict, None));
        }
        let Ok(booted) = unless_cancelled(&self.stop, self.fitting_child(early.take())).await else {
            return Err(self.without_child(&self.stopped(), None));
        };
        // A child with private directories works with a copy of the token.
        if booted.is_none()
            && let Some(token) = self.admitted.token_use()
            && unless_cancelled(&self.stop, token.refresh(self.callbacks)).await.is_err()
        {
            return Err(self.without_child(&self.stopped(), None));
        }
        Ok(booted)
    }

    /// Returns the child of an attempt, or the result of a run that cannot have one.
    async fn child(&self, early: Option<Booted>, attempt: u32) -> Result<Booted, ToolResult> {
        let child = match early {
            Some(child) => Ok(child),
            None => self.admitted.launch(attempt, &self.stop).await,
        };
        match (child, self.stop.reason()) {
            (Ok(child), None) => return Ok(child),
            // The child ends before it gets its task, because it would begin to spend with it.
            (Ok(child), Some(_)) => child.discard().await,
            (Err(StartFailure::Cancelled), _) => {}
            (Err(StartFailure::Failed { error, mut files }), _) => {
                if let Some(files) = &mut files {
                    files.keep_session();
                }
                let session = files.as_ref().and_then(|files| files.session());
                return Err(self.without_child(&Verdict::failed(1, with_cause(&error)), session));
            }
        }
        Err(self.without_child(&self.stopped(), None))
    }

    fn without_child(&self, verdict: &Verdict, session: Option<&Path>) -> ToolResult {
        self.admitted.builder.without_child(verdict, self.started.elapsed(), session)
    }

    /// Returns the child that was booted early, unless the run needs another one.
    async fn fitting_child(&self, early: Option<Booted>) -> Option<Booted> {
        let booted = early?;
        let admitted = self.admitted.clone();
        let (fits, booted) = blocking(move || (admitted.fits(&booted), booted)).await;
        if fits {
            // From here on, the artifacts of the run are found by the id of the child's files.
            self.admitted.builder.run_id.set(booted.run_id());
            return Some(booted);
        }
        tracing::info!(
            target: "early", child = booted.run_id(), reason = "the run needs another child",
            "an early child is discarded"
        );
        booted.discard().await;
        None
    }

    /// Records the state of the tree before the child gets its task: for the list of changed files, and for an undo.
    async fn record_tree(&mut self) -> (Option<WorkTree>, Option<Before>) {
        // Both run concurrently, because the same file may block git in both.
        let (work_tree, snapshot) = tokio::join!(
            unless_cancelled(&self.stop, Box::pin(self.work_tree())),
            unless_cancelled(&self.stop, Box::pin(self.snapshot())),
        );
        let (before, not_listed) = match work_tree {
            Ok(Ok(before)) => (Some(before), None),
            Ok(Err(NoAnswer::Blocked(why))) => {
                (None, Some(format!("the files that this run changes are not listed: {why}")))
            }
            Ok(Err(NoAnswer::Failed | NoAnswer::TooMuch)) | Err(_) => (None, None),
        };
        let (snapshot, not_recorded) = match snapshot.unwrap_or(Ok(None)) {
            Ok(snapshot) => (snapshot, None),
            Err(error) => (None, Some(with_cause(&error))),
        };
        self.is_unrecorded = not_recorded.is_some();
        self.admitted.builder.diagnostics.extend(not_recorded.into_iter().chain(not_listed));
        (before, snapshot)
    }

    async fn work_tree(&self) -> Result<WorkTree, NoAnswer> {
        let AdmittedRun { spec, resolved, .. } = &self.admitted;
        if !resolved.may_write_here() || self.isolated.is_some() {
            return Err(NoAnswer::Failed);
        }
        let spec_of = Arc::clone(spec);
        let resolved = Arc::clone(resolved);
        let guardian = blocking(move || {
            read_only(&resolved.capabilities, resolved.base_config(), &spec_of.context, &spec_of.cwd)
        })
        .await;
        WorkTree::read(&spec.cwd, &spec.context.env, guardian).await
    }

    /// Gives the run a private tree, if it needs one, and moves it there.
    async fn isolate(&mut self) -> Result<(), Verdict> {
        let AdmittedRun { spec, resolved, builder, .. } = &self.admitted;
        if !resolved.is_isolated {
            return Ok(());
        }
        let id = builder.run_id.get();
        let continues = spec.overrides.resumes.is_some();
        let context = Arc::clone(&spec.context);
        let cwd = spec.cwd.clone();
        let stop = self.stop.clone();
        let resolved = Arc::clone(resolved);
        if let Some(launcher) = resolved.launcher.remote_name().map(str::to_owned) {
            let creation =
                Box::pin(Isolated::create_remote(context, resolved, id.into(), cwd, launcher, stop));
            let (isolated, work) = self.unless_stopped(creation).await?;
            isolated.begin().await;
            self.admitted.builder.diagnostics.extend(isolated.notices().iter().cloned());
            self.admitted.remote_work = Some(work);
            self.isolated = Some(isolated);
            return Ok(());
        }
        let creation = Box::pin(Isolated::create(context, resolved, id.into(), cwd, continues, stop));
        let (isolated, cwd) = self.unless_stopped(creation).await?;
        isolated.begin().await;
        tracing::info!(target: "tree", root = ?isolated.root(), "the run has a private tree");
        let AdmittedRun { spec, resolved, builder, .. } = &mut self.admitted;
        builder.diagnostics.extend(isolated.notices().iter().cloned());
        let scope = resolved.scope.as_ref().zip(isolated.root()).map(|(scope, root)| scope.in_private(root));
        Arc::make_mut(resolved).scope = scope;
        Arc::make_mut(spec).cwd = cwd;
        self.isolated = Some(isolated);
        Ok(())
    }

    /// Waits for a private tree until the run is stopped, which also ends git. Then an unfinished tree is removed in
    /// the background.
    async fn unless_stopped<T: Send + 'static>(
        &self,
        mut creation: impl Future<Output = Result<(Isolated, T), IsolationError>> + Send + Unpin + 'static,
    ) -> Result<(Isolated, T), Verdict> {
        if let Ok(result) = unless_cancelled(&self.stop, &mut creation).await {
            return result.map_err(|error| Verdict::failed(1, with_cause(&error)));
        }
        spawn_task(async move {
            if let Ok((unwanted, _)) = creation.await {
                unwanted.unmake().await;
            }
        });
        Err(self.stopped())
    }

    /// Returns the state of the tree before the child gets its task.
    async fn snapshot(&self) -> Result<Option<Before>, NotRecorded> {
        let AdmittedRun { spec, resolved, builder, .. } = &self.admitted;
        if !resolved.may_write_here() || self.isolated.is_some() {
            return Ok(None);
        }
        let cwd = spec.cwd.clone();
        let root = blocking(move || root_of(&canonical(&cwd))).await;
        let store = snapshot_store(&spec.context, resolved.base_config(), &resolved.capabilities).await;
        Before::take(store, &builder.run_id.get(), &root).await
    }

    async fn watched(&self) -> Option<Watched> {
        let AdmittedRun { spec, resolved, .. } = self.admitted.clone();
        if !resolved.may_write_here() || self.isolated.is_some() {
            return None;
        }
        Some(Watched::start(blocking(move || resolved.watched_scope(&spec)).await?).await)
    }

    fn notice_of(&self, attempt: u32, pause: Duration, report: &RunReport) -> RetryNotice {
        let sanitizer = self.sanitizer();
        let error = report.verdict.error.as_deref().map(|error| sanitizer.sanitize(error));
        let max = self.admitted.resolved.retry().max_attempts;
        RetryNotice::by_run(attempt, Some(max.saturating_sub(1)), pause, error.as_ref())
    }

    /// Returns the pause before another attempt, including a pause that the provider has asked for. `None` if no
    /// attempt follows.
    fn pause_after(&self, attempt: u32, report: &RunReport) -> Option<Duration> {
        let policy = self.admitted.resolved.retry();
        let sandboxed = self.admitted.resolved.sandbox.is_read_only();
        let is_harmless = |tool: &str| is_free_of_side_effects(tool, sandboxed);
        let limited = self.limited.remaining();
        // An attempt that continues a session is not a retry.
        let attempt = attempt - self.continued;
        if !policy.enabled
            || attempt >= policy.max_attempts
            || !report.verdict.is_provider_error()
            || !may_retry(&report.last.collected, is_harmless)
            || limited > RateLimit::LONGEST_PAUSE
        {
            report.verdict.log_last(attempt, limited);
            return None;
        }
        let pause = backoff(policy, attempt + 1).max(limited);
        let remaining =
            self.admitted.resolved.timeout.map(|limit| limit.saturating_sub(self.started.elapsed()));
        remaining.is_none_or(|remaining| remaining > pause).then_some(pause)
    }
}
