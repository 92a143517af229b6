//! The redaction rules, which distinguish secrets from text that only looks like a secret.
//!
//! One search finds the trigger words of all rules (`token`, `ghp_`, `://`, `-----BEGIN`, …). The rule of a trigger
//! reads a bounded part of the text around it. If the rule finds a secret, the scan continues after it. No rule reads
//! the same byte more than a constant number of times, so the scan takes linear time for any number of rules and
//! words.
//!
//! | Task | File |
//! |---|---|
//! | Run the rules in order, hold back the end of a growing text, and redact repeated values | `scan` |
//! | The interface, the names and the descriptions of rules | `rule`: [`Rule`](rule::Rule), [`Edit`] |
//! | Find trigger words and exact values | `search` |
//! | Redact table columns with secret headings | `columns` |
//! | Redact the values of a Kubernetes `Secret` | `manifests` |
//! | Examine the names, quotes and lines around a position | `cursor` |
//! | Decode signs such as `%3D`, `\u003d` or `&quot;` | `escape` |
//! | Find secrets and their extent | `detect/`, one file for each kind of context |
//! | List the rules, and decode JSON in base64 | `encoded` |
//! | Classify the name of a value, and its look | `names`, `shape` |
//! | Judge a value by its name, its place and its look | `judgement` |
//! | The words that mark a value as a placeholder | `words` |
//! | The vendors' tokens, one row for each | `vendors/` |
//!
//! Limits:
//! - A value that is an identifier, a call, a type, a path or a template is code, not a secret.
//! - Pages of a text are judged separately. A token without its beginning is not recognized by its shape. So code that
//!   cuts text before sanitizing must begin with a whole word.

// Its macro must precede its users.
#[macro_use]
mod words;

mod columns;
mod cursor;
mod detect;
mod encoded;
mod escape;
mod judgement;
mod manifests;
mod names;
mod rule;
mod scan;
mod search;
mod shape;
mod vendors;

pub(crate) use cursor::line_break;
pub use detect::HomePaths;
pub(crate) use detect::{Homes, header_kind, is_secret_header};
pub(crate) use encoded::rules;
pub(crate) use judgement::is_secret_string;
pub(crate) use names::{NameKind, is_secret_variable, name_kind};
pub(crate) use rule::{Edit, REDACTED};
pub(crate) use rule::{STACK_FRAMES, describe_rule, is_secret_rule, secret_rules};
pub(crate) use scan::Scanner;
pub(crate) use search::Literals;
pub(crate) use shape::{Shape, shape_of};
