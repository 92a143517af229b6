//! A question over the screen. Enter alone approves nothing: the harmless answer is selected until the user moves to another
//! one, and that answer is accepted only after the question was scrolled to its end.

use sanitizer::text_enum;
use serde::Deserialize;

use super::paint::{Limit, Page, Palette, Span, folded, plain, slice, width_of};
use super::question_rows::{QuestionRow, question_rows};

/// The maximum number of visible choices.
const CHOICES: usize = 8;
/// The mark of the selected choice, and the room that others leave for it.
const SELECTED: &str = "→ ";
const OTHER: &str = "  ";
/// The columns that a choice leaves free at its end.
const FREE_COLUMNS: usize = 2;
/// The rows of the screen that stay free, the rows of the frame, and the minimum number of rows for the question.
const FREE_ROWS: usize = 4;
const FRAME_ROWS: usize = 2;
const MIN_ROWS: usize = 3;
/// The columns of the frame with its inner padding.
const FRAME_COLUMNS: usize = 4;
const SIDE: &str = "│";
/// Marks the right edge of a row that ends within a word. No text of a question reaches that column.
const BROKEN: &str = "↩";

text_enum! {
    /// A key that moves the selection or scrolls the question.
    pub enum QuestionKey {
        /// Selects the choice above.
        Up = "up",
        /// Selects the choice below.
        Down = "down",
        /// Scrolls a page up.
        PageUp = "pageUp",
        /// Scrolls a page down.
        PageDown = "pageDown",
        /// Scrolls to the beginning.
        Home = "home",
        /// Scrolls to the end.
        End = "end",
    }
}

/// The names of the user's keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionKeyNames {
    /// Selects the choice above.
    pub up: String,
    /// Selects the choice below.
    pub down: String,
    /// Scrolls a page up.
    pub page_up: String,
    /// Scrolls a page down.
    pub page_down: String,
    /// Scrolls to the end.
    pub end: String,
    /// Takes the selected choice.
    pub confirm: String,
    /// Takes the harmless choice.
    pub cancel: String,
}

/// A question on the screen: its selected choice, and its visible part.
#[derive(Debug)]
pub struct QuestionScreen {
    heading: String,
    title: String,
    message: String,
    choices: Vec<String>,
    /// The rows of the question, and their width.
    rows: Option<(usize, Vec<QuestionRow>)>,
    chosen: usize,
    /// The first visible row, and the number of visible rows.
    from: usize,
    page: usize,
    /// True once the last row was visible.
    is_read: bool,
    /// True if the last key tried to approve before that.
    is_hurried: bool,
}

impl QuestionScreen {
    /// Opens a question. The first choice is the harmless one.
    #[must_use]
    pub fn new(heading: String, title: String, message: String, choices: Vec<String>) -> Self {
        let (rows, chosen, from, page) = (None, 0, 0, MIN_ROWS);
        Self { heading, title, message, choices, rows, chosen, from, page, is_read: false, is_hurried: false }
    }

    /// Returns the position of the selected choice.
    #[must_use]
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Moves the selection, or scrolls.
    pub fn press(&mut self, key: QuestionKey) {
        self.is_hurried = false;
        // A page keeps the last line of the page before it.
        let page = self.page.saturating_sub(1).max(1);
        match key {
            // It stops at both ends, so the way to a yes is always down.
            QuestionKey::Up => self.chosen = self.chosen.saturating_sub(1),
            QuestionKey::Down => self.chosen = (self.chosen + 1).min(self.choices.len().saturating_sub(1)),
            QuestionKey::PageUp => self.from = self.from.saturating_sub(page),
            QuestionKey::PageDown => self.from = self.from.saturating_add(page),
            QuestionKey::Home => self.from = 0,
            QuestionKey::End => self.from = usize::MAX,
        }
    }

    /// Returns true if an answer may be taken. Only a harmless one may be before the question was read.
    pub fn accepts(&mut self, is_harmless: bool) -> bool {
        self.is_hurried = !self.is_read && !is_harmless;
        !self.is_hurried
    }

    /// Returns the columns inside its frame.
    #[must_use]
    pub fn inner_width(&self, width: usize) -> usize {
        width.saturating_sub(FRAME_COLUMNS).max(1)
    }

    /// Draws the question for a screen of `rows`. `input` is the line in which the user writes the answer.
    pub fn draw(
        &mut self,
        palette: &Palette,
        width: usize,
        rows: usize,
        keys: &QuestionKeyNames,
        input: Option<&str>,
    ) -> Vec<String> {
        let must_scroll = self.must_scroll();
        let styled = |color, text: &str| palette.styled(&[Span::new(color, text)]);
        let inner = self.inner_width(width);
        self.rows.take_if(|(columns, _)| *columns != inner);
        let broken = || question_rows(inner, &self.title, &self.message, &self.choices);
        let (_, all) = self.rows.get_or_insert_with(|| (inner, broken()));
        let is_broken = all.iter().any(|row| row.is_broken);
        let mut below = vec![String::new()];
        match input {
            Some(line) => below.push(line.to_owned()),
            None => below.extend(self.choice_lines(palette, inner)),
        }
        below.push(String::new());
        let (color, hint) = self.hint(keys, input.is_some(), is_broken);
        below.extend(Page::draw(palette, inner, |page| page.text(color, &hint, Limit::None)));
        let room = rows.saturating_sub(FREE_ROWS + FRAME_ROWS + below.len()).max(MIN_ROWS);

        let edge = |left: &str, text: &str, right: &str| {
            let line = format!("─{text}{}", "─".repeat(width));
            styled("warning", &format!("{left}{}{right}", slice(&line, 0..inner + 2)))
        };
        let row = |line: &str, end: &str| {
            let missing = inner.saturating_sub(width_of(line));
            format!("{} {line}{:missing$} {}", styled("warning", SIDE), "", styled("warning", end))
        };
        let mut lines = vec![edge("╭", &format!(" ? {} ", folded(&self.heading)), "╮")];
        for QuestionRow { span, is_broken } in self.visible(inner, room, keys) {
            lines.push(row(&palette.styled(&[span]), if is_broken { BROKEN } else { SIDE }));
        }
        lines.extend(below.iter().map(|line| row(line, SIDE)));
        lines.push(edge("╰", "", "╯"));
        if must_scroll == self.must_scroll() {
            return lines;
        }
        // These lines have the last row, and still say that it is missing. The other hint may leave less room.
        self.from = usize::MAX;
        self.draw(palette, width, rows, keys, input)
    }

    /// Returns the visible rows, and notes if the last one is among them.
    fn visible(&mut self, width: usize, rows: usize, keys: &QuestionKeyNames) -> Vec<QuestionRow> {
        let all = self.rows.as_ref().map_or(&[][..], |(_, all)| all);
        let count = all.len();
        let is_long = count > rows;
        self.page = if is_long { rows - 1 } else { rows };
        self.from = self.from.min(count.saturating_sub(self.page));
        let end = count.min(self.from + self.page);
        self.is_read |= end == count;
        let mut visible = all[self.from..end].to_vec();
        if is_long {
            let QuestionKeyNames { page_up, page_down, end: last, .. } = keys;
            let keys = format!("{page_up}/{page_down}/{last}");
            let position = format!("lines {} to {end} of {count} · {keys}", self.from + 1);
            let lines = [
                format!("{position}: all of it"),
                position,
                format!("{end}/{count} · {keys}"),
                format!("{end}/{count} · {page_down}"),
            ];
            // The position is never left out, so that each page differs from the one before.
            let line = lines.iter().find(|line| width_of(line) <= width).unwrap_or(&lines[2]);
            visible.push(QuestionRow { span: Span::new("warning", slice(line, 0..width)), is_broken: false });
        }
        visible
    }

    /// Returns the choices, like pi's own lists.
    fn choice_lines(&self, palette: &Palette, width: usize) -> Vec<String> {
        let count = self.choices.len();
        let from = self.chosen.saturating_sub(CHOICES / 2).min(count.saturating_sub(CHOICES));
        let room = width.saturating_sub(width_of(OTHER) + FREE_COLUMNS);
        let choice = |(index, label): (usize, &String)| {
            let label = plain(label).replace('\n', " ");
            let label = slice(&label, 0..room);
            let (mark, color) = if index == self.chosen { (SELECTED, Some("accent")) } else { (OTHER, None) };
            let text = slice(&format!("{mark}{label}"), 0..width).to_owned();
            palette.styled(&[Span { text, color, ..Span::default() }])
        };
        let visible = self.choices.iter().enumerate().skip(from).take(CHOICES);
        let mut lines: Vec<String> = visible.map(choice).collect();
        if count > CHOICES {
            let position = format!("{OTHER}({}/{count})", self.chosen + 1);
            let position = slice(&position, 0..width.saturating_sub(FREE_COLUMNS));
            lines.push(palette.styled(&[Span::new("muted", position)]));
        }
        lines
    }

    /// Returns true if the user wants to say yes to a question whose last row was not visible yet.
    fn must_scroll(&self) -> bool {
        !self.is_read && (self.is_hurried || self.chosen > 0)
    }

    fn hint(&self, keys: &QuestionKeyNames, is_writing: bool, is_broken: bool) -> (&'static str, String) {
        let QuestionKeyNames { up, down, page_down, end, confirm, cancel, .. } = keys;
        if self.must_scroll() {
            let text = format!("Scroll to the end first: {page_down} or {end}  {cancel} cancel");
            return (if self.is_hurried { "warning" } else { "muted" }, text);
        }
        if is_writing {
            return ("muted", format!("{confirm} send  {cancel} cancel"));
        }
        let broken = if is_broken { format!("  {BROKEN} no space here") } else { String::new() };
        let moves = format!("{up}/{down} move  {confirm} select  {cancel} cancel");
        ("muted", format!("{moves}  other keys: editor{broken}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_its_screen() {
        let message = "rm -rf build\n".repeat(60);
        let choices = ["No", "Yes, and do not ask again"].map(str::to_owned).to_vec();
        let mut screen =
            QuestionScreen::new("explorer asks".to_owned(), "Run it?".to_owned(), message, choices);
        let name = |name: &str| name.to_owned();
        let keys = QuestionKeyNames {
            page_up: name("pageUp"),
            page_down: name("pageDown"),
            end: name("end"),
            ..QuestionKeyNames::default()
        };
        for width in [5, 12, 24, 60] {
            let lines = screen.draw(&Palette::default(), width, 24, &keys, None);
            assert!(lines.iter().all(|line| width_of(line) == width), "{width}: {lines:#?}");
        }
    }

    #[test]
    fn a_yes_is_accepted_only_after_the_last_row_was_visible() {
        let message = (0..60).map(|line| format!("+ line {line}")).collect::<Vec<_>>().join("\n");
        let choices = ["No", "Yes"].map(str::to_owned).to_vec();
        let mut screen =
            QuestionScreen::new("explorer asks".to_owned(), "Run it?".to_owned(), message, choices);
        let draw = |screen: &mut QuestionScreen| {
            let keys = QuestionKeyNames::default();
            screen.draw(&Palette::default(), 60, 24, &keys, None).join("\n")
        };
        assert!(draw(&mut screen).contains("→ No"));
        screen.press(QuestionKey::Down);
        assert_eq!((screen.chosen(), screen.accepts(false), screen.accepts(true)), (1, false, true));
        assert!(draw(&mut screen).contains("Scroll to the end first"), "before Enter was pressed");
        screen.press(QuestionKey::End);
        let read = draw(&mut screen);
        assert!(read.contains("line 59") && !read.contains("Scroll to the end first"), "{read}");
        assert!(screen.accepts(false));
        screen.press(QuestionKey::Home);
        assert!(draw(&mut screen).contains("Run it?") && screen.accepts(false), "it stays read");
    }
}
