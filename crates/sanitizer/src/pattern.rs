//! Name patterns in which `*` stands for any characters, including none.

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
