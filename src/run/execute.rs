//! One run, from its turn to its result.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::attempt::{Attempt, Attempted};
use super::boot::{Blueprint, Booted, NoChild};
use super::budget::{Meter, account_of};
use super::caller::Caller;
use super::changes::WorkTree;
use super::files::RunId;
use super::ledger::{note, spent_before, take_notice};
use super::past::{Limited, Past};
use super::places::Places;
use super::progress::{Progress, ProgressSender, RunState};
use super::protocol::Steering;
use super::purse::Purse;
use super::ready::{Ready, blocking, prepare, unless_cancelled};
use super::report::{Ending, Verdict};
use super::result::ToolResult;
use super::retry::{backoff, may_retry};
use super::spec::RunSpec;
use super::update::millis;
use crate::agent::is_free_of_side_effects;
use crate::process::{Cancel, CancelReason, Outcome};

/// The longest pause that a provider may ask of a run, which keeps its place in the lane meanwhile. For a longer one the run
/// ends, and who delegates decides.
const LONGEST_HOLD: Duration = Duration::from_secs(60);
/// How long an aborted run looks for what it changed. Whoever aborted is waiting.
const CHANGES_AFTER_ABORT: Duration = Duration::from_secs(1);

/// What is spent without a session counts as one.
const NO_SESSION: &str = "";

/// What the holder of a call's handle may do with it. Clones speak of the same call.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Ends it.
    pub cancel: Cancel,
    /// Sends messages into it.
    pub steering: Steering,
}

/// What a run tells others while it goes on.
pub struct Watchers<'a> {
    /// How far it has come.
    pub progress: &'a ProgressSender,
    /// That its provider wants to be left alone for so long.
    pub rate_limited: &'a (dyn Fn(Duration) + Sync),
}

/// Runs one agent on one task. Whatever a user or a child can cause ends in a result, never in an error.
///
/// Dropping the future ends the child and everything that it has started.
pub async fn execute(
    spec: RunSpec,
    run_id: RunId,
    watchers: Watchers<'_>,
    caller: &impl Caller,
    control: &Control,
) -> ToolResult {
    match prepare(spec, run_id, caller, &control.cancel).await {
        Ok(ready) => ready.run(None, watchers, caller, control).await,
        Err(result) => result,
    }
}

impl Ready {
    /// Starts a child that has no task yet. `None`: it could not be, which the run itself will say.
    pub async fn boot(&self, cancel: &Cancel) -> Option<Booted> {
        self.blueprint(1).boot(cancel).await.ok()
    }

    /// Runs it. A child that was booted before is used if it is exactly the one that would be started, and ended
    /// otherwise.
    pub async fn run(
        mut self,
        early: Option<Booted>,
        watchers: Watchers<'_>,
        caller: &impl Caller,
        control: &Control,
    ) -> ToolResult {
        let cancel = control.cancel.child();
        let purse = Purse::new(self.meter().await, cancel.clone());
        self.subject.diagnostics.extend(take_notice());
        let world = Arc::clone(&self.spec.world);
        // Boxed, because whoever starts a run would hold the room for all of it.
        let result =
            Box::pin(self.run_within(&purse, &cancel, early, watchers, caller, &control.steering)).await;
        // However it ended: what was spent is spent.
        let spent = purse.spent();
        blocking(move || note(&world, spent)).await;
        result
    }

    async fn run_within(
        self,
        purse: &Purse,
        cancel: &Cancel,
        early: Option<Booted>,
        watchers: Watchers<'_>,
        caller: &impl Caller,
        steering: &Steering,
    ) -> ToolResult {
        let started = Instant::now();
        if let Some(over) = purse.refusal() {
            discard(early).await;
            return self.subject.over_budget(&over);
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
            && let Err(reason) = unless_cancelled(cancel, self.refresh(caller)).await
        {
            return self.subject.aborted_before_start(&reason, started.elapsed());
        }
        let before = unless_cancelled(cancel, self.work_tree()).await.ok().flatten();
        let (mut booted, mut past, mut attempt) = (early, Past::default(), 1);
        loop {
            let child = match self.child(booted.take(), attempt, started, cancel).await {
                Ok(child) => child,
                Err(result) => return past.end(result),
            };
            self.id.set(child.run_id());
            let hard = self.prepared.timeout();
            let drive = Attempt {
                ready: &self,
                started,
                number: attempt,
                earlier: &past.usage,
                purse,
                cancel,
                steering,
                left: hard.map(|limit| limit.saturating_sub(started.elapsed())),
            };
            let Attempted { mut supervised, collected, sayings, mut files } =
                match drive.run(child, &watchers, caller).await {
                    Ok(attempted) => attempted,
                    Err((error, files)) => {
                        let result = self.subject.not_started(&error, started.elapsed(), files.session());
                        return past.end(result);
                    }
                };
            if let (Outcome::HardTimeout { limit }, Some(hard)) = (&mut supervised.outcome, hard) {
                // The attempt had what the ones before have left of it.
                *limit = hard;
            }
            purse.settle(&collected.usage);
            let mut ending = Ending {
                supervised,
                collected,
                sayings,
                duration: started.elapsed(),
                changes: None,
                attempts: attempt,
                earlier: past.usage.clone(),
                limited_by: self.prepared.timeout_setting(),
            };
            if let Some(pause) = self.pause_before_next(&ending, started, limited.left()) {
                let subject = self.subject.clone();
                let given_back = move || {
                    subject.give_back(&files, &ending);
                    (files, ending)
                };
                (files, ending) = blocking(given_back).await;
                attempt += 1;
                watchers.progress.send_replace(Progress {
                    state: RunState::Retrying,
                    attempt,
                    usage: ending.usage(),
                    turn_count: ending.usage().turns,
                    elapsed_ms: millis(started.elapsed()),
                    ..Progress::default()
                });
                match unless_cancelled(cancel, tokio::time::sleep(pause)).await {
                    Ok(()) => {
                        past.add(&ending, files).await;
                        purse.next_attempt();
                        continue;
                    }
                    Err(reason) => {
                        ending.supervised.outcome = Outcome::Cancelled(reason);
                        ending.duration = started.elapsed();
                    }
                }
            }
            ending.changes = changes(before, &ending.supervised.outcome).await;
            // Writes a long answer and removes the run's files.
            let subject = self.subject;
            return blocking(move || subject.ended(ending, &files)).await;
        }
    }

    /// The child of an attempt, or the result of a run that gets none.
    async fn child(
        &self,
        early: Option<Booted>,
        attempt: u32,
        started: Instant,
        cancel: &Cancel,
    ) -> Result<Booted, ToolResult> {
        let child = match early {
            Some(child) => Ok(child),
            None => self.blueprint(attempt).boot(cancel).await,
        };
        let reason = match (child, cancel.reason()) {
            (Ok(child), None) => return Ok(child),
            (Ok(child), Some(reason)) => {
                // Once it has heard of its task it begins to spend.
                child.discard().await;
                reason
            }
            (Err(NoChild::Cancelled), reason) => reason.unwrap_or(CancelReason::Dropped),
            (Err(NoChild::Failed { error, mut files }), _) => {
                if let Some(files) = &mut files {
                    files.keep_session();
                }
                let session = files.as_ref().and_then(|files| files.session());
                return Err(self.subject.clone().not_started(&error, started.elapsed(), session));
            }
        };
        Err(self.subject.clone().aborted_before_start(&reason, started.elapsed()))
    }

    pub(super) fn blueprint(&self, attempt: u32) -> Blueprint {
        Blueprint {
            spec: Arc::clone(&self.spec),
            prepared: Arc::clone(&self.prepared),
            plan: Arc::clone(&self.plan),
            run_id: self.id.get(),
            attempt,
        }
    }

    /// The child that was booted before, if it is the right one.
    async fn take(&self, early: Option<Booted>) -> Option<Booted> {
        let (booted, blueprint) = (early?, self.blueprint(1));
        let (fits, booted) = blocking(move || (blueprint.fits(&booted), booted)).await;
        if fits {
            return Some(booted);
        }
        discard(Some(booted)).await;
        None
    }

    pub(super) async fn meter(&self) -> Meter {
        // Charged without a bound too, for the day on which there is one.
        let limit = self.config().session_budget.max_cost.unwrap_or_default();
        let world = Arc::clone(&self.spec.world);
        let account = move || account_of(world.session().unwrap_or(NO_SESSION), || spent_before(&world));
        Meter::new(self.prepared.allowance(), Some((blocking(account).await, limit)))
    }

    /// Has a token refreshed that would expire during the run, because a sandboxed child works with a copy of it. One that
    /// expires all the same is refreshed by the child and taken back.
    async fn refresh(&self, caller: &impl Caller) {
        let world = &self.spec.world;
        let until = self.prepared.timeout().and_then(|limit| SystemTime::now().checked_add(limit));
        if let (true, Some(provider), Some(until)) = (self.prepared.needs_places(), self.provider(), until) {
            let credentials = self.prepared.credentials.as_deref();
            Places::refresh(&world.agent_dir, credentials, provider, until, caller).await;
        }
    }

    async fn work_tree(&self) -> Option<WorkTree> {
        let may_write = self.config().allow_write && !self.prepared.agent.readonly;
        if may_write { WorkTree::look(&self.spec.cwd, &self.spec.world.env).await } else { None }
    }

    /// How long to wait for another attempt, and for a provider that has asked for a pause; `None` when there is to be
    /// none.
    fn pause_before_next(&self, ending: &Ending, started: Instant, limited: Duration) -> Option<Duration> {
        let policy = &self.config().retry;
        let sandboxed = self.prepared.sandbox().is_held();
        let is_harmless = |tool: &str| is_free_of_side_effects(tool, sandboxed);
        if !policy.enabled
            || ending.attempts >= policy.max_attempts
            || !Verdict::of(ending).is_provider_error()
            || !may_retry(&ending.collected, is_harmless)
        {
            return None;
        }
        if limited > LONGEST_HOLD {
            return None;
        }
        let pause = backoff(policy, ending.attempts + 1).max(limited);
        let left = self.prepared.timeout().map(|limit| limit.saturating_sub(started.elapsed()));
        left.is_none_or(|left| left > pause).then_some(pause)
    }
}

/// Ends a child that nobody needs.
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
