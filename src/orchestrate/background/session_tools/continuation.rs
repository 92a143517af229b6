//! The run that continues an ended one in the session of its child.

use std::sync::Arc;
use std::time::Duration;

use crate::orchestrate::background::find::{NamedBy, Target, find};
use crate::orchestrate::background::service::background;
use crate::run::{HostContext, Resumption, RunOverrides, RunRecord, RunSpec, Timeout, Used};
use agents::config::Budget;

/// The prompt of a run resumed without a message.
const CONTINUE_PROMPT: &str = "Continue with your task where you left off, and finish it.";

/// Returns the run that continues `run` with a message. `used_before` counts towards its own budget. `None` if the run has no
/// session.
pub(in crate::orchestrate::background) fn continuation(
    run: &RunRecord,
    message: Option<&str>,
    used_before: Used,
    context: &Arc<HostContext>,
) -> Option<RunSpec> {
    let overrides = RunOverrides {
        model: run.model.clone(),
        thinking: run.thinking.clone(),
        timeout: limit_of(run),
        // A program sets it for one call.
        budget: Budget::default(),
        // The tools that its policy allowed at first. Tools forbidden since then stay forbidden.
        tools: Some(run.tools.clone()),
        announces: true,
        output_schema: run.output_schema.clone(),
        resumes: Some(Resumption {
            run_id: run.run_id.clone(),
            directory: run.directory.clone()?,
            session: run.transcript.clone()?,
        }),
        used_before,
    };
    Some(RunSpec {
        agent: run.agent.clone(),
        label: run.label.clone(),
        task: message.unwrap_or(CONTINUE_PROMPT).to_owned(),
        cwd: run.cwd.clone(),
        context: Arc::clone(context),
        share: 1,
        siblings: 1,
        overrides,
    })
}

/// Returns the run that continues the run of this name, for a child that boots before its message has arrived. `None` if the
/// message would not start a child: the run has not ended, or it cannot be continued. A workflow may claim the sessions of its
/// runs itself, so their children do not boot early either.
pub(in crate::orchestrate) async fn early_continuation(context: &HostContext, name: &str) -> Option<RunSpec> {
    let service = background(&context.agent_dir);
    let view = service.conversations.get(context.session()?)?;
    let run = find(&service, &view, &Target::new(name), NamedBy::Program).await.ok()?;
    let is_lost = run.lost_transcript().is_some() || run.archived_ms.is_some();
    if run.is_live() || is_lost || run.workflow.is_some() {
        return None;
    }
    continuation(&run, Some(RunSpec::NO_TASK), Used::default(), &view.scope.context)
}

/// The time limit of a run that starts again.
fn limit_of(run: &RunRecord) -> Timeout {
    match (run.timeout_ms, run.call_timeout_ms) {
        (Some(asked_for), _) => Timeout::After(Duration::from_millis(asked_for)),
        (None, Some(configured)) => Timeout::AsBefore(Duration::from_millis(configured)),
        (None, None) => Timeout::Never,
    }
}
