//! What is shown while a text arrives, and what it comes to: split anywhere, nothing of a secret is seen that the whole
//! text would not show.

use pi_subagent_native::event::{Collected, Collector};
use pi_subagent_native::text::{Sanitizer, SanitizerOptions};
use serde_json::{Value, json};

/// So much of a secret in a row gives something away.
const PART: usize = 8;

const CORPUS: [&str; 4] = [
    include_str!("inputs/secrets.txt"),
    include_str!("inputs/held-out/secrets.txt"),
    include_str!("inputs/innocent.txt"),
    include_str!("inputs/held-out/innocent.txt"),
];

fn sanitizer(secrets: &[&str]) -> Sanitizer {
    let secrets = secrets.iter().map(|&secret| secret.to_owned()).collect();
    Sanitizer::new(SanitizerOptions { secrets, homes: Vec::new() })
}

/// Every text of the corpus with its secret, which is empty for an innocent one.
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

/// The first part of the secret in what is shown, unless the whole text shows it as well.
fn shown_part<'a>(shown: &str, secret: &'a [char], whole: &str) -> Option<&'a [char]> {
    secret.windows(PART).find(|part| {
        let part: String = part.iter().collect();
        // Dashes and blanks are no part of anything.
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
fn no_update_shows_part_of_a_secret_wherever_a_text_is_split() {
    let sanitizer = sanitizer(&[]);
    let mut leaks = Vec::new();
    for (text, secret) in corpus().filter(|(_, secret)| !secret.is_empty()) {
        // One character after the other: the views are those of all splits in two.
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
fn an_update_of_innocent_text_is_its_beginning() {
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
