//! Whether delegation would work here, and what stands in its way.

mod check;
mod directories;
mod disk;
mod examine;
mod guards;

pub use check::{Check, Status};
pub use examine::doctor;
