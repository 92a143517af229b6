//! A workflow as a row of the panel's list or of the widget, and its details below the list.

use super::columns::RowTexts;
use super::view::ShownRun;
use crate::present::ShownWorkflow;
use crate::present::paint::{INDENT, Limit, Page, Span, brief, folded};

/// Returns the texts of a workflow in the columns of a list.
pub(super) fn workflow_texts(workflow: &ShownWorkflow) -> RowTexts {
    let mark = workflow.mark();
    RowTexts {
        mark: Span::new(mark.color(), mark.sign()),
        name: brief(&workflow.name),
        cost: workflow.spent().unwrap_or_default(),
        ..RowTexts::default()
    }
}

/// Returns the activity of a workflow: its project if that is another one, its state unless it runs, its phase, the counts of its
/// runs, and its error.
pub(super) fn workflow_activity(workflow: &ShownWorkflow) -> Vec<Span> {
    let state = (!workflow.is_running()).then(|| workflow.state.to_string());
    let phase = workflow.phase.as_deref().filter(|_| workflow.is_running()).map(brief);
    let counts = Some(workflow.counts().join(", ")).filter(|counts| !counts.is_empty());
    let project = workflow.other_project().map(|project| brief(&format!("in {project}")));
    let words = [project, state, phase, counts, workflow.failure()].into_iter().flatten();
    let words: Vec<String> = words.collect();
    vec![Span::new("muted", words.join(" · "))]
}

/// Returns the activity of a running workflow in the widget: as in the list, then its cost and the newest words of its newest
/// active run.
pub(super) fn widget_activity(workflow: &ShownWorkflow) -> Vec<Span> {
    let mut spans = workflow_activity(workflow);
    spans.extend(workflow.spent().map(|cost| Span::new("dim", format!(" · {cost}"))));
    let newest = workflow.runs.iter().filter(|run| run.is_live()).max_by_key(|run| run.created_ms);
    let mut latest = newest.map(|run| ShownRun(run.clone()).latest()).unwrap_or_default();
    if latest.iter().any(|span| !span.text.is_empty()) {
        spans.push(Span::new("muted", " · "));
        spans.append(&mut latest);
    }
    spans
}

/// Draws the details of a workflow: its state with its error, its file, and the commands that help.
pub(in crate::present) fn draw_workflow(page: &mut Page, workflow: &ShownWorkflow) {
    page.blank();
    page.rule(&folded(&workflow.name));
    page.indented(INDENT, |page| {
        page.text("toolOutput", &folded(&format!("it {}", workflow.sentence())), Limit::None);
        if let Some(file) = &workflow.file {
            page.spans(vec![Span::path("muted", file)]);
        }
        for step in workflow.next_steps() {
            page.text("dim", &step, Limit::None);
        }
    });
}
