//! The tables of keys in the documentation. The cells come from the tables of [`keys`](super::keys), except the last
//! one, which describes the key in words. Compiled for tests only.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::keys::{AGENT_KEYS, KEYS, Key, Kind, MAX_EXACT, Tighten};

/// The environment variable that makes the tests write the pages instead of comparing them.
const UPDATE: &str = "UPDATE_DOCS";

/// The mistake in a table of keys that cannot be corrected without a person.
#[derive(Debug, PartialEq, thiserror::Error)]
enum TableError {
    #[error("{cell} is no key")]
    NoKey { cell: String },
    #[error(
        "the row of {cell} has {cells} cells, and its table has {columns} columns: leave the cells between the key and its description empty"
    )]
    CellCount { cell: String, cells: usize, columns: usize },
    #[error("the last cell of the row of {cell} does not describe the key")]
    NoDescription { cell: String },
    #[error(
        "`{path}` has no row: add one with `{path}` in the first cell, its description in the last, and empty cells between"
    )]
    NoRow { path: &'static str },
    #[error("`{path}` has {rows} rows")]
    Repeated { path: &'static str, rows: usize },
}

/// Returns the page with updated cells in its tables of keys. A table of keys has `Key` as its first header. A cell
/// below an unknown header stays unchanged.
fn updated_page(page: &str, keys: &[Key]) -> Result<String, TableError> {
    let mut columns: Option<Vec<&str>> = None;
    let mut seen = Vec::new();
    let mut lines = Vec::new();
    for line in page.lines() {
        let cells = cells(line);
        match (&columns, cells.first()) {
            (None, Some(&"Key")) => columns = Some(cells),
            (Some(columns), Some(first)) if first.starts_with('`') => {
                let key = keys.iter().find(|key| *first == format!("`{}`", key.path));
                let key = key.ok_or_else(|| TableError::NoKey { cell: (*first).to_owned() })?;
                check_cells(first, &cells, columns.len())?;
                seen.push(key.path);
                let cells = columns.iter().zip(cells).map(|(column, old)| cell(key, column, old));
                lines.push(format!("| {} |", cells.collect::<Vec<_>>().join(" | ")));
                continue;
            }
            (Some(_), None) => columns = None,
            _ => {}
        }
        lines.push(line.to_owned());
    }
    for key in keys {
        match seen.iter().filter(|path| **path == key.path).count() {
            1 => {}
            0 => return Err(TableError::NoRow { path: key.path }),
            rows => return Err(TableError::Repeated { path: key.path, rows }),
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// In a row with too few cells, a value would replace the description of the key.
fn check_cells(first: &str, cells: &[&str], columns: usize) -> Result<(), TableError> {
    if cells.len() != columns {
        return Err(TableError::CellCount { cell: first.to_owned(), cells: cells.len(), columns });
    }
    if cells.last().is_none_or(|last| last.is_empty()) {
        return Err(TableError::NoDescription { cell: first.to_owned() });
    }
    Ok(())
}

/// Returns the cells of a table row, or none if the line is not a row. As in Markdown, the last bar may be missing.
fn cells(line: &str) -> Vec<&str> {
    let row = line.strip_prefix('|').map(|row| row.strip_suffix('|').unwrap_or(row));
    row.map(|row| row.split('|').map(str::trim).collect()).unwrap_or_default()
}

fn cell(key: &Key, column: &str, old: &str) -> String {
    match column {
        "Key" => format!("`{}`", key.path),
        "Default" => default(key),
        "Values" => values(key),
        "In a project" => project(key).to_owned(),
        _ => old.to_owned(),
    }
}

fn default(key: &Key) -> String {
    match serde_json::from_str(key.default).expect("a test reads the default of every key") {
        Value::Null => "none".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Object(members) if members.is_empty() => "none".to_owned(),
        Value::Array(list) => code_list(list.iter().map(|entry| entry.as_str().unwrap_or_default())),
        Value::String(text) => code_list([text.as_str()]),
        other => code_list([other.to_string().as_str()]),
    }
}

fn values(key: &Key) -> String {
    let text = match key.kind {
        Kind::Bool => code_list(["true", "false"]),
        Kind::BoolOr(word) => code_list([word, "true", "false"]),
        Kind::Integer { min, max: MAX_EXACT } => format!("{min} or more"),
        Kind::Integer { min, max } => format!("{min}–{max}"),
        Kind::Amount => "an amount".to_owned(),
        Kind::Choice(choices) => code_list(choices.iter().copied()),
        Kind::Text => "a text".to_owned(),
        Kind::Shortcut => "a key".to_owned(),
        Kind::TextList => "a list of texts".to_owned(),
        Kind::PathList => "a list of paths".to_owned(),
        Kind::AllowedList => "a list of texts and `rule:NAME`".to_owned(),
        Kind::Command => "a program and its arguments, a list".to_owned(),
        Kind::Environment => "variables and their values".to_owned(),
        Kind::LspActions => "a list of actions".to_owned(),
        Kind::ChoiceOrList(choices) => format!("{}, or a list of texts", code_list(choices.iter().copied())),
        Kind::Launchers => "launchers by name".to_owned(),
        Kind::ProjectPathList => "a list of paths within a project".to_owned(),
        Kind::ToolNames | Kind::AllowedTools | Kind::DeniedTools => "a list of tools".to_owned(),
        Kind::BoolOrList => format!("{}, or a list of names", code_list(["true", "false"])),
    };
    // If a key has no default, as those of single agents, 0 has another meaning, and its last cell explains it.
    let has_limit = key.project == Tighten::SmallerLimit && key.default != "null";
    if has_limit { format!("{text}; 0: no limit") } else { text }
}

fn project(key: &Key) -> &'static str {
    match key.project {
        Tighten::Never => "–",
        Tighten::Only(true) => "only `true`",
        Tighten::Only(false) => "only `false`",
        Tighten::Smaller | Tighten::SmallerLimit => "smaller",
        Tighten::Later => "further right",
        Tighten::More => "more",
        Tighten::Fewer => "fewer",
    }
}

fn code_list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ")
}

/// Fails if the page differs from the code. If [`UPDATE`] is set, writes the page instead.
fn check(name: &str, keys: &[Key]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let page = fs::read_to_string(&path).expect("the page exists").replace("\r\n", "\n");
    let updated = updated_page(&page, keys).unwrap_or_else(|why| panic!("docs/{name}: {why}"));
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, updated).expect("the page can be written");
        return;
    }
    let stale = page.lines().zip(updated.lines()).find(|(is, should)| is != should);
    assert_eq!(stale, None, "docs/{name} is stale: run `{UPDATE}=1 cargo test -p agents config::reference`");
}

#[test]
fn the_page_of_the_configuration_has_every_key_as_it_is() {
    check("configuration.md", KEYS);
}

#[test]
fn the_page_of_the_agents_has_every_key_of_an_agent_as_it_is() {
    check("agents.md", AGENT_KEYS);
}

#[test]
fn a_wrong_cell_is_corrected_and_a_wrong_row_is_reported() {
    let keys = &KEYS[..1];
    let page = |row: &str| format!("| Key | Default | In a project | |\n|---|---|---|---|\n{row}");
    let update = |row: &str| updated_page(&page(row), keys);
    let right = "| `enabled` | `true` | only `false` | what it is for |\n";
    assert_eq!(update("| `enabled` | 7 |  | what it is for |\n"), Ok(page(right)));
    assert_eq!(update("| `enabled` | | | what it is for\n"), Ok(page(right)), "without the last bar");
    assert_eq!(update("| `enable` | | | |\n"), Err(TableError::NoKey { cell: "`enable`".to_owned() }));
    let cell = || "`enabled`".to_owned();
    let (short, bare) = ("| `enabled` | what it is for |\n", "| `enabled` | | | |\n");
    assert_eq!(update(short), Err(TableError::CellCount { cell: cell(), cells: 2, columns: 4 }));
    assert_eq!(update(bare), Err(TableError::NoDescription { cell: cell() }));
    assert_eq!(update(""), Err(TableError::NoRow { path: "enabled" }));
    assert_eq!(update(&right.repeat(2)), Err(TableError::Repeated { path: "enabled", rows: 2 }));
}
