//! Finishes the result of a run after its child has ended: the answer or the submitted result, the notes below it, and the
//! artifacts.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::announcement::announced;
use super::claims::{asks_for_change, claims_change};
use super::clean::clean;
use super::retry::has_no_side_effects;
use crate::run::facts::{Caveat, IsolationReport};
use crate::run::launch::files::RunFiles;
use crate::run::launch::private_dirs::PrivateDirs;
use crate::run::record::changes::flagged_in_branch;
use crate::run::record::changes::{listed, paths_of};
use crate::run::record::isolation::ImportOutcome;
use crate::run::result::artifacts::{MAX_CHANGES, changes_summary};
use crate::run::result::builder::{PARAGRAPH, ResultBuilder, failure_text, sandbox_report};
use crate::run::result::verdict::{AttemptReport, RunReport};
use crate::run::result::{Announcement, SingleResult, ToolResult};
use crate::run::sandbox::SandboxPlan;
use crate::run::state::RunOutcome;
use agents::{OutputSchema, WRITE_TOOLS, is_free_of_side_effects};
use pi_events::{Refusal, StopReason, Submitted};
use sanitizer::figures::bytes;
use sanitizer::{TruncateLimits, chain, fenced_as, truncate};
use supervisor::{Outcome, Supervision};

/// The maximum wait for the lock on the user's credentials when copying a token back: pi gives up on a lock after 30 s.
const LOCK: Duration = Duration::from_secs(35);
/// The same for an aborted run, whose caller is waiting.
const LOCK_AFTER_ABORT: Duration = Duration::from_secs(1);
/// The limit for `output` in `details`; `content` has its own, configured limit.
const OUTPUT_FIELD: TruncateLimits = TruncateLimits { max_bytes: 64 * 1024, max_lines: usize::MAX };

/// The notice of questions that were declined.
const FORGED_QUESTION: &str =
    "a question was declined: no extension of the child can ask, so a process that it started has written it";
/// The notice of a question that the event reader could not keep whole.
const CUT_QUESTION: &str =
    "a question was declined: it was too long to be shown whole (16 KiB a text, 64 options of 1 KiB)";

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
    pub(crate) fn finish(mut self, report: RunReport, files: &RunFiles) -> ToolResult {
        self.sanitizer = Arc::new(self.sanitizer.with_new_counts());
        self.diagnostics.extend(self.give_back(files, &report.last));
        let RunReport { last, verdict, duration, changes, flagged, isolation, stored_changes } = report;
        let AttemptReport { supervised, collected, protocol_report, check, .. } = last;
        let mut collected = clean(collected, &self.sanitizer);
        let epilogue = collected.epilogue.take();
        let has_only_read = has_no_side_effects(&collected, |tool| is_free_of_side_effects(tool, false));
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
        single.sandbox = self.sandbox.as_ref().map(|plan| sandbox_report(plan, mechanisms));
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
        // A run that cannot change files has no list of changes.
        let changes = changes.filter(|paths| self.may_change_files || !paths.is_empty());
        single.changes = changes.map(|paths| paths.iter().map(|path| self.path(path)).collect());
        single.flagged = flagged.paths.iter().map(|path| self.path(path)).collect();
        single.flagged_gap = flagged.gap.map(|gap| gap.message(|path| self.path(path)));
        single.isolation = isolation.map(|report| self.isolation(report));
        single.stored_changes = stored_changes;

        let mut notes: Vec<String> =
            self.skipped_options.iter().map(|skipped| format!("[{skipped}.]")).collect();
        if is_completed && is_cut {
            notes.push("[The model reached its output limit; the answer ends here.]".to_owned());
        }
        let tried = self.tried_note(&collected.tool_names);
        let has_tried = tried.is_some();
        notes.extend(tried);
        let refused = self.refused_note(&single, collected.refusal);
        notes.extend(refused.map(str::to_owned));
        let unchanged = self.unchanged(&single, &collected.tool_names, has_only_read, answer.as_deref());
        if single.isolation.is_none() {
            // The note about a private tree says the same.
            notes.extend(unchanged.map(|caveat| format!("[It {}.]", caveat.fact())));
        }
        let facts = [self.withheld_caveat(has_tried), unchanged, refused.map(|_| Caveat::Refused)];
        single.caveats = facts.into_iter().flatten().collect();
        single.check = check;
        notes
            .extend(Some(changes_summary(&self.run_id.get(), &single)).filter(|summary| !summary.is_empty()));
        single.notes = self.sanitizer.sanitize(&notes.join(PARAGRAPH)).into_string();
        let mut text = answer.unwrap_or_default();
        if !is_completed {
            text = failure_text(&single, &text);
        } else if !single.notes.is_empty() {
            text.push_str(PARAGRAPH);
            text.push_str(&single.notes);
        }
        self.result(single, &verdict, text, Some(&|text| files.save_output(text)))
    }

    /// Returns the note about tools that the child called and does not have.
    fn tried_note(&self, called: &BTreeSet<String>) -> Option<String> {
        let caveat = self.withheld.caveat?;
        let tried: Vec<&str> = called.intersection(&self.withheld.tools).map(String::as_str).collect();
        let why = if caveat == Caveat::Readonly { "this agent is readonly" } else { "`allowWrite` is off" };
        let tools = tried.join(", ");
        (!tried.is_empty()).then(|| format!("[It tried to change files ({tools}) and could not: {why}.]"))
    }

    /// Returns the fact about a run without tools that write. `has_tried`: the child called one.
    fn withheld_caveat(&self, has_tried: bool) -> Option<Caveat> {
        let is_off = |caveat: &Caveat| self.withheld.are_requested && *caveat == Caveat::WriteOff;
        self.withheld.caveat.filter(|caveat| has_tried || is_off(caveat))
    }

    /// Returns the note about a command that the sandbox has refused.
    fn refused_note(&self, single: &SingleResult, refusal: Option<Refusal>) -> Option<&'static str> {
        let is_sandboxed = single.sandbox.as_ref().is_some_and(|sandbox| sandbox.enforced);
        let is_confined = self.sandbox.as_ref().is_some_and(SandboxPlan::is_confined);
        match refusal.filter(|_| is_sandboxed) {
            Some(Refusal::ReadOnly) if is_confined => Some(REFUSED_OUTSIDE),
            // It may be a file of the tree that may not be executed.
            Some(Refusal::Denied) if is_confined => None,
            refusal => refusal.map(refused_in_shell),
        }
    }

    /// Returns the fact about a run that could write, was expected to write and has changed nothing.
    fn unchanged(
        &self,
        single: &SingleResult,
        called: &BTreeSet<String>,
        has_only_read: bool,
        answer: Option<&str>,
    ) -> Option<Caveat> {
        let has_changes = single.changes.as_ref().is_some_and(|changes| !changes.is_empty());
        if has_changes || !single.flagged.is_empty() {
            return None;
        }
        // An answer in a resumed session may speak of earlier changes.
        let is_claimed = self.may_change_files
            && !self.is_resumed
            && single.outcome == RunOutcome::Completed
            && (asks_for_change(&self.task) || answer.is_some_and(claims_change));
        let has_written = called.iter().any(|tool| WRITE_TOOLS.contains(&&**tool));
        if is_claimed && self.earlier.count == 0 && has_only_read {
            return Some(Caveat::NoWrite);
        }
        (single.is_unchanged() && (is_claimed || has_written)).then_some(Caveat::Unchanged)
    }

    /// Adds the artifacts of a private tree to the result of a run without a child, unless the tree was not touched.
    pub(crate) fn add_artifacts(&self, result: &mut ToolResult, outcome: ImportOutcome) {
        let flagged = flagged_in_branch(&outcome);
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
        single.notes = changes_summary(&self.run_id.get(), single);
        result.text = format!("{}{PARAGRAPH}{}", result.text, single.notes);
    }

    /// Copies a token that an attempt has refreshed back into the user's credentials. Blocks. If the child has a new
    /// token, returns a notice for the user that says what happened to it.
    #[must_use]
    pub(crate) fn give_back(&self, files: &RunFiles, report: &AttemptReport) -> Option<String> {
        // Uses the model that was chosen for the child. The child's report counts only if none was chosen.
        let model = self.model.as_deref().or(report.collected.model.as_deref());
        let (provider, _) = model?.split_once('/')?;
        let is_awaited = matches!(report.supervised.outcome, Outcome::Cancelled(_));
        files.private_dirs.as_ref()?.give_back(provider, if is_awaited { LOCK_AFTER_ABORT } else { LOCK })
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
}

/// The maximum size of a value in `details`, as JSON, in bytes. A session file keeps `details`.
const MAX_DETAILS_BYTES: usize = 64 * 1024;
/// The maximum size of a value in the text, in bytes: as much as the store keeps of a background run's value.
const MAX_TEXT_BYTES: usize = 12 * 1024;

/// A submitted result. It is never truncated, because half a value is not valid JSON.
struct Structured {
    /// The value, unless it is large.
    pub value: Option<Value>,
    /// The file that holds it, if it is large.
    pub file: Option<String>,
    /// The text for models and people.
    pub text: String,
    /// The reason why the file could not be written.
    pub lost: Option<String>,
}

impl Structured {
    /// Returns the sanitized result of a run. `None` if it is not JSON.
    fn of(
        submitted: &Submitted,
        schema: &OutputSchema,
        limits: TruncateLimits,
        files: &RunFiles,
    ) -> Option<Self> {
        let value = schema.result(serde_json::from_slice(&submitted.json).ok()?);
        let json = serde_json::to_string_pretty(&value).ok()?;
        let fits = json.len() <= MAX_TEXT_BYTES.min(limits.max_bytes / 2)
            && json.lines().count() <= limits.max_lines / 2;
        if fits {
            let text = fenced_as("json", &json);
            return Some(Self { value: Some(value), file: None, text, lost: None });
        }
        let size = bytes(json.len() as u64);
        let (file, lost) = match files.save_submitted(&json) {
            Ok(path) => (Some(path.to_string_lossy().into_owned()), None),
            Err(error) => {
                (None, Some(format!("the submitted result could not be written: {}", chain(&error))))
            }
        };
        let text = match &file {
            Some(path) => format!("[The result is {size} of JSON: {path}]"),
            None => format!("[The result is {size} of JSON and could not be written to a file.]"),
        };
        Some(Self {
            value: (json.len() <= MAX_DETAILS_BYTES || file.is_none()).then_some(value),
            file,
            text,
            lost,
        })
    }
}
