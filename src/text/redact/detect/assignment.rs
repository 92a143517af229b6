//! `name=value`, `name: value` and their relatives.

use std::ops::Range;

use super::entry::entry;
use super::extent::{Value, is_setting, leads_line, value, whole};
use super::header::header;
use super::separator::{Separator, Tie, separator};
use crate::text::redact::cursor::Cursor;
use crate::text::redact::rule::{Edit, Found, REDACTED, Rule};
use crate::text::redact::tables::names::TRIGGERS;
use crate::text::redact::triggers::Trigger;
use crate::text::redact::value::header::header_kind;
use crate::text::redact::value::judgement::{Place, is_secret};
use crate::text::redact::value::looks::{Look, is_marker, look};
use crate::text::redact::value::name::{NameKind, name_kind};

const RULE: &str = "assignment";

/// A name such as `api_key`, around one of its words, and the value that belongs to it.
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
        let nothing = Found::nothing(name.end);
        let Some(separator) = entry(cursor, &name).or_else(|| separator(cursor, &name)) else {
            return nothing;
        };
        let text = &cursor.text[name.clone()];
        if let Some(kind) = header_kind(text) {
            return header(cursor, &name, &separator, kind).unwrap_or(nothing);
        }
        let kind = kind_of(cursor, &name, text);
        if kind == NameKind::Plain || (kind == NameKind::Query && separator.tie != Tie::Parameter) {
            return nothing;
        }
        let Some(found) = value(cursor, &name, &separator) else { return nothing };
        let content = &cursor.text[found.range.clone()];
        let place = place(cursor, &name, &separator, &found);
        if is_marker(content) || is_call(cursor, place, &found) || !is_secret(kind, text, content, place) {
            return Found::nothing(name.end.max(separator.value.min(found.range.start)));
        }
        let range = whole(cursor, &name, &separator, &found);
        Found::edit(Edit::new(range, REDACTED, RULE))
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        open_value(cursor, name_of(cursor, trigger), false)
    }
}

/// The whole name that a trigger is part of.
fn name_of(cursor: &Cursor<'_>, trigger: Range<usize>) -> Range<usize> {
    // The sign of `sig=` is the separator.
    let is_signed = cursor.bytes[trigger.end - 1] == b'=';
    cursor.name_around(trigger.start..trigger.end - usize::from(is_signed))
}

/// Judges the value of a name in another language. Prose has such words too, so only a random value is redacted.
pub(crate) fn find_foreign(cursor: &Cursor<'_>, name: Range<usize>) -> Found {
    let nothing = Found::nothing(name.end);
    let Some(separator) = separator(cursor, &name) else { return nothing };
    let Some(found) = value(cursor, &name, &separator) else { return nothing };
    let content = &cursor.text[found.range.clone()];
    let is_secret = is_secret(NameKind::Secret, &cursor.text[name.clone()], content, Place::Argument);
    if is_marker(content) || !is_secret || is_call(cursor, Place::Argument, &found) {
        return nothing;
    }
    let range = whole(cursor, &name, &separator, &found);
    Found::edit(Edit::new(range, REDACTED, RULE))
}

/// Position of the value of a name whose verdict still depends on text that has not arrived.
pub(crate) fn open_value(cursor: &Cursor<'_>, name: Range<usize>, is_foreign: bool) -> Option<usize> {
    /// No verdict reads more of a value than this, and no XML element is longer.
    const JUDGED: usize = 1024;
    let text = &cursor.text[name.clone()];
    let separator = entry(cursor, &name).or_else(|| separator(cursor, &name))?;
    let rest = cursor.bytes.get(separator.value..)?;
    let goes_on = rest.len() < JUDGED && !rest.contains(&b'\n');
    let is_open = if header_kind(text).is_some() {
        goes_on
    } else if !is_foreign && kind_of(cursor, &name, text) == NameKind::Plain {
        false
    } else {
        match value(cursor, &name, &separator) {
            // The byte behind a value tells a value from a call.
            Some(found) => found.range.end + 1 >= cursor.bytes.len() && goes_on,
            None => goes_on,
        }
    };
    (is_open && !rest.is_empty()).then_some(separator.value)
}

/// Whether a name is the last word of `mot de passe`.
fn is_french(cursor: &Cursor<'_>, name: &Range<usize>) -> bool {
    &cursor.bytes[name.clone()] == b"passe"
        && cursor.line_before(name.start, 7).eq_ignore_ascii_case(b"mot de ")
}

/// The kind of a name, with `API key` as two words.
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

fn place(cursor: &Cursor<'_>, name: &Range<usize>, separator: &Separator, found: &Value) -> Place {
    let ends = || {
        let end = found.range.end;
        cursor.ends_line(end)
            || (separator.tie == Tie::Tight && matches!(cursor.byte(end), Some(b' ' | b'\t' | b'\\' | b'"')))
    };
    match separator.tie {
        Tie::Comma | Tie::Spoken => Place::Argument,
        _ if found.quote.is_some() => Place::Quoted,
        Tie::Element => Place::Quoted,
        Tie::Parameter => Place::Parameter,
        Tie::Blank => Place::Alone,
        Tie::Entry => Place::Setting,
        Tie::Tight if is_setting(cursor, name, separator) => Place::Setting,
        // `--password=x` can only be a value.
        Tie::Tight if cursor.byte(name.start) == Some(b'-') => Place::Parameter,
        // `password=x` with a blank behind is a shell, a log or a settings file; code goes on with a sign.
        Tie::Tight if ends() => Place::Setting,
        Tie::Colon if separator.name_quote.is_none() && ends() && is_statement(cursor, name.start) => {
            Place::Alone
        }
        _ => Place::Code,
    }
}

/// Whether `name: value` is a line or a sentence of its own rather than a field among others.
fn is_statement(cursor: &Cursor<'_>, start: usize) -> bool {
    leads_line(cursor, start) || cursor.before(start) == Some(b' ')
}

/// Whether a value without quotes is called, indexed or continued: code.
fn is_call(cursor: &Cursor<'_>, place: Place, found: &Value) -> bool {
    if found.quote.is_some() || matches!(place, Place::Setting | Place::Parameter) {
        return false;
    }
    let content = &cursor.text[found.range.clone()];
    matches!(cursor.byte(found.range.end), Some(b'(' | b'[' | b'{'))
        || content.starts_with(['[', '{', '('])
        || content.contains('(')
        || (place == Place::Code && matches!(look(content), Look::Identifier))
}
