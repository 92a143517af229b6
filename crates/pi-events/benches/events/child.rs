//! A child that does next to nothing: it takes pi's command line and sends pi's events, with one short answer in
//! deltas.
//!
//! In the middle of its answer it waits at a gate, a named pipe that the benchmark opens for writing once all
//! children are running. It speaks both protocols, and answers commands one after the other.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::stdio::{stdin, stdout};

/// The answer, one piece per delta.
const WORDS: [&str; 8] = [
    "The parser ",
    "reads one line ",
    "at a time ",
    "and keeps ",
    "what it needs, ",
    "nothing more.\n",
    "See `src/parse.rs` ",
    "for the limits. ",
];

/// Speaks the protocol selected by `arguments` until its input ends.
pub(crate) fn speak(
    gate: &str,
    deltas: &str,
    pause: &str,
    arguments: &[&str],
) -> Result<(), Box<dyn std::error::Error>> {
    let pause = Duration::from_millis(pause.parse()?);
    let mut child = Child { output: stdout()?, gate: gate.to_owned(), deltas: deltas.parse()?, pause };
    if arguments.windows(2).any(|pair| pair == ["--mode", "rpc"]) {
        return child.serve();
    }
    let mut task = String::new();
    stdin()?.read_to_string(&mut task)?;
    child.emit(&json!({
        "type": "session", "version": 3, "id": "01a1fffe-d3f7-75df-8dc4-cc5b835ba852",
        "timestamp": "2026-11-21T21:24:12.920Z", "cwd": "/",
    }))?;
    child.answer(&task)?;
    Ok(())
}

struct Child {
    output: File,
    gate: String,
    deltas: usize,
    pause: Duration,
}

impl Child {
    fn serve(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        for line in BufReader::new(stdin()?).lines() {
            let command: Value = serde_json::from_str(&line?)?;
            let mut response = json!({ "type": "response", "command": command["type"], "success": true });
            if !command["id"].is_null() {
                response["id"] = command["id"].clone();
            }
            let task = (command["type"] == "prompt").then(|| command["message"].as_str().unwrap_or_default());
            if command["type"] == "get_state" {
                response["data"] = json!({ "isStreaming": false, "isCompacting": false, "messageCount": 0 });
            } else if task.is_some() {
                response["data"] = json!({ "disposition": "started" });
            }
            self.emit(&response)?;
            if let Some(task) = task {
                self.answer(task)?;
            }
        }
        Ok(())
    }

    /// Answers one prompt, with the events of pi 1.5.
    fn answer(&mut self, task: &str) -> io::Result<()> {
        let user = json!({ "role": "user", "content": [{ "type": "text", "text": task }], "timestamp": 0 });
        self.emit(&json!({ "type": "agent_start" }))?;
        self.emit(&json!({ "type": "turn_start" }))?;
        self.emit(&json!({ "type": "message_start", "message": user }))?;
        self.emit(&json!({ "type": "message_end", "message": user }))?;
        self.emit(&json!({ "type": "message_start", "message": message("", "pending") }))?;
        self.update(json!({ "type": "text_start", "contentIndex": 0 }))?;
        let mut text = String::new();
        for delta in 0..self.deltas {
            if delta == self.deltas / 2 {
                self.wait_at_gate()?;
            }
            let word = WORDS[delta % WORDS.len()];
            text.push_str(word);
            self.update(json!({ "type": "text_delta", "contentIndex": 0, "delta": word }))?;
            sleep(self.pause);
        }
        self.update(json!({ "type": "text_end", "contentIndex": 0, "content": text }))?;
        let message = message(&text, "stop");
        self.emit(&json!({ "type": "message_end", "message": message }))?;
        self.emit(&json!({ "type": "turn_end", "message": message, "toolResults": [] }))?;
        self.emit(&json!({ "type": "agent_end", "messages": [user, message], "willRetry": false }))?;
        self.emit(&json!({ "type": "agent_settled", "aborted": false }))
    }

    /// Waits at the gate: opening a named pipe for reading blocks until it is opened for writing.
    fn wait_at_gate(&self) -> io::Result<()> {
        File::open(&self.gate).map(drop)
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers build it for this")]
    fn update(&mut self, event: Value) -> io::Result<()> {
        self.emit(&json!({ "type": "message_update", "usage": usage(), "assistantMessageEvent": event }))
    }

    /// Writes an event in one call, as pi writes its lines.
    fn emit(&mut self, event: &Value) -> io::Result<()> {
        self.output.write_all(format!("{event}\n").as_bytes())
    }
}

fn message(text: &str, stop_reason: &str) -> Value {
    let content = if text.is_empty() { json!([]) } else { json!([{ "type": "text", "text": text }]) };
    json!({
        "role": "assistant", "content": content, "api": "openai-completions", "provider": "fake",
        "model": "fake-model", "usage": usage(), "stopReason": stop_reason, "timestamp": 0, "responseId": "chatcmpl-9",
    })
}

fn usage() -> Value {
    json!({
        "input": 1000, "output": 100, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0, "totalTokens": 1100,
        "cost": { "input": 0.003, "output": 0.0015, "cacheRead": 0, "cacheWrite": 0, "total": 0.0045 },
    })
}
