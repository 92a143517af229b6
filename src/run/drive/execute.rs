//! Drives one run from its permit to its result.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::attempt::Attempt;
use super::control::{Control, Steering, Watchers};
use crate::agent::is_free_of_side_effects;
use crate::process::{Cancel, CancelReason, Outcome};
use crate::run::admit::admitted::AdmittedRun;
use crate::run::admit::prepare;
use crate::run::blocking::{blocking, unless_cancelled};
use crate::run::budget::account::{account_of, note, spent_before, take_notice};
use crate::run::budget::enforcer::BudgetEnforcer;
use crate::run::budget::meter::Meter;
use crate::run::callbacks::HostCallbacks;
use crate::run::launch::boot::{Booted, LaunchPlan, NoChild};
use crate::run::launch::private_dirs::PrivateDirs;
use crate::run::outcome::changes::WorkTree;
use crate::run::outcome::retry::{EarlierAttempts, Limited, backoff, may_retry};
use crate::run::outcome::verdict::RunReport;
use crate::run::progress::Progress;
use crate::run::result::ToolResult;
use crate::run::spec::{RunId, RunSpec};
use crate::run::state::RunState;
use crate::text::figures::millis;

/// The longest pause that a run makes at a provider's request, while it keeps its permit. If the provider asks for
/// more, the run ends and the caller decides.
const LONGEST_HOLD: Duration = Duration::from_secs(60);
/// How long an aborted run looks for changed files. The caller is waiting.
const CHANGES_AFTER_ABORT: Duration = Duration::from_secs(1);

/// All spending without a session shares one account.
const NO_SESSION: &str = "";

/// Runs one agent on one task. Whatever a user or a child can cause ends in a result, never in an error.
///
/// Dropping the future ends the child and everything that it has started.
pub async fn execute(
    spec: RunSpec,
    run_id: RunId,
    watchers: Watchers<'_>,
    callbacks: &dyn HostCallbacks,
    control: &Control,
) -> ToolResult {
    match prepare(spec, run_id, callbacks, &control.cancel).await {
        Ok(admitted) => admitted.run(None, watchers, callbacks, control).await,
        Err(result) => result,
    }
}

impl AdmittedRun {
    /// Starts a child that has no task yet. `None` if that failed; the run then tries again and reports the error.
    pub async fn boot(&self, cancel: &Cancel) -> Option<Booted> {
        self.launch_plan(1).boot(cancel).await.ok()
    }

    /// Runs to the result. Uses the child in `early` if it is exactly the one that would be started now, and ends it
    /// otherwise.
    pub async fn run(
        mut self,
        early: Option<Booted>,
        watchers: Watchers<'_>,
        callbacks: &dyn HostCallbacks,
        control: &Control,
    ) -> ToolResult {
        let cancel = control.cancel.child();
        let enforcer = BudgetEnforcer::new(self.meter().await, cancel.clone());
        self.builder.diagnostics.extend(take_notice());
        let context = Arc::clone(&self.spec.context);
        // Boxed, so that the caller's future does not have to hold all of this one.
        let result =
            Box::pin(self.run_within(&enforcer, &cancel, early, watchers, callbacks, &control.steering))
                .await;
        // Recorded for every outcome: the money is spent.
        let spent = enforcer.spent();
        blocking(move || note(&context, spent)).await;
        result
    }

    async fn run_within(
        self,
        enforcer: &BudgetEnforcer,
        cancel: &Cancel,
        early: Option<Booted>,
        watchers: Watchers<'_>,
        callbacks: &dyn HostCallbacks,
        steering: &Steering,
    ) -> ToolResult {
        let started = Instant::now();
        if let Some(over) = enforcer.refusal() {
            discard(early).await;
            return self.builder.over_budget(&over);
        }
        let limited = Limited::default();
        let rate_limited = |delay| {
            limited.note(delay);
            (watchers.rate_limited)(delay);
        };
        let watchers = Watchers { progress: watchers.progress, rate_limited: &rate_limited };
        watchers.progress.send_replace(Progress { state: RunState::Starting, ..Progress::default() });
        let early = self.take(early).await;
        if early.is_none()
            && let Err(reason) = unless_cancelled(cancel, self.refresh(callbacks)).await
        {
            return self.builder.aborted_before_start(&reason, started.elapsed());
        }
        let before = unless_cancelled(cancel, self.work_tree()).await.ok().flatten();
        let (mut booted, mut earlier_attempts, mut attempt) = (early, EarlierAttempts::default(), 1);
        loop {
            let child = match self.child(booted.take(), attempt, started, cancel).await {
                Ok(child) => child,
                Err(result) => return earlier_attempts.end(result),
            };
            self.id.set(child.run_id());
            let drive = Attempt {
                admitted: &self,
                started,
                number: attempt,
                earlier: &earlier_attempts.usage,
                enforcer,
                cancel,
                steering,
            };
            let (last, mut files) = match drive.run(child, &watchers, callbacks).await {
                Ok(ended) => ended,
                Err((error, files)) => {
                    let result = self.builder.not_started(&error, started.elapsed(), files.session());
                    return earlier_attempts.end(result);
                }
            };
            enforcer.record(&last.collected.usage);
            let earlier = earlier_attempts.usage.clone();
            let mut report = RunReport::new(last, attempt, earlier, started.elapsed());
            if let Some(pause) = self.pause_before_next(&report, started, limited.left()) {
                let builder = self.builder.clone();
                let given_back = move || {
                    builder.give_back(&files, &report.last);
                    (files, report)
                };
                (files, report) = blocking(given_back).await;
                attempt += 1;
                watchers.progress.send_replace(Progress {
                    state: RunState::Retrying,
                    attempt,
                    usage: report.usage(),
                    turn_count: report.usage().turns,
                    elapsed_ms: millis(started.elapsed()),
                    ..Progress::default()
                });
                match unless_cancelled(cancel, tokio::time::sleep(pause)).await {
                    Ok(()) => {
                        earlier_attempts.add(&report, files).await;
                        enforcer.next_attempt();
                        continue;
                    }
                    Err(reason) => report.cancel(reason, started.elapsed()),
                }
            }
            report.changes = changes(before, &report.last.supervised.outcome).await;
            // Blocks: writes a long answer and removes the run's files.
            let builder = self.builder;
            return blocking(move || builder.finish(report, &files)).await;
        }
    }

    /// The child of an attempt, or the result of a run that cannot have one.
    async fn child(
        &self,
        early: Option<Booted>,
        attempt: u32,
        started: Instant,
        cancel: &Cancel,
    ) -> Result<Booted, ToolResult> {
        let child = match early {
            Some(child) => Ok(child),
            None => self.launch_plan(attempt).boot(cancel).await,
        };
        let reason = match (child, cancel.reason()) {
            (Ok(child), None) => return Ok(child),
            (Ok(child), Some(reason)) => {
                // Ended before it gets its task, because then it would begin to spend.
                child.discard().await;
                reason
            }
            (Err(NoChild::Cancelled), reason) => reason.unwrap_or(CancelReason::Dropped),
            (Err(NoChild::Failed { error, mut files }), _) => {
                if let Some(files) = &mut files {
                    files.keep_session();
                }
                let session = files.as_ref().and_then(|files| files.session());
                return Err(self.builder.clone().not_started(&error, started.elapsed(), session));
            }
        };
        Err(self.builder.clone().aborted_before_start(&reason, started.elapsed()))
    }

    pub(in crate::run) fn launch_plan(&self, attempt: u32) -> LaunchPlan {
        LaunchPlan {
            spec: Arc::clone(&self.spec),
            resolved: Arc::clone(&self.resolved),
            plan: Arc::clone(&self.plan),
            run_id: self.id.get(),
            attempt,
        }
    }

    /// The child that was booted early, if it still fits.
    async fn take(&self, early: Option<Booted>) -> Option<Booted> {
        let (booted, launch_plan) = (early?, self.launch_plan(1));
        let (fits, booted) = blocking(move || (launch_plan.fits(&booted), booted)).await;
        if fits {
            return Some(booted);
        }
        discard(Some(booted)).await;
        None
    }

    pub(in crate::run) async fn meter(&self) -> Meter {
        // The account is charged even without a bound, because one may be set later.
        let limit = self.config().session_budget.max_cost.unwrap_or_default();
        let context = Arc::clone(&self.spec.context);
        let account = move || account_of(context.session().unwrap_or(NO_SESSION), || spent_before(&context));
        Meter::new(self.resolved.budget, Some((blocking(account).await, limit)))
    }

    /// Refreshes a token that would expire during the run, because a child with private directories works with a copy.
    /// If it expires all the same, the child refreshes it, and the new one is copied back.
    async fn refresh(&self, callbacks: &dyn HostCallbacks) {
        let context = &self.spec.context;
        let until = self.resolved.timeout.and_then(|limit| SystemTime::now().checked_add(limit));
        if let (true, Some(provider), Some(until)) =
            (self.resolved.needs_private_dirs(), self.provider(), until)
        {
            let credentials = self.resolved.credentials.as_deref();
            PrivateDirs::refresh(&context.agent_dir, credentials, provider, until, callbacks).await;
        }
    }

    async fn work_tree(&self) -> Option<WorkTree> {
        let may_write = self.config().allow_write && !self.resolved.agent.readonly;
        if may_write { WorkTree::look(&self.spec.cwd, &self.spec.context.env).await } else { None }
    }

    /// How long to pause before another attempt, including the pause that a provider asked for. `None` when there is no
    /// further attempt.
    fn pause_before_next(&self, report: &RunReport, started: Instant, limited: Duration) -> Option<Duration> {
        let policy = &self.config().retry;
        let sandboxed = self.resolved.sandbox.is_held();
        let is_harmless = |tool: &str| is_free_of_side_effects(tool, sandboxed);
        if !policy.enabled
            || report.attempts >= policy.max_attempts
            || !report.verdict.is_provider_error()
            || !may_retry(&report.last.collected, is_harmless)
        {
            return None;
        }
        if limited > LONGEST_HOLD {
            return None;
        }
        let pause = backoff(policy, report.attempts + 1).max(limited);
        let left = self.resolved.timeout.map(|limit| limit.saturating_sub(started.elapsed()));
        left.is_none_or(|left| left > pause).then_some(pause)
    }
}

/// Ends a child that is not needed.
async fn discard(booted: Option<Booted>) {
    if let Some(booted) = booted {
        booted.discard().await;
    }
}

/// The files that a run has changed.
async fn changes(before: Option<WorkTree>, outcome: &Outcome) -> Option<Vec<String>> {
    let before = before?;
    if matches!(outcome, Outcome::Cancelled(_)) {
        return tokio::time::timeout(CHANGES_AFTER_ABORT, before.changes()).await.ok().flatten();
    }
    before.changes().await
}
