//! The background runs of a conversation.

use std::sync::Arc;
use std::time::Duration;

use napi::Status;
use napi::bindgen_prelude::{Env, PromiseRaw, spawn};
use napi::threadsafe_function::ThreadsafeFunction;
use napi_derive::napi;
use tokio::sync::watch;

use super::report::{CommandReport, Completion};
use super::run::BackgroundRun;
use super::transcript::{Transcript, TranscriptOptions};
use crate::node::callbacks::{HostCallbacks, JsCallbacks, Returned, call};
use crate::node::options::BackgroundOptions;
use crate::node::teardown::cancel_of_thread;
use crate::orchestrate::background::{self, Background, Event, Heard, Listener, Place, View, background};

/// Receives events. Weak: an event is no reason for the process to live on.
pub type EventSink = ThreadsafeFunction<BackgroundEvent, Returned, BackgroundEvent, Status, false, true>;

/// What happened to the runs of a conversation. Absent is what has not changed.
#[napi(object, object_from_js = false)]
pub struct BackgroundEvent {
    /// All runs of the conversation, newest first, at most 100, without their long texts.
    pub runs: Option<Vec<BackgroundRun>>,
    /// Those that are new since the event before; none of those that were there when the conversation was opened.
    pub started: Option<Vec<BackgroundRun>>,
    /// Those that are over since.
    pub ended: Option<Vec<BackgroundRun>>,
    /// What the conversation is to be told, as one message; `delivered` says that it was.
    pub deliveries: Option<DeliveryMessage>,
    /// What the user must know.
    pub notices: Option<Vec<String>>,
}

/// The results of runs, for the conversation that asked for them.
#[napi(object, object_from_js = false)]
pub struct DeliveryMessage {
    /// What tells it from every other message: each id is offered once, and once more after a process that did not come to
    /// say that it was delivered.
    pub delivery_ids: Vec<String>,
    /// The ids of the runs that it tells of.
    pub run_ids: Vec<String>,
    /// The runs, with their results.
    pub runs: Vec<BackgroundRun>,
    /// The whole message, for the model: the children's words are fenced and labelled as such.
    pub text: String,
    /// Whether an idle conversation is to go on because of it.
    pub trigger_turn: bool,
}

/// The background runs of an open conversation. Its runs do not depend on it.
#[napi]
pub struct BackgroundSession {
    engine: Arc<Background>,
    place: Place,
    session: String,
    view: watch::Receiver<Option<Arc<View>>>,
}

/// Opens a conversation: what happens to its background runs is told to `onEvent`, at most five times a second and one
/// event at a time, and what they have come to is delivered through it. When it throws, or returns a promise that rejects, the
/// event counts as not heard and what it delivers is offered again; when it goes on to, the conversation is closed. The next
/// event waits for a promise that it returns. Whoever opens a conversation again in the same process takes over from the one
/// before.
#[napi(catch_unwind, async_runtime)]
pub fn open_background(
    env: Env,
    options: BackgroundOptions,
    #[napi(ts_arg_type = "(event: BackgroundEvent) => void")] on_event: EventSink,
) -> napi::Result<BackgroundSession> {
    let (session, place, arrived) = options.into_parts(cancel_of_thread(env)?);
    let engine = background(&place.context.agent_dir);
    let (opened, view) = watch::channel(None);
    let handle = BackgroundSession {
        engine: Arc::clone(&engine),
        place: place.clone(),
        session: session.clone(),
        view,
    };
    spawn(async move {
        let view = engine.open(session, place, arrived, EventListener(on_event)).await;
        opened.send_replace(Some(view));
    });
    Ok(handle)
}

/// Ends every background run of this process that is not to be kept, because the process is about to end: they are kept as
/// `interrupted`, with what there was of their answers. Resolves when their children are shutting_down.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn end_background(env: &Env) -> napi::Result<PromiseRaw<'_, ()>> {
    env.spawn_future(async move {
        background::close_all().await;
        Ok(())
    })
}

struct EventListener(EventSink);

impl Listener for EventListener {
    async fn tell(&mut self, event: Event) -> Heard {
        let heard = match call(&self.0, event.into()).await {
            Ok(Some(promise)) => promise.await.map(drop),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        match heard {
            Ok(()) => Heard::Yes,
            Err(error) if error.status == Status::Closing => Heard::Gone,
            Err(_) => Heard::No,
        }
    }
}

#[napi]
impl BackgroundSession {
    /// The conversation's runs, or those of all conversations, newest first, at most 100.
    #[napi(catch_unwind, ts_return_type = "Promise<BackgroundRun[]>")]
    pub fn runs<'env>(
        &self,
        env: &'env Env,
        all: Option<bool>,
    ) -> napi::Result<PromiseRaw<'env, Vec<BackgroundRun>>> {
        let (engine, session) = (Arc::clone(&self.engine), self.session.clone());
        env.spawn_future(async move {
            let runs = engine.runs((all != Some(true)).then_some(session)).await;
            Ok(runs.into_iter().map(Into::into).collect())
        })
    }

    /// Does what everything that follows `/subagents ` on a line asks for (`list`, `stop`, `log`, `info`, `send`, `resume`),
    /// and resolves with what is to be said. `host` is asked what a run that is resumed may ask.
    #[napi(catch_unwind, ts_return_type = "Promise<CommandReport>")]
    pub fn command<'env>(
        &self,
        env: &'env Env,
        line: String,
        host: Option<HostCallbacks>,
    ) -> napi::Result<PromiseRaw<'env, CommandReport>> {
        let (engine, view) = (Arc::clone(&self.engine), self.view.clone());
        env.spawn_future(async move {
            let view = opened(view).await.ok_or_else(shutting_down)?;
            Ok(engine.answer(&view, &line, Arc::new(JsCallbacks(host))).await.into())
        })
    }

    /// What can follow what was typed behind `/subagents `; empty when it is complete. From memory.
    #[napi(catch_unwind)]
    pub fn complete(&self, prefix: String) -> Vec<Completion> {
        let Some(view) = self.view.borrow().clone() else { return Vec::new() };
        self.engine.completions(&view, &prefix).into_iter().map(Into::into).collect()
    }

    /// The newest of a run's conversation, read from the end of its file. Rejects when there is none that can be read.
    #[napi(catch_unwind, ts_return_type = "Promise<Transcript>")]
    pub fn transcript<'env>(
        &self,
        env: &'env Env,
        key: String,
        options: Option<TranscriptOptions>,
    ) -> napi::Result<PromiseRaw<'env, Transcript>> {
        let (engine, view) = (Arc::clone(&self.engine), self.view.clone());
        let wanted = options.unwrap_or_default().into();
        env.spawn_future(async move {
            let view = opened(view).await.ok_or_else(shutting_down)?;
            let read = engine.transcript(&view, &key, wanted).await;
            let (transcript, version) = read.map_err(|error| napi::Error::from_reason(error.to_string()))?;
            Ok(Transcript::new(transcript, version))
        })
    }

    /// Ends every run of the conversation; resolves with how many there were.
    #[napi(catch_unwind, ts_return_type = "Promise<number>")]
    pub fn stop_all<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, u32>> {
        let (engine, session) = (Arc::clone(&self.engine), self.session.clone());
        env.spawn_future(
            async move { Ok(u32::try_from(engine.stop_all(&session).await).unwrap_or(u32::MAX)) },
        )
    }

    /// Says that these deliveries stand in the conversation, for good. Resolves with false when that cannot be kept: they
    /// would be offered again after a restart, and have to be recognised then.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn delivered<'env>(
        &self,
        env: &'env Env,
        delivery_ids: Vec<String>,
    ) -> napi::Result<PromiseRaw<'env, bool>> {
        let (engine, view) = (Arc::clone(&self.engine), self.view.clone());
        env.spawn_future(async move {
            match opened(view).await {
                Some(view) => Ok(engine.delivered(&view, delivery_ids).await),
                None => Ok(false),
            }
        })
    }

    /// Resolves when no run of the conversation is live and what they have come to was offered, for a pi that would end
    /// otherwise. Runs that take longer than `timeoutMs` (`background.headlessWaitMs`) are ended as at a hard limit, with
    /// what there was of their answers.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn settled<'env>(
        &self,
        env: &'env Env,
        timeout_ms: Option<f64>,
    ) -> napi::Result<PromiseRaw<'env, ()>> {
        let (engine, view, place) = (Arc::clone(&self.engine), self.view.clone(), self.place.clone());
        let timeout = timeout_ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok());
        env.spawn_future(async move {
            if let Some(view) = opened(view).await {
                engine.settled(&view, &place, timeout).await;
            }
            Ok(())
        })
    }

    /// Closes the conversation: no event follows, what it was not told waits until it is opened again, and its runs go on.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        let (engine, view) = (Arc::clone(&self.engine), self.view.clone());
        env.spawn_future(async move {
            if let Some(view) = opened(view).await {
                engine.close_view(&view).await;
            }
            Ok(())
        })
    }
}

/// The view, once it is open.
async fn opened(mut view: watch::Receiver<Option<Arc<View>>>) -> Option<Arc<View>> {
    view.wait_for(Option::is_some).await.ok()?.clone()
}

fn shutting_down() -> napi::Error {
    napi::Error::from_reason("the addon is shutting down")
}

impl From<Event> for BackgroundEvent {
    fn from(event: Event) -> Self {
        let runs = |runs: Vec<background::BackgroundRun>| {
            (!runs.is_empty()).then(|| runs.into_iter().map(Into::into).collect())
        };
        Self {
            runs: runs(event.runs),
            started: runs(event.started),
            ended: runs(event.ended),
            deliveries: event.message.map(Into::into),
            notices: (!event.notices.is_empty()).then_some(event.notices),
        }
    }
}

impl From<background::Message> for DeliveryMessage {
    fn from(message: background::Message) -> Self {
        let background::Message { delivery_ids, runs, text, triggers_turn } = message;
        let run_ids = runs.iter().map(|run| run.run_id.clone()).collect();
        let runs = runs.into_iter().map(Into::into).collect();
        Self { delivery_ids, run_ids, runs, text, trigger_turn: triggers_turn }
    }
}
