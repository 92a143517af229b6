//! A request for a background run, and its receipt.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Serialize};

use crate::orchestrate::CallOrder;
use crate::process::{Cancel, Detached};
use crate::run::HostContext;
use crate::store::now_ms;
use crate::text::text_enum;

/// How far the times of requests that come together may run ahead of the clock.
const MAX_LEAD_MS: i64 = 1_000;

/// A request for a background run. A host hands it to a keeper as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpawnRequest {
    /// What the agent is to do.
    pub task: String,
    /// The agent; absent: `defaultAgent`.
    pub agent: Option<String>,
    /// A name for people.
    pub label: Option<String>,
    /// A model that replaces the agent's and the configured one.
    pub model: Option<String>,
    /// A thinking level that replaces the agent's and the configured one.
    pub thinking: Option<String>,
    /// The limit of the whole run in seconds; 0 and absent are none.
    pub run_timeout_seconds: Option<f64>,
    /// `keep` or `delete`.
    pub cleanup: Option<String>,
    /// Every model that there is, `provider/id`, where the host knows.
    pub models: Option<Vec<String>>,
    /// The directory of the conversation.
    pub cwd: PathBuf,
    /// Agent directory, environment and host.
    #[serde(with = "shared")]
    pub context: Arc<HostContext>,
    /// When it was made, as [`Self::moment`] says: no two requests of a process have the same time.
    pub created_ms: i64,
    /// When it was made, as the queue of all calls counts.
    #[serde(skip, default = "ordered_now")]
    pub order: Arc<CallOrder>,
    /// Ends the run as the end of its host would.
    #[serde(skip)]
    pub ends_with: Option<Cancel>,
    /// How to start a keeper, the process of a run that outlives this one; without it, there are no such runs.
    #[serde(skip)]
    pub keeper: Option<Detached>,
    /// The key of a run that another process hands over, for this one to keep.
    pub kept: Option<String>,
}

impl SpawnRequest {
    /// The time of a request that is made now: later than that of all requests before it in this process, unless the clock
    /// was set back.
    #[must_use]
    pub fn moment() -> i64 {
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

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Receipt {
    /// The run was accepted.
    Accepted {
        /// As in [`BackgroundRun`](crate::orchestrate::background::BackgroundRun).
        run_id: String,
        /// As in [`BackgroundRun`](crate::orchestrate::background::BackgroundRun).
        session_key: String,
        /// What the model is told.
        note: String,
        /// Options that were skipped, and why.
        warnings: Vec<String>,
    },
    /// Configuration or a limit forbids it.
    Forbidden(String),
    /// The request, or something that it needs, is wrong.
    Error(String),
}

text_enum! {
    /// The kind of a [`Receipt`] in a word.
    pub enum ReceiptStatus {
        /// [`Receipt::Accepted`].
        Accepted = "accepted",
        /// [`Receipt::Forbidden`].
        Forbidden = "forbidden",
        /// [`Receipt::Error`].
        Error = "error",
    }
}

/// The host context of a request, for a keeper.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::run::HostContext;

    pub(super) fn serialize<S: Serializer>(
        context: &Arc<HostContext>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        HostContext::serialize(context, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<HostContext>, D::Error> {
        HostContext::deserialize(deserializer).map(Arc::new)
    }
}
