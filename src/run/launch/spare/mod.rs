//! Spare children, which wait for a call that may come.
//!
//! | File | Contents |
//! |---|---|
//! | `request` | the calls that a spare child can serve |
//! | `inputs` | the files that it reads as it boots, which show whether it is out of date |
//! | `memory` | the memory that is available for it |

mod inputs;
mod memory;
mod request;

pub(super) use inputs::{BootInputs, Seen};
pub use memory::Memory;
pub use request::SpareRequest;
