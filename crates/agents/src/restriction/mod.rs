//! Fields of other harnesses that forbid something to an agent.
//!
//! A restricting field is never ignored. If it cannot be expressed here, the agent becomes read-only.

mod field;
mod names;
mod rules;
mod words;

pub(super) use field::{Restriction, is_known, is_restricting, restriction_of};
pub(super) use rules::{RuleIssue, ToolRules, rules_of};
pub(super) use words::{folded, switch};
