//! The differences between two trees.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use crate::replace::State;
use sanitizer::text_enum;

text_enum! {
    /// The kinds of change of a file.
    pub enum ChangeKind {
        /// It is only in the second tree.
        Added = "added",
        /// Its content, its mode or its type differs.
        Modified = "modified",
        /// It is only in the first tree.
        Deleted = "deleted",
    }
}

/// A file that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the root.
    pub path: PathBuf,
    /// The kind of change.
    pub kind: ChangeKind,
    /// Mode and object in the first tree; `None` if it is not there.
    pub old: Option<File>,
    /// The same in the second tree.
    pub new: Option<File>,
}

/// A file in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// `0o100644`, `0o100755`, `0o120000` for a symbolic link, `0o160000` for a submodule.
    pub mode: u32,
    /// The name of the object with its content.
    pub object: String,
}

/// The contents of files.
#[derive(Debug)]
pub(crate) struct Contents {
    /// By the names of the objects.
    pub objects: BTreeMap<String, Vec<u8>>,
    /// True if the repository trusts the permission to execute (`core.fileMode`).
    pub has_modes: bool,
}

/// Returns a file with its content.
pub(crate) fn state<'a>(file: Option<&File>, contents: &'a Contents) -> io::Result<Option<State<'a>>> {
    let Some(file) = file else { return Ok(None) };
    let content =
        contents.objects.get(&file.object).ok_or_else(|| io::Error::other("its content is missing"))?;
    Ok(Some(State { mode: file.mode, content, has_mode: contents.has_modes }))
}

/// Reads what `git diff-tree -r -z --raw` prints: `:mode mode object object status`, then the path.
pub(super) fn parse(printed: &[u8]) -> Option<Vec<Change>> {
    let mut parts = printed.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let Some(line) = parts.next().filter(|line| !line.is_empty()) {
        let line = std::str::from_utf8(line).ok()?.strip_prefix(':')?;
        let mut fields = line.split(' ');
        let modes = [fields.next()?, fields.next()?].map(|mode| u32::from_str_radix(mode, 8).ok());
        let [old, new] = [(modes[0]?, fields.next()?), (modes[1]?, fields.next()?)]
            .map(|(mode, object)| (mode != 0).then(|| File { mode, object: object.to_owned() }));
        let kind = match (&old, &new) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        changes.push(Change { path: path_of(parts.next()?), kind, old, new });
    }
    Some(changes)
}

/// Reads a list of paths as `git ls-files -z` prints them. Directories end with a slash there.
pub(super) fn listed(printed: &[u8]) -> BTreeSet<PathBuf> {
    let paths = printed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(|path| path_of(path.strip_suffix(b"/").unwrap_or(path))).collect()
}

/// Converts the bytes of a path in git to a path.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    return PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_the_old_and_the_new_state_of_a_file() {
        let a = "a".repeat(40);
        let b = "b".repeat(40);
        let none = "0".repeat(40);
        let printed = format!(
            ":100644 100755 {a} {b} M\0run me\0:000000 120000 {none} {b} A\0link\0:100644 000000 {a} {none} D\0gone\0"
        );
        let changes = parse(printed.as_bytes()).expect("the changes are parsed");
        let kinds: Vec<_> =
            changes.iter().map(|change| (change.path.to_str().unwrap_or_default(), change.kind)).collect();
        assert_eq!(
            kinds,
            [("run me", ChangeKind::Modified), ("link", ChangeKind::Added), ("gone", ChangeKind::Deleted)]
        );
        assert_eq!(changes[0].old.as_ref().map(|file| file.mode), Some(0o100_644));
        assert_eq!(changes[1].new.as_ref().map(|file| file.object.as_str()), Some(&*b));
        assert_eq!((&changes[1].old, &changes[2].new), (&None, &None));
        assert_eq!(parse(b""), Some(vec![]));
        assert_eq!(parse(b"M\tname"), None);
    }
}
