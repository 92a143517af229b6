//! Decides which of an agent's declared tools its child gets.

use std::collections::BTreeSet;
use std::fmt;

use super::definition::{AgentDefinition, Asks};
use super::output_schema::SUBMIT;
use super::tools::{ASK, LSP, MCP, OTHERS_ONLY, READING, SHELL, WRITING, is_never_in_child};
use crate::text::{covers, overlaps};

/// The tools that pi enables by default. An agent that may write and declares no tools gets these.
const PI_DEFAULTS: [&str; 4] = ["read", "bash", "edit", "write"];
/// Packages of pi's registry, and the tools that they provide.
const PACKAGES: [(&str, &[&str]); 1] =
    [("`npm:pi-web-access`", &["web_search", "fetch_content", "get_search_content"])];
/// A package that provides a tool, if one is known.
fn package_with(tool: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(_, tools)| tools.contains(&tool)).map(|(package, _)| *package)
}

/// Whether a tool changes nothing, so that its call can be repeated. A shell meets this only inside a sandbox.
#[must_use]
pub fn is_free_of_side_effects(tool: &str, sandboxed: bool) -> bool {
    READING.contains(&tool) || [LSP, ASK, SUBMIT].contains(&tool) || (tool == SHELL && sandboxed)
}

/// Whether a child in the sandbox gets a shell, and one that may not write without a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellPolicy {
    /// It does: the kernel keeps what the shell starts from writing.
    Held,
    /// It does not: no sandbox is enforced.
    #[default]
    NoSandbox,
    /// It does not: the child is in a sandbox, but what its tools start cannot be given one of its own.
    NoToolSandbox,
    /// It does not: an extension provides it, and might start programs in its own way.
    FromExtension,
    /// It does not: the project's settings name another program as the shell, which pi would start instead.
    FromProject,
}

impl ShellPolicy {
    fn refusal(self) -> Option<DropReason> {
        match self {
            Self::Held => None,
            Self::NoSandbox => Some(DropReason::NoSandbox),
            Self::NoToolSandbox => Some(DropReason::NoToolSandbox),
            Self::FromExtension => Some(DropReason::ShellFromExtension),
            Self::FromProject => Some(DropReason::ShellFromProject),
        }
    }
}

/// What the configuration and the machine allow for the children of this call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    /// Agents that are not readonly keep their write tools.
    pub allow_write: bool,
    /// Children may use the tool `lsp`.
    pub allow_lsp: bool,
    /// Whether the kernel keeps the shell of this child from writing.
    pub shell: ShellPolicy,
    /// Tools that no child gets; `*` matches any characters. Wins over `allow`.
    pub deny: Vec<String>,
    /// If set, the only tools that a child may have; `*` matches any characters.
    pub allow: Option<Vec<String>>,
    /// Settings for this agent that only take tools away: each list holds all that the child may have.
    pub bounds: Vec<Vec<String>>,
    /// Whether the child reads answers after its task.
    pub takes_answers: bool,
}

impl ToolPolicy {
    /// Why the settings keep a tool from the child, whatever the tool does.
    fn excludes(&self, tool: &str) -> Option<DropReason> {
        let is_covered = |list: &Vec<String>| list.iter().any(|pattern| covers(pattern, tool));
        if self.deny.iter().any(|pattern| overlaps(pattern, tool)) {
            Some(DropReason::Denied)
        } else if self.allow.as_ref().is_some_and(|allow| !is_covered(allow)) {
            Some(DropReason::NotAllowed)
        } else if !self.bounds.iter().all(is_covered) {
            Some(DropReason::NotInSettings)
        } else {
            None
        }
    }
}

/// The tools of one child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPlan {
    /// The complete allow-list, in the order declared. If empty, the child has no tools at all.
    pub tools: Vec<String>,
    /// Declared tools that are not in the list, with the reasons.
    pub dropped: Vec<DroppedTool>,
}

impl ToolPlan {
    /// Drops every tool that is not in `snapshot`. The policy may have become stricter since the snapshot, but it never
    /// widens it.
    #[must_use]
    pub fn at_most(mut self, snapshot: &[String]) -> Self {
        let (kept, dropped) =
            self.tools.into_iter().partition(|tool| snapshot.contains(tool) || tool == SUBMIT);
        self.tools = kept;
        let dropped: Vec<String> = dropped;
        let reason = DropReason::NotInSnapshot;
        self.dropped.extend(dropped.into_iter().map(|tool| DroppedTool { tool, reason }));
        self
    }

    /// Whether none of the tools can change a file, whatever the sandbox is.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        self.tools.iter().all(|tool| is_free_of_side_effects(tool, false))
    }

    /// Whether one of the tools starts programs, or may do so: a shell, and whatever nobody here knows.
    #[must_use]
    pub fn starts_programs(&self) -> bool {
        self.tools
            .iter()
            .any(|tool| !is_free_of_side_effects(tool, false) && !WRITING.contains(&tool.as_str()))
    }

    /// The declared tools that settings, or what is installed, keep from the child for now.
    pub fn not_now(&self) -> impl Iterator<Item = &str> {
        let dropped = self.dropped.iter().filter(|dropped| !dropped.reason.is_lasting());
        dropped.map(|dropped| dropped.tool.as_str())
    }

    /// What to tell the agent about its tools in its prompt, if anything.
    #[must_use]
    pub fn note(&self) -> Option<&'static str> {
        self.tools.iter().all(|tool| tool == SUBMIT).then_some(
            "You have no tools in this run. Work from the task's text alone, do not pretend to have looked anything \
             up, and say what could not be checked.",
        )
    }
}

/// A declared tool that the child does not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedTool {
    /// pi's name for it.
    pub tool: String,
    /// Why the child does not get it.
    pub reason: DropReason,
}

impl fmt::Display for DroppedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` was dropped: {}", self.tool, self.reason)
    }
}

/// Why a child does not get a declared tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DropReason {
    /// It can change things, and the agent is readonly.
    #[error("the agent is readonly")]
    Readonly,
    /// It is a shell, and no sandbox keeps it from writing.
    #[error("a shell is only safe in a read-only sandbox, and none is enforced here")]
    NoSandbox,
    /// It is a shell, and what it starts cannot be held apart from pi.
    #[error("a shell is only safe in a sandbox of its own, and this machine cannot give it one")]
    NoToolSandbox,
    /// It is a shell, and an extension provides it.
    #[error("an extension provides it, and the sandbox holds only pi's own shell")]
    ShellFromExtension,
    /// It is a shell, and the project chooses the program.
    #[error("the project's settings name another shell (`shellPath`), which the sandbox would not hold")]
    ShellFromProject,
    /// It can change things, and `allowWrite` is off.
    #[error("the setting `allowWrite` is off")]
    WriteNotAllowed,
    /// The settings allow no action of `lsp`.
    #[error("`allowLspTools` is off, or `allowedLspActions` is empty")]
    LspNotAllowed,
    /// This pi does not have it.
    #[error("this pi does not have it; install a package that provides it")]
    NotAvailable,
    /// No pi has it, or this one does not, and if it had, it might change things.
    #[error("this pi has no tool of this name")]
    Unknown,
    /// The agent's file forbids it.
    #[error("the agent's file forbids it")]
    Forbidden,
    /// `tools.deny` names it.
    #[error("the setting `tools.deny` excludes it")]
    Denied,
    /// `tools.allow` does not name it.
    #[error("the setting `tools.allow` does not include it")]
    NotAllowed,
    /// The settings of this agent leave it out.
    #[error("the settings of this agent (`agents`) leave it out")]
    NotInSettings,
    /// The agent may ask, and nothing can be answered to its child.
    #[error("a child that is driven with `protocol: \"json\"` cannot ask")]
    NoAnswers,
    /// It delegates, and a child must not delegate.
    #[error("a child never delegates")]
    NeverInChild,
    /// It was not allowed when the run was requested.
    #[error("it was not allowed when the run was asked for")]
    NotInSnapshot,
}

impl DroppedTool {
    /// Whether the machine lacks it, or its configuration leaves it out, as a builtin agent has to expect: nobody wrote that
    /// for this machine.
    #[must_use]
    pub fn is_lack(&self) -> bool {
        matches!(self.reason, DropReason::NotAvailable | DropReason::LspNotAllowed)
    }
}

impl DropReason {
    /// Whether no setting and no package changes it while the agent's file stays as it is.
    fn is_lasting(self) -> bool {
        matches!(self, Self::Readonly | Self::Forbidden | Self::NeverInChild | Self::NotInSnapshot)
    }
}

/// This pi has none of the tools that the agent could have used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NoToolsLeft {
    /// The agent's name.
    pub agent: String,
    /// The missing tools; any one of them would let the agent run.
    pub missing: Vec<String>,
}

impl fmt::Display for NoToolsLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tools, them) = match &self.missing[..] {
            [only] => (only.clone(), "it"),
            several => (format!("one of {}", several.join(", ")), "them"),
        };
        write!(f, "agent `{}` needs {tools}; ", self.agent)?;
        let mut packages: Vec<_> = self.missing.iter().filter_map(|tool| package_with(tool)).collect();
        packages.dedup();
        match &packages[..] {
            [] => write!(f, "install a package that provides {them}"),
            several => write!(f, "the package {} provides {them}", several.join(" or ")),
        }
    }
}

/// Decides the tools of a child. `available` lists the tools of the hosting pi; `None` if unknown.
///
/// MCP tools count as available, because their servers may connect at any time.
///
/// # Errors
///
/// When tools are declared, at least one would be allowed, and this pi has none of those.
pub fn plan_tools(
    agent: &AgentDefinition,
    policy: &ToolPolicy,
    available: Option<&BTreeSet<String>>,
) -> Result<ToolPlan, NoToolsLeft> {
    let mut plan = plan_declared(agent, policy, available)?;
    if agent.ask != Asks::Nobody {
        // Ours takes the place of a declared tool of that name.
        plan.tools.retain(|tool| tool != ASK);
        plan.dropped.retain(|dropped| dropped.tool != ASK);
        let refusal = if policy.takes_answers {
            forbidden(agent, ASK).or_else(|| policy.excludes(ASK))
        } else {
            Some(DropReason::NoAnswers)
        };
        match refusal {
            Some(reason) => plan.dropped.push(DroppedTool { tool: ASK.to_owned(), reason }),
            None => plan.tools.push(ASK.to_owned()),
        }
    }
    if agent.output_schema.is_some() {
        // Without it the run could only fail, and it does nothing but submit.
        plan.tools.retain(|tool| tool != SUBMIT);
        plan.dropped.retain(|dropped| dropped.tool != SUBMIT);
        plan.tools.push(SUBMIT.to_owned());
    }
    Ok(plan)
}

/// The reason that a tool is dropped, if the agent's file forbids it.
fn forbidden(agent: &AgentDefinition, tool: &str) -> Option<DropReason> {
    agent.denied_tools.iter().any(|pattern| overlaps(pattern, tool)).then_some(DropReason::Forbidden)
}

/// The tools that the agent declares, or those of one that declares none.
fn plan_declared(
    agent: &AgentDefinition,
    policy: &ToolPolicy,
    available: Option<&BTreeSet<String>>,
) -> Result<ToolPlan, NoToolsLeft> {
    let reading_only = agent.readonly || !policy.allow_write;
    let exists = |tool: &str| tool.starts_with(MCP) || available.is_none_or(|names| names.contains(tool));
    let refusal = |tool: &str| {
        let write_reason = if agent.readonly { DropReason::Readonly } else { DropReason::WriteNotAllowed };
        if is_never_in_child(tool) {
            Some(DropReason::NeverInChild)
        } else if let Some(reason) = forbidden(agent, tool).or_else(|| policy.excludes(tool)) {
            Some(reason)
        } else if tool == LSP {
            (!policy.allow_lsp).then_some(DropReason::LspNotAllowed)
        } else if tool == SHELL && (reading_only || policy.shell != ShellPolicy::NoSandbox) {
            // One that may write and has no sandbox has its user's word.
            policy.shell.refusal()
        } else if OTHERS_ONLY.contains(&tool) || reading_only && !READING.contains(&tool) && !exists(tool) {
            Some(DropReason::Unknown)
        } else if reading_only && !READING.contains(&tool) {
            Some(write_reason)
        } else {
            None
        }
    };

    let Some(declared) = &agent.tools else {
        // The agent named none of these itself, so a missing one is not reported.
        let defaults: Vec<&str> =
            if reading_only { [READING.as_slice(), &[LSP, SHELL]].concat() } else { PI_DEFAULTS.to_vec() };
        let tools = defaults.into_iter().filter(|tool| refusal(tool).is_none() && exists(tool));
        return Ok(ToolPlan { tools: tools.map(str::to_owned).collect(), dropped: Vec::new() });
    };
    let mut plan = ToolPlan::default();
    for tool in declared {
        match refusal(tool).or_else(|| (!exists(tool)).then_some(DropReason::NotAvailable)) {
            Some(reason) => plan.dropped.push(DroppedTool { tool: tool.clone(), reason }),
            None => plan.tools.push(tool.clone()),
        }
    }
    let missing = || plan.dropped.iter().filter(|dropped| dropped.reason == DropReason::NotAvailable);
    if plan.tools.is_empty() && missing().next().is_some() {
        let missing = missing().map(|dropped| dropped.tool.clone()).collect();
        return Err(NoToolsLeft { agent: agent.name.clone(), missing });
    }
    Ok(plan)
}
