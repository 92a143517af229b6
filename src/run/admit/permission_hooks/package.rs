//! Lists the extensions of a package or a directory, by pi's rules.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::patterns::{Patterns, expand, normal};
use files::open;

/// The maximum size of a `package.json`, in bytes. A larger one is ignored.
const MAX_MANIFEST: u64 = 1024 * 1024;

/// The `pi` section of a `package.json`.
enum Manifest {
    /// There is no such section.
    Absent,
    /// The section exists, but lists no extensions.
    Silent,
    /// The extensions that the section lists.
    Extensions(Vec<String>),
}

fn manifest(package: &Path) -> Manifest {
    let read = || {
        let file = open::regular(&package.join("package.json")).ok()?;
        let text = open::read(file, MAX_MANIFEST).ok()?;
        let json: Value = serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text)).ok()?;
        json.get("pi")?.as_object().cloned()
    };
    let Some(pi) = read() else { return Manifest::Absent };
    let lists_others = ["skills", "prompts", "themes"].iter().any(|kind| strings(pi.get(*kind)).is_some());
    match strings(pi.get("extensions")) {
        Some(entries) => Manifest::Extensions(entries),
        None if lists_others => Manifest::Silent,
        None => Manifest::Absent,
    }
}

/// Returns a list that contains only strings. pi ignores lists with other values.
pub(super) fn strings(value: Option<&Value>) -> Option<Vec<String>> {
    value?.as_array()?.iter().map(|entry| entry.as_str().map(str::to_owned)).collect()
}

/// Returns the extensions of a package, except the ones that its own list excludes.
pub(super) fn of_package(package: &Path) -> Vec<PathBuf> {
    match manifest(package) {
        Manifest::Silent => Vec::new(),
        Manifest::Absent => of_directory(&package.join("extensions")),
        Manifest::Extensions(entries) => {
            let (patterns, names): (Vec<String>, Vec<String>) =
                entries.into_iter().partition(|entry| entry.starts_with(['!', '+', '-']));
            let paths = names.iter().flat_map(|name| expand(package, name)).collect();
            Patterns::of(&patterns).chosen(of_paths(paths), package)
        }
    }
}

/// Returns true if a directory is a package. pi treats any other directory as a single extension.
pub(super) fn is_package(directory: &Path) -> bool {
    let has = |kind: &str| directory.join(kind).exists();
    !matches!(manifest(directory), Manifest::Absent)
        || ["extensions", "skills", "prompts", "themes"].iter().any(|kind| has(kind))
}

/// Returns the files among these paths, and the extensions of the directories.
pub(super) fn of_paths(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let of = |path: PathBuf| match fs::metadata(&path) {
        Ok(found) if found.is_file() => vec![path],
        Ok(found) if found.is_dir() => of_directory(&path),
        _ => Vec::new(),
    };
    paths.into_iter().flat_map(of).collect()
}

/// Returns the extensions in a directory: its declared entries, else its files and the extensions of its
/// subdirectories.
pub(super) fn of_directory(directory: &Path) -> Vec<PathBuf> {
    if let Some(entries) = entries_of(directory) {
        return entries;
    }
    let Ok(found) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = found.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    let mut extensions = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Ok(found) = fs::metadata(&path) else { continue };
        if name.starts_with('.') || name == "node_modules" {
            continue;
        }
        let is_code = path.extension().is_some_and(|extension| extension == "ts" || extension == "js");
        if found.is_file() && is_code {
            extensions.push(path);
        } else if found.is_dir() {
            extensions.extend(entries_of(&path).unwrap_or_default());
        }
    }
    extensions
}

/// Returns the entries that a directory declares, or its index file.
fn entries_of(directory: &Path) -> Option<Vec<PathBuf>> {
    if let Manifest::Extensions(names) = manifest(directory) {
        let existing: Vec<PathBuf> =
            names.iter().map(|name| normal(&directory.join(name))).filter(|path| path.exists()).collect();
        if !existing.is_empty() {
            return Some(existing);
        }
    }
    let index = ["index.ts", "index.js"].map(|name| directory.join(name));
    index.into_iter().find(|path| path.exists()).map(|path| vec![path])
}
