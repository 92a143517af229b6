//! Bounds how many children there are at once, in this process and in all processes of one user.
//!
//! ```text
//! Queue::enter(Request) → Ticket ── admitted ──→ Permit      dropped when the child is gone
//! Queue::early(Request) → EarlyPermit ── into_permit ──↗     for a child that no run has asked for yet
//! ```
//!
//! Order is that of arrival, with two exceptions: a run is passed over while its call runs as many at once as it may, and
//! while its provider has asked for a pause. An early permit is given back as soon as a run needs its place. The cap on all
//! processes lies in the store, and one thread per store talks to it, so that nothing here blocks.
//!
//! | | |
//! |---|---|
//! | `request` | which limits hold for a run; the calls that bound how many of their runs go on |
//! | `queue` | the entrance for runs and for children booted early |
//! | `ticket`, `permit` | a place in the queue; the right to have a child |
//! | `state` | who waits, what is taken, who is admitted next, which early permits have to go |
//! | `store_worker` | the thread that talks to the store |
//! | `claims` | what that thread asks for, how it reads the answers, when it asks again |
//!
//! The queue knows nothing of children, of runs, or of what a permit is used for.

mod claims;
mod permit;
#[expect(clippy::module_inception, reason = "the queue itself, beside what it is made of")]
mod queue;
mod request;
mod state;
mod store_worker;
mod ticket;

pub use permit::{EarlyPermit, Permit};
pub use queue::Queue;
pub use request::{Group, Request, UserCap};
pub use state::WaitStatus;
pub use ticket::Ticket;
