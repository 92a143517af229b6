//! Every configuration, agent file and `/subagents` line of a page is accepted by the parser for users, without a warning.

use std::fs;
use std::path::{Path, PathBuf};

use agents::config::{ConfigPaths, load};
use agents::{AgentDirs, Source, discover};
use pi_subagent_native::orchestrate::background::commands::{parse, usage_report};

/// The pages that show configurations or agent files, by path and text.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> =
        ["README.md", "README.zh.md", "fake-pi/README.md"].map(|name| root.join(name)).into();
    for folder in ["docs", "docs/launchers"] {
        let docs = fs::read_dir(root.join(folder)).expect("the directory is readable");
        paths.extend(docs.map(|entry| entry.expect("the entry is readable").path()));
    }
    paths.retain(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "md"));
    let page = |path: PathBuf| {
        let name = path.strip_prefix(root).expect("the path is below the root").display().to_string();
        (name, fs::read_to_string(&path).expect("the file is readable").replace("\r\n", "\n"))
    };
    paths.into_iter().map(page).collect()
}

/// Returns the text of each fenced block in this language, and the page without any block.
fn blocks(page: &str, language: &str) -> (Vec<String>, String) {
    let (mut blocks, mut prose, mut fence): (Vec<String>, String, Option<(&str, bool)>) = Default::default();
    for line in page.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            None if ticks.len() >= 3 => {
                let is_wanted = &line[ticks.len()..] == language;
                fence = Some((ticks, is_wanted));
                if is_wanted {
                    blocks.push(String::new());
                }
            }
            None => prose.extend([line, "\n"]),
            Some((opened, _)) if line == opened => fence = None,
            Some((_, true)) => blocks.last_mut().expect("a block has begun").extend([line, "\n"]),
            Some(_) => {}
        }
    }
    assert!(fence.is_none(), "a code block is not closed");
    (blocks, prose)
}

/// Whole configurations, in blocks and in running text. A configuration with `…` stands for any.
fn configurations(page: &str) -> Vec<String> {
    let (blocks, prose) = blocks(page, "json");
    let inline = prose.split('`').skip(1).step_by(2).map(str::to_owned);
    let is_configuration =
        |text: &String| text.trim_start().starts_with('{') && text.contains("\"subagents\":");
    blocks.into_iter().chain(inline).filter(is_configuration).filter(|text| !text.contains('…')).collect()
}

#[test]
fn every_configuration_of_a_page_is_valid() {
    let mut count = 0;
    for (page, text) in pages() {
        for configuration in configurations(&text) {
            let world = tempfile::tempdir().expect("a temporary directory is created");
            let user = world.path().join("subagents.json");
            fs::write(&user, &configuration).expect("the file is written");
            let loaded = load(&ConfigPaths { user, projects: Vec::new(), home: None });
            assert!(loaded.diagnostics.is_empty(), "{page}: {configuration}\n{:?}", loaded.diagnostics);
            count += 1;
        }
    }
    assert!(count >= 8, "only {count} configurations were found");
}

/// Agent files, and single fields of some, completed to whole files.
fn agent_files(page: &str) -> Vec<String> {
    let whole = ["markdown", "yaml"].into_iter().flat_map(|language| blocks(page, language).0);
    let around = |fields: String| format!("---\nname: shown\ndescription: Shown.\n{fields}---\nWork.\n");
    let file = |block: String| if block.starts_with("---\n") { block } else { around(block) };
    whole.map(file).collect()
}

#[test]
fn every_agent_file_of_a_page_is_an_agent() {
    let mut count = 0;
    for (page, text) in pages() {
        for file in agent_files(&text) {
            let world = tempfile::tempdir().expect("a temporary directory is created");
            let agents = world.path().join("agent/agents");
            fs::create_dir_all(&agents).expect("the directory is created");
            fs::write(agents.join("file.md"), &file).expect("the file is written");
            let home = world.path();
            let catalog = discover(home, &home.join("agent"), Some(home), AgentDirs::default());
            assert!(catalog.diagnostics.is_empty(), "{page}: {file}\n{:?}", catalog.diagnostics);
            assert!(catalog.agents.iter().any(|agent| agent.source == Source::User), "{page}: {file}");
            count += 1;
        }
    }
    assert!(count >= 6, "only {count} agent files were found");
}

/// Returns the words after `/subagents` in a page, also in a list of subcommands: `` `/subagents list`, `log ID` ``.
fn lines(page: &str) -> Vec<String> {
    let prose = page.replace("\\|", "|").replace('\n', " ");
    let mut parts = prose.split('`');
    let mut lines = Vec::new();
    while let (Some(_), Some(code)) = (parts.next(), parts.next()) {
        let Some(first) = code.strip_prefix("/subagents") else { continue };
        lines.push(first.trim().to_owned());
        while let Some(", " | " and ") = parts.clone().next() {
            let code = parts.nth(1).unwrap_or_default();
            // A key may be in the same list.
            if code.len() > 1 && !code.contains('+') {
                lines.push(code.trim_start_matches("/subagents").trim().to_owned());
            }
        }
    }
    lines
}

/// Returns the forms of a line: each `|` in `[…]` is an alternative, and the content of `[…]` is optional.
fn forms(line: &str) -> Vec<String> {
    let Some((before, rest)) = line.split_once('[') else { return vec![line.to_owned()] };
    let (inner, after) = rest.split_once(']').unwrap_or((rest, ""));
    inner.split('|').chain([""]).flat_map(|form| forms(&format!("{before}{form}{after}"))).collect()
}

/// Returns true if `/subagents` understands a line. Questions are opened by the extension, before a line is parsed. A subcommand
/// without arguments gets examples.
fn is_understood(line: &str) -> bool {
    let line = line.replace("limit", "20");
    let is_name = !line.trim().contains(' ');
    let whole = ["", " ID", " ID message"].map(|arguments| format!("{line}{arguments}"));
    line.starts_with("answer")
        || whole.iter().take(if is_name { 3 } else { 1 }).any(|line| parse(line).is_ok())
}

#[test]
fn every_subagents_line_of_a_page_is_understood() {
    let mut all = Vec::new();
    for (page, text) in pages() {
        for line in lines(&text) {
            for form in forms(&line) {
                assert!(is_understood(&form), "{page}: `/subagents {line}` is not understood as `{form}`");
            }
            all.push(line);
        }
    }
    let usage = usage_report(None);
    let known =
        usage.lines.iter().filter_map(|line| line.name.split(' ').next()).filter(|name| !name.is_empty());
    let unnamed: Vec<_> = known.filter(|name| !all.iter().any(|line| line.starts_with(name))).collect();
    assert!(unnamed.is_empty(), "no page names {unnamed:?}");
    assert!(all.len() >= 60, "only {} lines were found", all.len());
}

#[test]
fn a_mistake_in_a_page_is_found() {
    let page = "`{ \"subagents\": { \"a\": 1 } }`\n````json\n{ \"subagents\": {} }\n````\n`{ \"subagents\": { … } }`\n";
    assert_eq!(configurations(page), ["{ \"subagents\": {} }\n", "{ \"subagents\": { \"a\": 1 } }"]);
    let lines = lines("`/subagents list`, `lgo ID`, `alt+g` and `/subagents info [ID\\|all]`, or `stop`");
    assert_eq!(lines, ["list", "lgo ID", "info [ID|all]"]);
    assert_eq!(forms("info [ID|all] x"), ["info ID x", "info all x", "info  x"]);
    assert!(
        is_understood("list")
            && is_understood("log")
            && !is_understood("lgo ID")
            && !is_understood("list some")
    );
}
