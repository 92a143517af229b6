//! Data only: what the rules know of names, words and vendors.
//!
//! `names` holds what the words of a name mean, `words` what the words of a value mean, and `vendors` the tokens that
//! are known by their shape, one row each; `vendor` is what such a row can say.

/// A list of words as one text, split at compile time.
macro_rules! words {
    ($text:literal) => {
        &$crate::text::redact::tables::split::<{ $crate::text::redact::tables::count($text) }>($text)
    };
}

pub(crate) mod names;
pub(crate) mod vendor;
pub(crate) mod vendors;
pub(crate) mod words;

/// Whether a list has a word, in capitals or small letters.
pub(crate) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| other.eq_ignore_ascii_case(word))
}

/// The number of words in a text.
const fn count(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut words) = (0, 0);
    while at < bytes.len() {
        let begins = at == 0 || bytes[at - 1].is_ascii_whitespace();
        if begins && !bytes[at].is_ascii_whitespace() {
            words += 1;
        }
        at += 1;
    }
    words
}

/// The words of a text, which has `N` of them.
const fn split<const N: usize>(text: &str) -> [&str; N] {
    let bytes = text.as_bytes();
    let mut words = [""; N];
    let (mut at, mut word) = (0, 0);
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
