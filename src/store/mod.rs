//! What outlives a process, and what the processes of one user share: one `SQLite` file in the agent directory.
//!
//! Every function here blocks, on the disk and on other processes: call none on an async thread. The store knows tickets of
//! a queue, sums of money, and of a background run who works on it, when it ended and whether its session was told. The rest
//! of a run's record is a text that it does not read.
//!
//! What was committed survives the end of the process, even `SIGKILL`. A loss of power may cost the last commits, never the
//! file: a run whose end was lost is found as one whose process is gone, and a delivery whose mark was lost is offered
//! again; its session recognizes it by its id.
//!
//! ```text
//! attach ─▶ Store ─┬─ queue      who may start a child, over all processes
//!  (open, connect, ├─ spending   what each session has spent
//!   schema)        └─ runs       background runs, requests to them, deliveries of their ends
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `attach` | one store per directory, and one warning where there is none |
//! | `open` | [`Store`]: what it holds, and how it recovers when somebody removes its files |
//! | `connect`, `schema` | opening, checking and migrating the database file |
//! | `transact` | reading and writing: transactions, and waiting for other processes |
//! | `presence` | which processes are alive, and which are stopped |

mod attach;
mod connect;
mod error;
mod open;
mod presence;
mod queue;
mod runs;
mod schema;
mod spending;
mod transact;

pub use attach::{Attached, attach};
pub use error::StoreError;
pub use open::Store;
pub use queue::{StoredTicket, TicketRequest, TicketState, WhenFull};
pub use runs::{Delivery, Request, StoredDirectory, StoredRun};
pub(crate) use transact::now_ms;
