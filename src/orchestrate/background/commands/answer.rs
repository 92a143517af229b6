//! Carries out a command and reports the result.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::changes::{abort_last, by_snapshot, carry_out_change};
use super::parse::{Command, RunCommand, parse, usage_report};
use super::workflows::{self, HostScript, NamedWorkflows};
use crate::archive::current_transcript;
use crate::doctor::doctor;
use crate::orchestrate::MoveError;
use crate::orchestrate::background::actions::{
    StoppedRuns, move_to_background, restart, resume, send, stop, stop_all,
};
use crate::orchestrate::background::conversation::view::{ConversationScope, ConversationView};
use crate::orchestrate::background::find::{
    NamedBy, Target, Wanted as WantedRun, find, matching, unreadable,
};
use crate::orchestrate::background::service::BackgroundService;
use crate::orchestrate::background::spawn::{SpawnRequest, spawn};
use crate::present::{
    Clock, Receipt, Report, WORKFLOW_WORD, WorkflowEnd, action_report, agent_report, agents_report,
    already_finished, doctor_report, info_paths_report, info_report, list_report, log_report,
    moved_to_background_report, refused_report, started_report, stopped_report,
};
use crate::run::{
    CallSettings, Host, HostCallbacks, HostCapabilities, HostContext, RunRecord, allow_script, ask_again,
    blocking, find_agents, for_person, list_agents,
};
use crate::transcript::{Transcript, Wanted, read_transcript, session_id};
use agents::config::OnExit;
use sanitizer::with_cause;
use supervisor::Detached;

/// The error of a run without a transcript.
pub(crate) const NO_TRANSCRIPT: &str = "it has no transcript";

/// The refusal of `discard --yes last` for a run of another session. After a discard, `last` would mean the next run.
const OF_ANOTHER_SESSION: &str = "`last` is a run of another session; name it by its ID";

/// The host's state when it sends a command.
#[derive(Default)]
pub struct CommandHost {
    /// The host as it is now. Without it, the state at the opening of the conversation counts.
    pub context: Option<HostContext>,
    /// The command that starts a host process for a detached run.
    pub host_process: Option<Detached>,
    /// The scripts whose processes it has started and that have not ended.
    pub scripts: Vec<HostScript>,
}

/// Carries out the command in the line after `/subagents`, and reports the result. `host` is the host's current state.
pub async fn answer(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    line: &str,
    host: CommandHost,
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
            let runs =
                if all { service.runs_with_changes(None).await } else { service.runs_of_person(view).await };
            view.set_listed(runs.iter().map(|run| run.key.clone()));
            let counted = session.clone();
            let count = move |service: &BackgroundService| {
                let store = &service.store;
                store.problem().map_or_else(|| Ok(store.count_older(counted.as_deref())), Err)
            };
            match service.blocking(count).await {
                Err(problem) if runs.is_empty() => unreadable(&problem),
                older => {
                    let report = list_report(&runs, older.unwrap_or_default(), session.as_deref(), &clock);
                    workflows::add_to(view, report).await
                }
            }
        }
        Command::Background { run: None } => moved(move_to_background(service, view.session(), None).await),
        Command::Background { run: Some(target) } => {
            match find(service, view, &target, NamedBy::Person(WantedRun::Live)).await {
                Ok(run) => match move_to_background(service, view.session(), Some(&run)).await {
                    Err(why) => refused_report(&run, "moved to the background", &why.to_string()),
                    moved_runs => moved(moved_runs),
                },
                Err(report) => report,
            }
        }
        Command::Run { agent, task, wait } => {
            let run = NewRun { agent, task, wait };
            Box::pin(start(service, view, run, host, callbacks)).await
        }
        Command::StopAll => {
            let stops = host.scripts.iter().map(|script| script.pid).collect();
            Report { stops, ..stop_everything(service, view.session(), false).await }
        }
        Command::Agents { name } => Box::pin(agents(view, host.context, name, &*callbacks)).await,
        Command::Workflow { file: None } => workflows::list(view).await,
        Command::Workflow { file: Some(file) } => {
            let (cwd, context) = cwd_and_context(view, host.context);
            match Box::pin(allow_script(&file, &cwd, &context, &*callbacks)).await {
                Ok(script) => workflows::start(script, &host.scripts),
                Err(refused) => Report::error(with_cause(&refused)),
            }
        }
        Command::Doctor => {
            let (cwd, context) = cwd_and_context(view, host.context);
            doctor_report(&doctor(cwd, context, callbacks).await)
        }
        Command::Help => {
            let (cwd, context) = cwd_and_context(view, host.context);
            let key = move || CallSettings::read(&cwd, &context).config().background.shortcut();
            usage_report(blocking(key).await.as_deref())
        }
        Command::AbortApply => {
            let known = service.runs_of_person(view).await;
            let report = abort_last(&known, &view.scope.context).await;
            service.note_changes(view).await;
            report
        }
        Command::On(target, command) => {
            Box::pin(answer_named(service, view, &target, command, &host.scripts, &clock, callbacks)).await
        }
    }
}

/// Carries out a command on the run or the workflow with a name. Refuses a name that both have, except for the whole key of a run.
async fn answer_named(
    service: &Arc<BackgroundService>,
    view: &Arc<ConversationView>,
    target: &Target,
    command: RunCommand,
    scripts: &[HostScript],
    clock: &Clock,
    callbacks: Arc<dyn HostCallbacks>,
) -> Report {
    let name = &*target.0;
    let stopped = if command == RunCommand::Stop { scripts } else { &[] };
    if name.starts_with(WORKFLOW_WORD) {
        let workflows = workflows::named(view, name, stopped).await;
        return workflows.answer(view, name, &command, scripts, &*callbacks).await;
    }
    let wanted = match command {
        RunCommand::Stop => WantedRun::Live,
        _ if command.is_about_changes() => WantedRun::Changed,
        _ => WantedRun::Any,
    };
    let mut found = find(service, view, target, NamedBy::Person(wanted)).await;
    if command.is_about_changes()
        && let Err(report) = found
    {
        found = by_snapshot(target, &view.scope).await.ok_or(report);
    }
    let may_be_workflow = match &found {
        Ok(_) => command.is_about_workflows() && target.key().is_none(),
        Err(_) => true,
    };
    let workflows =
        if may_be_workflow { workflows::named(view, name, stopped).await } else { NamedWorkflows::default() };
    if !workflows.is_empty() {
        let runs = if let Ok(run) = &found {
            vec![run.clone()]
        } else {
            let known = service.runs_of_person(view).await;
            matching(name, &known).into_iter().cloned().collect()
        };
        return if runs.is_empty() {
            workflows.answer(view, name, &command, scripts, &*callbacks).await
        } else {
            workflows.ambiguous(view, name, &runs).await
        };
    }
    match found {
        Ok(run) if command == (RunCommand::Discard { is_sure: true }) && target.is_last_of(&run, view) => {
            refused_report(&run, "discarded", OF_ANOTHER_SESSION)
        }
        Ok(run) => Box::pin(answer_on(service, view, &run, command, clock, callbacks)).await,
        Err(report) => report,
    }
}

/// Lists the agents, or describes one.
async fn agents(
    view: &ConversationView,
    host: Option<HostContext>,
    name: Option<String>,
    callbacks: &dyn HostCallbacks,
) -> Report {
    let (cwd, context) = cwd_and_context(view, host);
    let capabilities = HostCapabilities::probe(&context).await;
    let list = {
        let context = Arc::clone(&context);
        move || {
            let settings = CallSettings::read(&cwd, &context);
            let listing = list_agents(&cwd, &context, &settings, &capabilities);
            let config = settings.config();
            let catalog = find_agents(&cwd, &context, &config);
            let found = name.map(|name| catalog.find(&name).map(|agent| agent.name.clone()));
            (settings, listing, found)
        }
    };
    let (settings, mut listing, found) = blocking(list).await;
    listing.check_models(&settings.config(), &context, callbacks).await;
    let report = match found {
        None => agents_report(&listing),
        Some(found) => agent_report(&found, &listing),
    };
    report.sanitized(settings.sanitizer())
}

/// Resumes the interrupted runs with these keys, as `background.onRestart` says.
pub async fn restart_runs(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    keys: Vec<String>,
    callbacks: Arc<dyn HostCallbacks>,
) -> Report {
    let mut report = Report { is_error: true, ..Report::default() };
    for key in keys {
        let run = service.blocking(move |service| service.store.run(&key)).await;
        let Some(run) = run.filter(|run| *run.session == *view.session()) else { continue };
        let resumed = match restart(service, &run, &view.scope, Arc::clone(&callbacks)).await {
            Ok(outcome) => action_report(&run, outcome),
            Err(why) => refused_report(&run, "resumed", &why.to_string()),
        };
        report.is_error &= resumed.is_error;
        report.title = resumed.title;
        report.lines.extend(resumed.lines);
    }
    report
}

fn moved(answer: Result<(Vec<RunRecord>, Vec<MoveError>), MoveError>) -> Report {
    let (runs, refused) = answer.unwrap_or_else(|why| (Vec::new(), vec![why]));
    let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
    moved_to_background_report(&runs, &refused)
}

async fn answer_on(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    run: &RunRecord,
    command: RunCommand,
    clock: &Clock,
    callbacks: Arc<dyn HostCallbacks>,
) -> Report {
    let (wanted, outcome) = match command {
        RunCommand::Info { paths } => {
            let run = &with_child_session(run).await;
            return if paths { info_paths_report(run) } else { info_report(run, clock) };
        }
        RunCommand::Log { limit, tools } => {
            let run = &with_child_session(run).await;
            let transcript = read(view, run, Wanted { entries: limit, tools, skip: 0 }).await;
            return log_report(run, &transcript, limit, clock);
        }
        RunCommand::Stop if !run.is_live() => return already_finished(run, clock),
        RunCommand::Stop => ("stopped", stop(service, run).await),
        RunCommand::Send { message } => {
            ("sent a message", send(service, run, &message, &view.scope, None, callbacks).await)
        }
        RunCommand::Resume { message } => {
            ("resumed", resume(service, run, message.as_deref(), &view.scope, callbacks).await)
        }
        RunCommand::Diff
        | RunCommand::Apply { .. }
        | RunCommand::AbortApply
        | RunCommand::Discard { .. }
        | RunCommand::Undo => {
            let report = carry_out_change(run, command, &view.scope.context).await;
            service.note_changes(view).await;
            return report;
        }
    };
    match outcome {
        Ok(outcome) => {
            let report = action_report(run, outcome);
            // The card or the message of another conversation's run is on another screen.
            Report { is_on_card: report.is_on_card && run.session == view.session(), ..report }
        }
        Err(why) => refused_report(run, wanted, &why.to_string()),
    }
}

/// Returns the run with the id of its child's session, which only the session file has while the run works. The
/// transcript of an ended run gets its current path, or none if it was deleted.
pub(crate) async fn with_child_session(run: &RunRecord) -> RunRecord {
    let mut run = run.clone();
    if let Some(path) = run.transcript.clone().filter(|_| !run.is_live()) {
        let current = blocking(move || current_transcript(&path)).await;
        if current != run.transcript {
            run.move_transcript(current);
        }
    }
    if let Some(transcript) = run.transcript.clone().filter(|_| run.child_session_id.is_none()) {
        run.child_session_id = blocking(move || session_id(&transcript)).await;
    }
    run
}

fn cwd_and_context(view: &ConversationView, host: Option<HostContext>) -> (PathBuf, Arc<HostContext>) {
    let ConversationScope { cwd, context, .. } = &view.scope;
    (cwd.clone(), host.map_or_else(|| Arc::clone(context), Arc::new))
}

struct NewRun {
    agent: String,
    task: String,
    wait: bool,
}

/// Starts an agent in the background like a model's call, but without a turn of the model.
async fn start(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    NewRun { agent, task, wait }: NewRun,
    host: CommandHost,
    callbacks: Arc<dyn HostCallbacks>,
) -> Report {
    let ConversationScope { cwd, context, ends_with } = view.scope.clone();
    let host_process = host.host_process;
    let context = match host.context {
        None => context,
        Some(now) => {
            // The conversation stays the open one, even if the host has changed since.
            let Host { cwd, session_file, session_id, .. } = context.host.clone();
            Arc::new(HostContext { host: Host { cwd, session_file, session_id, ..now.host }, ..now })
        }
    };
    let config = {
        let cwd = cwd.clone();
        let context = Arc::clone(&context);
        let agent = agent.clone();
        let read = move || {
            let config = CallSettings::read(&cwd, &context).config();
            // The person asks for the agent now. An earlier answer to the model's call does not count.
            if let Ok(found) = find_agents(&cwd, &context, &config).find(&agent)
                && let Some(path) = &found.path
            {
                ask_again(context.host.session_id.as_deref(), path, &found.content_hash);
            }
            config
        };
        blocking(read).await
    };
    // A detached run needs a hard limit. The command has no option for it, so the configured limit counts.
    let is_detached = config.background.on_exit == OnExit::Keep;
    let request = SpawnRequest {
        agent: Some(agent),
        host_process,
        run_timeout_seconds: config.timeout.filter(|_| is_detached).map(|limit| limit.as_secs_f64()),
        ends_with: Some(ends_with),
        ..SpawnRequest::new(task, cwd, context)
    };
    match spawn(service, request, callbacks).await {
        Receipt::Accepted { run_id, session_key, warnings, awaits_consent, .. } => {
            let key = session_key.rsplit(':').next().unwrap_or_default();
            let run = service.run(key).await;
            let report = started_report(run.as_ref(), &run_id, awaits_consent, &warnings);
            Report { watch: run.map(|run| run.key.into()).filter(|_| wait), ..report }
        }
        Receipt::Forbidden { error } | Receipt::Error { error } => Report::error(for_person(&error)),
    }
}

/// Reports the end of a workflow's process.
pub async fn workflow_ended(view: &ConversationView, end: WorkflowEnd) -> Report {
    workflows::ended(view, end).await
}

/// Answers `/stop`: ends every run of a conversation. The runs of this process begin to end when this is called.
/// `ends_turn`: the host also ends the current turn.
pub fn stop_everything(
    service: &Arc<BackgroundService>,
    session: &str,
    ends_turn: bool,
) -> impl Future<Output = Report> + use<> {
    let stopping = stop_all(service, session);
    async move {
        let StoppedRuns { foreground, background, unreachable } = stopping.await;
        stopped_report(ends_turn, foreground, background, unreachable)
    }
}

/// Reads the newest part of a run's conversation. Also returns a version that changes when the file changes.
///
/// # Errors
///
/// If no transcript can be read.
pub async fn transcript(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    key: &str,
    wanted: Wanted,
) -> io::Result<(Transcript, String)> {
    let run = service.run(key).await;
    let run =
        run.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the record of the run no longer exists"))?;
    let path = run.transcript.clone();
    let version = blocking(move || path.as_deref().and_then(version)).await;
    let transcript = read(view, &run, wanted).await?;
    Ok((transcript, version.unwrap_or_default()))
}

pub(crate) async fn read(view: &ConversationView, run: &RunRecord, wanted: Wanted) -> io::Result<Transcript> {
    let Some(path) = run.transcript.clone() else {
        return Err(io::Error::new(io::ErrorKind::NotFound, NO_TRANSCRIPT));
    };
    let cwd = run.cwd.clone();
    let context = Arc::clone(&view.scope.context);
    blocking(move || read_transcript(&path, wanted, CallSettings::read(&cwd, &context).sanitizer())).await
}

/// The version of a file: its length and modification time.
fn version(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    let since = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some(format!("{}-{}", metadata.len(), since.as_nanos()))
}
