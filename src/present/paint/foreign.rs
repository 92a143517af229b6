//! Foreign text, made safe for a terminal and cut to the usable part.

use std::path::MAIN_SEPARATOR;

use sanitizer::{ceil_char_boundary, without_controls};

/// Text looked at for a preview of a few lines.
pub(crate) const PREVIEW_CHARS: usize = 4_000;
/// Text looked at for one line. No line has room for more.
pub(crate) const LINE_CHARS: usize = 400;
/// A text that grows is cut in such steps, so that its lines do not break elsewhere with every word.
const STEP: usize = 512;
/// Characters that a line of a terminal has room for.
const COLUMNS: usize = 140;
/// More than any line has that opens code.
const FENCE_CHARS: usize = 80;
/// Stands where the beginning of a text was cut off.
const CUT: char = '…';

/// Returns a text whose lines end with LF and whose tabs are spaces, without control sequences and marks that reorder a line.
pub(crate) fn plain(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b' '..=b'~')) {
        return text.to_owned();
    }
    let text = without_controls(text).replace("\r\n", "\n").replace('\t', "   ");
    text.replace(['\u{2028}', '\u{2029}'], "")
}

/// The text on one line, with runs of blanks folded.
pub(crate) fn folded(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in plain(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The start of a text, `chars` long.
pub(crate) fn beginning(text: &str, chars: usize) -> &str {
    match text.char_indices().nth(chars) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The start of a text on one line.
pub(crate) fn brief(text: &str) -> String {
    folded(beginning(text, LINE_CHARS))
}

/// The first line that says something, on one line.
pub(crate) fn first_line(text: &str) -> String {
    let text = plain(beginning(text, PREVIEW_CHARS));
    folded(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())
}

/// Returns the start of a text on one line, which stays the same while more arrives: a heading only without other words. For a
/// text without its beginning, the newest line. `grows`: more may arrive.
pub(crate) fn gist(source: &str, grows: bool) -> String {
    let source = if source.starts_with(CUT) { newest_line(source) } else { source };
    let start = beginning(source, LINE_CHARS);
    gist_of(start, grows || start.len() < source.len())
}

/// Returns a short text on one line, without the marks of Markdown: a heading only without other words. `is_cut`: closing
/// marks may be missing.
fn gist_of(source: &str, is_cut: bool) -> String {
    let source = plain(source);
    let lines: Vec<&str> =
        source.lines().map(str::trim).filter(|line| !line.is_empty() && fence(line).is_none()).collect();
    let is_heading = |line: &&&str| words_of_heading(line).is_some();
    let has_body = lines.iter().any(|line| !is_heading(&line));
    let words = lines.iter().filter(|line| !has_body || !is_heading(line)).map(|line| {
        let bare = words_of_heading(line).unwrap_or(line);
        ["- ", "* ", "+ ", "> "].iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare)
    });
    let text = words.collect::<Vec<_>>().join(" ");
    folded(&without_pairs(&without_pairs(&text, "**", is_cut), "`", is_cut))
}

/// Returns the words of a heading. `None` for another line.
fn words_of_heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let is_heading = (1..=6).contains(&(line.len() - words.len())) && words.starts_with(char::is_whitespace);
    is_heading.then(|| words.trim())
}

/// Returns the newest words of a text that grows, on one line. An ellipsis stands for everything before them.
pub(crate) fn newest_words(source: &str) -> String {
    let source = source.trim_end();
    match source.char_indices().rev().nth(LINE_CHARS) {
        None => gist_of(source, true),
        Some((before, _)) => {
            let end = &source[before..];
            // Only after a blank a word is known to be whole.
            let words = end.split_once(char::is_whitespace).map_or(end, |(_, words)| words);
            format!("{CUT}{}", gist_of(words, true))
        }
    }
}

/// The last line with words.
fn newest_line(source: &str) -> &str {
    let has_text = |line: &&str| line.contains(char::is_alphanumeric) && fence(line).is_none();
    source.lines().rev().find(has_text).unwrap_or(source)
}

/// Returns a text without the marks before and after words. If the text `is_cut`, the last pair may lack its closing mark.
fn without_pairs(text: &str, mark: &str, is_cut: bool) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(mark) {
        let before = &rest[..at];
        let marked = &rest[at + mark.len()..];
        cleaned.push_str(before);
        match marked.find(mark) {
            Some(length) if length > 0 => {
                cleaned.push_str(&marked[..length]);
                rest = &marked[length + mark.len()..];
            }
            _ => {
                let opens = is_cut
                    && before.chars().next_back().is_none_or(char::is_whitespace)
                    && marked.starts_with(char::is_alphanumeric);
                cleaned.push_str(if opens { "" } else { mark });
                rest = marked;
            }
        }
    }
    cleaned + rest
}

/// Writes the user's home as `~`.
pub(crate) fn short_path(path: &str) -> String {
    let home = std::env::home_dir();
    let home = home.as_ref().and_then(|home| home.to_str()).filter(|home| !home.is_empty());
    match home.and_then(|home| path.strip_prefix(home)) {
        Some(rest) if rest.is_empty() || rest.starts_with(['/', MAIN_SEPARATOR]) => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// The end of a text that grows.
pub(super) struct Tail {
    pub text: String,
    /// It ends within code.
    pub is_open: bool,
}

/// As much of its end as `lines` may show, with the line that opens the code in which it begins.
pub(super) fn tail(source: &str, lines: usize) -> Tail {
    let source = plain(source);
    let room = (lines + 2) * COLUMNS;
    let start = source.len().saturating_sub(room) / STEP * STEP;
    let start = ceil_char_boundary(&source, start);
    let line_end = source[start..].find('\n').filter(|length| *length < STEP);
    let from = if start == 0 { 0 } else { line_end.map_or(start, |length| start + length + 1) };
    let open = open_fence(&source, from).unwrap_or_default();
    let is_open = open_fence(&source, source.len()).is_some();
    Tail { text: format!("{open}{}", &source[from..]).trim().to_owned(), is_open }
}

/// The line that opens the code in which a text is at `end`.
fn open_fence(source: &str, end: usize) -> Option<String> {
    let mut open = (source.starts_with(CUT) && begins_in_code(source)).then(|| "```\n".to_owned());
    for line in source[..end].split('\n') {
        let Some((marks, language)) = fence(line) else { continue };
        match &open {
            None => open = Some(format!("{}\n", beginning(line, FENCE_CHARS))),
            Some(opened) if language.is_empty() && opened.trim_start().starts_with(marks) => open = None,
            Some(_) => {}
        }
    }
    open
}

/// Returns true if the first fence of a text without its beginning closes one: it names no language and nothing follows it.
fn begins_in_code(source: &str) -> bool {
    let lines: Vec<&str> = source.split('\n').collect();
    let Some(at) = lines.iter().position(|line| fence(line).is_some()) else { return false };
    let names_none = fence(lines[at]).is_some_and(|(_, language)| language.is_empty());
    let is_below_text = at == 0 || !lines[at - 1].trim().is_empty();
    names_none && is_below_text && lines.get(at + 1).is_none_or(|line| line.trim().is_empty())
}

/// A part of Markdown that is wrong without its end.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    /// Its first byte, and the byte after its last.
    pub start: usize,
    pub end: usize,
    /// The line that ends a shortened one: the marks of code. A table needs none.
    pub close: String,
}

/// Returns the code blocks and tables of a text.
pub(super) fn blocks(source: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<(usize, String)> = None;
    // The line before, if it may be the head of a table.
    let mut head: Option<usize> = None;
    let mut in_table = false;
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        let end = start + line.len();
        let (text, marks) = (line.trim_end_matches('\n'), fence(line.trim_end_matches('\n')));
        match (&open, marks) {
            (Some((opened, close)), Some((marks, ""))) if marks.starts_with(&**close) => {
                blocks.push(Block { start: *opened, end, close: close.clone() });
                open = None;
            }
            (Some(_), _) => {}
            (None, Some((marks, _))) => open = Some((start, marks.to_owned())),
            (None, None) if in_table && text.contains('|') => {
                if let Some(table) = blocks.last_mut() {
                    table.end = end;
                }
            }
            (None, None) => {
                let is_rule = text.contains('-')
                    && text.contains('|')
                    && text.chars().all(|sign| matches!(sign, '|' | '-' | ':' | ' '));
                in_table = is_rule && head.is_some();
                if let Some(head) = head.filter(|_| in_table) {
                    blocks.push(Block { start: head, end, close: String::new() });
                }
            }
        }
        in_table &= open.is_none();
        head = Some(start).filter(|_| open.is_none() && text.contains('|'));
        start = end;
    }
    blocks.extend(open.map(|(start, close)| Block { start, end: source.len(), close }));
    blocks
}

/// The marks of a line that opens or closes code, and the language behind them.
fn fence(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let marks = text.len() - text.trim_start_matches(mark).len();
    (line.len() - text.len() <= 3 && marks >= 3)
        .then(|| (&text[..marks], text[marks..].trim_start_matches([' ', '\t'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_control_a_terminal_or_reorder_a_line() {
        assert_eq!(plain("a\r\nb\rc\td\u{1b}[2Je\u{202e}f\u{2028}g\u{9b}31mh\u{7}"), "a\nb\nc   defgh");
        assert_eq!(folded("  two\n\n lines\t\u{a0}here "), "two lines here");
        assert_eq!(first_line("\n  \n one  two\nthree"), "one two");
        assert_eq!(beginning("日本語", 2), "日本");
    }

    #[test]
    fn a_summary_is_text_and_a_heading_only_without_other_text() {
        for (source, expected) in [
            ("# Found\n\nIt is **in** `a.rs`.", "It is in a.rs."),
            ("# Found\n", "Found"),
            ("```rust\nfn x() {}\n```", "fn x() {}"),
            ("a ** b `` c", "a ** b `` c"),
            ("# Plan\n\n## Steps", "Plan Steps"),
            ("- look at **a.rs**\n* run `npm", "look at a.rs run `npm"),
            ("use **kwargs here", "use **kwargs here"),
            ("> quoted", "quoted"),
            ("#7 is open", "#7 is open"),
            ("…of it.\n\nNow the `tests` run.\n\n```\n", "Now the tests run."),
            ("…of it", "…of it"),
        ] {
            assert_eq!(gist(source, false), expected, "{source}");
        }
        assert_eq!(gist("It is **not clos", true), "It is not clos");
        let long = format!("It is **{}", "very ".repeat(LINE_CHARS));
        assert!(gist(&long, false).starts_with("It is very"), "the closing mark is cut off");
    }

    #[test]
    fn the_newest_words_begin_with_a_whole_word_after_an_ellipsis() {
        assert_eq!(newest_words("# Found\n\nIt is **in** `a.rs`."), "It is in a.rs.");
        assert_eq!(newest_words("…of it.\n\nNow the `tests` run."), "…of it. Now the tests run.");
        let paragraph = newest_words(&format!("The oldest words. {}The newest words.", "word ".repeat(600)));
        assert!(
            paragraph.starts_with("…word ") && paragraph.ends_with("word The newest words."),
            "{paragraph}"
        );
        assert!(paragraph.chars().count() <= LINE_CHARS + 1, "{paragraph}");
        let all = "ab ".repeat(LINE_CHARS / 3);
        assert_eq!(newest_words(&format!("{all}c")), format!("{all}c"), "a text that fits is not cut");
        // A text without a blank is cut within its only word.
        assert_eq!(newest_words(&"日".repeat(1_000)), format!("…{}", "日".repeat(LINE_CHARS + 1)));
    }

    #[test]
    fn the_blocks_of_a_text_are_its_code_and_its_tables() {
        let code = "~~~~rs\n| a | b |\n|---|---|\n~~~\n~~~~\n";
        let table = "| a | b |\n|---|:-:|\n| 1 | 2 |\n";
        let text = format!("A | b\n\n{code}words\n{table}\nc - d\n```\nx");
        let found: Vec<(&str, String)> =
            blocks(&text).into_iter().map(|block| (&text[block.start..block.end], block.close)).collect();
        let expected = [(code, "~~~~"), (table, ""), ("```\nx", "```")];
        assert_eq!(found, expected.map(|(text, close)| (text, close.to_owned())));
    }

    #[test]
    fn the_end_of_a_text_opens_the_code_it_begins_in() {
        let code = format!("```rust\n{}", "let a = 1;\n".repeat(300));
        let Tail { text, is_open } = tail(&code, 2);
        assert!(is_open && text.starts_with("```rust\nlet a = 1;\n"), "{text}");
        assert!(text.len() < 1_400, "{}", text.len());
        let ended = tail(&format!("{code}```\nSo it is."), 2);
        assert!(!ended.is_open && ended.text.ends_with("```\nSo it is."), "{}", ended.text);
        let cut = tail("…et a = 1;\n```\n\nSo it is.", 2);
        assert_eq!(cut.text, "```\n…et a = 1;\n```\n\nSo it is.");
        assert!(!cut.is_open);
    }

    /// The part that is laid out, wrapped and highlighted does not grow with a text of megabytes.
    #[test]
    fn the_shown_part_of_a_text_is_bounded() {
        for unit in ["a", "a b\n", "```\n", "```rust\n\n", "~~~\n```\n", "| a | b |\n", "\u{1b}[31mx", "日本"]
        {
            for length in [10_000, 1_000_000] {
                let text = unit.repeat(length / unit.len());
                for source in [format!("```{text}\n{text}"), text] {
                    let Tail { text, .. } = tail(&source, 3);
                    assert!(
                        text.len() <= 5 * COLUMNS + STEP + 4 * FENCE_CHARS,
                        "{unit:?} {length}: {}",
                        text.len()
                    );
                }
            }
        }
    }
}
