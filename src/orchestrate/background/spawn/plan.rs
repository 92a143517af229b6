//! Decides about a request before anything is stored or started, and lists the agents that a request may name.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::refusal::{detach_refusal, refusal};
use super::request::{Handoff, SpawnRequest};
use crate::orchestrate::early::take_key;
use crate::orchestrate::model_override::{known_model, known_thinking, line};
use crate::present::{Receipt, SpawnableAgent, SpawnableAgents};
use crate::run::{
    CallSettings, Cleanup, HostCapabilities, HostContext, HostModel, RunId, RunOverrides, RunRecord, RunSpec,
    SHOWN_TASK_BYTES, Timeout, default_agent, find_agents, is_allowed, list_agents, starts_another_pi,
};
use agents::config::{Config, OnExit};
use sanitizer::Sanitizer;
use sanitizer::figures::millis;

/// Longest label, in characters.
const LABEL_CHARS: usize = 80;
/// Longest description of an agent, in characters.
const DESCRIPTION_CHARS: usize = 200;
/// The longest limit that can be requested; 0 is no limit.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3_600.0;

/// A run that may be accepted.
pub(super) struct SpawnPlan {
    pub spec: RunSpec,
    /// Read once, to decide about the request and to prepare the run.
    pub settings: CallSettings,
    pub config: Config,
    pub record: RunRecord,
    pub warnings: Vec<String>,
    /// Present if the run is to outlive this process and has no host process yet.
    pub handoff: Option<Handoff>,
}

/// Decides about a request. `hosted` is the number of runs that this process hosts, `model` the hosting pi's answer about the
/// requested model. Blocks.
pub(super) fn plan(
    request: SpawnRequest,
    hosted: usize,
    model: Option<&HostModel>,
) -> Result<SpawnPlan, Box<Receipt>> {
    let error = |text: String| Box::new(Receipt::error(text));
    let forbidden = |text: String| Box::new(Receipt::forbidden(text));
    let settings = CallSettings::read(&request.cwd, &request.context);
    let sanitizer = Arc::clone(settings.sanitizer());
    let clean = |text: &str| sanitizer.sanitize(text).into_string();
    let loaded = settings.loaded().map_err(|refusal| error(clean(&refusal.to_string())))?;
    if let Some(broken) = &loaded.broken {
        return Err(forbidden(clean(&format!(
            "delegation is off until the configuration is corrected: {broken}"
        ))));
    }
    let config = loaded.config.clone();
    let session = request.context.session().ok_or_else(|| {
        error("a background run needs a conversation for its result, and there is no session".to_owned())
    })?;
    let asked = request.agent.as_ref().filter(|name| !name.trim().is_empty());
    let agent = asked.unwrap_or(&config.default_agent);
    let catalog = find_agents(&request.cwd, &request.context, &config);
    // An unknown agent is refused later. That refusal names the existing agents.
    let agent = catalog.find(agent).map_or_else(|_| agent.clone(), |found| found.name.clone());
    let is_allowed = is_allowed(&config, &catalog, &agent);
    if let Some(refusal) = refusal(&config, &short(&sanitizer, &agent), is_allowed, hosted) {
        return Err(forbidden(clean(&refusal.to_string())));
    }
    let invalid = |option: InvalidOption| error(option.to_string());
    let timeout = timeout_of(request.run_timeout_seconds).map_err(invalid)?;
    let cleanup = cleanup_of(request.cleanup.as_deref(), &sanitizer).map_err(invalid)?;
    let mut warnings = Vec::new();
    // Another pi has models that this one does not know.
    let is_another = catalog.find(&agent).is_ok_and(|found| starts_another_pi(&found, &config));
    let (model, models) = if is_another { (None, None) } else { (model, request.models.as_deref()) };
    let asked = request.model.as_deref();
    let model = asked.and_then(|asked| known_model(asked, model, models, &sanitizer, &mut warnings));
    let thinking = request.thinking.as_deref();
    let thinking = thinking.and_then(|level| known_thinking(level, &sanitizer, &mut warnings));
    let is_detached = request.detached_key.is_some() || config.background.on_exit == OnExit::Keep;
    let needs_host_process = is_detached && request.detached_key.is_none();
    if needs_host_process && let Some(refusal) = detach_refusal(&config, timeout) {
        return Err(forbidden(refusal.to_string()));
    }
    if needs_host_process && request.host_process.is_none() {
        return Err(error(
            "this host gave no command for the process in which the run would continue (`background.onExit` \
             is `keep`)"
                .to_owned(),
        ));
    }
    let early_key = || request.host_id.as_deref().and_then(take_key);
    let key = request.detached_key.clone().or_else(early_key).unwrap_or_else(|| Uuid::new_v4().to_string());
    let record = RunRecord {
        run_id: RunId::of_key(&key).into(),
        session_key: RunRecord::session_key(&agent, &key),
        key,
        session: session.to_owned(),
        session_file: request.context.host.session_file.clone(),
        label: request.label.as_ref().map(|label| short(&sanitizer, label)).filter(|label| !label.is_empty()),
        agent: agent.clone(),
        task: sanitizer.clip(&request.task, SHOWN_TASK_BYTES).into_string(),
        cwd: request.cwd.clone(),
        cleanup,
        timeout_ms: match timeout {
            Timeout::After(limit) => Some(millis(limit)),
            Timeout::Never | Timeout::AsConfigured | Timeout::AsBefore(_) => None,
        },
        output_schema: request.output_schema.clone(),
        is_detached,
        created_ms: request.created_ms,
        host_pid: Some(std::process::id()),
        is_in_process: true,
        ..RunRecord::default()
    };
    let overrides = RunOverrides {
        model,
        thinking,
        timeout,
        output_schema: request.output_schema.clone(),
        announces: true,
        ..RunOverrides::default()
    };
    let spec = RunSpec {
        agent,
        label: record.label.clone(),
        task: request.task.clone(),
        cwd: request.cwd.clone(),
        context: Arc::clone(&request.context),
        share: 1,
        siblings: 1,
        overrides,
    };
    let host_process = request.host_process.clone().filter(|_| needs_host_process);
    let handoff = host_process.map(|host_process| Handoff { request, host_process });
    Ok(SpawnPlan { spec, settings, config, record, warnings, handoff })
}

/// A caller's text as one short line.
fn short(sanitizer: &Sanitizer, text: &str) -> String {
    line(sanitizer, text, LABEL_CHARS)
}

/// The reason why an option of a request cannot be used.
#[derive(Debug, thiserror::Error)]
enum InvalidOption {
    /// The time limit is negative, too long, or not a number.
    #[error("`runTimeoutSeconds` is {0}; expected a number from 0 (no limit) to {MAX_SECONDS}")]
    Timeout(f64),
    /// The clean-up is unknown. The text is one short line.
    #[error("`cleanup` is `{0}`; expected `keep` or `delete`")]
    Cleanup(String),
}

fn timeout_of(seconds: Option<f64>) -> Result<Timeout, InvalidOption> {
    match seconds {
        None | Some(0.0) => Ok(Timeout::Never),
        Some(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => {
            Ok(Timeout::After(Duration::from_secs_f64(seconds)))
        }
        Some(seconds) => Err(InvalidOption::Timeout(seconds)),
    }
}

fn cleanup_of(cleanup: Option<&str>, sanitizer: &Sanitizer) -> Result<Cleanup, InvalidOption> {
    cleanup.map_or(Ok(Cleanup::Keep), |text| {
        Cleanup::parse(text).ok_or_else(|| InvalidOption::Cleanup(short(sanitizer, text)))
    })
}

/// Returns the agents that may run in the background, and the default agent if it is one of them. Blocks.
#[must_use]
pub fn spawnable(cwd: &Path, context: &HostContext, capabilities: &HostCapabilities) -> SpawnableAgents {
    let settings = CallSettings::read(cwd, context);
    let config = settings.config();
    let sanitizer = settings.sanitizer();
    let catalog = find_agents(cwd, context, &config);
    let agents = list_agents(cwd, context, &settings, capabilities).agents.into_iter().filter(|listed| {
        config.enabled && listed.plan.is_ok() && is_allowed(&config, &catalog, &listed.agent.name)
    });
    let clean =
        |text: &str| sanitizer.clip(text, 4 * DESCRIPTION_CHARS).line(DESCRIPTION_CHARS).into_string();
    let agents = agents.map(|listed| {
        let agent = &listed.agent;
        SpawnableAgent {
            id: agent.name.clone(),
            description: clean(&agent.description),
            source: agent.source,
            readonly: agent.readonly,
            model: listed.values.model.value.as_deref().map(clean),
            model_from: listed.values.model.value.as_ref().map(|_| listed.values.model.source.to_string()),
            thinking: listed.values.thinking.value.clone(),
            can_write: listed.writes.is_some(),
            writes: listed.writes,
            ask_target: agent.ask,
        }
    });
    let agents: Vec<SpawnableAgent> = agents.collect();
    let default_agent =
        default_agent(&config, &catalog).filter(|name| agents.iter().any(|agent| agent.id == *name));
    SpawnableAgents { agents, default_agent }
}
