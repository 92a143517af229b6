//! A workflow as a row of the panel's list or of the widget, and its details below the list.

use super::columns::RowTexts;
use super::run::draw_question;
use super::view::ShownRun;
use crate::present::paint::{INDENT, Limit, Page, Span, brief, folded};
use crate::present::{Mark, ShownWorkflow};
use crate::run::RunRecord;

/// Returns true if the workflow has called the run.
pub(crate) fn is_of(run: &RunRecord, workflow: &ShownWorkflow) -> bool {
    run.workflow.as_ref().is_some_and(|place| place.id == workflow.id && place.project == workflow.project)
}

/// Returns the texts of a workflow in the columns of a list. `asks`: one of its runs waits for the answer to a question.
pub(super) fn workflow_texts(workflow: &ShownWorkflow, asks: bool) -> RowTexts {
    let mark = if asks { Mark::Asking } else { workflow.mark() };
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

/// Returns the activity of a running workflow in the widget: as in the list, then its cost, and the newest words of its active
/// runs. The runs that come with a workflow have no words.
pub(super) fn widget_activity(workflow: &ShownWorkflow, live: &[ShownRun]) -> Vec<Span> {
    let mut spans = workflow_activity(workflow);
    spans.extend(workflow.spent().map(|cost| Span::new("muted", format!(" · {cost}"))));
    let own = live.iter().filter(|run| is_of(run, workflow) && run.is_live());
    let speaking = own.filter(|run| run.latest().iter().any(|span| !span.text.is_empty()));
    if let Some(run) = speaking.max_by_key(|run| run.created_ms) {
        spans.push(Span::new("muted", " · "));
        spans.append(&mut run.latest());
    }
    spans
}

/// Draws the details of a workflow: the question of the run `asking`, its state with its error, its file, and the commands that
/// help.
pub(crate) fn draw_workflow(page: &mut Page, workflow: &ShownWorkflow, asking: Option<&ShownRun>) {
    page.blank();
    page.rule(&folded(&workflow.name));
    page.indented(INDENT, |page| {
        if let Some(run) = asking {
            draw_question(page, run);
        }
        page.text("toolOutput", &folded(&format!("it {}", workflow.sentence())), Limit::None);
        if let Some(file) = &workflow.file {
            page.spans(vec![Span::path("muted", file)]);
        }
        for step in workflow.next_steps() {
            page.text("muted", &step, Limit::None);
        }
    });
}
