//! Configuration files: the known keys, their bounds, and how a project may tighten them.
//!
//! This module does not know what the settings are used for. It only reads files; other modules read the environment
//! and the command line.
//!
//! ```text
//! load ─▶ located (JSON with positions) ─▶ reader ─▶ check each value ─▶ tighten (projects) ─▶ keys ─▶ Config
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `keys` | every key: type, bounds, default, how a project may change it; the settings by key |
//! | `settings`, `units` | [`Config`], and how its fields are written as JSON |
//! | `entries` | the settings of one agent, and of one launcher |
//! | `paths` | which files are read |
//! | `load` | the merged result |
//! | `located` | the position of a value in a file |
//! | `reader` | the mistakes in a file, and the settings that apply |
//! | `check`, `shortcut` | if a value is valid, and which values are |
//! | `tighten` | the accepted part of a project's value |
//! | `reference` | the tables of keys in `docs/`, which a test compares with `keys` |

mod check;
mod entries;
mod keys;
mod load;
mod located;
mod paths;
mod reader;
#[cfg(test)]
mod reference;
mod settings;
mod shortcut;
mod tighten;
mod units;

pub use entries::{AgentBounds, AgentSettings, LOCAL, Launcher, PLACEHOLDERS, Quote};
pub use load::{ConfigSource, LoadedConfig, load, overlay};
pub use paths::ConfigPaths;
pub use reader::{ALL, NamedAgent, NamedTool};
pub use settings::{
    AllowWrite, Announce, AnnounceMode, Background, Budget, Check, Config, EarlyBoot, InheritExtensions,
    Limits, LoopLimits, NonInteractivePolicy, OnExit, OnRestart, Origin, OutputLimits, ProjectAgentPolicy,
    Protocol, Quota, Retry, Sandbox, SessionBudget, Spare, Tools,
};
