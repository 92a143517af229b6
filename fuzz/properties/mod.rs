//! What holds for any bytes, one function for each fuzz target. `tests/properties.rs` checks the same on generated text.
//!
//! A function takes what its subject takes in earnest, so that recorded streams and real files are seeds as they are;
//! where to cut and what to limit is drawn from the bytes themselves.

mod collector;
mod draw;
mod framer;
mod frontmatter;
mod heap;
mod sanitizer;
mod warden;

pub(crate) use collector::collector;
pub(crate) use framer::framer;
pub(crate) use frontmatter::frontmatter;
pub(crate) use sanitizer::sanitizer;
pub(crate) use warden::warden;
