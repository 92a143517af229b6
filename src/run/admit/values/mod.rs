//! The values that apply to an agent, their sources, and whether the host can provide them.
//!
//! | File | Contents |
//! |---|---|
//! | `agent` | the model, limits, tools, skills and context of an agent, each with its source |
//! | `labels` | the text form of these values |
//! | `model` | the check whether the hosting pi can use the model |
//! | `skills` | the files of the skills |
//! | `notes` | the contents of `TOOLS.md` |

mod agent;
mod labels;
mod model;
mod notes;
mod skills;

pub use agent::{AgentValues, Sourced, ValueSource, find_agents};
pub(crate) use model::ModelCheck;
pub(crate) use model::UnusableModel;
pub use model::look_up;
pub(crate) use model::starts_another_pi;
pub(crate) use notes::tool_notes;
pub(crate) use skills::SkillFiles;
