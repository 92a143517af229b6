//! One run, from the call to its result.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::cause::chain;
use super::changes::WorkTree;
use super::files::{RunFiles, RunId, Wanted};
use super::invocation::Invocation;
use super::machine::Machine;
use super::pi::PiProgram;
use super::places::Places;
use super::prepare::{Confirm, ConfirmRequest, Prepared};
use super::protocol::{JsonChild, SharedCollector, SilenceLimits};
use super::refresh::Refresh;
use super::refusal::Refusal;
use super::report::{Ending, Subject};
use super::result::ToolResult;
use super::secrets::sanitizer_for;
use super::spec::RunSpec;
use super::update::{UpdateSender, Updates};
use crate::agent::ToolPlan;
use crate::process::{Cancel, CancelReason, ChildCommand, Outcome, SuperviseLimits, check_cwd, supervise};
use crate::text::{Sanitizer, SanitizerOptions, TruncateLimits};

/// How long a child that has finished its work may take to leave.
const LINGER: Duration = Duration::from_secs(2);
/// How long output may go on after the child is gone, when something it left behind still holds the pipe.
const DRAIN: Duration = Duration::from_secs(1);
/// What the name of an agent may fill that nobody has found yet; valid ones fit.
const MAX_NAME: usize = 64;
/// How long the files that hold secrets may take to be read.
const SECRETS_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an aborted run looks for what it changed. Whoever aborted is waiting.
const CHANGES_AFTER_ABORT: Duration = Duration::from_secs(1);

/// Held while a person is asked.
static ASKING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// What is asked of whoever called; each may be missing.
#[derive(Clone, Debug, Default)]
pub struct Callbacks<C, R> {
    /// Asks a person whether an agent that a project defines may run.
    pub confirm: Option<C>,
    /// Refreshes a token that would expire during the run.
    pub refresh: Option<R>,
}

/// Runs one agent on one task. Whatever a user or a child can cause ends in a result, never in an error.
///
/// Dropping the future ends the child and everything that it has started.
pub async fn execute(
    spec: RunSpec,
    run_id: RunId,
    updates: UpdateSender,
    host: Callbacks<impl Confirm, impl Refresh>,
    cancel: Cancel,
) -> ToolResult {
    let (started, spec) = (Instant::now(), Arc::new(spec));
    let whole = Arc::clone(&spec);
    let knowing = blocking(move || sanitizer_for(&whole.cwd, &whole.world));
    // A file system that hangs takes the known values away, not the result.
    let knowing = tokio::time::timeout(SECRETS_TIMEOUT, knowing).await;
    let sanitizer = Arc::new(knowing.unwrap_or_else(|_| Sanitizer::new(SanitizerOptions::default())));
    let call = Call { started, spec, id: run_id, sanitizer, cancel };
    match call.run(updates, host).await {
        Ok(result) => result,
        Err(Stop::Refused(refusal, limits)) => refusal.into_result(&call.sanitizer, limits),
        Err(Stop::Aborted(reason)) => call.nobody().aborted_before_start(&reason, started.elapsed()),
    }
}

/// Runs work that reads or writes files off the threads that serve children.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Why there is no child to report on.
enum Stop {
    Refused(Refusal, TruncateLimits),
    Aborted(CancelReason),
}

struct Call {
    started: Instant,
    spec: Arc<RunSpec>,
    id: RunId,
    sanitizer: Arc<Sanitizer>,
    cancel: Cancel,
}

impl Call {
    async fn run(
        &self,
        updates: UpdateSender,
        host: Callbacks<impl Confirm, impl Refresh>,
    ) -> Result<ToolResult, Stop> {
        let spec = Arc::clone(&self.spec);
        let machine = self.unless_aborted(Machine::look(&self.spec.world)).await?;
        let checked = self.unless_aborted(blocking(move || Prepared::check(&spec, machine))).await?;
        let prepared = checked.map_err(|refusal| Stop::Refused(refusal, TruncateLimits::default()))?;
        let prepared = Arc::new(prepared);
        let mut subject = self.subject(&prepared);
        if let Some(notice) = self.ask(&prepared, host.confirm, subject.limits).await? {
            subject.diagnostics.push(notice);
        }
        let plan = match prepared.tools(&self.spec.world) {
            Ok(plan) => plan,
            Err(none_left) => return Ok(self.not_started(subject, &none_left.to_string())),
        };
        subject.plan(&prepared, &plan);
        self.unless_aborted(self.refresh(&prepared, host.refresh)).await?;
        let (spec, decided, run_id) = (Arc::clone(&self.spec), Arc::clone(&prepared), self.id.get());
        let child = self.unless_aborted(blocking(move || child(&spec, &decided, &plan, &run_id))).await?;
        match child {
            Ok((files, command)) => {
                self.id.set(files.run_id());
                Ok(self.supervise(&prepared, subject, files, command, &updates).await)
            }
            Err(stage) => Ok(self.not_started(subject, &stage)),
        }
    }

    /// Waits for work that may hang in a file system, for as long as somebody wants its outcome.
    async fn unless_aborted<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        tokio::select! {
            biased;
            reason = self.cancel.cancelled() => Err(Stop::Aborted(reason)),
            value = work => Ok(value),
        }
    }

    /// Asks a person where one has to be asked. An abort while the question is open is no answer. Says what the caller
    /// should know when the answer could not be kept.
    async fn ask(
        &self,
        prepared: &Arc<Prepared>,
        confirm: Option<impl Confirm>,
        limits: TruncateLimits,
    ) -> Result<Option<String>, Stop> {
        let refuse = |refusal| Stop::Refused(refusal, limits);
        if self.question(prepared, confirm.is_some()).await?.map_err(refuse)?.is_none() {
            return Ok(None);
        }
        // One question at a time: several calls of one message ask about the same agent, and one answer is enough.
        let _turn = self.unless_aborted(ASKING.lock()).await?;
        let question = self.question(prepared, confirm.is_some()).await?.map_err(refuse)?;
        let Some(request) = question else { return Ok(None) };
        let Some(confirm) = confirm else { return Err(refuse(prepared.refused())) };
        if !self.unless_aborted(confirm.confirm(request)).await? {
            return Err(refuse(prepared.refused()));
        }
        let (spec, decided) = (Arc::clone(&self.spec), Arc::clone(prepared));
        let kept = self.unless_aborted(blocking(move || decided.remember(&spec.world))).await?;
        let lost = |error| format!("your answer could not be kept and will be asked for again: {error}");
        Ok(kept.err().map(lost))
    }

    /// Has a token refreshed that would expire during the run, because a sandboxed child works with a copy of it. One that
    /// expires all the same is refreshed by the child and taken back.
    async fn refresh(&self, prepared: &Prepared, refresh: Option<impl Refresh>) {
        let world = &self.spec.world;
        let provider = prepared.model(world).and_then(|model| model.split_once('/'));
        let until = prepared.timeout().and_then(|limit| SystemTime::now().checked_add(limit));
        let (true, Some((provider, _)), Some(until), Some(refresh)) =
            (prepared.sandbox().is_held(), provider, until, refresh)
        else {
            return;
        };
        Places::refresh(&world.agent_dir, provider, until, &refresh).await;
    }

    /// The question to ask now, if there is one; or why policy refuses the run without asking.
    async fn question(
        &self,
        prepared: &Arc<Prepared>,
        interactive: bool,
    ) -> Result<Result<Option<ConfirmRequest>, Refusal>, Stop> {
        let (spec, decided, sanitizer) =
            (Arc::clone(&self.spec), Arc::clone(prepared), Arc::clone(&self.sanitizer));
        self.unless_aborted(blocking(move || decided.question(&spec.world, interactive, &sanitizer))).await
    }

    fn subject(&self, prepared: &Prepared) -> Subject {
        let output = &prepared.config.output;
        Subject {
            agent: prepared.agent.name.clone(),
            model: prepared.model(&self.spec.world).map(str::to_owned),
            limits: TruncateLimits { max_bytes: output.max_bytes, max_lines: output.max_lines },
            diagnostics: prepared.without_effect(),
            ..self.nobody()
        }
    }

    /// The subject of a call whose agent is not known to exist.
    fn nobody(&self) -> Subject {
        Subject {
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

    fn not_started(&self, subject: Subject, error: &str) -> ToolResult {
        subject.not_started(error, self.started.elapsed(), None)
    }

    async fn supervise(
        &self,
        prepared: &Prepared,
        subject: Subject,
        files: RunFiles,
        command: ChildCommand,
        updates: &UpdateSender,
    ) -> ToolResult {
        let config = &prepared.config;
        let silence = SilenceLimits { idle: prepared.idle_timeout(), tool: config.tool_timeout };
        let limits =
            SuperviseLimits { hard: prepared.timeout(), grace: config.grace, linger: LINGER, drain: DRAIN };
        let may_write = config.allow_write && !prepared.agent.readonly;
        let before = self.unless_aborted(async {
            if may_write { WorkTree::look(&self.spec.cwd, &self.spec.world.env).await } else { None }
        });
        // Aborted meanwhile: the supervisor below starts nothing then.
        let before = before.await.ok().flatten();
        let child = SharedCollector::new();
        let mut observer = JsonChild::new(child.clone(), silence);
        let news = Updates { run_id: files.run_id(), started: self.started, sanitizer: &self.sanitizer };
        let supervised = tokio::select! {
            biased;
            supervised = supervise(command, limits, silence.idle, &self.cancel, &mut observer) => supervised,
            () = news.forward(&child, updates) => unreachable!("updates are forwarded until the child ends"),
        };
        news.last(&child, updates);
        let supervised = match supervised {
            Ok(supervised) => supervised,
            Err(error) => {
                let error = format!("{}: {}", error.stage(), chain(&error));
                return subject.not_started(&error, self.started.elapsed(), files.session());
            }
        };
        let tool_was_running = child.view(|collector, _| collector.live().running_tools > 0);
        let changes = match before {
            Some(before) if matches!(supervised.outcome, Outcome::Cancelled(_)) => {
                tokio::time::timeout(CHANGES_AFTER_ABORT, before.changes()).await.ok().flatten()
            }
            Some(before) => before.changes().await,
            None => None,
        };
        let collected = child.finish().into_collected();
        let duration = self.started.elapsed();
        let ending = Ending { supervised, collected, duration, changes, tool_was_running };
        // Writes a long answer and removes the run's files.
        blocking(move || subject.ended(ending, &files)).await
    }
}

/// The child's files and command, or why there can be none: the stage, the path and the system's own words.
fn child(
    spec: &RunSpec,
    prepared: &Prepared,
    plan: &ToolPlan,
    run_id: &str,
) -> Result<(RunFiles, ChildCommand), String> {
    let (config, world) = (&prepared.config, &spec.world);
    if let Some(lack) = prepared.lacks() {
        return Err(lack);
    }
    check_cwd(&spec.cwd).map_err(|error| format!("{}: {}", error.stage(), chain(&error)))?;
    let pi = PiProgram::locate(config.pi_command.as_deref(), &spec.cwd, world)
        .map_err(|error| format!("executable: {error}"))?;
    let parent = RunFiles::parent_directory(&world.agent_dir, world.host.session_file.as_deref());
    let wanted = Wanted {
        cwd: &spec.cwd,
        prompt: &prepared.prompt(plan),
        session: config.persist_session,
        sandboxed: prepared.sandbox().is_held().then_some(world.agent_dir.as_path()),
        temporaries: Some(&world.temporaries()),
    };
    let files = RunFiles::create(&parent, run_id, wanted)
        .map_err(|error| format!("session directory: {}", chain(&error)))?;
    let (cwd, tools, task) = (&spec.cwd, &plan.tools, &spec.task);
    let command =
        Invocation { pi: &pi, cwd, files: &files, tools, prepared, world, task }.command().map_err(
            |value| format!("arguments: `{value}` begins with a hyphen, which pi would read as an option"),
        )?;
    Ok((files, command))
}
