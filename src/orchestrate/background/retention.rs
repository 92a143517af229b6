//! What becomes of the files of runs that are over.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::engine::Background;
use super::keeper::sweep_snapshots;
use super::record::{BackgroundRun, Cleanup};
use super::view::View;
use crate::archive::{ArchiveError, Candidate, RunPlace, archive, keep_within};
use crate::files::layout;
use crate::run::{RunOutcome, blocking, load_config};
use crate::store::now_ms;
use crate::text::figures::millis;

impl Background {
    /// Puts aside the transcripts that are due.
    pub(super) async fn archive_due(&self) {
        let book = Arc::clone(&self.book);
        let agent_dir = self.agent_dir.clone();
        let due = blocking(move || {
            if book.version().is_some() {
                sweep_snapshots(&agent_dir, |key| book.run(key).is_some_and(|run| run.is_live()));
            }
            book.due_for_archive(now_ms())
        })
        .await;
        for run in due {
            self.archive(run).await;
        }
    }

    /// Puts aside the transcript of a run that is over, now.
    pub(super) async fn archive(&self, run: BackgroundRun) {
        let (book, agent_dir) = (Arc::clone(&self.book), self.agent_dir.clone());
        blocking(move || {
            let now = now_ms();
            // First, so that nobody goes on with it who would not find its transcript.
            if book.amend(&BackgroundRun { archived_ms: Some(now), ..run.clone() }) != Some(true) {
                return;
            }
            let Some(directory) = &run.directory else { return };
            let session_file = run.session_file.as_deref();
            let place = RunPlace { directory, agent_dir: &agent_dir, session_file };
            if let Err(error @ ArchiveError::Io { .. }) = archive(&place, now) {
                book.notice(format!(
                    "the transcript of run {} cannot be archived: {}",
                    run.run_id,
                    causes(&error)
                ));
            }
        })
        .await;
        self.tell_news();
    }

    /// Sees to the transcript of a run whose end was told.
    pub(super) async fn told(&self, view: &View, run: BackgroundRun) {
        if run.is_live() || run.archived_ms.is_some() {
            return;
        }
        if run.cleanup == Cleanup::Delete {
            return self.archive(run).await;
        }
        if run.archive_at_ms.is_some() || run.outcome != Some(RunOutcome::Interrupted) {
            return;
        }
        // It was interrupted, and may be wanted until its conversation has heard of it for a while.
        let (book, context) = (Arc::clone(&self.book), Arc::clone(&view.place.context));
        blocking(move || {
            let after =
                load_config(&run.cwd, &context).map(|loaded| loaded.config.archive_after).ok().flatten();
            if let Some(after) = after {
                let at = now_ms().saturating_add_unsigned(millis(after));
                book.amend(&BackgroundRun { archive_at_ms: Some(at), ..run });
            }
        })
        .await;
    }

    /// Removes the oldest runs from the disk while all of them take up more than `quotaBytes`, unless that is 0. What is
    /// known of them stays.
    pub(super) async fn keep_within_quota(&self) {
        let Some(place) = self.views().values().next().map(|view| view.place.clone()) else { return };
        let (book, agent_dir) = (Arc::clone(&self.book), self.agent_dir.clone());
        let has_removed = blocking(move || {
            let loaded = load_config(&place.cwd, &place.context);
            let quota = loaded.map_or(0, |loaded| loaded.config.quota_bytes);
            if quota == 0 {
                return false;
            }
            let runs = book.directories();
            let paths: Vec<(PathBuf, Option<PathBuf>)> = runs
                .iter()
                .map(|run| PathBuf::from(&run.directory))
                .map(|directory| {
                    let session_file = beside(&directory, &agent_dir);
                    (directory, session_file)
                })
                .collect();
            let candidates: Vec<_> = runs
                .iter()
                .zip(&paths)
                .map(|(run, (directory, session_file))| Candidate {
                    place: RunPlace {
                        directory,
                        agent_dir: &agent_dir,
                        session_file: session_file.as_deref(),
                    },
                    is_archived: run.is_archived,
                    may_go: !run.is_live,
                })
                .collect();
            // First, so that nobody goes on with it who would not find its transcript.
            let goes = |at: usize| {
                book.run(&runs[at].key).is_some_and(|run| {
                    let archived_ms = run.archived_ms.or_else(|| Some(now_ms()));
                    book.amend(&BackgroundRun { archived_ms, ..run }) == Some(true)
                })
            };
            let removed = keep_within(quota, &candidates, goes).removed;
            for run in removed.iter().filter_map(|&at| book.run(&runs[at].key)) {
                book.amend(&BackgroundRun { directory: None, transcript: None, ..run });
            }
            !removed.is_empty()
        })
        .await;
        if has_removed {
            self.look_again(false);
        }
    }
}

/// The session file beside which a run's directory is, unless it is among those of runs without one. Whatever its ending
/// was, the directory is named after the rest.
fn beside(directory: &Path, agent_dir: &Path) -> Option<PathBuf> {
    let parent = directory.parent()?;
    let homeless = layout::runs(agent_dir, None);
    let is_homeless = match (parent.canonicalize(), homeless.canonicalize()) {
        (Ok(parent), Ok(homeless)) => parent == homeless,
        _ => parent == homeless,
    };
    if is_homeless {
        return None;
    }
    let mut file = parent.as_os_str().to_owned();
    file.push(".jsonl");
    Some(file.into())
}

fn causes(error: &ArchiveError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}
