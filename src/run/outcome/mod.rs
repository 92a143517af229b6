//! The end of a run: the text and artifacts of its result, and the decision about another attempt.
//!
//! ```text
//! AttemptReport ─ verdict ─▶ RunReport ─ retry ─▶ another attempt, or the end ─ finish ─▶ ToolResult
//! ```
//!
//! | File | Contents |
//! |---|---|
//! | `retry` | whether and when another attempt follows |
//! | `finish` | the result of a run whose child has ended, with the result that the child has submitted |
//! | `claims` | the words of a task that ask for a change, and of an answer that claim one |
//! | `announcement` | the announcement in a child's last reply |
//! | `checked` | the outcome of the commands that check its work or prepare its tree |
//! | `clean` | the sanitizing of a child's output before it leaves the process |

pub(crate) mod announcement;
pub(crate) mod checked;
mod claims;
pub(crate) mod clean;
mod finish;
pub(crate) mod retry;

pub use clean::clean;
