//! Decides about a request before anything is stored or started.

use std::sync::Arc;

use uuid::Uuid;

use super::handoff::{self, Handoff};
use super::overrides::{self, known_model, known_thinking, short};
use super::request::{Receipt, SpawnRequest};
use super::spawnable::is_allowed;
use crate::config::{Config, OnExit};
use crate::run::{BackgroundRun, CallSettings, RunId, RunOverrides, RunSpec, Timeout};
use crate::text::figures::millis;

/// Most bytes of a task that are stored.
const TASK_BYTES: usize = 4 * 1024;
/// How many runs one process may have, waiting or running, per slot of `maxConcurrent`.
const RUNS_PER_SLOT: usize = 32;

/// A run that may be accepted.
pub(super) struct SpawnPlan {
    pub spec: RunSpec,
    /// Read once, to decide about the request and to prepare the run.
    pub settings: CallSettings,
    pub config: Config,
    pub record: BackgroundRun,
    pub warnings: Vec<String>,
    /// Present if the run is to outlive this process and has no keeper yet.
    pub handoff: Option<Handoff>,
}

/// Decides about a request. `hosted` is the number of runs that this process hosts. Blocks.
pub(super) fn plan(request: SpawnRequest, hosted: usize) -> Result<SpawnPlan, Box<Receipt>> {
    let original = request.clone();
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
    let settings = CallSettings::read(&cwd, &context);
    let sanitizer = Arc::clone(settings.sanitizer());
    let clean = |text: &str| sanitizer.sanitize(text).into_string();
    let loaded = settings.loaded().map_err(|refusal| error(clean(&refusal.to_string())))?;
    if let Some(broken) = &loaded.broken {
        return Err(forbidden(clean(&format!(
            "delegation is off until the configuration can be read: {broken}"
        ))));
    }
    let config = loaded.config.clone();
    let session = context.session().ok_or_else(|| {
        error(
            "a background run needs a conversation to tell its result to, and there is no session".to_owned(),
        )
    })?;
    if hosted >= most(&config) {
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
    let handoff = if is_kept && kept.is_none() {
        if let Some(refusal) = handoff::refusal(&config, timeout) {
            return Err(forbidden(refusal));
        }
        let keeper = keeper.ok_or_else(|| {
            error(
                "it is not known how to start a process in which the run could go on (`background.onExit` is `keep`)"
                    .to_owned(),
            )
        })?;
        Some(Handoff { request: original, keeper })
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
    Ok(SpawnPlan { spec, settings, config, record, warnings, handoff })
}

/// How many runs one process may have, waiting or running.
pub(super) fn most(config: &Config) -> usize {
    config.max_concurrent.saturating_mul(RUNS_PER_SLOT)
}

pub(super) fn too_many(config: &Config) -> String {
    let most = most(config);
    format!(
        "{most} background runs wait or run, and no more than {most} may: {RUNS_PER_SLOT} for each of the {} places \
         of `subagents.maxConcurrent`",
        config.max_concurrent
    )
}
