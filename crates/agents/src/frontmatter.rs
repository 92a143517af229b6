//! Parses YAML frontmatter into fields with their positions in the file. Frontmatter that is not YAML is read field by
//! field.
//!
//! This file knows nothing about agents. It is the only file that uses `serde_yaml`.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

use super::literal::{Part, Role, parts};
use sanitizer::{LineIndex, Position, quoted};

/// The maximum size of the frontmatter. It is normally a few lines, and the parser takes quadratic time on some
/// malformed input.
const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;
/// The maximum number of opening brackets and braces. For each level of nesting the parser reads all the others again.
const MAX_FLOW_OPENERS: usize = 1024;
/// The maximum number of fields. Each field is searched for in the whole frontmatter to find its line.
const MAX_FIELDS: usize = 64;
/// The maximum number of values after alias expansion. Only input that is made to exhaust memory exceeds it.
const MAX_VALUES: usize = 4096;
/// The maximum size of the text after alias expansion. Only repeated aliases can exceed the size of the frontmatter
/// itself.
const MAX_TEXT_BYTES: usize = MAX_FRONTMATTER_BYTES;

/// Frontmatter that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) at: Position,
    pub(super) message: String,
}

/// One `key: value` of the frontmatter.
#[derive(Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: Yaml,
    pub(super) key_at: Position,
    pub(super) value_at: Position,
}

/// A value with aliases expanded.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Yaml {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(Yaml, Yaml)>),
}

impl Yaml {
    /// Converts the value to JSON. Returns `None` if a key is not text or JSON cannot represent a number.
    pub(super) fn to_json(&self) -> Option<serde_json::Value> {
        Some(match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Integer(value) => (*value).into(),
            Self::Float(value) => serde_json::Number::from_f64(*value)?.into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.iter().map(Self::to_json).collect::<Option<Vec<_>>>()?.into(),
            Self::Map(entries) => {
                let entry = |(key, value): &(Self, Self)| match key {
                    Self::Text(key) => Some((key.clone(), value.to_json()?)),
                    _ => None,
                };
                serde_json::Value::Object(entries.iter().map(entry).collect::<Option<_>>()?)
            }
        })
    }
}

/// Formats the value for messages.
impl fmt::Display for Yaml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("empty"),
            Self::Bool(value) => write!(f, "`{value}`"),
            Self::Integer(value) => write!(f, "`{value}`"),
            Self::Float(value) => write!(f, "`{value}`"),
            Self::Text(value) if value.trim().is_empty() => f.write_str("blank"),
            Self::Text(value) => f.write_str(&quoted(value)),
            Self::List(_) => f.write_str("a list"),
            Self::Map(_) => f.write_str("a mapping"),
        }
    }
}

/// A file with frontmatter.
#[derive(Debug, PartialEq)]
pub(super) struct Document {
    /// The fields in file order, without duplicate names.
    pub(super) fields: Vec<Field>,
    /// The start of the frontmatter, where missing fields are reported.
    pub(super) start: Position,
    /// The text after the frontmatter, trimmed, with LF line ends.
    pub(super) body: String,
    /// The position of the first mistake, if the frontmatter is not YAML and was read field by field.
    pub(super) not_yaml: Option<Position>,
    /// Names of restricting fields inside a text that was read literally. They may be meant as fields.
    pub(super) possible_fields: Vec<(String, Position)>,
}

/// Parses a file. Returns `None` if it has no frontmatter. `role` classifies a field by its name and its one-line
/// value.
pub(super) fn read(text: &str, role: impl Fn(&str, &Yaml) -> Role) -> Result<Option<Document>, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let mut line = 1;
    let mut offset = 0;
    let opening = lines.by_ref().find(|candidate| {
        offset += candidate.len();
        line += 1;
        !candidate.trim().is_empty()
    });
    if opening.is_none_or(|opening| opening.trim_end() != "---") {
        return Ok(None);
    }
    let start = Position::new(line - 1, 1);
    let mut length = 0;
    let Some(closing) = lines.find(|candidate| {
        let closes = candidate.trim_end() == "---";
        length += if closes { 0 } else { candidate.len() };
        closes
    }) else {
        let message = "the frontmatter that starts here is not closed; expected a line `---` after it".into();
        return Err(SyntaxError { at: start, message });
    };
    let yaml = &text[offset..offset + length];
    let body = text[offset + length + closing.len()..].trim();
    let body = body.split('\n').map(|line| line.trim_end_matches('\r')).collect::<Vec<_>>().join("\n");
    let mut document =
        Document { fields: Vec::new(), start, body, not_yaml: None, possible_fields: Vec::new() };
    match yaml_fields(yaml, start)? {
        Ok(fields) => document.fields = fields,
        Err(why) => {
            document.not_yaml = Some(why.at);
            literal_fields(yaml, &mut document, role)?;
        }
    }
    Ok(Some(document))
}

/// Reads the fields of a YAML text. The inner error is a syntax error. The outer error is about limits or about the
/// content.
fn yaml_fields(yaml: &str, start: Position) -> Result<Result<Vec<Field>, SyntaxError>, SyntaxError> {
    let fail = |message| Err(SyntaxError { at: start, message });
    if yaml.len() > MAX_FRONTMATTER_BYTES {
        return fail(format!(
            "the frontmatter has {} bytes; at most {MAX_FRONTMATTER_BYTES} are read",
            yaml.len()
        ));
    }
    if yaml.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() > MAX_FLOW_OPENERS {
        return fail(format!("the frontmatter has more than {MAX_FLOW_OPENERS} brackets"));
    }
    let budget = Budget::new();
    let value = match Expand(&budget).deserialize(serde_yaml::Deserializer::from_str(yaml)) {
        Ok(value) => value,
        Err(error) => {
            let at =
                error.location().map_or(start, |location| position_of_byte(yaml, location.index(), start));
            let error = SyntaxError { at, message: reason(&error) };
            return if budget.is_spent.get() { Err(error) } else { Ok(Err(error)) };
        }
    };
    let pairs = match value {
        Yaml::Map(pairs) => pairs,
        Yaml::Null => Vec::new(),
        other => {
            return fail(format!("the frontmatter is {other}; expected fields such as `name: my-agent`"));
        }
    };
    if pairs.len() > MAX_FIELDS {
        return fail(format!("the frontmatter has {} fields; at most {MAX_FIELDS} are read", pairs.len()));
    }
    let mut fields: Vec<Field> = Vec::new();
    for (key, value) in pairs {
        let name = match key {
            Yaml::Text(name) => name,
            other => other.to_string().trim_matches('`').to_owned(),
        };
        let seen = fields.iter().any(|field| field.name == name);
        let (key_at, value_at) = locate(yaml, &name, usize::from(seen), start).unwrap_or((start, start));
        if seen {
            return Err(duplicate_field(&name, key_at));
        }
        fields.push(Field { name, value, key_at, value_at });
    }
    Ok(Ok(fields))
}

/// Reads frontmatter that is not YAML. Each field is read as YAML if possible, and as plain text otherwise.
fn literal_fields(
    yaml: &str,
    document: &mut Document,
    role: impl Fn(&str, &Yaml) -> Role,
) -> Result<(), SyntaxError> {
    let start = document.start;
    let role_of_line = |name: &str, value: &str| role(name, &value_of_line(value));
    let line_at = |line: usize| position_in_file(start, Position::new(line + 1, 1));
    let no_field = |line: usize| {
        let shown = quoted(yaml.split('\n').nth(line).unwrap_or_default());
        let message = format!("{shown} is not a field; expected `name: value` at the start of the line");
        SyntaxError { at: line_at(line), message }
    };
    let parts = parts(yaml, role_of_line).map_err(|error| no_field(error.line))?;
    if parts.len() > MAX_FIELDS {
        let message = format!("the frontmatter has {} fields; at most {MAX_FIELDS} are read", parts.len());
        return Err(SyntaxError { at: start, message });
    }
    for part in &parts {
        let before = Position { line: line_at(part.line).line - 1, column: 1 };
        let found = if let Ok(fields) = yaml_fields(part.text, before)? {
            fields
        } else {
            let restricts =
                |name: &str, value: &str| role_of_line(name, value) == Role::Value { restricts: true };
            let inside = part.inner_fields().filter(|(_, name, value)| restricts(name, value));
            document.possible_fields.extend(inside.map(|(line, name, _)| (name.to_owned(), line_at(line))));
            vec![literal_field(part, role_of_line, no_field, line_at(part.line))?]
        };
        for field in found {
            let is_known = document.fields.iter().any(|known| known.name == field.name);
            match role(&field.name, &field.value) {
                // A line of an example.
                Role::Unknown if is_known => {}
                _ if is_known => return Err(duplicate_field(&field.name, field.key_at)),
                _ => document.fields.push(field),
            }
        }
    }
    Ok(())
}

/// Reads the value of a field as plain text. Only prose and unknown fields may have more than one line. Any other
/// field with several lines is a list or a mapping with a mistake.
fn literal_field(
    part: &Part<'_>,
    role: impl Fn(&str, &str) -> Role,
    no_field: impl Fn(usize) -> SyntaxError,
    at: Position,
) -> Result<Field, SyntaxError> {
    let value = match (role(part.name, part.first_line()), part.next_content_line()) {
        (Role::Value { .. }, Some(line)) => return Err(no_field(line)),
        (Role::Value { .. }, None) => Part { value: part.first_line(), ..*part }.literal(),
        (Role::Prose | Role::Unknown, _) => part.literal(),
    };
    let first = part.first_line();
    let before = part.text.len() - part.value.len() + first.len() - first.trim_start().len();
    let column = part.text[..before].chars().count() + 1;
    Ok(Field {
        name: part.name.to_owned(),
        value: if value.is_empty() { Yaml::Null } else { Yaml::Text(value.replace("\r\n", "\n")) },
        key_at: at,
        value_at: Position::new(at.line as usize, column),
    })
}

/// Returns the value in the rest of a line, as plain text if it is not YAML.
fn value_of_line(text: &str) -> Yaml {
    let plain = || Yaml::Text(text.trim().to_owned());
    if text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() > MAX_FLOW_OPENERS {
        return plain();
    }
    let value = Expand(&Budget::new()).deserialize(serde_yaml::Deserializer::from_str(text));
    value.unwrap_or_else(|_| plain())
}

fn duplicate_field(name: &str, at: Position) -> SyntaxError {
    SyntaxError { at, message: format!("{} is given twice; keep one of them", quoted(name)) }
}

/// Converts a byte index to a position. It counts lines only at LF, as an editor does. The YAML parser also ends lines
/// at a lone CR and at Unicode separators.
fn position_of_byte(yaml: &str, index: usize, start: Position) -> Position {
    let yaml = yaml.trim_end_matches(['\r', '\n']);
    position_in_file(start, LineIndex::new(yaml).position(index))
}

/// Converts a position in the frontmatter to a position in the file. The frontmatter begins after the line of `start`.
fn position_in_file(start: Position, position: Position) -> Position {
    Position { line: start.line + position.line, ..position }
}

/// Returns the parser's message without its positions, which are relative to the frontmatter and not to the file.
fn reason(error: &serde_yaml::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    sanitizer::one_line(&format!("the frontmatter is not valid YAML: {what}"), 200).into_string()
}

/// Finds the position of the `nth` field of this name and of its value. Only fields in block style have positions.
fn locate(yaml: &str, name: &str, nth: usize, start: Position) -> Option<(Position, Position)> {
    let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let indent = yaml
        .lines()
        .find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(indent_of)?;
    let (index, line, after) = yaml
        .lines()
        .enumerate()
        .filter(|(_, line)| indent_of(line) == indent)
        .filter_map(|(index, line)| Some((index, line, after_key(&line[indent..], name)?)))
        .nth(nth)?;
    let value = after.trim_start();
    let key_at = position_in_file(start, Position::new(index + 1, indent + 1));
    let column = line[..line.len() - value.len()].chars().count() + 1;
    let value_at =
        if value.is_empty() { key_at } else { position_in_file(start, Position::new(index + 1, column)) };
    Some((key_at, value_at))
}

/// Returns the rest of the line after `name:`, if the line is that field.
fn after_key<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let quote = line.chars().next().filter(|c| matches!(c, '"' | '\''));
    let rest = match quote {
        Some(quote) => line[1..].strip_prefix(name)?.strip_prefix(quote)?,
        None => line.strip_prefix(name)?,
    };
    let after = rest.trim_start().strip_prefix(':')?;
    (after.is_empty() || after.starts_with(char::is_whitespace)).then_some(after)
}

/// The remaining limits of alias expansion. They are checked while expanding, so that a YAML bomb stops after a few
/// thousand values.
struct Budget {
    values: Cell<usize>,
    bytes: Cell<usize>,
    is_spent: Cell<bool>,
}

impl Budget {
    fn new() -> Self {
        Self { values: Cell::new(MAX_VALUES), bytes: Cell::new(MAX_TEXT_BYTES), is_spent: Cell::new(false) }
    }

    fn spend<E: serde::de::Error>(&self, text_bytes: usize) -> Result<(), E> {
        let values = self.values.get().checked_sub(1);
        let bytes = self.bytes.get().checked_sub(text_bytes);
        let (Some(values), Some(bytes)) = (values, bytes) else {
            self.is_spent.set(true);
            let limit = match values {
                None => format!("{MAX_VALUES} values"),
                Some(_) => format!("{MAX_TEXT_BYTES} bytes"),
            };
            return Err(E::custom(format!("it expands to more than {limit}; remove nested YAML aliases")));
        };
        self.values.set(values);
        self.bytes.set(bytes);
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Expand<'a>(&'a Budget);

impl<'de> DeserializeSeed<'de> for Expand<'_> {
    type Value = Yaml;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Yaml, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Expand<'_> {
    type Value = Yaml;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plain value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Yaml, E> {
        self.0.spend(0).map(|()| Yaml::Null)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Yaml, E> {
        self.visit_unit()
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Yaml, E> {
        self.0.spend(0).map(|()| Yaml::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Yaml, E> {
        self.0.spend(0).map(|()| Yaml::Integer(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Yaml, E> {
        let value =
            i64::try_from(value).map_err(|_| E::custom(format!("the number {value} is too large")))?;
        self.visit_i64(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Yaml, E> {
        self.0.spend(0).map(|()| Yaml::Float(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Yaml, E> {
        self.0.spend(value.len()).map(|()| Yaml::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
        self.0.spend(0)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Yaml::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Yaml, A::Error> {
        self.0.spend(0)?;
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry_seed(self, self)? {
            map.push(entry);
        }
        Ok(Yaml::Map(map))
    }

    fn visit_enum<A: serde::de::EnumAccess<'de>>(self, access: A) -> Result<Yaml, A::Error> {
        let (tag, _) = access.variant::<String>()?;
        Err(A::Error::custom(format!("the tag {} is not supported", quoted(&format!("!{tag}")))))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::time::{Duration, Instant};

    use super::*;

    fn role(name: &str, _: &Yaml) -> Role {
        match name {
            "description" => Role::Prose,
            "name" | "tools" => Role::Value { restricts: name == "tools" },
            _ => Role::Unknown,
        }
    }

    fn read(text: &str) -> Result<Option<Document>, SyntaxError> {
        super::read(text, role)
    }

    fn error(text: &str) -> SyntaxError {
        read(text).expect_err("the text is refused")
    }

    /// Returns the position of the first mistake in a text that is not YAML.
    fn not_yaml(text: &str) -> Position {
        read(text)
            .expect("the text is valid")
            .expect("the text has frontmatter")
            .not_yaml
            .expect("the frontmatter is not YAML")
    }

    #[test]
    fn an_alias_bomb_is_refused_before_it_expands() {
        let mut bomb = String::from("---\nname: bomb\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..9 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(",");
            writeln!(bomb, "a{level}: &a{level} [{aliases}]").expect("writing to a string succeeds");
        }
        bomb.push_str("---\n");
        let started = Instant::now();
        assert!(error(&bomb).message.contains("nested YAML aliases"));
        assert!(started.elapsed() < Duration::from_secs(1), "reading took {:?}", started.elapsed());
    }

    #[test]
    fn repeated_text_counts_like_repeated_values() {
        let text = "x".repeat(4000);
        let aliases = vec!["*a"; 100].join(",");
        assert!(error(&format!("---\na: &a {text}\nb: [{aliases}]\n---\n")).message.contains("expands"));
    }

    #[test]
    fn hostile_nesting_is_refused_quickly() {
        for opener in ["[", "{", "- ", "? ", "{a: "] {
            let started = Instant::now();
            drop(read(&format!("---\na: {}\n---\n", opener.repeat(60_000 / opener.len()))));
            drop(read(&format!("---\na: {}\n---\n", opener.repeat(1000))));
            assert!(started.elapsed() < Duration::from_secs(2), "{opener}: {:?}", started.elapsed());
        }
    }

    #[test]
    fn harmless_anchors_stay_yaml() {
        let document = read("---\na: &a [x]\nb: *a\n---\n")
            .expect("the text is valid")
            .expect("the text has frontmatter");
        assert_eq!(document.fields[0].value, document.fields[1].value);
    }

    #[test]
    fn only_a_first_line_of_dashes_starts_frontmatter() {
        for text in ["", "\n\n", "# Readme\n---\na: b\n---\n", "--- a\n", "----\na: b\n---\n", "\u{feff}text"]
        {
            assert_eq!(read(text), Ok(None), "{text:?}");
        }
        for text in [
            "---\na: b\n---\nbody",
            "\u{feff}---\r\na: b\r\n---\r\nbody\r\n",
            "\n \n---  \na: b\n---\n\nbody\n",
        ] {
            let document = read(text).expect("the text is valid").expect("the text has frontmatter");
            assert_eq!((document.fields.len(), document.body.as_str()), (1, "body"), "{text:?}");
        }
    }

    #[test]
    fn a_body_has_line_feeds_only_at_the_ends_of_its_lines() {
        let document = read("---\na: b\n---\none\r\r\ntwo\r\nthree\n")
            .expect("the text is valid")
            .expect("the text has frontmatter");
        assert_eq!(document.body, "one\ntwo\nthree");
    }

    #[test]
    fn positions_are_relative_to_the_whole_file() {
        let document = read(
            "\r\n---\r\n# note\r\nname: a\r\n\"tools\" :  b\r\nlist:\r\n  - name\r\nnamed: c\r\n---\r\n",
        )
        .expect("the text is valid")
        .expect("the text has frontmatter");
        let positions: Vec<_> = document
            .fields
            .iter()
            .map(|field| (field.name.as_str(), field.key_at.line, field.value_at.line, field.value_at.column))
            .collect();
        assert_eq!(
            positions,
            [("name", 4, 4, 7), ("tools", 5, 5, 12), ("list", 6, 6, 1), ("named", 8, 8, 8)]
        );
    }

    #[test]
    fn the_position_of_a_mistake_counts_characters_and_lf_lines() {
        for (text, line, column) in [
            ("---\nä: ääää\nb: c: d\n---\n", 3, 5),
            ("---\r\nä: ä\r\n\r\nb: ä: d\r\n---\r\n", 4, 5),
            ("---\na: 'x\ry\n---\n", 2, 8),
        ] {
            assert_eq!(not_yaml(text), Position { line, column }, "{text:?}");
        }
    }
}
