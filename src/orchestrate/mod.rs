//! Many runs: how they wait to be admitted, run side by side, and follow one another.
//!
//! ```text
//! single, parallel, chain ── prepare_all ──→ admission ── queue ──→ run::AdmittedRun::run ──→ summary
//!                                               ↑
//!           early ── streaming_args ──→ arriving: children booted while their call was still arriving
//! ```
//!
//! | | |
//! |---|---|
//! | `call` | what every call has; its tasks; how its host watches it |
//! | `single`, `parallel`, `chain` | the three ways to run tasks that a caller waits for |
//! | `prepare_all` | checks all runs of a call before the first one starts |
//! | `admission` | the way of a run to its permit |
//! | `call_order` | calls enter the queue in the order in which they were made |
//! | `hand_over` | asks a call to end its wait while its runs go on in the background |
//! | `call_progress` | one update for several tasks |
//! | `summary` | one result from several |
//! | `early`, `arriving` | boots children ahead of their call; hands them to its runs |
//! | `streaming_args` | which children the arguments of a call name so far |
//! | `queue` | how many children exist at once, in this process and in all of one user |
//! | `background` | runs that outlive their call |
//!
//! This layer knows calls, permits and results; what happens within a run it leaves to the layer below.

mod admission;
mod arriving;
pub mod background;
mod call;
mod call_order;
mod call_progress;
mod chain;
mod early;
mod early_calls;
mod hand_over;
mod parallel;
mod prepare_all;
pub mod queue;
mod single;
mod streaming_args;
mod summary;

pub use call::{Call, TaskSpec, TasksSpec, UpdateSender};
pub use call_order::CallOrder;
pub use chain::chain;
pub use early::EarlyCall;
pub use early_calls::{ArrivingCall, CallPiece, EarlyCalls, PieceKind};
pub use hand_over::{HandOver, HandOverAnswer};
pub use parallel::parallel;
pub use single::single;
