//! Interprets the restrictions in fields of other harnesses.

use super::names::{
    AROUND_NETWORK, DISABLED_STATES, FREE_MODES, HARMLESS, HELPERS, MODES, NETWORK, OFF, ON,
    OWN_RESTRICTIONS, PLACES, REFUSING_HOOKS, STATE_FIELDS,
};
use super::rules::{RuleIssue, ToolRules, is_blank, names_tools, permission_rules, rules_of, tool_list};
use super::words::{
    Polarity, Right, folded, forbids, includes_write_tools, is_activity, is_readonly_mode, is_readonly_word,
    polarity, right, split_words, switch, tools_of,
};
use crate::frontmatter::Yaml;
use crate::tools::{SHELL, pi_tool_name};
use sanitizer::{nearest, quoted};

/// The maximum length of a prohibition such as `no file edits`, in words. A longer value is prose.
const MAX_WORDS: usize = 5;

/// The restriction in a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Restriction {
    /// The agent may only read.
    Readonly,
    /// The agent may use only some tools.
    Tools(ToolRules),
    /// The agent is switched off.
    Off,
    /// The agent may not reach the network.
    Offline,
    /// The restriction is not understood.
    Unclear {
        /// The reason, as the end of a sentence with the field as its subject.
        why: String,
    },
    /// The field would check each tool call, but such checks do not run here. The agent gets no shell.
    Unchecked {
        /// The reason, as in [`Self::Unclear`].
        why: String,
    },
}

/// Returns true if a field with this name may forbid something, with any value.
pub(crate) fn is_restricting(name: &str) -> bool {
    let key = folded(name);
    if HARMLESS.contains(&&*key) {
        return false;
    }
    let words = split_words(name);
    MODES.contains(&&*key)
        || ON.contains(&&*key)
        || OFF.contains(&&*key)
        || key == "hooks"
        || is_refusing_hook(&key)
        || tool_list(&key).is_some()
        || forbids(&words)
        || words.iter().any(|word| polarity(word).is_some())
        || is_about_network(&words)
        // A single word, such as `command`, may be part of an example.
        || (words.len() > 1 && words.iter().any(|word| is_activity(word)))
        || flag_of(&words).is_some_and(|flag| flag.has_helper || flag.is_negative)
        || similar_field(&key).is_some()
}

/// Returns the restriction in a field, or `None` if the field only permits something or has another subject.
pub(crate) fn restriction_of(name: &str, value: &Yaml) -> Option<Restriction> {
    let key = folded(name);
    let words = split_words(name);
    if is_blank(value) {
        return None;
    }
    if matches!(value, Yaml::Text(text) if is_readonly_word(text)) {
        return Some(Restriction::Readonly);
    }
    if HARMLESS.contains(&&*key) {
        return None;
    }
    if MODES.contains(&&*key) {
        return mode(&key, value);
    }
    if key == "hooks" {
        return hooks(value);
    }
    if is_refusing_hook(&key) {
        return Some(refusing_hooks());
    }
    if ON.contains(&&*key) || OFF.contains(&&*key) {
        return match switch(value) {
            Some(is_on) => (is_on == OFF.contains(&&*key)).then_some(Restriction::Off),
            None => tool_list(&key).map_or_else(|| Some(unclear_restriction()), |denies| list(value, denies)),
        };
    }
    if STATE_FIELDS.contains(&&*key)
        && matches!(value, Yaml::Text(text) if DISABLED_STATES.contains(&&*folded(text)))
    {
        return Some(Restriction::Off);
    }
    if key.contains("readonly") {
        return match switch(value) {
            Some(is_on) => is_on.then_some(Restriction::Readonly),
            None => Some(unclear_restriction()),
        };
    }
    if is_about_network(&words) {
        return network(&words, value);
    }
    if matches!(&*key, "permission" | "permissions" | "toolpermissions" | "toolpermission") {
        return permissions(value);
    }
    if let Some(denies) = tool_list(&key) {
        return match switch(value) {
            // `restricted: true` names no tools.
            Some(is_on) if !key.contains("tool") => (is_on == denies).then(unclear_restriction),
            _ => list(value, denies),
        };
    }
    if let Some(flag) = flag_of(&words) {
        match flag.restriction(value) {
            Verdict::Nothing => return None,
            Verdict::Restricts(restriction) => return Some(restriction),
            Verdict::NotAFlag => {}
        }
    }
    by_name(&words, value)
        .or_else(|| misspelled_field(&key))
        .or_else(|| tool_allowlist(&words, value))
        .or_else(|| by_value(&words, value))
        .or_else(|| inner(value))
}

/// Returns true if other harnesses have a field with this name.
pub(crate) fn is_known(name: &str) -> bool {
    HARMLESS.contains(&&*folded(name)) || is_restricting(name)
}

fn unclear_restriction() -> Restriction {
    Restriction::Unclear { why: "restricts the agent in a way that is not understood here".to_owned() }
}

fn mode(key: &str, value: &Yaml) -> Option<Restriction> {
    let Yaml::Text(text) = value else { return Some(unclear_restriction()) };
    if is_readonly_mode(text) {
        return Some(Restriction::Readonly);
    }
    if FREE_MODES.contains(&&*folded(text)) {
        return None;
    }
    // `mode` may have another subject.
    let words = split_words(text);
    let is_about_rights = key != "mode"
        || forbids(&words)
        || has_polarity(&words)
        || words.iter().any(|word| is_readonly_mode(word));
    is_about_rights.then(unclear_restriction)
}

fn has_polarity(words: &[String]) -> bool {
    words.iter().any(|word| polarity(word).is_some())
}

fn is_refusing_hook(key: &str) -> bool {
    REFUSING_HOOKS.iter().any(|known| key.starts_with(known))
}

/// Returns the restriction for hooks. Hooks do not run here, so they cannot refuse tool calls.
fn hooks(value: &Yaml) -> Option<Restriction> {
    let Yaml::Map(events) = value else { return Some(refusing_hooks()) };
    let refuses = |(event, _): &(Yaml, Yaml)| match event {
        Yaml::Text(event) => is_refusing_hook(&folded(event)),
        _ => true,
    };
    events.iter().any(refuses).then(refusing_hooks)
}

fn refusing_hooks() -> Restriction {
    Restriction::Unchecked { why: "can refuse tool calls, and hooks do not run here".to_owned() }
}

fn permissions(value: &Yaml) -> Option<Restriction> {
    match value {
        Yaml::Text(text) if is_readonly_mode(text) => Some(Restriction::Readonly),
        Yaml::Map(entries) => {
            let is_mode = |(name, _): &(Yaml, Yaml)| matches!(name, Yaml::Text(name) if MODES.contains(&&*folded(name)));
            let (modes, rights): (Vec<_>, Vec<_>) = entries.iter().cloned().partition(is_mode);
            let Some(mut rules) = permission_rules(&rights) else { return Some(unclear_restriction()) };
            for (name, value) in &modes {
                match name {
                    // Here `mode` is also about rights.
                    Yaml::Text(_) => match mode("permissionmode", value) {
                        None => {}
                        Some(Restriction::Readonly) => rules.is_readonly = true,
                        Some(other) => return Some(other),
                    },
                    _ => return Some(unclear_restriction()),
                }
            }
            (rules != ToolRules::default()).then_some(Restriction::Tools(rules))
        }
        Yaml::List(_) => tool_allowlist(&["tools".to_owned()], value).or_else(|| Some(unclear_restriction())),
        _ if right(value) == Some(Right::Allow) => None,
        _ => Some(unclear_restriction()),
    }
}

fn is_about_network(words: &[String]) -> bool {
    let is_network = |word: &String| NETWORK.contains(&&**word);
    let is_around = |word: &String| {
        AROUND_NETWORK.contains(&&**word) || HELPERS.contains(&&**word) || polarity(word).is_some()
    };
    let is_offline = words.iter().any(|word| word == "offline");
    (is_offline || words.iter().any(is_network))
        && words.iter().all(|word| is_network(word) || is_around(word))
}

/// Returns the restriction in a network field: `offline: true`, `no_network: true`, `allowInternet: false`.
fn network(words: &[String], value: &Yaml) -> Option<Restriction> {
    let is_on = switch(value).or_else(|| match right(value)? {
        Right::Allow => Some(true),
        Right::Deny => Some(false),
        Right::Ask | Right::Part => None,
    });
    match is_on {
        Some(is_on) => (is_on == forbids(words)).then_some(Restriction::Offline),
        None => Some(Restriction::Offline),
    }
}

fn list(value: &Yaml, denies: bool) -> Option<Restriction> {
    match rules_of(value, denies) {
        Ok(rules) if rules == ToolRules::default() => None,
        Ok(rules) => Some(Restriction::Tools(rules)),
        Err(error) => Some(Restriction::Unclear { why: error.to_string() }),
    }
}

/// A field named after a tool: `canWrite`, `bash`, `no_shell`.
struct Flag {
    tools: Vec<&'static str>,
    is_negative: bool,
    has_helper: bool,
    /// Set if the field has exactly the name of a tool.
    is_name: bool,
}

enum Verdict {
    Nothing,
    Restricts(Restriction),
    NotAFlag,
}

fn flag_of(words: &[String]) -> Option<Flag> {
    let mut tools = Vec::new();
    let mut is_negative = false;
    let mut has_helper = false;
    for word in words {
        let glued = word.strip_prefix("no").map(known_tools).filter(|tools| !tools.is_empty());
        let named = known_tools(word);
        if let Some(glued) = glued.filter(|_| named.is_empty()) {
            (tools, is_negative) = (glued, true);
        } else if !named.is_empty() {
            tools.extend(named);
        } else if HELPERS.contains(&&**word) {
            has_helper = true;
        } else if word == "only" {
            // `viewOnly` forbids all other tools.
            return None;
        } else if polarity(word) == Some(Polarity::Negative) {
            is_negative = true;
        } else if !matches!(&**word, "writable" | "editable" | "mutable" | "rw") {
            return None;
        } else {
            (has_helper, tools) = (true, vec!["write"]);
        }
    }
    let is_name = matches!(words, [word] if tools.contains(&pi_tool_name(word)));
    (!tools.is_empty()).then_some(Flag { tools, is_negative, has_helper, is_name })
}

/// Returns pi's tools for a word.
fn known_tools(word: &str) -> Vec<&'static str> {
    const ALL: [&str; 9] =
        ["read", "grep", "find", "ls", SHELL, "edit", "write", "web_search", "fetch_content"];
    let named = tools_of(word);
    ALL.into_iter().filter(|tool| named.contains(tool)).collect()
}

impl Flag {
    fn restriction(&self, value: &Yaml) -> Verdict {
        let forbids = match (self.is_negative, right(value)) {
            (true, _) => match switch(value) {
                Some(is_on) => is_on,
                None => return Verdict::Restricts(unclear_restriction()),
            },
            (false, Some(Right::Allow)) => false,
            (false, Some(Right::Deny | Right::Ask | Right::Part)) => true,
            (false, None) if self.has_helper => return Verdict::Restricts(unclear_restriction()),
            // `write: docs/`, `bash: "git *"`
            (false, None) if self.is_exact() => return Verdict::Restricts(self.partial_restriction()),
            // `run: npm test`, `search: …`
            (false, None) => return Verdict::NotAFlag,
        };
        if !forbids {
            return Verdict::Nothing;
        }
        Verdict::Restricts(if includes_write_tools(&self.tools) {
            // A shell can write, too.
            Restriction::Readonly
        } else {
            Restriction::Tools(self.denied())
        })
    }

    fn denied(&self) -> ToolRules {
        let denied = self.tools.iter().map(|tool| (*tool).to_owned()).collect();
        ToolRules { denied, ..ToolRules::default() }
    }

    /// Returns true if the name is exactly the name of a tool with side effects.
    fn is_exact(&self) -> bool {
        matches!(self.tools[..], [SHELL | "edit" | "write"]) && self.is_name
    }

    /// Returns the restriction for a tool that is allowed in part.
    fn partial_restriction(&self) -> Restriction {
        let why = "allows a part of a tool, which cannot be separated from the rest here";
        if includes_write_tools(&self.tools) {
            return Restriction::Unclear { why: why.to_owned() };
        }
        let issue = format!("{why}, so the agent gets no `{SHELL}`");
        Restriction::Tools(ToolRules { issues: vec![RuleIssue::Stricter(issue)], ..self.denied() })
    }
}

/// Applies the rule for all other names. A name with a word that forbids or permits is a restriction.
fn by_name(words: &[String], value: &Yaml) -> Option<Restriction> {
    let is_empty = matches!(value, Yaml::List(items) if items.is_empty())
        || matches!(value, Yaml::Map(entries) if entries.is_empty());
    let allows =
        switch(value) == Some(true) || matches!(value, Yaml::Text(_) if right(value) == Some(Right::Allow));
    let is_denied = matches!(right(value), Some(Right::Deny | Right::Ask | Right::Part));
    let is_no_restriction = matches!(value, Yaml::Text(text) if matches!(&*folded(text), "none" | "nothing"));
    let is_activity = words.iter().any(|word| is_activity(word));
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&&**word));
    let is_required = matches!(
        value,
        Yaml::Text(text) if matches!(&*folded(text), "required" | "mandatory" | "always" | "manual")
    );
    // `autoApprove: false`
    let is_auto = has(&["auto", "automatic"]) && (has_polarity(words) || is_activity);
    let is_place = has(&PLACES) && (is_activity || words.iter().any(|word| !tools_of(word).is_empty()));
    let restricts = if forbids(words) && !is_auto && !is_place {
        switch(value) != Some(false) && !is_empty && !is_no_restriction
    } else if is_auto || is_place || has_polarity(words) {
        !allows
    } else {
        is_activity && (is_denied || has(&["max"])) || has(&["review", "human", "oversight"]) && is_required
    };
    restricts.then(unclear_restriction)
}

/// Interprets a list of only tools as the allowed tools of the agent, under any field name.
fn tool_allowlist(words: &[String], value: &Yaml) -> Option<Restriction> {
    let is_named = words.iter().any(|word| word.starts_with("tool"));
    let is_list = match value {
        Yaml::List(items) => !items.is_empty(),
        Yaml::Text(text) => is_named || text.contains(','),
        _ => false,
    };
    if is_list && names_tools(value) {
        return list(value, false);
    }
    let is_open =
        matches!(value, Yaml::Map(_) | Yaml::List(_) | Yaml::Text(_)) && right(value) != Some(Right::Allow);
    (is_named && is_open).then(unclear_restriction)
}

/// Finds words in the value of any field that forbid something.
fn by_value(name_words: &[String], value: &Yaml) -> Option<Restriction> {
    match value {
        Yaml::Text(text) => {
            let words = split_words(text);
            let is_about_tools = || {
                name_words.iter().chain(&words).any(|word| is_activity(word) || !tools_of(word).is_empty())
            };
            let is_prohibition = words.len() <= MAX_WORDS
                && words.iter().any(|word| polarity(word) == Some(Polarity::Negative))
                && is_about_tools();
            let denies = matches!(
                &*folded(text),
                "deny"
                    | "denied"
                    | "never"
                    | "forbid"
                    | "forbidden"
                    | "block"
                    | "blocked"
                    | "disallow"
                    | "disallowed"
                    | "prohibited"
            );
            (is_prohibition || denies || is_readonly_word(text)).then(unclear_restriction)
        }
        Yaml::List(items) => items.iter().find_map(|item| by_value(name_words, item)),
        _ => None,
    }
}

/// Returns our field with a similar name.
fn similar_field(key: &str) -> Option<&'static str> {
    nearest(key, OWN_RESTRICTIONS)
}

fn misspelled_field(key: &str) -> Option<Restriction> {
    let meant = similar_field(key)?;
    let meant = if meant == "disallowedtools" { "disallowedTools" } else { meant };
    Some(Restriction::Unclear { why: format!("is not an agent field; did you mean `{meant}`?") })
}

/// Returns the restriction of a field in a mapping, or in a list of mappings.
fn inner(value: &Yaml) -> Option<Restriction> {
    let entries = match value {
        Yaml::Map(entries) => entries,
        Yaml::List(items) => return items.iter().find_map(inner),
        _ => return None,
    };
    entries.iter().find_map(|(name, value)| {
        let Yaml::Text(name) = name else { return None };
        let is_own_field = matches!(&*folded(name), "tool" | "tools" | "sandbox" | "isolation" | "network");
        if !is_own_field && restriction_of(name, value).is_none() {
            return None;
        }
        Some(Restriction::Unclear { why: format!("contains {}, which is not supported there", quoted(name)) })
    })
}
