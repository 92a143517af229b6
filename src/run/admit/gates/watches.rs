//! Whether an extension watches tool calls, as far as its text says. In doubt it does.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memchr::memmem;

use crate::files::open;

/// The event that an extension has to name to hear of tool calls.
const EVENT: &[u8] = b"tool_call";
/// A larger file is not read, and counts as naming it.
const MAX_FILE: u64 = 1024 * 1024;
/// What is looked at of one extension. One with more counts as naming it.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: usize = 32 * 1024 * 1024;
const MAX_TIME: Duration = Duration::from_secs(2);
/// Directories of others, and of git.
const PASSED_OVER: [&str; 2] = ["node_modules", ".git"];
/// The longest path of a file that another one imports.
const MAX_IMPORT: usize = 300;
/// What an import may leave out.
const ENDINGS: [&str; 9] = ["", ".ts", ".js", ".mjs", ".cjs", ".mts", ".cts", "/index.ts", "/index.js"];

/// Whether the entry of an extension, a file that it imports by a relative path, or any file of its packages names the event.
/// A file that cannot be read counts as naming it; what is neither a file nor a directory cannot hold code. Blocks, for two
/// seconds at most.
pub(super) fn watches(entry: &Path, packages: Vec<PathBuf>) -> bool {
    let mut search = Search {
        left: vec![entry.to_path_buf()],
        seen: BTreeSet::new(),
        files: 0,
        bytes: 0,
        end: Instant::now() + MAX_TIME,
    };
    search.left.extend(packages);
    while let Some(path) = search.left.pop() {
        if search.finds(&path).unwrap_or(true) {
            return true;
        }
    }
    false
}

/// A bounded walk.
struct Search {
    left: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
    files: usize,
    bytes: usize,
    end: Instant,
}

impl Search {
    /// Looks at one path, and remembers where to look next.
    fn finds(&mut self, path: &Path) -> io::Result<bool> {
        let path = match path.canonicalize() {
            Ok(path) => path,
            // A link to nothing is no code.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        if !self.seen.insert(path.clone()) {
            return Ok(false);
        }
        self.files += 1;
        if self.files > MAX_FILES || self.bytes > MAX_BYTES || Instant::now() > self.end {
            return Ok(true);
        }
        let kind = fs::metadata(&path)?.file_type();
        if kind.is_dir() {
            for found in fs::read_dir(&path)? {
                let found = found?;
                if PASSED_OVER.iter().all(|name| found.file_name() != *name) {
                    self.left.push(found.path());
                }
                if self.left.len() > MAX_FILES {
                    return Ok(true);
                }
            }
        } else if kind.is_file() {
            let text = open::read(open::regular(&path)?, MAX_FILE)?;
            self.bytes += text.len();
            if memmem::find(&text, EVENT).is_some() {
                return Ok(true);
            }
            self.left.extend(imports(&text, &path));
        }
        Ok(false)
    }
}

/// The files whose relative paths stand in quotes in this one.
fn imports(text: &[u8], file: &Path) -> Vec<PathBuf> {
    let Some(folder) = file.parent() else { return Vec::new() };
    let mut found = Vec::new();
    for (at, &quote) in text.iter().enumerate().filter(|(_, byte)| matches!(byte, b'"' | b'\'' | b'`')) {
        let rest = &text[at + 1..];
        if !rest.starts_with(b"./") && !rest.starts_with(b"../") {
            continue;
        }
        let Some(end) = rest.iter().take(MAX_IMPORT).position(|byte| *byte == quote) else { continue };
        let Ok(path) = std::str::from_utf8(&rest[..end]) else { continue };
        // TypeScript names the file that it will become.
        let plain = path.strip_suffix("js").map(|plain| format!("{plain}ts"));
        let names = [Some(path.to_owned()), plain];
        let candidates =
            names.iter().flatten().flat_map(|name| ENDINGS.map(|ending| format!("{name}{ending}")));
        found.extend(candidates.map(|name| folder.join(name)).find(|path| path.is_file()));
    }
    found
}
