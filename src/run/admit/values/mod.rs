//! The values that apply to an agent, their sources, and whether the host can provide them.
//!
//! | File | Contents |
//! |---|---|
//! | `agent` | the model, limits, tools, skills and context of an agent, each with its source |
//! | `labels` | the text form of these values |
//! | `model` | the check whether the hosting pi can use the model |
//! | `notes` | the contents of `TOOLS.md`, and the files of the skills |

mod agent;
mod labels;
mod model;
mod notes;

pub use agent::{AgentValues, Sourced, ValueSource, find_agents};
pub use model::look_up;
pub(crate) use model::{ChosenModel, ModelCheck, UnusableModel, awaits_host, remembered, starts_another_pi};
pub(crate) use notes::{SkillFiles, tool_notes};
