//! Drives one run from its permit to its result.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::active_run::ActiveRun;
use super::control::{Control, Watchers};
use crate::run::admit::prepare::AdmittedRun;
use crate::run::blocking::{blocking, unless_cancelled};
use crate::run::budget::account::{account_of, note, spent_before, take_notice};
use crate::run::budget::enforcer::BudgetEnforcer;
use crate::run::budget::meter::Meter;
use crate::run::callbacks::HostCallbacks;
use crate::run::launch::boot::{Booted, StartFailure};
use crate::run::outcome::retry::Limited;
use crate::run::progress::Progress;
use crate::run::record::changes::{Changed, Watched, flagged_in_branch, listed, paths_of};
use crate::run::record::snapshots::TreeAtEnd;
use crate::run::result::ToolResult;
use crate::run::result::artifacts::MAX_CHANGES;
use crate::run::result::verdict::{RunReport, Verdict};
use crate::run::state::RunState;
use sanitizer::with_cause;
use supervisor::{CancelReason, Outcome};

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
        let limit = self.resolved.config.session_budget.max_cost.unwrap_or_default();
        let context = Arc::clone(&self.spec.context);
        let account = move || account_of(context.account().unwrap_or(NO_SESSION), || spent_before(&context));
        let session = Some((blocking(account).await, limit));
        Meter::new(self.resolved.config.budget, session, &self.resolved.agent.name)
            .continuing(self.spec.overrides.used_before)
            .charged_by_record(self.is_charged_by_record)
    }
}

impl ActiveRun<'_> {
    /// Starts the timer that ends the run's work once the rest of its time has passed. Dropping `time_limit` stops the
    /// timer.
    pub(super) fn start_time_limit(&mut self) {
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
        let Ok(booted) = unless_cancelled(&self.stop, Box::pin(self.fitting_child(early.take()))).await
        else {
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

    /// Returns the child that was booted early, unless the run needs another one. From here on, the child has the session of a
    /// run that it continues.
    async fn fitting_child(&self, early: Option<Booted>) -> Option<Booted> {
        let mut booted = early?;
        let admitted = self.admitted.clone();
        let adopt = move || {
            let fits =
                admitted.fits(&booted) && booted.prepared.files.adopt_session(&admitted.spec.cwd).is_ok();
            (fits, booted)
        };
        let (fits, booted) = blocking(adopt).await;
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
}
