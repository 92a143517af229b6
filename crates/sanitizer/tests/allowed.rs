//! Values and rules that the user excludes from redaction.

use std::time::Duration;

use sanitizer::{Allowed, Sanitizer, SanitizerOptions, check_allowed, settled_length};
use serde_json::json;

use crate::sanitize::plain;
use crate::speed::processor_time;

/// A value on the test's list of allowed values, and a value that is not on it.
pub(crate) const MINE: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
pub(crate) const OTHER: &str = "ghp_ZyXwVuTsRqPoNmLkJiHgFeDcBa9876543210";

fn allowing(entries: &[&str]) -> Sanitizer {
    let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
    Sanitizer::new(SanitizerOptions {
        secrets: vec!["Kn0wn-Value-77".to_owned(), MINE.to_owned()],
        allowed: Allowed::new(&entries),
        ..SanitizerOptions::default()
    })
}

#[test]
fn only_allowed_values_stay_also_while_they_arrive() {
    let text =
        format!("token: {MINE}, api_key=k9x2m4p7q1 and {OTHER}; Kn0wn-Value-77 password=hunter22x\nend");
    let other = "[GITHUB_TOKEN_REDACTED]";
    for (entries, expected) in [
        (
            &[MINE][..],
            format!("token: {MINE}, api_key=[REDACTED] and {other}; [REDACTED] password=[REDACTED]\nend"),
        ),
        (
            &["k9x2m4p7q1", "hunter22x", "Kn0wn-Value-77"],
            format!(
                "token: [REDACTED], api_key=k9x2m4p7q1 and {other}; Kn0wn-Value-77 password=hunter22x\nend"
            ),
        ),
        (
            &["rule:github_token"],
            format!("token: [REDACTED], api_key=[REDACTED] and {OTHER}; [REDACTED] password=[REDACTED]\nend"),
        ),
        (
            &["rule:assignment"],
            format!("token: {other}, api_key=k9x2m4p7q1 and {other}; [REDACTED] password=hunter22x\nend"),
        ),
    ] {
        let sanitizer = allowing(entries);
        assert_eq!(&*sanitizer.sanitize(&text), expected, "{entries:?}");
        for end in 0..=text.len() {
            let shown = sanitizer.sanitize_growing(&text[..settled_length(&text[..end])]);
            let same = expected.bytes().zip(shown.bytes()).take_while(|(one, other)| one == other).count();
            assert!(shown.len() - same < 8, "{entries:?} {end}: {shown}");
        }
    }
}

#[test]
fn an_allowed_name_of_json_stays_and_an_allowed_rule_costs_no_more_than_one_that_is_on() {
    let value = json!({ "password": "hunter22x", "token": "k9x2m4p7q1" });
    let kept = allowing(&["hunter22x"]).sanitize_json(&value);
    assert_eq!(kept, json!({ "password": "hunter22x", "token": "[REDACTED]" }));
    assert_eq!(allowing(&["rule:assignment"]).sanitize_json(&value), value);

    let took = |sanitizer: &Sanitizer| {
        let text = "token=k9x2m4p7q1".repeat(20_000);
        processor_time(|| drop(sanitizer.sanitize(&text)))
    };
    let [on, off] = [plain(), allowing(&["rule:assignment"])].map(|sanitizer| took(&sanitizer));
    assert!(off < on * 20 + Duration::from_secs(1), "{off:?}, {on:?} with the rule");
}

#[test]
fn the_list_of_allowed_values_is_checked() {
    assert_eq!(check_allowed("rule:github_token"), Ok(()));
    assert_eq!(check_allowed("rule:stack_frames"), Ok(()));
    assert_eq!(check_allowed("hunter22x"), Ok(()));
    for (entry, wrong) in [
        ("rule:github_tokn", "did you mean `github_token`?"),
        ("rule:home_directory", "does not exist"),
        ("jwt", "write `rule:jwt`"),
        ("ab", "at least 3 bytes"),
    ] {
        let error = check_allowed(entry).expect_err(entry).to_string();
        assert!(error.contains(wrong), "{error}");
    }
    assert_eq!(Allowed::new(&["rule:github_tokn".to_owned()]), Allowed::default());
}
