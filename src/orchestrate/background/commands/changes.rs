//! Carries out the commands about what an isolated run has left.

use std::sync::Arc;

use super::parse::RunCommand;
use crate::present::{
    Report, applied_report, difference_report, discarded_report, refused_report, taken_back_report,
};
use crate::run::{BackgroundRun, CallSettings, HostContext, blocking, snapshot_store};
use crate::text::chain;
use crate::workspace::{ApplyError, SnapshotStore};

/// Why nothing is done while a run works.
const LIVE: &str = "it has not ended: wait for it, or stop it first";
/// Why there is nothing to take back, without a run that was named.
const NOT_APPLIED: &str =
    "no run of this session is applied; one of another session is named: `/subagents apply --abort ID`";

/// Shows, applies, takes back or discards what a run has left.
pub(super) async fn taken_over(
    run: &BackgroundRun,
    command: RunCommand,
    context: &Arc<HostContext>,
) -> Report {
    let done = match command {
        RunCommand::Apply { .. } => "applied",
        RunCommand::AbortApply => "taken back",
        RunCommand::Discard { .. } => "discarded",
        _ => "shown",
    };
    if run.is_live() {
        return refused_report(run, done, LIVE);
    }
    let (settings, store) = match store_of(run, context).await {
        Ok(found) => found,
        Err(why) => return refused_report(run, done, &why),
    };
    let id = &run.run_id;
    let report = match command {
        RunCommand::Apply { with_flagged } => {
            store.apply(id, with_flagged).await.map(|applied| applied_report(run, &applied))
        }
        RunCommand::AbortApply => store.abort_apply(id).await.map(|paths| taken_back_report(run, &paths)),
        RunCommand::Discard { is_sure } => {
            store.discard(id, is_sure).await.map(|discarded| discarded_report(run, &discarded, is_sure))
        }
        _ => store.difference(id).await.map(|shown| difference_report(run, &shown)),
    };
    let report = report.unwrap_or_else(|error: ApplyError| refused_report(run, done, &chain(&error)));
    report.sanitized(settings.sanitizer())
}

/// Takes back what was applied last, of these runs.
pub(super) async fn abort_last(runs: &[BackgroundRun], context: &Arc<HostContext>) -> Report {
    let mut last: Option<(u64, &BackgroundRun)> = None;
    if let Some(first) = runs.first()
        && let Ok((_, store)) = store_of(first, context).await
    {
        for run in runs {
            let applied = store.open(&run.run_id).await.ok().and_then(|snapshot| snapshot.applied);
            if let Some(applied) = applied.filter(|applied| last.is_none_or(|(at, _)| applied.at_ms > at)) {
                last = Some((applied.at_ms, run));
            }
        }
    }
    match last {
        Some((_, run)) => taken_over(run, RunCommand::AbortApply, context).await,
        None => Report::error(NOT_APPLIED),
    }
}

async fn store_of(
    run: &BackgroundRun,
    context: &Arc<HostContext>,
) -> Result<(CallSettings, SnapshotStore), String> {
    let (cwd, here) = (run.cwd.clone(), Arc::clone(context));
    let settings = blocking(move || CallSettings::read(&cwd, &here)).await;
    let store = snapshot_store(context, &settings.config()).await.map_err(|error| chain(&error))?;
    Ok((settings, store))
}
