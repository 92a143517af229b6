//! Draws lines from top to bottom.

use super::foreign::{self, plain};
use super::palette::{COLORS, Palette};
use super::parts::{Part, fitted, joined, joined_width};
use super::span::{Color, ELLIPSIS, Span, blanks, clip, clipped, cut, fit_path, is_empty, width, wrap};
use super::width::width_of;
use super::wrap::wrapped_ranges;

/// The indentation of a part that moved below its line.
const BELOW_INDENT: usize = 6;
/// The minimum width of a path next to other paths.
const PATH_COLUMNS: usize = 24;
/// Stands for a number in a note on omitted lines.
pub(crate) const REST: &str = "{rest}";

/// Lays out Markdown in a width, as pi draws the words of a model. `None` if it cannot: the source is drawn then.
pub type Markdown<'a> = &'a dyn Fn(&str, usize) -> Option<Vec<String>>;

/// The appearance of a drawing.
#[derive(Clone, Copy)]
pub struct Theme<'a> {
    /// The styles.
    pub palette: &'a Palette,
    /// The layout of Markdown.
    pub markdown: Markdown<'a>,
}

impl<'a> From<&'a Palette> for Theme<'a> {
    /// A theme that draws the source of Markdown.
    fn from(palette: &'a Palette) -> Self {
        Self { palette, markdown: &|_, _| None }
    }
}

/// The maximum number of lines of a text.
#[derive(Clone, Debug)]
pub(crate) enum Limit {
    /// All of them.
    None,
    /// An ellipsis says that there are more.
    Lines(usize),
    /// A line of its own says how many are left out, as [`REST`]. A single extra line is shown instead.
    Noted(usize, Vec<Span>),
}

/// A drawing in the making. Text from elsewhere becomes safe when it becomes a [`Span`], so every page can be shown.
pub struct Page<'a> {
    theme: Theme<'a>,
    width: usize,
    indent: usize,
    lines: Vec<String>,
}

impl<'a> Page<'a> {
    /// Draws lines with `width` columns.
    pub fn draw(theme: impl Into<Theme<'a>>, width: usize, draw: impl FnOnce(&mut Self)) -> Vec<String> {
        let mut page = Self { theme: theme.into(), width, indent: 0, lines: Vec::new() };
        draw(&mut page);
        page.lines
    }

    /// Returns the columns that a line may have.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Draws to the right of a margin.
    pub(crate) fn indented(&mut self, columns: usize, draw: impl FnOnce(&mut Self)) {
        let (width, indent) = (self.width, self.indent);
        self.width = width.saturating_sub(columns);
        self.indent += columns;
        draw(self);
        self.width = width;
        self.indent = indent;
    }

    /// Draws an empty line, unless nothing is above it.
    pub(crate) fn gap(&mut self) {
        if !self.lines.is_empty() {
            self.blank();
        }
    }

    pub(crate) fn blank(&mut self) {
        self.push(&[]);
    }

    /// Draws a horizontal line with a name in it.
    pub(crate) fn rule(&mut self, name: &str) {
        let line = |columns: usize| Span::new("dim", "─".repeat(columns));
        let title = if name.is_empty() { String::new() } else { format!(" {name} ") };
        let title = Span::new("muted", clipped(&title, self.width.saturating_sub(6)));
        let rest = self.width.saturating_sub(2 + width_of(&title.text));
        self.spans(vec![line(2), title, line(rest)]);
    }

    /// Draws parts joined by ` · ` in one line.
    pub(crate) fn line<P: Into<Part>>(&mut self, parts: impl IntoIterator<Item = P>) {
        let parts: Vec<Part> = parts.into_iter().map(Into::into).collect();
        self.with_below(&parts, self.width, |line| line);
    }

    /// Draws spans that are not separated, cut where the page ends.
    pub(crate) fn spans(&mut self, spans: Vec<Span>) {
        self.line([Part::new(spans)]);
    }

    /// Draws a line with the parts that fit into `room`, and below it the part that does not. `whole` makes the line from
    /// the joined parts.
    pub(super) fn with_below(
        &mut self,
        parts: &[Part],
        room: usize,
        whole: impl FnOnce(Vec<Span>) -> Vec<Span>,
    ) {
        let shown: Vec<&Part> = parts.iter().filter(|part| part.from <= self.width).collect();
        let drawn = fitted(&shown, room);
        let is_whole = |part: &Part| {
            let drawn = shown.iter().zip(&drawn).find(|(shown, _)| std::ptr::eq(**shown, part));
            drawn.is_some_and(|(_, drawn)| *drawn == part.spans)
        };
        let Some(hidden) = parts.iter().find(|part| part.below.is_some() && !is_whole(part)) else {
            self.push(&whole(clip(joined(drawn), room)));
            return;
        };
        let others: Vec<&Part> = shown.into_iter().filter(|part| !std::ptr::eq(*part, hidden)).collect();
        self.push(&whole(clip(joined(fitted(&others, room)), room)));
        let limit = hidden.below.map_or(Limit::None, Limit::Lines);
        self.indented(BELOW_INDENT, |page| page.wrapped(&[], &hidden.spans, limit));
    }

    /// Draws parts joined by ` · ` on as many lines as they need, at most `max_lines`.
    pub(crate) fn figures(&mut self, figures: impl IntoIterator<Item = Span>, max_lines: usize) {
        let mut lines: Vec<Vec<Vec<Span>>> = Vec::new();
        let mut used: Vec<usize> = Vec::new();
        for span in figures.into_iter().filter(|span| !span.text.is_empty()) {
            used.push(width_of(&span.text));
            match lines.last_mut() {
                Some(line) if joined_width(&used) <= self.width => line.push(vec![span]),
                _ => {
                    used.drain(..used.len() - 1);
                    lines.push(vec![vec![span]]);
                }
            }
        }
        for line in lines.into_iter().take(max_lines) {
            self.push(&cut(joined(line), self.width));
        }
    }

    /// Draws commands after `lead`, on one line if there is room. Otherwise the commands are below it, and no line ends
    /// within a command that fits into a line.
    pub(crate) fn offer(&mut self, lead: &Span, commands: impl IntoIterator<Item = String>) {
        let commands: Vec<Span> = commands.into_iter().map(|command| Span::new("accent", command)).collect();
        let parts = commands.iter().map(|command| vec![command.clone()]).collect();
        let line: Vec<Span> = [vec![lead.clone()], joined(parts)].concat();
        let fits = |span: &Span| width_of(&span.text) <= self.width;
        if width(&line) > self.width && commands.iter().all(fits) {
            self.wrapped(&[], &[lead.with_text(lead.text.trim_end())], Limit::None);
            self.figures(commands, usize::MAX);
        } else {
            self.wrapped(&[], &line, Limit::None);
        }
    }

    /// Draws foreign text in a colour of [`COLORS`], or in none.
    pub fn foreign_text(&mut self, color: &str, text: &str) {
        let color = COLORS.into_iter().find(|known| *known == color);
        self.wrapped(&[], &[Span { color, ..Span::block("", text) }], Limit::None);
    }

    /// Draws a text in one colour.
    pub(crate) fn text(&mut self, color: Color, text: &str, limit: Limit) {
        self.wrapped(&[], &[Span::block(color, text)], limit);
    }

    /// Draws wrapped text. The lines after the first begin below the end of `lead`.
    pub(crate) fn wrapped(&mut self, lead: &[Span], spans: &[Span], limit: Limit) {
        if is_empty(spans) {
            if lead.iter().any(|span| !span.text.trim().is_empty()) {
                self.push(&clip(lead.to_vec(), self.width));
            }
            return;
        }
        let mut lines = wrap(spans, self.width, lead);
        match limit {
            Limit::Noted(max, note) if lines.len() > max + 1 => {
                let rest = lines.split_off(max).len();
                lines.push(self.note(&note, rest));
            }
            Limit::Lines(max) if lines.len() > max => {
                lines.truncate(max);
                if let Some(last) = lines.last_mut() {
                    last.extend([blanks(1), spans[0].with_text(ELLIPSIS)]);
                    *last = clip(std::mem::take(last), self.width);
                }
            }
            _ => {}
        }
        for line in lines {
            self.push(&line);
        }
    }

    /// Returns a note on the number of omitted lines.
    fn note(&self, note: &[Span], rest: usize) -> Vec<Span> {
        let rest = rest.to_string();
        clip(note.iter().map(|span| span.with_text(span.text.replace(REST, &rest))).collect(), self.width)
    }

    /// Draws Markdown. With a limit its blank lines are left out.
    /// A code block or a table is not cut off: it is left out, or shortened and closed.
    pub(crate) fn prose(&mut self, text: &str, limit: Limit) {
        let text = plain(text);
        let text = text.trim();
        if matches!(limit, Limit::None) {
            let lines = self.laid_out(text);
            self.push_lines(lines);
            return;
        }
        let mut lines = self.dense(text);
        match limit {
            Limit::Lines(max) if lines.len() > max => lines = self.preview(text, lines, max),
            Limit::Noted(max, note) if lines.len() > max + 1 => {
                let all = lines.len();
                lines = self.preview(text, lines, max);
                let rest = all.saturating_sub(lines.len());
                lines.push(self.theme.palette.styled(&self.note(&note, rest)));
            }
            _ => {}
        }
        self.push_lines(lines);
    }

    /// Returns the lines of Markdown without blank lines.
    fn dense(&self, text: &str) -> Vec<String> {
        let mut lines = self.laid_out(text);
        lines.retain(|line| !line.is_empty());
        lines
    }

    /// Returns at most `max` of the lines of a text, which has more.
    fn preview(&self, text: &str, mut lines: Vec<String>, max: usize) -> Vec<String> {
        for foreign::Block { start, end, close } in foreign::blocks(text) {
            let before = self.dense(text[..start].trim_end()).len();
            if before >= max {
                break;
            }
            if self.dense(text[..end].trim_end()).len() <= max {
                continue;
            }
            // At least one line of the code, or one row of the table.
            let least = if close.is_empty() { 3 } else { 2 };
            let ends = text[start..end].match_indices('\n').map(|(at, _)| start + at).take(max);
            let ends: Vec<usize> = ends.skip(least - 1).collect();
            let shortened =
                ends.into_iter().rev().map(|cut| self.dense(&format!("{}\n{close}", &text[..cut])));
            if let Some(shortened) = shortened.into_iter().find(|lines| lines.len() <= max) {
                return shortened;
            }
            // Without room for one, the text before it is enough. A single block is cut.
            lines.truncate(if before > 0 { before } else { max });
            return lines;
        }
        lines.truncate(max);
        lines
    }

    /// Draws the end of Markdown that grows, in at most `max` lines.
    pub(crate) fn end_of_prose(&mut self, text: &str, max: usize) {
        let foreign::Tail { text, is_open } = foreign::tail(text, max);
        let mut lines = self.laid_out(&text);
        lines.retain(|line| !line.is_empty());
        // The code at the end still grows: the closing fence is not in the text.
        if is_open {
            lines.pop();
        }
        self.push_lines(lines.split_off(lines.len().saturating_sub(max)));
    }

    /// Returns the lines of Markdown.
    fn laid_out(&self, text: &str) -> Vec<String> {
        if text.is_empty() {
            return Vec::new();
        }
        let width = self.width.max(1);
        let source = || wrapped_ranges(text, width).into_iter().map(|line| text[line].to_owned()).collect();
        (self.theme.markdown)(text, width).unwrap_or_else(source)
    }

    /// Draws as many paths as fit into a line, and the number of the others.
    pub(crate) fn paths(&mut self, lead: Span, paths: &[String]) {
        let room = self.width.saturating_sub(width_of(&lead.text));
        let count = (room / PATH_COLUMNS).max(1).min(paths.len());
        let others = paths.len() - count;
        let more = if others > 0 { format!(" +{others}") } else { String::new() };
        let columns = (room + 2).saturating_sub(more.len() + 2 * count) / count.max(1);
        let mut line = vec![lead];
        for (index, path) in paths[..count].iter().enumerate() {
            line.extend((index > 0).then(|| Span::new("dim", ", ")));
            line.push(Span::new("accent", fit_path(path, columns)));
        }
        line.push(Span::new("muted", more));
        self.push(&clip(line, self.width));
    }

    /// Returns a note on content that only the expanded card shows.
    pub(crate) fn hint(&self, text: impl AsRef<str>) -> Vec<Span> {
        let mut spans = more_note(text);
        let key = self.expand_hint();
        let key = Some(key).filter(|key| !key.text.is_empty());
        let key = key.map(|key| key.with_text(format!(", {}", key.text)));
        // The number that replaces the placeholder is not longer.
        spans.extend(key.filter(|key| width(&spans) + width_of(&key.text) <= self.width));
        spans
    }

    /// Returns the hint that names the key to expand a card. Empty if there is no key.
    pub(crate) fn expand_hint(&self) -> Span {
        let key = &self.theme.palette.expand_key;
        Span::new("muted", if key.is_empty() { String::new() } else { format!("{key} to expand") })
    }

    fn push(&mut self, spans: &[Span]) {
        self.push_lines([self.theme.palette.styled(spans)]);
    }

    /// Adds finished lines, not wider than the page.
    pub(crate) fn push_lines(&mut self, lines: impl IntoIterator<Item = String>) {
        let indent = self.indent;
        let indented = |line: String| if line.is_empty() { line } else { format!("{:indent$}{line}", "") };
        self.lines.extend(lines.into_iter().map(indented));
    }
}

/// Returns a note on omitted content.
pub(crate) fn more_note(text: impl AsRef<str>) -> Vec<Span> {
    vec![Span::new("muted", format!("… {}", text.as_ref()))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::paint::width_of;

    const SAMPLES: [&str; 7] = [
        "words that are short and some-that-are-considerably-longer-than-the-line",
        "配置文件的加载顺序：用户目录在前，项目目录在后，并且只能更严格。",
        "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦 and 🚀🚀🚀 between words",
        "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}",
        "/a/path/that/is/longer/than/a/line/of/text.rs",
        "",
        "   ",
    ];

    fn palette() -> Palette {
        Palette::read(r#"{"colors":{"accent":["<",">"]},"bold":["[","]"],"expandKey":"ctrl+o"}"#)
    }

    fn lines(width: usize, draw: impl FnOnce(&mut Page)) -> Vec<String> {
        Page::draw(&palette(), width, draw)
    }

    #[test]
    fn no_line_is_wider_than_the_page() {
        for width in [1, 2, 3, 10, 60, 120] {
            for text in SAMPLES {
                // One column is left below a line, next to the indentation there, in any page.
                let limit = width.max(BELOW_INDENT + 2);
                let span = || Span::new("dim", text);
                for line in Page::draw(&Palette::default(), width, |page| {
                    page.spans(vec![span(), span()]);
                    page.line([Part { min_columns: Some(4), ..span().into() }, Part::from(span()).ranked(1)]);
                    page.line([Part { below: Some(2), ..span().into() }, Part::from(span())]);
                    page.figures([span(), span()], usize::MAX);
                    page.wrapped(&[], &[span()], Limit::Lines(2));
                    page.wrapped(&[], &[span(), span()], Limit::Noted(1, page.hint("{rest} more lines")));
                    page.paths(Span::new("muted", "changed "), &[text.to_owned(), text.to_owned()]);
                    page.spans(vec![Span::new("dim", "at "), Span::path("dim", text)]);
                }) {
                    assert!(width_of(&line) <= limit, "{width}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn a_line_is_cut_with_an_ellipsis_in_its_own_style() {
        let line = |width, text| lines(width, |page| page.spans(vec![Span::new("accent", text)]));
        assert_eq!(line(6, "abcdef"), ["<abcdef>"]);
        assert_eq!(line(5, "abcdef"), ["<abcd…>"]);
        assert_eq!(line(6, "世界世界"), ["<世界…>"]);
    }

    #[test]
    fn wrapped_lines_are_styled_one_by_one_and_aligned_with_the_first() {
        let words = Span::new("accent", "one two three").bold();
        assert_eq!(
            lines(9, |page| page.wrapped(&[Span::new("dim", "- ")], &[words], Limit::None)),
            ["- <[one two]>", "  <[three]>"]
        );
        assert_eq!(
            lines(6, |page| page.indented(2, |page| page.text("dim", "a\n\nb", Limit::None))),
            ["  a", "", "  b"]
        );
    }

    #[test]
    fn hidden_lines_are_counted_unless_it_is_one() {
        let text = |limit| lines(40, |page| page.text("dim", "a\nb\nc\nd", limit));
        let note = || vec![Span::new("dim", "{rest} more")];
        assert_eq!(text(Limit::Noted(2, note())), ["a", "b", "2 more"]);
        assert_eq!(text(Limit::Noted(3, note())), ["a", "b", "c", "d"]);
        assert_eq!(text(Limit::Lines(2)), ["a", "b …"]);
    }

    #[test]
    fn a_line_has_as_many_figures_as_fit() {
        let spans = ["one", "", "two", "three"].map(|text| Span::new("dim", text));
        assert_eq!(lines(9, |page| page.figures(spans, usize::MAX)), ["one · two", "three"]);
    }

    #[test]
    fn a_line_never_ends_within_a_command() {
        let offer = |width| {
            let commands = ["/s diff 1a2b", "/s apply 1a2b"].map(str::to_owned);
            let page = |page: &mut Page| page.offer(&Span::new("muted", "on branch b: "), commands);
            Page::draw(&Palette::default(), width, page)
        };
        assert_eq!(offer(41), ["on branch b: /s diff 1a2b · /s apply 1a2b"]);
        assert_eq!(offer(40), ["on branch b:", "/s diff 1a2b · /s apply 1a2b"]);
        assert_eq!(offer(27), ["on branch b:", "/s diff 1a2b", "/s apply 1a2b"]);
    }

    #[test]
    fn parts_give_way_by_rank_and_one_moves_below() {
        let parts = |below| {
            [
                Part { min_columns: Some(8), below, ..Span::new("dim", "the reason of it").into() },
                Part::from(Span::new("dim", "3 turns")).ranked(1),
                Part::from(Span::new("dim", "$0.02")).ranked(2),
            ]
        };
        assert_eq!(lines(40, |page| page.line(parts(None))), ["the reason of it · 3 turns · $0.02"]);
        assert_eq!(lines(20, |page| page.line(parts(None))), ["the reaso… · 3 turns"]);
        assert_eq!(lines(14, |page| page.line(parts(None))), ["the reason of…"]);
        assert_eq!(
            lines(24, |page| page.line(parts(Some(2)))),
            ["3 turns · $0.02", "      the reason of it"]
        );
    }

    #[test]
    fn the_hint_to_expand_needs_a_key() {
        let palette = Palette::read("{}");
        assert_eq!(Page::draw(&palette, 40, |page| page.spans(page.hint("more"))), ["… more"]);
        assert_eq!(lines(40, |page| page.spans(page.hint("more"))), ["… more, ctrl+o to expand"]);
    }
}
