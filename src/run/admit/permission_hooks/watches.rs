//! Whether an extension watches tool calls, or registers a provider, as far as its text says. In doubt it does.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memchr::memmem;

use super::patterns::normal;
use crate::files::open;

/// The event that an extension has to name to hear of tool calls.
pub(super) const EVENT: &[&[u8]] = &[b"tool_call"];
/// The methods, one of which an extension has to call to provide a model.
pub(super) const PROVIDER: &[&[u8]] = &[b"registerProvider", b"registerVirtualModel"];
/// A larger file is not read, and counts as naming it.
const MAX_FILE: u64 = 1024 * 1024;
/// What is looked at of one extension. One with more counts as naming it.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// How long is looked at all of them.
const MAX_TIME: Duration = Duration::from_secs(2);
/// Directories of others, and of git.
const PASSED_OVER: [&str; 2] = ["node_modules", ".git"];
/// The longest path of a file that another one imports.
const MAX_IMPORT: usize = 300;
/// What an import may leave out.
const ENDINGS: [&str; 9] = ["", ".ts", ".js", ".mjs", ".cjs", ".mts", ".cts", "/index.ts", "/index.js"];

/// When to stop looking, for all extensions together: what is left then counts as naming the event.
pub(super) fn patience() -> Instant {
    Instant::now() + MAX_TIME
}

/// Whether the entry of an extension, a file that it imports by a relative path, or any file of its packages has one of
/// these words.
/// A file that cannot be read counts as having it; what is neither a file nor a directory cannot hold code. Blocks, until
/// `end` at most.
pub(super) fn names(
    words: &'static [&'static [u8]],
    entry: &Path,
    packages: Vec<PathBuf>,
    end: Instant,
) -> bool {
    let packages: Vec<PathBuf> = packages.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut search = Search {
        words,
        left: vec![entry.to_path_buf()],
        seen: BTreeSet::new(),
        files: 0,
        bytes: 0,
        end,
        packages: packages.clone(),
    };
    search.left.extend(packages);
    while let Some(path) = search.left.pop() {
        if search.finds(&path).unwrap_or(true) {
            return true;
        }
    }
    false
}

/// What a file or directory is known by, however many paths lead to it.
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

/// A bounded walk.
struct Search {
    words: &'static [&'static [u8]],
    left: Vec<PathBuf>,
    seen: BTreeSet<Identity>,
    files: usize,
    bytes: usize,
    end: Instant,
    /// They are walked whole, so what is imported from them is looked at without being looked up.
    packages: Vec<PathBuf>,
}

impl Search {
    /// Looks at one path, and remembers where to look next.
    fn finds(&mut self, path: &Path) -> io::Result<bool> {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            // A link to nothing is no code.
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
                if PASSED_OVER.iter().all(|name| found.file_name() != *name) {
                    self.left.push(found.path());
                }
                if self.left.len() > MAX_FILES {
                    return Ok(true);
                }
            }
        } else if found.is_file() {
            let text = open::read(open::regular(path)?, MAX_FILE)?;
            self.bytes += text.len();
            if self.words.iter().any(|word| memmem::find(&text, word).is_some()) {
                return Ok(true);
            }
            for import in imports(&text, path) {
                if self.packages.iter().any(|package| import.starts_with(package)) {
                    continue;
                }
                self.files += 1;
                self.left.extend(candidates(&import).find(|path| path.is_file()));
            }
        }
        Ok(false)
    }
}

/// The relative paths that stand in quotes in a file, each once, made absolute.
fn imports(text: &[u8], file: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    // Node looks beside the file itself, not beside a link to it.
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

/// The files that an import may mean. TypeScript names the file that its own will become.
fn candidates(import: &Path) -> impl Iterator<Item = PathBuf> {
    let name = import.to_string_lossy().into_owned();
    let plain = name.strip_suffix("js").map(|plain| format!("{plain}ts"));
    let names = [Some(name), plain].into_iter().flatten();
    names.flat_map(|name| ENDINGS.map(|ending| PathBuf::from(format!("{name}{ending}"))))
}
