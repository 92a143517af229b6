//! Carries out the commands about the changes of a run, in the user's tree or in a private tree.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::parse::RunCommand;
use crate::orchestrate::background::conversation::project_runs::without_record;
use crate::orchestrate::background::conversation::view::ConversationScope;
use crate::orchestrate::background::find::Target;
use crate::orchestrate::writers::lock_tree_for_command;
use crate::present::{
    Report, applied_report, apply_undone_report, difference_report, discarded_report, refused_report,
    undone_report,
};
use crate::run::{
    CallSettings, HostCapabilities, HostContext, RunRecord, StoredChanges, blocking, snapshot_store,
};
use sanitizer::{chain, one_line};
use worktree::{ApplyError, ChangesState, GitError, SnapshotError, SnapshotStore, changes_of};

/// The refusal of every command while the run works.
const LIVE: &str = "it has not ended: wait for it, or stop it first";
/// The error of `apply --abort` without a named run, if no known run of the project is applied.
const NOT_APPLIED: &str = "no run of this project is applied; to undo an apply in another project, name its run: \
                            `/subagents undo ID`";

/// The maximum length of an agent's name in a reason, in characters.
const MAX_AGENT: usize = 80;

/// Shows, applies, reverts or discards the changes of a run. The person who typed the command decides by the report, so
/// it is not redacted on their screen.
pub(super) async fn carry_out_change(
    run: &RunRecord,
    command: RunCommand,
    context: &Arc<HostContext>,
) -> Report {
    let done = match command {
        RunCommand::Apply { .. } => "applied",
        RunCommand::AbortApply | RunCommand::Undo => "undone",
        RunCommand::Discard { .. } => "discarded",
        _ => "shown",
    };
    if run.is_live() {
        return refused_report(run, done, LIVE);
    }
    let (settings, store) = match store_of(run, context).await {
        Ok(found) => found,
        Err(error) => return refused_report(run, done, &chain(&error)),
    };
    let id = &run.run_id;
    let lock = match command {
        RunCommand::Apply { .. } | RunCommand::AbortApply | RunCommand::Undo => {
            let by = if command == RunCommand::Undo { "undo" } else { "apply" };
            lock_tree_for_command(&run.cwd, context, format!("/subagents {by}")).await
        }
        _ => Ok(None),
    };
    let _lock = match lock {
        Ok(lock) => lock,
        Err(busy) => return refused_report(run, done, &busy.to_string()),
    };
    let report = match command {
        RunCommand::Apply { with_flagged } => {
            store.apply(id, with_flagged).await.map(|applied| applied_report(run, &applied))
        }
        RunCommand::AbortApply => store.abort_apply(id).await.map(|paths| apply_undone_report(run, &paths)),
        RunCommand::Discard { is_sure } => {
            let (agent_dir, of) = (context.agent_dir.clone(), id.clone());
            let changes = blocking(move || changes_of(&agent_dir, &of)).await;
            let is_applied = changes.is_some_and(|changes| {
                matches!(changes.state, ChangesState::Applied | ChangesState::HalfApplied)
            });
            let discarded = store.discard(id, is_sure).await;
            discarded.map(|discarded| discarded_report(run, &discarded, is_applied, is_sure))
        }
        RunCommand::Undo => undone(run, &store).await,
        _ => store.difference(id, end_of(run)).await.map(|shown| difference_report(run, &shown)),
    };
    let report = report.unwrap_or_else(|error: ApplyError| match error {
        ApplyError::Nothing => refused_report(run, done, &nothing_stored(run)),
        error => refused_report(run, done, &chain(&error)),
    });
    report.sanitized_for_storing(settings.sanitizer(), &format!("diff {id}"))
}

async fn undone(run: &RunRecord, store: &SnapshotStore) -> Result<Report, ApplyError> {
    let refused = |why: &str| Ok(refused_report(run, "undone", why));
    let snapshot = match store.open(&run.run_id).await {
        Err(SnapshotError::Unknown { .. }) => return refused(&nothing_stored(run)),
        found => found?,
    };
    if snapshot.is_of_private_tree() {
        let id = &run.run_id;
        if snapshot.applied.is_none() {
            return refused("it worked in a private tree, and its changes are not in your tree");
        }
        return store.abort_apply(id).await.map(|paths| apply_undone_report(run, &paths));
    }
    let undone = store.undo(&snapshot, end_of(run)).await?;
    Ok(undone_report(run, &undone))
}

/// Returns the time of a run's end.
fn end_of(run: &RunRecord) -> SystemTime {
    let ended = run.ended_ms.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
    ended.map_or_else(SystemTime::now, |since| SystemTime::UNIX_EPOCH + since)
}

/// Returns the reason why no changes of a run are stored, from its record.
fn nothing_stored(run: &RunRecord) -> String {
    let RunRecord { run_id, agent, .. } = run;
    let agent = one_line(agent, MAX_AGENT);
    match run.stored_changes {
        Some(StoredChanges::Readonly) => format!("{agent} is readonly: it changed nothing"),
        Some(StoredChanges::WriteOff) => "`allowWrite` was off: it changed nothing".to_owned(),
        Some(StoredChanges::OnlyReads) => format!("{agent} has only tools that read: it changed nothing"),
        Some(StoredChanges::Nothing) => "it changed nothing".to_owned(),
        Some(StoredChanges::NoGit) => {
            "it worked outside of a git repository, where its changes are not recorded".to_owned()
        }
        Some(StoredChanges::Remote) => {
            "it changed files of another machine, which are not recorded here".to_owned()
        }
        Some(StoredChanges::NotRecorded) => {
            format!("its tree could not be recorded; `/subagents info {run_id}` shows the reason")
        }
        Some(StoredChanges::NotImported) => {
            format!("its changes could not be imported; `/subagents info {run_id}` shows the reason")
        }
        Some(StoredChanges::Branch) => {
            "its stored changes were removed with its files. Its branch is still in your repository, unless \
             you have deleted it"
                .to_owned()
        }
        Some(StoredChanges::Snapshot) => "its stored changes were removed with its files".to_owned(),
        None if run.started_ms.is_none() && !run.run_id.is_empty() && run.created_ms > 0 => {
            "it was never started: it changed nothing".to_owned()
        }
        // The record of an earlier version.
        None => "no changes of it are stored".to_owned(),
    }
}

/// Aborts the newest apply among these runs.
pub(super) async fn abort_last(runs: &[RunRecord], context: &Arc<HostContext>) -> Report {
    let mut last: Option<(u64, &RunRecord)> = None;
    let applied: Vec<&RunRecord> = runs.iter().filter(|run| run.can_abort_apply()).collect();
    if let Some(first) = applied.first()
        && let Ok((_, store)) = store_of(first, context).await
    {
        for run in applied {
            let applied = store.open(&run.run_id).await.ok().and_then(|snapshot| snapshot.applied);
            if let Some(applied) = applied.filter(|applied| last.is_none_or(|(at, _)| applied.at_ms > at)) {
                last = Some((applied.at_ms, run));
            }
        }
    }
    match last {
        Some((_, run)) => carry_out_change(run, RunCommand::AbortApply, context).await,
        None => Report::error(NOT_APPLIED),
    }
}

/// Finds a run without a stored record by the snapshot of its tree: a run of a program without a conversation, or a run
/// whose record was removed. The result of such a run has named its id.
pub(super) async fn by_snapshot(target: &Target, scope: &ConversationScope) -> Option<RunRecord> {
    let run = RunRecord { cwd: scope.cwd.clone(), ..RunRecord::default() };
    let (_, store) = store_of(&run, &scope.context).await.ok()?;
    let snapshot = store.open(&target.0).await.ok()?;
    // A run without a recorded end may still work, in another process.
    let has_ended =
        if snapshot.is_of_private_tree() { snapshot.artifacts.is_some() } else { snapshot.end.is_some() };
    let agent_dir = scope.context.agent_dir.clone();
    let found = move || RunRecord {
        changes_state: changes_of(&agent_dir, &snapshot.id).map(|changes| changes.state),
        ..without_record(snapshot.id, snapshot.root)
    };
    if has_ended { Some(blocking(found).await) } else { None }
}

async fn store_of(
    run: &RunRecord,
    context: &Arc<HostContext>,
) -> Result<(CallSettings, SnapshotStore), GitError> {
    let cwd = run.cwd.clone();
    let here = Arc::clone(context);
    let settings = blocking(move || CallSettings::read(&cwd, &here)).await;
    let capabilities = HostCapabilities::probe(context).await;
    let store = snapshot_store(context, &run.cwd, &settings.config(), &capabilities).await?;
    Ok((settings, store))
}
