//! The redaction rules: what a secret looks like, and what only looks like one.
//!
//! One search finds the trigger words of all rules (`token`, `ghp_`, `://`, `-----BEGIN`, …). The rule that a trigger
//! belongs to reads a bounded stretch around it and either redacts, and the scan goes on behind, or passes. No rule
//! reads the same byte more often than a constant, so the whole is linear, however many rules and words there are.
//!
//! | Question | File |
//! |---|---|
//! | In which order are rules asked? What of a text that goes on has to wait? | `scan` |
//! | What does a rule have to say? | `rule`: [`Rule`](rule::Rule), [`Edit`] |
//! | What are the rules called, and what does each find? | `kinds` |
//! | How are trigger words found? | `triggers` |
//! | Where do exact values stand? | `literals` |
//! | Which values stand in columns with telling headings? | `columns` |
//! | Which values has a `Secret` of Kubernetes? | `manifests` |
//! | Where else does a redacted value stand? | `repeated` |
//! | What stands around a place: names, quotes, lines? | `cursor` |
//! | Which sign does `%3D`, `\u003d` or `&quot;` stand for? | `escape` |
//! | In which places does a secret stand, and how far does it reach? | `detect/`, one file per kind of place |
//! | Which rules are there, and what of JSON in base64? | `encoded` |
//! | Is this value a secret? | `value/` |
//! | Which words, which vendors' tokens? | `tables/`, data only; a vendor is one row in `tables/vendors/` |
//!
//! Limits. A value that is an identifier, a call, a type, a path or a template is code, not a secret. Pages of a text
//! are judged alone: a token whose beginning was cut off is not recognized by its shape, so what cuts text
//! before it is sanitized begins with a whole word.

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
pub(crate) use kinds::{STACK_FRAMES, is_secret_rule, secret_rules, what_rule_finds};
pub(crate) use literals::Literals;
pub(crate) use rule::{Edit, REDACTED};
pub(crate) use scan::Scanner;
pub(crate) use value::header::{header_kind, is_secret_header};
pub(crate) use value::judgement::is_secret_string;
pub(crate) use value::looks::{Look, look};
pub(crate) use value::name::{NameKind, name_kind, says_secret};
