//! The arguments of a tool call, put into the form of the tool's schema before the schema is applied.
//!
//! Models send arguments in the forms of other harnesses: a list as JSON text, a number as text, empty values for
//! parameters that they do not use, and other names. A value with only one possible meaning is converted. Everything else
//! is refused in plain words: the mistake, its place, and the form that the tool takes.
//!
//! `prepare` walks through the arguments, `value` converts single values, and `names` knows the names of other harnesses.

mod names;
mod prepare;
mod value;

pub use prepare::{Misuse, prepare_arguments, prepare_json};
