//! Lets a project's file make a setting stricter, and nothing else.

use std::ffi::OsStr;
use std::path::{Component, Path};

use serde_json::Value;

use super::keys::{Key, Kind, Tighten};
use super::paths::ConfigPaths;
use files::{below_home, canonical};

/// A project may not hide these names, and no name that begins with `.git`. git and permission hooks read rules from
/// such files, and a hidden file counts as empty.
const NEVER_HIDDEN: [&str; 7] = [".hg", ".jj", ".svn", ".pi", ".agents", ".claude", ".mcp.json"];
/// git's configuration below the home directory. It may be kept in a project, behind a link.
const GIT_CONFIGURATION: [&str; 5] =
    [".gitconfig", ".config/git", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

/// The accepted part of a project's value.
#[derive(Debug, PartialEq)]
pub(super) enum Tightened {
    /// All of it.
    Whole(Value),
    /// A part of it, with the reason for refusing the rest.
    Partly(Value, String),
    /// Nothing of it, with the reason.
    Refused(String),
}

/// Merges a project's value into the current one. Both have passed the check of their key.
pub(super) fn tighten(key: &Key, current: &Value, wanted: Value) -> Tightened {
    if *current == wanted {
        return Tightened::Whole(wanted);
    }
    let allowed = match key.project {
        Tighten::Never => return Tightened::Refused("a project file may not set it".to_owned()),
        Tighten::More => return Tightened::Whole(union(current, &wanted)),
        Tighten::Fewer if matches!((current, &wanted), (Value::Bool(_), _) | (_, Value::Bool(_))) => {
            // The values are all, none, or names. None is always fewer, and every value is at most all.
            wanted == Value::Bool(false) || *current == Value::Bool(true)
        }
        Tighten::Fewer => return intersection(current, wanted),
        Tighten::Only(strict) => wanted == Value::Bool(strict),
        Tighten::Smaller => number(&wanted) <= number(current),
        Tighten::SmallerLimit => {
            number(&wanted) > 0.0 && (number(current) <= 0.0 || number(&wanted) <= number(current))
        }
        Tighten::Later => rank(key.kind, &wanted) >= rank(key.kind, current),
    };
    if allowed {
        return Tightened::Whole(wanted);
    }
    Tightened::Refused(match key.project {
        Tighten::Only(strict) => format!("a project file may only set it to `{strict}`"),
        _ => format!("a project file may only make it stricter than `{current}`"),
    })
}

/// Returns a path without links if the project of this file may hide it: only in the project, and nothing in which git
/// or a permission hook may find its rules. Blocks.
pub(super) fn hideable(path: &str, file: &Path, user: &ConfigPaths) -> Option<String> {
    let home = user.home.as_deref();
    let project = canonical(file.parent()?.parent()?);
    let path = canonical(&below_home(path, home)?);
    let below = path.strip_prefix(&project).ok().filter(|below| !below.as_os_str().is_empty())?;
    let git = home.into_iter().flat_map(|home| GIT_CONFIGURATION.map(|name| home.join(name)));
    let mut users = git.chain(user.user.parent().map(Path::to_owned)).map(|own| canonical(&own));
    if home.is_some_and(|home| canonical(home).starts_with(&project))
        || users.any(|own| own.starts_with(&path) || path.starts_with(&own))
    {
        return None;
    }
    let is_hideable = |part| matches!(part, Component::Normal(name) if !is_never_hidden(name));
    if !below.components().all(is_hideable) {
        return None;
    }
    path.to_str().map(str::to_owned)
}

fn is_never_hidden(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    name.starts_with(".git") || NEVER_HIDDEN.contains(&name.as_str())
}

/// Converts a number. The result is exact, because the keys bound every number.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

fn rank(kind: Kind, value: &Value) -> Option<usize> {
    match kind {
        Kind::BoolOr(_) => Some(value.as_bool().map_or(0, |is_on| if is_on { 1 } else { 2 })),
        Kind::Choice(choices) => choices.iter().position(|choice| Some(*choice) == value.as_str()),
        _ => None,
    }
}

fn union(current: &Value, wanted: &Value) -> Value {
    let mut all = items(current);
    for item in items(wanted) {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    Value::Array(all)
}

/// Returns each entry of one side that the other side covers. Entries may be patterns.
fn intersection(current: &Value, wanted: Value) -> Tightened {
    if current.is_null() {
        return Tightened::Whole(wanted);
    }
    let current = items(current);
    let wanted = items(&wanted);
    let covered = |item: &Value, by: &[Value]| by.iter().any(|pattern| covers(pattern, item));
    let (mut allowed_items, outside): (Vec<Value>, Vec<Value>) =
        wanted.iter().cloned().partition(|item| covered(item, &current));
    for item in &current {
        if covered(item, &wanted) && !allowed_items.contains(item) {
            allowed_items.push(item.clone());
        }
    }
    let outside: Vec<Value> =
        outside.into_iter().filter(|item| !current.iter().any(|known| covers(item, known))).collect();
    if outside.is_empty() {
        return Tightened::Whole(Value::Array(allowed_items));
    }
    let why = format!(
        "a project file may only remove entries; {} is not among {}",
        Value::Array(outside),
        Value::Array(current)
    );
    Tightened::Partly(Value::Array(allowed_items), why)
}

fn items(list: &Value) -> Vec<Value> {
    list.as_array().cloned().unwrap_or_default()
}

fn covers(pattern: &Value, item: &Value) -> bool {
    pattern.as_str().zip(item.as_str()).is_some_and(|(pattern, item)| sanitizer::covers(pattern, item))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::keys::key;
    use super::*;

    #[test]
    fn a_project_never_loosens() {
        for (path, current, wanted) in [
            ("enabled", json!(false), json!(true)),
            ("allowWrite", json!(false), json!(true)),
            ("allowWrite", json!(false), json!("all")),
            ("allowWrite", json!(true), json!("all")),
            ("sandbox.writable", json!([]), json!(["~/.npm"])),
            ("sandbox.writable", json!(["~/.npm"]), json!([])),
            ("allowLspTools", json!(false), json!(true)),
            ("sandbox.metadata", json!(true), json!(false)),
            ("maxDepth", json!(0), json!(1)),
            ("timeoutMs", json!(900), json!(901)),
            ("timeoutMs", json!(900), json!(0)),
            ("budget.maxCost", json!(0.5), json!(0.51)),
            ("budget.maxCost", json!(0.5), json!(0)),
            ("output.maxBytes", json!(300), json!(301)),
            ("projectAgentPolicy", json!("deny"), json!("confirm")),
            ("projectAgentPolicy", json!("confirm"), json!("allow")),
            ("nonInteractivePolicy", json!("deny"), json!("allow")),
            ("sandbox.mode", json!("required"), json!("auto")),
            ("sandbox.network", json!("off"), json!("on")),
            ("piCommand", json!(null), json!(["evil"])),
            ("env", json!({}), json!({"NODE_OPTIONS": "--require evil"})),
            ("model", json!(null), json!("x/y")),
        ] {
            let key = key(path).expect("the key exists");
            let found = tighten(key, &current, wanted.clone());
            assert!(matches!(found, Tightened::Refused(_)), "{path}: {current} to {wanted}: {found:?}");
        }
    }

    #[test]
    fn a_project_tightens() {
        for (path, current, wanted, expected) in [
            ("enabled", json!(true), json!(false), json!(false)),
            ("maxDepth", json!(1), json!(0), json!(0)),
            ("timeoutMs", json!(0), json!(5), json!(5)),
            ("toolTimeoutMs", json!(10), json!(5), json!(5)),
            ("budget.maxCost", json!(0), json!(0.5), json!(0.5)),
            ("projectAgentPolicy", json!("allow"), json!("deny"), json!("deny")),
            ("sandbox.mode", json!("auto"), json!("required"), json!("required")),
            ("sandbox.network", json!("on"), json!("off"), json!("off")),
            ("sandbox.hidden", json!(["~/.ssh"]), json!(["~/notes"]), json!(["~/.ssh", "~/notes"])),
            (
                "sandbox.env",
                json!(["AWS_*"]),
                json!(["AWS_SECRET_ACCESS_KEY"]),
                json!(["AWS_SECRET_ACCESS_KEY"]),
            ),
            ("allowWrite", json!(false), json!(false), json!(false)),
            ("allowWrite", json!("all"), json!(true), json!(true)),
            ("allowWrite", json!("all"), json!(false), json!(false)),
            ("allowWrite", json!(true), json!(false), json!(false)),
            ("tools.deny", json!(["a"]), json!(["b", "a"]), json!(["a", "b"])),
            ("tools.allow", json!(null), json!(["a"]), json!(["a"])),
            ("tools.allow", json!(["a", "b"]), json!(["b"]), json!(["b"])),
            ("tools.allow", json!(["web_*"]), json!(["web_search"]), json!(["web_search"])),
            ("tools.allow", json!(["web_search", "bash"]), json!(["web_*"]), json!(["web_search"])),
            ("tools.allow", json!(["read"]), json!([]), json!([])),
        ] {
            let key = key(path).expect("the key exists");
            assert_eq!(
                tighten(key, &current, wanted.clone()),
                Tightened::Whole(expected),
                "{path}: {wanted}"
            );
        }
    }

    #[test]
    fn only_the_allowed_part_of_a_list_counts() {
        let key = key("tools.allow").expect("the key exists");
        let found = tighten(key, &json!(["read", "grep"]), json!(["read", "bash"]));
        assert!(
            matches!(&found, Tightened::Partly(allowed_items, why) if *allowed_items == json!(["read"]) && why.contains("bash"))
        );
    }
}
