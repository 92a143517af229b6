//! A program that really starts children elsewhere, as `npm run test:engines` sets it up.

use std::path::Path;

use serde_json::{Value, json};

/// Names a file with the launcher of an engine. Its children see the files of this machine.
const ENGINE: &str = "PI_SUBAGENT_TEST_ENGINE";

/// The launcher, as a configuration has it, if an engine is there.
pub(crate) fn engine() -> Option<Value> {
    let path = std::env::var_os(ENGINE)?;
    let text = std::fs::read_to_string(path).expect("the file of an engine");
    Some(serde_json::from_str(&text).expect("a launcher"))
}

/// How many processes here have a path among their words. A child in a container has another number there, but the same words.
pub(crate) fn naming(path: &Path) -> usize {
    let path = path.as_os_str().as_encoded_bytes();
    let names = |entry: std::fs::DirEntry| {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == path)
    };
    std::fs::read_dir("/proc").expect("processes").flatten().map(names).filter(|named| *named).count()
}

/// Puts the engine's own fields over those of a stand-in. Its `cancel` leaves a line with the run's id in `note`, too.
pub(crate) fn through(engine: &Value, settings: &mut Value, note: &Path) {
    let settings = settings.as_object_mut().expect("an object");
    settings.remove("quote");
    let mut engine = engine.as_object().expect("an object").clone();
    let cancel = engine.remove("cancel").unwrap_or_else(|| json!(["true"]));
    let noted = format!("echo {{runId}} >>'{}'; exec \"$@\"", note.display());
    let words = ["/bin/sh", "-c", &noted, "sh"].map(Value::from);
    let cancel = words.into_iter().chain(cancel.as_array().expect("a list").iter().cloned());
    settings.insert("cancel".to_owned(), cancel.collect());
    settings.extend(engine);
}
