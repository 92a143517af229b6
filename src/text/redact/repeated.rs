//! A value that was redacted once goes wherever else it stands in the same text: `export API_KEY=x`, and later `got x`.
//!
//! Only values of 16 random characters or more, so that no word of the text goes with them. While a text arrives, a value
//! that stands bare before its name is shown until the name has come; from then on it goes everywhere.

use super::literals::Literals;
use super::rule::Edit;
use super::value::judgement::JUDGED;
use super::value::looks::{Look, has_digit, is_made_up, look};

/// A shorter value may be a word that stands elsewhere for itself.
const LEAST: usize = 16;

/// So many different values of a text are looked for, so that the time stays linear.
const MOST: usize = 256;

/// Adds an edit for every place where the value of another edit stands again.
pub(super) fn collect(text: &str, edits: &mut Vec<Edit>) {
    let mut values: Vec<(&str, usize)> = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        values.extend(parts(&text[edit.range.clone()], edit.rule).map(|value| (value, index)));
    }
    values.sort_unstable();
    values.dedup_by_key(|(value, _)| *value);
    values.truncate(MOST);
    let Some(literals) = Literals::new(values.iter().map(|(value, _)| *value)) else { return };
    let places = literals.find_all(text);
    let again = places.into_iter().map(|(value, range)| Edit { range, ..edits[values[value].1].clone() });
    let again: Vec<Edit> = again.collect();
    edits.extend(again);
}

/// The random parts of what was redacted: all of it, or the words of a header.
fn parts<'a>(redacted: &'a str, rule: &str) -> impl Iterator<Item = &'a str> {
    let is_header = matches!(rule, "authorization" | "cookie");
    let ends = move |character: char| is_header && matches!(character, ' ' | ';' | ',' | '"' | '\'');
    let words = redacted.split(ends);
    words
        .flat_map(move |word| {
            let value = word.split_once('=').map(|(_, value)| value).filter(|_| is_header);
            [Some(word), value].into_iter().flatten()
        })
        .filter(|value| is_telling(value))
}

fn is_telling(value: &str) -> bool {
    let judged = &value[..crate::text::floor_char_boundary(value, JUDGED)];
    value.len() >= LEAST
        && !value.contains('\n')
        && has_digit(judged.as_bytes())
        && look(judged) == Look::Random
        && !is_made_up(judged.as_bytes())
}
