//! Where a Markdown text is code: in fenced blocks, on indented lines, and in strings of source.

use memchr::{memchr, memchr2_iter};

/// Longer lines are no fences.
const FENCE_LINE: usize = 256;

/// Nobody quotes deeper.
const MOST_QUOTES: usize = 16;

/// How much is looked at before a quote, and of the beginning of its line.
const LEAD_REACH: usize = 64;

/// The marks that opened a fenced block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    mark: u8,
    count: usize,
    /// How many block quotes it stands in.
    depth: usize,
}

impl Fence {
    /// The marks without a line end: they open such a block, and close it.
    #[must_use]
    pub fn marks(self) -> String {
        "> ".repeat(self.depth) + &char::from(self.mark).to_string().repeat(self.count)
    }

    /// The fence that a line in `depth` block quotes is, and what stands behind its marks. Blocks in lists are indented, so
    /// any blanks may lead.
    fn of(line: &str, depth: usize) -> Option<(Self, &str)> {
        let line = line.trim_start_matches([' ', '\t']);
        let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let count = line.bytes().take_while(|&byte| byte == mark).count();
        (count >= 3).then(|| (Self { mark, count, depth }, &line[count..]))
    }
}

/// Reads a text in pieces of any size, and knows whether its end is in a fenced block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fences {
    open: Option<Fence>,
    /// The line that has begun, as far as it can be a fence.
    line: String,
}

impl Fences {
    pub(crate) const fn new() -> Self {
        Self { open: None, line: String::new() }
    }

    /// The block that the line under way belongs to.
    pub(crate) fn open(&self) -> Option<Fence> {
        self.open
    }

    pub(crate) fn push(&mut self, mut part: &str) {
        while let Some(end) = memchr(b'\n', part.as_bytes()) {
            if self.line.is_empty() {
                self.turn(&part[..end]);
            } else {
                self.hold(&part[..end]);
                let line = std::mem::take(&mut self.line);
                self.turn(&line);
            }
            part = &part[end + 1..];
        }
        self.hold(part);
    }

    fn hold(&mut self, part: &str) {
        if self.line.len() <= FENCE_LINE {
            let most = FENCE_LINE + 1 - self.line.len();
            self.line.push_str(&part[..super::ceil_char_boundary(part, most)]);
        }
    }

    /// A whole line opens a block, closes it, or does neither. A block ends with the quote that it stands in.
    fn turn(&mut self, line: &str) {
        let (depth, content) = unquoted(line, self.open.map_or(MOST_QUOTES, |open| open.depth));
        if self.open.is_some_and(|open| depth < open.depth) {
            self.open = None;
        }
        if line.len() > FENCE_LINE {
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

/// How many block quotes a line stands in, at most `most`, and what stands behind their marks.
fn unquoted(line: &str, most: usize) -> (usize, &str) {
    let (mut depth, mut rest) = (0, line);
    while depth < most
        && let Some(inner) = rest.trim_start_matches(' ').strip_prefix('>')
    {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
        depth += 1;
    }
    (depth, rest)
}

/// Answers for places of one text, from its front to its end, whether they are code. Reads the text once.
#[derive(Debug, Default)]
pub(crate) struct CodeAt {
    fences: Fences,
    /// Where the line begins that was asked for last.
    line: usize,
    /// How far that line was looked at for quotes.
    looked: usize,
    /// The quote that is open there.
    quote: Option<usize>,
}

impl CodeAt {
    /// Whether the text is code at a place, which is not before one that was asked for earlier.
    pub(crate) fn is_code(&mut self, text: &str, at: usize) -> bool {
        while let Some(length) = text.get(self.line..at).and_then(|rest| memchr(b'\n', rest.as_bytes())) {
            self.fences.turn(&text[self.line..self.line + length]);
            self.line += length + 1;
            (self.looked, self.quote) = (self.line, None);
        }
        let bytes = text.as_bytes();
        self.look_for_quotes(bytes, at);
        self.fences.open().is_some()
            || is_indented(unquoted(&text[self.line.min(at)..at], MOST_QUOTES).1.as_bytes())
            || self.quote.is_some_and(|quote| is_of_source(&bytes[self.line..quote]))
    }

    fn look_for_quotes(&mut self, bytes: &[u8], end: usize) {
        let from = self.looked.min(end);
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
        self.looked = end;
    }
}

/// Four blanks or a tab, in a patch behind its mark.
fn is_indented(before: &[u8]) -> bool {
    let before = match before {
        [b'+' | b'-', rest @ ..] if rest.starts_with(b"    ") || rest.starts_with(b"\t") => rest,
        _ => before,
    };
    let blanks = before.iter().take(4).take_while(|&&byte| byte == b' ').count();
    blanks == 4 || before.get(blanks) == Some(&b'\t')
}

/// Whether a string behind this stands where source has one: assigned, passed, or an entry of something. What prose and
/// messages quote has a word before it.
fn is_of_source(lead: &[u8]) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size_come_to_the_same() {
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
                fences.push(std::str::from_utf8(piece).expect("ASCII"));
                let end = (at * size + size).min(text.len());
                assert_eq!(fences.open().map(Fence::marks), whole(&text[..end]), "{size} {end}");
            }
        }
        let at = |line: &str| {
            let place = text.find(line).expect("a line of it");
            whole(&text[..place])
        };
        assert_eq!(at("let x").as_deref(), Some("```"));
        assert_eq!(at("b\n").as_deref(), None);
        assert_eq!(at("in it").as_deref(), Some("~~~~"));
        assert_eq!(at("out").as_deref(), None);
        assert_eq!(whole(text), None);
    }

    #[test]
    fn code_in_a_block_quote_ends_with_it() {
        for (text, expected) in [
            ("> ```\n> a\n", Some("> ```")),
            (">```\n>a\n", Some("> ```")),
            ("> > ~~~\n> > a\n", Some("> > ~~~")),
            ("> ```\n> a\n> ```\n", None),
            ("> ```\n> a\nb\n", None),
            ("> > ```\n> a\n", None),
            // A quote in a block is what the block says.
            ("```\n> ```\n", Some("```")),
            ("> ```\n> > ```\n", Some("> ```")),
        ] {
            let mut fences = Fences::new();
            fences.push(text);
            assert_eq!(fences.open().map(Fence::marks).as_deref(), expected, "{text:?}");
        }
        let long = format!("> ```\n{}\n", "a".repeat(FENCE_LINE + 1));
        let mut fences = Fences::new();
        fences.push(&long);
        assert_eq!(fences.open(), None);
        for (text, expected) in
            [(">     /home/me", true), ("> ```\n> /home/me", true), ("> see /home/me", false)]
        {
            let at = text.find("/home").expect("a home");
            assert_eq!(CodeAt::default().is_code(text, at), expected, "{text:?}");
        }
    }
}
