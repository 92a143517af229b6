//! A child that ended because a hook did not load.

use crate::text::{Sanitizer, quoted_path, quoted_within};

/// How pi begins the line that says which extension did not load, and why.
const FAILED: &str = "Failed to load extension \"";
/// Characters of the reason.
const REASON_CHARS: usize = 1_000;

/// Why a run is refused whose child could not load one of its hooks, by what the child wrote; `None` if that is not why it
/// ended.
pub(in crate::run) fn failed_hook(hooks: &[String], written: &str, sanitizer: &Sanitizer) -> Option<String> {
    let of_line = |line: &str| {
        let (path, reason) = line.split_once(FAILED)?.1.split_once("\": ")?;
        let hook = hooks.iter().find(|hook| *hook == path)?;
        let reason = sanitizer.line(reason.trim_start_matches("Failed to load extension: "), REASON_CHARS);
        Some(format!(
            "refused: the permission hook {} did not load, and no writing child runs without it: {}",
            quoted_path(hook),
            quoted_within(&reason, REASON_CHARS)
        ))
    };
    written.lines().find_map(of_line)
}
