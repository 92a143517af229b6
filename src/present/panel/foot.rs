//! The last line of the panel: a question or a message, else the keys.

use super::actions::{Confirmed, Hint, Named};
use super::keys::{KeyNames, PanelAction};
use crate::present::paint::{Color, Page, Span, width_of};

/// The space between hints.
const GAP: &str = "  ";
/// The time for which a message replaces the keys, in milliseconds.
const MESSAGE_MS: i64 = 6_000;

/// A command that runs if the same key is pressed again.
#[derive(Debug)]
pub(super) struct Confirmation {
    pub(super) action: PanelAction,
    /// The text after the name of the key.
    pub(super) question: String,
    pub(super) command: Confirmed,
    /// The run or the workflow.
    pub(super) run: Named,
}

#[derive(Debug)]
struct Message {
    color: Color,
    text: String,
    /// Known once it is on the screen.
    until_ms: Option<i64>,
}

/// The state of the last line.
#[derive(Debug, Default)]
pub(super) struct Foot {
    asked: Option<Confirmation>,
    message: Option<Message>,
}

impl Foot {
    pub(super) fn clear(&mut self) {
        self.message = None;
    }

    /// Shows a message instead of the keys, until the next key or for a limited time.
    pub(super) fn show(&mut self, color: Color, text: String) {
        self.message = Some(Message { color, text, until_ms: None });
    }

    /// Asks for a key again; any other key cancels.
    pub(super) fn ask(&mut self, asked: Confirmation) {
        self.asked = Some(asked);
    }

    /// Returns the confirmation that a key answers.
    pub(super) fn press(&mut self) -> Option<Confirmation> {
        if self.asked.is_none() {
            self.clear();
        }
        self.asked.take()
    }

    pub(super) fn draw(&mut self, page: &mut Page, hints: &[Hint], keys: KeyNames, now_ms: i64) {
        if let Some(Confirmation { action, question, .. }) = &self.asked {
            page.spans(vec![Span::new("warning", format!("{} {question}", keys.of(*action)))]);
            return;
        }
        if let Some(Message { color, text, until_ms }) = &mut self.message
            && now_ms < *until_ms.get_or_insert(now_ms + MESSAGE_MS)
        {
            page.spans(vec![Span::new(color, text)]);
            return;
        }
        draw_hints(page, hints, keys);
    }
}

/// Draws the keys on one line: the last two, and before them as many as fit.
fn draw_hints(page: &mut Page, hints: &[Hint], keys: KeyNames) {
    let width = |(action, description): &Hint| width_of(keys.of(*action)) + 1 + description.len() + GAP.len();
    let (fitting, last) = hints.split_at(hints.len().saturating_sub(2));
    let mut room = (page.width() + GAP.len()).checked_sub(last.iter().map(width).sum());
    let fits = |hint: &&Hint| {
        room = room.and_then(|room| room.checked_sub(width(hint)));
        room.is_some()
    };
    let shown: Vec<&Hint> = fitting.iter().take_while(fits).chain(last).collect();
    let mut spans = Vec::new();
    for (index, (action, description)) in shown.into_iter().enumerate() {
        let gap = if index == 0 { "" } else { GAP };
        spans.push(Span { text: gap.to_owned(), ..Span::default() });
        spans.push(Span::new("accent", keys.of(*action)));
        spans.push(Span::new("dim", format!(" {description}")));
    }
    page.spans(spans);
}
