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
//! | `call` | the fields of every call, its tasks, the updates for its host |
//! | `single`, `parallel`, `chain` | the three ways to run tasks that a caller waits for |
//! | `prepare_all` | checks all runs of a call before the first one starts |
//! | `model_override` | checks the model and the thinking level that a call requests for a run |
//! | `admission` | gets the permits of runs |
//! | `provider_gate` | the request of a run with its limits, the wait for a slot, and for a provider's quota |
//! | `writers` | the write lock of a run on its work tree |
//! | `call_order` | calls enter the queue in the order in which they were made |
//! | `background_move` | asks a call to end its wait while its runs continue in the background |
//! | `call_progress` | one update for several tasks |
//! | `summary` | one result from several |
//! | `early` | boots children ahead of their call; hands them to its runs |
//! | `queue` | limits the number of children, in this process and in all processes of one user |
//! | `background` | runs that outlive their call |
//!
//! This layer knows calls, permits and results. The layer below handles the inside of a run.

mod admission;
pub mod background;
mod background_move;
mod call;
mod call_order;
mod call_progress;
mod chain;
mod early;
mod model_override;
mod parallel;
mod prepare_all;
mod provider_gate;
pub mod queue;
mod single;
mod summary;
mod writers;

pub use background_move::{BackgroundMove, BackgroundMoveAnswer, MoveError};
pub use call::{Call, TaskSpec, TasksSpec, UpdateSender};
pub use call_order::CallOrder;
pub use chain::chain;
pub use early::{ArrivingCall, CallPiece, EarlyCall, EarlyCalls, PieceKind, end_spares};
pub use parallel::parallel;
pub use single::{keyed, single};
