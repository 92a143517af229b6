//! Characters that nobody sees and a model reads: zero-width characters, marks, overrides and isolates of direction, tags,
//! and variation selectors. A selector stays on an emoji, and a joiner between characters of a script or in an emoji,
//! where they change what is seen.

/// Length of the invisible character at the start of `rest`, if it is to go. `before` is what stays before it, or the
/// end of that.
pub(super) fn length_at(before: &str, rest: &str) -> Option<usize> {
    let mut chars = rest.chars();
    let this = chars.next()?;
    if !is_invisible(this) {
        return None;
    }
    let stays = match this {
        '\u{fe0e}' | '\u{fe0f}' => before.chars().next_back().is_some_and(takes_selector),
        '\u{200c}' | '\u{200d}' => {
            let joins = |other: char| !other.is_ascii() && !other.is_whitespace() && !other.is_control();
            // A selector that stayed belongs to an emoji.
            let is_joined = |other: char| joins(other) && (!is_invisible(other) || other == '\u{fe0f}');
            before.chars().next_back().is_some_and(is_joined)
                && chars.next().is_some_and(|next| joins(next) && !is_invisible(next))
        }
        _ => false,
    };
    (!stays).then(|| this.len_utf8())
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a variation selector may choose between the text and the picture of a character.
fn takes_selector(c: char) -> bool {
    matches!(c,
        '0'..='9' | '#' | '*' | '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
        | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}
