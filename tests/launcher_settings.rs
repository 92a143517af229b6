//! The effect of launcher and agent settings on remote children, and the messages before a run. The launcher is a stand-in, the
//! children are scripted.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use crate::support::child::Child;
use crate::support::extension::{self, EventRecorder};
use crate::support::remote::{FAR, Place, at, read};
use crate::support::scene::Scene;
use crate::support::stage::{PATIENCE, User};
use pi_subagent_native::doctor::{Check, Status, doctor};
use pi_subagent_native::orchestrate::background::{
    ConversationScope, KnownDeliveries, Receipt, SpawnRequest, background, close_conversation,
    open_conversation, spawn, until_settled,
};
use pi_subagent_native::orchestrate::{Call, TaskSpec, TasksSpec, chain, parallel};
use pi_subagent_native::present::agents_report;
use pi_subagent_native::run::{
    CallSettings, Control, Host, HostCapabilities, HostModel, Listing, RunOutcome, ToolResult, list_agents,
};
use serde_json::{Value, json};
use supervisor::Cancel;
use tokio::time::timeout;

fn answers() -> Child {
    Child::answering().listens()
}

/// Settings of the scene's launcher.
fn far(scene: &mut Scene) -> &mut Value {
    &mut config(scene)["launchers"]["far"]
}

fn config(scene: &mut Scene) -> &mut Value {
    Arc::make_mut(&mut scene.spec.context).config.as_mut().expect("the context has a configuration")
}

/// Writes the explorer's file, with these additional lines.
fn agent(scene: &Scene, more: &str) {
    fs::create_dir_all(scene.path("agent/agents")).expect("the directory is created");
    let text = format!("---\nname: explorer\nreadonly: true\ntools: read\n{more}\n---\nLook around.\n");
    fs::write(scene.path("agent/agents/explorer.md"), text).expect("the agent file is written");
}

async fn run(scene: &Scene, user: &User<'_>) -> ToolResult {
    scene.run_with(user, &Control::default()).await.0
}

async fn listing(scene: &Scene, user: &User<'_>) -> Listing {
    let context = &scene.spec.context;
    let settings = CallSettings::of(&scene.spec.cwd, context).await;
    let capabilities = HostCapabilities::probe(context).await;
    let mut listing = list_agents(&scene.spec.cwd, context, &settings, &capabilities);
    listing.check_models(&settings.config(), context, user).await;
    listing
}

async fn checks(scene: &Scene, user: User<'static>) -> Vec<Check> {
    doctor(scene.spec.cwd.clone(), Arc::clone(&scene.spec.context), Arc::new(user)).await
}

#[tokio::test]
async fn a_model_known_only_to_the_remote_pi_is_used_remotely_and_refused_locally() {
    let model = || HostModel {
        model: None,
        has_login: false,
        variables: Vec::new(),
        problem: Some("no such model".into()),
        known: vec!["fake/m1".into()],
    };
    let child = Child::new().runs(r#"printf '%s\n' "$*" >"$home/argv""#).then(Child::answering()).listens();
    for (place, is_there) in [(Place::Words, true), (Place::Here, false)] {
        let scene = at(place, child.clone(), &json!({}));
        agent(&scene, "model: cluster/large");
        let user = || User { model: Some(model()), ..User::default() };
        let result = run(&scene, &user()).await;
        let reported = &result.text;
        assert_eq!(reported.starts_with("The whole answer."), is_there, "{place:?}: {reported}");
        assert_eq!(read(&scene, "argv").contains("--model cluster/large"), is_there, "{place:?}");
        let listed = listing(&scene, &user()).await;
        let explorer =
            listed.agents.iter().find(|listed| listed.agent.name == "explorer").expect("the agent is listed");
        assert_eq!(explorer.plan.is_ok(), is_there, "{place:?}: {:?}", explorer.plan);
        let checks = checks(&scene, user()).await;
        let is_reported = checks.iter().any(|check| check.message.contains("no such model"));
        assert_eq!(is_reported, !is_there, "{place:?}: {checks:?}");
    }
}

/// `sessions_spawn` rejects an unknown model. The models of the remote machine are not known here.
#[tokio::test]
async fn the_model_of_a_remote_background_child_is_not_checked_locally() {
    let child = Child::new().runs(r#"printf '%s\n' "$*" >"$home/argv""#).then(Child::answering()).listens();
    for (place, is_there) in [(Place::Words, true), (Place::Here, false)] {
        let mut scene = at(place, child.clone(), &json!({}));
        Arc::make_mut(&mut scene.spec.context).host =
            Host { session_id: Some("conversation".into()), ..Host::default() };
        let unknown = HostModel {
            model: None,
            has_login: false,
            variables: Vec::new(),
            problem: Some("no such model".into()),
            known: Vec::new(),
        };
        let user = || Arc::new(User { model: Some(unknown.clone()), ..User::default() });
        let cwd = scene.spec.cwd.clone();
        let context = Arc::clone(&scene.spec.context);
        let service = background(&scene.path("agent"));
        let session = "conversation".to_owned();
        let scope =
            ConversationScope { cwd: cwd.clone(), context: Arc::clone(&context), ends_with: Cancel::new() };
        let known = KnownDeliveries::default();
        let view = open_conversation(&service, session, scope, known, EventRecorder::default()).await;
        let request = SpawnRequest {
            model: Some("cluster/large".into()),
            ..SpawnRequest::new("look".into(), cwd, context)
        };
        let receipt = spawn(&service, request, user()).await;
        timeout(PATIENCE, until_settled(&service, &view, None)).await.expect("the run has ended");
        close_conversation(&service, &view).await;
        let Receipt::Accepted { warnings, .. } = receipt else { panic!("{receipt:?}") };
        assert_eq!(warnings.is_empty(), is_there, "{place:?}: {warnings:?}");
        assert_eq!(read(&scene, "argv").contains("--model cluster/large"), is_there, "{place:?}");
    }
}

#[tokio::test]
async fn an_unknown_launcher_is_reported_at_its_agent_and_in_its_file() {
    let scene = at(Place::Here, Child::new(), &json!({}));
    agent(&scene, "launcher: cluster");
    let file = scene.path("agent/agents/explorer.md");
    let expected = format!(
        "the agent requests the launcher `cluster`, but `launchers` in your configuration defines only `far`, \
         `local` (`launcher` in {}:5)",
        file.display()
    );
    let listed = listing(&scene, &User::default()).await;
    let explorer =
        listed.agents.iter().find(|listed| listed.agent.name == "explorer").expect("the agent is listed");
    assert_eq!(explorer.plan.as_ref().expect_err("the agent cannot run").to_string(), expected);
    let report = format!("{:?}", agents_report(&listed));
    assert!(
        report.contains("unavailable") && report.contains("the agent requests the launcher `cluster`"),
        "{report}"
    );
    let checks = checks(&scene, User::default()).await;
    let check =
        checks.iter().find(|check| check.message.contains("`cluster`")).expect("the launcher is reported");
    assert_eq!((check.status, &*check.message), (Status::Error, &*format!("explorer: {expected}")));
    let result = run(&scene, &User::default()).await;
    assert_eq!(result.details.results[0].error.as_deref(), Some(&*expected));
}

#[tokio::test]
async fn an_unknown_launcher_of_the_configuration_is_reported_with_file_and_line() {
    let mut scene = at(Place::Here, Child::new(), &json!({}));
    Arc::make_mut(&mut scene.spec.context).config = None;
    let text = "{ \"subagents\": {\n  \"launcher\": \"clusted\",\n  \"launchers\": { \"cluster\": { \"command\": [\"srun\", \"{argv}\"] } }\n} }";
    let file = scene.path("agent/subagents.json");
    fs::write(&file, text).expect("the configuration is written");
    let expected = format!(
        "{}:2:15: `launcher` is `clusted`, which `launchers` does not define; did you mean `cluster`?",
        file.display()
    );
    let checks = checks(&scene, User::default()).await;
    let reported: Vec<_> = checks.iter().filter(|check| check.area == "configuration").collect();
    assert!(
        reported.iter().any(|check| check.status == Status::Error && check.message == expected),
        "{reported:?}"
    );
    let result = run(&scene, &User::default()).await;
    let error = result.details.results[0].error.as_deref().expect("the run fails instead of running locally");
    assert!(error.starts_with("the configuration requests the launcher `clusted`"), "{error}");
    for text in [
        r#""launcher": "local""#,
        r#""launcher": "cluster", "launchers": { "cluster": { "command": ["srun", "{argv}"] } }"#,
    ] {
        fs::write(&file, format!("{{ \"subagents\": {{ {text} }} }}")).expect("the configuration is written");
        let checks = self::checks(&scene, User::default()).await;
        let wrong = checks.iter().any(|check| check.area == "configuration" && check.status != Status::Ok);
        assert!(!wrong, "{text}: {checks:?}");
    }
}

#[tokio::test]
async fn a_launchers_claim_does_not_satisfy_a_required_sandbox() {
    for (own, configured) in [("sandbox: required", "auto"), ("", "required")] {
        let mut scene = at(Place::Words, answers(), &json!({ "sandbox": { "mode": configured } }));
        far(&mut scene)["readonly"] = true.into();
        agent(&scene, own);
        let result = run(&scene, &User::default()).await;
        let error = result.details.results[0].error.as_deref().expect("the run is refused");
        let expected = "the required sandbox is unavailable: `far` starts the child on another machine, which this one cannot sandbox; \
                        your configuration declares it `readonly`, but nothing has checked that";
        assert_eq!(error, expected);
        assert_eq!(read(&scene, "far/launches"), "", "no child was started");
    }
}

#[tokio::test]
async fn an_agents_own_launcher_overrides_the_configuration() {
    for (place, own, is_far) in [
        (Place::Here, "launcher: far", true),
        (Place::Words, "launcher: local", false),
        (Place::Words, "", true),
        (Place::Here, "", false),
    ] {
        let scene = at(place, answers(), &json!({}));
        agent(&scene, own);
        let result = run(&scene, &User::default()).await;
        assert!(result.text.starts_with("The whole answer."), "{place:?}, {own}: {}", result.text);
        assert_eq!(read(&scene, "far/launches").lines().count(), usize::from(is_far), "{place:?}, {own}");
    }
}

#[tokio::test]
async fn placeholders_are_filled_and_quoted_for_a_shell() {
    let child = Child::new()
        .runs(r#"printf '%s\n' "$CWD" "$PROJECT" "$AGENT" "$RUN" "$PWD" >"$home/filled""#)
        .then(Child::answering())
        .listens();
    for (place, how) in [(Place::Words, "words"), (Place::Shell, "sh")] {
        let mut scene = at(place, child.clone(), &json!({}));
        let odd = "it's `odd` $HOME & \"more\"; exit";
        let cwd = scene.path("project").join(odd);
        let remote_cwd = scene.path("far").join(format!("{odd}-explorer"));
        for directory in [&cwd, &remote_cwd] {
            fs::create_dir_all(directory).expect("the directory is created");
        }
        scene.spec.cwd.clone_from(&cwd);
        let root = scene.path("far").to_string_lossy().into_owned();
        let words = ["/bin/sh", FAR, how, &root];
        let sets = ["CWD={cwd}", "PROJECT={project}", "AGENT={agent}", "RUN={runId}", "{argv}"];
        // A launcher with separate arguments has no shell that would read an assignment.
        let env = (how == "words").then_some("env");
        let command: Vec<&str> = words.into_iter().chain(env).chain(sets).collect();
        far(&mut scene)["command"] = json!(command);
        far(&mut scene)["cwd"] = format!("{root}/{{project}}-{{agent}}").into();
        let result = run(&scene, &User::default()).await;
        let id = result.details.run_id.clone().expect("the run has an ID");
        let expected = format!(
            "{}\n{odd}\nexplorer\n{id}\n{}\n",
            cwd.display(),
            remote_cwd.canonicalize().expect("the path exists").display()
        );
        assert_eq!(read(&scene, "filled"), expected, "{how}: {}", result.text);
    }
}

/// A call with two tasks.
fn tasks(scene: &Scene, tasks: [&str; 2]) -> (TasksSpec, Call) {
    let task = |task: &str| TaskSpec { agent: "explorer".into(), task: task.into(), ..TaskSpec::default() };
    let spec = TasksSpec {
        tasks: tasks.map(task).to_vec(),
        cwd: scene.spec.cwd.clone(),
        context: Arc::clone(&scene.spec.context),
    };
    let call = extension::call(Arc::new(User::default()));
    (spec, call)
}

fn all_completed(result: &ToolResult) {
    let outcomes: Vec<_> = result.details.results.iter().map(|single| single.outcome).collect();
    assert_eq!(outcomes, [RunOutcome::Completed; 2], "{}", result.text);
}

#[tokio::test]
async fn parallel_tasks_and_chain_steps_run_remotely() {
    let second = "Second.";
    let cases =
        [("First.", Child::new().says("Second, after the first.")), ("second", Child::new().says(second))];
    let child =
        Child::working().depending_on_command(&cases, &Child::new().says("First.")).settles().listens();
    for place in [Place::Words, Place::Shell] {
        let scene = at(place, child.clone(), &json!({}));
        let (spec, call) = tasks(&scene, ["first", "second"]);
        let result = Box::pin(parallel(spec, call)).await;
        all_completed(&result);
        assert!(result.text.contains("First.") && result.text.contains("Second."), "{}", result.text);
        let (spec, call) = tasks(&scene, ["first", "second: {previous}"]);
        let result = Box::pin(chain(spec, call)).await;
        all_completed(&result);
        assert!(result.text.contains("Second, after the first."), "{}", result.text);
        assert_eq!(read(&scene, "far/launches").lines().count(), 4, "{place:?}");
    }
}

/// A child that ends while another child works reports it. Two children that work at once find each other.
#[tokio::test]
async fn a_launcher_never_exceeds_its_limit_of_children() {
    let working = |pause: Child| {
        Child::new()
            .runs(r#"mkdir "$home/alone" 2>/dev/null || echo >"$home/together""#)
            .receives()
            .starts()
            .then(pause)
            .says("Done.")
            .runs(r#"rmdir "$home/alone" 2>/dev/null"#)
            .settles()
            .listens()
    };
    for (max, is_together, pause) in [
        (1, false, Child::new().runs("sleep 0.3")),
        // They wait for each other, so their speed does not matter.
        (2, true, Child::new().waits_for("together")),
    ] {
        let mut scene =
            at(Place::Words, working(pause), &json!({ "maxConcurrent": 4, "parallelConcurrency": 4 }));
        far(&mut scene)["maxConcurrent"] = max.into();
        let (spec, call) = tasks(&scene, ["first", "second"]);
        all_completed(&Box::pin(parallel(spec, call)).await);
        assert_eq!(scene.path("together").exists(), is_together, "at most {max} children run together");
    }
}

/// Returns `doctor`'s check of the only launcher.
async fn launcher_check(scene: &Scene) -> Check {
    let found = checks(scene, User::default()).await.into_iter().filter(|check| check.area == "launcher");
    let mut found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[tokio::test]
async fn doctor_reports_the_start_time_and_problems_of_the_remote_machine() {
    let missing = "/no/such/program";
    let refuses = Child::new().runs(
        r#"[ "$1" = --version ] && { echo 1.6.0; exit 0; }; echo 'Error: cannot load guard.cjs' >&2; exit 1"#,
    );
    for (label, child, settings, status, expected) in [
        (
            "sound",
            Child::answering_doctor("1.6.0"),
            json!({}),
            Status::Ok,
            &[
                "`far`: pi 1.6.0 with our guard in",
                "connecting takes ",
                ", starting pi takes ",
                "remote git ",
            ][..],
        ),
        (
            "no launcher",
            Child::answering_doctor("1.6.0"),
            json!({ "command": [missing, "{argv}"] }),
            Status::Error,
            &["its program `/no/such/program` was not found"],
        ),
        (
            "no `cancel`",
            Child::answering_doctor("1.6.0"),
            json!({ "cancel": [missing] }),
            Status::Error,
            &["`/no/such/program`, which its `cancel` begins with, was not found"],
        ),
        (
            "no `fetch`",
            Child::answering_doctor("1.6.0"),
            json!({ "fetch": [missing, "{session}"] }),
            Status::Error,
            &["`/no/such/program`, which its `fetch` begins with, was not found"],
        ),
        (
            "no pi",
            Child::answering_doctor("1.6.0"),
            json!({ "command": ["/bin/sh", "-c", "echo 'no route to host' >&2; exit 255", "{argv}"] }),
            Status::Error,
            &["no child was started: no route to host"],
        ),
        (
            "no pi",
            Child::answering_doctor("1.6.0"),
            json!({ "piCommand": ["no-such-pi"] }),
            Status::Error,
            &["pi did not start in", "no-such-pi"],
        ),
        (
            "an old pi",
            Child::answering_doctor("0.50.0"),
            json!({}),
            Status::Warning,
            &["`far`: pi 0.50.0 with our guard in"],
        ),
        (
            "no guard",
            refuses,
            json!({}),
            Status::Error,
            &["pi 1.6.0 starts in", "but not with our guard: Error: cannot load guard.cjs"],
        ),
    ] {
        let mut scene = at(Place::Words, child, &json!({ "launcher": "local" }));
        far(&mut scene)
            .as_object_mut()
            .expect("the value is an object")
            .extend(settings.as_object().expect("the value is an object").clone());
        let check = launcher_check(&scene).await;
        assert_eq!(check.status, status, "{label}: {check:?}");
        for expected in expected {
            assert!(check.message.contains(expected), "{label}: {check:?}");
        }
        assert_eq!(read(&scene, "cancelled"), "", "{label}: the launcher was not cancelled");
    }
}

#[tokio::test]
async fn doctor_reports_whether_the_remote_machine_has_git_and_uses_a_new_id_each_time() {
    let mut scene = at(Place::Words, Child::answering_doctor("1.6.0"), &json!({ "launcher": "local" }));
    let bin = scene.path("bin");
    fs::create_dir_all(&bin).expect("the directory is created");
    for name in ["sh", "dd", "mktemp", "mkfifo", "rm", "env", "sleep", "cat", "mkdir"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").expect("`PATH` is set"))
            .map(|place| place.join(name))
            .find(|path| path.exists());
        symlink(found.expect("the program is installed"), bin.join(name)).expect("the link is created");
    }
    let own = far(&mut scene)["command"].clone();
    let words = [json!("/bin/sh"), json!("-c"), json!("PATH=$0; exec \"$@\""), json!(bin)];
    far(&mut scene)["command"] =
        words.into_iter().chain(own.as_array().expect("the value is an array").iter().cloned()).collect();
    let check = launcher_check(&scene).await;
    assert_eq!(check.status, Status::Ok, "{check:?}");
    assert!(check.message.contains("no remote `git`, so `isolation: private` is unavailable"), "{check:?}");
    launcher_check(&scene).await;
    let launches = read(&scene, "far/launches");
    let ids: Vec<&str> =
        launches.split_whitespace().filter_map(|word| word.strip_prefix("pi-subagent-")).collect();
    assert_eq!(ids.len(), 2, "{launches}");
    assert!(ids[0] != ids[1] && ids.iter().all(|id| id.len() == 8), "{ids:?}");
}

/// Agents may write in the project, so a later run must not start a program from there.
#[tokio::test]
async fn a_launcher_is_never_a_program_of_the_project() {
    let mut scene = at(Place::Words, answers(), &json!({}));
    let program = |scene: &Scene, name: &str, text: &str| {
        let path = scene.path(name);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        fs::write(&path, text).expect("the file is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the permissions are set");
        path
    };
    let planted = program(&scene, "project/bin/box", "#!/bin/sh\ntouch \"${0%/*}/../../planted\"\nexit 1\n");
    far(&mut scene)["command"][0] = "box".into();
    let env = &mut Arc::make_mut(&mut scene.spec.context).env;
    let system = env.pop().expect("`PATH` is set").1;
    let entries = [scene.path("project/bin"), scene.path("bin")];
    let path = std::env::join_paths(entries.into_iter().chain(std::env::split_paths(&system)));
    Arc::make_mut(&mut scene.spec.context).env = vec![("PATH".into(), path.expect("a search path"))];

    let note = format!("`{}` is not used, because agents may write there", planted.display());
    let result = run(&scene, &User::default()).await;
    assert!(
        result.text.contains(&format!("program `box` is in no directory of PATH; {note}")),
        "{}",
        result.text
    );
    let checks = checks(&scene, User::default()).await;
    let expected = format!("its program `box` was not found; {note}");
    assert!(checks.iter().any(|check| check.message.contains(&expected)), "{checks:?}");

    // The same name outside of the project. What it starts does not see the project's programs either.
    let seen = scene.path("seen");
    let text = format!("#!/bin/sh\necho \"$PATH\" >'{}'\nexec /bin/sh \"$@\"\n", seen.display());
    program(&scene, "bin/box", &text);
    let result = run(&scene, &User::default()).await;
    assert!(result.text.starts_with("The whole answer."), "{}", result.text);
    let expected = format!("{}:", scene.path("bin").display());
    assert!(read(&scene, "seen").starts_with(&expected), "{}", read(&scene, "seen"));
    assert!(!scene.path("planted").exists());
}
