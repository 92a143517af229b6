//! Lists the rules, and adds a rule that decodes a text: JSON in base64 that contains a secret, as in the credentials
//! of container registries.

use std::ops::Range;
use std::sync::LazyLock;

use super::cursor::{Cursor, line_break, run_before};
use super::detect::{self, Homes};
use super::rule::{Edit, Found, REDACTED, Rule};
use super::scan::Scanner;
use super::search::Trigger;

/// The minimum length of the base64 text, in bytes. Shorter JSON contains no secret.
const MIN_JSON: usize = 24;

/// The maximum length of the base64 text, in bytes. Longer JSON is a file, such as a source map.
const MAX_JSON: usize = 64 * 1024;

/// The minimum line length of wrapped base64. Only the last line is shorter.
const MIN_LINE: usize = 32;

/// Returns every rule. `homes` selects the directories that become `~`.
pub(crate) fn rules(homes: &Homes) -> Vec<Box<dyn Rule>> {
    let mut rules = detect::rules(homes);
    rules.push(Box::new(EncodedJson));
    rules
}

/// The rule for `eyJ0b2tlbiI6…`, on one line or wrapped.
struct EncodedJson;

impl Rule for EncodedJson {
    /// Returns the base64 forms of `{"`, `{ "` and `{` before a line end, also after `[`.
    fn triggers(&self) -> Vec<Trigger> {
        ["eyJ", "eyAi", "ewog", "ewoJ", "ewoi", "ew0K", "W3si", "Wwog"].map(Trigger::exact).into()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let nothing = trigger.start + 1;
        if !begins(cursor, trigger.start) {
            return Err(nothing);
        }
        let (end, decoded) = decoded(cursor, trigger.start);
        if end - trigger.start < MIN_JSON || !has_secret(&decoded) {
            return Err(nothing);
        }
        Ok(Edit::new(trigger.start..end, REDACTED, "base64_json"))
    }
}

/// Returns true if base64 begins at `at`, and if `at` is not inside a word or on a later line of wrapped base64.
fn begins(cursor: &Cursor<'_>, at: usize) -> bool {
    /// The maximum number of blanks in an indentation.
    const REACH: usize = 8 * MIN_LINE;
    let window = &cursor.bytes[at.saturating_sub(REACH)..at];
    // A source map is a data URL.
    if !cursor.is_token_start(at)
        || matches!(window.last(), Some(b'+' | b'/' | b'-' | b'_'))
        || window.ends_with(b";base64,")
    {
        return false;
    }
    let line = window.trim_ascii_end();
    let line_above = line.strip_suffix(b"\\n").unwrap_or(line);
    let is_first = line_above.len() == line.len() && !window[line.len()..].contains(&b'\n');
    is_first || run_before(line_above.trim_ascii_end(), is_base64) < MIN_LINE
}

/// Returns the end of the base64 at `start`, and its decoded content.
fn decoded(cursor: &Cursor<'_>, start: usize) -> (usize, String) {
    let bytes = cursor.bytes;
    let stop = bytes.len().min(start + MAX_JSON);
    let mut content = Vec::new();
    let mut bits = 0_u32;
    let mut count = 0_u32;
    let mut at = start;
    loop {
        let line = at;
        while at < stop
            && let Some(value) = sextet(bytes[at])
        {
            bits = bits << 6 | value;
            count += 6;
            if count >= 8 {
                count -= 8;
                content.push((bits >> count).to_le_bytes()[0]);
            }
            at += 1;
        }
        let newline = line_break(bytes, at);
        let next = cursor.skip_blanks(at + newline);
        let continues = newline > 0 && at - line >= MIN_LINE && next < stop && sextet(bytes[next]).is_some();
        if !continues {
            break;
        }
        at = next;
    }
    let end = at + bytes[at..].iter().take(2).take_while(|&&byte| byte == b'=').count();
    let text = match String::from_utf8(content) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let mut content = error.into_bytes();
            content.truncate(valid);
            String::from_utf8(content).unwrap_or_default()
        }
    };
    (end, text)
}

fn has_secret(text: &str) -> bool {
    static SCANNER: LazyLock<Scanner> =
        LazyLock::new(|| Scanner::new(detect::rules(&Homes::default()), &[], []));
    let mut edits = Vec::new();
    let _ = SCANNER.collect(text, std::slice::from_ref(&(0..text.len())), &mut edits);
    !edits.is_empty()
}

fn is_base64(byte: u8) -> bool {
    sextet(byte).is_some()
}

/// Returns the value of a base64 character, in either alphabet.
fn sextet(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(value.into())
}
