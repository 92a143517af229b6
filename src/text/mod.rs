//! Pure functions on text and bytes.

mod diagnostic;
pub mod lines;
mod nearest;
pub mod skim;
pub mod unescape;

pub use diagnostic::{Diagnostic, Severity};
pub(crate) use diagnostic::{one_line, quoted};
pub(crate) use nearest::nearest;
