//! Styled text, and the ways to fit it to a width.

use super::foreign::{folded, plain};
use super::width::{slice, width_of};
use super::wrap::wrapped_ranges;

/// The name of a colour in pi's theme.
pub type Color = &'static str;

pub(super) const ELLIPSIS: &str = "…";
/// A separator at the end of a line.
const DANGLING: &str = " ·";
/// A separator at the beginning of a line.
const LEADING: &str = "· ";
/// The minimum width at which a cut text is still readable.
pub(super) const MIN_COLUMNS: usize = 6;
/// The minimum width of a path next to text that is too long.
const MIN_PATH_COLUMNS: usize = 6;
/// Surrounds a name that could be several words.
const QUOTE: char = '`';

/// The end at which a text loses words if there is no room for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Its end.
    #[default]
    End,
    /// Its beginning, up to a name of the path that it is.
    Path,
    /// Its beginning, because its end is the newest part.
    Start,
}

/// Text in one style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// Without control characters; line breaks only where it is wrapped.
    pub text: String,
    /// The terminal's own where absent.
    pub color: Option<Color>,
    pub is_bold: bool,
    pub cut: Cut,
}

impl Span {
    /// Text on one line.
    pub(crate) fn new(color: Color, text: impl AsRef<str>) -> Self {
        let text = plain(text.as_ref());
        let text = if text.contains('\n') { text.replace('\n', " ") } else { text };
        Self { text, color: Some(color), ..Self::default() }
    }

    /// Text that may have several lines.
    pub(crate) fn block(color: Color, text: &str) -> Self {
        Self { text: plain(text).trim().to_owned(), color: Some(color), ..Self::default() }
    }

    pub(crate) fn path(color: Color, path: &str) -> Self {
        Self { cut: Cut::Path, ..Self::new(color, folded(path)) }
    }

    pub(crate) fn bold(self) -> Self {
        Self { is_bold: true, ..self }
    }

    /// The same style around another text.
    pub(super) fn with_text(&self, text: impl Into<String>) -> Self {
        Self { text: text.into(), ..self.clone() }
    }
}

/// Blanks without a style.
pub(super) fn blanks(columns: usize) -> Span {
    Span { text: " ".repeat(columns), ..Span::default() }
}

pub(super) fn is_empty(spans: &[Span]) -> bool {
    spans.iter().all(|span| span.text.is_empty())
}

/// Returns the columns of a line.
pub(super) fn width(spans: &[Span]) -> usize {
    spans.iter().map(|span| width_of(&span.text)).sum()
}

/// Cuts a line to `columns`. An ellipsis replaces the missing part. The line is cut after a word, unless that leaves half of
/// the width empty.
pub(super) fn clip(mut spans: Vec<Span>, columns: usize) -> Vec<Span> {
    if width(&spans) <= columns {
        return spans;
    }
    let Some(mut room) = columns.checked_sub(1) else { return Vec::new() };
    let text: String = spans.iter().map(|span| span.text.as_str()).collect();
    let words = width_of(whole_words(&text, room));
    if words * 2 >= columns {
        room = words;
    }
    for at in 0..spans.len() {
        let text = &spans[at].text;
        let kept = slice(text, 0..room);
        if kept.len() < text.len() {
            // An ellipsis alone takes the style of the words before it.
            if kept.is_empty() && at > 0 {
                spans.truncate(at);
                spans[at - 1].text.push_str(ELLIPSIS);
            } else {
                spans[at].text = format!("{kept}{ELLIPSIS}");
                spans.truncate(at + 1);
            }
            break;
        }
        room -= width_of(text);
    }
    spans
}

/// Returns the words of a text that lie within `columns`, without a separator at their end. A path ends after a directory.
fn whole_words(text: &str, columns: usize) -> &str {
    let kept = slice(text, 0..columns);
    let ends_word = text[kept.len()..].starts_with(' ');
    let words = match kept.rfind([' ', '/', '\\']).filter(|_| !ends_word) {
        Some(end) if kept[end..].starts_with(' ') => &kept[..end],
        Some(end) => &kept[..=end],
        None => kept,
    };
    words.trim_end_matches([' ', '·', ',', ':', ';', '('])
}

/// Cuts a text to `columns`.
pub(crate) fn clipped(text: &str, columns: usize) -> String {
    let line = clip(vec![Span { text: text.to_owned(), ..Span::default() }], columns);
    line.into_iter().map(|span| span.text).collect()
}

/// Cuts a line to `columns`. A path, or a text that keeps its end, loses its beginning before any other text is cut.
pub(super) fn cut(mut spans: Vec<Span>, columns: usize) -> Vec<Span> {
    if let Some(at) = spans.iter().position(|span| span.cut != Cut::End) {
        let others = width(&spans) - width_of(&spans[at].text);
        let room = columns.saturating_sub(others).max(MIN_PATH_COLUMNS);
        let text = &spans[at].text;
        spans[at].text = if spans[at].cut == Cut::Path { fit_path(text, room) } else { fit_end(text, room) };
    }
    clip(spans, columns)
}

/// Cuts or pads a line to exactly `columns`.
pub(super) fn cell(spans: Vec<Span>, columns: usize) -> Vec<Span> {
    let mut spans = clip(spans, columns);
    spans.push(blanks(columns.saturating_sub(width(&spans))));
    spans
}

/// Drops the blanks at the end of a line.
pub(super) fn trim_end(mut spans: Vec<Span>) -> Vec<Span> {
    while let Some(last) = spans.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            break;
        }
        spans.pop();
    }
    spans
}

/// Wraps text. The lines after the first are aligned with the end of `lead`, which is a mark or an indentation.
pub(super) fn wrap(spans: &[Span], columns: usize, lead: &[Span]) -> Vec<Vec<Span>> {
    let indent = width(lead);
    let text: String = spans.iter().map(|span| span.text.as_str()).collect();
    let mut ranges = wrapped_ranges(&text, columns.saturating_sub(indent).max(1));
    // The end of a line separates as well.
    for at in 1..ranges.len() {
        let before = &mut ranges[at - 1];
        if let Some(words) = text[before.clone()].strip_suffix(DANGLING) {
            before.end = before.start + words.len();
        }
        if text[ranges[at].clone()].starts_with(LEADING) {
            ranges[at].start += LEADING.len();
        }
    }
    let line = |(index, (start, end)): (usize, (usize, usize))| {
        let mut line = if index == 0 { lead.to_vec() } else { vec![blanks(indent)] };
        let mut offset = 0;
        for span in spans {
            let from = start.max(offset);
            let to = end.min(offset + span.text.len());
            if from < to {
                line.push(span.with_text(&text[from..to]));
            }
            offset += span.text.len();
        }
        line
    };
    ranges.into_iter().map(|range| (range.start, range.end)).enumerate().map(line).collect()
}

/// Cuts a path to `columns`. It is cut before a name, unless that leaves two thirds of the width empty.
pub(super) fn fit_path(path: &str, columns: usize) -> String {
    let all = width_of(path);
    if all <= columns {
        return path.to_owned();
    }
    // Without its quotes, part of a name could be read as our own words.
    if let Some(inner) = path.strip_prefix(QUOTE).and_then(|path| path.strip_suffix(QUOTE))
        && columns > 2
    {
        return format!("{QUOTE}{}{QUOTE}", fit_path(inner, columns - 2));
    }
    let room = columns.saturating_sub(1);
    let end = slice(path, all - room..all);
    match end.find(['/', '\\']) {
        Some(name) if end[..name].chars().count() <= room * 2 / 3 => format!("{ELLIPSIS}{}", &end[name..]),
        _ => format!("{ELLIPSIS}{end}"),
    }
}

/// Cuts a text to its last `columns`. It is cut before a word, unless that leaves two thirds of the width empty.
fn fit_end(text: &str, columns: usize) -> String {
    let all = width_of(text);
    if all <= columns {
        return text.to_owned();
    }
    let end = slice(text, all - columns..all);
    match end.find(' ') {
        Some(blank) if end[..blank].chars().count() <= columns * 2 / 3 => {
            format!("{ELLIPSIS}{}", &end[blank + 1..])
        }
        _ => format!("{ELLIPSIS}{}", slice(text, all - columns.saturating_sub(1)..all)),
    }
}

/// Shortens a text but keeps `end`, which distinguishes it from other texts. If `end` is too wide, the text loses its
/// beginning, at most the first `shared` columns, which are the same in another text.
pub(super) fn distinguished(text: &str, end: &str, shared: usize, columns: usize) -> String {
    let all = width_of(text);
    if all <= columns {
        return text.to_owned();
    }
    match columns.checked_sub(width_of(end)) {
        Some(room) if room >= MIN_COLUMNS => format!("{}{end}", slice(text, 0..room)),
        Some(_) => end.to_owned(),
        None => {
            let from = shared.min((all + 1).saturating_sub(columns));
            format!("{ELLIPSIS}{}", slice(text, from..all))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_loses_its_beginning_before_a_name() {
        for (path, columns, shown) in [
            ("src/a.rs", 8, "src/a.rs"),
            ("/home/u/very/long/path/file.rs", 22, "…/long/path/file.rs"),
            ("/home/u/very/long/path/file.rs", 12, "…/file.rs"),
            ("C:\\Users\\me\\project\\file.rs", 18, "…\\project\\file.rs"),
            ("~/.pi/2026-01-01T09-00-00-000Z_demo/75460deb/session.jsonl", 50, "…/75460deb/session.jsonl"),
            ("a-file-with-a-long-name.rs", 10, "…g-name.rs"),
            ("/short/a-folder-with-a-long-name/x.rs", 20, "…th-a-long-name/x.rs"),
        ] {
            assert_eq!(fit_path(path, columns), shown, "{path} in {columns} columns");
        }
    }

    #[test]
    fn a_text_is_cut_after_a_word_unless_half_of_its_room_would_be_empty() {
        for (text, columns, shown) in [
            ("Find where the configuration is loaded", 24, "Find where the…"),
            ("Find where the configuration is loaded", 15, "Find where the…"),
            ("option --profile", 13, "option --pro…"),
            ("read · the loader", 8, "read…"),
            ("Find, then say", 8, "Find…"),
            ("load in src/config.ts reads", 20, "load in src/…"),
            ("設定の読み込みを調べる", 9, "設定の読…"),
            (" a", 1, "…"),
        ] {
            assert_eq!(clipped(text, columns), shown, "{text} in {columns} columns");
        }
    }

    #[test]
    fn a_quoted_path_keeps_both_quotes() {
        let path = "`src/deep/g, h, all tests passed`";
        assert_eq!(fit_path(path, 40), path);
        assert_eq!(fit_path(path, 29), "`…/g, h, all tests passed`");
        assert_eq!(fit_path(path, 12), "`…ts passed`");
    }

    #[test]
    fn a_growing_text_keeps_its_newest_words() {
        assert_eq!(fit_end("it is in the loader", 19), "it is in the loader");
        assert_eq!(fit_end("it is in the loader", 12), "…the loader");
        assert_eq!(fit_end("itisintheloader", 7), "…loader");
        assert_eq!(fit_end("src/load-configuration.ts, and I still read", 36), "…and I still read");
    }
}
