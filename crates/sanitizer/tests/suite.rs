//! The tests of the public functions, as one program: `tests/NAME.rs` is the module `NAME`.

mod allowed;
mod corpus;
mod homes;
mod json;
mod known_values;
mod properties;
mod sanitize;
mod speed;
mod truncate;
