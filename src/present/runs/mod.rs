//! Background runs as the panel and the widget show them. Runs come as JSON; data of another form is skipped.
//!
//! `workflow` has the row and the details of a workflow. `view` has the texts of a run for every drawing, `columns` the
//! columns of a list, `list` the panel's list and the widget, and `run` the details of one run and its transcript.

mod columns;
mod list;
mod run;
mod view;
mod workflow;

pub use list::draw_widget;
pub(super) use list::{ListRow, ListView, draw_list, draw_list_head};
pub(super) use run::{
    draw_entry, draw_failure, draw_head, draw_latest, draw_older_entries, draw_outcome, draw_question,
    draw_run_artifacts, draw_task, draw_usage,
};
pub(super) use view::{ShownRun, read_runs};
pub(super) use workflow::{draw_workflow, is_of};
