//! Carries out a command and reports the result.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::parse::{Command, RunCommand, Target, parse};
use super::resolve::{named, resolve};
use crate::doctor::doctor;
use crate::orchestrate::background::actions::{StoppedRuns, resume, send, stop, stop_all};
use crate::orchestrate::background::conversation::view::{ConversationScope, ConversationView};
use crate::orchestrate::background::service::BackgroundService;
use crate::present::{
    Clock, Report, action_report, agents_report, already_finished, doctor_report, info_report, list_report,
    log_report, refused_report, stopped_report,
};
use crate::run::{
    BackgroundRun, CallSettings, HostCallbacks, HostCapabilities, HostContext, blocking, list_agents,
};
use crate::transcript::{Transcript, Wanted, read_transcript};

/// The error of a run without a transcript.
pub(in super::super) const NO_TRANSCRIPT: &str = "it has no transcript";

/// Carries out the command in the line after `/subagents`, and reports the result. `host` is what is known of the host by
/// now, if more than when the conversation was opened.
pub async fn answer(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    line: &str,
    host: Option<HostContext>,
    callbacks: Arc<dyn HostCallbacks>,
) -> Report {
    let command = match parse(line) {
        Ok(command) => command,
        Err(report) => return report,
    };
    let clock = blocking(Clock::system).await;
    match command {
        Command::List { all } => {
            let session = (!all).then(|| view.session().to_owned());
            let runs = service.runs(session.clone()).await;
            view.set_listed(runs.iter().map(|run| run.key.clone()));
            let older = service.blocking(move |service| service.repository.count_older(session.as_deref()));
            list_report(&runs, older.await, all, &clock)
        }
        Command::StopAll => stop_everything(service, view.session(), false).await,
        Command::Agents => {
            let (cwd, context) = surroundings(view, host);
            let capabilities = HostCapabilities::look(&context).await;
            let list = move || {
                let settings = CallSettings::read(&cwd, &context);
                let listing = list_agents(&cwd, &context, &settings, &capabilities);
                agents_report(&listing).sanitized(settings.sanitizer())
            };
            blocking(list).await
        }
        Command::Doctor => {
            let (cwd, context) = surroundings(view, host);
            doctor_report(&doctor(cwd, context).await)
        }
        Command::On(target, command) => match find(service, view, &target, command == RunCommand::Stop).await
        {
            Ok(run) => answer_on(service, view, &run, command, &clock, callbacks).await,
            Err(report) => report,
        },
    }
}

async fn answer_on(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    run: &BackgroundRun,
    command: RunCommand,
    clock: &Clock,
    callbacks: Arc<dyn HostCallbacks>,
) -> Report {
    let (wanted, outcome) = match command {
        RunCommand::Info => return info_report(run, clock),
        RunCommand::Log { limit, tools } => {
            let transcript = read(view, run, Wanted { entries: limit, tools }).await;
            return log_report(run, &transcript, limit, clock);
        }
        RunCommand::Stop if !run.is_live() => return already_finished(run, clock),
        RunCommand::Stop => ("stopped", stop(service, run).await),
        RunCommand::Send { message } => {
            ("sent a message", send(service, run, &message, &view.scope, callbacks).await)
        }
        RunCommand::Resume { message } => {
            ("resumed", resume(service, run, message.as_deref(), &view.scope, callbacks).await)
        }
    };
    match outcome {
        Ok(outcome) => action_report(run, outcome),
        Err(why) => refused_report(run, wanted, &why),
    }
}

fn surroundings(view: &ConversationView, host: Option<HostContext>) -> (PathBuf, Arc<HostContext>) {
    let ConversationScope { cwd, context, .. } = &view.scope;
    (cwd.clone(), host.map_or_else(|| Arc::clone(context), Arc::new))
}

/// Answers `/stop`: ends every run of a conversation, which begins at once. `turn`: its host ends the turn under way too.
pub fn stop_everything(
    service: &Arc<BackgroundService>,
    session: &str,
    turn: bool,
) -> impl Future<Output = Report> + use<> {
    let stopping = stop_all(service, session);
    async move {
        let StoppedRuns { foreground, background } = stopping.await;
        stopped_report(turn, foreground, background)
    }
}

/// The newest part of a run's conversation, with a version that changes when its file does.
///
/// # Errors
///
/// When no transcript can be read.
pub async fn transcript(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    key: &str,
    wanted: Wanted,
) -> io::Result<(Transcript, String)> {
    let run = service.run(key).await;
    let run = run.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no such run"))?;
    let path = run.transcript.clone();
    let version = blocking(move || path.as_deref().and_then(version)).await;
    let transcript = read(view, &run, wanted).await?;
    Ok((transcript, version.unwrap_or_default()))
}

/// Finds a run by name, first among those of the conversation, then among all. `live`: of several with the name, the one
/// that is live is meant.
async fn find(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    target: &Target,
    live: bool,
) -> Result<BackgroundRun, Report> {
    let listed = view.listed();
    let own = service.runs(Some(view.session().to_owned())).await;
    match resolve(target, &own, &listed, live) {
        Ok(run) => Ok(run.clone()),
        Err(report) => {
            // Runs of calls that are over have no place in the list.
            let known = service.known_runs(view.session()).await;
            if let Ok(run) = named(&target.0, &known, live) {
                return Ok(run.clone());
            }
            elsewhere(service, target, &listed).await.ok_or(report)
        }
    }
}

/// Finds a run of another conversation, only by its whole id or by its number in the list that was shown: a typing
/// error must not reach the runs of another project.
async fn elsewhere(
    service: &Arc<BackgroundService>,
    target: &Target,
    listed: &[String],
) -> Option<BackgroundRun> {
    if let Some(key) = target.key() {
        return service.run(key).await;
    }
    let mut all = service.runs(None).await;
    let id = target.0.clone();
    let stored = service.blocking(move |service| service.repository.with_id(&id)).await;
    // Older ones than those in lists have their ids too.
    all.extend(
        stored.into_iter().filter(|run| all.iter().all(|known| known.key != run.key)).collect::<Vec<_>>(),
    );
    let mut exact = all.iter().filter(|run| target.0 == run.run_id);
    if let (Some(run), None) = (exact.next(), exact.next()) {
        return Some(run.clone());
    }
    resolve(target, &all, listed, false).ok().filter(|run| listed.contains(&run.key)).cloned()
}

pub(in super::super) async fn read(
    view: &ConversationView,
    run: &BackgroundRun,
    wanted: Wanted,
) -> io::Result<Transcript> {
    let Some(path) = run.transcript.clone() else {
        return Err(io::Error::new(io::ErrorKind::NotFound, NO_TRANSCRIPT));
    };
    let (cwd, context) = (run.cwd.clone(), Arc::clone(&view.scope.context));
    blocking(move || read_transcript(&path, wanted, CallSettings::read(&cwd, &context).sanitizer())).await
}

/// The version of a file: its length and modification time.
fn version(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    let since = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some(format!("{}-{}", metadata.len(), since.as_nanos()))
}
