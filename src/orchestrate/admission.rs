//! The permits of a call's runs: from children that were booted for them, or through the queue.

use std::slice;
use std::time::{Duration, Instant};

use tokio::select;
use tokio::sync::watch;

use super::call::watched;
use super::call_order::CallOrder;
use super::early::{Handover, NextChild, Successor, claim_all, take_spare, take_with_slot};
use super::provider_gate::{Gate, MaxWait, permit, request};
use super::queue::{Group, Permit, Queue, QuotaWait, Request, Ticket, WaitStatus};
use super::writers::{lock_tree, writes};
use crate::run::{
    AdmittedRun, Booted, Control, HostCallbacks, Progress, ProgressSender, QuotaWaitTooLong, RetryNotice,
    RunState, ToolResult, Watchers,
};
use sanitizer::figures::millis;
use store::now_ms;
use supervisor::{Cancel, CancelReason};

/// A wait that is shorter than this is not shown.
const NOTICE_DELAY: Duration = Duration::from_millis(50);

/// The admission of the runs of a call.
pub(super) struct Admission<'a> {
    /// The children that were booted for the call while it arrived.
    pub early: EarlyChildren<'a>,
    /// The call that the runs belong to, and how many of them may run at once.
    pub group: Option<(Group, usize)>,
    pub order: &'a CallOrder,
}

/// The children that were booted for a call while it arrived.
pub(super) enum EarlyChildren<'a> {
    /// All that are found by the host's id of the call.
    OfCall(&'a str),
    /// The one that was claimed for the call's only run, if there was one.
    Claimed(Option<Box<Handover>>),
}

impl<'a> EarlyChildren<'a> {
    pub(super) fn of(host_id: Option<&'a str>) -> Self {
        host_id.map_or(Self::Claimed(None), Self::OfCall)
    }
}

/// A run on its way to its permit.
pub(super) enum Queued {
    /// Its child was booted before, and has a permit.
    Booted(Box<Booted>, Permit),
    Waiting(Ticket),
    /// Its call was aborted before it got a slot.
    Aborted(CancelReason),
}

impl Admission<'_> {
    /// Takes slots for the runs. First come the children that were booted for them and spare children, because a waiting run
    /// could evict those. Then come slots in the queue, in the order of the runs and after earlier calls.
    pub(super) async fn enter(self, runs: &[AdmittedRun], cancel: &Cancel) -> Vec<Queued> {
        let enter = async {
            let mut booted = match self.early {
                EarlyChildren::OfCall(host_id) => claim_all(host_id, runs.len()).await,
                EarlyChildren::Claimed(child) => vec![child.map(|child| *child)],
            };
            booted.resize_with(runs.len(), || None);
            let mut requests = Vec::with_capacity(runs.len());
            for (ready, booted) in runs.iter().zip(&mut booted) {
                let request = request(ready, self.group.clone()).await;
                if booted.is_none() {
                    *booted = Box::pin(take_spare(ready, &request)).await;
                }
                requests.push(request);
            }
            let _guard = self.order.reached().await;
            let takes = booted.into_iter().zip(requests).zip(runs);
            takes.map(|((booted, request), ready)| queued(ready, booted, request)).collect()
        };
        select! {
            biased;
            reason = cancel.cancelled() => runs.iter().map(|_| Queued::Aborted(reason.clone())).collect(),
            queued = enter => queued,
        }
    }

    /// Runs a single one as soon as it is admitted.
    pub(super) async fn run(
        self,
        ready: AdmittedRun,
        callbacks: &dyn HostCallbacks,
        control: &Control,
        show: &mut (dyn FnMut(Progress) + Send),
    ) -> ToolResult {
        let queued = self.enter_one(&ready, &control.cancel).await;
        queued.run(ready, callbacks, control, show).await
    }

    /// Takes the slot of a single run.
    pub(super) async fn enter_one(self, ready: &AdmittedRun, cancel: &Cancel) -> Queued {
        self.enter(slice::from_ref(ready), cancel).await.remove(0)
    }
}

/// Takes the child that was booted for a run, or a slot in the queue.
fn queued(ready: &AdmittedRun, booted: Option<Handover>, mut request: Request) -> Queued {
    let Some(handover) = booted else { return Queued::Waiting(Queue::shared().enter(request)) };
    let own = ready.id().get();
    // Runs that wait for its work tree name it by the id that it has from here on.
    ready.rename(handover.child().0.run_id());
    request.writes = writes(ready);
    if handover.child().1.write(&request) {
        tracing::info!(
            target: "early", run = %own, child = %ready.id().get(),
            "the run takes a child that was booted early"
        );
        let (booted, permit) = handover.accept();
        return Queued::Booted(Box::new(booted), permit.into_permit());
    }
    // A run that must wait for its work tree gives the child back.
    tracing::info!(
        target: "early", run = %own, reason = "another run writes to its tree",
        "the run gives its early child back"
    );
    ready.rename(&own);
    request.writes = writes(ready);
    Queued::Waiting(Queue::shared().enter(request))
}

impl Queued {
    /// Runs it as soon as it is admitted; `show` gets its progress.
    #[tracing::instrument(
        target = "run", name = "run", skip_all,
        fields(id = %ready.id().get(), agent = %ready.resolved.agent.name)
    )]
    pub(super) async fn run(
        self,
        ready: AdmittedRun,
        callbacks: &dyn HostCallbacks,
        control: &Control,
        show: &mut (dyn FnMut(Progress) + Send),
    ) -> ToolResult {
        let (progress, seen) = watch::channel(Progress::default());
        let undo_note = ready.resolved.undo_note;
        let mut noted = |progress: Progress| {
            show(Progress { undo_note: progress.undo_note.or(undo_note.map(Into::into)), ..progress });
        };
        watched(self.run_reporting_to(&progress, ready, callbacks, control), seen, &mut noted).await
    }

    async fn run_reporting_to(
        self,
        progress: &ProgressSender,
        mut ready: AdmittedRun,
        callbacks: &dyn HostCallbacks,
        control: &Control,
    ) -> ToolResult {
        let max_wait = MaxWait::of(&ready, callbacks);
        let admitted = match self {
            Self::Booted(booted, permit) => Ok((Some(booted), permit)),
            Self::Waiting(ticket) => {
                // Lives until the run has taken its child.
                let mut next = None;
                match Box::pin(admitted(ticket, &ready, &mut next, progress, max_wait, &control.cancel)).await
                {
                    Ok(permit) => Ok((Box::pin(booted_for(&ready, &control.cancel)).await, permit)),
                    Err(not_admitted) => {
                        if let Some(unused) = next {
                            unused.end().await;
                        }
                        match not_admitted {
                            NotAdmitted::Cancelled(reason) => Err(reason),
                            NotAdmitted::NoQuota(error) => {
                                let why = error.to_string();
                                return ready.without_quota(error.provider, why);
                            }
                        }
                    }
                }
            }
            Self::Aborted(reason) => Err(reason),
        };
        let (booted, mut permit) = match admitted {
            Ok(admitted) => admitted,
            Err(reason) => return ready.aborted(&reason),
        };
        if let Some(notice) = permit.take_notice() {
            tracing::warn!(target: "queue", reason = notice, "the limit for all processes has no effect");
            ready.note(notice);
        }
        let tree = match Box::pin(lock_tree(&mut ready, progress, &control.cancel)).await {
            Ok(tree) => tree,
            Err(reason) => {
                if let Some(booted) = booted {
                    Box::pin(booted.discard()).await;
                }
                return ready.aborted(&reason);
            }
        };
        let gate = Box::pin(Gate::new(&ready, permit, max_wait)).await;
        let watchers = Watchers { progress, provider: &gate };
        let successor = Successor::of(&ready);
        // Boxed, so that the futures around it do not have to hold all of it.
        let result = Box::pin(ready.run(booted.map(|booted| *booted), watchers, callbacks, control)).await;
        drop((tree, gate));
        if let Some(successor) = successor {
            successor.follow(&result);
        }
        result
    }
}

/// Takes a child that was booted ahead for a run that has its permit. The child's slot is given back, because the run has
/// its own.
async fn booted_for(ready: &AdmittedRun, cancel: &Cancel) -> Option<Box<Booted>> {
    ready.spare_request()?;
    let find = async {
        // The run writes to its tree already.
        let request = Request { writes: None, ..request(ready, None).await };
        take_with_slot(ready, &request).await
    };
    select! {
        biased;
        // The run notices the abort.
        _ = cancel.cancelled() => None,
        found = find => found.map(|found| Box::new(found.accept().0)),
    }
}

/// The reason why a run gets no permit.
enum NotAdmitted {
    Cancelled(CancelReason),
    NoQuota(QuotaWaitTooLong),
}

/// Waits for the permit, and shows the run's position in the queue. Boots the child of the first runs in the queue.
#[tracing::instrument(target = "queue", name = "slot", skip_all)]
async fn admitted(
    ticket: Ticket,
    ready: &AdmittedRun,
    next: &mut Option<NextChild>,
    progress: &ProgressSender,
    max_wait: MaxWait,
    cancel: &Cancel,
) -> Result<Permit, NotAdmitted> {
    let since = Instant::now();
    let ahead_limit = ready.resolved.config.boot_ahead;
    let show = |seen: WaitStatus| {
        if seen.quota.is_some() {
            // That wait may take hours.
            *next = None;
        }
        let waits_only_for_a_slot =
            seen.blocked_by.is_none() && seen.rate_limited_until.is_none() && seen.quota.is_none();
        if next.is_none()
            && waits_only_for_a_slot
            && seen.position.is_some_and(|position| position <= ahead_limit)
        {
            *next = NextChild::boot(ready);
        }
        drop(progress.send_replace(waiting(seen, since)));
    };
    select! {
        biased;
        reason = cancel.cancelled() => Err(NotAdmitted::Cancelled(reason)),
        permit = permit(ticket, max_wait, NOTICE_DELAY, show) => {
            let permit = permit.map_err(NotAdmitted::NoQuota)?;
            tracing::info!(target: "queue", waited_ms = millis(since.elapsed()), "the run has its slot");
            Ok(permit)
        }
    }
}

fn waiting(
    WaitStatus { position, rate_limited_until, quota, blocked_by, .. }: WaitStatus,
    since: Instant,
) -> Progress {
    Progress {
        state: if quota.is_some() { RunState::AwaitingQuota } else { RunState::Queued },
        position,
        blocked_by,
        retry: quota.map(|QuotaWait { provider, until }| {
            let remaining = until.map(|until| until.saturating_duration_since(Instant::now()));
            RetryNotice {
                attempt: 1,
                max_attempts: None,
                at_ms: now_ms().saturating_add_unsigned(millis(remaining.unwrap_or_default())),
                error: Some(format!("the quota of {provider} is used up")),
            }
        }),
        rate_limited_for_ms: rate_limited_until
            .map(|until| millis(until.saturating_duration_since(Instant::now()))),
        elapsed_ms: millis(since.elapsed()),
        ..Progress::default()
    }
}
