//! Classifies values by their look, regardless of their name.

use crate::redact::words::is_one_of;
use crate::redact::words::{ABBREVIATIONS, FILE_ENDINGS, LOOKUPS, PLACEHOLDERS, PLAIN, PROSE};

/// The look of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Empty,
    /// A marker of ours, a mask such as `****`, or `<your-api-key>`.
    Placeholder,
    /// A variable, a template or a lookup, which refers to a secret stored in another place.
    Reference,
    /// A type, a literal such as `null`, or an answer such as `yes`.
    Plain,
    /// A single dictionary-like word in one case.
    Word,
    /// A word and one or two digits.
    WordDigits,
    /// Words joined by case, `_`, `-`, `.` or `:`.
    Identifier,
    Number,
    Path,
    Url,
    /// Several words that form a sentence or a title.
    Prose,
    /// Several words that do not form a sentence: a passphrase, perhaps.
    Phrase,
    /// A value that is too short to judge.
    Short,
    /// Letters mixed with digits or signs.
    Mixed,
    /// A long value that is neither words nor an identifier.
    Random,
}

/// The length from which a mixture that is not an identifier counts as random.
const RANDOM_LENGTH: usize = 16;

pub(crate) fn shape_of(value: &str) -> Shape {
    let value = value.trim();
    if value.is_empty() {
        Shape::Empty
    } else if is_mask(value) {
        Shape::Placeholder
    } else if is_reference(value) {
        Shape::Reference
    } else if is_plain(value) {
        Shape::Plain
    } else if value.bytes().any(|byte| byte.is_ascii_whitespace()) {
        if value.split_ascii_whitespace().all(is_version) { Shape::Number } else { phrase_shape(value) }
    } else if value.contains("://") {
        Shape::Url
    } else if is_number(value.as_bytes()) || is_version(value) {
        Shape::Number
    } else if is_path(value) {
        Shape::Path
    } else {
        word_shape(value)
    }
}

/// Returns the look of several words.
fn phrase_shape(value: &str) -> Shape {
    let mut words = value.split_ascii_whitespace();
    if has_prose_word(value) || value.ends_with(['.', '!', ':', '?']) || words.clone().any(is_reference) {
        return Shape::Prose;
    }
    if !value.bytes().any(|byte| byte.is_ascii_lowercase())
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
    {
        return Shape::Prose; // A title: `RSA PRIVATE KEY`.
    }
    let first_is_capital = value.starts_with(|first: char| first.is_ascii_uppercase());
    if first_is_capital && words.all(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic())) {
        return Shape::Prose;
    }
    Shape::Phrase
}

/// Returns the look of one word without blanks.
fn word_shape(value: &str) -> Shape {
    let bytes = value.as_bytes();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_name =
        bytes.iter().all(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':'));
    if is_one_of(value, PLACEHOLDERS) {
        return Shape::Placeholder;
    }
    if letters == bytes.len() && one_case(bytes) {
        return match bytes.len() {
            0..=3 => Shape::Word,
            length if is_pronounceable(bytes) && length < 28 => Shape::Word,
            4..=9 => Shape::Mixed,
            _ => Shape::Random,
        };
    }
    if is_name {
        let mut count = 0;
        let mut wordy = true;
        let mut worded_letters = 0;
        let mut placeholder = false;
        for segment in segments(value) {
            count += 1;
            wordy &= is_word_like(segment.as_bytes());
            worded_letters += segment.bytes().filter(u8::is_ascii_alphabetic).count();
            placeholder |= is_one_of(segment, PLACEHOLDERS);
        }
        if wordy && worded_letters >= 3 * count.min(worded_letters) && worded_letters > 0 {
            let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            return match (placeholder, count) {
                (true, _) => Shape::Placeholder,
                (false, 1) if digits > 0 => Shape::WordDigits,
                _ => Shape::Identifier,
            };
        }
        if placeholder && bytes.len() < 40 && wordy {
            return Shape::Placeholder;
        }
    }
    match bytes.len() {
        0..=5 => Shape::Short,
        length if length < RANDOM_LENGTH => Shape::Mixed,
        _ if is_name || has_digit(bytes) => Shape::Random,
        _ => Shape::Mixed,
    }
}

/// Splits an identifier into words, the last one first. It splits at characters that are not letters or digits, and
/// where a new word begins by its case.
pub(crate) fn segments(value: &str) -> impl Iterator<Item = &str> {
    let bytes = value.as_bytes();
    let mut start = bytes.len();
    std::iter::from_fn(move || {
        start = bytes[..start].iter().rposition(u8::is_ascii_alphanumeric)?;
        let end = start + 1;
        while start > 0 && bytes[start - 1].is_ascii_alphanumeric() && !starts_word(bytes, start) {
            start -= 1;
        }
        Some(&value[start..end])
    })
}

/// Returns true if a new word begins at `at` by its case: `clientSecret`, `DBPassword`.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    let last = bytes[at - 1];
    let this = bytes[at];
    let next_is_small = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    this.is_ascii_uppercase()
        && (!last.is_ascii_uppercase() && last.is_ascii_alphanumeric()
            || last.is_ascii_uppercase() && next_is_small)
}

/// Returns true for a segment that a person would choose: a pronounceable word with at most two digits after it, or a
/// short number.
fn is_word_like(segment: &[u8]) -> bool {
    let digits = segment.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let word = &segment[..segment.len() - digits];
    if word.is_empty() {
        return digits <= 4;
    }
    let is_known = |part: &[u8]| std::str::from_utf8(part).is_ok_and(|part| is_one_of(part, ABBREVIATIONS));
    if is_known(segment) || (is_known(word) && digits <= 4) {
        return true;
    }
    let is_word = word.iter().all(u8::is_ascii_alphabetic) && is_pronounceable(word) && word.len() <= 20;
    is_word && digits <= if word.len() >= 3 { 2 } else { 1 }
}

/// Returns true if letters could be a word: some vowels, and never five consonants in a row.
fn is_pronounceable(word: &[u8]) -> bool {
    let is_vowel = |byte: &u8| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let vowels = word.iter().filter(|byte| is_vowel(byte)).count();
    let longest_run = word.split(is_vowel).map(<[u8]>::len).max().unwrap_or(0);
    word.len() <= 3 || (longest_run <= 4 && vowels * 6 >= word.len() && vowels * 10 <= word.len() * 8)
}

fn one_case(bytes: &[u8]) -> bool {
    let tail = &bytes[1..];
    tail.iter().all(u8::is_ascii_lowercase) || bytes.iter().all(u8::is_ascii_uppercase)
}

pub(crate) fn has_digit(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_digit)
}

pub(crate) fn has_upper(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_uppercase)
}

/// Returns true for a marker of the sanitizer, `<…>`, or a text of only mask characters.
fn is_mask(value: &str) -> bool {
    is_marker(value)
        || value.strip_prefix('<').is_some_and(|name| {
            name.contains('>')
                || name.starts_with('-')
                || name.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'))
        })
        || is_filled(value.as_bytes())
        || value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|name| {
            name.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-' | b' '))
        })
        || has_mask(value)
        || value
            .chars()
            .all(|character| matches!(character, '*' | 'x' | 'X' | '•' | '.' | '-' | '_' | '#' | '?' | '…'))
}

/// Returns true if a part of a value is masked: `AKIA****1234`.
fn has_mask(value: &str) -> bool {
    let masks = |mask: &str| memchr::memmem::find(value.as_bytes(), mask.as_bytes()).is_some();
    let may = !value.is_ascii() || memchr::memchr3(b'*', b'#', b'.', value.as_bytes()).is_some();
    may && ["****", "####", "...", "…"].iter().any(|mask| masks(mask))
}

/// Returns true if a value contains the beginning of a variable in a template.
fn has_template(value: &str) -> bool {
    let opens = |opening: &str| memchr::memmem::find(value.as_bytes(), opening.as_bytes()).is_some();
    let may = memchr::memchr3(b'{', b'(', b'%', value.as_bytes()).is_some();
    may && ["${", "{{", "#{", "$(", "<%"].iter().any(|opening| opens(opening))
}

/// Returns true if a person typed a value in place of a random one: it is blanked out, or has almost no different
/// characters. A sequence (`1234567890abcdef`) may be a real key.
pub(crate) fn is_made_up(value: &[u8]) -> bool {
    is_blanked(value) || is_monotonous(value)
}

/// Returns true if a value has fewer different characters than a random value of this length, even one of only digits.
pub(crate) fn is_monotonous(value: &[u8]) -> bool {
    let mut letters = 0;
    let mut seen = 0_u64;
    for byte in value.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        letters += 1;
        seen |= 1 << (byte.to_ascii_lowercase() & 63);
    }
    match letters {
        0..16 => false,
        16..32 => seen.count_ones() <= 4,
        _ => seen.count_ones() <= 6,
    }
}

/// Returns true if a value is a form to fill in: mostly `x`, or a text such as `PUT_YOUR_TOKEN_HERE`.
pub(crate) fn is_blanked(value: &[u8]) -> bool {
    const MIN_LETTERS: usize = 12;
    let letters = value.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let crosses = value.iter().filter(|byte| byte.eq_ignore_ascii_case(&b'x')).count();
    is_filled(value) || has_placeholder_word(value) || (letters >= MIN_LETTERS && crosses * 2 >= letters)
}

/// Returns true if a part of a value, between signs, is a placeholder word.
fn has_placeholder_word(value: &[u8]) -> bool {
    let parts = value.split(|byte| !byte.is_ascii_alphanumeric());
    parts
        .filter(|part| part.len() >= 4)
        .any(|part| std::str::from_utf8(part).is_ok_and(|part| is_one_of(part, PLACEHOLDERS)))
        || memchr::memmem::find(value, b"EXAMPLEEXAMPLE").is_some()
}

/// Returns true if a value is a placeholder filled with one character: `ghp_xxxxxxxx`.
fn is_filled(value: &[u8]) -> bool {
    const MIN_LETTERS: usize = 8;
    let Some(last) =
        value.last().filter(|last| matches!(last, b'x' | b'X' | b'*' | b'#' | b'.' | b'_' | b'0'))
    else {
        return false;
    };
    let same = value.iter().rev().take_while(|byte| *byte == last).count();
    same >= MIN_LETTERS && same * 2 >= value.len()
}

/// Returns true if a value is a marker of the sanitizer, which may have punctuation after it.
pub(crate) fn is_marker(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', ';', ')', '!', '?', ':']);
    value.starts_with('[')
        && value.ends_with("REDACTED]")
        && value[1..value.len() - 1].bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Returns true if a value refers to the secret: a variable, a template, a lookup.
pub(crate) fn is_reference(value: &str) -> bool {
    let variable =
        value.strip_prefix(['$', '%', '@']).map(|rest| rest.trim_end_matches(['%', ';', ',', ')', '"']));
    variable.is_some_and(|name| {
        let is_braced = name.starts_with(['{', '(']);
        let is_name = !name.starts_with(|first: char| first.is_ascii_digit() && name.len() > 1)
            && name.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-' | b'[' | b']' | b'>')
            });
        is_braced || (is_name && !name.is_empty())
    }) || value.starts_with('{')
        || has_template(value)
        // A font and a flag in a manual page.
        || value.starts_with("\\f")
        || value.starts_with("\\-")
        || LOOKUPS.iter().any(|lookup| value.starts_with(lookup))
        || (value.starts_with('%') && value.len() <= 3)
        || value == "%s:%s"
        // A command that prints the secret.
        || (value.starts_with('!') && value.contains(' '))
}

/// Returns true if a value is a type, a literal or an answer. Ignores `|`, `?`, `[]` and similar signs of types.
fn is_plain(value: &str) -> bool {
    value.len() <= 64
        && value
            .split(|character: char| {
                matches!(character, '|' | '?' | '[' | ']' | '&' | ' ' | ';' | ',' | ')' | '!' | '.')
            })
            .filter(|word| !word.is_empty())
            .all(|word| is_one_of(word, PLAIN))
}

/// Returns true if a text contains a word that only occurs in sentences.
fn has_prose_word(value: &str) -> bool {
    value.split(|character: char| !character.is_alphanumeric()).any(|word| is_one_of(word, PROSE))
}

fn is_number(bytes: &[u8]) -> bool {
    // A Rust literal such as `22528u16`.
    const TYPES: [&[u8]; 8] = [b"u8", b"i8", b"u16", b"i16", b"u32", b"i32", b"u64", b"i64"];
    let bytes = TYPES.iter().find_map(|name| bytes.strip_suffix(*name)).unwrap_or(bytes);
    if let Some(rest) = bytes.strip_prefix(b"0x") {
        // A constant of a program. A key is longer.
        return rest.len() <= 12
            && rest.iter().all(|byte| byte.is_ascii_hexdigit() || b"uUlL_".contains(byte));
    }
    // A version with its requirement sign: `^5.2.5`.
    let bytes = bytes.trim_ascii_start();
    let bytes = if let [b'^' | b'~' | b'>' | b'<', rest @ ..] = bytes { rest } else { bytes };
    let bytes = bytes.strip_prefix(b"=").unwrap_or(bytes);
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let others = bytes.len() - digits;
    digits > 0
        && (bytes.iter().all(|byte| {
            byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'_' | b'-' | b'+' | b'%' | b':')
        }) || (others <= 2
            && bytes.last().is_some_and(u8::is_ascii_alphabetic)
            && digits <= 6
            && bytes[0].is_ascii_digit()))
}

/// Returns true if a word is a version or a version requirement: `>=1.2.3`, `v6.0.0-beta.4`, `||`.
fn is_version(word: &str) -> bool {
    if matches!(word, "||" | "-" | "*" | "x") {
        return true;
    }
    let number = word.trim_start_matches(['^', '~', '<', '>', '=', 'v']);
    let (release, tag) = number.split_once('-').unwrap_or((number, "alpha"));
    let is_release = |part: &str| {
        matches!(part, "x" | "*")
            || (!part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_tag = |part: &str| part.len() <= 8 && is_word_like(part.as_bytes());
    release.contains('.') && release.split('.').all(is_release) && tag.split('.').all(is_tag)
}

fn is_path(value: &str) -> bool {
    let is_rooted = value.starts_with('/')
        || value.starts_with("./")
        || value.starts_with("../")
        || value.starts_with('~')
        || matches!(value.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    let is_file = FILE_ENDINGS.iter().any(|ending| value.ends_with(ending));
    let base64_only = value.bytes().any(|byte| matches!(byte, b'+' | b'=' | b'!' | b'^' | b'&' | b'#'));
    let mut segments = value.split(['/', '\\', '.']).filter(|segment| !segment.is_empty());
    (is_rooted || is_file || value.contains('/'))
        && !base64_only
        && segments.all(|segment| {
            !matches!(word_shape(segment), Shape::Random | Shape::Mixed)
                || ((is_rooted || is_file) && segment.len() < 12)
        })
}

#[cfg(test)]
mod tests {
    use super::{Shape, shape_of};

    #[test]
    fn distinguishes_values_from_placeholders() {
        for (value, expected) in [
            ("", Shape::Empty),
            ("[REDACTED]", Shape::Placeholder),
            ("[GITHUB_TOKEN_REDACTED],", Shape::Placeholder),
            ("<your-api-key>", Shape::Placeholder),
            ("your-api-key-here", Shape::Placeholder),
            ("YOUR_API_KEY", Shape::Placeholder),
            ("************", Shape::Placeholder),
            ("$TOKEN", Shape::Reference),
            ("${API_KEY}", Shape::Reference),
            ("{{ secrets.token }}", Shape::Reference),
            ("process.env.API_KEY", Shape::Reference),
            ("%PASSWORD%", Shape::Reference),
            ("string", Shape::Plain),
            ("null", Shape::Plain),
            ("swordfish", Shape::Word),
            ("hunter2", Shape::WordDigits),
            ("lexer.nextToken", Shape::Identifier),
            ("linux-node-20", Shape::Identifier),
            ("user_id1", Shape::Identifier),
            ("4096", Shape::Number),
            ("/etc/ssl/private/server.key", Shape::Path),
            ("https://example.com/oauth/token", Shape::Url),
            ("must be at least 8 characters", Shape::Prose),
            ("correct horse battery staple", Shape::Phrase),
            ("P@ssw0rd", Shape::Mixed),
            ("abc123", Shape::Mixed),
            ("a8f5f167f44f4964e6c998dee827110c", Shape::Random),
            ("wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzzzzz", Shape::Random),
            ("Zq7Kx2Lm9Vb4Tn8Rw3Yp", Shape::Random),
            ("qwhzkxvbnmtrplkj", Shape::Random),
        ] {
            assert_eq!(shape_of(value), expected, "{value}");
        }
    }
}
