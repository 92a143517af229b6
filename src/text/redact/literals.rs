//! Finding exact values: a few one after the other, many by one search for all.

use std::ops::Range;

use memchr::memmem::Finder;

use super::triggers::{Trigger, Triggers};

/// So many searches for one value each, which read 10 GB/s, take no longer than the one for all.
const FEW: usize = 8;

/// An occurrence of a longer value that begins within another one is not looked for, so that the time stays linear.
const OVERLAPPING: usize = 512;

/// The values to find, compiled.
pub(crate) enum Literals {
    Few(Vec<Finder<'static>>),
    Many(Triggers),
}

impl Literals {
    /// `None` when there is nothing to find. The values are numbered in their order.
    pub(crate) fn new<'a>(values: impl ExactSizeIterator<Item = &'a str>) -> Option<Self> {
        match values.len() {
            0 => None,
            1..=FEW => Some(Self::Few(values.map(|value| Finder::new(value).into_owned()).collect())),
            _ => Some(Self::Many(Triggers::new(values.map(|value| Trigger::exact(value.to_owned()))))),
        }
    }

    /// Every place where a value stands, in order, with the number of the value. They may overlap.
    pub(crate) fn find_all(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let bytes = text.as_bytes();
        let step = |length: usize| if length > OVERLAPPING { length } else { 1 };
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
    use super::*;

    #[test]
    fn few_values_and_many_are_found_alike() {
        let text = "abcabcab xyzw abcab xyzxyzxyz";
        let few = ["abcab", "xyz", "abc"];
        let others = (0..FEW).map(|number| format!("other{number}"));
        let all: Vec<String> = few.map(str::to_owned).into_iter().chain(others).collect();
        let found = |values: &[String]| {
            let mut found = Literals::new(values.iter().map(String::as_str)).expect("values").find_all(text);
            found.sort_by_key(|(number, range)| (range.start, *number));
            found
        };
        assert_eq!(found(&all[..few.len()]), found(&all));
        assert_eq!(found(&all).len(), 3 + 4 + 3);
        assert!(Literals::new([].into_iter()).is_none());
    }
}
