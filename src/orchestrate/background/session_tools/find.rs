//! Finds the run that a model names.

use std::sync::Arc;

use crate::orchestrate::background::commands::named;
use crate::orchestrate::background::conversation::view::ConversationView;
use crate::orchestrate::background::service::BackgroundService;
use crate::present::Report;
use crate::run::{RunRecord, blocking};
use crate::transcript::session_id;

/// Finds a run of the conversation: by its session key, its id or the beginning of it, its label, or the id of its child's
/// session.
///
/// # Errors
///
/// With a report of the nearest name and of all candidates.
pub(super) async fn find(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    name: &str,
) -> Result<RunRecord, Report> {
    let name = name.trim();
    let runs = service.runs(Some(view.session().to_owned())).await;
    let unknown = match named(name, &runs, false) {
        Ok(run) => return Ok(run.clone()),
        Err(report) => report,
    };
    // A run under way keeps the id of its child's session only in the file.
    let live: Vec<RunRecord> = runs.into_iter().filter(RunRecord::is_live).collect();
    let wanted = name.to_owned();
    let is_wanted = move |run: &RunRecord| {
        let id = run.transcript.as_deref().and_then(|path| session_id(path).ok().flatten());
        id.is_some_and(|id| id == wanted)
    };
    blocking(move || live.into_iter().find(is_wanted)).await.ok_or(unknown)
}
