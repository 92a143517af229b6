//! The type of a row in the lists of vendors.

/// A kind of token with a known shape: a prefix and a minimum number of allowed characters.
pub(crate) struct Vendor {
    /// The name of the rule. The marker is the same name in capitals, `[GITHUB_TOKEN_REDACTED]`.
    pub(crate) rule: &'static str,
    /// The prefixes of a token. Case matters.
    pub(crate) prefixes: &'static [&'static str],
    /// The characters after the prefix.
    pub(crate) alphabet: Alphabet,
    /// The minimum number of bytes after the prefix. It is a little below the vendor's length, so that a cut token is
    /// still recognized.
    pub(crate) min: usize,
    /// The maximum number of bytes after the prefix. A longer text is not a token.
    pub(crate) max: usize,
    /// Additional conditions for the part after the prefix.
    pub(crate) needs: Needs,
    /// The condition for the text before the prefix.
    pub(crate) before: Before,
    /// The number of bytes after the prefix from which a token is recognized directly after a letter or a digit. A
    /// shorter one may be the end of a name with more text.
    pub(crate) glued: usize,
    /// Set if the prefix is not secret and stays, as the address of a webhook.
    pub(crate) keeps_prefix: bool,
    /// The ends of the tokens in the vendor's documentation. They are long enough to recognize the token, but not
    /// whole, so that scanners of this repository do not report a leak.
    pub(crate) documented: &'static [&'static str],
    /// The part after the prefix in a made-up token. Without its prefix no scanner of this repository takes it for a
    /// real token.
    #[cfg(test)]
    pub(crate) example: &'static str,
}

/// The bytes that a token consists of.
#[derive(Clone, Copy)]
pub(crate) enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_`.
    Word,
    /// Letters, digits, `_`, `-`.
    Url,
    /// Letters, digits, `_`, `-`, `.`.
    Dotted,
    /// Letters, digits, `_`, `-`, `+`, `/`.
    Path,
    /// The characters in the path of an address: letters, digits, `_`, `-`, `.`, `/`, `@`, `%`.
    Route,
    /// Letters, digits, `_`, `-`, `.`, `~`.
    Tilde,
    /// The characters of a token in HTTP: letters, digits, `-`, `.`, `_`, `~`, `+`, `/`, `=`.
    Token68,
    /// Small hexadecimal digits, `-`.
    Uuid,
    /// Capitals and digits.
    Upper,
    /// Digits, and the letters `a` to `f` in either case.
    Hex,
    /// Letters, digits, `+`, `/`, `=`.
    Base64,
}

impl Alphabet {
    pub(crate) fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/'),
            Self::Route => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'@' | b'%')
            }
            Self::Tilde => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~'),
            Self::Token68 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
            }
            Self::Uuid => matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

/// The condition that distinguishes a token from names and prose with the same prefix.
#[derive(Clone, Copy)]
pub(crate) enum Needs {
    /// No condition: the prefix is enough.
    Nothing,
    /// Not an identifier, a word or a path.
    NoWords,
    /// More than a few different characters. Most rows do not require this, because examples and tests write
    /// `ghp_aaaa…` for a secret.
    Variety,
    /// A digit and a capital.
    DigitAndCapital,
    /// A digit, and a capital or at least 32 bytes.
    DigitAndCapitalOrLength,
    /// Header, payload and perhaps a signature, with dots between them.
    JwtParts,
}

/// The condition for the text before a prefix.
#[derive(Clone, Copy)]
pub(crate) enum Before {
    /// No letter and no digit.
    Boundary,
    /// No letter, no digit, no `-`, and no name with a dot: `x-sk-…` is a class name, `x.ico-…` is a file.
    BoundaryButDash,
    /// 8 to 12 digits, which are part of the token.
    Digits,
    /// A run of `min` to `max` bytes of the same alphabet, which is part of the token. The known part is inside the
    /// token.
    Run { min: usize, max: usize },
    /// Any text.
    Anything,
}

/// Creates a row with the usual conditions: a token of any length that begins at a word boundary and is redacted as a
/// whole.
#[cfg_attr(not(test), expect(unused_variables, reason = "only tests read the example"))]
pub(crate) const fn token(
    rule: &'static str,
    prefixes: &'static [&'static str],
    alphabet: Alphabet,
    min: usize,
    example: &'static str,
) -> Vendor {
    Vendor {
        rule,
        prefixes,
        alphabet,
        min,
        max: usize::MAX,
        needs: Needs::Nothing,
        before: Before::Boundary,
        glued: usize::MAX,
        keeps_prefix: false,
        documented: &[],
        #[cfg(test)]
        example,
    }
}

/// Creates a row for an address whose path is the secret.
pub(crate) const fn webhook(
    rule: &'static str,
    prefixes: &'static [&'static str],
    alphabet: Alphabet,
    min: usize,
    example: &'static str,
) -> Vendor {
    let row = token(rule, prefixes, alphabet, min, example).after(Before::Anything);
    Vendor { keeps_prefix: true, ..row }
}

impl Vendor {
    pub(crate) const fn max(self, max: usize) -> Self {
        Self { max, ..self }
    }

    pub(crate) const fn with(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    pub(crate) const fn after(self, before: Before) -> Self {
        Self { before, ..self }
    }

    /// Allows tokens of a known length directly after a letter. No name contains their prefix.
    pub(crate) const fn glued(self, glued: usize) -> Self {
        Self { glued, ..self }
    }

    pub(crate) const fn documented(self, documented: &'static [&'static str]) -> Self {
        Self { documented, ..self }
    }
}
