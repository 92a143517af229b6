//! Reads lists and mappings of allowed and forbidden tools.

use super::names::{ALLOWS, DENIES};
use super::words::{Right, folded, includes_write_tools, right, switch, tools_of};
use crate::frontmatter::Yaml;
use crate::tools::{
    Entry, FOREIGN_TOOLS, denied_names, is_known_tool, is_never_in_child, nearest_tool, tools_for_word,
};
use sanitizer::{covers, quoted, suggestion};

/// Words of a sentence about tools. A list that contains one could be read as its opposite.
const PROSE: [&str; 10] =
    ["all", "any", "but", "except", "excluding", "minus", "no", "not", "only", "without"];
/// Permissions of other harnesses that do not concern a child's tools.
const PERMISSIONS_WITHOUT_TOOLS: [&str; 7] =
    ["doomloop", "task", "skill", "question", "todowrite", "todoread", "additionaldirectories"];

/// The expected form of a list of tools.
const EXPECTED: &str = "names with commas between them or a list of names; `[]` for none";

/// The permission for directories outside of the project, with any tool.
const DIRECTORY_PERMISSION: &str = "externaldirectory";

/// The tools that a part of a file allows and forbids.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ToolRules {
    /// All tools that the agent may have, or `None` if the part does not say.
    pub(crate) allowed: Option<Vec<String>>,
    /// Tools and tool patterns that the agent may not have.
    pub(crate) denied: Vec<String>,
    /// Entries with a different effect than written.
    pub(crate) issues: Vec<RuleIssue>,
    /// Set if the part also makes the agent read-only.
    pub(crate) is_readonly: bool,
}

/// The reason why a value is not a list of tools. The messages end a sentence about the value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolListError {
    /// It is not a list.
    #[error("is {value}; expected {expected}", expected = EXPECTED)]
    NotAList {
        /// The value in the form for messages.
        value: String,
    },
    /// An entry of the list is not a name.
    #[error("contains {entry}; expected {expected}", expected = EXPECTED)]
    NotAName {
        /// The entry in the form for messages.
        entry: String,
    },
    /// It is a sentence about tools.
    #[error(
        "says `{word}`; expected {expected}. List tools that the agent must not have in `disallowedTools`",
        expected = EXPECTED
    )]
    Prose {
        /// The word that makes it a sentence.
        word: String,
    },
}

/// An entry with a different effect than written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RuleIssue {
    /// The entry is dropped, or forbids more than written. The text describes both.
    Stricter(String),
    /// The meaning of the entry is unknown.
    Unclear(String),
}

impl ToolRules {
    /// Adds the rules of another part of the file. Only the tools that both allow stay.
    pub(crate) fn restrict(&mut self, other: Self) {
        self.allowed = match (self.allowed.take(), other.allowed) {
            (Some(one), Some(other)) => Some(intersection(one, &other)),
            (one, other) => one.or(other),
        };
        for name in other.denied {
            if !self.denied.contains(&name) {
                self.denied.push(name);
            }
        }
        self.issues.extend(other.issues);
        self.is_readonly |= other.is_readonly;
    }

    fn allow(&mut self, tool: &str) {
        let allowed = self.allowed.get_or_insert_default();
        if !allowed.iter().any(|known| known == tool) {
            allowed.push(tool.to_owned());
        }
    }

    fn deny(&mut self, written: &str) {
        for name in denied_names(written) {
            if !self.denied.contains(&name) {
                self.denied.push(name);
            }
        }
    }

    /// Forbids a tool, and adds an issue if its name is unknown.
    fn deny_named(&mut self, written: &str) {
        self.deny(written);
        match Entry::of(written) {
            Entry::Tool(tool) if !is_known_tool(tool) && tools_for_word(tool).is_empty() => {
                let near = suggestion(nearest_tool(tool));
                self.unclear_issue(format!(
                    "forbids {}, but no tool here has this name{near}",
                    quoted(written)
                ));
            }
            Entry::Part(tool) if !has_no_effect(tool) => {
                self.stricter_issue(format!(
                    "forbids {}, a part of `{tool}`; parts of a tool cannot be separated here, so the agent gets no `{tool}`",
                    quoted(written)
                ));
            }
            Entry::Not(_) => {
                self.unclear_issue(format!("contains {}, which is not understood", quoted(written)));
            }
            Entry::Other(name) if !name.contains('*') => {
                self.unclear_issue(format!("forbids {}, which is not the name of a tool", quoted(written)));
            }
            _ => {}
        }
    }

    fn stricter_issue(&mut self, message: String) {
        self.issues.push(RuleIssue::Stricter(message));
    }

    fn unclear_issue(&mut self, message: String) {
        self.issues.push(RuleIssue::Unclear(message));
    }

    /// Adds one entry of a list of allowed tools. Returns true if the entry allows all tools.
    fn add_allowed(&mut self, written: &str) -> bool {
        match Entry::of(written) {
            Entry::All => return true,
            Entry::Tool(tool) => self.allow(tool),
            Entry::Part(tool) if has_no_effect(tool) => self.allow(tool),
            Entry::Part(tool) => {
                self.allowed.get_or_insert_default();
                self.stricter_issue(format!(
                    "allows {}, a part of `{tool}`; parts of a tool cannot be separated here, so the agent gets no `{tool}`. To \
                     give it all of it, write `{tool}`",
                    quoted(written)
                ));
            }
            Entry::Not(tool) => self.deny_named(tool),
            Entry::Other(name) => {
                self.allowed.get_or_insert_default();
                self.stricter_issue(format!(
                    "names {}, which is not a tool here; the entry is dropped",
                    quoted(name)
                ));
            }
        }
        false
    }
}

/// Reads a list of tools. `denies` is set if the field forbids them.
pub(crate) fn rules_of(value: &Yaml, denies: bool) -> Result<ToolRules, ToolListError> {
    let not_a_list = || ToolListError::NotAList { value: value.to_string() };
    let mut rules = ToolRules::default();
    match value {
        Yaml::Bool(true) if denies => rules.deny("*"),
        Yaml::Bool(false) if !denies => rules.allowed = Some(Vec::new()),
        Yaml::Null | Yaml::Bool(_) => {}
        Yaml::Map(entries) if !denies => {
            return rules_of_map(entries, Style::Tools).ok_or_else(not_a_list);
        }
        Yaml::Map(entries) => {
            // `disallowedTools: { bash: true }`
            for (name, value) in entries {
                if switch(value) != Some(false) {
                    rules.deny_named(&text_of(name));
                }
            }
        }
        Yaml::List(items) if items.iter().any(|item| matches!(item, Yaml::Map(_))) && !denies => {
            return rules_of_list(items)
                .ok_or_else(|| ToolListError::NotAName { entry: first_invalid_item(items) });
        }
        Yaml::List(items) => {
            let texts = items.iter().map(|item| match item {
                Yaml::Text(text) if !text.trim().is_empty() => Ok(text.trim()),
                other => Err(ToolListError::NotAName { entry: other.to_string() }),
            });
            let texts = texts.collect::<Result<Vec<_>, _>>()?;
            add_entries(&mut rules, &joined(&texts, denies), denies);
        }
        Yaml::Text(text) => match &*folded(text) {
            "" if text.trim().is_empty() => rules.allowed = (!denies).then(Vec::new),
            "all" | "any" | "inherit" | "alltools" if !denies => {}
            "all" | "any" | "alltools" => rules.deny("*"),
            "none" | "notools" if denies => {}
            "none" | "notools" => rules.allowed = Some(Vec::new()),
            _ => {
                let entries = split(text);
                if let Some(word) = entries.iter().find_map(|entry| prose_word(entry)) {
                    return Err(ToolListError::Prose { word });
                }
                add_entries(&mut rules, &entries, denies);
            }
        },
        Yaml::Integer(_) | Yaml::Float(_) => return Err(not_a_list()),
    }
    Ok(rules)
}

/// Reads a mapping of permissions, `{ edit: deny, bash: { "git *": allow } }`, or a mapping of lists,
/// `{ deny: [Bash] }`. Returns `None` if it is not understood.
pub(crate) fn permission_rules(entries: &[(Yaml, Yaml)]) -> Option<ToolRules> {
    rules_of_map(entries, Style::Permission)
}

fn rules_of_map(entries: &[(Yaml, Yaml)], style: Style) -> Option<ToolRules> {
    let denies = |name: &Yaml| match &*folded(&text_of(name)) {
        "ask" => Some(true),
        name => tool_list(name),
    };
    let is_list = |(name, value): &&(Yaml, Yaml)| {
        denies(name).is_some()
            && (matches!(value, Yaml::List(_)) || (matches!(value, Yaml::Text(_)) && right(value).is_none()))
    };
    let (lists, rights): (Vec<_>, Vec<_>) = entries.iter().partition(is_list);
    let mut rules = rights_of(rights.into_iter(), style);
    for (name, value) in lists {
        rules.restrict(rules_of(value, denies(name)?).ok()?);
    }
    Some(rules)
}

/// Returns true if a value is a list of only tool names.
pub(crate) fn names_tools(value: &Yaml) -> bool {
    let is_tool = |entry: &str| match Entry::of(entry) {
        Entry::Tool(tool) | Entry::Part(tool) => is_known_tool(tool) || !tools_for_word(tool).is_empty(),
        Entry::All => true,
        Entry::Not(_) | Entry::Other(_) => false,
    };
    match value {
        Yaml::Text(text) => split(text).iter().all(|entry| is_tool(entry)),
        Yaml::List(items) => items.iter().all(|item| matches!(item, Yaml::Text(text) if is_tool(text))),
        _ => false,
    }
}

/// The meaning of the keys in a mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// The keys are tools. If any tool is allowed, the agent has only the mentioned tools.
    Tools,
    /// The keys are permissions. Tools without a permission are allowed.
    Permission,
}

fn rights_of<'a>(entries: impl Iterator<Item = &'a (Yaml, Yaml)>, style: Style) -> ToolRules {
    let mut rules = ToolRules::default();
    let mut allowed = Vec::new();
    let mut denies_rest = false;
    let mut restricts_places = false;
    for (name, value) in entries {
        let name = text_of(name);
        let stated = right(value);
        if matches!(&*name, "*" | "all" | "default") {
            denies_rest |= stated != Some(Right::Allow);
            continue;
        }
        if folded(&name) == DIRECTORY_PERMISSION {
            restricts_places |= stated != Some(Right::Allow);
            continue;
        }
        // `tools: { read:, grep: }` is a list of names.
        let is_listed = style == Style::Tools && is_blank(value);
        denies_rest |= style == Style::Tools && stated.is_none();
        let why = match stated {
            None if is_listed => {
                allowed.push(name);
                continue;
            }
            Some(Right::Allow) => {
                allowed.push(name);
                continue;
            }
            Some(Right::Deny) => None,
            Some(Right::Ask) => Some("needs a confirmation that no one can give here"),
            Some(Right::Part) => Some("is allowed in part, which cannot be separated from the rest here"),
            None => Some("has a value that is not understood"),
        };
        let word = folded(&name);
        let tools = tools_of(&name);
        // One permission covers all tools that change files.
        if style == Style::Permission && includes_write_tools(&tools) {
            rules.deny("edit");
            rules.deny("write");
        }
        match why {
            None if PERMISSIONS_WITHOUT_TOOLS.contains(&&*word) => rules.deny(&name),
            None => rules.deny_named(&name),
            Some(_) if PERMISSIONS_WITHOUT_TOOLS.contains(&&*word) => {}
            Some(why) if !tools.is_empty() => {
                rules.deny(&name);
                rules.stricter_issue(format!(
                    "says that `{name}` {why}, so the agent gets no {}",
                    listed(&tools)
                ));
            }
            Some(why) => {
                rules.deny(&name);
                rules.unclear_issue(format!("says that {} {why}", quoted(&name)));
            }
        }
    }
    if denies_rest || (style == Style::Tools && !allowed.is_empty()) {
        rules.allowed = Some(Vec::new());
        for name in &allowed {
            if style == Style::Permission && tools_of(name).contains(&"edit") {
                rules.allow("edit");
                rules.allow("write");
            } else {
                rules.add_allowed(name);
            }
        }
        // An unknown tool cannot be on the list of allowed ones.
        rules.issues.retain(|issue| !matches!(issue, RuleIssue::Unclear(_)));
    }
    if restricts_places {
        rules.unclear_issue("restricts the agent to some directories, which is not possible here".to_owned());
    }
    rules
}

/// Returns true if a value is empty.
pub(super) fn is_blank(value: &Yaml) -> bool {
    match value {
        Yaml::Null => true,
        Yaml::Text(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Reads a list that contains mappings, such as `- "*": false`, and names.
fn rules_of_list(items: &[Yaml]) -> Option<ToolRules> {
    let mut entries = Vec::new();
    for item in items {
        match item {
            Yaml::Map(map) => entries.extend(map.iter().cloned()),
            Yaml::Text(_) => entries.push((item.clone(), Yaml::Bool(true))),
            _ => return None,
        }
    }
    Some(rights_of(entries.iter(), Style::Tools))
}

fn first_invalid_item(items: &[Yaml]) -> String {
    let invalid = items.iter().find(|item| !matches!(item, Yaml::Text(_) | Yaml::Map(_)));
    invalid.map(ToString::to_string).unwrap_or_default()
}

fn add_entries(rules: &mut ToolRules, entries: &[String], denies: bool) {
    if denies {
        for entry in entries {
            rules.deny_named(entry);
        }
        return;
    }
    let takes_all = entries.iter().fold(false, |all, entry| rules.add_allowed(entry) | all);
    let only_refuses =
        !entries.is_empty() && entries.iter().all(|entry| matches!(Entry::of(entry), Entry::Not(_)));
    if takes_all {
        rules.allowed = None;
    } else if !only_refuses {
        rules.allowed.get_or_insert_default();
    }
}

/// Splits a text at commas, or at blanks if it has no comma, but never within brackets.
fn split(text: &str) -> Vec<String> {
    let mut entries = vec![String::new()];
    let mut depth = 0_usize;
    let has_commas = text.contains([',', ';', '\n']);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let opens_next = text[at..].trim_start().starts_with(['(', '[', '{', '<']);
        let parts = matches!(c, ',' | ';' | '\n') || (!has_commas && c.is_whitespace() && !opens_next);
        match entries.last_mut() {
            Some(entry) if depth > 0 || !parts => entry.push(c),
            _ => entries.push(String::new()),
        }
    }
    entries.iter().map(|entry| entry.trim()).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}

/// Joins the items of a list that was split at commas within brackets: `Agent(worker, researcher)`.
fn joined(items: &[&str], denies: bool) -> Vec<String> {
    let opened = |text: &str| {
        let count = |all: &[char]| text.chars().filter(|c| all.contains(c)).count();
        count(&['(', '[', '{']) > count(&[')', ']', '}'])
    };
    let mut entries: Vec<String> = Vec::new();
    for item in items {
        match entries.last_mut() {
            Some(last) if opened(last) => {
                last.push_str(", ");
                last.push_str(item);
            }
            _ => entries.push((*item).to_owned()),
        }
    }
    // An unclosed bracket would swallow the names after it.
    let is_complete = entries.last().is_none_or(|last| !opened(last));
    if is_complete || !denies { entries } else { items.iter().map(|item| (*item).to_owned()).collect() }
}

/// Returns a word of an entry that shows that it is a sentence.
fn prose_word(entry: &str) -> Option<String> {
    let name = entry.split(['(', '[', '{', '<']).next().unwrap_or_default();
    name.split_whitespace().map(str::to_lowercase).find(|word| PROSE.contains(&&**word))
}

/// Returns the tools that both lists allow. Entries may be patterns.
fn intersection(one: Vec<String>, other: &[String]) -> Vec<String> {
    let is_in = |list: &[String], tool: &str| list.iter().any(|pattern| covers(pattern, tool));
    let mut both: Vec<String> =
        other.iter().filter(|tool| is_in(&one, tool) && !one.contains(tool)).cloned().collect();
    let mut common: Vec<String> = one.into_iter().filter(|tool| is_in(other, tool)).collect();
    common.append(&mut both);
    common
}

/// Returns true for tools that no child ever gets. A rule about them has no effect.
fn has_no_effect(tool: &str) -> bool {
    FOREIGN_TOOLS.contains(&tool) || is_never_in_child(tool)
}

fn text_of(value: &Yaml) -> String {
    match value {
        Yaml::Text(text) => text.trim().to_owned(),
        other => other.to_string().trim_matches('`').to_owned(),
    }
}

fn listed(tools: &[&str]) -> String {
    tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ")
}

/// Returns true if a list with this name forbids tools, and `None` if the name is not a list of tools.
pub(super) fn tool_list(key: &str) -> Option<bool> {
    let without_tool = ["tools", "tool", "toolnames"].iter().find_map(|word| {
        let rest = key.strip_suffix(word).or_else(|| key.strip_prefix(word))?;
        Some(rest.trim_end_matches("list")).filter(|rest| !rest.is_empty())
    });
    let word = without_tool.unwrap_or(key);
    let is_one_of =
        |words: &[&str]| words.contains(&word) || words.iter().any(|known| *known == format!("{word}list"));
    if is_one_of(&DENIES) {
        return Some(true);
    }
    // `enabled` and `use` alone do not concern tools.
    let is_alone = without_tool.is_none() && !word.starts_with("allow") && word != "whitelist";
    (!is_alone && is_one_of(&ALLOWS)).then_some(false)
}
