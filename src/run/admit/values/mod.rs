//! What an agent has in the end, who said so, and whether the host has that.
//!
//! | File | Answers |
//! |---|---|
//! | `agent` | model, limits, tools, skills and context of an agent, and where each comes from |
//! | `words` | those values in words |
//! | `model` | whether the hosting pi can use the model |
//! | `skills` | which files its skills are |
//! | `notes` | what `TOOLS.md` says |

mod agent;
mod model;
mod notes;
mod skills;
mod words;

pub use agent::{AgentValues, Sourced, ValueSource, find_agents};
pub(in crate::run) use model::ModelCheck;
pub(crate) use model::UnusableModel;
pub use model::look_up;
pub(crate) use model::starts_another_pi;
pub(in crate::run) use notes::tool_notes;
pub(crate) use skills::SkillFiles;
