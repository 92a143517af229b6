//! The file of a recording.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::frames::{Frame, Frames, MAX_LINE};
use crate::files::private;
use crate::process::{CancelReason, Outcome, Supervised, exit_signal, signal_name};
use crate::run::callbacks::Answer;
use crate::run::drive::protocol::Command;
use crate::text::Sanitizer;
use crate::text::figures::{bytes, counted, millis};

/// Most bytes of a recording. What comes after them is left out, but for the ends of children.
const MAX_BYTES: u64 = 64 << 20;
/// Bytes kept of a line that is no record.
const MAX_NOISE: usize = 16 << 10;
/// How often something stands for what is left out.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// Writes the recording of one run. Shared by all that drive its child. What is wrong with the file never disturbs the run.
pub(in crate::run) struct Recorder {
    path: PathBuf,
    sanitizer: Sanitizer,
    state: Mutex<State>,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("path", &self.path).finish_non_exhaustive()
    }
}

struct State {
    /// Until it could not be written.
    file: Result<BufWriter<File>, io::Error>,
    written: u64,
    frames: Frames,
    /// When the child under way was started.
    began: Instant,
    /// When something was written last.
    last: Instant,
    missing: Missing,
}

/// What is not in the file, by why.
#[derive(Clone, Copy, Debug, Default)]
struct Missing {
    /// Entries that came when it was full.
    entries: usize,
    /// Lines of children that were too long.
    lines: usize,
    /// Bytes of text of messages that never ended.
    text: u64,
}

impl Missing {
    /// The causes, in words; empty when nothing is missing.
    fn words(self) -> String {
        let Self { entries, lines, text } = self;
        let entries = (entries > 0)
            .then(|| format!("{} did not fit into {}", counted(entries, "entry"), bytes(MAX_BYTES)));
        let lines = (lines > 0).then(|| {
            let were = if lines == 1 { "was" } else { "were" };
            format!("{} {were} longer than {}", counted(lines, "line"), bytes(MAX_LINE as u64))
        });
        let text =
            (text > 0).then(|| format!("{} of text that had not ended was too much to keep", bytes(text)));
        [entries, lines, text].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

impl Recorder {
    /// Creates the file that `setting` has named, which only its user can read, and writes the header. Blocks.
    ///
    /// # Errors
    ///
    /// When the file exists already or cannot be written, in words for the caller.
    pub(super) fn create(
        setting: &str,
        path: &Path,
        header: &Value,
        sanitizer: Sanitizer,
    ) -> Result<Self, String> {
        let failed = |error: io::Error| {
            let why = match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    "it exists; expected the path of a file that does not".to_owned()
                }
                io::ErrorKind::NotFound => "its directory does not exist".to_owned(),
                _ => error.to_string(),
            };
            format!("`{setting}`: cannot write `{}`: {why}", path.display())
        };
        let file = private::options().write(true).create_new(true).open(path).map_err(failed)?;
        let now = Instant::now();
        let state = State {
            file: Ok(BufWriter::new(file)),
            written: 0,
            frames: Frames::default(),
            began: now,
            last: now,
            missing: Missing::default(),
        };
        let recorder = Self { path: path.to_owned(), sanitizer, state: Mutex::new(state) };
        recorder.state.lock().write(&recorder.sanitizer.sanitize_json(header));
        recorder.flush().map_err(failed)?;
        Ok(recorder)
    }

    /// A child was started: what follows is about this one. Attempts are counted from 1.
    pub(in crate::run) fn begin(&self, attempt: u32) {
        let mut state = self.state.lock();
        state.frames = Frames::default();
        state.began = Instant::now();
        state.write(&json!({ "child": attempt }));
    }

    /// The child wrote this, cut anywhere.
    pub(in crate::run) fn stdout(&self, chunk: &[u8]) {
        let mut state = self.state.lock();
        let mut kept = Vec::new();
        state.frames.push(chunk, |frame| kept.push(frame));
        if !kept.is_empty() {
            self.keep(&mut state, kept);
            // What led to the end of a host is there after it.
            state.flush();
        }
    }

    /// The child is sent a command.
    pub(in crate::run) fn sends(&self, command: Command<'_>) {
        let mut state = self.state.lock();
        let mut entry = json!({ "in": command.name() });
        if let Command::Answer(id, answer) = command {
            let answer = match answer {
                Answer::Confirmed(confirmed) => json!({ "confirmed": confirmed }),
                Answer::Value(value) => json!({ "value": value }),
                Answer::Cancelled | Answer::Nobody => json!({ "cancelled": true }),
            };
            entry["id"] = id.into();
            entry["answer"] = self.sanitizer.sanitize_json(&answer);
        }
        state.add(entry);
    }

    /// The caller sends the child a message.
    pub(in crate::run) fn steered(&self, message: &str) {
        let message = self.sanitizer.sanitize(message).into_string();
        self.state.lock().add(json!({ "caller": "steer", "message": message }));
    }

    /// The child is told to stop, or is about to be ended.
    pub(in crate::run) fn interrupted(&self) {
        self.state.lock().add(json!({ "stop": true }));
    }

    /// The child has ended.
    pub(in crate::run) fn end(&self, ended: &Supervised) {
        let mut state = self.state.lock();
        let mut kept = Vec::new();
        state.frames.finish(|frame| kept.push(frame));
        self.keep(&mut state, kept);
        let (how, why) = words_of(&ended.outcome);
        let entry = json!({
            "end": how,
            "why": why.map(|why| self.sanitizer.sanitize(&why).into_string()),
            "code": ended.status.and_then(|status| status.code()),
            "signal": ended.status.and_then(exit_signal).map(signal_name),
            "stderr": self.sanitizer.sanitize(&ended.stderr).into_string(),
            "leftOut": state.missing.entries + state.missing.lines,
            "leftOutText": Some(state.missing.text).filter(|bytes| *bytes > 0),
        });
        let at = state.timed(entry);
        state.write(&at);
        state.flush();
    }

    /// What the caller has to know of the recording, if it is not whole.
    pub(in crate::run) fn notice(&self) -> Option<String> {
        let state = self.state.lock();
        let path = self.path.display();
        let why = match &state.file {
            Err(error) => error.to_string(),
            Ok(_) => state.missing.words(),
        };
        (!why.is_empty()).then(|| format!("the recording `{path}` is not whole: {why}"))
    }

    /// Adds what came together: how much of it the host sees at once decides, for example, at which message a budget ends.
    fn keep(&self, state: &mut State, frames: Vec<Frame>) {
        let kept: Vec<Value> = frames.into_iter().filter_map(|frame| self.kept(state, frame)).collect();
        let last = kept.len().saturating_sub(1);
        for (index, out) in kept.iter().enumerate() {
            state.add_output(out, index < last);
        }
    }

    fn kept(&self, state: &mut State, frame: Frame) -> Option<Value> {
        Some(match frame {
            Frame::Record(record) => self.sanitizer.sanitize_json(&record),
            Frame::Noise(line) => self.sanitizer.clip(&line, MAX_NOISE).into_string().into(),
            Frame::Alive(record) => {
                (state.last.elapsed() >= SIGN_OF_LIFE).then(|| self.sanitizer.sanitize_json(&record))?
            }
            Frame::Growing(record, text) => {
                let mut record = self.sanitizer.sanitize_json(&record);
                record["assistantMessageEvent"]["delta"] =
                    self.sanitizer.sanitize_growing(&text).into_string().into();
                record
            }
            Frame::TooLong => {
                state.missing.lines += 1;
                return None;
            }
            Frame::Forgotten(bytes) => {
                state.missing.text += bytes as u64;
                return None;
            }
        })
    }

    fn flush(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        state.flush();
        match &mut state.file {
            Ok(_) => Ok(()),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }
}

impl State {
    /// Adds an entry, unless the file is full.
    fn add(&mut self, entry: Value) {
        if self.written >= MAX_BYTES {
            self.missing.entries += 1;
            return;
        }
        let entry = self.timed(entry);
        self.write(&entry);
    }

    /// Adds something that the child wrote; with `more` the next comes with it.
    fn add_output(&mut self, out: &Value, more: bool) {
        if self.written >= MAX_BYTES {
            self.missing.entries += 1;
            return;
        }
        let (at, out) = (millis(self.began.elapsed()), in_reading_order(out));
        let more = if more { "\"more\":true," } else { "" };
        self.write_line(&format!("{{\"at\":{at},{more}\"out\":{out}}}\n"));
    }

    /// The entry, with the milliseconds since the child was started.
    fn timed(&self, entry: Value) -> Value {
        let mut timed = Map::from_iter([("at".to_owned(), millis(self.began.elapsed()).into())]);
        if let Value::Object(fields) = entry {
            timed.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
        }
        timed.into()
    }

    fn write(&mut self, entry: &Value) {
        self.write_line(&format!("{entry}\n"));
    }

    fn write_line(&mut self, line: &str) {
        self.last = Instant::now();
        self.written += line.len() as u64;
        self.attempt(|file| file.write_all(line.as_bytes()));
    }

    fn flush(&mut self) {
        self.attempt(BufWriter::flush);
    }

    /// Does something with the file, which ends at the first failure.
    fn attempt(&mut self, work: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Ok(file) = &mut self.file
            && let Err(error) = work(file)
        {
            self.file = Err(error);
        }
    }
}

/// A record as JSON. What says how the rest is to be read comes first, as pi writes it: the collector may pass over what
/// stands before it.
fn in_reading_order(record: &Value) -> String {
    let Value::Object(fields) = record else { return record.to_string() };
    let rank = |name: &str| match name {
        "type" => 0,
        _ if name.starts_with("tool") => 1,
        _ => 2,
    };
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| rank(name));
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}:{value}", Value::from(name.as_str()))).collect();
    format!("{{{}}}", fields.join(","))
}

/// How a child ended, in a word for programs, and what else is known of it.
fn words_of(outcome: &Outcome) -> (&'static str, Option<String>) {
    match outcome {
        Outcome::Exited(_) => ("exited", None),
        Outcome::Lost => ("lost", None),
        Outcome::Settled { .. } => ("settled", None),
        Outcome::IdleTimeout { .. } => ("idle", None),
        Outcome::HardTimeout { .. } => ("timeout", None),
        Outcome::OverLimit(over) => ("limit", Some(over.limit.as_str().to_owned())),
        Outcome::Orphaned => ("orphaned", None),
        Outcome::Cancelled(CancelReason::Caller(why)) => ("aborted", why.clone()),
        Outcome::Cancelled(CancelReason::Dropped | CancelReason::Shutdown) => ("dropped", None),
        Outcome::Cancelled(CancelReason::Bound(why)) => ("budget", Some(why.clone())),
        Outcome::Cancelled(CancelReason::Stuck(why)) => ("loop", Some(why.clone())),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::text::SanitizerOptions;

    fn recorder(path: &Path) -> Recorder {
        let sanitizer = Sanitizer::new(SanitizerOptions::default());
        Recorder::create("record", path, &json!({ "kind": "subagent-recording" }), sanitizer)
            .expect("it can be created")
    }

    fn lines(path: &Path) -> Vec<Value> {
        let text = fs::read_to_string(path).expect("readable");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn ended(outcome: Outcome) -> Supervised {
        Supervised { outcome, ..Supervised::never_started(CancelReason::Dropped, Instant::now()) }
    }

    #[test]
    fn what_is_a_secret_only_as_a_whole_is_not_kept_in_parts() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let path = root.path().join("run.jsonl");
        let recorder = recorder(&path);
        recorder.begin(1);
        let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
        for part in [&secret[..9], &secret[9..20], &secret[20..]] {
            let event = json!({ "type": "text_delta", "contentIndex": 0, "delta": part });
            let update = json!({ "type": "message_update", "assistantMessageEvent": event });
            recorder.stdout(format!("{update}\n").as_bytes());
        }
        recorder.steered(secret);
        recorder.sends(Command::Answer("q", &Answer::Value(secret.to_owned())));
        recorder.end(&Supervised { stderr: secret.to_owned(), ..ended(Outcome::Lost) });
        let text = fs::read_to_string(&path).expect("readable");
        assert!(!text.contains("0123"), "{text}");
        assert_eq!(text.matches("[GITHUB_TOKEN_REDACTED]").count(), 4, "{text}");
        assert_eq!(lines(&path).last().map(|end| end["end"].clone()), Some("lost".into()));
        assert_eq!(recorder.notice(), None);
    }

    #[test]
    fn a_line_that_is_no_record_is_cut_behind_its_secrets() {
        let secret = "made-up value of forty-two words 0123456789";
        let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
        let options = SanitizerOptions::with_secret(secret);
        let root = tempfile::tempdir().expect("a temporary directory");
        for (index, said) in [secret, token].into_iter().enumerate() {
            for back in 0..=said.len() {
                let path = root.path().join(format!("{index}-{back}.jsonl"));
                let recorder = Recorder::create("record", &path, &json!({}), Sanitizer::new(options.clone()))
                    .expect("it can be created");
                recorder.begin(1);
                let line = format!(
                    "{} {said} end",
                    "word ".repeat(16 * 1024 / 5 - back / 5) + &"x".repeat(back % 5)
                );
                recorder.stdout(format!("{line}\n").as_bytes());
                let text = fs::read_to_string(&path).expect("readable");
                let shown = text.len() > 16 * 1024 - 200 && !text.contains(&said[..12]);
                assert!(shown, "{back} bytes before the cut: {}", &text[text.len().saturating_sub(200)..]);
            }
        }
    }

    #[test]
    fn the_kind_of_a_record_and_its_tool_come_before_the_rest() {
        let record = json!({ "result": 1, "toolName": "a", "type": "b", "args": [] });
        let text = in_reading_order(&record);
        assert_eq!(text, r#"{"type":"b","toolName":"a","args":[],"result":1}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), record);
        assert_eq!(in_reading_order(&"noise\"".into()), r#""noise\"""#);
    }

    #[test]
    fn a_full_recording_counts_what_it_leaves_out_and_has_the_end() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let path = root.path().join("run.jsonl");
        let recorder = recorder(&path);
        recorder.begin(1);
        recorder.state.lock().written = MAX_BYTES;
        recorder.stdout(b"{\"type\":\"turn_start\"}\nnoise\n");
        recorder.interrupted();
        recorder.end(&ended(Outcome::Orphaned));
        let lines = lines(&path);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!((&lines[2]["end"], &lines[2]["leftOut"]), (&"orphaned".into(), &3.into()));
        assert!(
            recorder.notice().expect("a notice").ends_with("is not whole: 3 entries did not fit into 64 MiB")
        );
    }

    #[test]
    fn a_notice_names_each_cause_and_no_other() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let update = |text: &str| {
            let event = json!({ "type": "text_delta", "contentIndex": 0, "delta": text });
            format!("{}\n", json!({ "type": "message_update", "assistantMessageEvent": event })).into_bytes()
        };
        let line = |bytes: usize| [vec![b'x'; bytes], b"\n".to_vec()].concat();
        let [long, growing] = [line(5 << 20), update(&"y".repeat(1 << 20)).repeat(2)];
        for (label, output, expected, left_out) in [
            ("lines", line(4 << 20), None, 0),
            ("a long line", long.clone(), Some("1 line was longer than 4.0 MiB"), 1),
            ("a text", growing.clone(), Some("1.0 MiB of text that had not ended was too much to keep"), 0),
            (
                "both",
                [long.clone(), long, growing].concat(),
                Some(
                    "2 lines were longer than 4.0 MiB; 1.0 MiB of text that had not ended was too much to keep",
                ),
                2,
            ),
        ] {
            let path = root.path().join(label);
            let recorder = recorder(&path);
            recorder.begin(1);
            recorder.stdout(&output);
            recorder.end(&ended(Outcome::Lost));
            let expected =
                expected.map(|why| format!("the recording `{}` is not whole: {why}", path.display()));
            assert_eq!(recorder.notice(), expected, "{label}");
            let end = lines(&path).pop().expect("an end");
            assert_eq!(end["leftOut"], json!(left_out), "{label}");
            let grown = path.display().to_string().ends_with("text");
            assert!(!grown || fs::read_to_string(&path).expect("readable").contains("yyyy"), "{label}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_named_and_disturbs_nothing() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let path = root.path().join("run.jsonl");
        let recorder = recorder(&path);
        recorder.begin(1);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
        recorder.state.lock().file = Ok(BufWriter::new(full));
        recorder.stdout(b"noise\n");
        recorder.end(&ended(Outcome::Lost));
        recorder.end(&ended(Outcome::Lost));
        let notice = recorder.notice().expect("a notice");
        assert!(notice.contains("is not whole: No space left on device"), "{notice}");
    }
}
