//! The link between a name and its value: the sign, and the start and end of the value.

use std::ops::Range;

use crate::redact::cursor::Quote;
use crate::redact::escape::Escape;

/// The kind of link between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tie {
    /// `name=value` without blanks around the sign.
    Tight,
    /// `name==value`. This is usually a comparison, so only a random value counts.
    Doubled,
    /// `name = value`, `name := value`, `name => value`.
    Equals,
    /// `name: value`.
    Colon,
    /// `?name=value` and `;name=value`.
    Parameter,
    /// `--name value`.
    Flag,
    /// `"name", "value"`, `:name, "value"`, `setName("value")`.
    Comma,
    /// `NAME "value"`, `ENV NAME value`, `login x password y`.
    Blank,
    /// `token abc`, `the password is abc`, `set the secret to abc`. This is a sentence, so only a random value counts.
    Sentence,
    /// `<name>value</name>`.
    Element,
    /// `<key>name</key><string>value</string>`.
    ElementPair,
    /// `name: X` and `value: y`.
    Entry,
    /// `| name | value |`.
    Cell,
}

/// A name with its tie, the position of the value, and the quote that closes the name.
pub(crate) struct Separator {
    pub(crate) name: Range<usize>,
    pub(crate) tie: Tie,
    pub(crate) value: usize,
    pub(crate) name_quote: Option<Quote>,
    /// The end of the value, if an escaped sign ends it.
    pub(crate) escaped_end: Option<EscapedEnd>,
}

/// The escaped sign that ends a value.
#[derive(Clone, Copy)]
pub(crate) struct EscapedEnd {
    pub(super) escape: Escape,
    /// The quote that closes the value, or the `<` after the text of an element. If `None`, any sign that ends a value
    /// without quotes counts.
    pub(super) closing: Option<u8>,
}

impl EscapedEnd {
    /// Returns the quote around the value.
    pub(crate) fn quote(self) -> Option<Quote> {
        let mark = self.closing.filter(|closing| *closing != b'<')?;
        Some(Quote { escapes: 0, mark })
    }
}
