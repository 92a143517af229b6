//! The painter: finished lines for a width, in the colours of pi's theme.
//!
//! A drawing is made from top to bottom on a [`Page`], which knows its width and its [`Theme`]: the colours, and pi's own layout of
//! [`Markdown`]. Text from elsewhere becomes safe when it becomes a `Span`.
//!
//! | Question | File |
//! |---|---|
//! | What can be drawn? | `page`: [`Page`] |
//! | How is a styled text cut, and how is a path? | `span`: `Span` |
//! | Which parts of a line give way? | `parts`: `Part` |
//! | How do lines form columns? | `table`: `TableRow` |
//! | How wide is a text, and where is it wrapped? | `width`, `wrap` |
//! | What does a theme consist of? | `palette` |
//! | How does foreign text become safe, and which part of it is shown? | `foreign` |

mod foreign;
mod page;
mod palette;
mod parts;
mod span;
mod table;
mod width;
mod wrap;

pub(crate) use foreign::{
    LINE_CHARS, PREVIEW_CHARS, beginning, brief, first_line, folded, gist, newest_words, plain, short_path,
};
pub(crate) use page::{Limit, REST, more_note};
pub use page::{Markdown, Page, Theme};
pub use palette::{COLORS, Palette};
pub(crate) use parts::Part;
pub use span::Color;
pub(crate) use span::{Cut, Span, clipped};
pub(crate) use table::{Cell, SharedPrefix, TableRow, Widths, share};
pub(crate) use width::slice;
pub use width::width_of;

/// The indentation of cards, messages and reports below their first line.
pub(crate) const INDENT: usize = 2;
