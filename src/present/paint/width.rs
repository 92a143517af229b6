//! The columns that text takes in a terminal.
//!
//! pi ends if an extension draws a line wider than the terminal, and it measures with `visibleWidth` of its terminal library. So
//! these are the same rules, and `__test__/extension/width.spec.ts` compares the results. No crate has all of them: the
//! terminal's cells for the marks of Indic scripts and the known sequences of emoji are pi's own choice.

use std::borrow::Cow;
use std::ops::Range;

use unicode_properties::{
    EmojiStatus, GeneralCategory, GeneralCategoryGroup, UnicodeEmoji, UnicodeGeneralCategory,
};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// The columns of a tab.
const TAB: &str = "   ";
const ESCAPE: char = '\u{1b}';
/// Asks for the coloured form of the character before it.
const EMOJI_FORM: char = '\u{fe0f}';
/// Joins two emoji into one.
const JOINER: char = '\u{200d}';

/// Returns the columns of a text. Control sequences take none.
#[must_use]
pub fn width_of(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    // A mark after a tab belongs to its last blank.
    let text = if text.contains('\t') { Cow::Owned(text.replace('\t', TAB)) } else { Cow::Borrowed(text) };
    without_sequences(&text).graphemes(true).map(grapheme_width).sum()
}

/// Returns the longest part of a text that lies within these columns. A character that is only partly within them is left out.
pub(crate) fn slice(text: &str, columns: Range<usize>) -> &str {
    if is_plain(text) {
        return &text[columns.start.min(text.len())..columns.end.min(text.len())];
    }
    let mut column = 0;
    let mut start = None;
    let mut end = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        let next = column + grapheme_width(grapheme);
        if column >= columns.end || next > columns.end {
            break;
        }
        if column >= columns.start {
            start.get_or_insert(at);
            end = at + grapheme.len();
        }
        column = next;
    }
    start.map_or("", |start| &text[start..end])
}

/// Returns true if each byte is one column.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn without_sequences(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPE) {
        // What only begins like a sequence is text.
        let end = at + sequence_len(&rest[at..]).unwrap_or(0);
        visible.push_str(&rest[..at]);
        if end == at {
            visible.push(ESCAPE);
            rest = &rest[at + ESCAPE.len_utf8()..];
        } else {
            rest = &rest[end..];
        }
    }
    visible.push_str(rest);
    Cow::Owned(visible)
}

/// Returns the length of the control sequence at the beginning of a text: a style, a movement, a link or a title.
fn sequence_len(text: &str) -> Option<usize> {
    let body = text.get(2..)?;
    let end = match text.as_bytes().get(1)? {
        b'[' => body.find(['m', 'G', 'K', 'H', 'J'])? + 1,
        b']' | b'_' => match (body.find('\u{7}'), body.find("\u{1b}\\")) {
            (Some(bell), Some(escape)) if escape < bell => escape + 2,
            (Some(bell), _) => bell + 1,
            (None, escape) => escape? + 2,
        },
        _ => return None,
    };
    Some(2 + end)
}

/// Returns the columns of a character, as a reader counts them.
pub(super) fn grapheme_width(grapheme: &str) -> usize {
    if let [byte] = grapheme.as_bytes() {
        return usize::from(matches!(byte, b' '..=b'~'));
    }
    if grapheme.chars().all(is_spacing_mark) {
        return grapheme.chars().count();
    }
    if is_emoji_sequence(grapheme) {
        return 2;
    }
    let mut visible = grapheme.chars().skip_while(|&part| is_invisible(part));
    let Some(base) = visible.next() else { return 0 };
    // Many terminals draw half a flag as wide as a whole one.
    if matches!(base, '\u{1f1e6}'..='\u{1f1ff}') {
        return 2;
    }
    let mut width = char_width(base);
    let mut follows_mark = false;
    for part in visible {
        if is_spacing_mark(part) {
            width += 1;
            follows_mark = false;
        } else if is_mark(part) {
            follows_mark = true;
        } else if !is_invisible(part) {
            if follows_mark || matches!(part, '\u{ff00}'..='\u{ffef}') {
                width += char_width(part);
            } else if matches!(part, '\u{e33}' | '\u{eb3}') {
                width += 1;
            }
            follows_mark = false;
        }
    }
    width
}

/// Returns the columns of a visible character alone.
fn char_width(part: char) -> usize {
    match part {
        // Two signs of Khmer that consist of several letters.
        '\u{17a4}' | '\u{17d8}' => 1,
        _ => part.width().unwrap_or(1).clamp(1, 2),
    }
}

fn is_mark(part: char) -> bool {
    part.general_category_group() == GeneralCategoryGroup::Mark
}

/// Returns true for marks with a column of their own.
fn is_spacing_mark(part: char) -> bool {
    let is_exception = matches!(part, '\u{1734}' | '\u{302e}' | '\u{302f}');
    let is_narrow_by_name_only = matches!(
        part,
        '\u{65f}'
            | '\u{f7f}'
            | '\u{102b}'
            | '\u{102c}'
            | '\u{1031}'
            | '\u{1033}'..='\u{1035}'
            | '\u{1038}'
            | '\u{103a}'..='\u{103e}'
    );
    is_narrow_by_name_only || (part.general_category() == GeneralCategory::SpacingMark && !is_exception)
}

/// Returns true for marks, control characters, and characters that a program draws only if it does not know them.
fn is_invisible(part: char) -> bool {
    let is_ignorable = matches!(
        part,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    );
    is_ignorable
        || is_mark(part)
        || matches!(part.general_category(), GeneralCategory::Control | GeneralCategory::Format)
}

fn is_tone(part: char) -> bool {
    matches!(part, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Returns true for the recommended sequences of emoji that are not as wide as the sum of their parts.
fn is_emoji_sequence(grapheme: &str) -> bool {
    // The longest one is a kiss of two people with a tone each.
    let parts: Vec<char> = grapheme.chars().take(11).collect();
    match *parts {
        [base, EMOJI_FORM] => !base.is_ascii() && base.is_emoji_char(),
        [base, tone] if is_tone(tone) => matches!(
            base.emoji_status(),
            EmojiStatus::EmojiModifierBase | EmojiStatus::EmojiPresentationAndModifierBase
        ),
        ['0'..='9' | '#' | '*', EMOJI_FORM, '\u{20e3}']
        | ['❤', EMOJI_FORM, JOINER, '🔥' | '🩹']
        | ['⛓', EMOJI_FORM, JOINER, '💥']
        | ['🏳', EMOJI_FORM, JOINER, '🌈']
        | ['🏳', EMOJI_FORM, JOINER, '⚧', EMOJI_FORM]
        | ['👁', EMOJI_FORM, JOINER, '🗨', EMOJI_FORM]
        | ['🏃' | '🚶' | '🧎', JOINER, '♀' | '♂', EMOJI_FORM, JOINER, '➡', EMOJI_FORM] => true,
        ['⛹' | '🏋' | '🏌' | '🕵', form, JOINER, '♀' | '♂', EMOJI_FORM] => {
            form == EMOJI_FORM || is_tone(form)
        }
        ['🏃' | '🚶' | '🧎', tone, JOINER, '♀' | '♂', EMOJI_FORM, JOINER, '➡', EMOJI_FORM] => {
            is_tone(tone)
        }
        [one, JOINER, '❤', EMOJI_FORM, JOINER, other]
        | [one, JOINER, '❤', EMOJI_FORM, JOINER, '💋', JOINER, other] => is_couple(one, other),
        [one, tone, JOINER, '❤', EMOJI_FORM, JOINER, other, other_tone]
        | [one, tone, JOINER, '❤', EMOJI_FORM, JOINER, '💋', JOINER, other, other_tone] => {
            let are_adults = one == '🧑' && other == '🧑' && tone != other_tone;
            is_tone(tone) && is_tone(other_tone) && (are_adults || is_couple(one, other))
        }
        _ => false,
    }
}

/// Returns true for two people in the recommended order.
fn is_couple(one: char, other: char) -> bool {
    matches!((one, other), ('👩', '👨' | '👩') | ('👨', '👨'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_columns_of_a_terminal() {
        for (text, columns) in [
            ("", 0),
            ("abc", 3),
            ("世界", 4),
            ("e\u{301}", 1),
            ("a\tb", 5),
            ("\u{1b}[31mred\u{1b}[39m", 3),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}", 4),
            ("\u{1b}[31", 3),
            ("🚀", 2),
            ("❤", 1),
            ("❤️", 2),
            ("1️⃣", 2),
            ("👩‍👩‍👧‍👦", 2),
            ("👩‍❤️‍👨", 2),
            ("🇩🇪🇩", 4),
            ("नि", 2),
            ("\u{200b}\u{7}", 0),
        ] {
            assert_eq!(width_of(text), columns, "{text:?}");
        }
    }

    #[test]
    fn a_slice_leaves_out_half_a_character() {
        assert_eq!(slice("a世界b", 1..4), "世");
        assert_eq!(slice("a世界b", 2..6), "界b");
        assert_eq!(slice("abc", 1..9), "bc");
        assert_eq!(slice("世", 0..1), "");
    }
}
