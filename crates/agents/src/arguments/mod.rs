//! Converts the arguments of a tool call to the form of the tool's schema, before the schema is applied.
//!
//! Models send arguments in the forms of other harnesses: a list as JSON text, a number as text, empty values for
//! unused parameters, and other names. A value with only one possible meaning is converted. Any other value is refused
//! with a message that gives the mistake, its place, and the expected form.
//!
//! `prepare` processes the arguments, `value` converts single values, and `names` contains the names of other
//! harnesses.

mod names;
mod prepare;
mod value;

pub use prepare::{MISUSE_END, Misuse, prepare_arguments, prepare_json};
