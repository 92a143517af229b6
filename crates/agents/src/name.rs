//! Validates names of agents, and derives a valid name if a file states an invalid name or none.
//!
//! A name is a word of a command, a part of a session key and the stem of a file name.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use sanitizer::without_controls;

/// The maximum length of a name in characters. Such a name still fits into lists.
const MAX_NAME_CHARS: usize = 64;
/// The maximum length of a name in bytes. With an extension, such a name still fits into the 255 bytes of a file name.
const MAX_NAME_BYTES: usize = 240;

/// The rule for names, for messages.
pub(super) const NAME_RULE: &str =
    "at most 64 letters, digits, `.`, `_` and `-`, in any script, that starts with a letter or a digit";

/// Returns true if this is a valid agent name. Equal names have equal bytes, because only composed characters (NFC) are
/// valid.
pub fn is_agent_name(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES
        && name.chars().count() <= MAX_NAME_CHARS
        && name.starts_with(char::is_alphanumeric)
        && name.chars().all(is_name_char)
        // Some letters are invisible.
        && without_controls(name) == name
        && name.nfc().eq(name.chars())
}

/// Returns the valid name for a stated name. It is composed (NFC), and has one `-` for each run of characters that are
/// not allowed between letters and digits. Returns `None` if the result is empty, if the name is too long, or if a
/// part of it is invisible.
pub(super) fn valid_name(stated: &str) -> Option<String> {
    if stated.chars().any(char::is_control) || without_controls(stated) != stated {
        return None;
    }
    let composed: String = stated.trim().nfc().collect();
    let parts = composed.split(|c: char| !is_name_char(c)).filter(|part| !part.is_empty());
    let joined = parts.collect::<Vec<_>>().join("-");
    let name = joined.trim_matches(|c: char| !c.is_alphanumeric() && !is_combining_mark(c));
    is_agent_name(name).then(|| name.to_owned())
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_of_any_script() {
        let longest = "研".repeat(64);
        for name in ["a", "A.b_c-1", "1", "研究员", "café", "исследователь", "शोधकर्ता", "باحث", &longest]
        {
            assert!(is_agent_name(name), "{name}");
        }
        let longer = "研".repeat(65);
        let too_many_bytes = "𝒜".repeat(61);
        for name in [
            "",
            " a",
            "a b",
            "a/b",
            "a\\b",
            "../a",
            ".a",
            "-a",
            "a:b",
            "*",
            "a\u{202e}b",
            "a\u{200b}",
            "\u{3164}",
            "cafe\u{301}",
            "a\nb",
            "\u{301}a",
            "ａ／b",
            &longer,
            &too_many_bytes,
        ] {
            assert!(!is_agent_name(name), "{name:?}");
        }
    }

    #[test]
    fn an_invalid_name_becomes_valid_or_is_refused() {
        for (stated, expected) in [
            ("code-reviewer", Some("code-reviewer")),
            (" Frontend  Developer ", Some("Frontend-Developer")),
            ("LSP/Index Engineer", Some("LSP-Index-Engineer")),
            ("SRE (Site Reliability)", Some("SRE-Site-Reliability")),
            ("../x", Some("x")),
            ("cafe\u{301}", Some("café")),
            ("研究 员", Some("研究-员")),
            ("-", None),
            ("", None),
            ("a\u{202e}b", None),
            ("a\u{1b}[31mb", None),
        ] {
            assert_eq!(valid_name(stated).as_deref(), expected, "{stated:?}");
        }
    }
}
