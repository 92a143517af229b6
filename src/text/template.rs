//! Templates with names in braces.

/// Part of a template.
enum Part<'a> {
    Text(&'a str),
    /// A name to be replaced by its value.
    Place(&'a str),
}

/// Replaces each `{name}` by the value of that name, or by nothing when it has none. `{{name}}` stands for a literal
/// `{name}`; braces around anything else stay as they are. Values are not expanded again.
#[must_use]
pub fn fill<'a>(template: &str, names: &[&str], value: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut filled = String::with_capacity(template.len());
    for part in parts(template, names) {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Place(name) => filled.push_str(value(name).unwrap_or_default()),
        }
    }
    filled
}

/// The first of these names that the template uses.
#[must_use]
pub fn first_place<'a>(template: &'a str, names: &[&str]) -> Option<&'a str> {
    parts(template, names).find_map(|part| match part {
        Part::Place(name) => Some(name),
        Part::Text(_) => None,
    })
}

/// The parts of a template, in order.
fn parts<'a>(template: &'a str, names: &[&str]) -> impl Iterator<Item = Part<'a>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((part, after)) = special(rest, names) {
            rest = after;
            return Some(part);
        }
        // Up to the next brace that could be one of ours.
        let next = rest.char_indices().skip(1).find(|(_, character)| *character == '{');
        let (text, after) = rest.split_at(next.map_or(rest.len(), |(index, _)| index));
        rest = after;
        Some(Part::Text(text))
    })
}

/// The name or literal that the text begins with, and the rest.
fn special<'a>(text: &'a str, names: &[&str]) -> Option<(Part<'a>, &'a str)> {
    let inner = text.strip_prefix('{')?;
    let (inner, end) = inner.strip_prefix('{').map_or((inner, "}"), |inner| (inner, "}}"));
    let length =
        names.iter().find(|name| inner.starts_with(**name) && inner[name.len()..].starts_with(end))?.len();
    let after = &inner[length + end.len()..];
    if end.len() == 1 {
        return Some((Part::Place(&inner[..length]), after));
    }
    // One pair of braces less.
    Some((Part::Text(&text[1..=length + 2]), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["previous", "task"];

    #[test]
    fn names_are_filled_and_all_else_stays() {
        let value = |name: &str| (name == "previous").then_some("{task} é");
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
    fn a_literal_is_no_place() {
        assert_eq!(first_place("{{previous}} {task}", &NAMES), Some("task"));
        assert_eq!(first_place("{{previous}} { task }", &NAMES), None);
    }
}
