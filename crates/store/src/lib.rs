//! State that outlives a process and is shared by all processes of one user: one `SQLite` file in the agent directory.
//!
//! Every function here blocks on the disk and on other processes, so call none on an async thread. The store knows the
//! tickets of a queue, sums of money, and for each background run its process, its end and its delivery. The rest of a
//! run's record is text that it does not read.
//!
//! Commits survive the end of the process, even `SIGKILL`. A power loss may cost the last commits but never the file. A run whose
//! end was lost looks like a run whose process has ended. A delivery whose mark was lost is offered again, and its session
//! recognizes it by its id.
//!
//! ```text
//! open   ─▶ Store ─┬─ queue      who may start a child, over all processes
//!  (connect,       ├─ spending   what each session has spent
//!   schema)        ├─ runs       background runs, requests to them, deliveries of their ends
//!                  └─ workflows  scripts of runs, and the result of each of their runs
//! ```
//!
//! | File | Content |
//! |---|---|
//! | `open` | [`Store`], one per directory, and its recovery after its files were removed |
//! | `connect`, `schema` | opening, checking and migrating the database file |
//! | `transact` | transactions, and waiting for other processes |
//! | `presence` | which processes are alive, and which are stopped |
//! | `queue` | the queue of runs, over all processes |
//! | `spending` | the spending of each session on delegated work |
//! | `runs/` | the background runs, and their pending deliveries |
//! | `workflows` | the workflows, and the runs that have names in them |
//! | `error` | the reasons why the store cannot be used |
#![forbid(unsafe_code)]

mod connect;
mod error;
mod open;
mod presence;
mod queue;
mod runs;
mod schema;
mod spending;
mod transact;
mod workflows;

pub use error::StoreError;
pub use open::Store;
pub use open::{Attached, attach};
pub use queue::{StoredTicket, TicketRequest, TicketState, WhenFull};
pub use runs::{Delivery, Request, StoredDirectory, StoredRun};
pub use transact::now_ms;
pub use workflows::{Claim, HostProcess, NamedRun, StoredWorkflow, workflow_account};
