//! The colours of pi's theme.

use std::collections::HashMap;

use serde::Deserialize;

use super::span::{Color, Span};

/// All colours that are drawn with.
pub const COLORS: [Color; 11] = [
    "accent",
    "customMessageText",
    "dim",
    "error",
    "muted",
    "success",
    "toolDiffAdded",
    "toolDiffRemoved",
    "toolOutput",
    "toolTitle",
    "warning",
];

/// The control sequences before and after a text.
type Around = (String, String);

/// The styles of one theme, and the keys that the user has chosen. It is made once per theme, so no drawing asks the theme.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Palette {
    /// A colour that a theme lacks is not drawn.
    colors: HashMap<String, Around>,
    bold: Around,
    /// The key with which pi shows all of a card. Empty if the user has removed it.
    pub(super) expand_key: String,
}

impl Palette {
    /// Reads a palette from JSON. Anything else is a palette without styles.
    #[must_use]
    pub fn read(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// Returns a text in its style.
    pub(crate) fn styled(&self, spans: &[Span]) -> String {
        let mut line = String::new();
        for Span { text, color, is_bold, .. } in spans.iter().filter(|span| !span.text.is_empty()) {
            debug_assert!(color.is_none_or(|color| COLORS.contains(&color)), "{color:?}");
            let color = color.and_then(|color| self.colors.get(color));
            let bold = is_bold.then_some(&self.bold);
            line.extend(color.iter().chain(&bold).map(|(open, _)| open.as_str()));
            line.push_str(text);
            line.extend(bold.iter().chain(&color).map(|(_, close)| close.as_str()));
        }
        line
    }
}
