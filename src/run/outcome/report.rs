//! Builds the result of a run from the end of its child.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::announcement::announced;
use super::artifacts::changes_summary;
use super::changes::{MAX_CHANGES, listed, paths_of};
use super::clean::clean;
use super::flagged::of_branch;
use super::retry::EarlierAttempts;
use super::structured::Structured;
use super::verdict::{AttemptReport, RunReport, Verdict};
use crate::agent::OutputSchema;
use crate::event::{Refusal, StopReason};
use crate::process::{Outcome, Supervision};
use crate::run::admit::resolve::Withheld;
use crate::run::admit::sandbox::SandboxPlan;
use crate::run::isolation::ImportOutcome;
use crate::run::launch::files::RunFiles;
use crate::run::launch::private_dirs::PrivateDirs;
use crate::run::result::{
    Announcement, CallError, ErrorCode, IsolationReport, RunDetails, SingleResult, ToolResult,
};
use crate::run::spec::SharedRunId;
use crate::run::state::RunOutcome;
use crate::text::figures::millis;
use crate::text::{Sanitizer, TruncateLimits, chain, fenced, redacted_message, truncate, truncate_partial};

/// The maximum wait for the lock on the user's credentials when copying a token back: pi gives up on a lock after 30 s.
const LOCK: Duration = Duration::from_secs(35);
/// The same for an aborted run, whose caller is waiting.
const LOCK_AFTER_ABORT: Duration = Duration::from_secs(1);
/// The limit for a task, an error or a diagnostic in `details`. The session file has the full text.
const FIELD: TruncateLimits = TruncateLimits { max_bytes: 16 * 1024, max_lines: usize::MAX };
/// Characters of a changed file's name in `details`.
const PATH_CHARS: usize = 300;
/// Characters of a value that a child reports, such as its model.
const VALUE_CHARS: usize = 300;
/// The limit for `output` in `details`; `content` has its own, configured limit.
const OUTPUT_FIELD: TruncateLimits = TruncateLimits { max_bytes: 64 * 1024, max_lines: usize::MAX };

/// The separator between two parts of a text.
const PARAGRAPH: &str = "\n\n";

/// The notice of questions that were declined.
const FORGED_QUESTION: &str =
    "a question was declined: no extension of the child can ask, so a process that it started has written it";
/// The notice of a question that the event reader could not keep whole.
const CUT_QUESTION: &str =
    "a question was declined: it was too long to be shown whole (16 KiB a text, 64 options of 1 KiB)";

/// Builds the result of a run from the values that are known before its child ends.
#[derive(Clone)]
pub(in crate::run) struct ResultBuilder {
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
}

/// The note about a failed command in the sandbox of a child that may write in its tree.
const REFUSED_OUTSIDE: &str = "[A shell command failed with \"Read-only file system\": the sandbox lets this sub-agent change files in its tree only, and \
                               neither its repository nor `.pi`.]";

/// Returns the note about a failed command in the read-only sandbox. The command's own output decides which note
/// applies, so the note only quotes it.
fn refused_in_shell(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::ReadOnly => {
            "[A shell command failed with \"Read-only file system\": the sandbox lets this sub-agent change no files.]"
        }
        Refusal::Denied => {
            "[A shell command failed with \"Permission denied\": the sandbox lets this sub-agent change no files, and hides \
             some.]"
        }
    }
}

impl ResultBuilder {
    /// Returns the result of a run whose child was started.
    #[must_use]
    pub(in crate::run) fn finish(mut self, report: RunReport, files: &RunFiles) -> ToolResult {
        self.sanitizer = Arc::new(self.sanitizer.with_new_counts());
        self.diagnostics.extend(self.give_back(files, &report.last));
        let RunReport { last, verdict, duration, changes, flagged, isolation } = report;
        let AttemptReport { supervised, collected, protocol_report, check, .. } = last;
        let mut collected = clean(collected, &self.sanitizer);
        let epilogue = collected.epilogue.take();
        let (announcement, lost) = announced(
            &supervised.outcome,
            protocol_report.announcement_rejected.as_deref(),
            epilogue.as_deref(),
        );
        self.diagnostics.extend(lost);
        let omitted_bytes = collected.omitted_bytes;
        if omitted_bytes > 0 {
            self.diagnostics.push(format!("{omitted_bytes} bytes in the middle of the answer were omitted"));
        }
        if protocol_report.forged_questions > 0 {
            self.diagnostics.push(FORGED_QUESTION.to_owned());
        }
        if protocol_report.has_cut_question {
            self.diagnostics.push(CUT_QUESTION.to_owned());
        }
        if let Some(repeated) = protocol_report.loop_warning {
            self.diagnostics.push(format!("the child repeated {repeated}, and got a warning"));
        }
        self.diagnostics.extend(verdict.note.clone());
        let is_completed = verdict.outcome == RunOutcome::Completed;
        // A failed check does not turn a complete answer into a partial one.
        let has_answer = is_completed || (check.is_some() && collected.text.is_some());
        let answer = if has_answer && self.output_schema.is_none() {
            collected.text
        } else {
            collected.partial.or(collected.text)
        };
        let mut answer = answer.filter(|text| !text.trim().is_empty());
        let submitted = collected.submitted.as_ref().zip(self.output_schema.as_ref());
        let structured =
            submitted.and_then(|(submitted, schema)| Structured::of(submitted, schema, self.limits, files));
        if let Some(structured) = &structured {
            self.diagnostics.extend(structured.lost.clone());
            let prefix = answer.take().map_or_else(String::new, |text| text + "\n\n");
            answer = Some(prefix + &structured.text);
        }
        self.diagnostics.extend(files.private_dirs.iter().flat_map(PrivateDirs::skipped_files));
        if !supervised.tree_has_ended {
            self.diagnostics.push("not all processes of the child could be ended".to_owned());
        }
        let mut single = self.single(&verdict, duration, files.session());
        let mechanisms = supervised.supervision.map(|_| supervised.mechanisms.as_slice());
        (single.structured, single.structured_file) =
            structured.map_or((None, None), |structured| (structured.value, structured.file));
        single.sandbox = self.sandbox.as_ref().map(|plan| plan.report(mechanisms));
        single.supervision = supervised.supervision.map(Supervision::as_str);
        single.resources = supervised.tally.map(Into::into);
        single.output = answer.as_deref().map(|text| truncate(text, OUTPUT_FIELD, None).text);
        single.attempts = self.earlier.count + 1;
        single.omitted_bytes = omitted_bytes;
        single.context = collected.context;
        single.usage = collected.usage;
        single.usage.add(&self.earlier.usage);
        single.display_items = collected.display_items;
        single.model = collected.model.map(|model| self.value(&model));
        let is_cut = collected.stop_reason == Some(StopReason::Length);
        single.stop_reason = collected.stop_reason.map(|reason| self.value(reason.as_str()));
        single.announcement = announcement.map(|announcement| self.announcement(announcement));
        single.changes = changes.map(|paths| paths.iter().map(|path| self.path(path)).collect());
        single.flagged = flagged.paths.iter().map(|path| self.path(path)).collect();
        single.flagged_gap = flagged.gap.map(|gap| gap.message(|path| self.path(path)));
        single.isolation = isolation.map(|report| self.isolation(report));

        let tried: Vec<&str> =
            collected.tool_names.intersection(&self.withheld.tools).map(String::as_str).collect();
        let mut notes: Vec<String> =
            self.skipped_options.iter().map(|skipped| format!("[{skipped}.]")).collect();
        if is_completed && is_cut {
            notes.push("[The model reached its output limit; the answer ends here.]".to_owned());
        }
        if !tried.is_empty() {
            let tools = tried.join(", ");
            let why = self.withheld.why;
            notes.push(format!("[It tried to change files ({tools}) and could not: {why}.]"));
        }
        let is_sandboxed = single.sandbox.as_ref().is_some_and(|sandbox| sandbox.enforced);
        let is_confined = self.sandbox.as_ref().is_some_and(SandboxPlan::is_confined);
        let refused = match collected.refusal.filter(|_| is_sandboxed) {
            Some(Refusal::ReadOnly) if is_confined => Some(REFUSED_OUTSIDE),
            // It may be a file of the tree that may not be executed.
            Some(Refusal::Denied) if is_confined => None,
            refusal => refusal.map(refused_in_shell),
        };
        notes.extend(refused.map(str::to_owned));
        single.check = check;
        notes.extend(Some(changes_summary(&single)).filter(|summary| !summary.is_empty()));
        single.notes = self.sanitizer.sanitize(&notes.join(PARAGRAPH)).into_string();
        let mut text = answer.unwrap_or_default();
        if !is_completed {
            text = failure_text(&single, &text);
        } else if !single.notes.is_empty() {
            text.push_str(PARAGRAPH);
            text.push_str(&single.notes);
        }
        self.result(single, &verdict, text, Some(files))
    }

    /// Adds the artifacts of a private tree to the result of a run without a child, unless the tree was not touched.
    pub(in crate::run) fn add_artifacts(&self, result: &mut ToolResult, outcome: ImportOutcome) {
        let flagged = of_branch(&outcome);
        let ImportOutcome { report, changes, notices, .. } = outcome;
        let Some(single) = result.details.results.first_mut() else { return };
        single.diagnostics.extend(notices.iter().map(|notice| self.field(notice)));
        if report.branch.is_none() && report.patch.is_none() && report.kept_tree.is_none() {
            return;
        }
        let shown = |paths: Vec<String>| paths.iter().map(|path| self.path(path)).collect();
        single.changes = changes.as_ref().map(|changes| shown(listed(paths_of(changes), MAX_CHANGES)));
        single.flagged = shown(flagged.paths);
        single.flagged_gap = flagged.gap.map(|gap| gap.message(|path| self.path(path)));
        single.isolation = Some(self.isolation(report));
        single.notes = changes_summary(single);
        result.text = format!("{}{PARAGRAPH}{}", result.text, single.notes);
    }

    fn isolation(&self, report: IsolationReport) -> IsolationReport {
        let path = |path: Option<String>| path.map(|path| self.path(&path));
        let IsolationReport { branch, patch, kept_tree, .. } = report;
        IsolationReport { branch: path(branch), patch: path(patch), kept_tree: path(kept_tree), ..report }
    }

    fn announcement(&self, announcement: Announcement) -> Announcement {
        match announcement {
            Announcement::Text(text) => {
                let (text, _) = self.sanitizer.sanitize(&text).truncate(self.limits, None);
                Announcement::Text(text.into_string())
            }
            Announcement::Skipped => Announcement::Skipped,
        }
    }

    /// Copies a token that an attempt has refreshed back into the user's credentials. Blocks. If the child has a new
    /// token, returns a notice for the user that says what happened to it.
    #[must_use]
    pub(in crate::run) fn give_back(&self, files: &RunFiles, report: &AttemptReport) -> Option<String> {
        // Uses the model that was chosen for the child. The child's report counts only if none was chosen.
        let model = self.model.as_deref().or(report.collected.model.as_deref());
        let (provider, _) = model?.split_once('/')?;
        let is_awaited = matches!(report.supervised.outcome, Outcome::Cancelled(_));
        files.private_dirs.as_ref()?.give_back(provider, if is_awaited { LOCK_AFTER_ABORT } else { LOCK })
    }

    /// Returns the result of a run that ends with this verdict before anything is done for it.
    #[must_use]
    pub(in crate::run) fn never_started(&self, mut verdict: Verdict) -> ToolResult {
        verdict.error = verdict.error.map(|error| format!("not started: {error}"));
        self.without_child(&verdict, Duration::ZERO, None)
    }

    /// Returns the result of a run that gets no child, or no further one. It includes the usage of earlier attempts.
    #[must_use]
    pub(in crate::run) fn without_child(
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

    fn single(&self, verdict: &Verdict, duration: Duration, session: Option<&Path>) -> SingleResult {
        SingleResult {
            exit_code: verdict.exit_code,
            error: verdict.error.as_deref().map(|error| self.field(error)),
            session_file: session.map(|path| path.to_string_lossy().into_owned()),
            attempts: 1,
            duration_ms: millis(duration),
            signal: verdict.signal.clone(),
            timeout_reason: verdict.timeout,
            sandbox: self.sandbox.as_ref().map(|plan| plan.report(None)),
            diagnostics: self.diagnostics.iter().map(|text| self.field(text)).collect(),
            next_step: verdict.next_step(),
            ..SingleResult::new(self.agent.clone(), self.field(&self.task), verdict.outcome)
        }
    }

    /// Keeps head and tail: programs print the kind of a failure first and its cause last.
    fn field(&self, text: &str) -> String {
        self.sanitizer.sanitize(text).truncate(FIELD, None).0.into_string()
    }

    /// Formats a value that a child reports on one line, because its line breaks could fake other lines.
    fn value(&self, text: &str) -> String {
        self.sanitizer.line(text, VALUE_CHARS).into_string()
    }

    /// Formats a file's name on one line. git allows any character in it.
    fn path(&self, path: &str) -> String {
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

    fn result(
        &self,
        mut single: SingleResult,
        verdict: &Verdict,
        text: String,
        files: Option<&RunFiles>,
    ) -> ToolResult {
        let full_text = self.sanitizer.sanitize(&text);
        // Frees a long answer before it is cut and written, so that it is in memory only once.
        drop(text);
        let (mut shown, truncated) = self.shortened(&full_text, &single);
        if truncated && let Some(files) = files {
            match files.save_output(&full_text) {
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
fn failure_text(single: &SingleResult, partial: &str) -> String {
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
