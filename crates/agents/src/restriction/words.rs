//! The words in names and values of restricting fields.

use crate::frontmatter::Yaml;
use crate::tools::{WRITE_TOOLS, pi_tool_name, tools_for_word};

/// Prefixes of words that forbid.
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
/// Whole words that forbid.
const NEGATIVE_WORDS: [&str; 26] = [
    "no", "not", "never", "cannot", "cant", "mustnot", "mustnt", "shouldnt", "dont", "doesnt", "wont",
    "isnt", "ban", "nowrite", "nowrites", "noedit", "noedits", "noexec", "nobash", "noshell", "offline",
    "frozen", "locked", "passive", "hitl", "ro",
];
/// Combinations of words that forbid together, without separators.
const NEGATIVE_NAMES: [&str; 3] = ["dryrun", "nondestruct", "humanintheloop"];
/// Prefixes of words that permit. A field with such a word forbids everything else, or everything if its value is
/// `false`.
const POSITIVE: [&str; 10] =
    ["allow", "permi", "whitelist", "limit", "privileg", "authori", "grant", "trust", "autonom", "entitle"];
/// Prefixes of words for asking someone first.
const ASKING: [&str; 5] = ["ask", "require", "need", "request", "prompt"];
/// The object of such a request, in addition to permissions and activities.
const ASKED: [&str; 4] = ["review", "human", "user", "before"];
/// Prefixes of words for an activity of an agent.
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
/// Whole words for an activity of an agent.
const ACTIVITY_WORDS: [&str; 8] = ["run", "runs", "exec", "change", "changes", "changed", "git", "update"];
/// Whole words that permit.
const POSITIVE_WORDS: [&str; 4] = ["can", "may", "access", "rights"];
/// Words that begin like others but do not concern rights.
const HARMLESS_WORDS: [&str; 3] = ["blocking", "safeguards", "limitations"];

/// The way in which a word of a field's name restricts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polarity {
    /// `true` forbids, `false` does not.
    Negative,
    /// `false` forbids, `true` does not.
    Positive,
}

/// Returns true if a word is about an activity of an agent.
pub(super) fn is_activity(word: &str) -> bool {
    ACTIVITY_WORDS.contains(&word) || ACTIVITY.iter().any(|stem| word.starts_with(stem))
}

/// Returns true if the words of a name forbid something, or require asking someone first.
pub(super) fn forbids(words: &[String]) -> bool {
    let whole = words.concat();
    let begins = |word: &String, stems: &[&str]| stems.iter().any(|stem| word.starts_with(stem));
    let is_asked = |word: &String| polarity(word).is_some() || is_activity(word) || ASKED.contains(&&**word);
    words.iter().any(|word| polarity(word) == Some(Polarity::Negative))
        || NEGATIVE_NAMES.iter().any(|name| whole.contains(name))
        || (words.iter().any(|word| begins(word, &ASKING)) && words.iter().any(is_asked))
}

/// Returns a name without case and separators, so that different spellings are equal.
pub(crate) fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Splits a name into words in lower case: `disallowedTools`, `disallowed_tools` and `Disallowed-Tools` have the same
/// two words.
pub(super) fn split_words(name: &str) -> Vec<String> {
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

/// Returns the way in which a word restricts, if it does.
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
pub(crate) fn switch(value: &Yaml) -> Option<bool> {
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
    /// The action is allowed.
    Allow,
    /// The action is forbidden.
    Deny,
    /// A person must agree first.
    Ask,
    /// The action is allowed in part.
    Part,
}

/// Reads a right. Returns `None` for any other value.
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

/// Returns true if a text forbids all changes, for any subject.
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

/// Returns true if a mode forbids all changes.
pub(super) fn is_readonly_mode(text: &str) -> bool {
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

/// Returns pi's tools for a word, if there are any.
pub(super) fn tools_of(word: &str) -> Vec<&str> {
    let tool = pi_tool_name(word);
    if is_pi_tool(tool) { vec![tool] } else { tools_for_word(word).to_vec() }
}

/// Returns true if forbidding these tools forbids all changes.
pub(super) fn includes_write_tools(tools: &[&str]) -> bool {
    tools.iter().any(|tool| WRITE_TOOLS.contains(tool))
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
            assert_eq!(split_words(name), ["disallowed", "tools"], "{name}");
            assert_eq!(folded(name), "disallowedtools", "{name}");
        }
        assert_eq!(split_words("noWrite"), ["no", "write"]);
    }

    #[test]
    fn words_that_only_begin_like_a_negation_are_harmless() {
        for word in
            ["note", "notes", "node", "normal", "now", "notify", "blocking", "model", "tools", "canvas"]
        {
            assert_eq!(polarity(word), None, "{word}");
        }
    }
}
