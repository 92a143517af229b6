//! The configuration files, and the messages about their mistakes.

use std::fmt::Write as _;
use std::fs;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use agents::SandboxMode;
use agents::config::{
    AllowWrite, Config, ConfigPaths, LoadedConfig, ProjectAgentPolicy, Protocol, load, overlay,
};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Scene {
    root: TempDir,
}

impl Scene {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        fs::create_dir_all(root.path().join("agent")).expect("the directory is created");
        fs::create_dir_all(root.path().join("project/.pi")).expect("the directory is created");
        fs::create_dir_all(root.path().join("project/.git")).expect("the directory is created");
        Self { root }
    }

    fn user(self, text: &str) -> Self {
        fs::write(self.root.path().join("agent/subagents.json"), text).expect("the file is written");
        self
    }

    fn project(self, text: &str) -> Self {
        fs::write(self.root.path().join("project/.pi/subagents.json"), text).expect("the file is written");
        self
    }

    fn paths(&self, cwd: &str) -> ConfigPaths {
        let root = self.root.path();
        ConfigPaths::locate(&root.join(cwd), &root.join("agent"), Some(root))
    }

    fn load(&self) -> LoadedConfig {
        load(&self.paths("project"))
    }

    fn report(&self) -> String {
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
fn an_unreadable_file_is_broken_and_not_missing() {
    for label in ["directory", "link to nothing", "not UTF-8", "too large", "nested too deep"] {
        let scene = Scene::new();
        let path = scene.root.path().join("agent/subagents.json");
        match label {
            "directory" => fs::create_dir(&path).expect("the directory is created"),
            #[cfg(unix)]
            "link to nothing" => std::os::unix::fs::symlink("nowhere", &path).expect("the link is created"),
            "not UTF-8" => {
                fs::write(&path, b"{ \"subagents\": { \"model\": \"\xff\" } }").expect("the file is written");
            }
            "too large" => fs::write(&path, " ".repeat(1024 * 1024 + 1)).expect("the file is written"),
            "nested too deep" => fs::write(&path, "[".repeat(100_000)).expect("the file is written"),
            _ => continue,
        }
        let loaded = scene.load();
        assert!(loaded.broken.is_some() && loaded.diagnostics.len() == 1, "{label}");
    }
}

/// A stranger's repository can delay anyone who opens it.
#[test]
fn a_file_of_a_hundred_thousand_keys_is_read_quickly() {
    let keys = |count: usize| (0..count).map(|key| format!("\"{key:x}\":1")).collect::<Vec<_>>().join(",");
    let long = keys(110_000);
    assert!(long.len() > 880_000);
    for (label, text, expected) in [
        ("too long", format!("{{\"subagents\":{{{long}}}}}"), "it has more than 65536 bytes"),
        ("too many keys", format!("{{\"subagents\":{{{}}}}}", keys(500)), "it has more than 500 members"),
        ("too many other keys", format!("{{{}}}", keys(501)), "it has more than 500 members"),
    ] {
        let started = Instant::now();
        let loaded = Scene::new().project(&text).load();
        assert!(started.elapsed() < Duration::from_secs(5), "{label}: {:?}", started.elapsed());
        let broken = loaded.broken.expect("the file is refused").message;
        assert!(broken.contains(expected), "{label}: {broken}");
        assert_eq!(loaded.diagnostics.len(), 1, "{label}");
    }
}

#[test]
fn at_most_ten_problems_of_a_file_are_reported() {
    let unknown = (0..499).map(|key| format!("\"{key:x}\":1")).collect::<Vec<_>>().join(",");
    let loaded = Scene::new().project(&format!("{{\"subagents\":{{{unknown}}}}}")).load();
    assert!(loaded.broken.is_none());
    assert_eq!(loaded.diagnostics.len(), 10);
    let last = loaded.diagnostics.last().expect("the file has problems");
    assert_eq!((last.code, &*last.message), ("CONFIG_TOO_MANY_PROBLEMS", "490 more problems are not listed"));
}

/// A link may lead anywhere: to an endless file, to one that blocks, or to one that is removed after reading.
#[cfg(unix)]
#[test]
fn only_a_regular_file_is_read() {
    for target in ["/dev/zero", "/proc/kmsg", "/proc/version", "/dev/kmsg"] {
        let scene = Scene::new();
        let link = scene.root.path().join("project/.pi/subagents.json");
        std::os::unix::fs::symlink(target, link).expect("the link is created");
        let (sent, received) = mpsc::channel();
        std::thread::spawn(move || drop(sent.send(scene.load().broken)));
        let broken = received.recv_timeout(Duration::from_secs(10)).expect("the thread ends in time");
        let message = broken.expect("the file is refused").message;
        // The kernel may also prevent an ordinary user from opening it.
        let refused = ["it is not a regular file", "denied", "not permitted"];
        assert!(refused.iter().any(|why| message.contains(why)), "{target}: {message}");
    }
}

/// A user who can write to a directory above, `/tmp` for instance, must not control the runs of others.
#[cfg(unix)]
#[test]
fn a_project_file_of_another_user_is_ignored_with_a_notice() {
    let scene = Scene::new().project("not JSON");
    let file = scene.root.path().join("project/.pi/subagents.json");
    if std::os::unix::fs::chown(&file, Some(4242), None).is_err() {
        // Only root can change a file's owner.
        return;
    }
    assert_eq!(
        scene.report(),
        "Warning CONFIG_FILE_FOREIGN /project/.pi/subagents.json: is ignored: it belongs to another user\n"
    );
}

/// Each of them disabled delegation for everyone who worked below that directory.
#[cfg(unix)]
#[test]
fn entries_of_other_users_in_parent_directories_are_ignored_and_hide_no_project_file() {
    let theirs = "project/shared/.pi";
    let mine = "project/.pi/subagents.json";
    for kind in [
        "dangling link",
        "link to a file of root",
        "link to a directory",
        "fifo",
        "directory",
        "file",
        "secret",
    ] {
        let scene = Scene::new().project(r#"{ "subagents": { "enabled": false } }"#);
        let at = |name: &str| scene.root.path().join(name);
        let file = at(theirs).join("subagents.json");
        fs::create_dir_all(at("project/shared/work")).expect("the directory is created");
        fs::create_dir_all(at("elsewhere")).expect("the directory is created");
        fs::write(at("elsewhere/subagents.json"), "not JSON").expect("the file is written");
        if kind != "link to a directory" {
            fs::create_dir(at(theirs)).expect("the directory is created");
        }
        let link = |to: &str, from: &std::path::Path| {
            std::os::unix::fs::symlink(to, from).expect("the link is created");
        };
        match kind {
            "dangling link" => link("/no/such/file", &file),
            "link to a file of root" => link("/etc/passwd", &file),
            "link to a directory" => link(&at("elsewhere").to_string_lossy(), &at(theirs)),
            "fifo" => {
                let mode = rustix::fs::Mode::RWXU;
                rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0)
                    .expect("the FIFO is created");
            }
            "directory" => fs::create_dir(&file).expect("the directory is created"),
            _ => fs::write(&file, "not JSON").expect("the file is written"),
        }
        if kind == "secret" {
            fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o000))
                .expect("the permissions are set");
        }
        let given = if kind == "link to a directory" { at(theirs) } else { file };
        if std::os::unix::fs::lchown(&given, Some(4242), None).is_err() {
            // Only root can change an owner.
            return;
        }
        let loaded = load(&scene.paths("project/shared/work"));
        assert_eq!(loaded.broken, None, "{kind}");
        assert!(!loaded.config.enabled, "{kind}: the project's own file applies");
        let report: Vec<_> = loaded.diagnostics.iter().map(|found| (found.code, &*found.message)).collect();
        assert_eq!(report, [("CONFIG_FILE_FOREIGN", "is ignored: it belongs to another user")], "{kind}");
        assert!(loaded.sources.iter().any(|source| source.path.ends_with(mine)), "{kind}");
    }
}

#[test]
fn a_broken_project_file_is_broken_too() {
    let loaded = Scene::new().user(r#"{ "subagents": { "maxDepth": 0 } }"#).project("{").load();
    let broken = loaded.broken.expect("the project's file is broken");
    assert!(broken.path.is_some_and(|path| path.ends_with("project/.pi/subagents.json")));
    assert_eq!((broken.line, broken.code), (Some(1), "CONFIG_SYNTAX"));
    assert_eq!(loaded.config.max_depth, 0);
}

#[test]
fn a_byte_order_mark_is_accepted() {
    let loaded = Scene::new().user("\u{feff}{ \"subagents\": { \"maxDepth\": 0 } }\r\n").load();
    assert_eq!((loaded.config.max_depth, loaded.diagnostics.len()), (0, 0));
}

#[test]
fn the_nearest_project_file_counts_and_the_repository_is_the_limit() {
    let scene = Scene::new();
    let root = fs::canonicalize(scene.root.path()).expect("the path exists");
    fs::create_dir_all(root.join("project/a/b")).expect("the directory is created");
    fs::create_dir_all(root.join(".pi")).expect("the directory is created");
    fs::write(root.join(".pi/subagents.json"), "{}").expect("the file is written");
    assert_eq!(scene.paths("project/a/b").projects, Vec::<std::path::PathBuf>::new());

    fs::write(root.join("project/.pi/subagents.json"), "{}").expect("the file is written");
    assert_eq!(scene.paths("project/a/b").projects, [root.join("project/.pi/subagents.json")]);

    fs::create_dir_all(root.join("project/a/.pi")).expect("the directory is created");
    fs::write(root.join("project/a/.pi/subagents.json"), "{}").expect("the file is written");
    assert_eq!(scene.paths("project/a/b").projects, [root.join("project/a/.pi/subagents.json")]);
}

#[test]
fn the_users_file_is_never_read_as_the_projects() {
    let scene = Scene::new();
    let root = fs::canonicalize(scene.root.path()).expect("the path exists");
    fs::create_dir_all(root.join(".pi")).expect("the directory is created");
    fs::create_dir_all(root.join("work")).expect("the directory is created");
    fs::write(root.join(".pi/subagents.json"), r#"{ "subagents": { "allowWrite": true } }"#)
        .expect("the file is written");
    let paths = ConfigPaths::locate(&root.join("work"), &root.join(".pi"), Some(&root));
    assert_eq!(paths.projects, Vec::<std::path::PathBuf>::new());
    assert!(load(&paths).config.allow_write.is_on());
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
