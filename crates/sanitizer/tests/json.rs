//! Sanitized JSON.

use serde_json::{Value, json};

use crate::sanitize::knowing;

#[test]
fn json_stays_json_with_secrets_at_any_depth() {
    let value = json!({
        "a": [{ "password": "s3cret!", "note": "api_key=k9x2m4p7q1" }, "Bearer k9x2m4p7q1"],
        "clientSecret": "k9x2m4p7q1",
        "Authorization": "Bearer k9x2m4p7q1",
        "pin_password": 123_456,
        "secret": { "deep": "/home/ann/x" },
        "Kn0wn-Value-77": 1,
        "max_tokens": 4096,
        "token": null,
        "type": "string"
    });
    let expected = json!({
        "a": [{ "password": "[REDACTED]", "note": "api_key=[REDACTED]" }, "Bearer [REDACTED]"],
        "clientSecret": "[REDACTED]",
        "Authorization": "[REDACTED]",
        "pin_password": "[REDACTED]",
        "secret": { "deep": "~/x" },
        "[REDACTED]": 1,
        "max_tokens": 4096,
        "token": null,
        "type": "string"
    });
    let sanitizer = knowing();
    assert_eq!(sanitizer.sanitize_json(&value), expected);
    assert_eq!(sanitizer.sanitize_json(&expected), expected);
    let text = serde_json::to_string(&value).expect("the value is serialized");
    let read: Value = serde_json::from_str(&sanitizer.sanitize(&text)).expect("sanitized JSON is JSON");
    assert_eq!(read["clientSecret"], "[REDACTED]");
}

#[test]
fn json_that_hides_a_secret_behind_control_sequences_is_settled_at_once() {
    for value in [
        json!({ "private_key": "-----BE\u{9b}1mGIN PRIVATE E-KY----\nYX16JpXSMAXkyPsIKyhT\u{fffd} a" }),
        json!({ "pass\u{1b}[1mword": "hunter2", "to\u{0}ken": "k9x2m4p7q1Zz" }),
        json!({ "password": "a\u{1b}]0;b c \u{7}k9x2m4p7q1" }),
    ] {
        let once = knowing().sanitize_json(&value);
        assert_eq!(knowing().sanitize_json(&once), once, "{value}");
        assert!(!once.to_string().contains("hunter2") && !once.to_string().contains("k9x2m4p7q1"), "{once}");
    }
}

#[test]
fn keys_that_become_the_same_are_all_kept() {
    let value = json!({ "Kn0wn-Value-77": 1, "multi\nline-Kn0wn": 2 });
    let out = knowing().sanitize_json(&value);
    assert_eq!(out.as_object().map(serde_json::Map::len), Some(2), "{out}");
}
