//! The project agents that the user has agreed to run.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

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

/// Whether the user agreed to exactly this content of this file. Any failure to find out counts as no. Blocking.
#[must_use]
pub fn is_confirmed(agent_dir: &Path, path: &Path, content_hash: &str) -> bool {
    let Some(entry) = entry(path, content_hash) else { return false };
    read(&layout::confirmed_agents(agent_dir)).is_ok_and(|known| known.confirmed.contains(&entry))
}

/// Remembers that the user agreed. When two processes write at the same moment, one confirmation may be lost and the
/// user is asked again. A path that is not valid UTF-8 cannot be remembered, so the user is asked each time. Blocking.
///
/// # Errors
///
/// When the file cannot be written; earlier confirmations are then unchanged.
pub fn confirm(agent_dir: &Path, path: &Path, content_hash: &str) -> io::Result<()> {
    let Some(entry) = entry(path, content_hash) else { return Ok(()) };
    let file = layout::confirmed_agents(agent_dir);
    // Read each time, because other pi processes write it too.
    let mut confirmations = read(&file)?;
    confirmations.confirmed.retain(|known| *known != entry);
    confirmations.confirmed.push(entry);
    let surplus = confirmations.confirmed.len().saturating_sub(MAX_ENTRIES);
    confirmations.confirmed.drain(..surplus);
    private::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    // Readers see the old content or the new, never a part.
    let written = private::beside(&file, &serde_json::to_vec(&confirmations)?)?;
    written.as_file().sync_all()?;
    written.persist(&file)?;
    Ok(())
}

/// A file that cannot be parsed is moved aside and counts as empty.
fn read(path: &Path) -> io::Result<Confirmations> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Confirmations::default()),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    if let Ok(confirmations) = serde_json::from_slice(&bytes) {
        return Ok(confirmations);
    }
    // Another process may already have moved it.
    fs::rename(path, path.with_extension("json.corrupt")).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    Ok(Confirmations::default())
}

fn entry(path: &Path, content_hash: &str) -> Option<Confirmed> {
    let path = fs::canonicalize(path).ok()?.to_str()?.to_owned();
    Some(Confirmed { path, sha256: content_hash.to_owned() })
}
