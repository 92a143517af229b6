//! What follows from a command that a person types.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::commands::{
    Asked, Clock, Completion, MAX_LISTED, Report, Target, already_finished, complete, done_report,
    info_report, list_report, log_report, parse, refused_report, resolve, stopped_all_report, wanted_of,
};
use super::engine::Background;
use super::record::BackgroundRun;
use super::view::View;
use crate::run::{HostCallbacks, blocking, sanitizer_for};
use crate::transcript::{Transcript, Wanted, read_transcript};

/// What a transcript is read with.
const NO_TRANSCRIPT: &str = "it has no transcript";

impl Background {
    /// Does what a person asks for with everything that follows `/subagents`, and says what came of it.
    pub async fn answer(
        self: &Arc<Self>,
        view: &Arc<View>,
        line: &str,
        callbacks: Arc<impl HostCallbacks + 'static>,
    ) -> Report {
        let asked = match parse(line) {
            Ok(asked) => asked,
            Err(report) => return report,
        };
        let clock = blocking(Clock::system).await;
        match asked {
            Asked::List { all } => {
                let session = (!all).then(|| view.session().to_owned());
                let runs = self.runs(session).await;
                view.note_listed(runs.iter().take(MAX_LISTED).map(|run| run.key.clone()));
                list_report(&runs, all, &clock)
            }
            Asked::StopAll => stopped_all_report(self.stop_all(view.session()).await),
            Asked::Stop(target) => {
                self.with_run(view, &target, async |run| {
                    if !run.is_live() {
                        return already_finished(&run, &clock);
                    }
                    let done = self.stop(&run).await;
                    done.map_or_else(|why| refused_report("stop", &run, &why), |done| done_report(&run, done))
                })
                .await
            }
            Asked::Log { target, limit, tools } => {
                self.with_run(view, &target, async |run| {
                    let transcript = self.transcript_of(view, &run, wanted_of(limit, tools)).await;
                    log_report(&run, &transcript, limit, &clock)
                })
                .await
            }
            Asked::Info(target) => self.with_run(view, &target, async |run| info_report(&run, &clock)).await,
            Asked::Send { target, message } => {
                self.with_run(view, &target, async |run| {
                    let done = self.send(&run, &message, &view.place, Arc::clone(&callbacks)).await;
                    done.map_or_else(|why| refused_report("send", &run, &why), |done| done_report(&run, done))
                })
                .await
            }
            Asked::Resume { target, message } => {
                self.with_run(view, &target, async |run| {
                    let done =
                        self.resume(&run, message.as_deref(), &view.place, Arc::clone(&callbacks)).await;
                    done.map_or_else(
                        |why| refused_report("resume", &run, &why),
                        |done| done_report(&run, done),
                    )
                })
                .await
            }
        }
    }

    /// What can follow what was typed.
    #[must_use]
    pub fn completions(&self, view: &View, prefix: &str) -> Vec<Completion> {
        complete(prefix, &view.known())
    }

    /// The newest of a run's conversation, and what changes when there is more of it.
    ///
    /// # Errors
    ///
    /// When there is none that can be read.
    pub async fn transcript(
        self: &Arc<Self>,
        view: &Arc<View>,
        key: &str,
        wanted: Wanted,
    ) -> io::Result<(Transcript, String)> {
        let mut run = self.live_run(key).map(|live| live.record());
        if run.is_none() {
            let (book, key) = (Arc::clone(&self.book), key.to_owned());
            run = blocking(move || book.run(&key)).await;
        }
        let run = run.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no such run"))?;
        let path = run.transcript.clone();
        let version = blocking(move || path.as_deref().and_then(version)).await;
        let transcript = self.transcript_of(view, &run, wanted).await?;
        Ok((transcript, version.unwrap_or_default()))
    }

    /// Finds the run that is meant, among those of the conversation and then among all, and does something with it.
    async fn with_run(
        self: &Arc<Self>,
        view: &View,
        target: &Target,
        then: impl AsyncFnOnce(BackgroundRun) -> Report,
    ) -> Report {
        let listed = view.listed();
        let own = self.runs(Some(view.session().to_owned())).await;
        let report = match resolve(target, &own, &listed) {
            Ok(run) => return then(run.clone()).await,
            Err(report) => report,
        };
        match self.elsewhere(target, &listed).await {
            Some(run) => then(run).await,
            None => report,
        }
    }

    /// The run of another conversation that is meant: only one whose whole id was given, or that stands in the list that was
    /// shown. A slip of the finger must not reach the runs of another project.
    async fn elsewhere(self: &Arc<Self>, target: &Target, listed: &[String]) -> Option<BackgroundRun> {
        if let Some(key) = target.key() {
            let (book, key) = (Arc::clone(&self.book), key.to_owned());
            let found = blocking(move || book.run(&key)).await;
            return found.map(|run| self.live_run(&run.key).map_or(run, |live| live.record()));
        }
        let all = self.runs(None).await;
        let mut exact = all.iter().filter(|run| target.is_run_id_of(run));
        if let (Some(run), None) = (exact.next(), exact.next()) {
            return Some(run.clone());
        }
        resolve(target, &all, listed).ok().filter(|run| listed.contains(&run.key)).cloned()
    }

    async fn transcript_of(
        &self,
        view: &View,
        run: &BackgroundRun,
        wanted: Wanted,
    ) -> io::Result<Transcript> {
        let Some(path) = run.transcript.clone() else {
            return Err(io::Error::new(io::ErrorKind::NotFound, NO_TRANSCRIPT));
        };
        let (cwd, context) = (run.cwd.clone(), Arc::clone(&view.place.context));
        blocking(move || read_transcript(&path, wanted, &sanitizer_for(&cwd, &context))).await
    }
}

/// Changes when the file does.
fn version(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    let since = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some(format!("{}-{}", metadata.len(), since.as_nanos()))
}
