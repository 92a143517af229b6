//! Runs that a call waits for, listed beside the background runs of their conversation while they last: people see them,
//! read their transcripts, send them messages and stop them in the same way. They are stored when they have ended, so that
//! the conversation can continue them; nothing is announced of them.

use std::sync::Arc;

use std::path::Path;

use uuid::Uuid;

use super::ending::Ending;
use super::live_run::LiveRun;
use super::registry::Registration;
use super::service::{BackgroundService, background};
use crate::config::Config;
use crate::orchestrate::admission::Queued;
use crate::run::{AdmittedRun, BackgroundRun, Control, HostCallbacks, Progress, ToolResult, blocking};
use crate::store::now_ms;
use crate::transcript::session_id;

/// Most bytes of a task that are shown.
const TASK_BYTES: usize = 4 * 1024;

/// Runs it as soon as it is admitted, listed meanwhile if its call belongs to a conversation; `show` gets its progress.
pub(in crate::orchestrate) async fn run_listed(
    queued: Queued,
    ready: AdmittedRun,
    callbacks: &dyn HostCallbacks,
    control: &Control,
    show: &mut (dyn FnMut(Progress) + Send),
) -> ToolResult {
    let Some(record) = record(&ready) else { return queued.run(ready, callbacks, control, show).await };
    let agent_dir = ready.spec.context.agent_dir.clone();
    let service = blocking(move || background(&agent_dir)).await;
    let live = Arc::new(LiveRun::of_call(record, control));
    live.note_prepared(&ready);
    let id = ready.id().clone();
    let config = ready.resolved.config.clone();
    let registration = register(&service, &live);
    let mut listed = |progress: Progress| {
        live.update(&progress);
        live.change(|run| run.run_id = id.get());
        service.registry.notify();
        show(progress);
    };
    let mut result = queued.run(ready, callbacks, &live.control, &mut listed).await;
    let run_id = keep(&service, &live, &result, &config).await;
    if let Some(single) = result.details.results.first_mut() {
        single.run_id = run_id;
    }
    drop(registration);
    result
}

/// Stores the run for those who want to continue it, if there is a session to continue. Returns its id then.
async fn keep(
    service: &Arc<BackgroundService>,
    live: &LiveRun,
    result: &ToolResult,
    config: &Config,
) -> Option<String> {
    let session = result.details.results.first()?.session_file.clone()?;
    let child_session = blocking(move || session_id(Path::new(&session)).ok().flatten()).await;
    let Ending { run, .. } = Ending::of_result(live, result, config, child_session, &[]);
    let run_id = run.run_id.clone();
    service.blocking(move |service| service.repository.put(&run)).await;
    Some(run_id)
}

fn register<'a>(service: &'a BackgroundService, live: &Arc<LiveRun>) -> Registration<'a> {
    service.registry.insert(live, usize::MAX);
    service.registry.notify();
    Registration { registry: &service.registry, key: live.key() }
}

fn record(ready: &AdmittedRun) -> Option<BackgroundRun> {
    let session = ready.spec.context.session()?.to_owned();
    let key = Uuid::new_v4().to_string();
    Some(BackgroundRun {
        session_key: BackgroundRun::session_key(&ready.resolved.agent.name, &key),
        key,
        run_id: ready.id().get(),
        session,
        agent: ready.resolved.agent.name.clone(),
        task: ready.shown_task(TASK_BYTES),
        cwd: ready.spec.cwd.clone(),
        created_ms: now_ms(),
        host_pid: Some(std::process::id()),
        is_ours: true,
        is_foreground: true,
        ..BackgroundRun::default()
    })
}
