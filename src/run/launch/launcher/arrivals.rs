//! When what a launcher printed has arrived.

use std::time::{Duration, Instant};

/// Notes how much has come, and when.
#[derive(Debug)]
pub(crate) struct Arrivals {
    since: Instant,
    /// The bytes that were there, and how long after the start. Each has a byte more at least, so there are no more than bytes.
    noted: Vec<(usize, Duration)>,
}

impl Arrivals {
    /// Counts from now.
    pub(crate) fn start() -> Self {
        Self { since: Instant::now(), noted: Vec::new() }
    }

    /// So many bytes are there now.
    pub(crate) fn note(&mut self, bytes: usize) {
        self.noted.push((bytes, self.since.elapsed()));
    }

    /// How long after the start the first of these words had arrived in what was `printed`, if they have.
    pub(super) fn of(&self, words: &str, printed: &[u8]) -> Option<Duration> {
        let end = printed.windows(words.len()).position(|seen| seen == words.as_bytes())? + words.len();
        self.noted.iter().find(|(there, _)| *there >= end).map(|(_, since)| *since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_arrived_with_their_last_byte() {
        let [first, second] = [Duration::from_millis(3), Duration::from_millis(8)];
        let arrivals = Arrivals { since: Instant::now(), noted: vec![(5, first), (9, second)] };
        for (words, expected) in [("a ma", Some(first)), ("mark", Some(second)), ("none", None)] {
            assert_eq!(arrivals.of(words, b"a mark ab"), expected, "{words}");
        }
    }
}
