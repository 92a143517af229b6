//! Files: where they are, who may read them, and how to open one that somebody else may have put there.
//!
//! [`layout`] has every name below the agent directory and in the directory of a run, [`private`] creates files that
//! only their owner may read, [`owned`] opens files of ours, `exclusive` locks them, and [`open`] paths that may be
//! anything. `directory` reads directories without following links, and `hidden` opens only what children may read.
//! The errors are in `error`: [`FileError`] names the path that something failed at, [`Foreign`] says why a file is none of
//! ours. Like `text`, it uses no layer above.

mod directory;
mod error;
#[cfg_attr(windows, path = "exclusive_windows.rs")]
pub(crate) mod exclusive;
mod hidden;
pub mod layout;
pub mod open;
pub mod owned;
pub mod private;

pub use directory::{Directory, Entry};
pub use error::{FileError, Foreign};
pub use hidden::Hidden;
