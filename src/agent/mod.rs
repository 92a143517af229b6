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
//! | `frontmatter`, `literal`, `parse`, `values` | what a file says, and what is wrong with it |
//! | `restriction/` | what a field of another harness forbids |
//! | `name` | which names are valid |
//! | `tools` | which tool a name means |
//! | `catalog` | which definition a name refers to |
//! | `consent` | whether the user has confirmed a project's agent |
//! | `depth` | whether this process may delegate at all |
//! | `policy` | which declared tools a child gets, and why not the others |
//! | `output_schema` | the shape of the result that a run has to submit |
//! | `surface` | the tools' descriptions and schemas, and the delegation policy |
//! | `arguments/` | what the arguments of a call mean that do not fit the schema, and what is wrong with them |
//! | `child_tools` | the descriptions of the tools that our guard registers in a child |

mod arguments;
mod catalog;
mod child_tools;
mod consent;
mod definition;
mod depth;
mod discover;
mod frontmatter;
mod literal;
mod name;
mod output_schema;
mod parse;
mod policy;
mod restriction;
mod surface;
mod tools;
mod values;

pub use arguments::{Misuse, prepare_arguments, prepare_json};
pub use catalog::{Catalog, Shadowed, UnknownAgent};
pub(crate) use child_tools::{ask_tool, submit_tool};
pub use consent::{allowed_text, confirm, definition_text, is_confirmed};
pub use definition::{
    AgentDefinition, Asks, Context, Isolation, Network, SandboxMode, Skills, Source, THINKING_LEVELS,
};
pub use depth::{DEPTH, Depth, MAX_DEPTH, TooDeep, depth_from_env};
pub use discover::{AgentDirs, discover};
pub(crate) use discover::{canonical, project_directories};
pub(crate) use name::is_agent_name;
pub use output_schema::{OutputSchema, SUBMIT};
pub(crate) use parse::RESTRICTION_UNCLEAR;
pub use parse::{Parsed, parse};
pub use policy::{
    DropReason, DroppedTool, NoToolsLeft, ShellPolicy, ToolPlan, ToolPolicy, is_free_of_side_effects,
    plan_tools,
};
pub use surface::{DELEGATION_HEADING, Surface, SurfaceConfig, Tool, ToolSurface, surface};
pub(crate) use tools::{ASK, SHELL, WRITING, allowed_names, denied_names, doubt_about, tool_name};
