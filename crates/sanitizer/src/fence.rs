//! Puts text from other sources into a Markdown fence.

use std::borrow::Cow;

/// The length of the shortest fence.
const MIN_FENCE: usize = 3;
/// The maximum number of backticks in a row that stay in the content. A fence is longer than this.
const MAX_RUN: usize = 16;
/// The maximum number of bytes that a fence adds to the content.
pub const FENCE_BYTES: usize = 2 * (MAX_RUN + 1) + "text\n\n".len();

/// Puts text into a fence that is longer than any fence inside it, so that nothing inside can end it.
#[must_use]
pub fn fenced(content: &str) -> String {
    fenced_as("text", content)
}

/// Puts text into a fence with a language name.
#[must_use]
pub fn fenced_as(language: &str, content: &str) -> String {
    let longest = |content: &str| content.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let content =
        if longest(content) > MAX_RUN { Cow::Owned(shortened(content)) } else { Cow::Borrowed(content) };
    let fence = "`".repeat(MIN_FENCE.max(longest(&content) + 1));
    format!("{fence}{language}\n{}\n{fence}", content.trim_end_matches('\n'))
}

/// Shortens runs of backticks to at most [`MAX_RUN`].
fn shortened(content: &str) -> String {
    let mut run = 0;
    let stays = |letter: &char| {
        run = if *letter == '`' { run + 1 } else { 0 };
        run <= MAX_RUN
    };
    content.chars().filter(stays).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_cannot_end_its_fence_and_a_fence_has_a_maximum_length() {
        for (content, fence) in [("a", 3), ("```\nb\n```", 4), ("`````", 6)] {
            let fence = "`".repeat(fence);
            assert_eq!(fenced(content), format!("{fence}text\n{content}\n{fence}"));
        }
        let long = fenced(&"`".repeat(100_000));
        assert!(long.len() <= MAX_RUN + FENCE_BYTES, "{}", long.len());
    }
}
