//! The sanitizer: all text of a child passes it on the way to disk, screen or model.
//!
//! A pass strips control sequences, then collects edits on what is left (exact secrets, rules, home directories,
//! stack frames), settles overlaps and applies them once. Every step is linear in the text.

mod allowed;
mod controls;
mod frames;
mod invisible;
mod json;
mod parts;
mod sanitized;
mod sanitizer;
mod tally;

pub use allowed::{Allowed, check_allowed};
pub(crate) use controls::without_controls;
pub(crate) use invisible::length_at as invisible_at;
pub use sanitized::Sanitized;
pub use sanitizer::{Redaction, Sanitizer, SanitizerOptions, settled_length};
pub use tally::RedactedValues;
pub(crate) use tally::{redacted_counts, redacted_words};
