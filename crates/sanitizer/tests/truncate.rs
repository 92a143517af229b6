//! Truncation: limits, ends and counts.

use proptest::prelude::*;
use sanitizer::{
    Sanitizer, SanitizerOptions, TruncateLimits, Truncated, truncate, truncate_head, truncate_tail,
};

type Form = fn(&str, TruncateLimits, Option<&str>) -> Truncated;

const FORMS: [(&str, Form); 3] = [("both", truncate), ("head", truncate_head), ("tail", truncate_tail)];

fn limits(max_bytes: usize, max_lines: usize) -> TruncateLimits {
    TruncateLimits { max_bytes, max_lines }
}

fn count_lines(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

#[test]
fn the_default_limits_equal_the_limits_of_pi() {
    assert_eq!(TruncateLimits::default(), limits(51_200, 2000));
}

#[test]
fn the_remaining_limits_are_never_zero() {
    for (label, actual, expected) in [
        ("a part was used", limits(100, 10).remaining_after(30, 4), limits(70, 6)),
        ("all was used", limits(100, 10).remaining_after(100, 10), limits(1, 1)),
        ("more was used than allowed", limits(100, 10).remaining_after(101, 11), limits(1, 1)),
        ("half", limits(100, 10).halved(), limits(50, 5)),
        ("half of an odd number", limits(101, 11).halved(), limits(50, 5)),
        ("half of one", limits(1, 1).halved(), limits(1, 1)),
    ] {
        assert_eq!(actual, expected, "{label}");
    }
}

#[test]
fn head_and_tail_stay_and_the_marker_counts_the_omitted_part() {
    let text = "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n";
    for ((label, form), expected) in FORMS.into_iter().zip([
        "line 1\nline 2\n[truncated: kept 4 of 9 lines, 28 of 63 bytes; full text: /x]\nline 8\nline 9\n",
        "line 1\nline 2\nline 3\nline 4\n[truncated: kept 4 of 9 lines, 28 of 63 bytes; full text: /x]",
        "[truncated: kept 4 of 9 lines, 28 of 63 bytes; full text: /x]\nline 6\nline 7\nline 8\nline 9\n",
    ]) {
        let cut = form(text, limits(10_000, 5), Some("/x"));
        assert_eq!(cut.text, expected, "{label}");
        assert!(cut.truncated, "{label}");
        assert_eq!(
            (cut.kept_lines, cut.total_lines, cut.kept_bytes, cut.total_bytes),
            (4, 9, 28, 63),
            "{label}"
        );
    }
}

#[test]
fn a_long_line_is_cut_between_characters() {
    let text = "漢字かな".repeat(100);
    let cut = truncate(&text, limits(200, 10), None);
    assert_eq!(cut.text.len() / 10, 19, "the text uses nearly the whole limit: {}", cut.text);
    assert!(cut.text.starts_with("漢") && cut.text.ends_with("な"), "{}", cut.text);
    assert!(cut.text.contains("\n[truncated: kept 1 of 1 lines, "), "{}", cut.text);
}

#[test]
fn limits_smaller_than_the_marker_still_hold() {
    let text = "one\r\ntwo\r\nthree\r\n";
    for (label, form) in FORMS {
        for max_bytes in 0..text.len() {
            for max_lines in 0..4 {
                let cut = form(text, limits(max_bytes, max_lines), Some("/x"));
                assert!(
                    cut.text.len() <= max_bytes && count_lines(&cut.text) <= max_lines,
                    "{label} {max_bytes} {max_lines} {cut:?}"
                );
                assert!(cut.truncated);
            }
        }
    }
    assert_eq!(truncate("", limits(0, 0), None).text, "");
    assert!(!truncate("", limits(0, 0), None).truncated);
    assert_eq!(truncate_head("abcdef", limits(4, 9), None).text, "abcd");
    assert_eq!(truncate_tail("abcdef", limits(4, 9), None).text, "cdef");
}

#[test]
fn sanitized_text_stays_sanitized_when_it_is_cut() {
    let sanitized = Sanitizer::new(SanitizerOptions::default()).sanitize("größer als gedacht");
    assert_eq!(&*sanitized.clip(100), "größer als gedacht");
    assert_eq!(&*sanitized.clip(6), "gr…", "`ö` has two bytes and the ellipsis three");
    assert_eq!(&*sanitized.clip(2), "gr");
    assert_eq!(&*sanitized.clip(0), "");
    let (cut, truncated) = sanitized.truncate(limits(12, 1), None);
    assert!(truncated && cut.len() <= 12, "{cut}");
}

#[test]
fn a_megabyte_of_wide_characters_is_cut_like_a_short_text() {
    let text = "漢字".repeat(200_000);
    let cut = truncate(&text, TruncateLimits::default(), None);
    assert!((51_190..=51_200).contains(&cut.text.len()), "{}", cut.text.len());
    assert_eq!((cut.kept_lines, cut.total_lines, cut.total_bytes), (1, 1, 1_200_000));
}

/// A text of one line end at `at`, and its length without limits.
fn one_line_end(length: usize, at: usize) -> String {
    let mut text = "x".repeat(length);
    text.replace_range(at..=at, "\n");
    text
}

#[test]
fn a_head_is_cut_at_a_line_end_only_if_that_costs_less_than_half_of_it() {
    // There is too little room for any marker, so the head gets all ten bytes.
    let head = |at| truncate_head(&one_line_end(100, at), limits(10, 9), None);
    for (label, at, kept) in [
        ("at once", 0, 10),
        ("just before the middle", 3, 10),
        ("leaves half", 4, 5),
        ("later", 7, 8),
        ("the last byte", 9, 10),
        ("beyond", 10, 10),
    ] {
        let cut = head(at);
        assert_eq!(cut.text.len(), kept, "{label}: {:?}", cut.text);
        assert_eq!(cut.kept_bytes, kept, "{label}");
    }
    let far = format!("first line\n{}", "x".repeat(100_000));
    for (label, form) in [("both", truncate as Form), ("head", truncate_head)] {
        let cut = form(&far, TruncateLimits::default(), None);
        assert!(cut.kept_bytes > 51_000, "{label} keeps only {} bytes", cut.kept_bytes);
    }
}

#[test]
fn a_tail_begins_at_a_line_end_only_if_that_costs_less_than_half_of_it() {
    // The line end is `from_end` bytes before the end.
    let tail = |from_end: usize| truncate_tail(&one_line_end(100, 100 - from_end), limits(10, 9), None);
    for (label, from_end, kept) in [
        ("the last byte", 1, 10),
        ("beyond the middle", 5, 10),
        ("leaves half", 6, 5),
        ("earlier", 9, 8),
        ("the first byte", 10, 9),
        ("just before", 11, 10),
    ] {
        let cut = tail(from_end);
        assert_eq!(cut.text.len(), kept, "{label}: {:?}", cut.text);
        assert_eq!(cut.kept_bytes, kept, "{label}");
    }
    let far = format!("{}\nlast line", "x".repeat(100_000));
    for (label, form) in [("both", truncate as Form), ("tail", truncate_tail)] {
        let cut = form(&far, TruncateLimits::default(), None);
        assert!(cut.kept_bytes > 51_000, "{label} keeps only {} bytes", cut.kept_bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_never_exceeds_the_limits_and_is_complete_within_them(
        text in "([a-c漢é🎉 ]{0,12}(\n|\r\n|\r)?){0,12}",
        max_bytes in 0_usize..160,
        max_lines in 0_usize..14,
        place in proptest::option::of("/[a-z]{1,12}"),
    ) {
        for (label, form) in FORMS {
            let cut = form(&text, limits(max_bytes, max_lines), place.as_deref());
            let fits = text.len() <= max_bytes && count_lines(&text) <= max_lines;
            prop_assert_eq!(cut.truncated, !fits, "{}", label);
            prop_assert_eq!((cut.total_bytes, cut.total_lines), (text.len(), count_lines(&text)));
            if fits {
                prop_assert_eq!(&cut.text, &text);
                prop_assert_eq!((cut.kept_bytes, cut.kept_lines), (text.len(), count_lines(&text)));
                continue;
            }
            prop_assert!(cut.text.len() <= max_bytes, "{} {:?}", label, cut);
            prop_assert!(count_lines(&cut.text) <= max_lines, "{} {:?}", label, cut);
            prop_assert!(cut.kept_bytes <= cut.text.len() && cut.kept_lines <= cut.total_lines, "{} {:?}", label, cut);
            // The remaining text is a head and a tail of the text, and no CRLF is split.
            let (head, tail) = match cut.text.split_once("[truncated") {
                // A line end or blank separates the marker from the tail, and from the head if needed.
                Some((head, rest)) => {
                    let tail = rest.split_once(']').and_then(|(_, tail)| tail.get(1..)).unwrap_or("");
                    (&head[..cut.kept_bytes - tail.len()], tail)
                }
                None if label == "tail" => ("", &*cut.text),
                None => (&*cut.text, ""),
            };
            prop_assert!(text.starts_with(head) && text.ends_with(tail), "{} {:?}", label, cut);
            let splits = |at: usize| text[..at].ends_with('\r') && text[at..].starts_with('\n');
            prop_assert!(!splits(head.len()) && !splits(text.len() - tail.len()), "{} {:?}", label, cut);
        }
    }
}
