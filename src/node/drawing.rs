//! What is drawn, as pi gets it: finished lines, and Markdown for pi's own component.

use napi::Either;
use napi_derive::napi;

use crate::present::paint::{self, Block, Page};

/// The styles of one theme. Make one per theme, and draw everything with it.
///
/// @example
/// ```ts
/// import { Palette } from "pi-subagent-native";
///
/// const styles = { colors: { accent: ["\u001b[36m", "\u001b[39m"] }, bold: ["\u001b[1m", "\u001b[22m"] };
/// console.log(new Palette(JSON.stringify({ ...styles, expandKey: "ctrl+o" })));
/// ```
#[napi]
pub struct Palette(pub(super) paint::Palette);

#[napi]
impl Palette {
    /// Reads the styles from JSON: the control sequences before and after a text for each of `colors` and for `bold`, and
    /// `expandKey`, the key that shows all of a card. A missing colour is not drawn.
    #[napi(constructor, catch_unwind)]
    pub fn new(styles: String) -> Self {
        Self(paint::Palette::read(&styles))
    }
}

/// The names of the colours of pi's theme that drawings use.
///
/// @example
/// ```ts
/// import { paletteColors } from "pi-subagent-native";
///
/// console.log(paletteColors().join());
/// ```
#[napi(catch_unwind)]
pub fn palette_colors() -> Vec<&'static str> {
    paint::COLORS.to_vec()
}

/// Returns the columns of a text in a terminal, as pi measures them.
///
/// @example
/// ```ts
/// import { textWidth } from "pi-subagent-native";
///
/// console.log(textWidth("世界"));
/// ```
#[napi(catch_unwind)]
pub fn text_width(text: String) -> u32 {
    u32::try_from(paint::width_of(&text)).unwrap_or(u32::MAX)
}

/// Draws foreign text in one of `paletteColors`, wrapped and without control characters.
///
/// @example
/// ```ts
/// import { drawText, Palette } from "pi-subagent-native";
///
/// console.log(drawText(new Palette("{}"), 20, "dim", "A text of several words").length);
/// ```
#[napi(catch_unwind)]
pub fn draw_text(palette: &Palette, width: u32, color: String, text: String) -> Drawing {
    drawn(palette, width, |page| page.foreign_text(&color, &text))
}

/// Markdown in a drawing. With a limit its blank lines are left out.
#[napi(object, object_from_js = false)]
pub struct Prose {
    /// The source. Safe for a terminal.
    pub text: String,
    /// Columns that it is moved to the right.
    pub indent: u32,
    /// The number of lines from the beginning.
    pub first: Option<u32>,
    /// The number of lines from the end.
    pub last: Option<u32>,
    /// A finished line that replaces the lines after the first ones, with their number as `{rest}`. A single line more is
    /// shown instead.
    pub more: Option<String>,
    /// True if code at its end still grows, and has no end to draw.
    pub is_open: bool,
}

/// A drawing from top to bottom: finished lines, and Markdown.
#[napi]
pub type Drawing = Vec<Either<String, Prose>>;

/// Draws with a palette in a width.
pub(super) fn drawn(palette: &Palette, width: u32, draw: impl FnOnce(&mut Page)) -> Drawing {
    let block = |block| match block {
        Block::Line(line) => Either::A(line),
        Block::Prose(prose) => Either::B(prose.into()),
    };
    Page::draw(&palette.0, width as usize, draw).into_iter().map(block).collect()
}

impl From<paint::Prose> for Prose {
    fn from(paint::Prose { text, indent, first, last, more, is_open }: paint::Prose) -> Self {
        let small = |lines| u32::try_from(lines).unwrap_or(u32::MAX);
        Self { text, indent: small(indent), first: first.map(small), last: last.map(small), more, is_open }
    }
}
