//! Shortens long stack traces. The innermost frames and the project's own frames stay, and a line gives the number of
//! removed frames.
//!
//! Only certain traces are shortened: an error precedes them, and all frames have the form of one runtime. Lists of
//! code locations and of callers look like traces, and an answer is often such a list.

use std::collections::HashSet;

use memchr::{memchr, memmem, memrchr};

use crate::figures::counted;
use crate::redact::{Edit, STACK_FRAMES};

/// The number of innermost frames that stay in every trace.
const INNERMOST: usize = 5;
/// The minimum number of adjacent frames that a line replaces.
const MIN_REMOVED: usize = 2;
/// The maximum number of lines from the name of the error to the first frame.
const MAX_MESSAGE_LINES: usize = 12;
/// The maximum examined length of a line, in bytes. A longer line is not a frame.
const MAX_LINE: usize = 512;
/// Path parts of code that is not the project's: packages, and the runtimes' own code.
const FOREIGN_PATHS: [&[u8]; 10] = [
    b"node_modules/",
    b"node_modules\\",
    b"/rustc/",
    b"/.cargo/registry/",
    b"/.cargo/git/",
    b"site-packages/",
    b"dist-packages/",
    b"/lib/python",
    b"\\Lib\\",
    b"/_/src/",
];
/// Prefixes of locations inside a JavaScript runtime.
const FOREIGN_PLACES: [&[u8]; 7] =
    [b"node:", b"internal/", b"<anonymous>", b"native", b"index ", b"ext:", b"bun:"];
/// Prefixes of names in the libraries of Java, C# and Rust.
const FOREIGN_NAMES: [&[u8]; 36] = [
    b"java.",
    b"javax.",
    b"jdk.",
    b"sun.",
    b"com.sun.",
    b"jakarta.",
    b"kotlin.",
    b"kotlinx.",
    b"scala.",
    b"groovy.",
    b"org.codehaus.groovy.",
    b"org.junit.",
    b"junit.",
    b"org.gradle.",
    b"org.apache.",
    b"org.springframework.",
    b"org.hibernate.",
    b"org.eclipse.jetty.",
    b"io.netty.",
    b"reactor.",
    b"System.",
    b"Microsoft.",
    b"Xunit.",
    b"NUnit.",
    b"std::",
    b"core::",
    b"alloc::",
    b"test::",
    b"tokio::",
    b"futures_util::",
    b"rayon_core::",
    b"backtrace::",
    b"anyhow::",
    b"rust_",
    b"__",
    b"_start",
];

/// Words before the name of an error without a message.
const BEFORE_ERRORS: [&[u8]; 5] = [b"Caused by: ", b"Suppressed: ", b"[cause]: ", b"Uncaught ", b"\" "];

/// The frame format of a runtime.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `at f (file:1:2)`. The innermost frame comes first, as in all styles except Python's.
    JavaScript,
    /// `at a.b.C.f(C.java:1)`.
    Java,
    /// `at A.B.F(String s) in file:line 1`.
    CSharp,
    /// `3: path::to::f`, with or without an `at file:1:2` line below.
    Rust,
    /// `File "x", line 1, in f` and its source lines.
    Python,
}

struct Frame {
    start: usize,
    /// The end of the frame's last line, without the line end.
    end: usize,
}

/// A sequence of frames of one style.
struct Block {
    style: Style,
    indent: usize,
    frames: Vec<Frame>,
    /// The number of the last frame, if frames have numbers.
    number: usize,
}

/// Collects the edits for every long trace.
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
        let frame = Frame { start, end: line_end };
        match &mut block {
            Some(open) if open.continues_with(line, indent, style) => open.extend(line_end),
            Some(open) if style == Some(open.style) && open.follows(&line[indent..]) => {
                open.number = number_of(&line[indent..]);
                open.frames.push(frame);
            }
            _ => {
                close(bytes, block.take(), edits);
                let number = number_of(&line[indent..]);
                // Rust backtraces count from 0.
                let opens = |style: &Style| *style != Style::Rust || number == 0;
                block = style.filter(opens).map(|style| Block { style, indent, frames: vec![frame], number });
            }
        }
        start = end + 1;
    }
    close(bytes, block, edits);
}

impl Block {
    /// Returns true if a frame directly follows the last one.
    fn follows(&self, frame: &[u8]) -> bool {
        self.style != Style::Rust || number_of(frame) == self.number + 1
    }

    /// Returns true if a line belongs to the last frame without being a frame itself.
    fn continues_with(&self, line: &[u8], indent: usize, style: Option<Style>) -> bool {
        match self.style {
            Style::JavaScript | Style::Java | Style::CSharp => false,
            Style::Rust => style == Some(Style::JavaScript) && indent > self.indent,
            Style::Python => {
                style.is_none()
                    && indent < line.len()
                    && (indent > self.indent || line[indent..].starts_with(b"[Previous line repeated"))
            }
        }
    }

    fn extend(&mut self, end: usize) {
        if let Some(last) = self.frames.last_mut() {
            last.end = end;
        }
    }

    /// Returns true for each frame that stays.
    fn retained(&self, bytes: &[u8]) -> Vec<bool> {
        let count = self.frames.len();
        let innermost = if self.style == Style::Python { count - INNERMOST..count } else { 0..INNERMOST };
        let mut seen = HashSet::new();
        let keeps = |(at, frame): (usize, &Frame)| {
            let text = bytes[frame.start..frame.end].trim_ascii();
            // In a recursion, only the number distinguishes a frame from the one before.
            let text = if self.style == Style::Rust { without_number(text) } else { text };
            let is_new = seen.insert(text);
            innermost.contains(&at) || (is_new && self.style.is_own(text))
        };
        self.frames.iter().enumerate().map(keeps).collect()
    }
}

fn close(bytes: &[u8], block: Option<Block>, edits: &mut Vec<Edit>) {
    let Some(block) = block.filter(|block| block.frames.len() > INNERMOST) else { return };
    let first = block.frames[0].start;
    if !follows_an_error(bytes, first, block.style) {
        return;
    }
    let indent = String::from_utf8_lossy(&bytes[first..first + block.indent]);
    let retained = block.retained(bytes);
    let mut at = 0;
    while at < retained.len() {
        let omitted = retained[at..].iter().take_while(|is_retained| !**is_retained).count();
        if omitted >= MIN_REMOVED {
            let range = block.frames[at].start..block.frames[at + omitted - 1].end;
            let note = format!("{indent}... {} omitted", counted(omitted, "more stack frame"));
            edits.push(Edit::new(range, note, STACK_FRAMES));
        }
        at += omitted.max(1);
    }
}

/// Returns true if the text before the first frame announces a trace.
fn follows_an_error(bytes: &[u8], first: usize, style: Style) -> bool {
    let mut before = lines_before(bytes, first);
    match style {
        Style::Python => {
            before.next().is_some_and(|line| line.ends_with(b"Traceback (most recent call last):"))
        }
        Style::Rust => before.next().is_some_and(|line| {
            let word = b"stack backtrace:";
            line.len() >= word.len() && line[line.len() - word.len()..].eq_ignore_ascii_case(word)
        }),
        Style::JavaScript | Style::Java | Style::CSharp => {
            before.take(MAX_MESSAGE_LINES).take_while(|line| !is_list_item(line)).any(names_an_error)
        }
    }
}

/// Returns the lines above a position, the nearest first, without the blanks around them.
fn lines_before(bytes: &[u8], at: usize) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes[..at].strip_suffix(b"\n");
    std::iter::from_fn(move || {
        let text = rest?;
        let start = memrchr(b'\n', text).map_or(0, |end| end + 1);
        rest = start.checked_sub(1).map(|end| &text[..end]);
        Some(text[start..].trim_ascii())
    })
}

/// Returns true if a line is a list item or a heading.
fn is_list_item(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    [&b"- "[..], b"* ", b"+ ", b"#", b"|"].iter().any(|mark| line.starts_with(mark))
        || (digits > 0 && [&b". "[..], b") "].iter().any(|mark| line[digits..].starts_with(mark)))
}

/// Returns true if a line is the head of a trace: the name of an error, alone or with a message.
fn names_an_error(line: &[u8]) -> bool {
    let line = &line[..line.len().min(MAX_LINE)];
    [&b"Error"[..], b"Exception", b"Throwable"].iter().any(|kind| {
        memmem::find_iter(line, kind).any(|at| {
            let mut rest = &line[at + kind.len()..];
            if let Some(code) = rest.strip_prefix(b" [") {
                rest = memchr(b']', code).map_or(rest, |end| &code[end + 1..]);
            }
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$');
            let name = line[..at].iter().rev().take_while(|byte| is_part(byte)).count();
            let before = &line[..at - name];
            let is_alone = rest.is_empty()
                && (before.is_empty() || BEFORE_ERRORS.iter().any(|word| before.ends_with(word)));
            let has_message =
                rest.strip_prefix(b": ").is_some_and(|message| !message.trim_ascii().is_empty());
            is_alone || has_message
        })
    })
}

impl Style {
    /// Returns true if a frame seems to be in the project's code.
    fn is_own(self, frame: &[u8]) -> bool {
        let frame = &frame[..frame.len().min(MAX_LINE)];
        if FOREIGN_PATHS.iter().any(|part| memmem::find(frame, part).is_some()) {
            return false;
        }
        let name = frame.strip_prefix(b"at ").unwrap_or(frame);
        let is_of = |name: &[u8], known: &[&[u8]]| known.iter().any(|start| name.starts_with(start));
        match self {
            Self::JavaScript => {
                let place = memrchr(b'(', name).map_or(name, |open| &name[open + 1..]);
                !is_of(place, &FOREIGN_PLACES)
            }
            Self::Java => {
                // `java.base/java.util.List.of(List.java:1)`
                let end = memchr(b'(', name).unwrap_or(name.len());
                let start = memrchr(b'/', &name[..end]).map_or(0, |slash| slash + 1);
                !is_of(&name[start..], &FOREIGN_NAMES)
            }
            Self::CSharp => !is_of(name, &FOREIGN_NAMES),
            Self::Rust => {
                let name = name
                    .strip_prefix(b"0x")
                    .map_or(name, |code| memmem::find(code, b" - ").map_or(code, |end| &code[end + 3..]));
                let name = name.trim_ascii_start();
                let name = name.strip_prefix(b"<").unwrap_or(name);
                memmem::find(name, b"::").is_some() && !is_of(name, &FOREIGN_NAMES)
            }
            Self::Python => memmem::find(frame, b"File \"<").is_none(),
        }
    }
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
        b'a' if line.starts_with(b"at ") && line.len() <= MAX_LINE => at_style(&line[3..]),
        b'F' if line.starts_with(b"File \"") => {
            memmem::find(&line[..line.len().min(MAX_LINE)], b"\", line ").map(|_| Style::Python)
        }
        b'0'..=b'9' => {
            let name = without_number(line);
            (name.len() < line.len() && !name.is_empty()).then_some(Style::Rust)
        }
        _ => None,
    }
}

/// Returns a numbered frame without its number, or the whole line if it has no number.
fn without_number(line: &[u8]) -> &[u8] {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match line[digits..].strip_prefix(b": ") {
        Some(name) if (1..=4).contains(&digits) => name.trim_ascii_start(),
        _ => line,
    }
}

/// Returns the runtime whose frame follows `at `.
fn at_style(rest: &[u8]) -> Option<Style> {
    let rest = rest.trim_ascii_end();
    if rest.ends_with(b")") {
        let open = memrchr(b'(', rest)?;
        let name = &rest[..open];
        let place = &rest[open + 1..rest.len() - 1];
        let is_name = name.contains(&b'.') && !name.contains(&b' ');
        if is_name && is_java_place(place) {
            return Some(Style::Java);
        }
        let is_unplaced =
            [&b"<anonymous>"[..], b"native", b"native code"].contains(&place) || place.starts_with(b"index ");
        if name.ends_with(b" ") && (has_line_and_column(place) || is_unplaced) {
            return Some(Style::JavaScript);
        }
        // Parameter types.
        return is_name.then_some(Style::CSharp);
    }
    if has_line_and_column(rest) && !rest.contains(&b' ') {
        return Some(Style::JavaScript);
    }
    if rest.ends_with(b"]") {
        // `at a.C.f(C.java:1) ~[a.jar:1.0]`
        let end = memmem::rfind(rest, b") ")?;
        return at_style(&rest[..=end]).filter(|style| *style == Style::Java);
    }
    let line = memmem::rfind(rest, b":line ")?;
    let is_place = memmem::find(&rest[..line], b") in ").is_some() && is_number(&rest[line + 6..]);
    is_place.then_some(Style::CSharp)
}

/// Recognizes `C.java:1`, `Native Method` and `Unknown Source`.
fn is_java_place(place: &[u8]) -> bool {
    let of_file = || {
        let (name, line) = place.split_at(memrchr(b':', place).unwrap_or(place.len()));
        let is_line = line.is_empty() || is_number(&line[1..]);
        is_line
            && [&b".java"[..], b".kt", b".scala", b".groovy", b".clj"].iter().any(|end| name.ends_with(end))
    };
    [&b"Native Method"[..], b"Unknown Source"].contains(&place) || of_file()
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Recognizes `a.js:1:2`.
fn has_line_and_column(place: &[u8]) -> bool {
    let mut parts = place.rsplitn(3, |byte| *byte == b':');
    parts.next().is_some_and(is_number)
        && parts.next().is_some_and(is_number)
        && parts.next().is_some_and(|file| !file.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::{Sanitizer, SanitizerOptions};

    fn folded(text: &str) -> String {
        Sanitizer::new(SanitizerOptions::default()).sanitize(text).into_string()
    }

    fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
        (0..count).map(line).collect()
    }

    /// Each row has a head, frames in code of others, and a flag that is set if the innermost frames come first.
    const TRACES: [(&str, &str, &str, bool); 9] = [
        ("js", "TypeError: x is not a function", "    at f# (node:internal/a:#:1)\n", true),
        (
            "js packages",
            "AssertionError [ERR_ASSERTION]: 1 == 2\n\n1 !== 2\n",
            "    at async f# (/a/node_modules/b/c.js:#:1)\n",
            true,
        ),
        ("js anonymous", "Uncaught Error: x", "    at file:///a/node_modules/b.js:#:1\n", true),
        (
            "java",
            "Exception in thread \"main\" java.lang.IllegalStateException: x",
            "\tat java.base/java.util.F.f#(F.java:#)\n",
            true,
        ),
        (
            "spring",
            "Caused by: a.b.OwnException",
            "\tat org.springframework.F.f#(F.java:#) ~[spring.jar:5.3]\n",
            true,
        ),
        (
            "c#",
            "Unhandled exception. System.InvalidOperationException: x",
            "   at System.C.F#(String s) in /_/src/a.cs:line #\n",
            true,
        ),
        (
            "rust",
            "stack backtrace:",
            "   #: <T as core::f#>::call\n             at /rustc/1/a.rs:#:1\n",
            true,
        ),
        ("rust short", "Stack backtrace:", "   #: std::f#\n", true),
        (
            "python",
            "Traceback (most recent call last):",
            "  File \"/usr/lib/python3.12/a.py\", line #, in f#\n    call(#)\n",
            false,
        ),
    ];

    #[test]
    fn a_trace_of_five_frames_is_unchanged() {
        let text = format!("Error: x\n{}done\n", lines(5, |n| format!("    at f{n} (node:a:{n}:1)\n")));
        assert_eq!(folded(&text), text);
    }

    #[test]
    fn the_innermost_frames_stay_in_every_style() {
        for (label, head, frame, first) in TRACES {
            let frames = |range: std::ops::Range<usize>| -> String {
                range.map(|n| frame.replace('#', &n.to_string())).collect()
            };
            let indent: String = frame.chars().take_while(|c| c.is_whitespace()).collect();
            let note = format!("{indent}... 3 more stack frames omitted\n");
            let text = format!("{head}\n{}tail\n", frames(0..8));
            let expected =
                if first { format!("{}{note}", frames(0..5)) } else { format!("{note}{}", frames(3..8)) };
            let shortened = folded(&text);
            assert_eq!(shortened, format!("{head}\n{expected}tail\n"), "{label}");
            assert_eq!(folded(&shortened), shortened, "{label}");
            // Without an error before them, frames may be any list.
            let list = format!("These are the callers:\n\n{}", frames(0..8));
            assert_eq!(folded(&list), list, "{label}");
        }
    }

    #[test]
    fn frames_of_the_project_stay_at_any_depth() {
        for ((label, head, frame, _), own) in TRACES.into_iter().zip([
            "    at load (/home/me/app/src/config.ts:12:7)\n",
            "    at async load (src/config.ts:12:7)\n",
            "    at file:///home/me/app/src/config.ts:12:7\n",
            "\tat com.acme.Shop.load(Shop.java:12)\n",
            "\tat com.acme.Shop.load(Shop.kt:12) ~[classes/:na]\n",
            "   at Acme.Shop.Load(String path) in /home/me/app/Shop.cs:line 12\n",
            "   8: app::config::load\n             at ./src/config.rs:12:7\n",
            "   8: app::config::load\n",
            "  File \"/home/me/app/config.py\", line 12, in load\n    parse(text)\n",
        ]) {
            let frames = |range: std::ops::Range<usize>| -> String {
                range.map(|n| frame.replace('#', &n.to_string())).collect()
            };
            let text = format!("{head}\n{}{own}{}tail\n", frames(0..8), frames(9..20));
            let shortened = folded(&text);
            assert!(shortened.contains(own), "{label}: {shortened}");
            assert_eq!(shortened.matches("more stack frames omitted").count(), 2, "{label}: {shortened}");
            let deep = format!(
                "{head}\n{}tail\n",
                lines(9, |n| own
                    .replace("oad", &format!("oad{n}"))
                    .replace("config.", &format!("config{n}."))
                    .replace("  8:", &format!("  {n}:")))
            );
            assert_eq!(folded(&deep), deep, "{label}: all frames are the project's");
        }
    }

    #[test]
    fn a_recursion_is_shown_once() {
        let text = format!(
            "RangeError: too deep\n{}",
            "    at f (src/a.js:1:1)\n    at g (src/a.js:2:1)\n".repeat(50)
        );
        let expected = format!(
            "RangeError: too deep\n{}    at f (src/a.js:1:1)\n    ... 95 more stack frames omitted\n",
            "    at f (src/a.js:1:1)\n    at g (src/a.js:2:1)\n".repeat(2)
        );
        assert_eq!(folded(&text), expected);
    }

    #[test]
    fn lists_that_are_not_traces_are_unchanged() {
        for line in ["  at place # (today)\n", "at home, room # (upstairs)\n", "  #: std::io\n"] {
            let text: String = (1..20).map(|n| line.replace('#', &n.to_string())).collect();
            assert_eq!(folded(&text), text);
        }
        let jumps: String = [0, 3, 9, 27, 81, 243, 700].map(|n| format!("  {n}: a::f\n")).concat();
        assert_eq!(folded(&jumps), jumps);
        let numbered = format!("steps:\n{}", lines(9, |n| format!("   {n}: std::step\n")));
        assert_eq!(folded(&numbered), numbered);
        let list =
            format!("1. TypeError: x is thrown\n{}", lines(9, |n| format!("    at f (node:a:{n}:1)\n")));
        assert_eq!(folded(&list), list, "a list item is not an error");
    }

    /// Explorers and reviewers answer with such lists.
    #[test]
    fn two_hundred_reports_with_lists_are_unchanged() {
        let intros = [
            "I found these places:\n\n",
            "## Callers of `parseError`\n",
            "TypeError: these places throw it:\n",
            "Error: the config is read in many places, all of them below\n",
            "It fails with `Error: ENOENT: no such file`, which is thrown\n",
            "The exception java.lang.IllegalStateException: closed comes from one of\n\n",
            "Traceback of the value through the code:\n",
            "stack backtrace, by hand:\n",
            "Places that catch ValidationError: none of them logs it\n",
            "",
        ];
        let items = [
            "at src/a#.ts:# uses the old name\n",
            "    at src/a#.ts:#\n",
            "at src/a#.ts:#:7\n",
            "    at load# (src/a.ts:#:3)\n",
            "  at com.acme.Shop.load#(Shop.java:#)\n",
            "   at Acme.Shop.Load#() in src/Shop.cs:line #\n",
            "- src/a#.ts:#\n",
            "#. `load` at src/a.ts:#\n",
            "src/a.ts:#: const config = load(#)\n",
            "  #: app::config::load\n             at ./src/config.rs:#:1\n",
            "  File \"src/a#.py\", line #, in load\n    load()\n",
            "| load# | src/a.ts:# |\n",
            "    at load# (node_modules/acme/src/a.ts:#)\n",
            "  called by load# (src/a.ts:#:1)\n",
            "at line # of src/a.ts (twice)\n",
            "at home/user#/src/b.rs:# (see `load`)\n",
            "  at Module._load# (lib/loader.js:#)\n",
            "File \"src/a#.py\", line #\n",
            "#: src/a.ts:#\n",
            "\tat src/deep/nested/path/file#.go:# +0x1d\n",
        ];
        let mut checked = 0;
        for intro in intros {
            for item in items {
                let list: String = (1..22).map(|n| item.replace('#', &n.to_string())).collect();
                let text = format!("{intro}{list}\nThat is all.\n");
                assert_eq!(folded(&text), text);
                checked += 1;
            }
        }
        assert_eq!(checked, 200);
    }

    #[test]
    fn text_after_the_last_frame_stays_unless_it_belongs_to_the_frame() {
        let frames = |count: usize| lines(count, |n| format!("   {n}: std::f{n}\n"));
        let note = "   ... 3 more stack frames omitted\n";
        for after in ["        not a frame, but deeper\n", "at b (b.js:1:1)\n"] {
            let folded = folded(&format!("stack backtrace:\n{}{after}", frames(8)));
            assert_eq!(folded, format!("stack backtrace:\n{}{note}{after}", frames(5)));
        }
    }
}
