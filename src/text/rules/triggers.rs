//! Finding triggers: a table of three-byte hashes first, the few words behind a hit second.
//!
//! An automaton for the same words reads 300 to 490 MB/s; the table reads 1000 to 1500, because nearly no place in
//! ordinary text gets past it.

use std::ops::Range;

/// Size of the table as a power of two: it stays in the first-level cache, and one place in two hundred is a collision.
const BITS: u32 = 14;

/// The bytes that are hashed, and the shortest trigger.
pub(super) const GRAM: usize = 3;

/// Words to find, whatever their case; at one place the longest wins.
pub(super) struct Triggers {
    words: Vec<String>,
    /// For every hash the number of its bucket, or 0.
    table: Box<[u8]>,
    /// Indexes into `words`; bucket 0 is empty.
    buckets: Vec<Vec<u16>>,
}

impl Triggers {
    /// Words that are too short to be found are passed over.
    pub(super) fn new(words: Vec<String>) -> Self {
        let mut order: Vec<usize> = (0..words.len()).filter(|&index| words[index].len() >= GRAM).collect();
        order.sort_by_key(|&index| usize::MAX - words[index].len());
        let mut table = vec![0; 1 << BITS].into_boxed_slice();
        let mut buckets: Vec<Vec<u16>> = vec![Vec::new()];
        for index in order {
            let bytes = words[index].as_bytes();
            let slot = &mut table[hash([bytes[0], bytes[1], bytes[2], 0])];
            if *slot == 0 {
                // Past the last number, words share the last bucket; what is found stays right.
                *slot = u8::try_from(buckets.len()).unwrap_or(u8::MAX);
                if u8::try_from(buckets.len()).is_ok() {
                    buckets.push(Vec::new());
                }
            }
            buckets[usize::from(*slot)].push(u16::try_from(index).expect("a few hundred triggers"));
        }
        Self { words, table, buckets }
    }

    /// The first trigger at or after `from`: its number and its range.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<(usize, Range<usize>)> {
        let mut at = from;
        loop {
            at = self.candidate(bytes, at)?;
            let bucket =
                &self.buckets[usize::from(self.table[hash([bytes[at], bytes[at + 1], bytes[at + 2], 0])])];
            let hit = bucket.iter().map(|&index| usize::from(index)).find(|&index| {
                let word = self.words[index].as_bytes();
                bytes.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
            });
            if let Some(index) = hit {
                return Some((index, at..at + self.words[index].len()));
            }
            at += 1;
        }
    }

    /// The next place at or after `from` that the table does not rule out.
    fn candidate(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = bytes.get(from..)?;
        // Four bytes at a time are one load; the last place has only three.
        let is_candidate = |gram: [u8; 4]| self.table[hash(gram)] != 0;
        let inner = rest.windows(4).position(|four| is_candidate([four[0], four[1], four[2], four[3]]));
        let skipped = match inner {
            Some(skipped) => skipped,
            None => rest
                .len()
                .checked_sub(GRAM)
                .filter(|&last| is_candidate([rest[last], rest[last + 1], rest[last + 2], 0]))?,
        };
        Some(from + skipped)
    }
}

/// Hashes the first three of four bytes, without the bit that tells small letters from capitals.
fn hash(bytes: [u8; 4]) -> usize {
    let gram = u32::from_le_bytes(bytes) & 0x00df_dfdf;
    (gram.wrapping_mul(0x9e37_79b1) >> (u32::BITS - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::Triggers;

    #[test]
    fn finds_the_longest_word_at_the_first_place() {
        let words = ["key", "token", "tokens-of", "://"].map(str::to_owned).to_vec();
        let triggers = Triggers::new(words);
        assert_eq!(triggers.find(b"a TOKENS-OF key", 0), Some((2, 2..11)));
        assert_eq!(triggers.find(b"a TOKENS-OF key", 3), Some((0, 12..15)));
        assert_eq!(triggers.find(b"http://", 0), Some((3, 4..7)));
        assert_eq!(triggers.find(b"toke", 0), None);
        assert_eq!(triggers.find("größe, ke".as_bytes(), 0), None);
    }
}
