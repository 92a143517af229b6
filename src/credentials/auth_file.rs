//! The text of an `auth.json`: one entry per provider.

use std::fmt;

use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::{Map, Value};

use super::token::Token;
use crate::text::STRICT;

/// The credentials of all providers. `Debug` shows the providers only.
#[derive(Clone, Default)]
pub(super) struct Credentials(Map<String, Value>);

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.keys()).finish()
    }
}

impl Credentials {
    /// Parses the bytes of a file. An empty file has no credentials. `None` when the bytes are not a JSON object, or
    /// are nested deeper than `serde_json` allows.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = without_mark(std::str::from_utf8(bytes).ok()?);
        if text.is_empty() {
            return Some(Self::default());
        }
        match serde_json::from_str(text).ok()? {
            Value::Object(entries) => Some(Self(entries)),
            _ => None,
        }
    }

    /// Splits off the entries that `is_taken` rejects, and returns their providers beside what is left.
    pub(super) fn split(self, is_taken: impl Fn(&Value) -> bool) -> (Self, Vec<String>) {
        let (taken, others): (Map<_, _>, Map<_, _>) =
            self.0.into_iter().partition(|(_, entry)| is_taken(entry));
        (Self(taken), others.into_iter().map(|(provider, _)| provider).collect())
    }

    /// The text of a file with these entries and those of `others`, which win where both have a provider.
    pub(super) fn with(&self, others: &Self) -> Vec<u8> {
        let mut entries = self.0.clone();
        entries.extend(others.0.clone());
        Value::Object(entries).to_string().into_bytes()
    }

    /// The entry of a provider, of any type.
    pub(super) fn entry(&self, provider: &str) -> Option<&Value> {
        self.0.get(provider)
    }

    /// The entry of a provider that the user has logged in to (type `oauth`).
    pub(super) fn oauth(&self, provider: &str) -> Option<&Map<String, Value>> {
        let entry = self.entry(provider)?.as_object()?;
        (entry.get("type")?.as_str()? == "oauth").then_some(entry)
    }
}

/// Replaces the token in one entry and keeps every other byte. `None` when the entry is missing, or is there twice:
/// then it is unclear which one pi reads.
pub(super) fn with_token(bytes: &[u8], provider: &str, token: &Token) -> Option<String> {
    let whole = std::str::from_utf8(bytes).ok()?;
    let text = without_mark(whole);
    let mark = whole.len() - text.len();
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).ok()?;
    let Ast::Object(entries) = parsed.value? else { return None };
    let Ast::Object(entry) = only(&entries.properties, provider)? else { return None };
    let mut edits = Vec::new();
    for (name, value) in token.members() {
        let old = only(&entry.properties, name)?;
        edits.push((mark + old.start()..mark + old.end(), value.to_string()));
    }
    edits.sort_unstable_by_key(|(range, _)| range.start);
    let mut text = whole.to_owned();
    for (range, value) in edits.into_iter().rev() {
        text.replace_range(range, &value);
    }
    Some(text)
}

fn only<'a, 'text>(members: &'a [ObjectProp<'text>], name: &str) -> Option<&'a Ast<'text>> {
    let mut found = members.iter().filter(|member| member.name.as_str() == name);
    let first = found.next()?;
    found.next().is_none().then_some(&first.value)
}

/// Strips a byte order mark, as pi does.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
