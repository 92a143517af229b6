//! Reads escaped signs: `%3D`, `\u003d`, `&quot;`.

/// The maximum nesting of an escape in itself that is read: `%2525253D`, `&amp;amp;amp;quot;`.
const MAX_NESTING: usize = 3;

/// The maximum number of backslashes that are read before `u003d`.
const MAX_BACKSLASHES: usize = 16;

/// The named entities of HTML. `&amp;` is handled separately, because it also nests.
const ENTITIES: [(&[u8], u8); 9] = [
    (b"quot;", b'"'),
    (b"apos;", b'\''),
    (b"lt;", b'<'),
    (b"gt;", b'>'),
    (b"equals;", b'='),
    (b"colon;", b':'),
    (b"lsqb;", b'['),
    (b"rsqb;", b']'),
    (b"nbsp;", b' '),
];

/// The escape format of a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// `%3D`, also `%253D`.
    Percent,
    /// `\u003d`, `\x3d`, with any number of backslashes.
    Backslash,
    /// `&quot;`, `&#34;`, `&#x22;`, also `&amp;quot;`.
    Entity,
}

/// An escaped sign: the ASCII character, and the position after its escape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EscapedSign {
    pub(crate) sign: u8,
    pub(crate) end: usize,
    pub(crate) escape: Escape,
}

/// Reads the escaped ASCII character that begins at `at`.
pub(crate) fn escaped_sign(bytes: &[u8], at: usize) -> Option<EscapedSign> {
    let rest = bytes.get(at..)?;
    let (sign, length, escape) = match rest.first()? {
        b'%' => percent(rest).map(|(sign, length)| (sign, length, Escape::Percent))?,
        b'\\' => backslash(rest).map(|(sign, length)| (sign, length, Escape::Backslash))?,
        b'&' => entity(rest).map(|(sign, length)| (sign, length, Escape::Entity))?,
        _ => return None,
    };
    sign.is_ascii().then_some(EscapedSign { sign, end: at + length, escape })
}

/// Returns the length of an escape whose lead (`%`, `\`, `&`) is directly before `rest`, if the escape ends within
/// `rest`. Its letters and digits, as in `3D` or `u003d`, are not part of the name after them.
pub(crate) fn escape_tail(lead: u8, rest: &[u8]) -> Option<usize> {
    match lead {
        b'%' => {
            let nested = nested_percent(rest);
            hex(rest.get(nested..nested + 2)?).map(|_| nested + 2)
        }
        b'\\' => backslash_digits(rest).map(|(_, length)| length),
        _ => None,
    }
}

fn percent(rest: &[u8]) -> Option<(u8, usize)> {
    let nested = nested_percent(&rest[1..]);
    let digits = rest.get(1 + nested..3 + nested)?;
    Some((hex(digits)?, 3 + nested))
}

/// Returns the length of the `25`s that nest an escape after its `%`.
fn nested_percent(rest: &[u8]) -> usize {
    let is_nested = |pair: &&[u8]| *pair == b"25";
    let levels = rest.chunks_exact(2).take(MAX_NESTING).take_while(is_nested).count();
    // `%25` alone is an escaped `%`.
    let is_escape =
        |levels: usize| rest.get(2 * levels..2 * levels + 2).is_some_and(|digits| hex(digits).is_some());
    2 * (0..=levels).rev().find(|levels| is_escape(*levels)).unwrap_or(0)
}

fn backslash(rest: &[u8]) -> Option<(u8, usize)> {
    let slashes = rest.iter().take(MAX_BACKSLASHES).take_while(|&&byte| byte == b'\\').count();
    backslash_digits(&rest[slashes..]).map(|(sign, length)| (sign, slashes + length))
}

fn backslash_digits(rest: &[u8]) -> Option<(u8, usize)> {
    match rest {
        [b'u', b'0', b'0', high, low, ..] => Some((hex(&[*high, *low])?, 5)),
        [b'x', high, low, ..] => Some((hex(&[*high, *low])?, 3)),
        _ => None,
    }
}

fn entity(rest: &[u8]) -> Option<(u8, usize)> {
    let mut length = 1;
    for _ in 0..MAX_NESTING {
        let tail = &rest[length..];
        if let Some((name, sign)) = ENTITIES.iter().find(|(name, _)| tail.starts_with(name)) {
            return Some((*sign, length + name.len()));
        }
        if let Some(number) = tail.strip_prefix(b"#") {
            return numeric(number).map(|(sign, digits)| (sign, length + 1 + digits));
        }
        if !tail.starts_with(b"amp;") {
            break;
        }
        length += b"amp;".len();
    }
    (length > 1).then_some((b'&', length))
}

/// Reads `34;` or `x22;`, with at most three zeros before the digits.
fn numeric(rest: &[u8]) -> Option<(u8, usize)> {
    /// The length of the longest number, `x00022;`.
    const MAX_NUMBER: usize = 7;
    let end = rest.iter().take(MAX_NUMBER).position(|&byte| byte == b';')?;
    let digits = std::str::from_utf8(&rest[..end]).ok()?;
    let sign = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    sign.ok().map(|sign| (sign, end + 1))
}

fn hex(digits: &[u8]) -> Option<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    match digits {
        [high, low] => Some(value(*high)? << 4 | value(*low)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Escape, escape_tail, escaped_sign};

    #[test]
    fn an_escaped_sign_is_read_in_each_of_its_forms() {
        for (text, sign, escape) in [
            ("%3D", b'=', Escape::Percent),
            ("%253d", b'=', Escape::Percent),
            ("%25zz", b'%', Escape::Percent),
            ("\\u003d", b'=', Escape::Backslash),
            ("\\\\u003D", b'=', Escape::Backslash),
            ("\\x3d", b'=', Escape::Backslash),
            ("&quot;", b'"', Escape::Entity),
            ("&amp;quot;", b'"', Escape::Entity),
            ("&#34;", b'"', Escape::Entity),
            ("&#x0022;", b'"', Escape::Entity),
            ("&amp;x", b'&', Escape::Entity),
        ] {
            let read = escaped_sign(text.as_bytes(), 0).expect(text);
            assert_eq!((read.sign, read.escape), (sign, escape), "{text}");
            assert_eq!(read.end, text.trim_end_matches(['z', 'x']).len(), "{text}");
        }
        for text in ["", "%", "%3", "%d:", "\\n", "\\u0", "\\ud83d", "&", "&x", "&#;", "&#999;", "a"] {
            assert!(escaped_sign(text.as_bytes(), 0).is_none(), "{text}");
        }
    }

    #[test]
    fn the_digits_of_an_escape_are_not_part_of_a_name() {
        for (lead, rest, length) in [
            (b'%', "3Ftoken", Some(2)),
            (b'%', "253Ftoken", Some(4)),
            (b'\\', "u0026token", Some(5)),
            (b'%', "stoken", None),
            (b'\\', "ntoken", None),
        ] {
            assert_eq!(escape_tail(lead, rest.as_bytes()), length, "{rest}");
        }
    }
}
