//! Properties that hold for any bytes, one function per fuzz target. `tests/properties.rs` checks the same on generated
//! text. A function takes the same input as the code under test, so that recorded streams and real files can be seeds.
//! Cuts and limits are derived from the bytes themselves.

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
