//! Who waits, what is taken, and who comes next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

use super::desk::{Claim, Desk, Kind};
use super::early::{Early, EarlySlot};
use super::entrance::Shared;
use super::groups::Groups;
use super::holds::Holds;
use super::seat::Seat;
use super::slot::Grant;
use super::ticket::{Ticket, UserCap};

/// The state of a lane.
#[derive(Debug, Default)]
pub(super) struct State {
    next: u64,
    /// In the order of arrival, which is that of the ids.
    waiting: VecDeque<Entry>,
    /// Places taken: slots, early slots, and those of runs that have a place here and wait for the other processes.
    taken: usize,
    groups: Groups,
    holds: Holds,
    /// In the order of booting.
    early: Vec<Early>,
    /// One for each store, of which there is one for each agent directory.
    desks: Vec<Arc<Desk>>,
}

/// Somebody who waits.
#[derive(Debug)]
struct Entry {
    id: u64,
    ticket: Ticket,
    seat: Arc<Seat>,
    /// Waits for the other processes; a place here is taken for it.
    claim: Option<Claim>,
}

/// What becomes of somebody who has room in this process.
enum Way {
    /// Starts.
    Free(Option<String>),
    /// Waits for the other processes.
    Claimed(Claim),
}

impl State {
    /// Takes a place at the end.
    pub(super) fn queue(&mut self, ticket: Ticket, seat: Arc<Seat>) -> u64 {
        let id = self.draw();
        self.waiting.push_back(Entry { id, ticket, seat, claim: None });
        id
    }

    /// Leaves the queue. Whoever was admitted is no longer in it.
    pub(super) fn withdraw(&mut self, id: u64) {
        let Ok(at) = self.waiting.binary_search_by_key(&id, |entry| entry.id) else { return };
        let Some(entry) = self.waiting.remove(at) else { return };
        if entry.claim.is_some() {
            self.free(entry.ticket.group.as_ref().map(|(group, _)| group));
        }
    }

    /// A place is free again.
    pub(super) fn free(&mut self, group: Option<&super::Group>) {
        self.taken -= 1;
        self.groups.remove(group);
    }

    pub(super) fn hold(&mut self, provider: &str, until: Instant) {
        self.holds.add(provider, until);
    }

    /// The cap on all processes has room for this claim, or does not hold any more, which its run is to tell.
    pub(super) fn started(&mut self, shared: &Arc<Shared>, claim: u64, notice: &mut Option<String>) {
        let waits = |entry: &Entry| entry.claim.as_ref().is_some_and(|held| held.number() == claim);
        // It may have left since; then what is to be told is for another one.
        let Some(at) = self.waiting.iter().position(waits) else { return };
        let Some(entry) = self.waiting.remove(at) else { return };
        let group = entry.ticket.group.map(|(group, _)| group);
        let grant = Grant { shared: Arc::clone(shared), group, claim: entry.claim, notice: notice.take() };
        entry.seat.admit(grant);
    }

    /// The cap on all processes has no room for an early slot, or somebody in another process needs it.
    pub(super) fn refused(&mut self, claim: u64) {
        if let Some(early) = self.early.iter().find(|early| early.claim == Some(claim)) {
            early.evicted.send_replace(true);
        }
    }

    pub(super) fn early(&mut self, shared: &Arc<Shared>, ticket: Ticket) -> Option<EarlySlot> {
        let has_room = self.waiting.is_empty()
            && self.taken < ticket.most()
            && self.early.len() < ticket.early_limit
            && self.holds.until(ticket.provider()).is_none()
            && self.groups.has_room(ticket.group.as_ref());
        if !has_room {
            return None;
        }
        let claim = match ticket.per_user.as_ref().map(|cap| self.way(shared, cap, Kind::Early)) {
            Some(Way::Claimed(claim)) => Some(claim),
            // A notice is for a run, and this is none yet; the desk keeps it.
            Some(Way::Free(_)) | None => None,
        };
        let id = self.draw();
        let group = ticket.group.map(|(group, _)| group);
        self.taken += 1;
        self.groups.add(group.as_ref());
        let (evicted, receiver) = watch::channel(false);
        self.early.push(Early { id, claim: claim.as_ref().map(Claim::number), evicted });
        Some(EarlySlot::new(id, receiver, Grant { shared: Arc::clone(shared), group, claim, notice: None }))
    }

    /// The early slot is used or gone. Its place is still taken.
    pub(super) fn forget_early(&mut self, id: u64) {
        self.early.retain(|early| early.id != id);
    }

    /// Lets in whoever may start, and shows everybody else where they stand.
    pub(super) fn settle(&mut self, shared: &Arc<Shared>, now: Instant) {
        self.holds.expire(now);
        let mut waiting = std::mem::take(&mut self.waiting);
        // First, so that whoever comes earlier in the queue finds the places that are given back.
        for entry in &mut waiting {
            self.hold_back(entry);
        }
        let mut room = Room::new();
        waiting.retain_mut(|entry| !self.may_start(shared, entry, &mut room));
        for (index, entry) in waiting.iter().enumerate() {
            entry.seat.move_to(index + 1);
        }
        self.waiting = waiting;
        let wanted = room.give_up(&mut self.groups);
        self.evict(wanted);
    }

    /// Shows whether the provider of a run wants to be left alone. Nobody else has to wait for a place that cannot be used
    /// meanwhile, so it is given back.
    fn hold_back(&mut self, entry: &mut Entry) {
        let held = self.holds.until(entry.ticket.provider());
        entry.seat.hold(held);
        if held.is_some() && entry.claim.take().is_some() {
            self.free(entry.ticket.group.as_ref().map(|(group, _)| group));
        }
    }

    /// Whether somebody who waits was admitted now.
    fn may_start(&mut self, shared: &Arc<Shared>, entry: &mut Entry, room: &mut Room) -> bool {
        let group = entry.ticket.group.as_ref().map(|(group, _)| group);
        let is_held = self.holds.until(entry.ticket.provider()).is_some();
        if is_held || entry.claim.is_some() || !self.groups.has_room(entry.ticket.group.as_ref()) {
            return false;
        }
        if room.is_gone || self.taken >= entry.ticket.most() {
            room.is_gone = true;
            let others = self.taken - self.early.len();
            room.want(others, &entry.ticket, &mut self.groups);
            return false;
        }
        self.taken += 1;
        self.groups.add(group);
        let way = entry.ticket.per_user.as_ref().map(|cap| self.way(shared, cap, Kind::Queued));
        let notice = match way {
            Some(Way::Claimed(claim)) => {
                entry.claim = Some(claim);
                return false;
            }
            Some(Way::Free(notice)) => notice,
            None => None,
        };
        let group = group.cloned();
        entry.seat.admit(Grant { shared: Arc::clone(shared), group, claim: None, notice });
        true
    }

    fn way(&mut self, shared: &Arc<Shared>, cap: &UserCap, kind: Kind) -> Way {
        let known = self.desks.iter().find(|desk| desk.serves(&cap.store));
        let desk = if let Some(desk) = known {
            Arc::clone(desk)
        } else {
            let desk = Desk::new(cap.store.clone(), Arc::downgrade(shared));
            self.desks.push(Arc::clone(&desk));
            desk
        };
        match desk.claim(cap.cap.max(1), kind) {
            Some(claim) => Way::Claimed(claim),
            None => Way::Free(if kind == Kind::Early { None } else { desk.take_notice() }),
        }
    }

    /// Asks for so many early slots back; the newest first, because least has been spent on it.
    fn evict(&mut self, wanted: usize) {
        let asked = self.early.iter().filter(|early| *early.evicted.borrow()).count();
        let rest = self.early.iter().rev().filter(|early| !*early.evicted.borrow());
        for early in rest.take(wanted.saturating_sub(asked)) {
            early.evicted.send_replace(true);
        }
    }

    fn draw(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// What those who found no room could do with the early slots.
struct Room {
    /// Somebody waits for room, so nobody behind may take any.
    is_gone: bool,
    /// Those who could start if there were no early slots; the groups count them while they are looked at.
    wanting: Vec<Option<super::Group>>,
    /// Somebody could not start even then, nor could those behind.
    is_closed: bool,
}

impl Room {
    fn new() -> Self {
        Self { is_gone: false, wanting: Vec::new(), is_closed: false }
    }

    fn want(&mut self, others: usize, ticket: &Ticket, groups: &mut Groups) {
        self.is_closed |= others + self.wanting.len() >= ticket.most();
        if !self.is_closed {
            let group = ticket.group.as_ref().map(|(group, _)| group.clone());
            groups.add(group.as_ref());
            self.wanting.push(group);
        }
    }

    /// How many they are. The groups forget them.
    fn give_up(self, groups: &mut Groups) -> usize {
        self.wanting.iter().for_each(|group| groups.remove(group.as_ref()));
        self.wanting.len()
    }
}
