//! Parses one agent file into a definition, or into diagnostics.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::definition::{
    AgentDefinition, Asks, Context, Isolation, Network, SandboxMode, Skills, Source, THINKING_LEVELS,
};
use super::frontmatter::{self, Document, Field, SyntaxError, Yaml};
use super::output_schema::OutputSchema;
use super::policy::{is_tool_name, pi_tool_name};
use crate::text::{
    Code, Diagnostic, LineIndex, Position, Severity, nearest, one_line, quoted, suggestion, without_controls,
};

/// Largest agent file. A prompt of this size already fills a tenth of a context window.
pub(super) const MAX_FILE_BYTES: usize = 64 * 1024;
/// A file with more problems is probably not an agent.
const MAX_DIAGNOSTICS: usize = 10;

/// A description is one line; a longer one only crowds the lists that show it.
const MAX_DESCRIPTION_CHARS: usize = 1000;
/// Longest name that still fits into file names and lists.
const MAX_NAME_CHARS: usize = 64;
/// No agent needs more tools or extensions.
const MAX_LIST_ITEMS: usize = 256;
/// Longest text value, such as a model pattern or the path of an extension.
const MAX_TEXT_CHARS: usize = 1024;
/// Longest timeout that an agent may set: a week.
const MAX_TIMEOUT_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// Reads one field into the definition.
type Read = fn(&mut Reader<'_>, &Field, &mut AgentDefinition);

const FIELDS: [(&str, Read); 22] = [
    ("name", |reader, field, agent| agent.name = reader.name(field).unwrap_or_default()),
    ("description", |reader, field, agent| reader.description(field, agent)),
    ("readonly", |reader, field, agent| agent.readonly = reader.readonly(field).unwrap_or_default()),
    ("tools", |reader, field, agent| agent.tools = reader.tools(field)),
    ("model", |reader, field, agent| agent.model = reader.inheritable(field)),
    ("thinking", |reader, field, agent| {
        let level = reader.inheritable(field);
        agent.thinking = level.and_then(|level| reader.choice(field, level, THINKING_LEVELS));
    }),
    ("timeoutMs", |reader, field, agent| agent.timeout = reader.milliseconds(field)),
    ("idleTimeoutMs", |reader, field, agent| agent.idle_timeout = reader.milliseconds(field)),
    ("maxTurns", |reader, field, agent| agent.max_turns = reader.count(field, "turns")),
    ("loopStopAfter", |reader, field, agent| agent.loop_stop_after = reader.count(field, "repetitions")),
    ("maxCost", |reader, field, agent| agent.max_cost = reader.cost(field)),
    ("sandbox", |reader, field, agent| {
        let mode = reader.text(field).and_then(|mode| reader.choice(field, mode, SandboxMode::TEXTS));
        agent.sandbox = mode.and_then(|mode| SandboxMode::parse(&mode));
    }),
    ("network", |reader, field, agent| {
        let network = reader.text(field).and_then(|network| reader.choice(field, network, Network::TEXTS));
        agent.network = network.and_then(|network| Network::parse(&network));
    }),
    ("isolation", |reader, field, agent| {
        let isolation = reader.text(field).and_then(|word| reader.choice(field, word, Isolation::TEXTS));
        agent.isolation = isolation.and_then(|word| Isolation::parse(&word));
    }),
    ("launcher", |reader, field, agent| {
        agent.launcher = reader.text(field);
        agent.launcher_line = agent.launcher.is_some().then_some(field.value_at.line);
    }),
    ("extensions", |reader, field, agent| agent.extensions = reader.list(field, SYNTAX)),
    ("context", |reader, field, agent| agent.context = reader.context(field)),
    ("skills", |reader, field, agent| agent.skills = reader.skills(field)),
    ("ask", |reader, field, agent| agent.ask = reader.ask(field).unwrap_or_default()),
    ("check", |reader, field, agent| agent.check = reader.text(field)),
    ("setup", |reader, field, agent| agent.setup = reader.text(field)),
    ("outputSchema", |reader, field, agent| agent.output_schema = reader.schema(field)),
];

const NAME_MISSING: Code = (Severity::Error, "FRONTMATTER_NAME_MISSING");
const READONLY_INVALID: Code = (Severity::Error, "FRONTMATTER_READONLY_INVALID");
const TOOLS_INVALID: Code = (Severity::Error, "FRONTMATTER_TOOLS_INVALID");
const SYNTAX: Code = (Severity::Error, "FRONTMATTER_SYNTAX");
const FIELD_IGNORED: Code = (Severity::Info, "FRONTMATTER_FIELD_IGNORED");
/// The file, or the directory that should hold it, cannot be read.
pub(super) const READ_FAILED: Code = (Severity::Error, "AGENT_FILE_READ_FAILED");

/// The result of parsing a file. With neither agent nor diagnostics, the file is something else, a README for instance.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The agent, unless one of the diagnostics is an error.
    pub agent: Option<AgentDefinition>,
    /// Problems for the author to fix, in the order of the fields.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses the content of an agent file. `path` appears in diagnostics and is never opened.
#[must_use]
pub fn parse(bytes: &[u8], source: Source, path: Option<&Path>) -> Parsed {
    let mut reader = Reader { path, diagnostics: Vec::new() };
    let agent = match document(bytes) {
        Ok(document) => document.map(|document| reader.definition(&document, bytes, source)),
        Err((code, error)) => {
            reader.report(code, error.at, error.message);
            None
        }
    };
    let agent = agent.filter(|_| reader.diagnostics.iter().all(|found| found.severity != Severity::Error));
    Parsed { agent, diagnostics: reader.diagnostics }
}

/// The content of a file; `None` without frontmatter, which means that the file is no agent.
fn document(bytes: &[u8]) -> Result<Option<Document>, (Code, SyntaxError)> {
    let unreadable = |at, message| Err((READ_FAILED, SyntaxError { at, message }));
    if bytes.len() > MAX_FILE_BYTES {
        let message = format!("the file has more than {MAX_FILE_BYTES} bytes, the most an agent may have");
        return unreadable(Position::START, message);
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return unreadable(Position::START, "the file is UTF-16; expected UTF-8".to_owned());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => frontmatter::read(text).map_err(|error| (SYNTAX, error)),
        Err(error) => {
            let text = String::from_utf8_lossy(bytes);
            // Without frontmatter it is not an agent, whatever its encoding.
            if frontmatter::read(&text) == Ok(None) {
                return Ok(None);
            }
            let at = LineIndex::new(&text).position(error.valid_up_to());
            unreadable(at, "this byte is not UTF-8".to_owned())
        }
    }
}

struct Reader<'a> {
    path: Option<&'a Path>,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn definition(&mut self, document: &Document, bytes: &[u8], source: Source) -> AgentDefinition {
        let mut agent = AgentDefinition {
            source,
            path: self.path.map(Path::to_path_buf),
            prompt: without_controls(&document.body).trim().to_owned(),
            content_hash: hash(bytes),
            ..AgentDefinition::default()
        };
        if !document.fields.iter().any(|field| field.name == "name") {
            let message = "`name` is missing; expected a field such as `name: my-agent`".to_owned();
            self.report(NAME_MISSING, document.start, message);
        }
        for field in &document.fields {
            if let Some((_, read)) = FIELDS.iter().find(|(name, _)| *name == field.name) {
                read(self, field, &mut agent);
            } else {
                let hint = suggestion(nearest(&field.name, FIELDS.map(|(name, _)| name)));
                let message =
                    format!("{} is not a field of an agent and is ignored{hint}", quoted(&field.name));
                self.report(FIELD_IGNORED, field.key_at, message);
            }
        }
        agent
    }

    fn name(&mut self, field: &Field) -> Option<String> {
        let expected =
            "a name of at most 64 letters, digits, `.`, `_` and `-` that starts with a letter or a digit";
        match &field.value {
            Yaml::Text(name) if is_agent_name(name) => Some(name.clone()),
            Yaml::Bool(_) | Yaml::Integer(_) | Yaml::Float(_) => self.wrong(
                field,
                NAME_MISSING,
                &format!("{expected}, in quotes when it reads as another type"),
            ),
            _ => self.wrong(field, NAME_MISSING, expected),
        }
    }

    fn description(&mut self, field: &Field, agent: &mut AgentDefinition) {
        let text = match &field.value {
            Yaml::Text(text) => text.clone(),
            Yaml::Null => String::new(),
            Yaml::Bool(_) | Yaml::Integer(_) | Yaml::Float(_) => {
                field.value.to_string().trim_matches('`').to_owned()
            }
            Yaml::List(_) | Yaml::Map(_) => {
                self.wrong::<()>(field, SYNTAX, "one line of text");
                return;
            }
        };
        let text = without_controls(&text);
        if agent.prompt.is_empty() {
            text.trim().clone_into(&mut agent.prompt);
        }
        agent.description = one_line(&text, MAX_DESCRIPTION_CHARS).into_string();
    }

    fn readonly(&mut self, field: &Field) -> Option<bool> {
        match &field.value {
            Yaml::Bool(value) => Some(*value),
            Yaml::Integer(1) => Some(true),
            Yaml::Integer(0) => Some(false),
            Yaml::Text(text) if matches!(text.as_str(), "true" | "1") => Some(true),
            Yaml::Text(text) if matches!(text.as_str(), "false" | "0") => Some(false),
            _ => self.wrong(field, READONLY_INVALID, "`true`, `false`, `1` or `0`"),
        }
    }

    fn tools(&mut self, field: &Field) -> Option<Vec<String>> {
        let mut tools: Vec<String> = Vec::new();
        for declared in self.list(field, TOOLS_INVALID)? {
            let tool = pi_tool_name(&declared);
            if !is_tool_name(tool) {
                let message = format!(
                    "`tools` names {}; expected plain tool names such as `read, grep`, or `mcp__server__*`",
                    quoted(&declared)
                );
                self.report(TOOLS_INVALID, field.value_at, message);
            } else if !tools.iter().any(|known| known == tool) {
                tools.push(tool.to_owned());
            }
        }
        Some(tools)
    }

    /// A list of texts, or one comma-separated text.
    fn list(&mut self, field: &Field, code: Code) -> Option<Vec<String>> {
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
                            let message = format!("`{}` holds {other}; expected {expected}", field.name);
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

    fn text(&mut self, field: &Field) -> Option<String> {
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

    /// A text; `inherit` is the same as leaving the field out.
    fn inheritable(&mut self, field: &Field) -> Option<String> {
        self.text(field).filter(|text| text != "inherit")
    }

    fn choice(&mut self, field: &Field, value: String, choices: &[&str]) -> Option<String> {
        if choices.contains(&value.as_str()) {
            return Some(value);
        }
        let listed: Vec<_> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        self.wrong(field, SYNTAX, &format!("one of {}", listed.join(", ")))
    }

    /// A duration in milliseconds; 0 is the same as leaving the field out.
    fn milliseconds(&mut self, field: &Field) -> Option<Duration> {
        match &field.value {
            Yaml::Integer(0) => None,
            Yaml::Integer(value @ 1..=MAX_TIMEOUT_MS) => Some(Duration::from_millis(value.unsigned_abs())),
            _ => self.wrong(
                field,
                SYNTAX,
                &format!("whole milliseconds from 0 (what is configured) to {MAX_TIMEOUT_MS}"),
            ),
        }
    }

    fn count(&mut self, field: &Field, of: &str) -> Option<u32> {
        let count = match &field.value {
            Yaml::Integer(value) => u32::try_from(*value).ok(),
            _ => None,
        };
        match count {
            Some(0) => None,
            Some(count) => Some(count),
            None => self.wrong(field, SYNTAX, &format!("a whole number of {of}, 0 for what is configured")),
        }
    }

    fn cost(&mut self, field: &Field) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody's budget has sixteen digits")]
        let cost = match &field.value {
            Yaml::Integer(value) => Some(*value as f64),
            Yaml::Float(value) => Some(*value),
            _ => None,
        };
        match cost.filter(|cost| cost.is_finite() && *cost >= 0.0) {
            Some(cost) => (cost > 0.0).then_some(cost),
            None => self.wrong(field, SYNTAX, "an amount in USD such as `0.5`, 0 for what is configured"),
        }
    }

    fn context(&mut self, field: &Field) -> Option<Context> {
        match &field.value {
            Yaml::Text(text) if Context::parse(text).is_some() => Context::parse(text),
            _ => self.wrong(field, SYNTAX, "`project` or `none`"),
        }
    }

    /// All, none, or those of these names. A name that pi does not have is no mistake of the file: another machine may have
    /// it.
    fn skills(&mut self, field: &Field) -> Option<Skills> {
        match &field.value {
            Yaml::Bool(value) => Some(Skills::All(*value)),
            Yaml::Text(_) | Yaml::List(_) => self.list(field, SYNTAX).map(Skills::Named),
            _ => self.wrong(field, SYNTAX, "`true`, `false` or names of skills"),
        }
    }

    fn ask(&mut self, field: &Field) -> Option<Asks> {
        match &field.value {
            Yaml::Bool(true) => Some(Asks::User),
            Yaml::Bool(false) => Some(Asks::Nobody),
            Yaml::Text(text) if text == Asks::Parent.as_str() => Some(Asks::Parent),
            _ => self.wrong(field, SYNTAX, "`true`, `false` or `parent`"),
        }
    }

    fn schema(&mut self, field: &Field) -> Option<OutputSchema> {
        let schema = field.value.to_json().ok_or_else(|| "expected what JSON can say".to_owned());
        match schema.and_then(OutputSchema::new) {
            Ok(schema) => Some(schema),
            Err(why) => {
                self.report(SYNTAX, field.value_at, format!("`{}` is no schema: {why}", field.name));
                None
            }
        }
    }

    fn wrong<T>(&mut self, field: &Field, code: Code, expected: &str) -> Option<T> {
        let message = format!("`{}` is {}; expected {expected}", field.name, field.value);
        self.report(code, field.value_at, message);
        None
    }

    /// Keeps errors in any case: with one, the file is no agent.
    fn report(&mut self, code: Code, at: Position, message: String) {
        if self.diagnostics.len() >= MAX_DIAGNOSTICS && code.0 != Severity::Error {
            return;
        }
        self.diagnostics.truncate(MAX_DIAGNOSTICS - 1);
        self.diagnostics.push(Diagnostic::new(code, message, self.path, Some(at)));
    }
}

/// Whether this is a valid agent name.
pub(crate) fn is_agent_name(name: &str) -> bool {
    name.len() <= MAX_NAME_CHARS
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes what is written to it");
        hex
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_file_ends_as_an_agent_or_as_errors_with_places_in_it(
            yaml in r##"([a-z*&!|>'"#:,\[\]{}\-? \t\r\n\u{e4}\u{0}]|name: |tools: |- |\n|\n  ){0,60}"##,
            body in ".{0,20}",
        ) {
            let text = format!("---\nname: a\n{yaml}\n---\n{body}");
            let parsed = parse(text.as_bytes(), Source::Project, None);
            let errors = parsed.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
            prop_assert_eq!(parsed.agent.is_none(), errors > 0);
            let lines = u32::try_from(text.split('\n').count()).expect("a short text");
            for found in &parsed.diagnostics {
                prop_assert!(found.line.is_some_and(|line| (1..=lines).contains(&line)), "{:?}", found);
                prop_assert!(found.column.is_some_and(|column| column >= 1));
            }
        }
    }
}
