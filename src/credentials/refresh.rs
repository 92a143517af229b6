//! Asks for a fresh token before the copy is made, so that a child need not refresh one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex as Memory;
use tokio::sync::Mutex;

use super::auth_file::Credentials;
use super::layout::AUTH;
use super::read::{MAX_CREDENTIALS, read_file};
use super::token::{expires_of, millis};

/// pi refreshes a token that has no more than this left, so a child would within that time of the end.
const PI_MARGIN: Duration = Duration::from_secs(5 * 60);
/// How long an answer may take: pi waits 30 s for its lock and 15 s for the provider.
const PATIENCE: Duration = Duration::from_secs(50);

/// How a provider's token stands when it is about to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// There is no login, or its token outlives the run.
    Enough,
    /// It was refreshed and outlives the run now.
    Refreshed,
    /// It will expire during the run, and the child has to refresh it: it could not be refreshed, was refreshed for
    /// another run not long ago, or lives shorter than the run may.
    Short,
}

/// Whether the user's token for a provider will expire before a point in time, or so shortly after that pi would refresh
/// it by then. Blocks to read a file.
#[must_use]
pub fn needs_refresh(real: &Path, provider: &str, until: SystemTime) -> bool {
    expiry(real, provider).is_some_and(|expires| expires <= millis(until + PI_MARGIN))
}

/// Asks once, before the copy, for a token that outlives the run. Of several runs that begin together one asks and the
/// others wait for its answer. A token is not asked for again before half of the life it then had is over, because some
/// tokens never live as long as a run may.
///
/// `refresh` has pi refresh the token if it is not valid for that much longer, and says whether that is done and stored.
pub async fn refresh_before_copy<F: Future<Output = bool>>(
    real: &Path,
    provider: &str,
    until: SystemTime,
    refresh: impl FnOnce(Duration) -> F,
) -> Freshness {
    let current = || {
        let (real, provider) = (real.to_owned(), provider.to_owned());
        async move { tokio::task::spawn_blocking(move || expiry(&real, &provider)).await.ok().flatten() }
    };
    let limit = millis(until + PI_MARGIN);
    let is_enough = |expires: Option<f64>| expires.is_none_or(|expires| expires > limit);
    if is_enough(current().await) {
        return Freshness::Enough;
    }
    let asked = asked(real, provider);
    let mut asked = asked.lock().await;
    let before = current().await;
    if is_enough(before) {
        return Freshness::Enough;
    }
    let Some(expires) = before else { return Freshness::Enough };
    let now = SystemTime::now();
    if asked.is_some_and(|asked| asked.is_recent(expires, now)) {
        return Freshness::Short;
    }
    let valid_for = (until + PI_MARGIN).duration_since(now).unwrap_or_default();
    let done = tokio::time::timeout(PATIENCE, refresh(valid_for)).await.unwrap_or(false);
    let after = current().await;
    *asked = after.map(|expires| Asked { at: millis(now), expires });
    if done && after.is_some() && is_enough(after) { Freshness::Refreshed } else { Freshness::Short }
}

/// When the user's token for a provider expires. `None` without a login, and for one that cannot be refreshed.
fn expiry(real: &Path, provider: &str) -> Option<f64> {
    let credentials = Credentials::parse(&read_file(&real.join(AUTH), MAX_CREDENTIALS).ok()?)?;
    let entry = credentials.oauth(provider)?;
    let refreshable = entry.get("refresh").and_then(|value| value.as_str()).is_some_and(|it| !it.is_empty());
    expires_of(entry).filter(|_| refreshable)
}

/// The last time that a provider's token was asked for, in milliseconds, and when the token expires that was there then.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: f64,
    expires: f64,
}

impl Asked {
    #[expect(clippy::float_cmp, reason = "the same number read twice is the same token")]
    fn is_recent(self, expires: f64, now: SystemTime) -> bool {
        expires == self.expires && millis(now) < self.at + (self.expires - self.at) / 2.0
    }
}

/// What is remembered of one provider in one agent directory; holding it is the turn to ask.
type Turn = Arc<Mutex<Option<Asked>>>;

/// One entry per provider that somebody is logged in to.
fn asked(real: &Path, provider: &str) -> Turn {
    static ASKED: Memory<Option<HashMap<(PathBuf, String), Turn>>> = Memory::new(None);
    let mut turns = ASKED.lock();
    let turns = turns.get_or_insert_default();
    Arc::clone(turns.entry((real.to_owned(), provider.to_owned())).or_default())
}
