//! The project agents that the user has refused in a session.
//!
//! Only the memory of this process has them. A new session, a new process and a changed file ask again.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

/// The maximum number of remembered refusals. Above it the oldest are dropped, and pi asks the user again.
const MAX_ENTRIES: usize = 1000;

static REFUSED: Mutex<VecDeque<RefusedAgent>> = Mutex::new(VecDeque::new());

/// A refused definition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RefusedAgent {
    /// The id of the session; empty if the caller has none.
    session: String,
    path: PathBuf,
    content_hash: String,
}

impl RefusedAgent {
    /// Blocks, because it follows links.
    fn new(session: Option<&str>, path: &Path, content_hash: &str) -> Self {
        Self {
            session: session.unwrap_or_default().to_owned(),
            path: fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
            content_hash: content_hash.to_owned(),
        }
    }
}

/// Returns true if the user refused exactly this content of this file in the session. Blocks.
pub(super) fn is_refused(session: Option<&str>, path: &Path, content_hash: &str) -> bool {
    let agent = RefusedAgent::new(session, path, content_hash);
    REFUSED.lock().contains(&agent)
}

/// Remembers that the user refused it. Blocks.
pub(super) fn refuse(session: Option<&str>, path: &Path, content_hash: &str) {
    let agent = RefusedAgent::new(session, path, content_hash);
    let mut refused = REFUSED.lock();
    if !refused.contains(&agent) {
        let excess = (refused.len() + 1).saturating_sub(MAX_ENTRIES);
        refused.drain(..excess);
        refused.push_back(agent);
    }
}

/// Forgets the refusal, because the user has asked for the agent. Blocks.
pub(crate) fn ask_again(session: Option<&str>, path: &Path, content_hash: &str) {
    let agent = RefusedAgent::new(session, path, content_hash);
    REFUSED.lock().retain(|refused| *refused != agent);
}
