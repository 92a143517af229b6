//! How a run ended, what its result says, and whether another attempt follows.

pub(crate) mod announcement;
pub(crate) mod changes;
pub(crate) mod clean;
pub(in crate::run) mod git;
pub(crate) mod report;
pub(crate) mod retry;
pub(crate) mod verdict;

pub use clean::clean;
