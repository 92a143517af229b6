//! The newest of many items.

use std::mem::take;

/// An item with a size.
pub(super) trait Measured {
    fn bytes(&self) -> usize;
}

impl Measured for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

/// The newest items that were pushed and not taken yet: at most `MAX_ITEMS` items with `MAX_BYTES` together. A single item
/// may have any size.
#[derive(Debug, Clone)]
pub(super) struct Newest<T, const MAX_ITEMS: usize, const MAX_BYTES: usize> {
    /// Oldest first.
    pub(super) items: Vec<T>,
    sizes: Vec<usize>,
}

impl<T, const MAX_ITEMS: usize, const MAX_BYTES: usize> Default for Newest<T, MAX_ITEMS, MAX_BYTES> {
    fn default() -> Self {
        Self { items: Vec::new(), sizes: Vec::new() }
    }
}

impl<T: Measured, const MAX_ITEMS: usize, const MAX_BYTES: usize> Newest<T, MAX_ITEMS, MAX_BYTES> {
    /// Adds an item and returns the older items that it displaced.
    pub(crate) fn push(&mut self, item: T) -> Vec<T> {
        self.sizes.push(item.bytes());
        self.items.push(item);
        let mut bytes: usize = self.sizes.iter().sum();
        let mut surplus = 0;
        while self.items.len() - surplus > 1 && (self.items.len() - surplus > MAX_ITEMS || bytes > MAX_BYTES)
        {
            bytes -= self.sizes[surplus];
            surplus += 1;
        }
        self.sizes.drain(..surplus);
        self.items.drain(..surplus).collect()
    }

    /// Takes all items.
    pub(crate) fn take(&mut self) -> Vec<T> {
        self.sizes.clear();
        take(&mut self.items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An item of this name and size.
    #[derive(Debug, PartialEq)]
    struct Item(u32, usize);

    impl Measured for Item {
        fn bytes(&self) -> usize {
            self.1
        }
    }

    #[test]
    fn the_oldest_item_is_removed_first() {
        let mut newest = Newest::<Item, 3, 100>::default();
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
            let displaced: Vec<u32> = newest.push(Item(*item, *bytes)).iter().map(|item| item.0).collect();
            assert_eq!(displaced, *dropped, "item {item}");
        }
        assert_eq!(newest.take(), [Item(7, 1)]);
        assert!(newest.take().is_empty());
        assert!(newest.push(Item(8, 99)).is_empty(), "taken items do not count towards the limit");
    }
}
