//! The files of ended runs: when transcripts are archived, and which files are removed when they grow too large.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::run_store::RunStore;
use crate::archive::{
    ArchiveError, Candidate, RunPlace, archive, current_transcript, keep_within, prune_snapshots,
};
use crate::run::{Cleanup, HostContext, RunOutcome, RunRecord, load_config};
use files::canonical;
use files::layout;
use sanitizer::chain;
use sanitizer::figures::millis;
use store::{StoredDirectory, now_ms};

/// The minimum time for which the files of a run are kept after its end was delivered: the person may look at them.
const MIN_RETENTION_MS: i64 = 60 * 60 * 1000;

/// Archives and removes the files of ended runs.
impl RunStore {
    /// Archives the transcripts that are due.
    pub(super) fn archive_due(&self) {
        for run in self.due_for_archive(now_ms()) {
            self.archive(&run);
        }
    }

    /// Archives the transcript of an ended run now.
    pub(super) fn archive(&self, run: &RunRecord) {
        let now = now_ms();
        // Recorded before the files move, so that no process resumes a run without its transcript.
        let archived = RunRecord { archived_ms: Some(now), ..run.clone() };
        if self.amend(&archived) != Some(true) {
            return;
        }
        let Some(directory) = &run.directory else { return };
        let session_file = run.session_file.as_deref();
        let place = RunPlace { directory, agent_dir: &self.agent_dir, session_file };
        if let Err(error @ ArchiveError::Io(_)) = archive(&place, now) {
            let run_id = &run.run_id;
            let why = chain(&error);
            self.notify_user(format!("the transcript of run {run_id} cannot be archived: {why}"));
        }
        // A reader of the record finds the file under its new name.
        let transcript = run.transcript.as_deref().and_then(current_transcript);
        if transcript != run.transcript {
            let mut moved = archived;
            moved.move_transcript(transcript);
            self.amend(&moved);
        }
    }

    /// Decides what happens to the transcript of a run whose end was delivered.
    pub(super) fn after_delivery(&self, run: RunRecord, context: &HostContext) {
        if run.is_live() || run.archived_ms.is_some() {
            return;
        }
        if run.cleanup == Cleanup::Delete {
            return self.archive(&run);
        }
        if run.archive_at_ms.is_some() || run.outcome != Some(RunOutcome::Interrupted) {
            return;
        }
        // For an interrupted run, the time counts from the delivery of its end.
        let after = load_config(&run.cwd, context).ok().and_then(|loaded| loaded.config.archive_after);
        if let Some(after) = after {
            let at = now_ms().saturating_add_unsigned(millis(after));
            self.amend(&RunRecord { archive_at_ms: Some(at), ..run });
        }
    }

    /// Removes the files of the oldest runs while the files of all runs together exceed `quotaBytes` (0 is no limit).
    /// The files of a run are kept until an hour after its end was delivered, or was returned to its call, and as long as the run
    /// has a key in a workflow. Their records are kept. Returns true if any files were removed.
    pub(super) fn keep_within_quota(&self, cwd: &Path, context: &HostContext) -> bool {
        let quota = load_config(cwd, context).map_or(0, |loaded| loaded.config.quota_bytes);
        if quota == 0 {
            return false;
        }
        let mut runs = self.directories();
        let is_missing = |run: &StoredDirectory| run.key.is_none() && !Path::new(&run.directory).exists();
        let missing: Vec<_> = runs.extract_if(.., |run| is_missing(run)).collect();
        let missing: Vec<_> = missing.iter().map(|run| &*run.directory).collect();
        self.drop_forgotten(&missing);
        let session_files: Vec<_> =
            runs.iter().map(|run| self.session_file_of(Path::new(&run.directory))).collect();
        let before = now_ms().saturating_sub(MIN_RETENTION_MS);
        let candidates: Vec<_> = runs
            .iter()
            .zip(&session_files)
            .map(|(run, session_file)| Candidate {
                place: RunPlace {
                    directory: Path::new(&run.directory),
                    agent_dir: &self.agent_dir,
                    session_file: session_file.as_deref(),
                },
                is_archived: run.is_archived,
                is_removable: !run.is_live
                    && !run.is_named
                    && run.delivered_ms.is_some_and(|delivered| delivered <= before),
            })
            .collect();
        // Recorded before the files are removed, so that no process resumes a run without its transcript.
        let may_remove = |at: usize| {
            let Some(key) = &runs[at].key else { return true };
            self.run(key).is_some_and(|run| {
                let archived_ms = run.archived_ms.or_else(|| Some(now_ms()));
                self.amend(&RunRecord { archived_ms, ..run }) == Some(true)
            })
        };
        let known: HashSet<&OsStr> =
            runs.iter().filter_map(|run| Path::new(&run.directory).file_name()).collect();
        prune_snapshots(&self.agent_dir, quota, |id| known.contains(id));
        let removed = keep_within(quota, &candidates, may_remove);
        let known = removed.iter().filter_map(|&at| runs[at].key.as_ref());
        for mut run in known.filter_map(|key| self.run(key)) {
            run.forget_files();
            self.amend(&run);
        }
        let forgotten = removed.iter().map(|&at| &runs[at]).filter(|run| run.key.is_none());
        self.drop_forgotten(&forgotten.map(|run| &*run.directory).collect::<Vec<_>>());
        !removed.is_empty()
    }

    /// The session file next to a run's directory, which has the file's name without its extension. `None` for a run
    /// without one.
    fn session_file_of(&self, directory: &Path) -> Option<PathBuf> {
        let parent = directory.parent()?;
        if canonical(parent) == canonical(&layout::runs(&self.agent_dir, None)) {
            return None;
        }
        let mut file = parent.as_os_str().to_owned();
        file.push(".jsonl");
        Some(file.into())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::Host;
    use store::{Delivery, attach};

    fn context(agent_dir: &Path, quota: u64) -> HostContext {
        HostContext {
            agent_dir: agent_dir.to_owned(),
            home: None,
            env: Vec::new(),
            config: Some(serde_json::json!({ "quotaBytes": quota })),
            pi_command: None,
            warden: None,
            host: Host::default(),
        }
    }

    /// Runs that cannot be resumed are removed first: a forgotten run, then an archived one, then a foreground run.
    #[test]
    fn the_quota_counts_the_runs_of_calls_and_forgotten_ones() {
        const DAY_MS: i64 = 24 * MIN_RETENTION_MS;
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let agent_dir = root.path().join("agent");
        let run_store = RunStore::new(&agent_dir);
        let now = now_ms();
        let runs =
            [("00000001", true, 2, None), ("00000002", false, 1, Some(now)), ("00000003", true, 31, None)];
        let directories = runs.map(|(key, is_foreground, days, archived_ms)| {
            let directory = layout::runs(&agent_dir, None).join(key);
            fs::create_dir_all(&directory).expect("the directory is created");
            fs::write(directory.join("session.jsonl"), "x".repeat(100_000)).expect("the file is written");
            let ended_ms = now - days * DAY_MS;
            run_store.put(&RunRecord {
                key: key.to_owned(),
                directory: Some(directory.clone()),
                transcript: Some(directory.join("session.jsonl")),
                result: Some(format!("[truncated; full text: {}]", directory.join("output.md").display())),
                outcome: Some(RunOutcome::Completed),
                created_ms: ended_ms,
                ended_ms: Some(ended_ms),
                is_foreground,
                archived_ms,
                ..RunRecord::default()
            });
            directory
        });
        let store = attach(&agent_dir).store.expect("the store is available");
        assert_eq!(store.prune(now).expect("the old rows are pruned"), 1);
        for (quota, is_removed, remaining) in [
            (400_000, false, [true, true, true]),
            (250_000, true, [true, true, false]),
            (150_000, true, [true, false, false]),
            (1, true, [false, false, false]),
        ] {
            let removed = run_store.keep_within_quota(root.path(), &context(&agent_dir, quota));
            assert_eq!(removed, is_removed, "{quota}");
            assert_eq!(directories.each_ref().map(|directory| directory.exists()), remaining, "{quota}");
        }
        let call = run_store.run("00000001").expect("the run is stored");
        assert!(
            call.archived_ms.is_some() && call.transcript.is_none(),
            "the run is archived without a transcript"
        );
        assert_eq!(call.result.as_deref(), Some("[truncated; full text: (removed)/output.md]"));
        assert!(run_store.directories().is_empty());
    }

    #[test]
    fn a_forgotten_run_without_a_directory_is_dropped() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let agent_dir = root.path().join("agent");
        let run_store = RunStore::new(&agent_dir);
        run_store.put(&RunRecord {
            key: "key".to_owned(),
            directory: Some(layout::runs(&agent_dir, None).join("00000001")),
            outcome: Some(RunOutcome::Completed),
            ended_ms: Some(1),
            is_foreground: true,
            ..RunRecord::default()
        });
        assert_eq!(run_store.directories().iter().map(|run| run.key.clone()).collect::<Vec<_>>(), [None]);
        assert!(!run_store.keep_within_quota(root.path(), &context(&agent_dir, 1)));
        assert!(run_store.directories().is_empty());
    }

    #[test]
    fn runs_delivered_within_the_hour_or_undelivered_stay_beyond_the_quota() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let agent_dir = root.path().join("agent");
        let context = context(&agent_dir, 1);
        let run_store = RunStore::new(&agent_dir);
        let hour_ago = now_ms() - MIN_RETENTION_MS;
        let directories = [("waits", false), ("told", true), ("silent", false)].map(|(key, is_delivered)| {
            let directory = layout::runs(&agent_dir, None).join(format!("{:08x}", key.len()));
            fs::create_dir_all(&directory).expect("the directory is created");
            fs::write(directory.join("session.jsonl"), "x".repeat(100_000)).expect("the file is written");
            let run = RunRecord {
                key: key.to_owned(),
                directory: Some(directory.clone()),
                outcome: Some(RunOutcome::Completed),
                ended_ms: Some(hour_ago),
                ..RunRecord::default()
            };
            let delivery = Delivery { id: key.to_owned(), key: key.to_owned(), ..Delivery::default() };
            run_store.put_with(&run, Some(&delivery).filter(|_| key != "silent"), false, None);
            if is_delivered {
                run_store.mark_delivered(&[key.to_owned()]);
            }
            directory
        });
        assert!(run_store.keep_within_quota(root.path(), &context));
        assert_eq!(directories.map(|directory| directory.exists()), [true, true, false]);
        assert!(!run_store.keep_within_quota(root.path(), &context));
    }
}
