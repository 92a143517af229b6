//! A run's way through the lane.

use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::select;
use tokio::time::sleep;

use super::call_order::CallOrder;
use super::early::{self, Handover};
use super::queue::{Group, Permit, Queue, Request, Ticket, TicketState};
use super::user::user_cap;
use crate::process::{Cancel, CancelReason};
use crate::run::{
    Booted, Control, HostCallbacks, Progress, ProgressSender, Ready, RunState, ToolResult, Watchers,
};
use crate::text::figures::millis;

/// A wait that is shorter than this is not shown.
const NOTICEABLE: Duration = Duration::from_millis(50);

/// How a run comes to its turn.
pub(super) enum Entry {
    /// Its child was booted while its call was still arriving, and has a place.
    Booted(Box<Booted>, Permit),
    /// It waits for a place.
    Waiting(Ticket),
}

/// How the runs of a call come into the lane.
pub(super) struct Entrance<'a> {
    /// What the host calls the call.
    pub host_id: Option<&'a str>,
    /// The call that they belong to, and how many of them may run at once.
    pub group: Option<(Group, usize)>,
    /// When the call was made.
    pub order: &'a CallOrder,
}

impl Entrance<'_> {
    /// Takes places for the runs: the children that were booted for them first, because somebody who waits could take
    /// theirs, then the lane, in the order of the runs and after the calls that were made before.
    ///
    /// # Errors
    ///
    /// Why nobody wants them any more.
    pub(super) async fn enter(self, runs: &[Ready], cancel: &Cancel) -> Result<Vec<Entry>, CancelReason> {
        let enter = async {
            let mut booted = match self.host_id {
                Some(host_id) => early::claim_all(host_id, runs.len()).await,
                None => Vec::new(),
            };
            booted.resize_with(runs.len(), || None);
            let mut requests = Vec::with_capacity(runs.len());
            for ready in runs {
                requests.push(request(ready, self.group.clone()).await);
            }
            let _guard = self.order.reached().await;
            let entry = |(booted, request): (Option<Handover>, Request)| match booted {
                Some(handover) => {
                    let (booted, permit) = handover.accept();
                    Entry::Booted(Box::new(booted), permit)
                }
                None => Entry::Waiting(Queue::shared().enter(request)),
            };
            booted.into_iter().zip(requests).map(entry).collect()
        };
        select! {
            biased;
            reason = cancel.cancelled() => Err(reason),
            entries = enter => Ok(entries),
        }
    }
}

/// One of the runs of a call.
pub(super) struct Turn<'a> {
    /// How it comes to its turn.
    pub entry: Entry,
    /// Watches it.
    pub progress: &'a ProgressSender,
    /// Ends it and sends messages into it.
    pub control: &'a Control,
}

impl Turn<'_> {
    /// Waits for the run's turn and runs it.
    pub(super) async fn take(self, mut ready: Ready, callbacks: &impl HostCallbacks) -> ToolResult {
        let Self { entry, progress, control } = self;
        let (booted, mut permit) = match entry {
            Entry::Booted(booted, permit) => (Some(*booted), permit),
            Entry::Waiting(ticket) => match wait(ticket, progress, control).await {
                Ok(permit) => (None, permit),
                Err(reason) => return ready.aborted(&reason),
            },
        };
        if let Some(notice) = permit.take_notice() {
            ready.note(notice);
        }
        let provider = ready.provider().map(str::to_owned);
        let hold = |delay: Duration| {
            if let (Some(provider), Some(until)) = (&provider, Instant::now().checked_add(delay)) {
                Queue::shared().hold(provider, until);
            }
        };
        let watchers = Watchers { progress, rate_limited: &hold };
        let result = ready.run(booted, watchers, callbacks, control).await;
        drop(permit);
        result
    }
}

async fn wait(
    mut ticket: Ticket,
    progress: &ProgressSender,
    control: &Control,
) -> Result<Permit, CancelReason> {
    let since = Instant::now();
    let mut state = ticket.state();
    let mut noticeable = pin!(sleep(NOTICEABLE));
    let mut is_shown = false;
    loop {
        let seen = *state.borrow_and_update();
        if is_shown && seen.position.is_some() {
            progress.send_replace(queued(seen, since));
        }
        select! {
            biased;
            reason = control.cancel.cancelled() => return Err(reason),
            permit = ticket.admitted() => return Ok(permit),
            Ok(()) = state.changed() => {}
            () = &mut noticeable, if !is_shown => is_shown = true,
        }
    }
}

/// What a run asks of the lane.
pub(super) async fn request(ready: &Ready, group: Option<(Group, usize)>) -> Request {
    let config = ready.config();
    Request {
        provider: ready.provider().map(str::to_owned),
        max_concurrent: config.max_concurrent,
        early_limit: config.parallel_concurrency,
        per_user: user_cap(ready).await,
        group,
    }
}

fn queued(TicketState { position, held_until }: TicketState, since: Instant) -> Progress {
    Progress {
        state: RunState::Queued,
        position,
        held_for_ms: held_until.map(|until| millis(until.saturating_duration_since(Instant::now()))),
        elapsed_ms: millis(since.elapsed()),
        ..Progress::default()
    }
}
