//! The sanitizer. All text of a child passes through it before it reaches the disk, the screen or a model.
//!
//! A pass strips control sequences, then collects edits for the remaining text (exact secrets, rules, home
//! directories, stack frames), resolves overlaps and applies the edits once. Every step takes linear time.
//!
//! | File | Task |
//! |---|---|
//! | `sanitizer` | run the steps of a pass, and find the safe part of a growing text |
//! | `sanitized` | the type of sanitized text |
//! | `bounded` | sanitize and cut a text |
//! | `controls`, `invisible` | remove control sequences and invisible characters |
//! | `frames` | shorten a long stack trace |
//! | `json` | sanitize strings, keys and values of JSON |
//! | `known` | find known values in all spellings |
//! | `allowed` | keep values that a user has excluded from redaction |
//! | `parts` | find the text that a later pass must check |
//! | `tally` | count the redacted values by rule |

mod allowed;
mod bounded;
mod controls;
mod frames;
mod invisible;
mod json;
mod known;
mod parts;
mod sanitized;
mod sanitizer;
mod tally;

pub use allowed::{Allowed, AllowedError, check_allowed};
pub use controls::without_controls;
pub use invisible::is_invisible;
pub(crate) use invisible::length_at as invisible_at;
pub use sanitized::Sanitized;
pub use sanitized::newest;
pub use sanitizer::{Redaction, Sanitizer, SanitizerOptions, settled_length};
pub use tally::RedactedValues;
pub use tally::{redacted_counts, redacted_message};
