//! The configuration files: known keys, their bounds, and what a project may tighten.
//!
//! Refuses to know what the settings are for. Reads files and nothing else; environment and command line stay outside.

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
