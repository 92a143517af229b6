//! Configuration files: the known keys, their bounds, and how a project may tighten them.
//!
//! Knows no use of the settings and only reads files. Other modules read the environment and the command line.
//!
//! ```text
//! load ─▶ located (JSON with positions) ─▶ reader ─▶ check each value ─▶ tighten (projects) ─▶ keys ─▶ Config
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `keys` | every key: type, bounds, default, how a project may change it; the settings by key |
//! | `settings`, `units` | [`Config`], and how its fields are written as JSON |
//! | `agent_settings`, `launcher` | those of one agent, and of one launcher |
//! | `load` | which files are read, and the merged result |
//! | `located` | where in a file a value stands |
//! | `reader` | what is wrong with a file, and what of it counts |
//! | `check`, `shortcut` | whether a value is valid, and what would be |
//! | `tighten` | how much of a project's value is accepted |
//! | `reference` | the tables of keys in `docs/`, which a test compares with `keys` |

mod agent_settings;
mod check;
mod keys;
mod launcher;
mod load;
mod located;
mod reader;
#[cfg(test)]
mod reference;
mod settings;
mod shortcut;
mod tighten;
mod units;

pub use agent_settings::{AgentBounds, AgentSettings};
pub(crate) use launcher::PLACEHOLDERS;
pub use launcher::{LOCAL, Launcher, Quote};
pub use load::{ConfigPaths, ConfigSource, LoadedConfig, load, overlay};
pub use reader::{ALL, NamedAgent, NamedTool};
pub use settings::{
    AllowWrite, Announce, AnnounceMode, Background, Budget, Check, Config, EarlyBoot, InheritExtensions,
    Limits, LoopLimits, NonInteractivePolicy, OnExit, OnRestart, Origin, OutputLimits, ProjectAgentPolicy,
    Protocol, Quota, Retry, Sandbox, SessionBudget, Spare, Tools,
};
