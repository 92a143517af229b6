//! The warden, which is a program of another package.

use std::path::PathBuf;

use super::program;

/// Returns its path, next to the folder of the test programs. Cargo does not build it for the tests of this package alone.
pub(crate) fn warden() -> PathBuf {
    let test = program::path();
    let path =
        test.ancestors().nth(2).expect("the test program is in a build directory").join("pi-subagent-warden");
    assert!(path.exists(), "{} does not exist: run `cargo build -p pi-subagent-warden`", path.display());
    path
}
