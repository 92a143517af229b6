//! Lists the extensions of a package or a directory, by pi's rules.
//!
//! Lists of patterns choose among them: `name`, `!name`, `+path`, `-path`.

use std::fs;
use std::path::{Component, Path, PathBuf};

use files::open;
use regex::Regex;
use serde_json::Value;

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

/// The maximum number of directories that are searched for one pattern.
const MAX_WALKED: usize = 2_000;

/// The parsed patterns of a list.
#[derive(Debug, Default)]
pub(super) struct Patterns<'a> {
    included: Vec<Regex>,
    excluded: Vec<Regex>,
    forced_in: Vec<&'a str>,
    forced_out: Vec<&'a str>,
}

impl<'a> Patterns<'a> {
    pub(super) fn of(list: &'a [String]) -> Self {
        let mut patterns = Self::default();
        for entry in list {
            match entry.split_at_checked(1) {
                Some(("!", rest)) => patterns.excluded.extend(glob(rest)),
                Some(("+", rest)) => patterns.forced_in.push(rest.strip_prefix("./").unwrap_or(rest)),
                Some(("-", rest)) => patterns.forced_out.push(rest.strip_prefix("./").unwrap_or(rest)),
                _ => patterns.included.extend(glob(entry)),
            }
        }
        patterns
    }

    /// Returns true if an extension that pi found by itself stays enabled. Only entries with a leading mark apply to
    /// it.
    pub(super) fn stays_enabled(&self, file: &Path, base: &Path) -> bool {
        let marked = Patterns {
            included: Vec::new(),
            excluded: self.excluded.clone(),
            forced_in: self.forced_in.clone(),
            forced_out: self.forced_out.clone(),
        };
        marked.chooses(file, base)
    }

    /// Returns the chosen files. Names are relative to `base`.
    pub(super) fn chosen(&self, files: Vec<PathBuf>, base: &Path) -> Vec<PathBuf> {
        files.into_iter().filter(|file| self.chooses(file, base)).collect()
    }

    /// Returns true if the list chooses a file. A list without included names chooses every file that it does not
    /// exclude.
    pub(super) fn chooses(&self, file: &Path, base: &Path) -> bool {
        let names = [
            relative(file, base),
            file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            file.to_string_lossy().into_owned(),
        ];
        let matches =
            |patterns: &[Regex]| patterns.iter().any(|glob| names.iter().any(|name| glob.is_match(name)));
        let names_it = |paths: &[&str]| paths.iter().any(|path| names[0] == *path || names[2] == *path);
        let is_included = self.included.is_empty() || matches(&self.included);
        let is_chosen = is_included && !matches(&self.excluded) || names_it(&self.forced_in);
        is_chosen && !names_it(&self.forced_out)
    }
}

/// Returns the paths that an entry of a manifest matches.
pub(super) fn expand(package: &Path, name: &str) -> Vec<PathBuf> {
    if !name.contains(['*', '?']) {
        return vec![normal(&package.join(name))];
    }
    let Some(pattern) = glob(name.strip_prefix("./").unwrap_or(name)) else { return Vec::new() };
    let mut pending = vec![package.to_path_buf()];
    let mut found = Vec::new();
    let mut walked = 0;
    while let Some(directory) = pending.pop() {
        walked += 1;
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
                continue;
            }
            if pattern.is_match(&relative(&path, package)) {
                found.push(path.clone());
            }
            if walked < MAX_WALKED && path.is_dir() && !path.is_symlink() {
                pending.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Removes `.` and `..` from a path.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}

fn relative(file: &Path, mut base: &Path) -> String {
    let mut up = String::new();
    loop {
        if let Ok(below) = file.strip_prefix(base) {
            return up + &below.to_string_lossy();
        }
        let Some(above) = base.parent() else { return file.to_string_lossy().into_owned() };
        (base, up) = (above, up + "../");
    }
}

/// Parses a glob: `*` and `?` within a name, `**` across directories, `[…]` and `{a,b}`. An invalid pattern matches
/// nothing.
fn glob(pattern: &str) -> Option<Regex> {
    let mut expression = String::from("^");
    let mut rest = pattern.strip_prefix("./").unwrap_or(pattern);
    let mut braces = 0;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            expression.push_str("(?:[^/]+/)*");
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix("**") {
            expression.push_str(".*");
            rest = after;
            continue;
        }
        match next {
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '{' => {
                braces += 1;
                expression.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                expression.push(')');
            }
            ',' if braces > 0 => expression.push('|'),
            '[' if rest.contains(']') => expression.push('['),
            ']' => expression.push(']'),
            '-' => expression.push('-'),
            other => expression.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
        rest = &rest[next.len_utf8()..];
    }
    Regex::new(&(expression + "$")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_choose_the_same_extensions_as_in_pi() {
        let cases: [(&[&str], &str, bool); 16] = [
            (&[], "a.ts", true),
            (&["!a.ts"], "a.ts", false),
            (&["!a.ts"], "b.ts", true),
            (&["!*.ts"], "deep/a.ts", false),
            (&["!deep/*.ts"], "deep/a.ts", false),
            (&["!deep/*.ts"], "deep/er/a.ts", true),
            (&["!deep/**"], "deep/er/a.ts", false),
            (&["!**/a.ts"], "a.ts", false),
            (&["!{a,b}.ts"], "b.ts", false),
            (&["!a.ts", "+a.ts"], "a.ts", true),
            (&["!a.ts", "+./a.ts"], "a.ts", true),
            (&["-a.ts", "+a.ts"], "a.ts", false),
            (&["-/base/a.ts"], "a.ts", false),
            (&["b.ts"], "a.ts", false),
            (&["b.ts", "+a.ts"], "a.ts", true),
            (&["![ab].ts"], "a.ts", false),
        ];
        for (list, file, expected) in cases {
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            let base = Path::new("/base");
            assert_eq!(Patterns::of(&list).chooses(&base.join(file), base), expected, "{list:?} {file}");
        }
    }
}
