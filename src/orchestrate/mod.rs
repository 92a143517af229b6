//! Many runs: how they wait to be admitted, run side by side, and follow one another.
//!
//! ```text
//! single, parallel, chain ── prepare_all ──→ admission ── queue ──→ run::AdmittedRun::run ──→ summary
//!                                               ↑
//!                             early: children booted while their call was still arriving, or before it
//! ```
//!
//! | | |
//! |---|---|
//! | `call` | what every call has; its tasks; how its host watches it |
//! | `single`, `parallel`, `chain` | the three ways to run tasks that a caller waits for |
//! | `prepare_all` | checks all runs of a call before the first one starts |
//! | `model_override` | which model and thinking level a call may choose for a run |
//! | `admission` | the way of a run to its permit |
//! | `provider_gate` | the wait for a slot, and for a provider's quota |
//! | `limits` | which limits a run has in the queue |
//! | `writers` | the turn of a run at the work tree that it writes to |
//! | `call_order` | calls enter the queue in the order in which they were made |
//! | `hand_over` | asks a call to end its wait while its runs go on in the background |
//! | `call_progress` | one update for several tasks |
//! | `summary` | one result from several |
//! | `early` | boots children ahead of their call; hands them to its runs |
//! | `queue` | how many children exist at once, in this process and in all of one user |
//! | `background` | runs that outlive their call |
//!
//! This layer knows calls, permits and results; what happens within a run it leaves to the layer below.

mod admission;
pub mod background;
mod call;
mod call_order;
mod call_progress;
mod chain;
mod early;
mod hand_over;
mod limits;
mod model_override;
mod parallel;
mod prepare_all;
mod provider_gate;
pub mod queue;
mod single;
mod summary;
mod writers;

pub use call::{Call, TaskSpec, TasksSpec, UpdateSender};
pub use call_order::CallOrder;
pub use chain::chain;
pub use early::{ArrivingCall, CallPiece, EarlyCall, EarlyCalls, PieceKind, end_spares};
pub use hand_over::{HandOver, HandOverAnswer};
pub use parallel::parallel;
pub use single::single;
