//! How a host is asked for a fresh token.

use std::time::Duration;

/// How the host's pi is asked to refresh a token.
pub trait Refresh: Send + Sync {
    /// Makes pi refresh the provider's token if it is not valid for this much longer, and waits until that is done and
    /// stored. `false` when it could not be.
    fn refresh(&self, provider: &str, valid_for: Duration) -> impl Future<Output = bool> + Send;
}
