//! The shares of secrets that the sanitizer finds, and of innocent text that it keeps: the figures of the README.

use sanitizer::{Sanitizer, SanitizerOptions};

/// The corpus for tuning the rules, and the part that was written before the rules.
const SECRETS: [&str; 2] = [include_str!("inputs/secrets.txt"), include_str!("inputs/held-out/secrets.txt")];
const INNOCENT: [&str; 2] =
    [include_str!("inputs/innocent.txt"), include_str!("inputs/held-out/innocent.txt")];

/// The maximum number of remaining secrets per thousand.
const MAX_MISSED: usize = 10;
/// The maximum number of changed innocent lines per thousand.
const MAX_CHANGED: usize = 5;

fn plain() -> Sanitizer {
    Sanitizer::new(SanitizerOptions::default())
}

/// Returns the cases of a file: without comments and empty lines, with `¦` removed, and `⏎` and `␛` replaced by their characters.
fn cases(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(|line| line.replace('¦', "").replace('⏎', "\n").replace('␛', "\x1b")).collect()
}

/// Returns true if the marked part of a case is removed and the text around it stays, apart from control sequences.
fn is_found(case: &str, sanitizer: &Sanitizer) -> Result<(), String> {
    let (before, rest) = case.split_once('«').expect("a case marks its secret");
    let (secret, after) = rest.split_once('»').expect("a case marks the end of its secret");
    let out = sanitizer.sanitize(&format!("{before}{secret}{after}"));
    let before = without_sequences(before);
    let after = without_sequences(after);
    let marker = out.strip_prefix(&*before).and_then(|rest| rest.strip_suffix(&*after)).unwrap_or("");
    let is_found = marker.starts_with('[') && marker.ends_with("REDACTED]") && !marker.contains(' ');
    if is_found { Ok(()) } else { Err(format!("{case}\n  -> {}", &*out)) }
}

/// Removes the sequences of the corpus: colours and titles.
fn without_sequences(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut clean = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let rest = match part.as_bytes().first() {
            Some(b'[') => part.trim_start_matches(|found: char| found != 'm').get(1..),
            Some(b'\\') => part.get(1..),
            _ => None,
        };
        clean.push_str(rest.unwrap_or(""));
    }
    clean
}

/// Wrong cases of both kinds, by part.
fn measure() -> ([Vec<String>; 2], [Vec<String>; 2]) {
    let sanitizer = plain();
    let missed =
        SECRETS.map(|part| cases(part).iter().filter_map(|case| is_found(case, &sanitizer).err()).collect());
    let changed = INNOCENT.map(|part| {
        let outputs = cases(part).into_iter().map(|case| (sanitizer.sanitize(&case).into_string(), case));
        outputs.filter(|(out, case)| out != case).map(|(out, case)| format!("{case}\n  -> {out}")).collect()
    });
    (missed, changed)
}

/// Returns a share with one decimal, as the pages show it.
fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 2000 + whole) / (whole * 2);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what a reader of the test wants to see")]
fn the_figures_reach_the_limits_and_match_the_docs() {
    let (missed, changed) = measure();
    let secrets: usize = SECRETS.iter().map(|part| cases(part).len()).sum();
    let innocent: usize = INNOCENT.iter().map(|part| cases(part).len()).sum();
    let [missed_count, changed_count] =
        [&missed, &changed].map(|parts| parts.iter().map(Vec::len).sum::<usize>());
    let figures = format!(
        "Of their {secrets} secrets {} are redacted, and of their {innocent} innocent lines that look like secrets {} change",
        percent(secrets - missed_count, secrets),
        percent(changed_count, innocent),
    );
    println!("{figures}\nmissed:\n{}\nchanged:\n{}", missed.concat().join("\n"), changed.concat().join("\n"));
    assert!(missed_count * 1000 <= secrets * MAX_MISSED, "{figures}:\n{}", missed.concat().join("\n"));
    assert!(changed_count * 1000 <= innocent * MAX_CHANGED, "{figures}:\n{}", changed.concat().join("\n"));
    let page = include_str!("../../../docs/redaction.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&figures), "docs/redaction.md does not say: {figures}");
    let readme = include_str!("../../../README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let report =
        format!("Of our {secrets} test secrets {} are redacted", percent(secrets - missed_count, secrets));
    assert!(readme.contains(&report), "README.md does not say: {report}");
}

#[test]
fn innocent_lines_stay_unchanged_alone_and_in_one_text() {
    let sanitizer = plain();
    for part in INNOCENT {
        let lines: Vec<String> =
            cases(part).into_iter().filter(|case| *sanitizer.sanitize(case) == **case).collect();
        let whole = lines.join("\n");
        let out = sanitizer.sanitize(&whole);
        let different = out.lines().zip(whole.lines()).find(|(out, line)| out != line);
        assert!(*out == *whole, "{different:?}");
    }
}
