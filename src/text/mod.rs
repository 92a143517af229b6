//! Pure functions on text and bytes.
//!
//! Nothing here knows of agents, children or files: text comes in, text goes out.
//!
//! | Question | File |
//! |---|---|
//! | What may leave the process, and how is it cleaned? | `sanitize/`: [`Sanitizer`], [`Sanitized`] |
//! | How is a text shown exactly to the person who decides on it? | `visible`: [`Visible`] |
//! | What is a secret, and where does one stand? | `redact/` |
//! | Which values of the environment and of `auth.json` are secrets? | `secrets` |
//! | How is a text cut to its limits? | `truncate`; `head_tail` while it still grows |
//! | Where do lines, characters and positions begin? | `lines` in a stream, `position` in a text |
//! | How is JSON read while it arrives? | `json/` |
//! | Where is a text code? | `code` |
//! | How is it marked where somebody else's words begin and end? | `fence` |
//! | Which lines has a text lost and gained? | `diff` |
//! | How does a message name a mistake, its causes? | `diagnostic` |
//! | How is a value quoted that somebody else has chosen, and put on one line? | `quote` |
//! | How are durations, sizes and money written? | `figures` |
//! | What do `{name}` and `*` stand for? | `template`, `pattern` |
//! | How does an enum get its texts? | `text_enum` |

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
pub(crate) use diagnostic::{Code, chain, nearest, suggestion};
pub use diagnostic::{Diagnostic, Severity};
pub use diff::{ChangedLine, changed_lines};
pub(crate) use fence::{FENCE_BYTES, fenced, fenced_as};
pub(crate) use head_tail::{HeadTail, Tail};
pub(crate) use json::STRICT;
pub(crate) use pattern::{covers, overlaps};
pub(crate) use position::{LineIndex, Position, ceil_char_boundary, floor_char_boundary};
pub(crate) use quote::{
    one_line, quoted, quoted_if_odd, quoted_label, quoted_path, quoted_paths, quoted_within, without_quotes,
};
pub use redact::HomePaths;
pub use sanitize::{
    Allowed, RedactedValues, Redaction, Sanitized, Sanitizer, SanitizerOptions, check_allowed, settled_length,
};
pub(crate) use sanitize::{is_invisible, newest, redacted_counts, redacted_words, without_controls};
pub use secrets::{auth_secrets, key_secret, names_secret, secret_values};
pub(crate) use text_enum::text_enum;
pub(crate) use truncate::{FullText, truncate_partial};
pub use truncate::{TruncateLimits, Truncated, truncate, truncate_head, truncate_tail};
pub use visible::Visible;
