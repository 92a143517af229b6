//! Children that are booted while the call that needs them is still arriving.
//!
//! Such a child waits for its task and does nothing before it. When its call turns out to be another one or does not come,
//! or when a run needs its slot, it is ended and leaves no trace.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::select;
use tokio::sync::{oneshot, watch};

use super::ahead::{memory_is_short, take_spare};
use super::arriving::Arriving;
use super::calls::Early;
use super::handover::{Claim, Handover, discard};
use super::streaming_args::{NamedChild, NamedTask, StreamingArgs};
use crate::orchestrate::background::early_continuation;
use crate::orchestrate::call_order::{Sequence, SequenceGuard};
use crate::orchestrate::provider_gate::request;
use crate::orchestrate::queue::{EarlyPermit, Group, Queue};
use crate::run::{
    Booted, BoxFuture, HostCallbacks, HostContext, HostModel, Memory, RunId, RunOverrides, RunSpec,
    SharedRunId, blocking, prepare, remembered_model,
};
use agents::Tool;
use agents::config::{EarlyBoot, OnExit};
use supervisor::{Cancel, CancelReason};

/// A call that is arriving. Its end, or dropping it, ends the children that no run has claimed.
pub struct EarlyCall {
    arriving: Arc<Arriving>,
    /// `None` for an unknown tool, which boots nothing.
    tool: Option<Tool>,
    cwd: PathBuf,
    context: Arc<HostContext>,
    arguments: Mutex<StreamingArgs>,
    order: Sequence,
    end_signal: watch::Sender<bool>,
    /// Watched by every child that is being booted, waits, or is being ended.
    children: watch::Sender<()>,
    runtime: Handle,
}

impl EarlyCall {
    /// A call of which nothing has arrived yet. Children are started on `runtime`.
    #[must_use]
    pub fn new(
        host_id: String,
        tool: impl Into<Option<Tool>>,
        cwd: PathBuf,
        context: HostContext,
        runtime: Handle,
    ) -> Self {
        let tool = tool.into();
        let context = Arc::new(context);
        let arguments = Mutex::default();
        let end_signal = watch::Sender::new(false);
        let arriving = Arriving::register(host_id);
        let order = Sequence::default();
        let children = watch::Sender::new(());
        Self { arriving, tool, cwd, context, arguments, order, end_signal, children, runtime }
    }

    /// Takes the next piece of the call's arguments, as raw JSON, and starts to boot the children that are certain now.
    pub fn push(&self, piece: &str) {
        self.arriving.touch();
        let named = self.arguments.lock().push(piece);
        for child in named {
            if *self.end_signal.borrow() {
                return;
            }
            match child {
                // Later steps of a chain wait for the first one.
                NamedChild::OfTask(task) if self.tool != Some(Tool::Chain) || task.index == 0 => {
                    self.boot_new(task);
                }
                NamedChild::OfRun(name) if self.tool == Some(Tool::SessionsSend) => {
                    self.boot_continuation(name);
                }
                NamedChild::OfTask(_) | NamedChild::OfRun(_) => {}
            }
        }
    }

    /// Ends the children that no run has claimed. Resolves when all of their processes and files are gone.
    pub fn end(&self) -> impl Future<Output = ()> + Send + use<> {
        self.signal_end();
        let children = self.children.clone();
        async move { children.closed().await }
    }

    /// Returns true if all of its children are gone.
    fn has_ended(&self) -> bool {
        self.children.is_closed()
    }

    fn signal_end(&self) {
        self.end_signal.send_replace(true);
        self.arriving.unregister();
    }

    /// Boots the child of a new run.
    fn boot_new(&self, NamedTask { index, agent, cwd, model, thinking }: NamedTask) {
        let Some(tool) = self.tool.filter(|tool| tool.starts_runs()) else { return };
        let cwd = cwd.map_or_else(|| self.cwd.clone(), |cwd| self.cwd.join(cwd));
        let task = RunSpec::NO_TASK.to_owned();
        let context = Arc::clone(&self.context);
        // The call checks both. If it skips an unknown one, it does not take this child.
        let trimmed =
            |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let announces = tool == Tool::SessionsSpawn;
        let id = if announces { self.arriving.background_id() } else { Some(RunId::random()) };
        let Some(id) = id else { return };
        let (model, thinking) = (trimmed(model), trimmed(thinking));
        let overrides = RunOverrides { model, thinking, announces, ..RunOverrides::default() };
        let spec = RunSpec { agent, label: None, task, cwd, context, share: 1, siblings: 1, overrides };
        self.boot(index, async move { Some((spec, id)) });
    }

    /// Boots the child that continues the run of this name.
    fn boot_continuation(&self, name: String) {
        let context = Arc::clone(&self.context);
        self.boot(0, async move {
            let spec = early_continuation(&context, &name).await?;
            // Its preparation sets the id of the continued run.
            Some((spec, RunId::random()))
        });
    }

    fn boot(&self, index: usize, wanted: impl Future<Output = Option<(RunSpec, RunId)>> + Send + 'static) {
        let claimed = self.arriving.offer(index);
        let arriving = Arc::clone(&self.arriving);
        let end_signal = self.end_signal.subscribe();
        let order = self.order.next();
        let child = self.children.subscribe();
        self.runtime.spawn(async move {
            if let Some((spec, id)) = wanted.await {
                // On the heap, because starting a child takes a large future that is needed for a short time only.
                Box::pin(keep_until_claimed((spec, id), &arriving, order, claimed, end_signal)).await;
            }
            drop(child);
        });
    }
}

impl Early for EarlyCall {
    fn push(&self, piece: &str) {
        Self::push(self, piece);
    }

    fn end(&self) -> BoxFuture<'static, ()> {
        Box::pin(Self::end(self))
    }

    fn has_ended(&self) -> bool {
        Self::has_ended(self)
    }
}

impl Drop for EarlyCall {
    fn drop(&mut self) {
        self.signal_end();
    }
}

/// Boots a child and keeps it until its run claims it or it is not needed any more.
async fn keep_until_claimed(
    (spec, id): (RunSpec, RunId),
    arriving: &Arriving,
    order: SequenceGuard,
    mut claimed: oneshot::Receiver<Claim>,
    mut end_signal: watch::Receiver<bool>,
) {
    let cancel = Cancel::new();
    let mut booting = Box::pin(boot(spec, id, arriving.group.clone(), order, &cancel));
    let in_time = select! {
        biased;
        booted = &mut booting => Some(booted),
        _ = end_signal.wait_for(|has_ended| *has_ended) => None,
    };
    let booted = if let Some(booted) = in_time {
        booted
    } else {
        // A child that is being started has files. `end` waits for it, so that no file remains.
        cancel.cancel(CancelReason::Dropped);
        booting.await
    };
    let Some((booted, mut permit)) = booted else { return };
    let ended = booted.ended();
    let claim = select! {
        biased;
        claim = &mut claimed => claim.map_err(|_| "its call has ended"),
        _ = end_signal.wait_for(|has_ended| *has_ended) => Err("its call has ended or turned out to be another one"),
        () = permit.evicted() => Err("a run needs its slot"),
        () = ended => Err("it has exited"),
        () = memory_is_short() => Err("memory is short"),
        () = arriving.fell_silent() => Err("nothing more of its call has arrived"),
    };
    match claim {
        Ok(claim) => {
            let (handover, returned) = Handover::new((booted, permit));
            // The child comes back at once if the run does not wait any more.
            drop(claim.send(handover));
            if let Ok((booted, permit)) = returned.await {
                tracing::info!(
                    target: "early", child = booted.run_id(), reason = "its run does not need it",
                    "an early child is discarded"
                );
                discard(booted, permit).await;
            }
        }
        Err(reason) => {
            tracing::info!(target: "early", child = booted.run_id(), reason, "an early child is discarded");
            discard(booted, permit).await;
        }
    }
}

/// Starts a child if there is a permit for it. The children of a call prepare side by side, and ask for permits in order.
async fn boot(
    spec: RunSpec,
    id: RunId,
    group: Group,
    mut order: SequenceGuard,
    cancel: &Cancel,
) -> Option<(Booted, EarlyPermit)> {
    let host = NoUser { context: Arc::clone(&spec.context), has_no_answer: AtomicBool::new(false) };
    let ready = prepare(spec, SharedRunId::new(id), &host, cancel).await.ok()?;
    // The answer may have arrived since. An earlier run names the model with which its child has worked, so the answer is known.
    let has_no_answer = host.has_no_answer.into_inner() && ready.spec.overrides.resumes.is_none();
    if has_no_answer || ready.awaits_host() {
        // The host may have no login for the alias. The run would then start a second child with another model.
        return None;
    }
    // A background run that outlives this process gets its child in another one. A continued run does not outlive it.
    let is_detached = ready.spec.overrides.announces
        && ready.spec.overrides.resumes.is_none()
        && ready.resolved.config.background.on_exit == OnExit::Keep;
    let is_off = ready.resolved.config.early_boot == EarlyBoot::Off || is_detached;
    if is_off || !blocking(|| Memory::measure().has_room()).await || !ready.may_boot_early().await {
        tracing::debug!(target: "early", run = %ready.id().get(), "no child is booted early");
        return None;
    }
    let group = Some((group, ready.resolved.config.parallel_concurrency));
    let request = request(&ready, group).await;
    order.reached().await;
    if let Some(spare) = take_spare(&ready, &request).await {
        return Some(spare.accept());
    }
    let permit = Queue::shared().early(&request)?;
    drop(order);
    let booted = ready.boot(cancel).await?;
    tracing::debug!(
        target: "early", child = booted.run_id(),
        "a child is booted for a call that still arrives"
    );
    Some((booted, permit))
}

/// The user cannot be asked about a call that has not arrived yet, so a child that needs a question is not booted.
struct NoUser {
    context: Arc<HostContext>,
    /// True if a model is unknown, because the host was not asked about it yet.
    has_no_answer: AtomicBool,
}

impl HostCallbacks for NoUser {
    /// The host is only asked for the call. Its last answer is almost always the next one, too.
    fn model<'a>(&'a self, asked: &'a str) -> BoxFuture<'a, Option<HostModel>> {
        Box::pin(async move {
            let answer = remembered_model(&self.context.agent_dir, asked);
            self.has_no_answer.fetch_or(answer.is_none(), Ordering::Relaxed);
            answer.flatten()
        })
    }

    fn is_interactive(&self) -> bool {
        // The user may be there when the call comes, so the policy must not decide now.
        true
    }

    fn is_reachable(&self) -> bool {
        false
    }
}
