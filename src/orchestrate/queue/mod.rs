//! The lane that all child runs of this process pass.
//!
//! Whoever wants to start a child takes a [`Ticket`] to the [`Lane`], waits for a [`Slot`] and drops it when the child is
//! gone. Order is that of arrival. Two things let others pass: a parallel call that runs as many at once as it may, and a
//! provider that has asked for a pause. The cap on all processes of one user lies in the store, and one thread speaks to
//! it, so that nothing here ever blocks.
//!
//! The lane knows nothing of children, of runs, or of what a slot is used for.

mod claims;
mod desk;
mod early;
mod entrance;
mod groups;
mod holds;
mod seat;
mod slot;
mod state;
mod ticket;
mod waiting;

pub use early::EarlySlot;
pub use entrance::Queue;
pub use slot::Slot;
pub use ticket::{Group, Ticket, UserCap};
pub use waiting::Waiting;
