//! The sanitizer: all text of a child passes it on the way to disk, screen or model.
//!
//! A pass strips control sequences, then collects edits on what is left (exact secrets, rules, home directories,
//! stack frames), settles overlaps and applies them once. Every step is linear in the text.
//!
//! | File | Answers |
//! |---|---|
//! | `sanitizer` | which steps a pass has, and how much of a text that goes on can be shown |
//! | `sanitized` | what shows that a text has passed |
//! | `bounded` | how a text is sanitized and cut |
//! | `controls`, `invisible` | which control sequences go, and which characters that nobody sees |
//! | `frames` | how a long stack trace is shortened |
//! | `json` | how strings, keys and values of JSON are cleaned |
//! | `known` | in which spellings a known value is found |
//! | `allowed` | what a user says is no secret |
//! | `parts` | where a later pass has to look |
//! | `tally` | how many values went, and by which rules |

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

pub use allowed::{Allowed, check_allowed};
pub(crate) use controls::without_controls;
pub(crate) use invisible::{is_invisible, length_at as invisible_at};
pub use sanitized::Sanitized;
pub(crate) use sanitized::newest;
pub use sanitizer::{Redaction, Sanitizer, SanitizerOptions, settled_length};
pub use tally::RedactedValues;
pub(crate) use tally::{redacted_counts, redacted_words};
