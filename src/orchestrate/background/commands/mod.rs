//! The words of `/subagents …`: what a person asks for, which run is meant, and what is answered.
//!
//! Reports are plain data that a terminal draws and that is read as text elsewhere. Nothing here acts on a run, reads a
//! file or asks a store.

mod ask;
mod clock;
mod complete;
mod done;
mod info;
mod list;
mod log;
mod report;
mod resolve;
mod usage;
mod words;

pub use ask::{Asked, DEFAULT_LIMIT, MAX_LIMIT, Target, parse};
pub use clock::Clock;
pub use complete::{Completion, complete};
pub use done::{already_finished, done_report, refused_report, stopped_all_report};
pub use info::info_report;
pub use list::{MAX_LISTED, list_report};
pub use log::{log_report, wanted_of};
pub use report::{Mark, Report, ReportLine};
pub use resolve::resolve;
pub use usage::usage_report;
