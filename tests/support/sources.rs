//! Rust sources and their imports. Reads only code that `rustfmt` has formatted, and understands only `use` and paths.
//! The imports of tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// The files that hold the map of a folder.
pub(crate) const MAPS: [&str; 3] = ["mod", "lib", "main"];

/// A path in the code, split into its parts.
pub(crate) type Words = Vec<String>;

/// A source file, without comments, tests and `use`.
pub(crate) struct Source {
    module: Words,
    pub(crate) code: String,
    pub(crate) docs: String,
    /// The path of each imported name, and whether the file re-exports it.
    pub(crate) names: BTreeMap<String, (Words, bool)>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the directory is readable").flatten() {
        match entry.path() {
            path if path.is_dir() => files_below(&path, found),
            path if path.extension().is_some_and(|extension| extension == "rs") => drop(found.insert(path)),
            _ => {}
        }
    }
}

/// Returns the folders with the sources of each crate.
pub(crate) fn source_folders() -> Vec<String> {
    let crates = fs::read_dir(root().join("crates")).expect("the directory is readable").flatten();
    let crates = crates.map(|entry| format!("crates/{}/src", entry.file_name().to_string_lossy()));
    let folders: Vec<String> = std::iter::once("src".to_owned()).chain(crates).collect();
    assert!(folders.len() > 2, "{folders:?}");
    folders
}

/// Returns all sources below a folder, by their paths from the root of the repository.
pub(crate) fn sources(folder: &str) -> BTreeMap<String, Source> {
    let mut files = BTreeSet::new();
    files_below(&root().join(folder), &mut files);
    files.retain(|file| !file.ends_with("tests.rs"));
    let read = |file: PathBuf| {
        let name = file
            .strip_prefix(root())
            .expect("the path is below the root")
            .to_string_lossy()
            .replace('\\', "/");
        let inner = name[folder.len() + 1..].trim_end_matches(".rs");
        let mut module: Words = inner.split('/').map(str::to_owned).collect();
        module.pop_if(|last| MAPS.contains(&last.as_str()));
        let text = fs::read_to_string(&file).expect("the file is readable");
        (name, Source::new(module, &text))
    };
    files.into_iter().map(read).collect()
}

pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)(^|\s)//.*$"));
/// Matches an item that exists only for tests. The item ends at its own indentation, or in its first line.
static TEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?ms)^#\[cfg\((all\()?test\b[^\n]*\n(#\[[^\n]*\n)*([^\n]*;$|[^\n]*\{\n.*?^\};?$)")
});
static USE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?ms)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);"));
static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[a-z_]\w*(?:::\w+)+"));

impl Source {
    fn new(module: Words, text: &str) -> Self {
        let docs = text.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n");
        let code = COMMENT.replace_all(text, "");
        let code = TEST.replace_all(&code, "");
        let mut names = BTreeMap::new();
        for found in USE.captures_iter(&code) {
            let mut add = |name: String, path| drop(names.insert(name, (path, found.get(1).is_some())));
            expand(&[], &found[2].split_whitespace().collect::<Vec<_>>().join(" "), &mut add);
        }
        let code = USE.replace_all(&code, "").into_owned();
        Self { module, code, docs, names }
    }
}

/// Splits `a::{b, c as d}` into names and their paths.
fn expand(before: &[String], tree: &str, add: &mut impl FnMut(String, Words)) {
    let (path, inner) = tree.split_once('{').unwrap_or((tree, ""));
    let (path, alias) = path.split_once(" as ").unwrap_or((path, ""));
    let mut words: Words = before.iter().cloned().chain(path.split("::").map(str::to_owned)).collect();
    words.retain(|word| !word.is_empty());
    if inner.is_empty() {
        words.pop_if(|last| last == "self");
        // A trait without a name is used, too, and so are all re-exports of a room.
        let name = if alias == "_" || words.last().is_some_and(|last| last == "*") {
            words.join("::")
        } else {
            alias.to_owned()
        };
        let name = Some(name).filter(|name| !name.is_empty()).or(words.last().cloned());
        return add(name.unwrap_or_default(), words);
    }
    let mut depth = 0;
    let mut start = 0;
    for (at, sign) in inner.char_indices() {
        match sign {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                let tree = inner[start..at].trim();
                if !tree.is_empty() {
                    expand(&words, tree, add);
                }
                start = at + 1;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
}

/// The imports between the files of one folder of sources.
pub(crate) struct Uses {
    pub(crate) sources: BTreeMap<String, Source>,
    modules: BTreeMap<Words, String>,
}

impl Uses {
    pub(crate) fn of(folder: &str) -> Self {
        let sources = sources(folder);
        let modules = sources.iter().map(|(file, source)| (source.module.clone(), file.clone())).collect();
        Self { sources, modules }
    }

    /// Returns a path as seen from the root of the crate. `None` if it leads out of the crate.
    fn absolute(&self, from: &Source, path: &[String]) -> Option<Words> {
        let (first, rest) = path.split_first()?;
        let module = &from.module;
        let start = match first.as_str() {
            "crate" => Vec::new(),
            "self" => module.clone(),
            "super" => {
                let above = rest.iter().take_while(|word| *word == "super").count();
                let base = module.get(..module.len().checked_sub(above + 1)?)?;
                return Some([base, &rest[above..]].concat());
            }
            name => match from.names.get(name) {
                Some((known, _)) if known.first() != Some(first) => self.absolute(from, known)?,
                _ => {
                    let child = [module.as_slice(), &path[..1]].concat();
                    self.modules.contains_key(&child).then_some(child)?
                }
            },
        };
        Some([start.as_slice(), rest].concat())
    }

    /// Returns the file that defines the item of a path. Follows re-exports. A room as such has no file.
    fn target(&self, path: &[String]) -> Option<&String> {
        let (length, file) =
            (0..=path.len()).rev().find_map(|length| Some((length, self.modules.get(&path[..length])?)))?;
        let Some(item) = path.get(length) else {
            let is_room = MAPS.iter().any(|map| file.ends_with(&format!("/{map}.rs")));
            return (!is_room).then_some(file);
        };
        let source = &self.sources[file];
        let Some((known, _)) = source.names.get(item) else { return Some(file) };
        // An item of another crate has no file here.
        let known = self.absolute(source, known)?;
        if known == path {
            Some(file)
        } else {
            self.target(&[known.as_slice(), &path[length + 1..]].concat())
        }
    }

    /// Returns the files that this file uses. Files that it only re-exports do not count.
    pub(crate) fn used_by(&self, file: &str) -> BTreeSet<&String> {
        let source = &self.sources[file];
        let inline = PATH.find_iter(&source.code);
        let inline = inline.map(|found| found.as_str().split("::").map(str::to_owned).collect());
        let is_used = |name: &str| pattern(&format!(r"\b{name}\b")).is_match(&source.code);
        let imported = source
            .names
            .iter()
            .filter(|(name, (_, handed_on))| !handed_on || name.ends_with('*') || is_used(name));
        let paths = inline.chain(imported.map(|(_, (path, _))| path.clone()));
        let targets = paths.filter_map(|path: Words| self.target(&self.absolute(source, &path)?));
        targets.filter(|target| *target != file).collect()
    }
}
