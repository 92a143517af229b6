//! The names of the files in the directory of a run.

use files::layout::{GUARD, LOCK, PROMPT};

/// The text between the name and the time in the name of an archived file.
const ARCHIVED_MARK: &str = ".deleted.";

/// Returns true if archiving a run renames this file. Only sessions are renamed: results name their outputs by path.
pub(super) fn is_session(name: &str) -> bool {
    is_numbered(name, "session", ".jsonl")
}

/// Returns true if this is a session, an output or a result. These files hold the child's text.
fn is_child_text(name: &str) -> bool {
    is_session(name) || is_numbered(name, "output", ".md") || is_numbered(name, "result", ".json")
}

/// Returns true if this is `<before><after>` or `<before>-<number><after>`.
fn is_numbered(name: &str, before: &str, after: &str) -> bool {
    let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    let is_number =
        |text: &str| (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    number.is_some_and(|number| number.is_empty() || number.strip_prefix('-').is_some_and(is_number))
}

/// Returns true if this is the name of an archived file.
pub(super) fn is_archived_name(name: &str) -> bool {
    name.split_once(ARCHIVED_MARK).is_some_and(|(name, time)| {
        let is_time = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'T' | b'Z' | b'.');
        is_child_text(name) && (1..=64).contains(&time.len()) && time.bytes().all(is_time)
    })
}

/// Returns true if `archived` is an archived name of the file `name`.
pub(super) fn is_archived_name_of(archived: &str, name: &str) -> bool {
    is_archived_name(archived)
        && archived.strip_prefix(name).is_some_and(|rest| rest.starts_with(ARCHIVED_MARK))
}

/// Returns true if this is the name of one of a run's files.
pub(super) fn is_run_file(name: &str) -> bool {
    is_child_text(name) || is_archived_name(name) || matches!(name, PROMPT | GUARD | LOCK)
}

/// Returns the name that an archived file had before.
pub(super) fn name_before(archived: &str) -> Option<&str> {
    is_archived_name(archived).then(|| archived.split_once(ARCHIVED_MARK)).flatten().map(|(name, _)| name)
}

/// The archived name of a file; `number` is above 1 if the name without it is taken.
pub(super) fn archived_name(name: &str, time: &str, number: u32) -> String {
    if number > 1 {
        format!("{name}{ARCHIVED_MARK}{time}-{number}")
    } else {
        format!("{name}{ARCHIVED_MARK}{time}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use files::layout::{self, is_run_id};

    #[test]
    fn only_names_given_by_a_run_are_recognized() {
        for (attempt, number) in [(1, 1), (2, 2), (17, 64)] {
            assert!(is_child_text(&layout::session(attempt)) && is_child_text(&layout::output(number)));
            assert!(is_child_text(&layout::submitted(number)));
        }
        for name in ["session.jsonl", "session-2.jsonl", "session-17.jsonl", "output.md", "output-2.md"] {
            assert!(is_child_text(name) && is_run_file(name), "{name}");
            assert_eq!(is_session(name), name.starts_with("session"), "{name}");
            let archived = archived_name(name, "2025-11-22T07-49-12.345Z", 2);
            assert!(
                is_archived_name_of(&archived, name) && !is_archived_name_of(&archived, "session-1.jsonl"),
                "{archived}"
            );
            assert!(
                is_archived_name(&archived) && is_run_file(&archived) && !is_child_text(&archived),
                "{archived}"
            );
        }
        for own in [PROMPT, GUARD, LOCK] {
            assert!(is_run_file(own) && !is_child_text(own), "{own}");
        }
        for foreign in [
            "",
            "notes.md",
            "session",
            "result.md",
            "session.jsonl.bak",
            "session-.jsonl",
            "session-x.jsonl",
            "session-2 copy.jsonl",
            "output-.md",
            "output.md.md",
            "mysession.jsonl",
            "session.jsonl.deleted.",
            "session.jsonl.deleted.today",
            "session.jsonl.deleted.1.deleted.2",
            "notes.md.deleted.2025",
            "../session.jsonl",
            "state.json",
            "PROMPT.MD",
        ] {
            assert!(!is_run_file(foreign), "{foreign}");
        }
        for (name, is_id) in [
            ("0badcafe", true),
            ("0BADCAFE", false),
            ("0badcaf", false),
            ("0badcafe0", false),
            ("../../..", false),
        ] {
            assert_eq!(is_run_id(name), is_id, "{name}");
        }
    }
}
