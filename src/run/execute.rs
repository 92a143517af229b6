//! One run, from the call to its result.

use std::time::{Duration, Instant};

use super::changes::WorkTree;
use super::files::{RunFiles, RunId};
use super::invocation::Invocation;
use super::pi::PiProgram;
use super::prepare::{Confirm, Prepared};
use super::protocol::{JsonChild, SharedCollector, SilenceLimits};
use super::refusal::Refusal;
use super::report::{Ending, Subject};
use super::result::ToolResult;
use super::secrets::sanitizer_for;
use super::spec::RunSpec;
use super::update::{UpdateSender, Updates};
use crate::agent::ToolPlan;
use crate::process::{Cancel, ChildCommand, SuperviseLimits, check_cwd, supervise};
use crate::text::{Sanitizer, TruncateLimits};

/// How long a child that has finished its work may take to leave.
const LINGER: Duration = Duration::from_secs(2);
/// How long output may go on after the child is gone, when something it left behind still holds the pipe.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs one agent on one task. Whatever a user or a child can cause ends in a result, never in an error.
///
/// Dropping the future ends the child and everything in its process group.
pub async fn execute(
    spec: RunSpec,
    run_id: RunId,
    updates: UpdateSender,
    confirm: Option<impl Confirm>,
    cancel: Cancel,
) -> ToolResult {
    let started = Instant::now();
    let (spec, sanitizer, checked) = blocking(move || {
        let sanitizer = sanitizer_for(&spec.world);
        let checked = Prepared::check(&spec);
        (spec, sanitizer, checked)
    })
    .await;
    let refuse = |refusal: Refusal, limits| refusal.into_result(&sanitizer, limits);
    let prepared = match checked {
        Ok(prepared) => prepared,
        Err(refusal) => return refuse(refusal, TruncateLimits::default()),
    };
    let run = Run { started, spec: &spec, id: run_id, prepared: &prepared, sanitizer: &sanitizer };
    if let Err(refusal) = run.ask(confirm, &cancel).await {
        return refuse(refusal, run.limits());
    }
    run.start(&updates, &cancel).await
}

/// Runs work that reads or writes files off the threads that serve children.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

struct Run<'a> {
    started: Instant,
    spec: &'a RunSpec,
    id: RunId,
    prepared: &'a Prepared,
    sanitizer: &'a Sanitizer,
}

impl Run<'_> {
    fn limits(&self) -> TruncateLimits {
        let output = &self.prepared.config.output;
        TruncateLimits { max_bytes: output.max_bytes, max_lines: output.max_lines }
    }

    /// Asks a person where one has to be asked. An abort while the question is open is no answer.
    async fn ask(&self, confirm: Option<impl Confirm>, cancel: &Cancel) -> Result<(), Refusal> {
        let world = &self.spec.world;
        let Some(request) = self.prepared.question(world, confirm.is_some())? else { return Ok(()) };
        let Some(confirm) = confirm else { return Err(self.prepared.refused()) };
        let allowed = tokio::select! {
            biased;
            _ = cancel.cancelled() => return Ok(()),
            allowed = confirm.confirm(request) => allowed,
        };
        if !allowed {
            return Err(self.prepared.refused());
        }
        // An answer that cannot be kept is asked for again next time; it holds for this run.
        let _ = self.prepared.remember(world);
        Ok(())
    }

    fn subject(&self, plan: &ToolPlan) -> Subject<'_> {
        Subject {
            agent: &self.prepared.agent.name,
            task: &self.spec.task,
            run_id: self.id.clone(),
            sanitizer: self.sanitizer,
            limits: self.limits(),
            sandbox: self.prepared.sandbox(plan),
            diagnostics: plan.dropped.iter().map(ToString::to_string).collect(),
        }
    }

    /// Starts the child, sees it through and reports.
    async fn start(&self, updates: &UpdateSender, cancel: &Cancel) -> ToolResult {
        let plan = match self.prepared.tools(&self.spec.world) {
            Ok(plan) => plan,
            Err(none_left) => {
                let error = none_left.to_string();
                return self.subject(&ToolPlan::default()).not_started(&error, self.started.elapsed(), None);
            }
        };
        let subject = self.subject(&plan);
        if let Some(reason) = cancel.reason() {
            return subject.aborted_before_start(&reason, self.started.elapsed(), None);
        }
        let (files, command) = match self.child(&plan).await {
            Ok(child) => child,
            Err(stage) => return subject.not_started(&stage, self.started.elapsed(), None),
        };
        self.id.set(files.run_id());
        let result = self.supervise(subject, &files, command, updates, cancel).await;
        // Removes the prompt file, which is a blocking call on a slow disk.
        blocking(move || drop(files)).await;
        result
    }

    /// The child's files and command, or why there can be none: the stage, the path and the system's own words.
    async fn child(&self, plan: &ToolPlan) -> Result<(RunFiles, ChildCommand), String> {
        let Self { spec, prepared, .. } = self;
        let (config, world) = (&prepared.config, &spec.world);
        if prepared.needs_sandbox() {
            return Err("sandbox: `subagents.sandbox` is `required` and this release has none".to_owned());
        }
        check_cwd(&spec.cwd).map_err(|error| format!("{}: {}", error.stage(), chain(&error)))?;
        let pi = PiProgram::locate(config.pi_command.as_deref(), world)
            .map_err(|error| format!("executable: {error}"))?;
        let parent = RunFiles::parent_directory(&world.agent_dir, world.host.session_file.as_deref());
        let prompt = prepared.prompt(plan);
        let (run_id, cwd, persist) = (self.id.get(), spec.cwd.clone(), config.persist_session);
        let files = blocking(move || RunFiles::create(&parent, &run_id, &cwd, &prompt, persist))
            .await
            .map_err(|error| chain(&error))?;
        let tools = &plan.tools;
        let invocation =
            Invocation { pi: &pi, cwd: &spec.cwd, files: &files, tools, prepared, world, task: &spec.task };
        let command = invocation.command();
        Ok((files, command))
    }

    async fn supervise(
        &self,
        subject: Subject<'_>,
        files: &RunFiles,
        command: ChildCommand,
        updates: &UpdateSender,
        cancel: &Cancel,
    ) -> ToolResult {
        let (config, agent) = (&self.prepared.config, &*self.prepared.agent);
        let silence = SilenceLimits { idle: self.prepared.idle_timeout(), tool: config.tool_timeout };
        let limits = SuperviseLimits {
            hard: self.prepared.timeout(),
            grace: config.grace,
            linger: LINGER,
            drain: DRAIN,
        };
        let work_tree = if config.allow_write && !agent.readonly {
            WorkTree::look(&self.spec.cwd, &self.spec.world.env).await
        } else {
            None
        };
        let child = SharedCollector::new();
        let mut observer = JsonChild::new(child.clone(), silence);
        let news = Updates { run_id: files.run_id(), started: self.started, sanitizer: self.sanitizer };
        let supervised = tokio::select! {
            biased;
            supervised = supervise(command, limits, silence.idle, cancel, &mut observer) => supervised,
            () = news.forward(&child, updates) => unreachable!("updates are forwarded until the child ends"),
        };
        news.last(&child, updates).await;
        let supervised = match supervised {
            Ok(supervised) => supervised,
            Err(error) => {
                let error = format!("{}: {}", error.stage(), chain(&error));
                return subject.not_started(&error, self.started.elapsed(), files.session());
            }
        };
        let tool_was_running = child.view(|collector, _| collector.live().running_tools > 0);
        let changes = match work_tree {
            Some(before) => before.changes().await,
            None => None,
        };
        let collected = child.finish().into_collected();
        let duration = self.started.elapsed();
        subject.ended(Ending { supervised, collected, duration, changes, tool_was_running }, files)
    }
}

/// An error with its causes, as one sentence.
fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}
