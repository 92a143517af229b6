//! The outcome of a run, the texts of its result, and the decision about another attempt.
//!
//! ```text
//! AttemptReport ─ verdict ─▶ Verdict ─ retry ─▶ another attempt, or the end: RunReport ─ report ─▶ the result
//! ```
//!
//! | File | Contents |
//! |---|---|
//! | `verdict` | the outcome of an attempt |
//! | `retry` | whether and when another attempt follows, and what the earlier ones add to the result |
//! | `report` | the result of a run |
//! | `artifacts` | the text about a run's check, changed files and branch |
//! | `checked` | the outcome of the commands that check its work or prepare its tree |
//! | `clean` | the sanitizing of a child's output before it leaves the process |
//! | `announcement` | the announcement in a child's last reply |
//! | `structured` | a submitted result: its value, its text, and its file if it is large |
//! | `changes`, `git` | the files that a run changed, from a git that a hostile work tree cannot exploit |
//! | `flagged` | the changed files that run code later or tell agents what to do |

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
