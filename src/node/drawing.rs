//! Drawings for pi: finished lines in its theme.

use napi::bindgen_prelude::{Env, FnArgs, Function, FunctionRef};
use napi_derive::napi;

use crate::present::paint::{self, Page, Theme};

/// The largest size of a screen. JavaScript's -1 arrives as 4,294,967,295, and a line of so many columns would end the process.
const MAX_EXTENT: u32 = 10_000;

/// Lays out Markdown in a width.
type Markdown = FnArgs<(String, u32)>;

/// The styles of one theme. Make one per theme, and draw everything with it.
///
/// @example
/// ```ts
/// import { Palette } from "pi-subagent-native/extension";
///
/// const styles = { colors: { accent: ["\u001b[36m", "\u001b[39m"] }, bold: ["\u001b[1m", "\u001b[22m"] };
/// console.log(new Palette(JSON.stringify({ ...styles, expandKey: "ctrl+o" })));
/// ```
#[napi]
pub struct Palette {
    pub(super) styles: paint::Palette,
    markdown: Option<FunctionRef<Markdown, Vec<String>>>,
}

#[napi]
impl Palette {
    /// Reads the styles from JSON: the control sequences before and after a text for each of `colors` and for `bold`, and
    /// `expandKey`, the key that shows all of a card. A missing colour is not drawn. `markdown` lays out Markdown in a
    /// width; without it, or if it throws, the source is drawn.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        styles: String,
        #[napi(ts_arg_type = "(text: string, width: number) => Array<string>")] markdown: Option<
            Function<'_, Markdown, Vec<String>>,
        >,
    ) -> napi::Result<Self> {
        let markdown = markdown.map(|markdown| markdown.create_ref()).transpose()?;
        Ok(Self { styles: paint::Palette::read(&styles), markdown })
    }

    /// Calls `draw` with the theme.
    pub(super) fn with_theme<T>(&self, env: Env, draw: impl FnOnce(Theme) -> T) -> T {
        let markdown = |text: &str, width: usize| {
            let markdown = self.markdown.as_ref()?.borrow_back(&env).ok()?;
            markdown.call((text.to_owned(), small(width)).into()).ok()
        };
        draw(Theme { palette: &self.styles, markdown: &markdown })
    }
}

/// The names of the colours of pi's theme that drawings use.
///
/// @example
/// ```ts
/// import { paletteColors } from "pi-subagent-native/extension";
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
/// import { textWidth } from "pi-subagent-native/extension";
///
/// console.log(textWidth("世界"));
/// ```
#[napi(catch_unwind)]
pub fn text_width(text: String) -> u32 {
    small(paint::width_of(&text))
}

/// Draws foreign text in one of `paletteColors`, wrapped and without control characters.
///
/// @example
/// ```ts
/// import { drawText, Palette } from "pi-subagent-native/extension";
///
/// console.log(drawText(new Palette("{}"), 20, "dim", "A text of several words").length);
/// ```
#[napi(catch_unwind)]
pub fn draw_text(env: Env, palette: &Palette, width: u32, color: String, text: String) -> Vec<String> {
    drawn(env, palette, width, |page| page.foreign_text(&color, &text))
}

/// Draws with a palette in a width.
pub(super) fn drawn(env: Env, palette: &Palette, width: u32, draw: impl FnOnce(&mut Page)) -> Vec<String> {
    palette.with_theme(env, |theme| Page::draw(theme, extent(width), draw))
}

/// Returns columns or rows, at most [`MAX_EXTENT`].
pub(super) fn extent(size: u32) -> usize {
    size.min(MAX_EXTENT) as usize
}

fn small(columns: usize) -> u32 {
    u32::try_from(columns).unwrap_or(u32::MAX)
}
