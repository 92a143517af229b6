//! The directories that runs write.

use std::fs;
use std::path::{Path, PathBuf};

use super::check::{Check, Status};
use crate::run::World;
use crate::run::files::RunFiles;

/// How many files are counted for the disk use of past runs before the answer is "more than".
const MAX_COUNTED: usize = 20_000;

pub(super) fn directories(world: &World) -> Vec<Check> {
    const AREA: &str = "directories";
    let fallback = RunFiles::parent_directory(&world.agent_dir, None);
    let current = RunFiles::parent_directory(&world.agent_dir, world.host.session_file.as_deref());
    let mut checks = vec![writable(AREA, &current)];
    if current != fallback {
        checks.push(writable(AREA, &fallback));
    }
    let (bytes, complete) = disk_use(&[current, fallback]);
    let about = if complete { "" } else { "more than " };
    checks.push(Check::new(
        "disk",
        Status::Ok,
        format!("runs of this session and of no session use {about}{}", human(bytes)),
    ));
    checks
}

/// Writes and removes one file in the nearest directory that exists; makes none.
fn writable(area: &'static str, directory: &Path) -> Check {
    // The nearest thing that exists, which is in the way when it is no directory.
    let Some(existing) = directory.ancestors().find(|ancestor| fs::symlink_metadata(ancestor).is_ok()) else {
        return Check::new(area, Status::Error, format!("`{}` has no parent directory", directory.display()));
    };
    let probe = existing.join(format!(".subagent-probe-{}", uuid::Uuid::new_v4().simple()));
    match fs::File::create_new(&probe).and_then(|_| fs::remove_file(&probe)) {
        Ok(()) => Check::new(area, Status::Ok, format!("`{}` can be written", directory.display())),
        Err(error) => {
            Check::new(area, Status::Error, format!("`{}` cannot be written: {error}", existing.display()))
                .hint("a child needs a place for its prompt and its session")
        }
    }
}

/// The size of what lies below some directories, and whether all of it was counted. Links are not followed.
fn disk_use(roots: &[PathBuf]) -> (u64, bool) {
    let (mut pending, mut bytes, mut counted) = (roots.to_vec(), 0, 0);
    pending.dedup();
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            counted += 1;
            if counted > MAX_COUNTED {
                return (bytes, false);
            }
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => pending.push(entry.path()),
                Ok(metadata) => bytes += metadata.len(),
                Err(_) => {}
            }
        }
    }
    (bytes, true)
}

fn human(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut whole, mut unit) = (bytes, 0);
    while whole >= 10 * 1024 && unit + 1 < UNITS.len() {
        whole /= 1024;
        unit += 1;
    }
    format!("{whole} {}", UNITS[unit])
}
