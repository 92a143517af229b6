//! The settings of single agents, tools and launchers in the configuration.

use std::fmt::Write as _;

use agents::config::overlay;
use serde_json::json;

use crate::config::Scene;

#[test]
fn each_mistake_in_a_launcher_is_reported_with_its_position_and_the_expected_value() {
    let fields = [
        r#""command": "ssh""#,
        r#""command": []"#,
        r#""command": ["ssh", "{session}", "{argv}"]"#,
        r#""command": ["./ssh", "{argv}"]"#,
        r#""command": ["ssh", "{argv}"], "quote": "bash""#,
        r#""command": ["ssh", "{argv}"], "cwd": "{home}""#,
        r#""command": ["ssh", "{argv}"], "cwd": "a\nb""#,
        r#""command": ["ssh", "{argv}"], "env": "HOME""#,
        r#""command": ["ssh", "{argv}"], "env": ["A=1"]"#,
        r#""command": ["ssh", "{argv}"], "readonly": "yes""#,
        r#""command": ["ssh", "{argv}"], "maxConcurrent": 0"#,
        r#""command": ["ssh", "{argv}"], "piCommand": "pi""#,
        r#""command": ["ssh", "{argv}"], "cancel": ["ssh", "{argv}"]"#,
        r#""command": ["ssh", "{argv}"], "fetch": ["cat", "{sesion}"]"#,
        r#""command": ["ssh", "build-box"]"#,
        r#""command": ["{argv}"]"#,
        r#""command": ["ssh", 1, "{argv}"]"#,
        r#""command": ["ssh", "{argv}"], "cancel": ["bin/end"]"#,
        r#""command": ["ssh", "{argv}"], "cancel": []"#,
        r#""command": ["ssh", "{argv}"], "fetch": "cat""#,
        r#""command": ["ssh", "{argv}"], "cwd": 1"#,
        r#""command": ["ssh", "{argv}"], "maxConcurrent": 5000"#,
        r#""command": ["ssh", "{argv}"], "user": "ci""#,
        r#""piCommand": ["pi"]"#,
    ];
    let mut text = String::new();
    let mut report = |launchers: &str| {
        let file = format!("{{ \"subagents\": {{ \"launchers\": {{\n  {launchers}\n}} }} }}");
        writeln!(text, "## {launchers}\n{}", Scene::new().user(&file).report())
            .expect("writing to a string succeeds");
    };
    for field in fields {
        report(&format!("\"far\": {{ {field} }}"));
    }
    report(r#""far": "ssh""#);
    report(r#""": { "command": ["ssh", "{argv}"] }"#);
    report(r#""local": { "command": ["ssh", "{argv}"] }"#);
    report(r#""far": { "command": ["ssh", "{argv}"] }, "far": { "command": ["srun", "{argv}"] }"#);
    insta::assert_snapshot!("config_launcher_mistakes", text);
}

#[test]
fn the_example_of_the_launchers_is_valid() {
    let text = r#"{ "subagents": { "launchers": {
        "build-box": { "command": ["ssh", "-T", "build-box", "--", "{argv}"], "cwd": "/srv/work/{project}", "quote": "sh" },
        "k8s": { "command": ["kubectl", "run", "{runId}", "-i", "--", "{argv}"], "cancel": ["kubectl", "delete", "pod", "{runId}"],
                 "env": ["OPENAI_API_KEY"], "maxConcurrent": 50 } } } }"#;
    let loaded = Scene::new().user(text).load();
    assert_eq!(loaded.diagnostics, []);
    let k8s = &loaded.config.launchers["k8s"];
    assert_eq!((k8s.max_concurrent, k8s.env.as_slice()), (50, &["OPENAI_API_KEY".to_owned()][..]));
    assert_eq!(loaded.config.launchers["build-box"].max_concurrent, 64);
}

#[test]
fn each_mistake_in_the_settings_of_agents_is_reported_with_its_position() {
    let scene = Scene::new().user(
        "{ \"subagents\": { \"agents\": {\n  \"explorer\": { \"model\": \"haiku\", \"timeout\": 5,\n    \"tools\": [\"Read\", \"ba*\"],\n    \
         \"skills\": [\"review\"], \"maxTurns\": 7, \"context\": \"none\" },\n  \"*\": { \"maxCost\": \"1\", \"thinking\": \"inherit\" },\n  \
         \"a b\": {},\n  \"tester\": 5,\n  \"explorer\": {}\n} } }",
    );
    insta::assert_snapshot!(scene.report(), @r#"
    Error CONFIG_KEY_UNKNOWN /agent/subagents.json:2:35: `agents.explorer.timeout` is not a setting of an agent; did you mean `timeoutMs`? Nothing is delegated until this is corrected
    Error CONFIG_VALUE_INVALID /agent/subagents.json:3:23: `agents.explorer.tools` contains `"ba*"`; expected a list of plain tool names, such as ["read", "grep"], or `mcp__server__*`. Nothing is delegated until this is corrected
    Error CONFIG_VALUE_INVALID /agent/subagents.json:5:21: `agents.*.maxCost` is `"1"`; expected an amount in USD such as 0.5, 0 for no limit. Nothing is delegated until this is corrected
    Error CONFIG_VALUE_INVALID /agent/subagents.json:6:3: `agents.a b` names no agent; expected `*` or the name of one. Nothing is delegated until this is corrected
    Error CONFIG_VALUE_INVALID /agent/subagents.json:7:13: `agents.tester` is `5`; expected an object of settings. Nothing is delegated until this is corrected
    Error CONFIG_KEY_DUPLICATE /agent/subagents.json:8:3: `agents.explorer` is given twice; the first one counts. Nothing is delegated until this is corrected
    broken
    "#);
    let agents = serde_json::to_value(scene.load().config.agents).expect("the value is serialized");
    let expected = json!({
        "explorer": { "model": "haiku", "skills": ["review"], "maxTurns": 7, "context": "none" },
        "*": { "thinking": "inherit" },
    });
    assert_eq!(agents, expected);
}

#[test]
fn a_project_only_tightens_the_settings_of_agents() {
    let scene = Scene::new()
        .user(
            r#"{ "subagents": { "agents": { "explorer": { "model": "haiku", "tools": ["Read", "grep", "read"], "timeoutMs": 900 },
                 "*": { "maxTurns": 5, "skills": ["a", "b"] } } } }"#,
        )
        .project(
            "{ \"subagents\": { \"agents\": { \"explorer\": {\n  \"model\": \"opus\",\n  \"tools\": [\"read\", \"bash\"],\n  \
             \"timeoutMs\": 1000,\n  \"idleTimeoutMs\": 50,\n  \"maxTurns\": 0,\n  \"maxCost\": 0.5,\n  \"skills\": true,\n  \
             \"context\": \"none\",\n  \"enabled\": false\n}, \"*\": { \"enabled\": true, \"skills\": [\"b\", \"c\"], \"maxTurns\": 3 } },\n\
             \"agentDirs\": [\"/etc\"], \"projectAgentDirs\": [\".claude/agents\"] } }",
        );
    insta::assert_snapshot!(scene.report(), @r#"
    Warning CONFIG_PROJECT_REFUSED /project/.pi/subagents.json:2:3: `agents.explorer.model` is ignored: a project file may not set it, only the user's own may
    Warning CONFIG_PROJECT_REFUSED /project/.pi/subagents.json:3:12: `agents.explorer.tools` is reduced: a project file may only remove entries; ["bash"] is not among ["read","grep"]
    Warning CONFIG_PROJECT_REFUSED /project/.pi/subagents.json:4:16: `agents.explorer.timeoutMs` is `1000` and is ignored: a project file may only make it stricter than `900`
    Warning CONFIG_PROJECT_REFUSED /project/.pi/subagents.json:6:15: `agents.explorer.maxTurns` is `0` and is ignored: a project file may only make it stricter than `5`
    Warning CONFIG_PROJECT_REFUSED /project/.pi/subagents.json:8:13: `agents.explorer.skills` is `true` and is ignored: a project file may only make it stricter than `["a","b"]`
    Warning CONFIG_PROJECT_REFUSED /project/.pi/subagents.json:11:22: `agents.*.enabled` is `true` and is ignored: a project file may only set it to `false`
    Warning CONFIG_PROJECT_REFUSED /project/.pi/subagents.json:11:38: `agents.*.skills` is reduced: a project file may only remove entries; ["c"] is not among ["a","b"]
    Warning CONFIG_PROJECT_REFUSED /project/.pi/subagents.json:12:1: `agentDirs` is ignored: a project file may not set it, only the user's own may
    Warning CONFIG_PROJECT_REFUSED /project/.pi/subagents.json:12:24: `projectAgentDirs` is ignored: a project file may not set it, only the user's own may
    "#);
    let agents = serde_json::to_value(scene.load().config.agents).expect("the value is serialized");
    let expected = json!({
        "explorer": {
            "model": "haiku", "tools": ["read", "grep"], "timeoutMs": 900,
            "project": { "tools": ["read"], "idleTimeoutMs": 50, "maxCost": 0.5, "context": "none", "enabled": false },
        },
        "*": { "maxTurns": 5, "skills": ["a", "b"], "project": { "skills": ["b"], "maxTurns": 3 } },
    });
    assert_eq!(agents, expected);
}

#[test]
fn agent_directories_are_absolute_or_below_home_and_project_ones_inside_the_project() {
    let scene = Scene::new()
        .user("{ \"subagents\": { \"agentDirs\": [\"agents\"],\n  \"projectAgentDirs\": [\"../agents\"] } }");
    insta::assert_snapshot!(scene.report(), @r#"
    Error CONFIG_VALUE_INVALID /agent/subagents.json:1:32: `agentDirs` contains `"agents"`; expected a list of paths that begin with `/` or `~/`
    Error CONFIG_VALUE_INVALID /agent/subagents.json:2:24: `projectAgentDirs` contains `"../agents"`; expected a list of paths within a project, such as ".claude/agents"
    "#);
    let scene = Scene::new().user(
        r#"{ "subagents": { "agentDirs": ["~/.claude/agents", "/a"], "projectAgentDirs": [".claude/agents"] } }"#,
    );
    assert_eq!(scene.report(), "");
    let config = scene.load().config;
    assert_eq!(config.agent_dirs, ["~/.claude/agents", "/a"]);
    assert_eq!(config.project_agent_dirs, [".claude/agents"]);
}

#[test]
fn lists_of_tools_accept_names_of_other_harnesses() {
    let tools = |settings: &str| {
        let loaded = Scene::new().user(&format!("{{ \"subagents\": {{ {settings} }} }}")).load();
        assert_eq!(loaded.diagnostics, [], "{settings}");
        loaded.config
    };
    let denied =
        tools(r#""tools": { "deny": ["Bash", "Edit", "exec", "Web*", "Bash(rm:*)", "mcp__git", "own"] }"#);
    assert_eq!(
        denied.tools.deny,
        ["bash", "edit", "exec", "Web*", "fetch_content", "web_search", "mcp__git", "mcp__git__*", "own"]
    );
    let allowed = tools(
        r#""tools": { "allow": ["Read", "run_shell_command", "Glob", "Write(docs/**)", "*_content"] }"#,
    );
    assert_eq!(allowed.tools.allow.expect("the list is set"), ["read", "bash", "find", "*_content"]);
    let of_agent = tools(r#""agents": { "a": { "tools": ["Read", "Bash(git:*)", "Glob"] } }"#);
    assert_eq!(of_agent.agents["a"].bounds.tools.as_deref().expect("the list is set"), ["read", "find"]);
    assert_eq!(tools(r#""tools": { "deny": ["*"] }"#).tools.deny, ["*"]);
    assert_eq!(tools(r#""tools": { "deny": ["All"], "allow": ["all"] }"#).tools.deny, ["*"]);
    assert_eq!(
        tools(
            r#""tools": { "deny": ["replace_in_file", "str_replace_editor", "execute_bash", "fs_write"] }"#
        )
        .tools
        .deny,
        ["edit", "replace_in_file", "str_replace_editor", "write", "bash", "execute_bash", "fs_write"]
    );
}

#[test]
fn tools_and_agents_in_a_file_keep_their_positions() {
    let loaded = Scene::new()
        .user("{ \"subagents\": {\n\"tools\": { \"deny\": [\"exec\"] },\n\"allowAgents\": [\"x\"],\n\"defaultAgent\": \"y\" } }")
        .load();
    let diagnostics: Vec<_> =
        loaded.named.iter().map(|named| (named.key.as_str(), named.name.as_str())).collect();
    assert_eq!(diagnostics, [("allowAgents", "x"), ("defaultAgent", "y")]);
    let tool = &loaded.named_tools[0];
    assert_eq!((tool.key.as_str(), tool.name.as_str(), tool.denies), ("tools.deny", "exec", true));
}

#[test]
fn an_invalid_launcher_does_not_affect_the_others() {
    let text = r#"{ "subagents": { "launcher": "box", "launchers": {
        "box": { "command": ["ssh", "box", "{argv}"], "pi": "pi" },
        "far": { "command": ["ssh", "far", "{argv}"] }
    } } }"#;
    let scene = Scene::new().user(text);
    let loaded = scene.load();
    assert_eq!(loaded.config.launchers.keys().collect::<Vec<_>>(), ["far"]);
    let why = &loaded.config.broken_launchers["box"];
    assert_eq!(
        why,
        "is not valid (subagents.json:2): `launchers.box.pi` is not a field of a launcher; did you mean `piCommand`?"
    );
    assert_eq!(scene.report().lines().count(), 1, "{}", scene.report());
    let overlaid =
        overlay(&loaded.config, &serde_json::json!({ "maxConcurrent": 1 })).expect("the overlay is valid");
    assert!(overlaid.broken_launchers.contains_key("box"), "an overlay keeps the broken launcher");
}
