//! Every configuration and every agent file that a page shows is read by what reads those of users, without a word of
//! complaint.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagent_native::agent::{AgentDirs, Source, discover};
use pi_subagent_native::config::{ConfigPaths, load};

/// The pages that show configurations or agent files, by path and text.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> =
        ["README.md", "README.zh.md", "fake-pi/README.md"].map(|name| root.join(name)).into();
    let docs = fs::read_dir(root.join("docs")).expect("a folder of pages");
    paths.extend(docs.map(|entry| entry.expect("an entry").path()));
    paths.retain(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "md"));
    let page = |path: PathBuf| {
        let name = path.strip_prefix(root).expect("below the root").display().to_string();
        (name, fs::read_to_string(&path).expect("a page of text").replace("\r\n", "\n"))
    };
    paths.into_iter().map(page).collect()
}

/// The text of each fenced block in this language, and what remains of the page without any block.
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
            Some((_, true)) => blocks.last_mut().expect("it was begun").extend([line, "\n"]),
            Some(_) => {}
        }
    }
    assert!(fence.is_none(), "a block is not closed");
    (blocks, prose)
}

/// Whole configurations, in blocks and between the lines. One with `…` stands for any.
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
            let world = tempfile::tempdir().expect("a temporary directory");
            let user = world.path().join("subagents.json");
            fs::write(&user, &configuration).expect("a file");
            let loaded = load(&ConfigPaths { user, projects: Vec::new() });
            assert!(loaded.diagnostics.is_empty(), "{page}: {configuration}\n{:?}", loaded.diagnostics);
            count += 1;
        }
    }
    assert!(count >= 8, "only {count} configurations were found");
}

#[test]
fn every_agent_file_of_a_page_is_an_agent() {
    let mut count = 0;
    for (page, text) in pages() {
        for file in blocks(&text, "markdown").0.into_iter().filter(|block| block.starts_with("---\n")) {
            let world = tempfile::tempdir().expect("a temporary directory");
            let agents = world.path().join("agent/agents");
            fs::create_dir_all(&agents).expect("a directory for agents");
            fs::write(agents.join("file.md"), &file).expect("an agent file");
            let home = world.path();
            let catalog = discover(home, &home.join("agent"), Some(home), AgentDirs::default());
            assert!(catalog.diagnostics.is_empty(), "{page}: {file}\n{:?}", catalog.diagnostics);
            assert!(catalog.agents.iter().any(|agent| agent.source == Source::User), "{page}: {file}");
            count += 1;
        }
    }
    assert!(count >= 2, "only {count} agent files were found");
}

#[test]
fn what_is_wrong_in_a_page_is_found() {
    let page = "`{ \"subagents\": { \"a\": 1 } }`\n````json\n{ \"subagents\": {} }\n````\n`{ \"subagents\": { … } }`\n";
    assert_eq!(configurations(page), ["{ \"subagents\": {} }\n", "{ \"subagents\": { \"a\": 1 } }"]);
}
