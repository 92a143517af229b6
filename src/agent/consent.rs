//! The project agents that the user has agreed to run.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::{layout, private};

/// Beyond this limit the oldest confirmations are dropped, and the user is asked again.
const MAX_ENTRIES: usize = 1000;
/// Upper bound for reading; files written by this module stay far below it.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// A confirmation of one definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Confirmed {
    path: String,
    sha256: String,
}

/// The content of the file, oldest confirmation first.
#[derive(Default, Serialize, Deserialize)]
struct Confirmations {
    confirmed: Vec<Confirmed>,
}

/// The confirmations remembered in one agent directory. Every call reads the file, because other pi processes write it
/// too. Blocking.
#[derive(Clone, Debug)]
pub struct Consent {
    file: PathBuf,
}

impl Consent {
    /// The confirmations of this agent directory.
    #[must_use]
    pub fn new(agent_dir: &Path) -> Self {
        Self { file: layout::confirmed_agents(agent_dir) }
    }

    /// Whether the user agreed to exactly this content of this file. Any failure to find out counts as no.
    #[must_use]
    pub fn is_confirmed(&self, path: &Path, content_hash: &str) -> bool {
        let Some(entry) = entry(path, content_hash) else { return false };
        self.read().is_ok_and(|confirmations| confirmations.confirmed.contains(&entry))
    }

    /// Remembers that the user agreed. When two processes write at the same moment, one confirmation may be lost and
    /// the user is asked again. A path that is not valid UTF-8 cannot be remembered, so the user is asked each time.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; earlier confirmations are then unchanged.
    pub fn remember(&self, path: &Path, content_hash: &str) -> io::Result<()> {
        let Some(entry) = entry(path, content_hash) else { return Ok(()) };
        let mut confirmations = self.read()?;
        confirmations.confirmed.retain(|known| *known != entry);
        confirmations.confirmed.push(entry);
        let surplus = confirmations.confirmed.len().saturating_sub(MAX_ENTRIES);
        confirmations.confirmed.drain(..surplus);
        self.write(&confirmations)
    }

    /// A file that cannot be parsed is moved aside and counts as empty.
    fn read(&self) -> io::Result<Confirmations> {
        let file = match fs::File::open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Confirmations::default()),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        if let Ok(confirmations) = serde_json::from_slice(&bytes) {
            return Ok(confirmations);
        }
        let aside = self.file.with_extension("json.corrupt");
        // Another process may already have moved it.
        fs::rename(&self.file, aside).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        Ok(Confirmations::default())
    }

    /// Replaces the file atomically: readers see the old content or the new, never a part.
    fn write(&self, confirmations: &Confirmations) -> io::Result<()> {
        private::create_dir_all(self.file.parent().unwrap_or(Path::new(".")))?;
        let written = private::beside(&self.file, &serde_json::to_vec(confirmations)?)?;
        written.as_file().sync_all()?;
        written.persist(&self.file)?;
        Ok(())
    }
}

fn entry(path: &Path, content_hash: &str) -> Option<Confirmed> {
    let path = fs::canonicalize(path).ok()?.to_str()?.to_owned();
    Some(Confirmed { path, sha256: content_hash.to_owned() })
}
