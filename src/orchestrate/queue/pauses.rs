//! The pauses of providers: a short one ends by itself, and after a used-up quota one run tries first.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// A wait for a provider's quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaWait {
    /// The provider.
    pub provider: Arc<str>,
    /// The time of the next try. `None` while another run tries.
    pub until: Option<Instant>,
}

/// The pauses by provider.
#[derive(Debug, Default)]
pub(super) struct Pauses(HashMap<String, Pause>);

#[derive(Debug)]
struct Pause {
    until: Instant,
    is_quota: bool,
    /// True once a run may try a quota. A short pause is removed instead.
    is_due: bool,
    /// The run that tries.
    trial: Option<u64>,
}

impl Pauses {
    /// Begins a pause, or extends it.
    pub(super) fn begin(&mut self, provider: &str, until: Instant, is_quota: bool) {
        let known = self.0.entry(provider.to_owned()).or_insert(Pause {
            until,
            is_quota,
            is_due: false,
            trial: None,
        });
        if is_quota && (known.is_due || !known.is_quota) {
            // The newest error knows best when the quota is reset.
            known.until = until;
        }
        known.until = until.max(known.until);
        known.is_quota |= is_quota;
        (known.is_due, known.trial) = (false, None);
    }

    /// Ends the pauses whose time has come. After a quota the first run may try.
    pub(super) fn end_due(&mut self, now: Instant) {
        self.0.retain(|_, pause| {
            pause.is_due |= pause.until <= now;
            pause.is_quota || !pause.is_due
        });
    }

    /// Lets a run try each quota now. Returns the providers.
    pub(super) fn try_now(&mut self) -> Vec<String> {
        let quotas = self.0.iter_mut().filter(|(_, pause)| pause.is_quota && !pause.is_due);
        quotas
            .map(|(provider, pause)| {
                pause.is_due = true;
                provider.clone()
            })
            .collect()
    }

    /// Ends the wait for a quota, after the provider has answered the run that tried. Returns true if there was one.
    pub(super) fn end_quota(&mut self, provider: &str) -> bool {
        let is_due = self.0.get(provider).is_some_and(|pause| pause.is_due);
        if is_due {
            self.0.remove(provider);
        }
        is_due
    }

    /// Lets the run `id` try, if a quota waits for a try.
    pub(super) fn start_trial(&mut self, provider: Option<&str>, id: u64) {
        if let Some(pause) = provider.and_then(|provider| self.0.get_mut(provider)) {
            pause.trial = Some(id);
        }
    }

    /// Lets another run try, after the run `id` has ended without an answer.
    pub(super) fn end_trial(&mut self, id: u64) {
        for pause in self.0.values_mut().filter(|pause| pause.trial == Some(id)) {
            pause.trial = None;
        }
    }

    /// Returns true if a pause keeps the run `id` from its start. Without an id: a child that no run has requested, which never
    /// tries a quota.
    pub(super) fn blocks(&self, provider: Option<&str>, id: Option<u64>) -> bool {
        let Some(pause) = provider.and_then(|provider| self.0.get(provider)) else { return false };
        !pause.is_due || id.is_none() || pause.trial.is_some_and(|trial| Some(trial) != id)
    }

    /// Returns the end of a provider's pause. `None` without a pause, and while a run tries its quota.
    pub(super) fn until(&self, provider: Option<&str>) -> Option<Instant> {
        self.0.get(provider?).filter(|pause| !pause.is_due).map(|pause| pause.until)
    }

    /// Returns the wait for a provider's quota, if it is used up.
    pub(super) fn quota(&self, provider: Option<&str>) -> Option<QuotaWait> {
        let provider = provider?;
        let pause = self.0.get(provider).filter(|pause| pause.is_quota)?;
        Some(QuotaWait { provider: provider.into(), until: (!pause.is_due).then_some(pause.until) })
    }
}
