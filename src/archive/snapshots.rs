//! Snapshots of trees whose runs have no record, for example of calls without a session.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::usage::{disk_use, run_directories};
use files::layout;

/// The minimum age at which such a snapshot may be removed. No call takes as long.
const MIN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the oldest snapshots of runs that are not `known` while these snapshots take up more than `limit` bytes. Keeps
/// snapshots of the last day. The snapshots of known runs are removed with their files. Blocks.
pub fn prune_snapshots(agent_dir: &Path, limit: u64, known: impl Fn(&OsStr) -> bool) {
    let modified = |path: &Path| fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
    let mut found: Vec<_> = run_directories(&layout::snapshots(agent_dir))
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|id| !known(id)))
        // The changes in the private tree of such a run have not been imported yet.
        .filter(|path| !path.join(layout::PRIVATE_TREE).exists())
        .filter_map(|path| Some((modified(&path)?, disk_use(std::slice::from_ref(&path)).bytes, path)))
        .collect();
    found.sort();
    let mut all = found.iter().fold(0_u64, |sum, (_, bytes, _)| sum.saturating_add(*bytes));
    let until = SystemTime::now() - MIN_AGE;
    for (modified, bytes, path) in found {
        if all <= limit || modified > until {
            return;
        }
        if fs::remove_dir_all(&path).is_ok() {
            all = all.saturating_sub(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_snapshots_without_a_record_are_removed_and_new_ones_stay() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let place = layout::snapshots(root.path());
        let make = |id: &str, days: u64| {
            let directory = place.join(id);
            fs::create_dir_all(&directory).expect("the directory is created");
            fs::write(directory.join("x"), vec![1; 100_000]).expect("the file is written");
            let time = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
            fs::File::open(&directory).and_then(|at| at.set_modified(time)).expect("the time is set");
        };
        for (id, days) in [("00000001", 9), ("00000002", 5), ("00000003", 3), ("00000004", 0)] {
            make(id, days);
        }
        prune_snapshots(root.path(), 250_000, |id| id == "00000001");
        let exists = |id: &str| place.join(id).exists();
        assert_eq!(
            ["00000001", "00000002", "00000003", "00000004"].map(exists),
            [true, false, true, true],
            "only the oldest snapshot without a record is removed"
        );
        prune_snapshots(root.path(), 1, |_| false);
        assert_eq!(["00000001", "00000003", "00000004"].map(exists), [false, false, true]);
    }
}
