//! Parses one agent file into a definition, or into diagnostics.
//!
//! Agents that were written for other harnesses load, too. Their restrictions stay in effect: if a restricting field
//! is not understood, the agent becomes read-only.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::definition::{AgentDefinition, Isolation, Network, SandboxMode, Source, THINKING_LEVELS};
use super::frontmatter::{self, Document, Field, SyntaxError, Yaml};
use super::literal::Role;
use super::name::{NAME_RULE, valid_name};
use super::restriction::{
    Restriction, RuleIssue, ToolRules, folded, is_known, is_restricting, restriction_of, rules_of, switch,
};
use super::tools::{SHELL, WEB_TOOLS};
use sanitizer::{
    Code, Diagnostic, LineIndex, Position, Severity, nearest, one_line, quoted, suggestion, without_controls,
};

/// The number of lines that are searched for the name if the frontmatter cannot be read.
const MAX_LINES_OF_NAME: usize = 100;
/// The maximum size of an agent file. A prompt of this size already fills a tenth of a context window.
pub(super) const MAX_FILE_BYTES: usize = 64 * 1024;
/// The maximum number of diagnostics. A file with more problems is probably not an agent.
const MAX_DIAGNOSTICS: usize = 10;

/// The maximum number of items in a list. No agent needs more tools or extensions.
pub(super) const MAX_LIST_ITEMS: usize = 256;
/// The maximum length of a description. It is one line; a longer one would dominate the lists that show it.
const MAX_DESCRIPTION_CHARS: usize = 1000;

/// A function that reads one field into the definition.
type Read = fn(&mut Reader<'_>, &Field, &mut AgentDefinition);

const FIELDS: [(&str, Read); 23] = [
    ("name", |reader, field, agent| agent.name = reader.name(field).unwrap_or_default()),
    ("description", |reader, field, agent| reader.description(field, agent)),
    ("readonly", |reader, field, agent| agent.readonly |= reader.readonly(field).unwrap_or_default()),
    ("tools", |reader, field, agent| {
        reader.tools(field, false, agent);
        agent.tools_line = Some(field.key_at.line);
    }),
    ("disallowedTools", |reader, field, agent| reader.tools(field, true, agent)),
    ("model", |reader, field, agent| agent.model = reader.inheritable(field)),
    ("thinking", |reader, field, agent| agent.thinking = reader.thinking(field)),
    ("timeoutMs", |reader, field, agent| agent.timeout = reader.milliseconds(field)),
    ("idleTimeoutMs", |reader, field, agent| agent.idle_timeout = reader.milliseconds(field)),
    ("maxTurns", |reader, field, agent| agent.max_turns = reader.count(field, "turns")),
    ("loopStopAfter", |reader, field, agent| agent.loop_stop_after = reader.count(field, "repetitions")),
    ("maxCost", |reader, field, agent| agent.max_cost = reader.cost(field)),
    ("sandbox", |reader, field, agent| reader.sandbox(field, agent)),
    ("network", |reader, field, agent| agent.network = reader.network(field)),
    ("isolation", |reader, field, agent| agent.isolation = reader.isolation(field)),
    ("launcher", |reader, field, agent| {
        agent.launcher = reader.text(field);
        agent.launcher_line = agent.launcher.is_some().then_some(field.value_at.line);
    }),
    ("extensions", |reader, field, agent| {
        agent.extensions = match switch(&field.value) {
            Some(is_any) => (!is_any).then(Vec::new),
            None => reader.list(field, SYNTAX),
        };
    }),
    ("context", |reader, field, agent| agent.context = reader.context(field)),
    ("skills", |reader, field, agent| agent.skills = reader.skills(field)),
    ("ask", |reader, field, agent| agent.ask = reader.ask(field).unwrap_or_default()),
    ("check", |reader, field, agent| agent.check = reader.text(field)),
    ("setup", |reader, field, agent| agent.setup = reader.text(field)),
    ("outputSchema", |reader, field, agent| agent.output_schema = reader.schema(field)),
];
/// Other harnesses' names for our fields, in lower case and without separators.
const FIELD_ALIASES: [(&str, &str); 14] = [
    ("maxbudgetusd", "maxCost"),
    ("internet", "network"),
    ("internetaccess", "network"),
    ("tool", "tools"),
    ("toolnames", "tools"),
    ("maxsteps", "maxTurns"),
    ("maxiterations", "maxTurns"),
    ("steps", "maxTurns"),
    ("sandboxed", "sandbox"),
    ("sandboxmode", "sandbox"),
    ("networkaccess", "network"),
    ("allownetwork", "network"),
    ("isolated", "isolation"),
    ("worktree", "isolation"),
];
/// Our fields that may forbid something.
const RESTRICTING: [&str; 9] = [
    "readonly",
    "tools",
    "disallowedTools",
    "sandbox",
    "network",
    "isolation",
    "extensions",
    "maxTurns",
    "maxCost",
];

/// Returns our field for a name in any spelling.
fn own_field(name: &str) -> Option<(&'static str, Read)> {
    let key = folded(name);
    let same = FIELD_ALIASES.iter().find(|(other, _)| *other == key).map(|(_, own)| *own);
    FIELDS.into_iter().find(|(own, _)| same == Some(own) || folded(own) == key)
}

/// Classifies a field by its name, for frontmatter that is not YAML.
fn role_of(name: &str, value: &Yaml) -> Role {
    match own_field(name) {
        Some(("description", _)) => Role::Prose,
        Some((own, _)) => Role::Value { restricts: RESTRICTING.contains(&own) },
        None if is_restricting(name) || restriction_of(name, value).is_some() => {
            Role::Value { restricts: true }
        }
        None if is_known(name) => Role::Value { restricts: false },
        None => Role::Unknown,
    }
}

const NAME_MISSING: Code = (Severity::Error, "FRONTMATTER_NAME_MISSING");
const READONLY_INVALID: Code = (Severity::Error, "FRONTMATTER_READONLY_INVALID");
const TOOLS_INVALID: Code = (Severity::Error, "FRONTMATTER_TOOLS_INVALID");
pub(super) const SYNTAX: Code = (Severity::Error, "FRONTMATTER_SYNTAX");
const FIELD_IGNORED: Code = (Severity::Info, "FRONTMATTER_FIELD_IGNORED");
/// The file uses another name or another form for a field of ours.
const FIELD_READ_AS: Code = (Severity::Info, "FRONTMATTER_FIELD_READ_AS");
/// The file is not YAML and was read line by line.
const NOT_YAML: Code = (Severity::Info, "FRONTMATTER_NOT_YAML");
/// The file has a restriction that is not understood, so the agent becomes read-only.
pub const RESTRICTION_UNCLEAR: Code = (Severity::Warning, "FRONTMATTER_RESTRICTION_UNCLEAR");
/// The agent may do less than the file says, because the restriction is less precise here.
const STRICTER: Code = (Severity::Warning, "FRONTMATTER_TOOL_STRICTER");
/// The file switches its agent off.
pub(super) const SWITCHED_OFF: Code = (Severity::Info, "AGENT_SWITCHED_OFF");
/// The file has no frontmatter, or no field of an agent in it.
const NO_AGENT: Code = (Severity::Info, "AGENT_FILE_NO_AGENT");
/// The file, or the directory that should hold it, cannot be read.
pub(super) const READ_FAILED: Code = (Severity::Error, "AGENT_FILE_READ_FAILED");

/// The result of parsing a file. Without agent and diagnostics, the file is not meant as an agent, such as a README.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The agent, unless one of the diagnostics is an error, or the file switches it off.
    pub agent: Option<AgentDefinition>,
    /// The name in a file without a valid agent. A call with that name gets the reason.
    pub stated_name: Option<String>,
    /// Problems for the author to fix, in the order of the fields.
    pub diagnostics: Vec<Diagnostic>,
    /// The source of the file.
    pub source: Source,
}

/// Parses the content of an agent file. `path` is only for diagnostics; it is never opened. A file without a `name`
/// gets its stem as the name.
#[must_use]
pub fn parse(bytes: &[u8], source: Source, path: Option<&Path>) -> Parsed {
    let mut reader = Reader {
        path,
        diagnostics: Vec::new(),
        rules: ToolRules::default(),
        is_off: false,
        is_offline: false,
    };
    let agent = match document(bytes) {
        Ok(Some(document)) => reader.definition(&document, bytes, source),
        Ok(None) => {
            reader.report_no_frontmatter();
            None
        }
        Err((code, error)) => {
            reader.report(code, error.at, error.message);
            None
        }
    };
    let is_right = reader.diagnostics.iter().all(|found| found.severity != Severity::Error) && !reader.is_off;
    let stated_name = match &agent {
        Some(agent) if !is_right => Some(agent.name.clone()).filter(|name| !name.is_empty()),
        Some(_) => None,
        None => find_stated_name(&String::from_utf8_lossy(bytes)),
    };
    Parsed { agent: agent.filter(|_| is_right), stated_name, diagnostics: reader.diagnostics, source }
}

/// Returns the name in an unreadable text, if one of its lines states a name.
fn find_stated_name(text: &str) -> Option<String> {
    let lines = text.lines().take(MAX_LINES_OF_NAME).filter_map(|line| line.split_once(':'));
    let name = lines.filter(|(key, _)| folded(key) == "name").map(|(_, name)| name.trim()).next()?;
    valid_name(name.trim_matches(['"', '\'']))
}

/// Returns the content of a file, or `None` without frontmatter, which means that the file is not an agent.
fn document(bytes: &[u8]) -> Result<Option<Document>, (Code, SyntaxError)> {
    let unreadable = |at, message| Err((READ_FAILED, SyntaxError { at, message }));
    if bytes.len() > MAX_FILE_BYTES {
        let message = format!("the file has more than {MAX_FILE_BYTES} bytes, the maximum for an agent");
        return unreadable(Position::START, message);
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return unreadable(Position::START, "the file is UTF-16; expected UTF-8".to_owned());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => frontmatter::read(text, role_of).map_err(|error| (SYNTAX, error)),
        Err(error) => {
            let text = String::from_utf8_lossy(bytes);
            // Without frontmatter the file is not an agent, in any encoding.
            if frontmatter::read(&text, role_of) == Ok(None) {
                return Ok(None);
            }
            let at = LineIndex::new(&text).position(error.valid_up_to());
            unreadable(at, "this byte is not UTF-8".to_owned())
        }
    }
}

/// Reads the fields of one file and collects diagnostics.
pub(super) struct Reader<'a> {
    path: Option<&'a Path>,
    diagnostics: Vec<Diagnostic>,
    /// The tool rules of all fields together.
    rules: ToolRules,
    is_off: bool,
    is_offline: bool,
}

impl Reader<'_> {
    /// Reports a file without frontmatter, unless it explains the others. Text without a file is not reported here.
    fn report_no_frontmatter(&mut self) {
        let stem = self.path.and_then(Path::file_stem);
        if stem.is_some_and(|stem| !stem.eq_ignore_ascii_case("readme")) {
            let message = "the file has no frontmatter, so it is not an agent; an agent begins with the lines \
                           `---`, `name: NAME` and `---`";
            self.report(NO_AGENT, Position::START, message.to_owned());
        }
    }

    /// Reads the fields. Returns `None` and reports a diagnostic if the file is not an agent.
    fn definition(&mut self, document: &Document, bytes: &[u8], source: Source) -> Option<AgentDefinition> {
        let mut agent = AgentDefinition {
            source,
            path: self.path.map(Path::to_path_buf),
            prompt: without_controls(&document.body).trim().to_owned(),
            content_hash: hash(bytes),
            ..AgentDefinition::default()
        };
        // Notes and documents have fields such as `title` and `tags`.
        let is_field = |field: &Field| own_field(&field.name).is_some() || is_restricting(&field.name);
        if !document.fields.iter().any(is_field) {
            let message = "the frontmatter has no agent fields, so this file is not an agent".to_owned();
            self.report(NO_AGENT, document.start, message);
            return None;
        }
        if let Some(at) = &document.not_yaml {
            let message =
                "this is not valid YAML, so the fields are read line by line; quotes around the text help";
            self.report(NOT_YAML, *at, message.to_owned());
        }
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for field in &document.fields {
            let Some((own, read)) = own_field(&field.name) else {
                self.foreign_field(field, &mut agent);
                continue;
            };
            if let Some((_, first)) = seen.iter().find(|(known, _)| *known == own) {
                let both = format!("{} and {}", quoted(first), quoted(&field.name));
                let message = format!("{both} are the same field, `{own}`; keep one of them");
                self.report(SYNTAX, field.key_at, message);
                continue;
            }
            seen.push((own, &field.name));
            if !is_blank(own, &field.value) {
                read(self, field, &mut agent);
            }
        }
        for (name, at) in &document.possible_fields {
            let why = "is inside a multi-line text but looks like a field";
            self.unclear_restriction(&mut agent, name, *at, why);
        }
        if agent.name.is_empty() && !self.diagnostics.iter().any(|found| found.code == NAME_MISSING.1) {
            agent.name = self.name_of_file(document.start).unwrap_or_default();
        }
        self.apply_rules(&mut agent);
        Some(agent)
    }

    /// Applies the tool rules of all fields to the definition.
    fn apply_rules(&mut self, agent: &mut AgentDefinition) {
        let rules = std::mem::take(&mut self.rules);
        agent.tools = rules.allowed;
        agent.denied_tools = rules.denied;
        if self.is_offline {
            agent.network = Some(Network::Off);
        }
    }

    /// Handles an unknown field: applies it if it is a restriction of another harness, and reports it as ignored
    /// otherwise.
    fn foreign_field(&mut self, field: &Field, agent: &mut AgentDefinition) {
        match restriction_of(&field.name, &field.value) {
            None => {
                let hint = suggestion(nearest(&field.name, FIELDS.map(|(name, _)| name)));
                let message = format!("{} is not an agent field and is ignored{hint}", quoted(&field.name));
                self.report(FIELD_IGNORED, field.key_at, message);
            }
            Some(Restriction::Readonly) => self.make_readonly(field, agent),
            Some(Restriction::Off) => {
                self.is_off = true;
                let message = format!("{} switches the agent off", quoted(&field.name));
                self.report(SWITCHED_OFF, field.key_at, message);
            }
            Some(Restriction::Offline) => {
                self.is_offline = true;
                let denied = WEB_TOOLS.map(str::to_owned).into();
                self.rules.restrict(ToolRules { denied, ..ToolRules::default() });
                let why = "forbids the network, which only the sandbox of a read-only agent can block";
                self.unclear_restriction(agent, &field.name, field.key_at, why);
            }
            Some(Restriction::Tools(rules)) => self.rules(field, rules, agent),
            Some(Restriction::Unclear { why }) => {
                self.unclear_restriction(agent, &field.name, field.key_at, &why);
            }
            Some(Restriction::Unchecked { why }) => {
                self.rules.restrict(ToolRules { denied: vec![SHELL.to_owned()], ..ToolRules::default() });
                self.unclear_restriction(agent, &field.name, field.key_at, &why);
            }
        }
    }

    /// Makes the agent read-only, because the restriction of a field is not understood.
    fn unclear_restriction(&mut self, agent: &mut AgentDefinition, field: &str, at: Position, why: &str) {
        agent.readonly = true;
        let message = format!(
            "{} {why}. The agent is read-only. To change this, set `readonly`, `tools` or `disallowedTools`",
            quoted(field)
        );
        self.report(RESTRICTION_UNCLEAR, at, message);
    }

    /// Adds the tool rules of a field to the rules of the others.
    fn rules(&mut self, field: &Field, mut rules: ToolRules, agent: &mut AgentDefinition) {
        for issue in std::mem::take(&mut rules.issues) {
            match issue {
                RuleIssue::Stricter(what) => {
                    self.report(STRICTER, field.value_at, format!("{} {what}", quoted(&field.name)));
                }
                RuleIssue::Unclear(why) => self.unclear_restriction(agent, &field.name, field.value_at, &why),
            }
        }
        if rules.is_readonly {
            self.make_readonly(field, agent);
        }
        self.rules.restrict(rules);
    }

    fn make_readonly(&mut self, field: &Field, agent: &mut AgentDefinition) {
        agent.readonly = true;
        let message = format!("{} makes the agent read-only", quoted(&field.name));
        self.report(FIELD_READ_AS, field.key_at, message);
    }

    fn name(&mut self, field: &Field) -> Option<String> {
        let expected = format!("a name of {NAME_RULE}");
        match &field.value {
            Yaml::Text(name) => {
                let Some(valid) = valid_name(name) else { return self.wrong(field, NAME_MISSING, &expected) };
                if valid != name.trim() {
                    let message = format!("`name` is {}; the agent is called `{valid}`", quoted(name));
                    self.report(FIELD_READ_AS, field.value_at, message);
                }
                Some(valid)
            }
            Yaml::Bool(_) | Yaml::Integer(_) | Yaml::Float(_) => self.wrong(
                field,
                NAME_MISSING,
                &format!("{expected}, in quotes if YAML reads it as another type"),
            ),
            _ => self.wrong(field, NAME_MISSING, &expected),
        }
    }

    /// Returns the name for a file that states none: the file name without its extension.
    fn name_of_file(&mut self, start: Position) -> Option<String> {
        let stem = self.path.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
        let stem = stem.unwrap_or_default();
        let name = valid_name(stem.strip_suffix(".agent").unwrap_or(&stem));
        if name.is_none() {
            let message = format!(
                "`name` is missing, and the file name is not a valid agent name; expected a field such as \
                 `name: my-agent`, with {NAME_RULE}"
            );
            self.report(NAME_MISSING, start, message);
        }
        name
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
        switch(&field.value).or_else(|| self.wrong(field, READONLY_INVALID, "`true` or `false`"))
    }

    fn tools(&mut self, field: &Field, denies: bool, agent: &mut AgentDefinition) {
        match rules_of(&field.value, denies) {
            Ok(rules) if rules.allowed.as_ref().is_some_and(|tools| tools.len() > MAX_LIST_ITEMS) => {
                self.wrong::<()>(field, TOOLS_INVALID, &format!("at most {MAX_LIST_ITEMS} tools"));
            }
            Ok(rules) => self.rules(field, rules, agent),
            Err(why) => self.report(TOOLS_INVALID, field.value_at, format!("{} {why}", quoted(&field.name))),
        }
    }

    fn thinking(&mut self, field: &Field) -> Option<String> {
        if switch(&field.value) == Some(false) {
            return Some(THINKING_LEVELS[0].to_owned());
        }
        let level = self.inheritable(field)?;
        self.choice(field, level, THINKING_LEVELS)
    }

    fn sandbox(&mut self, field: &Field, agent: &mut AgentDefinition) {
        let word = match switch(&field.value) {
            Some(true) => "required".to_owned(),
            Some(false) => "off".to_owned(),
            None => self.text(field).unwrap_or_default(),
        };
        agent.sandbox = match &*folded(&word) {
            "" => None,
            "readonly" => {
                agent.readonly = true;
                None
            }
            // The agent may write only in its own tree.
            "workspacewrite" => Some(SandboxMode::Required),
            "dangerfullaccess" | "none" => Some(SandboxMode::Off),
            _ => self.choice(field, word, SandboxMode::TEXTS).and_then(|mode| SandboxMode::parse(&mode)),
        };
    }

    fn network(&mut self, field: &Field) -> Option<Network> {
        let word = match switch(&field.value) {
            Some(is_on) => if is_on { "on" } else { "off" }.to_owned(),
            None => self.text(field)?,
        };
        match &*folded(&word) {
            "none" | "deny" | "disabled" | "blocked" => Some(Network::Off),
            _ => self.choice(field, word, Network::TEXTS).and_then(|network| Network::parse(&network)),
        }
    }

    fn isolation(&mut self, field: &Field) -> Option<Isolation> {
        let word = match switch(&field.value) {
            Some(is_on) => if is_on { "private" } else { "none" }.to_owned(),
            None => self.text(field)?,
        };
        if folded(&word) == "worktree" {
            let message = format!("{} is `{word}`, which is read as `private`", quoted(&field.name));
            self.report(FIELD_READ_AS, field.value_at, message);
            return Some(Isolation::Private);
        }
        self.choice(field, word, Isolation::TEXTS).and_then(|word| Isolation::parse(&word))
    }

    pub(super) fn wrong<T>(&mut self, field: &Field, code: Code, expected: &str) -> Option<T> {
        let message = format!("`{}` is {}; expected {expected}", field.name, field.value);
        self.report(code, field.value_at, message);
        None
    }

    /// Adds a diagnostic. Errors and start-up messages are always kept; the number of others per file is limited.
    pub(super) fn report(&mut self, code: Code, at: Position, message: String) {
        if self.diagnostics.len() >= MAX_DIAGNOSTICS {
            let Some(least) = self.diagnostics.iter().rposition(|found| found.severity > code.0) else {
                return;
            };
            self.diagnostics.remove(least);
        }
        self.diagnostics.push(Diagnostic::new(code, message, self.path, Some(at)));
    }
}

/// Returns true if a field has no value. An empty text is a list without tools.
fn is_blank(own: &str, value: &Yaml) -> bool {
    match value {
        Yaml::Null => true,
        Yaml::Text(text) => text.trim().is_empty() && own != "tools",
        _ => false,
    }
}

pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
        hex
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_file_gives_an_agent_or_errors_with_positions(
            yaml in r##"([a-z*&!|>'"#:,\[\]{}\-? \t\r\n\u{e4}\u{0}]|name: |tools: |- |\n|\n  ){0,60}"##,
            body in ".{0,20}",
        ) {
            let text = format!("---\nname: a\n{yaml}\n---\n{body}");
            let parsed = parse(text.as_bytes(), Source::Project, None);
            let errors = parsed.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
            prop_assert_eq!(parsed.agent.is_none(), errors > 0);
            let lines = u32::try_from(text.split('\n').count()).expect("the number of lines fits");
            for found in &parsed.diagnostics {
                prop_assert!(found.line.is_some_and(|line| (1..=lines).contains(&line)), "{:?}", found);
                prop_assert!(found.column.is_some_and(|column| column >= 1));
            }
        }
    }
}
