//! The sanitizer. All text of a child passes through it before it reaches the disk, the screen or a model.
//!
//! A pass strips control sequences, then collects edits for the remaining text (exact secrets, rules, home
//! directories, stack frames), resolves overlaps and applies the edits once. Every step takes linear time.
//!
//! | File | Task |
//! |---|---|
//! | `sanitizer` | run the steps of a pass, cut a sanitized text, and find the safe part of a growing text |
//! | `sanitized` | the type of sanitized text |
//! | `controls` | remove control sequences and invisible characters |
//! | `frames` | shorten a long stack trace |
//! | `json` | sanitize strings, keys and values of JSON |
//! | `known` | find known values in all spellings |
//! | `allowed` | keep values that a user has excluded from redaction |
//! | `tally` | count the redacted values by rule |

mod allowed;
mod controls;
mod frames;
mod json;
mod known;
mod sanitized;
mod sanitizer;
mod tally;

pub use allowed::{Allowed, AllowedError, check_allowed};
pub(crate) use controls::invisible_length;
pub use controls::{is_invisible, without_controls};
pub use sanitized::{Sanitized, newest};
pub use sanitizer::{Redaction, Sanitizer, SanitizerOptions, settled_length};
pub use tally::{RedactedValues, redacted_counts, redacted_message};
