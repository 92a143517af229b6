//! Checks all runs of a call before the first of them starts.

use std::sync::Arc;

use super::call::{Call, TasksSpec};
use crate::config::Config;
use crate::process::{Cancel, CancelReason, check_cwd};
use crate::run::{
    CallError, ErrorCode, HostCallbacks, Mode, Ready, Refusal, RunDetails, RunId, RunOutcome, RunSpec,
    ToolResult, blocking, load_config, prepare, sanitizer_for,
};
use crate::text::TruncateLimits;

/// How messages name the tasks of a kind of call, and what bounds their number.
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
    pub most: fn(&Config) -> usize,
}

pub(super) enum Checked {
    /// All of them may start.
    Ready(Vec<Ready>, Box<Config>),
    /// The call was aborted meanwhile; one result for each run that was checked.
    Aborted(Vec<ToolResult>),
    /// One of them is refused, so none starts.
    Refused(Box<ToolResult>),
}

/// Prepares all runs, in order. Nothing is started and no money is spent.
pub(super) async fn prepare_all(
    kind: CallKind,
    spec: &TasksSpec,
    share: usize,
    call: &Call<impl HostCallbacks>,
) -> Checked {
    let (cwd, context) = (spec.cwd.clone(), Arc::clone(&spec.context));
    let config = match blocking(move || load_config(&cwd, &context)).await {
        Ok(loaded) => loaded.config,
        Err(refusal) => return Checked::Refused(Box::new(refused(refusal, kind.mode, spec).await)),
    };
    let (count, most) = (spec.tasks.len(), (kind.most)(&config));
    if count == 0 || count > most {
        let CallKind { list, setting, .. } = kind;
        let refusal = Refusal::Count { list, count, most, setting };
        return Checked::Refused(Box::new(refused(refusal, kind.mode, spec).await));
    }
    let mut checked = Vec::with_capacity(count);
    for (index, run) in spec.runs(share).into_iter().enumerate() {
        if let Err(refusal) = directory(&run, &call.control.cancel).await {
            let result = refused(refusal, kind.mode, spec).await;
            return Checked::Refused(Box::new(refused_with_number(kind, index, &result)));
        }
        let run = prepare(run, RunId::draw(), &*call.callbacks, &call.control.cancel).await;
        match run {
            Err(result) if !is_aborted(&result) => {
                return Checked::Refused(Box::new(refused_with_number(kind, index, &result)));
            }
            run => checked.push(run),
        }
    }
    match call.control.cancel.reason() {
        Some(reason) => Checked::Aborted(checked.into_iter().map(|run| abort(run, &reason)).collect()),
        None => Checked::Ready(checked.into_iter().filter_map(Result::ok).collect(), Box::new(config)),
    }
}

/// Checks that the run's directory exists. Otherwise a missing one would show only after other runs have spent money. An
/// abort is noticed by the caller.
async fn directory(run: &RunSpec, cancel: &Cancel) -> Result<(), Refusal> {
    let cwd = run.cwd.clone();
    tokio::select! {
        biased;
        _ = cancel.cancelled() => Ok(()),
        checked = blocking(move || check_cwd(&cwd)) => checked.map_err(Refusal::Directory),
    }
}

/// The result of a call that is refused before its runs are looked at.
pub(super) async fn refused(refusal: Refusal, mode: Mode, spec: &TasksSpec) -> ToolResult {
    let (cwd, context) = (spec.cwd.clone(), Arc::clone(&spec.context));
    let sanitizer = blocking(move || sanitizer_for(&cwd, &context)).await;
    let mut result = refusal.into_result(&sanitizer, TruncateLimits::default());
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

fn abort(run: Result<Ready, ToolResult>, reason: &CancelReason) -> ToolResult {
    run.map_or_else(|result| result, |ready| ready.aborted(reason))
}

fn is_aborted(result: &ToolResult) -> bool {
    result.details.results.iter().any(|single| single.outcome == RunOutcome::Aborted)
}
