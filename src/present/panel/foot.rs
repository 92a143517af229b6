//! The last lines of the panel: a question or a message, else the keys.

use super::actions::{Confirmed, Hint, Named, quoted, quoted_within};
use super::keys::{KeyNames, PanelAction};
use crate::present::paint::{Color, Limit, Page, Span, width_of};

/// The space between hints.
const GAP: &str = "  ";
/// A narrower page may have two lines of keys.
const TWO_LINES_BELOW: usize = 44;
/// Next to a question, a name has at least this many columns. In a narrower page it has lines of its own.
const MIN_NAME_COLUMNS: usize = 12;
/// The lines of a message.
const MESSAGE_LINES: usize = 3;
/// The time for which a message replaces the keys, in milliseconds.
const MESSAGE_MS: i64 = 6_000;

/// A command that runs if the same key is pressed again.
#[derive(Debug)]
pub(super) struct Confirmation {
    pub(super) action: PanelAction,
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

/// The state of the last lines.
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

    /// Draws the state. `is_low`: the keys get one line.
    pub(super) fn draw(
        &mut self,
        page: &mut Page,
        hints: &[Hint],
        keys: KeyNames,
        is_low: bool,
        now_ms: i64,
    ) {
        if let Some(Confirmation { action, command, run }) = &self.asked {
            let question = format!("{} again {}; other keys cancel: ", keys.of(*action), command.effect);
            // Only the name is shortened.
            let room = page.width().saturating_sub(width_of(&question));
            let is_narrow = room < MIN_NAME_COLUMNS;
            let name = if is_narrow { quoted(&run.name) } else { quoted_within(&run.name, room) };
            page.text("warning", &format!("{question}{name}"), Limit::None);
            return;
        }
        if let Some(Message { color, text, until_ms }) = &mut self.message
            && now_ms < *until_ms.get_or_insert(now_ms + MESSAGE_MS)
        {
            page.text(color, text, Limit::Lines(MESSAGE_LINES));
            return;
        }
        draw_hints(page, hints, keys, is_low);
    }
}

/// Draws the keys on one line: the last two, and before them as many as fit. In a narrow page that is not low, the last two
/// move to a line of their own if the others need the room.
fn draw_hints(page: &mut Page, hints: &[Hint], keys: KeyNames, is_low: bool) {
    let width = |(action, description): &Hint| width_of(keys.of(*action)) + 1 + description.len() + GAP.len();
    let (fitting, last) = hints.split_at(hints.len().saturating_sub(2));
    let columns = |hints: &[Hint]| hints.iter().map(width).sum::<usize>();
    let all = page.width() + GAP.len();
    let is_split = !is_low && page.width() < TWO_LINES_BELOW && columns(hints) > all && !fitting.is_empty();
    let mut room = if is_split { Some(all) } else { all.checked_sub(columns(last)) };
    let fits = |hint: &&Hint| {
        room = room.and_then(|room| room.checked_sub(width(hint)));
        room.is_some()
    };
    let shown: Vec<&Hint> = fitting.iter().take_while(fits).collect();
    if is_split {
        draw_line(page, &shown, keys);
        draw_line(page, &Vec::from_iter(last), keys);
    } else {
        draw_line(page, &shown.into_iter().chain(last).collect::<Vec<_>>(), keys);
    }
}

/// Draws keys on one line.
fn draw_line(page: &mut Page, hints: &[&Hint], keys: KeyNames) {
    let mut spans = Vec::new();
    for (index, (action, description)) in hints.iter().enumerate() {
        let gap = if index == 0 { "" } else { GAP };
        spans.push(Span { text: gap.to_owned(), ..Span::default() });
        spans.push(Span::new("accent", keys.of(*action)));
        spans.push(Span::new("muted", format!(" {description}")));
    }
    page.spans(spans);
}
