//! Sanitized text is clean, does not change when sanitized again, and is cut within limits.

use std::sync::LazyLock;

use sanitizer::{
    Sanitizer, SanitizerOptions, TruncateLimits, settled_length, truncate, truncate_head, truncate_tail,
};

use super::draw::Draw;

/// A secret that the sanitizer under test knows.
pub(crate) const KNOWN: &str = "Kn0wn-Value-77";

static SANITIZER: LazyLock<Sanitizer> = LazyLock::new(|| {
    Sanitizer::new(SanitizerOptions {
        secrets: vec![KNOWN.to_owned(), "multi\nline-Kn0wn".to_owned()],
        homes: vec!["/root".to_owned(), "/srv/people/ann/".to_owned()],
        ..SanitizerOptions::default()
    })
});

/// The maximum growth of a text: the longest marker replaces the shortest secret.
const MAX_GROWTH: usize = 16;

/// Checks that sanitizing twice changes nothing, leaves no control character and no known secret, and keeps the text
/// within its maximum growth.
pub(crate) fn sanitizer(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let once = SANITIZER.sanitize(&text);
    assert_eq!(*SANITIZER.sanitize(&once), *once, "sanitizing twice changes nothing");
    assert!(!once.contains(KNOWN));
    assert!(once.len() <= text.len() * MAX_GROWTH, "{} bytes from {}", once.len(), text.len());
    let is_control = |found: char| found.is_control() && !matches!(found, '\n' | '\t' | '\r');
    assert!(!once.contains(is_control));

    for redaction in SANITIZER.inspect(&text) {
        assert_eq!(redaction.count, redaction.ranges.len());
        for range in redaction.ranges {
            assert!(
                text.get(range.clone()).is_some_and(|hit| !hit.is_empty()),
                "{} {range:?}",
                redaction.rule
            );
        }
    }
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
        let clean = SANITIZER.sanitize_json(&value);
        assert_eq!(SANITIZER.sanitize_json(&clean), clean, "sanitizing JSON twice changes nothing");
    }
    let mut draw = Draw::from(bytes);
    let text = &*text;
    let at = (draw.upto(text.len())..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let settled = settled_length(&text[..at]);
    assert!(settled <= at && text.is_char_boundary(settled), "{settled} of {at}");
    let shown = SANITIZER.sanitize_growing(&text[..settled]);
    assert!(
        !shown.contains(&KNOWN[..8])
            || text.replace(KNOWN, "").contains(&KNOWN[..8])
            || once.contains(&KNOWN[..8])
    );
    let limits = TruncateLimits { max_bytes: draw.upto(text.len() + 8), max_lines: draw.upto(12) };
    for cut in [truncate, truncate_head, truncate_tail].map(|form| form(text, limits, Some("/tmp/x"))) {
        assert!(cut.text.len() <= limits.max_bytes, "{limits:?} {cut:?}");
        assert!(cut.text.split_inclusive('\n').count() <= limits.max_lines, "{limits:?} {cut:?}");
        assert!(cut.truncated || cut.text == text, "{limits:?} {cut:?}");
    }
    assert!(once.clip(limits.max_bytes).len() <= limits.max_bytes);
    assert!(once.clip_tail(limits.max_bytes).len() <= limits.max_bytes);
}
