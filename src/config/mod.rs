//! The configuration files: known keys, their bounds, and what a project may tighten.
//!
//! It does not know what the settings are for, and reads files only; environment and command line are read elsewhere.
//!
//! ```text
//! locate ─▶ located (JSON with positions) ─▶ load ─▶ check each value ─▶ tighten (projects) ─▶ values ─▶ Config
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `keys` | every key: type, bounds, default, what a project may do with it |
//! | `settings`, `units` | [`Config`], and how its fields are written as JSON |
//! | `locate` | which files count |
//! | `load` | what they say together, and what is wrong with them |
//! | `check` | whether a value is right, or what would be |
//! | `tighten` | what counts of a project's value |
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
