//! Files: their paths, their permissions, and safe ways to open a file that another user may have put there.
//!
//! [`layout`] has every name below the agent directory and in the directory of a run, [`private`] creates files that only their
//! owner may read, [`owned`] opens files of ours, `exclusive` locks them, and [`open`] opens paths of any origin. `directory`
//! reads directories without following links, and `hidden` refuses the files that children may not read. The errors are in
//! `error`: [`FileError`] names the path of the failure, [`Foreign`] the reason why a file is not ours. It does not
//! know the content of a file.
#![forbid(unsafe_code)]

mod directory;
mod error;
#[cfg_attr(windows, path = "exclusive_windows.rs")]
pub mod exclusive;
mod hidden;
pub mod layout;
pub mod open;
pub mod owned;
pub mod private;

pub use directory::{Directory, Entry};
pub use error::{FileError, Foreign};
pub use hidden::Hidden;
pub use open::{below_home, canonical};
