//! File systems that several machines share.
//!
//! The log of the database lives in memory that processes share, which two machines cannot, and they would not notice.

use std::path::Path;

/// Their numbers in `statfs`: NFS, SMB (three generations), AFS, Coda, Ceph, Lustre, GPFS and 9P.
#[cfg(target_os = "linux")]
const REMOTE: [i128; 10] = [
    0x6969,
    0x517B,
    0xFF53_4D42,
    0xFE53_4D42,
    0x5346_414F,
    0x7375_7245,
    0x00C3_6400,
    0x0BD0_0BD0,
    0x4750_4653,
    0x0102_1997,
];

/// Whether other machines may use the files of a directory. In doubt not; elsewhere than on Linux that is not asked.
pub(super) fn is_remote(directory: &Path) -> bool {
    #[cfg(target_os = "linux")]
    if let Ok(found) = rustix::fs::statfs(directory) {
        // The kernel's number has 32 bits; some architectures extend its sign.
        return REMOTE.contains(&(i128::from(found.f_type) & 0xFFFF_FFFF));
    }
    let _ = directory;
    false
}
