//! Copies a token that the child refreshed back into the user's credentials.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use super::auth_file::{Credentials, MAX_CREDENTIALS, read_credentials, replace, with_token};
use super::build::AUTH;
use super::build::PrivateAgentDir;
use super::lock::{AuthLock, LockError};
use super::token::{Token, UnusableToken, remaining_life};
use files::open;

/// The time after the limit of a run in which its child may still use a token, for its report for example. A new token
/// that pi cannot write is lost, and the user's token may have been revoked.
const OVERTIME: Duration = Duration::from_secs(15 * 60);

/// The result of copying a child's token back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GiveBack {
    /// The user's entry now has the child's token.
    Returned,
    /// The child still has its initial token.
    Unchanged,
    /// The child has another token, which was not copied back.
    Refused(Refused),
}

/// The reason why the child's token was not copied back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The user was not logged in to this provider when the child started.
    #[error("the user was not logged in to this provider when the run began")]
    NotLoggedIn,
    /// The child's file is missing, is not a file, is too large, or is not a JSON object.
    #[error("the child left no readable `auth.json`")]
    Unreadable,
    /// The child's entry is missing or has another type.
    #[error("the child's entry has another type")]
    OtherType,
    /// The copied token is still valid for this number of minutes, so pi had no reason to refresh it.
    #[error("the copied token is valid for another {0} minutes, and pi refreshes one only in its last five")]
    NotDue(u64),
    /// The child's token is not valid.
    #[error("the child's token cannot be used: {0}")]
    Token(#[from] UnusableToken),
    /// The user's entry has changed since it was copied.
    #[error("the user's own entry has changed in the meantime")]
    EntryChanged,
}

/// The user's file could not be read, locked or written. It is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum GiveBackError {
    /// The lock could not be acquired.
    #[error("the user's credentials cannot be locked")]
    Lock(#[from] LockError),
    /// Another process took over the lock before the token was written.
    #[error("the lock on `{0}` was lost")]
    LockLost(PathBuf),
    /// The file cannot be read or written.
    #[error("cannot replace `{path}`")]
    Io {
        /// The user's credentials file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

impl PrivateAgentDir {
    /// Copies the child's token for a provider back into its original file: the user's `auth.json`, or the overlay.
    /// Call it when no process of the child is alive, and only for a provider that the run used.
    ///
    /// It copies only the strings `access` and `refresh` and the number `expires`, and only under these conditions:
    /// - The `oauth` entry has not changed since it was copied.
    /// - The copied token is due now.
    /// - The new `expires` is later.
    /// - This process holds pi's own lock. It waits for the lock for at most `timeout`.
    ///
    /// Every other byte of the user's file stays.
    ///
    /// A token is due when pi would refresh it. The check is at the end of the run, because a token that was due
    /// before is still due then. If the child has another token although the copied one is not due, the new token is
    /// not from pi.
    ///
    /// # Errors
    ///
    /// Returns an error if the user's file cannot be locked, read or written. The file is then unchanged.
    pub fn give_back(&self, provider: &str, timeout: Duration) -> Result<GiveBack, GiveBackError> {
        match self.token_of_child(provider) {
            Ok(Some(token)) => self.write_back(provider, &token, timeout),
            Ok(None) => Ok(GiveBack::Unchanged),
            Err(refused) => Ok(GiveBack::Refused(refused)),
        }
    }

    /// Returns true if pi may have to refresh the copied token of a provider before `until` or shortly after it, or at any
    /// time if there is no such limit. Without a provider, all tokens count.
    #[must_use]
    pub fn may_renew(&self, provider: Option<&str>, until: Option<SystemTime>) -> bool {
        let is_due = |token: &Map<String, Value>| {
            until.is_none_or(|until| remaining_life(token, until + OVERTIME).is_none())
        };
        match provider {
            Some(provider) => self.origin(provider).1.oauth(provider).is_some_and(is_due),
            None => self.credentials().any(|credentials| credentials.logins().any(is_due)),
        }
    }

    fn token_of_child(&self, provider: &str) -> Result<Option<Token>, Refused> {
        let copied = self.origin(provider).1.oauth(provider).ok_or(Refused::NotLoggedIn)?;
        let file = open::regular_no_follow_at(&self.directory, AUTH);
        let file =
            file.and_then(|file| open::read(file, MAX_CREDENTIALS)).map_err(|_| Refused::Unreadable)?;
        let child = Credentials::parse(&file).ok_or(Refused::Unreadable)?;
        let entry = child.oauth(provider).ok_or(Refused::OtherType)?;
        if Token::is_same(copied, entry) {
            return Ok(None);
        }
        let now = SystemTime::now();
        // If the clock was set back in the meantime, the token must not become fresh again.
        if let Some(remaining) = remaining_life(copied, now.max(self.since)) {
            return Err(Refused::NotDue(remaining.as_secs() / 60));
        }
        Ok(Some(Token::following(copied, entry, now)?))
    }

    fn write_back(
        &self,
        provider: &str,
        token: &Token,
        timeout: Duration,
    ) -> Result<GiveBack, GiveBackError> {
        let (auth, copied) = self.origin(provider);
        let lock = match AuthLock::acquire(auth, timeout) {
            Err(error) if is_missing(&error) => return Ok(GiveBack::Refused(Refused::EntryChanged)),
            lock => lock?,
        };
        let failed = |source| GiveBackError::Io { path: lock.file().to_owned(), source };
        let bytes = read_credentials(lock.file()).map_err(failed)?;
        let current = Credentials::parse(&bytes);
        let entry = current.as_ref().and_then(|current| current.entry(provider));
        if entry != copied.entry(provider) {
            return Ok(GiveBack::Refused(Refused::EntryChanged));
        }
        let Some(text) = with_token(&bytes, provider, token) else {
            return Ok(GiveBack::Refused(Refused::EntryChanged));
        };
        if !lock.is_valid() {
            return Err(GiveBackError::LockLost(lock.file().to_owned()));
        }
        replace(lock.file(), &bytes, text.as_bytes()).map_err(failed)?;
        Ok(GiveBack::Returned)
    }
}

fn is_missing(error: &LockError) -> bool {
    matches!(error, LockError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}
