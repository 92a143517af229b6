//! Converts one value to the type of its parameter.

use serde_json::{Map, Number, Value};

use sanitizer::{floor_char_boundary, quoted};

/// The maximum quoted length of a text, in bytes. The quote itself may be shorter.
const QUOTED_BYTES: usize = 400;
/// The largest number that a parameter can have.
const MAX_NUMBER: f64 = u32::MAX as f64;
/// Texts that mean "no value".
const NO_VALUE: [&str; 3] = ["null", "undefined", "None"];

/// The expected form of a value that does not have exactly one meaning.
#[derive(Debug, thiserror::Error)]
pub(super) enum Expected<'a> {
    /// One of these texts.
    #[error("{}", choices.iter().map(|choice| quoted(choice)).collect::<Vec<_>>().join(" or "))]
    Choice { choices: Vec<&'a str> },
    /// Any text.
    #[error("text")]
    Text,
    /// A whole number.
    #[error("a whole number, 0 or more")]
    WholeNumber,
    /// A whole number that is not larger than [`MAX_NUMBER`].
    #[error("a whole number, at most {limit}", limit = MAX_NUMBER)]
    SmallerNumber,
    /// A boolean.
    #[error("true or false")]
    Boolean,
    /// An object.
    #[error("a JSON object")]
    Object,
}

/// Returns true if a value is empty, so that an optional parameter counts as absent.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns true for a text that means "no value".
pub(super) fn means_no_value(value: &Value) -> bool {
    value.as_str().is_some_and(|text| NO_VALUE.contains(&text.trim()))
}

/// Converts a value to the type of its schema.
///
/// # Errors
///
/// Returns the expected form if the value does not have exactly one meaning.
pub(super) fn converted<'a>(value: &Value, schema: &'a Value) -> Result<Value, Expected<'a>> {
    let choices: Vec<&str> =
        schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match schema["type"].as_str() {
        Some("string") if !choices.is_empty() => {
            let given = value.as_str().unwrap_or_default().trim();
            let chosen = choices.iter().find(|choice| choice.eq_ignore_ascii_case(given));
            chosen.map(|choice| Value::from(*choice)).ok_or(Expected::Choice { choices })
        }
        Some("string") => match value {
            Value::String(_) => Ok(value.clone()),
            Value::Number(number) => Ok(number.to_string().into()),
            _ => Err(Expected::Text),
        },
        Some("integer") => whole_number(value).map(Value::Number).ok_or_else(|| {
            let is_too_large = value.as_f64().is_some_and(|number| number > MAX_NUMBER);
            if is_too_large { Expected::SmallerNumber } else { Expected::WholeNumber }
        }),
        Some("boolean") => truth(value).map(Value::Bool).ok_or(Expected::Boolean),
        Some("object") => object(value).map(Value::Object).ok_or(Expected::Object),
        _ => Ok(value.clone()),
    }
}

fn whole_number(value: &Value) -> Option<Number> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }?;
    let is_whole = number.fract() == 0.0 && (0.0..=MAX_NUMBER).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    is_whole.then(|| Number::from(number as u32))
}

/// Returns a boolean, which can also be text, 1 or 0.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(is_true) => Some(*is_true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Some(false),
        Value::Number(number) if number.as_u64() == Some(1) => Some(true),
        Value::Number(number) if number.as_u64() == Some(0) => Some(false),
        _ => None,
    }
}

/// Returns an object, which can also be JSON text.
pub(super) fn object(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields.clone()),
        Value::String(text) => match parsed(text) {
            Ok(Value::Object(fields)) => Some(fields),
            _ => None,
        },
        _ => None,
    }
}

/// Parses a text that is JSON, with or without a code fence around it.
///
/// # Errors
///
/// Fails if the text is not JSON.
pub(super) fn parsed(text: &str) -> Result<Value, serde_json::Error> {
    let text = text.trim();
    serde_json::from_str(inside_fence(text).unwrap_or(text))
}

/// Returns the content of a code fence around the whole text.
fn inside_fence(text: &str) -> Option<&str> {
    let (language, inside) = text.strip_prefix("```")?.strip_suffix("```")?.split_once('\n')?;
    language.trim().bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(inside)
}

/// Returns a value in the form for messages.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.trim().is_empty() => "empty".to_owned(),
        Value::String(text) => beginning(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Quotes the beginning of a text of any length.
pub(super) fn beginning(text: &str) -> String {
    quoted(&text[..floor_char_boundary(text, QUOTED_BYTES)])
}
