//! The configuration files, and the messages about their mistakes.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use agents::SandboxMode;
use agents::config::{
    AllowWrite, Config, ConfigPaths, LoadedConfig, ProjectAgentPolicy, Protocol, load, overlay,
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Scene {
    pub(crate) root: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        fs::create_dir_all(root.path().join("agent")).expect("the directory is created");
        fs::create_dir_all(root.path().join("project/.pi")).expect("the directory is created");
        fs::create_dir_all(root.path().join("project/.git")).expect("the directory is created");
        Self { root }
    }

    pub(crate) fn user(self, text: &str) -> Self {
        fs::write(self.root.path().join("agent/subagents.json"), text).expect("the file is written");
        self
    }

    pub(crate) fn project(self, text: &str) -> Self {
        fs::write(self.root.path().join("project/.pi/subagents.json"), text).expect("the file is written");
        self
    }

    pub(crate) fn paths(&self, cwd: &str) -> ConfigPaths {
        let root = self.root.path();
        ConfigPaths::locate(&root.join(cwd), &root.join("agent"), Some(root))
    }

    pub(crate) fn load(&self) -> LoadedConfig {
        load(&self.paths("project"))
    }

    pub(crate) fn report(&self) -> String {
        let loaded = self.load();
        let canonical = fs::canonicalize(self.root.path()).expect("the path exists").display().to_string();
        let mut lines = String::new();
        for found in &loaded.diagnostics {
            let line = format!("{:?} {} {found}\n", found.severity, found.code);
            lines
                .push_str(&line.replace(&canonical, "").replace(&self.root.path().display().to_string(), ""));
        }
        if loaded.broken.is_some() {
            lines.push_str("broken\n");
        }
        lines
    }
}

#[test]
fn without_a_file_the_defaults_apply() {
    let loaded = Scene::new().load();
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.diagnostics.is_empty() && loaded.broken.is_none());
    assert_eq!(loaded.sources.len(), 1);
    assert!(!loaded.sources[0].present);
}

#[test]
fn the_defaults_match_the_documentation() {
    insta::assert_json_snapshot!("config_defaults", Config::default());
}

#[test]
fn every_mistake_is_reported_with_its_position_and_the_expected_value() {
    let cases = [
        ("comment", "{\n  // note\n  \"subagents\": {}\n}"),
        ("trailing comma", "{ \"subagents\": { \"maxDepth\": 1, } }"),
        ("single quotes", "{ 'subagents': {} }"),
        ("cut off", "{\n  \"subagents\": {\n    \"maxDepth\": 1"),
        ("leading zero", "{ \"subagents\": { \"maxDepth\": 01 } }"),
        ("two values", "{} {}"),
        ("empty", ""),
        ("a list", "[]"),
        ("subagents a list", "{ \"subagents\": [] }"),
        ("keys outside", "{ \"maxDepth\": 1, \"subagent\": {}, \"$schema\": \"x\" }"),
        (
            "wrong types",
            "{ \"subagents\": {\n  \"enabled\": \"no\",\n  \"timeoutMs\": \"5m\",\n  \"maxDepth\": 1.5,\n  \"model\": null,\n  \"output\": 5,\n  \"piCommand\": \"pi\",\n  \"env\": { \"A\": 1 },\n  \"inheritExtensions\": \"some\",\n  \"tools\": { \"deny\": \"bash\" } } }",
        ),
        (
            "out of bounds",
            "{ \"subagents\": { \"maxDepth\": 99, \"idleTimeoutMs\": -1, \"output\": { \"maxBytes\": 1 }, \"budget\": { \"maxCost\": -0.5 } } }",
        ),
        (
            "unknown keys",
            "{ \"subagents\": { \"timeout\": 5, \"maxBytes\": 5, \"output.maxBytes\": 500, \"xyzzy\": 1, \"retry\": { \"attempts\": 2 } } }",
        ),
        ("twice", "{ \"subagents\": { \"maxDepth\": 1,\n \"maxDepth\": 2 } }"),
        ("an unknown rule", "{ \"subagents\": { \"sanitize\": { \"allow\": [\"rule:asignment\"] } } }"),
        (
            "a rule without `rule:`",
            "{ \"subagents\": { \"sanitize\": { \"allow\": [\"x-1-y\", \"jwt\"], \"homePaths\": \"mine\" } } }",
        ),
        ("language server", "{ \"subagents\": { \"allowedLspActions\": [\"hover\", \"code-action\"] } }"),
        ("reserved variable", "{ \"subagents\": { \"env\": { \"PI_SUBAGENT_CHILD\": \"0\" } } }"),
        ("an argument as model", "{ \"subagents\": { \"model\": \"--help\", \"piCommand\": [] } }"),
        (
            "launchers",
            "{ \"subagents\": { \"launchers\": { \"a\": { \"command\": [\"ssh\"] }, \"b\": 1 } } }",
        ),
        (
            "launcher placeholder",
            "{ \"subagents\": { \"launchers\": { \"a\": { \"command\": [\"ssh\", \"{argv}\", \"{user}\"] } } } }",
        ),
        ("launcher field", "{ \"subagents\": { \"launchers\": { \"a\": { \"comand\": [\"ssh\"] } } } }"),
        (
            "not yet active",
            "{ \"subagents\": { \"retry\": { \"enabled\": false }, \"sandbox\": \"auto\", \"protocol\": \"rpc\", \"launcher\": \"a\", \"spare\": { \"count\": 1 } } }",
        ),
        ("already active", "{ \"subagents\": { \"sandbox\": \"required\", \"protocol\": \"json\" } }"),
    ];
    let mut text = String::new();
    for (label, content) in cases {
        writeln!(text, "## {label}\n{}", Scene::new().user(content).report())
            .expect("writing to a string succeeds");
    }
    insta::assert_snapshot!("config_mistakes", text);
}

#[test]
fn a_forbidden_project_setting_is_reported_and_ignored() {
    let scene =
        || Scene::new().user(r#"{ "subagents": { "timeoutMs": 1000, "tools": { "allow": ["read"] } } }"#);
    let never = scene().project(
        "{ \"subagents\": {\n  \"piCommand\": [\"evil\"],\n  \"env\": { \"NODE_OPTIONS\": \"-r evil\" },\n  \
         \"model\": \"x/y\",\n  \"inheritExtensions\": \"all\",\n  \"launchers\": {},\n  \"launcher\": \"x\",\n  \
         \"injectDelegationPolicy\": false\n} }",
    );
    let scene = scene().project(
        "{ \"subagents\": {\n  \"allowWrite\": true,\n  \"maxDepth\": 3,\n  \"timeoutMs\": 0,\n  \
         \"projectAgentPolicy\": \"allow\",\n  \"nonInteractivePolicy\": \"allow\",\n  \"sandbox\": \"off\",\n  \
         \"tools\": { \"allow\": [\"read\", \"bash\"] }\n} }",
    );
    insta::assert_snapshot!("config_project_refused", never.report() + &scene.report());
    let mut expected = Config { timeout: Some(Duration::from_secs(1)), ..Config::default() };
    expected.tools.allow = Some(vec!["read".into()]);
    assert_eq!(scene.load().config, expected);
}

#[test]
fn a_project_may_tighten() {
    let scene = Scene::new().user(r#"{ "subagents": { "allowWrite": true, "tools": { "deny": ["edit"] } } }"#).project(
        r#"{ "subagents": { "allowWrite": false, "enabled": false, "timeoutMs": 5000, "maxDepth": 0,
            "projectAgentPolicy": "deny", "output": { "maxLines": 100 }, "tools": { "deny": ["bash"] },
            "allowedLspActions": ["hover"], "budget": { "maxCost": 0.5 }, "sandbox": { "mode": "required" } } }"#,
    );
    let loaded = scene.load();
    let config = &loaded.config;
    assert!(!config.allow_write.is_on() && !config.enabled);
    assert_eq!((config.timeout, config.max_depth), (Some(Duration::from_secs(5)), 0));
    assert_eq!(config.project_agent_policy, ProjectAgentPolicy::Deny);
    assert_eq!((config.output.max_lines, config.output.max_bytes), (100, 51200));
    assert_eq!(config.tools.deny, ["edit", "bash"]);
    assert_eq!(config.allowed_lsp_actions, ["hover"]);
    assert_eq!(config.budget.max_cost, Some(0.5));
    assert_eq!(config.sandbox.mode, SandboxMode::Required);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
}

#[test]
fn a_project_may_hide_only_its_own_files() {
    let scene = Scene::new();
    let root = fs::canonicalize(scene.root.path()).expect("the path exists");
    for directory in ["project/keys", "project/agent-files", ".config/git", ".config/guard"] {
        fs::create_dir_all(root.join(directory)).expect("the directory is created");
    }
    fs::write(root.join("project/git-config"), "").expect("the file is written");
    #[cfg(unix)]
    for (target, link) in [
        (".config", "project/link"),
        ("project/git-config", ".gitconfig"),
        ("project/keys", "project/own-link"),
    ] {
        std::os::unix::fs::symlink(root.join(target), root.join(link)).expect("the link is created");
    }
    let hidden = |path: &str| {
        let file = json!({ "subagents": { "sandbox": { "hidden": [path] } } }).to_string();
        fs::write(root.join("project/.pi/subagents.json"), file).expect("the file is written");
        let loaded = load(&ConfigPaths::locate(&root.join("project"), &root.join("agent"), Some(&root)));
        let own = &loaded.config.project_hidden;
        let all = &loaded.config.sandbox.hidden;
        assert!(own.iter().all(|path| all.contains(path)), "{all:?}");
        assert_eq!(all.len(), Config::default().sandbox.hidden.len() + own.len(), "{all:?}");
        let report: Vec<_> = loaded.diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(own.is_empty(), report.iter().any(|line| line.contains(path)), "{path}: {report:?}");
        let own = own.first()?;
        Some(own.strip_prefix(&format!("{}/", root.display())).expect("it is in the scene").to_owned())
    };
    for path in ["keys", "keys/deep", "missing", ".env"] {
        assert_eq!(hidden(&format!("~/project/{path}")).as_deref(), Some(&*format!("project/{path}")));
    }
    for path in [
        "~/.config",
        "~/.config/git",
        "~/agent",
        "~/project",
        "/",
        "/etc/gitconfig",
        "~/project/.git",
        "~/project/.git/info/exclude",
        "~/project/.Git/info",
        "~/project/.gitignore",
        "~/project/keys/.gitattributes",
        "~/project/.pi/guard.json",
        "~/project/.claude",
        "~/project/keys/../../.config",
        "~/project/missing/../../.config",
    ] {
        assert_eq!(hidden(path), None, "{path}");
    }
    #[cfg(unix)]
    {
        assert_eq!(hidden("~/project/own-link").as_deref(), Some("project/keys"));
        for path in ["~/project/link", "~/project/link/guard", "~/project/git-config"] {
            assert_eq!(hidden(path), None, "{path}");
        }
    }
    let in_home = Scene::new();
    fs::create_dir_all(in_home.root.path().join(".pi")).expect("the directory is created");
    fs::write(
        in_home.root.path().join(".pi/subagents.json"),
        r#"{ "subagents": { "sandbox": { "hidden": ["~/.config"] } } }"#,
    )
    .expect("the file is written");
    let loaded = load(&in_home.paths(""));
    assert!(loaded.config.project_hidden.is_empty() && loaded.diagnostics.len() == 1, "{loaded:?}");
}

#[test]
fn one_wrong_value_does_not_affect_the_others() {
    let loaded = Scene::new().user(r#"{ "subagents": { "model": 5, "allowWrite": true } }"#).load();
    assert!(loaded.config.allow_write == AllowWrite::Tree && loaded.broken.is_none());
    assert_eq!(loaded.config.model, None);
}

#[test]
fn a_mistake_in_a_setting_that_restricts_refuses_delegation() {
    for (settings, at) in [
        (r#"{ "enabled": "false" }"#, "enabled"),
        (r#"{ "enabled": true, "enabled": false }"#, "enabled"),
        (r#"{ "enabld": false }"#, "enabld"),
        (r#"{ "tools": { "deny": "bash" } }"#, "tools.deny"),
        (r#"{ "tools": ["bash"] }"#, "tools"),
        (r#"{ "tools": { "allow": "read" } }"#, "tools.allow"),
        (r#"{ "projectAgentPolicy": "never" }"#, "projectAgentPolicy"),
        (r#"{ "sandbox": { "mode": "strict" } }"#, "sandbox.mode"),
        (r#"{ "sandbox": "on" }"#, "sandbox.mode"),
        (r#"{ "sandbox": { "network": false } }"#, "sandbox.network"),
        (r#"{ "sandbox": { "hidden": "~/.secrets" } }"#, "sandbox.hidden"),
        (r#"{ "allowedLspActions": ["hover", 5] }"#, "allowedLspActions"),
        (r#"{ "maxDepth": "0" }"#, "maxDepth"),
        (r#"{ "budget": { "maxCost": "1" } }"#, "budget.maxCost"),
        (r#"{ "budget": 1 }"#, "budget"),
        (r#"{ "limits": { "memoryBytes": "1G" } }"#, "limits.memoryBytes"),
        (r#"{ "timeoutMs": "5m" }"#, "timeoutMs"),
        (r#"{ "allowAgents": "explorer" }"#, "allowAgents"),
        (r#"{ "inheritExtensions": "never" }"#, "inheritExtensions"),
        (r#"{ "persistSession": "no" }"#, "persistSession"),
        (r#"{ "piCommand": "firejail pi" }"#, "piCommand"),
        (r#"{ "launcher": ["box"] }"#, "launcher"),
        (r#"{ "agents": { "worker": { "enabled": "no" } } }"#, "agents.worker.enabled"),
        (r#"{ "agents": { "worker": { "enable": false } } }"#, "agents.worker.enable"),
        (r#"{ "agents": { "worker": { "tools": "read" } } }"#, "agents.worker.tools"),
        (r#"{ "agents": { "worker": false } }"#, "agents.worker"),
    ] {
        let scene = Scene::new().user(&format!("{{ \"subagents\":\n{settings} }}"));
        let broken = scene.load().broken.unwrap_or_else(|| panic!("{settings} was accepted"));
        assert!(broken.message.contains(&format!("`{at}`")), "{settings}: {broken}");
        assert_eq!(broken.line, Some(2), "{settings}: {broken}");
        assert!(
            scene.report().contains("Nothing is delegated until this is corrected"),
            "{}",
            scene.report()
        );
    }
    let outside = Scene::new().user(r#"{ "enabled": false }"#).load().broken.expect("the file is refused");
    assert!(outside.message.contains("it belongs inside `subagents`"), "{outside}");
    let project = Scene::new().project(r#"{ "subagents": { "enabled": "false" } }"#).load();
    assert!(project.broken.is_some(), "a mistake in a project file refuses delegation");
}

#[test]
fn a_mistake_in_a_preference_is_only_reported() {
    for settings in [
        r#"{ "thinking": "hard" }"#,
        r#"{ "model": 5 }"#,
        r#"{ "allowWrite": "yes" }"#,
        r#"{ "sandbox": { "writable": "~/.npm" } }"#,
        r#"{ "inheritSkills": "yes" }"#,
        r#"{ "background": { "key": 5 } }"#,
        r#"{ "colour": "red" }"#,
        r#"{ "agents": { "worker": { "model": 5 } } }"#,
    ] {
        let loaded = Scene::new().user(&format!("{{ \"subagents\": {settings} }}")).load();
        assert!(loaded.broken.is_none() && loaded.diagnostics.len() == 1, "{settings}: {loaded:?}");
    }
}

#[test]
fn a_key_that_was_removed_is_reported_with_what_replaces_it_and_refuses_nothing() {
    let file = r#"{ "subagents": { "recordings": "~/recordings", "graceMs": 7 } }"#;
    let scene = Scene::new().user(file);
    let expected = "Warning CONFIG_KEY_REMOVED /agent/subagents.json:1:18: `recordings` has no effect: runs are no longer \
                    recorded; set `PI_SUBAGENT_LOG=debug` in pi's environment to write a log\n";
    assert_eq!(scene.report(), expected);
    assert_eq!(scene.load().config.grace, Duration::from_millis(7));
}

#[test]
fn an_in_process_caller_may_loosen_settings_and_gets_the_first_mistake_as_an_error() {
    let config =
        Scene::new().user(r#"{ "subagents": { "timeoutMs": 1000, "allowWrite": false } }"#).load().config;
    let changed = overlay(
        &config,
        &json!({ "allowWrite": true, "timeoutMs": 0, "model": null, "output": null,
        "piCommand": ["node", "cli.js"], "sandbox": { "mode": "off" }, "protocol": "rpc" }),
    );
    let changed = changed.expect("every value is valid");
    assert!(changed.allow_write.is_on() && changed.timeout.is_none());
    assert_eq!((changed.sandbox.mode, changed.protocol), (SandboxMode::Off, Protocol::Rpc));
    assert_eq!(changed.idle_timeout, config.idle_timeout);
    assert_eq!(overlay(&config, &json!({})).expect("the overlay is valid"), config);
    assert!(
        overlay(&config, &json!({ "subagents": { "allowWrite": true } }))
            .expect("the overlay is valid")
            .allow_write
            .is_on()
    );

    let report = |object: Value| overlay(&config, &object).expect_err("the overlay is refused").to_string();
    insta::assert_snapshot!(
        "config_overlay_mistakes",
        [
            report(json!({ "allowwrite": true })),
            report(json!({ "timeoutMs": "1s" })),
            report(json!([])),
            report(json!({ "output": true })),
        ]
        .join("\n")
    );
}
