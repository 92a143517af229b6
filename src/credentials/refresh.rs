//! Refreshes the user's token before it is copied, so that the child does not have to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex as Memory;
use tokio::sync::Mutex;

use super::auth_file::{Credentials, read_credentials};
use super::build::AUTH;
use super::token::{PI_MARGIN, expires_of, millis};

/// The maximum duration of a refresh. pi waits 30 s for its lock and 15 s for the provider.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(50);

/// Returns true if pi would refresh the user's token for a provider before `until`, because it expires by then or at
/// most five minutes later. Blocks while it reads a file.
#[must_use]
pub fn needs_refresh(real: &Path, provider: &str, until: SystemTime) -> bool {
    expiry(real, provider).is_some_and(|expires| expires <= millis(until + PI_MARGIN))
}

/// Refreshes the user's token if it expires before the end of the run, or at most five minutes later. If several runs
/// start together, one refreshes and the others wait for it. After that, the same token is not refreshed again before
/// half of its remaining life has passed, because some tokens never live as long as a run may last.
///
/// `refresh` makes pi refresh the token unless it is valid for the given time. If the token expires during the run
/// anyway, the child refreshes it.
pub async fn refresh_before_copy<F: Future>(
    real: &Path,
    provider: &str,
    until: SystemTime,
    refresh: impl FnOnce(Duration) -> F,
) {
    let expiry = || {
        let real = real.to_owned();
        let provider = provider.to_owned();
        async move { tokio::task::spawn_blocking(move || expiry(&real, &provider)).await.ok().flatten() }
    };
    let last = last_refresh(real, provider);
    let mut last = last.lock().await;
    let now = SystemTime::now();
    let needed = until + PI_MARGIN;
    // Another run may have refreshed it in the meantime.
    let Some(expires) = expiry().await.filter(|expires| *expires <= millis(needed)) else { return };
    if last.is_some_and(|last| last.is_recent(expires, now)) {
        return;
    }
    let valid_for = needed.duration_since(now).unwrap_or_default();
    drop(tokio::time::timeout(REFRESH_TIMEOUT, refresh(valid_for)).await);
    *last = expiry().await.map(|expires| LastRefresh { at: millis(now), expires });
}

/// Returns the expiry of the user's token for a provider, in milliseconds since 1970, or `None` without a login or if
/// the token cannot be refreshed.
fn expiry(real: &Path, provider: &str) -> Option<f64> {
    let credentials = Credentials::parse(&read_credentials(&real.join(AUTH)).ok()?)?;
    let entry = credentials.oauth(provider)?;
    let refreshable = entry.get("refresh").and_then(|value| value.as_str()).is_some_and(|it| !it.is_empty());
    expires_of(entry).filter(|_| refreshable)
}

/// The last refresh of a provider's token: the time of the attempt, and the expiry of the token that existed after it,
/// both in milliseconds since 1970. A failed attempt leaves the old token.
#[derive(Clone, Copy, Debug)]
struct LastRefresh {
    at: f64,
    expires: f64,
}

impl LastRefresh {
    #[expect(clippy::float_cmp, reason = "the same number read twice is the same token")]
    fn is_recent(self, expires: f64, now: SystemTime) -> bool {
        expires == self.expires && millis(now) < self.at + (self.expires - self.at) / 2.0
    }
}

/// The last refresh for a provider in an agent directory. Only the holder of the lock may refresh.
type SharedRefresh = Arc<Mutex<Option<LastRefresh>>>;

fn last_refresh(real: &Path, provider: &str) -> SharedRefresh {
    /// The last refresh for each provider that the user is logged in to.
    static LAST: LazyLock<Memory<HashMap<(PathBuf, String), SharedRefresh>>> = LazyLock::new(Memory::default);
    Arc::clone(LAST.lock().entry((real.to_owned(), provider.to_owned())).or_default())
}
