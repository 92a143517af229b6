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
//! | Find lines in a stream, and positions in a text | `lines` |
//! | Read JSON while it arrives | `json/` |
//! | Find the code in a Markdown text, and put text into a fence | `markdown` |
//! | Compare two texts by lines | `diff` |
//! | Describe a mistake in a file, and its causes | `diagnostic` |
//! | Quote untrusted values, and put text on one line | `quote` |
//! | Format durations, sizes and money | `figures` |
//! | Expand `{name}` and match `*` | `template` |
//! | Define enums that have a text for each value | `text_enum` |
#![forbid(unsafe_code)]

mod diagnostic;
mod diff;
pub mod figures;
mod head_tail;
pub mod json;
pub mod lines;
mod markdown;
mod quote;
mod redact;
mod sanitize;
mod secrets;
pub mod template;
mod text_enum;
mod truncate;
mod visible;

pub use diagnostic::{Code, Diagnostic, Severity, chain, lossy_path, nearest, suggestion, with_cause};
pub use diff::{ChangedLine, changed_lines};
pub use head_tail::{HeadTail, Tail};
pub use json::STRICT;
pub use lines::{LineIndex, Position, ceil_char_boundary, floor_char_boundary};
pub use markdown::{FENCE_BYTES, Fence, Fences, fenced, fenced_as};
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
pub use template::{covers, overlaps};
pub use truncate::{
    FullText, TruncateLimits, Truncated, truncate, truncate_head, truncate_partial, truncate_tail,
};
pub use visible::Visible;
