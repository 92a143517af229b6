//! Records when the output of a launcher arrives.

use std::time::{Duration, Instant};

/// The amounts of output, with their times.
#[derive(Debug)]
pub(crate) struct OutputTimestamps {
    since: Instant,
    /// The number of bytes received, and the time since the start. Each entry has more bytes than the one before, so
    /// the list is never longer than the output.
    noted: Vec<(usize, Duration)>,
}

impl OutputTimestamps {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Self { since: Instant::now(), noted: Vec::new() }
    }

    /// Records that this many bytes have been received in total.
    pub(crate) fn note(&mut self, bytes: usize) {
        self.noted.push((bytes, self.since.elapsed()));
    }

    /// Returns the time from the start until the first occurrence of `text` in `printed` had arrived completely, if
    /// there is one.
    pub(super) fn of(&self, text: &str, printed: &[u8]) -> Option<Duration> {
        let end = printed.windows(text.len()).position(|seen| seen == text.as_bytes())? + text.len();
        self.noted.iter().find(|(bytes, _)| *bytes >= end).map(|(_, since)| *since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_as_read_with_its_last_byte() {
        let [first, second] = [Duration::from_millis(3), Duration::from_millis(8)];
        let timestamps = OutputTimestamps { since: Instant::now(), noted: vec![(5, first), (9, second)] };
        for (text, expected) in [("a ma", Some(first)), ("mark", Some(second)), ("none", None)] {
            assert_eq!(timestamps.of(text, b"a mark ab"), expected, "{text}");
        }
    }
}
