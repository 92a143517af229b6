//! A background run as plain data, as it is stored and as readers see it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use super::facts::{Caveat, RunArtifacts, Settled, StoredChanges};
use super::progress::Resources;
use super::progress::RetryNotice;
use super::spec::WorkflowRun;
use super::state::{RunOutcome, RunState};
use pi_events::{ContextUse, Usage, run_usage};
use sanitizer::text_enum;
use worktree::ChangesState;

text_enum! {
    /// The announced result of a run. It follows from the run's outcome, never from a model's words.
    pub enum BackgroundStatus {
        /// The child finished its work.
        Success = "success",
        /// The child did not finish its work.
        Error = "error",
        /// A time limit ended the run.
        Timeout = "timeout",
        /// The host ended while the run was live.
        Unknown = "unknown",
    }
}

impl BackgroundStatus {
    /// The status under which an outcome is announced.
    #[must_use]
    pub fn of(outcome: RunOutcome) -> Self {
        match outcome {
            RunOutcome::Completed => Self::Success,
            RunOutcome::IdleTimeout | RunOutcome::HardTimeout => Self::Timeout,
            RunOutcome::Failed
            | RunOutcome::Aborted
            | RunOutcome::Killed
            | RunOutcome::Budget
            | RunOutcome::Skipped => Self::Error,
            // A run in the background has not ended; none is stored with this outcome.
            RunOutcome::Interrupted | RunOutcome::Background => Self::Unknown,
        }
    }
}

text_enum! {
    /// The clean-up of a run's transcript after its end.
    #[derive(Default)]
    pub enum Cleanup {
        /// It is archived `archiveAfterMinutes` after the end.
        #[default]
        Keep = "keep",
        /// It is archived as soon as the run's end is delivered.
        Delete = "delete",
    }
}

/// The result of an action on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionOutcome {
    /// The run has ended, with everything that it started.
    Stopped,
    /// The run was asked to end, but has not ended yet.
    Stopping,
    /// The child reads the message before its next turn.
    Steered,
    /// The message is the answer to its child's question.
    Answered,
    /// The process that hosts the run was asked to pass the message on.
    PassedOn,
    /// The run now checks if its provider's quota is available again.
    TriesQuota,
    /// The run continues, and its result goes to the conversation that asked for it.
    Resumed,
    /// The run continues, and its result goes to the conversation that has resumed it instead of the original one.
    Adopted,
    /// The run continues without the call that has waited for it.
    HandedOver,
}

/// The part of a background run that changes while its child works. The host process of a run that outlives its pi
/// writes it to a file for other processes; other hosts keep it in memory.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LiveSnapshot {
    /// Its position in the queue, from 1, while it waits in the queue.
    pub position: Option<usize>,
    /// The run that writes to the same work tree and must end before this run can start, if there is one.
    #[serde(alias = "behind")]
    pub blocked_by: Option<String>,
    /// The child's question, while it waits for the answer.
    #[serde(alias = "asks")]
    pub pending_question: Option<String>,
    /// The child's process id, while the child lives.
    pub pid: Option<u32>,
    /// The newest tool call in a few words.
    pub last_tool: Option<String>,
    /// The pending retry.
    pub retry: Option<RetryNotice>,
    /// The time of its last progress.
    pub updated_ms: Option<i64>,
    /// The newest text, unless a tool was called since; at most 2 KiB.
    pub text: Option<String>,
    /// The usage of all attempts and resumptions together.
    #[serde(with = "run_usage")]
    pub usage: Usage,
    /// The context use of its child.
    pub context: Option<ContextUse>,
    /// Processor time of all its processes, in milliseconds.
    pub cpu_ms: Option<u64>,
    /// Memory of all its processes in bytes: now, or the peak after its end.
    pub rss_bytes: Option<u64>,
    /// Number of its processes: now, or the peak after its end.
    pub processes: Option<u64>,
}

impl LiveSnapshot {
    /// Clears the fields that are valid only while the child works. The store never keeps them.
    pub(crate) fn clear_transient(&mut self) {
        (self.position, self.pid, self.last_tool, self.text) = (None, None, None, None);
        (self.blocked_by, self.pending_question, self.retry) = (None, None, None);
    }
}

/// A run, in the background or in the foreground. All texts are sanitized and bounded. Times are milliseconds since 1970
/// in UTC. Callers and the store have the same JSON.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the run")]
pub struct RunRecord {
    /// A random UUID, the run's key in the store.
    pub key: String,
    /// Eight hexadecimal characters, the name of its directory.
    pub run_id: String,
    /// `agent:<agent>:subagent:<key>`.
    pub session_key: String,
    /// The id of the conversation that requested it.
    pub session: String,
    /// The session file of that conversation.
    pub session_file: Option<PathBuf>,
    /// A name for people.
    pub label: Option<String>,
    /// The name of the agent.
    pub agent: String,
    /// The task, at most its first 4 KiB.
    pub task: String,
    /// The model that answers or was chosen, as `provider/id`.
    pub model: Option<String>,
    /// The thinking level that was chosen.
    pub thinking: Option<String>,
    /// The working directory of the child.
    pub cwd: PathBuf,
    /// The clean-up of its transcript.
    pub cleanup: Cleanup,
    /// True if the run continues when the pi that started it ends.
    #[serde(alias = "isKept")]
    pub is_detached: bool,
    /// Its state while it is live. It means nothing once the run has ended. It is written as [`Self::state`].
    #[serde(skip_serializing, deserialize_with = "state")]
    pub state: RunState,
    /// Its progress.
    #[serde(flatten, skip_deserializing)]
    pub progress: LiveSnapshot,
    /// The outcome. Absent while the run is live.
    pub outcome: Option<RunOutcome>,
    /// The error message.
    pub error: Option<String>,
    /// The time at which it was accepted.
    pub created_ms: i64,
    /// The time at which it got its slot.
    pub started_ms: Option<i64>,
    /// The time of its end.
    pub ended_ms: Option<i64>,
    /// The time at which its transcript is due for archiving.
    pub archive_at_ms: Option<i64>,
    /// The time at which its transcript was archived.
    pub archived_ms: Option<i64>,
    /// The usage before the last resumption.
    #[serde(with = "run_usage")]
    pub spent_before: Usage,
    /// The runtime before the last resumption, in milliseconds.
    #[serde(alias = "ranBeforeMs")]
    pub previous_run_ms: u64,
    /// True if its child works in a private tree.
    pub is_isolated: bool,
    /// The stored changes, or the reason why none are stored. Absent while that is unknown, and in the record of an earlier
    /// version.
    pub stored_changes: Option<StoredChanges>,
    /// The requested hard timeout.
    pub timeout_ms: Option<u64>,
    /// The hard timeout that was configured for its call, if a call has begun it.
    pub call_timeout_ms: Option<u64>,
    /// The JSON Schema of the result that its call asked for.
    pub output_schema: Option<Value>,
    /// Its place in a workflow, if it belongs to one.
    pub workflow: Option<WorkflowRun>,
    /// The run's directory.
    pub directory: Option<PathBuf>,
    /// The child's session file.
    pub transcript: Option<PathBuf>,
    /// The id of the child's own session.
    pub child_session_id: Option<String>,
    /// The artifacts of its work, and of the other steps of its chain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<RunArtifacts>,
    /// The child's announced words, at most 16 KiB.
    pub result: Option<String>,
    /// The unfinished answer of a run that did not complete, at most 4 KiB.
    pub partial: Option<String>,
    /// The submitted result, if the run had to submit one and it is not large.
    pub structured: Option<Value>,
    /// The file that holds all of a large submitted result.
    pub structured_file: Option<PathBuf>,
    /// Diagnostics of its set-up and its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The tools that its policy allowed when it was accepted.
    pub tools: Vec<String>,
    /// The report on its child's sandbox, in words.
    pub sandbox: Option<String>,
    /// The level of certainty that all its processes have ended.
    pub supervision: Option<String>,
    /// The facts that its answer may contradict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
    /// The number of resumptions.
    pub times_resumed: u32,
    /// The number of resumptions after a restart of pi, because of `background.onRestart`.
    #[serde(skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// The process id of its host.
    pub host_pid: Option<u32>,
    /// True if this process is its host.
    #[serde(skip_deserializing)]
    pub is_in_process: bool,
    /// True for a foreground run: a call waits for it, or did. Such a run is stored when it has ended, so that it can
    /// be continued.
    pub is_foreground: bool,
    /// The state of its changes, if it has ended and has some. Lists read it from the run's snapshot; it is not stored.
    pub changes_state: Option<ChangesState>,
}

/// Stands in a stored result for the path of a removed file or directory.
const REMOVED: &str = "(removed)";

/// Replaces a path in a text.
fn renamed(text: &str, from: &Path, to: &str) -> String {
    text.replace(&*from.to_string_lossy(), to)
}

impl Serialize for RunRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Fields<'a>(&'a RunRecord);

        impl Serialize for Fields<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                RunRecord::serialize(self.0, serializer)
            }
        }

        /// The fields with the state and the status, which follow from them.
        #[skip_serializing_none]
        #[derive(Serialize)]
        struct Record<'a> {
            #[serde(flatten)]
            fields: Fields<'a>,
            state: &'static str,
            status: Option<BackgroundStatus>,
        }

        let (state, status) = (self.state(), self.status());
        Record { fields: Fields(self), state, status }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RunRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl RunRecord {
    /// The maximum number of automatic resumptions after restarts of pi.
    const MAX_RESTARTS: u32 = 2;

    /// Returns true if it was resumed automatically as often as possible.
    pub(crate) fn is_restarted_enough(&self) -> bool {
        self.restarts >= Self::MAX_RESTARTS
    }

    /// Returns true if the run was interrupted, and can be resumed after a restart of pi.
    #[must_use]
    pub fn can_restart(&self) -> bool {
        self.outcome == Some(RunOutcome::Interrupted)
            && !self.is_foreground
            && self.transcript.is_some()
            && self.archived_ms.is_none()
            && !self.is_restarted_enough()
    }

    /// Returns true if the requesting conversation can be opened again. pi saves a session only after the first answer
    /// of the model.
    #[must_use]
    pub fn session_is_saved(&self) -> bool {
        self.session_file.as_ref().is_some_and(|file| file.exists())
    }

    /// Returns the session key of an agent's run.
    #[must_use]
    pub fn session_key(agent: &str, key: &str) -> String {
        format!("agent:{agent}:subagent:{key}")
    }

    /// The state of a run that is not live.
    pub const ENDED: &str = "ended";

    /// Reads a run from the JSON that it serializes to.
    ///
    /// # Errors
    ///
    /// Fails if a newer release wrote a value that this release does not know.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        // Read twice: `flatten` would first collect every value, with code of its own for the type of each field.
        let progress = serde_json::from_str(text)?;
        Ok(Self { progress, ..serde_json::from_str(text)? })
    }

    /// Records the current path of the transcript, also in the marker of a shortened result.
    pub(crate) fn move_transcript(&mut self, to: Option<PathBuf>) {
        if let Some(from) = &self.transcript {
            let name = to.as_ref().map_or(REMOVED.into(), |to| to.to_string_lossy());
            self.result = self.result.take().map(|result| renamed(&result, from, &name));
        }
        self.transcript = to;
    }

    /// Records that the files of the run were removed.
    pub(crate) fn forget_files(&mut self) {
        if let Some(directory) = self.directory.take() {
            self.result = self.result.take().map(|result| renamed(&result, &directory, REMOVED));
        }
        self.transcript = None;
    }

    /// Records the usage since the last resumption.
    pub(crate) fn note_used(&mut self, usage: &Usage, resources: Option<&Resources>) {
        self.progress.usage = self.spent_before.clone();
        self.progress.usage.add(usage);
        if let Some(Resources { cpu_ms, peak_rss_bytes, processes }) = resources.copied() {
            self.progress.cpu_ms = Some(cpu_ms);
            self.progress.rss_bytes = Some(peak_rss_bytes);
            self.progress.processes = Some(processes);
        }
    }

    /// Returns the runtime until `now_ms`, or until its end: the sum of all parts of a resumed run. `None` before it
    /// has its slot.
    #[must_use]
    pub fn runtime(&self, now_ms: i64) -> Option<Duration> {
        let last = self.ended_ms.unwrap_or(now_ms).saturating_sub(self.started_ms?);
        let last = u64::try_from(last).unwrap_or_default();
        Some(Duration::from_millis(self.previous_run_ms.saturating_add(last)))
    }

    /// Returns true if `resume` can continue it.
    #[must_use]
    pub fn can_resume(&self) -> bool {
        !self.is_live() && self.transcript.is_some() && self.directory.is_some() && self.archived_ms.is_none()
    }

    /// Returns true if `apply` has something to apply.
    #[must_use]
    pub fn can_apply(&self) -> bool {
        !self.is_live() && self.changes_state == Some(ChangesState::Unapplied)
    }

    /// Returns what the last command about its changes has done. `None` while they wait.
    #[must_use]
    pub fn settled(&self) -> Option<Settled> {
        self.changes_state.filter(|_| !self.is_live()).and_then(Settled::of)
    }

    /// Returns the settled state of the artifacts of this run or of another step of its chain.
    #[must_use]
    pub fn settled_of(&self, artifacts: &RunArtifacts) -> Option<Settled> {
        if artifacts.id(&self.run_id) == self.run_id { self.settled() } else { artifacts.settled }
    }

    /// Returns the record of a later step of a chain that continued in the background. The chain has one record for all
    /// steps, with the id of the first one. `None` if no later step with artifacts has this id.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<Self> {
        let is_it = |artifacts: &&RunArtifacts| artifacts.run_id.as_deref() == Some(id) && id != self.run_id;
        let artifacts = self.artifacts.iter().find(is_it)?;
        Some(Self {
            key: id.to_owned(),
            run_id: id.to_owned(),
            agent: artifacts.agent.clone().unwrap_or_else(|| self.agent.clone()),
            session: self.session.clone(),
            cwd: self.cwd.clone(),
            created_ms: self.created_ms,
            ended_ms: self.ended_ms,
            outcome: Some(RunOutcome::Completed),
            artifacts: vec![artifacts.clone()],
            ..Self::default()
        })
    }

    /// Returns true if `apply --abort` has something to revert.
    #[must_use]
    pub fn can_abort_apply(&self) -> bool {
        let is_rest = self.changes_state == Some(ChangesState::AppliedOnly);
        (!self.is_live() && is_rest) || self.has_applied_artifacts()
    }

    /// Returns true if its changes were applied, at least in part, and are still on a branch or in a patch.
    fn has_applied_artifacts(&self) -> bool {
        let is_applied = [Some(ChangesState::Applied), Some(ChangesState::HalfApplied)];
        !self.is_live() && is_applied.contains(&self.changes_state)
    }

    /// Returns true if `undo` has something to revert.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        !self.is_live() && self.changes_state == Some(ChangesState::InPlace)
    }

    /// Returns true if `diff` has something to show.
    #[must_use]
    pub fn can_diff(&self) -> bool {
        self.can_discard() || self.can_undo()
    }

    /// Returns true if `discard` has something to delete.
    #[must_use]
    pub fn can_discard(&self) -> bool {
        self.can_apply() || self.has_applied_artifacts()
    }

    /// Returns true if it has not done its work, and can be continued.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.can_resume() && self.outcome != Some(RunOutcome::Completed)
    }

    /// Returns true if a command can still change its files: apply, discard or undo its changes.
    #[must_use]
    pub fn has_open_changes(&self) -> bool {
        self.can_diff() || self.can_abort_apply()
    }

    /// Returns true if a person can still act on its work: apply it, undo it or continue it.
    #[must_use]
    pub fn awaits_person(&self) -> bool {
        self.has_open_changes() || self.is_unfinished()
    }

    /// Returns the reason why its transcript no longer exists. `None` if it exists, or never did.
    #[must_use]
    pub fn lost_transcript(&self) -> Option<&'static str> {
        let is_lost =
            self.transcript.is_none() && (self.archived_ms.is_some() || self.child_session_id.is_some());
        // Only the quota removes all files of an archived run and records that.
        let is_for_quota =
            self.archived_ms.is_some() && self.directory.is_none() && self.child_session_id.is_some();
        is_lost.then_some(if is_for_quota {
            "its transcript was deleted, because all runs together exceeded `quotaBytes`"
        } else {
            "its transcript was deleted"
        })
    }

    /// Returns true if it is queued or running.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.outcome.is_none()
    }

    /// Returns true if another process than its host shows its progress: the host writes snapshots of it.
    pub(crate) fn has_snapshots(&self) -> bool {
        self.is_detached || self.workflow.is_some()
    }

    /// Returns true if it waits for a slot.
    pub(crate) fn is_queued(&self) -> bool {
        self.is_live() && self.state == RunState::Queued
    }

    /// Returns its state in a word.
    #[must_use]
    pub fn state(&self) -> &'static str {
        if self.is_live() { self.state.as_str() } else { Self::ENDED }
    }

    /// Returns the announced result. `None` while the run is live.
    #[must_use]
    pub fn status(&self) -> Option<BackgroundStatus> {
        self.outcome.map(BackgroundStatus::of)
    }
}

/// The newest run of each key in a workflow. An ended older run of the key is superseded: nothing waits in it, unless its changes do.
#[derive(Debug, Default)]
pub(crate) struct NewestRuns<'a>(HashMap<(&'a Path, &'a str, &'a str), (i64, &'a str)>);

impl<'a> NewestRuns<'a> {
    pub(crate) fn of(runs: impl Iterator<Item = &'a RunRecord>) -> Self {
        let mut newest = HashMap::new();
        for run in runs {
            if let Some(place) = Self::place(run) {
                let known = newest.entry(place).or_insert_with(|| Self::age(run));
                *known = Self::age(run).max(*known);
            }
        }
        Self(newest)
    }

    /// Returns true if a newer run supersedes a run.
    pub(crate) fn supersede(&self, run: &RunRecord) -> bool {
        let newest = Self::place(run).and_then(|place| self.0.get(&place));
        let is_older = newest.is_some_and(|newest| *newest != Self::age(run));
        is_older && !run.is_live() && !run.has_open_changes()
    }

    fn place(run: &RunRecord) -> Option<(&Path, &str, &str)> {
        run.workflow.as_ref().map(|place| (&*place.project, &*place.id, &*place.key))
    }

    fn age(run: &RunRecord) -> (i64, &str) {
        (run.created_ms, &run.key)
    }
}

/// Removes the superseded runs. `all` are the runs that decide.
pub(crate) fn remove_superseded(runs: &mut Vec<RunRecord>, all: &[RunRecord]) {
    let newest = NewestRuns::of(all.iter().chain(&*runs));
    let mut is_kept = runs.iter().map(|run| !newest.supersede(run)).collect::<Vec<_>>().into_iter();
    runs.retain(|_| is_kept.next().unwrap_or(true));
}

/// Reads a state. Earlier releases wrote `ended` for a run that is not live.
fn state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RunState, D::Error> {
    let text = String::deserialize(deserializer)?;
    Ok(RunState::parse(&text).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_run_of_a_key_gives_way_to_a_newer_one_unless_its_changes_wait() {
        let run = |key: &str, name: &str, created_ms, outcome| RunRecord {
            key: key.to_owned(),
            created_ms,
            outcome,
            workflow: Some(WorkflowRun { key: name.to_owned(), ..WorkflowRun::default() }),
            ..RunRecord::default()
        };
        let stopped = Some(RunOutcome::Aborted);
        let mut runs = vec![
            run("old", "a", 1, stopped),
            run("new", "a", 2, Some(RunOutcome::Completed)),
            run("alone", "b", 1, stopped),
            run("elsewhere", "c", 1, stopped),
            RunRecord { changes_state: Some(ChangesState::Unapplied), ..run("changes", "a", 0, stopped) },
            RunRecord { workflow: None, ..run("no workflow", "a", 0, stopped) },
        ];
        remove_superseded(&mut runs, &[run("of another session", "c", 5, None)]);
        let left: Vec<&str> = runs.iter().map(|run| run.key.as_str()).collect();
        assert_eq!(left, ["new", "alone", "changes", "no workflow"]);
    }

    #[test]
    fn a_row_of_an_earlier_release_is_read_and_progress_stays_flat() {
        let cost = serde_json::json!({
            "input": 0.1, "output": 0.4, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.5,
        });
        let usage = serde_json::json!({
            "input": 3, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 4, "cost": cost, "turns": 2,
        });
        let row = serde_json::json!({
            "key": "k", "state": "running", "usage": usage, "cpuMs": 7, "rssBytes": null, "future": 1,
        });
        let run = RunRecord::from_json(&row.to_string()).expect("unknown fields are ignored");
        assert_eq!((run.state, run.progress.usage.input), (RunState::Running, 3));
        assert_eq!((run.state(), run.progress.cpu_ms), ("running", Some(7)));
        assert_eq!(run.progress.usage.turns, 2);
        assert!((run.progress.usage.cost.total - 0.5).abs() < f64::EPSILON);
        let written = serde_json::to_value(&run).expect("the run is serialized");
        assert_eq!((&written["state"], &written["cpuMs"]), (&"running".into(), &7.into()));
        for transient in ["position", "blockedBy", "pendingQuestion", "pid", "lastTool", "text"] {
            assert!(written.get(transient).is_none(), "{transient}");
        }
        assert_eq!(RunRecord::from_json(&written.to_string()).expect("a written row is readable"), run);
    }

    #[test]
    fn fields_with_their_earlier_names_are_read() {
        let row = r#"{"key":"k","state":"running","isKept":true,"ranBeforeMs":5,"behind":"r","asks":"Red?"}"#;
        let run = RunRecord::from_json(row).expect("a row of an earlier release is readable");
        assert_eq!((run.is_detached, run.previous_run_ms), (true, 5));
        let live = &run.progress;
        assert_eq!((live.blocked_by.as_deref(), live.pending_question.as_deref()), (Some("r"), Some("Red?")));
    }

    #[test]
    fn a_run_lasts_as_long_as_all_of_its_parts() {
        let run = RunRecord { created_ms: 1_000, ..RunRecord::default() };
        assert_eq!(run.runtime(9_000), None, "a waiting run has no runtime");
        let run = RunRecord { started_ms: Some(5_000), ..run };
        assert_eq!(run.runtime(9_000), Some(Duration::from_secs(4)));
        let run = RunRecord { ended_ms: Some(8_000), ..run };
        assert_eq!(run.runtime(9_000), Some(Duration::from_secs(3)));
        let run = RunRecord { previous_run_ms: 60_000, ..run };
        assert_eq!(run.runtime(9_000), Some(Duration::from_secs(63)));
    }

    #[test]
    fn the_record_says_why_a_transcript_no_longer_exists() {
        let run = RunRecord {
            directory: Some("/d".into()),
            archived_ms: Some(1),
            child_session_id: Some("s".into()),
            ..RunRecord::default()
        };
        let with_transcript = RunRecord { transcript: Some("/t".into()), ..run.clone() };
        assert_eq!(with_transcript.lost_transcript(), None);
        assert_eq!(RunRecord::default().lost_transcript(), None, "a run that never had a child");
        assert_eq!(run.lost_transcript(), Some("its transcript was deleted"));
        let mut removed = run;
        removed.forget_files();
        let why = removed.lost_transcript().unwrap_or_default();
        assert!(why.ends_with("exceeded `quotaBytes`"), "{why}");
    }

    #[test]
    fn the_outcome_says_whether_a_run_has_ended() {
        let row = r#"{"key":"k","state":"ended","status":"timeout","outcome":"idle_timeout"}"#;
        let run = RunRecord::from_json(row).expect("a row of an earlier release is readable");
        assert_eq!((run.state(), run.status()), ("ended", Some(BackgroundStatus::Timeout)));
        let live = RunRecord { outcome: None, ..run };
        assert_eq!((live.state(), live.status(), live.is_queued()), ("queued", None, true));
    }
}
