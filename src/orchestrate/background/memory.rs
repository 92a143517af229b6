//! What the store would not take, until it does.

use std::collections::HashMap;

use super::record::BackgroundRun;
use crate::store::Delivery;

/// How far something that is to be told has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveryState {
    /// Whoever opens the conversation tells it.
    Free,
    /// It is being told.
    Claimed,
    /// It was told.
    Told,
}

/// The newest of runs that are not in the store in that form.
#[derive(Debug, Default)]
pub(super) struct Memory {
    runs: HashMap<String, BackgroundRun>,
    deliveries: Vec<(Delivery, DeliveryState)>,
    /// What the store has and does not know to be told.
    told: Vec<String>,
}

impl Memory {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.told.is_empty()
    }

    pub(super) fn run(&self, key: &str) -> Option<&BackgroundRun> {
        self.runs.get(key)
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &BackgroundRun> {
        self.runs.values()
    }

    /// Keeps a run, and perhaps its end.
    pub(super) fn keep(&mut self, run: &BackgroundRun, delivery: Option<(&Delivery, DeliveryState)>) {
        self.runs.insert(run.key.clone(), run.clone());
        self.deliveries.extend(delivery.map(|(delivery, telling)| (delivery.clone(), telling)));
    }

    /// Takes what is to be told to a session.
    pub(super) fn offer(&mut self, session: &str) -> Vec<Delivery> {
        let free = |(delivery, telling): &&mut (Delivery, DeliveryState)| {
            delivery.session == session && *telling == DeliveryState::Free
        };
        let taken = self.deliveries.iter_mut().filter(free).map(|(delivery, telling)| {
            *telling = DeliveryState::Claimed;
            delivery.clone()
        });
        taken.collect()
    }

    /// Notes how far these have come; what was told stays told. Returns the keys of the runs for which that is new.
    pub(super) fn note(&mut self, ids: &[String], now: DeliveryState) -> Vec<String> {
        let named = self.deliveries.iter_mut().filter(|(delivery, _)| ids.contains(&delivery.id));
        let noted =
            named.filter(|(_, telling)| *telling != DeliveryState::Told).map(|(delivery, telling)| {
                *telling = now;
                delivery.key.clone()
            });
        noted.collect()
    }

    /// Keeps that these were told, which the store would not.
    pub(super) fn tell_later(&mut self, ids: &[String]) {
        self.told.extend_from_slice(ids);
    }

    pub(super) fn told(&self) -> Vec<String> {
        self.told.clone()
    }

    pub(super) fn forget_told(&mut self, ids: &[String]) {
        self.told.retain(|id| !ids.contains(id));
    }

    /// What there is of one run; it goes with [`Self::forget`].
    pub(super) fn any(&self) -> Option<(BackgroundRun, Vec<(Delivery, DeliveryState)>)> {
        let run = self.runs.values().next()?;
        let own = self.deliveries.iter().filter(|(delivery, _)| delivery.key == run.key);
        Some((run.clone(), own.cloned().collect()))
    }

    /// Forgets a run, because the store has it.
    pub(super) fn forget(&mut self, key: &str) {
        self.runs.remove(key);
        self.deliveries.retain(|(delivery, _)| delivery.key != key);
    }
}
