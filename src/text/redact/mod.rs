//! The redaction rules: what a secret looks like, and what only looks like one.
//!
//! One search finds trigger words (`token`, `ghp_`, `://`, `-----BEGIN`, …). The rule that belongs to a trigger then
//! reads a bounded stretch around it and either redacts, and the scan goes on behind, or passes. No rule looks at the
//! same byte more often than a constant, so the whole is linear.
//!
//! Limits. A value that is an identifier, a call, a type, a path or a template is code, not a secret. Pages of a text
//! are judged alone: a token whose beginning was cut off is not recognised by its shape, so callers that cut text
//! start at [`resume_point`](crate::text::resume_point).

mod cursor;
mod detect;
mod open;
mod scan;
mod tables;
mod triggers;
mod value;

pub(in crate::text) use detect::header::{is_secret_header, kind as header_kind};
pub(in crate::text) use scan::Rules;
pub(in crate::text) use triggers::Triggers;
pub(in crate::text) use value::judgement::is_secret_string;
pub(in crate::text) use value::looks::{Look, look};
pub(in crate::text) use value::name::{NameKind, name_kind, says_secret};
