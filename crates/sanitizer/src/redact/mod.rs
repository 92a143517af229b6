//! The redaction rules, which distinguish secrets from text that only looks like a secret.
//!
//! One search finds the trigger words of all rules (`token`, `ghp_`, `://`, `-----BEGIN`, …). The rule of a trigger
//! reads a bounded part of the text around it. If the rule finds a secret, the scan continues after it. No rule reads
//! the same byte more than a constant number of times, so the scan takes linear time for any number of rules and
//! words.
//!
//! | Task | File |
//! |---|---|
//! | Run the rules in order, and hold back the end of a growing text | `scan` |
//! | The interface of a rule | `rule`: [`Rule`](rule::Rule), [`Edit`] |
//! | Name and describe the rules | `kinds` |
//! | Find trigger words | `triggers` |
//! | Find exact values | `literals` |
//! | Redact table columns with secret headings | `columns` |
//! | Redact the values of a Kubernetes `Secret` | `manifests` |
//! | Redact further occurrences of a redacted value | `repeated` |
//! | Examine the names, quotes and lines around a position | `cursor` |
//! | Decode signs such as `%3D`, `\u003d` or `&quot;` | `escape` |
//! | Find secrets and their extent | `detect/`, one file for each kind of context |
//! | List the rules, and decode JSON in base64 | `encoded` |
//! | Judge a value | `value/` |
//! | The words and the vendors' tokens | `tables/`, data only; a vendor is one row in `tables/vendors/` |
//!
//! Limits:
//! - A value that is an identifier, a call, a type, a path or a template is code, not a secret.
//! - Pages of a text are judged separately. A token without its beginning is not recognized by its shape. So code that
//!   cuts text before sanitizing must begin with a whole word.

mod columns;
mod cursor;
mod detect;
mod encoded;
mod escape;
mod kinds;
mod literals;
mod manifests;
mod repeated;
mod rule;
mod scan;
mod tables;
mod triggers;
mod value;

pub(crate) use cursor::line_break;
pub use detect::HomePaths;
pub(crate) use detect::Homes;
pub(crate) use encoded::rules;
pub(crate) use kinds::{STACK_FRAMES, describe_rule, is_secret_rule, secret_rules};
pub(crate) use literals::Literals;
pub(crate) use rule::{Edit, REDACTED};
pub(crate) use scan::Scanner;
pub(crate) use value::header::{header_kind, is_secret_header};
pub(crate) use value::judgement::is_secret_string;
pub(crate) use value::name::{NameKind, is_secret_variable, name_kind};
pub(crate) use value::shape::{Shape, shape_of};
