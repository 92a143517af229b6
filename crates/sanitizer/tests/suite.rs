//! The tests of the public functions, as one program: `tests/NAME.rs` is the module `NAME`.

mod corpus;
mod known_values;
mod sanitize;
mod truncate;
