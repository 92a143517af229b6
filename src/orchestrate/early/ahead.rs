//! Children that boot ahead of their run, with its launch plan and without a task.
//!
//! - A *next child* waits for a run that cannot start yet: the next step of a chain, or the first run in the queue. It
//!   counts towards no limit of this process, because the run takes it when it has a slot of its own.
//! - A *spare child* waits for any later call. A successful run leaves one behind if `spare.count` allows it.
//!
//! A run takes a child only if it would start exactly this child now. No child is used twice. A child is ended without a
//! trace if it is out of date, if its run does not come, if a run needs its slot, or if memory is short.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::select;
use tokio::sync::{oneshot, watch};
use tokio::time::{interval, sleep, timeout};

use super::handover::{CLAIM_WAIT, Claim, Handover, discard};
use crate::orchestrate::provider_gate::request;
use crate::orchestrate::queue::{EarlyPermit, Queue, Request};
use crate::run::{AdmittedRun, Booted, Memory, SpareRequest, ToolResult, blocking, spawn_task};
use supervisor::{Cancel, CancelReason};

/// The interval at which a waiting child checks whether memory has become short.
const MEMORY_CHECK: Duration = Duration::from_secs(5);

/// The children that wait or are being started or ended, the oldest first.
static CHILDREN: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// The run that a child waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitsFor {
    NextRun,
    AnyCall,
}

/// One child that no run has asked for.
struct Entry {
    wanted: SpareRequest,
    waits_for: WaitsFor,
    /// The id of its files. A next child has the id of its run, by which the run is known already.
    run_id: String,
    /// The channel for the request of a run. The first run takes it.
    claim: Option<oneshot::Sender<Claim>>,
    /// Ends it, and is closed once it has ended.
    end_signal: Arc<watch::Sender<bool>>,
}

impl Entry {
    /// Returns true if a run could still take it.
    fn is_available(&self) -> bool {
        self.claim.is_some() && !*self.end_signal.borrow()
    }
}

/// The child of a run that cannot start yet. Dropping this ends the child, unless its run has taken it.
#[must_use = "dropping this ends the child"]
pub(crate) struct NextChild(Arc<watch::Sender<bool>>);

impl NextChild {
    /// Boots the child of a run, if there is room and memory for it. `None` if the run cannot use one. Does not wait.
    pub(crate) fn boot(ready: &AdmittedRun) -> Option<Self> {
        let next = ready.without_task()?;
        next.rename(&ready.id().get());
        let (signals, delist) = enlist(&next, WaitsFor::NextRun)?;
        let child = Self(Arc::clone(&delist.0));
        spawn_task(boot_and_keep(next, WaitsFor::NextRun, signals, delist));
        Some(child)
    }

    /// Ends the child, unless its run has taken it. Resolves when its process and its files are gone.
    pub(crate) async fn end(self) {
        self.0.send_replace(true);
        self.0.closed().await;
    }
}

impl Drop for NextChild {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// The spare child that may follow a run.
pub(crate) struct Successor(Box<AdmittedRun>);

impl Successor {
    /// The successor of a run that is about to start, if it may have one.
    pub(crate) fn of(ready: &AdmittedRun) -> Option<Self> {
        let run = ready.may_leave_spare().then(|| ready.without_task())??;
        Some(Self(Box::new(run)))
    }

    /// Boots it now that the run has ended. Does not boot it after an error, because the next run may fail, too. Does
    /// not wait.
    pub(crate) fn follow(self, result: &ToolResult) {
        // The entry is made at once, so that `end_spares` ends this child, too.
        if let (false, Some((signals, delist))) = (result.is_error, enlist(&self.0, WaitsFor::AnyCall)) {
            spawn_task(boot_and_keep(*self.0, WaitsFor::AnyCall, signals, delist));
        }
    }
}

/// Takes a spare child for a run or for an early child with this request.
pub(crate) async fn take_spare(ready: &AdmittedRun, request: &Request) -> Option<Handover> {
    take(ready, request, |entry| entry.waits_for == WaitsFor::AnyCall).await
}

/// Takes the child that was booted for this run, or else a spare child, for a run that has its slot. A child that was
/// booted for the run and is not taken has ended then.
pub(crate) async fn take_with_slot(ready: &AdmittedRun, request: &Request) -> Option<Handover> {
    let run_id = ready.id().get();
    let is_own = |entry: &Entry| entry.waits_for == WaitsFor::NextRun && *entry.run_id == *run_id;
    if let Some(own) = take(ready, request, is_own).await {
        return Some(own);
    }
    // The run's new child gets the directory that the other one has until then.
    end_all(is_own).await;
    take_spare(ready, request).await
}

/// Takes a child that equals the child that the run would start now. Outdated children are ended.
async fn take(ready: &AdmittedRun, request: &Request, is_meant: impl Fn(&Entry) -> bool) -> Option<Handover> {
    let wanted = ready.spare_request()?;
    loop {
        if !Queue::shared().may_adopt(request) {
            return None;
        }
        let given = claim(&wanted, &is_meant)?;
        let Ok(Ok(handover)) = timeout(CLAIM_WAIT, given).await else { continue };
        let admitted = ready.clone();
        let (fits, handover) = blocking(move || (admitted.fits_spare(&handover.child().0), handover)).await;
        tracing::debug!(
            target: "early", child = handover.child().0.run_id(), fits,
            "a run asks for a child that was booted ahead"
        );
        if fits && handover.child().1.adopt(request) {
            return Some(handover);
        }
        // The run may start a child with the same files next.
        let (booted, permit) = handover.accept();
        discard(booted, permit).await;
    }
}

/// Claims the oldest child that waits for such a run.
fn claim(wanted: &SpareRequest, is_meant: impl Fn(&Entry) -> bool) -> Option<oneshot::Receiver<Handover>> {
    let mut children = CHILDREN.lock();
    let fitting = children
        .iter_mut()
        .filter(|entry| entry.is_available() && is_meant(entry) && entry.wanted == *wanted);
    fitting.into_iter().find_map(|entry| {
        let (give, given) = oneshot::channel();
        entry.claim.take()?.send(give).ok()?;
        Some(given)
    })
}

/// Ends all children that were booted ahead of a run. Resolves when all of their processes and files are gone.
pub fn end_spares() -> impl Future<Output = ()> + Send + use<> {
    end_all(|_| true)
}

/// Ends the children that are meant. Takes effect at once; resolves when they are gone.
fn end_all<F: Fn(&Entry) -> bool>(is_meant: F) -> impl Future<Output = ()> + Send + use<F> {
    let children = CHILDREN.lock();
    let ending: Vec<_> =
        children.iter().filter(|entry| is_meant(entry)).map(|entry| Arc::clone(&entry.end_signal)).collect();
    drop(children);
    for signal in &ending {
        signal.send_replace(true);
    }
    async move {
        for signal in ending {
            signal.closed().await;
        }
    }
}

/// The signals to a child that waits for a run.
struct Signals {
    claimed: oneshot::Receiver<Claim>,
    end_signal: watch::Receiver<bool>,
}

impl Signals {
    /// Waits until the child has to end.
    async fn ended(&mut self) {
        let _ = self.end_signal.wait_for(|has_ended| *has_ended).await;
    }

    /// Turns away the run that has just asked, so that it does not wait for the end of the child.
    fn refuse(&mut self) {
        self.claimed.close();
        drop(self.claimed.try_recv());
    }
}

/// Makes an entry for a child. If there are too many spare children, the oldest one for other calls makes way: the next
/// call is more likely to be like the last one.
fn enlist(ready: &AdmittedRun, waits_for: WaitsFor) -> Option<(Signals, Delist)> {
    let wanted = ready.spare_request()?;
    let mut children = CHILDREN.lock();
    if waits_for == WaitsFor::AnyCall {
        let is_spare = |entry: &&Entry| {
            entry.waits_for == waits_for && entry.is_available() && entry.wanted.is_of_same_host(&wanted)
        };
        let spares: Vec<&Entry> = children.iter().filter(is_spare).collect();
        if spares.len() >= ready.resolved.config.spare.count {
            let other = spares.iter().find(|entry| entry.wanted != wanted)?;
            other.end_signal.send_replace(true);
        }
    }
    let (claim, claimed) = oneshot::channel();
    let (end, end_signal) = watch::channel(false);
    let end = Arc::new(end);
    let run_id = ready.id().get().into();
    children.push(Entry { wanted, waits_for, run_id, claim: Some(claim), end_signal: Arc::clone(&end) });
    Some((Signals { claimed, end_signal }, Delist(end)))
}

/// Removes the entry of an ended child.
struct Delist(Arc<watch::Sender<bool>>);

impl Drop for Delist {
    fn drop(&mut self) {
        CHILDREN.lock().retain(|entry| !Arc::ptr_eq(&entry.end_signal, &self.0));
    }
}

/// Boots a child and keeps it until a run takes it or it has to end.
async fn boot_and_keep(ready: AdmittedRun, waits_for: WaitsFor, mut signals: Signals, delist: Delist) {
    if let Some((booted, permit)) = boot(&ready, waits_for, &mut signals).await {
        // A next child ends with the run that it waits for.
        let lifetime = (waits_for == WaitsFor::AnyCall).then(|| ready.resolved.config.spare.idle);
        keep_until_claimed(booted, permit, lifetime, &mut signals).await;
    }
    // The entry is removed first, so that a caller that waits for the end of the child finds none.
    drop(delist);
    drop(signals);
}

/// Starts the child if there is room and memory for it.
async fn boot(
    ready: &AdmittedRun,
    waits_for: WaitsFor,
    signals: &mut Signals,
) -> Option<(Booted, EarlyPermit)> {
    if !blocking(|| Memory::measure().has_room()).await || !ready.may_boot_early().await {
        return None;
    }
    let request = request(ready, None).await;
    let mut permit = match waits_for {
        WaitsFor::NextRun => Queue::shared().ahead(&request),
        WaitsFor::AnyCall => Queue::shared().spare(&request),
    }?;
    let cancel = Cancel::new();
    let mut booting = Box::pin(ready.boot_spare(&cancel));
    let in_time = select! {
        biased;
        booted = &mut booting => Some(booted),
        () = signals.ended() => None,
        () = permit.evicted() => None,
    };
    let booted = if let Some(booted) = in_time {
        booted
    } else {
        signals.refuse();
        cancel.cancel(CancelReason::Dropped);
        // Waits for the start to end, so that no file remains.
        booting.await
    };
    Some((booted?, permit))
}

async fn keep_until_claimed(
    booted: Booted,
    mut permit: EarlyPermit,
    lifetime: Option<Duration>,
    signals: &mut Signals,
) {
    let ended = booted.ended();
    let mut end_signal = signals.end_signal.clone();
    let claim = select! {
        biased;
        claim = &mut signals.claimed => claim.map_err(|_| "no call can use it"),
        _ = end_signal.wait_for(|has_ended| *has_ended) => Err("its run ended, another child takes its slot, or pi ends"),
        () = permit.evicted() => Err("a run needs its slot"),
        () = ended => Err("it has exited"),
        () = elapsed(lifetime) => Err("no call came within `spare.idleMs`"),
        () = memory_is_short() => Err("memory is short"),
    };
    drop(end_signal);
    let claim = match claim {
        Ok(claim) => claim,
        Err(reason) => {
            tracing::info!(target: "early", child = booted.run_id(), reason, "a child that was booted ahead is discarded");
            signals.refuse();
            return discard(booted, permit).await;
        }
    };
    let (handover, returned) = Handover::new((booted, permit));
    // Comes back at once if the run does not wait any more, and later if it needs another child.
    drop(claim.send(handover));
    if let Ok((booted, permit)) = returned.await {
        discard(booted, permit).await;
    }
}

async fn elapsed(lifetime: Option<Duration>) {
    match lifetime {
        Some(lifetime) => sleep(lifetime).await,
        None => pending().await,
    }
}

/// Waits until memory is too short for waiting children.
pub(super) async fn memory_is_short() {
    let mut checks = interval(MEMORY_CHECK);
    loop {
        checks.tick().await;
        if blocking(|| Memory::measure().is_short()).await {
            return;
        }
    }
}
