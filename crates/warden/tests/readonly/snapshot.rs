//! Everything about a tree that can be seen without reading a clock.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Every entry below some directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// The bytes of a file, the target of a link.
    content: Vec<u8>,
    size: u64,
    mode: u32,
    owner: (u32, u32),
    links: u64,
    modified: (i64, i64),
    /// Changes with every attribute and cannot be set back.
    changed: (i64, i64),
}

impl Snapshot {
    pub(crate) fn of(roots: &[PathBuf]) -> Self {
        let mut entries = BTreeMap::new();
        for root in roots {
            add(root, &mut entries);
        }
        Self(entries)
    }

    /// Returns true if anything differs at a path or below.
    pub(crate) fn differs(&self, later: &Self, path: &Path) -> bool {
        let of = |snapshot: &Self| -> BTreeMap<_, _> {
            let entries = snapshot.0.range(path.to_owned()..);
            entries
                .take_while(|(entry, _)| entry.starts_with(path))
                .map(|(path, entry)| (path.clone(), entry.clone()))
                .collect()
        };
        of(self) != of(later)
    }

    /// Returns the differences, one line each, except at some paths.
    pub(crate) fn differences(&self, later: &Self, is_left_out: impl Fn(&Path) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        for (path, entry) in self.0.iter().filter(|(path, _)| !is_left_out(path)) {
            match later.0.get(path) {
                None => found.push(format!("{} is gone", path.display())),
                Some(now) if now == entry => {}
                Some(now) => found.push(format!("{} is {}", path.display(), entry.difference(now))),
            }
        }
        let new = later.0.keys().filter(|path| !self.0.contains_key(*path) && !is_left_out(path));
        found.extend(new.map(|path| format!("{} is new", path.display())));
        found
    }
}

impl Entry {
    fn difference(&self, now: &Self) -> &'static str {
        if (&self.content, self.size) != (&now.content, now.size) {
            "of other content"
        } else if (self.mode, self.owner) != (now.mode, now.owner) {
            "of another mode or owner"
        } else if self.modified != now.modified {
            "of another time"
        } else {
            "linked or of other attributes"
        }
    }
}

fn add(path: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    let content = if metadata.is_file() {
        fs::read(path).unwrap_or_default()
    } else if metadata.is_symlink() {
        fs::read_link(path).map(|target| target.as_os_str().as_bytes().to_vec()).unwrap_or_default()
    } else {
        Vec::new()
    };
    entries.insert(
        path.to_owned(),
        Entry {
            content,
            size: metadata.size(),
            mode: metadata.mode(),
            owner: (metadata.uid(), metadata.gid()),
            links: metadata.nlink(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        },
    );
    if metadata.is_dir() {
        for child in fs::read_dir(path).into_iter().flatten().flatten() {
            add(&child.path(), entries);
        }
    }
}
