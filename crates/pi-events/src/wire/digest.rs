//! A hash of one JSON value of any length, so that two values can be compared without storing them.
//!
//! Strings are hashed as they are written: pi writes the same text in the same way, and decoding it costs more than
//! hashing.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};

use memchr::memmem;
use rustc_hash::FxBuildHasher;

use crate::collected::Refusal;
use sanitizer::json::skim::{Kind, Verdict, Word};

/// The text that pi's `bash` writes before the path of a long output. The path differs each time.
const OUTPUT_FILE: &[u8] = b"Full output: ";
/// The size of a hashed block. The last one to two blocks of a text are searched for that path, and for the reason why a command
/// failed.
const TAIL_BYTES: usize = 512;

/// The kernel's refusals as texts in the output of a command, the most specific last.
const REFUSALS: [(&[u8], Refusal); 2] =
    [(b"Permission denied", Refusal::Denied), (b"Read-only file system", Refusal::ReadOnly)];

/// Hashes one value from the calls of the skimmer. The order of keys and white space do not matter.
#[derive(Debug, Default)]
pub(super) struct Digest {
    /// Containers that are open, outermost first.
    open: Vec<Container>,
    /// The hash of the text so far, without its tail.
    text: u64,
    /// The newest part of the text, not hashed yet.
    tail: Vec<u8>,
    done: Option<u64>,
}

#[derive(Debug)]
struct Container {
    /// True for an object: the hashes of its entries are added up. The hashes of an array's entries are chained.
    is_object: bool,
    hash: u64,
    /// The hash of the current key.
    key: u64,
}

impl Digest {
    /// Forgets a value that was cut off. The text begins anew with each string; this runs for every record.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.tail.clear();
        self.done = None;
    }

    /// Returns the hash of the value that has ended.
    pub(super) fn take(&mut self) -> Option<u64> {
        self.done.take()
    }

    /// Returns the refusal named at the end of the current text. Call it before [`Self::text_end`].
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let is_named = |(message, _): &&(&[u8], Refusal)| memmem::find(&self.tail, message).is_some();
        REFUSALS.iter().rev().find(is_named).map(|(_, refusal)| *refusal)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn key(&mut self, key: &str) -> Verdict {
        if let Some(container) = self.open.last_mut() {
            container.key = hash_of(key);
        }
        Verdict::Take
    }

    pub(super) fn value(&mut self, kind: Kind) -> Verdict {
        match kind {
            Kind::Object => self.open.push(Container { is_object: true, hash: 1, key: 0 }),
            Kind::Array => self.open.push(Container { is_object: false, hash: 2, key: 0 }),
            Kind::String => {
                self.text = 0;
                self.tail.clear();
                return Verdict::Raw;
            }
            Kind::Word => {}
        }
        Verdict::Take
    }

    pub(super) fn text(&mut self, part: &[u8]) {
        for part in part.chunks(16 * TAIL_BYTES) {
            self.tail.extend_from_slice(part);
            // Always whole blocks, so that the parts in which a text arrives do not matter.
            let hashed = (self.tail.len() / TAIL_BYTES).saturating_sub(1) * TAIL_BYTES;
            for block in self.tail[..hashed].chunks(TAIL_BYTES) {
                self.text = FxBuildHasher.hash_one((self.text, block));
            }
            self.tail.drain(..hashed);
        }
    }

    pub(super) fn text_end(&mut self) {
        let path = memmem::rfind(&self.tail, OUTPUT_FILE).map(|at| at + OUTPUT_FILE.len());
        let rest = &self.tail[..path.unwrap_or(self.tail.len())];
        let hash = FxBuildHasher.hash_one((self.text, rest));
        self.tail.clear();
        self.place(hash);
    }

    pub(super) fn word(&mut self, word: Word<'_>) {
        self.place(match word {
            Word::Null => 3,
            Word::Bool(value) => hash_of(&value),
            Word::Number(number) => hash_of(&("number", number)),
        });
    }

    pub(super) fn close(&mut self) {
        if let Some(container) = self.open.pop() {
            self.place(container.hash);
        }
    }

    fn place(&mut self, value: u64) {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some(Container { is_object: true, hash, key }) => {
                *hash = hash.wrapping_add(hash_of(&(*key, value)));
            }
            Some(Container { is_object: false, hash, .. }) => *hash = hash_of(&(*hash, value)),
        }
    }
}

/// Returns a hash that is the same in every process.
pub(crate) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str, part: usize) -> Option<u64> {
        let mut digest = Digest::default();
        digest.value(Kind::String);
        for part in text.as_bytes().chunks(part) {
            digest.text(part);
        }
        digest.text_end();
        digest.take()
    }

    #[test]
    fn any_chunking_gives_the_same_hash_and_output_file_names_do_not_count() {
        for length in [0, 1, 511, 512, 513, 1024, 1025, 1026, 5000] {
            let text = "0123456789".repeat(600)[..length].to_owned();
            for part in [1, 7, 511, 512, 513, 1024, 1025, 10_000] {
                let whole = digest(&text, 100_000);
                assert_eq!(digest(&text, part), whole, "{length} bytes in parts of {part}");
                let other = format!("{text} Full output: /tmp/other.log]");
                assert_eq!(digest(&other, part), digest(&format!("{text} Full output: /tmp/one.log]"), 3));
                assert_ne!(digest(&format!("{text}x"), part), whole, "{length} bytes and one more");
            }
        }
    }
}
