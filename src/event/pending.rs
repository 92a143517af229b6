//! A bounded queue of items to be taken.

use std::collections::VecDeque;

/// The newest items that were pushed and not taken yet: at most `MOST` with `MOST_BYTES` together, and a single one of any
/// size.
#[derive(Debug)]
pub(super) struct Pending<T, const MOST: usize, const MOST_BYTES: usize> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
}

impl<T, const MOST: usize, const MOST_BYTES: usize> Default for Pending<T, MOST, MOST_BYTES> {
    fn default() -> Self {
        Self { items: VecDeque::new(), bytes: 0 }
    }
}

impl<T, const MOST: usize, const MOST_BYTES: usize> Pending<T, MOST, MOST_BYTES> {
    /// Adds an item of this size and returns the older ones that it displaced.
    pub(super) fn push(&mut self, item: T, bytes: usize) -> Vec<T> {
        self.items.push_back((item, bytes));
        self.bytes += bytes;
        let mut dropped = Vec::new();
        while self.items.len() > 1 && (self.items.len() > MOST || self.bytes > MOST_BYTES) {
            if let Some((item, bytes)) = self.items.pop_front() {
                self.bytes -= bytes;
                dropped.push(item);
            }
        }
        dropped
    }

    /// Takes all items, oldest first.
    pub(super) fn take(&mut self) -> Vec<T> {
        self.bytes = 0;
        self.items.drain(..).map(|(item, _)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_makes_room() {
        let mut pending = Pending::<u32, 3, 100>::default();
        let cases: &[(u32, usize, &[u32])] = &[
            (1, 10, &[]),
            (2, 10, &[]),
            (3, 10, &[]),
            (4, 10, &[1]),
            (5, 85, &[2, 3]),
            (6, 1000, &[4, 5]),
            (7, 1, &[6]),
        ];
        for (item, bytes, dropped) in cases {
            assert_eq!(pending.push(*item, *bytes), *dropped, "item {item}");
        }
        assert_eq!(pending.take(), [7]);
        assert!(pending.take().is_empty());
        assert!(pending.push(8, 99).is_empty(), "what was taken takes no room");
    }
}
