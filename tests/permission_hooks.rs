//! The user's extensions that a child loads because they watch tool calls.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::child::Child;
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, HostContext, HostExtension, RunOutcome, RunSpec, ToolResult};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

const HOOK: &str = "export default (pi) => pi.on('tool_call', () => undefined);";
const PLAIN: &str = "export default () => {};";
/// A child that records its arguments and answers.
fn keeps() -> Child {
    Child::new().runs(r#"printf '%s\n' "$@" > "$home/args""#).reads_task().starts().says("Done.").settles()
}

/// A run of an agent that may write.
fn scene(config: &Value) -> Scene {
    let mut all = json!({ "protocol": "json", "allowWrite": true, "projectAgentPolicy": "allow" });
    for (key, value) in config.as_object().expect("the value is an object") {
        all[key] = value.clone();
    }
    let mut scene = Scene::new(keeps(), all);
    scene.spec.agent = "worker".into();
    write(
        &scene,
        "agent/agents/worker.md",
        "---\nname: worker\nreadonly: false\ndescription: Works.\ntools: read, bash\n---\nWork.",
    );
    scene
}

fn write(scene: &Scene, name: &str, text: &str) -> PathBuf {
    let path = scene.path(name);
    fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
    fs::write(&path, text).expect("the file is written");
    path
}

fn context(spec: &mut RunSpec) -> &mut HostContext {
    Arc::make_mut(&mut spec.context)
}

async fn run(scene: &Scene) -> ToolResult {
    scene.run_with(&User::default(), &Control::default()).await.0
}

/// The extensions of the child after the guard, by their names below the scene.
async fn loaded(scene: &Scene) -> Vec<String> {
    let _ = fs::remove_file(scene.path("args"));
    let result = run(scene).await;
    assert_eq!(result.details.results[0].outcome, RunOutcome::Completed, "{}", result.text);
    let args = fs::read_to_string(scene.path("args")).expect("the child wrote its arguments");
    let args: Vec<&str> = args.lines().collect();
    let extensions = args.windows(2).filter(|pair| pair[0] == "-e").map(|pair| pair[1]);
    let root = scene.root.path();
    let name = |path: &str| {
        let below = Path::new(path).strip_prefix(root).map(|below| below.display().to_string());
        below.unwrap_or_else(|_| path.to_owned())
    };
    let mut names: Vec<String> = extensions.map(name).collect();
    assert!(names.remove(0).contains("guard"), "the guard is the first extension");
    names
}

#[tokio::test]
async fn a_hook_is_found_in_every_place_where_pi_finds_extensions() {
    /// Files, settings, and the hooks.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], Value, &'a [&'a str]);
    const ONE: &str = r#"{"name":"g","pi":{"extensions":["./src/g.ts"]}}"#;
    const GLOB: &str = r#"{"name":"g","pi":{"extensions":["src/*.ts","!src/no.ts"]}}"#;
    const OFF: &str = r#"{"name":"g","pi":{"extensions":[]}}"#;
    const ODD: &str = r#"{"name":7,"pi":{"extensions":[1,{"a":2}]}}"#;
    let none = || json!({});
    let rows: Vec<Row<'_>> = vec![
        ("none", &[], none(), &[]),
        ("an extension that watches nothing", &[("agent/extensions/a.ts", PLAIN)], none(), &[]),
        (
            "a file",
            &[
                ("agent/extensions/a.ts", HOOK),
                ("agent/extensions/b.js", HOOK),
                ("agent/extensions/c.md", HOOK),
            ],
            none(),
            &["agent/extensions/a.ts", "agent/extensions/b.js"],
        ),
        (
            "a directory with an index",
            &[("agent/extensions/g/index.ts", HOOK)],
            none(),
            &["agent/extensions/g/index.ts"],
        ),
        (
            "only a nested file of a directory watches",
            &[("agent/extensions/g/index.ts", PLAIN), ("agent/extensions/g/lib/deep/w.ts", HOOK)],
            none(),
            &["agent/extensions/g/index.ts"],
        ),
        (
            "an import of a single file",
            &[
                ("agent/extensions/a.ts", "import w from './lib/w.js';"),
                ("agent/extensions/b.ts", PLAIN),
                ("agent/extensions/lib/w.ts", HOOK),
            ],
            none(),
            &["agent/extensions/a.ts"],
        ),
        (
            "not a hook that only a dependency declares",
            &[("agent/extensions/g/index.ts", PLAIN), ("agent/extensions/g/node_modules/x/index.js", HOOK)],
            none(),
            &[],
        ),
        (
            "a manifest",
            &[("agent/extensions/g/package.json", ONE), ("agent/extensions/g/src/g.ts", HOOK)],
            none(),
            &["agent/extensions/g/src/g.ts"],
        ),
        (
            "odd types in a manifest",
            &[("agent/extensions/g/package.json", ODD), ("agent/extensions/g/index.ts", HOOK)],
            none(),
            &["agent/extensions/g/index.ts"],
        ),
        (
            "no JSON in a manifest",
            &[("agent/extensions/g/package.json", "{"), ("agent/extensions/g/index.ts", HOOK)],
            none(),
            &["agent/extensions/g/index.ts"],
        ),
        (
            "switched off",
            &[("agent/extensions/a.ts", HOOK), ("agent/extensions/b.ts", HOOK)],
            json!({"extensions": ["!a.ts"]}),
            &["agent/extensions/b.ts"],
        ),
        (
            "switched off exactly",
            &[("agent/extensions/a.ts", HOOK)],
            json!({"extensions": ["-extensions/a.ts"]}),
            &[],
        ),
        (
            "settings name a file",
            &[("elsewhere/a.ts", HOOK)],
            json!({"extensions": ["../elsewhere/a.ts"]}),
            &["elsewhere/a.ts"],
        ),
        (
            "settings name a directory",
            &[("elsewhere/a.ts", HOOK)],
            json!({"extensions": ["../elsewhere"]}),
            &["elsewhere/a.ts"],
        ),
        (
            "odd settings",
            &[("agent/extensions/a.ts", HOOK)],
            json!({"extensions": "a", "packages": [7, {"source": 1}, null]}),
            &["agent/extensions/a.ts"],
        ),
        (
            "a local package",
            &[("pkg/package.json", GLOB), ("pkg/src/g.ts", HOOK), ("pkg/src/no.ts", HOOK)],
            json!({"packages": ["../pkg"]}),
            &["pkg/src/g.ts"],
        ),
        (
            "a package by convention",
            &[("pkg/extensions/g.ts", HOOK)],
            json!({"packages": [{"source": "../pkg"}]}),
            &["pkg/extensions/g.ts"],
        ),
        (
            "a package that is a single extension",
            &[("pkg/index.ts", HOOK)],
            json!({"packages": ["../pkg"]}),
            &["pkg"],
        ),
        (
            "a package that lists none",
            &[("pkg/package.json", OFF), ("pkg/extensions/g.ts", HOOK)],
            json!({"packages": ["../pkg"]}),
            &[],
        ),
        (
            "a package of npm",
            &[
                ("agent/npm/node_modules/@s/g/package.json", ONE),
                ("agent/npm/node_modules/@s/g/src/g.ts", HOOK),
            ],
            json!({"packages": ["npm:@s/g@1.2.3"]}),
            &["agent/npm/node_modules/@s/g/src/g.ts"],
        ),
        (
            "a package of git",
            &[
                ("agent/git/github.com/u/g/index.ts", PLAIN),
                ("agent/git/github.com/u/g/package.json", ONE),
                ("agent/git/github.com/u/g/src/g.ts", HOOK),
            ],
            json!({"packages": ["git:git@github.com:u/g.git@v1", "https://github.com/u/g"]}),
            &["agent/git/github.com/u/g/src/g.ts"],
        ),
        (
            "another file of a package",
            &[("pkg/package.json", ONE), ("pkg/src/g.ts", PLAIN), ("pkg/lib/w.js", HOOK)],
            json!({"packages": ["../pkg"]}),
            &["pkg/src/g.ts"],
        ),
        (
            "a package of which nothing is wanted",
            &[("pkg/extensions/g.ts", HOOK)],
            json!({"packages": [{"source": "../pkg", "extensions": []}]}),
            &[],
        ),
        (
            "a package of which a part is wanted",
            &[("pkg/extensions/g.ts", HOOK), ("pkg/extensions/h.ts", HOOK)],
            json!({"packages": [{"source": "../pkg", "extensions": ["!**/h.ts"]}]}),
            &["pkg/extensions/g.ts"],
        ),
        (
            "a package that loads nothing by itself",
            &[("pkg/extensions/g.ts", HOOK), ("pkg/extensions/h.ts", HOOK)],
            json!({"packages": [{"source": "../pkg", "autoload": false, "extensions": ["+extensions/h.ts"]}]}),
            &["pkg/extensions/h.ts"],
        ),
        (
            "a path out of npm's directory",
            &[("agent/g/extensions/g.ts", HOOK)],
            json!({"packages": ["npm:../../g"]}),
            &[],
        ),
        ("a project's", &[("project/.pi/extensions/a.ts", HOOK)], none(), &[]),
    ];
    for (label, files, settings, expected) in rows {
        let scene = scene(&json!({}));
        for (name, text) in files {
            write(&scene, name, text);
        }
        write(&scene, "agent/settings.json", &settings.to_string());
        assert_eq!(loaded(&scene).await, expected, "{label}");
    }
}

#[tokio::test]
async fn the_hosts_list_of_extensions_counts_if_it_is_given() {
    let mut scene = scene(&json!({}));
    let installed = write(&scene, "agent/extensions/a.ts", HOOK);
    let entry = write(&scene, "pkg/dist/index.js", PLAIN);
    write(&scene, "pkg/src/w.ts", HOOK);
    let package = Some(scene.path("pkg"));
    let list = vec![HostExtension { path: entry, package }, HostExtension { path: installed, package: None }];
    context(&mut scene.spec).host.extensions = Some(list);
    assert_eq!(loaded(&scene).await, ["pkg/dist/index.js", "agent/extensions/a.ts"]);
    let host = &mut context(&mut scene.spec).host;
    (host.model, host.model_from_extension) = (Some("own/model".into()), true);
    assert_eq!(loaded(&scene).await.len(), 2, "every extension is named if pi loads all of them");
    let host = &mut context(&mut scene.spec).host;
    (host.extensions, host.model_from_extension) = (Some(Vec::new()), false);
    assert!(loaded(&scene).await.is_empty());
}

#[tokio::test]
async fn every_writing_child_loads_the_hooks_and_no_agent_can_exclude_them() {
    let worker = |fields: &str| {
        format!(
            "---\nname: worker\nreadonly: false\ndescription: Works.\ntools: read, bash\n{fields}---\nWork."
        )
    };
    let hook = "agent/extensions/hook.ts";
    let own = "agent/extensions/own.ts";
    let table: [(&str, Value, &str, String, &[&str]); 7] = [
        ("auto", json!({}), "agent/agents/worker.md", worker(""), &[hook]),
        (
            "an agent with a list",
            json!({}),
            "agent/agents/worker.md",
            worker("extensions: [extensions/own.ts]\n"),
            &[hook, own],
        ),
        (
            "an agent with an empty list",
            json!({}),
            "agent/agents/worker.md",
            worker("extensions: []\n"),
            &[hook],
        ),
        ("a project's agent", json!({}), "project/.pi/agents/worker.md", worker("extensions: []\n"), &[hook]),
        ("none", json!({"inheritExtensions": "none"}), "agent/agents/worker.md", worker(""), &[]),
        (
            "a list",
            json!({"inheritExtensions": ["extensions/own.ts"]}),
            "agent/agents/worker.md",
            worker(""),
            &[own],
        ),
        (
            "no sandbox",
            json!({"allowWrite": false, "sandbox": "off"}),
            "agent/agents/worker.md",
            worker(""),
            &[hook],
        ),
    ];
    for (label, config, place, agent, expected) in table {
        let scene = scene(&config);
        write(&scene, hook, HOOK);
        write(&scene, own, PLAIN);
        write(&scene, place, &agent);
        assert_eq!(loaded(&scene).await, expected, "{label}");
    }
}

#[tokio::test]
async fn a_doubtful_extension_counts_as_a_hook_and_the_search_is_quick() {
    const LIMIT: Duration = Duration::from_secs(20);
    type Make = fn(&Scene);
    let table: [(&str, Make, &[&str]); 9] = [
        (
            "a link to a file",
            |scene| {
                let real = write(scene, "dev/src/g.ts", PLAIN);
                write(scene, "dev/package.json", "{}");
                write(scene, "dev/lib/w.ts", HOOK);
                fs::create_dir_all(scene.path("agent/extensions")).expect("the directory is created");
                symlink(real, scene.path("agent/extensions/g.ts")).expect("the link is created");
            },
            &["agent/extensions/g.ts"],
        ),
        (
            "a link to a directory",
            |scene| {
                write(scene, "dev/index.ts", HOOK);
                fs::create_dir_all(scene.path("agent/extensions")).expect("the directory is created");
                symlink(scene.path("dev"), scene.path("agent/extensions/g")).expect("the link is created");
            },
            &["agent/extensions/g/index.ts"],
        ),
        (
            "a circle of links",
            |scene| {
                write(scene, "agent/extensions/g/index.ts", PLAIN);
                symlink(scene.path("agent/extensions/g"), scene.path("agent/extensions/g/again"))
                    .expect("the link is created");
                symlink(scene.path("agent/extensions/g/no"), scene.path("agent/extensions/g/no"))
                    .expect("the link is created");
            },
            &["agent/extensions/g/index.ts"],
        ),
        (
            "a link to nothing",
            |scene| {
                write(scene, "agent/extensions/g/index.ts", PLAIN);
                symlink(scene.path("gone"), scene.path("agent/extensions/g/link.ts")).expect("a link exists");
                symlink(scene.path("gone"), scene.path("agent/extensions/link.ts")).expect("a link exists");
            },
            &[],
        ),
        (
            "a FIFO",
            |scene| {
                write(scene, "agent/extensions/g/index.ts", PLAIN);
                for name in [
                    "agent/extensions/g/fifo.ts",
                    "agent/extensions/fifo.ts",
                    "agent/extensions/g/package.json",
                    "agent/settings.json",
                ] {
                    mknodat(CWD, scene.path(name), FileType::Fifo, Mode::RWXU, 0).expect("a FIFO exists");
                }
            },
            &[],
        ),
        (
            "more than a mebibyte",
            |scene| {
                write(scene, "agent/extensions/a.js", &" ".repeat(1024 * 1024 + 1));
                write(scene, "agent/extensions/b.js", &" ".repeat(1024 * 1024));
            },
            &["agent/extensions/a.js"],
        ),
        (
            "ten thousand files",
            |scene| {
                write(scene, "agent/extensions/g/index.ts", PLAIN);
                for number in 0..10_000 {
                    fs::write(scene.path(&format!("agent/extensions/g/{number}.md")), "").expect("written");
                }
            },
            &["agent/extensions/g/index.ts"],
        ),
        (
            "as many directories within each other as a path may have",
            |scene| {
                write(scene, &format!("agent/extensions/g/{}w.ts", "d/".repeat(500)), PLAIN);
                write(scene, "agent/extensions/g/index.ts", PLAIN);
            },
            &[],
        ),
        (
            "a directory in place of its entry",
            |scene| {
                write(scene, "agent/extensions/g/index.ts/w.ts", HOOK);
            },
            &["agent/extensions/g/index.ts"],
        ),
    ];
    for (label, make, expected) in table {
        let scene = scene(&json!({}));
        make(&scene);
        let begun = Instant::now();
        assert_eq!(loaded(&scene).await, expected, "{label}");
        assert!(begun.elapsed() < LIMIT, "{label}: {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn an_unreadable_extension_counts_as_a_hook() {
    if rustix::process::geteuid().is_root() {
        return; // Root can read everything.
    }
    let scene = scene(&json!({}));
    write(&scene, "agent/extensions/g/index.ts", PLAIN);
    let hidden = write(&scene, "agent/extensions/g/hidden.ts", PLAIN);
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o0)).expect("the permissions are set");
    assert_eq!(loaded(&scene).await, ["agent/extensions/g/index.ts"]);
}

#[tokio::test]
async fn this_package_is_not_a_hook_and_another_package_with_its_name_is() {
    const OURS: &str = "extensions/pi-subagent-native/index.js";
    let module = format!("// pi-subagent-native 1.0.0 abc.\n{HOOK}");
    let manifest = format!(r#"{{"name":"pi-subagent-native","pi":{{"extensions":["./{OURS}"]}}}}"#);
    let table = [
        ("ours", manifest.clone(), module.clone(), true),
        ("only the name", manifest.clone(), HOOK.to_owned(), false),
        ("only the module", manifest.replace("pi-subagent-native\",", "other\","), module, false),
    ];
    for (label, manifest, module, is_ours) in table {
        let scene = scene(&json!({}));
        write(&scene, "agent/npm/node_modules/pi-subagent-native/package.json", &manifest);
        write(&scene, &format!("agent/npm/node_modules/pi-subagent-native/{OURS}"), &module);
        write(&scene, "agent/settings.json", r#"{"packages":["npm:pi-subagent-native"]}"#);
        assert_eq!(loaded(&scene).await.is_empty(), is_ours, "{label}");
    }
}

#[tokio::test]
async fn a_hook_that_does_not_load_refuses_the_run() {
    let fails = r#"printf 'Error: Failed to load extension "%s/agent/extensions/hook.ts": ' "$home" >&2
printf 'Failed to load extension: No such thing\nHint: pi -ne\n' >&2"#;
    let mut scene =
        Scene::new(Child::new().runs(fails).exits(1), json!({ "protocol": "json", "allowWrite": true }));
    scene.spec.agent = "implementer".into();
    write(
        &scene,
        "agent/agents/implementer.md",
        "---\nname: implementer\nreadonly: false\ndescription: Works.\ntools: bash\n---\nWork.",
    );
    let hook = write(&scene, "agent/extensions/hook.ts", HOOK);
    let result = run(&scene).await;
    let error = result.details.results[0].error.as_deref().expect("the run has an error");
    let expected = format!(
        "the permission hook `{}` did not load, and this child does not run without it: `No such thing`",
        hook.display()
    );
    assert_eq!(error, expected);
    assert_eq!(result.details.results[0].attempts, 1);
}
