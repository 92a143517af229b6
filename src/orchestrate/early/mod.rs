//! Children that are booted before the run that needs them: for a call that is still arriving, for a run that cannot start yet,
//! or for the next call.
//!
//! | | |
//! |---|---|
//! | `ahead` | boots the child of a run that cannot start yet, or of the next call, and gives it to its run |
//! | `calls` | the announcement and the end of the calls of a host's model |
//! | `streaming_args` | finds the children that the arguments of a call name so far |
//! | `call` | boots the children of a call that is still arriving |
//! | `arriving` | finds the children of such a call for its runs |
//! | `handover` | passes a child from the task that has booted it to its run |

mod ahead;
mod arriving;
mod call;
mod calls;
mod handover;
mod streaming_args;

pub use ahead::end_spares;
pub(super) use ahead::{NextChild, Successor, take_spare, take_with_slot};
pub(super) use arriving::{claim_all, group_of, take_key};
pub use call::EarlyCall;
pub use calls::{ArrivingCall, CallPiece, EarlyCalls, PieceKind};
pub(super) use handover::Handover;
