//! A JSON tokenizer that can stop at any byte and stores only the current key and number.
//!
//! It asks a [`Sink`] about each value. To skip a value, it counts brackets at any depth, without recursion. It does
//! not check skipped and raw values. All other values that it passes to the sink are valid JSON.

use memchr::memchr;

use super::unescape::{Step, Unescape};
use crate::floor_char_boundary;

/// The maximum depth of entered containers. Deeper containers are skipped.
const MAX_DEPTH: u32 = 64;
/// The maximum stored length of a key, in bytes. A longer key is cut, so it matches nothing.
const MAX_KEY: usize = 256;
/// The maximum stored length of a number, in bytes. A double never has more digits.
const MAX_WORD: usize = 64;

/// The kind of a value, which its first byte determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An object.
    Object,
    /// An array.
    Array,
    /// A string.
    String,
    /// A number, `true`, `false` or `null`.
    Word,
}

/// The sink's decision about a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Enter the container, or pass the string or word to the sink.
    Take,
    /// Pass the bytes to the sink as written, unchecked. For a string these are the bytes between the quotes, for a
    /// container all bytes. A word is handled as [`Verdict::Take`].
    Raw,
    /// Skip the value.
    Skip,
    /// Stop: the sink needs nothing more from this document.
    Finish,
}

/// A number or a literal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Word<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as written, cut at 64 bytes.
    Number(&'a str),
}

/// Chooses the wanted values of a document and receives them.
pub trait Sink {
    /// Receives a key. After [`Verdict::Skip`] its value is skipped without a call of [`Sink::value`].
    fn key(&mut self, key: &str) -> Verdict;
    /// Receives the start of a value: the value of the last key, or the next element of an array.
    fn value(&mut self, kind: Kind) -> Verdict;
    /// Receives a part of a string.
    fn text(&mut self, part: &str);
    /// Receives a part of a raw value.
    fn raw(&mut self, _part: &[u8]) {}
    /// Receives the end of a string or of a raw value.
    fn text_end(&mut self) -> Verdict;
    /// Receives a word.
    fn word(&mut self, word: Word<'_>);
    /// Receives the end of an entered container.
    fn close(&mut self);
}

/// The result of [`Skimmer::feed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No mistake so far. More input is needed, unless [`Skimmer::is_complete`] returns true.
    More,
    /// The sink needs nothing more.
    Finished,
    /// The input is not JSON.
    Broken,
}

/// The structural bytes outside of strings, for skipping a value.
const IS_STRUCTURE: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"\"{}[]";
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
};

/// Skips one value. The position in the value survives the end of a chunk.
#[derive(Debug, Clone, Default)]
pub struct Span {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Span {
    /// Starts after an opening bracket.
    #[must_use]
    pub fn container() -> Self {
        Self { depth: 1, ..Self::default() }
    }

    /// Starts after an opening quote.
    #[must_use]
    pub fn string() -> Self {
        Self { in_string: true, ..Self::default() }
    }

    /// Returns the number of bytes up to the end of the value, or `None` if the value continues after `bytes`.
    pub fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            if self.in_string {
                at = self.string_end(bytes, at)?;
                if self.depth == 0 {
                    return Some(at);
                }
            }
            at += bytes[at..].iter().position(|&byte| IS_STRUCTURE[usize::from(byte)])?;
            let byte = bytes[at];
            at += 1;
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                _ => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
            }
        }
    }

    /// Returns the end of the string that is open at `at`, or `None` if the string continues after `bytes`.
    #[inline]
    fn string_end(&mut self, bytes: &[u8], mut at: usize) -> Option<usize> {
        if self.escaped {
            bytes.get(at)?;
            at += 1;
            self.escaped = false;
        }
        // Most skipped strings are short keys, where a vectorized search costs more than it saves.
        let near = bytes.len().min(at + 24);
        while at < near {
            match bytes[at] {
                b'"' => {
                    self.in_string = false;
                    return Some(at + 1);
                }
                b'\\' if at + 1 == bytes.len() => {
                    self.escaped = true;
                    return None;
                }
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        // Long strings are texts with many escapes and few quotes. An even number of backslashes before a quote are
        // escaped themselves.
        let mut from = at;
        loop {
            let quote = memchr(b'"', &bytes[from..]).map(|found| from + found);
            let end = quote.unwrap_or(bytes.len());
            let backslashes = bytes[from..end].iter().rev().take_while(|&&byte| byte == b'\\').count();
            let is_escaped = backslashes % 2 == 1;
            match quote {
                None => {
                    self.escaped = is_escaped;
                    return None;
                }
                Some(quote) if is_escaped => from = quote + 1,
                Some(quote) => {
                    self.in_string = false;
                    return Some(quote + 1);
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Value,
    FirstElement,
    FirstKey,
    Key,
    KeyText,
    Colon,
    Text,
    Raw,
    Word,
    Span,
    After,
    End,
}

/// A tokenizer for one document.
#[derive(Debug, Clone, Default)]
pub struct Skimmer {
    state: State,
    /// One bit for each open container, with the innermost container in the lowest bit. The bit is set for an object.
    objects: u64,
    depth: u32,
    /// Set if the value of the current key is skipped.
    unwanted: bool,
    text: Unescape,
    span: Span,
    key: String,
    word: Vec<u8>,
    /// Set if the current word is longer than its stored part.
    long_word: bool,
}

impl Skimmer {
    /// Starts a new document.
    pub fn reset(&mut self) {
        self.state = State::Value;
        self.objects = 0;
        self.depth = 0;
        self.unwanted = false;
    }

    /// Returns true if the document is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.state == State::End
    }

    /// Reads more of the document. After any status except [`Status::More`], do not feed the rest.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Status {
        let mut at = 0;
        while at < bytes.len() {
            let step = match self.state {
                State::Span => match self.span.advance(&bytes[at..]) {
                    Some(used) => {
                        self.value_ended();
                        Ok(used)
                    }
                    None => return Status::More,
                },
                State::Text => match self.text.feed(&bytes[at..], &mut |part| sink.text(part)) {
                    Step::More => return Status::More,
                    Step::Broken => Err(Status::Broken),
                    Step::End(used) => self.text_ended(used, sink),
                },
                State::Raw => {
                    let rest = &bytes[at..];
                    let end = self.span.advance(rest);
                    sink.raw(match end {
                        // The value does not include the closing quote.
                        Some(used) if rest[used - 1] == b'"' => &rest[..used - 1],
                        Some(used) => &rest[..used],
                        None => rest,
                    });
                    match end {
                        Some(used) => self.text_ended(used, sink),
                        None => return Status::More,
                    }
                }
                State::KeyText => self.key_text(&bytes[at..], sink),
                State::Word => self.word(&bytes[at..], sink),
                _ => match bytes[at] {
                    b' ' | b'\t' | b'\r' | b'\n' => Ok(1),
                    byte => self.structure(byte, &bytes[at..], sink),
                },
            };
            match step {
                Ok(used) => at += used,
                Err(status) => return status,
            }
        }
        Status::More
    }

    fn value_ended(&mut self) {
        self.state = if self.depth == 0 { State::End } else { State::After };
    }

    fn text_ended(&mut self, used: usize, sink: &mut impl Sink) -> Result<usize, Status> {
        self.value_ended();
        if sink.text_end() == Verdict::Finish { Err(Status::Finished) } else { Ok(used) }
    }

    fn is_in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    fn structure(&mut self, byte: u8, rest: &[u8], sink: &mut impl Sink) -> Result<usize, Status> {
        match (self.state, byte) {
            (State::FirstKey, b'}') | (State::FirstElement, b']') => self.close(sink),
            (State::FirstKey | State::Key, b'"') => return self.key_start(rest, sink),
            (State::Colon, b':') => self.state = State::Value,
            (State::After, b',') => {
                self.state = if self.is_in_object() { State::Key } else { State::Value };
            }
            (State::After, b'}') if self.is_in_object() => self.close(sink),
            (State::After, b']') if !self.is_in_object() => self.close(sink),
            (State::Value | State::FirstElement, _) => return self.value_start(byte, sink),
            _ => return Err(Status::Broken),
        }
        Ok(1)
    }

    fn close(&mut self, sink: &mut impl Sink) {
        self.objects >>= 1;
        self.depth -= 1;
        self.value_ended();
        sink.close();
    }

    fn value_start(&mut self, byte: u8, sink: &mut impl Sink) -> Result<usize, Status> {
        let kind = match byte {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Kind::Word,
            _ => return Err(Status::Broken),
        };
        let too_deep = matches!(kind, Kind::Object | Kind::Array) && self.depth == MAX_DEPTH;
        let verdict =
            if std::mem::take(&mut self.unwanted) || too_deep { Verdict::Skip } else { sink.value(kind) };
        match (verdict, kind) {
            (Verdict::Finish, _) => return Err(Status::Finished),
            (_, Kind::Word) => {
                self.unwanted = verdict == Verdict::Skip;
                self.word.clear();
                self.long_word = false;
                self.state = State::Word;
                return Ok(0);
            }
            (Verdict::Skip, _) => {
                self.span = if kind == Kind::String { Span::string() } else { Span::container() };
                self.state = State::Span;
            }
            (Verdict::Take, Kind::String) => {
                self.text = Unescape::default();
                self.state = State::Text;
            }
            (Verdict::Raw, Kind::String) => {
                self.span = Span::string();
                self.state = State::Raw;
            }
            (Verdict::Raw, _) => {
                sink.raw(&[byte]);
                self.span = Span::container();
                self.state = State::Raw;
            }
            (Verdict::Take, _) => {
                let is_object = kind == Kind::Object;
                self.objects = self.objects << 1 | u64::from(is_object);
                self.depth += 1;
                self.state = if is_object { State::FirstKey } else { State::FirstElement };
            }
        }
        Ok(1)
    }

    fn key_start(&mut self, rest: &[u8], sink: &mut impl Sink) -> Result<usize, Status> {
        // A short plain key inside this chunk needs no copy.
        let near = &rest[1..rest.len().min(1 + 32)];
        if let Some(end) = near.iter().position(|&byte| byte == b'"' || byte == b'\\' || !byte.is_ascii())
            && near[end] == b'"'
        {
            let key = std::str::from_utf8(&near[..end]).expect("ASCII, checked above");
            return self.key_ended(sink.key(key), end + 2);
        }
        self.key.clear();
        self.text = Unescape::default();
        self.state = State::KeyText;
        Ok(1)
    }

    fn key_text(&mut self, rest: &[u8], sink: &mut impl Sink) -> Result<usize, Status> {
        let key = &mut self.key;
        let step = self.text.feed(rest, &mut |part| {
            key.push_str(&part[..floor_char_boundary(part, MAX_KEY - key.len())]);
        });
        match step {
            Step::More => Ok(rest.len()),
            Step::Broken => Err(Status::Broken),
            Step::End(used) => self.key_ended(sink.key(&self.key), used),
        }
    }

    fn key_ended(&mut self, verdict: Verdict, used: usize) -> Result<usize, Status> {
        if verdict == Verdict::Finish {
            return Err(Status::Finished);
        }
        self.unwanted = verdict == Verdict::Skip;
        self.state = State::Colon;
        Ok(used)
    }

    fn word(&mut self, rest: &[u8], sink: &mut impl Sink) -> Result<usize, Status> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let len = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let room = MAX_WORD - self.word.len();
        self.word.extend_from_slice(&rest[..len.min(room)]);
        self.long_word |= len > room;
        if len < rest.len() {
            let word = classify(&self.word, self.long_word).ok_or(Status::Broken)?;
            if !std::mem::take(&mut self.unwanted) {
                sink.word(word);
            }
            self.value_ended();
        }
        Ok(len)
    }
}

fn classify(bytes: &[u8], is_cut: bool) -> Option<Word<'_>> {
    match bytes {
        b"true" => return Some(Word::Bool(true)),
        b"false" => return Some(Word::Bool(false)),
        b"null" => return Some(Word::Null),
        _ => {}
    }
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    if !bytes.iter().all(is_part) {
        return None;
    }
    let mut number = std::str::from_utf8(bytes).ok()?;
    if is_cut {
        // The number was cut here, so the digits after a sign or point are missing.
        number = number.trim_end_matches(['+', '-', '.', 'e', 'E']);
    }
    number.parse::<f64>().is_ok().then_some(Word::Number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sink that logs its calls. It skips values of keys named `skip`, takes values of keys named `raw` raw, and
    /// finishes at a key named `finish`.
    #[derive(Default)]
    struct Log(String);

    impl Sink for Log {
        fn key(&mut self, key: &str) -> Verdict {
            self.0.push_str(key);
            self.0.push('=');
            match key {
                "skip" => Verdict::Skip,
                "finish" => Verdict::Finish,
                _ => Verdict::Take,
            }
        }
        fn value(&mut self, kind: Kind) -> Verdict {
            match kind {
                Kind::Object => self.0.push('{'),
                Kind::Array => self.0.push('['),
                Kind::String => self.0.push('\''),
                Kind::Word => {}
            }
            if ["raw='", "raw={", "raw=[", "raw="].iter().any(|end| self.0.ends_with(end)) {
                Verdict::Raw
            } else {
                Verdict::Take
            }
        }
        fn text(&mut self, part: &str) {
            self.0.push_str(part);
        }
        fn raw(&mut self, part: &[u8]) {
            self.0.push_str(&String::from_utf8_lossy(part));
        }
        fn text_end(&mut self) -> Verdict {
            self.0.push('\'');
            Verdict::Take
        }
        fn word(&mut self, word: Word<'_>) {
            self.0.push_str(match word {
                Word::Null => "null",
                Word::Bool(true) => "true",
                Word::Bool(false) => "false",
                Word::Number(number) => number,
            });
            self.0.push(' ');
        }
        fn close(&mut self) {
            self.0.push(')');
        }
    }

    fn skim(document: &[u8], size: usize) -> (Status, bool, String) {
        let mut skimmer = Skimmer::default();
        let mut log = Log::default();
        let mut status = Status::More;
        for chunk in document.chunks(size) {
            status = skimmer.feed(chunk, &mut log);
            if status != Status::More {
                break;
            }
        }
        (status, skimmer.is_complete(), log.0)
    }

    #[test]
    fn documents_are_read_the_same_for_chunks_of_any_size() {
        let more = Status::More;
        let deep = "[".repeat(70) + &"]".repeat(70);
        let deep_log = "[".repeat(64) + &")".repeat(64);
        let many_digits = format!("[{}]", "1".repeat(90));
        let many_digits_log = format!("[{} )", "1".repeat(64));
        let cases: &[(&str, &str, (Status, bool), &str)] = &[
            ("empty object", "{}", (more, true), "{)"),
            ("nested", r#"{"a":[1,{"b":"x"},null]}"#, (more, true), "{a=[1 {b='x')null ))"),
            ("white space", " { \"a\" :\t[ ] }\r", (more, true), "{a=[))"),
            ("skipped", r#"{"skip":{"a":"]}\"","b":[{}]},"c":1}"#, (more, true), "{skip=c=1 )"),
            (
                "skipped words and text",
                r#"{"skip":-1.5e3,"skip":"a\\","c":true}"#,
                (more, true),
                "{skip=skip=c=true )",
            ),
            (
                "raw",
                r#"{"raw":"a\"\\","b":"\"\\","raw":1,"raw":""}"#,
                (more, true),
                r#"{raw='a\"\\'b='"\'raw=1 raw='')"#,
            ),
            (
                "raw containers",
                r#"{"raw":[{"a":"]"}],"raw":{}}"#,
                (more, true),
                r#"{raw=[[{"a":"]"}]'raw={{}')"#,
            ),
            ("finished", r#"{"a":1,"finish": nonsense"#, (Status::Finished, false), "{a=1 finish="),
            ("escaped key", r#"{"s\u006bip":1,"b":2}"#, (more, true), "{skip=b=2 )"),
            ("too deep is passed over", &deep, (more, true), &deep_log),
            ("many digits", &many_digits, (more, true), &many_digits_log),
            ("unfinished", r#"{"a":1"#, (more, false), "{a="),
            ("trailing text", "{} x", (Status::Broken, true), "{)"),
            ("comma before the end", r#"{"a":1,}"#, (Status::Broken, false), "{a=1 "),
            ("comma in an empty array", "[,]", (Status::Broken, false), "["),
            ("wrong bracket", r#"{"a":1]"#, (Status::Broken, false), "{a=1 "),
            ("no colon", r#"{"a" 1}"#, (Status::Broken, false), "{a="),
            ("infinity", "[-inf]", (Status::Broken, false), "["),
            ("unknown word", "[nul]", (Status::Broken, false), "["),
        ];
        for (label, document, (status, complete), log) in cases {
            for size in 1..=document.len() {
                let (found, is_complete, text) = skim(document.as_bytes(), size);
                assert_eq!((found, text.as_str()), (*status, *log), "{label}, chunks of {size}");
                if found == Status::More {
                    assert_eq!(is_complete, *complete, "{label}, chunks of {size}");
                }
            }
        }
    }
}
