//! Marks where somebody else's words begin and end.

use std::borrow::Cow;

/// Length of the shortest fence.
const SHORTEST: usize = 3;
/// Backticks in a row that stay in the words; nobody needs more, and a fence is longer than any of them.
const LONGEST_RUN: usize = 16;
/// The most bytes that a fence adds to the words.
pub(crate) const FENCE_BYTES: usize = 2 * (LONGEST_RUN + 1) + "text\n\n".len();

/// Puts text into a fence longer than any inside it, so that nothing inside can end it.
pub(crate) fn fenced(words: &str) -> String {
    fenced_as("text", words)
}

/// The same, for words in this language.
pub(crate) fn fenced_as(language: &str, words: &str) -> String {
    let longest = |words: &str| words.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let words =
        if longest(words) > LONGEST_RUN { Cow::Owned(shortened(words)) } else { Cow::Borrowed(words) };
    let fence = "`".repeat(SHORTEST.max(longest(&words) + 1));
    format!("{fence}{language}\n{}\n{fence}", words.trim_end_matches('\n'))
}

/// The text with no more than [`LONGEST_RUN`] backticks in a row.
fn shortened(words: &str) -> String {
    let mut run = 0;
    let stays = |letter: &char| {
        run = if *letter == '`' { run + 1 } else { 0 };
        run <= LONGEST_RUN
    };
    words.chars().filter(stays).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_inside_ends_a_fence_and_a_fence_is_never_long() {
        for (words, fence) in [("a", 3), ("```\nb\n```", 4), ("`````", 6)] {
            let fence = "`".repeat(fence);
            assert_eq!(fenced(words), format!("{fence}text\n{words}\n{fence}"));
        }
        let long = fenced(&"`".repeat(100_000));
        assert!(long.len() <= LONGEST_RUN + FENCE_BYTES, "{}", long.len());
    }
}
