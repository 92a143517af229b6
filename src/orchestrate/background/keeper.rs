//! The keeper: a process of its own for one run that outlives the pi that asked for it.
//!
//! It loads the same addon and does for its run what a host does for all others: the same limits, the same sanitizer, the
//! same store, and a warden whose lifeline is the keeper's.

use std::io::{self, Read};
use std::sync::Arc;

use super::service::background;
use super::spawn::{SpawnRequest, spawn};
use crate::run::{HostCallbacks, blocking};

/// The main function of a keeper: reads a request from standard input, writes the receipt with `answer`, and resolves when
/// the run is over and stored. There is no user, so `nobody` has to decline everything.
///
/// # Errors
///
/// When the request cannot be read.
pub async fn keep(
    nobody: impl HostCallbacks + 'static,
    answer: impl FnOnce(&[u8]) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let request: SpawnRequest = blocking(|| {
        let mut request = Vec::new();
        io::stdin().lock().read_to_end(&mut request)?;
        serde_json::from_slice(&request).map_err(io::Error::other)
    })
    .await?;
    let service = background(&request.context.agent_dir);
    let receipt = Box::pin(spawn(&service, request, Arc::new(nobody))).await;
    // The host that asked may have ended meanwhile; the run goes on.
    drop(blocking(move || answer(&serde_json::to_vec(&receipt).map_err(io::Error::other)?)).await);
    service.until_empty().await;
    Ok(())
}
