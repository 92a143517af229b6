//! Finds exact values: a few one after the other, many in one search.

use std::ops::Range;

use memchr::memmem::Finder;

use super::triggers::{Trigger, Triggers};

/// The number of values up to which separate searches, at 10 GB/s each, are as fast as one search for all values.
const MAX_SEPARATE: usize = 8;

/// The maximum length of a value whose overlapping occurrences are all found. For a longer value, the search continues
/// after each occurrence, so that it takes linear time.
const MAX_OVERLAPPING: usize = 512;

/// The values to find, compiled.
pub(crate) enum Literals {
    Few(Vec<Finder<'static>>),
    Many(Triggers),
}

impl Literals {
    /// Compiles the values, which are numbered in order. Returns `None` if there are no values.
    pub(crate) fn new<'a>(values: impl ExactSizeIterator<Item = &'a str>) -> Option<Self> {
        match values.len() {
            0 => None,
            1..=MAX_SEPARATE => {
                Some(Self::Few(values.map(|value| Finder::new(value).into_owned()).collect()))
            }
            _ => Some(Self::Many(Triggers::new(values.map(|value| Trigger::exact(value.to_owned()))))),
        }
    }

    /// Returns every occurrence of a value, in order, with the number of the value. Occurrences may overlap.
    pub(crate) fn find_all(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let bytes = text.as_bytes();
        let step = |length: usize| if length > MAX_OVERLAPPING { length } else { 1 };
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
    fn few_and_many_values_give_the_same_result() {
        let text = "abcabcab xyzw abcab xyzxyzxyz";
        let few = ["abcab", "xyz", "abc"];
        let others = (0..MAX_SEPARATE).map(|number| format!("other{number}"));
        let all: Vec<String> = few.map(str::to_owned).into_iter().chain(others).collect();
        let found = |values: &[String]| {
            let mut found =
                Literals::new(values.iter().map(String::as_str)).expect("the list has values").find_all(text);
            found.sort_by_key(|(number, range)| (range.start, *number));
            found
        };
        assert_eq!(found(&all[..few.len()]), found(&all));
        assert_eq!(found(&all).len(), 3 + 4 + 3);
        assert!(Literals::new([].into_iter()).is_none());
    }
}
