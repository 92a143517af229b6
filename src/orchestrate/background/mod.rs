//! Runs that nobody waits for: they are kept in the store from before their child starts until their end was told to the
//! conversation that asked for them, whatever happens to this process meanwhile.

mod act;
mod announcement;
mod answer;
mod book;
pub mod commands;
mod desk;
mod engine;
mod event;
mod keeper;
mod live;
mod memory;
mod overrides;
mod record;
mod retention;
mod spawn;
mod spawnable;
mod view;
mod watch;

pub use act::Done;
pub use engine::{Background, background, close_all, ended};
pub use event::{Event, Heard, Listener, Message};
pub use keeper::keep;
pub use record::{BackgroundRun, BackgroundState, Cleanup, Status};
pub use spawn::{Receipt, ReceiptStatus, SpawnRequest};
pub use spawnable::{Spawnable, spawnable};
pub use view::{Arrived, Place, View};
