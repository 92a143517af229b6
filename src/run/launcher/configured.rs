//! Starts children on another machine with a program from the user's configuration, and runs the other commands of this
//! launcher: `cancel` and `fetch`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::config::{self, Quote};
use sanitizer::names_secret;
use sanitizer::template::{Value, fill};
use supervisor::{
    Captured, ChildCommand, NotFound, Outcome, SpawnError, capture, exit_signal, resolve_program,
};
use uuid::Uuid;
use worktree::without_git_variables;

use super::bootstrap::{
    ENDED, GUARD, PLACE, PROMPT, Private, REPORT_WARDEN, SESSION, SESSIONS, STARTED, Script, WARDEN_IS_FOUND,
    loader, quoted,
};
use super::contract::{Job, Launch, Launcher, Materials, Payload, RemoteWork};
use super::remote_exit::{RemoteEnd, RemoteExit};
use super::remote_output::{OutputTimestamps, RemoteOutput};
use crate::run::context::HostContext;
use crate::run::pi::{Origin, PiError, PiProgram, PiVersion};

/// The working directory of launchers. It contains no files of a project.
const NEUTRAL: &str = "/";
/// A variable that may be set for the launcher but must not reach the remote pi, unless the launcher's `env` names it.
const AGENT_DIR: &str = "PI_CODING_AGENT_DIR";
/// The prefixes of the variables that are set for every child.
const OWN: [&str; 2] = ["PI_SUBAGENT_", "PI_OFFLINE"];

/// A launcher of the user's configuration.
#[derive(Clone, Debug)]
pub(crate) struct Configured {
    name: String,
    settings: config::Launcher,
}

/// The command that tests a launcher.
#[derive(Debug)]
pub(crate) struct LauncherTest {
    pub command: ChildCommand,
    /// Its standard input.
    pub input: Vec<u8>,
    /// The command that ends a test that did not end by itself, if there is one.
    pub cancel: Option<ChildCommand>,
}

/// The result of a launcher's test.
#[derive(Debug)]
pub(crate) struct TestAnswer {
    /// The child's working directory on the remote machine.
    pub cwd: String,
    /// The version that the remote pi reports.
    pub version: String,
    /// The version that the remote git reports, if there is one.
    pub git: Option<String>,
    /// The time from the start of the launcher until its script ran.
    pub reached: Duration,
    /// The time from the start of the remote pi until it answered.
    pub started: Duration,
    /// True if pi has loaded the guard and answered.
    pub has_guard: bool,
    /// True if a warden on the remote machine restrains the programs that the child starts.
    pub has_warden: bool,
}

/// The line before the output of the test.
const MARK: &str = "pi-subagent-test";
/// The prefix of the line that reports the version of git.
const GIT: &str = "pi-subagent-git";
/// The line that is printed before pi starts.
const STARTING: &str = "pi-subagent-starting";
/// The id of the request to pi.
const ASKED: &str = "pi-subagent";

impl Configured {
    pub(crate) fn new(name: &str, settings: &config::Launcher) -> Self {
        Self { name: name.to_owned(), settings: settings.clone() }
    }

    fn pi(&self) -> Vec<String> {
        self.settings.pi_command.clone().unwrap_or_else(|| vec!["pi".to_owned()])
    }

    /// Fills in a template. `argv` replaces the word `{argv}`, as words or as one text for a shell.
    fn expand(&self, template: &[String], job: Job<'_>, argv: &[String]) -> Vec<OsString> {
        let line = || argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let is_shell = self.quote(template) == Quote::Sh;
        let filled = |word: &String| match word.as_str() {
            "{argv}" if !is_shell => argv.to_vec(),
            "{argv}" => vec![line()],
            _ => vec![self.fill(word, job, &line(), is_shell)],
        };
        template.iter().flat_map(filled).map(OsString::from).collect()
    }

    /// Returns the quoting for a template. `ssh` joins its words and passes them to a shell, even if its user does not
    /// expect that.
    fn quote(&self, template: &[String]) -> Quote {
        let is_ssh = template
            .first()
            .is_some_and(|program| Path::new(program).file_stem().is_some_and(|stem| stem == "ssh"));
        self.settings.quote.unwrap_or(if is_ssh { Quote::Sh } else { Quote::Words })
    }

    fn fill(&self, template: &str, job: Job<'_>, argv: &str, is_shell: bool) -> String {
        let Job { run_id, agent, cwd, .. } = job;
        let directory = cwd.to_string_lossy();
        let env = self.settings.env.join(",");
        let project = cwd.file_name().unwrap_or_default().to_string_lossy();
        let session = session_of(run_id);
        // The remote shell must not run the name of a directory.
        let safe = |text: &str| if is_shell { quoted(text) } else { text.to_owned() };
        let values = [
            ("argv", argv.to_owned()),
            ("cwd", safe(&directory)),
            ("project", safe(&project)),
            ("runId", run_id.to_owned()),
            ("agent", safe(agent)),
            ("env", safe(&env)),
            ("session", session),
        ];
        let value = |name: &str| {
            Value::Inline(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value))
        };
        fill(template, &config::PLACEHOLDERS, value)
    }

    fn remote_cwd(&self, job: Job<'_>) -> Option<String> {
        self.settings.cwd.as_deref().map(|cwd| self.fill(cwd, job, "", false))
    }

    fn is_forwarded(&self, name: &str) -> bool {
        self.settings.env.iter().any(|named| named == name)
    }

    /// Returns the environment of the launcher itself. Some launchers, such as `srun`, pass on all of it, so it
    /// contains only the secrets that the settings name.
    fn env(&self, env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        let is_allowed = |name: &str| self.is_forwarded(name) || !(names_secret(name) || is_own(name));
        let mut env = without_git_variables(env);
        env.retain(|(name, _)| name.to_str().is_some_and(is_allowed));
        env
    }

    fn helper(
        &self,
        template: Option<&[String]>,
        job: Job<'_>,
        context: &HostContext,
    ) -> Option<ChildCommand> {
        let mut command_line = self.expand(template?, job, &[]).into_iter();
        Some(ChildCommand {
            program: command_line.next()?.into(),
            args: command_line.collect(),
            cwd: NEUTRAL.into(),
            env: self.env(&context.env),
            untrusted: job.untrusted.to_vec(),
            guardian: None,
        })
    }

    /// Returns the first program that a field of the launcher starts with and that is not found, after the field's name.
    /// Blocks.
    pub(crate) fn missing(
        &self,
        untrusted: &[PathBuf],
        context: &HostContext,
    ) -> Option<(&'static str, String, NotFound)> {
        let config::Launcher { command, cancel, fetch, .. } = &self.settings;
        let fields = [("command", Some(command)), ("cancel", cancel.as_ref()), ("fetch", fetch.as_ref())];
        let mut named = fields.into_iter().filter_map(|(field, command)| Some((field, command?.first()?)));
        named.find_map(|(field, program)| {
            let missing = resolve_program(program.as_ref(), &context.env, untrusted).err()?;
            Some((field, program.clone(), missing))
        })
    }

    /// Builds a test that asks the remote pi for its version, and then starts it once, with the guard and without a
    /// task.
    pub(crate) fn test(&self, job: Job<'_>, guard: &str, context: &HostContext) -> LauncherTest {
        let mut argv = self.pi();
        let version = argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        argv.extend(["--mode", "rpc", "--no-session", "--no-extensions", "-e"].map(str::to_owned));
        argv.push(format!("{PLACE}/{GUARD}"));
        let remote_cwd = self.remote_cwd(job);
        let script = Script {
            cwd: remote_cwd.as_deref(),
            env: Vec::new(),
            unset: self.unset(),
            prompt: "",
            guard,
            task: None,
            before: &format!(
                "echo {MARK}; pwd\n\
                 said=$({version} --version </dev/null 2>&1) || {{ printf '%s\\n' \"$said\" >&2; exit 1; }}\n\
                 printf '%s\\n' \"$said\"\n\
                 echo {GIT} $(command -v git >/dev/null && git --version)\n{REPORT_WARDEN}; echo {STARTING}"
            ),
            session: None,
            tree: None,
            argv,
        };
        let mut input = script.to_bytes();
        input.extend_from_slice(format!("{{\"id\":\"{ASKED}\",\"type\":\"get_state\"}}\n").as_bytes());
        let mut command_line = self.expand(&self.settings.command, job, &loader(job.run_id)).into_iter();
        let program = command_line.next().unwrap_or_default().into();
        let env = self.env(&context.env);
        let command = ChildCommand {
            program,
            args: command_line.collect(),
            cwd: NEUTRAL.into(),
            env,
            untrusted: job.untrusted.to_vec(),
            guardian: None,
        };
        LauncherTest { command, input, cancel: self.cancel(job, context) }
    }

    /// Parses the output of the test. `None` if no shell has run its script.
    pub(crate) fn parse_answer(output: &Captured, timestamps: &OutputTimestamps) -> Option<TestAnswer> {
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines = text.lines().skip_while(|line| *line != MARK).skip(1);
        let cwd = lines.next()?.to_owned();
        let asked: Vec<_> = lines.by_ref().take_while(|line| *line != STARTING).collect();
        let printed = asked.iter().copied().take_while(|line| !line.starts_with(GIT));
        let version = PiVersion::line_of(printed).to_owned();
        let mut git = None;
        let mut has_warden = false;
        for line in asked {
            has_warden |= line == WARDEN_IS_FOUND;
            let version =
                line.strip_prefix(GIT).map(|output| output.trim().trim_start_matches("git version "));
            git = git.or(version.filter(|version| !version.is_empty()).map(str::to_owned));
        }
        let asked = format!("\"{ASKED}\"");
        let has_guard = lines.any(|line| line.contains(&asked) && line.contains("\"success\":true"));
        let arrival = |mark: &str| timestamps.of(mark, &output.stdout).unwrap_or_default();
        let started = arrival(&asked).saturating_sub(arrival(STARTING));
        Some(TestAnswer { cwd, version, git, reached: arrival(MARK), started, has_guard, has_warden })
    }

    fn unset(&self) -> &'static [&'static str] {
        if self.is_forwarded(AGENT_DIR) { &[] } else { &[AGENT_DIR] }
    }
}

impl Launcher for Configured {
    fn remote_name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn max_concurrent(&self) -> Option<usize> {
        Some(self.settings.max_concurrent)
    }

    fn keeps_session(&self) -> bool {
        self.settings.fetch.is_some()
    }

    fn own_output(&self, printed: String) -> String {
        let own = printed.rsplit_once(STARTED).map_or(&*printed, |(_, own)| own).trim_end();
        own.strip_suffix(ENDED).unwrap_or(own).to_owned()
    }

    fn first_line(&self) -> Option<&'static str> {
        Some(STARTED)
    }

    fn remote_end(&self, printed: &str, has_spoken: bool) -> Option<RemoteEnd> {
        Some(RemoteEnd { launcher: self.name.clone(), exit: RemoteExit::of(printed, has_spoken) })
    }

    fn locate(
        &self,
        _configured: Option<&[String]>,
        _cwd: &Path,
        _untrusted: &[PathBuf],
        _context: &HostContext,
    ) -> Result<PiProgram, PiError> {
        let mut command_line = self.pi().into_iter();
        let program = PathBuf::from(command_line.next().ok_or(PiError::EmptyCommand)?);
        Ok(PiProgram {
            program,
            args: command_line.map(OsString::from).collect(),
            version: None,
            origin: Origin::Configured,
        })
    }

    fn materialize(&self, local: Materials) -> Materials {
        let at = |name: &str| Path::new(PLACE).join(name);
        Materials { prompt: at(PROMPT), guard: at(GUARD), session: local.session.map(|_| at(SESSION)) }
    }

    fn command(&self, plain: ChildCommand, job: Job<'_>, payload: Payload<'_>) -> Launch {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let argv: Vec<String> =
            [text(&plain.program.clone().into())].into_iter().chain(plain.args.iter().map(text)).collect();
        let named = plain.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let has_session = argv.iter().any(|word| word == &format!("{PLACE}/{SESSION}"));
        let remote_cwd = self.remote_cwd(job);
        let session = format!("{}.jsonl", job.run_id);
        // Random for each child, so that no child can imitate its script.
        let key = format!("pi-subagent-{}", Uuid::new_v4().simple());
        let script = Script {
            cwd: remote_cwd.as_deref(),
            env: named.filter(|(name, _)| is_own(name) || self.is_forwarded(name)).collect(),
            unset: self.unset(),
            prompt: payload.prompt,
            guard: payload.guard,
            task: payload.task,
            before: "",
            session: has_session.then_some(&*session),
            tree: payload.tree.map(|work| Private { tree: &work.tree, inner: &work.inner, key: &key }),
            argv,
        };
        let mut preamble = script.to_bytes();
        let remote_output = payload.tree.map(|RemoteWork { tree, .. }| {
            preamble.extend_from_slice(payload.pack);
            Box::new(RemoteOutput::new(format!("{key} "), tree.returned_pack.clone(), tree.limit))
        });
        let mut command_line = self.expand(&self.settings.command, job, &loader(job.run_id)).into_iter();
        let program = command_line.next().unwrap_or_default().into();
        let mut guardian = plain.guardian;
        if let (Some(guardian), Some(cancel)) = (&mut guardian, &self.settings.cancel) {
            guardian.options.last_command = self.expand(cancel, job, &[]);
        }
        let env = self.env(&plain.env);
        let command = ChildCommand {
            program,
            args: command_line.collect(),
            cwd: NEUTRAL.into(),
            env,
            untrusted: job.untrusted.to_vec(),
            guardian,
        };
        Launch { command, preamble: Some(preamble), remote_output }
    }

    fn cancel(&self, job: Job<'_>, context: &HostContext) -> Option<ChildCommand> {
        self.helper(self.settings.cancel.as_deref(), job, context)
    }

    fn fetch(&self, job: Job<'_>, context: &HostContext) -> Option<ChildCommand> {
        self.helper(self.settings.fetch.as_deref(), job, context)
    }
}

fn is_own(name: &str) -> bool {
    OWN.iter().any(|own| name.starts_with(own))
}

fn session_of(run_id: &str) -> String {
    format!("{SESSIONS}/{run_id}.jsonl")
}

/// The time limit for the command `cancel`. The caller waits for it.
const CANCELLING: Duration = Duration::from_secs(10);
/// The maximum number of bytes that are kept of the output of `cancel`. The output is not used.
const MAX_PRINTED: usize = 4 * 1024;

/// A command of a launcher has failed.
#[derive(Debug, thiserror::Error)]
#[error("`launchers.{launcher}.{field}` failed")]
pub(crate) struct HelperError {
    launcher: String,
    /// The command's key in the settings.
    field: String,
    source: HelperFailure,
}

/// The way in which a command of a launcher has failed.
#[derive(Debug, thiserror::Error)]
enum HelperFailure {
    #[error(transparent)]
    NotStarted(#[from] SpawnError),
    #[error("it took longer than {} s", limit.as_secs())]
    TooSlow { limit: Duration },
    /// It has printed an error.
    #[error("{0}")]
    Printed(String),
    #[error("it exited with {0} and printed no error")]
    Exited(i32),
    #[error("it was ended by signal {0} and printed no error")]
    Killed(i32),
    #[error("it has ended and printed no error")]
    Ended,
}

/// Runs the command `cancel` of a launcher to its end.
///
/// # Errors
///
/// Fails if the command fails or takes too long.
pub(crate) async fn run_cancel(launcher: &str, command: ChildCommand) -> Result<(), HelperError> {
    run_helper(launcher, "cancel", command, CANCELLING, MAX_PRINTED).await.map(drop)
}

/// Runs a command of a launcher to its end. `field` is its key in the settings.
///
/// # Errors
///
/// The same as for [`run_cancel`].
pub(crate) async fn run_helper(
    launcher: &str,
    field: &str,
    command: ChildCommand,
    limit: Duration,
    max_bytes: usize,
) -> Result<Captured, HelperError> {
    let ended = capture(command, limit, max_bytes).await.map_err(HelperFailure::from);
    let source = match ended {
        Ok(captured) if captured.is_success() => return Ok(captured),
        Ok(captured) => failure(&captured, limit),
        Err(failure) => failure,
    };
    Err(HelperError { launcher: launcher.to_owned(), field: field.to_owned(), source })
}

fn failure(captured: &Captured, limit: Duration) -> HelperFailure {
    let stderr = captured.stderr.trim();
    match captured.outcome {
        Outcome::HardTimeout { .. } => HelperFailure::TooSlow { limit },
        _ if !stderr.is_empty() => HelperFailure::Printed(stderr.to_owned()),
        Outcome::Exited(status) => match (status.code(), exit_signal(status)) {
            (Some(code), _) => HelperFailure::Exited(code),
            (None, Some(signal)) => HelperFailure::Killed(signal),
            (None, None) => HelperFailure::Ended,
        },
        _ => HelperFailure::Ended,
    }
}
