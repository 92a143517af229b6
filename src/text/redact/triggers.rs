//! Finding triggers: a table of three-byte hashes first, the few words behind a hit second.
//!
//! An automaton for the same words (aho-corasick) reads prose and code at two thirds of the speed, adds 0.2 MB to the
//! addon, and takes milliseconds to build. Nearly no place in ordinary text gets past the table, and its lookups do
//! not wait for each other.

use std::borrow::Cow;
use std::ops::Range;

/// Size of the table as a power of two: it stays in the first-level cache, and one place in two hundred is a collision.
const BITS: u32 = 14;

/// The factor of the hash: of a hundred thousand odd numbers the one with which the fewest grams of English and of code
/// share a place with a trigger. Most numbers have five times as many.
const SPREAD: u32 = 0x5695_269f;

/// The bytes that are hashed, and the shortest trigger.
pub(crate) const GRAM: usize = 3;

/// Places that eight bytes have for a gram.
const PLACES: usize = 8 - GRAM + 1;

/// A word to find.
pub(crate) struct Trigger {
    pub(crate) word: Cow<'static, str>,
    /// Whether capitals and small letters count as the same.
    pub(crate) any_case: bool,
}

impl Trigger {
    pub(crate) fn exact(word: impl Into<Cow<'static, str>>) -> Self {
        Self { word: word.into(), any_case: false }
    }

    pub(crate) fn any_case(word: &'static str) -> Self {
        Self { word: word.into(), any_case: true }
    }

    fn stands_at(&self, bytes: &[u8], at: usize) -> bool {
        let word = self.word.as_bytes();
        // The case is looked at last: few words get so far.
        bytes
            .get(at..at + word.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(word) && (self.any_case || found == word))
    }
}

/// The words to find, compiled.
pub(crate) struct Triggers {
    /// For every hash the number of its bucket, or 0.
    table: Box<[u8; 1 << BITS]>,
    /// The words of each bucket and their numbers, the longest first; bucket 0 is empty.
    buckets: Vec<Vec<(usize, Trigger)>>,
}

impl Triggers {
    /// The words are numbered in their order. Those that are too short to be found are passed over.
    pub(crate) fn new(words: impl IntoIterator<Item = Trigger>) -> Self {
        let mut words: Vec<(usize, Trigger)> =
            words.into_iter().enumerate().filter(|(_, trigger)| trigger.word.len() >= GRAM).collect();
        words.sort_by_key(|(_, trigger)| usize::MAX - trigger.word.len());
        let mut table = Box::new([0; 1 << BITS]);
        let mut buckets: Vec<Vec<(usize, Trigger)>> = (0..=u8::MAX).map(|_| Vec::new()).collect();
        let mut last = 0;
        for word in words {
            let slot = &mut table[hash(gram(word.1.word.as_bytes()))];
            if *slot == 0 {
                // More grams than numbers share buckets evenly, so that each stays short.
                last = last % u8::MAX + 1;
                *slot = last;
            }
            buckets[usize::from(*slot)].push(word);
        }
        Self { table, buckets }
    }

    /// The next place at or after `from` where a word stands.
    pub(crate) fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            at = self.candidate(bytes, at)?;
            if self.bucket(bytes, at).iter().any(|(_, word)| word.stands_at(bytes, at)) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// The next place at or after `from` that the table does not rule out.
    fn candidate(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        // One load gives six places, and without a branch at each of them their lookups run side by side.
        while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
            let eight = u64::from_le_bytes(*eight);
            let slot = |place: usize| self.table[hash(eight >> (8 * place))];
            if slot(0) | slot(1) | slot(2) | slot(3) | slot(4) | slot(5) != 0 {
                return (0..PLACES).find(|&place| slot(place) != 0).map(|place| at + place);
            }
            at += PLACES;
        }
        let rest = bytes.get(at..)?;
        rest.windows(GRAM).position(|rest| self.table[hash(gram(rest))] != 0).map(|place| at + place)
    }

    /// The words that stand at a place that was found, the longest first: their numbers and their ranges.
    pub(crate) fn words_at(&self, bytes: &[u8], at: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let found = self.bucket(bytes, at).iter().filter(move |(_, word)| word.stands_at(bytes, at));
        found.map(move |(number, trigger)| (*number, at..at + trigger.word.len()))
    }

    fn bucket(&self, bytes: &[u8], at: usize) -> &[(usize, Trigger)] {
        &self.buckets[usize::from(self.table[hash(gram(&bytes[at..]))])]
    }
}

fn gram(bytes: &[u8]) -> u64 {
    u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
}

/// Hashes the lowest three bytes, without the bit that tells small letters from capitals.
fn hash(bytes: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "only the lowest three bytes count")]
    let gram = bytes as u32 & 0x00df_dfdf;
    (gram.wrapping_mul(SPREAD) >> (u32::BITS - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{Trigger, Triggers};

    fn find(triggers: &Triggers, text: &str) -> Vec<(usize, Range<usize>)> {
        let bytes = text.as_bytes();
        (0..bytes.len().saturating_sub(2))
            .filter(|&at| triggers.find(bytes, at) == Some(at))
            .flat_map(|at| triggers.words_at(bytes, at).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn finds_the_words_of_a_place_and_the_longest_first() {
        let mut words: Vec<Trigger> = ["key", "token", "tokens-of"].map(Trigger::any_case).into();
        words.push(Trigger::exact("Key-"));
        let triggers = Triggers::new(words);
        assert_eq!(find(&triggers, "a TOKENS-OF key"), [(2, 2..11), (1, 2..7), (0, 12..15)]);
        assert_eq!(find(&triggers, "key- Key-"), [(0, 0..3), (3, 5..9), (0, 5..8)]);
        assert_eq!(find(&triggers, "toke größe, ke"), []);
    }

    #[test]
    fn finds_each_of_more_words_than_there_are_buckets() {
        let words: Vec<String> = (0..1000).map(|number| format!("w{number:03}x")).collect();
        let triggers = Triggers::new(words.iter().cloned().map(Trigger::exact));
        for (number, word) in words.iter().enumerate() {
            assert_eq!(find(&triggers, word), [(number, 0..word.len())]);
        }
    }
}
