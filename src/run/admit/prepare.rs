//! Turns a call into a run that may start. Checks everything that can refuse it, and starts nothing.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Notify;

use super::admitted::AdmittedRun;
use super::capabilities::HostCapabilities;
use super::refusal::Refusal;
use super::resolve::{ResolvedRun, resolve};
use super::settings::CallSettings;
use crate::process::{Cancel, CancelReason};
use crate::run::blocking::{blocking, unless_cancelled};
use crate::run::callbacks::{ConfirmRequest, HostCallbacks};
use crate::run::outcome::report::ResultBuilder;
use crate::run::outcome::retry::EarlierAttempts;
use crate::run::outcome::verdict::Verdict;
use crate::run::result::ToolResult;
use crate::run::spec::{RunId, RunSpec};
use crate::text::{Sanitizer, TruncateLimits};

/// Bytes of an agent's name that are shown before the agent is found; valid names fit.
const MAX_NAME: usize = 64;
/// Bytes for the heading of a run and its blank lines, in a text that several runs share.
const HEADING_BYTES: usize = 128;
/// Lines for the same.
const HEADING_LINES: usize = 4;

/// Held while the user is asked.
static ASKING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Reads the settings of a call and checks everything that can refuse its run: configuration, depth, policy, the user,
/// the available tools.
///
/// # Errors
///
/// The result of a call that was refused or aborted.
pub async fn prepare(
    spec: RunSpec,
    id: RunId,
    callbacks: &dyn HostCallbacks,
    cancel: &Cancel,
) -> Result<AdmittedRun, ToolResult> {
    let started = Instant::now();
    match CallSettings::unless_cancelled(&spec.cwd, &spec.context, cancel).await {
        Ok(settings) => prepare_with(settings, spec, id, callbacks, cancel, None).await,
        Err((reason, sanitizer)) => {
            let call = Call { spec: Arc::new(spec), id, sanitizer, cancel, asks: None };
            Err(call.unresolved().without_child(&Verdict::cancelled(&reason), started.elapsed(), None))
        }
    }
}

/// As [`prepare`], with settings that the call has read before. They must be those of the run's directory. `asks` is
/// notified when the user has to be asked, before the question waits behind earlier ones.
///
/// # Errors
///
/// The result of a call that was refused or aborted.
pub async fn prepare_with(
    settings: CallSettings,
    spec: RunSpec,
    id: RunId,
    callbacks: &dyn HostCallbacks,
    cancel: &Cancel,
    asks: Option<&Notify>,
) -> Result<AdmittedRun, ToolResult> {
    let (started, spec) = (Instant::now(), Arc::new(spec));
    if let Some(resumption) = &spec.overrides.resumes {
        id.set(&resumption.run_id);
    }
    let call = Call { spec, id, sanitizer: Arc::clone(settings.sanitizer()), cancel, asks };
    match Box::pin(call.prepare(settings, callbacks)).await {
        Ok(admitted) => Ok(admitted),
        Err(Stop::Refused(refusal, limits)) => Err(refusal.into_result(&call.sanitizer, limits)),
        Err(Stop::NotStarted(builder, error)) => {
            Err(builder.without_child(&Verdict::failed(1, error), started.elapsed(), None))
        }
        Err(Stop::Aborted(reason)) => {
            Err(call.unresolved().without_child(&Verdict::cancelled(&reason), started.elapsed(), None))
        }
    }
}

/// Why there is no run.
enum Stop {
    Refused(Refusal, TruncateLimits),
    NotStarted(Box<ResultBuilder>, String),
    Aborted(CancelReason),
}

impl From<CancelReason> for Stop {
    fn from(reason: CancelReason) -> Self {
        Self::Aborted(reason)
    }
}

struct Call<'a> {
    spec: Arc<RunSpec>,
    id: RunId,
    sanitizer: Arc<Sanitizer>,
    cancel: &'a Cancel,
    asks: Option<&'a Notify>,
}

impl Call<'_> {
    async fn prepare(
        &self,
        settings: CallSettings,
        callbacks: &dyn HostCallbacks,
    ) -> Result<AdmittedRun, Stop> {
        let spec = Arc::clone(&self.spec);
        let capabilities = self.unless_aborted(HostCapabilities::look(&self.spec.context)).await?;
        let resolving = blocking(move || resolve(&spec, settings.loaded()?, &capabilities));
        let resolved = self.unless_aborted(resolving).await?;
        let resolved = resolved.map_err(|refusal| Stop::Refused(refusal, TruncateLimits::default()))?;
        let resolved = Arc::new(resolved);
        let mut builder = self.builder(&resolved);
        if let Some(notice) = self.ask(&resolved, callbacks, builder.limits).await? {
            builder.diagnostics.push(notice);
        }
        let plan = match resolved.tools(&self.spec.context) {
            Ok(plan) => plan,
            Err(none_left) => return Err(Stop::NotStarted(Box::new(builder), none_left.to_string())),
        };
        builder.sandbox = Some(resolved.sandbox.clone());
        builder.diagnostics.extend(resolved.notices.iter().cloned());
        builder.diagnostics.extend(plan.dropped.iter().map(ToString::to_string));
        Ok(AdmittedRun { spec: Arc::clone(&self.spec), resolved, plan: Arc::new(plan), builder })
    }

    async fn unless_aborted<T>(&self, work: impl Future<Output = T>) -> Result<T, CancelReason> {
        unless_cancelled(self.cancel, work).await
    }

    /// Asks the user if necessary. An abort while the question is open does not count as an answer. Returns a notice
    /// when the answer could not be recorded.
    async fn ask(
        &self,
        resolved: &Arc<ResolvedRun>,
        callbacks: &dyn HostCallbacks,
        limits: TruncateLimits,
    ) -> Result<Option<String>, Stop> {
        let refuse = |refusal| Stop::Refused(refusal, limits);
        let interactive = callbacks.is_interactive();
        if self.question(resolved, interactive, limits).await?.is_none() {
            return Ok(None);
        }
        if !callbacks.is_reachable() {
            return Err(refuse(resolved.refused()));
        }
        if let Some(asks) = self.asks {
            asks.notify_one();
        }
        // One question at a time: several calls of one message may ask about the same agent, and one answer is enough.
        let _turn = self.unless_aborted(ASKING.lock()).await?;
        let Some(request) = self.question(resolved, interactive, limits).await? else { return Ok(None) };
        if !self.unless_aborted(callbacks.confirm(request)).await? {
            return Err(refuse(resolved.refused()));
        }
        let (spec, decided) = (Arc::clone(&self.spec), Arc::clone(resolved));
        let kept = self.unless_aborted(blocking(move || decided.remember(&spec.context))).await?;
        let lost = |error| format!("your answer could not be kept and will be asked for again: {error}");
        Ok(kept.err().map(lost))
    }

    /// The question to ask now, if any, or why policy refuses the run without asking.
    async fn question(
        &self,
        resolved: &Arc<ResolvedRun>,
        interactive: bool,
        limits: TruncateLimits,
    ) -> Result<Option<ConfirmRequest>, Stop> {
        let (spec, decided, sanitizer) =
            (Arc::clone(&self.spec), Arc::clone(resolved), Arc::clone(&self.sanitizer));
        let question = blocking(move || decided.question(&spec.context, interactive, &sanitizer));
        self.unless_aborted(question).await?.map_err(|refusal| Stop::Refused(refusal, limits))
    }

    fn builder(&self, resolved: &ResolvedRun) -> ResultBuilder {
        let output = &resolved.config.output;
        let share = |whole: usize, heading: usize| match self.spec.share {
            0 | 1 => whole,
            several => (whole / several).saturating_sub(heading).max(1),
        };
        ResultBuilder {
            agent: resolved.agent.name.clone(),
            model: resolved.model.clone(),
            limits: TruncateLimits {
                max_bytes: share(output.max_bytes, HEADING_BYTES),
                max_lines: share(output.max_lines, HEADING_LINES),
            },
            ..self.unresolved()
        }
    }

    /// The builder for a call whose agent is not known to exist.
    fn unresolved(&self) -> ResultBuilder {
        ResultBuilder {
            agent: self.sanitizer.sanitize(&self.spec.agent).clip(MAX_NAME).into_string(),
            task: self.spec.task.clone(),
            model: None,
            run_id: self.id.clone(),
            sanitizer: Arc::clone(&self.sanitizer),
            limits: TruncateLimits::default(),
            sandbox: None,
            diagnostics: Vec::new(),
            earlier: EarlierAttempts::default(),
        }
    }
}
