//! Spare children, which wait for a call that may come.
//!
//! | File | Contents |
//! |---|---|
//! | `inputs` | the calls that it can serve, and the files that it reads as it boots, which show if it is out of date |
//! | `memory` | the memory that is available for it |

mod inputs;
mod memory;

pub use inputs::SpareRequest;
pub(super) use inputs::{BootInputs, Seen};
pub use memory::Memory;
