//! Groups of settings of a run.

use super::resolve::ResolvedRun;
use agents::config::{Config, EarlyBoot, Retry, Spare};

impl ResolvedRun {
    /// Returns the configuration that the run was resolved with.
    pub(crate) fn base_config(&self) -> &Config {
        &self.config
    }

    /// Returns the policy for another attempt.
    pub(crate) fn retry(&self) -> &Retry {
        &self.config.retry
    }

    /// Returns the number of children that wait for a call, and the time that each waits.
    pub(crate) fn spare(&self) -> Spare {
        self.config.spare
    }

    /// Returns the condition for booting a child before its call has arrived.
    pub(crate) fn early_boot(&self) -> EarlyBoot {
        self.config.early_boot
    }

    /// Returns the limits of children that boot before their run can start, and of the children of one call.
    pub(crate) fn concurrency(&self) -> Concurrency {
        Concurrency { ahead: self.config.boot_ahead, call: self.config.parallel_concurrency }
    }
}

/// The limits of concurrent children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Concurrency {
    pub ahead: usize,
    pub call: usize,
}
