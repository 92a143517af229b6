//! The background runs of a conversation.

use std::sync::Arc;
use std::time::Duration;

use napi::Status;
use napi::bindgen_prelude::{Env, PromiseRaw};
use napi::threadsafe_function::ThreadsafeFunction;
use napi_derive::napi;
use serde::Serialize;
use tokio::sync::watch;

use super::host_process::host_process;
use crate::node::callbacks::{HostCallbacks, Returned, call};
use crate::node::json::{Json, Parsed};
use crate::node::options::{BackgroundOptions, SurfaceOptions};
use crate::node::runtime::promise;
use crate::node::teardown::cancel_of_thread;
use crate::orchestrate::background::{
    self, Ack, BackgroundService, ConversationView, Listener, background, close_conversation, commands,
    mark_delivered, open_conversation, until_settled, until_settled_or_asked,
};
use crate::present::{self, ToolDetails};
use crate::run::spawn_task;
use crate::transcript::{Transcript, Wanted};

/// The default number of entries that are read.
const ENTRIES: u32 = 40;
/// The most entries that are read.
const MAX_ENTRIES: u32 = 2_000;

/// Receives events. Weak: an event does not keep the process alive.
pub type EventSink = ThreadsafeFunction<Json, Returned, Json, Status, false, true>;

/// The type of the messages that announce how runs ended.
#[napi]
pub const ANNOUNCEMENT: &str = present::ANNOUNCEMENT;

/// An open conversation and its background runs, which continue without it; see `openBackground`.
///
/// @example
/// ```ts
/// import { openBackground } from "pi-subagent-native/extension";
///
/// const options = { cwd: process.cwd(), sessionId: "session-1", delivered: [] };
/// const session = openBackground(options, ({ notices = [] }) => {
/// 	for (const notice of notices) console.error(notice);
/// });
/// const { text } = await session.command("list");
/// console.log(text, await session.runs(true), session.complete("st"));
/// await session.settled(60_000);
/// await session.close();
/// ```
#[napi]
pub struct BackgroundSession {
    service: Arc<BackgroundService>,
    session: String,
    view: watch::Receiver<Option<Arc<ConversationView>>>,
}

/// Opens the conversation `sessionId`. `onEvent` gets the changes of its background runs and their results, one event
/// at a time and at most five a second. If it returns a promise, the next event waits for that. If `onEvent` throws or
/// its promise rejects, the deliveries of that event are offered again, after pauses of up to ten seconds. Opening
/// a conversation that is open in this process replaces the earlier one.
///
/// @example
/// ```ts
/// import { openBackground } from "pi-subagent-native/extension";
///
/// const delivered: string[] = [];
/// const options = { cwd: process.cwd(), sessionId: "session-1", delivered };
/// const session = openBackground(options, async ({ deliveries }) => {
/// 	if (!deliveries) return;
/// 	console.log(deliveries.text);
/// 	delivered.push(...deliveries.deliveryIds);
/// 	await session.delivered(deliveries.deliveryIds);
/// });
/// await session.settled();
/// await session.close();
/// ```
#[napi(catch_unwind, async_runtime)]
pub fn open_background(
    env: Env,
    options: BackgroundOptions,
    #[napi(ts_arg_type = "(event: BackgroundEvent) => void")] on_event: EventSink,
) -> napi::Result<BackgroundSession> {
    let (session, scope, known) = options.into_parts(cancel_of_thread(env)?);
    let service = background(&scope.context.agent_dir);
    let (opened, view) = watch::channel(None);
    let handle = BackgroundSession { service: Arc::clone(&service), session: session.clone(), view };
    spawn_task(async move {
        let view = open_conversation(&service, session, scope, known, EventListener(on_event)).await;
        opened.send_replace(Some(view));
    });
    Ok(handle)
}

/// Ends every background run of this process that is not detached (`background.onExit`), because the process is about to exit.
/// Their outcome is `interrupted`; their partial answers are kept. Every conversation is closed, as by `BackgroundSession.close`:
/// the results wait until it is opened again. Resolves when their children have ended, after at most 20 seconds per agent
/// directory, with a sentence for the user if any run was ended.
///
/// @example
/// ```ts
/// import { endBackground } from "pi-subagent-native/extension";
///
/// console.log((await endBackground()) ?? "no background run was under way");
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<string | undefined>")]
pub fn end_background(env: Env) -> napi::Result<PromiseRaw<'static, Option<String>>> {
    promise(env, async move { Ok(background::close_all().await) })
}

struct EventListener(EventSink);

impl Listener for EventListener {
    async fn notify(&mut self, event: background::BackgroundEvent) -> Ack {
        let Ok(event) = Json::new(&event) else { return Ack::Rejected };
        let received = match call(&self.0, event).await {
            Ok(Some(promise)) => promise.await.map(drop),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        match received {
            Ok(()) => Ack::Accepted,
            Err(error) if error.status == Status::Closing => Ack::Closed,
            Err(_) => Ack::Rejected,
        }
    }
}

impl BackgroundSession {
    /// The service and the conversation, once it is open.
    pub(super) fn opened(
        &self,
    ) -> impl Future<Output = napi::Result<(Arc<BackgroundService>, Arc<ConversationView>)>> + use<> {
        let service = Arc::clone(&self.service);
        let mut view = self.view.clone();
        async move {
            let view = view.wait_for(Option::is_some).await.ok().and_then(|view| view.clone());
            let view = view.ok_or_else(|| napi::Error::from_reason("the addon is shutting down"))?;
            Ok((service, view))
        }
    }
}

#[napi]
impl BackgroundSession {
    /// Resolves with the conversation's live runs, its newest 100 background runs and its newest 100 foreground runs,
    /// newest first, without an ended run whose key in a workflow has a newer run, unless its changes wait. `all`: the runs
    /// of every conversation.
    #[napi(catch_unwind, ts_return_type = "Promise<RunRecord[]>")]
    pub fn runs(&self, env: Env, all: Option<bool>) -> napi::Result<PromiseRaw<'_, Json>> {
        let service = Arc::clone(&self.service);
        let of = (all != Some(true)).then(|| self.session.clone());
        promise(env, async move { Json::new(&service.runs_with_changes(of).await) })
    }

    /// Resolves with the runs that a person sees, newest first: the runs of this conversation as `runs` has them, and
    /// at most 50 runs of other conversations in the same project that a person can still apply, undo or continue.
    #[napi(catch_unwind, ts_return_type = "Promise<RunRecord[]>")]
    pub fn project_runs(&self, env: Env) -> napi::Result<PromiseRaw<'_, Json>> {
        let opened = self.opened();
        promise(env, async move {
            let (service, view) = opened.await?;
            Json::new(&service.runs_of_person(&view).await)
        })
    }

    /// Resolves with the workflows of the project, or with `all` those of all projects, with their runs, newest first.
    #[napi(catch_unwind, ts_return_type = "Promise<ShownWorkflow[]>")]
    pub fn workflows(&self, env: Env, all: Option<bool>) -> napi::Result<PromiseRaw<'_, Json>> {
        let opened = self.opened();
        promise(env, async move {
            let (_, view) = opened.await?;
            Json::new(&background::project_workflows(&view, all == Some(true)).await)
        })
    }

    /// Runs the words after `/subagents ` on a line: `list`, `info`, `log`, `send`, `stop`, `resume`, `run`, `workflow`,
    /// `background`, `undo`, `diff`, `apply`, `discard`, `agents` or `doctor` with its arguments. Resolves with the
    /// report, also for a mistake. `host` answers the questions of a resumed run. `pi` describes pi as the caller knows
    /// it by now, for `agents`, `doctor` and `run`. `scripts` are the scripts that the caller has started after
    /// `CommandReport.workflow` and that have not ended, for `stop`, `resume` and `workflow`.
    #[napi(catch_unwind, ts_return_type = "Promise<CommandReport>")]
    pub fn command(
        &self,
        env: Env,
        line: String,
        host: Option<HostCallbacks>,
        pi: Option<SurfaceOptions>,
        #[napi(ts_arg_type = "Array<HostScript> | undefined | null")] scripts: Option<
            Parsed<Vec<commands::HostScript>>,
        >,
    ) -> napi::Result<PromiseRaw<'_, Json>> {
        let opened = self.opened();
        let pi = commands::CommandHost {
            host_process: host_process().filter(|_| pi.is_some()),
            context: pi.map(|pi| pi.into_context().1),
            scripts: scripts.map(|Parsed(scripts)| scripts).unwrap_or_default(),
        };
        promise(env, async move {
            let (service, view) = opened.await?;
            let callbacks = Arc::new(host.unwrap_or_default());
            Json::new(&commands::answer(&service, &view, &line, pi, callbacks).await)
        })
    }

    /// Continues an ended run in the session of its child, with `message` as its next prompt, or sends `message` to a
    /// running run, which reads it before its next turn. `run` is the run's session key, its id or the beginning of that, its label, or the id
    /// of its child's session. Foreground runs can be continued too. Resolves with a receipt as `spawnSession` does;
    /// the result comes through `openBackground`. `host` answers the questions of the run.
    ///
    /// @example
    /// ```ts
    /// import { openBackground } from "pi-subagent-native/extension";
    ///
    /// const session = openBackground({ cwd: process.cwd(), sessionId: "session-1", delivered: [] }, () => {});
    /// const { status, error } = await session.continueRun("1a2b3c4d", "Now fix it.");
    /// console.log(status, error);
    /// await session.close();
    /// ```
    #[napi(catch_unwind, ts_return_type = "Promise<SpawnReceipt>")]
    pub fn continue_run(
        &self,
        env: Env,
        run: String,
        message: Option<String>,
        host: Option<HostCallbacks>,
    ) -> napi::Result<PromiseRaw<'_, Json>> {
        let opened = self.opened();
        promise(env, async move {
            let (service, view) = opened.await?;
            let callbacks = Arc::new(host.unwrap_or_default());
            let receipt =
                background::continue_run(&service, &view, &run, message.as_deref(), callbacks).await;
            Json::new(&receipt.stamped())
        })
    }

    /// Resumes interrupted runs after a restart of pi. `keys` are the ones in `DeliveryMessage.restart`. A run is
    /// resumed this way at most twice. Resolves with the report. `host` answers the questions of the runs.
    #[napi(catch_unwind, ts_return_type = "Promise<CommandReport>")]
    pub fn restart_runs(
        &self,
        env: Env,
        keys: Vec<String>,
        host: Option<HostCallbacks>,
    ) -> napi::Result<PromiseRaw<'_, Json>> {
        let opened = self.opened();
        promise(env, async move {
            let (service, view) = opened.await?;
            let callbacks = Arc::new(host.unwrap_or_default());
            Json::new(&commands::restart_runs(&service, &view, keys, callbacks).await)
        })
    }

    /// Returns at most 20 completions of the words after `/subagents `. Empty if the line is complete. Answers from memory; for the
    /// file of a workflow it reads one directory.
    #[napi(catch_unwind, ts_return_type = "Array<Completion>")]
    pub fn complete(&self, prefix: String) -> napi::Result<Json> {
        let view = self.view.borrow().clone();
        let complete = |view: Arc<ConversationView>| {
            commands::complete_script(&prefix, &view.scope.cwd).unwrap_or_else(|| {
                commands::complete(&prefix, &view.named_runs(), &view.workflows(), &view.agents())
            })
        };
        Json::new(&view.map(complete).unwrap_or_default())
    }

    /// Resolves with the newest entries of a run's conversation. `key` is `RunRecord.key`. Rejects when there is no
    /// such run, or no readable file.
    #[napi(catch_unwind, ts_return_type = "Promise<Transcript>")]
    pub fn transcript(
        &self,
        env: Env,
        key: String,
        options: Option<TranscriptOptions>,
    ) -> napi::Result<PromiseRaw<'_, Json>> {
        let opened = self.opened();
        let wanted = options.unwrap_or_default().into();
        promise(env, async move {
            let (service, view) = opened.await?;
            let read = commands::transcript(&service, &view, &key, wanted).await;
            let (transcript, version) = read.map_err(|error| napi::Error::from_reason(error.to_string()))?;
            Json::new(&Versioned { transcript, version })
        })
    }

    /// Answers `/stop`: ends every run of the conversation, including foreground runs and runs in other processes. `turn`: the
    /// caller also ends the current turn. Resolves with the report, after at most 10 seconds.
    #[napi(catch_unwind, ts_return_type = "Promise<CommandReport>")]
    pub fn stop_all(&self, env: Env, turn: Option<bool>) -> napi::Result<PromiseRaw<'_, Json>> {
        let stopping = commands::stop_everything(&self.service, &self.session, turn == Some(true));
        promise(env, async move { Json::new(&stopping.await) })
    }

    /// Resolves with the report on the end of a workflow's process, which the host started after `CommandReport.workflow`.
    #[napi(catch_unwind, ts_return_type = "Promise<CommandReport>")]
    pub fn workflow_ended(&self, env: Env, end: WorkflowEnd) -> napi::Result<PromiseRaw<'_, Json>> {
        let opened = self.opened();
        promise(env, async move {
            let (_, view) = opened.await?;
            Json::new(&commands::workflow_ended(&view, end.into()).await)
        })
    }

    /// Resolves with the interrupted workflows of the project that a file has started, except for `scripts`, which the caller has
    /// started already.
    #[napi(catch_unwind, ts_return_type = "Promise<InterruptedWorkflow[]>")]
    pub fn interrupted_workflows(
        &self,
        env: Env,
        #[napi(ts_arg_type = "Array<HostScript> | undefined | null")] scripts: Option<
            Parsed<Vec<commands::HostScript>>,
        >,
    ) -> napi::Result<PromiseRaw<'_, Json>> {
        let opened = self.opened();
        let scripts = scripts.map(|Parsed(scripts)| scripts).unwrap_or_default();
        promise(env, async move {
            let (_, view) = opened.await?;
            Json::new(&commands::interrupted_workflows(&view, &scripts).await)
        })
    }

    /// Confirms that these deliveries are in the conversation. Resolves with false when that could not be stored: they
    /// may be offered again after a restart, so recognize them by their ids.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn delivered(&self, env: Env, delivery_ids: Vec<String>) -> napi::Result<PromiseRaw<'_, bool>> {
        let opened = self.opened();
        promise(env, async move {
            let Ok((service, view)) = opened.await else { return Ok(false) };
            Ok(mark_delivered(&service, &view, delivery_ids).await)
        })
    }

    /// Resolves with true when no run of the conversation is live and `onEvent` has received all results. It is for a
    /// host that would exit otherwise. Runs that take longer than `timeoutMs` milliseconds are ended as at a hard limit.
    /// If absent, the limit is `background.headlessWaitMs`, where 0 is no limit. Resolves with false if `onEvent` has not
    /// received all results: the conversation was closed, or `onEvent` still fails after the limit.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn settled(&self, env: Env, timeout_ms: Option<f64>) -> napi::Result<PromiseRaw<'_, bool>> {
        let limit = timeout_ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok());
        let opened = self.opened();
        promise(env, async move {
            let Ok((service, view)) = opened.await else { return Ok(false) };
            Ok(until_settled(&service, &view, limit).await)
        })
    }

    /// As `settled`, but resolves with true as soon as a run has asked the conversation (`deliveries.questions`), once for all
    /// questions since the last time. After an answer, wait again. Otherwise resolves with false, also once `onEvent` has
    /// failed six times in a row.
    ///
    /// @example
    /// ```ts
    /// import { openBackground } from "pi-subagent-native/extension";
    ///
    /// const session = openBackground({ cwd: process.cwd(), sessionId: "session-1", delivered: [] }, ({ deliveries }) => {
    /// 	for (const { runId, question } of deliveries?.questions ?? []) {
    /// 		console.log(question);
    /// 		session.continueRun(runId, "The newer one.");
    /// 	}
    /// });
    /// while (await session.settledOrAsked()) console.log("a run has asked");
    /// await session.close();
    /// ```
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn settled_or_asked(&self, env: Env, timeout_ms: Option<f64>) -> napi::Result<PromiseRaw<'_, bool>> {
        let limit = timeout_ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok());
        let opened = self.opened();
        promise(env, async move {
            let Ok((service, view)) = opened.await else { return Ok(false) };
            Ok(until_settled_or_asked(&service, &view, limit).await)
        })
    }

    /// Closes the conversation: no event follows, unconfirmed deliveries wait until it is opened again, and its runs
    /// continue.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close(&self, env: Env) -> napi::Result<PromiseRaw<'_, ()>> {
        let opened = self.opened();
        promise(env, async move {
            if let Ok((service, view)) = opened.await {
                close_conversation(&service, &view).await;
            }
            Ok(())
        })
    }
}

/// The end of the process of a workflow.
#[napi(object, object_to_js = false)]
pub struct WorkflowEnd {
    /// The path of its script.
    pub file: String,
    /// Its exit code; absent if a signal ended it.
    pub exit_code: Option<i32>,
    /// True if the user has stopped it.
    pub was_stopped: bool,
    /// The time since its start, in milliseconds.
    pub duration_ms: f64,
    /// Its output; after a failure its errors.
    pub output: String,
}

impl From<WorkflowEnd> for present::WorkflowEnd {
    fn from(end: WorkflowEnd) -> Self {
        let WorkflowEnd { file, exit_code, was_stopped, duration_ms, output } = end;
        let duration = Duration::try_from_secs_f64(duration_ms / 1_000.0).unwrap_or_default();
        Self { file, exit_code, was_stopped, duration, output }
    }
}

/// The part of a conversation to read.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct TranscriptOptions {
    /// The number of the newest entries to read: 1 to 2000. Other numbers are clamped.
    /// @default 40
    pub entries: Option<u32>,
    /// True if tool calls and their results count as entries.
    /// @default false
    pub tools: Option<bool>,
}

impl From<TranscriptOptions> for Wanted {
    fn from(TranscriptOptions { entries, tools }: TranscriptOptions) -> Self {
        let entries = entries.unwrap_or(ENTRIES).clamp(1, MAX_ENTRIES);
        Self { entries: entries as usize, tools: tools == Some(true), skip: 0 }
    }
}

/// A transcript, and the version of its file.
#[derive(Serialize)]
struct Versioned {
    #[serde(flatten)]
    transcript: Transcript,
    version: String,
}
