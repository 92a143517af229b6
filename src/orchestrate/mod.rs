//! Many runs: how they wait for their turn, run side by side, and follow one another.
//!
//! It knows calls, turns and results; what happens within a run it leaves to the layer below.

pub mod background;
mod board;
mod call;
mod call_order;
mod chain;
mod early;

mod parallel;
mod plan;
pub mod queue;
mod single;
mod streaming_args;
mod summary;
mod turn;
mod user;

pub use call::{Call, TaskSpec, TasksSpec, UpdateSender};
pub use call_order::CallOrder;
pub use chain::chain;
pub use early::EarlyCall;
pub use parallel::parallel;
pub use single::single;
