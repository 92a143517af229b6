//! Agent definitions: where they come from, how they are read and what they may do.
//!
//! Refuses to know the configuration files and how a child is started: what they allow arrives as values.

mod builtin;
mod catalog;
mod consent;
mod definition;
mod depth;
mod discover;
mod error;
mod frontmatter;
mod parse;
mod policy;
mod surface;

pub use catalog::{Catalog, Shadowed};
pub use consent::Consent;
pub use definition::{AgentDefinition, Context, SandboxMode, Source, THINKING_LEVELS};
pub use depth::{Depth, TooDeep, depth_from_env};
pub use discover::{DiscoverOptions, discover};
pub use error::{NoToolsLeft, UnknownAgent};
pub use parse::{Parsed, parse};
pub use policy::{DropReason, DroppedTool, ToolPlan, ToolPolicy, is_free_of_side_effects, plan_tools};
pub use surface::{DELEGATION_HEADING, Surface, TaskLimits, Tool, ToolSurface, surface};
