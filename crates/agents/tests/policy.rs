//! The tools of a child, and the model's descriptions of the agents.

use std::collections::BTreeSet;
use std::fs;

use agents::{
    AgentDefinition, AgentDirs, AskTarget, Catalog, DELEGATION_HEADING, DropReason, DroppedTool, ShellPolicy,
    Source, Surface, SurfaceConfig, Tool, ToolPlan, ToolPolicy, discover, plan_tools, surface,
    tool_entry_problem,
};

const R: &str = "read grep find ls web_search fetch_content get_search_content";

fn builtins() -> Catalog {
    discover("/nowhere".as_ref(), "/nowhere".as_ref(), None, AgentDirs::default())
}

fn agent(readonly: bool, tools: Option<&str>) -> AgentDefinition {
    let mut agent = builtins().agents[0].as_ref().clone();
    agent.name = "a".into();
    agent.readonly = readonly;
    agent.tools = tools.map(|names| names.split_whitespace().map(str::to_owned).collect());
    agent
}

/// Words: `write`, `lsp`, `sandbox`, `foreign` for a project that names a shell; `-name` denies, `+name` allows.
fn policy(words: &str) -> ToolPolicy {
    let marked = |mark: char| {
        words.split_whitespace().filter_map(move |word| word.strip_prefix(mark)).map(str::to_owned)
    };
    let has = |flag: &str| words.split_whitespace().any(|word| word == flag);
    let allow: Vec<String> = marked('+').collect();
    ToolPolicy {
        allow_write: has("write"),
        allow_lsp: has("lsp"),
        shell: match (has("sandbox"), has("foreign")) {
            (true, true) => ShellPolicy::FromProject,
            (true, false) => ShellPolicy::Sandboxed,
            (false, _) => ShellPolicy::NoSandbox,
        },
        deny: marked('-').collect(),
        allow: (!allow.is_empty()).then_some(allow),
        bounds: Vec::new(),
        takes_answers: !has("json"),
    }
}

fn available(names: &str) -> BTreeSet<String> {
    names.split_whitespace().map(str::to_owned).collect()
}

fn shown(plan: &ToolPlan) -> String {
    let dropped: Vec<_> =
        plan.dropped.iter().map(|entry| format!("{}:{:?}", entry.tool, entry.reason)).collect();
    format!("{} | {}", plan.tools.join(" "), dropped.join(" "))
}

/// A tool that is added only to `Tool` is not allowed either.
#[test]
fn no_child_gets_a_tool_that_delegates() {
    let all = Tool::TEXTS.join(" ");
    let allowed = format!("+{}", Tool::TEXTS.join(" +"));
    let declared = format!("read {all}");
    for readonly in [true, false] {
        let plan =
            plan_tools(&agent(readonly, Some(&declared)), &policy(&format!("write +read {allowed}")), None);
        assert_eq!(plan.expect("the agent has a tool that reads").tools, ["read"], "readonly: {readonly}");
    }
}

#[test]
fn tools_are_granted_by_agent_configuration_and_sandbox() {
    use DropReason::{NoSandbox, Readonly, WriteNotAllowed};
    let all = "read bash edit write lsp grep custom";
    let cases = [
        ("readonly", true, Some(all), "lsp", format!("read lsp grep | bash:{NoSandbox:?} edit:{Readonly:?} write:{Readonly:?} custom:{Readonly:?}")),
        ("readonly, writing allowed", true, Some(all), "lsp write", format!("read lsp grep | bash:{NoSandbox:?} edit:{Readonly:?} write:{Readonly:?} custom:{Readonly:?}")),
        ("readonly, sandboxed", true, Some(all), "lsp sandbox", format!("read bash lsp grep | edit:{Readonly:?} write:{Readonly:?} custom:{Readonly:?}")),
        ("not readonly", false, Some(all), "lsp", format!("read lsp grep | bash:{NoSandbox:?} edit:{WriteNotAllowed:?} write:{WriteNotAllowed:?} custom:{WriteNotAllowed:?}")),
        ("not readonly, writing allowed", false, Some(all), "lsp write", format!("{all} | ")),
        ("writing allowed, in the sandbox", false, Some("read bash edit"), "write sandbox", "read bash edit | ".into()),
        ("the same, with a shell that the sandbox cannot restrict", false, Some("read bash edit"), "write sandbox foreign", "read edit | bash:ShellFromProject".into()),
        ("the same, none declared", false, None, "write sandbox foreign", "read edit write | ".into()),
        ("no language server", false, Some("lsp read"), "write", "read | lsp:LspNotAllowed".into()),
        ("none declared, readonly", true, None, "", format!("{R} | ")),
        ("none declared, readonly, sandboxed", true, None, "lsp sandbox", format!("{R} lsp bash | ")),
        ("none declared, not readonly", false, None, "", format!("{R} | ")),
        ("none declared, writing allowed", false, None, "write lsp", "read bash edit write | ".into()),
        ("none on purpose", true, Some(""), "", " | ".into()),
        ("no tool allowed by the table", true, Some("bash write"), "", format!(" | bash:{NoSandbox:?} write:{Readonly:?}")),
        ("delegation", false, Some("subagent subagent_parallel sessions_spawn agents_list read"), "write",
            "read | subagent:NeverInChild subagent_parallel:NeverInChild sessions_spawn:NeverInChild agents_list:NeverInChild".into()),
        ("delegation allowed by name", false, Some("subagent read"), "write +subagent +read", "read | subagent:NeverInChild".into()),
        ("denied", false, Some("read bash"), "write -bash", "read | bash:Denied".into()),
        ("denied wins over allowed", false, Some("read bash"), "write -bash +bash", " | read:NotAllowed bash:Denied".into()),
        ("allowed by pattern", true, Some("read web_search"), "+web_*", "web_search | read:NotAllowed".into()),
        ("allowed is no grant", true, Some("read edit"), "+read +edit", "read | edit:Readonly".into()),
        ("denied among the undeclared", false, None, "write -bash", "read edit write | ".into()),
        ("a server's tools, one of them denied", false, Some("mcp__git__* read"), "write -mcp__git__push", "read | mcp__git__*:Denied".into()),
        ("a server's tools", false, Some("mcp__git__*"), "write -mcp__web__*", "mcp__git__* | ".into()),
    ];
    for (label, readonly, tools, words, expected) in cases {
        let plan = plan_tools(&agent(readonly, tools), &policy(words), None).expect("the agent has tools");
        assert_eq!(shown(&plan), expected, "{label}");
    }
}

#[test]
fn tools_that_this_pi_lacks_are_dropped() {
    let has = available("read bash edit write grep find ls");
    for (label, readonly, tools, words, expected) in [
        ("some", true, Some("read web_search"), "", "read | web_search:NotAvailable"),
        ("policy comes first", true, Some("read edit"), "", "read | edit:Readonly"),
        ("policy does not apply to unknown tools", false, Some("read custom"), "", "read | custom:Unknown"),
        ("unknown tools, writing allowed", false, Some("read custom"), "write", "read | custom:NotAvailable"),
        (
            "known to other agents only",
            false,
            Some("read TodoWrite Task"),
            "write",
            "read | TodoWrite:Unknown Task:NeverInChild",
        ),
        ("undeclared tools are not reported as dropped", true, None, "", "read grep find ls | "),
        ("none on purpose", true, Some(""), "", " | "),
        ("servers answer later", false, Some("mcp__git__log"), "write", "mcp__git__log | "),
        ("only the table took them", true, Some("bash"), "", " | bash:NoSandbox"),
    ] {
        let plan =
            plan_tools(&agent(readonly, tools), &policy(words), Some(&has)).expect("the agent has tools");
        assert_eq!(shown(&plan), expected, "{label}");
    }
}

#[test]
fn an_agent_whose_tools_are_all_missing_does_not_run() {
    let has = available("read bash");
    let researcher = builtins().find("researcher").expect("the built-in agent exists");
    let described = |agent: &AgentDefinition, words: &str| {
        plan_tools(agent, &policy(words), Some(&has)).expect_err("no tool remains").to_string()
    };
    insta::assert_snapshot!(
        "no_tools_left",
        [
            described(&researcher, ""),
            described(&agent(true, Some("fetch_content")), ""),
            described(&agent(true, Some("bash fetch_content edit")), ""),
            described(&agent(true, Some("web_search fetch_content")), "-web_search"),
        ]
        .join("\n")
    );
    assert!(
        plan_tools(&researcher, &policy(""), None).is_ok(),
        "an agent can run if the tools of pi are unknown"
    );
}

#[test]
fn the_prompt_of_an_agent_without_tools_says_so() {
    let without = plan_tools(&agent(true, Some("bash")), &policy(""), None).expect("the agent has tools");
    insta::assert_snapshot!("no_tools_note", without.note().expect("the plan has a note"));
    assert_eq!(
        plan_tools(&agent(true, Some("read")), &policy(""), None).expect("the agent has tools").note(),
        None
    );
}

#[test]
fn a_tool_of_unknown_effects_is_dropped_with_that_reason() {
    let why = |readonly| {
        let plan = plan_tools(&agent(readonly, Some("read custom gerp edit")), &policy(""), None);
        plan.expect("the agent has tools").dropped.iter().map(DroppedTool::why).collect::<Vec<_>>()
    };
    let readonly = "the agent is readonly";
    assert_eq!(
        why(true),
        [
            format!("its effects are unknown, and {readonly}"),
            format!("its effects are unknown, and {readonly}; did you mean grep?"),
            readonly.to_owned(),
        ]
    );
    assert_eq!(why(false)[0], "its effects are unknown, and the setting `allowWrite` is off");
}

#[test]
fn every_reason_for_a_dropped_tool_has_a_message() {
    use DropReason::{
        Denied, Forbidden, LspNotAllowed, NeverInChild, NoAnswers, NoSandbox, NotAllowed, NotAvailable,
        NotInSnapshot, Readonly, Unknown, WriteNotAllowed,
    };
    let all = [
        Readonly,
        NoSandbox,
        WriteNotAllowed,
        LspNotAllowed,
        NotAvailable,
        Unknown,
        Forbidden,
        Denied,
        NotAllowed,
        NeverInChild,
        NotInSnapshot,
        NoAnswers,
    ];
    insta::assert_snapshot!("drop_reasons", all.map(|reason| reason.to_string()).join("\n"));
}

const AS_CONFIGURED: SurfaceConfig<'_> =
    SurfaceConfig { parallel: 8, chain: 8, allow_write: true, default_agent: "explorer" };

/// The configuration's default tools.
fn surface_of(catalog: &Catalog, is_runnable: impl Fn(&AgentDefinition) -> bool) -> Surface {
    surface(catalog, AS_CONFIGURED, is_runnable)
}

#[test]
fn the_descriptions_of_the_tools_take_at_most_1300_tokens() {
    let surface = surface_of(&builtins(), |_| true);
    insta::assert_json_snapshot!("surface_builtins", surface);
    let described = surface.tools.iter().map(|tool| {
        let mut described = serde_json::to_value(tool).expect("the value is serialized");
        // Shown only to people.
        described.as_object_mut().expect("the value is an object").remove("label");
        described.to_string()
    });
    let chars: usize =
        described.chain([surface.delegation_policy.clone()]).map(|text| text.chars().count()).sum();
    let tokens = chars.div_ceil(4);
    assert!(tokens <= 1300, "{tokens} tokens");
    assert!(surface.delegation_policy.starts_with(DELEGATION_HEADING));
}

#[test]
fn the_page_of_the_tools_has_each_tool() {
    let page = include_str!("../../../docs/tools.md");
    for tool in Tool::TEXTS {
        assert!(page.contains(&format!("`{tool}`")), "docs/tools.md has no row for `{tool}`");
    }
}

#[test]
fn a_call_names_its_agent_and_directory_before_the_long_text() {
    for tool in &surface_of(&builtins(), |_| true).tools[..3] {
        let schema = tool.parameters.to_string();
        let at = |key: &str| schema.find(&format!("\"{key}\":{{"));
        let agent = at("agent").expect("the schema has `agent`");
        let cwd = at("cwd");
        let task = at("task").expect("the schema has `task`");
        assert!(agent < task && cwd.is_none_or(|cwd| agent < cwd && cwd < task), "{schema}");
    }
}

#[test]
fn lists_of_tasks_are_as_long_as_configuration_allows() {
    let tools =
        surface(&builtins(), SurfaceConfig { parallel: 3, chain: 64, ..AS_CONFIGURED }, |_| true).tools;
    let bounds = |tool: usize, list: &str| {
        let list = &tools[tool].parameters["properties"][list];
        (list["minItems"].clone(), list["maxItems"].clone())
    };
    assert_eq!(bounds(1, "tasks"), (1.into(), 3.into()));
    assert_eq!(bounds(2, "steps"), (1.into(), 64.into()));
}

#[test]
fn agents_that_cannot_run_are_not_mentioned() {
    let surface = surface_of(&builtins(), |agent| agent.name != "researcher");
    let text = serde_json::to_string(&surface).expect("the value is serialized");
    assert!(!text.contains("researcher") && text.contains("explorer"));
}

#[test]
fn the_description_says_when_no_agent_can_run() {
    let tools = surface_of(&builtins(), |_| false).tools;
    assert!(tools[0].description.ends_with("No agent can run here at present."));
}

#[test]
fn shadowed_and_broken_definitions_are_not_mentioned_and_long_lists_become_names() {
    let context = tempfile::tempdir().expect("a temporary directory is created");
    let agents = context.path().join("agents");
    fs::create_dir(&agents).expect("the directory is created");
    for index in 0..30 {
        let text =
            format!("---\nname: agent-{index:02}\ndescription: {}\n---\n", "does äöü things ".repeat(20));
        fs::write(agents.join(format!("{index:02}.md")), text).expect("the agent file is written");
    }
    fs::write(agents.join("x.md"), "---\nname: broken\nreadonly: x\n---\n").expect("the file is written");
    fs::write(agents.join("y.md"), "---\nname: tester\ndescription: mine\n---\n")
        .expect("the file is written");
    let catalog = discover("/nowhere".as_ref(), context.path(), None, AgentDirs::default());
    assert_eq!(catalog.find("tester").expect("the agent exists").source, Source::User);
    let surface = surface_of(&catalog, |_| true);
    let description = &surface.tools[0].description;
    let lines: Vec<_> = description.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 24, "{description}");
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{lines:?}");
    assert!(description.ends_with(
        "\nAlso: agent-19, agent-20, agent-21, agent-22, agent-23, agent-24, agent-25, \
        agent-26, agent-27, agent-28, agent-29, tester"
    ));
    assert!(!description.contains("broken") && !description.contains("Plans tests"));
    assert!(!surface.delegation_policy.contains("`tester`"), "the user's `tester` is not recommended");
}

#[test]
fn the_same_agents_give_the_same_surface() {
    let bytes = || serde_json::to_vec(&surface_of(&builtins(), |_| true)).expect("the value is serialized");
    assert_eq!(bytes(), bytes());
}

#[test]
fn an_agent_that_may_ask_gets_the_tool_unless_settings_exclude_it_or_nothing_can_be_answered() {
    for (label, declared, words, expected) in [
        ("with other tools", Some("read"), "", "read ask | "),
        ("without others", Some(""), "", "ask | "),
        ("declared as well", Some("ask read"), "", "read ask | "),
        ("denied", Some("read"), "-ask", "read | ask:Denied"),
        ("not among the allowed", Some("read"), "+read", "read | ask:NotAllowed"),
        ("a child that reads no answers", Some("read"), "json", "read | ask:NoAnswers"),
    ] {
        let agent = AgentDefinition { ask: AskTarget::User, ..agent(true, declared) };
        let plan = plan_tools(&agent, &policy(words), Some(&available("read"))).expect("the agent has tools");
        assert_eq!(shown(&plan), expected, "{label}");
    }
    let plan = plan_tools(&agent(true, Some("read ask")), &policy(""), None).expect("the agent has tools");
    assert!(!plan.tools.contains(&"ask".to_owned()), "only `ask: true` grants `ask`: {plan:?}");
}

#[test]
fn an_agent_never_gets_a_tool_that_its_file_forbids() {
    for (label, declared, denied, expected) in [
        ("declared", Some("read bash"), "bash", "read | bash:Forbidden"),
        ("not declared", None, "bash edit write", "read | "),
        ("by a pattern", Some("read mcp__git__*"), "mcp__*", "read | mcp__git__*:Forbidden"),
        ("all of them", None, "*", " | "),
        ("the question", Some("read"), "ask", "read | ask:Forbidden"),
    ] {
        let denied_tools = denied.split(' ').map(str::to_owned).collect();
        let ask = if denied == "ask" { AskTarget::User } else { AskTarget::NoOne };
        let agent = AgentDefinition { denied_tools, ask, ..agent(false, declared) };
        let plan = plan_tools(&agent, &policy("write +read +bash +mcp__git__* +ask"), None)
            .expect("the agent has tools");
        assert_eq!(shown(&plan), expected, "{label}");
    }
}

#[test]
fn a_pattern_is_reported_only_if_it_matches_no_tool() {
    let available = BTreeSet::from(["read".to_owned(), "jira_search".to_owned()]);
    let problem = |pattern: &str, available| tool_entry_problem(pattern, false, available);
    // A server that is not connected yet may bring the tools of a pattern with `mcp`.
    for pattern in ["jira_*", "wri*", "mcp__gone__*"] {
        assert_eq!(problem(pattern, Some(&available)), None, "{pattern}");
    }
    assert_eq!(problem("linear_*", Some(&available)).as_deref(), Some("no tool matches `linear_*`"));
    assert_eq!(problem("linear_*", None), None, "the tools of this pi are unknown");
}
