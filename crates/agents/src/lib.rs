//! Agent definitions and configuration files: discovery, parsing, and the tools of a child.
//!
//! This crate does not know how a child is started. Definitions know nothing of [`config`]: callers pass limits as values.
//!
//! ```text
//! discover ─▶ frontmatter, parse ─▶ AgentDefinition ─▶ catalog ─▶ policy: the tools a child gets
//!                                                            └─▶ surface: the model's view of the tools
//! ```
//!
//! | File | Task |
//! |---|---|
//! | `definition` | the type of an agent |
//! | `discover` | find the definitions in all directories |
//! | `frontmatter`, `literal`, `parse`, `values` | parse a file and report its mistakes |
//! | `restriction/` | apply the restrictions in fields of other harnesses |
//! | `name` | validate names |
//! | `tools` | map names of tools |
//! | `catalog` | find a definition by its name |
//! | `consent` | store the user's confirmations of a project's agents |
//! | `depth` | check if this process may delegate |
//! | `policy` | decide which declared tools a child gets, with reasons for the others |
//! | `output_schema` | the shape of the result that a run must submit |
//! | `surface` | the tools' descriptions and schemas, and the delegation policy |
//! | `arguments/` | convert arguments that do not fit the schema, or report the mistakes |
//! | `child_tools` | describe the tools that our guard registers in a child |
//! | `config/` | read the configuration files |
#![forbid(unsafe_code)]

mod arguments;
mod catalog;
mod child_tools;
pub mod config;
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

pub use arguments::{MISUSE_END, Misuse, prepare_arguments, prepare_json};
pub use catalog::{Catalog, Shadowed, UnknownAgent};
pub use child_tools::{AskTool, ChildTool, ask_tool, submit_tool};
pub use consent::{
    ConfirmedFile, MAX_CONFIRMED_BYTES, allowed_text, confirm, content_hash, definition_text, is_confirmed,
    text_to_confirm,
};
pub use definition::{
    AgentDefinition, AskTarget, Context, Isolation, Network, SandboxMode, Skills, Source, THINKING_LEVELS,
};
pub use depth::{DEPTH, Depth, MAX_DEPTH, TooDeep, depth_from_env};
pub use discover::project_directories;
pub use discover::{AgentDirs, check_program_agent, discover};
pub use name::is_agent_name;
pub use output_schema::{OutputSchema, SUBMIT, SchemaError};
pub use parse::RESTRICTION_UNCLEAR;
pub use parse::{Parsed, parse};
pub use policy::{
    DropReason, DroppedTool, NoUsableTools, ShellPolicy, ToolPlan, ToolPolicy, is_free_of_side_effects,
    plan_tools,
};
pub use surface::{DELEGATION_HEADING, Surface, SurfaceConfig, Tool, ToolSurface, surface};
pub use tools::{ASK, SHELL, WRITE_TOOLS, allowed_names, denied_names, tool_entry_problem, tool_name};
