//! Driving a child: what is written to it, and what its events mean for its supervisor.

mod child;
mod rpc;
mod shared;
mod steering;

pub(super) use child::{Asked, Busy, DrivenChild, LastWord, Reins, Sayings, SilenceLimits};
pub(super) use rpc::Command;
pub(super) use shared::SharedCollector;
pub use steering::Steering;
