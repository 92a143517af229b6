//! Decides which of an agent's declared tools its child gets.

use std::collections::BTreeSet;
use std::fmt;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::definition::{AgentDefinition, AskTarget};
use super::output_schema::SUBMIT;
use super::tools::{
    ASK, FOREIGN_TOOLS, LSP, MCP, READ_TOOLS, SHELL, WRITE_TOOLS, is_known_tool, is_never_in_child,
    nearest_tool,
};
use sanitizer::{covers, overlaps};

/// The tools that pi enables by default. An agent that may write and declares no tools gets these.
const PI_DEFAULTS: [&str; 4] = ["read", "bash", "edit", "write"];
/// Packages of pi's registry, and the tools that they provide.
const PACKAGES: [(&str, &[&str]); 1] =
    [("`npm:pi-web-access`", &["web_search", "fetch_content", "get_search_content"])];
/// Returns a package that provides a tool, if one is known.
fn package_with(tool: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(_, tools)| tools.contains(&tool)).map(|(package, _)| *package)
}

/// Returns true if a tool has no side effects, so that its call can be repeated. This includes a sandboxed shell.
#[must_use]
pub fn is_free_of_side_effects(tool: &str, sandboxed: bool) -> bool {
    READ_TOOLS.contains(&tool) || [LSP, ASK, SUBMIT].contains(&tool) || (tool == SHELL && sandboxed)
}

/// The decision about the shell of a child. A child that may write also gets a shell without a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellPolicy {
    /// The child gets a shell, and the kernel prevents its programs from writing.
    Sandboxed,
    /// No shell, because no sandbox is enforced.
    #[default]
    NoSandbox,
    /// No shell: the child is in a sandbox, but the programs of its tools cannot get a sandbox of their own.
    NoToolSandbox,
    /// No shell, because an extension provides it and might start programs outside of the sandbox.
    FromExtension,
    /// No shell, because the project's settings name another program as the shell, which pi would start instead.
    FromProject,
}

impl ShellPolicy {
    fn refusal(self) -> Option<DropReason> {
        match self {
            Self::Sandboxed => None,
            Self::NoSandbox => Some(DropReason::NoSandbox),
            Self::NoToolSandbox => Some(DropReason::NoToolSandbox),
            Self::FromExtension => Some(DropReason::ShellFromExtension),
            Self::FromProject => Some(DropReason::ShellFromProject),
        }
    }
}

/// The tools that the configuration and the machine allow for the children of this call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    /// Set if agents that are not readonly keep their write tools.
    pub allow_write: bool,
    /// Set if children may use the tool `lsp`.
    pub allow_lsp: bool,
    /// The decision about the shell of this child.
    pub shell: ShellPolicy,
    /// Tools that no child gets; `*` matches any characters. It wins over `allow`.
    pub deny: Vec<String>,
    /// If set, the only tools that a child may have; `*` matches any characters.
    pub allow: Option<Vec<String>>,
    /// Settings for this agent that only remove tools. Each list contains all tools that the child may have.
    pub bounds: Vec<Vec<String>>,
    /// Set if the child can receive answers after its task.
    pub takes_answers: bool,
}

impl ToolPolicy {
    /// Returns the reason why the settings exclude a tool, regardless of its effects.
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
    /// The complete allow-list, in the declared order. If empty, the child has no tools at all.
    pub tools: Vec<String>,
    /// Declared tools that are not in the list, with the reasons.
    pub dropped: Vec<DroppedTool>,
}

impl ToolPlan {
    /// Drops every tool that is not in `snapshot`. The policy may be stricter than at the time of the snapshot, but
    /// never adds tools.
    #[must_use]
    pub fn limit_to(mut self, snapshot: &[String]) -> Self {
        let (allowed, dropped) =
            self.tools.into_iter().partition(|tool| snapshot.contains(tool) || tool == SUBMIT);
        self.tools = allowed;
        let dropped: Vec<String> = dropped;
        let reason = DropReason::NotInSnapshot;
        self.dropped.extend(dropped.into_iter().map(|tool| DroppedTool { tool, reason }));
        self
    }

    /// Returns true if no tool can change a file, with or without a sandbox.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        self.tools.iter().all(|tool| is_free_of_side_effects(tool, false))
    }

    /// Returns true if one of the tools may start programs: a shell, or an unknown tool.
    #[must_use]
    pub fn starts_programs(&self) -> bool {
        self.tools
            .iter()
            .any(|tool| !is_free_of_side_effects(tool, false) && !WRITE_TOOLS.contains(&tool.as_str()))
    }

    /// Returns the declared tools that settings or missing packages currently exclude.
    pub fn excluded_by_settings(&self) -> impl Iterator<Item = &str> {
        let dropped = self.dropped.iter().filter(|dropped| !dropped.reason.is_permanent());
        dropped.map(|dropped| dropped.tool.as_str())
    }

    /// Returns the note about the agent's tools for its prompt, if there is one.
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
    /// pi's name for the tool.
    pub tool: String,
    /// The reason why the child does not get the tool.
    pub reason: DropReason,
}

impl Serialize for DroppedTool {
    /// Writes the reason in words.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("DroppedTool", 2)?;
        fields.serialize_field("tool", &self.tool)?;
        fields.serialize_field("reason", &self.why())?;
        fields.end()
    }
}

impl DroppedTool {
    /// Returns the reason in words. A misspelled name gets the nearest one.
    #[must_use]
    pub fn why(&self) -> String {
        let meant = misspelled(&self.tool);
        match (self.reason, meant) {
            (DropReason::NotAvailable | DropReason::Unknown, Some(meant)) => format!("did you mean {meant}?"),
            (reason @ (DropReason::Readonly | DropReason::WriteNotAllowed), _)
                if !is_known_tool(&self.tool) =>
            {
                let hint = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
                format!("its effects are unknown, and {reason}{hint}")
            }
            (reason, _) => reason.to_string(),
        }
    }
}

impl fmt::Display for DroppedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` was dropped: {}", self.tool, self.why())
    }
}

/// Returns the tool that a name without a meaning in any harness was probably meant for.
fn misspelled(tool: &str) -> Option<&'static str> {
    if is_known_tool(tool) { None } else { nearest_tool(tool) }
}

/// The reason why a child does not get a declared tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DropReason {
    /// The tool can change things, and the agent is readonly.
    #[error("the agent is readonly")]
    Readonly,
    /// The tool is a shell, and no sandbox prevents it from writing.
    #[error("a shell is only safe in a read-only sandbox, and none is enforced here")]
    NoSandbox,
    /// The tool is a shell, and its programs cannot be separated from pi.
    #[error("a shell is only safe in a sandbox of its own, and this machine cannot provide one")]
    NoToolSandbox,
    /// The tool is a shell, and an extension provides it.
    #[error("an extension provides it, and the sandbox covers only pi's own shell")]
    ShellFromExtension,
    /// The tool is a shell, and the project chooses the program.
    #[error(
        "the project's settings name another shell (`shellPath`), which would run outside of the sandbox"
    )]
    ShellFromProject,
    /// The tool can change things, and `allowWrite` is off.
    #[error("the setting `allowWrite` is off")]
    WriteNotAllowed,
    /// The settings allow no action of `lsp`.
    #[error("the settings `allowLspTools` and `allowedLspActions` allow none of its actions")]
    LspNotAllowed,
    /// This pi does not have the tool.
    #[error("this pi does not have it; install a package that provides it")]
    NotAvailable,
    /// No pi has the tool. Or this pi does not have it, and the tool might change things.
    #[error("this pi has no tool with this name")]
    Unknown,
    /// The agent's file forbids the tool.
    #[error("the agent's file forbids it")]
    Forbidden,
    /// `tools.deny` excludes the tool.
    #[error("the setting `tools.deny` excludes it")]
    Denied,
    /// `tools.allow` does not include the tool.
    #[error("the setting `tools.allow` does not include it")]
    NotAllowed,
    /// The settings of this agent leave the tool out.
    #[error("the settings of this agent (`agents`) leave it out")]
    NotInSettings,
    /// The agent may ask, but its child cannot receive answers.
    #[error("a child with `protocol: \"json\"` cannot ask questions")]
    NoAnswers,
    /// The tool delegates, and a child must not delegate.
    #[error("a child never delegates")]
    NeverInChild,
    /// The tool was not allowed when the run was requested.
    #[error("it was not allowed when the run was requested")]
    NotInSnapshot,
}

impl DroppedTool {
    /// Returns true if this machine or its configuration lacks the tool. A builtin agent must expect this, because it
    /// was not written for this machine.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self.reason, DropReason::NotAvailable | DropReason::LspNotAllowed)
    }
}

impl DropReason {
    /// Returns true if no setting and no package can change this reason while the agent's file stays unchanged.
    fn is_permanent(self) -> bool {
        matches!(self, Self::Readonly | Self::Forbidden | Self::NeverInChild | Self::NotInSnapshot)
    }
}

/// The error if this pi has none of the tools that the agent could use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NoUsableTools {
    /// The agent's name.
    pub agent: String,
    /// The missing tools. Any one of them would let the agent run.
    pub missing: Vec<String>,
}

impl fmt::Display for NoUsableTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tools, them) = match &self.missing[..] {
            [only] => (only.clone(), "it"),
            several => (format!("one of {}", several.join(", ")), "them"),
        };
        if let [only] = &self.missing[..]
            && let Some(meant) = misspelled(only)
        {
            return write!(f, "agent `{}` needs {only}: did you mean {meant}?", self.agent);
        }
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
/// Returns an error if the agent declares tools, at least one would be allowed, and this pi has none of these.
pub fn plan_tools(
    agent: &AgentDefinition,
    policy: &ToolPolicy,
    available: Option<&BTreeSet<String>>,
) -> Result<ToolPlan, NoUsableTools> {
    let mut plan = plan_declared(agent, policy, available)?;
    if agent.ask != AskTarget::NoOne {
        // Our tool replaces a declared tool with that name.
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
        // Without this tool the run could only fail, and the tool only submits the result.
        plan.tools.retain(|tool| tool != SUBMIT);
        plan.dropped.retain(|dropped| dropped.tool != SUBMIT);
        plan.tools.push(SUBMIT.to_owned());
    }
    Ok(plan)
}

/// Returns the reason for dropping a tool if the agent's file forbids it.
fn forbidden(agent: &AgentDefinition, tool: &str) -> Option<DropReason> {
    agent.denied_tools.iter().any(|pattern| overlaps(pattern, tool)).then_some(DropReason::Forbidden)
}

/// Plans the declared tools, or the default tools of an agent that declares none.
fn plan_declared(
    agent: &AgentDefinition,
    policy: &ToolPolicy,
    available: Option<&BTreeSet<String>>,
) -> Result<ToolPlan, NoUsableTools> {
    let reading_only = agent.readonly || !policy.allow_write;
    let exists = |tool: &str| tool.starts_with(MCP) || available.is_none_or(|names| names.contains(tool));
    let refusal = |tool: &str| refusal(agent, policy, tool, exists(tool));
    let Some(declared) = &agent.tools else {
        // The agent did not name these tools, so a missing one is not reported.
        let defaults: Vec<&str> =
            if reading_only { [READ_TOOLS.as_slice(), &[LSP, SHELL]].concat() } else { PI_DEFAULTS.to_vec() };
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
    let missing = plan.dropped.iter().filter(|dropped| dropped.reason == DropReason::NotAvailable);
    let missing: Vec<String> = missing.map(|dropped| dropped.tool.clone()).collect();
    if plan.tools.is_empty() && !missing.is_empty() {
        return Err(NoUsableTools { agent: agent.name.clone(), missing });
    }
    Ok(plan)
}

/// Returns the reason for dropping a tool. `exists` is true if this pi has it.
fn refusal(agent: &AgentDefinition, policy: &ToolPolicy, tool: &str, exists: bool) -> Option<DropReason> {
    let reading_only = agent.readonly || !policy.allow_write;
    let writes = reading_only && !READ_TOOLS.contains(&tool);
    if is_never_in_child(tool) {
        Some(DropReason::NeverInChild)
    } else if let Some(reason) = forbidden(agent, tool).or_else(|| policy.excludes(tool)) {
        Some(reason)
    } else if tool == LSP {
        (!policy.allow_lsp).then_some(DropReason::LspNotAllowed)
    } else if tool == SHELL && (reading_only || policy.shell != ShellPolicy::NoSandbox) {
        // The user has allowed an agent that may write and has no sandbox.
        policy.shell.refusal()
    } else if FOREIGN_TOOLS.contains(&tool) || writes && !exists {
        Some(DropReason::Unknown)
    } else if writes {
        Some(if agent.readonly { DropReason::Readonly } else { DropReason::WriteNotAllowed })
    } else {
        None
    }
}
