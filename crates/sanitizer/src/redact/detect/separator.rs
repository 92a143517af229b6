//! Finds the link between a name and its value: the sign, and the start and end of the value.
//!
//! The value can stand next to its name, or in another field or element. Fields: `name: X` and then `value: y`, as in
//! Kubernetes, compose files and lists of headers in JSON. Elements: `<key>X</key><string>y</string>`, as in property
//! lists.

use std::ops::Range;

use super::escaped::{escaped_separator, opening};
use super::tie::{Separator, Tie};
use crate::redact::cursor::{Cursor, Quote, line_break, run_before};
use crate::redact::names::{NameKind, name_kind};
use crate::redact::shape::has_digit;

/// The minimum length of a word without a digit that is judged in a sentence.
const MIN_PLAIN: usize = 16;

/// The maximum number of bytes between a name and the colon before its value: `is generated for root@localhost: `.
const MAX_GAP: usize = 64;

pub(crate) fn separator(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    if let Some(found) = escaped_separator(cursor, name) {
        return Some(found);
    }
    let found = plain_separator(cursor, name)?;
    // `password: &quot;x&quot;`.
    match opening(cursor, found.value) {
        Some((value, end)) => Some(Separator { value, escaped_end: Some(end), ..found }),
        None => Some(found),
    }
}

fn plain_separator(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    let mut at = name.end;
    let name_quote =
        cursor.quote(at).filter(|quote| quote.mark != b'`' || cursor.quote_before(name.start).is_some());
    if let Some(quote) = name_quote {
        at += quote.len();
    }
    if cursor.byte(at) == Some(b']') {
        at += 1;
    }
    let is_quoted = name_quote.is_some();
    let index = index(cursor, at);
    at = index.as_ref().map_or(at, |index| index.end);
    if !is_quoted && matches!(cursor.byte(at), Some(b'?' | b'!')) {
        at += 1;
    }
    let next = cursor.skip_blanks(at);
    let rest = &cursor.bytes[next..];
    let is_flag = matches!(cursor.byte(name.start), Some(b'-'));
    let is_assigned =
        matches!(rest, [b'=', sign, ..] if *sign != b'>') || (next == at && rest.starts_with(b": "));
    if index.is_some() && !is_assigned {
        return None;
    }
    if let Some(length) = compound(rest) {
        let value = cursor.skip_blanks(next + length);
        return Some(Separator {
            name: name.clone(),
            tie: Tie::Equals,
            value,
            name_quote,
            escaped_end: None,
        });
    }
    let (tie, after) = match rest {
        [b'=', b'=', tail @ ..] if next == at && is_doubled(cursor, name, tail) => (Tie::Doubled, next + 2),
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] | [b':', b'/', b'/', ..] => return None,
        [b'=', b'>', ..] | [b':', b'=', ..] => (Tie::Equals, next + 2),
        [b'=', ..] if is_parameter(cursor, name.start) => (Tie::Parameter, next + 1),
        [b'=', tail @ ..]
            if next == at
                && !matches!(tail.first(), None | Some(b' ' | b'\t'))
                && index.is_none_or(|index| index.is_plain) =>
        {
            (Tie::Tight, next + 1)
        }
        [b'=', ..] => (Tie::Equals, next + 1),
        [b':', ..] => (Tie::Colon, next + 1),
        [0xef, 0xbc, 0x9a, ..] => (Tie::Colon, next + '：'.len_utf8()),
        [b'>', ..] if next == at && !is_quoted && is_element(cursor, name.start) => (Tie::Element, next + 1),
        [first, ..] if first.is_ascii_alphabetic() && next > at && is_element(cursor, name.start) => {
            (Tie::Element, next + attributes(rest)?)
        }
        [b',', ..] if is_quoted || is_symbol(cursor, name.start) => (Tie::Comma, next + 1),
        [b'(', b'"' | b'\'', ..] if next == at && is_setter(&cursor.text[name.clone()]) => {
            (Tie::Comma, next + 1)
        }
        _ if is_quoted && next > at && rest.starts_with(b"value=") => (Tie::Equals, next + "value=".len()),
        [b'|', b' ', ..] if is_cell(cursor, name, next) => (Tie::Cell, next + 1),
        _ if next == at || is_quoted => return None,
        _ if is_flag => (Tie::Flag, next),
        _ => {
            let (tie, value) = blank_value(cursor, name, next)?;
            return Some(Separator { name: name.clone(), tie, value, name_quote, escaped_end: None });
        }
    };
    Some(Separator {
        name: name.clone(),
        tie,
        value: cursor.skip_blanks(after),
        name_quote,
        escaped_end: None,
    })
}

/// The index after a name: `[0]`, `["x"]`, `[]`.
struct Index {
    end: usize,
    /// Set if a setting can have this index. An index with a variable is code.
    is_plain: bool,
}

fn index(cursor: &Cursor<'_>, at: usize) -> Option<Index> {
    /// The maximum length of an index. Longer text is an expression.
    const MAX_LENGTH: usize = 32;
    let rest = cursor.bytes[at..].strip_prefix(b"[")?;
    let window = &rest[..rest.len().min(MAX_LENGTH)];
    let content = &window[..memchr::memchr(b']', window)?];
    let is_quoted =
        content.len() > 1 && matches!(content[0], b'"' | b'\'') && content.ends_with(&content[..1]);
    let word = if is_quoted { &content[1..content.len() - 1] } else { content };
    let is_word = word.iter().all(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    is_word.then(|| Index {
        end: at + "[".len() + content.len() + "]".len(),
        is_plain: is_quoted || word.iter().all(u8::is_ascii_digit),
    })
}

/// Returns true if `name==x` is a setting with an additional `=`. A comparison has blanks, quotes or a statement
/// around it.
fn is_doubled(cursor: &Cursor<'_>, name: &Range<usize>, value: &[u8]) -> bool {
    let begins = match cursor.before(name.start) {
        None | Some(b'\n' | b'?' | b'"' | b'\'') => true,
        Some(b'&') => cursor.before(name.start - 1) != Some(b'&'),
        _ => cursor.byte(name.start) == Some(b'-'),
    };
    let is_value = |first: &u8| first.is_ascii_alphanumeric() || b"+/@!$%^*_~".contains(first);
    begins && value.first().is_some_and(is_value)
}

/// Returns the length of the attributes of an element, including the `>` after them.
fn attributes(rest: &[u8]) -> Option<usize> {
    /// The maximum length of attributes. Longer text belongs to code.
    const MAX_LENGTH: usize = 256;
    let window = &rest[..rest.len().min(MAX_LENGTH)];
    let end = memchr::memchr3(b'>', b'<', b'\n', window)?;
    (window[end] == b'>' && !window[..end].ends_with(b"/") && window[..end].contains(&b'='))
        .then_some(end + 1)
}

/// Returns the length of a compound assignment sign: `?=` and `::=` of make, `.=` of PHP, `??=`, `||=`.
fn compound(rest: &[u8]) -> Option<usize> {
    const SIGNS: [&[u8]; 8] = [b"?=", b"+=", b".=", b"??=", b"||=", b"&&=", b"::=", b":::="];
    let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign))?;
    (rest.get(sign.len()) != Some(&b'=')).then_some(sign.len())
}

/// Returns true if a name is a parameter of a query or of a connection string.
fn is_parameter(cursor: &Cursor<'_>, start: usize) -> bool {
    match cursor.before(start) {
        Some(b'?' | b'&') => true,
        Some(b';') => !matches!(cursor.before(start - 1), None | Some(b'\n' | b' ')),
        _ => false,
    }
}

/// Returns true if a name is alone in the table cell that ends at `end`.
fn is_cell(cursor: &Cursor<'_>, name: &Range<usize>, end: usize) -> bool {
    let before = cursor.line_before(name.start, 64);
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"`").unwrap_or(before).trim_ascii_end();
    (before.is_empty() && end > name.end) || before.ends_with(b"|")
}

/// Returns true if a name is a method that takes the value: `factory.setPassword`, `withApiKey`.
fn is_setter(name: &str) -> bool {
    let method = name.rsplit('.').next().unwrap_or(name);
    ["set", "with"].iter().any(|verb| {
        method
            .strip_prefix(verb)
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase() || first == '_'))
    })
}

/// Returns true if a name is a Ruby symbol (`:password, "x"`) and not the value of another name.
fn is_symbol(cursor: &Cursor<'_>, start: usize) -> bool {
    cursor.before(start) == Some(b':')
        && !cursor
            .before(start - 1)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'"' | b'\''))
}

/// Returns true if a name is an element, possibly in a name space: `<wsse:Password>`.
fn is_element(cursor: &Cursor<'_>, start: usize) -> bool {
    match cursor.before(start) {
        Some(b'<') => true,
        Some(b':') => {
            let space = cursor.line_before(start - 1, 32);
            let length = run_before(space, |byte| byte.is_ascii_alphanumeric());
            length > 0 && space[..space.len() - length].ends_with(b"<")
        }
        _ => false,
    }
}

/// Returns the position of a value that only blanks separate from its name: `#define NAME "x"`, `ENV NAME x`,
/// `PASSWORD 'x'` in SQL, `password x` in a netrc line, `const name string = "x"` in Go, and sentences.
fn blank_value(cursor: &Cursor<'_>, name: &Range<usize>, next: usize) -> Option<(Tie, usize)> {
    let text = &cursor.text[name.clone()];
    let is_constant = !text.bytes().any(|byte| byte.is_ascii_lowercase());
    let before = cursor.line_before(name.start, 128).trim_ascii_end();
    if is_constant && (cursor.quote(next).is_some() || before.ends_with(b"ENV") || before.ends_with(b"ARG")) {
        return Some((Tie::Blank, next));
    }
    // A line of `.netrc`. Prose contains `login and password`.
    let is_login = |at: usize| {
        before[..at].trim_ascii().is_empty()
            || before.trim_ascii_start().starts_with(b"machine ")
            || before.starts_with(b"default")
    };
    if text == "password" && memchr::memmem::find(before, b"login ").is_some_and(is_login) {
        return Some((Tie::Blank, next));
    }
    let rest = &cursor.bytes[next..];
    if let Some(typed) = rest.strip_prefix(b"string = ").or_else(|| rest.strip_prefix(b"[]byte = ")) {
        return (typed.first() == Some(&b'"')).then(|| (Tie::Blank, cursor.bytes.len() - typed.len()));
    }
    // "Pass" can also mean a test or a traversal, and an escape is a sign of code.
    let value = if text.ends_with("pass") || rest.starts_with(b"\\") {
        return None;
    } else {
        value_in_sentence(cursor, text, rest, next)
    };
    let word = &cursor.bytes[value..cursor.bytes.len().min(value + MIN_PLAIN)];
    let length = word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len());
    // A cheap check that rejects nearly every sentence.
    (length == MIN_PLAIN || has_digit(&word[..length])).then_some((Tie::Sentence, value))
}

/// Returns the position of the value in a sentence: after a small word, or after a colon.
fn value_in_sentence(cursor: &Cursor<'_>, name: &str, rest: &[u8], next: usize) -> usize {
    const SMALL: [&[u8]; 5] = [b"is ", b"to ", b"was ", b"of ", b"by extra("];
    let window = &rest[..rest.len().min(MAX_GAP)];
    if let Some(colon) = memchr::memchr(b':', window)
        && window.get(colon + 1) == Some(&b' ')
        // `Unseal Key 1: x`, and all names of passwords.
        && (window[..colon].iter().all(u8::is_ascii_digit) || name_kind(name) == NameKind::Password)
        && window[..colon].iter().all(|&byte| byte.is_ascii_alphanumeric() || b" @.-'".contains(&byte))
    {
        return cursor.skip_blanks(next + colon + 1);
    }
    next + SMALL.into_iter().find(|word| rest.starts_with(word)).map_or(0, <[u8]>::len)
}

/// The maximum number of bytes between a name and the field of its value: a line end and indentation.
const GAP: usize = 64;

/// The number of bytes of a `variable` block that are searched for its default.
const BLOCK: usize = 256;

/// Returns the separator of a name that is the value of a field `name` or `key`, if a field `value` follows.
pub(crate) fn entry(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    if cursor.byte(name.end) == Some(b'<') {
        return element_pair(cursor, name);
    }
    // A cheap check that rejects nearly every name.
    if !matches!(cursor.byte(name.end), Some(b'"' | b'\'' | b'\\' | b',' | b'\n' | b'\r')) {
        return None;
    }
    let name_quote = cursor.quote_before(name.start);
    if let Some(value) = default_of_variable(cursor, name) {
        return Some(Separator { name: name.clone(), tie: Tie::Entry, value, name_quote, escaped_end: None });
    }
    let start = name.start - name_quote.map_or(0, Quote::len);
    let before = without_mark(cursor.line_before(start, GAP).trim_ascii_end(), b":=")?;
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before);
    let before = before.strip_suffix(b"\\").unwrap_or(before);
    ends_with_word(before.trim_ascii_end(), &[b"name", b"key"]).then_some(())?;

    let mut at = cursor.skip_quote(name.end);
    if cursor.byte(at) == Some(b'>') && name_quote.is_some() && is_setting_element(before) {
        let value = value_element(cursor, at + 1).unwrap_or(at + 1);
        return Some(Separator {
            name: name.clone(),
            tie: Tie::ElementPair,
            value,
            name_quote,
            escaped_end: None,
        });
    }
    at += usize::from(cursor.byte(at) == Some(b','));
    let gap = &cursor.bytes[at..cursor.bytes.len().min(at + GAP)];
    let blank = gap.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    if memchr::memchr_iter(b'\n', &gap[..blank]).nth(1).is_some() {
        return None;
    }
    at = cursor.skip_quote(at + blank);
    let field = cursor.bytes.get(at..at + "value".len())?;
    field.eq_ignore_ascii_case(b"value").then_some(())?;
    at = cursor.skip_blanks(cursor.skip_quote(at + field.len()));
    matches!(cursor.byte(at), Some(b':' | b'=')).then(|| Separator {
        name: name.clone(),
        tie: Tie::Entry,
        value: cursor.skip_blanks(at + 1),
        name_quote,
        escaped_end: None,
    })
}

/// Returns true if the line ends with an attribute of an element with a setting. Other elements contain text for
/// people, as in `<string name="password">Passwort</string>`.
fn is_setting_element(line: &[u8]) -> bool {
    const TAGS: [&[u8]; 7] =
        [b"entry", b"property", b"param", b"parameter", b"setting", b"prop", b"attribute"];
    let element = memchr::memrchr(b'<', line).map_or(line, |open| &line[open + 1..]);
    let length = element.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(&element[..length]))
}

/// Returns the separator of a name that is the text of an element, if an element with its value follows.
fn element_pair(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    const TAGS: [&[u8]; 3] = [b"key", b"name", b"string"];
    let closing = &cursor.bytes[name.end..];
    let closing = closing.strip_prefix(b"</").or_else(|| closing.strip_prefix(b"<\\/"))?;
    let tag = TAGS
        .into_iter()
        .find(|tag| closing.get(..tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag)))?;
    let after = closing[tag.len()..].strip_prefix(b">")?;
    let before = cursor.line_before(name.start, GAP);
    // A key of a property list may have several words: `API Key`.
    let words =
        run_before(before, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_' | b':'));
    let opens = before[..before.len() - words].strip_suffix(b">")?;
    ends_with_word(opens, &[tag]).then_some(())?;
    let value = value_element(cursor, cursor.bytes.len() - after.len())?;
    Some(Separator { name: name.clone(), tie: Tie::ElementPair, value, name_quote: None, escaped_end: None })
}

/// Returns the position of the text of a value element, after blanks and a line end.
fn value_element(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    const TAGS: [&[u8]; 3] = [b"<string>", b"<value>", b"<data>"];
    let mut at = at;
    for _ in 0..2 {
        at = cursor.skip_blanks(at);
        at += line_break(cursor.bytes, at);
        if cursor.bytes[at..].starts_with(b"\\t") {
            at += 2;
        }
    }
    at = cursor.skip_blanks(at);
    let rest = &cursor.bytes[at..];
    let tag = TAGS
        .into_iter()
        .find(|tag| rest.get(..tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag)))?;
    Some(at + tag.len())
}

/// Returns the position of the default in Terraform's `variable "X" { default = "y" }`.
fn default_of_variable(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<usize> {
    cursor.line_before(name.start, GAP).ends_with(b"variable \"").then_some(())?;
    let block = &cursor.bytes[name.end..cursor.bytes.len().min(name.end + BLOCK)];
    let block = block.strip_prefix(b"\" {")?;
    let block = &block[..memchr::memchr(b'}', block).unwrap_or(block.len())];
    let default = memchr::memmem::find(block, b"default")? + "default".len();
    let equals = default + block[default..].iter().take_while(|&&byte| byte == b' ').count();
    (block.get(equals) == Some(&b'=')).then(|| cursor.skip_blanks(name.end + "\" {".len() + equals + 1))
}

fn without_mark<'a>(text: &'a [u8], marks: &[u8]) -> Option<&'a [u8]> {
    let (last, rest) = text.split_last()?;
    marks.contains(last).then(|| rest.trim_ascii_end())
}

/// Returns true if a text ends with one of these words, as a word of its own.
fn ends_with_word(text: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| {
        text.len().checked_sub(word.len()).is_some_and(|at| {
            text[at..].eq_ignore_ascii_case(word) && (at == 0 || !text[at - 1].is_ascii_alphanumeric())
        })
    })
}
