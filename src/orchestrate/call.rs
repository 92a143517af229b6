//! A call: its caller, its request, and its host's view of it.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::watch;

use super::background_move::BackgroundMove;
use super::call_order::CallOrder;
use super::queue::Group;
use crate::run::{
    Control, HostCallbacks, HostContext, Progress, RunOverrides, RunSpec, SharedRunId, Throttle, ToolResult,
};
use supervisor::Cancel;

/// The channel for updates. It holds only the newest state: while the host is busy, states are replaced, not queued.
pub type UpdateSender = watch::Sender<Option<ToolResult>>;

/// The fields of every call, for one task or several.
pub struct Call {
    /// In a call with one task also the id of its run.
    pub id: SharedRunId,
    /// Asks the host's user, and refreshes logins.
    pub callbacks: Arc<dyn HostCallbacks>,
    /// Cancels the call and steers its children.
    pub control: Control,
    /// The channel for its progress.
    pub updates: UpdateSender,
    /// The host's id of the call; finds the children that were booted for it.
    pub host_id: Option<String>,
    /// The group whose calls share a limit on their children, with this limit. For a call with one task.
    pub group: Option<(Group, usize)>,
    /// Its position among all calls of this process.
    pub order: CallOrder,
    /// Ends the wait of the call while its runs continue.
    pub background_move: BackgroundMove,
    /// Cancelled when its host ends, which ends the runs that were moved to the background.
    pub ends_with: Cancel,
}

impl Call {
    /// Separates the call from its updates. A run that is moved to the background keeps the call, but must not keep its
    /// updates open.
    pub(super) fn without_updates(self) -> (Arc<Self>, UpdateSender) {
        let nowhere = watch::Sender::new(None);
        let updates = self.updates;
        (Arc::new(Self { updates: nowhere, ..self }), updates)
    }
}

/// One of several tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct TaskSpec {
    /// The agent's name.
    pub agent: String,
    /// Its working directory, relative to the conversation's, which is the default.
    pub cwd: Option<String>,
    /// The task for the agent.
    pub task: String,
    /// The model that replaces the agent's and the configured one. An unknown one is skipped with a warning.
    pub model: Option<String>,
    /// The thinking level that replaces the agent's and the configured one. An unknown one is skipped with a warning.
    pub thinking: Option<String>,
}

/// Several tasks of one call.
#[derive(Clone, Debug)]
pub struct TasksSpec {
    /// The tasks, in order.
    pub tasks: Vec<TaskSpec>,
    /// The directory of the conversation.
    pub cwd: PathBuf,
    /// The host's data for every call.
    pub context: Arc<HostContext>,
}

impl TasksSpec {
    /// One run for each task; `share` of them fill one result.
    pub(super) fn runs(&self, share: usize) -> Vec<RunSpec> {
        self.tasks.iter().map(|task| self.run(task, share)).collect()
    }

    fn run(&self, TaskSpec { agent, cwd, task, model, thinking }: &TaskSpec, share: usize) -> RunSpec {
        // An absolute `cwd` replaces the conversation's.
        let cwd = cwd.as_deref().map_or_else(|| self.cwd.clone(), |cwd| self.cwd.join(cwd));
        RunSpec {
            agent: agent.clone(),
            label: None,
            task: task.clone(),
            cwd,
            context: Arc::clone(&self.context),
            share,
            siblings: self.tasks.len(),
            overrides: RunOverrides {
                model: model.clone(),
                thinking: thinking.clone(),
                ..RunOverrides::default()
            },
        }
    }
}

/// Shows the progress of a run as often as [`Throttle`] allows, and a last time when it has ended. States between two of
/// them are skipped.
pub(super) async fn watched<T>(
    run: impl Future<Output = T>,
    mut progress: watch::Receiver<Progress>,
    mut show: impl FnMut(Progress),
) -> T {
    let mut run = std::pin::pin!(run);
    let mut throttle = Throttle::default();
    let value = loop {
        tokio::select! {
            biased;
            value = &mut run => break value,
            Ok(()) = throttle.next(progress.changed()) => show(progress.borrow_and_update().clone()),
        }
    };
    if progress.has_changed().unwrap_or(true) {
        show(progress.borrow_and_update().clone());
    }
    value
}
