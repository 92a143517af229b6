//! The effective settings of an agent: from its file, its user and project settings, the configuration and the session.
#![cfg(unix)]

use std::fs;
use std::sync::Arc;

use crate::support::child::{Child, ordered};
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::doctor::doctor;
use pi_subagent_native::orchestrate::background::spawnable;
use pi_subagent_native::present::SpawnableAgents;
use pi_subagent_native::run::{
    CallSettings, Caveat, Control, HostCapabilities, HostContext, HostExtension, HostModel, HostSkill,
    HostTool, Listing, ToolResult, describe, list_agents,
};
use serde_json::{Value, json};

const OWN: &str = "---\nname: own\ndescription: d\nmodel: file/model\nthinking: low\ntools: read, grep, ls\nmaxTurns: 9\n---\nBe.";
fn says() -> Child {
    Child::new().runs(r#"printf '%s ' "$@" > "$home/args""#).reads_task().starts().says("Done.").settles()
}

/// A scene with an agent `own`, whose user has these settings.
fn scene(settings: &Value) -> Scene {
    let mut scene = Scene::new(says(), json!({ "protocol": "json" }));
    write(&scene, "agent/agents/own.md", OWN);
    write(&scene, "agent/subagents.json", &json!({ "subagents": settings }).to_string());
    context(&mut scene).host.model = Some("session/model".into());
    context(&mut scene).host.thinking = Some("minimal".into());
    scene.spec.agent = "own".into();
    scene
}

fn write(scene: &Scene, name: &str, text: &str) {
    let path = scene.path(name);
    fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
    fs::write(path, text).expect("the file is written");
}

fn project(scene: &Scene, settings: &Value) {
    write(scene, "project/.pi/subagents.json", &json!({ "subagents": settings }).to_string());
}

fn context(scene: &mut Scene) -> &mut HostContext {
    Arc::make_mut(&mut scene.spec.context)
}

async fn run(scene: &Scene, user: &User<'_>) -> (String, ToolResult) {
    let result = scene.run_with(user, &Control::default()).await.0;
    (fs::read_to_string(scene.path("args")).unwrap_or_default(), result)
}

async fn listing(scene: &Scene) -> Listing {
    let context = Arc::clone(&scene.spec.context);
    let capabilities = HostCapabilities::probe(&context).await;
    let settings = CallSettings::read(&scene.spec.cwd, &context);
    list_agents(&scene.spec.cwd, &context, &settings, &capabilities)
}

/// Returns the values of an agent in words.
async fn values(scene: &Scene, name: &str) -> String {
    let listing = listing(scene).await;
    let listed = listing.agents.iter().find(|listed| listed.agent.name == name).expect("the agent is listed");
    listed.values.all().join("\n")
}

/// A host whose pi gives this answer.
fn models(model: HostModel) -> User<'static> {
    User { model: Some(model), ..User::default() }
}

#[tokio::test]
async fn settings_of_one_agent_override_settings_of_all_and_both_override_its_file() {
    let plain = scene(&json!({}));
    let (args, _) = run(&plain, &User::default()).await;
    assert!(args.contains("--model file/model --thinking low --tools read,grep,ls "), "{args}");
    let table = [
        (json!({ "own": { "model": "a/b" } }), "--model a/b --thinking low "),
        (json!({ "*": { "model": "a/b", "thinking": "max" } }), "--model a/b --thinking max "),
        (json!({ "*": { "model": "a/b" }, "own": { "model": "c/d" } }), "--model c/d --thinking low "),
        (
            json!({ "own": { "model": "inherit", "thinking": "inherit" } }),
            "--model session/model --thinking minimal ",
        ),
        (json!({ "own": { "model": "haiku:high" } }), "--model haiku --thinking high "),
        (json!({ "own": { "model": "haiku:high", "thinking": "off" } }), "--model haiku --thinking off "),
        (
            json!({ "*": { "model": "haiku:high" }, "own": { "thinking": "off" } }),
            "--model haiku --thinking off ",
        ),
        (json!({ "own": { "model": "openrouter/x:free" } }), "--model openrouter/x:free --thinking low "),
        (json!({ "own": { "tools": ["Grep", "find"] } }), "--tools grep,find "),
        (json!({ "own": { "tools": [] } }), "--no-tools "),
        (json!({ "own": { "context": "none" } }), "--no-context-files "),
        (json!({ "own": { "skills": false } }), "--no-skills "),
    ];
    for (agents, expected) in table {
        let (args, result) = run(&scene(&json!({ "agents": agents })), &User::default()).await;
        assert!(args.contains(expected), "{agents}: {args}{}", result.text);
    }
}

#[tokio::test]
async fn a_thinking_level_is_stronger_than_the_level_of_an_inherited_model() {
    let without_level = OWN.replace("thinking: low\n", "");
    for (file, thinking, expected) in [(OWN, None, "low"), (&without_level, Some("max"), "max")] {
        let scene = scene(&json!({
            "model": "sonnet:high", "thinking": thinking, "agents": { "own": { "model": "inherit" } },
        }));
        write(&scene, "agent/agents/own.md", file);
        let (args, result) = run(&scene, &User::default()).await;
        assert!(args.contains(&format!("--model sonnet --thinking {expected} ")), "{args}{}", result.text);
    }
}

#[tokio::test]
async fn each_value_names_its_source() {
    let scene = scene(&json!({
        "model": "config/model", "idleTimeoutMs": 60000,
        "agents": { "own": { "model": "a/b:high", "timeoutMs": 5000, "maxTurns": 0, "loopStopAfter": 5 }, "*": { "maxCost": 2 } },
    }));
    project(
        &scene,
        &json!({ "agents": { "own": { "timeoutMs": 3000, "tools": ["read", "bash"], "context": "none" } } }),
    );
    insta::assert_snapshot!(values(&scene, "own").await, @r#"
    model a/b (`agents.own`)
    thinking high (`agents.own`)
    tools read (the project)
    timeoutMs 3.0s (the project)
    idleTimeoutMs 1m00s (`idleTimeoutMs`)
    maxTurns none (default)
    maxCost $2 (`agents.*`)
    loopStopAfter 5 (`agents.own`)
    skills none (default)
    context none (the project)
    "#);
    insta::assert_snapshot!(values(&scene, "explorer").await, @r#"
    model config/model (`model`)
    thinking minimal (the session)
    tools read, grep, find, ls, bash, lsp (the agent file)
    timeoutMs 15m00s (default)
    idleTimeoutMs 1m00s (`idleTimeoutMs`)
    maxTurns none (default)
    maxCost $2 (`agents.*`)
    loopStopAfter 8 (default)
    skills none (default)
    context project (default)
    "#);
}

/// Returns the details of an agent, as `/subagents agents NAME` shows them.
fn details(listing: &Listing, name: &str) -> String {
    pi_subagent_native::present::agent_report(&Ok(name.to_owned()), listing).plain()
}

#[tokio::test]
async fn agents_have_a_line_each_and_the_details_of_one_end_with_its_tools_and_problems() {
    let scene = scene(&json!({ "idleTimeoutMs": 60000 }));
    write(&scene, "agent/agents/mine.md", "---\nname: mine\ndescription: d\ntools: read, lsp\n---\nBe.");
    let mut scene = scene;
    let tool = |name: &str| HostTool { name: name.to_owned(), extension: None };
    context(&mut scene).host.tools =
        Some(["read", "grep", "find", "ls", "bash"].into_iter().map(tool).collect());
    let listing = listing(&scene).await;
    let report = pi_subagent_native::present::agents_report(&listing).plain();
    let at = |expected: &str| {
        let found: Vec<_> =
            report.lines().enumerate().filter(|(_, line)| line.starts_with(expected)).collect();
        assert_eq!(found.len(), 1, "{expected}: {report}");
        found[0].0
    };
    let rows = [
        "✓ explorer     read, grep, find, ls",
        "✓ mine         read · without lsp",
        "✓ own          read, grep, ls · file/model",
        "· researcher   unavailable: its tools are missing",
    ]
    .map(at);
    let problems = [
        "· mine: without lsp (this pi does not have it; install a package",
        "· researcher: needs one of web_search, fetch_content,",
    ]
    .map(at);
    assert!(rows.is_sorted() && problems.iter().all(|at| *at > rows[3]), "{report}");

    let own = details(&listing, "own");
    let names: Vec<_> =
        own.lines().filter_map(|line| line.trim_start_matches(['✓', ' ']).split(' ').next()).collect();
    assert!(names.ends_with(&["file", "model", "tools", "rights", "state"]), "{own}");
    assert!(own.contains("maxCost none") && own.contains("`idleTimeoutMs`: idleTimeoutMs 1m00s"), "{own}");
    assert!(details(&listing, "mine").contains("· without lsp (this pi does not have it"));
}

#[tokio::test]
async fn a_list_of_agents_ends_with_the_reason_why_none_can_be_called() {
    let table = [
        (json!({}), None),
        (json!({ "enabled": false }), Some("delegation is switched off: `subagents.enabled` is `false`")),
    ];
    for (config, expected) in table {
        let listing = listing(&scene(&config)).await;
        let report = pi_subagent_native::present::agents_report(&listing).plain();
        match expected {
            Some(expected) => assert!(last_row(&report).contains(expected), "{config}: {report}"),
            None => assert!(last_row(&report).contains("`/subagents agents NAME`"), "{report}"),
        }
        assert_eq!(details(&listing, "own").contains("switched off"), expected.is_some());
    }
    let broken = scene(&json!({}));
    fs::write(broken.path("agent/subagents.json"), "{ oops").expect("the file is written");
    let report = pi_subagent_native::present::agents_report(&listing(&broken).await).plain();
    assert!(last_row(&report).contains("delegation is off until"), "{report}");
}

fn last_row(report: &str) -> &str {
    report.lines().last().unwrap_or_default()
}

#[tokio::test]
async fn project_settings_never_loosen_the_file_or_the_user_settings() {
    let scene = scene(&json!({ "timeoutMs": 1000, "agents": { "*": { "maxCost": 2 } } }));
    let settings = json!({
        "timeoutMs": 5000, "maxTurns": 100, "maxCost": 5, "tools": ["read", "bash", "mcp__x__y"], "skills": true, "context": "project",
    });
    project(&scene, &json!({ "agents": { "own": settings } }));
    let (args, _) = run(&scene, &User::default()).await;
    assert!(args.contains("--tools read ") && args.contains("--no-skills "), "{args}");
    let values = values(&scene, "own").await;
    for expected in ["timeoutMs 1.0s (`timeoutMs`)", "maxTurns 9 (the agent file)", "maxCost $2 (`agents.*`)"]
    {
        assert!(values.contains(expected), "{expected}: {values}");
    }
}

#[tokio::test]
async fn a_projects_agent_does_not_inherit_tools_of_the_users_agent_with_its_name() {
    let scene = scene(&json!({
        "projectAgentPolicy": "allow",
        "agents": { "own": { "tools": ["read", "grep", "find"], "model": "a/b" } },
    }));
    write(&scene, "project/.pi/agents/own.md", "---\nname: own\nreadonly: true\ntools: read, ls\n---\nBe.");
    let (args, _) = run(&scene, &User::default()).await;
    assert!(args.contains("--model a/b ") && args.contains("--tools read "), "{args}");
}

#[tokio::test]
async fn a_disabled_agent_is_refused_with_the_name_of_the_setting() {
    let off = scene(&json!({ "agents": { "own": { "enabled": false } } }));
    let (args, result) = run(&off, &User::default()).await;
    assert!(
        args.is_empty() && result.text.contains("`agents.own` sets `enabled` to `false`"),
        "{}",
        result.text
    );
    let all = json!({ "agents": { "*": { "enabled": false }, "own": { "enabled": true } } });
    let (args, _) = run(&scene(&all), &User::default()).await;
    assert!(!args.is_empty());
    let by_project = scene(&all);
    project(&by_project, &json!({ "agents": { "own": { "enabled": false } } }));
    let (args, result) = run(&by_project, &User::default()).await;
    assert!(args.is_empty() && result.text.contains("the project sets `enabled`"), "{}", result.text);
}

#[tokio::test]
async fn settings_of_an_agent_that_does_not_exist_name_the_nearest() {
    let mut scene = scene(
        &json!({ "agents": { "explorr": { "maxTurns": 1 }, "Explore": { "maxTurns": 2 }, "zebra": {} } }),
    );
    context(&mut scene).config = None;
    let messages: Vec<String> = listing(&scene).await.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    let near = messages.iter().find(|message| message.contains("explorr")).expect("the setting is reported");
    assert!(near.contains("subagents.json:1:") && near.ends_with("did you mean `explorer`?"), "{near}");
    assert!(values(&scene, "explorer").await.contains("maxTurns 2 (`agents.Explore`)"));
}

#[tokio::test]
async fn an_unknown_model_or_a_model_without_login_starts_no_child() {
    let asks = |model: &str| scene(&json!({ "agents": { "own": { "model": model } } }));
    let unknown = HostModel {
        problem: Some(
            "Model \"anthropic/sonet\" not found. Use --list-models to see available models.".into(),
        ),
        known: vec!["anthropic/sonnet".into(), "x/y".into()],
        ..HostModel::default()
    };
    let (args, result) = run(&asks("anthropic/sonet"), &models(unknown)).await;
    assert!(args.is_empty() && result.is_error);
    assert_eq!(result.text, "Model \"anthropic/sonet\" not found: did you mean `anthropic/sonnet`?");
    let no_login = HostModel {
        model: Some("anthropic/sonnet".into()),
        variables: vec!["ANTHROPIC_API_KEY".into()],
        ..HostModel::default()
    };
    let (args, result) = run(&asks("anthropic/sonnet"), &models(no_login.clone())).await;
    assert!(args.is_empty(), "{args}");
    assert_eq!(result.text, "model `anthropic/sonnet` has no login: run `/login anthropic`");
    let of_file = scene(&json!({}));
    write(&of_file, "agent/agents/own.md", &OWN.replace("file/model", "anthropic/sonnet"));
    let (args, from_file) = run(&of_file, &models(no_login.clone())).await;
    assert!(args.is_empty(), "{args}");
    assert_eq!(from_file.text, result.text);

    // `agents` and `doctor` report it beforehand, in the same words.
    let problem = async |scene: &Scene, model: HostModel| {
        let mut listing = listing(scene).await;
        let config = CallSettings::read(&scene.spec.cwd, &scene.spec.context).config();
        listing.check_models(&config, &scene.spec.context, &models(model.clone())).await;
        let own =
            listing.agents.iter().find(|listed| listed.agent.name == "own").expect("the agent is listed");
        let problem = own.plan.as_ref().err().map(ToString::to_string);
        let context = Arc::clone(&scene.spec.context);
        let user = Arc::new(models(model));
        let checks = doctor(scene.spec.cwd.clone(), context, user).await;
        problem.map(|problem| {
            let check = checks.iter().find(|check| check.message == format!("own: {problem}"));
            let hint = check.expect("`doctor` reports it").hint.clone();
            (problem, hint.unwrap_or_default())
        })
    };
    // `doctor` has room for the other ways.
    let hint = "or set ANTHROPIC_API_KEY, or remove `agents.own.model` from your configuration".to_owned();
    assert_eq!(problem(&asks("anthropic/sonnet"), no_login.clone()).await, Some((result.text, hint)));
    let (_, hint) = problem(&of_file, no_login.clone()).await.expect("the model has no login");
    let path = of_file.path("agent/agents/own.md");
    assert!(hint.ends_with(&format!("or remove `model` from `{}`", path.display())), "{hint}");

    // The child has a model that the host lacks, or it is not the host's pi.
    let login = HostModel { has_login: true, ..no_login.clone() };
    let env = json!({ "env": { "ANTHROPIC_API_KEY": "k" }, "agents": { "own": { "model": "sonnet" } } });
    let with_file = asks("sonnet");
    write(&with_file, "agent/subagents/auth/own.json", "{}");
    for (scene, model) in
        [(asks("sonnet"), login), (scene(&env), no_login.clone()), (with_file, no_login.clone())]
    {
        assert_eq!(problem(&scene, model.clone()).await, None);
        let (args, result) = run(&scene, &models(model)).await;
        assert!(args.contains("--model sonnet "), "{args}{}", result.text);
    }
    // The session's own model already works.
    let (args, _) =
        run(&scene(&json!({ "agents": { "own": { "model": "inherit" } } })), &models(no_login)).await;
    assert!(args.contains("--model session/model "), "{args}");
}

/// Nearly every agent file for Claude Code names such an alias.
#[tokio::test]
async fn an_alias_that_cannot_be_used_here_gives_way_to_the_session_s_model_with_a_note() {
    let of_file = |model: &str, settings: Value| {
        let scene = scene(&settings);
        write(&scene, "agent/agents/own.md", &OWN.replace("file/model", model));
        scene
    };
    let unknown = HostModel { problem: Some("Model \"opus\" not found.".into()), ..HostModel::default() };
    let no_login = HostModel { model: Some("anthropic/sonnet".into()), ..HostModel::default() };
    let login = HostModel { has_login: true, ..no_login.clone() };
    let session = "so `session/model` is used";
    for (scene, host, expected, note) in [
        (
            of_file("opus", json!({})),
            unknown.clone(),
            "--model session/model ",
            format!("model `opus` is not available here, {session}"),
        ),
        (
            of_file("opus", json!({})),
            HostModel {
                problem: Some(
                    "Model \"opus\" is ambiguous across providers: a/opus, b/opus. Use --provider".into(),
                ),
                ..HostModel::default()
            },
            "--model session/model ",
            format!("model `opus` names several models here, {session}"),
        ),
        (
            of_file("sonnet:high", json!({})),
            no_login.clone(),
            "--model session/model --thinking low ",
            format!("model `sonnet` has no login here, {session}"),
        ),
        // The user's own choice follows the same rule.
        (
            of_file("x/y", json!({ "agents": { "own": { "model": "sonnet" } } })),
            no_login.clone(),
            "--model session/model ",
            format!("model `sonnet` (from `agents.own`) has no login here, {session}"),
        ),
        (of_file("sonnet", json!({})), login, "--model sonnet ", String::new()),
        (of_file("inherit", json!({})), no_login.clone(), "--model session/model ", String::new()),
    ] {
        let (args, result) = run(&scene, &models(host.clone())).await;
        assert!(args.contains(expected), "{expected}: {args}{}", result.text);
        let single = &result.details.results[0];
        let notes: Vec<_> = single.diagnostics.iter().filter(|note| note.contains("model")).collect();
        assert_eq!(notes, Vec::from_iter(Some(&note).filter(|note| !note.is_empty())));
        assert_eq!(single.model_note.as_deref().unwrap_or_default(), note);

        // `agents` and `doctor` say the same.
        let mut listing = listing(&scene).await;
        let config = CallSettings::read(&scene.spec.cwd, &scene.spec.context).config();
        listing.check_models(&config, &scene.spec.context, &models(host.clone())).await;
        let report = pi_subagent_native::present::agents_report(&listing).plain();
        assert_eq!(report.contains(session), !note.is_empty(), "{report}");
        let context = Arc::clone(&scene.spec.context);
        let checks = doctor(scene.spec.cwd.clone(), context, Arc::new(models(host))).await;
        let is_reported = checks.iter().any(|check| check.message == format!("own: {note}"));
        assert_eq!(is_reported, !note.is_empty(), "{checks:?}");
    }
    // The configuration's model comes before the session's. An explicit one is still checked.
    let configured = of_file("opus", json!({ "model": "x/y" }));
    let (args, result) = run(&configured, &models(unknown)).await;
    assert!(args.is_empty() && result.text.contains("Model \"opus\" not found"), "{args}{}", result.text);
    // Another pi has its own models.
    let mut other = of_file("opus", json!({}));
    let pi = context(&mut other).pi_command.clone();
    write(&other, "agent/subagents.json", &json!({ "subagents": { "piCommand": pi } }).to_string());
    let (args, result) = run(&other, &models(no_login)).await;
    assert!(args.contains("--model opus "), "{args}{}", result.text);
}

#[tokio::test]
async fn named_skills_are_loaded_from_pi_and_unknown_ones_reported() {
    let skill = |name: &str| HostSkill { name: name.into(), path: format!("/skills/{name}/SKILL.md") };
    let mut named = scene(&json!({ "agents": { "own": { "skills": ["review", "reveiw"] } } }));
    context(&mut named).host.skills = Some(vec![skill("review"), skill("other")]);
    let (args, result) = run(&named, &User::default()).await;
    assert!(
        args.contains("--no-skills --skill /skills/review/SKILL.md ") && !args.contains("other"),
        "{args}"
    );
    let notes = &result.details.results[0].diagnostics;
    assert!(
        notes.iter().any(|note| note == "skills: this pi has none named `reveiw`; did you mean `review`?"),
        "{notes:?}"
    );

    let mut in_file = scene(&json!({}));
    write(&in_file, "agent/agents/own.md", &OWN.replace("maxTurns: 9", "skills: [other]"));
    context(&mut in_file).host.skills = Some(vec![skill("review"), skill("other")]);
    let (args, _) = run(&in_file, &User::default()).await;
    assert!(args.contains("--no-skills --skill /skills/other/SKILL.md "), "{args}");
}

#[tokio::test]
async fn agents_of_further_directories_load_and_project_agents_need_consent() {
    let mut far = scene(
        &json!({ "agentDirs": ["~/.claude/agents", "~/gone"], "projectAgentDirs": [".claude/agents"] }),
    );
    let file = |name: &str| format!("---\nname: {name}\ndescription: d\ntools: Read\n---\nBe.");
    write(&far, "home/.claude/agents/mine.md", &file("mine"));
    write(&far, "home/.claude/agents/own.md", &file("own"));
    write(&far, "project/.claude/agents/theirs.md", &file("theirs"));
    write(&far, "project/.pi/agents/local.md", &file("local"));
    let found = listing(&far).await;
    let names: Vec<String> = found
        .agents
        .iter()
        .skip(6)
        .map(|listed| format!("{} {}", listed.agent.name, listed.agent.source))
        .collect();
    assert_eq!(names, ["mine user", "own user", "local project", "theirs project"]);
    let messages: Vec<String> = found.diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        messages
            .iter()
            .any(|message| message.contains("gone") && message.contains("remove it from `agentDirs`")),
        "{messages:?}"
    );
    // pi's own directory has precedence.
    assert!(
        messages.iter().any(|message| message.contains("agent `own` is already defined in")),
        "{messages:?}"
    );
    far.spec.agent = "theirs".into();
    let (args, result) = run(&far, &User::default()).await;
    assert!(args.is_empty() && result.text.contains("defined by the project"), "{}", result.text);
    // Without the setting there is no such agent.
    let plain = scene(&json!({}));
    write(&plain, "project/.claude/agents/theirs.md", &file("theirs"));
    assert_eq!(listing(&plain).await.agents.len(), 7);
}

#[tokio::test]
async fn the_rights_of_an_agent_are_named_to_the_model_to_the_child_and_in_the_result() {
    let keeps_prompt = r#"cat "$home"/agent/subagents/*/*/prompt.md > "$home/prompt" 2>/dev/null
printf '%s ' "$@" > "$home/args"
while [ $# -gt 0 ]; do [ "$1" = --append-system-prompt ] && cat "$2" > "$home/prompt"; shift; done"#;
    let end = ordered!({ "toolCallId": "c1", "toolName": "write", "isError": true });
    let tries = Child::new()
        .runs(keeps_prompt)
        .reads_task()
        .starts()
        .starts_tool("write")
        .emits("tool_execution_end", &end)
        .says("Done.")
        .settles();
    let mut scene = Scene::new(tries.clone(), json!({ "protocol": "json" }));
    write(&scene, "agent/agents/own.md", &OWN.replace("tools: read, grep, ls", "tools: read, write, deploy"));
    write(&scene, "agent/TOOLS.md", "Mine: be quick.");
    write(&scene, "project/TOOLS.md", &format!("Theirs: use just.\u{1b}[31m{}", "x".repeat(20_000)));
    write(&scene, "outside.md", "Not for children.");
    fs::create_dir_all(scene.path("project/sub")).expect("the directory is created");
    std::os::unix::fs::symlink(scene.path("outside.md"), scene.path("project/sub/TOOLS.md"))
        .expect("the link is created");
    scene.spec.agent = "own".into();
    scene.spec.cwd = scene.path("project/sub");
    let (_, result) = run(&scene, &User::default()).await;
    assert_eq!(
        result.text.lines().last(),
        Some("[It tried to change files (write) and could not: `allowWrite` is off.]")
    );
    assert_eq!(result.details.results[0].caveats, [Caveat::WriteOff]);
    let prompt = fs::read_to_string(scene.path("prompt")).expect("the child wrote its prompt");
    assert!(prompt.contains("You cannot change files in this run"), "{prompt}");
    let [mine, theirs] = ["Mine: be quick.", "Theirs: use just."]
        .map(|text| prompt.find(text).expect("the prompt contains the text"));
    assert!(
        mine < theirs && prompt.contains("The rest of the file is omitted") && !prompt.contains('\u{1b}'),
        "{prompt}"
    );
    assert!(!prompt.contains("Not for children") && prompt.len() < 18_000);
    let listed = listing(&scene).await;
    let of = |name: &str| {
        listed
            .agents
            .iter()
            .find(|listed| listed.agent.name == name)
            .expect("the agent is listed")
            .writes
            .is_some()
    };
    assert!(!of("own"));
    let report = format!("{:?}", pi_subagent_native::present::agents_report(&listed));
    assert!(report.contains("`allowWrite` is off"), "{report}");
    assert!(details(&listed, "own").contains("user, cannot write here: `allowWrite` is off"));

    let mut plain =
        Scene::new(tries, json!({ "protocol": "json", "allowWrite": true, "inheritContext": "none" }));
    write(&plain, "agent/agents/own.md", OWN);
    write(&plain, "project/TOOLS.md", "Theirs.");
    plain.spec.agent = "own".into();
    let (_, result) = run(&plain, &User::default()).await;
    let prompt = fs::read_to_string(plain.path("prompt")).expect("the child wrote its prompt");
    assert!(!prompt.contains("Theirs") && !prompt.contains("You cannot change"), "{prompt}");
    assert!(!result.text.contains("tried"), "{}", result.text);
}

/// Returns the question about a project's agent with these lines in its file.
async fn question(settings: &Value, lines: &str) -> String {
    let mut scene = scene(settings);
    write(
        &scene,
        "project/.pi/agents/theirs.md",
        &format!("---\nname: theirs\ndescription: d\n{lines}\n---\nBe."),
    );
    scene.spec.agent = "theirs".into();
    let asked = std::sync::Mutex::new(String::new());
    let confirms = |request: pi_subagent_native::run::ConfirmRequest| {
        *asked.lock().expect("the lock is not poisoned") = request.message.into_string();
        false
    };
    let (_, result) = run(&scene, &User { confirms: Some(Box::new(confirms)), ..User::default() }).await;
    assert!(result.is_error, "{}", result.text);
    asked.into_inner().expect("the lock is not poisoned")
}

#[tokio::test]
async fn a_question_about_a_projects_agent_names_its_tools_and_their_effects() {
    let on = json!({ "allowWrite": "all" });
    let off = json!({});
    let only_reads = "It has only reading tools, so it cannot change files.";
    let table = [
        (&on, "tools: read, grep", "tools: read, grep", only_reads),
        (&off, "tools: read, grep", "tools: read, grep", only_reads),
        (&on, "tools: read, edit", "tools: read, edit", "It may change files. "),
        (&on, "tools: read, mcp__x__y", "tools: read, mcp__x__y", "It may change files and run programs."),
        (
            &off,
            "tools: read, edit",
            "tools: read (not at present: edit)",
            "It can only read while `allowWrite` is off.",
        ),
        (&on, "readonly: true\ntools: read, edit", "tools: read", "It can only read."),
        (
            &on,
            "check: make\ntools: read",
            "tools: read",
            "Its tools only read; the commands above may change files.",
        ),
    ];
    for (settings, lines, tools, rights) in table {
        let question_text = question(settings, lines).await;
        assert!(question_text.lines().any(|line| line == tools), "{lines}: {question_text}");
        assert!(question_text.contains(rights), "{lines}: {question_text}");
        let may_write = rights.contains("may change files");
        assert_eq!(question_text.contains("be undone"), may_write, "{lines}: {question_text}");
    }
}

#[tokio::test]
async fn an_agent_with_only_read_tools_is_not_listed_as_a_writer() {
    for (settings, expected) in [
        (json!({ "allowWrite": true }), ["has only reading tools", "writes "]),
        (json!({}), ["has only reading tools", "cannot write here: `allowWrite` is off"]),
    ] {
        let scene = scene(&settings);
        write(
            &scene,
            "agent/agents/writer.md",
            "---\nname: writer\ndescription: d\ntools: read, edit\n---\nBe.",
        );
        let listing = listing(&scene).await;
        for (name, rights) in ["own", "writer"].into_iter().zip(expected) {
            let details = details(&listing, name);
            assert!(details.contains(&format!("user, {rights}")), "{details}");
        }
        let own =
            listing.agents.iter().find(|listed| listed.agent.name == "own").expect("the agent is listed");
        assert_eq!(own.writes, None);
    }
}

#[tokio::test]
async fn missing_tools_of_builtin_agents_are_reported_once() {
    let mut scene = scene(&json!({}));
    write(&scene, "agent/agents/mine.md", "---\nname: mine\ndescription: d\ntools: read, lsp\n---\nBe.");
    let tools = ["read", "grep", "find", "ls", "bash", "edit", "write"];
    let tool = |name: &str| HostTool { name: name.to_owned(), extension: None };
    context(&mut scene).host.tools = Some(tools.into_iter().map(tool).collect());
    let report = pi_subagent_native::present::agents_report(&listing(&scene).await).plain();
    let dropped: Vec<_> = report.lines().filter(|line| line.contains("lsp (")).collect();
    assert_eq!(dropped.len(), 1, "only the user's own agent shows the missing tool: {report}");
    let user = Arc::new(User::default());
    let checks = doctor(scene.spec.cwd.clone(), Arc::clone(&scene.spec.context), user).await;
    let lacks: Vec<_> = checks.iter().filter(|check| check.message.contains("`lsp`")).collect();
    assert_eq!(lacks.len(), 1, "{lacks:?}");
    assert!(lacks[0].message.contains("explorer, ") && lacks[0].message.contains("mine"), "{lacks:?}");
}

#[tokio::test]
async fn only_an_agent_that_asks_for_tools_that_write_has_the_caveat_of_a_run_without_them() {
    for (tools, settings, caveats) in [
        ("read, write", json!({}), &[Caveat::WriteOff][..]),
        ("read, deploy", json!({}), &[]),
        ("read", json!({}), &[]),
        ("read, write", json!({ "allowWrite": true, "sandbox": { "mode": "off" } }), &[]),
    ] {
        let mut scene = scene(&settings);
        let file = format!("---\nname: mine\ndescription: d\ntools: {tools}\n---\nBe.");
        write(&scene, "agent/agents/mine.md", &file);
        scene.spec.agent = "mine".into();
        let (_, result) = run(&scene, &User::default()).await;
        assert!(!result.is_error, "{}", result.text);
        assert_eq!(result.details.results[0].caveats, caveats, "{tools} {settings}");
    }
}

#[tokio::test]
async fn a_child_gets_no_language_server_if_none_of_its_actions_is_allowed() {
    for (settings, is_dropped) in [
        (json!({}), false),
        (json!({ "allowedLspActions": ["hover"] }), false),
        (json!({ "allowedLspActions": [] }), true),
    ] {
        let mut scene = scene(&settings);
        write(&scene, "agent/agents/mine.md", "---\nname: mine\ndescription: d\ntools: read, lsp\n---\nBe.");
        scene.spec.agent = "mine".into();
        let (args, result) = run(&scene, &User::default()).await;
        let tools = if is_dropped { "--tools read " } else { "--tools read,lsp " };
        assert!(args.contains(tools), "{settings}: {args}");
        let reason = "`lsp` was dropped: the settings `allowLspTools` and `allowedLspActions` allow none of its actions";
        let diagnostics = &result.details.results[0].diagnostics;
        assert_eq!(diagnostics.iter().any(|line| line.contains(reason)), is_dropped, "{diagnostics:?}");
    }
}

#[tokio::test]
async fn doctor_reports_a_missing_login_once_for_all_agents() {
    let scene = scene(&json!({ "agents": { "*": { "model": "amazon-bedrock/claude-haiku" } } }));
    let model = HostModel { model: Some("amazon-bedrock/claude-haiku".into()), ..HostModel::default() };
    let user = Arc::new(models(model));
    let checks = doctor(scene.spec.cwd.clone(), Arc::clone(&scene.spec.context), user).await;
    let logins: Vec<_> =
        checks.iter().filter(|check| check.message.contains("has no login: run `/login")).collect();
    assert_eq!(logins.len(), 1, "{logins:?}");
    let message = &logins[0].message;
    assert!(message.starts_with("explorer, "), "{message}");
    assert!(
        message.ends_with(
            ", own: model `amazon-bedrock/claude-haiku` has no login: run `/login amazon-bedrock`"
        ),
        "{message}"
    );
    let hint = logins[0].hint.as_deref();
    assert_eq!(hint, Some("or remove `agents.*.model` from your configuration"));
}

#[tokio::test]
async fn findings_about_files_do_not_move_the_columns_of_agents() {
    let scene = scene(&json!({}));
    write(&scene, "agent/agents/odd.md", "---\nname: odd\ndescription: d\ncolor: red\n---\nBe.");
    let report = pi_subagent_native::present::agents_report(&listing(&scene).await);
    let finding = report.lines.iter().find(|line| line.text.contains("odd.md"));
    assert_eq!(finding.map(|line| line.name.as_str()), Some(""), "{}", report.plain());
}

/// Returns the notices at start-up about the files.
async fn notices(scene: &Scene) -> Vec<String> {
    let context = Arc::clone(&scene.spec.context);
    let capabilities = HostCapabilities::probe(&context).await;
    let settings = CallSettings::read(&scene.spec.cwd, &context);
    describe(&scene.spec.cwd, &context, &settings, &capabilities).notices
}

#[tokio::test]
async fn an_agent_restricted_by_its_file_cannot_write_and_unknown_restrictions_are_reported_at_start_up() {
    let scene = scene(&json!({ "allowWrite": true }));
    for (field, is_reported) in [
        ("readOnly: true", false),
        ("disallowedTools: Write, Edit, Bash", false),
        ("permissionMode: plan", false),
        ("allowed_paths: [docs]", true),
        ("hooks: { PreToolUse: [] }", true),
    ] {
        write(&scene, "agent/agents/own.md", &format!("---\nname: own\ndescription: d\n{field}\n---\nBe."));
        let listing = listing(&scene).await;
        let listed =
            listing.agents.iter().find(|listed| listed.agent.name == "own").expect("the agent is listed");
        let tools = &listed.plan.as_ref().expect("the agent can run").tools;
        assert!(listed.writes.is_none(), "{field}: {tools:?}");
        assert!(
            !tools.contains(&"write".to_owned()) && !tools.contains(&"edit".to_owned()),
            "{field}: {tools:?}"
        );
        let notices = notices(&scene).await;
        let name = field.split(':').next().expect("the field has a name");
        let found = notices.iter().any(|notice| notice.contains("own.md:4:1") && notice.contains(name));
        assert_eq!(found, is_reported, "{field}: {notices:?}");
    }
}

#[tokio::test]
async fn unknown_names_are_reported_at_start_up_with_file_and_line() {
    let mut scene = scene(&json!({}));
    let text = "{ \"subagents\": {\n\"tools\": { \"deny\": [\"Bash\", \"Edit\", \"exec\", \"reed\"],\n\"allow\": [\"Read\", \
                \"Bash(git:*)\", \"ticket_search\"] },\n\"allowAgents\": [\"explorr\", \"reviewer\"],\n\"defaultAgent\": \"gone\" } }";
    write(&scene, "agent/subagents.json", text);
    let tool = |name: &str| HostTool { name: name.to_owned(), extension: None };
    context(&mut scene).host.tools =
        Some(["read", "bash", "edit", "write", "ticket_search"].map(tool).into());
    let notices = notices(&scene).await;
    let messages: Vec<&str> = notices
        .iter()
        .filter_map(|notice| notice.split_once("subagents.json:"))
        .map(|(_, message)| message)
        .collect();
    assert_eq!(
        messages,
        [
            "2:37: `tools.deny`: no tool has the name `exec`; it denies `bash`",
            "2:45: `tools.deny`: no tool has the name `reed`; did you mean `read`?",
            "3:19: `tools.allow`: `Bash(git:*)` is a part of `bash`, which cannot be separated from the rest; it allows nothing. \
             To allow all of it, write `bash`",
            "4:17: `allowAgents` names `explorr`, and there is no agent of this name here; did you mean `explorer`?",
            "5:17: `defaultAgent` names `gone`, and there is no agent of this name here",
        ]
    );
    let listed = listing(&scene).await;
    let found = listed.diagnostics.iter().filter(|found| found.code == "CONFIG_TOOL_UNKNOWN").count();
    assert_eq!(found, 3, "{:?}", listed.diagnostics);
}

#[tokio::test]
async fn a_misspelled_tool_gets_the_nearest_name_everywhere() {
    let mut scene = scene(&json!({}));
    let tool = |name: &str| HostTool { name: name.to_owned(), extension: None };
    context(&mut scene).host.tools = Some(["read", "grep"].map(tool).into());
    write(&scene, "agent/agents/own.md", "---\nname: own\ndescription: d\ntools: read, gerp\n---\nBe.");
    let report = pi_subagent_native::present::agents_report(&listing(&scene).await).plain();
    let lines: Vec<&str> = report.lines().filter(|line| line.contains("gerp")).collect();
    let reason = "own.md:4:1: no tool has the name `gerp`; did you mean `grep`?";
    assert!(lines.len() == 2 && lines[0].contains("read · without gerp"), "{report}");
    assert!(lines[1].ends_with(reason), "{report}");
    let (_, result) = run(&scene, &User::default()).await;
    let notes = &result.details.results[0].diagnostics;
    assert!(notes.iter().any(|note| note == "`gerp` was dropped: did you mean grep?"), "{notes:?}");
    write(&scene, "agent/agents/own.md", "---\nname: own\ndescription: d\ntools: gerp\n---\nBe.");
    write(&scene, "agent/subagents.json", r#"{ "subagents": { "allowWrite": true } }"#);
    let (_, result) = run(&scene, &User::default()).await;
    assert!(result.text.contains("agent `own` needs gerp: did you mean grep?"), "{}", result.text);
}

/// Without them every call of pi's `grep` and `find` fails in a child without network.
#[tokio::test]
async fn doctor_names_missing_search_programs_their_users_and_the_packages() {
    let mut scene = scene(&json!({}));
    fs::create_dir_all(scene.path("empty")).expect("the directory is created");
    let empty = scene.path("empty");
    context(&mut scene).env = vec![("PATH".into(), empty.into())];
    write(&scene, "agent/agents/own.md", "---\nname: own\ndescription: d\ntools: read, grep\n---\nBe.");
    let found = async |scene: &Scene| {
        let context = Arc::clone(&scene.spec.context);
        let checks = doctor(scene.spec.cwd.clone(), context, Arc::new(User::default())).await;
        let programs = checks.into_iter().filter(|check| check.area == "programs");
        programs.map(|check| (check.message, check.hint.unwrap_or_default())).collect::<Vec<_>>()
    };
    let both = found(&scene).await;
    assert_eq!(both.len(), 2, "{both:?}");
    let (rg, fd) = (&both[0], &both[1]);
    assert!(rg.0.starts_with("`rg` is neither in `") && rg.0.contains("pi's `grep` fails"), "{rg:?}");
    assert!(rg.0.contains("explorer, ") && rg.0.ends_with("own"), "{rg:?}");
    assert!(rg.1.contains("`apt install ripgrep`"), "{rg:?}");
    assert!(fd.0.contains("pi's `find` fails") && fd.0.ends_with("worker"), "{fd:?}");
    assert!(fd.1.contains("`apt install fd-find`"), "{fd:?}");
    // In pi's own directory, and under the name of Debian on `PATH`.
    write(&scene, "agent/bin/rg", "#!/bin/sh\n");
    write(&scene, "empty/fdfind", "#!/bin/sh\n");
    let executable = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(scene.path("empty/fdfind"), executable).expect("the permissions are set");
    assert_eq!(found(&scene).await, []);
    // Remote children have the programs of their machine, and an extension may provide the tool.
    fs::remove_file(scene.path("agent/bin/rg")).expect("the file is removed");
    let tool = |name: &str, from: Option<&str>| HostTool {
        name: name.to_owned(),
        extension: from.map(str::to_owned),
    };
    context(&mut scene).host.tools = Some(vec![tool("read", None), tool("grep", Some("/ext/search.ts"))]);
    assert_eq!(found(&scene).await, []);
}

#[tokio::test]
async fn tool_names_of_other_harnesses_are_understood() {
    let scene = scene(&json!({ "allowWrite": true, "tools": { "allow": ["Read", "Bash"] } }));
    write(&scene, "agent/agents/own.md", "---\nname: own\ndescription: d\n---\nBe.");
    let listing = listing(&scene).await;
    let listed =
        listing.agents.iter().find(|listed| listed.agent.name == "own").expect("the agent is listed");
    assert_eq!(listed.plan.as_ref().expect("the agent can run").tools, ["read", "bash"]);
}

#[tokio::test]
async fn an_unknown_tool_of_an_agent_is_reported_with_its_line() {
    let mut scene = scene(&json!({}));
    let tool = |name: &str| HostTool { name: name.to_owned(), extension: None };
    context(&mut scene).host.tools = Some(["read", "bash", "edit", "write"].map(tool).into());
    write(
        &scene,
        "agent/agents/own.md",
        "---\nname: own\ndescription: d\ntools: read, gerp, TodoWrite\n---\nBe.",
    );
    let reported: Vec<String> = listing(&scene).await.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(
        reported[0].ends_with("own.md:4:1: no tool has the name `gerp`; did you mean `grep`?"),
        "{reported:?}"
    );
}

#[tokio::test]
async fn a_default_agent_that_is_not_allowed_is_not_mentioned() {
    for (settings, expected) in [
        (json!({ "defaultAgent": "reviewer", "allowAgents": ["reviewer"] }), Some("reviewer")),
        (json!({ "defaultAgent": " reviewer ", "allowAgents": ["*"] }), Some("reviewer")),
        (json!({ "allowAgents": ["reviewer"] }), None),
        (json!({ "defaultAgent": "gone" }), None),
        (json!({ "allowAgents": [] }), None),
    ] {
        let scene = scene(&settings);
        let context = Arc::clone(&scene.spec.context);
        let capabilities = HostCapabilities::probe(&context).await;
        let SpawnableAgents { agents, default_agent: default } =
            spawnable(&scene.spec.cwd, &context, &capabilities);
        assert_eq!(default.as_deref(), expected, "{settings}");
        assert!(expected.is_none_or(|name| agents.iter().any(|agent| agent.id == name)), "{settings}");
        let call = CallSettings::read(&scene.spec.cwd, &context);
        let surface = describe(&scene.spec.cwd, &context, &call, &capabilities).surface;
        let spawn = surface.tools.iter().find(|tool| tool.name == "sessions_spawn").expect("the tool exists");
        let description =
            spawn.parameters["properties"]["agentId"]["description"].as_str().unwrap_or_default();
        assert_eq!(
            description,
            expected.map(|name| format!("Default: {name}")).unwrap_or_default(),
            "{settings}"
        );
    }
}

#[tokio::test]
async fn a_call_of_an_agent_with_an_invalid_launcher_explains_the_mistake() {
    let scene =
        scene(&json!({ "launchers": { "box": { "command": ["ssh", "box", "{argv}"], "pi": "pi" } } }));
    write(&scene, "agent/agents/own.md", "---\nname: own\ndescription: d\nlauncher: box\n---\nBe.");
    let (args, result) = run(&scene, &User::default()).await;
    let expected = "launcher `box` is not valid (subagents.json:1): `launchers.box.pi` is not a field of a launcher; did you \
                    mean `piCommand`?";
    assert!(args.is_empty() && result.text.contains(expected), "{}", result.text);
}

#[tokio::test]
async fn a_call_ignores_blanks_around_a_name_and_explains_a_broken_agent() {
    let mut scene = scene(&json!({}));
    scene.spec.agent = " own\n".into();
    let (_, result) = run(&scene, &User::default()).await;
    assert!(!result.is_error, "{}", result.text);
    write(&scene, "agent/agents/hunter.md", "---\nname: hunter\ntimeoutMs: 5m\n---\nHunt.");
    scene.spec.agent = "hunter".into();
    let (_, result) = run(&scene, &User::default()).await;
    assert!(result.text.contains("hunter.md, line 3, does not load: `timeoutMs` is `5m`"), "{}", result.text);
}

/// Each row: the settings, the files that the host has loaded, whether pi knows the model without them, and the message or the
/// arguments of the child.
#[tokio::test]
async fn a_model_of_an_extension_needs_all_extensions_of_the_host() {
    const THERE: &str = "there.ts";
    const REMEDY: &str = ", or choose another model with `/model`";
    const OTHER: &str = "other.ts";
    type Row =
        (&'static str, Value, Option<&'static [&'static str]>, bool, Result<&'static str, &'static str>);
    let table: [Row; 9] = [
        ("the files exist", json!({}), Some(&[THERE]), true, Ok("-e {root}/there.ts ")),
        ("the host reports no extensions", json!({}), None, true, Ok("--model session/model ")),
        (
            "one file no longer exists",
            json!({}),
            Some(&[THERE, "gone.ts"]),
            true,
            Err("`{root}/gone.ts` no longer exists, but this pi has loaded it"),
        ),
        (
            "the host has no extension",
            json!({}),
            Some(&[]),
            true,
            Err("that is a part of the program around this pi"),
        ),
        ("pi knows the model itself", json!({}), Some(&[]), false, Ok("--model session/model ")),
        (
            "the configuration loads none",
            json!({ "inheritExtensions": "none" }),
            Some(&[THERE]),
            true,
            Err("`inheritExtensions` keeps it from children: add its file there"),
        ),
        (
            "the configuration lists another extension",
            json!({ "inheritExtensions": ["../other.ts"] }),
            Some(&[THERE, OTHER]),
            true,
            Err("`inheritExtensions` keeps it from children: add its file there"),
        ),
        (
            "the configuration lists the extension",
            json!({ "inheritExtensions": ["../there.ts"] }),
            Some(&[THERE, OTHER]),
            true,
            Ok("--no-extensions -e "),
        ),
        (
            "the configuration loads none, and pi knows the model itself",
            json!({ "inheritExtensions": "none" }),
            Some(&[THERE]),
            false,
            Ok("--model session/model "),
        ),
    ];
    for (label, mut settings, files, is_only, expected) in table {
        settings["agents"] = json!({ "own": { "model": "inherit" } });
        let mut scene = scene(&settings);
        write(&scene, THERE, "export default (pi) => pi.registerProvider('session', {});");
        write(&scene, OTHER, "export default () => {};");
        let loaded = |name: &&str| HostExtension { path: scene.path(name), package: None };
        let extensions = files.map(|files| files.iter().map(loaded).collect());
        let host = &mut context(&mut scene).host;
        host.extensions = extensions;
        host.extension_providers = vec!["session".into()];
        host.extension_only_providers = if is_only { vec!["session".into()] } else { Vec::new() };
        let root = scene.path("").to_string_lossy().trim_end_matches('/').to_owned();
        let (args, result) = run(&scene, &User::default()).await;
        match expected {
            Ok(part) => {
                assert!(args.contains(&part.replace("{root}", &root)), "{label}: {args}{}", result.text);
            }
            Err(why) => {
                assert!(args.is_empty(), "{label}: {args}");
                let begin = "model `session/model` comes from an extension, and ";
                let why = format!("{begin}{}", why.replace("{root}", &root));
                assert!(
                    result.text.starts_with(&why) && result.text.ends_with(REMEDY),
                    "{label}: {}",
                    result.text
                );
                let checks = doctor(
                    scene.spec.cwd.clone(),
                    Arc::clone(&scene.spec.context),
                    Arc::new(User::default()),
                );
                let is_reported = checks.await.iter().any(|check| check.message.contains(&why));
                assert!(is_reported, "{label}");
            }
        }
        if label == "its files are there" {
            assert!(!args.contains("--no-extensions"), "{args}");
            context(&mut scene).host.only_named_extensions = true;
            let (args, _) = run(&scene, &User::default()).await;
            assert!(args.contains(&format!("--no-extensions -e {root}/there.ts ")), "{args}");
        }
    }
}
