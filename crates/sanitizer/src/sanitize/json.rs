//! Sanitizes JSON values: strings and keys at any depth, and values under secret names.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Sanitizer;
use crate::redact::{NameKind, REDACTED, header_kind, is_secret_header, is_secret_string, name_kind};

/// The rule for values under secret names.
const ASSIGNMENT: &str = "assignment";

impl Sanitizer {
    /// Sanitizes every string and every key. A value under a secret name becomes `"[REDACTED]"`, by the same rules as
    /// `"name": "value"` in text. The shape stays: no key is lost, even if two keys become equal.
    #[must_use]
    pub fn sanitize_json(&self, value: &Value) -> Value {
        self.value(&[], value)
    }

    /// Sanitizes one value. `names` are the name before and after sanitizing. Either name can make the value a secret,
    /// and so can the value before or after sanitizing. Otherwise a second pass could find more.
    fn value(&self, names: &[&str], value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let clean = self.sanitize(text).into_string();
                let rule = names
                    .iter()
                    .flat_map(|name| [secret_rule(name, text), secret_rule(name, &clean)])
                    .flatten()
                    .find(|rule| !self.allows(rule, text));
                match rule {
                    Some(rule) => {
                        self.count(|tally| tally.value(rule, text));
                        REDACTED.into()
                    }
                    None => clean.into(),
                }
            }
            Value::Number(number)
                if names.iter().any(|name| is_password_number(name, number))
                    && !self.allows(ASSIGNMENT, &number.to_string()) =>
            {
                self.count(|tally| tally.value(ASSIGNMENT, &number.to_string()));
                REDACTED.into()
            }
            Value::Array(items) => items.iter().map(|item| self.value(names, item)).collect(),
            Value::Object(fields) => self.object(fields).into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn object(&self, fields: &Map<String, Value>) -> Map<String, Value> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut sanitized = Map::new();
        for (name, value) in fields {
            let mut key = self.sanitize(name).into_string();
            let times = seen.entry(key.clone()).and_modify(|times| *times += 1).or_insert(1);
            if *times > 1 {
                key = format!("{key} ({times})");
            }
            let value = self.value(&[name, &key], value);
            sanitized.insert(key, value);
        }
        sanitized
    }
}

/// Returns the rule by which a text is a secret under this name.
fn secret_rule(name: &str, text: &str) -> Option<&'static str> {
    match header_kind(name) {
        Some(kind) => is_secret_header(kind, text, true, true).then_some("authorization"),
        None => is_secret_string(name_kind(name), name, text).then_some(ASSIGNMENT),
    }
}

/// Returns true for a PIN, which is a number in JSON.
fn is_password_number(name: &str, number: &serde_json::Number) -> bool {
    name_kind(name) == NameKind::Password && number.as_u64().is_some_and(|number| number >= 1000)
}
