//! The host process: a separate process that hosts one run which outlives the pi that requested it.
//!
//! It loads the same addon and does for its run what any host does: same limits, same sanitizer, same store, and a
//! warden that watches the host process.

use std::io::{self, Read};
use std::sync::Arc;

use super::service::background;
use super::spawn::{SpawnRequest, spawn};
use crate::run::{HostCallbacks, blocking, start_log};

/// The main function of a host process: reads a request from standard input, writes the receipt with `answer`, and resolves
/// when the run has ended and its end is stored. No user is present, so `callbacks` must decline every question.
///
/// # Errors
///
/// If the request cannot be read.
pub async fn host_run(
    callbacks: Arc<dyn HostCallbacks>,
    answer: impl FnOnce(&[u8]) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let request: SpawnRequest = blocking(|| {
        let mut request = Vec::new();
        io::stdin().lock().read_to_end(&mut request)?;
        serde_json::from_slice(&request).map_err(io::Error::other)
    })
    .await?;
    start_log(&request.context);
    let service = background(&request.context.agent_dir);
    let receipt = Box::pin(spawn(&service, request, callbacks)).await;
    // The requesting host may have ended in the meantime. The run continues.
    drop(blocking(move || answer(&serde_json::to_vec(&receipt).map_err(io::Error::other)?)).await);
    service.until_empty().await;
    Ok(())
}
