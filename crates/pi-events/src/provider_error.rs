//! The message of a provider's error, without the JSON around it.

use std::borrow::Cow;

use serde_json::{Deserializer, Value};

/// Returns the error in a form for people: `500: {"error":{"message":"Overloaded"}}` becomes `500: Overloaded`. An
/// error without JSON, or whose JSON has no message, stays unchanged.
#[must_use]
pub fn provider_message(error: &str) -> Cow<'_, str> {
    let Some(start) = error.find('{') else { return error.into() };
    let (before, json) = error.split_at(start);
    let mut values = Deserializer::from_str(json).into_iter::<Value>();
    let message = values.next().and_then(Result::ok).and_then(|value| message_of(&value).map(str::to_owned));
    let Some(message) = message else { return error.into() };
    let rest = json.get(values.byte_offset()..).unwrap_or_default().trim();
    let lead = before.trim_end_matches(|char: char| char.is_whitespace() || char == ':');
    let lead = if lead.is_empty() || message.starts_with(lead) { "" } else { &format!("{lead}: ") };
    let rest = if rest.is_empty() { "" } else { &format!(" {rest}") };
    format!("{lead}{message}{rest}").into()
}

/// Returns the message in an error object, in the shapes that providers use.
fn message_of(value: &Value) -> Option<&str> {
    let text = |value: &Value| value.as_str().map(str::trim).is_some_and(|text| !text.is_empty());
    let fields = ["message", "error", "detail", "error_description", "errors"];
    fields.iter().filter_map(|field| value.get(field)).find_map(|found| match found {
        Value::Object(_) => message_of(found),
        Value::Array(list) => {
            list.iter().find_map(|one| if text(one) { one.as_str() } else { message_of(one) })
        }
        found => found.as_str().filter(|_| text(found)).map(str::trim),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_provider_is_read_without_its_json() {
        for (error, expected) in [
            (
                r#"500: {"message":"fake internal error","type":"fake_error","code":500}"#,
                "500: fake internal error",
            ),
            (
                r#"429 {"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}"#,
                "429: Slow down.",
            ),
            (r#"{"error":{"message":"Overloaded"}} (request 12)"#, "Overloaded (request 12)"),
            (r#"400: {"error":"bad model"}"#, "400: bad model"),
            (r#"422 {"detail":[{"msg":"x"},{"message":"field required"}]}"#, "422: field required"),
            (r#"{"errors":["first","second"]}"#, "first"),
            (r#"500: {"message":"500: twice"}"#, "500: twice"),
        ] {
            assert_eq!(provider_message(error), expected);
        }
        for unchanged in [
            "terminated",
            "",
            r#"500: {"message":"cut in the mid"#,
            r#"500: {"code":7}"#,
            r#"500: {"message":"  "}"#,
            "use { braces }",
        ] {
            assert_eq!(provider_message(unchanged), unchanged);
        }
    }
}
