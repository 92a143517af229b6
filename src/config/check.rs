//! Checks one value against its key: type and bounds, and what would have been right.

use serde_json::{Map, Value, json};

use super::keys::{Key, Kind};
use super::located::{Json, Located, Member};
use crate::text::{Position, nearest, quoted};

/// No list needs more entries.
const MAX_ITEMS: usize = 256;
/// Longest single text, such as a path, a pattern, or an argument.
const MAX_TEXT_BYTES: usize = 8 * 1024;
/// Language server actions that change files or restart the server, in any spelling.
const NEVER_LSP: [&str; 3] = ["rename", "codeaction", "restart"];
/// Prefix of the variables that this package sets for its children.
const RESERVED_ENV: &str = "PI_SUBAGENT_";
const PLACEHOLDERS: [&str; 6] = ["argv", "cwd", "project", "runId", "agent", "env"];
const LAUNCHER_FIELDS: [&str; 7] = ["command", "cwd", "env", "quote", "fetch", "cancel", "maxConcurrent"];

/// A value that cannot be used.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) at: Option<Position>,
    pub(super) message: String,
}

/// Checks a value and converts it to the form used for merging.
pub(super) fn check(key: &Key, value: &Located) -> Result<Value, Wrong> {
    let checked = Checker { path: key.path }.value(key.kind, value)?;
    let inherits = key.default == "null" && checked == json!("inherit");
    Ok(if inherits { Value::Null } else { checked })
}

struct Checker<'a> {
    path: &'a str,
}

impl Checker<'_> {
    fn value(&self, kind: Kind, value: &Located) -> Result<Value, Wrong> {
        match (kind, &value.json) {
            (Kind::Bool, Json::Bool(found)) => Ok(json!(found)),
            (Kind::Bool, _) => self.wrong(value, "`true` or `false`"),
            (Kind::Integer { min, max }, _) => self.integer(value, min, max),
            (Kind::Amount, Json::Number(found))
                if found.as_f64().is_some_and(|amount| (0.0..1e12).contains(&amount)) =>
            {
                Ok(json!(found))
            }
            (Kind::Amount, _) => self.wrong(value, "an amount in USD such as 0.5, 0 for no limit"),
            (Kind::Choice(choices), Json::Text(text)) if choices.contains(&text.as_str()) => Ok(json!(text)),
            (Kind::Choice(choices), _) => self.wrong(value, &format!("one of {}", listed(choices))),
            (Kind::Text, Json::Text(text)) if is_line(text) && !text.starts_with('-') => Ok(json!(text)),
            (Kind::Text, _) => self.wrong(value, "one line of text that does not start with `-`"),
            (Kind::TextList, _) => self.list(value, "a list of names", is_line),
            (Kind::Command, Json::List(items)) if !items.is_empty() => {
                self.list(value, "a program and its arguments, such as [\"node\", \"cli.js\"]", is_argument)
            }
            (Kind::Command, _) => {
                self.wrong(value, "a program and its arguments, such as [\"node\", \"cli.js\"]")
            }
            (Kind::Environment, Json::Object(members)) => self.environment(value, members),
            (Kind::Environment, _) => self.wrong(value, "an object of names and texts"),
            (Kind::LspActions, Json::List(items)) => self.lsp_actions(value, items),
            (Kind::LspActions, _) => self.wrong(value, "a list of names"),
            (Kind::ChoiceOrList(choices), Json::Text(text)) if choices.contains(&text.as_str()) => {
                Ok(json!(text))
            }
            (Kind::ChoiceOrList(choices), Json::List(_)) => {
                self.list(value, &format!("{} or a list of paths", listed(choices)), is_line)
            }
            (Kind::ChoiceOrList(choices), _) => {
                self.wrong(value, &format!("{} or a list of paths", listed(choices)))
            }
            (Kind::Launchers, Json::Object(members)) => self.launchers(value, members),
            (Kind::Launchers, _) => self.wrong(value, "an object of launchers by name"),
        }
    }

    fn integer(&self, value: &Located, min: u64, max: u64) -> Result<Value, Wrong> {
        let found = match &value.json {
            Json::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(whole)),
            _ => None,
        };
        match found.filter(|found| (min..=max).contains(found)) {
            Some(found) => Ok(json!(found)),
            None => self.wrong(value, &format!("a whole number from {min} to {max}")),
        }
    }

    fn list(&self, value: &Located, expected: &str, fits: fn(&str) -> bool) -> Result<Value, Wrong> {
        let Json::List(items) = &value.json else { return self.wrong(value, expected) };
        self.at_most(value, items.len())?;
        let texts = items.iter().map(|item| match &item.json {
            Json::Text(text) if fits(text) => Ok(json!(text)),
            _ => self.holds(item, expected),
        });
        texts.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn environment(&self, value: &Located, members: &[Member]) -> Result<Value, Wrong> {
        self.at_most(value, members.len())?;
        let mut variables = Map::new();
        for Member { name, name_at, value } in members {
            let fail = |message| Err(Wrong { at: *name_at, message });
            if name.starts_with(RESERVED_ENV) {
                return fail(format!(
                    "`{}` names {}; names that start with `{RESERVED_ENV}` are set for each child",
                    self.path,
                    quoted(name)
                ));
            }
            let is_name = !name.is_empty() && !name.contains(|c: char| c == '=' || c.is_control());
            let Json::Text(text) = &value.json else {
                return self.holds(value, &format!("a text for {}", quoted(name)));
            };
            if !is_name || text.contains('\0') || text.len() > MAX_TEXT_BYTES {
                return fail(format!(
                    "`{}` sets {}; expected a name without `=` and at most {MAX_TEXT_BYTES} bytes without NUL",
                    self.path,
                    quoted(name)
                ));
            }
            variables.insert(name.clone(), json!(text));
        }
        Ok(Value::Object(variables))
    }

    fn lsp_actions(&self, value: &Located, items: &[Located]) -> Result<Value, Wrong> {
        for item in items {
            if let Json::Text(text) = &item.json {
                let plain: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
                if NEVER_LSP.contains(&plain.to_ascii_lowercase().as_str()) {
                    let message = format!(
                        "`{}` names {}, which a child may never use; expected actions that only read",
                        self.path,
                        quoted(text)
                    );
                    return Err(Wrong { at: item.at, message });
                }
            }
        }
        self.list(value, "a list of names", |text| {
            !text.is_empty()
                && text.len() <= 64
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_/.".contains(c))
        })
    }

    fn launchers(&self, value: &Located, members: &[Member]) -> Result<Value, Wrong> {
        self.at_most(value, members.len())?;
        let mut launchers = Map::new();
        for Member { name, name_at, value } in members {
            if !is_line(name) || launchers.contains_key(name) {
                let message =
                    format!("`{}` holds {}; expected each name once, on one line", self.path, quoted(name));
                return Err(Wrong { at: *name_at, message });
            }
            let path = format!("{}.{name}", self.path);
            launchers.insert(name.clone(), Checker { path: &path }.launcher(value)?);
        }
        Ok(Value::Object(launchers))
    }

    fn launcher(&self, value: &Located) -> Result<Value, Wrong> {
        let Json::Object(members) = &value.json else {
            return self.wrong(value, "an object with a `command`");
        };
        let mut launcher = Map::new();
        for Member { name, name_at, value } in members {
            let path = format!("{}.{name}", self.path);
            let field = Checker { path: &path };
            let checked = match name.as_str() {
                "command" | "fetch" | "cancel" => field.value(Kind::Command, value)?,
                "cwd" => field.value(Kind::Text, value)?,
                "env" => field.value(Kind::TextList, value)?,
                "quote" => field.value(Kind::Choice(&["sh"]), value)?,
                "maxConcurrent" => field.value(Kind::Integer { min: 1, max: 4096 }, value)?,
                other => {
                    let meant =
                        nearest(other, LAUNCHER_FIELDS).map(|known| format!("; did you mean `{known}`?"));
                    let message = format!(
                        "{} is not a field of a launcher{}",
                        quoted(&path),
                        meant.unwrap_or_default()
                    );
                    return Err(Wrong { at: *name_at, message });
                }
            };
            if let Some(unknown) = unknown_placeholder(&checked) {
                let message = format!(
                    "`{path}` has the placeholder `{{{unknown}}}`; expected one of {}",
                    listed(&PLACEHOLDERS)
                );
                return Err(Wrong { at: value.at, message });
            }
            launcher.insert(name.clone(), checked);
        }
        let command = launcher.get("command").and_then(Value::as_array);
        if !command.is_some_and(|words| {
            words.iter().any(|word| word.as_str().is_some_and(|word| word.contains("{argv}")))
        }) {
            let message = format!(
                "`{}` needs a `command` with `{{argv}}` in it, where the child's arguments go",
                self.path
            );
            return Err(Wrong { at: value.at, message });
        }
        Ok(Value::Object(launcher))
    }

    fn at_most(&self, value: &Located, items: usize) -> Result<(), Wrong> {
        if items <= MAX_ITEMS {
            return Ok(());
        }
        Err(Wrong {
            at: value.at,
            message: format!("`{}` has {items} entries; expected at most {MAX_ITEMS}", self.path),
        })
    }

    fn wrong<T>(&self, value: &Located, expected: &str) -> Result<T, Wrong> {
        Err(Wrong {
            at: value.at,
            message: format!("`{}` is {}; expected {expected}", self.path, shown(&value.json)),
        })
    }

    fn holds<T>(&self, item: &Located, expected: &str) -> Result<T, Wrong> {
        Err(Wrong {
            at: item.at,
            message: format!("`{}` holds {}; expected {expected}", self.path, shown(&item.json)),
        })
    }
}

/// An unknown `{placeholder}` in a launcher's text, if there is one.
fn unknown_placeholder(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(unknown_placeholder),
        Value::String(text) => text.split('{').skip(1).find_map(|rest| {
            let (word, _) = rest.split_once('}')?;
            let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            (is_word && !PLACEHOLDERS.contains(&word)).then(|| word.to_owned())
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
    !text.trim().is_empty() && text.len() <= MAX_TEXT_BYTES && !text.chars().any(char::is_control)
}

fn is_argument(text: &str) -> bool {
    text.len() <= MAX_TEXT_BYTES && !text.contains('\0')
}

/// Converts a whole number, also when it is written `1000.0` or `1e3`.
fn whole(number: f64) -> Option<u64> {
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
    use super::super::keys::KEYS;
    use super::super::values::Values;
    use super::*;

    #[test]
    fn a_value_that_passes_its_check_can_be_read_as_the_setting() {
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
            json!("inherit"),
            json!("auto"),
            json!("none"),
            json!("json"),
        ];
        values.extend([0.0, 0.5, -1.0, 1.0, 3.0, 1000.0, 1e6, 1e9, 9e15, 1e300].map(|number| json!(number)));
        values.extend([0_u64, 1, 5, 16, 17, 300, 604_800_000, u64::MAX].map(|number| json!(number)));
        for key in KEYS {
            if let Kind::Choice(choices) | Kind::ChoiceOrList(choices) = key.kind {
                values.extend(choices.iter().map(|choice| json!(choice)));
            }
        }
        let mut accepted = 0;
        for key in KEYS {
            let before = accepted;
            for value in &values {
                if let Ok(checked) = check(key, &Located::from_value(value)) {
                    let mut all = Values::default();
                    all.set(key.path, checked.clone());
                    let again = Values::of(&all.into_config());
                    let (found, written) = (again.of_key(key.path), &checked);
                    assert!(found == written || found.as_f64() == written.as_f64(), "{}: {value}", key.path);
                    accepted += 1;
                }
            }
            assert!(accepted > before, "{}: the table holds no right value", key.path);
        }
    }
}
