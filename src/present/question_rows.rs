//! Breaks the text of a question into rows without hiding a character. The end of a row replaces a blank. A row that ends
//! within a word is marked.

use unicode_segmentation::UnicodeSegmentation;

use super::paint::{Page, Part, Span, folded, plain, width_of};

/// The columns that the list of choices uses for itself.
const CHOICE_COLUMNS: usize = 4;
/// The minimum width of a question on one line. If the question would be narrower, the hint is left out.
const MIN_COLUMNS: usize = 24;
/// The longest name at the start of a line, as in `command: ls`.
const NAME_CHARS: usize = 16;
/// The indentation used if the start of a line would take too much of the width.
const INDENT: usize = 2;

/// A row of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QuestionRow {
    /// The text of the row, in its style.
    pub span: Span,
    /// True if the word continues in the next row, without a blank.
    pub is_broken: bool,
}

/// Draws a pending question on one line. `hint` says how to answer, and is shown if there is room for it.
pub fn draw_question_line(page: &mut Page, sentence: &str, hint: &str) {
    let sentence = Part::from(Span::new("warning", format!("? {}", folded(sentence))));
    let question = Part { min_columns: Some(MIN_COLUMNS), ..sentence };
    page.line([question, Part::from(Span::new("muted", hint)).ranked(1)]);
}

/// Returns the rows of a question: its title, its message, and the full text of the choices that their list has to cut. No
/// row is wider than `width` in any terminal.
pub(super) fn question_rows(
    width: usize,
    title: &str,
    message: &str,
    choices: &[String],
) -> Vec<QuestionRow> {
    let bold = |QuestionRow { span, is_broken }| QuestionRow { span: span.bold(), is_broken };
    let mut rows: Vec<QuestionRow> = rows_of(plain(title).trim(), width).into_iter().map(bold).collect();
    let message = plain(message);
    if !message.trim_end().is_empty() {
        rows.push(QuestionRow::default());
        rows.extend(rows_of(message.trim_end(), width));
    }
    let choices = choices.iter().map(|choice| plain(choice));
    let cut: Vec<String> = choices.filter(|choice| width_of(choice) + CHOICE_COLUMNS > width).collect();
    if !cut.is_empty() {
        rows.push(QuestionRow::default());
        rows.push(QuestionRow { span: Span::new("muted", "Choices in full:"), is_broken: false });
        rows.extend(cut.iter().flat_map(|choice| rows_of(&format!("· {choice}"), width)));
    }
    rows
}

fn rows_of(text: &str, width: usize) -> Vec<QuestionRow> {
    text.split('\n').flat_map(|line| line_rows(line, width)).collect()
}

/// Returns the rows of one line. A wrapped line continues to the right of its start, so that it cannot pass for a separate line.
fn line_rows(line: &str, width: usize) -> Vec<QuestionRow> {
    let found = lead_of(line);
    let lead = if width_of(found) * 3 > width { "" } else { found };
    let columns = match (found, lead) {
        ("", _) => 0,
        (_, "") => INDENT,
        _ => width_of(lead),
    };
    let indent = columns.min(width.saturating_sub(1));
    let room = (width - width_of(lead), (width - indent).max(1));
    let mut rows = Rows { room: room.0, width: room.1, ..Rows::default() };
    rows.break_line(&line[lead.len()..]);
    for (index, row) in rows.done.iter_mut().enumerate() {
        let start = if index == 0 { lead.to_owned() } else { " ".repeat(indent) };
        row.span.text = start + &row.span.text;
    }
    rows.done
}

/// Returns the start of a line that no wrapped line may have: a name, a mark, or an indentation.
fn lead_of(line: &str) -> &str {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    if blanks > 0 {
        return &line[..blanks];
    }
    if let Some(mark) = ["- ", "+ ", "| ", "· "].into_iter().find(|mark| line.starts_with(mark)) {
        return mark;
    }
    match line.find(": ") {
        Some(end @ 1..=NAME_CHARS) if line[..end].bytes().all(|byte| matches!(byte, b'a'..=b'z' | b' ')) => {
            &line[..end + 2]
        }
        _ => "",
    }
}

/// The rows of one line so far.
#[derive(Default)]
struct Rows {
    done: Vec<QuestionRow>,
    /// The row in the making, and its columns.
    text: String,
    columns: usize,
    /// The columns of this row, and of the following ones.
    room: usize,
    width: usize,
}

impl Rows {
    fn break_line(&mut self, line: &str) {
        let mut rest = line;
        while !rest.is_empty() {
            let is_blank = rest.starts_with(' ');
            let end = rest.find(|part: char| (part == ' ') != is_blank).unwrap_or(rest.len());
            self.add_word(&rest[..end], is_blank);
            rest = &rest[end..];
        }
        self.end(false);
    }

    fn add_word(&mut self, word: &str, is_blank: bool) {
        let columns = max_columns_of(word);
        if self.columns + columns <= self.room {
            self.add(word);
            return;
        }
        // A word that fits into a row is not broken. A longer word starts in this row only if half of the row is free.
        if !is_blank && self.columns > 0 && (columns <= self.width || self.columns * 2 > self.room) {
            self.end(false);
        }
        for grapheme in word.graphemes(true) {
            if self.columns + max_columns_of(grapheme) > self.room && self.columns > 0 {
                let start = if is_blank { self.text.len() } else { self.name_start() };
                let rest = self.text.split_off(start);
                self.end(!is_blank);
                // The end of the row replaces this blank.
                if is_blank {
                    continue;
                }
                self.add(&rest);
            }
            self.add(grapheme);
        }
    }

    fn add(&mut self, part: &str) {
        self.text.push_str(part);
        self.columns += max_columns_of(part);
    }

    fn end(&mut self, is_broken: bool) {
        let span = Span { text: std::mem::take(&mut self.text), ..Span::default() };
        self.done.push(QuestionRow { span, is_broken });
        self.columns = 0;
        self.room = self.width;
    }

    /// Returns the end of the last separator of a path, if the row is at least half full before it.
    fn name_start(&self) -> usize {
        let end = self.text.rfind(['/', '\\', ':']).map(|at| at + 1);
        end.filter(|end| self.text[..*end].chars().count() * 2 > self.room).unwrap_or(self.text.len())
    }
}

/// Returns the maximum number of columns of a text. Some terminals draw the parts of an emoji or a flag side by side, and
/// several of these would push the following words off the screen.
fn max_columns_of(text: &str) -> usize {
    let apart = |grapheme: &str| grapheme.chars().map(|part| width_of(part.encode_utf8(&mut [0; 4]))).sum();
    text.graphemes(true).map(|grapheme| width_of(grapheme).max(apart(grapheme))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, width: usize) -> Vec<String> {
        let mark = |QuestionRow { span, is_broken }| if is_broken { span.text + "↩" } else { span.text };
        rows_of(text, width).into_iter().map(mark).collect()
    }

    #[test]
    fn no_character_of_a_question_is_lost() {
        assert_eq!(rows("Remove these two files?", 12), ["Remove these", "two files?"]);
        assert_eq!(rows("a  b", 2), ["a ", "b"]);
        assert_eq!(rows("rm /home/me/a-long-name", 12), ["rm /home/me/↩", "a-long-name"]);
        assert_eq!(rows("", 5), [""]);
    }

    #[test]
    fn a_long_word_starts_in_a_row_that_is_half_free_and_ends_after_a_separator() {
        let word = "x".repeat(14);
        assert_eq!(rows(&format!("rm {word}"), 12), ["rm xxxxxxxxx↩", "xxxxx"]);
        assert_eq!(rows(&format!("remove {word}"), 12), ["remove ", "xxxxxxxxxxxx↩", "xx"]);
        assert_eq!(rows("/srv/data/long-name", 12), ["/srv/data/↩", "long-name"]);
        assert_eq!(rows("/srv/a-very-long-name", 12), ["/srv/a-very-↩", "long-name"]);
    }

    #[test]
    fn a_wrapped_line_cannot_pass_for_another_one() {
        assert_eq!(rows("command: one two three", 27), ["command: one two three"]);
        assert_eq!(
            rows("command: one two three four five", 28),
            ["command: one two three four ", "         five"]
        );
        assert_eq!(rows("- one two", 7), ["- one ", "  two"]);
        assert_eq!(rows("command: one two", 9), ["command: ", "  one two"]);
    }
}
