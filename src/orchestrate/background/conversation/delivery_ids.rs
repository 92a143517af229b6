//! The ids of deliveries: of the end of a run, of its questions, and of all deliveries that a conversation already contains, by its
//! entries or its session file.
//!
//! Two processes may have one session open without seeing each other's additions. If the process that delivered a result dies
//! before it could confirm that, only the file shows the delivery.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

use crate::present::ANNOUNCEMENT;
use crate::run::RunRecord;
use agents::Tool;
use files::open;
use store::Delivery;

/// The text that every entry with deliveries contains.
const IDS: &str = "deliveryIds";
/// Between the id of a run's end and the number of its question.
const QUESTION_INFIX: &str = "-q";

/// Returns the id of the delivery of a run's end. If the disk was full, a process can find the run unfinished although
/// its end was delivered. It then uses the same id.
pub(crate) fn end_id(run: &RunRecord) -> String {
    format!("{}-{}", run.key, run.times_resumed)
}

/// Returns the id of a question of a run, one of those since its last resumption.
pub(crate) fn question_id(run: &RunRecord, number: u32) -> String {
    format!("{}{QUESTION_INFIX}{number}", end_id(run))
}

/// Returns true if a delivery is a question.
pub(crate) fn is_question(delivery: &Delivery) -> bool {
    is_question_id(&delivery.id)
}

/// Returns true if this is the id of a question instead of an end.
pub(crate) fn is_question_id(id: &str) -> bool {
    id.contains(QUESTION_INFIX)
}

/// An entry that announces, or the result of a tool that has waited for a reply.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entry {
    custom_type: String,
    details: Details,
    message: Message,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Message {
    role: String,
    tool_name: String,
    details: Details,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    /// A person may have edited them.
    delivery_ids: Vec<Value>,
}

impl Entry {
    fn into_ids(self) -> impl Iterator<Item = String> {
        let Self { custom_type, details, message } = self;
        let is_reply = message.role == "toolResult" && message.tool_name == Tool::SessionsSend.as_str();
        let ids = match (custom_type == ANNOUNCEMENT, is_reply) {
            (true, _) => details.delivery_ids,
            (false, true) => message.details.delivery_ids,
            (false, false) => Vec::new(),
        };
        ids.into_iter().filter_map(|id| if let Value::String(id) = id { Some(id) } else { None })
    }
}

/// Returns the ids of all deliveries in entries of a session, given as JSON. Entries of other releases count too.
#[must_use]
pub fn delivered_in(entries: &str) -> Vec<String> {
    let entries: Vec<Value> = serde_json::from_str(entries).unwrap_or_default();
    entries
        .into_iter()
        .filter_map(|entry| serde_json::from_value(entry).ok())
        .flat_map(Entry::into_ids)
        .collect()
}

/// The ids of all deliveries in a session file. Blocks.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn delivered_in_file(session_file: &Path) -> io::Result<HashSet<String>> {
    let some = memmem::Finder::new(IDS);
    let mut file = BufReader::new(open::regular(session_file)?);
    let mut ids = HashSet::new();
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line)? > 0 {
        // Most lines are not parsed.
        if some.find(&line).is_some()
            && let Ok(entry) = serde_json::from_slice::<Entry>(&line)
        {
            ids.extend(entry.into_ids());
        }
        line.clear();
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_announcements_and_replies_confirm_deliveries() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let path = root.path().join("session.jsonl");
        let lines = [
            r#"{"type":"session","id":"x"}"#,
            r#"{"type":"custom_message","customType":"subagent-announcement","content":"…","details":{"deliveryIds":["a","b"],"runs":[]}}"#,
            r#"{"type":"custom_message","customType":"other","details":{"deliveryIds":["c"],"of":"subagent-announcement"}}"#,
            r#"{"type":"message","message":{"content":"subagent-announcement d"}}"#,
            r#"{"type":"custom_message","customType":"subagent-announcement","details":{"deliveryIds":["e"]}}"#,
            r#"{"type":"message","message":{"role":"toolResult","toolName":"sessions_send","details":{"deliveryIds":["f"]}}}"#,
            r#"{"type":"message","message":{"role":"toolResult","toolName":"read","details":{"deliveryIds":["g"]}}}"#,
            r#"{"type":"custom_message","customType":"subagent-announcement","details":{"deliveryIds":["half"#,
        ];
        std::fs::write(&path, lines.join("\n")).expect("the file is written");
        let expected = ["a", "b", "e", "f"].map(str::to_owned);
        assert_eq!(delivered_in_file(&path).expect("the session is readable"), HashSet::from(expected));
        assert!(delivered_in_file(root.path()).is_err());
        let entries = format!("[{},null,7]", lines[..7].join(","));
        assert_eq!(delivered_in(&entries), ["a", "b", "e", "f"]);
        assert_eq!(delivered_in("no list"), [""; 0]);
    }

    #[test]
    fn an_edited_announcement_confirms_its_remaining_ids() {
        let entry = |details: &str| format!(r#"{{"customType":"{ANNOUNCEMENT}","details":{details}}}"#);
        let details =
            [r#"{"deliveryIds":["newer",7,null]}"#, r#"{"deliveryIds":["cut"],"runs":"…"}"#, "null"];
        let odd = [r#"{"deliveryIds":"x"}"#, "{}"];
        let entries: Vec<_> = details.iter().chain(&odd).map(|details| entry(details)).collect();
        assert_eq!(delivered_in(&format!("[{}]", entries.join(","))), ["newer", "cut"]);
    }
}
