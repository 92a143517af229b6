//! Runs the sanitizer on texts of other projects: counts the removed secrets, and lists the changes in files of all
//! kinds.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use sanitizer::{Sanitizer, SanitizerOptions, settled_length};
use serde::Deserialize;
use serde_json::{Value, json};

/// The number of consecutive characters of a secret that count as a leak.
const LEAK_CHARS: usize = 8;

/// The minimum number of random characters in such a part. The other characters are the same for every secret of its
/// kind.
const MIN_RANDOM_CHARS: usize = 6;

#[derive(Deserialize)]
struct Case {
    kind: String,
    id: String,
    text: String,
    secret: String,
    free: String,
}

/// Sanitizes each text of a file of JSON lines, as a whole and while it arrives.
pub(crate) fn figures(file: &str) -> Result<Value, Box<dyn Error>> {
    let sanitizer = Sanitizer::new(SanitizerOptions::default());
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut failed: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut glimpses = 0;
    for line in io::BufReader::new(fs::File::open(file)?).lines() {
        let Case { kind, id, text, secret, free } = serde_json::from_str(&line?)?;
        let clean = sanitizer.sanitize(&text);
        let parts: Vec<&str> = parts(&secret, &free).collect();
        // Control sequences are removed from every text.
        let is_unchanged =
            || sanitizer.inspect(&text).iter().all(|redaction| redaction.rule == "control_sequence");
        let good = if kind == "innocent" { is_unchanged() } else { !shows(&clean, &parts, "") };
        let count = counts.entry(kind.clone()).or_default();
        count[usize::from(good)] += 1;
        if !good {
            failed.entry(kind.clone()).or_default().push(json!({"id": id, "text": text, "clean": &*clean}));
        }
        // A part that the whole text shows as well does not count.
        let begins = text.char_indices().map(|(end, _)| &text[..end]);
        let growing =
            begins.map(|begin| sanitizer.sanitize_growing(&begin[..settled_length(begin)]).into_string());
        if let Some(shown) = growing.into_iter().find(|shown| shows(shown, &parts, &clean)) {
            glimpses += 1;
            failed
                .entry("glimpses".into())
                .or_default()
                .push(json!({"id": id, "text": text, "clean": shown}));
        }
    }
    let good = |kind: &str| counts.get(kind).map(|[bad, good]| json!({"of": bad + good, "good": good}));
    Ok(json!({
        "bare": good("bare"),
        "named": good("named"),
        "innocent": good("innocent"),
        "glimpses": glimpses,
        "failed": failed,
    }))
}

/// Returns the parts of a secret that count as a leak.
fn parts<'a>(secret: &'a str, free: &str) -> impl Iterator<Item = &'a str> {
    let is_free: Vec<bool> = free.bytes().map(|byte| byte == b'1').collect();
    let ends = LEAK_CHARS..=if secret.is_ascii() { secret.len() } else { 0 };
    ends.filter(move |end| {
        is_free[end - LEAK_CHARS..*end].iter().filter(|free| **free).count() >= MIN_RANDOM_CHARS
    })
    .map(move |end| &secret[end - LEAK_CHARS..end])
}

fn shows(shown: &str, parts: &[&str], unless: &str) -> bool {
    parts.iter().any(|part| shown.contains(part) && !unless.contains(part))
}

/// The maximum file size. Longer files are data, not code.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The number of characters to print before and after a change.
const CONTEXT_CHARS: usize = 60;

/// Prints every change in the text files of some folders, for a review, and returns the amount of text.
pub(crate) fn changes(folders: &[&str]) -> io::Result<Value> {
    let sanitizer = Sanitizer::new(SanitizerOptions::default());
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        collect(Path::new(folder), &mut files)?;
    }
    files.sort();
    let (mut bytes, mut count, mut rules) = (0, 0, BTreeMap::<&str, usize>::new());
    let mut out = io::BufWriter::new(io::stdout());
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else { continue };
        bytes += text.len();
        for redaction in sanitizer.inspect(&text) {
            *rules.entry(redaction.rule).or_default() += redaction.count;
            for range in redaction.ranges {
                count += 1;
                let start = boundary(&text, range.start.saturating_sub(CONTEXT_CHARS));
                let end = boundary(&text, (range.end + CONTEXT_CHARS).min(text.len()));
                let before = &text[start..range.start];
                let after = &text[range.end..end];
                let before = before.rsplit('\n').next().unwrap_or(before);
                let after = after.split('\n').next().unwrap_or(after);
                let hit: String = text[range].chars().take(2 * CONTEXT_CHARS).collect();
                writeln!(
                    out,
                    "{}\t{}\t{before}«{}»{after}",
                    redaction.rule,
                    file.display(),
                    hit.escape_debug()
                )?;
            }
        }
    }
    out.flush()?;
    Ok(json!({"files": files.len(), "bytes": bytes, "changes": count, "rules": rules}))
}

/// Returns the last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?;
    if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if kind.is_file() && kind.len() <= MAX_FILE_BYTES {
        files.push(path.to_owned());
    }
    Ok(())
}
