//! A request for a background run, and how a host hands it over to a host process.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::orchestrate::{BackgroundMoveAnswer, CallOrder};
use crate::present::{RESULT_ARRIVES, Receipt};
use crate::run::{HostContext, RunRecord, blocking};
use sanitizer::chain;
use store::now_ms;
use supervisor::{Cancel, Detached};

/// The time limit for a host process to accept its run. It loads an addon and reads a few files.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum lead of the times of simultaneous requests over the clock, in milliseconds.
const MAX_LEAD_MS: i64 = 1_000;

/// A request for a background run. A host passes it to a host process as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpawnRequest {
    /// The task of the agent.
    pub task: String,
    /// The agent; `defaultAgent` if absent.
    pub agent: Option<String>,
    /// A name for people.
    pub label: Option<String>,
    /// A model that replaces the agent's and the configured one.
    pub model: Option<String>,
    /// A thinking level that replaces the agent's and the configured one.
    pub thinking: Option<String>,
    /// The limit of the whole run in seconds; 0 or absent is no limit.
    pub run_timeout_seconds: Option<f64>,
    /// `keep` or `delete`.
    pub cleanup: Option<String>,
    /// The JSON Schema of the result that the child has to submit; wins over the agent's.
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// All available models as `provider/id`, if the host knows them.
    pub models: Option<Vec<String>>,
    /// The working directory of the conversation.
    pub cwd: PathBuf,
    /// Agent directory, environment and host.
    pub context: Arc<HostContext>,
    /// The time of the request. No two requests of a process have the same time.
    pub created_ms: i64,
    /// The position of the request in the order of all calls to the queue.
    #[serde(skip, default = "ordered_now")]
    pub order: Arc<CallOrder>,
    /// The host's id of the call; finds the child that was booted for it.
    #[serde(skip)]
    pub host_id: Option<String>,
    /// Ends the run as the end of its host would.
    #[serde(skip)]
    pub ends_with: Option<Cancel>,
    /// The command that starts a host process for a detached run. Without it, such runs are refused.
    #[serde(skip)]
    pub host_process: Option<Detached>,
    /// The key of a run that another process hands over to this one, its host process.
    #[serde(rename = "kept")]
    pub detached_key: Option<String>,
}

impl SpawnRequest {
    /// A request made now, without options and without a host process.
    #[must_use]
    pub fn new(task: String, cwd: PathBuf, context: Arc<HostContext>) -> Self {
        Self {
            task,
            agent: None,
            label: None,
            model: None,
            thinking: None,
            run_timeout_seconds: None,
            cleanup: None,
            output_schema: None,
            models: None,
            cwd,
            context,
            created_ms: Self::unique_now_ms(),
            order: ordered_now(),
            host_id: None,
            ends_with: None,
            host_process: None,
            detached_key: None,
        }
    }

    /// Returns a time for a request made now: later than every earlier request of this process, unless the clock was set back.
    fn unique_now_ms() -> i64 {
        static LAST: AtomicI64 = AtomicI64::new(0);
        let now = now_ms();
        let after =
            |last: i64| if (now..now.saturating_add(MAX_LEAD_MS)).contains(&last) { last + 1 } else { now };
        let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
        last.map_or(now, after)
    }
}

fn ordered_now() -> Arc<CallOrder> {
    Arc::new(CallOrder::now())
}

/// A run to hand over to a host process.
pub(super) struct Handoff {
    pub request: SpawnRequest,
    pub host_process: Detached,
}

impl Handoff {
    /// Starts the host process. Its receipt says whether it has accepted the run.
    pub(super) async fn hand_over(self, key: &str) -> Receipt {
        let Self { request, host_process } = self;
        let request = SpawnRequest { detached_key: Some(key.to_owned()), ..request };
        let handed = blocking(move || {
            let request = serde_json::to_vec(&request).map_err(io::Error::other)?;
            let answer = host_process.start(request, ACCEPT_TIMEOUT)?;
            serde_json::from_slice(&answer).map_err(|_| io::Error::other("it ended without an answer"))
        });
        let failed = |error: io::Error| {
            Receipt::error(format!("the host process of the run could not be started: {}", chain(&error)))
        };
        handed.await.unwrap_or_else(failed)
    }
}

/// The receipts for the runs of a call that was moved to the background.
#[must_use]
pub fn receipts_of(answer: BackgroundMoveAnswer) -> Vec<Receipt> {
    let accepted = |run: RunRecord| Receipt::Accepted {
        run_id: run.run_id,
        session_key: run.session_key,
        note: RESULT_ARRIVES.to_owned(),
        warnings: run.notes,
        awaits_consent: false,
    };
    match answer {
        Ok(runs) => runs.into_iter().map(accepted).collect(),
        Err(why) => vec![Receipt::forbidden(format!("the call keeps waiting: {why}"))],
    }
}
