//! Children that are booted before the run that needs them: for a call that is still arriving, or for the next one.
//!
//! | | |
//! |---|---|
//! | `calls` | the announcement and the end of the calls of a host's model |
//! | `streaming_args` | finds the children that the arguments of a call name so far |
//! | `call` | boots the children of a call that is still arriving |
//! | `arriving` | finds the children of such a call for its runs |
//! | `handover` | passes a child from the task that has booted it to its run |
//! | `spares` | boots a successor when a run has ended, and gives it to the next call |

mod arriving;
mod call;
mod calls;
mod handover;
mod spares;
mod streaming_args;

pub(super) use arriving::{claim_all, group_of};
pub use call::EarlyCall;
pub use calls::{ArrivingCall, CallPiece, EarlyCalls, PieceKind};
pub(super) use handover::Handover;
pub use spares::end_spares;
pub(super) use spares::{Successor, take_spare};
