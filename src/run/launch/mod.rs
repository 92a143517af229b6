//! How a run's child is started, and what it finds.

pub(crate) mod boot;
pub(crate) mod command_line;
pub(crate) mod files;
#[cfg_attr(not(unix), path = "private_dirs_elsewhere.rs")]
pub(crate) mod private_dirs;
pub(crate) mod private_files;
pub(crate) mod resume;

pub use boot::Booted;
