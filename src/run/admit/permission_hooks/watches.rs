//! Searches the text of an extension for signs that it watches tool calls or registers a provider. If the search cannot
//! be completed, the extension counts as doing so.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memchr::memmem;

use super::package::normal;
use files::open;

/// The event that an extension has to name to receive tool calls.
pub(super) const EVENT: &[&[u8]] = &[b"tool_call"];
/// The methods with which an extension provides a model. It has to call one of them.
pub(super) const PROVIDER: &[&[u8]] = &[b"registerProvider", b"registerVirtualModel"];
/// The maximum size of a file that is read, in bytes. A larger file counts as containing the word.
const MAX_FILE: u64 = 1024 * 1024;
/// The maximum number of files, and of bytes, that are read of one extension. An extension with more counts as
/// containing the word.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The time limit for searching all extensions.
const MAX_TIME: Duration = Duration::from_secs(2);
/// Skipped directories: dependencies, and git's own.
const SKIPPED: [&str; 2] = ["node_modules", ".git"];
/// The maximum length of an imported path, in bytes.
const MAX_IMPORT: usize = 300;
/// The endings that an import may omit.
const ENDINGS: [&str; 9] = ["", ".ts", ".js", ".mjs", ".cjs", ".mts", ".cts", "/index.ts", "/index.js"];

/// Returns the deadline for searching all extensions together. An extension that is not completely searched by then
/// counts as containing the word.
pub(super) fn deadline() -> Instant {
    Instant::now() + MAX_TIME
}

/// Returns true if an extension contains one of `markers`. Searches its entry, the files that the entry imports by a
/// relative path, and all files of its packages. A file that cannot be read counts as containing one; a path that is
/// neither a file nor a directory contains no code. Blocks until `end` at most.
pub(super) fn contains_any(
    markers: &'static [&'static [u8]],
    entry: &Path,
    packages: Vec<PathBuf>,
    end: Instant,
) -> bool {
    let packages: Vec<PathBuf> = packages.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut search = Search {
        markers,
        pending: vec![entry.to_path_buf()],
        seen: BTreeSet::new(),
        files: 0,
        bytes: 0,
        end,
        packages: packages.clone(),
    };
    search.pending.extend(packages);
    while let Some(path) = search.pending.pop() {
        if search.finds(&path).unwrap_or(true) {
            return true;
        }
    }
    false
}

/// The identity of a file or directory, the same for all paths that lead to it.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(unix)]
fn identity(_path: &Path, found: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, _found: &fs::Metadata) -> Identity {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// A bounded search through files and directories.
struct Search {
    markers: &'static [&'static [u8]],
    pending: Vec<PathBuf>,
    seen: BTreeSet<Identity>,
    files: usize,
    bytes: usize,
    end: Instant,
    /// The directories that are searched completely. Imports that lead into them need no lookup.
    packages: Vec<PathBuf>,
}

impl Search {
    /// Searches one path, and adds the paths to search next.
    fn finds(&mut self, path: &Path) -> io::Result<bool> {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            // A dangling link contains no code.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        if !self.seen.insert(identity(path, &found)) {
            return Ok(false);
        }
        self.files += 1;
        if self.files > MAX_FILES || self.bytes > MAX_BYTES || Instant::now() > self.end {
            return Ok(true);
        }
        if found.is_dir() {
            for found in fs::read_dir(path)? {
                let found = found?;
                if SKIPPED.iter().all(|name| found.file_name() != *name) {
                    self.pending.push(found.path());
                }
                if self.pending.len() > MAX_FILES {
                    return Ok(true);
                }
            }
        } else if found.is_file() {
            let text = open::read(open::regular(path)?, MAX_FILE)?;
            self.bytes += text.len();
            if self.markers.iter().any(|marker| memmem::find(&text, marker).is_some()) {
                return Ok(true);
            }
            for import in imports(&text, path) {
                if self.packages.iter().any(|package| import.starts_with(package)) {
                    continue;
                }
                self.files += 1;
                self.pending.extend(candidates(&import).find(|path| path.is_file()));
            }
        }
        Ok(false)
    }
}

/// Returns the quoted relative paths of a file as absolute paths, without duplicates.
fn imports(text: &[u8], file: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    // Node resolves imports relative to the real file, not relative to a link to it.
    let folder = LazyCell::new(|| file.canonicalize().ok()?.parent().map(Path::to_path_buf));
    for at in memmem::find_iter(text, b"./") {
        let start = if text[..at].ends_with(b".") { at - 1 } else { at };
        let (before, rest) = text.split_at(start);
        let Some(quote) = before.last().filter(|byte| matches!(byte, b'"' | b'\'' | b'`')) else { continue };
        let Some(end) = rest.iter().take(MAX_IMPORT).position(|byte| byte == quote) else { continue };
        if let (Ok(path), Some(folder)) = (std::str::from_utf8(&rest[..end]), &*folder) {
            found.insert(normal(&folder.join(path)));
        }
    }
    found
}

/// Returns the files that an import may mean. TypeScript imports name the compiled `.js` file instead of the `.ts`
/// source.
fn candidates(import: &Path) -> impl Iterator<Item = PathBuf> {
    let name = import.to_string_lossy().into_owned();
    let plain = name.strip_suffix("js").map(|plain| format!("{plain}ts"));
    let names = [Some(name), plain].into_iter().flatten();
    names.flat_map(|name| ENDINGS.map(|ending| PathBuf::from(format!("{name}{ending}"))))
}
