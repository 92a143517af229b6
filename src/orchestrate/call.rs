//! A call as it is made: who makes it, who watches it, and what it asks for.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::call_order::CallOrder;
use crate::run::{
    Control, HostCallbacks, HostContext, Progress, RunDetails, RunId, RunOverrides, RunSpec, ToolResult,
    UPDATE_INTERVAL,
};

/// The text of an update of a child that has said nothing.
const RUNNING: &str = "(running...)";

/// Where updates go. It holds the newest state only: while a host is busy, states are replaced, not queued.
pub type UpdateSender = watch::Sender<Option<ToolResult>>;

/// What every call has, whatever it asks for.
pub struct Call<C: HostCallbacks> {
    /// The call's own id.
    pub id: RunId,
    /// Whoever called.
    pub callbacks: Arc<C>,
    /// Ends it and sends messages into it.
    pub control: Control,
    /// Watches it.
    pub updates: UpdateSender,
    /// What its host calls it; finds the children that were booted for it.
    pub host_id: Option<String>,
    /// When it was made.
    pub order: CallOrder,
}

/// One of several tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSpec {
    /// The agent's name.
    pub agent: String,
    /// Where it works; absent: where the conversation does.
    pub cwd: Option<String>,
    /// What it is to do.
    pub task: String,
}

/// Several tasks, and what is around them.
#[derive(Clone, Debug)]
pub struct TasksSpec {
    /// The tasks, in order.
    pub tasks: Vec<TaskSpec>,
    /// The directory of the conversation.
    pub cwd: PathBuf,
    /// Everything around it.
    pub context: Arc<HostContext>,
}

impl TasksSpec {
    /// The runs that this comes to; `share` of them fill one result.
    pub(super) fn runs(&self, share: usize) -> Vec<RunSpec> {
        self.tasks.iter().map(|task| self.run(task, share)).collect()
    }

    fn run(&self, TaskSpec { agent, cwd, task }: &TaskSpec, share: usize) -> RunSpec {
        // Whatever is joined to an absolute path stays as it is when it is absolute itself.
        let place = cwd.as_deref().map_or_else(|| self.cwd.clone(), |cwd| self.cwd.join(cwd));
        RunSpec {
            agent: agent.clone(),
            task: task.clone(),
            cwd: place,
            context: Arc::clone(&self.context),
            share,
            siblings: self.tasks.len(),
            overrides: RunOverrides::default(),
        }
    }
}

/// Follows a run while it goes on, and looks once more when it is over. The newest state counts; what a slow watcher
/// misses is gone.
pub(super) async fn watched<T>(
    run: impl Future<Output = T>,
    mut progress: watch::Receiver<Progress>,
    mut show: impl FnMut(Progress),
) -> T {
    let (mut run, mut shown, mut is_news) = (std::pin::pin!(run), None, false);
    let value = loop {
        let due = shown.map_or_else(Instant::now, |shown| shown + UPDATE_INTERVAL);
        tokio::select! {
            biased;
            value = &mut run => break value,
            Ok(()) = progress.changed() => is_news = true,
            () = sleep_until(due), if is_news => {
                show(progress.borrow_and_update().clone());
                (shown, is_news) = (Some(Instant::now()), false);
            }
        }
    };
    if is_news || progress.has_changed().unwrap_or(true) {
        show(progress.borrow_and_update().clone());
    }
    value
}

/// An update of one run.
pub(super) fn update_of(id: &str, progress: Progress) -> ToolResult {
    let text = match (&*progress.text, progress.position) {
        ("", Some(position)) => format!("(queued at place {position}...)"),
        (text, _) if text.trim().is_empty() => RUNNING.to_owned(),
        (text, _) => text.to_owned(),
    };
    let details = RunDetails { streaming: Some(progress), ..RunDetails::single(id) };
    ToolResult { text, is_error: false, usage: None, details }
}
