//! Bounds how many children there are at once, in this process and in all processes of one user.
//!
//! ```text
//! Queue::enter(Request) → Ticket ── admitted ──→ Permit      dropped when the child is gone
//! Queue::early(Request) → EarlyPermit ── into_permit ──↗     for a child that no run has asked for yet
//! ```
//!
//! Runs start in the order of arrival, with three exceptions: a run is passed over while its call runs its maximum number at
//! once, while its provider pauses, and while another run writes to its work tree. An early permit is given back as soon as a run
//! needs its slot. The cap on all processes is in the store, and one thread per store talks to it, so that nothing here blocks.
//!
//! | | |
//! |---|---|
//! | `queue` | [`Queue`] with [`Ticket`], [`Permit`] and [`EarlyPermit`]; its lock, and the threads that talk to the stores |
//! | `request` | the limits of a run, and its status while it waits |
//! | `state` | the waiting runs, the taken slots, the next admission, the early permits to evict |
//! | `pauses` | pauses of providers, used-up quotas, and the run that tries first |
//! | `claims` | the requests to a store, its answers, the time of the next request |
//!
//! The queue does not know children, runs, or the use of a permit.

mod claims;
mod pauses;
#[expect(clippy::module_inception, reason = "the queue itself, beside what it is made of")]
mod queue;
mod request;
mod state;

pub use pauses::QuotaWait;
pub use queue::{EarlyPermit, Permit, Queue, Ticket};
pub use request::{Group, Request, UserCap, WaitStatus, Writes};
