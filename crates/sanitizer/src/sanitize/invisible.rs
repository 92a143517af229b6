//! Removes characters that people cannot see but models read: Unicode's default-ignorable characters, and a few more.
//! They stay if they change how other characters look: a selector on an emoji, or a joiner in an emoji or in a script
//! that joins its letters.
//!
//! The blank of Braille stays, because it is a space. [`Visible`](crate::Visible) marks it in a text for a
//! person's decision.

/// Returns the length of the invisible character at the start of `rest`, if it must be removed. `before` is the end of
/// the output so far.
pub(crate) fn length_at(before: &str, rest: &str) -> Option<usize> {
    let mut chars = rest.chars();
    let this = chars.next()?;
    if !is_invisible(this) {
        return None;
    }
    let last = before.chars().next_back();
    let mut next_is = |is: fn(char) -> bool| chars.next().is_some_and(is);
    let stays = match this {
        '\u{fe0f}' if last.is_some_and(is_keycap_base) => next_is(is_keycap),
        '\u{fe0e}' | '\u{fe0f}' => last.is_some_and(is_emoji),
        // Persian writes `ه‍.`, and Malayalam can end a word with a joiner, so the next character does not matter.
        '\u{200d}' => last.is_some_and(joins) || (last.is_some_and(ends_emoji) && next_is(is_emoji)),
        '\u{200c}' => last.is_some_and(joins) && next_is(joins),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => last.is_some_and(is_mongolian),
        '\u{180e}' => last.is_some_and(is_mongolian) && next_is(is_mongolian),
        _ => false,
    };
    (!stays).then(|| this.len_utf8())
}

/// Returns true if the character alone draws nothing.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{16fe4}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true if a selector makes this character a keycap emoji. On any other character a selector would split a
/// secret.
fn is_keycap_base(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

fn is_keycap(c: char) -> bool {
    c == '\u{20e3}'
}

/// Returns true if a variation selector may choose between the text and the picture of a character.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
        | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

fn ends_emoji(c: char) -> bool {
    c == '\u{fe0f}' || is_emoji(c)
}

/// Returns true if a joiner can change the shape of a character: Arabic and related scripts, and the scripts of South
/// and Southeast Asia.
fn joins(c: char) -> bool {
    let is_of_script = matches!(c,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{1b00}'..='\u{1bff}' | '\u{a800}'..='\u{a82f}' | '\u{a840}'..='\u{a8ff}'
        | '\u{a980}'..='\u{a9df}' | '\u{aa60}'..='\u{aa7f}' | '\u{abc0}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{10aff}' | '\u{10d00}'..='\u{10d3f}'
        | '\u{11000}'..='\u{11dff}' | '\u{1e900}'..='\u{1e95f}');
    (is_of_script || is_mongolian(c)) && !is_invisible(c)
}

fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1800}'..='\u{180a}' | '\u{1810}'..='\u{18af}')
}

#[cfg(test)]
mod tests {
    use super::super::without_controls;

    /// The ranges of `Default_Ignorable_Code_Point` in Unicode 17.
    const DEFAULT_IGNORABLE: [(u32, u32); 17] = [
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1_bca0, 0x1_bca3),
        (0x1_d173, 0x1_d17a),
        (0xe_0000, 0xe_0fff),
    ];

    #[test]
    fn invisible_characters_are_removed_from_plain_words() {
        let more = [0xfff9, 0xfffa, 0xfffb, 0x1_3430, 0x1_343f, 0x1_6fe4, 0x1_d159].map(|one| (one, one));
        for code in DEFAULT_IGNORABLE.into_iter().chain(more).flat_map(|(first, last)| first..=last) {
            let hidden = char::from_u32(code).expect("the code is a character");
            for (before, after) in
                [("ab", "cd"), ("п", "а"), ("é", "ü"), ("漢", "字"), ("한", "글"), ("", "")]
            {
                let text = format!("{before}{hidden}{after}");
                assert_eq!(without_controls(&text), format!("{before}{after}"), "{code:x}");
            }
        }
    }

    #[test]
    fn characters_that_change_a_word_or_an_emoji_stay() {
        for (label, text) in [
            ("Persian", "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}"),
            ("a Persian abbreviation", "\u{647}\u{200d}.\u{634}"),
            ("half a letter of Hindi", "\u{915}\u{94d}\u{200d}\u{937}"),
            ("two whole ones", "\u{915}\u{94d}\u{200c}\u{937}"),
            ("Bengali", "\u{9b0}\u{200d}\u{9cd}\u{9af}"),
            ("Sinhala", "\u{dc1}\u{dca}\u{200d}\u{dbb}\u{dd3}"),
            ("the end of a word of Malayalam", "\u{d05}\u{d35}\u{d28}\u{d4d}\u{200d} \u{d05}"),
            ("Mongolian", "\u{1820}\u{180b}\u{182d}\u{180e}\u{1820}"),
            ("a family", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"),
            ("a heart", "\u{2764}\u{fe0f}\u{200d}\u{1f525}"),
            ("a darker hand", "\u{1f468}\u{1f3fd}\u{200d}\u{2695}\u{fe0f}"),
            ("a key", "1\u{fe0f}\u{20e3}"),
            ("Braille", "\u{2803}\u{2800}\u{2803}"),
        ] {
            assert_eq!(without_controls(text), text, "{label}");
        }
    }

    #[test]
    fn characters_without_effect_are_removed_from_such_words_too() {
        for (label, text, expected) in [
            ("two joiners", "\u{645}\u{200c}\u{200c}\u{62e}", "\u{645}\u{200c}\u{62e}"),
            ("one at an end", "\u{645}\u{200c} x", "\u{645} x"),
            ("a filler", "\u{645}\u{3164}\u{62e}", "\u{645}\u{62e}"),
            ("a selector", "\u{915}\u{fe0f}", "\u{915}"),
            ("one of Mongolian", "\u{645}\u{180b}\u{180e}\u{62e}", "\u{645}\u{62e}"),
            ("half a key", "1\u{fe0f}2", "12"),
            ("half an emoji", "\u{1f468}\u{200d}x", "\u{1f468}x"),
        ] {
            let once = without_controls(text);
            assert_eq!(once, expected, "{label}");
            assert_eq!(without_controls(&once), once, "{label}: again");
        }
    }
}
