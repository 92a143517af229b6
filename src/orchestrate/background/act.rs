//! What a person can do with a background run.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::engine::{Background, is_queued};
use super::live::{Live, Reason};
use super::record::{BackgroundRun, BackgroundState};
use super::spawn::note;
use super::view::Place;
use super::watch::{SEND, STOP};
use crate::orchestrate::CallOrder;
use crate::run::{
    HostCallbacks, Resumption, RunId, RunOverrides, RunSpec, Timeout, blocking, load_config, prepare,
};

/// How long a stop is waited for, beyond what the run may take to end by itself.
const STOPPING: Duration = Duration::from_secs(10);
/// What a run that is resumed without a message is told.
const GO_ON: &str = "Continue with your task where you left off, and finish it.";

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It is over, with everything that it had started.
    Stopped,
    /// It was asked to end, and has not yet.
    Stopping,
    /// Its child reads the message before its next turn.
    Steered,
    /// The process that it lives in was asked to pass the message on.
    PassedOn,
    /// It goes on.
    Resumed,
}

impl Background {
    /// Ends a run and everything that it has started.
    ///
    /// # Errors
    ///
    /// Why it cannot be ended.
    pub async fn stop(&self, run: &BackgroundRun) -> Result<Done, String> {
        if !run.is_live() {
            return Err("it is over already".to_owned());
        }
        let Some(live) = self.live_run(&run.key) else {
            self.ask(run, STOP, "").await?;
            return Ok(if self.ends(&run.key).await { Done::Stopped } else { Done::Stopping });
        };
        live.end(Reason::Stopped);
        let is_over = timeout(STOPPING, self.gone(std::slice::from_ref(&live))).await.is_ok();
        Ok(if is_over { Done::Stopped } else { Done::Stopping })
    }

    /// Ends all runs of a conversation; how many there were.
    pub async fn stop_all(self: &Arc<Self>, session: &str) -> usize {
        let live = self.live_of(Some(session));
        for live in &live {
            live.end(Reason::Stopped);
        }
        let elsewhere: Vec<_> = self
            .runs(Some(session.to_owned()))
            .await
            .into_iter()
            .filter(|run| run.is_live() && self.live_run(&run.key).is_none())
            .collect();
        let mut count = live.len();
        for run in elsewhere {
            count += usize::from(self.ask(&run, STOP, "").await.is_ok());
        }
        // Whoever takes longer is being ended all the same.
        let _ = timeout(STOPPING, self.gone(&live)).await;
        count
    }

    /// Sends a message to a run: into its child while that works, else as the next prompt of its session.
    ///
    /// # Errors
    ///
    /// Why it cannot be sent.
    pub async fn send(
        self: &Arc<Self>,
        run: &BackgroundRun,
        message: &str,
        place: &Place,
        callbacks: Arc<impl HostCallbacks + 'static>,
    ) -> Result<Done, String> {
        if !run.is_live() {
            return self.resume(run, Some(message), place, callbacks).await;
        }
        let Some(live) = self.live_run(&run.key) else {
            self.ask(run, SEND, message).await?;
            return Ok(Done::PassedOn);
        };
        if live.control.steering.steer(message) {
            return Ok(Done::Steered);
        }
        Err(if is_queued(&live.record()) {
            "it waits for its turn; send the message once it runs".to_owned()
        } else {
            "its child takes no messages at the moment".to_owned()
        })
    }

    /// Continues a run that is over in the session of its child.
    ///
    /// # Errors
    ///
    /// Why it cannot be continued.
    pub async fn resume(
        self: &Arc<Self>,
        run: &BackgroundRun,
        message: Option<&str>,
        place: &Place,
        callbacks: Arc<impl HostCallbacks + 'static>,
    ) -> Result<Done, String> {
        if run.is_live() {
            return Err("it is under way".to_owned());
        }
        if run.archived_ms.is_some() {
            return Err("its transcript was archived, and there is nothing to continue".to_owned());
        }
        let (Some(session), Some(directory)) = (&run.transcript, &run.directory) else {
            return Err("it has no transcript to continue".to_owned());
        };
        let resumes =
            Resumption { run_id: run.run_id.clone(), directory: directory.clone(), session: session.clone() };
        let overrides = RunOverrides {
            model: run.model.clone(),
            thinking: run.thinking.clone(),
            timeout: run.timeout_ms.map_or(Timeout::Never, |ms| Timeout::After(Duration::from_millis(ms))),
            // What its policy allowed when it was asked for; what is forbidden since stays forbidden.
            tools: Some(run.tools.clone()),
            announces: true,
            resumes: Some(resumes),
        };
        let spec = RunSpec {
            agent: run.agent.clone(),
            task: message.map_or_else(|| GO_ON.to_owned(), str::to_owned),
            cwd: run.cwd.clone(),
            context: Arc::clone(&place.context),
            share: 1,
            siblings: 1,
            overrides,
        };
        let (cwd, context) = (run.cwd.clone(), Arc::clone(&place.context));
        let loaded =
            blocking(move || load_config(&cwd, &context)).await.map_err(|refusal| refusal.to_string())?;
        let live = Arc::new(Live::new(again(run), &place.ends_with));
        let ready = prepare(spec, RunId::of_key(&run.key), &*callbacks, &live.control.cancel).await;
        let ready = ready.map_err(|result| result.text)?;
        if let Some(over) = ready.over_budget().await {
            return Err(over);
        }
        note(&live, &ready);
        let engine = Arc::clone(self);
        // Two who resume it at once, here or elsewhere, would write into one session.
        if !engine.enlist(&live) {
            return Err("it is under way".to_owned());
        }
        let (book, begun) = (Arc::clone(&self.book), live.record());
        if !blocking(move || book.claim(&begun)).await {
            engine.strike(&run.key);
            return Err("somebody else goes on with it, or its transcript was archived".to_owned());
        }
        engine.look_again(false);
        engine.watch_others();
        tokio::spawn(async move {
            engine.follow(&live, Ok(ready), &loaded.config, &CallOrder::now(), &*callbacks).await;
        });
        Ok(Done::Resumed)
    }

    pub(super) async fn ask(
        &self,
        run: &BackgroundRun,
        action: &'static str,
        text: &str,
    ) -> Result<(), String> {
        let (book, key, text) = (Arc::clone(&self.book), run.key.clone(), text.to_owned());
        let is_asked = blocking(move || book.ask(&key, action, &text)).await;
        is_asked.then_some(()).ok_or_else(|| "the process that it lives in cannot be asked".to_owned())
    }

    /// Waits, not long, until a run that lives elsewhere is over.
    async fn ends(&self, key: &str) -> bool {
        let mut news = self.news();
        let over = async {
            loop {
                let (book, key) = (Arc::clone(&self.book), key.to_owned());
                if blocking(move || book.run(&key)).await.is_none_or(|run| !run.is_live()) {
                    return;
                }
                // Nothing tells of it where no conversation is open.
                let _ = timeout(Duration::from_millis(500), news.changed()).await;
            }
        };
        timeout(STOPPING, over).await.is_ok()
    }
}

/// The run as it begins again.
fn again(run: &BackgroundRun) -> BackgroundRun {
    BackgroundRun {
        state: BackgroundState::Queued,
        status: None,
        outcome: None,
        error: None,
        started_ms: None,
        ended_ms: None,
        archive_at_ms: None,
        result: None,
        partial: None,
        notes: Vec::new(),
        is_kept: false,
        spent_before: run.usage.clone(),
        times_resumed: run.times_resumed + 1,
        host_pid: Some(std::process::id()),
        is_ours: true,
        ..run.clone()
    }
}
