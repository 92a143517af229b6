//! A program that really starts remote children, set up by `npm run test:engines`.

use std::path::Path;

use serde_json::{Value, json};

/// Names a file with the launcher of an engine. Its children see the files of this machine.
const ENGINE: &str = "PI_SUBAGENT_TEST_ENGINE";

/// Returns the launcher, in the form of a configuration, if an engine is set up.
pub(crate) fn engine() -> Option<Value> {
    let path = std::env::var_os(ENGINE)?;
    let text = std::fs::read_to_string(path).expect("the file is readable");
    Some(serde_json::from_str(&text).expect("the text is valid JSON"))
}

/// Returns the number of local processes with a path among their arguments. A child in a container has another PID here, but the
/// same arguments.
pub(crate) fn naming(path: &Path) -> usize {
    let path = path.as_os_str().as_encoded_bytes();
    let names = |entry: std::fs::DirEntry| {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == path)
    };
    std::fs::read_dir("/proc")
        .expect("the directory is readable")
        .flatten()
        .map(names)
        .filter(|named| *named)
        .count()
}

/// Overrides the fields of a stand-in with the engine's own. Its `cancel` leaves a line with the run's id in `note`, too.
pub(crate) fn through(engine: &Value, settings: &mut Value, note: &Path) {
    let settings = settings.as_object_mut().expect("the value is an object");
    settings.remove("quote");
    let mut engine = engine.as_object().expect("the value is an object").clone();
    let cancel = engine.remove("cancel").unwrap_or_else(|| json!(["true"]));
    let noted = format!("echo {{runId}} >>'{}'; exec \"$@\"", note.display());
    let words = ["/bin/sh", "-c", &noted, "sh"].map(Value::from);
    let cancel = words.into_iter().chain(cancel.as_array().expect("the value is an array").iter().cloned());
    settings.insert("cancel".to_owned(), cancel.collect());
    settings.extend(engine);
}
