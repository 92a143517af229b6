//! The project agents that the user has agreed to run.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::parse::hash;
use crate::files::{layout, open, owned, private};

/// Beyond this limit the oldest confirmations are dropped, and the user is asked again.
const MAX_ENTRIES: usize = 1000;
/// Upper bound for reading; files written by this module stay far below it.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// The longest definition whose text is kept, and of how many, newest first. Escaped, they fit into the file.
const MAX_TEXT_BYTES: u64 = 16 * 1024;
const MAX_TEXTS: usize = 64;

/// A confirmation of one definition.
#[derive(Debug, Serialize, Deserialize)]
struct Confirmed {
    path: String,
    sha256: String,
    /// What the user agreed to, for showing later what has changed. Only the newest one of a file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// The content of the file, oldest confirmation first.
#[derive(Default, Serialize, Deserialize)]
struct Confirmations {
    confirmed: Vec<Confirmed>,
}

/// Whether the user agreed to exactly this content of this file. Any failure to find out counts as no. Blocking.
#[must_use]
pub fn is_confirmed(agent_dir: &Path, path: &Path, content_hash: &str) -> bool {
    let Some(path) = key(path) else { return false };
    let is_it = |known: &Confirmed| known.path == path && known.sha256 == content_hash;
    read(&layout::confirmed_agents(agent_dir)).is_ok_and(|known| known.confirmed.iter().any(is_it))
}

/// What the user agreed to when this file was confirmed last, and what it holds now if that has this hash. `None`: it was
/// never confirmed. A text that is not known is empty. Blocking.
#[must_use]
pub fn change(agent_dir: &Path, path: &Path, content_hash: &str) -> Option<(String, String)> {
    let (key, known) = (key(path)?, read(&layout::confirmed_agents(agent_dir)).ok()?);
    let last = known.confirmed.into_iter().rev().find(|known| known.path == key)?;
    Some((last.text.unwrap_or_default(), text(path, content_hash).unwrap_or_default()))
}

/// Remembers that the user agreed. When two processes write at the same moment, one confirmation may be lost and the
/// user is asked again. A path that is not valid UTF-8 cannot be remembered, so the user is asked each time. Blocking.
///
/// # Errors
///
/// When the file cannot be written; earlier confirmations are then unchanged.
pub fn confirm(agent_dir: &Path, path: &Path, content_hash: &str) -> io::Result<()> {
    let Some(key) = key(path) else { return Ok(()) };
    let file = layout::confirmed_agents(agent_dir);
    // Read each time, because other pi processes write it too.
    let mut confirmations = read(&file)?;
    let confirmed = &mut confirmations.confirmed;
    confirmed.retain(|known| known.path != key || known.sha256 != content_hash);
    confirmed.iter_mut().filter(|known| known.path == key).for_each(|known| known.text = None);
    let (text, sha256) = (text(path, content_hash), content_hash.to_owned());
    confirmed.push(Confirmed { path: key, sha256, text });
    confirmed.drain(..confirmed.len().saturating_sub(MAX_ENTRIES));
    let texts = confirmed.iter_mut().rev().filter(|known| known.text.is_some());
    texts.skip(MAX_TEXTS).for_each(|known| known.text = None);
    private::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    // Readers see the old content or the new, never a part.
    let written = private::beside(&file, &serde_json::to_vec(&confirmations)?)?;
    written.as_file().sync_all()?;
    written.persist(&file)?;
    Ok(())
}

/// A file that cannot be parsed is moved aside and counts as empty.
fn read(path: &Path) -> io::Result<Confirmations> {
    let file = match owned::open(path, fs::File::options().read(true)) {
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

fn key(path: &Path) -> Option<String> {
    Some(fs::canonicalize(path).ok()?.to_str()?.to_owned())
}

/// The text of a definition, unless it is too long or the file has changed since it had this hash.
fn text(path: &Path, content_hash: &str) -> Option<String> {
    let mut bytes = Vec::new();
    open::of_project(path).ok()?.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let is_it = bytes.len() as u64 <= MAX_TEXT_BYTES && hash(&bytes) == content_hash;
    is_it.then(|| String::from_utf8(bytes).ok()).flatten()
}
