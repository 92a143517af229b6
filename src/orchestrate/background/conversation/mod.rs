//! An open conversation: the runs it shows, the events its listener receives, and the deliveries on their way into it.
//!
//! `event` has the events of the listener, and selects those for other extensions, with each run as a `published_run`.
//! `delivery_ids` makes the ids of deliveries and finds them in a session, and `view` is the open conversation. The `outbox` holds the
//! claimed deliveries of this process. The `dispatcher` brings them into the session of a host that cannot confirm a message.
//! No part of this module reads the store or waits for a run; `super::deliver` does.

pub(super) mod delivery_ids;
pub(super) mod dispatcher;
pub(super) mod event;
pub(super) mod outbox;
pub(super) mod published_run;
pub(super) mod view;
