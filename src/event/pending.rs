//! A bounded queue of items to be taken.

use std::collections::VecDeque;

/// The newest items that were pushed and not taken yet.
#[derive(Debug)]
pub(super) struct Pending<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    most: usize,
    most_bytes: usize,
}

impl<T> Pending<T> {
    /// Holds at most `most` items with `most_bytes` together; a single item always fits.
    pub(super) const fn new(most: usize, most_bytes: usize) -> Self {
        Self { items: VecDeque::new(), bytes: 0, most, most_bytes }
    }

    /// Adds an item of this size and returns the older ones that it displaced.
    pub(super) fn push(&mut self, item: T, bytes: usize) -> Vec<T> {
        self.items.push_back((item, bytes));
        self.bytes += bytes;
        let mut dropped = Vec::new();
        while self.items.len() > 1 && (self.items.len() > self.most || self.bytes > self.most_bytes) {
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

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes + self.items.capacity() * size_of::<(T, usize)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_makes_room() {
        let mut pending = Pending::new(3, 100);
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
