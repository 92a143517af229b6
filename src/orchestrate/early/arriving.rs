//! Calls that are still arriving, and how the children booted for them pass to the runs that need them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout_at};
use uuid::Uuid;

use super::handover::{CLAIM_WAIT, Claim, Handover};
use crate::orchestrate::queue::Group;
use crate::run::RunId;

/// The maximum time that a child waits for the next piece of its call.
const PIECE_TIMEOUT: Duration = Duration::from_secs(30);
/// The calls that are arriving, by their host's ids.
static ARRIVING: Mutex<BTreeMap<String, Arc<Arriving>>> = Mutex::new(BTreeMap::new());

/// A call of which pieces are still arriving.
pub(super) struct Arriving {
    host_id: String,
    /// The key of the background run that the call starts. Its child has the id of this key from its start. The run takes the key.
    key: Mutex<Option<String>>,
    /// The group of the call: its early children count towards the limit of the call.
    pub group: Group,
    /// The children that wait, by task.
    children: Mutex<BTreeMap<usize, oneshot::Sender<Claim>>>,
    /// The time of the last piece.
    last_piece: Mutex<Instant>,
}

impl Arriving {
    /// Registers a call, so that its runs find its children. An earlier call with the same id is forgotten.
    pub(super) fn register(host_id: String) -> Arc<Self> {
        let arriving = Arc::new(Self::new(host_id.clone()));
        ARRIVING.lock().insert(host_id, Arc::clone(&arriving));
        arriving
    }

    fn new(host_id: String) -> Self {
        Self {
            host_id,
            key: Mutex::new(Some(Uuid::new_v4().to_string())),
            group: Group::default(),
            children: Mutex::default(),
            last_piece: Mutex::new(Instant::now()),
        }
    }

    /// Unregisters the call. Its children are no longer found.
    pub(super) fn unregister(self: &Arc<Self>) {
        let mut arriving = ARRIVING.lock();
        if arriving.get(&self.host_id).is_some_and(|known| Arc::ptr_eq(known, self)) {
            arriving.remove(&self.host_id);
        }
    }

    /// Notes that a piece of the call has arrived.
    pub(super) fn touch(&self) {
        *self.last_piece.lock() = Instant::now();
    }

    /// Waits until no piece of the call has arrived for 30 seconds.
    pub(super) async fn fell_silent(&self) {
        loop {
            let until = *self.last_piece.lock() + PIECE_TIMEOUT;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    /// Returns the id that the child of a background run gets. `None` once the run has taken its key.
    pub(super) fn background_id(&self) -> Option<RunId> {
        self.key.lock().as_deref().map(RunId::of_key)
    }

    /// Offers a child for the task with this index. Resolves when its run claims it.
    pub(super) fn offer(&self, index: usize) -> oneshot::Receiver<Claim> {
        let (claim, claimed) = oneshot::channel();
        self.children.lock().insert(index, claim);
        claimed
    }
}

/// Returns the group that the children of this call count towards, including its early children.
pub(crate) fn group_of(host_id: Option<&str>) -> Group {
    let arriving = host_id.and_then(|host_id| ARRIVING.lock().get(host_id).cloned());
    arriving.map(|arriving| arriving.group.clone()).unwrap_or_default()
}

/// Takes the key for the background run that this call starts, if a child was booted for it.
pub(crate) fn take_key(host_id: &str) -> Option<String> {
    let arriving = ARRIVING.lock().get(host_id).cloned()?;
    arriving.key.lock().take()
}

/// Claims the children that were booted for the first `tasks` tasks of this call. `None` for a task without a live
/// child.
pub(crate) async fn claim_all(host_id: &str, tasks: usize) -> Vec<Option<Handover>> {
    // All are claimed before the first is waited for, so that none waits longer than the slowest.
    let claims: Vec<_> = (0..tasks).map(|index| claim(host_id, index)).collect();
    let until = Instant::now() + CLAIM_WAIT;
    let mut claimed = Vec::with_capacity(tasks);
    for given in claims {
        claimed.push(match given {
            Some(given) => timeout_at(until, given).await.ok().and_then(Result::ok),
            None => None,
        });
    }
    claimed
}

/// Claims the child that was booted for this task of this call.
fn claim(host_id: &str, index: usize) -> Option<oneshot::Receiver<Handover>> {
    let arriving = ARRIVING.lock().get(host_id).cloned()?;
    let claim = arriving.children.lock().remove(&index)?;
    let (give, given) = oneshot::channel();
    claim.send(give).ok()?;
    Some(given)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::select;
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_without_a_piece_for_half_a_minute_is_given_up() {
        let arriving = Arriving::new("call".to_owned());
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
        arriving.touch();
        assert!(!is_silent(29).await, "a new piece restarts the clock");
        assert!(is_silent(1).await);
    }
}
