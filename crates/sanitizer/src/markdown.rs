//! Code in Markdown: finds the code of a text (fenced blocks, indented lines, and strings of source code), and puts
//! text from other sources into a fence.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memchr2_iter, memrchr};

/// The maximum length of a fence line, in bytes. A longer line is not a fence.
const MAX_FENCE_LINE: usize = 256;

/// The maximum nesting depth of block quotes.
const MAX_QUOTES: usize = 16;

/// The number of bytes that are read before a quote and at the beginning of its line.
const LEAD_REACH: usize = 64;

/// The marks that opened a fenced block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    mark: u8,
    count: usize,
    /// The number of block quotes around the fence.
    depth: usize,
}

impl Fence {
    /// Returns the marks without a line end. They open and close such a block.
    #[must_use]
    pub fn marks(self) -> String {
        "> ".repeat(self.depth) + &char::from(self.mark).to_string().repeat(self.count)
    }

    /// Parses a line inside `depth` block quotes as a fence. Returns the fence and the text after its marks. Blocks in
    /// lists are indented, so leading blanks are allowed.
    fn of(line: &str, depth: usize) -> Option<(Self, &str)> {
        let line = line.trim_start_matches([' ', '\t']);
        let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let count = line.bytes().take_while(|&byte| byte == mark).count();
        (count >= 3).then(|| (Self { mark, count, depth }, &line[count..]))
    }
}

/// Tracks fenced blocks in a text that arrives in chunks of any size.
#[derive(Debug, Clone, Default)]
pub struct Fences {
    open: Option<Fence>,
    /// The current line, as far as it can still be a fence.
    line: String,
}

impl Fences {
    pub(crate) const fn new() -> Self {
        Self { open: None, line: String::new() }
    }

    /// Returns the block that contains the current line.
    pub(crate) fn open(&self) -> Option<Fence> {
        self.open
    }

    pub(crate) fn push(&mut self, mut part: &str) {
        loop {
            if self.open.is_none() && self.line.is_empty() {
                part = &part[irrelevant(part)..];
            }
            let Some(end) = memchr(b'\n', part.as_bytes()) else { break };
            if self.line.is_empty() {
                self.process_line(&part[..end]);
            } else {
                self.append_line(&part[..end]);
                let line = std::mem::take(&mut self.line);
                self.process_line(&line);
            }
            part = &part[end + 1..];
        }
        self.append_line(part);
    }

    fn append_line(&mut self, part: &str) {
        if self.line.len() <= MAX_FENCE_LINE {
            let max = MAX_FENCE_LINE + 1 - self.line.len();
            self.line.push_str(&part[..super::ceil_char_boundary(part, max)]);
        }
    }

    /// Processes a whole line, which may open a block or close it. A block also ends with the block quote around it.
    fn process_line(&mut self, line: &str) {
        let (depth, content) = unquoted(line, self.open.map_or(MAX_QUOTES, |open| open.depth));
        if self.open.is_some_and(|open| depth < open.depth) {
            self.open = None;
        }
        if line.len() > MAX_FENCE_LINE {
            return;
        }
        let Some((fence, rest)) = Fence::of(content, depth) else { return };
        match self.open {
            None if fence.mark == b'~' || !rest.contains('`') => self.open = Some(fence),
            Some(open) if fence.mark == open.mark && fence.count >= open.count && rest.trim().is_empty() => {
                self.open = None;
            }
            _ => {}
        }
    }
}

/// Returns the length of the lines at the start of a text that can open no block, because they have no mark of one.
fn irrelevant(text: &str) -> usize {
    let before_mark = memchr2(b'`', b'~', text.as_bytes()).unwrap_or(text.len());
    memrchr(b'\n', &text.as_bytes()[..before_mark]).map_or(0, |newline| newline + 1)
}

/// Counts the block quotes around a line, at most `max`, and returns the text after their marks.
fn unquoted(line: &str, max: usize) -> (usize, &str) {
    let mut depth = 0;
    let mut rest = line;
    while depth < max
        && let Some(inner) = rest.trim_start_matches(' ').strip_prefix('>')
    {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
        depth += 1;
    }
    (depth, rest)
}

/// Decides which positions of one text are code. Positions must ascend, so that the text is read once.
#[derive(Debug, Default)]
pub(crate) struct CodeAt {
    fences: Fences,
    /// The start of the line that contains the last position.
    line: usize,
    /// The end of the part of this line that was searched for quotes.
    searched: usize,
    /// The position of the open quote.
    quote: Option<usize>,
}

impl CodeAt {
    /// Returns true if the text is code at a position. The position must not be before the last one.
    pub(crate) fn is_code(&mut self, text: &str, at: usize) -> bool {
        while let Some(length) = text.get(self.line..at).and_then(|rest| memchr(b'\n', rest.as_bytes())) {
            self.fences.process_line(&text[self.line..self.line + length]);
            self.line += length + 1;
            (self.searched, self.quote) = (self.line, None);
        }
        let bytes = text.as_bytes();
        self.search_quotes(bytes, at);
        self.fences.open().is_some()
            || is_indented(unquoted(&text[self.line.min(at)..at], MAX_QUOTES).1.as_bytes())
            || self.quote.is_some_and(|quote| is_source_string(&bytes[self.line..quote]))
    }

    fn search_quotes(&mut self, bytes: &[u8], end: usize) {
        let from = self.searched.min(end);
        for at in memchr2_iter(b'"', b'\'', &bytes[from..end]).map(|at| from + at) {
            let byte = bytes[at];
            match self.quote {
                Some(open) if bytes[open] == byte => self.quote = None,
                None if byte == b'"' || at == self.line || !bytes[at - 1].is_ascii_alphanumeric() => {
                    self.quote = Some(at);
                }
                _ => {}
            }
        }
        self.searched = end;
    }
}

/// Returns true if the line starts with four blanks or a tab. In a patch they follow the patch mark.
fn is_indented(before: &[u8]) -> bool {
    let before = match before {
        [b'+' | b'-', rest @ ..] if rest.starts_with(b"    ") || rest.starts_with(b"\t") => rest,
        _ => before,
    };
    let blanks = before.iter().take(4).take_while(|&&byte| byte == b' ').count();
    blanks == 4 || before.get(blanks) == Some(&b'\t')
}

/// Returns true if a string after `lead` is part of source code: it is assigned, passed, imported, or an entry of a
/// list or an object. A quotation in prose or in a message has a word before it.
fn is_source_string(lead: &[u8]) -> bool {
    let before = lead.iter().rev().take(LEAD_REACH).find(|byte| !matches!(byte, b' ' | b'\t' | b'\\'));
    let is_imported = || {
        let first = &lead[..lead.len().min(LEAD_REACH)];
        let mut words = first.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'#'));
        words
            .find(|word| !word.is_empty())
            .is_some_and(|word| matches!(word, b"import" | b"export" | b"#include"))
    };
    before.is_some_and(|byte| matches!(byte, b'=' | b'(' | b'[' | b'{' | b',' | b':' | b'+')) || is_imported()
}

/// The length of the shortest fence.
const MIN_FENCE: usize = 3;
/// The maximum number of backticks in a row that stay in the content. A fence is longer than this.
const MAX_RUN: usize = 16;
/// The maximum number of bytes that a fence adds to the content.
pub const FENCE_BYTES: usize = 2 * (MAX_RUN + 1) + "text\n\n".len();

/// Puts text into a fence that is longer than any fence inside it, so that nothing inside can end it.
#[must_use]
pub fn fenced(content: &str) -> String {
    fenced_as("text", content)
}

/// Puts text into a fence with a language name.
#[must_use]
pub fn fenced_as(language: &str, content: &str) -> String {
    let longest = |content: &str| content.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let content =
        if longest(content) > MAX_RUN { Cow::Owned(shortened(content)) } else { Cow::Borrowed(content) };
    let fence = "`".repeat(MIN_FENCE.max(longest(&content) + 1));
    format!("{fence}{language}\n{}\n{fence}", content.trim_end_matches('\n'))
}

/// Shortens runs of backticks to at most [`MAX_RUN`].
fn shortened(content: &str) -> String {
    let mut run = 0;
    let stays = |letter: &char| {
        run = if *letter == '`' { run + 1 } else { 0 };
        run <= MAX_RUN
    };
    content.chars().filter(stays).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_the_same_for_pieces_of_any_size() {
        let text =
            "a\n  ```rust\nlet x;\n~~~\n``\n````\nb\n~~~~ c ` d\n```\n~~~\nin it\n~~~~~ \nout ```\n```a`b\n";
        let whole = |text: &str| {
            let mut fences = Fences::new();
            fences.push(text);
            fences.open().map(Fence::marks)
        };
        for size in 1..9 {
            let mut fences = Fences::new();
            for (at, piece) in text.as_bytes().chunks(size).enumerate() {
                fences.push(std::str::from_utf8(piece).expect("the text is ASCII"));
                let end = (at * size + size).min(text.len());
                assert_eq!(fences.open().map(Fence::marks), whole(&text[..end]), "{size} {end}");
            }
        }
        let at = |line: &str| {
            let place = text.find(line).expect("the text contains the line");
            whole(&text[..place])
        };
        assert_eq!(at("let x").as_deref(), Some("```"));
        assert_eq!(at("b\n").as_deref(), None);
        assert_eq!(at("in it").as_deref(), Some("~~~~"));
        assert_eq!(at("out").as_deref(), None);
        assert_eq!(whole(text), None);
    }

    #[test]
    fn a_code_block_ends_with_its_block_quote() {
        for (text, expected) in [
            ("> ```\n> a\n", Some("> ```")),
            (">```\n>a\n", Some("> ```")),
            ("> > ~~~\n> > a\n", Some("> > ~~~")),
            ("> ```\n> a\n> ```\n", None),
            ("> ```\n> a\nb\n", None),
            ("> > ```\n> a\n", None),
            // A quote inside a block has no meaning of its own.
            ("```\n> ```\n", Some("```")),
            ("> ```\n> > ```\n", Some("> ```")),
        ] {
            let mut fences = Fences::new();
            fences.push(text);
            assert_eq!(fences.open().map(Fence::marks).as_deref(), expected, "{text:?}");
        }
        let long = format!("> ```\n{}\n", "a".repeat(MAX_FENCE_LINE + 1));
        let mut fences = Fences::new();
        fences.push(&long);
        assert_eq!(fences.open(), None);
        for (text, expected) in
            [(">     /home/me", true), ("> ```\n> /home/me", true), ("> see /home/me", false)]
        {
            let at = text.find("/home").expect("the text contains a home directory");
            assert_eq!(CodeAt::default().is_code(text, at), expected, "{text:?}");
        }
    }

    #[test]
    fn content_cannot_end_its_fence_and_a_fence_has_a_maximum_length() {
        for (content, fence) in [("a", 3), ("```\nb\n```", 4), ("`````", 6)] {
            let fence = "`".repeat(fence);
            assert_eq!(fenced(content), format!("{fence}text\n{content}\n{fence}"));
        }
        let long = fenced(&"`".repeat(100_000));
        assert!(long.len() <= MAX_RUN + FENCE_BYTES, "{}", long.len());
    }
}
