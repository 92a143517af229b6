//! What holds for any bytes, one function for each fuzz target. `tests/properties.rs` checks the same on generated text.
//!
//! A function takes what its subject takes in earnest, so that recorded streams and real files are seeds as they are;
//! where to cut and what to limit is drawn from the bytes themselves.
#![allow(dead_code, unused_imports, reason = "each target uses one of them")]

mod collector;
mod draw;
mod framer;
mod frontmatter;
mod sanitizer;
mod warden;

pub use collector::collector;
pub use framer::framer;
pub use frontmatter::frontmatter;
pub use sanitizer::sanitizer;
pub use warden::warden;
