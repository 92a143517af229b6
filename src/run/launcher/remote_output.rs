//! Separates the messages of a remote script from the output of its child, and records when the output arrives.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use files::private;
use worktree::{RemoteChanges, RemoteChangesError};

/// The maximum length of a message, in bytes.
const MAX_LINE: usize = 4 * 1024;
/// The maximum length of git's output on the remote machine, in bytes.
const MAX_NOTES: u64 = 4 * 1024;

/// The messages of a remote script.
#[derive(Debug)]
pub(crate) struct RemoteOutput {
    /// The prefix of each message. The child does not know it.
    key: String,
    /// The current line, if it may be a message; `None` inside a line of the child's output.
    line: Option<Vec<u8>>,
    /// The state of the bytes that follow a message.
    receiving: Receiving,
    /// The path to which the received pack is written.
    pack: PathBuf,
    limit: u64,
    remote_changes: Option<Result<Option<RemoteChanges>, RemoteChangesError>>,
    directory: Option<String>,
    is_removed: bool,
}

#[derive(Debug, Default)]
enum Receiving {
    #[default]
    Lines,
    Notes {
        remaining: u64,
        notes: Vec<u8>,
        pack: u64,
        remote_changes: RemoteChanges,
    },
    Pack {
        remaining: u64,
        file: Option<File>,
        remote_changes: RemoteChanges,
    },
}

impl RemoteOutput {
    pub(super) fn new(key: String, pack: PathBuf, limit: u64) -> Self {
        Self {
            key,
            line: Some(Vec::new()),
            receiving: Receiving::Lines,
            pack,
            limit,
            remote_changes: None,
            directory: None,
            is_removed: false,
        }
    }

    /// Removes the messages from the next bytes, which can be split anywhere. Returns the rest.
    pub(crate) fn push<'a>(&mut self, chunk: &'a [u8]) -> Cow<'a, [u8]> {
        // Most chunks are within lines of the child's output.
        if matches!(self.receiving, Receiving::Lines) && self.line.is_none() && !chunk.contains(&b'\n') {
            return Cow::Borrowed(chunk);
        }
        let mut rest = chunk;
        let mut output = Vec::with_capacity(chunk.len());
        while !rest.is_empty() {
            rest = match self.receiving {
                Receiving::Lines => self.read_line(rest, &mut output),
                _ => self.receive(rest),
            };
            // A pack may be empty.
            if !matches!(self.receiving, Receiving::Lines) {
                self.receive(&[]);
            }
        }
        Cow::Owned(output)
    }

    /// Returns true while a pack is being received.
    pub(crate) fn is_receiving(&self) -> bool {
        !matches!(self.receiving, Receiving::Lines)
    }

    /// Returns the received changes, or `Ok(None)` if nothing was changed. The error explains why the changes are
    /// unknown. The second value is the remote directory, if it may still exist.
    pub(crate) fn into_changes(self) -> (Result<Option<RemoteChanges>, RemoteChangesError>, Option<String>) {
        let directory = self.directory.filter(|_| !self.is_removed);
        let remote_changes = self.remote_changes.unwrap_or(match &directory {
            // No child was started.
            None => Ok(None),
            Some(_) => Err(RemoteChangesError::Disconnected),
        });
        (remote_changes, directory)
    }

    fn read_line<'a>(&mut self, rest: &'a [u8], output: &mut Vec<u8>) -> &'a [u8] {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (part, rest) = rest.split_at(end);
        let is_complete = part.ends_with(b"\n");
        let Some(mut line) = self.line.take() else {
            output.extend_from_slice(part);
            self.line = is_complete.then(Vec::new);
            return rest;
        };
        line.extend_from_slice(part);
        let key = self.key.as_bytes();
        let known = line.len().min(key.len());
        if line[..known] != key[..known] || line.len() > MAX_LINE {
            output.extend_from_slice(&line);
            self.line = is_complete.then(Vec::new);
        } else if is_complete {
            let text = String::from_utf8_lossy(&line[known..]).trim().to_owned();
            self.line = Some(Vec::new());
            self.handle(&text);
        } else {
            self.line = Some(line);
        }
        rest
    }

    fn handle(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "at" => self.directory = Some(rest.to_owned()),
            "gone" => self.is_removed = true,
            "same" => self.remote_changes = Some(Ok(None)),
            "lost" => {
                self.remote_changes = Some(Err(RemoteChangesError::NotSent { why: rest.to_owned() }));
            }
            "back" => {
                let fields: Vec<&str> = rest.split(' ').collect();
                let remote_changes = match fields[..] {
                    [files, tip, others, notes, pack]
                        if is_object(files) && (tip == "-" || is_object(tip)) =>
                    {
                        let tip = Some(tip.to_owned()).filter(|tip| tip != "-");
                        let remote_changes = RemoteChanges {
                            files: files.to_owned(),
                            tip,
                            has_others: others != "0",
                            notes: String::new(),
                        };
                        notes.parse().ok().zip(pack.parse().ok()).map(|bytes| (remote_changes, bytes))
                    }
                    _ => None,
                };
                match remote_changes {
                    Some((remote_changes, (remaining, pack)))
                        if remaining <= MAX_NOTES && pack <= self.limit =>
                    {
                        self.receiving =
                            Receiving::Notes { remaining, notes: Vec::new(), pack, remote_changes };
                    }
                    _ => {
                        self.remote_changes = Some(Err(RemoteChangesError::UnknownFormat));
                    }
                }
            }
            _ => {}
        }
    }

    fn receive<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let (rest, receiving) = match std::mem::take(&mut self.receiving) {
            Receiving::Lines => (rest, Receiving::Lines),
            Receiving::Notes { mut remaining, mut notes, pack, mut remote_changes } => {
                let part = first(rest, &mut remaining);
                notes.extend_from_slice(part);
                let rest = &rest[part.len()..];
                if remaining > 0 {
                    (rest, Receiving::Notes { remaining, notes, pack, remote_changes })
                } else {
                    remote_changes.notes = String::from_utf8_lossy(&notes).into_owned();
                    let file = private::options().write(true).create(true).truncate(true).open(&self.pack);
                    (rest, Receiving::Pack { remaining: pack, file: file.ok(), remote_changes })
                }
            }
            Receiving::Pack { mut remaining, mut file, remote_changes } => {
                let part = first(rest, &mut remaining);
                // After a failed write, the pack is incomplete, so the file is dropped.
                file = file.filter(|mut file| file.write_all(part).is_ok());
                if remaining > 0 {
                    (&rest[part.len()..], Receiving::Pack { remaining, file, remote_changes })
                } else {
                    self.remote_changes = Some(match file {
                        Some(_) => Ok(Some(remote_changes)),
                        None => Err(RemoteChangesError::NotWritten),
                    });
                    (&rest[part.len()..], Receiving::Lines)
                }
            }
        };
        self.receiving = receiving;
        rest
    }
}

/// Returns the bytes that still belong to the current part, and subtracts their number from `remaining`.
fn first<'a>(bytes: &'a [u8], remaining: &mut u64) -> &'a [u8] {
    let part = &bytes[..bytes.len().min(usize::try_from(*remaining).unwrap_or(usize::MAX))];
    *remaining -= part.len() as u64;
    part
}

/// Returns true if this is the full name of a git object.
fn is_object(word: &str) -> bool {
    matches!(word.len(), 40 | 64) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The amounts of output, with their times.
#[derive(Debug)]
pub(crate) struct OutputTimestamps {
    since: Instant,
    /// The number of bytes received, and the time since the start. Each entry has more bytes than the one before, so
    /// the list is never longer than the output.
    noted: Vec<(usize, Duration)>,
}

impl OutputTimestamps {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Self { since: Instant::now(), noted: Vec::new() }
    }

    /// Records that this many bytes have been received in total.
    pub(crate) fn note(&mut self, bytes: usize) {
        self.noted.push((bytes, self.since.elapsed()));
    }

    /// Returns the time from the start until the first occurrence of `text` in `printed` had arrived completely, if
    /// there is one.
    pub(super) fn of(&self, text: &str, printed: &[u8]) -> Option<Duration> {
        let end = printed.windows(text.len()).position(|seen| seen == text.as_bytes())? + text.len();
        self.noted.iter().find(|(bytes, _)| *bytes >= end).map(|(_, since)| *since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_removed_wherever_the_stream_is_split() {
        let place = tempfile::tempdir().expect("a temporary directory is created");
        let pack = place.path().join("pack");
        let files = "a".repeat(40);
        let tip = "b".repeat(40);
        let stream = format!(
            "banner\nkey at /tmp/x\n{{\"a\":1}}\nkeyless\n\nkey back {files} {tip} 1 4 6\nnoteP\nCK\n!{{\"b\":2}}\nkey gone\nend"
        );
        for size in 1..stream.len() {
            let mut remote_output = RemoteOutput::new("key ".into(), pack.clone(), 6);
            let others: Vec<u8> = stream
                .as_bytes()
                .chunks(size)
                .flat_map(|chunk| remote_output.push(chunk).into_owned())
                .collect();
            assert_eq!(
                String::from_utf8_lossy(&others),
                "banner\n{\"a\":1}\nkeyless\n\n{\"b\":2}\nend",
                "{size}"
            );
            assert!(!remote_output.is_receiving());
            let expected = RemoteChanges {
                files: files.clone(),
                tip: Some(tip.clone()),
                has_others: true,
                notes: "note".into(),
            };
            assert_eq!(remote_output.into_changes(), (Ok(Some(expected)), None), "{size}");
            assert_eq!(std::fs::read(&pack).expect("the pack is readable"), b"P\nCK\n!");
        }
    }

    #[test]
    fn changes_that_are_too_large_or_malformed_are_rejected() {
        let place = tempfile::tempdir().expect("a temporary directory is created");
        let name = "a".repeat(40);
        for (line, expected) in [
            (format!("key back {name} - 0 0 7\n"), "in an unknown format"),
            (format!("key back {name} HEAD 0 0 1\n"), "in an unknown format"),
            (format!("key back {name} - 0 5000 1\n"), "in an unknown format"),
            ("key lost no room\n".to_owned(), "could not be sent back: no room"),
            (format!("key at /tmp/x\nkey back {name} - 0 0 6\nPACK"), "the connection ended"),
            ("key at /tmp/x\n".to_owned(), "the connection ended"),
        ] {
            let mut remote_output = RemoteOutput::new("key ".into(), place.path().join("pack"), 6);
            remote_output.push(line.as_bytes());
            let (remote_changes, directory) = remote_output.into_changes();
            assert!(
                remote_changes.as_ref().is_err_and(|why| why.to_string().contains(expected)),
                "{line}: {remote_changes:?}"
            );
            assert_eq!(directory.is_some(), line.contains(" at "), "{line}");
        }
        let never_started = RemoteOutput::new("key ".into(), place.path().join("pack"), 6);
        assert_eq!(never_started.into_changes(), (Ok(None), None));
    }

    #[test]
    fn a_message_counts_as_read_with_its_last_byte() {
        let [first, second] = [Duration::from_millis(3), Duration::from_millis(8)];
        let timestamps = OutputTimestamps { since: Instant::now(), noted: vec![(5, first), (9, second)] };
        for (text, expected) in [("a ma", Some(first)), ("mark", Some(second)), ("none", None)] {
            assert_eq!(timestamps.of(text, b"a mark ab"), expected, "{text}");
        }
    }
}
