//! The tests of the public functions, as one program: `tests/NAME.rs` is the module `NAME`.

mod arguments;
mod config;
mod config_entries;
mod config_files;
mod discover;
mod parse;
mod policy;
