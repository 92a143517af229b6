//! How much of what is secret the sanitizer finds, and how much of what is not it leaves alone: the figures of the README.

use pi_subagent_native::text::{Sanitizer, SanitizerOptions};

/// The corpus that the rules were tuned on, and the part that was written before they were.
const SECRETS: [&str; 2] = [include_str!("inputs/secrets.txt"), include_str!("inputs/held-out/secrets.txt")];
const INNOCENT: [&str; 2] =
    [include_str!("inputs/innocent.txt"), include_str!("inputs/held-out/innocent.txt")];

/// At least so many of a thousand secrets go.
const LEAST_RECALL: f64 = 990.0;
/// At most so many of a thousand innocent lines change.
const MOST_CHANGED: f64 = 5.0;

fn plain() -> Sanitizer {
    Sanitizer::new(SanitizerOptions::default())
}

/// The cases of a file: comments and empty lines dropped, `¦` removed, `⏎` and `␛` made what they stand for.
fn cases(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(|line| line.replace('¦', "").replace('⏎', "\n").replace('␛', "\x1b")).collect()
}

/// Whether the marked part of a case goes and what surrounds it stays, apart from control sequences.
fn is_found(case: &str, sanitizer: &Sanitizer) -> Result<(), String> {
    let (before, rest) = case.split_once('«').expect("a case marks its secret");
    let (secret, after) = rest.split_once('»').expect("a case marks the end of its secret");
    let out = sanitizer.sanitize(&format!("{before}{secret}{after}"));
    let (before, after) = (without_sequences(before), without_sequences(after));
    let marker = out.strip_prefix(&*before).and_then(|rest| rest.strip_suffix(&*after)).unwrap_or("");
    let is_found = marker.starts_with('[') && marker.ends_with("REDACTED]") && !marker.contains(' ');
    if is_found { Ok(()) } else { Err(format!("{case}\n  -> {}", &*out)) }
}

/// Without the sequences that the corpus has: colours and titles.
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

#[test]
fn figures() {
    let (missed, changed) = measure();
    let tuned_only = std::env::var_os("HELD_OUT").is_none();
    for part in 0..2 {
        println!(
            "part {part}: {} of {} missed, {} of {} changed",
            missed[part].len(),
            cases(SECRETS[part]).len(),
            changed[part].len(),
            cases(INNOCENT[part]).len()
        );
        if part == 0 || !tuned_only {
            println!("{}\n------ changed\n{}", missed[part].join("\n"), changed[part].join("\n"));
        }
    }
}
