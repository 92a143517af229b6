//! An open conversation: what it shows, what its listener hears, and which deliveries are on their way into it.
//!
//! Nothing here reads the store or waits for a run; `super::deliver` does.

pub(super) mod event;
pub(super) mod outbox;
pub(super) mod view;
