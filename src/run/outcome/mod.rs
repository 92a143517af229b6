//! The outcome of a run, the texts of its result, and the decision about another attempt.
//!
//! ```text
//! AttemptReport ─ verdict ─▶ Verdict ─ retry ─▶ another attempt, or the end: RunReport ─ report ─▶ the result
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `verdict` | which outcome an attempt has |
//! | `retry` | whether another one follows and when, and what the earlier ones add to the result |
//! | `report` | what the result of a run says |
//! | `artifacts` | what a run leaves beside its answer, in words |
//! | `checked` | how the check of its work ended |
//! | `clean` | what of a child's words leaves the process |
//! | `announcement` | what a child announces with its last words |
//! | `structured` | what of a submitted result stands in the text, and what in a file |
//! | `changes`, `git` | which files a run changed, asked of a git that a hostile work tree cannot use |
//! | `flagged` | which of these files run code later, or tell agents what to do |

pub(crate) mod announcement;
pub(crate) mod artifacts;
pub(crate) mod changes;
pub(in crate::run) mod checked;
pub(crate) mod clean;
pub(crate) mod flagged;
pub(in crate::run) mod git;
pub(crate) mod report;
pub(crate) mod retry;
mod structured;
pub(crate) mod verdict;

pub use clean::clean;
