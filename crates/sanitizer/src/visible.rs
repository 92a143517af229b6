//! Shows a text exactly, and makes its control and invisible characters visible.
//!
//! A person who decides about a text must see all of it, so nothing is redacted or left out here. A control character
//! or an invisible character becomes `<U+200B>`, several in a row `<U+200B x3>`, and a byte that is not UTF-8
//! `<0xFF>`. If a `<` in the text could begin such a mark, it becomes a mark itself, so no text can forge one.
//!
//! Lookalike letters of other scripts are visible and stay; [`Visible::outside_ascii`] lists them.

use std::fmt::{self, Write as _};
use std::ops::Deref;
use std::path::Path;

use super::sanitize::{invisible_length, is_invisible};

/// The maximum length of a run of spaces. Longer runs become a count, so that they cannot push the words after them
/// off a screen.
const MAX_SPACES: usize = 32;
/// The maximum number of line ends in a row. Longer runs become a count.
const MAX_LINE_ENDS: usize = 4;
/// The maximum number of combining marks on one letter. More than any language uses would cover the lines around them.
const MAX_MARKS: usize = 4;
/// The maximum number of non-ASCII characters that are listed.
const MAX_LISTED: usize = 8;

/// Exact text for one person's screen, without invisible characters. Only this file builds it.
///
/// It may contain secrets. Show it to the person who decides about it; never write it to a file or send it to a model.
/// Use [`Sanitized`](super::Sanitized) for those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visible(String);

/// The additional characters that a text keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A command: none, and no letters of right-to-left scripts.
    Command,
    /// A name: none.
    Line,
    /// Lines of a file: line ends.
    Lines,
    /// A line of prose: spaces at the end of the line, and the selectors and joiners of emoji and of joined letters.
    ProseLine,
    /// Prose: as a prose line, and line ends.
    Prose,
    /// Code: as prose, and tabs.
    Code,
}

impl Layout {
    fn has_lines(self) -> bool {
        !matches!(self, Self::Command | Self::Line | Self::ProseLine)
    }

    fn is_strict(self) -> bool {
        matches!(self, Self::Command | Self::Line | Self::Lines)
    }
}

impl Visible {
    /// Shows a command. A terminal may reorder letters of right-to-left scripts and the signs between them, so these
    /// letters become marks.
    #[must_use]
    pub fn command(text: &str) -> Self {
        Self::of(text.as_bytes(), Layout::Command)
    }

    /// Shows a name or one line of a file. Makes line ends visible, too.
    #[must_use]
    pub fn line(text: &str) -> Self {
        Self::of(text.as_bytes(), Layout::Line)
    }

    /// Shows several lines of a file.
    #[must_use]
    pub fn lines(text: &str) -> Self {
        Self::of(text.as_bytes(), Layout::Lines)
    }

    /// Shows a line of prose.
    #[must_use]
    pub fn prose_line(text: &str) -> Self {
        Self::of(text.as_bytes(), Layout::ProseLine)
    }

    /// Shows prose and keeps its line ends.
    #[must_use]
    pub fn prose(text: &str) -> Self {
        Self::of(text.as_bytes(), Layout::Prose)
    }

    /// Shows part of a file with its tabs.
    #[must_use]
    pub fn code(bytes: &[u8]) -> Self {
        Self::of(bytes, Layout::Code)
    }

    /// Shows a path.
    #[must_use]
    pub fn path(path: &Path) -> Self {
        Self::of(path.as_os_str().as_encoded_bytes(), Layout::Line)
    }

    /// Lists the characters of a command that are neither ASCII nor marks, such as a Cyrillic `р` that looks like a
    /// `p`.
    #[must_use]
    pub fn outside_ascii(text: &str) -> Option<Self> {
        let mut found: Vec<char> = Vec::new();
        for c in text.chars().filter(|c| !c.is_ascii() && is_seen(*c) && !is_right_to_left(*c)) {
            if !found.contains(&c) {
                found.push(c);
            }
        }
        let more = found.len().saturating_sub(MAX_LISTED);
        let listed = |c: &char| format!("{c} U+{:04X}", u32::from(*c));
        let mut listed: Vec<String> = found.iter().take(MAX_LISTED).map(listed).collect();
        if more > 0 {
            listed.push(format!("and {more} more"));
        }
        (!listed.is_empty()).then(|| Self(listed.join(", ")))
    }

    /// Appends a constant text.
    pub fn push_static(&mut self, text: &'static str) {
        self.0.push_str(text);
    }

    /// Appends a label and a text after it.
    pub fn push_labeled(&mut self, label: &'static str, text: &Self) {
        self.push_static(label);
        self.0.push_str(text);
    }

    /// Puts a mark before each line, so that no line looks like one of the dialog.
    #[must_use]
    pub fn with_line_prefix(&self, mark: &'static str) -> Self {
        Self(self.0.split('\n').map(|line| format!("{mark}{line}")).collect::<Vec<_>>().join("\n"))
    }

    /// Returns true if the text has a mark for an invisible character or a byte.
    #[must_use]
    pub fn has_marks(&self) -> bool {
        self.0.contains("<U+") || self.0.contains("<0x")
    }

    /// Returns the text as an owned string.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    fn of(bytes: &[u8], layout: Layout) -> Self {
        let mut shown = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            push(&mut shown, chunk.valid(), layout);
            for byte in chunk.invalid() {
                let _ = write!(shown, "<0x{byte:02X}>");
            }
        }
        Self(shown)
    }
}

impl Deref for Visible {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Visible {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

fn push(shown: &mut String, text: &str, layout: Layout) {
    let mut rest = text;
    // The number of marks on the last letter; `None` without a letter.
    let mut marks = None;
    while let Some(c) = rest.chars().next() {
        let length = c.len_utf8();
        let count = rest.chars().take_while(|next| *next == c).count();
        let run = length * count;
        // Alternating tabs and spaces are padding as well.
        let is_blank = |next: &char| *next == ' ' || (*next == '\t' && layout == Layout::Code);
        let blanks = rest.chars().take_while(is_blank).count();
        let is_line_end = |rest: &str| rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n");
        let stays = match c {
            '\n' if layout.has_lines() => {
                rest = &rest[push_line_ends(shown, rest, layout)..];
                marks = None;
                continue;
            }
            // A Windows line end.
            '\r' if layout.has_lines() && rest.starts_with("\r\n") => {
                rest = &rest[length..];
                continue;
            }
            ' ' | '\t' if blanks > MAX_SPACES => false,
            '\t' => layout == Layout::Code,
            ' ' => !layout.is_strict() || !is_line_end(&rest[run..]),
            '<' => !["U+", "0x"].iter().any(|mark| rest[length..].starts_with(mark)),
            _ if c.is_ascii() => !c.is_ascii_control(),
            _ if layout == Layout::Command && is_right_to_left(c) => false,
            _ if is_invisible(c) => !layout.is_strict() && invisible_length(shown, rest).is_none(),
            _ if is_mark(c) => marks.is_some_and(|marks| marks < MAX_MARKS),
            _ => is_seen(c),
        };
        if !stays {
            shown.push_str(&mark(c, count));
            rest = &rest[run..];
            marks = None;
            continue;
        }
        let is_space = matches!(c, ' ' | '\t');
        marks = match marks {
            Some(marks) if is_mark(c) => Some(marks + 1),
            _ => (!is_space).then_some(0),
        };
        // Handle the spaces of a run together.
        let end = if is_space { run } else { length };
        shown.push_str(&rest[..end]);
        rest = &rest[end..];
    }
}

/// Appends the line ends at the start of a text and returns their length. Many blank lines would hide the text below
/// them.
fn push_line_ends(shown: &mut String, text: &str, layout: Layout) -> usize {
    let mut length = 0;
    let mut count = 0;
    while let Some(end) = ["\n", "\r\n"].iter().find(|end| text[length..].starts_with(**end)) {
        length += end.len();
        count += 1;
    }
    if count > MAX_LINE_ENDS && layout != Layout::Code {
        let _ = write!(shown, "\n{}\n", mark('\n', count - 2));
    } else {
        shown.extend(std::iter::repeat_n('\n', count));
    }
    length
}

/// Returns the mark for a run of an invisible character.
fn mark(c: char, count: usize) -> String {
    let code = u32::from(c);
    if count == 1 { format!("<U+{code:04X}>") } else { format!("<U+{code:04X} x{count}>") }
}

/// Returns true if a terminal draws something for the character.
fn is_seen(c: char) -> bool {
    // Unicode classifies the empty Braille pattern and the blanks among the hieroglyphs as symbols.
    let is_blank = c.is_whitespace() || matches!(c, '\u{2800}' | '\u{13441}' | '\u{13442}');
    let has_glyph = || ['a', c].iter().collect::<String>().escape_debug().count() == 2;
    !is_blank && !is_invisible(c) && has_glyph()
}

/// Returns true for the letters and digits of right-to-left scripts.
fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}

/// Returns true if the character is drawn over the previous one.
fn is_mark(c: char) -> bool {
    // The standard library escapes such a character only at the start of a text.
    !c.is_ascii() && c.escape_debug().count() > 1 && is_seen(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_characters_stay_and_other_characters_are_marked() {
        let zalgo = format!("e{}", "\u{301}".repeat(6));
        let padded = format!("npm test{}; evil", " ".repeat(500));
        for (label, text, expected) in [
            (
                "a command",
                r#"API_KEY=abcd1234;./x.sh "$(a \u{2800})" 'b'"#,
                r#"API_KEY=abcd1234;./x.sh "$(a \u{2800})" 'b'"#,
            ),
            ("letters", "é 漢字 Ω ﬁ 👍🏽", "é 漢字 Ω ﬁ 👍🏽"),
            ("blank Braille", "a\u{2800}\u{2800}\u{2800}b", "a<U+2800 x3>b"),
            ("fillers", "\u{3164}a\u{115f}b\u{1160}c\u{ffa0}d", "<U+3164>a<U+115F>b<U+1160>c<U+FFA0>d"),
            (
                "spaces of Unicode",
                "a\u{a0}b\u{2003}c\u{3000}d\u{1680}e\u{205f}",
                "a<U+00A0>b<U+2003>c<U+3000>d<U+1680>e<U+205F>",
            ),
            ("line and paragraph separators", "a\u{2028}b\u{2029}c\u{85}", "a<U+2028>b<U+2029>c<U+0085>"),
            ("controls", "a\0b\u{1b}[31m\u{7}\u{9b}\u{7f}", "a<U+0000>b<U+001B>[31m<U+0007><U+009B><U+007F>"),
            ("line ends and tabs", "a\nb\r\nc\td", "a<U+000A>b<U+000D><U+000A>c<U+0009>d"),
            (
                "bidirectional controls",
                "\u{202e}a\u{2066}b\u{61c}c\u{200f}",
                "<U+202E>a<U+2066>b<U+061C>c<U+200F>",
            ),
            (
                "zero width",
                "a\u{200b}b\u{200d}c\u{feff}d\u{ad}e\u{2060}",
                "a<U+200B>b<U+200D>c<U+FEFF>d<U+00AD>e<U+2060>",
            ),
            (
                "tags and selectors",
                "\u{e0061}a\u{fe0f}b\u{e0101}❤\u{fe0f}",
                "<U+E0061>a<U+FE0F>b<U+E0101>❤<U+FE0F>",
            ),
            (
                "music and hieroglyphs without a shape",
                "\u{1d159}\u{13441}\u{16fe4}",
                "<U+1D159><U+13441><U+16FE4>",
            ),
            ("private use and no characters", "\u{e000}\u{10ffff}\u{fdd0}", "<U+E000><U+10FFFF><U+FDD0>"),
            ("marks on a letter", "e\u{301}\u{323}a", "e\u{301}\u{323}a"),
            ("too many marks", &zalgo, "e\u{301}\u{301}\u{301}\u{301}<U+0301 x2>"),
            ("marks without a letter", "\u{301}a \u{301}", "<U+0301>a <U+0301>"),
            ("padding", &padded, "npm test<U+0020 x500>; evil"),
            ("spaces at the end", "a  ", "a<U+0020 x2>"),
            ("spaces within", "  a   b", "  a   b"),
            ("a forged mark", "<U+2800><0x20><b", "<U+003C>U+2800><U+003C>0x20><b"),
            ("a replacement character", "\u{fffd}", "\u{fffd}"),
        ] {
            assert_eq!(&*Visible::line(text), expected, "{label}");
        }
    }

    /// A terminal shows `cp א > ב` as `cp ב < א`.
    #[test]
    fn the_letters_of_a_command_stay_in_their_order() {
        let command = "cp \u{5d0} > \u{5d1}\u{5d1}; echo é \u{661}";
        assert_eq!(&*Visible::command(command), "cp <U+05D0> > <U+05D1 x2>; echo é <U+0661>");
        assert_eq!(&*Visible::line(command), command);
        assert_eq!(
            Visible::outside_ascii(command).expect("the command has characters outside ASCII").into_string(),
            "é U+00E9"
        );
    }

    #[test]
    fn each_layout_keeps_its_own_characters() {
        let text = "a\r\n\tb  \n❤\u{fe0f}\u{200d}\u{1f525} x\u{200d}";
        let marked = "❤<U+FE0F><U+200D>\u{1f525} x<U+200D>";
        let drawn = "❤\u{fe0f}\u{200d}\u{1f525} x<U+200D>";
        assert_eq!(&*Visible::lines(text), format!("a\n<U+0009>b<U+0020 x2>\n{marked}"));
        assert_eq!(&*Visible::prose_line(text), format!("a<U+000D><U+000A><U+0009>b  <U+000A>{drawn}"));
        assert_eq!(&*Visible::prose(text), format!("a\n<U+0009>b  \n{drawn}"));
        assert_eq!(&*Visible::code(text.as_bytes()), format!("a\n\tb  \n{drawn}"));
        let mixed = Visible::code(format!("a{};b", " \t".repeat(100)).as_bytes());
        assert!(
            mixed.starts_with("a<U+0020><U+0009><U+0020>")
                && mixed.ends_with(&format!("{};b", " \t".repeat(16)))
        );
        let blank = format!("a{}b", "\n".repeat(300));
        assert_eq!(&*Visible::lines(&blank), "a\n<U+000A x298>\nb");
        assert_eq!(&*Visible::prose(&"a\n\n\nb".repeat(2)), "a\n\n\nba\n\n\nb");
    }

    #[test]
    fn invalid_bytes_are_shown_as_numbers() {
        assert_eq!(&*Visible::code(b"a\xff\xc3b\xe2\x82"), "a<0xFF><0xC3>b<0xE2><0x82>");
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            let path = Path::new(std::ffi::OsStr::from_bytes(b"/a\n\xff/b"));
            assert_eq!(&*Visible::path(path), "/a<U+000A><0xFF>/b");
        }
    }

    /// Two texts that look the same would be equal to a person who compares them.
    #[test]
    fn different_characters_are_shown_differently() {
        let mut seen = std::collections::HashMap::new();
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            let shown = Visible::line(&format!("a{c}b"));
            let inner = shown
                .strip_prefix('a')
                .and_then(|rest| rest.strip_suffix('b'))
                .expect("the letters around the character stay");
            let is_mark = inner.starts_with("<U+") && inner.ends_with('>');
            assert!(is_mark || inner.chars().eq([c]), "{c:?} became {inner:?}");
            assert!(is_mark || !(c.is_control() || c.is_whitespace()) || c == ' ', "{c:?} is not marked");
            assert_eq!(seen.insert(shown.into_string(), c), None, "{c:?}");
        }
    }

    #[test]
    fn letters_outside_ascii_are_listed_once() {
        assert_eq!(Visible::outside_ascii("npm test \u{200b}"), None);
        let listed =
            |text| Visible::outside_ascii(text).expect("the text has characters outside ASCII").into_string();
        assert_eq!(listed("nрm tеst р"), "р U+0440, е U+0435");
        assert!(listed("абвгдежзий").ends_with(", and 2 more"));
    }

    #[test]
    fn each_line_begins_with_the_prefix() {
        let mut shown = Visible::default();
        shown.push_labeled("says:\n", &Visible::lines("a\n\nb").with_line_prefix("| "));
        assert_eq!(&*shown, "says:\n| a\n| \n| b");
        assert!(!shown.has_marks() && Visible::line("\0").has_marks());
    }
}
