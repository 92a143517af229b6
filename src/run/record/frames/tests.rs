use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::event::{Collected, Collector, Counts};

/// The streams that real pi wrote.
fn streams() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/streams");
    let mut found = Vec::new();
    let mut directories = vec![root];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).expect("it is there") {
            let path = entry.expect("readable").path();
            match path.extension() {
                _ if path.is_dir() => directories.push(path),
                Some(extension) if extension == "jsonl" => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// What the frames of a stream become when they are written again.
fn replayed(stream: &[u8], chunk: usize) -> Vec<u8> {
    let (mut frames, mut kept) = (Frames::default(), Vec::new());
    let mut keep = |frame| match frame {
        Frame::Record(record) | Frame::Alive(record) => kept.extend(format!("{record}\n").into_bytes()),
        Frame::Noise(line) => kept.extend(format!("{line}\n").into_bytes()),
        Frame::Growing(mut record, text) => {
            record[EVENT]["delta"] = text.into();
            kept.extend(format!("{record}\n").into_bytes());
        }
        Frame::TooLong | Frame::Forgotten(_) => {}
    };
    for chunk in stream.chunks(chunk) {
        frames.push(chunk, &mut keep);
    }
    frames.finish(&mut keep);
    kept
}

fn collected(stream: &[u8]) -> Collected {
    let mut collector = Collector::new();
    collector.push(stream);
    Collected { counts: Counts::default(), ..collector.into_collected() }
}

#[test]
fn what_is_kept_of_a_stream_gives_the_same_result() {
    let streams = streams();
    assert!(streams.len() > 20, "{streams:?}");
    for path in streams {
        let stream = fs::read(&path).expect("readable");
        // Whole, and broken off somewhere in every quarter.
        for part in [4, 3, 2, 1] {
            let part = &stream[..stream.len() * part / 4];
            let lines = part.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let torn = [&part[..lines], b"{\"type\":\"agent_se"].concat();
            let kept = replayed(&torn, 1000 + lines % 7);
            assert_eq!(collected(&kept), collected(&torn), "{} {lines}", path.display());
        }
    }
}

#[test]
fn no_growing_text_is_kept_of_a_message_that_ended() {
    let update = |delta: &str| json!({ "type": "message_update", EVENT: { "type": "text_delta", "contentIndex": 0, "delta": delta } });
    let start = json!({ "type": "message_start", "message": { "role": "assistant" } });
    let end = json!({ "type": "message_end", "message": { "role": "assistant", "content": [] } });
    let stream =
        |records: &[Value]| records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";

    let ended = stream(&[start.clone(), update("ghp_half"), update("of it"), end]);
    let kept = String::from_utf8(replayed(ended.as_bytes(), 7)).expect("text");
    assert!(!kept.contains("half") && !kept.contains("of it"), "{kept}");

    let torn = stream(&[start, update("ghp_half"), update("of it")]);
    let kept = String::from_utf8(replayed(torn.as_bytes(), 7)).expect("text");
    assert!(kept.contains(r#""delta":"ghp_halfof it""#), "{kept}");
}

#[test]
fn long_lines_are_counted_and_what_follows_is_kept() {
    let (mut frames, mut kept) = (Frames::default(), Vec::new());
    let long = vec![b'x'; MAX_LINE + 1];
    for chunk in [&b"first\n"[..], &long, b"\n{\"type\":\"turn_start\"}\n", b"[1]\n"] {
        frames.push(chunk, |frame| kept.push(frame));
    }
    frames.finish(|frame| kept.push(frame));
    let expected = [
        Frame::Noise("first".into()),
        Frame::TooLong,
        Frame::Record(json!({ "type": "turn_start" })),
        Frame::Noise("[1]".into()),
    ];
    assert_eq!(kept, expected);
}
