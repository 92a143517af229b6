//! Several runs, checked before the first of them starts.

use std::sync::Arc;

use super::call::{Call, TasksSpec};
use super::summary::refused_because_of;
use crate::config::Config;
use crate::process::{Cancel, CancelReason, check_cwd};
use crate::run::{
    HostCallbacks, Mode, Ready, Refusal, RunId, RunOutcome, RunSpec, ToolResult, blocking, load_config,
    prepare, sanitizer_for,
};
use crate::text::TruncateLimits;

/// What kind of call it is, in the words of its parameters and settings.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub mode: Mode,
    /// The parameter with the tasks.
    pub list: &'static str,
    /// What one of them is called.
    pub one: &'static str,
    /// The setting that bounds them.
    pub setting: &'static str,
    /// Its value.
    pub most: fn(&Config) -> usize,
}

/// What checking came to.
pub(super) enum Plan {
    /// All of them may start.
    Ready(Vec<Ready>, Box<Config>),
    /// The call was aborted meanwhile; what there is to say of each.
    Aborted(Vec<ToolResult>),
    /// One of them cannot be, so none of them will.
    Refused(Box<ToolResult>),
}

/// Checks all of them, in order. Nothing is started and no money is spent.
pub(super) async fn plan(
    kind: Kind,
    spec: &TasksSpec,
    share: usize,
    call: &Call<impl HostCallbacks>,
) -> Plan {
    let (cwd, context) = (spec.cwd.clone(), Arc::clone(&spec.context));
    let config = match blocking(move || load_config(&cwd, &context)).await {
        Ok(loaded) => loaded.config,
        Err(refusal) => return Plan::Refused(Box::new(refused(refusal, kind.mode, spec).await)),
    };
    let (count, most) = (spec.tasks.len(), (kind.most)(&config));
    if count == 0 || count > most {
        let Kind { list, setting, .. } = kind;
        let refusal = Refusal::Count { list, count, most, setting };
        return Plan::Refused(Box::new(refused(refusal, kind.mode, spec).await));
    }
    let mut checked = Vec::with_capacity(count);
    for (index, run) in spec.runs(share).into_iter().enumerate() {
        if let Err(refusal) = directory(&run, &call.control.cancel).await {
            let result = refused(refusal, kind.mode, spec).await;
            return Plan::Refused(Box::new(refused_because_of(kind, index, &result)));
        }
        let run = prepare(run, RunId::draw(), &*call.callbacks, &call.control.cancel).await;
        match run {
            Err(result) if !is_aborted(&result) => {
                return Plan::Refused(Box::new(refused_because_of(kind, index, &result)));
            }
            run => checked.push(run),
        }
    }
    match call.control.cancel.reason() {
        Some(reason) => Plan::Aborted(checked.into_iter().map(|run| abort(run, &reason)).collect()),
        None => Plan::Ready(checked.into_iter().filter_map(Result::ok).collect(), Box::new(config)),
    }
}

/// Whether there is a directory to work in: a missing one would be noticed only when the others have spent money. An abort
/// is noticed elsewhere.
async fn directory(run: &RunSpec, cancel: &Cancel) -> Result<(), Refusal> {
    let cwd = run.cwd.clone();
    tokio::select! {
        biased;
        _ = cancel.cancelled() => Ok(()),
        checked = blocking(move || check_cwd(&cwd)) => checked.map_err(Refusal::Directory),
    }
}

/// The result of a call that ends before anything about its runs is decided.
pub(super) async fn refused(refusal: Refusal, mode: Mode, spec: &TasksSpec) -> ToolResult {
    let (cwd, context) = (spec.cwd.clone(), Arc::clone(&spec.context));
    let sanitizer = blocking(move || sanitizer_for(&cwd, &context)).await;
    let mut result = refusal.into_result(&sanitizer, TruncateLimits::default());
    result.details.mode = mode;
    result
}

fn abort(run: Result<Ready, ToolResult>, reason: &CancelReason) -> ToolResult {
    run.map_or_else(|result| result, |ready| ready.aborted(reason))
}

fn is_aborted(result: &ToolResult) -> bool {
    result.details.results.iter().any(|single| single.outcome == RunOutcome::Aborted)
}
