//! Pure functions on text and bytes.

mod diagnostic;
mod nearest;

pub use diagnostic::{Diagnostic, Severity};
pub(crate) use diagnostic::{one_line, quoted};
pub(crate) use nearest::nearest;
