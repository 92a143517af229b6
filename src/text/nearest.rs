//! Suggestions for misspelled names.

/// Longer input is no typing mistake, and the comparison takes quadratic time.
const MAX_CHARS: usize = 64;

/// The candidate with the smallest edit distance to `name`, if that is small enough for a typing mistake.
///
/// Ignores case. The first of several equally near candidates wins.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let chars = name.chars().count();
    if chars == 0 || chars > MAX_CHARS {
        return None;
    }
    let name = name.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = strsim::osa_distance(&name, &candidate.to_lowercase());
        let longer = chars.max(candidate.chars().count());
        // A third of the letters may be wrong, but never so many that nothing typed is left.
        let near = distance <= (longer / 3).max(1) && distance < chars.min(candidate.chars().count());
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_slip_of_the_finger_gets_a_suggestion() {
        let names = ["explorer", "researcher", "reviewer", "qa"];
        for (typed, expected) in [
            ("exploer", Some("explorer")),
            ("Explorer", Some("explorer")),
            ("reveiwer", Some("reviewer")),
            ("review", Some("reviewer")),
            ("qa1", Some("qa")),
            ("z", None),
            ("worker", None),
            ("planner", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), expected, "{typed}");
        }
        assert_eq!(nearest(&"explorer".repeat(20), names), None);
    }
}
