use std::fmt;
use std::ops::Deref;

use serde::Serialize;

use crate::{TruncateLimits, ceil_char_boundary, floor_char_boundary, one_line, truncate};

/// The end of a clipped field, if there is room for it.
const ELLIPSIS: &str = "…";

/// Text that went through a [`Sanitizer`](crate::Sanitizer), which is the only way to create it. It may leave
/// the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Sanitized(String);

impl Sanitized {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text as an owned string.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// Cuts the middle out of a text that exceeds the limits. Returns `true` if something was cut.
    ///
    /// `full_text` is the location of the whole text for the marker. It is copied unsanitized, so it must be a path
    /// that the caller may see.
    #[must_use]
    pub fn truncate(&self, limits: TruncateLimits, full_text: Option<&str>) -> (Self, bool) {
        let cut = truncate(&self.0, limits, full_text);
        (Self(cut.text), cut.truncated)
    }

    /// Cuts a short field (a name, a title, one line of an error) to `max_bytes`, without splitting a character.
    ///
    /// A cut text ends with `…`, which counts within the limit.
    #[must_use]
    pub fn clip(&self, max_bytes: usize) -> Self {
        if self.0.len() <= max_bytes {
            return self.clone();
        }
        let ellipsis = if max_bytes > ELLIPSIS.len() { ELLIPSIS } else { "" };
        let end = floor_char_boundary(&self.0, max_bytes - ellipsis.len());
        Self(format!("{}{ellipsis}", &self.0[..end]))
    }

    /// Returns the text on one line, cut with an ellipsis at `max_chars` characters.
    #[must_use]
    pub fn line(&self, max_chars: usize) -> Self {
        Self(one_line(&self.0, max_chars).into_string())
    }

    /// Appends the mark of missing text.
    pub(super) fn with_ellipsis(mut self) -> Self {
        self.0.push_str(ELLIPSIS);
        self
    }

    /// Keeps the last `max_bytes` of a growing text, without splitting a character.
    ///
    /// A cut text begins with `…`, which counts within the limit.
    #[must_use]
    pub fn clip_tail(&self, max_bytes: usize) -> Self {
        Self(newest(&self.0, max_bytes))
    }
}

/// Returns the end of a text, at most `max_bytes` of it. A cut text begins with `…`.
#[must_use]
pub fn newest(text: &str, max_bytes: usize) -> String {
    let Some(surplus) = text.len().checked_sub(max_bytes).filter(|surplus| *surplus > 0) else {
        return text.to_owned();
    };
    let ellipsis = if max_bytes > ELLIPSIS.len() { ELLIPSIS } else { "" };
    let start = ceil_char_boundary(text, surplus + ellipsis.len());
    format!("{ellipsis}{}", &text[start..])
}

impl Deref for Sanitized {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sanitized {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Sanitizer, SanitizerOptions};

    #[test]
    fn a_limit_that_the_ellipsis_would_fill_keeps_text_instead() {
        let text = Sanitizer::new(SanitizerOptions::default()).sanitize("abcdef");
        for (limit, head, tail) in
            [(0, "", ""), (2, "ab", "ef"), (3, "abc", "def"), (4, "a…", "…f"), (6, "abcdef", "abcdef")]
        {
            assert_eq!((&*text.clip(limit), &*text.clip_tail(limit)), (head, tail), "{limit}");
        }
    }
}
