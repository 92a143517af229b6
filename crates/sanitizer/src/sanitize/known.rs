//! Finds values that this process knows, in the forms in which a child can print them: plain, escaped, in base64 and
//! hex, and wrapped at a width.

use std::ops::Range;

use memchr::memchr_iter;

use crate::redact::line_break;

/// The minimum length of a spelling that is also found if line ends split it. One of its first two pieces is then
/// whole on lines of this width.
const MIN_WRAPPED: usize = 2 * PIECE;

/// The length of such a piece.
const PIECE: usize = 8;

/// The maximum length of the text between two lines of a value: indentation, quotes, and the marks of comments and
/// quotations.
const MAX_GAP: usize = 64;

/// The minimum length of a secret's beginning that is held back. Shorter beginnings reveal nothing, and many words end
/// like them.
const MIN_PARTIAL: usize = 4;

/// The values to find.
#[derive(Default)]
pub(super) struct KnownValues {
    spellings: Vec<Spelling>,
    /// The search pieces: the number of the spelling, and the range in it.
    pieces: Vec<(usize, Range<usize>)>,
}

/// One written form of a value.
#[derive(Debug, PartialEq, Eq)]
struct Spelling {
    text: String,
    /// For the base64 character before the spelling and for the one after it: set if that character encodes a part of
    /// the value, too.
    shares: [bool; 2],
}

impl KnownValues {
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let spellings: Vec<Spelling> = values.flat_map(spellings).collect();
        let mut pieces = Vec::new();
        for (number, Spelling { text, .. }) in spellings.iter().enumerate() {
            let end = |at: usize| crate::floor_char_boundary(text, at);
            if text.len() < MIN_WRAPPED {
                pieces.push((number, 0..text.len()));
            } else {
                pieces.extend([(number, 0..end(PIECE)), (number, end(PIECE)..end(MIN_WRAPPED))]);
            }
        }
        Self { spellings, pieces }
    }

    /// Returns the pieces to search for.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().map(|(number, part)| &self.spellings[*number].text[part.clone()])
    }

    /// Finds all occurrences of the values, given the positions of the pieces. The ranges may overlap and repeat.
    pub(super) fn find_all(&self, text: &str, found: Vec<(usize, Range<usize>)>) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        found
            .into_iter()
            .filter_map(|(piece, hit)| {
                let (number, part) = &self.pieces[piece];
                let spelling = &self.spellings[*number];
                let range = match part.start {
                    _ if spelling.text.len() < MIN_WRAPPED => Some(hit),
                    0 => spelling.match_end(bytes, hit.start).map(|end| hit.start..end),
                    offset => spelling.around(bytes, &hit, offset),
                };
                range.map(|range| spelling.widened(bytes, range))
            })
            .filter(|range| text.is_char_boundary(range.start) && text.is_char_boundary(range.end))
            .collect()
    }

    /// Returns the position of the earliest partial value at the end of a text.
    pub(super) fn partial_at_end(&self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        let partial_at_end = |spelling: &Spelling| {
            let length = spelling.text.len();
            let from = bytes.len().saturating_sub(length + length / 4 + MAX_GAP);
            let first = spelling.text.as_bytes()[0];
            memchr_iter(first, &bytes[from..])
                .map(|at| from + at)
                .take_while(|at| at + MIN_PARTIAL <= bytes.len())
                .find(|&at| {
                    let (matched, end) = spelling.matched(bytes, at);
                    end == bytes.len() && (MIN_PARTIAL..length).contains(&matched)
                })
        };
        self.spellings.iter().filter_map(partial_at_end).min()
    }
}

impl Spelling {
    /// Returns the end of a spelling that begins at `at`.
    fn match_end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let (matched, end) = self.matched(bytes, at);
        (matched == self.text.len()).then_some(end)
    }

    /// Returns the range of a spelling if one of its pieces is on a line of its own.
    fn around(&self, bytes: &[u8], hit: &Range<usize>, offset: usize) -> Option<Range<usize>> {
        // Otherwise the previous piece has found it.
        let is_parted = !bytes[..hit.start].ends_with(&self.text.as_bytes()[..offset]);
        let from = hit.start.saturating_sub(offset + MAX_GAP);
        let first = self.text.as_bytes()[0];
        memchr_iter(first, &bytes[from..hit.start]).filter(|_| is_parted).map(|at| from + at).find_map(
            |start| self.match_end(bytes, start).filter(|end| *end >= hit.end).map(|end| start..end),
        )
    }

    /// Matches a spelling at `at` across line ends. Returns the number of matched bytes and the end of the match.
    fn matched(&self, bytes: &[u8], at: usize) -> (usize, usize) {
        let spelling = self.text.as_bytes();
        let mut matched = 0;
        let mut at = at;
        while let Some(&next) = spelling.get(matched) {
            match bytes.get(at) {
                Some(&byte) if byte == next => {
                    matched += 1;
                    at += 1;
                }
                Some(_) if matched > 0 && spelling.len() >= MIN_WRAPPED => {
                    // The backslash of an escaped line end may have matched a backslash of the value.
                    let again = usize::from(matched > 1 && spelling[matched - 1] == b'\\');
                    let gap = (0..=again).find_map(|back| {
                        let matched = matched - back;
                        let end = gap_end(bytes, at - back, spelling[matched - 1], &spelling[matched..])?;
                        Some((matched, end))
                    });
                    let Some(gap) = gap else { break };
                    (matched, at) = gap;
                }
                _ => break,
            }
        }
        (matched, at)
    }

    /// Extends the range by the base64 characters that encode a part of the value.
    fn widened(&self, bytes: &[u8], range: Range<usize>) -> Range<usize> {
        let is_base64 = |at: usize| {
            bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
        };
        let [before, after] = self.shares;
        let start = range.start - usize::from(before && range.start > 0 && is_base64(range.start - 1));
        let end = range.end + usize::from(after && is_base64(range.end));
        let is_padded = before || after || end > range.end;
        let padding = bytes[end..].iter().take(2).take_while(|byte| is_padded && **byte == b'=').count();
        start..end + padding
    }
}

/// Returns the end of the gap at `at`: a line end and the text around it, before the `rest` of a value or the end of
/// the text. `last` is the byte of the value before the line end.
fn gap_end(bytes: &[u8], at: usize, last: u8, rest: &[u8]) -> Option<usize> {
    let stop = bytes.len().min(at + MAX_GAP);
    let window = &bytes[at..stop];
    // An indented value of several lines.
    if last == b'\n' && b" \t".contains(&bytes[at]) {
        let end = at + prefix_length(window, b" \t");
        return continues(&bytes[end..], rest).then_some(end);
    }
    let line = at + prefix_length(window, b" \t\\=\"'+,.");
    // The backslash of an escaped line end is not a mark.
    let line = (at..=line).find(|line| line_break(bytes, *line) > 0).unwrap_or(line);
    if line == bytes.len() {
        return Some(line);
    }
    let newline = line_break(bytes, line);
    if newline == 0 {
        return None;
    }
    let begin = (line + newline).min(bytes.len());
    let mut at = begin;
    while !continues(&bytes[at..], rest) {
        if at >= stop {
            return None;
        }
        // The sign of a soft line end may equal the last byte of the value.
        let is_soft_sign = at == begin && bytes[at] == last;
        if !is_soft_sign && !b"\"'>+-#*|. \t".contains(&bytes[at]) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Returns the number of bytes at the start that are in `set`.
fn prefix_length(bytes: &[u8], set: &[u8]) -> usize {
    bytes.iter().take_while(|byte| set.contains(byte)).count()
}

/// Returns true if the bytes begin like the `rest` of a value.
fn continues(bytes: &[u8], rest: &[u8]) -> bool {
    /// A shorter match may be the mark of a quotation.
    const MIN_MATCH: usize = 4;
    let length = MIN_MATCH.min(rest.len()).min(bytes.len());
    bytes[..length] == rest[..length]
}

/// Returns the different spellings of a value.
fn spellings(value: &str) -> Vec<Spelling> {
    let value = value.trim();
    let once = json(value);
    let percent = percent_encoded(value, "-_.~");
    let plain = [
        value.to_owned(),
        json(&once),
        once.replace('/', "\\/"),
        json_for_html(&once, &['<', '>', '&']),
        json_for_html(&once, &['<', '>', '&', '=', '\'']),
        json_in_ascii(&once),
        percent_encoded(&percent, "-_.~"),
        percent_encoded(value, "-_.~!'()*"),
        percent.replace("%20", "+"),
        lower_escapes(&percent),
        html(value, "&#39;"),
        html(value, "&#x27;"),
        html(value, "&apos;").replace("&quot;", "&#34;"),
        html(value, "'").replace("&quot;", "\""),
        value.replace('\'', "'\\''"),
        value.replace('\'', "''"),
        joined(value.bytes().map(|byte| format!("{byte:02x}"))),
        joined(value.bytes().map(|byte| format!("{byte:02X}"))),
        percent,
        once,
    ];
    let plain = plain.into_iter().map(|text| Spelling { text, shares: [false; 2] });
    let base64 = (0..3).flat_map(|before| {
        let standard = base64(value.as_bytes(), before);
        let url = Spelling { text: standard.text.replace('+', "-").replace('/', "_"), ..standard };
        [standard, url]
    });
    let mut all: Vec<Spelling> = Vec::new();
    for spelling in plain.chain(base64) {
        if !all.contains(&spelling) {
            all.push(spelling);
        }
    }
    all
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect()
}

fn json(value: &str) -> String {
    let json = serde_json::Value::from(value).to_string();
    json[1..json.len() - 1].to_owned()
}

/// Escapes JSON for HTML.
fn json_for_html(json: &str, escaped: &[char]) -> String {
    let escape = |sign: char| {
        if escaped.contains(&sign) { format!("\\u{:04x}", u32::from(sign)) } else { sign.to_string() }
    };
    json.chars().map(escape).collect()
}

fn json_in_ascii(json: &str) -> String {
    let mut units = [0; 2];
    let mut escape = |sign: char| match sign {
        _ if sign.is_ascii() => sign.to_string(),
        _ => joined(sign.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}"))),
    };
    json.chars().map(&mut escape).collect()
}

fn percent_encoded(value: &str, unescaped: &str) -> String {
    let encode = |byte: u8| {
        let sign = char::from(byte);
        if sign.is_ascii_alphanumeric() || (sign.is_ascii() && unescaped.contains(sign)) {
            sign.to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    value.bytes().map(encode).collect()
}

/// Converts percent escapes to small letters.
fn lower_escapes(percent: &str) -> String {
    let mut parts = percent.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (digits, rest) = part.split_at(2.min(part.len()));
        text + "%" + &digits.to_ascii_lowercase() + rest
    })
}

fn html(value: &str, apostrophe: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', apostrophe)
}

/// Encodes a value in base64 and returns the characters that encode only the value. `before` is the number of bytes
/// before the value in its group of three.
fn base64(value: &[u8], before: usize) -> Spelling {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes = [&[0; 2][..before], value, &[0; 2]].concat();
    let start = 8 * before;
    let end = 8 * (before + value.len());
    let sextet = |index: usize| {
        let bit = 6 * index;
        let pair = u16::from_be_bytes([bytes[bit / 8], bytes[bit / 8 + 1]]);
        char::from(ALPHABET[usize::from(pair >> (10 - bit % 8)) & 63])
    };
    Spelling {
        text: (start.div_ceil(6)..end / 6).map(sextet).collect(),
        shares: [!start.is_multiple_of(6), !end.is_multiple_of(6)],
    }
}

#[cfg(test)]
mod tests {
    use super::{base64, spellings};

    #[test]
    fn a_base64_spelling_has_only_the_characters_shared_by_all_contexts() {
        // `ab`, `xab` and `xyab`, each with more text after them: `YWI…`, `eGFi…`, `eHlhYg…`.
        for (before, text, shares) in
            [(0, "YW", [false, true]), (1, "Fi", [true, false]), (2, "hY", [true, true])]
        {
            let found = base64(b"ab", before);
            assert_eq!((found.text.as_str(), found.shares), (text, shares), "{before}");
        }
    }

    #[test]
    fn a_plain_value_has_few_spellings() {
        assert_eq!(spellings("k9x2m4p7q1Zz77Qw").len(), 1 + 2 + 3);
        assert!(spellings("a\"b'c<d>&e=f/g\nh é+").len() <= 26);
    }
}
