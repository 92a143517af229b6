//! Invisible characters that a model reads.

/// A few of each kind: fillers, vowel signs without a sign, a Mongolian separator, zero-width spaces, direction marks, selectors,
/// annotations, notes without a head, tags.
const HIDDEN: [char; 20] = [
    '\u{ad}',
    '\u{34f}',
    '\u{61c}',
    '\u{115f}',
    '\u{1160}',
    '\u{17b4}',
    '\u{180e}',
    '\u{200b}',
    '\u{200d}',
    '\u{202e}',
    '\u{2062}',
    '\u{3164}',
    '\u{fe0f}',
    '\u{feff}',
    '\u{ffa0}',
    '\u{fffa}',
    '\u{1bca0}',
    '\u{1d173}',
    '\u{e0041}',
    '\u{e0100}',
];

/// Returns the text with hidden characters between its letters.
pub(crate) fn with_hidden(text: &str) -> String {
    let mut hidden = HIDDEN.into_iter().cycle();
    let mut whole: String = text.chars().flat_map(|letter| [Some(letter), hidden.next()]).flatten().collect();
    whole.extend(HIDDEN);
    whole
}

/// Panics if a text, or its `Debug` or JSON form, has any of them.
pub(crate) fn assert_all_seen(label: &str, text: &str) {
    for hidden in HIDDEN {
        let code = format!("{:x}", u32::from(hidden));
        let spelled = [format!("\\u{{{code}}}"), format!("\\u{code:0>4}")];
        let is_there = text.contains(hidden) || spelled.iter().any(|spelled| text.contains(spelled.as_str()));
        assert!(!is_there, "{label}: U+{code} in {text:?}");
    }
}
