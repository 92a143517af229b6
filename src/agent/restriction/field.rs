//! Decides about the restrictions in fields of other harnesses.

use super::rules::{ToolRules, permission_rules, rules_of};
use super::words::{Polarity, folded, polarity, right, says_readonly, switch, tools_of, words, write};
use crate::agent::frontmatter::Yaml;
use crate::agent::tools::SHELL;
use crate::text::nearest;

/// Fields without restrictions, although their names or contents may look like some.
const HARMLESS: [&str; 37] = [
    "agents",
    "allowedagents",
    "allowedsubagents",
    "disallowedagents",
    "allowedmodels",
    "aliases",
    "argumenthint",
    "author",
    "background",
    "category",
    "color",
    "dependencies",
    "effort",
    "emoji",
    "examples",
    "handoffs",
    "hidden",
    "icon",
    "id",
    "inputs",
    "mcp",
    "mcpservers",
    "maxtokens",
    "maxoutputtokens",
    "memory",
    "outputs",
    "prompt",
    "services",
    "tags",
    "target",
    "temperature",
    "tokenlimit",
    "type",
    "userinvocable",
    "variant",
    "version",
    "vibe",
];
/// The fields whose values name a mode, in which an agent may only read.
const MODES: [&str; 10] = [
    "filesystem",
    "fs",
    "permissionmode",
    "defaultmode",
    "mode",
    "agentmode",
    "accessmode",
    "access",
    "accesslevel",
    "approvalmode",
];
/// Modes that forbid nothing.
const FREE_MODES: [&str; 21] = [
    "acceptedits",
    "agent",
    "all",
    "auto",
    "autoedit",
    "build",
    "bypasspermissions",
    "code",
    "default",
    "delegate",
    "edit",
    "full",
    "manual",
    "normal",
    "primary",
    "readwrite",
    "rw",
    "subagent",
    "write",
    "yolo",
    "fullaccess",
];
/// Fields that switch an agent on, and fields that switch it off.
const ON: [&str; 3] = ["enabled", "enable", "active"];
const OFF: [&str; 4] = ["disabled", "disable", "inactive", "disablemodelinvocation"];
/// Words for a list of forbidden tools, and for a list of the only allowed ones. Each also with `tool` or `tools` before or behind it.
const DENIES: [&str; 19] = [
    "deny",
    "denied",
    "disallow",
    "disallowed",
    "forbid",
    "forbidden",
    "block",
    "blocked",
    "blocklist",
    "exclude",
    "excluded",
    "disable",
    "disabled",
    "denylist",
    "blacklist",
    "prohibited",
    "banned",
    "restricted",
    "without",
];
const ALLOWS: [&str; 11] = [
    "allow",
    "allowed",
    "allowlist",
    "whitelist",
    "permitted",
    "enabled",
    "available",
    "only",
    "use",
    "included",
    "include",
];
/// Words around the name of a tool in a field that allows it, such as `allowBash` or `bash_enabled`.
const HELPERS: [&str; 19] = [
    "can",
    "may",
    "allow",
    "allows",
    "allowed",
    "enable",
    "enables",
    "enabled",
    "permit",
    "permits",
    "has",
    "with",
    "access",
    "permission",
    "permissions",
    "tool",
    "tools",
    "is",
    "file",
];
/// The fields of ours that restrict. A name that is nearly one of them is taken for it.
const NEARLY: [&str; 6] = ["readonly", "tools", "disallowedtools", "allowedtools", "sandbox", "isolation"];
/// Events of hooks that can refuse a tool call.
const REFUSING_HOOKS: [&str; 3] = ["pretooluse", "permissionrequest", "beforetool"];

/// The restriction in a field.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::agent) enum Restriction {
    /// The agent may only read.
    Readonly,
    /// Some tools.
    Tools(ToolRules),
    /// The agent is switched off.
    Off,
    /// Something that is not understood.
    Unclear {
        /// The reason, as the end of a sentence with the field as its subject.
        why: String,
    },
    /// Something that decides about each tool call, and that nothing does here. The agent gets no shell.
    Unchecked {
        /// As above.
        why: String,
    },
}

/// Returns true if a field of this name may forbid something, with any value.
pub(in crate::agent) fn is_restricting(name: &str) -> bool {
    let key = folded(name);
    if HARMLESS.contains(&&*key) {
        return false;
    }
    let words = words(name);
    MODES.contains(&&*key)
        || ON.contains(&&*key)
        || OFF.contains(&&*key)
        || key == "hooks"
        || tool_list(&key).is_some()
        || words.iter().any(|word| polarity(word).is_some())
        || flag_of(&words).is_some_and(|flag| flag.has_helper || flag.is_negative)
        || is_nearly(&key).is_some()
}

/// Returns the restriction in a field; `None` if the field only permits, or is about something else.
pub(in crate::agent) fn restriction_of(name: &str, value: &Yaml) -> Option<Restriction> {
    let (key, words) = (folded(name), words(name));
    if is_blank(value) {
        return None;
    }
    if matches!(value, Yaml::Text(text) if folded(text) == "readonly") {
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
    if ON.contains(&&*key) || OFF.contains(&&*key) {
        return match switch(value) {
            Some(is_on) => (is_on == OFF.contains(&&*key)).then_some(Restriction::Off),
            None => tool_list(&key).map_or_else(|| Some(not_understood()), |denies| list(value, denies)),
        };
    }
    if key.contains("readonly") {
        return match switch(value) {
            Some(is_on) => is_on.then_some(Restriction::Readonly),
            None => Some(not_understood()),
        };
    }
    if matches!(&*key, "permission" | "permissions" | "toolpermissions" | "toolpermission") {
        return permissions(value);
    }
    if let Some(denies) = tool_list(&key) {
        return match switch(value) {
            // `restricted: true` names no tools.
            Some(is_on) if !key.contains("tool") => (is_on == denies).then(not_understood),
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
    by_words(&words, value).or_else(|| nearly(&key)).or_else(|| inner(value))
}

/// Returns true if other harnesses have a field of this name.
pub(in crate::agent) fn is_known(name: &str) -> bool {
    HARMLESS.contains(&&*folded(name)) || is_restricting(name)
}

fn not_understood() -> Restriction {
    Restriction::Unclear { why: "restricts the agent in a way that is not understood here".to_owned() }
}

/// Returns true if a value says nothing.
fn is_blank(value: &Yaml) -> bool {
    match value {
        Yaml::Null => true,
        Yaml::Text(text) => text.trim().is_empty(),
        _ => false,
    }
}

fn mode(key: &str, value: &Yaml) -> Option<Restriction> {
    let Yaml::Text(text) = value else { return Some(not_understood()) };
    let mode = folded(text);
    if says_readonly(text) || matches!(&*mode, "read" | "ask" | "review" | "safe" | "none" | "view") {
        return Some(Restriction::Readonly);
    }
    if FREE_MODES.contains(&&*mode) {
        return None;
    }
    // `mode` may be about anything.
    let is_about_rights = key != "mode" || words(text).iter().any(|word| polarity(word).is_some());
    is_about_rights.then(not_understood)
}

/// Returns the restriction for hooks. They do not run here, so they refuse no tool call.
fn hooks(value: &Yaml) -> Option<Restriction> {
    let Yaml::Map(events) = value else { return Some(hooks_refuse()) };
    let refuses = |(event, _): &(Yaml, Yaml)| match event {
        Yaml::Text(event) => REFUSING_HOOKS.iter().any(|known| folded(event).starts_with(known)),
        _ => true,
    };
    events.iter().any(refuses).then(hooks_refuse)
}

fn hooks_refuse() -> Restriction {
    Restriction::Unchecked { why: "can refuse tool calls, and hooks do not run here".to_owned() }
}

fn permissions(value: &Yaml) -> Option<Restriction> {
    match value {
        Yaml::Text(text) if says_readonly(text) || folded(text) == "read" => Some(Restriction::Readonly),
        Yaml::Map(_) => {
            let mode = inner_mode(value);
            let rules = permission_rules(value).map_or_else(not_understood, Restriction::Tools);
            if mode.is_some() { mode } else { Some(rules) }
        }
        _ if right(value) == Some(super::words::Right::Allow) => None,
        _ => Some(not_understood()),
    }
}

/// The mode that a mapping of permissions names.
fn inner_mode(value: &Yaml) -> Option<Restriction> {
    let Yaml::Map(entries) = value else { return None };
    entries.iter().find_map(|(name, value)| match name {
        Yaml::Text(name) if MODES.contains(&&*folded(name)) => mode(&folded(name), value),
        _ => None,
    })
}

/// Returns whether the tools of a list are forbidden; `None` if the name is not that of a list of tools.
fn tool_list(key: &str) -> Option<bool> {
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
    // `enabled` and `use` alone say nothing about tools.
    let is_alone = without_tool.is_none() && !word.starts_with("allow") && word != "whitelist";
    (!is_alone && is_one_of(&ALLOWS)).then_some(false)
}

fn list(value: &Yaml, denies: bool) -> Option<Restriction> {
    match rules_of(value, denies) {
        Ok(rules) if rules == ToolRules::default() => None,
        Ok(rules) => Some(Restriction::Tools(rules)),
        Err(why) => Some(Restriction::Unclear { why }),
    }
}

/// A field that is named after a tool: `canWrite`, `bash`, `no_shell`.
struct Flag {
    tools: Vec<&'static str>,
    is_negative: bool,
    has_helper: bool,
}

enum Verdict {
    Nothing,
    Restricts(Restriction),
    NotAFlag,
}

fn flag_of(words: &[String]) -> Option<Flag> {
    let (mut tools, mut is_negative, mut has_helper) = (Vec::new(), false, false);
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
            // `viewOnly` forbids everything else.
            return None;
        } else if polarity(word) == Some(Polarity::Negative) {
            is_negative = true;
        } else if !matches!(&**word, "writable" | "editable") {
            return None;
        } else {
            (has_helper, tools) = (true, vec!["write"]);
        }
    }
    (!tools.is_empty()).then_some(Flag { tools, is_negative, has_helper })
}

/// pi's tools that a word names.
fn known_tools(word: &str) -> Vec<&'static str> {
    const ALL: [&str; 9] =
        ["read", "grep", "find", "ls", SHELL, "edit", "write", "web_search", "fetch_content"];
    let named = tools_of(word);
    ALL.into_iter().filter(|tool| named.contains(tool)).collect()
}

impl Flag {
    fn restriction(&self, value: &Yaml) -> Verdict {
        use super::words::Right;
        let forbids = match (self.is_negative, right(value)) {
            (true, _) => match switch(value) {
                Some(is_on) => is_on,
                None => return Verdict::Restricts(not_understood()),
            },
            (false, Some(Right::Allow)) => false,
            (false, Some(Right::Deny | Right::Ask | Right::Part)) => true,
            (false, None) if self.has_helper => return Verdict::Restricts(not_understood()),
            // `run: npm test`, `search: …`
            (false, None) => return Verdict::NotAFlag,
        };
        if !forbids {
            return Verdict::Nothing;
        }
        Verdict::Restricts(if write(&self.tools) {
            // A shell writes, too.
            Restriction::Readonly
        } else {
            let denied = self.tools.iter().map(|tool| (*tool).to_owned()).collect();
            Restriction::Tools(ToolRules { denied, ..ToolRules::default() })
        })
    }
}

/// The rule for all other names: one with a word that forbids, or that permits, restricts.
fn by_words(words: &[String], value: &Yaml) -> Option<Restriction> {
    let found: Vec<Polarity> = words.iter().filter_map(|word| polarity(word)).collect();
    let is_empty = matches!(value, Yaml::List(items) if items.is_empty())
        || matches!(value, Yaml::Map(entries) if entries.is_empty());
    let restricts = if found.contains(&Polarity::Negative) {
        switch(value) != Some(false) && !is_empty
    } else {
        found.contains(&Polarity::Positive) && switch(value) != Some(true)
    };
    restricts.then(not_understood)
}

/// The name of ours that a name is nearly.
fn is_nearly(key: &str) -> Option<&'static str> {
    nearest(key, NEARLY)
}

fn nearly(key: &str) -> Option<Restriction> {
    let meant = is_nearly(key)?;
    let meant = if meant == "disallowedtools" { "disallowedTools" } else { meant };
    Some(Restriction::Unclear { why: format!("is not a field of an agent; did you mean `{meant}`?") })
}

/// A mapping in which a field restricts.
fn inner(value: &Yaml) -> Option<Restriction> {
    let Yaml::Map(entries) = value else { return None };
    entries.iter().find_map(|(name, value)| {
        let Yaml::Text(name) = name else { return None };
        let is_ours = matches!(&*folded(name), "tools" | "sandbox" | "isolation" | "network");
        if !is_ours && restriction_of(name, value).is_none() {
            return None;
        }
        Some(Restriction::Unclear { why: format!("holds `{name}`, which is not read there") })
    })
}
