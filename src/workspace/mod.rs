//! The tree in which a child may write.
//!
//! | Question | File |
//! |---|---|
//! | where does it begin | `root` |
//! | which names in it are protected, and which run code later | `names` |
//! | where are they, and which have changed | `scan` |

mod names;
mod root;
mod scan;

pub(crate) use root::{is_bare, root_of};
pub(crate) use scan::{Found, PARTIAL, scan};
