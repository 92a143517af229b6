//! Pure functions on text and bytes.
//!
//! This folder knows nothing about agents, children or files. It takes text and returns text.
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
pub(crate) use code::Fences;
pub(crate) use diagnostic::{Code, chain, nearest, suggestion, with_cause};
pub use diagnostic::{Diagnostic, Severity, lossy_path};
pub use diff::{ChangedLine, changed_lines};
pub(crate) use fence::{FENCE_BYTES, fenced, fenced_as};
pub(crate) use head_tail::{HeadTail, Tail};
pub(crate) use json::STRICT;
pub(crate) use pattern::{covers, overlaps};
pub(crate) use position::{LineIndex, Position, ceil_char_boundary, floor_char_boundary};
pub(crate) use quote::{
    one_line, quoted, quoted_if_unusual, quoted_label, quoted_path, quoted_paths, quoted_within,
    without_quotes,
};
pub use redact::HomePaths;
pub use sanitize::{
    Allowed, AllowedError, RedactedValues, Redaction, Sanitized, Sanitizer, SanitizerOptions, check_allowed,
    settled_length,
};
pub(crate) use sanitize::{is_invisible, newest, redacted_counts, redacted_message, without_controls};
pub use secrets::{auth_secrets, key_secret, names_secret, secret_values};
pub(crate) use text_enum::text_enum;
pub(crate) use truncate::{FullText, truncate_partial};
pub use truncate::{TruncateLimits, Truncated, truncate, truncate_head, truncate_tail};
pub use visible::Visible;
