//! The visible text while a text arrives, and at its end. For every split it shows no part of a secret that the whole text would
//! not show.

use pi_events::{Collected, Collector};
use sanitizer::{Sanitizer, SanitizerOptions, settled_length};
use serde_json::{Value, json};

/// This number of characters of a secret in a row reveals something.
const PART: usize = 8;

const CORPUS: [&str; 4] = [
    include_str!("../crates/sanitizer/tests/inputs/secrets.txt"),
    include_str!("../crates/sanitizer/tests/inputs/held-out/secrets.txt"),
    include_str!("../crates/sanitizer/tests/inputs/innocent.txt"),
    include_str!("../crates/sanitizer/tests/inputs/held-out/innocent.txt"),
];

fn sanitizer(secrets: &[&str]) -> Sanitizer {
    let secrets = secrets.iter().map(|&secret| secret.to_owned()).collect();
    Sanitizer::new(SanitizerOptions { secrets, ..SanitizerOptions::default() })
}

/// Every text of the corpus with its secret, which is empty for an innocent text.
fn corpus() -> impl Iterator<Item = (String, String)> {
    let lines = CORPUS.iter().flat_map(|part| part.lines());
    let cases = lines.filter(|line| !line.is_empty() && !line.starts_with("# "));
    cases.map(|line| line.replace('¦', "").replace('⏎', "\n").replace('␛', "\x1b")).map(|case| {
        let secret =
            case.split_once('«').and_then(|(_, rest)| rest.split_once('»')).map(|(secret, _)| secret);
        (case.replace(['«', '»'], ""), secret.unwrap_or_default().to_owned())
    })
}

fn record(record: &Value) -> Vec<u8> {
    format!("{record}\n").into_bytes()
}

fn started() -> Vec<u8> {
    record(&json!({"type": "message_start", "message": {"role": "assistant", "content": []}}))
}

fn delta(text: &str) -> Vec<u8> {
    record(&json!({"type": "message_update",
        "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": text}}))
}

fn ended(text: &str) -> Vec<u8> {
    record(&json!({"type": "message_end", "message": {"role": "assistant", "stopReason": "stop",
        "content": [{"type": "text", "text": text}]}}))
}

fn collect(chunks: &[&[u8]]) -> Collected {
    let mut collector = Collector::new();
    for chunk in chunks {
        collector.push(chunk);
    }
    collector.into_collected()
}

/// Returns the first part of the secret that is shown, unless the whole text shows it as well.
fn shown_part<'a>(shown: &str, secret: &'a [char], whole: &str) -> Option<&'a [char]> {
    secret.windows(PART).find(|part| {
        let part: String = part.iter().collect();
        // Dashes and blanks are not part of a secret.
        part.chars().filter(|character| character.is_alphanumeric()).count() >= 4
            && shown.contains(&part)
            && !whole.contains(&part)
    })
}

/// Feeds a text in deltas and returns the first view that shows a part of the secret.
fn first_leak(sanitizer: &Sanitizer, text: &str, secret: &str, deltas: &[&str]) -> Option<String> {
    let whole = sanitizer.sanitize(text);
    let secret: Vec<char> = secret.chars().collect();
    let mut collector = Collector::new();
    collector.push(&started());
    for part in deltas {
        collector.push(&delta(part));
        let shown = sanitizer.sanitize_growing(collector.live().text);
        if let Some(part) = shown_part(&shown, &secret, &whole) {
            return Some(format!("{:?} in {:?}", part.iter().collect::<String>(), &*shown));
        }
    }
    None
}

#[test]
fn no_update_shows_part_of_a_secret_for_any_split() {
    let sanitizer = sanitizer(&[]);
    let mut leaks = Vec::new();
    for (text, secret) in corpus().filter(|(_, secret)| !secret.is_empty()) {
        // One character after the other: the views are the same as for all splits in two.
        let ends = text.char_indices().map(|(at, character)| &text[at..at + character.len_utf8()]);
        leaks.extend(first_leak(&sanitizer, &text, &secret, &ends.collect::<Vec<_>>()));
    }
    assert!(leaks.is_empty(), "{} texts:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn an_exact_secret_of_several_words_or_lines_is_not_shown_before_it_is_complete() {
    for secret in ["correct horse battery staple", "first line of it\nand the second"] {
        let text = format!("so this is it: {secret}, and more");
        let parts: Vec<&str> = text
            .split_inclusive(' ')
            .flat_map(|word| word.split_at_checked(2).map_or(vec![word], |(a, b)| vec![a, b]))
            .collect();
        assert_eq!(first_leak(&sanitizer(&[secret]), &text, secret, &parts), None);
    }
}

#[test]
fn a_stream_split_at_any_byte_gives_the_same_result() {
    let sanitizer = sanitizer(&[]);
    for (text, _) in corpus() {
        let stream = [delta(&text), ended(&text)].concat();
        let whole = collect(&[&stream]);
        let clean = sanitizer.sanitize(&text);
        assert_eq!(sanitizer.sanitize(whole.text.as_deref().unwrap_or("")), clean);
        for at in 0..stream.len() {
            let (first, second) = stream.split_at(at);
            assert!(collect(&[first, second]) == whole, "split at byte {at} of {text:?}");
        }
    }
}

#[test]
fn prose_and_code_do_not_wait_for_their_line_to_end() {
    for text in [
        "The token is passed to the parser, which",
        "A key question: who owns",
        "Set a strong password before you go",
        "const token = await getToken(); use",
        "password: z.string().min(8), name:",
        "see https://example.com/docs and then",
        "mkdir -p build && cp -p a",
    ] {
        let mut collector = Collector::new();
        collector.push(&started());
        collector.push(&delta(text));
        assert!(collector.live().text.len() + 10 >= text.len(), "{:?} of {text:?}", collector.live().text);
    }
}

#[test]
fn an_update_of_a_text_without_secrets_is_its_beginning() {
    let sanitizer = sanitizer(&[]);
    let mut hidden = 0;
    for (text, _) in corpus().filter(|(_, secret)| secret.is_empty()) {
        let whole = sanitizer.sanitize(&text);
        let mut collector = Collector::new();
        collector.push(&started());
        collector.push(&delta(&text));
        let shown = sanitizer.sanitize_growing(collector.live().text);
        assert!(whole.starts_with(&*shown), "{:?} of {:?}", &*shown, &*whole);
        hidden = hidden.max(whole.len() - shown.len());
    }
    assert!(hidden < 200, "{hidden} bytes wait");
}

/// The largest number of characters of a secret in a row that a text shows while it arrives.
fn longest_shown(text: &str, secret: &str, sanitizer: &Sanitizer) -> (usize, String) {
    let views = (0..=text.len()).map(|end| &text[..end]);
    let views = views.map(|view| sanitizer.sanitize_growing(&view[..settled_length(view)]).into_string());
    let longest = |shown: &str| {
        let lengths = (1..=secret.len()).rev();
        lengths.into_iter().find(|length| {
            let mut parts = secret.as_bytes().windows(*length);
            parts.any(|part| shown.as_bytes().windows(*length).any(|other| other == part))
        })
    };
    views.map(|shown| (longest(&shown).unwrap_or(0), shown)).max().unwrap_or_default()
}

#[test]
fn no_part_of_a_key_or_token_is_shown_for_any_end_of_a_text() {
    let line = "9zQ3VS5JJ7ds3xfnygWyF8PbnGy0qvHL7wZC0Q3n5v1kTz9Lx2Uu4hXoPb6mW1r0";
    let pem = |kind: &str| ["-----", kind, " RSA PRIVATE KEY-----"].concat();
    let begin = pem("BEGIN");
    let end = pem("END");
    let token = "x9Kq2Lm7Vb4Tn8Rw3YpZc5Hd1Fg6Js0uQ7Zk";
    for (text, secret) in [
        (format!("so:\n{begin}\n{line}\n{line}\n9zQ=\n{end}\nand"), line),
        (format!("so:\n  {begin}\n  {line}\n  {line}\n  9zQ=\n  {end}\nand"), line),
        (format!("a = \"{begin}\\n{line}\\n{line}\\n9zQ=\\n{end}\\n\";\nand"), line),
        (format!("a = \"{begin}\\n\" +\n  \"{line}\\n\" +\n  \"{line}\\n\" +\n  \"{end}\\n\";\nand"), line),
        (format!("a = [\n  '{begin}',\n  '{line}',\n  '{line}',\n  '9zQ=',\n  '{end}',\n];\nand"), line),
        (format!("use {} then", ["gh", "p_", token].concat()), token),
        (format!("use {} then", ["s", "k-", token].concat()), token),
        (format!("use {} then", ["AK", "IA", "9Q3ZVS5JJ7DS3XFN"].concat()), "9Q3ZVS5JJ7DS3XFN"),
        (format!("Basic {token}= then"), token),
        (format!("Bearer {token} then"), token),
    ] {
        let (longest, shown) = longest_shown(&text, secret, &sanitizer(&[]));
        assert!(longest < 3, "{longest} in {shown:?}");
    }
    let known = "Kn0wn-Value-77";
    for text in [format!("x {known} y"), format!("x{known}y"), format!("x=\"{known}\"")] {
        let (longest, shown) = longest_shown(&text, known, &sanitizer(&[known]));
        assert!(longest < 4, "{longest} in {shown:?}");
    }
}

#[test]
fn a_repeated_secret_is_not_shown_while_it_arrives() {
    let value = "k9x2m4p7q1Zz77Qw";
    let text = format!("API_KEY={value}\ngot {value} and x{value}y, then {value}");
    assert!(longest_shown(&text, value, &sanitizer(&[])).0 < PART);
}
