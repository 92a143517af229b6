//! The data of the rules: names, words and vendors.
//!
//! `names` classifies the words of names, and `words` the words of values. `vendors` lists tokens with a known shape,
//! one row each, and `vendor` defines such a row.

/// Splits one text into a list of words at compile time.
macro_rules! words {
    ($text:literal) => {
        &$crate::redact::tables::split::<{ $crate::redact::tables::count($text) }>($text)
    };
}

pub(crate) mod names;
pub(crate) mod vendor;
pub(crate) mod vendors;
pub(crate) mod words;

/// Returns true if a list contains a word, in capitals or small letters.
pub(crate) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| other.eq_ignore_ascii_case(word))
}

/// Counts the words in a text.
const fn count(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut words = 0;
    while at < bytes.len() {
        let begins = at == 0 || bytes[at - 1].is_ascii_whitespace();
        if begins && !bytes[at].is_ascii_whitespace() {
            words += 1;
        }
        at += 1;
    }
    words
}

/// Returns the `N` words of a text.
const fn split<const N: usize>(text: &str) -> [&str; N] {
    let bytes = text.as_bytes();
    let mut words = [""; N];
    let mut at = 0;
    let mut word = 0;
    while word < N {
        while bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && !bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        words[word] = text.split_at(at).0.split_at(start).1;
        word += 1;
    }
    words
}
