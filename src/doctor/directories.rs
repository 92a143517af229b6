//! Whether runs can write their directories.

use std::fs;
use std::path::Path;

use super::check::{Check, Status};
use crate::files::layout;
use crate::run::HostContext;

pub(super) fn directories(context: &HostContext) -> Vec<Check> {
    const AREA: &str = "directories";
    let fallback = layout::runs(&context.agent_dir, None);
    let current = layout::runs(&context.agent_dir, context.host.session_file.as_deref());
    let mut checks = vec![writable(AREA, &current)];
    if current != fallback {
        checks.push(writable(AREA, &fallback));
    }
    checks
}

/// Creates and removes a file in the nearest existing ancestor. Creates no directory.
fn writable(area: &'static str, directory: &Path) -> Check {
    // The nearest ancestor that exists. If it is not a directory, the probe fails.
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
