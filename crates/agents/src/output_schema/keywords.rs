//! Checks the values of a JSON Schema's keywords, so that a mistake is found before a model has to fill the schema in.

use serde_json::Value;

use sanitizer::quoted;

use super::references::{each_part, joined};

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// The kind of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Type,
    Schema,
    Schemas,
    Alternatives,
    SchemaOrSchemas,
    NamedSchemas,
    PatternedSchemas,
    Texts,
    Values,
    Pattern,
    Text,
    Number,
    Count,
}

use Kind::{
    Alternatives, Count, NamedSchemas, Number, Pattern, PatternedSchemas, Schema, SchemaOrSchemas, Schemas,
    Text, Texts, Type, Values,
};

/// The keywords whose values are checked.
const KEYWORDS: [(&str, Kind); 34] = [
    ("type", Type),
    ("properties", NamedSchemas),
    ("patternProperties", PatternedSchemas),
    ("dependentSchemas", NamedSchemas),
    ("$defs", NamedSchemas),
    ("definitions", NamedSchemas),
    ("required", Texts),
    ("enum", Values),
    ("items", SchemaOrSchemas),
    ("prefixItems", Schemas),
    ("anyOf", Alternatives),
    ("oneOf", Alternatives),
    ("allOf", Alternatives),
    ("additionalProperties", Schema),
    ("unevaluatedProperties", Schema),
    ("propertyNames", Schema),
    ("additionalItems", Schema),
    ("unevaluatedItems", Schema),
    ("contains", Schema),
    ("not", Schema),
    ("if", Schema),
    ("then", Schema),
    ("else", Schema),
    ("pattern", Pattern),
    ("format", Text),
    ("description", Text),
    ("minimum", Number),
    ("maximum", Number),
    ("minLength", Count),
    ("maxLength", Count),
    ("minItems", Count),
    ("maxItems", Count),
    ("minProperties", Count),
    ("maxProperties", Count),
];

impl Kind {
    fn fits(self, value: &Value) -> bool {
        let is_schema = |value: &Value| value.is_object() || value.is_boolean();
        let is_list_of =
            |is_right: fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(is_right));
        let is_empty = value.as_array().is_some_and(Vec::is_empty);
        let is_list_of_schemas = is_list_of(|item| item.is_object() || item.is_boolean());
        match self {
            Type => is_type(value) || (is_list_of(is_type) && !is_empty),
            Schema => is_schema(value),
            Schemas => is_list_of_schemas,
            Alternatives => is_list_of_schemas && !is_empty,
            SchemaOrSchemas => is_schema(value) || is_list_of_schemas,
            NamedSchemas => value.as_object().is_some_and(|members| members.values().all(is_schema)),
            PatternedSchemas => value.as_object().is_some_and(|members| {
                members.iter().all(|(pattern, value)| is_pattern(pattern) && is_schema(value))
            }),
            Texts => is_list_of(Value::is_string),
            Values => value.is_array() && !is_empty,
            Pattern => value.as_str().is_some_and(is_pattern),
            Text => value.is_string(),
            Number => value.is_number(),
            Count => value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0),
        }
    }

    /// Returns the expected value in words.
    fn expected(self) -> &'static str {
        match self {
            Type => "`string`, `number`, `integer`, `boolean`, `object`, `array`, `null`, or a list of these",
            Schema => "a schema",
            Schemas => "a list of schemas",
            Alternatives => "a list of at least one schema",
            SchemaOrSchemas => "a schema, or a list of schemas",
            NamedSchemas => "an object whose values are schemas",
            PatternedSchemas => {
                "an object whose names are regular expressions of JavaScript, and whose values are schemas"
            }
            Texts => "a list of texts",
            Values => "a list of at least one value",
            Pattern => "a regular expression of JavaScript",
            Text => "a text",
            Number => "a number",
            Count => "a whole number from 0",
        }
    }
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}

/// Returns false for a text that JavaScript certainly refuses as a regular expression: with a group or class that is not
/// closed, a `)` without its group, a quantifier without an atom, or a backslash at the end.
///
/// Everything else counts as one. JavaScript knows syntax that no crate of ours does.
fn is_pattern(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut is_in_class = false;
    // True where a quantifier has nothing to repeat.
    let mut is_start = true;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let was_start = std::mem::take(&mut is_start);
        match character {
            '\\' if characters.next().is_none() => return false,
            '\\' => {}
            ']' => is_in_class = false,
            _ if is_in_class => {}
            '[' => is_in_class = true,
            '(' => {
                depth += 1;
                // The question mark belongs to the group: `(?:`, `(?=`, `(?<name>`.
                is_start = characters.next_if_eq(&'?').is_none();
            }
            ')' => match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return false,
            },
            '|' => is_start = true,
            '*' | '+' | '?' if was_start => return false,
            _ => {}
        }
    }
    depth == 0 && !is_in_class
}

/// A keyword with a wrong value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{keyword}` at {} is {}; expected {expected}", quoted(pointer), quoted(value))]
pub struct KeywordError {
    keyword: &'static str,
    /// The pointer to the part with the keyword.
    pointer: String,
    /// The value: a text as it is, or JSON.
    value: String,
    expected: &'static str,
}

/// Checks a schema and all its parts.
///
/// # Errors
///
/// Returns the first keyword with a wrong value.
pub(super) fn check(schema: &Value) -> Result<(), KeywordError> {
    check_part(schema, "")
}

fn check_part(schema: &Value, pointer: &str) -> Result<(), KeywordError> {
    for (keyword, kind) in KEYWORDS {
        let Some(value) = schema.get(keyword).filter(|value| !kind.fits(value)) else { continue };
        return Err(KeywordError {
            keyword,
            pointer: format!("#{pointer}"),
            value: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            expected: kind.expected(),
        });
    }
    let mut found = Ok(());
    each_part(schema, |keys, part| {
        // Other keywords may hold anything.
        let is_schema =
            keys.first().is_some_and(|keyword| KEYWORDS.iter().any(|(known, _)| known == keyword));
        if is_schema && found.is_ok() {
            found = check_part(part, &joined(pointer, keys));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_wrong_value_of_a_keyword_is_refused_with_its_place() {
        let all = TYPES.map(|name| format!("`{name}`")).join(", ");
        assert!(Type.expected().starts_with(&all), "{}", Type.expected());
        for (schema, message) in [
            (json!({ "type": "objekt" }), "`type` at `#` is `objekt`; expected `string`, "),
            (json!({ "type": [] }), "`type` at `#` is `[]`; expected `string`, "),
            (
                json!({ "properties": { "day": { "type": "bigint" } } }),
                "`type` at `#/properties/day` is `bigint`; expected `string`, ",
            ),
            (
                json!({ "properties": { "a": "string" } }),
                "`properties` at `#` is `{\"a\":\"string\"}`; expected an object whose values are schemas",
            ),
            (
                json!({ "items": { "anyOf": [{ "required": true }] } }),
                "`required` at `#/items/anyOf/0` is `true`; expected a list of texts",
            ),
            (json!({ "enum": "a" }), "`enum` at `#` is `a`; expected a list of at least one value"),
            (json!({ "enum": [] }), "`enum` at `#` is `[]`; expected a list of at least one value"),
            (
                json!({ "items": { "anyOf": [] } }),
                "`anyOf` at `#/items` is `[]`; expected a list of at least one schema",
            ),
            (
                json!({ "properties": { "a": { "pattern": "(" } } }),
                "`pattern` at `#/properties/a` is `(`; expected a regular expression of JavaScript",
            ),
            (
                json!({ "patternProperties": { "[a": {} } }),
                "`patternProperties` at `#` is `{\"[a\":{}}`; expected an object whose names are regular expressions",
            ),
            (json!({ "minItems": -1 }), "`minItems` at `#` is `-1`; expected a whole number from 0"),
            (json!({ "not": "a" }), "`not` at `#` is `a`; expected a schema"),
        ] {
            let refused = check(&schema).expect_err("the schema is refused").to_string();
            assert!(refused.starts_with(message), "{refused}");
        }
    }

    #[test]
    fn only_what_javascript_certainly_refuses_is_no_pattern() {
        for text in ["(", "a)", "[a", "[a\\]", "a\\", "*a", "a|+", "(?:a", "(*a)", "((a)"] {
            assert!(!is_pattern(text), "{text}");
        }
        for text in [
            "",
            "^a$",
            "(a|b)?",
            "[()]*",
            "[*+?]",
            "\\(",
            "\\[",
            "(?<name>a)\\k<name>",
            "(?<!a)b",
            "(?=a)b",
            "a{2,}?",
            "^\\p{L}+$",
            "a+?",
            "[\\]]",
            "a||b",
            "(|a)",
        ] {
            assert!(is_pattern(text), "{text}");
        }
    }

    #[test]
    fn names_values_and_unknown_keywords_are_free() {
        for schema in [
            json!({ "properties": { "type": { "type": ["string", "null"] }, "required": true } }),
            json!({ "enum": [{ "type": "bigint" }], "default": { "required": true } }),
            json!({ "x-note": { "type": "note" }, "dependentRequired": { "type": ["a"] } }),
            json!({ "items": [{ "type": "string" }, false], "additionalItems": false, "maxItems": 2.0 }),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }
}
