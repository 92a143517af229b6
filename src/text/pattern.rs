//! Names with `*`, which stands for any characters, none included.

/// Whether `pattern` matches every name that `item` stands for. A `*` in `item` is only matched by one in `pattern`.
pub(crate) fn covers(pattern: &str, item: &str) -> bool {
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

/// Whether `pattern` may match some name that `item` stands for, where `item` has a `*` at its end or none. Errs towards
/// yes when both are patterns.
pub(crate) fn overlaps(pattern: &str, item: &str) -> bool {
    let Some(prefix) = item.strip_suffix('*') else { return covers(pattern, item) };
    let literal = pattern.split('*').next().unwrap_or_default();
    literal.starts_with(prefix) || (pattern.contains('*') && prefix.starts_with(literal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_never_cover_more_and_never_overlap_less_than_they_say() {
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
