//! Tokens that are known by their shape; the shapes are rows of `tables/vendors/`.

use std::ops::Range;

use crate::text::redact::cursor::Cursor;
use crate::text::redact::rule::{Edit, Found, Rule};
use crate::text::redact::tables::is_one_of;
use crate::text::redact::tables::vendor::{Before, Needs, Vendor};
use crate::text::redact::tables::vendors::{COMMON, vendors};
use crate::text::redact::triggers::{GRAM, Trigger};
use crate::text::redact::value::judgement::JUDGED;
use crate::text::redact::value::looks::{Look, has_digit, has_upper, is_blanked, is_monotonous, look};

/// One rule for each prefix of each row.
pub(crate) fn rules() -> impl Iterator<Item = Box<dyn Rule>> {
    vendors().flat_map(|row| {
        let rule = move |prefix: &&'static str| -> Box<dyn Rule> {
            Box::new(VendorToken { row, prefix, offset: rare_part(prefix) })
        };
        row.prefixes.iter().map(rule)
    })
}

struct VendorToken {
    row: &'static Vendor,
    prefix: &'static str,
    /// Where the part of the prefix begins that is searched for.
    offset: usize,
}

/// Where a prefix stops to look like a word, if it begins like many: a search for `lin` stops in every other line, one
/// for `n_api_` nearly never.
fn rare_part(prefix: &str) -> usize {
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
        // Too short to be searched for without the byte behind it.
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
        if body.len() < row.least || !body[..row.least].iter().all(|&byte| row.alphabet.has(byte)) {
            return Err(resume);
        }
        let length = body.iter().position(|&byte| !row.alphabet.has(byte)).unwrap_or(body.len());
        let body = &body[..length];
        let body = &body[..length - body.iter().rev().take_while(|&&byte| byte == b'.').count()];
        let end = start + body.len();
        if !is_plausible(row, body) || goes_on(cursor, self.prefix, begin, end) {
            return Err(end);
        }
        let from = if row.keeps_prefix { start } else { token };
        Ok(Edit::new(from..end, marker(row), row.rule))
    }

    /// A short word does not wait by itself, and behind a prefix each of its characters is secret.
    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let begin = trigger.start.checked_sub(self.offset)?;
        let rest = cursor.bytes[begin..].strip_prefix(self.prefix.as_bytes())?;
        let goes_on = rest.len() < self.row.least && rest.iter().all(|&byte| self.row.alphabet.has(byte));
        let may_be_glued = || (self.row.glued < usize::MAX).then_some(begin);
        goes_on.then(|| token_start(cursor, self.row, begin).or_else(may_be_glued)).flatten()
    }
}

fn marker(row: &Vendor) -> String {
    format!("[{}_REDACTED]", row.rule.to_ascii_uppercase())
}

/// Where the token begins whose prefix stands at `prefix`, if what stands before it allows one.
fn token_start(cursor: &Cursor<'_>, row: &Vendor, prefix: usize) -> Option<usize> {
    match row.before {
        Before::Anything => Some(prefix),
        Before::Boundary => cursor.is_token_start(prefix).then_some(prefix),
        Before::BoundaryButDash => {
            (cursor.is_token_start(prefix) && !continues_name(cursor, prefix)).then_some(prefix)
        }
        Before::Run { least, most } => {
            let belongs = |byte: &&u8| row.alphabet.has(**byte) && **byte != b'=';
            let run = cursor.bytes[cursor.floor..prefix].iter().rev().take(most + 1).take_while(belongs);
            let run = run.count();
            (least..=most).contains(&run).then(|| prefix - run)
        }
        Before::Digits => {
            let digits =
                cursor.bytes[..prefix].iter().rev().take(13).take_while(|byte| byte.is_ascii_digit());
            let digits = digits.count();
            ((8..=12).contains(&digits) && prefix - digits >= cursor.floor).then(|| prefix - digits)
        }
    }
}

/// Where the token begins whose prefix stands directly behind a letter, if its length says that it is one.
fn glued_start(cursor: &Cursor<'_>, row: &Vendor, prefix: usize, body: usize) -> Option<usize> {
    let least = cursor.bytes.get(body..body.checked_add(row.glued)?)?;
    least.iter().all(|&byte| row.alphabet.has(byte)).then_some(prefix)
}

/// Whether a dash, or a name and a dot, stand before `at`.
fn continues_name(cursor: &Cursor<'_>, at: usize) -> bool {
    match cursor.before(at) {
        Some(b'-') => true,
        Some(b'.') => cursor.before(at - 1).is_some_and(|byte| byte.is_ascii_alphanumeric()),
        _ => false,
    }
}

/// Whether what looks like a token is part of something longer: of a name (`hf_parametersdescription_prio`), of base64, or
/// of a token that somebody has masked.
fn goes_on(cursor: &Cursor<'_>, prefix: &str, begin: usize, end: usize) -> bool {
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

/// Whether a long run of base64 ends here, with one of its signs.
fn is_in_base64(before: &[u8]) -> bool {
    /// No name of a directory or host is as long.
    const LONG: usize = 40;
    matches!(before.last(), Some(b'+' | b'/'))
        && before.len() >= LONG
        && before[before.len() - LONG..]
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        && has_digit(&before[before.len() - LONG..])
        && has_upper(&before[before.len() - LONG..])
}

/// What a prefix and a length alone cannot tell apart from names and prose.
fn is_plausible(row: &Vendor, body: &[u8]) -> bool {
    let is_documented = row.documented.iter().any(|ending| body.ends_with(ending.as_bytes()));
    if is_blanked(body) || is_documented || body.len() > row.most {
        return false;
    }
    match row.needs {
        Needs::Nothing => true,
        Needs::NoWords => {
            let judged = std::str::from_utf8(&body[..body.len().min(JUDGED)]).unwrap_or_default();
            matches!(look(judged), Look::Random | Look::Mixed)
        }
        Needs::Variety => !is_monotonous(body),
        Needs::DigitAndCapital => has_digit(body) && has_upper(body),
        Needs::DigitAndCapitalOrLength => has_digit(body) && (has_upper(body) || body.len() >= 32),
        Needs::JwtParts => is_jwt(body),
    }
}

/// Header, payload and signature, the last of which may be missing or cut.
fn is_jwt(body: &[u8]) -> bool {
    let mut parts = body.split(|&byte| byte == b'.');
    let header = parts.next().is_some_and(|part| part.len() >= 8);
    let payload = parts.next().is_some_and(|part| part.len() >= 8);
    header && payload && parts.count() <= 3
}

#[cfg(test)]
mod tests {
    use super::{Before, marker, vendors};
    use crate::text::{Sanitizer, SanitizerOptions, settled_length};

    /// So much of a secret in a row gives something away.
    const PART: usize = 8;

    /// Every prefix of every row: the row's example behind that prefix, what of it is secret, and the row's marker.
    fn examples() -> impl Iterator<Item = (String, String, String)> {
        vendors().flat_map(|row| {
            row.prefixes.iter().map(move |prefix| {
                let before = match row.before {
                    Before::Digits => "123456789".to_owned(),
                    Before::Run { least, .. } => "7a0ad3e9".chars().cycle().take(least).collect(),
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
    fn each_example_is_redacted_as_its_own_row_says_wherever_it_stands() {
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
    fn no_example_is_shown_in_part_while_it_arrives() {
        let sanitizer = Sanitizer::new(SanitizerOptions::default());
        for (token, secret, marker) in examples() {
            // The name of a vendor is no secret, and the marker says it.
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
