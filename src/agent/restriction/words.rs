//! The words that names and values of restricting fields are made of.

use crate::agent::frontmatter::Yaml;
use crate::agent::tools::{WRITING, broad, pi_tool_name};

/// Beginnings of words that forbid.
const NEGATIVE: [&str; 28] = [
    "deny",
    "denie",
    "disallow",
    "forbid",
    "block",
    "exclu",
    "restrict",
    "disabl",
    "prohibit",
    "banned",
    "blacklist",
    "prevent",
    "without",
    "except",
    "constrain",
    "immutabl",
    "dryrun",
    "safe",
    "readonly",
    "protect",
    "only",
    "sandbox",
    "approv",
    "confirm",
    "consent",
    "supervis",
    "nondestruct",
    "untrust",
];
/// Words that forbid, as a whole.
const NEGATIVE_WORDS: [&str; 26] = [
    "no", "not", "never", "cannot", "cant", "mustnot", "mustnt", "shouldnt", "dont", "doesnt", "wont",
    "isnt", "ban", "nowrite", "nowrites", "noedit", "noedits", "noexec", "nobash", "noshell", "offline",
    "frozen", "locked", "passive", "hitl", "ro",
];
/// Words with others between them that forbid together, without what separates them.
const NEGATIVE_NAMES: [&str; 3] = ["dryrun", "nondestruct", "humanintheloop"];
/// Beginnings of words that permit, and so forbid everything else, or everything if the value is `false`.
const POSITIVE: [&str; 10] =
    ["allow", "permi", "whitelist", "limit", "privileg", "authori", "grant", "trust", "autonom", "entitle"];
/// Beginnings of words for asking somebody first.
const ASKING: [&str; 5] = ["ask", "require", "need", "request", "prompt"];
/// What is asked for, besides a permission and something to do.
const ASKED: [&str; 4] = ["review", "human", "user", "before"];
/// Beginnings of words for something that an agent does.
const ACTIVITY: [&str; 23] = [
    "writ",
    "overwrit",
    "edit",
    "modif",
    "mutat",
    "execut",
    "creat",
    "delet",
    "remov",
    "destruct",
    "patch",
    "install",
    "commit",
    "push",
    "deploy",
    "publish",
    "command",
    "shell",
    "terminal",
    "bash",
    "tool",
    "effect",
    "subprocess",
];
/// The same as whole words.
const ACTIVITY_WORDS: [&str; 8] = ["run", "runs", "exec", "change", "changes", "changed", "git", "update"];
/// Words that permit, as a whole.
const POSITIVE_WORDS: [&str; 4] = ["can", "may", "access", "rights"];
/// Words that begin like others and say nothing about rights.
const HARMLESS_WORDS: [&str; 3] = ["blocking", "safeguards", "limitations"];

/// How a word of a field's name restricts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polarity {
    /// `true` forbids, `false` does not.
    Negative,
    /// `false` forbids, `true` does not.
    Positive,
}

/// Returns true if a word is about something that an agent does.
pub(super) fn is_activity(word: &str) -> bool {
    ACTIVITY_WORDS.contains(&word) || ACTIVITY.iter().any(|stem| word.starts_with(stem))
}

/// Returns true if the words of a name forbid: with one that does, or because somebody has to be asked first.
pub(super) fn forbids(words: &[String]) -> bool {
    let whole = words.concat();
    let begins = |word: &String, stems: &[&str]| stems.iter().any(|stem| word.starts_with(stem));
    let is_asked = |word: &String| polarity(word).is_some() || is_activity(word) || ASKED.contains(&&**word);
    words.iter().any(|word| polarity(word) == Some(Polarity::Negative))
        || NEGATIVE_NAMES.iter().any(|name| whole.contains(name))
        || (words.iter().any(|word| begins(word, &ASKING)) && words.iter().any(is_asked))
}

/// A name without its case and separators, in which spellings differ.
pub(in crate::agent) fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a name in lower case: `disallowedTools`, `disallowed_tools` and `Disallowed-Tools` have the same two.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut starts = true;
    let mut last_is_lower = false;
    // `can't` is one word.
    for c in name.chars().filter(|c| !matches!(c, '\'' | '\u{2019}')) {
        if !c.is_alphanumeric() {
            starts = true;
            continue;
        }
        if starts || (c.is_uppercase() && last_is_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        (starts, last_is_lower) = (false, c.is_lowercase() || c.is_numeric());
    }
    words
}

/// How a word restricts, if it does.
pub(super) fn polarity(word: &str) -> Option<Polarity> {
    let begins = |stems: &[&str]| stems.iter().any(|stem| word.starts_with(stem));
    if HARMLESS_WORDS.contains(&word) {
        None
    } else if NEGATIVE_WORDS.contains(&word) || begins(&NEGATIVE) {
        Some(Polarity::Negative)
    } else if POSITIVE_WORDS.contains(&word) || begins(&POSITIVE) {
        Some(Polarity::Positive)
    } else {
        None
    }
}

/// Reads a value that switches something on or off, in all usual spellings.
pub(in crate::agent) fn switch(value: &Yaml) -> Option<bool> {
    match value {
        Yaml::Bool(value) => Some(*value),
        Yaml::Integer(1) => Some(true),
        Yaml::Integer(0) => Some(false),
        Yaml::Text(text) => match &*text.trim().to_lowercase() {
            "true" | "yes" | "on" | "y" | "1" => Some(true),
            "false" | "no" | "off" | "n" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The right to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    /// It is allowed.
    Allow,
    /// It is forbidden.
    Deny,
    /// A person has to agree first.
    Ask,
    /// Only some of it is allowed.
    Part,
}

/// Reads a right. `None`: the value says something else.
pub(super) fn right(value: &Yaml) -> Option<Right> {
    if let Some(is_on) = switch(value) {
        return Some(if is_on { Right::Allow } else { Right::Deny });
    }
    match value {
        Yaml::Text(text) => match &*folded(text) {
            "allow" | "allowed" | "always" | "enable" | "enabled" | "full" | "all" | "any" | "auto"
            | "write" | "readwrite" | "rw" | "unrestricted" => Some(Right::Allow),
            "deny" | "denied" | "never" | "none" | "forbid" | "forbidden" | "block" | "blocked"
            | "disable" | "disabled" | "disallow" | "disallowed" | "reject" | "rejected" | "prohibit"
            | "prohibited" | "readonly" | "ro" | "read" => Some(Right::Deny),
            "ask" | "prompt" | "confirm" | "approve" | "approval" => Some(Right::Ask),
            _ => None,
        },
        Yaml::Map(entries) => {
            let mut rights = entries.iter().map(|(_, value)| right(value));
            let first = rights.next()??;
            let is_same = rights.all(|other| other == Some(first)) && first != Right::Part;
            Some(if is_same { first } else { Right::Part })
        }
        _ => None,
    }
}

/// Returns true if a text says that nothing may be changed, whatever it is about.
pub(super) fn is_readonly_word(text: &str) -> bool {
    matches!(
        &*folded(text),
        "readonly"
            | "ro"
            | "readonlymode"
            | "readonlyaccess"
            | "viewonly"
            | "nowrite"
            | "nowrites"
            | "noedit"
            | "noedits"
    )
}

/// Returns true if a mode says that nothing may be changed.
pub(super) fn says_readonly(text: &str) -> bool {
    is_readonly_word(text)
        || matches!(
            &*folded(text),
            "plan"
                | "planning"
                | "planner"
                | "planmode"
                | "dontask"
                | "read"
                | "reader"
                | "ask"
                | "review"
                | "safe"
                | "none"
                | "view"
                | "viewer"
                | "chat"
                | "architect"
                | "analysis"
                | "analyze"
                | "audit"
                | "inspect"
                | "observe"
                | "observer"
                | "advisory"
                | "consult"
                | "query"
                | "suggest"
        )
}

/// pi's tools that a word names, if it names some.
pub(super) fn tools_of(word: &str) -> Vec<&str> {
    let tool = pi_tool_name(word);
    if is_pi_tool(tool) { vec![tool] } else { broad(word).to_vec() }
}

/// Returns true if forbidding the tools means that nothing may be changed.
pub(super) fn write(tools: &[&str]) -> bool {
    tools.iter().any(|tool| WRITING.contains(tool))
}

fn is_pi_tool(tool: &str) -> bool {
    ["read", "grep", "find", "ls", "bash", "edit", "write", "web_search", "fetch_content"].contains(&tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_name_have_the_same_words() {
        for name in [
            "disallowedTools",
            "disallowed_tools",
            "Disallowed-Tools",
            "DISALLOWED TOOLS",
            "disallowed.tools",
        ] {
            assert_eq!(words(name), ["disallowed", "tools"], "{name}");
            assert_eq!(folded(name), "disallowedtools", "{name}");
        }
        assert_eq!(words("noWrite"), ["no", "write"]);
    }

    #[test]
    fn words_that_only_begin_like_a_negation_are_none() {
        for word in
            ["note", "notes", "node", "normal", "now", "notify", "blocking", "model", "tools", "canvas"]
        {
            assert_eq!(polarity(word), None, "{word}");
        }
    }
}
