//! What a row of the vendor table can say.

/// A kind of token that is known by its shape: a prefix and enough of the right characters.
pub(crate) struct Vendor {
    /// The name of the rule; the marker is the same in capitals, `[GITHUB_TOKEN_REDACTED]`.
    pub(crate) rule: &'static str,
    /// What a token begins with. Case matters.
    pub(crate) prefixes: &'static [&'static str],
    /// What stands behind the prefix.
    pub(crate) alphabet: Alphabet,
    /// The fewest bytes behind the prefix: a little below what the vendor hands out, so that a token that was cut is
    /// still one.
    pub(crate) least: usize,
    /// The most bytes behind the prefix; what is longer is something else.
    pub(crate) most: usize,
    /// What the part behind the prefix must have beside its length.
    pub(crate) needs: Needs,
    /// What must stand before the prefix.
    pub(crate) before: Before,
    /// From so many bytes behind the prefix on it is a token even directly behind a letter or a digit, where a shorter one
    /// may be the end of a name and more.
    pub(crate) glued: usize,
    /// Whether the prefix is no secret and stays, as the address of a webhook.
    pub(crate) keeps_prefix: bool,
    /// What tokens of the vendor's documentation end with: enough to know them by, and no whole one, which scanners of
    /// this repository would take for a leak.
    pub(crate) documented: &'static [&'static str],
    /// What stands behind a prefix in a made-up token. Apart from its prefix no scanner of this repository takes it for a
    /// real one.
    #[cfg(test)]
    pub(crate) example: &'static str,
}

/// The bytes that a token is made of.
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
    /// What a path of an address has: letters, digits, `_`, `-`, `.`, `/`, `@`, `%`.
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

/// What tells a token from names and prose with the same prefix.
#[derive(Clone, Copy)]
pub(crate) enum Needs {
    /// The prefix is enough.
    Nothing,
    /// It is no identifier, no word and no path.
    NoWords,
    /// More than a few different characters. Most rows do without: examples and tests write `ghp_aaaa…` for a secret.
    Variety,
    /// A digit and a capital.
    DigitAndCapital,
    /// A digit, and a capital or at least 32 bytes.
    DigitAndCapitalOrLength,
    /// Header, payload and perhaps a signature, with dots between them.
    JwtParts,
}

/// What must stand before a prefix.
#[derive(Clone, Copy)]
pub(crate) enum Before {
    /// No letter and no digit.
    Boundary,
    /// No letter, no digit, no `-`, and no name with a dot: `x-sk-…` is a class name, `x.ico-…` a file.
    BoundaryButDash,
    /// 8 to 12 digits, which are part of the token.
    Digits,
    /// So many bytes of the same alphabet, which are part of the token: what is known stands within it.
    Run { least: usize, most: usize },
    /// Anything.
    Anything,
}

/// A row with the usual conditions: a token of any length that begins at a word boundary and goes whole.
#[cfg_attr(not(test), expect(unused_variables, reason = "only tests read the example"))]
pub(super) const fn token(
    rule: &'static str,
    prefixes: &'static [&'static str],
    alphabet: Alphabet,
    least: usize,
    example: &'static str,
) -> Vendor {
    Vendor {
        rule,
        prefixes,
        alphabet,
        least,
        most: usize::MAX,
        needs: Needs::Nothing,
        before: Before::Boundary,
        glued: usize::MAX,
        keeps_prefix: false,
        documented: &[],
        #[cfg(test)]
        example,
    }
}

/// A row for an address whose path is the secret.
pub(super) const fn webhook(
    rule: &'static str,
    prefixes: &'static [&'static str],
    alphabet: Alphabet,
    least: usize,
    example: &'static str,
) -> Vendor {
    let row = token(rule, prefixes, alphabet, least, example).after(Before::Anything);
    Vendor { keeps_prefix: true, ..row }
}

impl Vendor {
    pub(super) const fn most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    pub(super) const fn with(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    pub(super) const fn after(self, before: Before) -> Self {
        Self { before, ..self }
    }

    /// For tokens of a known length with a prefix that no name contains.
    pub(super) const fn glued(self, glued: usize) -> Self {
        Self { glued, ..self }
    }

    pub(super) const fn documented(self, documented: &'static [&'static str]) -> Self {
        Self { documented, ..self }
    }
}
