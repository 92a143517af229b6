//! The artifacts of a run in words: the outcome of its check, the changed files, a branch. This text is ours and not
//! the child's.

use super::tool_result::SingleResult;
use crate::run::facts::{CheckReport, IsolationReport};
use sanitizer::figures::counted;
use sanitizer::{fenced_as, quoted_path, quoted_paths, quoted_within};

/// The maximum number of changed files that a result lists.
pub(crate) const MAX_CHANGES: usize = 200;
/// The maximum number of files that a result lists as files that run code later.
pub(crate) const MAX_FLAGGED: usize = 50;
/// The maximum length of a check's command, and of its outcome, in characters.
pub(crate) const MAX_COMMAND_CHARS: usize = 300;

/// The label before the paths of the files that a person should check first.
const FLAGGED: &str = "Check these first: they run code later or instruct agents: ";

/// The words around the reason why the search for these files was not complete.
const INCOMPLETE: &str = "Not all files were checked for code that runs later: ";
const CHECK_YOURSELF: &str = "Check the rest yourself, including the files that git ignores.";

/// Returns the artifacts of the run with this id in words. Empty without a check and without changes. The texts of the result are
/// sanitized.
pub(crate) fn changes_summary(run_id: &str, single: &SingleResult) -> String {
    let check = single.check.as_ref().map(CheckReport::text);
    [check, files_summary(run_id, single)].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Returns the same without the check: the changes in the tree, or on a branch or in a patch that waits to be applied.
pub(crate) fn files_summary(run_id: &str, single: &SingleResult) -> Option<String> {
    let paths = single.changes.as_deref().filter(|paths| !paths.is_empty());
    let changed = paths.map(|paths| format!("Files changed: {}", listed(paths, MAX_CHANGES)));
    let isolation = single.isolation.as_ref().map(|report| tree_summary(run_id, report));
    let flagged = &single.flagged;
    let flagged = (!flagged.is_empty()).then(|| format!("{FLAGGED}{}", listed(flagged, MAX_FLAGGED)));
    let gap = single.flagged_gap.as_deref().map(|why| format!("{INCOMPLETE}{why}. {CHECK_YOURSELF}"));
    let parts: Vec<_> = [changed, isolation, flagged, gap].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Quotes the paths that a result lists. The entry after the first `limit` is ours: the number of the others.
fn listed(paths: &[String], limit: usize) -> String {
    let (paths, more) = paths.split_at(paths.len().min(limit));
    let quoted = quoted_paths(paths);
    match more.first() {
        Some(more) => format!("{quoted}, {more}"),
        None => quoted,
    }
}

/// Returns true if a run has artifacts that must be reported even if its child announces nothing.
pub(crate) fn must_be_delivered(single: &SingleResult) -> bool {
    let waits = single.isolation.as_ref().is_some_and(|report| {
        report.patch.is_some() || report.branch.is_some() || report.kept_tree.is_some()
    });
    waits || !single.flagged.is_empty() || single.flagged_gap.is_some()
}

/// Returns the text about the artifacts of an isolated run, which are not in the caller's tree.
fn tree_summary(run_id: &str, report: &IsolationReport) -> String {
    let mut summary = match (&report.branch, &report.patch) {
        (Some(branch), patch) => {
            let patch = patch
                .as_ref()
                .map_or_else(String::new, |patch| format!(", and as a patch in {}", quoted_path(patch)));
            format!(
                "[It worked in a private tree: its changes ({}, +{} -{}) are not in your tree yet. They are on \
                 the branch {}{patch}. The user applies them with `/subagents apply {run_id}`.]",
                counted(report.files, "file"),
                report.insertions,
                report.deletions,
                quoted_path(branch)
            )
        }
        (None, Some(patch)) => {
            format!(
                "[It worked in a private tree: its changes ({}, +{} -{}) are not in your tree yet. They are on \
                 no branch, only in the patch {}. The user applies them with `/subagents apply {run_id}`.]",
                counted(report.files, "file"),
                report.insertions,
                report.deletions,
                quoted_path(patch)
            )
        }
        (None, None) if report.kept_tree.is_none() => {
            "[It worked in a private tree and changed nothing.]".to_owned()
        }
        (None, None) => "[It worked in a private tree: its changes are not in your tree.]".to_owned(),
    };
    if let Some(kept) = &report.kept_tree {
        let path = quoted_path(kept);
        let note = format!("\n[Not everything could be imported, so its tree was kept: {path}]");
        summary.push_str(&note);
    }
    summary
}

impl CheckReport {
    /// Returns the text for a result, or for the announcement of a failed run.
    pub(crate) fn text(&self) -> String {
        let Self { command, passed, ended, runs, output } = self;
        let state = if *passed { "passed" } else { "failed" };
        let times = if *runs > 1 { format!(", run {runs} times") } else { String::new() };
        let printed = if output.is_empty() { String::new() } else { format!("\n{}", fenced_as("", output)) };
        format!("Check {} {state}: {ended}{times}{printed}", quoted_within(command, MAX_COMMAND_CHARS))
    }

    /// Returns true if the error of a run is this check.
    #[must_use]
    pub fn is_error(&self, error: &str) -> bool {
        self.error().is_some_and(|own| own == error)
    }

    /// Returns the error of a run whose work does not pass its check.
    pub(super) fn error(&self) -> Option<String> {
        let command = quoted_within(&self.command, MAX_COMMAND_CHARS);
        (!self.passed).then(|| format!("the check {command} failed: {}", self.ended))
    }
}
