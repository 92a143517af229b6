//! Runs that go on when the pi that asked for them ends.
//!
//! Each has a process of its own, the keeper, which loads the same addon and does for this one run what its host does for
//! all others: the same limits, the same sanitizer, the same store, and a warden whose lifeline is the keeper's.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use uuid::Uuid;

use super::engine::background;
use super::live::Live;
use super::record::{BackgroundRun, BackgroundState};
use super::spawn::{Receipt, SpawnRequest};
use crate::config::Config;
use crate::files::{layout, private};
use crate::process::Detached;
use crate::run::{HostCallbacks, Timeout, blocking};

/// How long a keeper may take to accept its run. It loads an addon and reads a few files.
const ACCEPTING: Duration = Duration::from_secs(30);
/// How often a keeper says how far its run has come.
const GLIMPSES: Duration = Duration::from_millis(500);
/// What is read of that at most.
const MAX_GLIMPSE: u64 = 1024 * 1024;
/// Files of such that are looked at together.
const MAX_SWEPT: usize = 1_000;

/// Why a run cannot be kept, if it cannot.
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

/// Hands a run over to a keeper.
pub(super) async fn hand_over(request: SpawnRequest, keeper: Detached) -> Receipt {
    let handed = blocking(move || {
        let request = serde_json::to_vec(&request).map_err(io::Error::other)?;
        let answer = keeper.hand_over(request, ACCEPTING)?;
        serde_json::from_slice(&answer).map_err(|_| io::Error::other("it ended without an answer"))
    });
    let failed = |error| Receipt::Error(format!("the keeper of the run could not be started: {error}"));
    handed.await.unwrap_or_else(failed)
}

/// What a keeper does: reads a request, answers with a receipt, and stays until the run is over. Nobody can be asked there,
/// so `nobody` asks nobody.
///
/// # Errors
///
/// When the request cannot be read.
pub async fn keep(
    nobody: impl HostCallbacks + 'static,
    answer: impl FnOnce(&[u8]) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let request: SpawnRequest = blocking(|| {
        let mut request = Vec::new();
        io::stdin().lock().read_to_end(&mut request)?;
        serde_json::from_slice(&request).map_err(io::Error::other)
    })
    .await?;
    let engine = background(&request.context.agent_dir);
    let receipt = Box::pin(engine.spawn(request, Arc::new(nobody))).await;
    // Whoever asked may be gone; the run is not.
    drop(blocking(move || answer(&serde_json::to_vec(&receipt).map_err(io::Error::other)?)).await);
    engine.emptied().await;
    Ok(())
}

/// How far a kept run has come, for those who look from elsewhere: what is not kept in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LiveSnapshot {
    state: BackgroundState,
    position: Option<usize>,
    pid: Option<u32>,
    last_tool: Option<String>,
    text: Option<String>,
    usage: crate::event::Usage,
    cpu_ms: Option<u64>,
    rss_bytes: Option<u64>,
    processes: Option<u64>,
}

impl LiveSnapshot {
    fn of(run: &BackgroundRun) -> Self {
        Self {
            state: run.state,
            position: run.position,
            pid: run.pid,
            last_tool: run.last_tool.clone(),
            text: run.text.clone(),
            usage: run.usage.clone(),
            cpu_ms: run.cpu_ms,
            rss_bytes: run.rss_bytes,
            processes: run.processes,
        }
    }

    /// Looks at a run that lives in a keeper. Blocks. `None`: there is nothing to see.
    fn look(agent_dir: &Path, key: &str) -> Option<Self> {
        let file = fs::File::open(layout::live_snapshot(agent_dir, key)).ok()?;
        let mut text = Vec::new();
        file.take(MAX_GLIMPSE).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Shows it in a run that is still live.
    fn show(self, run: &mut BackgroundRun) {
        let Self { state, position, pid, last_tool, text, usage, cpu_ms, rss_bytes, processes } = self;
        if run.is_live() && state != BackgroundState::Ended {
            run.state = state;
            (run.position, run.pid, run.last_tool, run.text) = (position, pid, last_tool, text);
            (run.usage, run.cpu_ms, run.rss_bytes, run.processes) = (usage, cpu_ms, rss_bytes, processes);
        }
    }
}

/// Looks at the live ones among these that live in keepers. Blocks.
pub(super) fn with_snapshots(agent_dir: &Path, mut runs: Vec<BackgroundRun>) -> Vec<BackgroundRun> {
    for run in runs.iter_mut().filter(|run| run.is_live() && run.is_kept) {
        if let Some(live_snapshot) = LiveSnapshot::look(agent_dir, &run.key) {
            live_snapshot.show(run);
        }
    }
    runs
}

/// Says how far a run has come for as long as it is polled, where others look for it.
pub(super) async fn write_snapshots(agent_dir: &Path, live: &Live) {
    let mut shown = None;
    loop {
        let run = live.record();
        let live_snapshot = LiveSnapshot::of(&run);
        if shown.as_ref() != Some(&live_snapshot) {
            let text = serde_json::to_vec(&live_snapshot).expect("texts and numbers are JSON");
            let at = layout::live_snapshot(agent_dir, &run.key);
            // The end of the run, after which it is taken away, waits for it.
            let writing = Arc::clone(&live.writing).lock_owned().await;
            // Whoever looks sees less then; the run itself does not depend on it.
            drop(
                blocking(move || {
                    let written = write(&at, &text);
                    drop(writing);
                    written
                })
                .await,
            );
            shown = Some(live_snapshot);
        }
        sleep(GLIMPSES).await;
    }
}

/// Takes away what [`show_glimpses`] has shown. Blocks.
pub(super) fn remove_snapshot(agent_dir: &Path, key: &str) {
    let _ = fs::remove_file(layout::live_snapshot(agent_dir, key));
}

/// Takes away what was shown of runs that are not live any more, whose keepers could not. Blocks.
pub(super) fn sweep_snapshots(agent_dir: &Path, is_live: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(layout::live(agent_dir)) else { return };
    for entry in entries.take(MAX_SWEPT).flatten() {
        let path = entry.path();
        // One that was being written has a name around that of the run.
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let key = name.trim_start_matches('.').split('.').next();
        if key.is_some_and(|key| Uuid::try_parse(key).is_ok() && !is_live(key)) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Writes as a whole: whoever looks sees the glimpse before or this one.
fn write(at: &Path, text: &[u8]) -> io::Result<()> {
    private::create_dir_all(at.parent().unwrap_or(at))?;
    private::beside(at, text)?.persist(at)?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_its_user_can_read_how_far_a_run_has_come() {
        let agent_dir = tempfile::tempdir().expect("a temporary directory");
        let at = layout::live_snapshot(agent_dir.path(), "key");
        for text in [b"{}".as_slice(), b"{\"next\": 1}"] {
            write(&at, text).expect("written");
            assert_eq!(fs::read(&at).expect("readable"), text);
        }
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&at), 0o600);
        assert_eq!(mode(at.parent().expect("it has one")), 0o700);
        let names = fs::read_dir(layout::live(agent_dir.path())).expect("readable").count();
        assert_eq!(names, 1, "it was moved into place");
    }
}
