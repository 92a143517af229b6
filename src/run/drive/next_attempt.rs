//! The attempt after a failed one: whether there is one, the wait for it, and the start of its child.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::active_run::ActiveRun;
use super::control::QuotaWaitTooLong;
use crate::run::admit::prepare::AdmittedRun;
use crate::run::blocking::{blocking, unless_cancelled};
use crate::run::launch::Memory;
use crate::run::launch::boot::Booted;
use crate::run::launch::files::RunFiles;
use crate::run::outcome::retry::{backoff, has_no_side_effects, may_retry};
use crate::run::progress::{Progress, RetryNotice};
use crate::run::result::verdict::RunReport;
use crate::run::spec::Resumption;
use crate::run::state::RunState;
use agents::is_free_of_side_effects;
use pi_events::{RateLimit, Usage};
use supervisor::CancelReason;

/// The prompt of a child whose session continues after its provider's quota was used up.
const AFTER_QUOTA: &str = "The provider's usage limit interrupted you and has been lifted. Continue with your task where you left off, and finish it.";
/// The time before the end of a retry pause at which the next attempt's child boots. Even a busy machine needs less.
const BOOT_TIME: Duration = Duration::from_secs(5);

/// The reason why a wait for a provider's quota ended without the quota.
enum QuotaError {
    Cancelled(CancelReason),
    TooLong(QuotaWaitTooLong),
}

impl ActiveRun<'_> {
    /// Returns the pause before another attempt, including a pause that the provider has asked for. `None` if no
    /// attempt follows.
    pub(super) fn pause_after(&self, attempt: u32, report: &RunReport) -> Option<Duration> {
        let policy = &self.admitted.resolved.config.retry;
        let sandboxed = self.admitted.resolved.sandbox.is_read_only();
        let is_harmless = |tool: &str| is_free_of_side_effects(tool, sandboxed);
        let limited = self.limited.remaining();
        // An attempt that continues a session is not a retry.
        let attempt = attempt - self.continued;
        if !policy.enabled
            || attempt >= policy.max_attempts
            || !report.verdict.is_provider_error()
            || !may_retry(&report.last.collected, is_harmless)
            || limited > RateLimit::LONGEST_PAUSE
        {
            report.verdict.log_last(attempt, limited);
            return None;
        }
        let pause = backoff(policy, attempt + 1).max(limited);
        let remaining =
            self.admitted.resolved.timeout.map(|limit| limit.saturating_sub(self.started.elapsed()));
        remaining.is_none_or(|remaining| remaining > pause).then_some(pause)
    }

    pub(super) fn notice_of(&self, attempt: u32, pause: Duration, report: &RunReport) -> RetryNotice {
        let sanitizer = self.sanitizer();
        let error = report.verdict.error.as_deref().map(|error| sanitizer.sanitize(error));
        let max = self.admitted.resolved.config.retry.max_attempts;
        RetryNotice::by_run(attempt, Some(max.saturating_sub(1)), pause, error.as_ref())
    }

    /// Waits for the pause before an attempt. Near the end of the pause, boots the child of the attempt if the child can
    /// wait for its task and there is memory for it. `files` belong to the attempt before. Returns the reason if the run is
    /// cancelled in the meantime.
    pub(super) async fn pause_and_boot(
        &self,
        pause: Duration,
        attempt: u32,
        files: RunFiles,
    ) -> (RunFiles, Result<Option<Booted>, CancelReason>) {
        let AdmittedRun { resolved, .. } = &self.admitted;
        let boots = resolved.config.boot_ahead > 0
            && resolved.protocol.waits_for_task()
            && resolved.launcher.remote_name().is_none();
        let boot = async {
            let until_boot = sleep(pause.saturating_sub(BOOT_TIME));
            if !boots || unless_cancelled(&self.cancel, until_boot).await.is_err() {
                return (files, None);
            }
            if !blocking(|| Memory::measure().has_room()).await {
                return (files, None);
            }
            let files = files.make_room().await;
            // If this fails, the attempt tries again and reports the error.
            (files, self.admitted.launch(attempt, &self.stop).await.ok())
        };
        let (waited, (files, booted)) = tokio::join!(unless_cancelled(&self.cancel, sleep(pause)), boot);
        let (useful, useless) = match booted {
            // The attempt starts another child, and reports why that one fails.
            Some(booted) if waited.is_err() || booted.has_ended() => (None, Some(booted)),
            booted => (booted, None),
        };
        if let Some(booted) = useless {
            booted.discard().await;
        }
        (files, waited.map(|()| useful))
    }

    /// Writes the refreshed token of an attempt back, before the next attempt starts. Blocks no thread.
    pub(super) async fn give_back(&mut self, files: RunFiles, report: RunReport) -> (RunFiles, RunReport) {
        let builder = self.admitted.builder.clone();
        let given_back = move || {
            let notice = builder.give_back(&files, &report.last);
            (files, report, notice)
        };
        let (files, report, notice) = blocking(given_back).await;
        let diagnostics = &mut self.admitted.builder.diagnostics;
        diagnostics.extend(notice.filter(|notice| !diagnostics.contains(notice)));
        (files, report)
    }

    /// Returns true if the run can continue once its provider's quota is available again: in its session, or from its
    /// start if it has none and has changed nothing.
    pub(super) fn may_wait_for_quota(&self, report: &RunReport, files: &RunFiles) -> bool {
        let resolved = &self.admitted.resolved;
        let has_session = files.session().is_some() && resolved.launcher.remote_name().is_none();
        let is_harmless = |tool: &str| is_free_of_side_effects(tool, resolved.sandbox.is_read_only());
        report.verdict.is_provider_error()
            && self.limited.is_quota()
            && (has_session || has_no_side_effects(&report.last.collected, is_harmless))
    }

    /// Waits for the provider's quota, and prepares the next attempt. If the quota does not become available, returns
    /// the files and the report.
    pub(super) async fn after_quota(
        &mut self,
        files: RunFiles,
        report: RunReport,
    ) -> Result<(), Box<(RunFiles, RunReport)>> {
        let (files, mut report) = self.give_back(files, report).await;
        let usage = report.last.collected.usage.clone();
        let mut all = usage.clone();
        all.add(self.earlier_usage());
        match self.wait_for_quota(&report, &all).await {
            Ok(()) => {
                self.continue_session(&files);
                self.admitted.builder.earlier.add(&usage, files.session());
                files.remove().await;
                self.enforcer.next_attempt();
                return Ok(());
            }
            Err(QuotaError::Cancelled(reason)) => report.cancel(reason, self.started.elapsed()),
            Err(QuotaError::TooLong(error)) => {
                self.admitted.builder.diagnostics.push(error.to_string());
                self.admitted.builder.quota_exhausted = Some(error.provider);
            }
        }
        Err(Box::new((files, report)))
    }

    /// Waits without a slot until the provider's quota is available again. The waiting time does not count towards the
    /// run's limit.
    async fn wait_for_quota(&mut self, report: &RunReport, usage: &Usage) -> Result<(), QuotaError> {
        let next = self.admitted.builder.earlier.count + 2;
        self.time_limit.abort_all();
        let since = Instant::now();
        let error = report.verdict.error.as_deref().map(|error| self.sanitizer().sanitize(error));
        let show = |until: Option<Duration>| {
            let retry =
                RetryNotice::by_run(self.continued + 1, None, until.unwrap_or_default(), error.as_ref());
            let waiting = Progress {
                retry: Some(retry),
                ..self.progress(RunState::AwaitingQuota, next, usage.clone())
            };
            self.watchers.progress.send_replace(waiting);
        };
        let waited = unless_cancelled(&self.cancel, self.watchers.provider.wait_for_quota(&show)).await;
        match waited {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(QuotaError::TooLong(error)),
            Err(reason) => return Err(QuotaError::Cancelled(reason)),
        }
        self.limited.clear();
        self.continued += 1;
        self.started += since.elapsed();
        self.start_time_limit();
        Ok(())
    }

    /// Lets the next attempt continue the session of the last one, if it has one on this machine.
    fn continue_session(&mut self, files: &RunFiles) {
        let AdmittedRun { spec, resolved, .. } = &mut self.admitted;
        let Some(session) = files.session().filter(|_| resolved.launcher.remote_name().is_none()) else {
            return;
        };
        let Some(directory) = session.parent() else { return };
        let spec = Arc::make_mut(spec);
        spec.overrides.resumes = Some(Resumption {
            run_id: files.run_id.clone(),
            directory: directory.to_owned(),
            session: session.to_owned(),
        });
        AFTER_QUOTA.clone_into(&mut spec.task);
    }
}
