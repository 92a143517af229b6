//! Finds `Bearer x` and `Basic x` anywhere in a text.

use std::ops::Range;

use super::assignment::Assignment;
use crate::redact::cursor::Cursor;
use crate::redact::judgement::JUDGED;
use crate::redact::rule::{Edit, Found, REDACTED, Rule};
use crate::redact::search::Trigger;
use crate::redact::shape::{Shape, has_digit, shape_of};

/// The minimum number of base64 characters. A shorter text may be a word.
const MIN_BASIC: usize = 12;

/// The rule for the token after `Bearer`. In prose an ordinary word follows.
pub(crate) struct Bearer;

impl Rule for Bearer {
    fn triggers(&self) -> Vec<Trigger> {
        vec![Trigger::any_case("bearer")]
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let blank = cursor.bytes[trigger.end..].strip_prefix(b"%20").map_or(0, |_| 3);
        let start = if blank > 0 { trigger.end + blank } else { cursor.skip_blanks(trigger.end) };
        if start == trigger.end || !cursor.is_token_start(trigger.start) {
            return Assignment.find(cursor, trigger);
        }
        let nothing = Err(start);
        let length = cursor.bytes[start..].iter().take_while(|&&byte| is_token68(byte)).count();
        let token = cursor.text[start..start + length].trim_end_matches('.');
        let is_secret = match shape_of(&token[..token.len().min(JUDGED)]) {
            Shape::Random => true,
            Shape::Mixed | Shape::Short => has_digit(token.as_bytes()) && token.len() >= 4,
            Shape::Path => token.len() >= 16 && has_digit(token.as_bytes()),
            Shape::WordDigits | Shape::Number => token.len() >= 6,
            _ => false,
        };
        // `#define TIPC_ENABLE_BEARER 0x4101` is a constant.
        let is_constant = token.starts_with("0x") && shape_of(token) == Shape::Number;
        if !is_secret || is_constant || matches!(cursor.byte(start + length), Some(b'(' | b'$' | b'{')) {
            return nothing;
        }
        Ok(Edit::new(start..start + token.len(), REDACTED, "bearer"))
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        open_word(cursor, trigger.end).or_else(|| Assignment.open_from(cursor, trigger))
    }
}

/// The rule for the credentials after `Basic`. Words of prose do not have both cases and a digit.
pub(crate) struct Basic;

impl Rule for Basic {
    fn triggers(&self) -> Vec<Trigger> {
        vec![Trigger::any_case("basic ")]
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let start = cursor.skip_blanks(trigger.end);
        let length = cursor.bytes[start..].iter().take_while(|&&byte| is_token68(byte)).count();
        let token = &cursor.bytes[start..start + length];
        let has = |kind: fn(&u8) -> bool| token.iter().any(kind);
        let is_base64 = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
        if length < MIN_BASIC || !is_base64 || has(|byte| matches!(byte, b'.' | b'-' | b'_' | b'~')) {
            return Err(start.max(trigger.end));
        }
        Ok(Edit::new(start..start + length, REDACTED, "basic_credentials"))
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        open_word(cursor, trigger.end)
    }
}

/// Returns the position of the last word of the text, if it is the word after `at` and does not consist of small
/// letters only, like a word of prose.
fn open_word(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    let start = cursor.skip_blanks(at);
    let word = &cursor.bytes[start..];
    let continues = word.iter().all(|&byte| is_token68(byte));
    (continues && !word.iter().all(u8::is_ascii_lowercase)).then_some(start)
}

fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}
