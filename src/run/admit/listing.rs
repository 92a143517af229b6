//! Lists the agents of a directory, and describes the tools that offer them to a model.

use std::cell::LazyCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::capabilities::HostCapabilities;
use super::gates::gates;
use super::reach::{WriteReach, only_reads};
use super::refusal::Refusal;
use super::resolve::{loads_gates, own_credentials, tools_of};
use super::sandbox::{SandboxPlan, may_write};
use super::settings::CallSettings;
use super::shell::shell_policy;
use super::values::{AgentValues, SkillFiles, UnusableModel, ValueSource, find_agents, usable_model};
use crate::agent::{
    AgentDefinition, Catalog, NoToolsLeft, Shadowed, Surface, SurfaceConfig, ToolPlan, surface,
};
use crate::config::{ALL, Config, NamedAgent};
use crate::run::callbacks::HostCallbacks;
use crate::run::context::HostContext;
use crate::run::launch::launcher::selected;
use crate::run::spec::RunOverrides;
use crate::text::{Code, Diagnostic, Severity};

/// Notices about agent files. A directory that has more of them is not meant for this package.
const MAX_NOTICES: usize = 10;

const SWITCHED_OFF: &str = "delegation is switched off: `subagents.enabled` is `false`";

/// The agents of a directory.
#[derive(Debug)]
pub struct Listing {
    /// Why no call is accepted at all, if none is.
    pub off: Option<String>,
    /// The agents that can be called, in the order in which they are listed.
    pub agents: Vec<Listed>,
    /// Definitions that others with the same name hide.
    pub shadowed: Vec<Shadowed>,
    /// Definitions that could not be read, and settings without effect.
    pub diagnostics: Vec<Diagnostic>,
}

/// An agent and the tools that its child would get.
#[derive(Debug)]
pub struct Listed {
    /// Its definition.
    pub agent: Arc<AgentDefinition>,
    /// What it has in the end.
    pub values: AgentValues,
    /// The child's tools, or why the agent cannot run.
    pub plan: Result<ToolPlan, CannotRun>,
    /// The user's permission gates that its child loads.
    pub gates: Vec<String>,
    /// Where its child could change files; `None` if it could not.
    pub writes: Option<WriteReach>,
    /// Whether that is so because it has only tools that read, although its agent is not readonly.
    pub only_reads: bool,
    /// What its settings ask for and the host does not have.
    pub notices: Vec<String>,
}

/// Why an agent cannot run here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotRun {
    /// This pi has none of its tools.
    #[error(transparent)]
    Tools(#[from] NoToolsLeft),
    /// Its model cannot be used.
    #[error(transparent)]
    Model(#[from] UnusableModel),
    /// Its launcher does not exist.
    #[error("{0}")]
    Launcher(String),
    /// It was switched off.
    #[error("it is switched off: {0} sets `enabled` to `false`")]
    Off(ValueSource),
}

/// How long the host is asked about models. It takes a millisecond for each.
const CHECKING_MODELS: Duration = Duration::from_secs(5);
/// A file has settings for an agent that does not exist here, perhaps by a mistake.
const SETTINGS_UNKNOWN: Code = (Severity::Warning, "AGENT_SETTINGS_UNKNOWN");
/// The same where no name is similar: another project may have it.
const SETTINGS_UNUSED: Code = (Severity::Info, "AGENT_SETTINGS_UNUSED");

/// The tools to register.
#[derive(Debug)]
pub struct Described {
    /// False when the configuration switches delegation off.
    pub register: bool,
    /// The tools and their descriptions.
    pub surface: Surface,
    /// Whether to add the delegation policy to the system prompt.
    pub inject_policy: bool,
    /// Mistakes to show the user once.
    pub notices: Vec<String>,
}

impl Listing {
    /// Asks the host about the agents' models. An agent whose model it does not know, or has no login for, cannot run, as its
    /// start would say.
    pub async fn check_models(
        &mut self,
        config: &Config,
        context: &HostContext,
        callbacks: &dyn HostCallbacks,
    ) {
        let check = async {
            for listed in self.agents.iter_mut().filter(|listed| listed.plan.is_ok()) {
                let has_own_login = own_credentials(context, &listed.agent).is_some();
                let model = &listed.values.model;
                let (agent, host) = (&listed.agent, &context.host);
                let usable = usable_model(model, agent, config, host, has_own_login, callbacks).await;
                if let Err(unusable) = usable {
                    listed.plan = Err(unusable.into());
                }
            }
        };
        // What a host that does not answer would have said, nobody misses.
        let _ = tokio::time::timeout(CHECKING_MODELS, check).await;
    }
}

/// Finds the agents of a directory under the settings of a call.
#[must_use]
pub fn list_agents(
    cwd: &Path,
    context: &HostContext,
    settings: &CallSettings,
    capabilities: &HostCapabilities,
) -> Listing {
    let config = settings.config();
    let catalog = find_agents(cwd, context, &config);
    let named = settings.loaded().map(|loaded| loaded.named.as_slice()).unwrap_or_default();
    let unknown: Vec<Diagnostic> = named.iter().filter_map(|named| unknown(named, &catalog)).collect();
    let all = LazyCell::new(|| gates(context));
    let planned = |agent: Arc<AgentDefinition>| {
        let values = AgentValues::of(&agent, &config, &context.host, &RunOverrides::default());
        let (_, notices) = SkillFiles::of(&values.skills.value, &context.host);
        let sandbox = SandboxPlan::of(&agent, &config, capabilities.abilities());
        let reach = if sandbox.is_confined() { WriteReach::Tree } else { WriteReach::Anywhere };
        let plan = plan_for(&agent, &values, cwd, &config, context, capabilities)
            .and_then(|plan| selected(&agent, &config).map(|_| plan).map_err(CannotRun::Launcher));
        let only_reads =
            !agent.readonly && plan.as_ref().is_ok_and(|plan| only_reads(&agent, &values, &config, plan));
        Listed {
            plan,
            gates: if loads_gates(&sandbox, &config) { all.clone() } else { Vec::new() },
            writes: (may_write(&agent, &config) && !only_reads).then_some(reach),
            only_reads,
            notices,
            values,
            agent,
        }
    };
    let off = match settings.loaded() {
        Err(refusal) => Some(refusal),
        Ok(loaded) => loaded.broken.as_ref().map(|broken| Refusal::BrokenConfig(broken.to_string())),
    };
    Listing {
        off: off
            .map(|refusal| refusal.to_string())
            .or_else(|| (!config.enabled).then(|| SWITCHED_OFF.to_owned())),
        agents: catalog.agents.into_iter().map(planned).collect(),
        shadowed: catalog.shadowed,
        diagnostics: catalog.diagnostics.into_iter().chain(unknown).collect(),
    }
}

/// What is said about settings of an agent that does not exist.
fn unknown(named: &NamedAgent, catalog: &Catalog) -> Option<Diagnostic> {
    let missing = catalog.find(&named.name).err().filter(|_| named.name != ALL)?;
    let key = format!("`agents.{}` has no effect: there is no agent of this name here", named.name);
    let (code, message) = match missing.nearest {
        Some(nearest) => (SETTINGS_UNKNOWN, format!("{key}; did you mean `{nearest}`?")),
        None => (SETTINGS_UNUSED, key),
    };
    Some(Diagnostic::new(code, message, Some(&named.path), Some(named.at)))
}

/// Describes the tools to register in a directory.
///
/// Registers the tools even if the configuration cannot be read, so that every call can say what is wrong with it.
#[must_use]
pub fn describe(
    cwd: &Path,
    context: &HostContext,
    settings: &CallSettings,
    capabilities: &HostCapabilities,
) -> Described {
    let (config, mut notices) = match settings.loaded() {
        Ok(loaded) => {
            let worth_saying =
                loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity != Severity::Info);
            let notices = worth_saying.map(ToString::to_string).collect();
            (loaded.config.clone(), notices)
        }
        Err(refusal) => (Config::default(), vec![refusal.to_string()]),
    };
    let catalog = find_agents(cwd, context, &config);
    let errors = catalog.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let mut errors: Vec<String> = errors.map(ToString::to_string).collect();
    let more = errors.len().saturating_sub(MAX_NOTICES);
    errors.truncate(MAX_NOTICES);
    notices.extend(errors);
    if more > 0 {
        notices.push(format!("{more} more agent files cannot be used"));
    }
    let decided = SurfaceConfig {
        parallel: config.max_parallel_tasks,
        chain: config.max_chain_steps,
        allow_write: config.allow_write.is_on(),
        default_agent: &config.default_agent,
    };
    Described {
        register: config.enabled,
        surface: surface(&catalog, decided, |agent| {
            let values = AgentValues::of(agent, &config, &context.host, &RunOverrides::default());
            plan_for(agent, &values, cwd, &config, context, capabilities).is_ok()
        }),
        inject_policy: config.inject_delegation_policy,
        notices,
    }
}

fn plan_for(
    agent: &AgentDefinition,
    values: &AgentValues,
    cwd: &Path,
    config: &Config,
    context: &HostContext,
    capabilities: &HostCapabilities,
) -> Result<ToolPlan, CannotRun> {
    if let Some(by) = &values.disabled {
        return Err(CannotRun::Off(by.clone()));
    }
    let sandbox = SandboxPlan::of(agent, config, capabilities.abilities());
    Ok(tools_of(agent, values, config, context, shell_policy(&sandbox, cwd, context))?)
}
