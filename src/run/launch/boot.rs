//! Boots a run's child: creates its files and starts it, so that it is ready for its task.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tokio::time::{sleep, timeout};

use super::command_line::{Invocation, OptionLikeValue};
use super::files::{GUARD, RunFiles, RunFilesSpec};
use super::sandboxes::tool_shell;
use super::spare::{BootInputs, Seen};
use crate::run::admit::extensions::downloads_programs;
use crate::run::admit::prepare::AdmittedRun;
use crate::run::admit::{Unmet, child_prompt};
use crate::run::blocking::{blocking, unless_cancelled};
use crate::run::context::HostContext;
use crate::run::launch::private_dirs::PrivateDirs;
use crate::run::launch::private_files::{PrivateDirsSpec, TokenUse};
use crate::run::launcher::{Launch, Payload, RemoteOutput};
use crate::run::pi::{PiError, PiProgram};
use crate::run::protocol::ChildProtocol;
use crate::run::sandbox::{SandboxUnavailable, shell_policy};
use agents::{DropReason, SHELL, ShellPolicy};
use files::{FileError, layout};
use sanitizer::{chain, with_cause};
use supervisor::{Cancel, ChildCommand, Input, SpawnError, Started, ToolShell, check_cwd, start};

/// The time limit for a cancelled start to finish creating files. It usually takes milliseconds.
const MAX_CREATION: Duration = Duration::from_millis(500);

/// The pauses between attempts to start a child while the machine is short of something.
const RETRY_PAUSES: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
];

/// A started child that has no task yet. Dropping it ends the child and removes its files, including its session.
pub struct Booted {
    pub(crate) child: Started,
    pub(crate) prepared: Prepared,
}

/// The files and settings of a child, made before it starts.
pub(crate) struct Prepared {
    pub files: RunFiles,
    pub command: ChildCommand,
    prompt: String,
    /// The bytes that precede the child's own input.
    preamble: Option<Vec<u8>>,
    /// The filter that separates the messages of the remote script from the child's output.
    pub remote_output: Option<Box<RemoteOutput>>,
    /// The options for the sandbox around its shell.
    shell: Option<ToolShell>,
    /// The files that the child reads as it boots, if it waits for a later run.
    inputs: Option<BootInputs>,
}

/// The reason for starting a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// This attempt of its run, from 1.
    Attempt(u32),
    /// A call that still arrives.
    Call,
    /// The next call with the same plan.
    Spare,
}

/// The step of a start that failed, with the system's error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// This machine cannot meet a requirement of the run.
    #[error(transparent)]
    Unmet(#[from] Unmet),
    /// A layer of a required sandbox is missing.
    #[error(transparent)]
    NoSandbox(#[from] SandboxUnavailable),
    /// The child may no longer have the shell with which the run was admitted.
    #[error("`{SHELL}` cannot be sandboxed: {0}")]
    Shell(DropReason),
    /// The sandbox around the child's shell cannot be changed.
    #[error("sandbox")]
    Sandbox(#[source] FileError),
    /// The working directory or the program cannot be used.
    #[error("{}", .0.stage())]
    Spawn(#[source] SpawnError),
    /// There is no pi to run.
    #[error("executable")]
    Executable(#[source] PiError),
    /// A file of the run cannot be created.
    #[error("session directory")]
    Files(#[source] FileError),
    /// An argument would be read as an option.
    #[error(transparent)]
    Arguments(#[from] OptionLikeValue),
}

/// The reason why there is no child.
pub(crate) enum StartFailure {
    /// The start failed.
    Failed {
        /// The failed step.
        error: StartError,
        /// The files that were created for the child, if it got that far.
        files: Option<Box<RunFiles>>,
    },
    /// The run was cancelled first.
    Cancelled,
}

impl AdmittedRun {
    /// Starts a child for a call that still arrives. `None` if that failed; the run then tries again and reports the error.
    pub async fn boot(&self, cancel: &Cancel) -> Option<Booted> {
        self.launch_for(Purpose::Call, cancel).await.ok()
    }

    /// Returns true if the child can be started before the call arrives. It cannot if it gets a private tree, which is
    /// created first, if it runs on another machine, or if its protocol needs the task at once. An exhausted budget
    /// also prevents it, and so does a token that must be refreshed before the child gets its copy.
    pub async fn may_boot_early(&self) -> bool {
        if self.resolved.is_isolated || self.resolved.launcher.remote_name().is_some() {
            return false;
        }
        if !self.resolved.protocol.waits_for_task() || self.meter().await.refusal().is_some() {
            return false;
        }
        match self.token_use() {
            Some(token) => blocking(move || !token.needs_refresh()).await,
            None => true,
        }
    }

    /// Returns the login that the child's copy of the credentials relies on. `None` if the child gets no copy, uses
    /// a key of the session, or has no time limit.
    pub(crate) fn token_use(&self) -> Option<TokenUse> {
        let until = self.until()?;
        let provider = self.provider()?;
        let has_key = self.resolved.keys.iter().any(|known| known.provider == provider);
        (self.resolved.needs_private_dirs() && !has_key).then_some(TokenUse {
            agent_dir: self.spec.context.agent_dir.clone(),
            credentials: self.resolved.credentials.clone(),
            provider: provider.to_owned(),
            until,
        })
    }

    /// Returns the time limit of a child that starts now, if it has one.
    fn until(&self) -> Option<SystemTime> {
        SystemTime::now().checked_add(self.resolved.timeout?)
    }

    /// Starts a child for the next call with the same plan. Use [`Self::fits_spare`] before that call takes it.
    pub async fn boot_spare(&self, cancel: &Cancel) -> Option<Booted> {
        self.launch_for(Purpose::Spare, cancel).await.ok()
    }

    /// Creates the files of an attempt's child and starts it.
    pub(crate) async fn launch(&self, attempt: u32, cancel: &Cancel) -> Result<Booted, StartFailure> {
        self.launch_for(Purpose::Attempt(attempt), cancel).await
    }

    async fn launch_for(&self, purpose: Purpose, cancel: &Cancel) -> Result<Booted, StartFailure> {
        let run = self.clone();
        let mut creation = Box::pin(blocking(move || run.make(purpose)));
        let Ok(prepared) = unless_cancelled(cancel, &mut creation).await else {
            // Waits for files that are still being created, so that they can be removed. If that takes longer than
            // `MAX_CREATION`, they are removed when they are dropped.
            if let Ok(Ok(prepared)) = timeout(MAX_CREATION, creation).await {
                prepared.files.remove().await;
            }
            return Err(StartFailure::Cancelled);
        };
        let mut prepared = prepared.map_err(|error| StartFailure::Failed { error, files: None })?;
        match start_with_retries(&prepared.command, cancel).await {
            Ok(Some(mut child)) => {
                prepared.files.clean_up = child.take_clean_up();
                tracing::info!(
                    target: "child", run = %self.builder.run_id.get(), pid = child.tree.id(), enforced_by = ?child.tree.mechanisms(), ?purpose,
                    "the child has started"
                );
                self.check_sandbox(Booted { child, prepared }).await
            }
            Ok(None) => Err(StartFailure::Cancelled),
            Err(error) => {
                let error = StartError::Spawn(error);
                tracing::error!(target: "child", reason = with_cause(&error), "the child did not start");
                Err(StartFailure::Failed { error, files: Some(Box::new(prepared.files)) })
            }
        }
    }

    /// Compares the active restrictions on the child with the planned ones. The child has no task yet, so it has not
    /// used a gap. The sandbox around its shell closes the gaps that it can. A child that must not run with a gap is
    /// ended.
    async fn check_sandbox(&self, booted: Booted) -> Result<Booted, StartFailure> {
        let sandbox = self.resolved.sandbox.enforced();
        let missing = sandbox.and_then(|sandbox| sandbox.missing(&booted.child.tree.mechanisms()));
        let (Some(sandbox), Some(missing)) = (sandbox, missing) else { return Ok(booted) };
        tracing::warn!(target: "sandbox", reason = missing, required = sandbox.required, "a layer is missing");
        let close = {
            let run = self.clone();
            move || (run.close_gap(&booted), booted)
        };
        let (closed, booted) = blocking(close).await;
        let error = match closed {
            Ok(()) if !sandbox.required => return Ok(booted),
            Ok(()) => SandboxUnavailable { reason: missing }.into(),
            Err(error) => StartError::Sandbox(error),
        };
        let Booted { prepared: Prepared { files, .. }, child } = booted;
        child.discard().await;
        Err(StartFailure::Failed { error, files: Some(Box::new(files)) })
    }

    /// Makes the sandbox around the child's shell close the gaps in the sandbox around the child. Blocks.
    fn close_gap(
        &self,
        Booted { prepared: Prepared { files, command, .. }, .. }: &Booted,
    ) -> Result<(), FileError> {
        match (self.tool_shell(files, command, false), &files.private_dirs) {
            (Some(shell), Some(_)) => {
                PrivateDirs::rewrite_shell_options(&files.child_directory, &shell.to_bytes())
            }
            _ => Ok(()),
        }
    }

    /// Decides again whether the child may have a shell. Another run may have written the project's settings since the run
    /// was admitted, for example while it was queued. Blocks.
    fn check_shell(&self) -> Result<(), StartError> {
        let Self { spec, resolved, .. } = self;
        let has_shell = self.tools().iter().any(|tool| tool == SHELL) && resolved.sandbox.is_enforced();
        match shell_policy(&resolved.sandbox, &spec.cwd, &spec.context) {
            ShellPolicy::FromProject if has_shell => Err(StartError::Shell(DropReason::ShellFromProject)),
            _ => Ok(()),
        }
    }

    /// Creates the child's files and its command. Blocks.
    fn make(&self, purpose: Purpose) -> Result<Prepared, StartError> {
        let attempt = if let Purpose::Attempt(attempt) = purpose { attempt } else { 1 };
        // Recorded before the private directories are copied: the child may have missed any later change.
        let inputs = (purpose == Purpose::Spare).then(|| self.boot_inputs()).flatten();

        let Self { spec, resolved, .. } = self;
        let context = &spec.context;
        if let Some(unmet) = &resolved.unmet {
            return Err(unmet.clone().into());
        }
        if let Some(scope) = &resolved.scope
            && resolved.sandbox.enforced().is_some_and(|sandbox| sandbox.required)
            && let Some(reason) = scope.find_protected().partial()
        {
            return Err(SandboxUnavailable { reason }.into());
        }
        check_cwd(&spec.cwd).map_err(StartError::Spawn)?;
        self.check_shell()?;
        let pi = self.pi()?;
        let parent = self.parent();
        let prompt = child_prompt(resolved, &self.plan);
        let compile_cache = context.compile_cache();
        let temporaries = context.temporaries();
        let wanted = RunFilesSpec {
            cwd: &spec.cwd,
            prompt: &prompt,
            session: resolved.config.persist_session && resolved.launcher.keeps_session(),
            private_dirs: resolved.needs_private_dirs().then_some(PrivateDirsSpec {
                agent_dir: &context.agent_dir,
                credentials: resolved.credentials.as_deref(),
                keys: &resolved.keys,
                is_sandboxed: resolved.sandbox.is_enforced(),
                temporaries: Some(&temporaries),
                compile_cache: compile_cache.as_deref(),
                provider: self.provider(),
                until: self.until(),
                // Another `PATH` may lack programs.
                downloads: resolved.config.env.contains_key("PATH")
                    || downloads_programs(
                        self.tools(),
                        &context.agent_dir,
                        &context.env,
                        &resolved.untrusted,
                    ),
            }),
            attempt,
            resumes: spec.overrides.resumes.as_ref(),
            is_early: purpose == Purpose::Call,
            agent_dir: &context.agent_dir,
        };
        let files =
            RunFiles::create(&parent, &self.builder.run_id.get(), wanted).map_err(StartError::Files)?;
        let plain = self.command(&pi, &files)?;
        let protocol = resolved.protocol;
        // The protocol encodes the task so that it cannot be taken for a command.
        let first = (!protocol.takes_commands()).then(|| protocol.first_bytes(&spec.task));
        let task = first.as_deref().map(String::from_utf8_lossy);
        let pack = self
            .remote_work
            .as_deref()
            .map(|work| fs::read(&work.tree.pack).map_err(FileError::at(&work.tree.pack)));
        let pack = pack.transpose().map_err(StartError::Files)?.unwrap_or_default();
        let payload = Payload {
            prompt: &prompt,
            guard: GUARD,
            task: task.as_deref(),
            tree: self.remote_work.as_deref(),
            pack: &pack,
        };
        let Launch { command, preamble, remote_output } =
            resolved.launcher.command(plain, self.job(&files.run_id), payload);
        let shell = self.planned_shell(&files, &command);
        if let (Some(shell), Some(warden), Some(own)) =
            (&shell, resolved.capabilities.warden(), &files.private_dirs)
        {
            own.replace_shell(&files.child_directory, warden, &shell.to_bytes())
                .map_err(StartError::Files)?;
        }
        let inputs = inputs.and_then(|inputs| inputs.with_command(&command, &files.child_directory));
        Ok(Prepared { files, command, prompt, preamble, remote_output, shell, inputs })
    }

    fn tool_shell(&self, files: &RunFiles, command: &ChildCommand, has_view: bool) -> Option<ToolShell> {
        tool_shell(&self.resolved, &self.spec, files, &command.env, has_view)
    }

    fn planned_shell(&self, files: &RunFiles, command: &ChildCommand) -> Option<ToolShell> {
        self.tool_shell(files, command, self.resolved.sandbox.enforced()?.metadata)
    }

    fn pi(&self) -> Result<PiProgram, StartError> {
        let configured = self.resolved.config.pi_command.as_deref();
        let launcher = &self.resolved.launcher;
        (launcher.locate(configured, &self.spec.cwd, &self.resolved.untrusted, &self.spec.context))
            .map_err(StartError::Executable)
    }

    fn command(&self, pi: &PiProgram, files: &RunFiles) -> Result<ChildCommand, StartError> {
        Ok(Invocation { run: self, pi, files }.command()?)
    }

    /// Returns the parent directory of the conversation's runs.
    fn parent(&self) -> PathBuf {
        let HostContext { agent_dir, host, .. } = &*self.spec.context;
        layout::runs(agent_dir, host.session_file.as_deref())
    }

    fn boot_inputs(&self) -> Option<Seen> {
        Seen::of(&self.spec.cwd, &self.spec.context, self.resolved.credentials.as_deref())
    }

    /// Returns true if a child that was started now would be the same as this spare one: it has the same command, and
    /// the files that it has read are unchanged. Blocks.
    #[must_use]
    pub fn fits_spare(&self, booted: &Booted) -> bool {
        let Prepared { files, command, inputs, .. } = &booted.prepared;
        let now = || self.boot_inputs()?.with_command(command, &files.child_directory);
        files.directory.parent() == Some(&self.parent())
            && self.fits(booted)
            && self.token_use().is_none_or(|token| !token.needs_refresh())
            && inputs.is_some()
            && *inputs == now()
    }

    /// Returns true if a child that was booted early is identical to the one that would be started now. Blocks.
    pub(crate) fn fits(&self, booted: &Booted) -> bool {
        let private_dirs = &booted.prepared.files.private_dirs;
        !booted.has_ended()
            && self.spec.overrides.resumes.as_ref() == booted.prepared.files.copied_from()
            && self.resolved.protocol.waits_for_task()
            && private_dirs.as_ref().is_none_or(|own| own.covers(self.provider(), self.until()))
            && booted.prepared.prompt == child_prompt(&self.resolved, &self.plan)
            && self.pi().and_then(|pi| self.command(&pi, &booted.prepared.files)).is_ok_and(|now| {
                now == booted.prepared.command
                    && self.planned_shell(&booted.prepared.files, &now) == booted.prepared.shell
            })
    }
}

/// Starts a child. Retries for about a second while the machine is short of something.
async fn start_with_retries(command: &ChildCommand, cancel: &Cancel) -> Result<Option<Started>, SpawnError> {
    for pause in RETRY_PAUSES {
        match start(command.clone(), cancel).await {
            Err(error) if error.is_transient() => {
                tracing::warn!(target: "child", reason = chain(&error), ?pause, "the start is tried again");
                if unless_cancelled(cancel, sleep(pause)).await.is_err() {
                    return Ok(None);
                }
            }
            started => return started,
        }
    }
    start(command.clone(), cancel).await
}

impl Prepared {
    /// Returns the child's standard input, which begins with its task.
    pub(crate) fn first_input(&mut self, protocol: &dyn ChildProtocol, task: &str) -> Input {
        let Some(mut bytes) = self.preamble.take() else { return protocol.first_input(task) };
        if protocol.takes_commands() {
            bytes.extend(protocol.first_bytes(task));
        }
        // The end of this input tells a remote child that this process has ended.
        Input::open(bytes)
    }
}

impl Booted {
    /// Returns the id of the run, which is also the name of the run's directory.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.prepared.files.run_id
    }

    /// Returns true if the child has exited by itself.
    pub(crate) fn has_ended(&self) -> bool {
        self.child.tree.has_ended()
    }

    /// Waits until the child has exited by itself. Cancel safe.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let ended = self.child.tree.ended();
        async move {
            ended.await;
        }
    }

    /// Ends the child and removes its files.
    pub async fn discard(self) {
        let Self { prepared: Prepared { files, .. }, child } = self;
        child.discard().await;
        files.remove().await;
    }
}
