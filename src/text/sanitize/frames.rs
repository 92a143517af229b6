//! Long stack traces: five frames stay, one line says how many are gone. Only traces: lists of places (`at home (today)`) and
//! of paths (`1: std::io`) look like them.

use memchr::memchr;

use crate::text::figures::counted;
use crate::text::redact::{Edit, STACK_FRAMES};

/// Frames that stay of every contiguous run.
const KEPT: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `at f (file:1:2)`: JavaScript, Java, C#. The innermost frame comes first, so the first ones stay.
    At,
    /// `3: path::to::f`, with or without an `at file` line below: Rust. The first ones stay.
    Numbered,
    /// `File "x", line 1, in f` and its source lines: Python. The innermost frame comes last, so the last ones stay.
    Python,
}

struct Block {
    style: Style,
    indent: usize,
    /// Where its frames begin.
    starts: Vec<usize>,
    /// End of the last frame, line end not included.
    end: usize,
    /// The number of the last frame, where frames have numbers, and whether a place below one shows that they are frames.
    number: usize,
    has_places: bool,
}

/// Collects one edit for every run of more than five frames.
pub(super) fn collect(text: &str, edits: &mut Vec<Edit>) {
    let bytes = text.as_bytes();
    let mut block: Option<Block> = None;
    let mut start = 0;
    while start < bytes.len() {
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        if block.is_none() && !matches!(bytes[start], b' ' | b'\t' | b'a' | b'F' | b'0'..=b'9') {
            start = end + 1;
            continue;
        }
        let line = bytes[start..end].strip_suffix(b"\r").unwrap_or(&bytes[start..end]);
        let line_end = start + line.len();
        let indent = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
        let style = frame_style(&line[indent..]);
        match &mut block {
            Some(open) if open.continues_with(line, indent, style) => {
                open.end = line_end;
                open.has_places |= open.style == Style::Numbered;
            }
            Some(open) if style == Some(open.style) && open.counts(&line[indent..]) => {
                open.number = number_of(&line[indent..]);
                open.starts.push(start);
                open.end = line_end;
            }
            _ => {
                close(bytes, block.take(), edits);
                block = style.map(|style| {
                    let number = number_of(&line[indent..]);
                    // Backtraces count from 0, lists of other things from 1.
                    let has_places = style != Style::Numbered || number == 0;
                    Block { style, indent, starts: vec![start], end: line_end, number, has_places }
                });
            }
        }
        start = end + 1;
    }
    close(bytes, block, edits);
}

impl Block {
    /// Whether a frame follows on the last one.
    fn counts(&self, frame: &[u8]) -> bool {
        self.style != Style::Numbered || number_of(frame) == self.number + 1
    }

    /// Whether a line belongs to the last frame without being a frame itself.
    fn continues_with(&self, line: &[u8], indent: usize, style: Option<Style>) -> bool {
        match self.style {
            Style::At => false,
            Style::Numbered => style == Some(Style::At) && indent > self.indent,
            Style::Python => {
                style.is_none()
                    && indent < line.len()
                    && (indent > self.indent || line[indent..].starts_with(b"[Previous line repeated"))
            }
        }
    }
}

fn close(bytes: &[u8], block: Option<Block>, edits: &mut Vec<Edit>) {
    let Some(Block { style, indent, starts, end, .. }) =
        block.filter(|block| block.has_places && block.starts.len() > KEPT)
    else {
        return;
    };
    let gone = starts.len() - KEPT;
    let (range, line_end) = match style {
        Style::At | Style::Numbered => (starts[KEPT]..end, ""),
        Style::Python => (starts[0]..starts[gone], "\n"),
    };
    let indent = String::from_utf8_lossy(&bytes[starts[0]..starts[0] + indent]);
    let note = format!("{indent}... {} left out{line_end}", counted(gone, "more stack frame"));
    edits.push(Edit::new(range, note, STACK_FRAMES));
}

fn number_of(frame: &[u8]) -> usize {
    frame
        .iter()
        .take(5)
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
}

fn frame_style(line: &[u8]) -> Option<Style> {
    match line.first()? {
        b'a' if line.starts_with(b"at ") => is_at_frame(&line[3..]).then_some(Style::At),
        b'F' if line.starts_with(b"File \"") => {
            let tail = &line[line.len().saturating_sub(TAIL)..];
            memchr::memmem::find(tail, b"\", line ").map(|_| Style::Python)
        }
        b'0'..=b'9' => {
            let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let name = line[digits..].strip_prefix(b": ")?;
            let is_path = memchr::memmem::find(&name[..name.len().min(TAIL)], b"::").is_some();
            (digits <= 4 && is_path && !name.contains(&b' ')).then_some(Style::Numbered)
        }
        _ => None,
    }
}

/// How much of a line is looked at; a longer one is no frame that anybody wants to count.
const TAIL: usize = 512;

fn is_at_frame(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_end();
    let tail = &rest[rest.len().saturating_sub(TAIL)..];
    match rest.last() {
        Some(b')') => {
            let Some(open) = tail.iter().rposition(|&byte| byte == b'(') else { return false };
            let (name, place) = (&tail[..open], &tail[open + 1..]);
            // `f (a.js:1:2)`, `C.f(C.java:1)`, `C.f(Native Method)`; C# has the types of the parameters there.
            let is_place = place
                .split(|&byte| byte == b':')
                .skip(1)
                .any(|part| part.first().is_some_and(u8::is_ascii_digit))
                || [&b"Native Method)"[..], b"Unknown Source)", b"<anonymous>)", b"native)", b"native code)"]
                    .contains(&place);
            is_place || (name.contains(&b'.') && !name.contains(&b' '))
        }
        Some(b'0'..=b'9') => {
            let digits = tail.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let before = &tail[..tail.len() - digits];
            before.ends_with(b":") || before.ends_with(b":line ")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::text::{Sanitizer, SanitizerOptions};

    fn folded(text: &str) -> String {
        Sanitizer::new(SanitizerOptions::default()).sanitize(text).into_string()
    }

    fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
        (0..count).map(line).collect()
    }

    #[test]
    fn five_frames_stay_as_they_are() {
        let text = format!("Error: x\n{}done\n", lines(5, |n| format!("    at f{n} (a.js:{n}:1)\n")));
        assert_eq!(folded(&text), text);
    }

    #[test]
    fn the_innermost_frames_stay_in_every_style() {
        for (label, frame, first) in [
            ("js", "    at f# (a.js:#:1)\n", true),
            ("js anonymous", "    at file:///a.js:#:1\n", true),
            ("java", "\tat com.x.Y.f#(Y.java:#)\n", true),
            ("c#", "   at N.C.F#() in /a.cs:line #\n", true),
            ("rust", "   #: a::f#\n             at ./a.rs:#:1\n", true),
            ("rust short", "   #: a::f#\n", true),
            ("python", "  File \"a.py\", line #, in f#\n    call(#)\n", false),
        ] {
            let frames = |range: std::ops::Range<usize>| -> String {
                range.map(|n| frame.replace('#', &n.to_string())).collect()
            };
            let indent: String = frame.chars().take_while(|c| c.is_whitespace()).collect();
            let note = format!("{indent}... 3 more stack frames left out\n");
            let text = format!("head\n{}tail\n", frames(0..8));
            let expected =
                if first { format!("{}{note}", frames(0..5)) } else { format!("{note}{}", frames(3..8)) };
            assert_eq!(folded(&text), format!("head\n{expected}tail\n"), "{label}");
        }
    }

    #[test]
    fn lists_of_other_things_stay() {
        for line in ["  at place # (today)\n", "at home, room # (upstairs)\n", "  #: std::io\n"] {
            let text: String = (1..20).map(|n| line.replace('#', &n.to_string())).collect();
            assert_eq!(folded(&text), text);
        }
        let jumps: String = [0, 3, 9, 27, 81, 243, 700].map(|n| format!("  {n}: a::f\n")).concat();
        assert_eq!(folded(&jumps), jumps);
    }

    #[test]
    fn what_follows_the_last_frame_stays_unless_it_says_where_the_frame_is() {
        let frames = |count: usize| lines(count, |n| format!("   {n}: a::f{n}\n"));
        let note = "   ... 3 more stack frames left out\n";
        for after in ["        not a frame, but deeper\n", "at b (b.js:1:1)\n"] {
            let folded = folded(&format!("{}{after}", frames(8)));
            assert_eq!(folded, format!("{}{note}{after}", frames(5)));
        }
    }
}
