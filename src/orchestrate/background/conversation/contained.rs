//! The deliveries that a conversation already contains, by its session file.
//!
//! Two processes may have one session open, and neither sees what the other appends. When the one that told a result dies
//! before it could say so, only the file knows.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use memchr::memmem;
use serde::Deserialize;

use crate::files::open;

/// The type of the entries that announce; the extension writes it (`background/announcement.ts`).
const ANNOUNCEMENT: &str = "subagent-announcement";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    custom_type: String,
    details: Details,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    delivery_ids: Vec<String>,
}

/// The ids of all deliveries in a session file. Blocks.
///
/// # Errors
///
/// When it cannot be read.
pub(in super::super) fn contained_in(session_file: &Path) -> io::Result<HashSet<String>> {
    let announcement = memmem::Finder::new(ANNOUNCEMENT);
    let mut file = BufReader::new(open::regular(session_file)?);
    let (mut ids, mut line) = (HashSet::new(), Vec::new());
    while file.read_until(b'\n', &mut line)? > 0 {
        // Most lines are not parsed.
        if announcement.find(&line).is_some()
            && let Ok(Entry { custom_type, details }) = serde_json::from_slice(&line)
            && custom_type == ANNOUNCEMENT
        {
            ids.extend(details.delivery_ids);
        }
        line.clear();
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_announcements_say_what_was_delivered() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let path = root.path().join("session.jsonl");
        let lines = [
            r#"{"type":"session","id":"x"}"#,
            r#"{"type":"custom_message","customType":"subagent-announcement","content":"…","details":{"deliveryIds":["a","b"],"runs":[]}}"#,
            r#"{"type":"custom_message","customType":"other","details":{"deliveryIds":["c"],"of":"subagent-announcement"}}"#,
            r#"{"type":"message","message":{"content":"subagent-announcement d"}}"#,
            r#"{"type":"custom_message","customType":"subagent-announcement","details":{"deliveryIds":["e"]}}"#,
            r#"{"type":"custom_message","customType":"subagent-announcement","details":{"deliveryIds":["half"#,
        ];
        std::fs::write(&path, lines.join("\n")).expect("written");
        let expected = ["a", "b", "e"].map(str::to_owned);
        assert_eq!(contained_in(&path).expect("readable"), HashSet::from(expected));
        assert!(contained_in(root.path()).is_err());
    }
}
