//! Agent definitions: where they are found, how they are parsed, and which tools they get.
//!
//! Knows neither the configuration files nor how a child is started: limits are passed in as values.
//!
//! ```text
//! discover ─▶ frontmatter, parse ─▶ AgentDefinition ─▶ catalog ─▶ policy: the tools a child gets
//!                                                            └─▶ surface: what the model reads
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `definition` | what an agent is |
//! | `discover` | which definitions exist, and in which directories |
//! | `frontmatter`, `parse` | what a file says, and what is wrong with it |
//! | `catalog` | which definition a name refers to |
//! | `consent` | whether the user has confirmed a project's agent |
//! | `depth` | whether this process may delegate at all |
//! | `policy` | which declared tools a child gets, and why not the others |
//! | `output_schema` | the shape of the result that a run has to submit |
//! | `surface` | the tools' descriptions and schemas, and the delegation policy |
//! | `child_tools` | the descriptions of the tools that our guard registers in a child |

mod catalog;
mod child_tools;
mod consent;
mod definition;
mod depth;
mod discover;
mod frontmatter;
mod output_schema;
mod parse;
mod policy;
mod surface;

pub use catalog::{Catalog, Shadowed, UnknownAgent};
pub(crate) use child_tools::{ask_tool, submit_tool};
pub use consent::{allowed_text, confirm, definition_text, is_confirmed};
pub use definition::{
    AgentDefinition, Asks, Context, Isolation, Network, SandboxMode, Skills, Source, THINKING_LEVELS,
};
pub use depth::{DEPTH, Depth, MAX_DEPTH, TooDeep, depth_from_env};
pub use discover::{AgentDirs, discover};
pub(crate) use discover::{canonical, project_directories};
pub use output_schema::{OutputSchema, SUBMIT};
pub(crate) use parse::is_agent_name;
pub use parse::{Parsed, parse};
pub(crate) use policy::{ASK, SHELL, WRITING, tool_name};
pub use policy::{
    DropReason, DroppedTool, NoToolsLeft, ShellPolicy, ToolPlan, ToolPolicy, is_free_of_side_effects,
    plan_tools,
};
pub use surface::{DELEGATION_HEADING, Surface, SurfaceConfig, Tool, ToolSurface, surface};
