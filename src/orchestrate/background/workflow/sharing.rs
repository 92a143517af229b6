//! The calls of this process that have the same key: the first one works, and the others get its result.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::run::ToolResult;

/// A key of a workflow: the agent directory, the workflow's key in the store, and the key in the workflow.
pub(super) type Place = (PathBuf, String, String);

/// The keys that calls of this process work on.
static WORKING: LazyLock<Mutex<HashMap<Place, Working>>> = LazyLock::new(Mutex::default);

/// The call that works on a key.
struct Working {
    digest: String,
    result: watch::Sender<Option<ToolResult>>,
    updates: watch::Receiver<Option<ToolResult>>,
}

/// The part of a call in the work on a key.
pub(super) enum Part {
    /// It works.
    Leads(Lead),
    /// Another call works on the same request.
    Joins(Joined),
    /// Another call works on another request with the same key.
    Conflicts,
}

/// The right to work on a key. Dropping it without a result lets another call work.
pub(crate) struct Lead(Place);

/// The result and the updates of the call that works.
pub(super) struct Joined {
    pub result: watch::Receiver<Option<ToolResult>>,
    pub updates: watch::Receiver<Option<ToolResult>>,
}

/// Enters the work on a key. `updates` are shown to the calls that join.
pub(super) fn enter(place: &Place, digest: &str, updates: watch::Receiver<Option<ToolResult>>) -> Part {
    let mut all = WORKING.lock();
    match all.get(place) {
        Some(working) if working.digest == digest => {
            let (result, updates) = (working.result.subscribe(), working.updates.clone());
            Part::Joins(Joined { result, updates })
        }
        Some(_) => Part::Conflicts,
        None => {
            let working = Working { digest: digest.to_owned(), result: watch::Sender::new(None), updates };
            all.insert(place.clone(), working);
            Part::Leads(Lead(place.clone()))
        }
    }
}

impl Lead {
    /// Gives the result to the calls that have joined.
    pub(crate) fn finish(self, result: &ToolResult) {
        let result = Some(result.clone());
        if let Some(working) = WORKING.lock().get(&self.0) {
            working.result.send_replace(result);
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        WORKING.lock().remove(&self.0);
    }
}
