//! An open conversation: the runs it shows, the events its listener receives, and the deliveries on their way into it.
//!
//! | File | Content |
//! |---|---|
//! | `view` | the open conversation, and all of them |
//! | `serve` | serves its listener from its opening to its end |
//! | `event` | the events of the listener, and the selection of those for other extensions |
//! | `project_runs` | the runs that a person sees in it, also of other sessions |
//! | `project_workflows` | the workflows that a person sees in it |
//! | `published_run` | a run in these events |
//! | `outbox` | the deliveries that this process has claimed for it; `super::deliver` fills and empties it |
//! | `delivery_ids` | makes the ids of deliveries, and finds them in a session |
//! | `dispatcher` | brings messages into the session of a host that cannot confirm one |

pub(super) mod delivery_ids;
pub(super) mod dispatcher;
pub(super) mod event;
pub(super) mod outbox;
pub(super) mod project_runs;
pub(super) mod project_workflows;
pub(super) mod published_run;
pub(super) mod serve;
pub(super) mod view;
