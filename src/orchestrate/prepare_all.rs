//! Checks all runs of a call before the first of them starts.

use std::path::PathBuf;

use super::call::{Call, TasksSpec};
use super::model_override::check_overrides;
use super::summary;
use crate::run::{
    AdmittedRun, CallError, CallSettings, ErrorCode, HostCallbacks, Mode, Refusal, RunDetails, RunId,
    RunOutcome, RunSpec, SharedRunId, ToolResult, blocking, prepare_with,
};
use agents::config::Config;
use sanitizer::TruncateLimits;
use supervisor::{Cancel, check_cwd};

/// A kind of call with several tasks: the names of its tasks in messages, and the limit of their number.
#[derive(Clone, Copy)]
pub(super) struct CallKind {
    pub mode: Mode,
    /// The parameter that lists the tasks.
    pub list: &'static str,
    /// The word for one of them.
    pub one: &'static str,
    /// The setting that bounds their number.
    pub setting: &'static str,
    /// The value of that setting.
    pub max: fn(&Config) -> usize,
    /// Joins the results of all runs into one.
    pub join: fn(&str, Vec<ToolResult>, TruncateLimits) -> ToolResult,
}

/// Prepares all runs, in order. Nothing is started and no money is spent.
///
/// # Errors
///
/// With the result of the call, if a run is refused or the call was stopped.
pub(super) async fn prepare_all(
    kind: CallKind,
    spec: &TasksSpec,
    share: usize,
    call: &Call,
) -> Result<(Vec<AdmittedRun>, Config), Box<ToolResult>> {
    let settings = CallSettings::unless_cancelled(&spec.cwd, &spec.context, &call.control.cancel).await;
    let refuse = |refusal| Box::new(refused(refusal, kind.mode, &settings));
    let config = settings.loaded().map_err(refuse)?.config.clone();
    let count = spec.tasks.len();
    let max = (kind.max)(&config);
    if count == 0 || count > max {
        let CallKind { list, setting, .. } = kind;
        return Err(refuse(Refusal::Count { list, count, max, setting }));
    }
    // Tasks in the same directory have the same settings, even if the files change during the preparation.
    let mut known = vec![(spec.cwd.clone(), settings.clone())];
    let mut checked = Vec::with_capacity(count);
    for (index, run) in spec.runs(share).into_iter().enumerate() {
        let numbered = |result: &ToolResult| Box::new(refused_with_number(kind, index, result));
        directory(&run, &call.control.cancel).await.map_err(|refusal| numbered(&refuse(refusal)))?;
        let (id, callbacks, cancel) =
            (SharedRunId::new(RunId::random()), &*call.callbacks, &call.control.cancel);
        let settings = settings_of(&run, &mut known, cancel).await;
        match prepare_run(settings, run, id, callbacks, cancel).await {
            Err(result) if !is_aborted(&result) => return Err(numbered(&result)),
            run => checked.push(run),
        }
    }
    match call.control.cancel.reason() {
        Some(reason) => {
            let abort =
                |run: Result<AdmittedRun, _>| run.map_or_else(|result| result, |run| run.aborted(&reason));
            let results = checked.into_iter().map(abort).collect();
            Err(Box::new((kind.join)(&call.id.get(), results, TruncateLimits::default())))
        }
        None => Ok((checked.into_iter().filter_map(Result::ok).collect(), config)),
    }
}

/// Prepares a run with the model and the thinking level that its call asks for, as far as they are known.
///
/// # Errors
///
/// The result of a run that was refused or aborted.
pub(super) async fn prepare_run(
    settings: CallSettings,
    mut spec: RunSpec,
    id: SharedRunId,
    callbacks: &dyn HostCallbacks,
    cancel: &Cancel,
) -> Result<AdmittedRun, ToolResult> {
    let warnings = check_overrides(&mut spec, &settings, callbacks, cancel).await;
    let mut run = prepare_with(settings, spec, id, callbacks, cancel, None).await?;
    summary::reserve_headings(&mut run);
    for warning in warnings {
        run.note_skipped(warning);
    }
    Ok(run)
}

/// Checks that the run's directory exists. Otherwise a missing one would show only after other runs have spent money. An
/// abort is noticed by the caller.
pub(super) async fn directory(run: &RunSpec, cancel: &Cancel) -> Result<(), Refusal> {
    let cwd = run.cwd.clone();
    tokio::select! {
        biased;
        _ = cancel.cancelled() => Ok(()),
        checked = blocking(move || check_cwd(&cwd)) => checked.map_err(Refusal::Directory),
    }
}

/// The settings of a run's directory, read once.
async fn settings_of(
    run: &RunSpec,
    known: &mut Vec<(PathBuf, CallSettings)>,
    cancel: &Cancel,
) -> CallSettings {
    if let Some((_, settings)) = known.iter().find(|(cwd, _)| *cwd == run.cwd) {
        return settings.clone();
    }
    let settings = CallSettings::unless_cancelled(&run.cwd, &run.context, cancel).await;
    known.push((run.cwd.clone(), settings.clone()));
    settings
}

/// Returns the result of a call that is refused before its runs are checked.
pub(super) fn refused(refusal: Refusal, mode: Mode, settings: &CallSettings) -> ToolResult {
    let mut result = refusal.into_result(settings.sanitizer(), TruncateLimits::default());
    result.details.mode = mode;
    result
}

/// The result of a call that is refused because one of its runs is; its message names the run, from 1.
fn refused_with_number(kind: CallKind, index: usize, result: &ToolResult) -> ToolResult {
    let message = result.details.error.as_ref().map_or(result.text.as_str(), |error| error.message.as_str());
    let message = format!("{} {}: {message}", kind.one, index + 1);
    let code = result.details.error.as_ref().map_or(ErrorCode::SubagentFailed, |error| error.code);
    let mode = if result.details.mode == Mode::Management { Mode::Management } else { kind.mode };
    let details = RunDetails {
        error: Some(CallError { code, message: message.clone() }),
        ..RunDetails::new(mode, None)
    };
    ToolResult { text: message, is_error: true, usage: None, details }
}

fn is_aborted(result: &ToolResult) -> bool {
    result.details.results.iter().any(|single| single.outcome == RunOutcome::Aborted)
}
