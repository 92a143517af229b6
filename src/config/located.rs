//! JSON values with their positions, so that an error can name the line.

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::Number;

use crate::text::{LineIndex, Position, STRICT};

/// A JSON value and its position.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) at: Position,
    pub(super) json: Json,
}

/// The JSON types. Objects keep the order of their members, and duplicates.
#[derive(Clone, Debug)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Located>),
    Object(Vec<Member>),
}

/// One `"name": value`.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) name_at: Position,
    pub(super) value: Located,
}

/// What is wrong with a text, or with a value in it.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) at: Position,
    pub(super) message: String,
}

/// Parses a JSON text.
pub(super) fn parse(text: &str) -> Result<Located, Mistake> {
    let lines = LineIndex::new(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(|error| {
        let message = error.kind().to_string();
        let mut chars = message.chars();
        let message = chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect();
        Mistake { at: lines.position(error.range().start), message }
    })?;
    // The parser above reports positions; `serde_json` enforces every rule of JSON.
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        let at = Position::new(error.line(), error.column().max(1));
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or_default().to_owned();
        return Err(Mistake { at, message: what });
    }
    match parsed.value {
        Some(value) => Ok(located(&lines, value)),
        None => Err(Mistake { at: Position::START, message: "the file is empty".to_owned() }),
    }
}

/// Recursion is safe: the parser has bounded the nesting.
fn located(lines: &LineIndex<'_>, value: Ast<'_>) -> Located {
    let at = lines.position(value.start());
    let json = match value {
        Ast::NullKeyword(_) => Json::Null,
        Ast::BooleanLit(literal) => Json::Bool(literal.value),
        // Syntactically valid by now. A number that fits no number type becomes `null`, which is as wrong as a text.
        Ast::NumberLit(literal) => literal.value.parse().map_or(Json::Null, Json::Number),
        Ast::StringLit(literal) => Json::Text(literal.value.into_owned()),
        Ast::Array(array) => {
            Json::List(array.elements.into_iter().map(|item| located(lines, item)).collect())
        }
        Ast::Object(object) => Json::Object(
            object
                .properties
                .into_iter()
                .map(|property| Member {
                    name_at: lines.position(property.start()),
                    name: property.name.into_string(),
                    value: located(lines, property.value),
                })
                .collect(),
        ),
    };
    Located { at, json }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_parser_accepts_exactly_what_serde_json_accepts(
            text in r#"([\[\]{},:0-9eE.+\-"\\ux \n/*#]|true|null|"a": |"\u{e4}"|1){0,40}"#,
        ) {
            let read = parse(&text);
            prop_assert_eq!(read.is_ok(), serde_json::from_str::<serde_json::Value>(&text).is_ok());
            let lines = u32::try_from(text.split('\n').count()).expect("a short text");
            let at = read.map_or_else(|mistake| mistake.at, |value| value.at);
            prop_assert!((1..=lines).contains(&at.line) && at.column >= 1);
        }
    }
}
