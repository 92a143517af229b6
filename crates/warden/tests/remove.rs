//! The removal of files that a child has made.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use pi_subagent_warden::remove_tree;
use rustix::fs::{Mode, OFlags, fchmod, mkdirat, open, openat};
use rustix::process::{Resource, Rlimit, setrlimit};

/// Makes `depth` directories, each in the one before. Every tenth denies access to its owner.
fn nest(root: &Path, depth: usize) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = open(root, flags, Mode::empty()).expect("the directory is opened");
    for level in 0..depth {
        mkdirat(&directory, "d", Mode::RWXU).expect("the directory is created");
        let inner = openat(&directory, "d", flags, Mode::empty()).expect("the directory is opened");
        if level % 10 == 0 {
            fchmod(&directory, Mode::empty()).expect("the mode is set");
        }
        directory = inner;
    }
}

#[test]
fn directories_nested_more_deeply_than_files_may_be_open_are_removed() {
    const OPEN_FILES: u64 = 128;
    let limit = Rlimit { current: Some(OPEN_FILES), maximum: Some(OPEN_FILES) };
    setrlimit(Resource::Nofile, limit).expect("the limit is set");
    let place = tempfile::tempdir().expect("a directory");
    // 63 to 66 are around the number of directories that are open at once.
    for depth in [1, 63, 64, 65, 66, 3_000] {
        let root = place.path().join("root");
        fs::create_dir(&root).expect("the directory is created");
        nest(&root, depth);
        remove_tree(&root).unwrap_or_else(|error| panic!("{depth} levels: {error}"));
        assert!(!root.exists(), "{depth} levels");
    }
}

#[test]
fn a_link_is_removed_without_its_target_and_a_missing_path_counts_as_removed() {
    let place = tempfile::tempdir().expect("a directory");
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("target")).expect("the directory is created");
    fs::write(at("target/file"), "kept").expect("the file is written");
    fs::create_dir(at("root")).expect("the directory is created");
    for link in ["link", "root/link"] {
        symlink(at("target"), at(link)).expect("the link is created");
    }
    for path in ["link", "root", "missing", "missing/inner"] {
        remove_tree(&at(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(at(path).symlink_metadata().is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(at("target/file")).expect("the file is there"), "kept");
    // Only a missing path counts as removed.
    remove_tree(&at("target/file/inner")).expect_err("a file has no entries");
}
