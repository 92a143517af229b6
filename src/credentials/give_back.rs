//! The one thing that comes back from a sandboxed child: the token it refreshed.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::auth_file::{Credentials, with_token};
use super::build::PrivateAgentDir;
use super::layout::AUTH;
use super::lock::{AuthLock, LockError, PATIENCE};
use super::read::{MAX_CREDENTIALS, read_file, read_hostile};
use super::replace::replace;
use super::token::{Token, UnusableToken};

/// What became of a child's token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GiveBack {
    /// The user's entry has the child's token now.
    Returned,
    /// The child has the token it started with.
    Unchanged,
    /// There is another one, and it stays where it is.
    Refused(Refused),
}

/// Why a token stays with the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The user was not logged in to this provider when the child began.
    #[error("the user was not logged in to this provider when the run began")]
    NotLoggedIn,
    /// The child's file is not there, is not a file, is too large, or is no JSON object.
    #[error("the child left no readable `auth.json`")]
    Unreadable,
    /// The child's entry is gone or has another type.
    #[error("the child's entry is of another type")]
    OtherType,
    /// The child's token is none to hand on.
    #[error("the child's token cannot be used: {0}")]
    Token(#[from] UnusableToken),
    /// The user's entry is no longer the one that was copied.
    #[error("the user's own entry has changed meanwhile")]
    Overtaken,
}

/// The user's file could not be read, locked or written. It is what it was.
#[derive(Debug, thiserror::Error)]
pub enum GiveBackError {
    /// The lock was not to be had.
    #[error("the user's credentials cannot be locked")]
    Lock(#[from] LockError),
    /// The lock was taken away before the token was written.
    #[error("the lock on `{path}` was lost")]
    LockLost {
        /// The user's credentials.
        path: PathBuf,
    },
    /// The file can be neither read nor written.
    #[error("cannot replace `{path}`")]
    Io {
        /// The user's credentials.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl PrivateAgentDir {
    /// Hands the token that the child has for a provider over to the user's `auth.json`, or to the file that lay over it and
    /// that it came from, to be called when no process of the child lives any more, and only for a provider that the run
    /// used.
    ///
    /// Only the strings `access` and `refresh` and the number `expires` go over, only into an entry of type `oauth` that
    /// is still the one that was copied, only when `expires` is later, and under pi's own lock. Every other byte of the
    /// user's file stays. Blocks for at most 35 s, while another process holds the lock.
    ///
    /// # Errors
    ///
    /// When the user's file cannot be locked, read or written; it is then unchanged.
    pub fn give_back(&self, provider: &str) -> Result<GiveBack, GiveBackError> {
        self.give_back_within(provider, PATIENCE)
    }

    /// The same, with another patience for the lock.
    ///
    /// # Errors
    ///
    /// As for [`Self::give_back`].
    pub fn give_back_within(&self, provider: &str, patience: Duration) -> Result<GiveBack, GiveBackError> {
        match self.token_of_child(provider) {
            Ok(Some(token)) => self.hand_over(provider, &token, patience),
            Ok(None) => Ok(GiveBack::Unchanged),
            Err(refused) => Ok(GiveBack::Refused(refused)),
        }
    }

    fn token_of_child(&self, provider: &str) -> Result<Option<Token>, Refused> {
        let copied = self.origin(provider).1.oauth(provider).ok_or(Refused::NotLoggedIn)?;
        let file =
            read_hostile(&self.directory, AUTH, MAX_CREDENTIALS).map_err(|_error| Refused::Unreadable)?;
        let child = Credentials::parse(&file).ok_or(Refused::Unreadable)?;
        let entry = child.oauth(provider).ok_or(Refused::OtherType)?;
        if Token::is_same(copied, entry) {
            return Ok(None);
        }
        Ok(Some(Token::following(copied, entry, SystemTime::now())?))
    }

    fn hand_over(
        &self,
        provider: &str,
        token: &Token,
        patience: Duration,
    ) -> Result<GiveBack, GiveBackError> {
        let (auth, copied) = self.origin(provider);
        let lock = match AuthLock::acquire(auth, patience) {
            Err(error) if is_missing(&error) => return Ok(GiveBack::Refused(Refused::Overtaken)),
            lock => lock?,
        };
        let failed = |source| GiveBackError::Io { path: lock.file().to_owned(), source };
        let bytes = read_file(lock.file(), MAX_CREDENTIALS).map_err(failed)?;
        let current = Credentials::parse(&bytes);
        let entry = current.as_ref().and_then(|current| current.entry(provider));
        if entry != copied.entry(provider) {
            return Ok(GiveBack::Refused(Refused::Overtaken));
        }
        let Some(text) = with_token(&bytes, provider, token) else {
            return Ok(GiveBack::Refused(Refused::Overtaken));
        };
        if !lock.is_ours() {
            return Err(GiveBackError::LockLost { path: lock.file().to_owned() });
        }
        replace(lock.file(), &bytes, text.as_bytes()).map_err(failed)?;
        Ok(GiveBack::Returned)
    }
}

fn is_missing(error: &LockError) -> bool {
    matches!(error, LockError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}
