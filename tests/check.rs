//! Commands that prepare a child's tree, and commands that check its work.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::child::Child;
use crate::support::scene::Scene;
use crate::support::stage::{self, PATIENCE, User};
use parking_lot::Mutex;
use pi_subagent_native::run::{
    CheckReport, ConfirmRequest, Control, Progress, RunOutcome, SingleResult, ToolResult,
};
use serde_json::{Value, json};
use supervisor::CancelReason;
use worktree::GIT_VARIABLES;

/// Does its work, and repairs it so many times after the message that the check failed.
fn repairing(times: usize) -> Child {
    let repair =
        Child::new().receives_or_exits().runs(r#"touch "$home/mended""#).starts().says("Mended.").settles();
    Child::answering().repeats(times, &repair).listens()
}

/// A run of an agent that may write, whose work this command checks.
fn scene(child: Child, check: &str, config: &Value) -> Scene {
    let mut all = json!({ "allowWrite": true, "sandbox": { "mode": "off" } });
    for (key, value) in config.as_object().expect("the value is an object") {
        all[key] = value.clone();
    }
    let mut scene = Scene::new(child, all);
    let agents = scene.path("agent/agents");
    fs::create_dir_all(&agents).expect("the directory is created");
    let check = serde_json::to_string(check).expect("the value is serialized");
    let agent = format!("---\nname: builder\nreadonly: false\ncheck: {check}\n---\nBuild.\n");
    fs::write(agents.join("builder.md"), agent).expect("the file is written");
    scene.spec.agent = "builder".into();
    scene
}

async fn run(scene: &Scene) -> ToolResult {
    scene.run_with(&User::default(), &Control::default()).await.0
}

fn single(result: &ToolResult) -> &SingleResult {
    &result.details.results[0]
}

fn check(result: &ToolResult) -> &CheckReport {
    single(result).check.as_ref().unwrap_or_else(|| panic!("the result has no check: {}", result.text))
}

fn received(scene: &Scene) -> String {
    fs::read_to_string(scene.path("received")).unwrap_or_default()
}

/// Waits until the process whose PID the check has written has ended.
async fn is_gone(pid: &Path) {
    let pid = fs::read_to_string(pid).expect("the file is readable");
    let process = Path::new("/proc").join(pid.trim());
    let since = Instant::now();
    while process.exists() {
        assert!(since.elapsed() < PATIENCE, "process {} still runs", process.display());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn work_that_passes_its_check_succeeds_and_the_result_says_so() {
    let scene = scene(Child::answering().listens(), "echo fine; echo also >&2", &json!({}));
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    assert!(!result.is_error);
    let expected =
        "The whole answer.\n\nCheck `echo fine; echo also >&2` passed: exit code 0\n```\nfine\nalso\n```";
    assert!(result.text.starts_with(expected), "{}", result.text);
    assert_eq!((check(&result).passed, check(&result).runs), (true, 1));
    assert_eq!(received(&scene).lines().count(), 1, "the child receives only its task");
}

#[tokio::test]
async fn failed_work_is_repaired_once_with_the_output_of_the_check() {
    let mends = scene(repairing(1), "echo one is missing; test -e ../mended", &json!({}));
    let result = run(&mends).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    assert!(result.text.starts_with("Mended.\n\nCheck `"), "{}", result.text);
    assert_eq!((check(&result).passed, check(&result).runs), (true, 2));
    let command = received(&mends);
    let command = command.lines().nth(1).expect("the child received a second command");
    assert!(command.contains("one is missing") && command.contains("exit code 1"), "{command}");
    assert_eq!(single(&result).usage.turns, 2);
}

#[tokio::test]
async fn work_that_still_fails_its_check_is_a_failure_with_its_answer() {
    for (attempts, runs, answer) in [(0, 1, "The whole answer."), (1, 2, "Mended."), (2, 3, "Mended.")] {
        let scene = scene(repairing(2), "echo broken; exit 3", &json!({ "check": { "attempts": attempts } }));
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Failed, "{}", result.text);
        assert_eq!(
            single(&result).error.as_deref(),
            Some("the check `echo broken; exit 3` failed: exit code 3")
        );
        assert_eq!((single(&result).exit_code, check(&result).runs), (1, runs));
        assert!(result.text.contains(answer) && result.text.contains("```\nbroken\n```"), "{}", result.text);
    }
}

#[tokio::test]
async fn a_child_in_json_mode_gets_no_repair_turn() {
    let answers = || Child::new().reads_task().starts().says("Done.").settles();
    for (label, child, config) in [
        ("one shot", answers(), json!({ "protocol": "json" })),
        ("no remaining turns", Child::answering().listens(), json!({ "budget": { "maxTurns": 1 } })),
        ("the child has exited", Child::answering().exits(0), json!({})),
    ] {
        let scene = scene(child, "echo broken; exit 3", &config);
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Failed, "{label}: {}", result.text);
        assert_eq!(check(&result).ended, "exit code 3", "{label}");
        assert_eq!(single(&result).usage.turns, 1, "{label}");
    }
    let scene = scene(answers(), "true", &json!({ "protocol": "json" }));
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    assert!(check(&result).passed);
}

#[tokio::test]
async fn a_check_has_a_defined_outcome_for_every_behaviour() {
    let flood = "head -c 100000000 /dev/zero | tr '\\0' x; exit 3";
    for (check_command, ended) in [
        ("kill -9 $$", "killed by SIGKILL"),
        (flood, "exit code 3"),
        ("echo $$ > ../pid; sleep 300", "not finished after 1.0s (`check.timeoutMs`)"),
        ("sleep 300 & echo $! > ../pid; exit 4", "exit code 4"),
        ("no-such-program-here", "exit code 127"),
        ("read line || exit 5", "exit code 5"),
        ("if", "exit code 2"),
    ] {
        let config = json!({ "check": { "attempts": 0, "timeoutMs": 1000 } });
        let config = if check_command == flood { json!({ "check": { "attempts": 0 } }) } else { config };
        let scene = scene(Child::answering().listens(), check_command, &config);
        let result = run(&scene).await;
        assert_eq!(check(&result).ended, ended, "{check_command}: {}", result.text);
        assert!(check(&result).output.len() <= 2048, "{check_command}");
        assert_eq!(single(&result).outcome, RunOutcome::Failed, "{check_command}");
        if check_command.contains("pid") {
            is_gone(&scene.path("pid")).await;
        }
    }
}

#[tokio::test]
async fn a_child_gets_a_limited_part_of_its_checks_output() {
    let flood = "echo first; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo last; exit 3";
    let scene = scene(repairing(2), flood, &json!({}));
    let result = run(&scene).await;
    assert_eq!(check(&result).runs, 2, "{}", result.text);
    let command = received(&scene).lines().last().expect("the child received a command").to_owned();
    assert!((12_000..14_000).contains(&command.len()), "{} bytes", command.len());
    assert!(
        command.contains("last"),
        "the child gets the end of the output: {}",
        &command[command.len() - 300..]
    );
}

#[tokio::test]
async fn no_process_of_a_check_survives_its_run() {
    let endless = "echo $$ > ../pid.new; mv ../pid.new ../pid; sleep 300";
    for child in [Child::answering().listens(), Child::answering().exits(0)] {
        let scene = scene(child.clone(), endless, &json!({ "timeoutMs": 2000 }));
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::HardTimeout, "{}", result.text);
        is_gone(&scene.path("pid")).await;

        let scene = self::scene(child, endless, &json!({}));
        let control = Control::default();
        let user = User::default();
        let abort = async {
            while !scene.path("pid").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            control.cancel.cancel(CancelReason::Caller(None));
        };
        let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), abort);
        assert_eq!(single(&result).outcome, RunOutcome::Aborted, "{}", result.text);
        assert_eq!(single(&result).check, None);
        is_gone(&scene.path("pid")).await;
    }
}

/// Each row: how the run continues after a failed check, the bound, the outcome, the number of checks, and the turns.
#[tokio::test]
async fn repair_turns_count_towards_the_limits_of_the_run() {
    let mends = || Child::answering().replies("Mended.").listens();
    let continues =
        Child::answering().receives().starts().says("Looking.").with_stop_reason("toolUse").listens();
    let hangs = Child::answering().receives().starts().listens();
    let ends = Child::answering().listens();
    for (label, child, bound, outcome, runs, turns) in [
        // Each turn costs 0.3 dollars.
        ("no money", mends(), json!({ "budget": { "maxCost": 0.7 } }), RunOutcome::Failed, 2, 2),
        ("no money for a turn", ends, json!({ "budget": { "maxCost": 0.5 } }), RunOutcome::Failed, 1, 1),
        ("the last turn", mends(), json!({ "budget": { "maxTurns": 2 } }), RunOutcome::Failed, 2, 2),
        (
            "a turn beyond the limit",
            continues,
            json!({ "budget": { "maxTurns": 2 } }),
            RunOutcome::Budget,
            1,
            2,
        ),
        ("no time", hangs, json!({ "timeoutMs": 3000 }), RunOutcome::HardTimeout, 1, 1),
    ] {
        let mut config = bound.clone();
        config["check"] = json!({ "attempts": 5 });
        config["graceMs"] = 200.into();
        let scene = scene(child, "echo broken; exit 3", &config);
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, outcome, "{label}: {}", result.text);
        assert_eq!((check(&result).passed, check(&result).runs), (false, runs), "{label}");
        assert_eq!(single(&result).usage.turns, turns, "{label}");
        assert!(result.text.contains("```\nbroken\n```"), "{label}: {}", result.text);
    }
}

#[tokio::test]
async fn a_child_that_waits_for_its_check_is_not_idle() {
    let scene = scene(Child::answering().listens(), "sleep 3", &json!({ "idleTimeoutMs": 1000 }));
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    assert!(check(&result).passed);
}

/// Each row: the agent's write access, the settings, and the command of its file that the question shows.
#[tokio::test]
async fn the_question_whether_a_projects_agent_may_run_shows_its_check() {
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    // A command that was not shown is not allowed.
    let shown = &*format!("touch ../checked # {secret} {}to the end", "and so on, ".repeat(60));
    for (readonly, config, expected) in [
        (false, json!({}), Some(shown)),
        (false, json!({ "agents": { "local": { "check": "true" } } }), Some(shown)),
        // The answer stays valid when writing is enabled later.
        (false, json!({ "allowWrite": false }), Some(shown)),
        (true, json!({}), None),
    ] {
        let mut scene = scene(Child::answering().listens(), "true", &config);
        let agents = scene.path("project/.pi/agents");
        fs::create_dir_all(&agents).expect("the directory is created");
        scene.spec.agent = "local".into();
        for answer in [false, true] {
            // A no holds until the file changes.
            let agent = format!(
                "---\nname: local\nreadonly: {readonly}\ncheck: {}\n---\nBuild {answer}.\n",
                json!(shown)
            );
            fs::write(agents.join("local.md"), agent).expect("the file is written");
            let asked = Mutex::new(Vec::new());
            let confirms = |request: ConfirmRequest| {
                asked.lock().push(request.message.into_string());
                answer
            };
            let user = User { confirms: Some(Box::new(confirms)), ..User::default() };
            let (result, _) = scene.run_with(&user, &Control::default()).await;
            drop(user);
            let asked = asked.into_inner();
            assert_eq!(asked.len(), 1, "{}", result.text);
            let lines = asked[0].lines().filter_map(|line| line.strip_prefix("check: "));
            assert_eq!(lines.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>(), "{}", asked[0]);
            let ours = asked[0].lines().filter(|line| line.starts_with("The project, not you,"));
            assert_eq!(ours.count(), 1, "{}", asked[0]);
            let is_checked = answer && expected == Some(shown) && config == json!({});
            assert_eq!(scene.path("checked").exists(), is_checked, "{}", result.text);
        }
    }
}

#[tokio::test]
async fn a_run_whose_end_cannot_be_recorded_explains_the_consequence_for_undo() {
    let scene = scene(
        Child::answering().runs(r#"rm -r "$home/agent/subagents/snapshots""#).listens(),
        "true",
        &json!({}),
    );
    let project = scene.path("project");
    // The stage's own command is empty.
    fs::remove_dir_all(project.join(".git")).expect("the directory is removed");
    let made = std::process::Command::new("git").args(["init", "-q"]).arg(&project).status();
    assert!(made.expect("git runs").success());
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    let notes = &single(&result).diagnostics;
    let is_reported =
        notes.iter().any(|note| note.starts_with("the changes of this run could not be recorded"));
    assert!(is_reported, "{notes:?}");
}

#[tokio::test]
async fn only_finished_work_with_possible_changes_is_checked() {
    let touch = "touch ../checked";
    let failed = Child::working().says("").with_error("no").settles().listens();
    for (label, child, config) in [
        ("a provider error", failed, json!({ "retry": { "enabled": false } })),
        ("an agent that may not write", Child::answering().listens(), json!({ "allowWrite": false })),
    ] {
        let scene = scene(child, touch, &config);
        let result = run(&scene).await;
        assert_eq!(single(&result).check, None, "{label}: {}", result.text);
        assert!(!scene.path("checked").exists(), "{label}");
    }
}

#[tokio::test]
async fn only_the_user_sets_checks_for_the_users_agents() {
    let mut scene = scene(
        Child::answering().listens(),
        "exit 3",
        &json!({ "agents": { "builder": { "check": "true" } } }),
    );
    let result = run(&scene).await;
    assert_eq!(check(&result).command, "true");
    fs::create_dir_all(scene.path("project/.pi")).expect("the directory is created");
    let theirs = r#"{ "subagents": { "agents": { "builder": { "check": "touch ../owned" } }, "check": { "attempts": 9 } } }"#;
    fs::write(scene.path("project/.pi/subagents.json"), theirs).expect("the file is written");
    scene.spec.task = "look again".into();
    let result = run(&scene).await;
    assert_eq!(check(&result).command, "true");
    assert!(!scene.path("owned").exists());
}

/// A run in a private tree, which `setup` prepares. `PLACE` in it is the directory of the scene.
fn isolated(child: Child, setup: &str, config: &Value) -> Scene {
    let scene = scene(child, "true", config);
    let setup = setup.replace("PLACE", &scene.path("").display().to_string());
    let setup = serde_json::to_string(&setup).expect("the value is serialized");
    let agent =
        format!("---\nname: builder\nreadonly: false\nisolation: private\nsetup: {setup}\n---\nBuild.\n");
    fs::write(scene.path("agent/agents/builder.md"), agent).expect("the file is written");
    let project = scene.path("project");
    fs::remove_dir(project.join(".git")).expect("the directory is removed");
    fs::write(project.join(".gitignore"), "modules\n").expect("the file is written");
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "first"]] {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=n@localhost"]).args(args).current_dir(&project);
        assert!(git.status().expect("git runs").success(), "{args:?}");
    }
    scene
}

/// The maximum length of a line about a command.
const LINE_CHARS: usize = 310;

/// Each row: the position of a secret in the command, in characters. A cut through the secret would leave a half that no rule
/// recognizes.
#[tokio::test]
async fn a_shown_command_is_one_line_without_secrets() {
    let token = format!("ghp_{}", "Ab1Cd2Ef3Gh4Ij5Kl6".repeat(2));
    for before in [10, 280] {
        let waits = format!("until test -e PLACE/seen; do sleep 0.02; done # {} {token}", "x".repeat(before));
        let command = format!("{waits} {}", "y ".repeat(300));
        for (kind, scene) in [
            ("check", scene(Child::answering().listens(), &command.replace("PLACE", ".."), &json!({}))),
            ("setup", isolated(Child::answering().listens(), &command, &json!({}))),
        ] {
            let (progress, mut receiver) = tokio::sync::watch::channel(Progress::default());
            let seen = scene.path("seen");
            let poll = tokio::spawn(async move {
                let is_it =
                    |shown: &Progress| shown.last_tool.as_deref().is_some_and(|tool| tool.starts_with(kind));
                let shown = receiver.wait_for(is_it).await.expect("the update arrives").last_tool.clone();
                fs::write(seen, "").expect("the file is written");
                shown.expect("the update shows the check")
            });
            let result = scene.execute(&User::default(), &Control::default(), &progress).await;
            assert!(!result.is_error, "{kind}: {}", result.text);
            assert_eq!(single(&result).outcome, RunOutcome::Completed, "{kind}: {}", result.text);
            let shown = poll.await.expect("the task does not panic");
            assert!(!shown.contains("ghp_"), "{kind}: {shown}");
            assert!(shown.chars().count() <= LINE_CHARS && !shown.contains('\n'), "{kind}: {shown}");
            if kind == "check" {
                assert!(!check(&result).command.contains("ghp_"), "{}", check(&result).command);
            }
        }
    }
}

fn trees(scene: &Scene) -> usize {
    fs::read_dir(scene.path("agent/subagent-trees")).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_private_tree_is_prepared_before_the_first_prompt() {
    let child = Child::new()
        .receives()
        .runs("test -e modules/ready && cp modules/ready seen")
        .starts()
        .says("Done.")
        .settles()
        .listens();
    let scene = isolated(child, "echo preparing; mkdir modules; pwd > modules/ready", &json!({}));
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    assert_eq!(single(&result).changes.as_deref(), Some(&["seen".to_owned()][..]), "{}", result.text);
    assert!(!scene.path("project/modules").exists(), "the user's tree is unchanged");
    assert_eq!(trees(&scene), 0);
}

/// Each row: a command, the settings, and the end of the error. The child receives nothing, and nothing remains.
#[tokio::test]
async fn a_run_whose_tree_cannot_be_prepared_does_not_start() {
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let limit = json!({ "isolation": { "setupTimeoutMs": 1000 } });
    for (setup, config, ended) in [
        ("echo one; echo two >&2; exit 3", json!({}), "failed (exit code 3); it printed:\none\ntwo"),
        ("exit 4", json!({}), "failed (exit code 4); it printed nothing"),
        ("kill -9 $$", json!({}), "failed (killed by SIGKILL); it printed nothing"),
        (&format!("echo {secret}; exit 1"), json!({}), "it printed:\n[GITHUB_TOKEN_REDACTED]"),
        (
            "echo $$ > PLACE/pid; sleep 300",
            limit,
            "failed (not finished after 1.0s (`isolation.setupTimeoutMs`)); it printed nothing",
        ),
        ("sleep 300 & echo $! > PLACE/pid; exit 5", json!({}), "failed (exit code 5); it printed nothing"),
    ] {
        let scene = isolated(Child::answering().listens(), setup, &config);
        let result = run(&scene).await;
        let error = single(&result).error.clone().unwrap_or_default();
        assert!(error.starts_with("the private tree could not be prepared: `"), "{setup}: {}", result.text);
        assert!(error.ends_with(ended), "{setup}: {error}");
        assert!(!result.text.contains(secret), "{}", result.text);
        assert_eq!((single(&result).outcome, received(&scene).as_str()), (RunOutcome::Failed, ""), "{setup}");
        assert_eq!(trees(&scene), 0, "{setup}");
        if setup.contains("pid") {
            is_gone(&scene.path("pid")).await;
        }
    }
}

#[tokio::test]
async fn the_files_of_a_failed_preparation_are_on_a_branch_named_in_the_result() {
    let scene = isolated(Child::answering().listens(), "echo half > lock.json; exit 3", &json!({}));
    let result = run(&scene).await;
    let artifacts = single(&result).isolation.clone().expect("the run was isolated");
    let branch = artifacts.branch.expect("the result names a branch");
    assert!(result.text.contains(&format!("on the branch `{branch}`")), "{}", result.text);
    assert_eq!(single(&result).changes.as_deref(), Some(&["lock.json".to_owned()][..]));
    assert_eq!(trees(&scene), 0);

    let scene = isolated(Child::answering().listens(), "git init -q inner; exit 3", &json!({}));
    let result = run(&scene).await;
    let artifacts = single(&result).isolation.clone().expect("the run was isolated");
    let kept = artifacts.kept_tree.expect("the nested repository is kept");
    assert!(result.text.contains(&kept), "{}", result.text);
    let notices = single(&result).diagnostics.join("\n");
    assert!(notices.contains("`inner/` was not imported"), "{notices}");
}

#[tokio::test]
async fn the_limits_and_the_abort_of_a_run_end_its_preparation() {
    let endless = "echo $$ > PLACE/pid.new; mv PLACE/pid.new PLACE/pid; sleep 300";
    let scene = isolated(Child::answering().listens(), endless, &json!({ "timeoutMs": 2000 }));
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::HardTimeout, "{}", result.text);
    is_gone(&scene.path("pid")).await;

    let scene = isolated(Child::answering().listens(), endless, &json!({}));
    let control = Control::default();
    let user = User::default();
    let abort = async {
        while !scene.path("pid").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        control.cancel.cancel(CancelReason::Caller(None));
    };
    let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), abort);
    assert_eq!(
        (single(&result).outcome, received(&scene).as_str()),
        (RunOutcome::Aborted, ""),
        "{}",
        result.text
    );
    is_gone(&scene.path("pid")).await;
    assert_eq!(trees(&scene), 0);
}

/// The user sets it for one agent or for all. A project cannot set it. A tree in place is not prepared.
#[tokio::test]
async fn the_user_configures_the_preparation_of_trees() {
    let mark = |name: &str| format!("touch PLACE/{name}");
    for (of_agent, for_all, expected) in
        [(true, true, "of-agent"), (false, true, "for-all"), (false, false, "")]
    {
        let mut scene = isolated(Child::answering().listens(), "", &json!({}));
        let place = scene.path("").display().to_string();
        let file = scene.path("agent/agents/builder.md");
        let agent = fs::read_to_string(&file).expect("the file is readable").replace("setup: \"\"\n", "");
        fs::write(&file, agent).expect("the file is written");
        let mut config = json!({ "allowWrite": true, "sandbox": { "mode": "off" } });
        if of_agent {
            config["agents"] = json!({ "builder": { "setup": mark("of-agent").replace("PLACE", &place) } });
        }
        if for_all {
            config["isolation"] = json!({ "setup": mark("for-all").replace("PLACE", &place) });
        }
        scene.spec.context = Arc::new(stage::context(scene.root.path(), config));
        let theirs = json!({ "subagents": {
            "agents": { "builder": { "setup": mark("owned").replace("PLACE", &place) } },
            "isolation": { "setup": mark("owned").replace("PLACE", &place) },
        } });
        fs::create_dir_all(scene.path("project/.pi")).expect("the directory is created");
        fs::write(scene.path("project/.pi/subagents.json"), theirs.to_string()).expect("the file is written");
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
        let made = ["of-agent", "for-all", "owned"].map(|name| scene.path(name).exists().then_some(name));
        assert_eq!(made.into_iter().flatten().collect::<String>(), expected);
    }
}

/// A project's agent runs commands only after the user has read them.
#[tokio::test]
async fn a_question_about_a_projects_agent_names_its_commands() {
    let mut scene = scene(Child::answering().listens(), "true", &json!({}));
    let agents = scene.path("project/.pi/agents");
    fs::create_dir_all(&agents).expect("the directory is created");
    let command = |name: &str| format!("touch {}", scene.path(name).display());
    let fields = json!({ "setup": command("set-up"), "check": command("checked") });
    let agent = format!(
        "---\nname: theirs\nreadonly: false\nsetup: {}\ncheck: {}\n---\nBuild.\n",
        fields["setup"], fields["check"]
    );
    fs::write(agents.join("theirs.md"), agent).expect("the file is written");
    scene.spec.agent = "theirs".into();
    let asked = std::sync::Mutex::new(String::new());
    let confirms = |request: pi_subagent_native::run::ConfirmRequest| {
        *asked.lock().expect("the lock is not poisoned") = request.message.into_string();
        false
    };
    let user = User { confirms: Some(Box::new(confirms)), ..User::default() };
    let (result, _) = scene.run_with(&user, &Control::default()).await;
    assert!(result.is_error, "{}", result.text);
    let message = asked.lock().expect("the lock is not poisoned").clone();
    let place = scene.path("").display().to_string();
    for line in [format!("setup: touch {place}set-up"), format!("check: touch {place}checked")] {
        assert!(message.lines().any(|text| text == line), "{line}\n{message}\n{}", result.text);
    }
    assert!(!scene.path("set-up").exists() && !scene.path("checked").exists());
}

/// The same happens in a hook of another repository, or in `git rebase --exec`.
#[tokio::test]
async fn no_git_variable_of_the_host_reaches_a_child_or_its_commands() {
    let commits = r#"env > "$home/env"; echo x > made.txt; git add made.txt
git -c user.name=n -c user.email=n@localhost commit -qm made"#;
    let child = Child::new().runs(commits).then(Child::answering()).listens();
    for isolation in ["private", "none"] {
        let mut scene = isolated(child.clone(), "git rev-parse --absolute-git-dir > PLACE/setup", &json!({}));
        let agent = scene.path("agent/agents/builder.md");
        let text = fs::read_to_string(&agent).expect("the file is readable");
        let check = format!("check: git log -1 --format=%s > {}", scene.path("check").display());
        let text = text
            .replace("check: \"true\"", &check)
            .replace("isolation: private", &format!("isolation: {isolation}"));
        fs::write(&agent, text.replace("readonly: false", &format!("readonly: false\n{check}")))
            .expect("the file is written");
        let other = scene.path("other");
        fs::create_dir(&other).expect("the directory is created");
        let git = |args: &[&str]| {
            let done =
                std::process::Command::new("git").args(args).current_dir(&other).output().expect("git runs");
            String::from_utf8_lossy(&done.stdout).into_owned()
        };
        git(&["init", "-q"]);
        let place = |name: &str| other.join(name).into_os_string();
        let variables = [
            ("GIT_DIR", place(".git")),
            ("GIT_WORK_TREE", other.clone().into_os_string()),
            ("GIT_INDEX_FILE", place(".git/index.other")),
            ("GIT_OBJECT_DIRECTORY", place(".git/objects")),
            ("GIT_QUARANTINE_PATH", place(".git/objects")),
            ("GIT_CONFIG_COUNT", "1".into()),
            ("GIT_CONFIG_KEY_0", "core.bare".into()),
            ("GIT_CONFIG_VALUE_0", "true".into()),
        ];
        let context = Arc::make_mut(&mut scene.spec.context);
        context.env.extend(variables.map(|(name, value)| (name.into(), value)));
        context.config.as_mut().expect("the value is an object")["env"] =
            json!({ "GIT_COMMON_DIR": place(".git").to_str() });

        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Completed, "{isolation}: {}", result.text);
        let env = fs::read_to_string(scene.path("env")).expect("the child wrote its environment");
        let found: Vec<_> = GIT_VARIABLES.iter().filter(|name| env.contains(&format!("\n{name}="))).collect();
        assert!(found.is_empty(), "{isolation}: {found:?}");
        assert_eq!(
            fs::read_to_string(scene.path("check")).expect("the file is readable"),
            "made\n",
            "{isolation}"
        );
        assert_eq!(single(&result).changes.as_deref(), Some(&["made.txt".to_owned()][..]), "{isolation}");
        if isolation == "private" {
            let artifacts = single(&result).isolation.clone().expect("the run was isolated");
            assert_eq!((artifacts.commits, artifacts.branch.is_some()), (1, true), "{}", result.text);
            let set_up = fs::read_to_string(scene.path("setup")).expect("the file is readable");
            assert!(set_up.contains("subagent-trees"), "{set_up}");
        }
        assert_eq!(git(&["for-each-ref"]) + &git(&["ls-files", "-o", "-c"]), "", "{isolation}");
        assert!(!other.join(".git/index.other").exists(), "{isolation}");
        let notices = single(&result).diagnostics.join("\n");
        let expected = format!(
            "`GIT_CONFIG_COUNT`, `GIT_OBJECT_DIRECTORY`, `GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE`, `GIT_QUARANTINE_PATH`, which lead git to `{}`",
            other.display()
        );
        assert!(notices.contains(&expected), "{isolation}: {notices}");
        assert!(
            notices.contains("`env.GIT_COMMON_DIR` of the configuration is ignored"),
            "{isolation}: {notices}"
        );
    }
}
