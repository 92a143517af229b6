//! Detects a child that ended because a permission hook did not load.

use sanitizer::{Sanitizer, quoted_path, quoted_within};

/// The start of pi's line about an extension that did not load.
const FAILED: &str = "Failed to load extension \"";
/// The maximum length of the reason, in characters.
const REASON_CHARS: usize = 1_000;

/// Returns the reason for refusing a run whose child could not load one of its hooks, taken from the child's output.
/// `None` if the child ended for another reason.
pub(in crate::run) fn failed_hook(hooks: &[String], written: &str, sanitizer: &Sanitizer) -> Option<String> {
    let of_line = |line: &str| {
        let (path, reason) = line.split_once(FAILED)?.1.split_once("\": ")?;
        let hook = hooks.iter().find(|hook| *hook == path)?;
        let reason = sanitizer.line(reason.trim_start_matches("Failed to load extension: "), REASON_CHARS);
        Some(format!(
            "refused: the permission hook {} did not load, and this child does not run without it: {}",
            quoted_path(hook),
            quoted_within(&reason, REASON_CHARS)
        ))
    };
    written.lines().find_map(of_line)
}
