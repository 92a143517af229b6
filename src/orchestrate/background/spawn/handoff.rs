//! Hands a run over to a keeper, the process that hosts a run which outlives its pi.

use std::io;
use std::time::Duration;

use super::request::{Receipt, SpawnRequest};
use crate::config::Config;
use crate::process::Detached;
use crate::run::{Timeout, blocking};

/// How long a keeper may take to accept its run. It loads an addon and reads a few files.
const ACCEPTING: Duration = Duration::from_secs(30);

/// A run to hand over to a keeper.
pub(super) struct Handoff {
    pub request: SpawnRequest,
    pub keeper: Detached,
}

impl Handoff {
    /// Starts the keeper. Its receipt says whether it has accepted the run.
    pub(super) async fn hand_over(self, key: &str) -> Receipt {
        let Self { request, keeper } = self;
        let request = SpawnRequest { kept: Some(key.to_owned()), ..request };
        let handed = blocking(move || {
            let request = serde_json::to_vec(&request).map_err(io::Error::other)?;
            let answer = keeper.hand_over(request, ACCEPTING)?;
            serde_json::from_slice(&answer).map_err(|_| io::Error::other("it ended without an answer"))
        });
        let failed = |error| Receipt::Error(format!("the keeper of the run could not be started: {error}"));
        handed.await.unwrap_or_else(failed)
    }
}

/// Why a run cannot outlive its pi, if it cannot.
pub(super) fn refusal(config: &Config, limit: Timeout) -> Option<String> {
    if !matches!(limit, Timeout::After(_)) {
        return Some(
            "a run that goes on after pi has ended needs a hard limit: give `runTimeoutSeconds` \
             (`background.onExit` is `keep`)"
                .to_owned(),
        );
    }
    config.session_budget.max_cost.map(|bound| {
        format!(
            "a run that goes on after pi has ended cannot share what its session may spend: \
             `sessionBudget.maxCost` is ${bound} and `background.onExit` is `keep`"
        )
    })
}
