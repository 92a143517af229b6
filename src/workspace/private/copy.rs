//! Brings ignored files and directories into a private tree.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Entries that are copied at most. A large `node_modules` has so many.
const MAX_ENTRIES: usize = 500_000;

/// Copies `listed` paths, which are relative, from one tree to another; file systems that can share the content do.
/// Links are copied as links, and none is followed. Returns notices about what was not copied. Blocks.
pub(super) fn copy_listed(from: &Path, to: &Path, listed: &[String]) -> Vec<String> {
    let mut room = MAX_ENTRIES;
    let mut notices = Vec::new();
    for path in listed {
        if let Err(why) = copy_one(from, to, Path::new(path), &mut room) {
            notices.push(format!("`{path}` (`isolation.copy`) is not in the private tree: {why}"));
        }
    }
    notices
}

fn copy_one(from: &Path, to: &Path, path: &Path, room: &mut usize) -> Result<(), String> {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(name) if name != ".git"));
    if !is_plain || path.as_os_str().is_empty() {
        return Err("it is no path within the tree".into());
    }
    // Neither in the tree nor in its copy may a link lead elsewhere.
    for part in path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()) {
        let is_directory = |root: &Path| fs::symlink_metadata(root.join(part)).map(|found| found.is_dir());
        if !is_directory(from).unwrap_or(false) {
            return Ok(());
        }
        if is_directory(to).is_ok_and(|is_directory| !is_directory) {
            return Err("something else lies in its place".into());
        }
    }
    if fs::symlink_metadata(from.join(path)).is_err() {
        // Not every project has what is listed for all.
        return Ok(());
    }
    if fs::symlink_metadata(to.join(path)).is_ok() {
        return Err("it is part of the snapshot".into());
    }
    let parent = to.join(path.parent().unwrap_or(Path::new("")));
    fs::create_dir_all(parent).map_err(|error| error.to_string())?;
    let mut waiting = vec![PathBuf::from(path)];
    while let Some(path) = waiting.pop() {
        *room = room.checked_sub(1).ok_or_else(|| format!("there are more than {MAX_ENTRIES} entries"))?;
        let (source, target) = (from.join(&path), to.join(&path));
        let failed = |error: std::io::Error| format!("{}: {error}", source.display());
        let found = fs::symlink_metadata(&source).map_err(failed)?;
        if found.is_dir() {
            fs::create_dir(&target).map_err(failed)?;
            for entry in fs::read_dir(&source).map_err(failed)? {
                waiting.push(path.join(entry.map_err(failed)?.file_name()));
            }
        } else if found.is_symlink() {
            #[cfg(unix)]
            fs::read_link(&source)
                .and_then(|link| std::os::unix::fs::symlink(link, &target))
                .map_err(failed)?;
        } else if found.is_file() {
            fs::copy(&source, &target).map_err(failed)?;
        }
    }
    Ok(())
}
