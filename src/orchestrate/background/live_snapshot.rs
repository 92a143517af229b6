//! Snapshots of runs that outlive their pi, or that the script of a workflow has started. A run's host process writes them, and
//! other processes read them.
//!
//! They are stored in the agent directory, where no sandboxed child can write, so their content can be trusted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::run::{LiveSnapshot, RunRecord, RunState};
use files::{layout, open, owned, private};

/// The maximum number of bytes that are read of a snapshot.
const MAX_BYTES: u64 = 1024 * 1024;
/// The maximum number of files that are examined in one sweep.
const MAX_SWEPT: usize = 1_000;

/// The part of a record that changes while its run works. Its file is a record without the rest.
type Snapshot = (RunState, LiveSnapshot);

/// The snapshots of an agent directory. Every method blocks.
#[derive(Debug)]
pub(super) struct SnapshotDirectory {
    agent_dir: PathBuf,
}

impl SnapshotDirectory {
    pub(super) fn new(agent_dir: &Path) -> Self {
        Self { agent_dir: agent_dir.to_owned() }
    }

    /// Updates the live runs that have a host process.
    pub(super) fn update(&self, mut runs: Vec<RunRecord>) -> Vec<RunRecord> {
        for run in runs.iter_mut().filter(|run| run.is_live() && run.has_snapshots()) {
            if let Some(snapshot) = self.read(&run.key) {
                (run.state, run.progress) = snapshot;
            }
        }
        runs
    }

    fn read(&self, key: &str) -> Option<Snapshot> {
        let file = owned::open(&self.path_of(key), fs::File::options().read(true)).ok()?;
        let text = String::from_utf8(open::read(file, MAX_BYTES).ok()?).ok()?;
        let RunRecord { state, progress, .. } = RunRecord::from_json(&text).ok()?;
        Some((state, progress))
    }

    /// Replaces the snapshot of a run atomically: a reader sees the old one or the new one.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn write(&self, key: &str, (state, progress): Snapshot) -> io::Result<()> {
        let run = RunRecord { state, progress, ..RunRecord::default() };
        let text = serde_json::to_vec(&run).expect("texts and numbers are JSON");
        private::create_dir_all(&layout::live(&self.agent_dir))?;
        let path = self.path_of(key);
        private::write_temporary(&path, &text)?.persist(path)?;
        Ok(())
    }

    pub(super) fn remove(&self, key: &str) {
        let _ = fs::remove_file(self.path_of(key));
    }

    /// Removes the snapshots of ended runs, which their host processes could not remove.
    pub(super) fn sweep(&self, is_live: impl Fn(&str) -> bool) {
        let Ok(entries) = fs::read_dir(layout::live(&self.agent_dir)) else { return };
        for entry in entries.take(MAX_SWEPT).flatten() {
            let path = entry.path();
            // A snapshot that is being written has a temporary name that contains the run's.
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let key = name.trim_start_matches('.').split('.').next();
            if key.is_some_and(|key| Uuid::try_parse(key).is_ok() && !is_live(key)) {
                let _ = fs::remove_file(&path);
            }
        }
    }

    fn path_of(&self, key: &str) -> PathBuf {
        layout::live_snapshot(&self.agent_dir, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::WorkflowRun;

    fn live(key: &str, is_detached: bool) -> RunRecord {
        RunRecord { key: key.to_owned(), is_detached, ..RunRecord::default() }
    }

    #[test]
    fn a_run_with_a_host_process_shows_its_snapshot_until_it_is_removed() {
        let agent_dir = tempfile::tempdir().expect("a temporary directory is created");
        let snapshots = SnapshotDirectory::new(agent_dir.path());
        let working =
            LiveSnapshot { pid: Some(7), text: Some("so far".to_owned()), ..LiveSnapshot::default() };
        let key = "1a2b3c4d-0000-4000-8000-000000000000";
        snapshots.write(key, Snapshot::default()).expect("the snapshot is written");
        snapshots.write(key, (RunState::Running, working.clone())).expect("the snapshot is written again");
        let of_workflow = RunRecord { workflow: Some(WorkflowRun::default()), ..live(key, false) };
        let runs = snapshots.update(vec![live(key, true), live(key, false), of_workflow]);
        assert_eq!(runs[2].progress, working);
        assert_eq!((runs[0].state, &runs[0].progress), (RunState::Running, &working));
        assert_eq!(runs[1].progress, LiveSnapshot::default());
        snapshots.sweep(|_| true);
        assert!(snapshots.read(key).is_some());
        snapshots.sweep(|_| false);
        assert!(snapshots.read(key).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_a_snapshot() {
        use std::os::unix::fs::PermissionsExt as _;

        let agent_dir = tempfile::tempdir().expect("a temporary directory is created");
        let snapshots = SnapshotDirectory::new(agent_dir.path());
        snapshots.write("key", Snapshot::default()).expect("the snapshot is written");
        let mode = |path: &Path| fs::metadata(path).expect("the file exists").permissions().mode() & 0o777;
        assert_eq!((mode(&layout::live(agent_dir.path())), mode(&snapshots.path_of("key"))), (0o700, 0o600));
        let count = fs::read_dir(layout::live(agent_dir.path())).expect("the directory is readable").count();
        assert_eq!(count, 1, "no temporary file stays");
    }
}
