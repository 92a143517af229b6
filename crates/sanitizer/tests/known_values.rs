//! A value that this process knows is redacted in every notation in which a program prints it by accident, also while it arrives.

use sanitizer::{Sanitizer, SanitizerOptions};

/// This number of characters of a value in a row reveals something.
const PART: usize = 8;

/// Values without characters to escape, with all of them, and with line ends.
const VALUES: [&str; 4] = [
    "Kn0wn-Value-77",
    "k9x2\"m4'p7<q1>&Z=z/7+7Qw",
    "pass w\\ord \u{e9}t\u{e9} 77 long enough",
    "line one Kn0wn\nline two Kn0wn-77",
];

fn knowing(value: &str) -> Sanitizer {
    Sanitizer::new(SanitizerOptions { secrets: vec![value.to_owned()], ..SanitizerOptions::default() })
}

fn json(value: &str) -> String {
    let json = serde_json::Value::from(value).to_string();
    json[1..json.len() - 1].to_owned()
}

fn base64(value: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in value.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let sextet = (bits >> (18 - 6 * index)) & 63;
            text.push(if index <= group.len() { char::from(ALPHABET[sextet as usize]) } else { '=' });
        }
    }
    text
}

fn percent(value: &str) -> String {
    value
        .bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

fn html(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// Returns every notation, with the range of the value itself.
fn spellings(value: &str) -> Vec<(String, &'static str)> {
    let hex = value.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    vec![
        (value.to_owned(), "plain"),
        (json(value), "JSON"),
        (json(&json(value)), "JSON in JSON"),
        (html(value), "HTML"),
        (hex.to_uppercase(), "hex in capitals"),
        (hex, "hex"),
        (base64(value.as_bytes()), "base64"),
    ]
}

/// Checks a text after each of its characters.
fn assert_not_shown(sanitizer: &Sanitizer, text: &str, secret: &str, label: &str) {
    let secret: Vec<char> = secret.chars().collect();
    let whole = sanitizer.sanitize(text);
    for (end, _) in text.char_indices() {
        let shown = sanitizer.sanitize_growing(&text[..end]);
        let part = secret.windows(PART).find(|part| {
            let part: String = part.iter().collect();
            let letters = part.chars().filter(|sign| sign.is_alphanumeric()).count();
            letters >= PART / 2 && shown.contains(&part) && !whole.contains(&part)
        });
        assert!(part.is_none(), "{label}: {part:?} in {:?}", &*shown);
    }
}

#[test]
fn each_notation_is_redacted_whole_also_while_it_arrives() {
    for value in VALUES {
        let sanitizer = knowing(value);
        for (spelling, label) in spellings(value) {
            let text = format!("see x=\"{spelling}\" and more");
            assert_eq!(&*sanitizer.sanitize(&text), "see x=\"[REDACTED]\" and more", "{label} of {value:?}");
            assert_not_shown(&sanitizer, &text, &spelling, label);
        }
    }
    let sanitizer = knowing(VALUES[1]);
    assert_eq!(&*sanitizer.sanitize(&format!("?q={}&x", percent(VALUES[1]))), "?q=[REDACTED]&x");
    let twice = percent(&percent(VALUES[1]));
    assert_eq!(&*sanitizer.sanitize(&format!("?q={twice}&x")), "?q=[REDACTED]&x");
    for (value, spelling, label) in [
        (VALUES[1], "k9x2\"m4'\\''p7<q1>&Z=z/7+7Qw", "a shell's single quotes"),
        (VALUES[1], "k9x2\"m4''p7<q1>&Z=z/7+7Qw", "YAML's single quotes"),
        (VALUES[1], "k9x2\\\"m4'p7\\u003cq1\\u003e\\u0026Z=z/7+7Qw", "JSON for HTML"),
        (VALUES[2], "pass w\\\\ord \\u00e9t\\u00e9 77 long enough", "JSON in ASCII"),
    ] {
        let shown = knowing(value).sanitize(&format!("see {spelling} and more"));
        assert_eq!(&*shown, "see [REDACTED] and more", "{label}");
    }
}

#[test]
fn a_value_in_base64_is_redacted_with_any_surroundings() {
    for value in VALUES {
        let sanitizer = knowing(value);
        for before in ["", "u", "us", "user:"] {
            for behind in ["", "\n", "ab", "abc"] {
                let text = base64(format!("{before}{value}{behind}").as_bytes());
                let clean = sanitizer.sanitize(&text);
                // The remaining characters are those around the value.
                let kept = clean.replace("[REDACTED]", "");
                assert!(clean.len() > kept.len(), "{before:?} {behind:?}: {}", &*clean);
                let around = before.len().div_ceil(3) * 4 + behind.len().div_ceil(3) * 4 + 4;
                assert!(kept.len() <= around, "{before:?} {behind:?}: {}", &*clean);
            }
        }
    }
}

#[test]
fn a_wrapped_long_value_is_redacted() {
    for value in VALUES {
        let sanitizer = knowing(value);
        for (spelling, label) in spellings(value) {
            let signs: Vec<char> = spelling.chars().collect();
            // The value begins at the start of a line, or shortly before a line's end.
            for (first, width) in [(16, 16), (20, 20), (33, 33), (64, 64), (1, 19), (4, 16)] {
                for between in ["\n", "\r\n", "\n    ", "\\\n", "=\n", "\\n", "\" +\n  \"", "\n> ", "\n+  "] {
                    if signs.len() <= width || spelling.len() < 16 {
                        continue;
                    }
                    let (begin, rest) = signs.split_at(first);
                    let lines: Vec<String> = [begin]
                        .into_iter()
                        .chain(rest.chunks(width))
                        .map(|line| line.iter().collect())
                        .collect();
                    let wrapped = lines.join(between);
                    let text = format!("see x={wrapped} and more");
                    let label =
                        format!("{label} of {value:?} in lines of {first} and {width} with {between:?}");
                    assert_eq!(&*sanitizer.sanitize(&text), "see x=[REDACTED] and more", "{label}");
                    assert_not_shown(&sanitizer, &text, &spelling, &label);
                }
            }
        }
    }
}

#[test]
fn a_text_that_shares_a_part_with_a_value_stays() {
    let value = "k9x2m4p7q1Zz77Qw0123";
    let sanitizer = knowing(value);
    for text in [
        "k9x2m4p7 is a word of its own",
        "k9x2m4p7q1Zz77Qx0123",
        "k9x2m4p7\nand another line q1Zz77Qw",
        "k9x2m4p7\n\nq1Zz77Qw0123",
        "azl4Mm00cDdx is a part of it in base64",
        "6b3978326d34",
        "abc\ndef\nghi\n",
    ] {
        assert_eq!(&*sanitizer.sanitize(text), text);
    }
}

#[test]
fn a_prefix_of_a_value_stays() {
    let sanitizer = knowing("abcabcabcabcabcabcabcabcabcabc-77");
    let text = "abcabc\nabcabcabc".repeat(4_000);
    assert_eq!(&*sanitizer.sanitize(&text), text);
}
