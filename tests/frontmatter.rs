//! The fields of an agent file, and the messages about their mistakes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::hidden::{assert_all_seen, with_hidden};
use agents::{
    AgentDefinition, AgentDirs, AskTarget, Catalog, Context, Isolation, Network, OutputSchema, SandboxMode,
    ShellPolicy, Skills, Source, ToolPolicy, discover, is_free_of_side_effects, parse, plan_tools,
};
use proptest::prelude::*;
use sanitizer::Severity;
use tempfile::TempDir;

/// The catalog of a user directory with only this file.
fn catalog_of(content: impl AsRef<[u8]>) -> (TempDir, Catalog) {
    let world = tempfile::tempdir().expect("a temporary directory is created");
    let agents = world.path().join("agent/agents");
    fs::create_dir_all(&agents).expect("the directory is created");
    fs::create_dir(world.path().join("cwd")).expect("the directory is created");
    fs::write(agents.join("file.md"), content).expect("the file is written");
    let home = world.path();
    let catalog = discover(&home.join("cwd"), &home.join("agent"), Some(home), AgentDirs::default());
    (world, catalog)
}

fn agent_of(content: &str) -> AgentDefinition {
    let (_world, catalog) = catalog_of(content);
    let found = catalog.agents.iter().find(|agent| agent.source == Source::User);
    found.unwrap_or_else(|| panic!("no agent was found: {:?}", catalog.diagnostics)).as_ref().clone()
}

/// Returns each diagnostic in one line, without the directory, and whether the file still defines an agent.
fn report(content: impl AsRef<[u8]>) -> String {
    let (world, catalog) = catalog_of(content);
    let root = fs::canonicalize(world.path()).expect("the path exists").display().to_string();
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
        writeln!(text, "## {label}: {}\n", report(content)).expect("writing to a string succeeds");
    }
    writeln!(text, "## not UTF-8: {}\n", report(b"---\nname: a\ndescription: caf\xe9\n---\n"))
        .expect("writing to a string succeeds");
    writeln!(text, "## UTF-16: {}", report(b"\xff\xfe-\0-\0-\0\n\0")).expect("writing to a string succeeds");
    insta::assert_snapshot!("frontmatter_mistakes", text);
}

#[test]
fn a_file_without_frontmatter_is_no_agent_and_is_reported() {
    for content in [&b""[..], b"# Readme\n\nname: a\n", b"text\n---\nname: a\n---\n", b"caf\xe9\n", b"\0\0\0"]
    {
        let expected =
            "no agent\nInfo AGENT_FILE_NO_AGENT /agent/agents/file.md:1:1: the file has no frontmatter";
        assert!(report(content).starts_with(expected), "{content:?}: {}", report(content));
    }
}

#[test]
fn an_alias_bomb_gives_one_diagnostic_and_no_agent() {
    let mut bomb = String::from("---\nname: a\nl0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let aliases = vec![format!("*l{}", level - 1); 10].join(", ");
        writeln!(bomb, "l{level}: &l{level} [{aliases}]").expect("writing to a string succeeds");
    }
    let text = report(format!("{bomb}---\nBody"));
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
    assert_eq!(agent.ask, AskTarget::User);
    let parameters = agent.output_schema.as_ref().map(OutputSchema::parameters);
    assert_eq!(parameters.map(|schema| schema["properties"]["value"]["type"].clone()), Some("array".into()));
    assert_eq!(agent.content_hash.len(), 64);
}

#[test]
fn readonly_takes_every_spelling_of_yes_and_no() {
    for (written, expected) in [
        ("true", true),
        ("1", true),
        ("false", false),
        ("0", false),
        ("\"true\"", true),
        ("True", true),
        ("YES", true),
        ("on", true),
        ("No", false),
        ("off", false),
    ] {
        assert_eq!(
            agent_of(&format!("---\nname: a\nreadonly: {written}\n---\nx")).readonly,
            expected,
            "{written}"
        );
    }
    assert!(!agent_of("---\nname: a\n---\nx").readonly, "an undeclared `readonly` is false");
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
fn agent_texts_for_the_model_have_no_hidden_characters() {
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
fn inherit_equals_an_absent_field() {
    let agent = agent_of("---\nname: a\nmodel: inherit\nthinking: inherit\n---\nx");
    assert_eq!((agent.model, agent.thinking), (None, None));
}

#[test]
fn the_hash_covers_the_whole_file() {
    let expected = "f06fe9e1532f63ada879527cf65d41b4b3512a24cdf6a085c18d98e2b2674b0c";
    assert_eq!(agent_of("---\nname: a\n---\nabc").content_hash, expected);
}

/// Returns the tools of this agent's child if every tool exists and is allowed.
fn tools_of(agent: &AgentDefinition) -> Vec<String> {
    let all = "read bash edit write grep find ls web_search fetch_content get_search_content lsp deploy";
    let available: BTreeSet<String> = all.split(' ').map(str::to_owned).collect();
    let policy = ToolPolicy {
        allow_write: true,
        allow_lsp: true,
        shell: ShellPolicy::Sandboxed,
        takes_answers: true,
        ..ToolPolicy::default()
    };
    plan_tools(agent, &policy, Some(&available)).map_or_else(|_| Vec::new(), |plan| plan.tools)
}

/// Returns the result of a file: its agent with `readonly` and the child's tools, and the codes of its diagnostics.
fn outcome(file: &str, content: &str) -> String {
    let parsed = parse(content.as_bytes(), Source::User, Some(Path::new(file)));
    let codes: BTreeSet<_> = parsed.diagnostics.iter().map(|found| found.code).collect();
    let codes: Vec<_> = codes.into_iter().filter(|code| !code.ends_with("_IGNORED")).collect();
    let agent = parsed.agent.map_or_else(
        || "no agent".to_owned(),
        |agent| {
            let readonly = if agent.readonly { " readonly" } else { "" };
            format!("{}{readonly}: {}", agent.name, tools_of(&agent).join(" "))
        },
    );
    format!("{agent} [{}]", codes.join(" "))
}

const FREE: &str = "read bash edit write";
const READS: &str = "read grep find ls web_search fetch_content get_search_content lsp bash";
const OFFLINE: &str = "read grep find ls lsp bash";

#[test]
fn files_written_for_other_harnesses_load() {
    let examples = "Use this when: x is done. Examples:\n\n<example>\nContext: The user asks.\nuser: \"Do it\"\nassistant: \
                    \"I'll do it\"\n<commentary>\nIt fits.\n</commentary>\n</example>\n\n<example>\nContext: Again.\nuser: \"Go\"\n\
                    assistant: \"Gone\"\n</example>\n";
    let cases: Vec<(&str, String, String)> = vec![
        ("a colon in the description", "name: a\ndescription: Use when: needed\ntools: Read\n".into(), "a: read [FRONTMATTER_NOT_YAML]".into()),
        ("examples over blank lines", format!("name: a\ndescription: {examples}\nmodel: inherit\ncolor: red\ntools: [\"Read\", \"Grep\"]\n"), "a: read grep [FRONTMATTER_NOT_YAML]".into()),
        ("a list behind such a description", "name: a\ndescription: Use: x\ntools:\n  - Read\n  - LS\nmodel: sonnet\n".into(), "a: read ls [FRONTMATTER_NOT_YAML]".into()),
        ("a star as all tools", "name: a\ntools: *\n".into(), format!("a: {FREE} [FRONTMATTER_NOT_YAML]")),
        ("a star in quotes", "name: a\ntools: \"*\"\n".into(), format!("a: {FREE} []")),
        ("a star in a list", "name: a\ntools: [\"*\"]\n".into(), format!("a: {FREE} []")),
        ("all", "name: a\ntools: all\n".into(), format!("a: {FREE} []")),
        ("blanks between tools", "name: a\ntools: Read Grep  Glob\n".into(), "a: read grep find []".into()),
        ("lines between tools", "name: a\ntools: |\n  Read\n  Grep\n".into(), "a: read grep []".into()),
        ("any case", "name: a\ntools: READ, bash, multi_edit\n".into(), "a: read bash edit []".into()),
        ("names of another harness", "name: a\ntools: [read_file, run_shell_command, write_file, google_web_search]\n".into(), "a: read bash write web_search []".into()),
        ("groups of another harness", "name: a\ntools: ['read/readFile', 'search/fileSearch', 'execute/runInTerminal', 'edit/editFiles', 'github/*']\n".into(), "a: read find bash edit [FRONTMATTER_TOOL_STRICTER]".into()),
        ("delegation in brackets", "name: a\ntools: Read, Agent(worker, researcher), Workflow(x)\n".into(), "a: read []".into()),
        ("delegation in a list", "name: a\ntools: [Read, Agent(worker, researcher), Grep]\n".into(), "a: read grep []".into()),
        ("a part of a tool", "name: a\ntools: Read, Bash(git log:*), Grep\n".into(), "a: read grep [FRONTMATTER_TOOL_STRICTER]".into()),
        ("a part of a tool behind a blank", "name: a\ntools: Read Bash (git log)\n".into(), "a: read [FRONTMATTER_TOOL_STRICTER]".into()),
        ("a part that is all of it", "name: a\ntools: Read, Bash(*)\n".into(), "a: read bash []".into()),
        ("no tool but a part of one", "name: a\ntools: Bash(git log:*)\n".into(), "a:  [FRONTMATTER_TOOL_STRICTER]".into()),
        ("a mapping that forbids", "name: a\ntools:\n  write: false\n  edit: false\n".into(), "a: read bash []".into()),
        ("a mapping that chooses", "name: a\ntools:\n  \"*\": false\n  read: true\n  grep: true\n".into(), "a: read grep []".into()),
        ("a list that forbids all", "name: a\ntools:\n  - \"*\": false\n  - read: true\n".into(), "a: read []".into()),
        ("a list with refused tools", "name: a\ntools: [\"!bash\"]\n".into(), "a: read edit write []".into()),
        ("a work tree", "name: a\nisolation: worktree\n".into(), format!("a: {FREE} [FRONTMATTER_FIELD_READ_AS]")),
        ("no name", "description: d\ntools: Read\n".into(), "file-1: read []".into()),
        ("a title as name", "name: Front End (UI/UX)\n".into(), format!("Front-End-UI-UX: {FREE} [FRONTMATTER_FIELD_READ_AS]")),
        ("a name in another script", "name: 研究员\n".into(), format!("研究员: {FREE} []")),
        ("a name in decomposed letters", "name: cafe\u{301}\n".into(), format!("café: {FREE} [FRONTMATTER_FIELD_READ_AS]")),
        ("blank fields", "name:\ndescription:\nreadonly:\ntools:\ndisallowedTools:\nmodel:\nthinking: ''\ntimeoutMs:\nidleTimeoutMs:\nmaxTurns:\nloopStopAfter:\nmaxCost:\nsandbox: ''\nnetwork:\nisolation:\nlauncher:\nextensions:\ncontext:\nskills:\nask:\ncheck: ' '\nsetup:\noutputSchema:\n".into(), format!("file-1: {FREE} []")),
        ("fields without meaning here", "name: a\ncolor: red\nversion: 1\nauthor: x\nmcpServers: [y]\nmemory: project\nicon: z\nhidden: true\nmode: subagent\npermissionMode: acceptEdits\n".into(), format!("a: {FREE} []")),
        ("a prefix of a star", "name: a\ndescription: *important* text\n".into(), format!("a: {FREE} [FRONTMATTER_NOT_YAML]")),
        ("notes that are no agent", "title: A page\ntags: [x]\n".into(), "no agent [AGENT_FILE_NO_AGENT]".into()),
        ("switched off", "name: a\ndisable: true\n".into(), "no agent [AGENT_SWITCHED_OFF]".into()),
    ];
    for (label, fields, expected) in cases {
        assert_eq!(outcome("dir/file 1.md", &format!("---\n{fields}---\nBody")), expected, "{label}");
    }
    let described = agent_of(&format!("---\nname: a\ndescription: {examples}\ncolor: red\n---\nBody"));
    assert!(described.description.ends_with("assistant: \"Gone\" </example>"), "{}", described.description);
    assert_eq!(agent_of("---\nname: a\nisolation: worktree\n---\nx").isolation, Some(Isolation::Private));
    assert_eq!(agent_of("---\nname: a\nmax_turns: 4\nTimeout-Ms: 5\n---\nx").max_turns, Some(4));
}

/// Common ways to say that an agent must not do something.
const FORBIDDING: [(&str, &str); 170] = [
    ("read_paths: [src]", READS),
    ("write_paths: []", READS),
    ("writable_paths: [docs]", READS),
    ("editDirs: docs", READS),
    ("mode: code-review", READS),
    ("review: required", READS),
    ("human_review: mandatory", READS),
    ("auto_approve: false", READS),
    ("autoEdit: off", READS),
    ("tools: { read: , grep: }", "read grep"),
    ("tools: { bash: git log }", ""),
    ("can't_write: true", READS),
    ("don't_edit: true", READS),
    ("editing: false", READS),
    ("writes: never", READS),
    ("modify: false", READS),
    ("modifications: none", READS),
    ("mutable: false", READS),
    ("rw: false", READS),
    ("readWrite: no", READS),
    ("destructive: false", READS),
    ("side_effects: none", READS),
    ("dry_run: true", READS),
    ("dryRun: true", READS),
    ("non_destructive: true", READS),
    ("passive: true", READS),
    ("frozen: true", READS),
    ("locked: yes", READS),
    ("ro: true", READS),
    ("workspace: ro", READS),
    ("scope: read-only", READS),
    ("capabilities: [read-only]", READS),
    ("rules: [no writes]", READS),
    ("rules: never edit files", READS),
    ("restrictions: [no-write]", READS),
    ("restrictions: no file edits", READS),
    ("policy: deny", READS),
    ("policies: { write: deny }", READS),
    ("limits: [{ edit: false }]", READS),
    ("rules: [{ deny: Bash }]", READS),
    ("config: { permissions: { deny: [Edit] } }", READS),
    ("claude: { tools: Read }", READS),
    ("requires_permission: true", READS),
    ("needs_review_before_edit: true", READS),
    ("ask_before_edit: true", READS),
    ("human_in_the_loop: true", READS),
    ("supervised: true", READS),
    ("autonomous: false", READS),
    ("trusted: no", READS),
    ("untrusted: true", READS),
    ("max_edits: 0", READS),
    ("max_files_changed: 0", READS),
    ("max_tool_calls: 5", READS),
    ("git: deny", READS),
    ("write: [docs/]", READS),
    ("write: src/**", READS),
    ("edit: docs only", READS),
    ("tool_choice: none", READS),
    ("has_tools: no", READS),
    ("mode: no-write", READS),
    ("mode: architect", READS),
    ("mode: restricted", READS),
    ("approval: on-request", READS),
    ("permissions: deny", READS),
    ("permissions: { defaultMode: strict }", READS),
    ("permissions: { mode: strict, deny: [Bash, Write] }", READS),
    ("no_network: true", OFFLINE),
    ("network_disabled: yes", OFFLINE),
    ("allow_internet: false", OFFLINE),
    ("online: false", OFFLINE),
    ("network_policy: none", OFFLINE),
    ("can_access_network: false", OFFLINE),
    ("not_allowed_tools: [Bash]", "read edit write"),
    ("no_tools: true", ""),
    ("no_tools: [bash]", "read edit write"),
    ("enable_tools: false", ""),
    ("tool_access: [Read, Grep]", "read grep"),
    ("tool_access: none", ""),
    ("authorized_tools: [Read]", "read"),
    ("toolbox: [Read, Grep]", "read grep"),
    ("capabilities: [read, grep]", "read grep"),
    ("capabilities: Read, Grep", "read grep"),
    ("tools: { deny: [Bash] }", "read edit write"),
    ("tools: { allowed: [Read, Grep], denied: [Grep] }", "read"),
    ("tools: { disabled: bash }", "read edit write"),
    ("tools: [{ tool: bash, allow: false }]", ""),
    (
        "permissions: { defaultMode: plan, deny: [Bash] }",
        "read grep find ls web_search fetch_content get_search_content lsp",
    ),
    ("permissions: { defaultMode: acceptEdits, deny: [Write] }", "read bash edit"),
    ("permission: { write: deny, bash: allow }", "read bash"),
    ("permissions: [Read, Grep]", "read grep"),
    ("bash: git log", "read edit write"),
    ("bash: [git]", "read edit write"),
    ("bash: ask", "read edit write"),
    ("execution: false", "read edit write"),
    ("allow_code_execution: false", "read edit write"),
    ("disallowedTools: [replace_in_file, str_replace_editor, execute_bash]", "read"),
    ("disallowedTools: [All]", ""),
    ("status: disabled", ""),
    ("PreToolUse: [x]", "read grep find ls web_search fetch_content get_search_content lsp"),
    ("viewOnly: true", READS),
    ("only_read: yes", READS),
    ("do_not_edit: true", READS),
    ("mustNotWrite: 1", READS),
    ("offline: true", OFFLINE),
    ("can_edit_files: false", READS),
    ("filesystem: read", READS),
    ("capabilities: { write: false }", READS),
    ("tools: read-only", ""),
    ("readOnly: true", READS),
    ("read_only: yes", READS),
    ("read-only: on", READS),
    ("READONLY: 1", READS),
    ("isReadOnly: true", READS),
    ("readonlyMode: strict", READS),
    ("disallowedTools: Write, Edit, Bash", "read"),
    ("disallowed_tools: [Write, Edit, MultiEdit, Bash]", "read"),
    ("disallowed-tools: Write Edit Bash", "read"),
    ("disallowedTools: Bash(rm:*)", "read edit write"),
    ("disallowedTools: [\"*\"]", ""),
    ("disallowedTools: all", ""),
    ("disallowedTools: edit*, w*", "read bash"),
    ("disallowedTools: exec", "read edit write"),
    ("disallowedTools: no such tool", ""),
    ("disallowedTools: Schreiben", READS),
    ("blockedTools: [bash]", "read edit write"),
    ("excludedTools: shell, write_file", "read edit"),
    ("excludeTools: [run_shell_command]", "read edit write"),
    ("disabledTools: [bash, edit, write]", "read"),
    ("denyTools: bash", "read edit write"),
    ("deny: [Bash, Edit, Write]", "read"),
    ("tools_blacklist: bash", "read edit write"),
    ("forbidden_tools: { bash: true, edit: false }", "read edit write"),
    ("dissallowedTools: Bash", READS),
    ("allowedTools: Read, Grep", "read grep"),
    ("allowed-tools: Read, Bash(git:*)", "read"),
    ("onlyTools: [read]", "read"),
    ("tool: read", "read"),
    ("toolset: read", READS),
    ("permissionMode: plan", READS),
    ("permissionMode: readonly", READS),
    ("permissionMode: dontAsk", READS),
    ("permission_mode: strict", READS),
    ("mode: readonly", READS),
    ("access: read", READS),
    ("permission: { edit: deny, bash: ask }", "read"),
    ("permission: { edit: deny, bash: { \"git *\": allow, \"*\": deny } }", "read"),
    ("permission: { \"*\": deny, read: allow }", "read"),
    ("permission: { external_directory: deny }", READS),
    ("permissions: { deny: [Bash, \"Edit(src/**)\", Write] }", "read"),
    ("permissions: read", READS),
    ("permissions: [contents]", READS),
    ("sandbox_mode: read-only", READS),
    ("sandbox: read-only", READS),
    ("canWrite: false", READS),
    ("write: false", READS),
    ("edit: deny", READS),
    ("bash: false", "read edit write"),
    ("shell: never", "read edit write"),
    ("noWrite: true", READS),
    ("no_edit: true", READS),
    ("disable_shell: true", "read edit write"),
    ("allowBash: false", "read edit write"),
    ("file_write: none", READS),
    ("allowed_paths: [docs]", READS),
    ("denied-paths: [secrets]", READS),
    ("requireApproval: true", READS),
    ("approval_policy: untrusted", READS),
    ("restricted: true", READS),
    (
        "hooks: { PreToolUse: [{ matcher: Bash }] }",
        "read grep find ls web_search fetch_content get_search_content lsp",
    ),
    ("metadata: { readonly: true }", READS),
];

#[test]
fn a_restriction_holds_in_every_spelling() {
    for (field, expected) in FORBIDDING {
        let text = format!("---\nname: a\n{field}\n---\nBody");
        let parsed = parse(text.as_bytes(), Source::User, None);
        let Some(agent) = parsed.agent else {
            assert_eq!(expected, "", "{field} refused the agent: {:?}", parsed.diagnostics);
            continue;
        };
        assert_eq!(tools_of(&agent).join(" "), expected, "{field}");
    }
}

#[test]
fn fields_that_forbid_nothing_do_not_restrict_an_agent() {
    for field in [
        "tool_choice: auto",
        "auto_approve: true",
        "autoApprove: all",
        "permissions: { defaultMode: acceptEdits }",
        "permission-mode: default",
        "mode: subagent",
        "allow_delegation: false",
        "capabilities: [code-review, security]",
        "restrictions: none",
        "autonomy: full",
        "requires: [node, git]",
        "required_skills: [x]",
        "internet: yes",
        "status: active",
        "hooks: { PostToolUse: [x] }",
        "title: The only tool you need",
        "summary: Never write bad code",
        "topics: [no-code]",
        "usage: Use when not editing",
        "license: MIT",
        "compatibility: Requires a server",
        "metadata: { author: x, tags: [y] }",
        "trigger: always",
        "run: npm test",
        "search: docs",
        "command: /review",
        "commands: [review, test]",
        "read: docs/guide.md",
        "streaming: false",
        "role: code reviewer",
        "domain: [backend, api]",
        "mcp-servers: { x: { type: local, command: x, tools: [\"*\"] } }",
    ] {
        assert_eq!(tools_of(&agent_of(&format!("---\nname: a\n{field}\n---\nx"))).join(" "), FREE, "{field}");
    }
}

#[test]
fn an_offline_agent_has_no_network_regardless_of_other_fields() {
    for fields in ["offline: true\nnetwork: on", "network: on\nno_internet: yes"] {
        let agent = agent_of(&format!("---\nname: a\n{fields}\n---\nx"));
        assert_eq!((agent.network, agent.readonly), (Some(Network::Off), true), "{fields}");
    }
}

#[test]
fn an_unknown_restriction_is_a_warning_with_its_position() {
    let (_world, catalog) = catalog_of("---\nname: a\nallowed_paths: [docs]\n---\nBody");
    let found = &catalog.diagnostics[0];
    assert_eq!((found.severity, found.code), (Severity::Warning, "FRONTMATTER_RESTRICTION_UNCLEAR"));
    assert!(found.to_string().contains("file.md:3:1: `allowed_paths` restricts"), "{found}");
    let ten: Vec<String> = (0..12).map(|field| format!("note{field}: x")).collect();
    let ten = ten.join("\n");
    let (_world, catalog) = catalog_of(format!("---\nname: a\n{ten}\nallowed_paths: [docs]\n---\nBody"));
    assert!(
        catalog.diagnostics.iter().any(|found| found.severity == Severity::Warning),
        "each file gets a warning"
    );
}

#[test]
fn one_field_in_two_spellings_is_an_error() {
    for fields in ["readonly: true\nreadOnly: false", "tools: read\ntool: bash", "maxTurns: 1\nmax_turns: 9"]
    {
        let text = report(format!("---\nname: a\n{fields}\n---\nx"));
        assert!(
            text.starts_with("no agent\nError") && text.contains("are the same field"),
            "{fields}: {text}"
        );
    }
}

#[test]
fn invalid_yaml_hides_no_restriction() {
    for (label, fields, expected) in [
        ("indented under the description", "description: Use: x\n  tools: Read\n", "a readonly: "),
        ("with a tab", "description: Use: x\n\treadonly: true\n", "a readonly: "),
        ("with a capital letter", "description: Use: x\nTools: Read\n", "a readonly: "),
        ("as an item", "description: Use: x\n- disallowedTools: Bash\n", "a readonly: "),
        ("behind an example", "description: Use: x\nuser: hi\nreadonly: true\n", "a readonly: "),
        (
            "as another harness spells it",
            "description: Use: x\npermission:\n  edit: deny\n  bash: deny\n",
            "a: read [",
        ),
        ("a list that is not closed", "tools: [Read, \"Bash(git:*)\"\n", "a: "),
        ("a broken mapping", "description: Use: x\npermission:\n  edit: deny\n bash: ask: no\n", "no agent"),
        ("another one", "tools:\n  - Read\n - Grep: : x\n", "no agent"),
        ("a single word with a value that forbids", "description: Use: x\nediting: false\n", "a readonly: "),
        (
            "a list behind a description",
            "description: Use: x\ncapabilities: [read, grep]\n",
            "a: read grep [",
        ),
        (
            "a mapping behind a description",
            "description: Use: x\ncapabilities:\n  write: false\n",
            "a readonly: ",
        ),
        ("a mapping in braces", "description: Use: x\ncapabilities: { write: false }\n", "a readonly: "),
        ("twice", "description: Use: x\nreadonly: true\nuser: y\nreadonly: false\n", "no agent"),
    ] {
        let found = outcome("a.md", &format!("---\nname: a\n{fields}---\nBody"));
        assert!(found.starts_with(expected) && !found.contains("bash edit"), "{label}: {found}");
        let dangerous = found.split_whitespace().any(|word| ["edit", "write"].contains(&word));
        assert!(!dangerous, "{label}: {found}");
    }
}

#[test]
fn a_sentence_about_tools_is_refused() {
    for tools in
        ["All tools except Bash", "everything but Bash", "no Bash", "Read, only git in Bash", "not Bash"]
    {
        let text = report(format!("---\nname: a\ntools: {tools}\n---\nx"));
        let (_world, catalog) = catalog_of(format!("---\nname: a\ntools: {tools}\n---\nx"));
        let agent = catalog.agents.iter().find(|agent| agent.source == Source::User);
        let gets_shell = agent.is_some_and(|agent| tools_of(agent).contains(&"bash".to_owned()));
        assert!(!gets_shell, "{tools}: {text}");
    }
}

/// Fields that select something or do not affect rights, next to fields that forbid.
const OTHERS: [&str; 12] = [
    "tools: Read, Bash, Write, deploy",
    "tools: \"*\"",
    "tools: [Edit, Grep]",
    "tools: { bash: true, write: true }",
    "description: Use when: needed",
    "model: sonnet",
    "color: red",
    "permissionMode: bypassPermissions",
    "mode: primary",
    "sandbox: off",
    "isolation: worktree",
    "user: \"hello\"",
];

proptest! {
    #[test]
    fn a_field_that_forbids_never_gives_a_tool_with_side_effects(
        others in prop::collection::hash_set(0..OTHERS.len(), 0..4),
        forbidding in 0..FORBIDDING.len(),
        at in 0_usize..5,
        is_indented in any::<bool>(),
    ) {
        let fields: Vec<&str> = others.into_iter().map(|index| OTHERS[index]).collect();
        let file = |fields: &[&str]| format!("---\nname: a\n{}\n---\nBody", fields.join("\n"));
        let without = parse(file(&fields).as_bytes(), Source::User, None).agent;
        prop_assume!(without.is_some());
        let indent = if is_indented { "  " } else { "" };
        let field = format!("{indent}{}", FORBIDDING[forbidding].0);
        let mut more = fields.clone();
        more.insert(at.min(fields.len()), &field);
        let with = parse(file(&more).as_bytes(), Source::User, None).agent;
        let (Some(without), Some(with)) = (without, with) else { return Ok(()) };
        let can = tools_of(&without);
        for tool in tools_of(&with) {
            let is_harmless = is_free_of_side_effects(&tool, with.readonly);
            prop_assert!(is_harmless || can.contains(&tool), "{tool} by {more:?}");
        }
    }
}
