//! Text that goes on: how much of it can be shown before the rest arrives.

use std::sync::LazyLock;

use super::controls::strip;
use crate::text::floor_char_boundary;
use crate::text::redact::Scanner;

/// How much of the end is looked at; nothing that waits is longer.
const REACH: usize = 16 * 1024;

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(&[]));

/// How much of a text that goes on can be shown: what is left out at its end may be part of a secret that no rule
/// recognizes before it is complete.
///
/// Whatever follows, eight characters in a row of a secret that the whole text has redacted are never in the part
/// before this position, sanitized. What waits is the end of a long word, a value whose end is not there yet, and lines
/// that may be those of a private key.
#[must_use]
pub fn settled_length(text: &str) -> usize {
    let from = floor_char_boundary(text, text.len().saturating_sub(REACH));
    let stripped = strip(&text[from..]);
    let open = SCANNER.open_from(&stripped.text);
    if open == stripped.text.len() {
        return text.len();
    }
    from + stripped.to_input(&(open..open), &stripped.offsets()).start
}
