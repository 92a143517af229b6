//! Pure functions on text and bytes.
//!
//! This crate knows nothing about agents, children or files. It takes text and returns text.
//!
//! | Task | File |
//! |---|---|
//! | Clean text before it leaves the process | `sanitize/`: [`Sanitizer`], [`Sanitized`] |
//! | Show a text exactly to the person who decides about it | `visible`: [`Visible`] |
//! | Recognize secrets in text | `redact/` |
//! | Find the secrets in the environment and in `auth.json` | `secrets` |
//! | Cut a text to its limits | `truncate`; `head_tail` while it still grows |
//! | Find lines, characters and positions | `lines` in a stream, `position` in a text |
//! | Read JSON while it arrives | `json/` |
//! | Find the code in a Markdown text | `code` |
//! | Put text from other sources into a fence | `fence` |
//! | Compare two texts by lines | `diff` |
//! | Describe a mistake in a file, and its causes | `diagnostic` |
//! | Quote untrusted values, and put text on one line | `quote` |
//! | Format durations, sizes and money | `figures` |
//! | Expand `{name}` and match `*` | `template`, `pattern` |
//! | Define enums that have a text for each value | `text_enum` |
#![forbid(unsafe_code)]

mod code;
mod diagnostic;
mod diff;
mod fence;
pub mod figures;
mod head_tail;
pub mod json;
pub mod lines;
mod pattern;
mod position;
mod quote;
mod redact;
mod sanitize;
mod secrets;
pub mod template;
mod text_enum;
mod truncate;
mod visible;

pub use code::Fence;
pub use code::Fences;
pub use diagnostic::{Code, chain, nearest, suggestion, with_cause};
pub use diagnostic::{Diagnostic, Severity, lossy_path};
pub use diff::{ChangedLine, changed_lines};
pub use fence::{FENCE_BYTES, fenced, fenced_as};
pub use head_tail::{HeadTail, Tail};
pub use json::STRICT;
pub use pattern::{covers, overlaps};
pub use position::{LineIndex, Position, ceil_char_boundary, floor_char_boundary};
pub use quote::{
    Line, one_line, quoted, quoted_if_unusual, quoted_label, quoted_path, quoted_paths, quoted_within,
    without_quotes,
};
pub use redact::HomePaths;
pub use sanitize::{
    Allowed, AllowedError, RedactedValues, Redaction, Sanitized, Sanitizer, SanitizerOptions, check_allowed,
    settled_length,
};
pub use sanitize::{is_invisible, newest, redacted_counts, redacted_message, without_controls};
pub use secrets::{auth_secrets, key_secret, names_secret, secret_values};
pub use truncate::{FullText, truncate_partial};
pub use truncate::{TruncateLimits, Truncated, truncate, truncate_head, truncate_tail};
pub use visible::Visible;
