//! Children that wait for a call that may come.
//!
//! | File | Answers |
//! |---|---|
//! | `wish` | which calls one may serve |
//! | `inputs` | what one reads as it boots, so that one that is out of date is known |
//! | `memory` | whether there is memory for one |

mod inputs;
mod memory;
mod wish;

pub(super) use inputs::{BootInputs, Seen};
pub use memory::Memory;
pub use wish::SpareWish;
