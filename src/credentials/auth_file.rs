//! The text of an `auth.json`: one entry per provider.

use std::fmt;

use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::{Map, Value};

use super::token::Token;
use crate::text::STRICT;

/// The credentials of all providers. What they are is never shown.
#[derive(Clone, Default)]
pub(super) struct Credentials(Map<String, Value>);

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.keys()).finish()
    }
}

impl Credentials {
    /// Reads a file's bytes, nested as deep as is sane. `None` when they are no JSON object. An empty file is one of no
    /// credentials.
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

    /// Those that are taken, and the providers of the others.
    pub(super) fn split(self, is_taken: impl Fn(&Value) -> bool) -> (Self, Vec<String>) {
        let (taken, others): (Map<_, _>, Map<_, _>) =
            self.0.into_iter().partition(|(_, entry)| is_taken(entry));
        (Self(taken), others.into_iter().map(|(provider, _)| provider).collect())
    }

    /// The text of a file in which what others have for a provider counts before these.
    pub(super) fn with(&self, others: &Self) -> Vec<u8> {
        let mut entries = self.0.clone();
        entries.extend(others.0.clone());
        Value::Object(entries).to_string().into_bytes()
    }

    /// What is stored for a provider.
    pub(super) fn entry(&self, provider: &str) -> Option<&Value> {
        self.0.get(provider)
    }

    /// What is stored for a provider that somebody has logged in to.
    pub(super) fn oauth(&self, provider: &str) -> Option<&Map<String, Value>> {
        let entry = self.entry(provider)?.as_object()?;
        (entry.get("type")?.as_str()? == "oauth").then_some(entry)
    }
}

/// The same text with another token in one entry; every other byte stays. `None` when the entry is not there or is
/// there twice, so that it is not certain which one pi would read.
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
    edits.sort_by_key(|(range, _)| range.start);
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

/// pi takes a byte order mark off.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
