//! From a call to a run that may start: everything that can refuse it is asked, and nothing is started.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::capabilities::HostCapabilities;
use super::prepare::Prepared;
use super::refusal::Refusal;
use super::secrets::sanitizer_for;
use crate::agent::ToolPlan;
use crate::config::Config;
use crate::process::{Cancel, CancelReason};
use crate::run::blocking::{blocking, unless_cancelled};
use crate::run::callbacks::{ConfirmRequest, HostCallbacks};
use crate::run::drive::protocol::protocol_of;
use crate::run::launch::private_dirs::PrivateDirs;
use crate::run::outcome::report::ResultBuilder;
use crate::run::result::ToolResult;
use crate::run::spec::{RunId, RunSpec};
use crate::text::{Sanitizer, SanitizerOptions, TruncateLimits};

/// What the name of an agent may fill that nobody has found yet; valid ones fit.
const MAX_NAME: usize = 64;
/// What the name of a run and its blank lines may fill in a text that several runs share.
const HEADING_BYTES: usize = 128;
/// The same in lines.
const HEADING_LINES: usize = 4;
/// How long the files that hold secrets may take to be read.
const SECRETS_TIMEOUT: Duration = Duration::from_secs(10);

/// Held while a person is asked.
static ASKING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A run that may start.
pub struct Ready {
    pub(in crate::run) spec: Arc<RunSpec>,
    pub(in crate::run) id: RunId,
    pub(in crate::run) sanitizer: Arc<Sanitizer>,
    pub(in crate::run) prepared: Arc<Prepared>,
    pub(in crate::run) plan: Arc<ToolPlan>,
    pub(in crate::run) builder: ResultBuilder,
}

/// Asks everything that can refuse a run: configuration, depth, policy, a person, the tools that exist.
///
/// # Errors
///
/// The result of a call that ends here.
pub async fn prepare(
    spec: RunSpec,
    id: RunId,
    callbacks: &impl HostCallbacks,
    cancel: &Cancel,
) -> Result<Ready, ToolResult> {
    let (started, spec) = (Instant::now(), Arc::new(spec));
    if let Some(resumption) = &spec.overrides.resumes {
        id.set(&resumption.run_id);
    }
    let whole = Arc::clone(&spec);
    let knowing = blocking(move || sanitizer_for(&whole.cwd, &whole.context));
    // A file system that hangs takes the known values away, not the result.
    let knowing = tokio::time::timeout(SECRETS_TIMEOUT, knowing).await;
    let sanitizer = Arc::new(knowing.unwrap_or_else(|_| Sanitizer::new(SanitizerOptions::default())));
    let call = Call { spec, id, sanitizer, cancel };
    match call.prepare(callbacks).await {
        Ok(ready) => Ok(ready),
        Err(Stop::Refused(refusal, limits)) => Err(refusal.into_result(&call.sanitizer, limits)),
        Err(Stop::NotStarted(builder, error)) => Err(builder.not_started(&error, started.elapsed(), None)),
        Err(Stop::Aborted(reason)) => Err(call.nobody().aborted_before_start(&reason, started.elapsed())),
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
}

impl Call<'_> {
    async fn prepare(&self, callbacks: &impl HostCallbacks) -> Result<Ready, Stop> {
        let spec = Arc::clone(&self.spec);
        let capabilities = self.unless_aborted(HostCapabilities::look(&self.spec.context)).await?;
        let checked = self.unless_aborted(blocking(move || Prepared::check(&spec, capabilities))).await?;
        let prepared = checked.map_err(|refusal| Stop::Refused(refusal, TruncateLimits::default()))?;
        let prepared = Arc::new(prepared);
        let mut builder = self.builder(&prepared);
        if let Some(notice) = self.ask(&prepared, callbacks, builder.limits).await? {
            builder.diagnostics.push(notice);
        }
        let plan = match prepared.tools(&self.spec.context) {
            Ok(plan) => plan,
            Err(none_left) => return Err(Stop::NotStarted(Box::new(builder), none_left.to_string())),
        };
        builder.sandbox = Some(prepared.sandbox());
        builder.diagnostics.extend(prepared.degraded());
        builder.diagnostics.extend(plan.dropped.iter().map(ToString::to_string));
        Ok(Ready {
            spec: Arc::clone(&self.spec),
            id: self.id.clone(),
            sanitizer: Arc::clone(&self.sanitizer),
            prepared,
            plan: Arc::new(plan),
            builder,
        })
    }

    async fn unless_aborted<T>(&self, work: impl Future<Output = T>) -> Result<T, CancelReason> {
        unless_cancelled(self.cancel, work).await
    }

    /// Asks a person where one has to be asked. An abort while the question is open is no answer. Says what the caller
    /// should know when the answer could not be kept.
    async fn ask(
        &self,
        prepared: &Arc<Prepared>,
        callbacks: &impl HostCallbacks,
        limits: TruncateLimits,
    ) -> Result<Option<String>, Stop> {
        let refuse = |refusal| Stop::Refused(refusal, limits);
        let interactive = callbacks.is_interactive();
        if self.question(prepared, interactive).await?.map_err(refuse)?.is_none() {
            return Ok(None);
        }
        if !callbacks.is_reachable() {
            return Err(refuse(prepared.refused()));
        }
        // One question at a time: several calls of one message ask about the same agent, and one answer is enough.
        let _turn = self.unless_aborted(ASKING.lock()).await?;
        let question = self.question(prepared, interactive).await?.map_err(refuse)?;
        let Some(request) = question else { return Ok(None) };
        if !self.unless_aborted(callbacks.confirm(request)).await? {
            return Err(refuse(prepared.refused()));
        }
        let (spec, decided) = (Arc::clone(&self.spec), Arc::clone(prepared));
        let kept = self.unless_aborted(blocking(move || decided.remember(&spec.context))).await?;
        let lost = |error| format!("your answer could not be kept and will be asked for again: {error}");
        Ok(kept.err().map(lost))
    }

    /// The question to ask now, if there is one; or why policy refuses the run without asking.
    async fn question(
        &self,
        prepared: &Arc<Prepared>,
        interactive: bool,
    ) -> Result<Result<Option<ConfirmRequest>, Refusal>, Stop> {
        let (spec, decided, sanitizer) =
            (Arc::clone(&self.spec), Arc::clone(prepared), Arc::clone(&self.sanitizer));
        let question = blocking(move || decided.question(&spec.context, interactive, &sanitizer));
        Ok(self.unless_aborted(question).await?)
    }

    fn builder(&self, prepared: &Prepared) -> ResultBuilder {
        let output = &prepared.config.output;
        let share = |whole: usize, heading: usize| match self.spec.share {
            0 | 1 => whole,
            several => (whole / several).saturating_sub(heading).max(1),
        };
        ResultBuilder {
            agent: prepared.agent.name.clone(),
            model: prepared.model(&self.spec.context).map(str::to_owned),
            limits: TruncateLimits {
                max_bytes: share(output.max_bytes, HEADING_BYTES),
                max_lines: share(output.max_lines, HEADING_LINES),
            },
            ..self.nobody()
        }
    }

    /// The subject of a call whose agent is not known to exist.
    fn nobody(&self) -> ResultBuilder {
        ResultBuilder {
            agent: self.sanitizer.sanitize(&self.spec.agent).clip(MAX_NAME).into_string(),
            task: self.spec.task.clone(),
            model: None,
            run_id: self.id.clone(),
            sanitizer: Arc::clone(&self.sanitizer),
            limits: TruncateLimits::default(),
            sandbox: None,
            diagnostics: Vec::new(),
        }
    }
}

impl Ready {
    /// The values in force for it.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.prepared.config
    }

    /// The agent's name.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.prepared.agent.name
    }

    /// pi's directory for agents, settings and sessions.
    #[must_use]
    pub fn agent_dir(&self) -> &Path {
        &self.spec.context.agent_dir
    }

    /// Its task.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.spec.task
    }

    /// Who serves the child's model, when that is known.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.prepared.provider(&self.spec.context)
    }

    /// The tools that its child gets.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.plan.tools
    }

    /// Its child's model, where one was chosen.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.prepared.model(&self.spec.context)
    }

    /// Its child's thinking level, where one was chosen.
    #[must_use]
    pub fn thinking(&self) -> Option<&str> {
        self.prepared.thinking(&self.spec.context)
    }

    /// What cleans every text of it.
    #[must_use]
    pub fn sanitizer(&self) -> &Arc<Sanitizer> {
        &self.sanitizer
    }

    /// Why nothing may be spent any more, if that is so.
    pub async fn over_budget(&self) -> Option<String> {
        self.meter().await.refusal().map(|over| over.to_string())
    }

    /// Whether its child can be started before its call is there: not when its protocol wants the task at once or nothing
    /// may be spent any more, and not when a token has to be refreshed first, of which a sandboxed child gets a copy.
    pub async fn may_boot_early(&self) -> bool {
        if !protocol_of(self.config().protocol).waits_for_task() || self.meter().await.refusal().is_some() {
            return false;
        }
        let until = self.prepared.timeout().and_then(|limit| SystemTime::now().checked_add(limit));
        let (true, Some(provider), Some(until)) = (self.prepared.needs_places(), self.provider(), until)
        else {
            return true;
        };
        let (agent_dir, provider) = (self.spec.context.agent_dir.clone(), provider.to_owned());
        let credentials = self.prepared.credentials.clone();
        blocking(move || !PrivateDirs::need_refresh(&agent_dir, credentials.as_deref(), &provider, until))
            .await
    }

    /// Gives it another task.
    pub fn set_task(&mut self, task: String) {
        Arc::make_mut(&mut self.spec).task.clone_from(&task);
        self.builder.task = task;
    }

    /// What its caller should know by now.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.builder.diagnostics
    }

    /// Adds what its caller should know.
    pub fn note(&mut self, diagnostic: String) {
        self.builder.diagnostics.push(diagnostic);
    }

    /// The result of a run that others have kept from starting.
    #[must_use]
    pub fn skipped(self, why: &str) -> ToolResult {
        self.builder.skipped(why)
    }

    /// The result of a run that could not be started.
    #[must_use]
    pub fn not_started(self, why: &str) -> ToolResult {
        self.builder.not_started(why, Duration::ZERO, None)
    }

    /// The result of a run that was aborted before it started.
    #[must_use]
    pub fn aborted(self, reason: &CancelReason) -> ToolResult {
        self.builder.never_started(reason)
    }
}
