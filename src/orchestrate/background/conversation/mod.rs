//! An open conversation: the runs it shows, the events its listener receives, and the deliveries on their way into it.
//!
//! What other extensions hear of those runs is in `news`. Nothing here reads the store or waits for a run; `super::deliver`
//! does. The `outbox` holds what this process has claimed; the `dispatcher` brings it into the session of a host that cannot
//! say whether it has taken a message.

pub(super) mod contained;
pub(super) mod dispatcher;
pub(super) mod event;
pub(super) mod news;
pub(super) mod outbox;
pub(super) mod view;
