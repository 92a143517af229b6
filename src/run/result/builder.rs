//! Builds the result of a run: the fields that are known before its child, and the text within its limits.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::tool_result::{CallError, ErrorCode, RunDetails, SandboxReport, SingleResult, ToolResult};
use super::verdict::Verdict;
use crate::run::facts::Caveat;
use crate::run::sandbox::SandboxPlan;
use crate::run::spec::SharedRunId;
use agents::{Network, OutputSchema};
use files::FileError;
use pi_events::Usage;
use sanitizer::figures::millis;
use sanitizer::{Sanitized, Sanitizer, TruncateLimits, chain, fenced, redacted_message, truncate_partial};
use supervisor::Mechanism;

/// The limit for a task, an error or a diagnostic in `details`. The session file has the full text.
const FIELD: TruncateLimits = TruncateLimits { max_bytes: 16 * 1024, max_lines: usize::MAX };
/// Characters of a changed file's name in `details`.
const PATH_CHARS: usize = 300;
/// Characters of a value that a child reports, such as its model.
const VALUE_CHARS: usize = 300;
/// The beginning of the error of a run that ended before it had a child.
pub(crate) const NOT_STARTED: &str = "not started: ";
/// The separator between two parts of a text.
pub(crate) const PARAGRAPH: &str = "\n\n";

/// Saves the full text of a long answer. Returns the path of its file.
pub(crate) type SaveText<'a> = &'a dyn Fn(&Sanitized) -> Result<PathBuf, FileError>;

/// Builds the result of a run from the values that are known before its child ends.
#[derive(Clone)]
pub(crate) struct ResultBuilder {
    /// The agent's name.
    pub agent: String,
    /// The task as given.
    pub task: String,
    /// The run's id.
    pub run_id: SharedRunId,
    /// Sanitizes every string of the result.
    pub sanitizer: Arc<Sanitizer>,
    /// The model that was chosen for the child, `provider/id`.
    pub model: Option<String>,
    /// The notice about a model that took the place of the agent's.
    pub model_note: Option<String>,
    /// The size limit of the result's text.
    pub limits: TruncateLimits,
    /// The sandbox of the child, once that is decided.
    pub sandbox: Option<SandboxPlan>,
    /// Notices about the set-up of the run.
    pub diagnostics: Vec<String>,
    /// The diagnostics about options of the call that are skipped. The caller's model reads them, too.
    pub skipped_options: Vec<String>,
    /// The attempts before the last.
    pub earlier: EarlierAttempts,
    /// The shape of the result that the child has to submit.
    pub output_schema: Option<OutputSchema>,
    /// Tools that write, which the child does not have.
    pub withheld: Withheld,
    /// True if its child may change files.
    pub may_change_files: bool,
    /// True if its session began before this run.
    pub is_resumed: bool,
    /// The provider whose quota is used up for longer than the run may wait.
    pub quota_exhausted: Option<String>,
}

/// Tools that write and that a child does not have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Withheld {
    /// The names that pi uses.
    pub tools: BTreeSet<String>,
    /// The reason, as a fact of the result.
    pub caveat: Option<Caveat>,
    /// True if the agent's file asks for one of them.
    pub are_requested: bool,
}

/// The attempts that have ended.
#[derive(Clone, Default)]
pub(crate) struct EarlierAttempts {
    pub count: u32,
    /// Their usage, summed.
    pub usage: Usage,
    /// The session of the last of them.
    pub session: Option<PathBuf>,
}

impl EarlierAttempts {
    pub(crate) fn add(&mut self, usage: &Usage, session: Option<&Path>) {
        self.count += 1;
        self.usage.add(usage);
        self.session = session.map(Path::to_path_buf);
    }
}

impl ResultBuilder {
    /// Returns the result of a run that ends with this verdict before anything is done for it.
    #[must_use]
    pub(crate) fn never_started(&self, mut verdict: Verdict) -> ToolResult {
        verdict.error = verdict.error.map(|error| format!("{NOT_STARTED}{error}"));
        self.without_child(&verdict, Duration::ZERO, None)
    }

    /// Returns the result of a run that gets no child, or no further one. It includes the usage of earlier attempts.
    #[must_use]
    pub(crate) fn without_child(
        &self,
        verdict: &Verdict,
        duration: Duration,
        session: Option<&Path>,
    ) -> ToolResult {
        let mut single = self.single(verdict, duration, session);
        single.attempts = 0;
        let text = failure_text(&single, "");
        let EarlierAttempts { count, usage, session } = self.earlier.clone();
        (single.attempts, single.usage) = (count, usage);
        let earlier = session.map(|path| path.to_string_lossy().into_owned());
        single.session_file = single.session_file.or(earlier);
        self.result(single, verdict, text, None)
    }

    pub(crate) fn single(
        &self,
        verdict: &Verdict,
        duration: Duration,
        session: Option<&Path>,
    ) -> SingleResult {
        SingleResult {
            exit_code: verdict.exit_code,
            error: verdict.error.as_deref().map(|error| self.field(error)),
            session_file: session.map(|path| path.to_string_lossy().into_owned()),
            attempts: 1,
            duration_ms: millis(duration),
            signal: verdict.signal.clone(),
            timeout_reason: verdict.timeout,
            sandbox: self.sandbox.as_ref().map(|plan| sandbox_report(plan, None)),
            diagnostics: self.diagnostics.iter().map(|text| self.field(text)).collect(),
            model_note: self.model_note.as_deref().map(|note| self.field(note)),
            next_step: verdict.next_step(),
            quota_exhausted: self.quota_exhausted.as_deref().map(|provider| self.value(provider)),
            ..SingleResult::new(self.agent.clone(), self.field(&self.task), verdict.outcome)
        }
    }

    /// Keeps head and tail: programs print the kind of a failure first and its cause last.
    pub(crate) fn field(&self, text: &str) -> String {
        self.sanitizer.sanitize(text).truncate(FIELD, None).0.into_string()
    }

    /// Formats a value that a child reports on one line, because its line breaks could fake other lines.
    pub(crate) fn value(&self, text: &str) -> String {
        self.sanitizer.line(text, VALUE_CHARS).into_string()
    }

    /// Formats a file's name on one line. git allows any character in it.
    pub(crate) fn path(&self, path: &str) -> String {
        self.sanitizer.line(path, PATH_CHARS).into_string()
    }

    /// Returns the text within the limits, and true if it was shortened. Shortens the child's answer first: the notes
    /// at the end stay complete, unless they alone take up more than half of the limits.
    fn shortened(&self, text: &str, single: &SingleResult) -> (String, bool) {
        let notes = &*single.notes;
        let full_text = single.full_text();
        let lacks = single.omitted_bytes;
        let half = self.limits.halved();
        let has_room = notes.len() <= half.max_bytes && notes.lines().count() <= half.max_lines;
        let answer = text.strip_suffix(notes).and_then(|text| text.strip_suffix(PARAGRAPH));
        let answer = answer.filter(|_| has_room && !notes.is_empty());
        let Some(answer) = answer else {
            let cut = truncate_partial(text, self.limits, full_text, lacks);
            return (cut.text, cut.truncated);
        };
        // The answer may end with its own line break.
        let room = self.limits.remaining_after(notes.len() + PARAGRAPH.len(), notes.lines().count() + 2);
        let cut = truncate_partial(answer, room, full_text, lacks);
        (format!("{}{PARAGRAPH}{notes}", cut.text), cut.truncated)
    }

    pub(crate) fn result(
        &self,
        mut single: SingleResult,
        verdict: &Verdict,
        text: String,
        save: Option<SaveText<'_>>,
    ) -> ToolResult {
        let full_text = self.sanitizer.sanitize(&text);
        // Frees a long answer before it is cut and written, so that it is in memory only once.
        drop(text);
        let (mut shown, truncated) = self.shortened(&full_text, &single);
        if truncated && let Some(save) = save {
            match save(&full_text) {
                Ok(path) => {
                    single.full_output_file = Some(path.to_string_lossy().into_owned());
                    shown = self.shortened(&full_text, &single).0;
                }
                Err(error) => {
                    single.diagnostics.push(self.field(&format!("the full text is lost: {}", chain(&error))));
                }
            }
        }
        single.redacted = self.sanitizer.redacted();
        single.diagnostics.extend(redacted_message(&single.redacted));
        let truncation =
            (truncated || single.omitted_bytes > 0).then_some(ErrorCode::SubagentOutputTruncated);
        let code = verdict.code.or(truncation);
        let message = match (&single.error, code) {
            (Some(error), _) => error.clone(),
            (None, Some(_)) => "the answer was longer than the output limit".to_owned(),
            (None, None) => String::new(),
        };
        ToolResult {
            text: shown,
            is_error: verdict.code.is_some(),
            usage: Some(single.usage.clone()),
            details: RunDetails {
                results: vec![single],
                error: code.map(|code| CallError { code, message }),
                ..RunDetails::single(&self.run_id.get())
            },
        }
    }
}

/// Returns a text whose lines after the first are indented, so that no output of a child looks like our own text.
fn indented(text: &str) -> String {
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + if line.is_empty() { "\n" } else { "\n  " } + line)
}

/// Formats the text of a failure: its parts in a fixed order, without empty ones.
pub(crate) fn failure_text(single: &SingleResult, partial: &str) -> String {
    let parts = [
        Some(format!("{} failed with exit code {}", single.agent, single.exit_code)),
        (single.attempts > 1).then(|| format!("attempts: {}", single.attempts)),
        single.error.as_ref().map(|error| format!("error: {}", indented(error))),
        (!partial.trim().is_empty()).then(|| format!("partial output:\n{}", fenced(partial))),
        (!single.notes.is_empty()).then(|| single.notes.clone()),
        single.session_file.as_ref().map(|path| format!("session: {path}")),
        single.next_step.map(|step| format!("next: {step}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Returns the report on a sandbox for the caller. `mechanisms` are the active ones, or `None` if no child was started.
pub(crate) fn sandbox_report(plan: &SandboxPlan, mechanisms: Option<&[Mechanism]>) -> SandboxReport {
    let in_force = mechanisms.unwrap_or_default();
    let enforced = in_force.contains(&Mechanism::Landlock);
    let (sandbox, reason) = match plan {
        SandboxPlan::Unenforced { reason, .. } => (None, Some(reason.clone())),
        SandboxPlan::Declared { launcher } => {
            let by = format!(
                "your configuration declares `{launcher}` `readonly`; nothing on this machine has checked that"
            );
            (None, Some(by))
        }
        SandboxPlan::Enforced(sandbox) => {
            (Some(sandbox), mechanisms.and_then(|found| sandbox.open_with(found)))
        }
    };
    let shell = sandbox.filter(|_| enforced).and_then(|sandbox| sandbox.shell);
    let names = in_force.iter().copied().filter(|mechanism| is_sandbox(*mechanism, enforced));
    let mechanism = names.chain(shell.map(|_| Mechanism::ToolSandbox));
    SandboxReport {
        enforced,
        mechanism: mechanism.map(|mechanism| mechanism.as_str().to_owned()).collect(),
        network: shell.unwrap_or(Network::On),
        reason,
    }
}

/// Returns true if a mechanism is part of the sandbox. A pid namespace counts only if a sandbox is enforced.
fn is_sandbox(mechanism: Mechanism, enforced: bool) -> bool {
    match mechanism {
        Mechanism::Landlock | Mechanism::MountNamespace | Mechanism::Seccomp | Mechanism::ToolSandbox => true,
        Mechanism::PidNamespace => enforced,
        Mechanism::Cgroup => false,
    }
}
