//! What an agent file may say, and what its author is told when it says something else.

#[path = "support/hidden.rs"]
mod hidden;

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use hidden::{assert_all_seen, with_hidden};
use pi_subagent_native::agent::{
    AgentDefinition, AgentDirs, Asks, Catalog, Context, Network, OutputSchema, SandboxMode, Skills, Source,
    discover,
};
use tempfile::TempDir;

/// The catalog of a user directory with this one file in it.
fn catalog_of(content: impl AsRef<[u8]>) -> (TempDir, Catalog) {
    let world = tempfile::tempdir().expect("a temporary directory");
    let agents = world.path().join("agent/agents");
    fs::create_dir_all(&agents).expect("a directory for agents");
    fs::create_dir(world.path().join("cwd")).expect("a working directory");
    fs::write(agents.join("file.md"), content).expect("an agent file");
    let home = world.path();
    let catalog = discover(&home.join("cwd"), &home.join("agent"), Some(home), AgentDirs::default());
    (world, catalog)
}

fn agent_of(content: &str) -> AgentDefinition {
    let (_world, catalog) = catalog_of(content);
    let found = catalog.agents.iter().find(|agent| agent.source == Source::User);
    found.unwrap_or_else(|| panic!("no agent: {:?}", catalog.diagnostics)).as_ref().clone()
}

/// Each diagnostic in one line, without the directory, and whether an agent came of the file all the same.
fn told(content: impl AsRef<[u8]>) -> String {
    let (world, catalog) = catalog_of(content);
    let root = fs::canonicalize(world.path()).expect("it exists").display().to_string();
    let lines: Vec<String> = catalog
        .diagnostics
        .iter()
        .map(|found| format!("{:?} {} {found}", found.severity, found.code).replace(&root, ""))
        .map(|line| line.replace(&world.path().display().to_string(), ""))
        .collect();
    let is_found = catalog.agents.iter().any(|agent| agent.source != Source::Builtin);
    let agent = if is_found { "agent" } else { "no agent" };
    format!("{agent}\n{}", lines.join("\n"))
}

#[test]
fn every_mistake_is_reported_with_its_position_and_the_expected_value() {
    let long_name = "x".repeat(65);
    let cases: Vec<(&str, String)> = vec![
        ("name missing", "---\ndescription: d\n---\nBody".into()),
        ("empty frontmatter", "\n---\n---\nBody".into()),
        ("name empty", "---\nname:\n---\n".into()),
        ("name a number", "---\nname: 12\n---\n".into()),
        ("name a list", "---\nname: [a, b]\n---\n".into()),
        ("name with a blank", "---\nname: my agent\n---\n".into()),
        ("name a path", "---\nname: ../x\n---\n".into()),
        ("name too long", format!("---\nname: {long_name}\n---\n")),
        ("readonly unclear", "---\nname: a\nreadonly: yes\n---\n".into()),
        ("readonly a number", "---\nname: a\nreadonly: 2\n---\n".into()),
        ("tools a number", "---\nname: a\ntools: 5\n---\n".into()),
        ("tools empty", "---\nname: a\ntools:\n---\n".into()),
        ("tools with a number in them", "---\nname: a\ntools:\n  - read\n  - 3\n---\n".into()),
        ("tools a pattern", "---\nname: a\ntools: read, w*\n---\n".into()),
        ("tools that add to pi's defaults", "---\nname: a\ntools: +write\n---\n".into()),
        ("tools with arguments", "---\nname: a\ntools: Bash(git log:*)\n---\n".into()),
        (
            "limits of the wrong kind",
            "---\nname: a\ntimeoutMs: 5m\nidleTimeoutMs: -1\nmaxTurns: 1.5\nmaxCost: cheap\n---\n".into(),
        ),
        ("choices", "---\nname: a\nthinking: hard\nsandbox: on\ncontext: all\nskills: 3\n---\n".into()),
        ("an argument as model", "---\nname: a\nmodel: --help\n---\n".into()),
        ("duplicate key", "---\nname: a\ntools: read\nname: b\n---\n".into()),
        ("not closed", "---\nname: a\nBody".into()),
        ("not YAML", "---\nname: a\ndescription: use when: needed\n---\n".into()),
        ("a tab", "---\nname: a\n\ttools: read\n---\n".into()),
        ("not a mapping", "---\n- name\n- tools\n---\n".into()),
        ("a tag", "---\nname: !secret a\n---\n".into()),
        ("unknown anchor", "---\nname: *a\n---\n".into()),
        ("two documents are body", "---\nname: a\n---\n---\nname: b\n---\n".into()),
        ("unknown fields", "---\nname: a\ncolor: red\ntool: read\n---\n".into()),
        ("ask", "---\nname: a\nask: everybody\n---\n".into()),
        ("ask the parent", "---\nname: a\nask: parent\n---\n".into()),
        ("a schema that is none", "---\nname: a\noutputSchema: [files]\n---\n".into()),
        ("a schema that JSON cannot say", "---\nname: a\noutputSchema: { 1: .nan }\n---\n".into()),
        ("skills by name", "---\nname: a\nskills: pdf, xlsx\n---\n".into()),
        (
            "several at once, CRLF and BOM",
            "\u{feff}\r\n---\r\nname: a\r\nreadonly: maybe\r\ntools: 1\r\n---\r\n".into(),
        ),
        ("too large", format!("---\nname: a\n---\n{}", "x".repeat(64 * 1024))),
    ];
    let mut text = String::new();
    for (label, content) in cases {
        writeln!(text, "## {label}: {}\n", told(content)).expect("a string grows");
    }
    writeln!(text, "## not UTF-8: {}\n", told(b"---\nname: a\ndescription: caf\xe9\n---\n"))
        .expect("a string grows");
    writeln!(text, "## UTF-16: {}", told(b"\xff\xfe-\0-\0-\0\n\0")).expect("a string grows");
    insta::assert_snapshot!("frontmatter_mistakes", text);
}

#[test]
fn a_file_without_frontmatter_is_no_agent_and_no_diagnostic() {
    for content in [&b""[..], b"# Readme\n\nname: a\n", b"text\n---\nname: a\n---\n", b"caf\xe9\n", b"\0\0\0"]
    {
        assert_eq!(told(content), "no agent\n", "{content:?}");
    }
}

#[test]
fn an_alias_bomb_is_one_diagnostic_and_no_agent() {
    let mut bomb = String::from("---\nname: a\nl0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let aliases = vec![format!("*l{}", level - 1); 10].join(", ");
        writeln!(bomb, "l{level}: &l{level} [{aliases}]").expect("a string grows");
    }
    let text = told(format!("{bomb}---\nBody"));
    assert!(text.starts_with("no agent\nError FRONTMATTER_SYNTAX"), "{text}");
}

#[test]
fn every_field_is_read() {
    let agent = agent_of(
        "---\nname: a.B_c-1\ndescription: >\n  Does\n  things.\nreadonly: 1\ntools: [Read, grep, Read]\nmodel: x/y\n\
         thinking: high\ntimeoutMs: 1000\nidleTimeoutMs: 0\nmaxTurns: 3\nmaxCost: 0.5\nsandbox: required\n\
         network: off\nlauncher: box\nextensions: ./a.ts, ./b.ts\ncontext: none\nskills: true\nask: true\noutputSchema:\n  type: array\n---\n\nDo it.\n",
    );
    assert_eq!((agent.name.as_str(), agent.description.as_str()), ("a.B_c-1", "Does things."));
    assert_eq!((agent.readonly, agent.prompt.as_str()), (true, "Do it."));
    assert_eq!(agent.tools.as_deref(), Some(&["read".to_owned(), "grep".to_owned()][..]));
    assert_eq!((agent.model.as_deref(), agent.thinking.as_deref()), (Some("x/y"), Some("high")));
    assert_eq!((agent.timeout, agent.idle_timeout), (Some(Duration::from_secs(1)), None));
    assert_eq!((agent.max_turns, agent.max_cost), (Some(3), Some(0.5)));
    assert_eq!((agent.sandbox, agent.launcher.as_deref()), (Some(SandboxMode::Required), Some("box")));
    assert_eq!(agent.network, Some(Network::Off));
    assert_eq!(agent.extensions.as_deref(), Some(&["./a.ts".to_owned(), "./b.ts".to_owned()][..]));
    assert_eq!((agent.context, agent.skills), (Some(Context::None), Some(Skills::All(true))));
    assert_eq!(agent.ask, Asks::User);
    let parameters = agent.output_schema.as_ref().map(OutputSchema::parameters);
    assert_eq!(parameters.map(|schema| schema["properties"]["value"]["type"].clone()), Some("array".into()));
    assert_eq!(agent.content_hash.len(), 64);
}

#[test]
fn readonly_takes_four_values() {
    for (written, expected) in
        [("true", true), ("1", true), ("false", false), ("0", false), ("\"true\"", true)]
    {
        assert_eq!(
            agent_of(&format!("---\nname: a\nreadonly: {written}\n---\nx")).readonly,
            expected,
            "{written}"
        );
    }
    assert!(!agent_of("---\nname: a\n---\nx").readonly, "not declared");
}

#[test]
fn undeclared_tools_differ_from_an_empty_list() {
    for (field, expected) in [
        ("", None),
        ("tools: []\n", Some(vec![])),
        ("tools: ''\n", Some(vec![])),
        (
            "tools: Read, Grep, Glob, LS, Bash, Edit, Write\n",
            Some(vec!["read", "grep", "find", "ls", "bash", "edit", "write"]),
        ),
        ("tools:\n  - Glob\n  - find\n", Some(vec!["find"])),
        ("tools: [mcp__git__*]\n", Some(vec!["mcp__git__*"])),
    ] {
        let tools = agent_of(&format!("---\nname: a\n{field}---\nx")).tools;
        let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(tools, expected, "{field}");
    }
}

#[test]
fn an_empty_body_falls_back_to_the_description() {
    assert_eq!(agent_of("---\nname: a\ndescription: Say hello.\n---\n \r\n").prompt, "Say hello.");
}

#[test]
fn windows_files_give_the_same_agent() {
    let unix = agent_of("---\nname: a\ntools:\n  - read\n---\nOne\n\nTwo\n");
    let windows = agent_of("\u{feff}\r\n---\r\nname: a\r\ntools:\r\n  - read\r\n---\r\nOne\r\n\r\nTwo\r\n");
    assert_eq!((unix.tools, unix.prompt), (windows.tools, windows.prompt));
}

#[test]
fn a_description_is_one_bounded_line() {
    let agent = agent_of(&format!("---\nname: a\ndescription: |\n  one\n  {}\n---\nx", "two ".repeat(2000)));
    assert!(agent.description.starts_with("one two two") && !agent.description.contains('\n'));
    assert!(agent.description.chars().count() <= 1000);
}

#[test]
fn nothing_of_an_agent_that_a_model_reads_is_hidden() {
    let hidden = with_hidden("word");
    let agent = agent_of(&format!("---\nname: a\ndescription: \"{hidden}\"\n---\n{hidden}"));
    assert_eq!((agent.description.as_str(), agent.prompt.as_str()), ("word", "word"));
    for field in ["model", "thinking", "tools", "readonly", "launcher", &hidden, "name"] {
        let (_world, catalog) = catalog_of(format!("---\nname: a\n{field}: \"{hidden}\"\n---\nx"));
        assert_eq!(catalog.diagnostics.len(), 1, "{field}: {:?}", catalog.diagnostics);
        assert_all_seen(field, &format!("{catalog:?}"));
    }
}

#[test]
fn inherit_is_the_same_as_silence() {
    let agent = agent_of("---\nname: a\nmodel: inherit\nthinking: inherit\n---\nx");
    assert_eq!((agent.model, agent.thinking), (None, None));
}

#[test]
fn the_hash_is_that_of_the_file() {
    let expected = "f06fe9e1532f63ada879527cf65d41b4b3512a24cdf6a085c18d98e2b2674b0c";
    assert_eq!(agent_of("---\nname: a\n---\nabc").content_hash, expected);
}
