//! Reading a session file: the newest entries of any file, and no text that must stay hidden.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use crate::support::program;
use pi_subagent_native::transcript::{
    Transcript, TranscriptEntry, Wanted, last_text, read_transcript, session_id,
};
use sanitizer::{Sanitizer, SanitizerOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

const ALL: Wanted = Wanted { entries: 1000, tools: true, skip: 0 };
const MAX_TEXT: usize = 16 * 1024;

fn sanitizer() -> Sanitizer {
    let homes = vec!["/home/user".to_owned()];
    Sanitizer::new(SanitizerOptions { homes, ..SanitizerOptions::default() })
}

struct Session {
    directory: TempDir,
}

impl Session {
    fn new(bytes: impl AsRef<[u8]>) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory is created");
        let session = Self { directory };
        fs::write(session.path(), bytes).expect("the file is written");
        session
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("session.jsonl")
    }

    fn append(&self, bytes: impl AsRef<[u8]>) {
        let mut file = OpenOptions::new().append(true).open(self.path()).expect("the file is opened");
        file.write_all(bytes.as_ref()).expect("the file is written");
    }

    fn read(&self, wanted: Wanted) -> Transcript {
        read_transcript(&self.path(), wanted, &sanitizer()).expect("the transcript is readable")
    }
}

/// Returns each entry in one line.
fn rendered(transcript: &Transcript) -> Vec<String> {
    transcript.entries.iter().map(line).collect()
}

fn line(entry: &TranscriptEntry) -> String {
    match entry {
        TranscriptEntry::User(text) => format!("user: {text}"),
        TranscriptEntry::Assistant { text, model, error } => {
            let model = model.as_deref().unwrap_or("?");
            let error = error.as_ref().map(|error| format!(" !{error}")).unwrap_or_default();
            format!("{model}: {text}{error}")
        }
        TranscriptEntry::ToolCall { name, summary } => format!("{name}> {summary}"),
        TranscriptEntry::ToolResult { name, is_error, text } => {
            format!("{name}{} {text}", if *is_error { "!" } else { "=" })
        }
    }
}

fn header() -> String {
    json!({ "type": "session", "version": 3, "id": "abc", "timestamp": "t", "cwd": "/x" }).to_string() + "\n"
}

/// Returns an entry with a message. Ids are numbers, and the parent is the previous entry.
fn message(id: u32, message: &Value) -> String {
    let parent = (id > 1).then(|| (id - 1).to_string());
    let entry = json!({
        "type": "message", "id": id.to_string(), "parentId": parent, "timestamp": "t", "message": message,
    });
    entry.to_string() + "\n"
}

fn user(id: u32, text: &str) -> String {
    message(id, &json!({ "role": "user", "content": text }))
}

fn assistant(id: u32, text: &str) -> String {
    let content = json!([{ "type": "text", "text": text }]);
    message(
        id,
        &json!({ "role": "assistant", "content": content, "provider": "p", "model": "m", "stopReason": "stop" }),
    )
}

#[test]
fn session_files_of_pi_read_as_conversations() {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/sessions");
    let mut versions: Vec<PathBuf> = fs::read_dir(sessions)
        .expect("the directory is readable")
        .map(|entry| entry.expect("the entry is readable").path())
        .collect();
    versions.sort();
    assert!(versions.len() >= 2);
    for path in versions {
        let transcript = read_transcript(&path, ALL, &sanitizer()).expect("the transcript is readable");
        insta::assert_snapshot!("recorded_session", rendered(&transcript).join("\n"));
        assert!(!transcript.has_more);
        assert_eq!(transcript.bytes, fs::metadata(&path).expect("the file exists").len());
        let last = last_text(&path, &sanitizer()).expect("the file is readable");
        assert_eq!(last.as_deref(), Some("It failed with 3."));
        assert_eq!(session_id(&path).map(|id| id.len()), Some(36));
    }
}

#[test]
fn the_newest_entries_are_read_and_older_ones_announced() {
    let mut text = header();
    for id in (1..=2_000).step_by(2) {
        text += &user(id, &format!("question {id}"));
        text += &assistant(id + 1, &format!("answer {}", id + 1));
    }
    let session = Session::new(&text);
    let three = session.read(Wanted { entries: 3, tools: true, skip: 0 });
    assert_eq!(rendered(&three), ["p/m: answer 1998", "user: question 1999", "p/m: answer 2000"]);
    assert!(three.has_more);
    let all = session.read(Wanted { entries: 2_000, tools: true, skip: 0 });
    assert_eq!((all.entries.len(), all.has_more), (2_000, false));
    assert_eq!(line(&all.entries[0]), "user: question 1");
    let none = session.read(Wanted { entries: 0, tools: true, skip: 0 });
    assert_eq!((none.entries.len(), none.has_more), (0, true));
}

#[test]
fn tool_calls_keep_their_order_and_can_be_omitted() {
    let content = json!([
        { "type": "thinking", "thinking": "hm" },
        { "type": "text", "text": "Now" },
        { "type": "text", "text": "look." },
        { "type": "toolCall", "id": "1", "name": "read", "arguments": { "path": "/home/user/a.rs", "offset": 1, "limit": 10 } },
        { "type": "toolCall", "id": "2", "name": "bash", "arguments": { "command": "env API_KEY=sk-ant-api03-abcdefghijklmnop x" } },
        { "type": "text", "text": "Done." },
    ]);
    let result = json!([{ "type": "image", "data": "AAAA", "mimeType": "image/png" }]);
    let session = Session::new(
        header()
            + &user(1, "Go.")
            + &message(2, &json!({ "content": content, "role": "assistant", "model": "m" }))
            + &message(
                3,
                &json!({ "role": "toolResult", "toolName": "read", "content": result, "isError": true }),
            )
            + &message(
                4,
                &json!({ "role": "assistant", "content": [], "model": "m", "stopReason": "aborted" }),
            ),
    );
    assert_eq!(
        rendered(&session.read(ALL)),
        [
            "user: Go.",
            "m: Now\nlook.",
            "read> read ~/a.rs:1-10",
            "bash> $ env API_KEY=[REDACTED] x",
            "m: Done.",
            "read! [image]",
            "m:  !aborted",
        ]
    );
    let spoken = session.read(Wanted { tools: false, ..ALL });
    assert_eq!(rendered(&spoken), ["user: Go.", "m: Now\nlook.", "m: Done.", "m:  !aborted"]);
    assert_eq!(
        last_text(&session.path(), &sanitizer()).expect("the file is readable").as_deref(),
        Some("Done.")
    );
}

#[test]
fn only_the_branch_that_the_session_is_on_is_shown() {
    let entry = |id: &str, parent: Option<&str>, text: &str| {
        let message = json!({ "role": "user", "content": text });
        json!({ "type": "message", "id": id, "parentId": parent, "message": message }).to_string() + "\n"
    };
    let session = Session::new(
        header()
            + &entry("old", None, "another root")
            + &entry("a", None, "root")
            + &entry("b", Some("a"), "left behind")
            + &entry("c", Some("b"), "left behind too")
            + &json!({ "type": "branch_summary", "id": "s", "parentId": "a", "fromId": "c", "summary": "x" })
                .to_string()
            + "\n"
            + &entry("d", Some("s"), "taken"),
    );
    let read = session.read(ALL);
    assert_eq!(
        (rendered(&read), read.has_more),
        (vec!["user: root".to_owned(), "user: taken".to_owned()], false)
    );
}

#[test]
fn an_unreadable_entry_does_not_affect_the_others() {
    let whole = user(1, "first") + &assistant(2, "second");
    let torn = assistant(3, "third");
    let torn = &torn[..torn.len() / 2];
    let cases: [(&str, Vec<u8>, &[&str]); 9] = [
        ("an empty file", Vec::new(), &[]),
        ("no header", whole.clone().into_bytes(), &["user: first", "p/m: second"]),
        ("a torn last line", (header() + &whole + torn).into_bytes(), &["user: first", "p/m: second"]),
        ("no last line end", whole.trim_end().into(), &["user: first", "p/m: second"]),
        (
            "a torn line in the middle, and the child continued",
            (header() + &whole + torn + "\n" + &user(3, "again")).into_bytes(),
            &["user: first", "p/m: second", "user: again"],
        ),
        (
            "nonsense and nothing",
            [user(1, "first").as_bytes(), b"\n\r\n\0\0\0\0\nnonsense {\n[1,2]\n\"x\"\n", assistant(2, "second").as_bytes()]
                .concat(),
            &["user: first", "p/m: second"],
        ),
        (
            "broken UTF-8",
            [b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"a\xff\xc3b\"}}\n".as_slice()].concat(),
            &["user: a\u{fffd}\u{fffd}b"],
        ),
        (
            "unexpected shapes",
            (message(1, &json!({ "role": "user", "content": { "deep": [1] } }))
                + &message(2, &json!({ "role": 7, "content": [1, "x", [], { "type": "text", "text": 5 }] }))
                + &message(3, &json!("no message"))
                + &message(4, &json!({ "role": "toolResult", "toolName": 1, "content": null })))
            .into_bytes(),
            &["user: ", "= "],
        ),
        (
            "the first version of the format",
            b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"b\"}}\n".to_vec(),
            &["user: a", "user: b"],
        ),
    ];
    for (label, bytes, expected) in cases {
        assert_eq!(rendered(&Session::new(bytes).read(ALL)), expected, "{label}");
    }
}

#[test]
fn a_growing_file_shows_its_complete_lines() {
    let session = Session::new(header() + &user(1, "first"));
    let next = assistant(2, "second");
    for end in 1..next.len() - 1 {
        let mut bytes = (header() + &user(1, "first")).into_bytes();
        bytes.extend_from_slice(&next.as_bytes()[..end]);
        fs::write(session.path(), &bytes).expect("the file is written");
        // Without the last bracket no reader can parse it.
        assert_eq!(rendered(&session.read(ALL)), ["user: first"], "{end} bytes of the next line");
    }
    session.append(&next[next.len() - 2..]);
    assert_eq!(rendered(&session.read(ALL)), ["user: first", "p/m: second"]);
}

#[test]
fn texts_are_clean_and_bounded() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    let filler = "word ".repeat(30_000);
    let escape = "\u{1b}]0;title\u{7}\u{1b}[31mred";
    let session = Session::new(
        header()
            + &user(1, &format!("{escape} /home/user/x {secret}"))
            + &assistant(2, &format!("start {filler} end"))
            + &message(
                3,
                &json!({
                    "role": "toolResult", "toolName": escape, "content": [{ "type": "text", "text": filler }, { "type": "text", "text": secret }],
                }),
            )
            + &message(
                4,
                &json!({ "role": "assistant", "content": [], "errorMessage": format!("token={secret} {filler}") }),
            ),
    );
    let read = session.read(ALL);
    let TranscriptEntry::User(first) = &read.entries[0] else {
        panic!("the first entry is not a user message")
    };
    assert_eq!(first, "red ~/x [GITHUB_TOKEN_REDACTED]");
    let TranscriptEntry::Assistant { text, .. } = &read.entries[1] else {
        panic!("the second entry is not a model message")
    };
    assert!(
        text.starts_with("start word") && text.ends_with("word  end") && text.contains("bytes omitted"),
        "{text}"
    );
    for entry in &read.entries {
        let all = line(entry);
        assert!(!all.contains("ghp_") && !all.contains('\u{1b}'), "{all}");
        assert!(all.len() <= MAX_TEXT + 200, "{} bytes", all.len());
    }
    let many = json!(
        (0..100_000)
            .map(|n| json!({ "type": "toolCall", "name": "t", "arguments": { "n": n } }))
            .collect::<Vec<_>>()
    );
    let session = Session::new(
        header() + &user(1, "Go.") + &message(2, &json!({ "role": "assistant", "content": many })),
    );
    let read = session.read(Wanted { entries: 100, tools: true, skip: 0 });
    assert_eq!((read.entries.len(), read.has_more), (100, true));
    assert_eq!(line(&read.entries[99]), "t> t n=99999");
    let read = session.read(ALL);
    assert!(read.entries.len() <= 257 && read.has_more, "{} entries", read.entries.len());
}

/// Returns the peak memory of this process.
#[cfg(target_os = "linux")]
fn peak_kib() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("the file is readable");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("the status has the peak size");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("the word is a number")
}

#[cfg(target_os = "linux")]
#[test]
fn neither_a_line_of_64_megabytes_nor_a_file_of_a_terabyte_is_held_in_memory() {
    if program::runs_alone() {
        return;
    }
    let session = Session::new(header() + &user(1, "first"));
    let mut file =
        BufWriter::new(OpenOptions::new().append(true).open(session.path()).expect("the file is opened"));
    write!(file, r#"{{"type":"message","id":"2","parentId":"1","message":{{"role":"assistant","content":[{{"type":"text","text":"start "#)
        .expect("writing to a string succeeds");
    let block = "0123456789abcde ".repeat(4096);
    (0..1024).for_each(|_| file.write_all(block.as_bytes()).expect("the file is written"));
    write!(file, r#" end"}}]}}}}"#).expect("writing to a string succeeds");
    file.write_all(b"\n").expect("the file is written");
    file.write_all(user(3, "last").as_bytes()).expect("the file is written");
    drop(file);
    let before = peak_kib();
    let read = session.read(ALL);
    assert_eq!(read.entries.len(), 3);
    let long = line(&read.entries[1]);
    assert!(
        long.starts_with("?: start 0123") && long.ends_with("cde  end") && long.len() <= MAX_TEXT + 200,
        "{long}"
    );
    let last = session.read(Wanted { entries: 1, tools: false, skip: 0 });
    assert_eq!((rendered(&last), last.has_more), (vec!["user: last".to_owned()], true));
    File::options()
        .write(true)
        .open(session.path())
        .and_then(|file| file.set_len(1 << 40))
        .expect("the file is extended");
    session.append("\n".to_owned() + &user(3, "far away"));
    let read = session.read(ALL);
    assert_eq!((rendered(&read), read.has_more), (vec!["user: far away".to_owned()], true));
    let grown = peak_kib().saturating_sub(before);
    assert!(grown < 24 * 1024, "{grown} KiB more");
}

#[test]
fn the_first_line_holds_the_id_of_a_session() {
    let long = format!("{{\"type\":\"session\",\"id\":\"{}\"}}\n", "x".repeat(1000));
    for (label, text, expected) in [
        ("pi's", header(), Some("abc")),
        ("our header with sorted keys", "{\"id\":\"z-1\",\"type\":\"session\"}".to_owned(), Some("z-1")),
        ("after a blank line", format!("\n{}", header()), Some("abc")),
        ("another type", user(1, "x"), None),
        ("no text", "{\"type\":\"session\",\"id\":5}".to_owned(), None),
        ("a control character", "{\"type\":\"session\",\"id\":\"a\\u001b[1m\"}".to_owned(), None),
        ("too long", long, None),
        ("nothing", String::new(), None),
        ("nonsense", "nonsense\n".to_owned(), None),
    ] {
        assert_eq!(session_id(&Session::new(text).path()).as_deref(), expected, "{label}");
    }
}

#[test]
fn only_a_regular_file_is_opened() {
    let session = Session::new(header());
    let missing = session.directory.path().join("missing");
    let error =
        |path: &Path| read_transcript(path, ALL, &sanitizer()).expect_err("the file is refused").kind();
    assert_eq!(error(&missing), std::io::ErrorKind::NotFound);
    #[cfg(unix)]
    {
        // A child may put files there that must not block a reader, or that it must not read.
        let fifo = session.directory.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .expect("the FIFO is created");
        assert_eq!(error(&fifo), std::io::ErrorKind::InvalidInput);
        let link = session.directory.path().join("link");
        std::os::unix::fs::symlink(session.path(), &link).expect("the link is created");
        assert!(read_transcript(&link, ALL, &sanitizer()).is_err(), "a link is not read");
        assert_eq!(error(session.directory.path()), std::io::ErrorKind::InvalidInput);
    }
}
