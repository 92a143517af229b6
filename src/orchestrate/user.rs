//! What the processes of one user share, for the runs of this one.

use super::queue::UserCap;
use crate::run::{Ready, store_of};

/// The cap on all processes of the user, where there is a store. Waits for a disk at most.
pub(super) async fn user_cap(ready: &Ready) -> Option<UserCap> {
    let (agent_dir, cap) = (ready.agent_dir().to_path_buf(), ready.config().max_concurrent_per_user);
    let store = tokio::task::spawn_blocking(move || store_of(&agent_dir)).await.ok()??;
    Some(UserCap { store, cap })
}
