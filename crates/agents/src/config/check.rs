//! Checks the type and the bounds of one value against its key, and describes the valid values.

use std::fmt::Display;

use serde_json::{Map, Value, json};

use super::entries::{LOCAL, PLACEHOLDERS, Quote};
use super::keys::{Key, Kind};
use super::located::{Json, Located, Member, Mistake};
use super::shortcut::is_shortcut;
use crate::{allowed_names, denied_names, tool_name};
use sanitizer::{Position, check_allowed, nearest, quoted, suggestion, without_controls};

/// The maximum number of entries in a list. No list needs more.
const MAX_ITEMS: usize = 256;
/// The maximum length of a single text, such as a path, a pattern, or an argument.
const MAX_TEXT_BYTES: usize = 8 * 1024;
/// Language server actions that change files or restart the server, in any spelling.
const FORBIDDEN_LSP_ACTIONS: [&str; 3] = ["rename", "codeaction", "restart"];
/// The prefix of the variables that this package sets for its children.
const RESERVED_ENV: &str = "PI_SUBAGENT_";
/// The placeholders that only one field of a launcher has.
const FIELD_PLACEHOLDERS: [(&str, &str); 2] = [("argv", "command"), ("session", "fetch")];
const LAUNCHER_FIELDS: [(&str, Kind); 9] = [
    ("command", Kind::Command),
    ("cwd", Kind::Text),
    ("piCommand", Kind::Command),
    ("env", Kind::TextList),
    ("quote", Kind::Choice(Quote::TEXTS)),
    ("readonly", Kind::Bool),
    ("fetch", Kind::Command),
    ("cancel", Kind::Command),
    ("maxConcurrent", Kind::Integer { min: 1, max: 4096 }),
];

/// Checks a value and converts it to the form used for merging.
pub(super) fn check(key: &Key, value: &Located) -> Result<Value, Mistake> {
    let checked = Checker { path: key.path }.value(key.kind, value)?;
    let inherits = key.default == "null" && checked == json!("inherit");
    Ok(if inherits { Value::Null } else { checked })
}

/// Checks a key of an agent. The value `inherit` is valid and cancels the value of the agent file.
pub(super) fn check_of_agent(key: &Key, path: &str, value: &Located) -> Result<Value, Mistake> {
    Checker { path }.value(key.kind, value)
}

/// Checks one launcher of a file. An invalid launcher does not affect the others.
pub(super) fn check_launcher(key: &Key, member: &Member) -> Result<Value, Mistake> {
    Checker { path: key.path }.named_launcher(member)
}

struct Checker<'a> {
    path: &'a str,
}

impl Checker<'_> {
    fn value(&self, kind: Kind, value: &Located) -> Result<Value, Mistake> {
        let checked = match (kind, &value.json) {
            (Kind::Bool | Kind::BoolOr(_) | Kind::BoolOrList, Json::Bool(found)) => Some(json!(found)),
            (Kind::Integer { min, max }, Json::Number(number)) => {
                let found = number.as_u64().or_else(|| number.as_f64().and_then(whole_number));
                found.filter(|found| (min..=max).contains(found)).map(|found| json!(found))
            }
            (Kind::Amount, Json::Number(found)) => {
                let amount = found.as_f64().filter(|amount| (0.0..1e12).contains(amount));
                amount.map(|_| json!(found))
            }
            (Kind::Choice(choices) | Kind::ChoiceOrList(choices), Json::Text(text)) => {
                choices.contains(&text.as_str()).then(|| json!(text))
            }
            (Kind::BoolOr(word), Json::Text(text)) => (text == word).then(|| json!(text)),
            (Kind::Text, Json::Text(text)) => (is_line(text) && !text.starts_with('-')).then(|| json!(text)),
            (Kind::Shortcut, Json::Text(text)) => is_shortcut(text).then(|| json!(text)),
            (Kind::TextList | Kind::ChoiceOrList(_) | Kind::BoolOrList, Json::List(items)) => {
                return self.list(kind, value, items, is_line);
            }
            (Kind::ProjectPathList, Json::List(items)) => {
                return self.list(kind, value, items, is_project_path);
            }
            (Kind::ToolNames, Json::List(items)) => {
                let declared = self.list(kind, value, items, |text| {
                    tool_name(text).is_some() || allowed_names(text).is_empty()
                })?;
                return Ok(pi_names(&declared, |name| {
                    tool_name(name).map(str::to_owned).into_iter().collect()
                }));
            }
            (Kind::AllowedTools, Json::List(items)) => {
                return self.list(kind, value, items, is_line).map(|names| pi_names(&names, allowed_names));
            }
            (Kind::DeniedTools, Json::List(items)) => {
                return self.list(kind, value, items, is_line).map(|names| pi_names(&names, denied_names));
            }
            (Kind::PathList, Json::List(items)) => return self.list(kind, value, items, is_path),
            (Kind::AllowedList, Json::List(items)) => return self.allowed_list(value, items),
            (Kind::Command, Json::List(items)) if !items.is_empty() => {
                return self.list(kind, value, items, is_argument);
            }
            (Kind::LspActions, Json::List(items)) => return self.lsp_actions(value, items),
            (Kind::Environment, Json::Object(members)) => return self.environment(value, members),
            (Kind::Launchers, Json::Object(members)) => return self.launchers(value, members),
            _ => None,
        };
        checked.map_or_else(|| self.wrong(value, &expected(kind)), Ok)
    }

    fn list(
        &self,
        kind: Kind,
        value: &Located,
        items: &[Located],
        fits: fn(&str) -> bool,
    ) -> Result<Value, Mistake> {
        self.check_count(value, items.len())?;
        let texts = items.iter().map(|item| match &item.json {
            Json::Text(text) if fits(text) => Ok(json!(text)),
            _ => self.wrong_item(item, &expected(kind)),
        });
        texts.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn allowed_list(&self, value: &Located, items: &[Located]) -> Result<Value, Mistake> {
        for item in items {
            if let Json::Text(text) = &item.json
                && let Err(wrong) = check_allowed(text)
            {
                return self.mistake(item.at, wrong);
            }
        }
        self.list(Kind::AllowedList, value, items, is_argument)
    }

    fn environment(&self, value: &Located, members: &[Member]) -> Result<Value, Mistake> {
        self.check_count(value, members.len())?;
        let mut variables = Map::new();
        for Member { name, name_at, value } in members {
            let shown = quoted(name);
            if name.starts_with(RESERVED_ENV) {
                let why = format!("names that start with `{RESERVED_ENV}` are set for each child");
                return self.mistake(*name_at, format!("names {shown}; {why}"));
            }
            let is_name = !name.is_empty() && !name.contains(|c: char| c == '=' || c.is_control());
            let Json::Text(text) = &value.json else {
                return self.wrong_item(value, &format!("a text for {shown}"));
            };
            if !is_name || text.contains('\0') || text.len() > MAX_TEXT_BYTES {
                let expected = format!("a name without `=` and at most {MAX_TEXT_BYTES} bytes without NUL");
                return self.mistake(*name_at, format!("sets {shown}; expected {expected}"));
            }
            variables.insert(name.clone(), json!(text));
        }
        Ok(Value::Object(variables))
    }

    fn lsp_actions(&self, value: &Located, items: &[Located]) -> Result<Value, Mistake> {
        for item in items {
            if let Json::Text(text) = &item.json {
                let plain: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
                if FORBIDDEN_LSP_ACTIONS.contains(&plain.to_ascii_lowercase().as_str()) {
                    let why = "which a child may never use; expected actions that only read";
                    return self.mistake(item.at, format!("names {}, {why}", quoted(text)));
                }
            }
        }
        self.list(Kind::LspActions, value, items, |text| {
            !text.is_empty()
                && text.len() <= 64
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_/.".contains(c))
        })
    }

    fn launchers(&self, value: &Located, members: &[Member]) -> Result<Value, Mistake> {
        self.check_count(value, members.len())?;
        let mut launchers = Map::new();
        for member in members {
            if launchers.contains_key(&member.name) {
                let what = format!("contains {}; expected each name once, on one line", quoted(&member.name));
                return self.mistake(member.name_at, what);
            }
            launchers.insert(member.name.clone(), self.named_launcher(member)?);
        }
        Ok(Value::Object(launchers))
    }

    fn named_launcher(&self, Member { name, name_at, value }: &Member) -> Result<Value, Mistake> {
        if !is_line(name) {
            let what = format!("contains {}; expected each name once, on one line", quoted(name));
            return self.mistake(*name_at, what);
        }
        if name == LOCAL {
            let what = format!("contains {}; that name is reserved for this machine", quoted(name));
            return self.mistake(*name_at, what);
        }
        Checker { path: &format!("{}.{name}", self.path) }.launcher(value)
    }

    fn launcher(&self, value: &Located) -> Result<Value, Mistake> {
        let Json::Object(members) = &value.json else {
            return self.wrong(value, "an object with a `command`");
        };
        let mut launcher = Map::new();
        for Member { name, name_at, value } in members {
            let path = format!("{}.{name}", self.path);
            let Some((_, kind)) = LAUNCHER_FIELDS.iter().find(|(known, _)| known == name) else {
                let fields = LAUNCHER_FIELDS.map(|(known, _)| known);
                let near = nearest(name, fields);
                // `pi` for `piCommand`.
                let near = near.or_else(|| fields.into_iter().find(|known| known.starts_with(&**name)));
                let meant = suggestion(near.filter(|_| !name.is_empty()));
                let message = format!("{} is not a field of a launcher{meant}", quoted(&path));
                return Err(Mistake { at: *name_at, message });
            };
            let field = Checker { path: &path };
            let checked = field.value(*kind, value)?;
            let placeholders: Vec<&str> = PLACEHOLDERS
                .into_iter()
                .filter(|placeholder| {
                    FIELD_PLACEHOLDERS.iter().all(|(only, field)| only != placeholder || field == name)
                })
                .collect();
            if let Some(unknown) = unknown_placeholder(&checked, &placeholders) {
                let expected = listed(&placeholders);
                let what = format!("has the placeholder `{{{unknown}}}`; expected one of {expected}");
                return field.mistake(value.at, what);
            }
            if let Some(wrong) = launcher_mistake(name, &checked) {
                return field.mistake(value.at, wrong);
            }
            launcher.insert(name.clone(), checked);
        }
        let command = launcher.get("command").and_then(Value::as_array);
        if !command.is_some_and(|words| {
            words.iter().any(|word| word.as_str().is_some_and(|word| word.contains("{argv}")))
        }) {
            let what = "needs a `command` with `{argv}` in it, where the child's arguments go";
            return self.mistake(value.at, what);
        }
        Ok(Value::Object(launcher))
    }

    fn check_count(&self, value: &Located, items: usize) -> Result<(), Mistake> {
        if items <= MAX_ITEMS {
            return Ok(());
        }
        self.mistake(value.at, format!("has {items} entries; expected at most {MAX_ITEMS}"))
    }

    fn wrong<T>(&self, value: &Located, expected: &str) -> Result<T, Mistake> {
        self.mistake(value.at, format!("is {}; expected {expected}", shown(&value.json)))
    }

    fn wrong_item<T>(&self, item: &Located, expected: &str) -> Result<T, Mistake> {
        self.mistake(item.at, format!("contains {}; expected {expected}", shown(&item.json)))
    }

    fn mistake<T>(&self, at: Position, what: impl Display) -> Result<T, Mistake> {
        Err(Mistake { at, message: format!("`{}` {what}", self.path) })
    }
}

/// Describes the valid values of a kind.
fn expected(kind: Kind) -> String {
    let expected = match kind {
        Kind::Bool => "`true` or `false`",
        Kind::BoolOr(word) => return format!("`true`, `false` or `\"{word}\"`"),
        Kind::Integer { min, max } => return format!("a whole number from {min} to {max}"),
        Kind::Amount => "an amount in USD such as 0.5, 0 for no limit",
        Kind::Choice(choices) => return format!("one of {}", listed(choices)),
        Kind::ChoiceOrList(choices) => return format!("{} or a list of paths", listed(choices)),
        Kind::Text => "one line of text that does not start with `-`",
        Kind::Shortcut => "a key as pi spells it, such as `alt+g`, `ctrl+shift+b` or `f8`, or `none`",
        Kind::TextList | Kind::LspActions | Kind::AllowedTools | Kind::DeniedTools => "a list of names",
        Kind::AllowedList => "a list of exact values and of rules such as `rule:jwt`",
        Kind::PathList => "a list of paths that begin with `/` or `~/`",
        Kind::Command => "a program and its arguments, such as [\"node\", \"cli.js\"]",
        Kind::Environment => "an object of names and texts",
        Kind::Launchers => "an object of launchers by name",
        Kind::ProjectPathList => "a list of paths within a project, such as \".claude/agents\"",
        Kind::ToolNames => "a list of plain tool names, such as [\"read\", \"grep\"], or `mcp__server__*`",
        Kind::BoolOrList => "`true`, `false` or a list of names",
    };
    expected.to_owned()
}

/// Returns the mistake in a launcher's field that the check of its kind does not find. Programs are looked up in PATH
/// or given as an absolute path, because a relative path could start a program of the project.
fn launcher_mistake(field: &str, value: &Value) -> Option<String> {
    let words: Vec<&str> = value.as_array()?.iter().filter_map(Value::as_str).collect();
    let is_variable = |name: &&&str| {
        let mut chars = name.chars();
        chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match (field, words.first()?) {
        ("env", _) => {
            let wrong = words.iter().find(|name| !is_variable(name))?;
            Some(format!("names {}; expected names of variables, such as `OPENAI_API_KEY`", quoted(wrong)))
        }
        ("command" | "cancel" | "fetch", first)
            if first.contains('{')
                || first.is_empty()
                || (first.contains('/') && !first.starts_with('/')) =>
        {
            Some(format!("begins with {}; expected a name in PATH or an absolute path", quoted(first)))
        }
        _ => None,
    }
}

/// Returns a `{placeholder}` in a launcher's text that is not in `placeholders`, if there is one.
fn unknown_placeholder(value: &Value, placeholders: &[&str]) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(|item| unknown_placeholder(item, placeholders)),
        Value::String(text) => text.split('{').skip(1).find_map(|rest| {
            let (word, _) = rest.split_once('}')?;
            let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            (is_word && !placeholders.contains(&word)).then(|| word.to_owned())
        }),
        _ => None,
    }
}

/// Formats a value for messages.
pub(super) fn shown(json: &Json) -> String {
    match json {
        Json::Null => "`null`".to_owned(),
        Json::Bool(value) => format!("`{value}`"),
        Json::Number(value) => quoted(&value.to_string()),
        Json::Text(text) => quoted(&format!("\"{text}\"")),
        Json::List(_) => "a list".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}

fn listed(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ")
}

fn is_line(text: &str) -> bool {
    let is_seen = !text.chars().any(char::is_control) && without_controls(text) == text;
    is_seen && !text.trim().is_empty() && text.len() <= MAX_TEXT_BYTES
}

fn is_path(text: &str) -> bool {
    is_line(text) && (text.starts_with('/') || text.starts_with("~/"))
}

fn is_project_path(text: &str) -> bool {
    let parts = || text.split('/');
    is_line(text)
        && parts().all(|part| !part.is_empty() && part != "." && part != ".." && !part.contains('\\'))
}

/// Converts tool names, which may be the names of other harnesses, to pi's names without duplicates.
fn pi_names(declared: &Value, names_of: impl Fn(&str) -> Vec<String>) -> Value {
    let mut names: Vec<String> = Vec::new();
    for name in declared.as_array().into_iter().flatten().filter_map(Value::as_str).flat_map(names_of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    json!(names)
}

fn is_argument(text: &str) -> bool {
    text.len() <= MAX_TEXT_BYTES && !text.contains('\0')
}

/// Converts a whole number, even if it is written as `1000.0` or `1e3`.
fn whole_number(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked: whole and within bounds"
    )]
    let whole = number as u64;
    (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::super::entries::AgentSettings;
    use super::super::keys::{AGENT_KEYS, KEYS, Values};
    use super::super::located::parse;
    use super::*;

    /// Values of every type, among them valid ones for each key.
    fn values() -> Vec<Value> {
        let mut values = vec![
            json!(null),
            json!(true),
            json!(false),
            json!([]),
            json!(["a"]),
            json!([""]),
            json!([1]),
            json!({}),
            json!({"a": "b"}),
            json!({"a": 1}),
            json!({"a": {}}),
            json!({"a": {"command": ["x", "{argv}"]}}),
            json!(""),
            json!("-x"),
            json!("a\nb"),
            json!("/a"),
            json!("inherit"),
            json!("auto"),
            json!("none"),
            json!("json"),
            json!(["read"]),
        ];
        values.extend([0.0, 0.5, -1.0, 1.0, 3.0, 1000.0, 1e6, 1e9, 9e15, 1e300].map(|number| json!(number)));
        values.extend([0_u64, 1, 5, 16, 17, 300, 604_800_000, u64::MAX].map(|number| json!(number)));
        for key in KEYS.iter().chain(AGENT_KEYS) {
            if let Kind::Choice(choices) | Kind::ChoiceOrList(choices) = key.kind {
                values.extend(choices.iter().map(|choice| json!(choice)));
            }
        }
        values
    }

    /// Returns true if a setting has the value that was set. A number may be written in another way, and an object may
    /// have more members, the defaults.
    fn is_same(found: &Value, set: &Value) -> bool {
        found == set
            || (found.is_number() && found.as_f64() == set.as_f64())
            || (found.is_object() && set.is_object())
    }

    #[test]
    fn a_valid_value_of_an_agent_can_be_read_as_its_setting() {
        for key in AGENT_KEYS {
            let mut accepted = 0;
            for value in values() {
                let located = parse(&value.to_string()).expect("the text is valid JSON");
                let Ok(checked) = check_of_agent(key, key.path, &located) else { continue };
                let settings: AgentSettings = serde_json::from_value(json!({ key.path: checked }))
                    .unwrap_or_else(|why| panic!("`{}` cannot be {value}: {why}", key.path));
                let again = json!(settings);
                let found = again.get(key.path);
                assert!(
                    found.is_some_and(|found| is_same(found, &checked)),
                    "`{}` is {found:?} after {value} was set: add a field to crates/agents/src/config/entries.rs",
                    key.path
                );
                accepted += 1;
            }
            assert!(accepted > 0, "`{}`: add a valid value to `values` in this module", key.path);
        }
    }

    #[test]
    fn a_value_that_passes_its_check_can_be_read_as_the_setting() {
        let values = values();
        let mut accepted = 0;
        for key in KEYS {
            let is_right = key.default == "null"
                || check(key, &parse(key.default).expect("the text is valid JSON")).is_ok();
            assert!(is_right, "the default of `{}` is not one of its values", key.path);
            let before = accepted;
            for value in &values {
                if let Ok(checked) = check(key, &parse(&value.to_string()).expect("the text is valid JSON")) {
                    let mut all = Values::default();
                    all.set(key.path, checked.clone());
                    let again = Values::of(&all.into_config());
                    let found = again.of_key(key.path);
                    let written = &checked;
                    assert!(
                        is_same(found, written),
                        "`{}` is {found} after {value} was set: add a field to crates/agents/src/config/settings.rs",
                        key.path
                    );
                    accepted += 1;
                }
            }
            assert!(accepted > before, "`{}`: add a valid value to `values` in this module", key.path);
        }
    }
}
