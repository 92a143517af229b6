//! Finds tokens by their shape. The shapes are rows of `tables/vendors/`.

use std::ops::Range;

use crate::redact::cursor::Cursor;
use crate::redact::judgement::JUDGED;
use crate::redact::rule::{Edit, Found, Rule};
use crate::redact::search::{GRAM, Trigger};
use crate::redact::shape::{Shape, has_digit, has_upper, is_blanked, is_monotonous, shape_of};
use crate::redact::vendors::vendor::{Before, Needs, Vendor};
use crate::redact::vendors::{COMMON, vendors};
use crate::redact::words::is_one_of;

/// Returns one rule for each prefix of each row.
pub(crate) fn rules() -> impl Iterator<Item = Box<dyn Rule>> {
    vendors().flat_map(|row| {
        let rule = move |prefix: &&'static str| -> Box<dyn Rule> {
            Box::new(VendorToken { row, prefix, offset: rare_offset(prefix) })
        };
        row.prefixes.iter().map(rule)
    })
}

struct VendorToken {
    row: &'static Vendor,
    prefix: &'static str,
    /// The offset of the part of the prefix that is searched for.
    offset: usize,
}

/// Returns the offset where a prefix stops looking like a word, if many words begin like it. A search for `lin` stops
/// on every other line, a search for `n_api_` almost never.
fn rare_offset(prefix: &str) -> usize {
    let bytes = prefix.as_bytes();
    let is_common = bytes.len() > GRAM && is_one_of(&prefix[..GRAM], COMMON);
    let rare = bytes.windows(GRAM).position(|gram| !gram.iter().all(u8::is_ascii_alphabetic));
    rare.filter(|_| is_common).unwrap_or(0)
}

impl Rule for VendorToken {
    fn triggers(&self) -> Vec<Trigger> {
        if self.prefix.len() >= GRAM {
            return vec![Trigger::exact(&self.prefix[self.offset..])];
        }
        // This prefix is too short for a search without the next byte.
        let next = (b'!'..=b'~').filter(|&byte| self.row.alphabet.has(byte));
        next.map(|byte| Trigger::exact(format!("{}{}", self.prefix, char::from(byte)))).collect()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let row = self.row;
        let resume = trigger.start + 1;
        let begin =
            trigger.start.checked_sub(self.offset).filter(|begin| *begin >= cursor.floor).ok_or(resume)?;
        if !cursor.bytes[begin..].starts_with(self.prefix.as_bytes()) {
            return Err(resume);
        }
        let start = begin + self.prefix.len();
        let token = token_start(cursor, row, begin)
            .or_else(|| glued_start(cursor, row, begin, start))
            .ok_or(resume)?;
        let body = &cursor.bytes[start..];
        if body.len() < row.min || !body[..row.min].iter().all(|&byte| row.alphabet.has(byte)) {
            return Err(resume);
        }
        let length = body.iter().position(|&byte| !row.alphabet.has(byte)).unwrap_or(body.len());
        let body = &body[..length];
        let body = &body[..length - body.iter().rev().take_while(|&&byte| byte == b'.').count()];
        let end = start + body.len();
        if !is_plausible(row, body) || is_part_of_longer_text(cursor, self.prefix, begin, end) {
            return Err(end);
        }
        let from = if row.keeps_prefix { start } else { token };
        Ok(Edit::new(from..end, marker(row), row.rule))
    }

    /// Returns the start of an incomplete token. A short word is not held back otherwise, but after a prefix each of
    /// its characters is secret.
    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let begin = trigger.start.checked_sub(self.offset)?;
        let rest = cursor.bytes[begin..].strip_prefix(self.prefix.as_bytes())?;
        let is_incomplete = rest.len() < self.row.min && rest.iter().all(|&byte| self.row.alphabet.has(byte));
        let may_be_glued = || (self.row.glued < usize::MAX).then_some(begin);
        is_incomplete.then(|| token_start(cursor, self.row, begin).or_else(may_be_glued)).flatten()
    }
}

fn marker(row: &Vendor) -> String {
    format!("[{}_REDACTED]", row.rule.to_ascii_uppercase())
}

/// Returns the start of the token with a prefix at `prefix`, if the text before it allows a token.
fn token_start(cursor: &Cursor<'_>, row: &Vendor, prefix: usize) -> Option<usize> {
    match row.before {
        Before::Anything => Some(prefix),
        Before::Boundary => cursor.is_token_start(prefix).then_some(prefix),
        Before::BoundaryButDash => {
            (cursor.is_token_start(prefix) && !continues_name(cursor, prefix)).then_some(prefix)
        }
        Before::Run { min, max } => {
            let belongs = |byte: &&u8| row.alphabet.has(**byte) && **byte != b'=';
            let run = cursor.bytes[cursor.floor..prefix].iter().rev().take(max + 1).take_while(belongs);
            let run = run.count();
            (min..=max).contains(&run).then(|| prefix - run)
        }
        Before::Digits => {
            let digits =
                cursor.bytes[..prefix].iter().rev().take(13).take_while(|byte| byte.is_ascii_digit());
            let digits = digits.count();
            ((8..=12).contains(&digits) && prefix - digits >= cursor.floor).then(|| prefix - digits)
        }
    }
}

/// Returns the start of a token whose prefix is directly after a letter, if it is long enough to be a token.
fn glued_start(cursor: &Cursor<'_>, row: &Vendor, prefix: usize, body: usize) -> Option<usize> {
    let glued = cursor.bytes.get(body..body.checked_add(row.glued)?)?;
    glued.iter().all(|&byte| row.alphabet.has(byte)).then_some(prefix)
}

/// Returns true if a dash, or a name and a dot, precede `at`.
fn continues_name(cursor: &Cursor<'_>, at: usize) -> bool {
    match cursor.before(at) {
        Some(b'-') => true,
        Some(b'.') => cursor.before(at - 1).is_some_and(|byte| byte.is_ascii_alphanumeric()),
        _ => false,
    }
}

/// Returns true if the apparent token is part of something longer: a name (`hf_parametersdescription_prio`), base64,
/// or a masked token.
fn is_part_of_longer_text(cursor: &Cursor<'_>, prefix: &str, begin: usize, end: usize) -> bool {
    let is_letter = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest = &cursor.bytes[end..];
    let is_alone = !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_alone && is_in_base64(&cursor.bytes[cursor.floor..begin]) {
        return true;
    }
    match rest.first() {
        Some(b'_') => {
            is_letter(cursor.byte(end + 1))
                && !cursor.bytes[begin..end]
                    .iter()
                    .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        }
        Some(b'+' | b'/') => {
            !is_alone && cursor.before(begin) == Some(b'+') && is_letter(cursor.before(begin - 1))
        }
        Some(mask @ (b'#' | b'*')) => rest.iter().take_while(|byte| *byte == mask).count() >= 8,
        _ => false,
    }
}

/// Returns true if a long run of base64 ends here, with a `+` or `/` as its last character.
fn is_in_base64(before: &[u8]) -> bool {
    /// The minimum length of such a run. No name of a directory or host is as long.
    const MIN_RUN: usize = 40;
    matches!(before.last(), Some(b'+' | b'/'))
        && before.len() >= MIN_RUN
        && before[before.len() - MIN_RUN..]
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        && has_digit(&before[before.len() - MIN_RUN..])
        && has_upper(&before[before.len() - MIN_RUN..])
}

/// Returns true if the body looks like a token. Some prefixes and lengths also occur in names and prose.
fn is_plausible(row: &Vendor, body: &[u8]) -> bool {
    let is_documented = row.documented.iter().any(|ending| body.ends_with(ending.as_bytes()));
    if is_blanked(body) || is_documented || body.len() > row.max {
        return false;
    }
    match row.needs {
        Needs::Nothing => true,
        Needs::NoWords => {
            let judged = std::str::from_utf8(&body[..body.len().min(JUDGED)]).unwrap_or_default();
            matches!(shape_of(judged), Shape::Random | Shape::Mixed)
        }
        Needs::Variety => !is_monotonous(body),
        Needs::DigitAndCapital => has_digit(body) && has_upper(body),
        Needs::DigitAndCapitalOrLength => has_digit(body) && (has_upper(body) || body.len() >= 32),
        Needs::JwtParts => is_jwt(body),
    }
}

/// Returns true for header, payload and signature. The signature may be missing or cut.
fn is_jwt(body: &[u8]) -> bool {
    let mut parts = body.split(|&byte| byte == b'.');
    let header = parts.next().is_some_and(|part| part.len() >= 8);
    let payload = parts.next().is_some_and(|part| part.len() >= 8);
    header && payload && parts.count() <= 3
}

#[cfg(test)]
mod tests {
    use super::{Before, marker, vendors};
    use crate::{Sanitizer, SanitizerOptions, settled_length};

    /// The number of consecutive bytes that reveal a secret.
    const PART: usize = 8;

    /// Returns an example, its secret part and the marker, for every prefix of every row.
    fn examples() -> impl Iterator<Item = (String, String, String)> {
        vendors().flat_map(|row| {
            row.prefixes.iter().map(move |prefix| {
                let before = match row.before {
                    Before::Digits => "123456789".to_owned(),
                    Before::Run { min, .. } => "7a0ad3e9".chars().cycle().take(min).collect(),
                    _ => String::new(),
                };
                let token = format!("{before}{prefix}{}", row.example);
                let secret = if row.keeps_prefix { row.example.to_owned() } else { token.clone() };
                (token, secret, marker(row))
            })
        })
    }

    fn places(token: &str) -> [String; 4] {
        [
            format!("use {token} now"),
            format!("export X={token}\n"),
            format!("{{\"note\": \"{token}\", \"a\": 1}}"),
            format!("{{\"b\": \"{{\\\"note\\\":\\\"{token}\\\"}}\"}}"),
        ]
    }

    #[test]
    fn each_example_is_redacted_by_its_own_row_in_every_context() {
        let sanitizer = Sanitizer::new(SanitizerOptions::default());
        for (token, secret, marker) in examples() {
            for text in [token.clone()].into_iter().chain(places(&token)) {
                assert_eq!(*sanitizer.sanitize(&text), text.replace(&secret, &marker));
            }
            let assigned = sanitizer.sanitize(&format!("api_key = \"{token}\"")).into_string();
            assert!(assigned.ends_with("REDACTED]\"") && !assigned.contains(&secret), "{assigned}");
        }
    }

    #[test]
    fn no_part_of_an_example_is_visible_while_it_arrives() {
        let sanitizer = Sanitizer::new(SanitizerOptions::default());
        for (token, secret, marker) in examples() {
            // The marker contains the vendor's name, which is not secret.
            let parts = secret.as_bytes().windows(PART);
            let parts: Vec<&[u8]> =
                parts.filter(|part| !marker.as_bytes().windows(PART).any(|window| window == *part)).collect();
            for text in places(&token) {
                for end in 0..text.len() {
                    let arrived = &text[..end];
                    let shown = sanitizer.sanitize_growing(&arrived[..settled_length(arrived)]);
                    let is_shown =
                        |part: &&[u8]| shown.as_bytes().windows(PART).any(|window| window == *part);
                    assert!(!parts.iter().any(is_shown), "{arrived} shows {}", &*shown);
                }
            }
        }
    }
}
