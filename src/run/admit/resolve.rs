//! Combines the configuration, the agent, the call and the machine into the decisions about one run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::permission_hooks::find_permission_hooks;
use super::refusal::Refusal;
use super::remote_limits::{RemoteLimit, remote_limit};
use super::values::{AgentValues, ChosenModel, SkillFiles, find_agents, tool_notes};
use super::write_reach::{only_reads, write_notice, write_target};
use crate::run::context::{HostContext, HostTool, SessionKey};
use crate::run::facts::StoredChanges;
use crate::run::launcher::{Launcher, LauncherError, launcher_of, selected};
use crate::run::protocol::{ChildProtocol, protocol_of};
use crate::run::result::builder::Withheld;
use crate::run::sandbox::hidden::{hides, hides_extensions};
use crate::run::sandbox::{
    HostCapabilities, SandboxPlan, SandboxUnavailable, ScopeError, WardenUnknown, WriteScope, may_write,
    shell_policy, untrusted,
};
use crate::run::spec::{RunSpec, Timeout};
use agents::config::{self, Budget, Config, InheritExtensions, LoadedConfig, LoopLimits};
use agents::{
    AgentDefinition, DEPTH, Depth, DropReason, DroppedTool, Isolation, MAX_DEPTH, NoUsableTools,
    OutputSchema, ShellPolicy, Source, ToolPlan, ToolPolicy, WRITE_TOOLS, depth_from_env, plan_tools,
};
use supervisor::Supervision;
use worktree::{WorkTree, has_git, leads_git, withheld_git_variables};

/// The decisions about a run that do not depend on its child. Nothing here is looked up again later.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedRun {
    pub agent: Arc<AgentDefinition>,
    /// The configuration with the limits of this agent and this call in place. `values` has the model, the thinking level, the
    /// context and the skills.
    pub config: Config,
    /// The protocol that drives the child.
    pub protocol: &'static dyn ChildProtocol,
    /// The means that this machine has to restrain the child.
    pub capabilities: HostCapabilities,
    pub depth: Depth,
    /// The values that apply to the agent, with the source of each.
    pub values: AgentValues,
    /// The model, as `provider/id` if the provider is known.
    pub model: Option<String>,
    /// The thinking level.
    pub thinking: Option<String>,
    /// The time limit of the whole run.
    pub timeout: Option<Duration>,
    /// The setting or parameter that set `timeout`.
    pub limited_by: &'static str,
    pub(crate) sandbox: SandboxPlan,
    /// The launcher that starts the child, here or on another machine.
    pub(crate) launcher: Arc<dyn Launcher>,
    /// The directories from which no program is started by its name, because agents may write there.
    pub untrusted: Vec<PathBuf>,
    /// The directories that the child may write to, if the kernel confines it.
    pub scope: Option<WriteScope>,
    /// The user's permission hooks that the child loads.
    pub permission_hooks: Vec<String>,
    /// True if the child works in a private tree.
    pub is_isolated: bool,
    /// The work tree that the child writes to, unless it gets a private one.
    pub tree: Option<WorkTree>,
    /// The reason why no changes of the run will be stored, if that is known before its start.
    pub stored_changes: Option<StoredChanges>,
    /// A note about the changes in `tree` that cannot be undone.
    pub undo_note: Option<&'static str>,
    /// The mechanism that ensures the end of the child's process tree.
    pub supervision: Supervision,
    /// True if the child reads context files such as `AGENTS.md`.
    pub reads_context: bool,
    /// The contents of `TOOLS.md`, if the child reads context files.
    pub(super) tool_notes: Vec<String>,
    /// The skills that the child sees: all, or these files.
    pub skills: SkillFiles,
    /// The file with the agent's own credentials, if it has one. A project's agent gets none, because it could take
    /// the name of the user's agent for which they are meant.
    pub credentials: Option<PathBuf>,
    /// The keys that the hosting pi has in memory only, for the child's copy of the user's credentials.
    pub keys: Vec<SessionKey>,
    /// True if the run is announced when it has ended, because no call waits for it.
    pub announces: bool,
    /// Notices for the caller, for example about configured features that this machine lacks and that the run can start
    /// without.
    pub notices: Vec<String>,
    /// A requirement of the run that this machine cannot meet. If there is one, the run must not start.
    pub unmet: Option<Unmet>,
}

/// A requirement of a run that this machine cannot meet.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unmet {
    /// The requested launcher cannot be used.
    #[error(transparent)]
    Launcher(#[from] LauncherError),
    /// It is unknown whether this machine could restrain the child.
    #[error(transparent)]
    Warden(#[from] WardenUnknown),
    /// The required sandbox is unavailable.
    #[error(transparent)]
    Sandbox(#[from] SandboxUnavailable),
    /// The run needs a feature that a remote child does not have.
    #[error(transparent)]
    Remote(#[from] RemoteLimit),
}

/// Decides whether a run may start, and with which settings. Also returns the child's tools; it has none if the agent
/// declares tools and this pi has none of them. Reads agent definitions, but starts nothing and asks no questions.
///
/// # Errors
///
/// Returns a [`Refusal`] for every problem that ends a call before a child exists.
pub(crate) fn resolve(
    spec: &RunSpec,
    loaded: &LoadedConfig,
    capabilities: HostCapabilities,
) -> Result<(ResolvedRun, Result<ToolPlan, NoUsableTools>), Refusal> {
    loaded.log();
    if let Some(broken) = &loaded.broken {
        return Err(Refusal::BrokenConfig(broken.to_string()));
    }
    let config = loaded.config.clone();
    let context = &spec.context;
    let overrides = &spec.overrides;
    if !config.enabled {
        return Err(Refusal::Disabled);
    }
    let variable = |name| context.var(name);
    let depth = depth_from_env(variable(DEPTH).as_deref(), variable(MAX_DEPTH).as_deref(), config.max_depth)
        .map_err(Refusal::Depth)?;
    check_texts(spec)?;
    check_paths(spec)?;
    let agent = agent_of(spec, &config)?;
    let values = AgentValues::of(&agent, &config, &context.host, overrides);
    if let Some(by) = values.disabled {
        return Err(Refusal::AgentDisabled { agent: agent.name.clone(), by });
    }
    let sandbox = SandboxPlan::of(&agent, &config, capabilities.abilities());
    check_hidden(spec, &config, &sandbox)?;
    let confined = sandbox.is_confined().then(|| WriteScope::of(&config, context, &spec.cwd));
    let untrusted = untrusted(&config, context, &spec.cwd);
    let (scope, unwritable) = confined.transpose()?.unzip();
    let launcher = launcher_of(&agent, &config);
    let writes = may_write(&agent, &config);
    let writes_here = writes && launcher.remote_name().is_none();
    let (is_isolated, tree, undo_note) = if writes_here {
        write_target(&values, spec, &untrusted, sandbox.is_enforced())
    } else {
        // This machine cannot know whether git is available where the child works.
        (writes && values.isolation.value == Isolation::Private, None, None)
    };
    let shell = shell_policy(&sandbox, &spec.cwd, context);
    let plan = tools_of(&agent, &values, &config, context, shell);
    let changes_files = writes && !plan.as_ref().is_ok_and(|plan| only_reads(&agent, &values, &config, plan));
    let plan = match &overrides.tools {
        Some(allowed) => plan.map(|plan| plan.limit_to(allowed)),
        None => plan,
    };
    let supervision = capabilities.supervision(config.pid_namespace || sandbox.is_enforced());
    let (timeout, limited_by) = time_limit(overrides.timeout, &values);
    let (credentials, withheld) = usable_credentials(context, &agent, launcher.remote_name());
    let mut notices = degraded(&config, &capabilities, supervision);
    notices.extend(unwritable.into_iter().flatten().chain(withheld));
    if changes_files {
        notices.extend(write_notice(&*launcher, is_isolated, sandbox.is_enforced()));
    }
    let (skills, missing) = SkillFiles::of(&values.skills.value, &context.host);
    notices.extend(missing);
    notices.extend(git_variables(&config, spec, launcher.remote_name()));
    let config = config_of_run(config, timeout, &values, overrides.budget);
    let resolved = ResolvedRun {
        model: values.model.value.clone(),
        thinking: values.thinking.value.clone(),
        timeout,
        limited_by,
        unmet: (selected(&agent, &config).err().map(Unmet::Launcher))
            .or_else(|| capabilities.forbids().map(Unmet::Warden))
            .or_else(|| sandbox.forbids().map(Unmet::Sandbox))
            .or_else(|| remote_limit(launcher.remote_name()?, writes, &values, overrides).map(Unmet::Remote)),
        reads_context: values.reads_context.value,
        tool_notes: if values.reads_context.value { tool_notes(&spec.cwd, context) } else { Vec::new() },
        skills,
        credentials,
        keys: keys_of(values.model.value.as_deref(), launcher.remote_name(), context),
        announces: overrides.announces,
        is_isolated,
        stored_changes: no_changes(
            &agent,
            writes,
            changes_files,
            is_isolated,
            spec,
            &untrusted,
            launcher.remote_name(),
        ),
        tree,
        undo_note: undo_note.filter(|_| changes_files),
        permission_hooks: permission_hooks_of(&sandbox, &config, launcher.remote_name(), context),
        launcher,
        untrusted,
        values,
        agent,
        protocol: protocol_of(config.protocol),
        capabilities,
        config,
        depth,
        sandbox,
        scope,
        supervision,
        notices,
    };
    Ok((resolved, plan))
}

/// Puts the limits of an agent and a call in place of the configured ones.
fn config_of_run(config: Config, timeout: Option<Duration>, values: &AgentValues, budget: Budget) -> Config {
    let (max_cost, max_turns) = (values.max_cost.value, values.max_turns.value);
    Config {
        timeout,
        idle_timeout: values.idle_timeout.value,
        budget: Budget { max_cost, max_turns, ..config.budget }.at_most(budget),
        loops: LoopLimits { stop_after: values.loop_stop_after.value, ..config.loops },
        ..config
    }
}

/// Returns the reason why no changes of a run will be stored.
fn no_changes(
    agent: &AgentDefinition,
    writes: bool,
    changes_files: bool,
    is_isolated: bool,
    spec: &RunSpec,
    untrusted: &[PathBuf],
    remote_launcher: Option<&str>,
) -> Option<StoredChanges> {
    Some(match (writes, changes_files, is_isolated) {
        (false, ..) if agent.readonly => StoredChanges::Readonly,
        (false, ..) => StoredChanges::WriteOff,
        (true, false, _) => StoredChanges::OnlyReads,
        (true, true, false) if remote_launcher.is_some() => StoredChanges::Remote,
        (true, true, false) if !has_git(&spec.cwd, &spec.context.env, untrusted) => StoredChanges::NoGit,
        (true, true, _) => return None,
    })
}

/// Refuses a run whose sandbox hides the child's directory, or extensions that the child must load. Blocks.
fn check_hidden(spec: &RunSpec, config: &Config, sandbox: &SandboxPlan) -> Result<(), Refusal> {
    if !sandbox.is_enforced() {
        return Ok(());
    }
    if let Some(place) = hides(config, &spec.context, &spec.cwd) {
        return Err(ScopeError::Hidden { cwd: spec.cwd.clone(), place }.into());
    }
    if (config.inherit_extensions == InheritExtensions::All || loads_permission_hooks(sandbox, config))
        && let Some((extensions, place)) = hides_extensions(config, &spec.context)
    {
        return Err(Refusal::HiddenExtensions { extensions, place });
    }
    Ok(())
}

/// Refuses a run whose agent or task is blank.
fn check_texts(spec: &RunSpec) -> Result<(), Refusal> {
    if spec.agent.trim().is_empty() {
        return Err(Refusal::Blank { parameter: "agent", expected: "it names the agent to run" });
    }
    if spec.task.trim().is_empty() {
        return Err(Refusal::Blank { parameter: "task", expected: "it tells the agent what to do" });
    }
    Ok(())
}

/// Returns notices about git's environment variables that the child does not get.
fn git_variables(config: &Config, spec: &RunSpec, remote_launcher: Option<&str>) -> Vec<String> {
    if remote_launcher.is_some() {
        return Vec::new();
    }
    let RunSpec { context, cwd, .. } = spec;
    let withheld = withheld_git_variables(&context.env, context.host.cwd.as_deref().unwrap_or(cwd), cwd);
    let configured = config.env.keys().filter(|name| leads_git(name)).map(|name| {
        format!("`env.{name}` of the configuration is ignored, because it would point the run's git to another repository. Remove it")
    });
    withheld.into_iter().chain(configured).collect()
}

/// Returns the session's keys for the provider of a model, or all keys if the provider is not known. A remote child
/// gets none.
fn keys_of(model: Option<&str>, remote_launcher: Option<&str>, context: &HostContext) -> Vec<SessionKey> {
    if cfg!(not(unix)) || remote_launcher.is_some() {
        return Vec::new();
    }
    let provider = model.and_then(|model| model.split_once('/')).map(|(provider, _)| provider);
    let is_its_own = |key: &&SessionKey| provider.is_none_or(|provider| provider == key.provider);
    context.host.session_keys.iter().filter(is_its_own).cloned().collect()
}

impl ResolvedRun {
    /// Logs the decisions and their reasons.
    pub(crate) fn log(&self, plan: &ToolPlan) {
        let Self { agent, values, sandbox, notices, .. } = self;
        let file = agent.path.as_ref().map(|path| path.display().to_string());
        tracing::info!(
            target: "agent", from = %agent.source, file, tools = plan.tools.join(","),
            "the agent is found"
        );
        let model = self.model.as_deref().unwrap_or("pi's own");
        let from = &values.model.source;
        tracing::info!(target: "run", model, %from, thinking = self.thinking, "the model is chosen");
        for dropped in &plan.dropped {
            tracing::debug!(target: "agent", reason = %dropped, "a tool is dropped");
        }
        for reason in notices {
            tracing::info!(target: "run", reason, "the caller gets a notice");
        }
        sandbox.log();
    }

    /// Takes the model that the hosting pi's answer has decided.
    pub(super) fn choose(&mut self, chosen: ChosenModel, context: &HostContext) {
        let ChosenModel { model, full_name, note } = chosen;
        if note.is_some() {
            self.keys = keys_of(model.value.as_deref(), self.launcher.remote_name(), context);
            self.model.clone_from(&model.value);
            self.values.model = model;
        }
        self.model = full_name.or(self.model.take());
        self.notices.extend(note);
    }

    /// Returns the provider of the child's model, if known.
    pub(crate) fn provider(&self) -> Option<&str> {
        self.model.as_deref()?.split_once('/').map(|(provider, _)| provider)
    }

    /// Returns true if the child may write the user's files.
    pub(crate) fn may_write(&self) -> bool {
        may_write(&self.agent, &self.config)
    }

    /// Returns true if the child may change files of this machine.
    pub(crate) fn may_write_here(&self) -> bool {
        self.may_write() && self.launcher.remote_name().is_none()
    }

    /// Returns true if the child may begin a turn only when its budget covers it. A remote child cannot be stopped
    /// between turns.
    pub(crate) fn needs_turn_grants(&self) -> bool {
        let is_bounded =
            self.config.budget != Budget::default() || self.config.session_budget.max_cost.is_some();
        is_bounded && self.launcher.remote_name().is_none()
    }

    /// Returns the command that checks the child's work. A child that cannot write has none.
    pub(crate) fn check(&self) -> Option<&str> {
        self.values.check.value.as_deref().filter(|_| self.may_write())
    }

    /// Returns the command that prepares the private tree. A run in place, or on another machine, has none.
    pub(crate) fn setup(&self) -> Option<&str> {
        let own = self.values.setup.value.as_deref().or(self.config.isolation.setup.as_deref());
        own.filter(|_| self.is_isolated && self.launcher.remote_name().is_none())
    }

    /// Returns true if the child gets private directories: it is sandboxed, or its credentials differ from the user's.
    pub(crate) fn needs_private_dirs(&self) -> bool {
        self.sandbox.is_enforced() || self.credentials.is_some() || !self.keys.is_empty()
    }

    /// Returns true if the child may change files.
    pub(crate) fn may_change_files(&self) -> bool {
        !matches!(
            self.stored_changes,
            Some(StoredChanges::Readonly | StoredChanges::WriteOff | StoredChanges::OnlyReads)
        )
    }

    /// Returns the tools that write and that the child does not have, with the reason.
    pub(crate) fn withheld(&self, plan: &ToolPlan) -> Withheld {
        let Some(caveat) = self.stored_changes.and_then(StoredChanges::caveat) else {
            return Withheld::default();
        };
        let is_write = |dropped: &&DroppedTool| {
            matches!(dropped.reason, DropReason::Readonly | DropReason::WriteNotAllowed)
        };
        let dropped = plan.dropped.iter().filter(is_write).map(|dropped| dropped.tool.clone());
        let tools = WRITE_TOOLS.iter().map(|tool| (*tool).to_owned()).chain(dropped).collect();
        // A tool of an extension may have been dropped only because no one knows its effects.
        let are_requested =
            plan.dropped.iter().filter(is_write).any(|dropped| WRITE_TOOLS.contains(&&*dropped.tool));
        Withheld { tools, caveat: Some(caveat), are_requested }
    }
}

/// Returns the time limit of the whole run, and the setting that the message of a timeout names.
fn time_limit(asked: Timeout, values: &AgentValues) -> (Option<Duration>, &'static str) {
    let at_most = |limit: Duration| Some(values.own_timeout.map_or(limit, |own| own.min(limit)));
    match asked {
        Timeout::AsConfigured => (values.timeout.value, "timeoutMs"),
        Timeout::Never => (values.own_timeout, "timeoutMs"),
        Timeout::After(limit) if at_most(limit) == Some(limit) => (Some(limit), "runTimeoutSeconds"),
        Timeout::After(limit) | Timeout::AsBefore(limit) => (at_most(limit), "timeoutMs"),
    }
}

/// Returns the agent that the call names, with the call's schema of the result.
fn agent_of(spec: &RunSpec, config: &Config) -> Result<Arc<AgentDefinition>, Refusal> {
    let agent = find_agents(&spec.cwd, &spec.context, config).find(&spec.agent)?;
    let Some(schema) = &spec.overrides.output_schema else { return Ok(agent) };
    let output_schema = Some(OutputSchema::new(schema.clone())?);
    Ok(Arc::new(AgentDefinition { output_schema, ..AgentDefinition::clone(&agent) }))
}

/// Returns true if a child with this sandbox loads the user's permission hooks. It does not if the kernel prevents all
/// writing, or if the user's settings say which extensions children load.
pub(crate) fn loads_permission_hooks(sandbox: &SandboxPlan, config: &Config) -> bool {
    let chooses = matches!(config.inherit_extensions, InheritExtensions::None | InheritExtensions::Only(_));
    !chooses && !sandbox.is_read_only()
}

/// Returns the user's permission hooks that a child loads. A remote child loads none, because this machine's files do
/// not exist there.
fn permission_hooks_of(
    sandbox: &SandboxPlan,
    config: &Config,
    remote_launcher: Option<&str>,
    context: &HostContext,
) -> Vec<String> {
    if remote_launcher.is_none() && loads_permission_hooks(sandbox, config) {
        find_permission_hooks(context)
    } else {
        Vec::new()
    }
}

/// Refuses paths that pi would read as other paths. Otherwise the run's files would end up in a wrong directory, or be
/// lost.
fn check_paths(RunSpec { cwd, context, .. }: &RunSpec) -> Result<(), Refusal> {
    let agent_dir = ("agent directory", &context.agent_dir, "; `PI_CODING_AGENT_DIR` can name another one");
    for (what, path, hint) in [agent_dir, ("working directory", cwd, "")] {
        if path.to_str().is_none() {
            return Err(Refusal::Path { what, path: path.clone(), hint });
        }
    }
    Ok(())
}

fn degraded(config: &Config, capabilities: &HostCapabilities, supervision: Supervision) -> Vec<String> {
    let config::Limits { memory_bytes, processes, cpu_seconds, open_files } = config.limits;
    let is_limited = [memory_bytes, processes, cpu_seconds, open_files].iter().any(Option::is_some);
    let abilities = capabilities.abilities();
    let mut notices = Vec::new();
    if let Err(reason) = abilities
        && is_limited
    {
        notices.push(format!("`limits` are not enforced: {reason}"));
    }
    if config.pid_namespace && supervision != Supervision::WardenNamespace {
        let reason =
            abilities.and_then(|abilities| abilities.pid_namespace.as_ref().map_err(String::as_str)).err();
        notices.push(format!("`pidNamespace` is not active: {}", reason.unwrap_or_default()));
    }
    notices
}

/// Returns the tools that an agent's child gets.
///
/// # Errors
///
/// Fails if the agent declares tools and this pi has none of them.
pub(crate) fn tools_of(
    agent: &AgentDefinition,
    values: &AgentValues,
    config: &Config,
    context: &HostContext,
    shell: ShellPolicy,
) -> Result<ToolPlan, NoUsableTools> {
    // A remote child does not load this machine's extensions.
    let is_remote = matches!(selected(agent, config), Ok(Some(_)));
    let is_available = |tool: &&HostTool| !is_remote || tool.extension.is_none();
    let available: Option<BTreeSet<String>> = (context.host.tools.as_ref())
        .map(|tools| tools.iter().filter(is_available).map(|tool| tool.name.clone()).collect());
    let policy = ToolPolicy {
        allow_write: config.allow_write.is_on(),
        allow_lsp: config.allow_lsp_tools && !config.allowed_lsp_actions.is_empty(),
        shell,
        deny: config.tools.deny.clone(),
        allow: config.tools.allow.clone(),
        bounds: values.tool_bounds.clone(),
        takes_answers: protocol_of(config.protocol).takes_commands(),
    };
    plan_tools(&values.declared(agent), &policy, available.as_ref())
}

/// Returns an agent's own credentials for its child, and a notice if the child does not get them. Blocks.
fn usable_credentials(
    context: &HostContext,
    agent: &AgentDefinition,
    remote_launcher: Option<&str>,
) -> (Option<PathBuf>, Option<String>) {
    let Some(found) = credentials_of(&context.agent_dir, &agent.name) else { return (None, None) };
    let why = match remote_launcher {
        Some(launcher) => {
            format!("`{launcher}` starts the child on another machine, and credentials stay on this one")
        }
        None if agent.source == Source::Project => "the project wrote this agent".to_owned(),
        None => return (Some(found), None),
    };
    (None, Some(format!("`subagents/auth/{}.json` is not used: {why}", agent.name)))
}

/// Returns the path of the credentials that an agent's children use instead of the user's, if there are any. Blocks.
pub(super) fn own_credentials(context: &HostContext, agent: &AgentDefinition) -> Option<PathBuf> {
    credentials_of(&context.agent_dir, &agent.name).filter(|_| agent.source != Source::Project)
}

/// Returns the path of an agent's own credentials, if anything exists there. Blocks.
#[cfg(unix)]
fn credentials_of(agent_dir: &Path, agent: &str) -> Option<PathBuf> {
    let path = files::layout::credentials_of(agent_dir, agent);
    std::fs::symlink_metadata(&path).is_ok().then_some(path)
}

/// Returns `None`: on this system, no child can have a private agent directory.
#[cfg(not(unix))]
fn credentials_of(_agent_dir: &Path, _agent: &str) -> Option<PathBuf> {
    None
}
