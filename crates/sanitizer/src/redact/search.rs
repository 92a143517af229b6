//! Finds words in a text: the triggers of the rules, and exact values.
//!
//! Triggers are found with a table of three-byte hashes, and then by comparing the few words with that hash. An
//! automaton for the same words (aho-corasick) reads prose and code at two thirds of the speed, adds 0.2 MB to the
//! addon, and takes milliseconds to build. In ordinary text the table rules out nearly every position, and its lookups
//! do not wait for each other.
//!
//! A few exact values are searched one after the other, many in one search.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;

/// The size of the table as a power of two. It fits into the first-level cache, and one position in two hundred is a
/// collision.
const BITS: u32 = 14;

/// The factor of the hash. It was chosen from a hundred thousand odd numbers, because it has the fewest collisions
/// between triggers and the grams of English and of code. Most numbers have five times as many.
const SPREAD: u32 = 0x5695_269f;

/// The number of hashed bytes, and the minimum length of a trigger.
pub(crate) const GRAM: usize = 3;

/// The number of grams in eight bytes.
const GRAMS_PER_READ: usize = 8 - GRAM + 1;

/// A word to find.
pub(crate) struct Trigger {
    pub(crate) word: Cow<'static, str>,
    /// Set if capitals and small letters are equal.
    pub(crate) any_case: bool,
}

impl Trigger {
    pub(crate) fn exact(word: impl Into<Cow<'static, str>>) -> Self {
        Self { word: word.into(), any_case: false }
    }

    pub(crate) fn any_case(word: &'static str) -> Self {
        Self { word: word.into(), any_case: true }
    }
}

/// A trigger in its bucket.
struct Entry {
    number: usize,
    trigger: Trigger,
    /// The first eight bytes of the word, of which only the bits in `mask` count. They rule out most words of a bucket
    /// with one comparison: many tokens of one vendor begin with the same letters.
    head: u64,
    mask: u64,
}

impl Entry {
    fn new(number: usize, trigger: Trigger) -> Self {
        let mask =
            |byte: &u8| if trigger.any_case && byte.is_ascii_alphabetic() { !CASE_BIT } else { u8::MAX };
        let mask: Vec<u8> = trigger.word.as_bytes().iter().map(mask).collect();
        let mask = head(&mask);
        Self { number, head: head(trigger.word.as_bytes()) & mask, mask, trigger }
    }

    /// Returns true if the word begins a text with this head.
    fn begins(&self, text: &[u8], head: u64) -> bool {
        let word = self.trigger.word.as_bytes();
        head & self.mask == self.head
            && text.get(..word.len()).is_some_and(|found| match word.len() {
                ..=HEAD => true,
                _ if self.trigger.any_case => found.eq_ignore_ascii_case(word),
                _ => found == word,
            })
    }
}

/// The bit that distinguishes small letters from capitals.
const CASE_BIT: u8 = 0x20;

/// The number of bytes in a head.
const HEAD: usize = size_of::<u64>();

/// The first eight bytes of a text, or zeros after its end.
fn head(text: &[u8]) -> u64 {
    let mut bytes = [0; HEAD];
    match text.first_chunk() {
        Some(first) => bytes = *first,
        None => bytes[..text.len()].copy_from_slice(text),
    }
    u64::from_le_bytes(bytes)
}

/// The compiled words.
pub(crate) struct Triggers {
    /// The number of the bucket for every hash, or 0.
    table: Box<[u8; 1 << BITS]>,
    /// The words of each bucket, the longest first. Bucket 0 is empty.
    buckets: Vec<Vec<Entry>>,
}

impl Triggers {
    /// Compiles the words and numbers them in order. Words that are too short are skipped.
    pub(crate) fn new(words: impl IntoIterator<Item = Trigger>) -> Self {
        let mut words: Vec<(usize, Trigger)> =
            words.into_iter().enumerate().filter(|(_, trigger)| trigger.word.len() >= GRAM).collect();
        words.sort_by_key(|(_, trigger)| usize::MAX - trigger.word.len());
        let mut table = Box::new([0; 1 << BITS]);
        let mut buckets: Vec<Vec<Entry>> = (0..=u8::MAX).map(|_| Vec::new()).collect();
        let mut last = 0;
        for (number, trigger) in words {
            let slot = &mut table[hash(gram(trigger.word.as_bytes()))];
            if *slot == 0 {
                // If there are more grams than bucket numbers, they share buckets evenly, so that each bucket stays
                // short.
                last = last % u8::MAX + 1;
                *slot = last;
            }
            buckets[usize::from(*slot)].push(Entry::new(number, trigger));
        }
        Self { table, buckets }
    }

    /// Returns the next position at or after `from` where a word begins.
    pub(crate) fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            at = self.candidate(bytes, at)?;
            if self.entries_at(bytes, at).next().is_some() {
                return Some(at);
            }
            at += 1;
        }
    }

    /// Returns the next position at or after `from` that the table does not rule out.
    fn candidate(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        // One load gives six positions. Without a branch at each of them, their lookups run in parallel.
        while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
            let eight = u64::from_le_bytes(*eight);
            let slot = |place: usize| self.table[hash(eight >> (8 * place))];
            if slot(0) | slot(1) | slot(2) | slot(3) | slot(4) | slot(5) != 0 {
                return (0..GRAMS_PER_READ).find(|&place| slot(place) != 0).map(|place| at + place);
            }
            at += GRAMS_PER_READ;
        }
        let rest = bytes.get(at..)?;
        rest.windows(GRAM).position(|rest| self.table[hash(gram(rest))] != 0).map(|place| at + place)
    }

    /// Returns the words at a position, the longest first, with their numbers and ranges.
    pub(crate) fn words_at(&self, bytes: &[u8], at: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.entries_at(bytes, at).map(move |entry| (entry.number, at..at + entry.trigger.word.len()))
    }

    fn entries_at(&self, bytes: &[u8], at: usize) -> impl Iterator<Item = &Entry> {
        let text = &bytes[at..];
        let head = head(text);
        let bucket = &self.buckets[usize::from(self.table[hash(gram(text))])];
        bucket.iter().filter(move |entry| entry.begins(text, head))
    }
}

fn gram(bytes: &[u8]) -> u64 {
    u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
}

/// Hashes the lowest three bytes, without the bit that distinguishes small letters from capitals.
fn hash(bytes: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "only the lowest three bytes count")]
    let gram = bytes as u32 & 0x00df_dfdf;
    (gram.wrapping_mul(SPREAD) >> (u32::BITS - BITS)) as usize
}

/// The number of values up to which separate searches, at 10 GB/s each, are as fast as one search for all values.
const MAX_SEPARATE: usize = 8;

/// The maximum length of a value whose overlapping occurrences are all found. For a longer value, the search continues
/// after each occurrence, so that it takes linear time.
const MAX_OVERLAPPING: usize = 512;

/// The values to find, compiled.
pub(crate) enum Literals {
    Few(Vec<Finder<'static>>),
    Many(Triggers),
}

impl Literals {
    /// Compiles the values, which are numbered in order. Returns `None` if there are no values.
    pub(crate) fn new<'a>(values: impl ExactSizeIterator<Item = &'a str>) -> Option<Self> {
        match values.len() {
            0 => None,
            1..=MAX_SEPARATE => {
                Some(Self::Few(values.map(|value| Finder::new(value).into_owned()).collect()))
            }
            _ => Some(Self::Many(Triggers::new(values.map(|value| Trigger::exact(value.to_owned()))))),
        }
    }

    /// Returns every occurrence of a value, in order, with the number of the value. Occurrences may overlap.
    pub(crate) fn find_all(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let bytes = text.as_bytes();
        let step = |length: usize| if length > MAX_OVERLAPPING { length } else { 1 };
        let mut found: Vec<(usize, Range<usize>)> = Vec::new();
        match self {
            Self::Few(finders) => {
                for (number, finder) in finders.iter().enumerate() {
                    let length = finder.needle().len();
                    let mut from = 0;
                    while let Some(at) = bytes.get(from..).and_then(|rest| finder.find(rest)) {
                        found.push((number, from + at..from + at + length));
                        from += at + step(length);
                    }
                }
                found.sort_by_key(|(_, range)| range.start);
            }
            Self::Many(triggers) => {
                let mut from = 0;
                while let Some(place) = triggers.find(bytes, from) {
                    let known = found.len();
                    found.extend(triggers.words_at(bytes, place));
                    from = place + found[known..].first().map_or(1, |(_, range)| step(range.len()));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    fn find(triggers: &Triggers, text: &str) -> Vec<(usize, Range<usize>)> {
        let bytes = text.as_bytes();
        (0..bytes.len().saturating_sub(2))
            .filter(|&at| triggers.find(bytes, at) == Some(at))
            .flat_map(|at| triggers.words_at(bytes, at).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn finds_all_words_at_a_position_longest_first() {
        let mut words: Vec<Trigger> = ["key", "token", "tokens-of"].map(Trigger::any_case).into();
        words.push(Trigger::exact("Key-"));
        let triggers = Triggers::new(words);
        assert_eq!(find(&triggers, "a TOKENS-OF key"), [(2, 2..11), (1, 2..7), (0, 12..15)]);
        assert_eq!(find(&triggers, "key- Key-"), [(0, 0..3), (3, 5..9), (0, 5..8)]);
        assert_eq!(find(&triggers, "toke größe, ke"), []);
    }

    #[test]
    fn compares_every_byte_of_long_words_and_of_signs() {
        let words = ["sk-or-v1-", "sk-or-v1+", "key[", "SESSION_TOKEN"];
        let triggers = Triggers::new(words.map(Trigger::any_case));
        assert_eq!(find(&triggers, "sk-or-v1* SK-OR-V1+"), [(1, 10..19)]);
        assert_eq!(find(&triggers, "key{ KEY["), [(2, 5..9)]);
        assert_eq!(find(&triggers, "session_token session_tok"), [(3, 0..13)]);
        let exact = Triggers::new(words.map(Trigger::exact));
        assert_eq!(find(&exact, "sk-or-V1- Key[ session_TOKEN SESSION_TOKE"), []);
    }

    #[test]
    fn finds_every_word_when_words_share_buckets() {
        let words: Vec<String> = (0..1000).map(|number| format!("w{number:03}x")).collect();
        let triggers = Triggers::new(words.iter().cloned().map(Trigger::exact));
        for (number, word) in words.iter().enumerate() {
            assert_eq!(find(&triggers, word), [(number, 0..word.len())]);
        }
    }

    #[test]
    fn few_and_many_values_give_the_same_result() {
        let text = "abcabcab xyzw abcab xyzxyzxyz";
        let few = ["abcab", "xyz", "abc"];
        let others = (0..MAX_SEPARATE).map(|number| format!("other{number}"));
        let all: Vec<String> = few.map(str::to_owned).into_iter().chain(others).collect();
        let found = |values: &[String]| {
            let mut found =
                Literals::new(values.iter().map(String::as_str)).expect("the list has values").find_all(text);
            found.sort_by_key(|(number, range)| (range.start, *number));
            found
        };
        assert_eq!(found(&all[..few.len()]), found(&all));
        assert_eq!(found(&all).len(), 3 + 4 + 3);
        assert!(Literals::new([].into_iter()).is_none());
    }
}
