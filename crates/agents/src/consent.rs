//! The project agents that the user has agreed to run.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::parse::hash;
use files::{layout, open, owned, private};

/// The maximum number of stored confirmations. Above it the oldest are dropped, and pi asks the user again.
const MAX_ENTRIES: usize = 1000;
/// The maximum size of the file. Files written by this module stay far below it.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// The maximum total size of the stored texts, newest first. The longest definition fits into it, and the escaped
/// texts fit into the file.
const MAX_TEXTS_BYTES: usize = 1024 * 1024;

/// The maximum size of a file that the user can agree to: the maximum of an agent file.
pub const MAX_CONFIRMED_BYTES: usize = super::parse::MAX_FILE_BYTES;

/// A confirmation of one definition.
#[derive(Debug, Serialize, Deserialize)]
struct Confirmed {
    path: String,
    /// The project for which a file outside of it was confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    sha256: String,
    /// The confirmed text, to show later changes. It is exact, so that a change within a secret is visible. Only the
    /// newest confirmation of a file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// The content of the file, oldest confirmation first.
#[derive(Default, Serialize, Deserialize)]
struct Confirmations {
    confirmed: Vec<Confirmed>,
}

/// A file that the user can agree to. A link in one project to a file of another project is another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmedFile<'a> {
    /// Its path. The part that leads to the project has no links.
    pub path: &'a Path,
    /// The project that uses the file, if the file lies outside of it.
    pub project: Option<&'a Path>,
}

impl<'a> From<&'a Path> for ConfirmedFile<'a> {
    fn from(path: &'a Path) -> Self {
        Self { path, project: None }
    }
}

/// Returns true if the user agreed to exactly this content of this file. If this cannot be determined, returns false.
/// Blocks.
#[must_use]
pub fn is_confirmed(agent_dir: &Path, file: ConfirmedFile<'_>, content_hash: &str) -> bool {
    let Some(key) = Key::of(&file) else { return false };
    let is_it = |known: &Confirmed| key.is_of(known) && known.sha256 == content_hash;
    read(&layout::confirmed_agents(agent_dir)).is_ok_and(|known| known.confirmed.iter().any(is_it))
}

/// Returns the text that the user agreed to in the last confirmation of this file. The outer `None` means that the
/// file was never confirmed, the inner `None` that its text was not stored. Blocks.
#[must_use]
pub fn allowed_text(agent_dir: &Path, file: ConfirmedFile<'_>) -> Option<Option<String>> {
    let key = Key::of(&file)?;
    let known = read(&layout::confirmed_agents(agent_dir)).ok()?;
    known.confirmed.into_iter().rev().find(|known| key.is_of(known)).map(|known| known.text)
}

/// Stores the user's agreement. If two processes write at the same moment, one confirmation may be lost and pi asks
/// the user again. A path that is not valid UTF-8 cannot be stored, so pi asks each time. Blocks.
///
/// # Errors
///
/// Returns an error if the file cannot be written. Earlier confirmations are then unchanged.
pub fn confirm(agent_dir: &Path, confirmed_file: ConfirmedFile<'_>, content_hash: &str) -> io::Result<()> {
    let Some(key) = Key::of(&confirmed_file) else { return Ok(()) };
    let file = layout::confirmed_agents(agent_dir);
    // Read the file each time, because other pi processes write it too.
    let mut confirmations = read(&file)?;
    let confirmed = &mut confirmations.confirmed;
    confirmed.retain(|known| !key.is_of(known) || known.sha256 != content_hash);
    confirmed.iter_mut().filter(|known| key.is_of(known)).for_each(|known| known.text = None);
    let text = definition_text(confirmed_file.path, content_hash);
    let sha256 = content_hash.to_owned();
    confirmed.push(Confirmed { path: key.path, project: key.project, sha256, text });
    confirmed.drain(..confirmed.len().saturating_sub(MAX_ENTRIES));
    let mut bytes = 0;
    for known in confirmed.iter_mut().rev() {
        bytes += known.text.as_ref().map_or(0, String::len);
        if bytes > MAX_TEXTS_BYTES {
            known.text = None;
        }
    }
    private::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    // Readers see either the old or the new content, never a part.
    let written = private::write_temporary(&file, &serde_json::to_vec(&confirmations)?)?;
    written.as_file().sync_all()?;
    written.persist(&file)?;
    Ok(())
}

/// Reads the confirmations. A file that cannot be parsed is moved aside and counts as empty.
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

/// The stored name of a file.
struct Key {
    path: String,
    project: Option<String>,
}

impl Key {
    /// Returns `None` for a missing file, and for paths that are not valid UTF-8.
    fn of(file: &ConfirmedFile<'_>) -> Option<Self> {
        fs::metadata(file.path).ok()?;
        let project = match file.project {
            Some(project) => Some(project.to_str()?.to_owned()),
            None => None,
        };
        Some(Self { path: file.path.to_str()?.to_owned(), project })
    }

    fn is_of(&self, known: &Confirmed) -> bool {
        known.path == self.path && known.project == self.project
    }
}

/// Returns the text of a definition if it still has this hash. Blocks.
#[must_use]
pub fn definition_text(path: &Path, content_hash: &str) -> Option<String> {
    text_to_confirm(path).ok().filter(|(_, hash)| hash == content_hash).map(|(text, _)| text)
}

/// Returns the hash of a file's content.
#[must_use]
pub fn content_hash(bytes: &[u8]) -> String {
    hash(bytes)
}

/// Returns the text of a file, and its hash. Blocks.
///
/// # Errors
///
/// Fails if the file cannot be read, is not UTF-8, or has more than [`MAX_CONFIRMED_BYTES`].
pub fn text_to_confirm(path: &Path) -> io::Result<(String, String)> {
    let mut bytes = Vec::new();
    open::of_project(path)?.take(MAX_CONFIRMED_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_CONFIRMED_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let hash = hash(&bytes);
    Ok((String::from_utf8(bytes).map_err(io::Error::other)?, hash))
}
