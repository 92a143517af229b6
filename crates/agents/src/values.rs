//! Reads the value of one field with the type of the field, or reports the expected form.

use std::time::Duration;

use super::definition::{AskTarget, Context, Skills};
use super::frontmatter::{Field, Yaml};
use super::output_schema::{OutputSchema, SchemaError};
use super::parse::{MAX_LIST_ITEMS, Reader, SYNTAX};
use sanitizer::{Code, without_controls};

/// The maximum length of a text value, such as a model pattern or the path of an extension.
const MAX_TEXT_CHARS: usize = 1024;
/// The maximum timeout that an agent may set: one week.
const MAX_TIMEOUT_MS: i64 = 7 * 24 * 60 * 60 * 1000;

impl Reader<'_> {
    /// Reads a list of texts, or one comma-separated text.
    pub(super) fn list(&mut self, field: &Field, code: Code) -> Option<Vec<String>> {
        let expected = "names with commas between them or a list of names; `[]` for none";
        let items = match &field.value {
            Yaml::Text(text) => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                items.map(str::to_owned).collect::<Vec<_>>()
            }
            Yaml::List(items) => {
                let mut names = Vec::new();
                for item in items {
                    match item {
                        Yaml::Text(text) if !text.trim().is_empty() => names.push(text.trim().to_owned()),
                        other => {
                            let message = format!("`{}` contains {other}; expected {expected}", field.name);
                            self.report(code, field.value_at, message);
                            return None;
                        }
                    }
                }
                names
            }
            _ => return self.wrong(field, code, expected),
        };
        if items.len() > MAX_LIST_ITEMS || items.iter().any(|item| item.chars().count() > MAX_TEXT_CHARS) {
            let message = format!(
                "`{}` has {} entries; expected at most {MAX_LIST_ITEMS} of at most {MAX_TEXT_CHARS} characters",
                field.name,
                items.len()
            );
            self.report(code, field.value_at, message);
            return None;
        }
        Some(items)
    }

    pub(crate) fn text(&mut self, field: &Field) -> Option<String> {
        let fits = |text: &str| {
            !text.is_empty()
                && !text.starts_with('-')
                && text.chars().count() <= MAX_TEXT_CHARS
                && !text.chars().any(char::is_control)
                && without_controls(text) == text
        };
        match &field.value {
            Yaml::Text(text) if fits(text.trim()) => Some(text.trim().to_owned()),
            _ => self.wrong(field, SYNTAX, "one line of text that does not start with `-`"),
        }
    }

    /// Reads a text. `inherit` means the same as a missing field.
    pub(super) fn inheritable(&mut self, field: &Field) -> Option<String> {
        self.text(field).filter(|text| text != "inherit")
    }

    pub(super) fn choice(&mut self, field: &Field, value: String, choices: &[&str]) -> Option<String> {
        if choices.contains(&value.as_str()) {
            return Some(value);
        }
        let listed: Vec<_> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        self.wrong(field, SYNTAX, &format!("one of {}", listed.join(", ")))
    }

    /// Reads a duration in milliseconds. 0 means the same as a missing field.
    pub(super) fn milliseconds(&mut self, field: &Field) -> Option<Duration> {
        match &field.value {
            Yaml::Integer(0) => None,
            Yaml::Integer(value @ 1..=MAX_TIMEOUT_MS) => Some(Duration::from_millis(value.unsigned_abs())),
            _ => self.wrong(
                field,
                SYNTAX,
                &format!("whole milliseconds from 0 (the configured value) to {MAX_TIMEOUT_MS}"),
            ),
        }
    }

    pub(super) fn count(&mut self, field: &Field, of: &str) -> Option<u32> {
        let count = match &field.value {
            Yaml::Integer(value) => u32::try_from(*value).ok(),
            _ => None,
        };
        match count {
            Some(0) => None,
            Some(count) => Some(count),
            None => self.wrong(field, SYNTAX, &format!("a whole number of {of}, 0 for the configured value")),
        }
    }

    pub(super) fn cost(&mut self, field: &Field) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "no budget has sixteen digits")]
        let cost = match &field.value {
            Yaml::Integer(value) => Some(*value as f64),
            Yaml::Float(value) => Some(*value),
            _ => None,
        };
        match cost.filter(|cost| cost.is_finite() && *cost >= 0.0) {
            Some(cost) => (cost > 0.0).then_some(cost),
            None => self.wrong(field, SYNTAX, "an amount in USD such as `0.5`, 0 for the configured value"),
        }
    }

    pub(super) fn context(&mut self, field: &Field) -> Option<Context> {
        match &field.value {
            Yaml::Text(text) if Context::parse(text).is_some() => Context::parse(text),
            _ => self.wrong(field, SYNTAX, "`project` or `none`"),
        }
    }

    /// Reads all, none, or names of skills. An unknown name is allowed, because another machine may have the skill.
    pub(super) fn skills(&mut self, field: &Field) -> Option<Skills> {
        match &field.value {
            Yaml::Bool(value) => Some(Skills::All(*value)),
            Yaml::Text(_) | Yaml::List(_) => self.list(field, SYNTAX).map(Skills::Named),
            _ => self.wrong(field, SYNTAX, "`true`, `false` or names of skills"),
        }
    }

    pub(super) fn ask(&mut self, field: &Field) -> Option<AskTarget> {
        match &field.value {
            Yaml::Bool(true) => Some(AskTarget::User),
            Yaml::Bool(false) => Some(AskTarget::NoOne),
            Yaml::Text(text) if text == AskTarget::Parent.as_str() => Some(AskTarget::Parent),
            _ => self.wrong(field, SYNTAX, "`true`, `false` or `parent`"),
        }
    }

    pub(super) fn schema(&mut self, field: &Field) -> Option<OutputSchema> {
        match field.value.to_json().ok_or(SchemaError::NotJson).and_then(OutputSchema::new) {
            Ok(schema) => Some(schema),
            Err(why) => {
                self.report(SYNTAX, field.value_at, format!("`{}` is not a schema: {why}", field.name));
                None
            }
        }
    }
}
