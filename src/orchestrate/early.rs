//! Children that are booted while the call that needs them is still arriving.
//!
//! Such a child waits for its task and does nothing before it. When its call turns out to be another one, does not come, or
//! somebody else needs its place, it is ended and leaves no trace.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::runtime::Handle;
use tokio::select;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::call_order::{Sequence, SequenceGuard};
use super::queue::{EarlyPermit, Group, Permit, Queue};
use super::streaming_args::{NamedChild, StreamingArgs};
use super::turn::request;
use crate::config::EarlyBoot;
use crate::credentials::Refresh;
use crate::process::{Cancel, CancelReason};
use crate::run::{
    Answer, Booted, ChildQuestion, ConfirmRequest, HostCallbacks, HostContext, RunId, RunOverrides, RunSpec,
    prepare,
};

/// How long a child waits for the next piece of its call.
const UNUSED: Duration = Duration::from_secs(30);
/// How long a call waits for a child that is still being started. That takes milliseconds; afterwards it starts its own.
const CLAIM_WAIT: Duration = Duration::from_secs(2);
/// A task that no child ever sees.
const NO_TASK: &str = "not known yet";

/// The calls that are arriving, by what their host calls them.
static ARRIVING: Mutex<BTreeMap<String, Arc<Arriving>>> = Mutex::new(BTreeMap::new());

/// What a call that is arriving has for the call that it becomes.
struct Arriving {
    /// Its children count towards what the call may run at once.
    group: Group,
    /// The children that wait, by task.
    children: Mutex<BTreeMap<usize, oneshot::Sender<Claim>>>,
    /// When something of the call arrived last.
    heard: Mutex<Instant>,
}

impl Arriving {
    /// Waits until nothing of the call has arrived for so long that it will not come.
    async fn fell_silent(&self) {
        loop {
            let until = *lock(&self.heard) + UNUSED;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

/// How a child passes to the run that claims it.
type Claim = oneshot::Sender<Handover>;

/// A child on its way to the run that has claimed it. Dropping one that was not accepted gives the child back, to be
/// ended by whoever keeps it: an abort can come while it is on its way, and the end of its call waits for its end.
pub(super) struct Handover<Child = (Booted, Permit)> {
    child: Option<Child>,
    back: Option<oneshot::Sender<Child>>,
}

impl<Child> Handover<Child> {
    fn new(child: Child) -> (Self, oneshot::Receiver<Child>) {
        let (back, returned) = oneshot::channel();
        (Self { child: Some(child), back: Some(back) }, returned)
    }

    /// Makes the child the caller's.
    pub(super) fn accept(mut self) -> Child {
        self.child.take().expect("only this method and the drop that follows it take the child")
    }
}

impl<Child> Drop for Handover<Child> {
    fn drop(&mut self) {
        if let (Some(child), Some(back)) = (self.child.take(), self.back.take()) {
            drop(back.send(child));
        }
    }
}

/// A call that is arriving. Its end, or dropping it, ends the children that nobody has claimed.
pub struct EarlyCall {
    host_id: String,
    arriving: Arc<Arriving>,
    is_chain: bool,
    cwd: PathBuf,
    context: Arc<HostContext>,
    arguments: Mutex<StreamingArgs>,
    order: Sequence,
    over: watch::Sender<bool>,
    /// Watched by every child that is being booted, waits, or is being ended.
    children: watch::Sender<()>,
    runtime: Handle,
}

impl EarlyCall {
    /// A call of which nothing has arrived yet. Children are started on this runtime.
    #[must_use]
    pub fn new(host_id: String, is_chain: bool, cwd: PathBuf, context: HostContext, runtime: Handle) -> Self {
        let (context, arguments, over) = (Arc::new(context), Mutex::default(), watch::Sender::new(false));
        let arriving = Arc::new(Arriving {
            group: Group::new(),
            children: Mutex::default(),
            heard: Mutex::new(Instant::now()),
        });
        lock(&ARRIVING).insert(host_id.clone(), Arc::clone(&arriving));
        let order = Sequence::default();
        Self {
            host_id,
            arriving,
            is_chain,
            cwd,
            context,
            arguments,
            order,
            over,
            children: watch::Sender::new(()),
            runtime,
        }
    }

    /// Takes the next piece of the call's arguments, as raw JSON, and boots the children that it makes certain. Does not
    /// wait for them.
    pub fn push(&self, piece: &str) {
        *lock(&self.arriving.heard) = Instant::now();
        let named = lock(&self.arguments).push(piece);
        for child in named {
            // Later steps of a chain wait for the first one.
            let is_later_step = self.is_chain && child.index > 0;
            if !is_later_step && !*self.over.borrow() {
                self.boot(child);
            }
        }
    }

    /// Ends the children that nobody has claimed. Resolves when they are gone, without a trace.
    pub fn end(&self) -> impl Future<Output = ()> + Send + use<> {
        self.over_now();
        let children = self.children.clone();
        async move { children.closed().await }
    }

    fn over_now(&self) {
        self.over.send_replace(true);
        let mut arriving = lock(&ARRIVING);
        if arriving.get(&self.host_id).is_some_and(|known| Arc::ptr_eq(known, &self.arriving)) {
            arriving.remove(&self.host_id);
        }
    }

    fn boot(&self, NamedChild { index, agent, cwd }: NamedChild) {
        let (claim, claimed) = oneshot::channel();
        lock(&self.arriving.children).insert(index, claim);
        let cwd = cwd.map_or_else(|| self.cwd.clone(), |cwd| self.cwd.join(cwd));
        let (task, context) = (NO_TASK.to_owned(), Arc::clone(&self.context));
        let spec =
            RunSpec { agent, task, cwd, context, share: 1, siblings: 1, overrides: RunOverrides::default() };
        let (arriving, over) = (Arc::clone(&self.arriving), self.over.subscribe());
        let (order, child) = (self.order.next(), self.children.subscribe());
        self.runtime.spawn(async move {
            // A child's whole start is in it, most of which is over soon.
            Box::pin(wait(spec, &arriving, order, claimed, over)).await;
            drop(child);
        });
    }
}

impl Drop for EarlyCall {
    fn drop(&mut self) {
        self.over_now();
    }
}

/// The group that the children of this call count towards, those that were booted for it included.
pub(super) fn group_of(host_id: Option<&str>) -> Group {
    let arriving = host_id.and_then(|host_id| lock(&ARRIVING).get(host_id).cloned());
    arriving.map_or_else(Group::new, |arriving| arriving.group.clone())
}

/// The children that were booted for the first tasks of this call, where they still live.
pub(super) async fn claim_all(host_id: &str, tasks: usize) -> Vec<Option<Handover>> {
    // All are asked for before the first is waited for, so that none waits longer than the slowest.
    let asked: Vec<_> = (0..tasks).map(|index| claim(host_id, index)).collect();
    let until = Instant::now() + CLAIM_WAIT;
    let mut claimed = Vec::with_capacity(tasks);
    for given in asked {
        claimed.push(match given {
            Some(given) => timeout_at(until, given).await.ok().and_then(Result::ok),
            None => None,
        });
    }
    claimed
}

/// Asks for the child that was booted for this task of this call.
fn claim(host_id: &str, index: usize) -> Option<oneshot::Receiver<Handover>> {
    let arriving = lock(&ARRIVING).get(host_id).cloned()?;
    let claim = lock(&arriving.children).remove(&index)?;
    let (give, given) = oneshot::channel();
    claim.send(give).ok()?;
    Some(given)
}

/// Boots a child and keeps it for whoever claims it.
async fn wait(
    spec: RunSpec,
    arriving: &Arriving,
    order: SequenceGuard,
    mut claimed: oneshot::Receiver<Claim>,
    mut over: watch::Receiver<bool>,
) {
    let cancel = Cancel::new();
    let mut booting = Box::pin(boot(spec, arriving.group.clone(), order, &cancel));
    let in_time = select! {
        biased;
        booted = &mut booting => Some(booted),
        _ = over.wait_for(|over| *over) => None,
    };
    let booted = if let Some(booted) = in_time {
        booted
    } else {
        // Half a child has files, too. It is waited for, so that whoever waits for the end finds nothing of it.
        cancel.cancel(CancelReason::Dropped);
        booting.await
    };
    let Some((booted, mut permit)) = booted else { return };
    let ended = booted.ended();
    let claim = select! {
        biased;
        claim = &mut claimed => claim.ok(),
        _ = over.wait_for(|over| *over) => None,
        () = permit.evicted() => None,
        () = ended => None,
        () = arriving.fell_silent() => None,
    };
    let unwanted = match claim {
        Some(claim) => {
            let (handover, returned) = Handover::new((booted, permit.into_permit()));
            // One that nobody waits for any more comes back at once.
            drop(claim.send(handover));
            returned.await.ok().map(|(booted, permit)| (booted, Taken::Used(permit)))
        }
        None => Some((booted, Taken::Early(permit))),
    };
    if let Some((booted, place)) = unwanted {
        booted.discard().await;
        drop(place);
    }
}

/// What an unwanted child takes up until it is gone.
enum Taken {
    Early(#[expect(dead_code, reason = "held until the child is gone")] EarlyPermit),
    Used(#[expect(dead_code, reason = "held until the child is gone")] Permit),
}

/// Whoever comes first has the first chance of a permit; each prepares meanwhile.
async fn boot(
    spec: RunSpec,
    group: Group,
    mut order: SequenceGuard,
    cancel: &Cancel,
) -> Option<(Booted, EarlyPermit)> {
    let ready = prepare(spec, RunId::draw(), &Nobody, cancel).await.ok()?;
    let config = ready.config();
    if config.early_boot == EarlyBoot::Off || !ready.may_boot_early().await {
        return None;
    }
    let group = Some((group, config.parallel_concurrency));
    let request = request(&ready, group).await;
    order.reached().await;
    let permit = Queue::shared().early(request)?;
    drop(order);
    let booted = ready.boot(cancel).await?;
    Some((booted, permit))
}

/// Nobody can be asked about a call that is not there yet: what needs a question is not booted.
struct Nobody;

impl HostCallbacks for Nobody {
    fn is_interactive(&self) -> bool {
        // A person may be there to be asked when the call comes, so policy must not decide for him now.
        true
    }

    fn is_reachable(&self) -> bool {
        false
    }

    async fn confirm(&self, _request: ConfirmRequest) -> bool {
        false
    }

    async fn ask(&self, _question: ChildQuestion) -> Answer {
        Answer::Cancelled
    }
}

impl Refresh for Nobody {
    async fn refresh(&self, _provider: &str, _valid_for: Duration) -> bool {
        false
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::time::advance;

    use super::*;

    #[tokio::test]
    async fn a_child_that_no_run_accepts_comes_back_however_far_it_came() {
        let (handover, returned) = Handover::new("child");
        assert_eq!(handover.accept(), "child");
        assert!(returned.await.is_err(), "one that was accepted does not");

        let (handover, returned) = Handover::new("child");
        drop(handover);
        assert_eq!(returned.await, Ok("child"), "claimed, and its run aborted");

        let (handover, returned) = Handover::new("child");
        let (give, given) = oneshot::channel();
        give.send(handover).ok().expect("somebody waits");
        drop(given);
        assert_eq!(returned.await, Ok("child"), "on its way");

        let (handover, returned) = Handover::new("child");
        let (give, given) = oneshot::channel();
        drop(given);
        drop(give.send(handover));
        assert_eq!(returned.await, Ok("child"), "not waited for any more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_of_which_nothing_more_arrives_for_half_a_minute_will_not_come() {
        let arriving =
            Arriving { group: Group::new(), children: Mutex::default(), heard: Mutex::new(Instant::now()) };
        let mut silent = pin!(arriving.fell_silent());
        let mut is_silent = async |seconds| {
            advance(Duration::from_secs(seconds)).await;
            select! {
                biased;
                () = &mut silent => true,
                () = tokio::task::yield_now() => false,
            }
        };
        assert!(!is_silent(29).await);
        *lock(&arriving.heard) = Instant::now();
        assert!(!is_silent(29).await, "a piece has arrived meanwhile");
        assert!(is_silent(1).await);
    }
}
