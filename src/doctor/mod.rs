//! Checks whether delegation works here, and what keeps it from working.

mod check;
mod disk;
mod examine;
mod guards;
mod launchers;
mod store;
mod writing;

pub use check::{Check, Status};
pub use examine::doctor;
