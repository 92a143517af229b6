//! The parts that tests share.

#[cfg(target_os = "linux")]
pub(crate) mod actor;
#[cfg(unix)]
pub(crate) mod child;
#[cfg(target_os = "linux")]
pub(crate) mod engine;
#[cfg(unix)]
pub(crate) mod extension;
pub(crate) mod hidden;
#[cfg(unix)]
pub(crate) mod pids;
pub(crate) mod program;
#[cfg(target_os = "linux")]
pub(crate) mod relay;
#[cfg(target_os = "linux")]
pub(crate) mod remote;
#[cfg(target_os = "linux")]
pub(crate) mod repository;
#[cfg(target_os = "linux")]
pub(crate) mod saver;
#[cfg(unix)]
pub(crate) mod scene;
pub(crate) mod sources;
#[cfg(unix)]
pub(crate) mod stage;
