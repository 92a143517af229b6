//! Templates with names in braces, and name patterns in which `*` stands for any characters, including none.

use regex::{Captures, Regex};

/// The replacement for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Text within a line.
    Inline(&'a str),
    /// Text on lines of its own.
    Block(&'a str),
}

/// Replaces each `{name}` by the value of that name. `{{name}}` stands for a literal `{name}`. Braces around any other
/// text stay unchanged. Values are not expanded again.
#[must_use]
pub fn fill<'a>(template: &str, names: &[&str], value: impl Fn(&str) -> Value<'a>) -> String {
    let fill = |found: &Captures<'_>| match found.name("place") {
        Some(name) => match value(name.as_str()) {
            Value::Inline(text) => text.to_owned(),
            Value::Block(text) => {
                let place = found.get_match().range();
                let before = &template[..place.start];
                let after = &template[place.end..];
                let begins = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
                let ends = if after.is_empty() || after.starts_with('\n') { "" } else { "\n" };
                format!("{begins}{text}{ends}")
            }
        },
        // Remove one pair of braces.
        None => found[0][1..found[0].len() - 1].to_owned(),
    };
    placeholder_pattern(names).replace_all(template, fill).into_owned()
}

/// Returns the first of these names that the template uses.
#[must_use]
pub fn first_placeholder<'a>(template: &'a str, names: &[&str]) -> Option<&'a str> {
    placeholder_pattern(names)
        .captures_iter(template)
        .find_map(|found| found.name("place"))
        .map(|name| name.as_str())
}

/// Builds a pattern for `{{name}}`, and for `{name}` with the name in the group `place`.
fn placeholder_pattern(names: &[&str]) -> Regex {
    let names = names.iter().map(|name| regex::escape(name)).collect::<Vec<_>>().join("|");
    Regex::new(&format!(r"\{{\{{(?:{names})\}}\}}|\{{(?P<place>{names})\}}")).expect("the names are escaped")
}

/// Returns true if `pattern` matches every name that `item` matches. Only a `*` in `pattern` matches a `*` in `item`.
#[must_use]
pub fn covers(pattern: &str, item: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = item.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(index) => rest = &rest[index + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns true if `pattern` and `item` may match a common name. `item` has at most one `*`, at its end. If both are
/// patterns, the answer may be a false positive.
#[must_use]
pub fn overlaps(pattern: &str, item: &str) -> bool {
    let Some(prefix) = item.strip_suffix('*') else { return covers(pattern, item) };
    let literal = pattern.split('*').next().unwrap_or_default();
    literal.starts_with(prefix) || (pattern.contains('*') && prefix.starts_with(literal))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["previous", "task"];

    #[test]
    fn names_are_filled_and_other_text_stays() {
        let value = |name: &str| Value::Inline(if name == "previous" { "{task} é" } else { "" });
        for (template, filled) in [
            ("", ""),
            ("no names", "no names"),
            ("look at {previous}.", "look at {task} é."),
            ("{previous}{previous}", "{task} é{task} é"),
            ("{{previous}}", "{previous}"),
            ("{{{previous}}}", "{{previous}}"),
            ("{ previous } {previous", "{ previous } {previous"),
            ("{other} {{other}} {}", "{other} {{other}} {}"),
            ("é{é{previous}é", "é{é{task} éé"),
            ("fn main() { let a = {task}; }", "fn main() { let a = ; }"),
        ] {
            assert_eq!(fill(template, &NAMES, value), filled, "{template}");
        }
    }

    #[test]
    fn a_block_has_its_own_lines() {
        for (template, filled) in [
            ("{previous}", "a\nb"),
            ("look: {previous}.", "look: \na\nb\n."),
            ("look:\n{previous}\nand go", "look:\na\nb\nand go"),
            ("{previous}{previous}", "a\nb\n\na\nb"),
        ] {
            assert_eq!(fill(template, &NAMES, |_| Value::Block("a\nb")), filled, "{template}");
        }
    }

    #[test]
    fn an_escaped_name_is_not_a_placeholder() {
        assert_eq!(first_placeholder("{{previous}} {task}", &NAMES), Some("task"));
        assert_eq!(first_placeholder("{{previous}} { task }", &NAMES), None);
    }

    #[test]
    fn covers_has_no_false_positives_and_overlaps_has_no_false_negatives() {
        for (pattern, item, covered, overlapping) in [
            ("read", "read", true, true),
            ("read", "readx", false, false),
            ("*", "read", true, true),
            ("*", "*", true, true),
            ("read", "*", false, true),
            ("web_*", "web_search", true, true),
            ("*_content", "fetch_content", true, true),
            ("a*a", "a", false, false),
            ("a*b*c", "axxbxxc", true, true),
            ("a*b*c", "axxc", false, false),
            ("mcp__*", "mcp__git__*", true, true),
            ("mcp__git__push", "mcp__git__*", false, true),
            ("mcp__git__push", "mcp__web__*", false, false),
            ("mcp__*__push", "mcp__git__*", false, true),
            ("", "read", false, false),
        ] {
            assert_eq!(covers(pattern, item), covered, "{pattern} covers {item}");
            assert_eq!(overlaps(pattern, item), overlapping, "{pattern} overlaps {item}");
        }
    }
}
