//! Numbers that follow from the bytes under test.

/// A small generator, seeded with the bytes, so that a failure can be reproduced.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn from(bytes: &[u8]) -> Self {
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(0xcbf2_9ce4_8422_2325, hash) | 1)
    }

    /// Returns a number from 0 to `most`.
    pub(super) fn upto(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).unwrap_or(usize::MAX) % (most + 1)
    }

    /// Returns the bytes in pieces of 0 to `most` bytes.
    pub(super) fn chunks<'a>(&mut self, mut bytes: &'a [u8], most: usize) -> Vec<&'a [u8]> {
        let mut chunks = Vec::new();
        while !bytes.is_empty() {
            let (chunk, rest) = bytes.split_at(self.upto(most).min(bytes.len()));
            chunks.push(chunk);
            bytes = rest;
        }
        chunks
    }
}
