//! Reads back what calls and messages have left in a session.
//!
//! A session outlives releases, and anyone can write to its file: another extension may use our names, a line may be
//! cut, a person may edit it. So a value is read as a whole, from JSON. Unknown fields are skipped, and so is a part that no
//! card draws if its form is unknown. Otherwise a missing field, or a field of another type, makes the whole value foreign,
//! and the text next to it is shown.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::run::{RunDetails, TaskProgress, TaskState};

/// The version that says the same by each field as this release.
const VERSION: f64 = 1.0;

/// The kind and version in the data. pi's own example has neither.
#[derive(Deserialize)]
struct Stamp {
    kind: Option<String>,
    version: Option<f64>,
}

/// The value that was kept as `kind`, if it is one.
pub(super) fn read<T: DeserializeOwned>(json: &str, kind: &str) -> Option<T> {
    let stamp: Stamp = serde_json::from_str(json).ok()?;
    let is_known = match (stamp.kind, stamp.version) {
        (None, None) => true,
        (Some(of), Some(version)) => of == kind && (version - VERSION).abs() < f64::EPSILON,
        _ => false,
    };
    is_known.then(|| serde_json::from_str(json).ok()).flatten()
}

/// Reads the details of a call that runs agents. pi's own example of a sub-agent leaves some with nothing in them.
pub(super) fn read_details(json: &str) -> Option<RunDetails> {
    let details: RunDetails = read(json, RunDetails::KIND)?;
    let is_run = |run: &TaskProgress| matches!(run.state, TaskState::Live(_)) && run.display_items.is_some();
    let is_whole = details.streaming.as_ref().is_none_or(is_run)
        && details.tasks.iter().all(|task| task.agent.is_some());
    let has_some = details.error.is_some() || details.streaming.is_some() || !details.tasks.is_empty();
    (is_whole && (has_some || !details.results.is_empty())).then_some(details)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use pi_events::DisplayItem;

    fn details(change: impl Fn(&mut Value)) -> Option<RunDetails> {
        let usage =
            json!({"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "cost": 0.1, "turns": 1.0});
        let result = json!({"agent": "a", "task": "t", "outcome": "completed", "attempts": 1,
            "durationMs": 5, "usage": usage, "displayItems": [{"type": "toolCall", "name": "ls", "args": {}}]});
        let mut value =
            json!({"kind": "subagent-run", "version": 1, "mode": "single", "results": [result], "more": 1});
        change(&mut value);
        read_details(&value.to_string())
    }

    #[test]
    fn details_are_read_with_and_without_a_version_stamp() {
        let read = details(|_| {}).expect("the details are valid");
        let call = DisplayItem::tool_call("ls".to_owned(), json!({}));
        assert_eq!(read.results[0].display_items, [call]);
        let unstamped = details(|value| {
            let fields = value.as_object_mut().expect("the value is an object");
            fields.remove("kind");
            fields.remove("version");
        });
        assert!(unstamped.is_some());
    }

    #[test]
    fn details_are_read_with_parts_of_other_releases() {
        let read = details(|value| {
            value["error"] = json!({"code": "OF_A_LATER_RELEASE", "message": "no"});
            let result = &mut value["results"][0];
            result["durationMs"] = json!(5.5);
            result["sandbox"] = json!({"enforced": true, "mechanism": ["landlock"]});
            result["resources"] = json!({"cpuMs": 5});
            result["timeoutReason"] = json!("of a later release");
            result["check"] = json!({"command": "npm test", "passed": true, "ended": "exit code 0"});
            result["isolation"] = json!({"branch": "pi/0badcafe"});
        });
        let RunDetails { results, error, .. } = read.expect("the details are valid");
        let [result] = &results[..] else { panic!("there is one result") };
        assert_eq!((result.duration_ms, result.timeout_reason, &result.sandbox), (5, None, &None));
        assert!(result.check.as_ref().is_some_and(|check| check.passed) && result.isolation.is_some());
        assert_eq!(error.map(|error| error.message).as_deref(), Some("no"));
    }

    #[test]
    fn details_with_another_version_or_kind_or_type_are_not_read() {
        for (pointer, other) in [
            ("/version", json!(2)),
            ("/kind", json!("x")),
            ("/kind", Value::Null),
            ("/mode", json!("later")),
            ("/results", json!([])),
            ("/results/0/agent", json!(7)),
            ("/results/0/usage/cost", Value::Null),
            ("/results/0/usage", json!("1")),
            ("/results/0/outcome", json!("of a later release")),
            ("/results/0/displayItems/0/type", json!("thinking")),
        ] {
            let read =
                details(|value| *value.pointer_mut(pointer).expect("the field exists") = other.clone());
            assert!(read.is_none(), "{pointer} = {other}");
        }
        for text in ["", "null", "[]", "7", "{", "{}"] {
            assert!(read_details(text).is_none(), "{text}");
        }
    }
}
