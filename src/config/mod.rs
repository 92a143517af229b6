//! Configuration files: the known keys, their bounds, and how a project may tighten them.
//!
//! Does not know what the settings are for, and reads only files; environment and command line are read elsewhere.
//!
//! ```text
//! locate ─▶ located (JSON with positions) ─▶ load ─▶ check each value ─▶ tighten (projects) ─▶ values ─▶ Config
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `keys` | every key: type, bounds, default, how a project may change it |
//! | `settings`, `units` | [`Config`], and how its fields are written as JSON |
//! | `locate` | which files are read |
//! | `load` | the merged result, and what is wrong with the files |
//! | `check` | whether a value is valid, and what would be |
//! | `tighten` | how much of a project's value is accepted |
//! | `values` | settings by key, before they become a [`Config`] |

mod check;
mod keys;
mod load;
mod locate;
mod located;
mod settings;
mod tighten;
mod units;
mod values;

pub use load::{ConfigSource, LoadedConfig, Origin, load, overlay};
pub use locate::ConfigPaths;
pub use settings::{
    Announce, Background, Budget, Config, EarlyBoot, InheritExtensions, Launcher, Limits,
    NonInteractivePolicy, OnExit, Output, ProjectAgentPolicy, Protocol, Retry, Sandbox, SessionBudget, Spare,
    Tools,
};
