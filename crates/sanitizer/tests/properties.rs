//! Properties that hold for every text.

use proptest::prelude::*;

use crate::sanitize::knowing;

/// Pieces that meet each other in generated text.
const FRAGMENTS: &[&str] = &[
    "\x1b[31m",
    "\x1b[0m",
    "\x1b]0;t\x07",
    "\x1b]8;;",
    "\r",
    "\r\n",
    "\n",
    " ",
    "\t",
    "\0",
    "\u{202e}",
    "\u{9b}1m",
    "[",
    "]",
    "[REDACTED]",
    "api_key",
    "=",
    ": ",
    "\"",
    "'",
    "\\",
    "\\\"",
    "\\n",
    "password",
    "token",
    "Authorization: ",
    "Bearer ",
    "Basic ",
    "Cookie: ",
    "a=b",
    "key",
    "k9x2m4p7q1Zz",
    "hunter2",
    "Kn0wn-",
    "Value-77",
    "gh",
    "p_",
    "x9Kq2Lm7Vb4Tn8Rw3Yp",
    "eyJ",
    "sk-",
    "://",
    "user:",
    "@host",
    "?",
    "&",
    ";",
    "/home/",
    "/root",
    "ann",
    "/x",
    "~",
    "C:\\Users\\",
    "    at f (a.js:1:2)\n",
    "  File \"a\", line 1, in f\n",
    "   0: a::b\n",
    "-----BEGIN ",
    "-----END ",
    "RSA PRIVATE KEY-----",
    "MIIEowIBAAKCAQEA0Z3VS5JJ\n",
    "漢",
    "<",
    ">",
    "</password>",
    "--token ",
    "curl -u ",
    ",",
    "$",
    "{",
    "}",
    "(",
    ")",
    "AKIA",
    "ABCDEFGHIJ234567",
    "\n  ",
    "\n    ",
    "|",
    ">-",
    "<<EOT",
    "EOT",
    "<key>",
    "</key>",
    "<string>",
    "</string>",
    "%3D",
    "%22",
    "%26",
    "\\u003d",
    "\\u0022",
    "&quot;",
    "&lt;",
    "&amp;",
    "[0]",
    "PWD",
    "''",
    "kind: Secret",
    "data:",
    "a: b1",
    "\"kind\":\"Secret\"",
    "\"data\":{",
    "---",
    "- ",
    "eyJwYXNzd29yZCI6Ims5eDJt",
    "NHA3cTFaeiJ9",
    ".",
    "-",
    "_",
    "1",
];

fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![10 => proptest::sample::select(FRAGMENTS.to_vec()).prop_map(str::to_owned), 1 => "[ -~]{0,12}", 1 => "\\PC{0,4}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sanitizing_twice_changes_nothing(pieces in proptest::collection::vec(fragment(), 0..40)) {
        let sanitizer = knowing();
        let once = sanitizer.sanitize(&pieces.concat());
        let twice = sanitizer.sanitize(&once);
        prop_assert_eq!(&*twice, &*once);
    }

    #[test]
    fn no_known_secret_survives(pieces in proptest::collection::vec(fragment(), 0..20), at in 0_usize..20, cut in 1_usize..13) {
        let mut pieces = pieces;
        let (head, tail) = "Kn0wn-Value-77".split_at(cut);
        pieces.insert(at.min(pieces.len()), format!("{head}\x1b[0m{tail}"));
        let once = knowing().sanitize(&pieces.concat());
        prop_assert!(!once.contains("Kn0wn-Value-77"));
        prop_assert!(!once.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t' | '\r')));
    }

    #[test]
    fn inspection_counts_its_ranges(pieces in proptest::collection::vec(fragment(), 0..20)) {
        let text = pieces.concat();
        for redaction in knowing().inspect(&text) {
            prop_assert_eq!(redaction.count, redaction.ranges.len());
            prop_assert!(redaction.ranges.iter().all(|range| text.get(range.clone()).is_some_and(|hit| !hit.is_empty())));
        }
    }
}
