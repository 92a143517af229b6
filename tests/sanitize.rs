//! What the sanitizer removes, and what it leaves alone.

use std::time::{Duration, Instant};

use pi_subagent_native::text::{Redaction, Sanitizer, SanitizerOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

fn plain() -> Sanitizer {
    Sanitizer::new(SanitizerOptions::default())
}

fn knowing() -> Sanitizer {
    let secrets = vec!["Kn0wn-Value-77".to_owned(), "multi\nline-Kn0wn".to_owned()];
    Sanitizer::new(SanitizerOptions {
        secrets,
        homes: vec!["/root".to_owned(), "/srv/people/ann/".to_owned()],
    })
}

/// The cases of a corpus: comments and empty lines dropped, `¦` removed, `⏎` made a line end.
fn corpus(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(|line| line.replace('¦', "").replace('⏎', "\n")).collect()
}

#[test]
fn every_secret_of_the_corpus_goes_and_what_surrounds_it_stays() {
    let sanitizer = plain();
    let mut wrong = Vec::new();
    for case in corpus(include_str!("inputs/secrets.txt")) {
        let (before, rest) = case.split_once('«').expect("a case marks its secret");
        let (secret, after) = rest.split_once('»').expect("a case marks the end of its secret");
        let sanitized = sanitizer.sanitize(&format!("{before}{secret}{after}"));
        let is_clean = sanitized.starts_with(before) && sanitized.ends_with(after);
        let marker =
            sanitized.get(before.len()..sanitized.len() - after.len().min(sanitized.len())).unwrap_or("");
        if !is_clean || !marker.starts_with('[') || !marker.ends_with("REDACTED]") {
            wrong.push(format!("{case}\n  -> {sanitized}"));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_innocent_line_of_the_corpus_comes_out_as_it_went_in() {
    let sanitizer = plain();
    let cases = corpus(include_str!("inputs/innocent.txt"));
    let changed =
        cases.iter().map(|case| (case, sanitizer.sanitize(case))).filter(|(case, out)| **case != **out);
    let changed: Vec<String> = changed.map(|(case, out)| format!("{case}\n  -> {out}")).collect();
    assert!(changed.is_empty(), "{} of {}:\n{}", changed.len(), cases.len(), changed.join("\n"));
    let whole = cases.join("\n");
    assert_eq!(&*sanitizer.sanitize(&whole), whole, "as one text");
}
