//! Finds `name=value`, `name: value` and similar forms, and names of passwords in other languages.

use super::separator::{entry, separator};
use super::tie::{Separator, Tie};
use std::ops::Range;

use super::block::{BLOCK_REACH, block};
use super::extent::{Value, full_range, is_setting, leads_line, lines_between, value};
use super::header::{begins_with_scheme, header};
use crate::redact::cursor::{Cursor, line_break};
use crate::redact::detect::header::{HeaderKind, header_kind};
use crate::redact::judgement::{Place, is_expression, is_secret};
use crate::redact::names::{FOREIGN, TRIGGERS};
use crate::redact::names::{NameKind, name_kind};
use crate::redact::rule::{Edit, Found, REDACTED, Rule};
use crate::redact::search::Trigger;
use crate::redact::shape::{Shape, is_marker, shape_of};

const RULE: &str = "assignment";

/// The minimum length of a value of `password[0]`. A shorter value is a character of the password.
const MIN_INDEXED: usize = 4;

/// The rule for a name such as `api_key`, found by one of its words, and its value.
pub(crate) struct Assignment;

impl Rule for Assignment {
    fn triggers(&self) -> Vec<Trigger> {
        TRIGGERS.iter().map(|word| Trigger::any_case(word)).collect()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let name = name_of(cursor, trigger);
        if is_french(cursor, &name) {
            return find_foreign(cursor, name);
        }
        let separator = separator_after(cursor, &name).ok_or(name.end)?;
        let text = &cursor.text[name.clone()];
        if let Some(kind) = header_kind(text) {
            return header(cursor, &separator, kind).ok_or(name.end);
        }
        let kind = kind_of(cursor, &name, text);
        if kind == NameKind::Secret
            && begins_with_scheme(cursor, &separator)
            && let Some(edit) = header(cursor, &separator, HeaderKind::Authorization)
        {
            return Ok(edit);
        }
        // In a program such a name is a constant of any type.
        let is_line = matches!(separator.tie, Tie::Tight | Tie::Entry | Tie::ElementPair)
            || (separator.tie == Tie::Colon && leads_line(cursor, name.start));
        if kind == NameKind::Variable && !is_line {
            return Err(name.end);
        }
        // `--- PASS: TestName` reports a passed test.
        if text == "PASS" && separator.tie == Tie::Colon {
            return Err(name.end);
        }
        // `arn:aws:secretsmanager:…:secret:name` is a resource name.
        if separator.tie == Tie::Colon && is_in_arn(cursor, &name) {
            return Err(name.end);
        }
        if kind == NameKind::Plain || (kind == NameKind::Query && separator.tie != Tie::Parameter) {
            return Err(name.end);
        }
        find_value(cursor, &separator, kind, None)
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        open_value(cursor, &name_of(cursor, trigger), false)
    }
}

/// The rule for `contraseña: x` and password names in other languages. The value must clearly be a secret.
pub(crate) struct ForeignName;

impl Rule for ForeignName {
    fn triggers(&self) -> Vec<Trigger> {
        FOREIGN.iter().map(|(ending, _)| Trigger::any_case(ending)).collect()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        find_foreign(cursor, whole_word(cursor, &trigger).ok_or(trigger.end)?)
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        whole_word(cursor, &trigger).and_then(|name| open_value(cursor, &name, true))
    }
}

/// Returns the whole name that contains a trigger.
fn name_of(cursor: &Cursor<'_>, trigger: Range<usize>) -> Range<usize> {
    // The sign of `sig=` is the separator.
    let is_signed = cursor.bytes[trigger.end - 1] == b'=';
    cursor.name_around(trigger.start..trigger.end - usize::from(is_signed))
}

/// Returns the word that ends with the trigger, if it is one of the listed words.
fn whole_word(cursor: &Cursor<'_>, ending: &Range<usize>) -> Option<Range<usize>> {
    FOREIGN.iter().find_map(|(_, word)| {
        let start = ending.end.checked_sub(word.len())?;
        let found = cursor.bytes.get(start..ending.end)?;
        (start >= cursor.floor && found.eq_ignore_ascii_case(word.as_bytes())).then_some(start..ending.end)
    })
}

/// Returns the separator between a name and its value.
fn separator_after(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    entry(cursor, name).or_else(|| separator(cursor, name))
}

/// Judges the value after a separator.
fn find_value(cursor: &Cursor<'_>, separator: &Separator, kind: NameKind, known: Option<Place>) -> Found {
    let name = &separator.name;
    if let Some(block) = block(cursor, separator) {
        let place = known.unwrap_or(Place::Quoted);
        let is_secret = is_secret(kind, &cursor.text[name.clone()], &block.judged, place);
        let content = block.content();
        // In a text that is still arriving, the content may be missing.
        let is_redacted = is_secret && !content.is_empty() && !is_marker(&cursor.text[content.clone()]);
        return if is_redacted { Ok(Edit::new(content, REDACTED, RULE)) } else { Err(name.end) };
    }
    let found = value(cursor, separator).ok_or(name.end)?;
    let content = &cursor.text[found.range.clone()];
    let place = known.unwrap_or_else(|| place(cursor, separator, &found));
    let is_secret = is_secret(kind, &cursor.text[name.clone()], content, place)
        && !(found.quote.is_none() && is_expression(content, cursor.byte(found.range.end)));
    // `password[0] = '\0'` is code.
    let is_sign = cursor.byte(name.end) == Some(b'[') && content.len() < MIN_INDEXED;
    if is_marker(content) || is_sign || is_call(cursor, place, &found) || !is_secret {
        return Err(name.end.max(separator.value.min(found.range.start)));
    }
    Ok(Edit::new(full_range(cursor, separator, &found), REDACTED, RULE))
}

/// Judges the value of a name in another language. Prose contains such words too, so only a random value is redacted.
fn find_foreign(cursor: &Cursor<'_>, name: Range<usize>) -> Found {
    let separator = separator(cursor, &name).ok_or(name.end)?;
    find_value(cursor, &separator, NameKind::Secret, Some(Place::Argument))
}

/// Returns the position of a value whose verdict still depends on text that has not arrived.
fn open_value(cursor: &Cursor<'_>, name: &Range<usize>, is_foreign: bool) -> Option<usize> {
    /// The maximum number of bytes that a verdict reads. No XML element is longer.
    const JUDGED: usize = 1024;
    let text = &cursor.text[name.clone()];
    let separator = separator_after(cursor, name)?;
    let rest = cursor.bytes.get(separator.value..)?;
    // The name may be on the previous line, or up to three lines above.
    let line = rest.trim_ascii_start();
    let continues = rest.len() < JUDGED && !line.contains(&b'\n');
    let is_open = if header_kind(text).is_some() {
        continues
    } else if !is_foreign && kind_of(cursor, name, text) == NameKind::Plain {
        false
    } else if let Some(block) = block(cursor, &separator) {
        block.is_open && rest.len() < BLOCK_REACH
    } else if matches!(separator.tie, Tie::Element | Tie::ElementPair) {
        value(cursor, &separator).is_none() && rest.len() < JUDGED && !rest.contains(&b'<')
    } else {
        match value(cursor, &separator) {
            // The byte after a value distinguishes a value from a call.
            Some(found) => found.range.end + 1 >= cursor.bytes.len() && continues,
            None => continues,
        }
    };
    (is_open && !rest.is_empty()).then_some(separator.value)
}

/// Returns true if a name is part of an Amazon resource name (ARN).
fn is_in_arn(cursor: &Cursor<'_>, name: &Range<usize>) -> bool {
    /// The maximum length of partition, service, region and account.
    const REACH: usize = 96;
    cursor.before(name.start) == Some(b':')
        && memchr::memmem::find(cursor.line_before(name.start, REACH), b"arn:").is_some()
}

/// Returns true if a name is the last word of `mot de passe`.
fn is_french(cursor: &Cursor<'_>, name: &Range<usize>) -> bool {
    &cursor.bytes[name.clone()] == b"passe"
        && cursor.line_before(name.start, 7).eq_ignore_ascii_case(b"mot de ")
}

/// Returns the kind of a name. `API key` may be two words.
fn kind_of(cursor: &Cursor<'_>, name: &Range<usize>, text: &str) -> NameKind {
    let kind = name_kind(text);
    if kind != NameKind::Query || cursor.before(name.start) != Some(b' ') {
        return kind;
    }
    let before = cursor.line_before(name.start - 1, 16);
    let length = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let pair = &cursor.text[name.start - 1 - length..name.end];
    if length > 0 && name_kind(pair) == NameKind::Secret { NameKind::Secret } else { kind }
}

fn place(cursor: &Cursor<'_>, separator: &Separator, found: &Value) -> Place {
    let name = &separator.name;
    let ends = || {
        let end = found.range.end;
        cursor.ends_line(end)
            || (separator.tie == Tie::Tight && matches!(cursor.byte(end), Some(b' ' | b'\t' | b'\\' | b'"')))
    };
    match separator.tie {
        Tie::Comma | Tie::Sentence | Tie::Doubled => Place::Argument,
        Tie::Cell => Place::Code,
        _ if found.quote.is_some() => Place::Quoted,
        Tie::Element | Tie::ElementPair => Place::Quoted,
        Tie::Tight | Tie::Equals | Tie::Colon if line_break(cursor.bytes, separator.value) > 0 => {
            next_line_place(cursor, separator, found)
        }
        // `;this.token=x` in minified code.
        Tie::Parameter
            if cursor.before(name.start) == Some(b';') && cursor.text[name.clone()].contains('.') =>
        {
            Place::Code
        }
        Tie::Parameter => Place::Parameter,
        Tie::Blank => Place::Alone,
        Tie::Entry => Place::Setting,
        Tie::Tight if is_setting(cursor, separator) => Place::Setting,
        // `--password=x` can only be a value.
        Tie::Tight if cursor.byte(name.start) == Some(b'-') => Place::Parameter,
        // `password=x` before a blank is from a shell, a log or a settings file. In code, a sign would follow.
        Tie::Tight if ends() => Place::Setting,
        Tie::Colon if separator.name_quote.is_none() && ends() && is_statement(cursor, name.start) => {
            Place::Alone
        }
        _ => Place::Code,
    }
}

/// Returns the place of a value without quotes on a line after its name.
fn next_line_place(cursor: &Cursor<'_>, separator: &Separator, found: &Value) -> Place {
    let is_deeper =
        cursor.line_before(found.range.start, 64).len() > cursor.line_before(separator.name.start, 64).len();
    match separator.tie {
        Tie::Colon if lines_between(cursor, separator, found.range.start) == 1 => {
            let is_field = is_deeper && leads_line(cursor, separator.name.start);
            if is_field { Place::Alone } else { Place::Code }
        }
        _ => Place::Argument,
    }
}

/// Returns true if `name: value` is a line or a sentence of its own rather than a field among others.
fn is_statement(cursor: &Cursor<'_>, start: usize) -> bool {
    leads_line(cursor, start) || cursor.before(start) == Some(b' ')
}

/// Returns true if a value without quotes is called, indexed or continued, which makes it code.
fn is_call(cursor: &Cursor<'_>, place: Place, found: &Value) -> bool {
    let content = &cursor.text[found.range.clone()];
    // `;token=get(page)` in minified code looks like a parameter.
    let is_called = cursor.byte(found.range.end) == Some(b'(');
    if found.quote.is_some() || matches!(place, Place::Setting | Place::Parameter) {
        return found.quote.is_none() && place == Place::Parameter && is_called;
    }
    matches!(cursor.byte(found.range.end), Some(b'(' | b'[' | b'{'))
        || content.starts_with(['[', '{', '('])
        || content.contains(['(', '['])
        || (place == Place::Code && matches!(shape_of(content), Shape::Identifier))
}
