//! From a request for a background run to its receipt.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use super::engine::Background;
use super::keeper;
use super::live::Live;
use super::overrides::{self, known_model, known_thinking, short};
use super::record::BackgroundRun;
use super::spawnable::is_allowed;
use super::watch::STOP;
use crate::config::{Config, OnExit};
use crate::orchestrate::CallOrder;
use crate::process::{Cancel, Detached};
use crate::run::Refresh;
use crate::run::{
    Answer, ChildQuestion, ConfirmRequest, ErrorCode, HostCallbacks, HostContext, Ready, RunId, RunOverrides,
    RunSpec, Timeout, ToolResult, blocking, load_config, prepare, sanitizer_for,
};
use crate::store::now_ms;
use crate::text::figures::millis;
use crate::text::text_enum;

/// What is kept of a task.
const TASK_BYTES: usize = 4 * 1024;
/// Runs of one process that may wait, for each place that there is.
const WAITING_PER_PLACE: usize = 32;
/// How far requests that come together may be ahead of the clock, to be told apart.
const MAX_LEAD_MS: i64 = 1_000;

/// What a background run is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpawnRequest {
    /// What it is to do.
    pub task: String,
    /// The agent; absent: `defaultAgent`.
    pub agent: Option<String>,
    /// A name for people.
    pub label: Option<String>,
    /// A model before all others.
    pub model: Option<String>,
    /// A thinking level before all others.
    pub thinking: Option<String>,
    /// The limit of the whole run in seconds; 0 and absent are none.
    pub run_timeout_seconds: Option<f64>,
    /// `keep` or `delete`.
    pub cleanup: Option<String>,
    /// Every model that there is, `provider/id`, where that is known.
    pub models: Option<Vec<String>>,
    /// The directory of the conversation.
    pub cwd: PathBuf,
    /// Everything around it.
    #[serde(with = "shared")]
    pub context: Arc<HostContext>,
    /// When it was made: in the order of the requests, and no two at once.
    pub created_ms: i64,
    /// The same, as against other calls that want a place.
    #[serde(skip, default = "ordered_now")]
    pub order: Arc<CallOrder>,
    /// Ends the run as the end of its host would.
    #[serde(skip)]
    pub ends_with: Option<Cancel>,
    /// How a process is started in which runs go on that outlive this one; without it none does.
    #[serde(skip)]
    pub keeper: Option<Detached>,
    /// The key of the run, when another process has accepted it and this one keeps it.
    pub kept: Option<String>,
}

impl SpawnRequest {
    /// The moment of a request that is made now: later than that of all that were made before in this process, unless the
    /// clock was set back.
    #[must_use]
    pub fn moment() -> i64 {
        static LAST: AtomicI64 = AtomicI64::new(0);
        let now = now_ms();
        let after =
            |last: i64| if (now..now.saturating_add(MAX_LEAD_MS)).contains(&last) { last + 1 } else { now };
        let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
        last.map_or(now, after)
    }
}

fn ordered_now() -> Arc<CallOrder> {
    Arc::new(CallOrder::now())
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Receipt {
    /// There is a run.
    Accepted {
        /// Its id.
        run_id: String,
        /// Its key in sentences.
        session_key: String,
        /// What is to be known of it.
        note: String,
        /// What was asked for and could not be had.
        warnings: Vec<String>,
    },
    /// There is none, because something forbids it.
    Forbidden(String),
    /// There is none, because the request, or something that it needs, is wrong.
    Error(String),
}

text_enum! {
    /// What a [`Receipt`] says, in a word.
    pub enum ReceiptStatus {
        /// [`Receipt::Accepted`].
        Accepted = "accepted",
        /// [`Receipt::Forbidden`].
        Forbidden = "forbidden",
        /// [`Receipt::Error`].
        Error = "error",
    }
}

/// A request that was looked at.
struct Plan {
    spec: RunSpec,
    config: Config,
    record: BackgroundRun,
    warnings: Vec<String>,
    /// Has it go on in a process of its own.
    handing: Option<Handing>,
}

/// A run for which a process of its own is to be started.
struct Handing {
    request: SpawnRequest,
    keeper: Detached,
}

impl Background {
    /// Accepts a run, or says why not. Never waits for a place, a model or a person: where a person has to be asked
    /// first, the run is accepted and its end says what the answer was.
    pub async fn spawn(
        self: &Arc<Self>,
        request: SpawnRequest,
        callbacks: Arc<impl HostCallbacks + 'static>,
    ) -> Receipt {
        let (live, ends_with) = (self.live_runs(), request.ends_with.clone().unwrap_or_default());
        let order = Arc::clone(&request.order);
        let plan = match blocking(move || plan(request, live)).await {
            Ok(plan) => plan,
            Err(refused) => return *refused,
        };
        let (receipt, received) = oneshot::channel();
        let (engine, live) = (Arc::clone(self), Arc::new(Live::new(plan.record.clone(), &ends_with)));
        tokio::spawn(engine.begin(plan, live, order, callbacks, receipt));
        received.await.unwrap_or_else(|_| Receipt::Error("the run could not be begun".to_owned()))
    }

    /// Decides about a run, says so, and follows it to its end.
    async fn begin(
        self: Arc<Self>,
        Plan { spec, config, warnings, handing, .. }: Plan,
        live: Arc<Live>,
        order: Arc<CallOrder>,
        callbacks: Arc<impl HostCallbacks>,
        receipt: oneshot::Sender<Receipt>,
    ) {
        let acceptance = Acceptance { receipt, warnings };
        let asking = Asking { callbacks: &*callbacks, asked: Notify::new() };
        let id = RunId::of_key(&live.record().key);
        let mut preparing = Box::pin(prepare(spec, id, &asking, &live.control.cancel));
        let prepared = tokio::select! {
            biased;
            () = asking.asked.notified() => None,
            prepared = &mut preparing => Some(prepared),
        };
        let ready = match prepared {
            Some(Err(result)) => return acceptance.refuse(&result),
            Some(Ok(ready)) => {
                if let Some(over) = ready.over_budget().await {
                    return acceptance.forbid(over);
                }
                if let Some(handing) = handing {
                    if self.has_too_many(&config).await {
                        return acceptance.forbid(too_many(&config));
                    }
                    let receipt = handing.hand_over(&live.record().key).await;
                    if matches!(receipt, Receipt::Accepted { .. }) {
                        self.note_kept(&live);
                    }
                    return acceptance.pass_on(receipt);
                }
                if !self.enlist_within(&live, most(&config)) {
                    return acceptance.forbid(too_many(&config));
                }
                note(&live, &ready);
                self.accept(&live).await;
                let BackgroundRun { key, is_kept, .. } = live.record();
                if is_kept && self.book.is_in_memory(&key) {
                    // Nobody could see it, stop it, or be told of it.
                    self.book.forget(&key);
                    self.strike(&key);
                    return acceptance.pass_on(Receipt::Error(NO_STORE.to_owned()));
                }
                acceptance.accept(&live, NOTE);
                Ok(ready)
            }
            None => {
                if !self.enlist_within(&live, most(&config)) {
                    return acceptance.forbid(too_many(&config));
                }
                self.accept(&live).await;
                acceptance.accept(&live, ASKED);
                let mut prepared = preparing.await;
                if let (Ok(_), Some(handing)) = (&prepared, handing) {
                    match handing.hand_over(&live.record().key).await {
                        Receipt::Accepted { .. } => {
                            // It is the keeper's from now on, and so is a stop that came meanwhile.
                            if live.is_stopped() {
                                drop(self.ask(&live.record(), STOP, "").await);
                            }
                            self.note_kept(&live);
                            return self.strike(&live.record().key);
                        }
                        Receipt::Forbidden(why) | Receipt::Error(why) => {
                            prepared = match prepared {
                                Ok(ready) => Err(ready.not_started(&why)),
                                refused => refused,
                            };
                        }
                    }
                }
                if let Ok(ready) = &prepared {
                    note(&live, ready);
                }
                prepared
            }
        };
        self.follow(&live, ready, &config, &order, &*callbacks).await;
    }

    /// Whether no more runs may wait in processes of their own.
    async fn has_too_many(&self, config: &Config) -> bool {
        let (book, most) = (Arc::clone(&self.book), most(config));
        blocking(move || book.count_live(most)).await >= most
    }

    /// Notes that a run of a conversation has begun elsewhere.
    fn note_kept(&self, live: &Live) {
        let BackgroundRun { session, key, .. } = live.record();
        if let Some(view) = self.views().get(&session) {
            view.note_kept(key);
        }
        self.look_again(false);
    }
}

impl Handing {
    async fn hand_over(self, key: &str) -> Receipt {
        let Self { request, keeper } = self;
        keeper::hand_over(SpawnRequest { kept: Some(key.to_owned()), ..request }, keeper).await
    }
}

/// How many runs may wait or run in one process.
fn most(config: &Config) -> usize {
    config.max_concurrent.saturating_mul(WAITING_PER_PLACE)
}

fn too_many(config: &Config) -> String {
    let most = most(config);
    format!(
        "{most} background runs wait or run, and no more than {most} may: {WAITING_PER_PLACE} for each of the {} places \
         of `subagents.maxConcurrent`",
        config.max_concurrent
    )
}

/// What the model is told of a run that was accepted.
const NOTE: &str = "The result will arrive as a message when the run ends. Do not wait or poll for it; go on, or end your turn.";
const ASKED: &str = "The user is being asked whether this agent may run. The result, or the refusal, will arrive as a message. \
                     Do not wait or poll for it.";

const NO_STORE: &str = "a run that goes on after pi has ended (`background.onExit` is `keep`) has to be kept, and the store of \
                        runs cannot be used, as `/subagents doctor` says";

/// Notes what was decided about a run.
pub(super) fn note(live: &Live, ready: &Ready) {
    live.note_standing(ready.notes());
    live.change(|run| {
        run.tools = ready.tools().to_vec();
        run.model = ready.model().map(str::to_owned);
        run.thinking = ready.thinking().map(str::to_owned);
    });
}

/// Says once what became of a request.
struct Acceptance {
    receipt: oneshot::Sender<Receipt>,
    warnings: Vec<String>,
}

impl Acceptance {
    fn accept(self, live: &Live, note: &str) {
        let BackgroundRun { run_id, session_key, .. } = live.record();
        self.say(|warnings| Receipt::Accepted { run_id, session_key, note: note.to_owned(), warnings });
    }

    fn forbid(self, why: String) {
        self.say(|_| Receipt::Forbidden(why));
    }

    /// Says what the keeper of the run has said.
    fn pass_on(self, receipt: Receipt) {
        self.say(|_| receipt);
    }

    fn refuse(self, result: &ToolResult) {
        let refusal = refusal_of(result);
        self.say(|_| refusal);
    }

    fn say(self, receipt: impl FnOnce(Vec<String>) -> Receipt) {
        // Whoever asked may be gone; the run is not.
        drop(self.receipt.send(receipt(self.warnings)));
    }
}

/// Why there is no run.
fn refusal_of(result: &ToolResult) -> Receipt {
    let error = result.details.error.as_ref();
    let message = error.map_or_else(|| result.text.clone(), |error| error.message.clone());
    let is_forbidden = error.is_some_and(|error| {
        matches!(
            error.code,
            ErrorCode::SubagentDisabled | ErrorCode::SubagentsDisabled | ErrorCode::SubagentDepthExceeded
        )
    });
    if is_forbidden { Receipt::Forbidden(message) } else { Receipt::Error(message) }
}

/// The world of a request, for a keeper.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::run::HostContext;

    pub(super) fn serialize<S: Serializer>(
        context: &Arc<HostContext>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        HostContext::serialize(context, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<HostContext>, D::Error> {
        HostContext::deserialize(deserializer).map(Arc::new)
    }
}

/// Looks at a request. Blocks.
fn plan(request: SpawnRequest, live: usize) -> Result<Plan, Box<Receipt>> {
    let asked = request.clone();
    let error = |text: String| Box::new(Receipt::Error(text));
    let forbidden = |text: String| Box::new(Receipt::Forbidden(text));
    let SpawnRequest {
        task,
        agent,
        label,
        model,
        thinking,
        run_timeout_seconds,
        cleanup,
        models,
        cwd,
        context,
        created_ms,
        order: _,
        ends_with: _,
        keeper,
        kept,
    } = request;
    let sanitizer = sanitizer_for(&cwd, &context);
    let clean = |text: &str| sanitizer.sanitize(text).into_string();
    let loaded = load_config(&cwd, &context).map_err(|refusal| error(clean(&refusal.to_string())))?;
    if let Some(broken) = loaded.broken {
        return Err(forbidden(clean(&format!(
            "delegation is off until the configuration can be read: {broken}"
        ))));
    }
    let config = loaded.config;
    let session = context.session().ok_or_else(|| {
        error(
            "a background run needs a conversation to tell its result to, and there is no session".to_owned(),
        )
    })?;
    if live >= most(&config) {
        return Err(forbidden(too_many(&config)));
    }
    let agent = agent.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| config.default_agent.clone());
    if !is_allowed(&config, &agent) {
        let allowed = config.allow_agents.join(", ");
        return Err(forbidden(clean(&format!(
            "agent `{}` may not run in the background: `subagents.allowAgents` allows {} ({})",
            short(&sanitizer, &agent),
            if allowed.is_empty() { "none" } else { &allowed },
            config.allow_agents.len(),
        ))));
    }
    let timeout = overrides::timeout(run_timeout_seconds).map_err(error)?;
    let cleanup = overrides::cleanup(cleanup.as_deref(), &sanitizer).map_err(error)?;
    let mut warnings = Vec::new();
    let model = model.and_then(|model| known_model(&model, models.as_deref(), &sanitizer, &mut warnings));
    let thinking = thinking.and_then(|level| known_thinking(level, &sanitizer, &mut warnings));
    let is_kept = kept.is_some() || config.background.on_exit == OnExit::Keep;
    let handing = if is_kept && kept.is_none() {
        if let Some(refusal) = keeper::refusal(&config, timeout) {
            return Err(forbidden(refusal));
        }
        let keeper = keeper.ok_or_else(|| {
            error(
                "it is not known how to start a process in which the run could go on (`background.onExit` is `keep`)"
                    .to_owned(),
            )
        })?;
        Some(Handing { request: asked, keeper })
    } else {
        None
    };
    let key = kept.unwrap_or_else(|| Uuid::new_v4().to_string());
    let record = BackgroundRun {
        run_id: RunId::of_key(&key).get(),
        session_key: format!("agent:{agent}:subagent:{key}"),
        key,
        session: session.to_owned(),
        session_file: context.host.session_file.clone(),
        label: label.map(|label| short(&sanitizer, &label)).filter(|label| !label.is_empty()),
        agent: agent.clone(),
        task: sanitizer.sanitize(&task).clip(TASK_BYTES).into_string(),
        cwd: cwd.clone(),
        cleanup,
        timeout_ms: match timeout {
            Timeout::After(limit) => Some(millis(limit)),
            Timeout::Never | Timeout::AsConfigured => None,
        },
        is_kept,
        created_ms,
        host_pid: Some(std::process::id()),
        is_ours: true,
        ..BackgroundRun::default()
    };
    let overrides = RunOverrides { model, thinking, timeout, announces: true, ..RunOverrides::default() };
    let spec = RunSpec { agent, task, cwd, context: Arc::clone(&context), share: 1, siblings: 1, overrides };
    Ok(Plan { spec, config, record, warnings, handing })
}

/// A caller that notes when a person has to be asked.
struct Asking<'a, C> {
    callbacks: &'a C,
    asked: Notify,
}

impl<C: HostCallbacks> Refresh for Asking<'_, C> {
    fn refresh(&self, provider: &str, valid_for: Duration) -> impl Future<Output = bool> + Send {
        self.callbacks.refresh(provider, valid_for)
    }
}

impl<C: HostCallbacks> HostCallbacks for Asking<'_, C> {
    fn is_interactive(&self) -> bool {
        self.callbacks.is_interactive()
    }

    /// Wanted when a person has to be asked, before the question waits until those before it were answered.
    fn is_reachable(&self) -> bool {
        let is_reachable = self.callbacks.is_reachable();
        if is_reachable {
            self.asked.notify_one();
        }
        is_reachable
    }

    fn confirm(&self, request: ConfirmRequest) -> impl Future<Output = bool> + Send {
        self.callbacks.confirm(request)
    }

    fn ask(&self, question: ChildQuestion) -> impl Future<Output = Answer> + Send {
        self.callbacks.ask(question)
    }
}

/// Where the sessions of an agent directory are looked after.
pub(super) fn canonical(agent_dir: &Path) -> PathBuf {
    std::fs::canonicalize(agent_dir)
        .or_else(|_| std::path::absolute(agent_dir))
        .unwrap_or_else(|_| agent_dir.to_owned())
}
