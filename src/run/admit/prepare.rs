//! Turns a call into a run that may start. Checks everything that can refuse it, and starts nothing.
//!
//! The result, [`AdmittedRun`], has the facts about the run that other modules need.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::{ASK, AskTarget, Source, ToolPlan};
use sanitizer::{Sanitizer, TruncateLimits};
use supervisor::{Cancel, CancelReason};
use tokio::sync::Notify;

use super::refusal::Refusal;
use super::resolve::{ResolvedRun, Unmet, resolve};
use super::settings::CallSettings;
use super::values::{ModelCheck, awaits_host};
use crate::run::blocking::{blocking, unless_cancelled};
use crate::run::budget::{OverBudget, Used};
use crate::run::callbacks::{ConfirmRequest, HostCallbacks};
use crate::run::launcher::{Job, RemoteWork};
use crate::run::result::ToolResult;
use crate::run::result::builder::{EarlierAttempts, ResultBuilder, Withheld};
use crate::run::result::verdict::Verdict;
use crate::run::sandbox::HostCapabilities;
use crate::run::spec::{Resumption, RunSpec, SharedRunId, digest_of};

/// The maximum number of bytes of a task that are stored and shown.
pub(crate) const SHOWN_TASK_BYTES: usize = 4 * 1024;

/// A run that may start. Everything about it is decided, but nothing has been started or spent.
#[derive(Clone)]
pub struct AdmittedRun {
    pub(crate) spec: Arc<RunSpec>,
    pub(crate) resolved: Arc<ResolvedRun>,
    pub(crate) plan: Arc<ToolPlan>,
    pub(crate) builder: ResultBuilder,
    /// The lock of the work tree that the run writes to, once the run has its write lock.
    pub(crate) tree_lock: Option<Arc<File>>,
    /// The private tree of a child that a launcher starts on another machine, once it is known.
    pub(crate) remote_work: Option<Arc<RemoteWork>>,
    /// True if the store charges the account of the run whenever it stores the run's record.
    pub(crate) is_charged_by_record: bool,
}

impl AdmittedRun {
    /// Returns the id of the run. A new id is drawn if a directory with this id already exists.
    #[must_use]
    pub fn id(&self) -> &SharedRunId {
        &self.builder.run_id
    }

    /// Gives the run the id of the booted child that it uses.
    pub(crate) fn rename(&self, id: &str) {
        self.builder.run_id.set(id);
    }

    /// Returns the first [`SHOWN_TASK_BYTES`] of the task, without secrets.
    #[must_use]
    pub fn shown_task(&self) -> String {
        self.builder.sanitizer.clip(&self.spec.task, SHOWN_TASK_BYTES).into_string()
    }

    /// Returns the recipient of the child's questions with the tool `ask`.
    pub(crate) fn ask_target(&self) -> AskTarget {
        if self.tools().iter().any(|tool| tool == ASK) { self.resolved.agent.ask } else { AskTarget::NoOne }
    }

    /// Returns the launcher that starts the child on another machine, and the limit of its concurrent children.
    #[must_use]
    pub fn launcher(&self) -> Option<(&str, usize)> {
        let launcher = &self.resolved.launcher;
        launcher.remote_name().zip(launcher.max_concurrent())
    }

    /// Describes the child with this id for a launcher.
    pub(crate) fn job<'a>(&'a self, run_id: &'a str) -> Job<'a> {
        let Self { spec, resolved, .. } = self;
        Job { run_id, agent: &resolved.agent.name, cwd: &spec.cwd, untrusted: &resolved.untrusted }
    }

    /// Returns the provider of the child's model, if known.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.resolved.provider()
    }

    /// Returns true if only the host knows which model the run gets, and the host was not asked yet.
    #[must_use]
    pub(crate) fn awaits_host(&self) -> bool {
        let ResolvedRun { agent, config, values, .. } = &*self.resolved;
        awaits_host(agent, config, &self.spec.context, &values.model)
    }

    /// Returns the tools that the child gets.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.plan.tools
    }

    /// Returns the requirement that the run cannot meet. If there is one, the run must not start.
    #[must_use]
    pub fn unmet(&self) -> Option<&Unmet> {
        self.resolved.unmet.as_ref()
    }

    /// Returns the reason why the budget does not allow a start, if it does not.
    pub async fn over_budget(&self) -> Option<OverBudget> {
        self.meter().await.refusal()
    }

    /// Keeps `bytes` and `lines` of the run's share of a text free for words of its caller. Several runs fit into one text
    /// even if each takes its whole share.
    pub(crate) fn reserve(&mut self, bytes: usize, lines: usize) {
        let limits = &mut self.builder.limits;
        *limits = match self.spec.share {
            0 | 1 => limits.remaining_after(bytes, lines),
            several => {
                let room =
                    (self.resolved.config.output.max_total_bytes / several).saturating_sub(bytes).max(1);
                TruncateLimits { max_bytes: limits.max_bytes.min(room), ..*limits }
            }
        };
    }

    /// Makes it the continuation of an earlier run: its child reads `prompt` in the session of that run. The result still has the
    /// task. What the earlier run has `used` counts towards the run's budget.
    pub(crate) fn continue_session(&mut self, resumption: Resumption, prompt: &str, used: Used) {
        self.builder.run_id.set(&resumption.run_id);
        let spec = Arc::make_mut(&mut self.spec);
        prompt.clone_into(&mut spec.task);
        spec.overrides.resumes = Some(resumption);
        spec.overrides.used_before = used;
    }

    /// Returns the digest of the request: two runs with the same digest have the same work to do.
    pub(crate) fn digest(&self) -> String {
        let ResolvedRun { agent, .. } = &*self.resolved;
        let RunSpec { cwd, overrides, .. } = &*self.spec;
        let schema = overrides.output_schema.as_ref().map(ToString::to_string).unwrap_or_default();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let texts = [
            agent.name.clone(),
            agent.content_hash.clone(),
            self.builder.task.clone(),
            text(&overrides.model),
            text(&overrides.thinking),
            schema,
        ];
        digest_of(texts.iter().map(String::as_bytes).chain([cwd.as_os_str().as_encoded_bytes()]))
    }

    /// Replaces the task.
    pub fn set_task(&mut self, task: String) {
        Arc::make_mut(&mut self.spec).task.clone_from(&task);
        self.builder.task = task;
    }

    /// Returns the notices for the caller so far.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.builder.diagnostics
    }

    /// Adds a notice for the caller.
    pub fn note(&mut self, diagnostic: String) {
        self.builder.diagnostics.push(diagnostic);
    }

    /// Adds a notice about a skipped option of the call. The caller's model reads it below the answer.
    pub fn note_skipped(&mut self, warning: String) {
        self.builder.skipped_options.push(warning.clone());
        self.builder.diagnostics.push(warning);
    }

    /// Returns the notices about skipped options of the call.
    #[must_use]
    pub fn skipped_options(&self) -> &[String] {
        &self.builder.skipped_options
    }

    /// Returns the result of a run that never starts because of another run.
    #[must_use]
    pub fn skipped(self, why: &str) -> ToolResult {
        self.builder.never_started(Verdict::skipped(why.to_owned()))
    }

    /// Returns the result of a run that could not be started.
    #[must_use]
    pub fn not_started(self, why: &str) -> ToolResult {
        self.builder.without_child(&Verdict::failed(1, why.to_owned()), Duration::ZERO, None)
    }

    /// Returns the result of a run that never starts because its provider's quota is used up.
    #[must_use]
    pub(crate) fn without_quota(mut self, provider: String, why: String) -> ToolResult {
        self.builder.quota_exhausted = Some(provider);
        self.aborted(&CancelReason::Stuck(why))
    }

    /// Returns the result of a run that was aborted before it started.
    #[must_use]
    pub fn aborted(self, reason: &CancelReason) -> ToolResult {
        self.builder.never_started(Verdict::cancelled(reason))
    }
}

/// The maximum length to which an agent's name is shown before the agent is found, in bytes. Valid names fit.
const MAX_NAME: usize = 64;
/// A lock that is taken while the user is asked.
static ASKING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Reads the settings of a call and checks everything that can refuse its run: configuration, depth, policy, the user,
/// the available tools.
///
/// # Errors
///
/// The result of a call that was refused or aborted.
pub async fn prepare(
    spec: RunSpec,
    id: SharedRunId,
    callbacks: &dyn HostCallbacks,
    cancel: &Cancel,
) -> Result<AdmittedRun, ToolResult> {
    let settings = CallSettings::unless_cancelled(&spec.cwd, &spec.context, cancel).await;
    prepare_with(settings, spec, id, callbacks, cancel, None).await
}

/// Does the same as [`prepare`], with settings that the call has already read. They must belong to the run's directory.
/// Notifies `question_asked` if the user must be asked, before the question waits behind earlier ones.
///
/// # Errors
///
/// The result of a call that was refused or aborted.
#[tracing::instrument(target = "run", name = "run", skip_all, fields(id = %id.get(), agent = %spec.agent))]
pub async fn prepare_with(
    settings: CallSettings,
    spec: RunSpec,
    id: SharedRunId,
    callbacks: &dyn HostCallbacks,
    cancel: &Cancel,
    question_asked: Option<&Notify>,
) -> Result<AdmittedRun, ToolResult> {
    if let Some(resumption) = &spec.overrides.resumes {
        id.set(&resumption.run_id);
    }
    let call = Call::new(spec, id, Arc::clone(settings.sanitizer()), cancel, Instant::now());
    Box::pin(call.prepare(settings, callbacks, question_asked)).await
}

/// A call that is being checked.
struct Call<'a> {
    spec: Arc<RunSpec>,
    /// The parts of the result. Until the run is resolved, they contain no more of the agent than its name.
    builder: ResultBuilder,
    cancel: &'a Cancel,
    started: Instant,
}

impl<'a> Call<'a> {
    fn new(
        spec: RunSpec,
        run_id: SharedRunId,
        sanitizer: Arc<Sanitizer>,
        cancel: &'a Cancel,
        started: Instant,
    ) -> Self {
        let builder = ResultBuilder {
            agent: sanitizer.clip(&spec.agent, MAX_NAME).into_string(),
            task: spec.task.clone(),
            model: None,
            model_note: None,
            run_id,
            sanitizer,
            limits: TruncateLimits::default(),
            sandbox: None,
            diagnostics: Vec::new(),
            skipped_options: Vec::new(),
            earlier: EarlierAttempts::default(),
            output_schema: None,
            withheld: Withheld::default(),
            may_change_files: false,
            is_resumed: false,
            quota_exhausted: None,
        };
        Self { spec: Arc::new(spec), builder, cancel, started }
    }

    async fn prepare(
        mut self,
        settings: CallSettings,
        callbacks: &dyn HostCallbacks,
        question_asked: Option<&Notify>,
    ) -> Result<AdmittedRun, ToolResult> {
        let spec = Arc::clone(&self.spec);
        let capabilities = Box::pin(self.unless_aborted(HostCapabilities::probe(&self.spec.context))).await?;
        let resolving = blocking(move || resolve(&spec, settings.loaded()?, capabilities));
        let (mut resolved, plan) =
            self.unless_aborted(resolving).await?.map_err(|refusal| self.refused(refusal))?;
        let spec = Arc::clone(&self.spec);
        let has_own_login = resolved.credentials.is_some();
        let ResolvedRun { agent, config, permission_hooks, values, .. } = &resolved;
        let context = &*spec.context;
        let check = ModelCheck { agent, config, context, permission_hooks, has_own_login, callbacks };
        let chosen = self.unless_aborted(check.usable(values)).await?;
        let chosen = chosen.map_err(|unusable| self.refused(unusable.into()))?;
        self.builder.model_note.clone_from(&chosen.note);
        resolved.choose(chosen, context);
        let resolved = Arc::new(resolved);
        self.builder.agent.clone_from(&resolved.agent.name);
        self.builder.output_schema.clone_from(&resolved.agent.output_schema);
        self.builder.model.clone_from(&resolved.model);
        self.builder.limits = resolved.config.output.per_answer(self.spec.share);
        let plan = match plan {
            Ok(plan) => Arc::new(plan),
            Err(no_tool) => {
                tracing::warn!(target: "agent", reason = %no_tool, "the call is refused");
                // Policy comes first: the user is not asked about a run that cannot start.
                self.question(&resolved, &Arc::default(), callbacks.is_interactive()).await?;
                let verdict = Verdict::failed(1, no_tool.to_string());
                return Err(self.builder.without_child(&verdict, self.started.elapsed(), None));
            }
        };
        let notice = self.ask(&resolved, &plan, callbacks, question_asked).await?;
        self.builder.diagnostics.extend(notice);
        let Self { spec, mut builder, .. } = self;
        builder.sandbox = Some(resolved.sandbox.clone());
        builder.withheld = resolved.withheld(&plan);
        builder.may_change_files = resolved.may_change_files();
        builder.is_resumed = spec.overrides.resumes.is_some();
        builder.diagnostics.extend(resolved.notices.iter().cloned());
        // Tools that a builtin agent lacks are reported by `doctor`.
        let is_builtin = resolved.agent.source == Source::Builtin;
        let dropped = plan.dropped.iter().filter(|dropped| !is_builtin || !dropped.is_unavailable());
        builder.diagnostics.extend(dropped.map(ToString::to_string));
        resolved.log(&plan);
        Ok(AdmittedRun {
            spec,
            resolved,
            plan,
            builder,
            tree_lock: None,
            remote_work: None,
            is_charged_by_record: false,
        })
    }

    fn refused(&self, refusal: Refusal) -> ToolResult {
        tracing::warn!(target: "agent", reason = %refusal, "the call is refused");
        refusal.into_result(&self.builder.sanitizer, self.builder.limits)
    }

    fn aborted(&self, reason: &CancelReason) -> ToolResult {
        self.builder.without_child(&Verdict::cancelled(reason), self.started.elapsed(), None)
    }

    async fn unless_aborted<T>(&self, work: impl Future<Output = T>) -> Result<T, ToolResult> {
        unless_cancelled(self.cancel, work).await.map_err(|reason| self.aborted(&reason))
    }

    /// Asks the user if necessary. An abort while the question is open does not count as an answer. Returns a notice
    /// if the answer could not be recorded.
    async fn ask(
        &self,
        resolved: &Arc<ResolvedRun>,
        plan: &Arc<ToolPlan>,
        callbacks: &dyn HostCallbacks,
        question_asked: Option<&Notify>,
    ) -> Result<Option<String>, ToolResult> {
        let interactive = callbacks.is_interactive();
        if self.question(resolved, plan, interactive).await?.is_none() {
            return Ok(None);
        }
        if !callbacks.is_reachable() {
            return Err(self.refused(resolved.refused(None)));
        }
        if let Some(question_asked) = question_asked {
            question_asked.notify_one();
        }
        // One question at a time: several calls of one message may ask about the same agent, and one answer is enough.
        let _lock = self.unless_aborted(ASKING.lock()).await?;
        let Some(request) = self.question(resolved, plan, interactive).await? else { return Ok(None) };
        let answered = tokio::time::timeout(callbacks.answer_timeout(), callbacks.confirm(request));
        let answer = self.unless_aborted(answered).await?.ok().flatten();
        tracing::info!(target: "agent", ?answer, "the user was asked whether the agent may run");
        let spec = Arc::clone(&self.spec);
        let decided = Arc::clone(resolved);
        if answer != Some(true) {
            // A question without an answer may be asked again, a no not.
            if answer == Some(false) {
                self.unless_aborted(blocking(move || decided.remember_no(&spec.context))).await?;
            }
            return Err(self.refused(resolved.refused(answer)));
        }
        let saved = self.unless_aborted(blocking(move || decided.remember(&spec.context))).await?;
        let lost = |error| format!("your answer could not be saved, so you will be asked again: {error}");
        Ok(saved.err().map(lost))
    }

    /// Returns the question to ask now, if any. Fails if policy refuses the run without asking.
    async fn question(
        &self,
        resolved: &Arc<ResolvedRun>,
        plan: &Arc<ToolPlan>,
        interactive: bool,
    ) -> Result<Option<ConfirmRequest>, ToolResult> {
        let spec = Arc::clone(&self.spec);
        let decided = Arc::clone(resolved);
        let plan = Arc::clone(plan);
        let id = self.builder.run_id.get();
        let question = blocking(move || decided.question(id.into(), &plan, &spec.context, interactive));
        self.unless_aborted(question).await?.map_err(|refusal| self.refused(refusal))
    }
}
