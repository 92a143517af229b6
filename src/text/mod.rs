//! Pure functions on text and bytes.
//!
//! Nothing here knows of agents, children or files: text comes in, text goes out.

mod diagnostic;
mod error_chain;
pub mod figures;
mod head_tail;
pub mod lines;
mod nearest;
mod pattern;
mod position;
mod redact;
mod sanitize;
mod secrets;
pub mod skim;
mod strict_json;
pub mod template;
mod text_enum;
mod truncate;
pub mod unescape;

pub use diagnostic::{Diagnostic, Severity};
pub(crate) use diagnostic::{one_line, quoted};
pub(crate) use error_chain::chain;
pub(crate) use head_tail::{HeadTail, Mark, Tail};
pub(crate) use nearest::nearest;
pub(crate) use pattern::{covers, overlaps};
pub(crate) use position::{LineIndex, Position, ceil_char_boundary, floor_char_boundary};
pub use sanitize::{Redaction, Sanitized, Sanitizer, SanitizerOptions, settled_length};
pub use secrets::{auth_secrets, secret_values};
pub(crate) use strict_json::STRICT;
pub(crate) use text_enum::text_enum;
pub use truncate::{TruncateLimits, Truncated, resume_point, truncate, truncate_head, truncate_tail};
