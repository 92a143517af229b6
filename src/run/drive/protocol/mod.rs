//! Driving a child: what is written to it, and what its events mean for its supervisor.

mod child;
mod rpc;
mod shared;
mod steering;

pub(in crate::run) use child::{
    Asked, Busy, ChildControl, DrivenChild, LastWord, ProtocolReport, SilenceLimits,
};
pub(in crate::run) use rpc::Command;
pub(in crate::run) use shared::SharedCollector;
pub use steering::Steering;
