//! Keyboard shortcuts in pi's spelling. pi silently ignores an unknown key.

use std::collections::HashSet;

/// The text that means no key.
pub(super) const NO_KEY: &str = "none";

const MODIFIERS: [&str; 4] = ["ctrl", "shift", "alt", "super"];

/// The keys that are not a letter, digit or symbol.
const NAMED_KEYS: [&str; 30] = [
    "escape",
    "esc",
    "enter",
    "return",
    "tab",
    "space",
    "backspace",
    "delete",
    "insert",
    "clear",
    "home",
    "end",
    "pageUp",
    "pageDown",
    "up",
    "down",
    "left",
    "right",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
    "f8",
    "f9",
    "f10",
    "f11",
    "f12",
];

/// Returns true if pi knows a key by this name, with modifiers before it (`ctrl+shift+b`), or if it is [`NO_KEY`].
pub(super) fn is_shortcut(text: &str) -> bool {
    // The key itself may be `+`.
    let before_key = text.strip_suffix('+').unwrap_or(text).rfind('+');
    let (modifiers, key) = before_key.map_or((None, text), |at| (Some(&text[..at]), &text[at + 1..]));
    let mut seen = HashSet::new();
    let is_modified = modifiers
        .is_none_or(|names| names.split('+').all(|name| MODIFIERS.contains(&name) && seen.insert(name)));
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && byte != b'"';
    let is_key = NAMED_KEYS.contains(&key) || matches!(key.as_bytes(), [byte] if is_plain(*byte));
    text == NO_KEY || (is_modified && is_key)
}

#[test]
fn keys_are_spelled_as_pi_spells_them() {
    for right in ["alt+g", "ctrl+shift+b", "super+pageUp", "f8", "g", "alt++", "+", "ctrl+-", "none"] {
        assert!(is_shortcut(right), "{right}");
    }
    for wrong in [
        "alt-g",
        "alt+",
        "Alt+g",
        "alt+G",
        "alt+alt+g",
        "meta+g",
        "alt+none",
        "alt g",
        "",
        "ü",
        "f13",
        "+g",
        "pageup",
    ] {
        assert!(!is_shortcut(wrong), "{wrong}");
    }
}
