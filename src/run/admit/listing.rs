//! Lists the agents of a directory, and describes the tools that offer them to a model.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_with_macros::skip_serializing_none;

use super::permission_hooks::find_permission_hooks;
use super::refusal::Refusal;
use super::resolve::{loads_permission_hooks, own_credentials, tools_of};
use super::settings::CallSettings;
use super::values::{AgentValues, ModelCheck, SkillFiles, UnusableModel, ValueSource, find_agents};
use super::write_reach::{WriteReach, only_reads};
use crate::run::callbacks::HostCallbacks;
use crate::run::context::HostContext;
use crate::run::launcher::{LauncherError, launcher_of, selected};
use crate::run::sandbox::{HostCapabilities, SandboxPlan, may_write, shell_policy};
use crate::run::spec::RunOverrides;
use agents::config::{ALL, Config, LoadedConfig, NamedAgent};
use agents::{
    AgentDefinition, Catalog, DropReason, DroppedTool, NoUsableTools, RESTRICTION_UNCLEAR, Shadowed, Source,
    Surface, SurfaceConfig, ToolPlan, surface, tool_entry_problem,
};
use sanitizer::{Code, Diagnostic, Position, Severity, lossy_path, quoted};

/// The maximum number of notices about agent files. A directory with more is not meant for this package.
const MAX_NOTICES: usize = 10;

const SWITCHED_OFF: &str = "delegation is switched off: `subagents.enabled` is `false`";

/// The agents of a directory.
#[derive(Debug)]
pub struct Listing {
    /// The reason why every call is refused, if so.
    pub off: Option<String>,
    /// The agents that can be called, in the order in which they are listed.
    pub agents: Vec<Listed>,
    /// Definitions that are shadowed by others with the same name.
    pub shadowed: Vec<Shadowed>,
    /// Notices about definitions that could not be read and settings without effect.
    pub diagnostics: Vec<Diagnostic>,
}

/// An agent and the tools that its child would get.
#[derive(Debug)]
pub struct Listed {
    /// The agent's definition.
    pub agent: Arc<AgentDefinition>,
    /// The values that apply to the agent.
    pub values: AgentValues,
    /// The child's tools, or why the agent cannot run.
    pub plan: Result<ToolPlan, CannotRun>,
    /// The user's permission hooks that the child loads.
    pub permission_hooks: Vec<String>,
    /// The files that the child could change; `None` if it can change none.
    pub writes: Option<WriteReach>,
    /// True if the child can change no files because all of its tools only read, although its agent is not readonly.
    pub only_reads: bool,
    /// Notices about settings that the host cannot meet.
    pub notices: Vec<String>,
    /// True if its children run on another machine.
    pub is_remote: bool,
    /// The reason why the agent gets another model than it asks for, once the host was asked.
    pub model_note: Option<String>,
}

/// An agent, for callers.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// Its purpose, on one line.
    pub description: String,
    /// The source of its definition.
    pub source: Source,
    /// The file that defines it; absent for builtins.
    #[serde(serialize_with = "lossy_path")]
    pub path: Option<PathBuf>,
    /// True if its definition allows only reading.
    pub readonly: bool,
    /// The tools that a child would get.
    pub tools: Vec<String>,
    /// The tools that the definition names and a child would not get.
    pub dropped: Vec<DroppedTool>,
    /// False if a run would be refused, because of `problem`.
    pub runnable: bool,
    /// The reason why a run would be refused.
    pub problem: Option<String>,
    /// The model that the definition names.
    pub model: Option<String>,
    /// The thinking level that the definition names.
    pub thinking: Option<String>,
    /// True if a child could change files.
    pub can_write: bool,
    /// The files that it could change.
    pub writes: Option<WriteReach>,
    /// The values of a run with their sources, in words.
    pub settings: Vec<String>,
    /// Notices about settings that the host cannot meet.
    pub notices: Vec<String>,
}

impl Listed {
    /// Returns the agent for callers.
    #[must_use]
    pub fn info(self) -> AgentInfo {
        let settings = self.values.all();
        let AgentDefinition { name, description, source, path, readonly, model, thinking, .. } =
            Arc::unwrap_or_clone(self.agent);
        let (plan, problem) = match self.plan {
            Ok(plan) => (plan, None),
            Err(error) => (ToolPlan::default(), Some(error.to_string())),
        };
        AgentInfo {
            name,
            description,
            source,
            path,
            readonly,
            tools: plan.tools,
            dropped: plan.dropped,
            runnable: problem.is_none(),
            problem,
            model,
            thinking,
            can_write: self.writes.is_some(),
            writes: self.writes,
            settings,
            notices: self.notices.into_iter().chain(self.model_note).collect(),
        }
    }
}

/// The reason why an agent cannot run here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotRun {
    /// This pi has none of the agent's tools.
    #[error(transparent)]
    Tools(#[from] NoUsableTools),
    /// The agent's model cannot be used.
    #[error(transparent)]
    Model(#[from] UnusableModel),
    /// The agent's launcher cannot be used.
    #[error(transparent)]
    Launcher(#[from] LauncherError),
    /// The agent is switched off.
    #[error("it is switched off: {0} sets `enabled` to `false`")]
    Off(ValueSource),
}

impl CannotRun {
    /// Returns further next steps, for a screen with room for them.
    #[must_use]
    pub fn alternative(&self) -> Option<&str> {
        match self {
            Self::Model(unusable) => unusable.alternative(),
            Self::Tools(_) | Self::Launcher(_) | Self::Off(_) => None,
        }
    }
}

/// The time limit for asking the host about models. Each takes a millisecond.
const CHECKING_MODELS: Duration = Duration::from_secs(5);
/// A file has settings for an agent that does not exist here, perhaps by mistake.
const SETTINGS_UNKNOWN: Code = (Severity::Warning, "AGENT_SETTINGS_UNKNOWN");
/// The same, if no existing name is similar: another project may have that agent.
const SETTINGS_UNUSED: Code = (Severity::Info, "AGENT_SETTINGS_UNUSED");
/// A list of tools in a file names a tool that does not exist, or a part of one.
const TOOL_UNKNOWN: Code = (Severity::Warning, "CONFIG_TOOL_UNKNOWN");
/// The same problem in an agent file.
const AGENT_TOOL_UNKNOWN: Code = (Severity::Info, "AGENT_TOOL_UNKNOWN");

/// The tools to register.
#[derive(Debug)]
pub struct Described {
    /// False when the configuration switches delegation off.
    pub register: bool,
    /// The tools and their descriptions.
    pub surface: Surface,
    /// True if the delegation policy is added to the system prompt.
    pub inject_policy: bool,
    /// Mistakes that the user should see once.
    pub notices: Vec<String>,
}

impl Listing {
    /// Asks the host about the agents' models. An agent is reported as unable to run if the host does not know its
    /// model or has no login for it.
    pub async fn check_models(
        &mut self,
        config: &Config,
        context: &HostContext,
        callbacks: &dyn HostCallbacks,
    ) {
        let check = async {
            for listed in self.agents.iter_mut().filter(|listed| listed.plan.is_ok()) {
                let has_own_login = own_credentials(context, &listed.agent).is_some();
                let Listed { agent, permission_hooks, values, .. } = &*listed;
                let check = ModelCheck { agent, config, context, permission_hooks, has_own_login, callbacks };
                match check.usable(values).await {
                    Ok(chosen) if chosen.note.is_some() => {
                        listed.values.model = chosen.model;
                        listed.model_note = chosen.note;
                    }
                    Ok(_) => {}
                    Err(unusable) => listed.plan = Err(unusable.into()),
                }
            }
        };
        // If the host does not answer in time, the models stay unchecked.
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
    let misnamed = settings.loaded().map(|loaded| misnamed(loaded, &catalog, context)).unwrap_or_default();
    let all_hooks = LazyCell::new(|| find_permission_hooks(context));
    let planned = |agent: Arc<AgentDefinition>| {
        let values = AgentValues::of(&agent, &config, &context.host, &RunOverrides::default());
        let (_, notices) = SkillFiles::of(&values.skills.value, &context.host);
        let sandbox = SandboxPlan::of(&agent, &config, capabilities.abilities());
        let reach = if sandbox.is_confined() { WriteReach::Tree } else { WriteReach::Anywhere };
        let plan = plan_for(&agent, &values, &sandbox, cwd, &config, context)
            .and_then(|plan| selected(&agent, &config).map(|_| plan).map_err(CannotRun::Launcher));
        let only_reads =
            !agent.readonly && plan.as_ref().is_ok_and(|plan| only_reads(&agent, &values, &config, plan));
        Listed {
            plan,
            permission_hooks: if loads_permission_hooks(&sandbox, &config) {
                all_hooks.clone()
            } else {
                Vec::new()
            },
            writes: (may_write(&agent, &config) && !only_reads).then_some(reach),
            only_reads,
            notices,
            is_remote: launcher_of(&agent, &config).remote_name().is_some(),
            model_note: None,
            values,
            agent,
        }
    };
    let off = match settings.loaded() {
        Err(refusal) => Some(refusal),
        Ok(loaded) => loaded.broken.as_ref().map(|broken| Refusal::BrokenConfig(broken.to_string())),
    };
    let agents: Vec<Listed> = catalog.agents.into_iter().map(planned).collect();
    let of_agents: Vec<Diagnostic> = agents.iter().flat_map(unknown_tools).collect();
    Listing {
        off: off
            .map(|refusal| refusal.to_string())
            .or_else(|| (!config.enabled).then(|| SWITCHED_OFF.to_owned())),
        agents,
        shadowed: catalog.shadowed,
        diagnostics: catalog.diagnostics.into_iter().chain(of_agents).chain(misnamed).collect(),
    }
}

/// Returns true if the configuration allows an agent to run in the background. Either name may be one of Claude
/// Code's.
pub(crate) fn is_allowed(config: &Config, catalog: &Catalog, agent: &str) -> bool {
    let is_same = |allowed: &str| catalog.find(allowed).is_ok_and(|found| found.name == agent);
    config.allow_agents.iter().any(|allowed| allowed == ALL || allowed == agent || is_same(allowed))
}

/// Returns the name of the agent for background runs that name none. `None` if it does not exist or is not allowed.
pub(crate) fn default_agent(config: &Config, catalog: &Catalog) -> Option<String> {
    let found = catalog.find(&config.default_agent).ok()?;
    is_allowed(config, catalog, &found.name).then(|| found.name.clone())
}

/// Reports a file that names an agent that does not exist.
fn unknown(named: &NamedAgent, catalog: &Catalog) -> Option<Diagnostic> {
    let missing = catalog.find(&named.name).err().filter(|_| named.name != ALL)?;
    let is_settings = named.key.starts_with("agents.");
    let message = match (&missing.broken, is_settings) {
        (Some(_), _) => format!("`{}`: {missing}", named.key),
        (None, true) => format!("`{}` has no effect: there is no agent of this name here", named.key),
        (None, false) => {
            format!("`{}` names {}, and there is no agent of this name here", named.key, quoted(&named.name))
        }
    };
    let (code, message) = match missing.nearest.as_deref().filter(|_| missing.broken.is_none()) {
        Some(nearest) => (SETTINGS_UNKNOWN, format!("{message}; did you mean `{nearest}`?")),
        None if is_settings => (SETTINGS_UNUSED, message),
        None => (SETTINGS_UNKNOWN, message),
    };
    Some(Diagnostic::new(code, message, Some(&named.path), Some(named.at)))
}

/// Reports unknown agents and tools in the configuration. Problems in the agents' own settings come last.
fn misnamed(loaded: &LoadedConfig, catalog: &Catalog, context: &HostContext) -> Vec<Diagnostic> {
    let available: Option<BTreeSet<String>> =
        (context.host.tools.as_ref()).map(|tools| tools.iter().map(|tool| tool.name.clone()).collect());
    let tools = loaded.named_tools.iter().filter_map(|named| {
        let why = tool_entry_problem(&named.name, named.denies, available.as_ref())?;
        let message = format!("`{}`: {why}", named.key);
        Some(Diagnostic::new(TOOL_UNKNOWN, message, Some(&named.path), Some(named.at)))
    });
    let agents = loaded.named.iter().filter_map(|named| unknown(named, catalog));
    tools.chain(agents).collect()
}

/// Reports the declared tools of an agent that this pi does not have, with the line in its file.
fn unknown_tools(listed: &Listed) -> impl Iterator<Item = Diagnostic> {
    let Listed { agent, plan, .. } = listed;
    let dropped = plan.iter().flat_map(|plan| &plan.dropped);
    let path = agent.path.as_deref().zip(agent.tools_line);
    dropped.filter_map(move |dropped| {
        let (path, line) = path?;
        let why = unknown_tool(dropped)?;
        let at = Position { line, column: 1 };
        Some(Diagnostic::new(AGENT_TOOL_UNKNOWN, why, Some(path), Some(at)))
    })
}

/// Returns the problem of a declared tool that this pi does not have.
fn unknown_tool(dropped: &DroppedTool) -> Option<String> {
    let is_missing = matches!(dropped.reason, DropReason::Unknown | DropReason::NotAvailable);
    is_missing.then(|| tool_entry_problem(&dropped.tool, false, Some(&BTreeSet::new())))?
}

impl Listed {
    /// Returns true if the listing's diagnostics report this tool, with its line in the agent's file.
    #[must_use]
    pub fn has_line_of(&self, dropped: &DroppedTool) -> bool {
        self.agent.path.is_some() && self.agent.tools_line.is_some() && unknown_tool(dropped).is_some()
    }
}

/// Describes the tools to register in a directory.
///
/// Registers the tools even if the configuration cannot be read, so that every call can report the problem.
#[must_use]
pub fn describe(
    cwd: &Path,
    context: &HostContext,
    settings: &CallSettings,
    capabilities: &HostCapabilities,
) -> Described {
    let (config, mut notices) = match settings.loaded() {
        Ok(loaded) => {
            let shown = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity != Severity::Info);
            let notices = shown.map(ToString::to_string).collect();
            (loaded.config.clone(), notices)
        }
        Err(refusal) => (Config::default(), vec![refusal.to_string()]),
    };
    let catalog = find_agents(cwd, context, &config);
    if let Ok(loaded) = settings.loaded() {
        // A name that appears only in settings may be an agent of another project.
        let is_shown = |found: &&Diagnostic| found.severity != Severity::Info;
        notices.extend(misnamed(loaded, &catalog, context).iter().filter(is_shown).map(ToString::to_string));
    }
    let is_shown =
        |found: &&Diagnostic| found.severity == Severity::Error || found.code == RESTRICTION_UNCLEAR.1;
    let mut problems: Vec<String> =
        catalog.diagnostics.iter().filter(is_shown).map(ToString::to_string).collect();
    let more = problems.len().saturating_sub(MAX_NOTICES);
    problems.truncate(MAX_NOTICES);
    notices.extend(problems);
    if more > 0 {
        notices.push(format!("{more} more problems with agent files: `/subagents agents` lists them"));
    }
    let default_agent = default_agent(&config, &catalog).unwrap_or_default();
    let decided = SurfaceConfig {
        parallel: config.max_parallel_tasks,
        chain: config.max_chain_steps,
        allow_write: config.allow_write.is_on(),
        default_agent: &default_agent,
    };
    Described {
        register: config.enabled,
        surface: surface(&catalog, decided, |agent| {
            let values = AgentValues::of(agent, &config, &context.host, &RunOverrides::default());
            let sandbox = SandboxPlan::of(agent, &config, capabilities.abilities());
            plan_for(agent, &values, &sandbox, cwd, &config, context).is_ok()
        }),
        inject_policy: config.inject_delegation_policy,
        notices,
    }
}

fn plan_for(
    agent: &AgentDefinition,
    values: &AgentValues,
    sandbox: &SandboxPlan,
    cwd: &Path,
    config: &Config,
    context: &HostContext,
) -> Result<ToolPlan, CannotRun> {
    if let Some(by) = &values.disabled {
        return Err(CannotRun::Off(by.clone()));
    }
    Ok(tools_of(agent, values, config, context, shell_policy(sandbox, cwd, context))?)
}
