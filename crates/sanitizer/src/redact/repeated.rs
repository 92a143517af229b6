//! Redacts further occurrences of a redacted value in the same text: `export API_KEY=x`, and later `got x`.
//!
//! Only values of at least 16 random characters count, so that ordinary words stay. While a text arrives, a bare value
//! before its name is visible until the name has arrived. After that it is redacted everywhere.

use super::literals::Literals;
use super::rule::Edit;
use super::value::judgement::JUDGED;
use super::value::shape::{Shape, has_digit, is_made_up, shape_of};

/// The minimum length of a value, in bytes. A shorter value may be an ordinary word.
const MIN_BYTES: usize = 16;

/// The maximum number of different values that are searched in a text, so that the time stays linear.
const MAX_VALUES: usize = 256;

/// Adds an edit for every further occurrence of the value of another edit.
pub(super) fn collect(text: &str, edits: &mut Vec<Edit>) {
    let mut values: Vec<(&str, usize)> = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        values.extend(parts(&text[edit.range.clone()], edit.rule).map(|value| (value, index)));
    }
    values.sort_unstable();
    values.dedup_by_key(|(value, _)| *value);
    values.truncate(MAX_VALUES);
    let Some(literals) = Literals::new(values.iter().map(|(value, _)| *value)) else { return };
    let places = literals.find_all(text);
    let again = places.into_iter().map(|(value, range)| Edit { range, ..edits[values[value].1].clone() });
    let again: Vec<Edit> = again.collect();
    edits.extend(again);
}

/// Returns the random parts of a redacted text: all of it, or the words of a header.
fn parts<'a>(redacted: &'a str, rule: &str) -> impl Iterator<Item = &'a str> {
    let is_header = matches!(rule, "authorization" | "cookie");
    let ends = move |character: char| is_header && matches!(character, ' ' | ';' | ',' | '"' | '\'');
    let words = redacted.split(ends);
    words
        .flat_map(move |word| {
            let value = word.split_once('=').map(|(_, value)| value).filter(|_| is_header);
            [Some(word), value].into_iter().flatten()
        })
        .filter(|value| is_random(value))
}

fn is_random(value: &str) -> bool {
    let judged = &value[..crate::floor_char_boundary(value, JUDGED)];
    value.len() >= MIN_BYTES
        && !value.contains('\n')
        && has_digit(judged.as_bytes())
        && shape_of(judged) == Shape::Random
        && !is_made_up(judged.as_bytes())
}
