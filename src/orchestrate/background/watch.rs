//! What other processes do, and what time does: runs of dead processes, requests, transcripts to archive.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use super::announcement::{Announcement, PARTIAL};
use super::engine::Background;
use super::keeper::remove_snapshot;
use super::live::Reason;
use super::record::{BackgroundRun, BackgroundState, Status};
use crate::run::{HostContext, RunOutcome, blocking, load_config, sanitizer_for};
use crate::store::{Delivery, Request, now_ms};
use crate::text::truncate;
use crate::transcript::{last_text, session_id};

/// How often others are looked at while runs go on.
const WATCHING: Duration = Duration::from_millis(500);
/// The same while none does.
const RESTING: Duration = Duration::from_secs(3);
/// How often it is looked for what dead processes have left. They do not tell.
const SWEEP: Duration = Duration::from_secs(5);
/// How often it is looked for what is to be archived.
const ARCHIVE: Duration = Duration::from_secs(30);
/// How often it is looked how much room all runs take. That opens the directory of each.
const MEASURE: Duration = Duration::from_secs(5 * 60);

/// What another process may ask for.
pub(super) const STOP: &str = "stop";
/// A message to the child.
pub(super) const SEND: &str = "send";

/// When what was last done.
struct Clocks {
    version: Option<i64>,
    swept: Instant,
    archived: Option<Instant>,
    measured: Option<Instant>,
}

impl Background {
    /// Looks at others from now on, for as long as a conversation is open or a run lives here.
    pub(super) fn watch_others(self: &Arc<Self>) {
        let mut is_watching = self.is_watching.lock();
        if !std::mem::replace(&mut *is_watching, true) {
            tokio::spawn(Arc::clone(self).watch());
        }
    }

    async fn watch(self: Arc<Self>) {
        let mut clocks = Clocks { version: None, swept: Instant::now(), archived: None, measured: None };
        let mut news = self.news();
        while self.is_needed() {
            news.mark_unchanged();
            self.look(&mut clocks).await;
            sleep(WATCHING).await;
            let is_busy = self.live_runs() > 0 || self.views().values().any(|view| view.has_live());
            if !is_busy {
                // Whatever is new since the look may be a run.
                let _ = timeout(RESTING, news.changed()).await;
            }
        }
    }

    /// Whether somebody looks. Where nobody does, the next who comes begins anew.
    fn is_needed(&self) -> bool {
        let mut is_watching = self.is_watching.lock();
        *is_watching = self.live_runs() > 0 || !self.views().is_empty();
        *is_watching
    }

    async fn look(self: &Arc<Self>, clocks: &mut Clocks) {
        let (book, before) = (Arc::clone(&self.book), clocks.version);
        let (version, requests) = blocking(move || {
            book.flush();
            let version = book.version();
            let requests = if version == before { Some(Vec::new()) } else { book.requests() };
            (version, requests)
        })
        .await;
        let Some(requests) = requests else { return };
        if version != before {
            clocks.version = version;
            self.look_again(true);
        }
        if version == before && self.views().values().any(|view| view.has_kept()) {
            self.look_again(false);
        }
        for request in &requests {
            self.heed(request);
        }
        if clocks.swept.elapsed() >= SWEEP {
            clocks.swept = Instant::now();
            let engine = Arc::clone(self);
            if blocking(move || engine.take_over_orphans()).await {
                self.look_again(true);
            }
        }
        if clocks.archived.is_none_or(|archived| archived.elapsed() >= ARCHIVE) {
            clocks.archived = Some(Instant::now());
            self.archive_due().await;
        }
        if clocks.measured.is_none_or(|measured| measured.elapsed() >= MEASURE) {
            clocks.measured = Some(Instant::now());
            self.keep_within_quota().await;
        }
    }

    fn heed(&self, Request { key, action, text }: &Request) {
        let Some(live) = self.live_run(key) else { return };
        match action.as_str() {
            STOP => live.end(Reason::Stopped),
            // Whoever sends it sees in the transcript whether it was heard.
            SEND => drop(live.control.steering.steer(text)),
            _ => {}
        }
    }

    /// Ends the runs of processes that are gone, with whatever text there was. Blocks. Whether there were any.
    pub(super) fn take_over_orphans(&self) -> bool {
        // Without a conversation it is not known which secrets the text must not hold; whoever opens one does it.
        let context = self.views().values().next().map(|view| Arc::clone(&view.place.context));
        let Some(context) = context else { return false };
        let orphans = self.book.orphans();
        for (run, process) in &orphans {
            self.take_over(run.clone(), process, &context);
        }
        !orphans.is_empty()
    }

    fn take_over(&self, mut run: BackgroundRun, process: &str, context: &HostContext) {
        let config = load_config(&run.cwd, context).map(|loaded| loaded.config).unwrap_or_default();
        let sanitizer = sanitizer_for(&run.cwd, context);
        let partial =
            run.transcript.as_deref().and_then(|transcript| last_text(transcript, &sanitizer).ok().flatten());
        let now = now_ms();
        run.state = BackgroundState::Ended;
        run.status = Some(Status::Unknown);
        run.outcome = Some(RunOutcome::Interrupted);
        run.partial = partial.map(|text| truncate(&text, PARTIAL, None).text);
        run.error = Some("the process that ran it ended while the run was under way".to_owned());
        run.ended_ms = Some(now);
        let announcement = Announcement {
            status: Status::Unknown,
            name: Announcement::name_of(&run),
            result: None,
            notes: run.error.iter().cloned().chain([resumable(&run)]).collect(),
            partial: run.partial.clone(),
            stats: Announcement::stats_of(&run),
            // Whoever opens the conversation decides himself what comes next.
            triggers_turn: false,
            max_bytes: config.output.max_bytes,
            max_lines: config.output.max_lines,
        };
        let delivery = Delivery {
            id: Uuid::new_v4().to_string(),
            session: run.session.clone(),
            key: run.key.clone(),
            body: serde_json::to_string(&announcement).expect("texts and numbers are JSON"),
            created_ms: now,
        };
        run.child_session_id =
            run.child_session_id.or_else(|| session_id(run.transcript.as_deref()?).ok().flatten());
        if self.book.adopt(&run, process, Some(&delivery)) && run.is_kept {
            remove_snapshot(&self.agent_dir, &run.key);
        }
    }
}

fn resumable(run: &BackgroundRun) -> String {
    format!("it is not started again by itself; `/subagents resume {}` continues its session", run.run_id)
}
