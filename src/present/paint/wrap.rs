//! Breaks text into lines, as pi's terminal library does. `textwrap` breaks words differently: pi breaks between any two
//! Chinese, Japanese or Korean characters, and we break a long path after its separators.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::width::{grapheme_width, slice, width_of};

/// Stands between the parts of a line.
const SEPARATOR: &str = " · ";
/// The maximum length of a word that is broken at separators. Longer words are not paths, and breaking them is slow.
const MAX_NAME_LENGTH: usize = 4096;

/// Returns the lines of a text as ranges of it. No line is wider than `columns`, if these have room for one character.
pub(super) fn wrapped_ranges(text: &str, columns: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        wrap_line(text, start..start + line.len(), columns, &mut lines);
        start += line.len() + 1;
    }
    lines
}

/// Breaks one line.
fn wrap_line(text: &str, line: Range<usize>, columns: usize, lines: &mut Vec<Range<usize>>) {
    if width_of(&text[line.clone()]) <= columns {
        lines.push(line);
        return;
    }
    let mut end_line = |range: Range<usize>| {
        let words = text[range.clone()].trim_end();
        lines.push(range.start..range.start + words.len());
    };
    // The line so far, and its columns.
    let (mut current, mut used) = (line.start..line.start, 0);
    for token in tokens(&text[line.clone()]) {
        let token = line.start + token.start..line.start + token.end;
        let word = &text[token.clone()];
        let is_blank = word.trim().is_empty();
        let names = if is_blank { vec![word.len()] } else { names(word, columns) };
        let mut start = token.start;
        for (index, length) in names.into_iter().enumerate() {
            let part = start..start + length;
            start = part.end;
            let width = width_of(&text[part.clone()]);
            if index > 0 {
                end_line(current.clone());
                (current, used) = (part.start..part.start, 0);
            }
            if width > columns && !is_blank {
                if !current.is_empty() {
                    end_line(current.clone());
                }
                (current, used) = broken(text, part, columns, &mut end_line);
            } else if used + width > columns
                && let Some(last) = last_part(text, &current, &part, columns)
            {
                // Only the blank is left out, as at every other end of a line. `wrap` decides about the separator.
                end_line(current.start..last - 1);
                current = last..part.end;
                used = width_of(&text[current.clone()]);
            } else if used + width > columns && used > 0 {
                end_line(current.clone());
                // A line does not begin with the blank at which it was broken.
                (current, used) = if is_blank { (part.end..part.end, 0) } else { (part, width) };
            } else {
                current.end = part.end;
                used += width;
            }
        }
    }
    if !current.is_empty() {
        end_line(current);
    }
}

/// Returns the start of the last part of a line with parts, if the line keeps more than half of its width without it, and the
/// next line has room for it and the next word. A line rather ends between two parts than within one.
fn last_part(text: &str, line: &Range<usize>, next: &Range<usize>, columns: usize) -> Option<usize> {
    let start = line.start + text[line.clone()].rfind(SEPARATOR)? + SEPARATOR.len();
    let is_end = start == line.end || text[next.end..].starts_with(SEPARATOR.trim_start());
    let kept = width_of(&text[line.start..start - SEPARATOR.len()]);
    let fits = width_of(&text[start..next.end]) <= columns;
    (!is_end && kept * 2 > columns && fits).then_some(start)
}

/// Breaks a word that is wider than a line. Returns its last line, which others can follow.
fn broken(
    text: &str,
    word: Range<usize>,
    columns: usize,
    end_line: &mut impl FnMut(Range<usize>),
) -> (Range<usize>, usize) {
    let (mut current, mut used) = (word.start..word.start, 0);
    for grapheme in text[word].graphemes(true) {
        let width = grapheme_width(grapheme);
        if used + width > columns && !current.is_empty() {
            end_line(current.clone());
            (current, used) = (current.end..current.end, 0);
        }
        current.end += grapheme.len();
        used += width;
    }
    (current, used)
}

/// Returns the words of a line, and the blanks between them. A CJK character is a word of its own.
fn tokens(line: &str) -> Vec<Range<usize>> {
    #[derive(PartialEq)]
    enum Kind {
        Blank,
        Word,
        Alone,
    }
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let mut last = Kind::Alone;
    for (at, grapheme) in line.grapheme_indices(true) {
        let kind = match grapheme {
            " " => Kind::Blank,
            _ if grapheme.chars().any(is_cjk) => Kind::Alone,
            _ => Kind::Word,
        };
        match tokens.last_mut() {
            Some(token) if kind == last && kind != Kind::Alone => token.end += grapheme.len(),
            _ => tokens.push(at..at + grapheme.len()),
        }
        last = kind;
    }
    tokens
}

/// Returns the lengths of the parts of a word that is too wide, such as a path or a key: it is broken after its separators.
fn names(word: &str, columns: usize) -> Vec<usize> {
    let mut names = Vec::new();
    let mut rest = word;
    if word.len() <= MAX_NAME_LENGTH {
        while width_of(rest) > columns {
            let Some(at) = slice(rest, 0..columns).rfind(['/', '\\', ':']) else { break };
            names.push(at + 1);
            rest = &rest[at + 1..];
        }
    }
    names.push(rest.len());
    names
}

/// Returns true for the characters of languages that write no blanks.
fn is_cjk(part: char) -> bool {
    matches!(
        part,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{2fd5}' | '\u{3001}'..='\u{3003}' | '\u{3005}'..='\u{3011}'
            | '\u{3013}'..='\u{301f}' | '\u{3021}'..='\u{303f}' | '\u{3041}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{fe45}' | '\u{fe46}'
            | '\u{ff61}'..='\u{ffdc}' | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{323af}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, columns: usize) -> Vec<&str> {
        wrapped_ranges(text, columns).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn text_is_broken_at_blanks_and_between_cjk_characters() {
        assert_eq!(lines("one two three", 8), ["one two", "three"]);
        assert_eq!(lines("one\n\n two", 8), ["one", "", " two"]);
        assert_eq!(lines("配置文件 and", 5), ["配置", "文件", "and"]);
        assert_eq!(lines("abcdefgh i", 3), ["abc", "def", "gh", "i"]);
        assert_eq!(lines("", 3), [""]);
    }

    #[test]
    fn a_line_ends_between_two_parts_rather_than_within_one() {
        let run = "a1b2 · worker · 4.1s ago · not applied yet";
        assert_eq!(lines(run, 34), ["a1b2 · worker · 4.1s ago ·", "not applied yet"]);
        let steps = "apply: /subagents apply 1 · discard: /subagents discard 1";
        assert_eq!(lines(steps, 48), ["apply: /subagents apply 1 ·", "discard: /subagents discard 1"]);
        // Less than half of the line would remain, or the last part has no room in the next line.
        assert_eq!(lines("one · two three four five", 20), ["one · two three four", "five"]);
        assert_eq!(lines("one two · three · four", 15), ["one two · three", "· four"]);
    }

    #[test]
    fn a_long_path_or_key_is_broken_between_its_names() {
        let path = "in /home/me/a-long-name/bin/node and on";
        assert_eq!(lines(path, 14), ["in /home/me/", "a-long-name/", "bin/node and", "on"]);
        let key = "agent:explorer:subagent:cc9b1aff-fae5";
        assert_eq!(lines(key, 16), ["agent:explorer:", "subagent:", "cc9b1aff-fae5"]);
        // A name that fits in no line is cut, and what only looks like a path takes no time.
        assert_eq!(lines("/abcdefghij", 6), ["/", "abcdef", "ghij"]);
        assert_eq!(lines(&"a/".repeat(20_000), 20).len(), 2_000);
    }
}
