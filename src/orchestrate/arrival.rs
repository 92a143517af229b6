//! Calls take their places in the order in which they were made, although each has to be checked first.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::timeout;

use super::order::{InOrder, Order};

/// How long a call waits for those made before it: long enough to read a few files, too short to notice that one of them
/// asks a person or waits for a disk that does not answer.
const PATIENCE: Duration = Duration::from_millis(250);

/// All calls of this process.
static CALLS: Order = Order::new();

/// When a call was made, as against others.
#[derive(Debug)]
pub struct Arrival(Mutex<Option<InOrder>>);

impl Arrival {
    /// A call that is made now.
    #[must_use]
    pub fn now() -> Self {
        Self(Mutex::new(Some(CALLS.next())))
    }

    /// Waits, not long, until the calls made before have their places. Calls made later come when what this returns is
    /// dropped; a call comes once.
    pub(super) async fn come(&self) -> Option<InOrder> {
        let mut turn = self.0.lock().take()?;
        // Whoever is not there by now comes later.
        let _ = timeout(PATIENCE, turn.come()).await;
        Some(turn)
    }
}
