//! Divides frontmatter that is not YAML into its fields, so that each field can be read on its own.
//!
//! A description such as `Use when: …` makes the whole frontmatter invalid YAML. Other harnesses read it line by line.

/// The kind of a field. It decides where the previous field ends, and if the value may be any text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Text of any length, with examples that may look like fields.
    Prose,
    /// A single value. `restricts` is set if it may forbid something to the agent.
    Value {
        /// True if the field must not be overlooked.
        restricts: bool,
    },
    /// A field of unknown meaning.
    Unknown,
}

/// One field and the lines that belong to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    /// The field's name without quotes.
    pub(super) name: &'a str,
    /// All lines of the field, including its name.
    pub(super) text: &'a str,
    /// The text after the colon.
    pub(super) value: &'a str,
    /// The first line, counted from 0.
    pub(super) line: usize,
}

/// A line that belongs to no field, counted from 0.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StrayLine {
    pub(super) line: usize,
}

/// Divides the text into fields. A field begins with `name:` in the first column. In prose only a name with a known
/// role begins a field, and only in small letters, because an example may contain `Context:`. `role` gets the name and
/// the rest of the line.
pub(super) fn parts<'a>(
    text: &'a str,
    role: impl Fn(&str, &str) -> Role,
) -> Result<Vec<Part<'a>>, StrayLine> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    let mut start = 0;
    let mut offset = 0;
    for (line, content) in text.split_inclusive('\n').enumerate() {
        let begins = field_of(content).filter(|(name, value)| {
            let is_in_prose = parts.last().is_some_and(|last| role(last.name, "") == Role::Prose);
            !is_in_prose || (role(name, value) != Role::Unknown && !name.starts_with(char::is_uppercase))
        });
        if let Some((name, value)) = begins {
            if let Some(last) = parts.last_mut() {
                extend(last, text, start, offset);
            }
            parts.push(Part { name, text: content, value, line });
            start = offset;
        } else if parts.is_empty() && !is_blank_or_comment(content) {
            return Err(StrayLine { line });
        }
        offset += content.len();
    }
    if let Some(last) = parts.last_mut() {
        extend(last, text, start, text.len());
    }
    Ok(parts)
}

/// Extends a part by all lines up to `end`.
fn extend<'a>(part: &mut Part<'a>, text: &'a str, start: usize, end: usize) {
    part.text = &text[start..end];
    part.value = part.text.split_once(':').map_or("", |(_, value)| value);
}

/// Returns the name and the value of a line that looks like a field.
fn field_of(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim_end();
    let quote = |quote| name.strip_prefix(quote)?.strip_suffix(quote);
    let name = quote('"').or_else(|| quote('\'')).unwrap_or(name);
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (is_name && (value.is_empty() || value.starts_with(char::is_whitespace))).then_some((name, value))
}

fn is_blank_or_comment(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

impl<'a> Part<'a> {
    /// Returns the value as plain text: without the blanks around it, and without one pair of quotes.
    pub(super) fn literal(&self) -> &'a str {
        let text = self.value.trim();
        let quote = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
        quote('"').or_else(|| quote('\'')).unwrap_or(text)
    }

    /// Returns the next line of the part that is neither blank nor a comment, counted from 0.
    pub(super) fn next_content_line(&self) -> Option<usize> {
        let mut lines = self.text.split('\n').enumerate().skip(1);
        lines.find(|(_, line)| !is_blank_or_comment(line)).map(|(index, _)| self.line + index)
    }

    /// Returns the value of a part with one line.
    pub(super) fn first_line(&self) -> &'a str {
        self.value.split('\n').next().unwrap_or_default()
    }

    /// Finds lines that look like fields in the later lines of this part. Lines are counted from 0.
    pub(super) fn inner_fields(&self) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
        let lines = self.text.split('\n').enumerate().skip(1);
        lines.filter_map(|(index, line)| {
            let (name, value) = field_of(line.trim_start().trim_start_matches("- "))?;
            Some((self.line + index, name, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str, value: &str) -> Role {
        match name {
            "editing" if value.trim() == "false" => Role::Value { restricts: true },
            "description" => Role::Prose,
            "tools" | "readonly" => Role::Value { restricts: true },
            "model" => Role::Value { restricts: false },
            _ => Role::Unknown,
        }
    }

    #[test]
    fn prose_ends_only_at_a_known_field() {
        let text = "name: a\ndescription: Use when: b\n\nuser: hello\n  tools: read\n\"model\": x\nother: y\ntools: Read\n";
        let parts = parts(text, role).expect("the text has fields");
        let found: Vec<_> = parts.iter().map(|part| (part.name, part.literal(), part.line)).collect();
        assert_eq!(
            found,
            [
                ("name", "a", 0),
                ("description", "Use when: b\n\nuser: hello\n  tools: read", 1),
                ("model", "x", 5),
                ("other", "y", 6),
                ("tools", "Read", 7)
            ]
        );
        assert_eq!(
            parts[1].inner_fields().collect::<Vec<_>>(),
            [(3, "user", " hello"), (4, "tools", " read")]
        );
        assert_eq!(parts[1].next_content_line(), Some(3));
    }

    #[test]
    fn a_known_value_makes_a_line_in_prose_a_field() {
        let parts =
            parts("description: Use: a\nediting: true\nediting: false\n", role).expect("the text has fields");
        let found: Vec<_> = parts.iter().map(|part| (part.name, part.literal())).collect();
        assert_eq!(found, [("description", "Use: a\nediting: true"), ("editing", "false")]);
    }

    #[test]
    fn a_line_before_the_first_field_is_an_error() {
        assert_eq!(parts("# note\n\nsome text\nname: a\n", role), Err(StrayLine { line: 2 }));
        assert_eq!(parts("", role), Ok(Vec::new()));
    }
}
