//! Processes the arguments of a call.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::names::{advice, is_title, parameter_named, requests_default};
use super::value::{beginning, converted, is_empty, means_no_value, object, parsed, shown};
use crate::surface::{Tool, parameters};
use sanitizer::quoted;

/// The beginning of the last line of a [`Misuse`], which is for a model.
pub const MISUSE_END: &str = "The tool did not run. Expected: ";
/// The maximum number of mistakes in one message.
const MAX_PROBLEMS: usize = 6;

/// The mistakes in the arguments of a call, and the expected form of the arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Misuse {
    /// The mistakes, as messages for the model.
    pub problems: Vec<String>,
    /// The expected form, such as `subagent({ agent, task, cwd? })`.
    pub usage: String,
}

impl Misuse {
    fn of(tool: Tool, problems: Vec<String>) -> Self {
        Self { problems, usage: format!("{tool}({})", form(&parameters(tool))) }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in self.problems.iter().take(MAX_PROBLEMS) {
            let stop = if problem.ends_with('?') { "" } else { "." };
            writeln!(formatter, "{problem}{stop}")?;
        }
        if let Some(more) = self.problems.len().checked_sub(MAX_PROBLEMS).filter(|more| *more > 0) {
            writeln!(formatter, "{more} more mistakes are not listed.")?;
        }
        write!(formatter, "{MISUSE_END}{}", self.usage)
    }
}

/// Prepares arguments like [`prepare_arguments`], given as JSON text.
///
/// # Errors
///
/// Fails like [`prepare_arguments`], and also if the text is not JSON.
pub fn prepare_json(tool: Tool, json: &str) -> Result<Value, Misuse> {
    match serde_json::from_str(json) {
        Ok(given) => prepare_arguments(tool, given),
        Err(error) => Err(Misuse::of(tool, vec![format!("The arguments are not valid JSON ({error})")])),
    }
}

/// Converts the arguments of a call to the form of the tool's schema. Arguments that have this form stay unchanged.
/// The result has only known parameters of the right types, and all required ones.
///
/// # Errors
///
/// Returns an error for every value that does not have exactly one meaning, and for every unknown or missing parameter.
pub fn prepare_arguments(tool: Tool, given: Value) -> Result<Value, Misuse> {
    let schema = parameters(tool);
    let mut walk = Walk { tool, problems: Vec::new() };
    let prepared = match fields_of(given, &schema) {
        Ok(fields) => walk.object(fields, &schema, ""),
        Err(given) => {
            walk.problems.push(format!("The arguments are {}; expected an object", shown(&given)));
            Map::new()
        }
    };
    if walk.problems.is_empty() {
        return Ok(Value::Object(prepared));
    }
    Err(Misuse::of(tool, walk.problems))
}

/// Returns the arguments as an object. JSON text is parsed, and a bare list becomes the value of the tool's only list.
fn fields_of(given: Value, schema: &Value) -> Result<Map<String, Value>, Value> {
    if given.is_null() {
        return Ok(Map::new());
    }
    if let Some(fields) = object(&given) {
        return Ok(fields);
    }
    let list = schema["properties"].as_object().and_then(|properties| {
        properties.iter().find(|(_, schema)| schema["type"] == "array").map(|(name, _)| name)
    });
    match (given, list) {
        (Value::Array(entries), Some(list)) => Ok(Map::from_iter([(list.clone(), Value::Array(entries))])),
        (given, _) => Err(given),
    }
}

struct Walk {
    tool: Tool,
    problems: Vec<String>,
}

impl Walk {
    /// Converts the fields of an object. `place` begins the messages about it.
    fn object(&mut self, given: Map<String, Value>, schema: &Value, place: &str) -> Map<String, Value> {
        let no_properties = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&no_properties);
        let required =
            |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&name.into()));
        let mut fields = Map::new();
        let mut titles = Vec::new();
        let mut empty = Vec::new();
        let mut given_as: BTreeMap<&str, String> = BTreeMap::new();
        let before = self.problems.len();
        for (name, value) in given {
            let own = parameter_named(&name, properties);
            if is_empty(&value) || (means_no_value(&value) && !own.is_some_and(required)) {
                empty.extend(own);
                continue;
            }
            match own {
                Some(own) if fields.get(own).is_some_and(|other| *other != value) => {
                    let other = beginning(&given_as[own]);
                    let problem = format!(
                        "{place}{other} and {} mean the same; give only {}",
                        beginning(&name),
                        quoted(own)
                    );
                    self.problems.push(problem);
                }
                Some(own) => {
                    fields.insert(own.to_owned(), value);
                    given_as.insert(own, name);
                }
                None if is_title(self.tool, &name) && value.is_string() => titles.push((name, value)),
                None if requests_default(self.tool, &name, &value) => {}
                None => self.problems.push(format!("{place}{}", advice(self.tool, &name, properties))),
            }
        }
        self.apply_title(titles, &mut fields, properties, place);
        // A call meant for another tool lacks the parameters of this tool.
        if self.problems.len() == before {
            for name in properties.keys().filter(|name| required(name) && !fields.contains_key(*name)) {
                let state = if empty.contains(&name.as_str()) { "empty" } else { "missing" };
                self.problems.push(format!("{place}{} is {state}", quoted(name)));
            }
        }
        let converted = fields.into_iter().filter_map(|(name, value)| {
            let value = self.field(&name, value, &properties[&name], place)?;
            // A text can be the JSON of an empty value.
            (!is_empty(&value)).then_some((name, value))
        });
        converted.collect()
    }

    /// Uses a title as the label of a run, or ignores it. If the task is missing, reports the title as a mistake,
    /// because it may be the task.
    fn apply_title(
        &mut self,
        titles: Vec<(String, Value)>,
        fields: &mut Map<String, Value>,
        properties: &Map<String, Value>,
        place: &str,
    ) {
        for (name, value) in titles {
            if properties.contains_key("task") && !fields.contains_key("task") {
                self.problems.push(format!("{place}{}", advice(self.tool, &name, properties)));
            } else if properties.contains_key("label") && !fields.contains_key("label") {
                fields.insert("label".to_owned(), value);
            }
        }
    }

    fn field(&mut self, name: &str, value: Value, schema: &Value, place: &str) -> Option<Value> {
        if schema["type"] == "array" {
            return self.list(name, value, &schema["items"]);
        }
        match converted(&value, schema) {
            Ok(value) => Some(value),
            Err(expected) => {
                let problem = format!("{place}{} is {}; expected {expected}", quoted(name), shown(&value));
                self.problems.push(problem);
                None
            }
        }
    }

    /// Converts a list. JSON text is parsed, and a single entry becomes a list of one.
    fn list(&mut self, name: &str, value: Value, schema: &Value) -> Option<Value> {
        let value = match value {
            Value::String(text) => match parsed(&text) {
                Ok(value) => value,
                Err(error) => {
                    let problem = format!(
                        "{} is text that is not JSON ({error}); expected a list of objects",
                        quoted(name)
                    );
                    self.problems.push(problem);
                    return None;
                }
            },
            value => value,
        };
        let entries = match value {
            Value::Array(entries) => entries,
            // A list inside an object of the same name.
            Value::Object(mut fields)
                if fields.len() == 1 && fields.get(name).is_some_and(Value::is_array) =>
            {
                match fields.remove(name) {
                    Some(Value::Array(entries)) => entries,
                    _ => Vec::new(),
                }
            }
            entry @ Value::Object(_) => vec![entry],
            other => {
                self.problems.push(format!(
                    "{} is {}; expected a list of objects",
                    quoted(name),
                    shown(&other)
                ));
                return None;
            }
        };
        if entries.is_empty() {
            self.problems.push(format!("{} is empty; expected at least one entry", quoted(name)));
        }
        let one = name.trim_end_matches('s');
        let entries = entries.into_iter().enumerate().filter_map(|(index, entry)| {
            let number = index + 1;
            let Some(fields) = object(&entry) else {
                let problem = format!("{one} {number} is {}; expected {}", shown(&entry), form(schema));
                self.problems.push(problem);
                return None;
            };
            Some(Value::Object(self.object(fields, schema, &format!("{one} {number}: "))))
        });
        Some(Value::Array(entries.collect()))
    }
}

/// Returns the form of a schema's values: required parameters, then optional ones with a question mark.
fn form(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object() else { return "{}".to_owned() };
    let is_required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&name.into()));
    let (required, optional): (Vec<_>, Vec<_>) = properties.iter().partition(|(name, _)| is_required(name));
    let required = required.into_iter().map(|(name, schema)| {
        if schema["type"] == "array" { format!("{name}: [{}]", form(&schema["items"])) } else { name.clone() }
    });
    let optional = optional.into_iter().map(|(name, _)| format!("{name}?"));
    let all: Vec<String> = required.chain(optional).collect();
    if all.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", all.join(", ")) }
}
