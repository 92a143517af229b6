//! JSON values with their positions, so that an error can name the line.

use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::Number;

use sanitizer::{LineIndex, Position, STRICT};

/// The maximum number of names in all objects of a text together. A long configuration has a few dozen.
const MAX_MEMBERS: usize = 500;

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

/// The mistake in a text, or in a value of it.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) at: Position,
    pub(super) message: String,
}

/// Parses a JSON text.
pub(super) fn parse(text: &str) -> Result<Located, Mistake> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(|error| {
        let message = error.kind().to_string();
        let mut chars = message.chars();
        let message = chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect();
        Mistake { at: LineIndex::new(text).position(error.range().start), message }
    })?;
    // The parser above reports positions; `serde_json` enforces every rule of JSON.
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        let at = Position::new(error.line(), error.column().max(1));
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or_default().to_owned();
        return Err(Mistake { at, message: what });
    }
    match parsed.value {
        Some(value) => {
            let mut walk = Walk { text, byte: 0, line: 1, column: 1, members: 0 };
            let root = walk.located(value);
            if walk.members > MAX_MEMBERS {
                let message = format!("it has more than {MAX_MEMBERS} members");
                return Err(Mistake { at: Position::START, message });
            }
            Ok(root)
        }
        None => Err(Mistake { at: Position::START, message: "the file is empty".to_owned() }),
    }
}

/// Adds positions to values in the order of the text, so that the text is read only once.
struct Walk<'a> {
    text: &'a str,
    byte: usize,
    line: usize,
    column: usize,
    members: usize,
}

impl Walk<'_> {
    /// Recursion is safe: the parser has bounded the nesting.
    fn located(&mut self, value: Ast<'_>) -> Located {
        let at = self.position(value.start());
        let json = match value {
            Ast::NullKeyword(_) => Json::Null,
            Ast::BooleanLit(literal) => Json::Bool(literal.value),
            // The literal is syntactically valid here. A number that fits no number type becomes `null`, which is also
            // a wrong value.
            Ast::NumberLit(literal) => literal.value.parse().map_or(Json::Null, Json::Number),
            Ast::StringLit(literal) => Json::Text(literal.value.into_owned()),
            Ast::Array(array) => {
                Json::List(array.elements.into_iter().map(|item| self.located(item)).collect())
            }
            Ast::Object(object) => {
                self.members += object.properties.len();
                let member = |property: ObjectProp<'_>| Member {
                    name_at: self.position(property.start()),
                    name: property.name.into_string(),
                    value: self.located(property.value),
                };
                Json::Object(object.properties.into_iter().map(member).collect())
            }
        };
        Located { at, json }
    }

    /// Returns the position of the character at this byte. The byte must not be before the byte of the last call.
    fn position(&mut self, byte: usize) -> Position {
        for c in self.text.get(self.byte..byte).unwrap_or_default().chars() {
            (self.line, self.column) =
                if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        }
        self.byte = byte;
        Position::new(self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_value_has_the_position_of_its_first_character() {
        let text = "{\n \"ä\": [1,\r\n{\"b\": \"€\", \"c\": null}]}";
        let root = parse(text).expect("the text is valid JSON");
        let Json::Object(members) = &root.json else { unreachable!("the root is an object") };
        let Json::List(items) = &members[0].value.json else { unreachable!("the first member is a list") };
        let Json::Object(inner) = &items[1].json else { unreachable!("the root is an object") };
        let places = [
            root.at,
            members[0].name_at,
            members[0].value.at,
            items[0].at,
            items[1].at,
            inner[0].name_at,
            inner[0].value.at,
            inner[1].name_at,
            inner[1].value.at,
        ];
        let lines = LineIndex::new(text);
        let expected = ["{\n", "\"ä", "[", "1", "{\"b", "\"b", "\"€", "\"c", "null"]
            .map(|start| lines.position(text.find(start).expect("the text contains the value")));
        assert_eq!(places, expected);
    }

    proptest! {
        #[test]
        fn the_parser_accepts_exactly_what_serde_json_accepts(
            text in r#"([\[\]{},:0-9eE.+\-"\\ux \n/*#]|true|null|"a": |"\u{e4}"|1){0,40}"#,
        ) {
            let read = parse(&text);
            prop_assert_eq!(read.is_ok(), serde_json::from_str::<serde_json::Value>(&text).is_ok());
            let lines = u32::try_from(text.split('\n').count()).expect("the number of lines fits");
            let at = read.map_or_else(|mistake| mistake.at, |value| value.at);
            prop_assert!((1..=lines).contains(&at.line) && at.column >= 1);
        }
    }
}
