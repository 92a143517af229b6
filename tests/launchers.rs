//! Remote children behave like local ones in each scene. The launcher is a stand-in, the children are scripted.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::support::child::{Child, GUARD_KEY, ordered};
use crate::support::engine::naming;
use crate::support::extension::{self, EventRecorder};
use crate::support::pids::eventually;
use crate::support::remote::{Place, TASK, at, endless, launcher, places, read, remote_places};
use crate::support::scene::Scene;
use crate::support::stage::{PATIENCE, User};
use pi_subagent_native::doctor::doctor;
use pi_subagent_native::orchestrate::background::{
    ConversationScope, KnownDeliveries, Receipt, SpawnRequest, background, close_conversation,
    mark_delivered, open_conversation, resume, send, spawn, until_settled,
};
use pi_subagent_native::orchestrate::{BackgroundMove, Call, single};
use pi_subagent_native::run::{
    Answer, ChildQuestion, Control, Host, HostContext, HostTool, RunOutcome, RunOverrides, RunSpec,
    ToolResult,
};
use serde_json::{Value, json};
use supervisor::{Cancel, CancelReason};
use tokio::time::timeout;

/// The parts that do not depend on the place.
fn shape(result: &ToolResult) -> Value {
    let single = &result.details.results[0];
    let usage = &single.usage;
    let error = single.error.as_deref().and_then(|error| {
        // A local run has no note about a remote machine.
        let error =
            error.strip_prefix("pi on the other machine (`far`) ended before it answered: ").unwrap_or(error);
        let own =
            error.lines().find(|line| !line.starts_with("srun: ")).unwrap_or("the child gave no reason");
        own.split(" reached: ").next().map(str::to_owned)
    });
    json!({
        "text": result.text.lines().next(),
        "outcome": format!("{:?}", single.outcome),
        "exit": single.exit_code,
        "error": error,
        "attempts": single.attempts,
        "usage": [usage.input, usage.output, usage.turns],
        "structured": format!("{:?}", result.details.error.as_ref().map(|error| error.code)),
    })
}

#[tokio::test]
async fn every_scene_has_the_same_result_as_a_local_run() {
    let answers = || Child::answering().listens();
    let fails = || Child::working().says("").with_error("529: overloaded").settles().listens();
    let second = Child::new().once("once", &fails()).then(answers());
    let turns = Child::working()
        .says("One.")
        .with_stop_reason("toolUse")
        .says("Two.")
        .with_stop_reason("toolUse")
        .says("Three.")
        .with_stop_reason("toolUse")
        .waits_for("never");
    let json_mode = Child::new().reads_task().starts().says("Read it.").settles();
    let table = [
        ("an answer", answers(), json!({})),
        ("an answer in json mode", json_mode, json!({ "protocol": "json" })),
        ("a provider error", fails(), json!({})),
        ("a retry", second, json!({ "retry": { "enabled": true, "backoffMs": 1 } })),
        ("an exit code", Child::new().receives().runs("echo 'no such thing' >&2").exits(3), json!({})),
        ("an exit code in json mode", Child::new().reads_task().exits(4), json!({ "protocol": "json" })),
        ("a hard limit", Child::working().waits_for("never"), json!({ "timeoutMs": 800 })),
        ("a limit of silence", Child::working().waits_for("never"), json!({ "idleTimeoutMs": 800 })),
        (
            "a limit in json mode",
            Child::new().starts().waits_for("never"),
            json!({ "timeoutMs": 800, "protocol": "json" }),
        ),
        ("a budget", turns, json!({ "budget": { "maxTurns": 2 } })),
    ];
    for (label, child, config) in table {
        let mut here = None;
        for place in places() {
            let scene = at(place, child.clone(), &config);
            let result = scene.run_with(&User::default(), &Control::default()).await.0;
            let shape = shape(&result);
            let expected = here.get_or_insert_with(|| shape.clone());
            assert_eq!(&shape, expected, "{label}, {place:?}: {:?}", result.details.results[0].error);
            if label == "an answer in json mode" {
                assert_eq!(read(&scene, "task"), TASK, "{place:?}");
            }
            if label == "an answer" {
                let received: Value =
                    serde_json::from_str(read(&scene, "received").trim()).expect("the text is valid JSON");
                assert_eq!(received["message"], TASK, "{place:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_abort_ends_the_remote_child_and_runs_cancel_with_the_id_of_the_run() {
    let each = remote_places().into_iter().flat_map(|place| [(place, "rpc"), (place, "json")]);
    for (place, protocol) in each {
        let scene = at(place, endless(protocol), &json!({ "protocol": protocol }));
        let cancel = Cancel::new();
        let control = Control { cancel: cancel.clone(), ..Control::default() };
        let user = User::default();
        let abort = async {
            eventually("the start of the child", || read(&scene, "pid").ends_with('\n')).await;
            assert!(naming(&scene.path("pi.sh")) > 0, "{place:?}");
            cancel.cancel(CancelReason::Caller(None));
        };
        let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), abort);
        let single = &result.details.results[0];
        assert_eq!(single.outcome, RunOutcome::Aborted, "{place:?}");
        eventually("the end of the child", || naming(&scene.path("pi.sh")) == 0).await;
        assert_eq!(
            Some(read(&scene, "cancelled").trim()),
            result.details.run_id.as_deref(),
            "{place:?} {:?}",
            single.diagnostics
        );
    }
}

#[tokio::test]
async fn a_message_reaches_the_remote_child() {
    let child = Child::working().receives().says("Heard it.").settles().listens();
    for place in places() {
        let scene = at(place, child.clone(), &json!({}));
        let control = Control::default();
        let user = User::default();
        let steer = async {
            eventually("the task", || !read(&scene, "received").is_empty()).await;
            assert!(control.steering.steer("and mind the gap"));
        };
        let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), steer);
        assert_eq!(result.text.lines().next(), Some("Heard it."), "{place:?}");
        assert!(read(&scene, "received").contains("mind the gap"), "{place:?}");
        assert_eq!(read(&scene, "cancelled"), "", "a run that ends by itself is not cancelled");
    }
}

#[tokio::test]
async fn a_question_of_the_remote_child_is_answered() {
    let child = Child::new()
        .shows_guard_key()
        .receives()
        .starts()
        .receives()
        .asks_for_colour("q1", &format!("{GUARD_KEY} Which?"))
        .receives()
        .saves_command("answer")
        .says("Done.")
        .settles()
        .listens();
    for place in places() {
        let scene = at(place, child.clone(), &json!({}));
        fs::create_dir_all(scene.path("agent/agents")).expect("the directory is created");
        let agent = "---\nname: explorer\nreadonly: true\ntools: read\nask: true\n---\nAsk.\n";
        fs::write(scene.path("agent/agents/explorer.md"), agent).expect("the agent file is written");
        let answers =
            |ChildQuestion { question, .. }: ChildQuestion| Answer::Value(question.options[1].clone());
        let user = User { answers: Some(Box::new(answers)), ..User::default() };
        let result = scene.run_with(&user, &Control::default()).await.0;
        assert_eq!(result.text.lines().next(), Some("Done."), "{place:?}");
        assert!(read(&scene, "answer").contains(r#""value":"green""#), "{place:?}");
    }
}

#[tokio::test]
async fn only_named_variables_are_passed_and_neither_they_nor_the_prompt_are_arguments() {
    let keeps_arguments = r#"env >"$home/env"; pwd >"$home/pwd"; for word; do printf '%s\n' "$word"; done >"$home/argv"
while [ "$1" != -e ]; do [ "$1" = --append-system-prompt ] && cp "$2" "$home/prompt"; shift; done
cp "$2" "$home/guard""#;
    let child = Child::new().runs(keeps_arguments).replies("Done.").listens();
    for place in [Place::Words, Place::Shell] {
        let mut scene = at(place, child.clone(), &json!({}));
        let context = Arc::make_mut(&mut scene.spec.context);
        let variables = [("NAMED", "it's $HERE\n"), ("OTHER", "x"), ("OPENAI_API_KEY", "made-up-value-0001")];
        context.env.extend(variables.map(|(name, value)| (name.into(), value.into())));
        fs::create_dir_all(scene.path("agent/agents")).expect("the directory is created");
        let agent =
            "---\nname: explorer\nreadonly: true\ntools: read, bash\n---\nIt's `yours` to \"find\" $out.\n";
        fs::write(scene.path("agent/agents/explorer.md"), agent).expect("the agent file is written");
        let result = scene.run_with(&User::default(), &Control::default()).await.0;
        assert_eq!(
            result.text.lines().next(),
            Some("Done."),
            "{place:?} {:?}",
            result.details.results[0].error
        );
        let env = read(&scene, "env");
        assert!(env.contains("NAMED=it's $HERE\n\n") || env.contains("NAMED=it's $HERE\n"), "{env}");
        assert!(env.contains("PI_SUBAGENT_TOOLS=read\n") && env.contains("FAR="), "{env}");
        assert!(!env.contains("OTHER=") && !env.contains("OPENAI_API_KEY"), "{env}");
        let started = read(&scene, "far/env");
        assert!(started.contains("OTHER=x") && !started.contains("made-up-value"), "{started}");
        assert_eq!(
            Path::new(read(&scene, "pwd").trim()),
            scene.path("far").canonicalize().expect("the path exists")
        );
        assert!(read(&scene, "prompt").starts_with("It's `yours` to \"find\" $out."), "{place:?}");
        assert_eq!(read(&scene, "guard"), include_str!("../extension/child-guard.cjs"));
        let words = read(&scene, "far/launches");
        assert!(words.contains("pi-subagent-") && words.len() < 200, "{words}");
        let argv = read(&scene, "argv");
        assert!(argv.contains("--no-session\n") && argv.contains("--no-extensions\n"), "{argv}");
        assert!(
            !argv.contains(&*scene.path("agent").to_string_lossy()),
            "the arguments contain a local path: {argv}"
        );
        let remaining = fs::read_dir(std::env::temp_dir()).expect("the directory is readable").flatten();
        let prompt = argv
            .lines()
            .skip_while(|word| *word != "-e")
            .nth(1)
            .expect("the arguments name the guard")
            .to_owned();
        assert!(
            !Path::new(&prompt).exists(),
            "{prompt} still exists; the temporary directory has {} entries",
            remaining.count()
        );

        let single = &result.details.results[0];
        let sandbox = single.sandbox.as_ref().expect("the result has a sandbox report");
        assert!(
            !sandbox.enforced && sandbox.reason.as_deref().is_some_and(|why| why.contains("`far` starts")),
            "{sandbox:?}"
        );
        assert_eq!(single.session_file, None);
        assert!(
            single.diagnostics.iter().any(|notice| notice.starts_with("`bash` was dropped")),
            "{:?}",
            single.diagnostics
        );
    }
}

#[tokio::test]
async fn a_launcher_declared_readonly_gives_a_shell_and_the_result_names_the_claim() {
    let child =
        Child::new().runs(r#"printf '%s' "$PI_SUBAGENT_TOOLS" >"$home/tools""#).replies("Done.").listens();
    let mut scene = at(Place::Words, child, &json!({}));
    let mut own = launcher(scene.root.path(), "words");
    own["readonly"] = true.into();
    let context = Arc::make_mut(&mut scene.spec.context);
    context.config.as_mut().expect("the context has a configuration")["launchers"]["far"] = own;
    let tool = |name: &str, extension: Option<&str>| HostTool {
        name: name.into(),
        extension: extension.map(Into::into),
    };
    context.host.tools =
        Some(vec![tool("read", None), tool("bash", None), tool("grep", Some("/ext/grep.ts"))]);
    let result = scene.run_with(&User::default(), &Control::default()).await.0;
    let tools = read(&scene, "tools");
    assert!(tools.split(',').any(|tool| tool == "bash"), "{tools}");
    assert!(!tools.contains("grep"), "the tools of local extensions are not available: {tools}");
    let reason = result.details.results[0].sandbox.as_ref().and_then(|sandbox| sandbox.reason.clone());
    assert_eq!(
        reason.as_deref(),
        Some("your configuration declares `far` `readonly`; nothing on this machine has checked that")
    );
}

#[tokio::test]
async fn the_session_is_copied_back_if_the_launcher_has_a_command_for_it() {
    let writes_session = r#"while [ "$1" != --session ]; do shift; done
printf '{"type":"session","cwd":"/far"}\n{"type":"message"}\n' >"$2""#;
    let child = Child::new().runs(writes_session).replies("Done.").listens();
    for (fetch, expected) in [
        (r#"cat "$0/{session}""#, Ok("{\"type\":\"session\",\"cwd\":\"/far\"}\n{\"type\":\"message\"}\n")),
        ("echo 'no such host' >&2; exit 255", Err("`launchers.far.fetch` failed: no such host")),
        ("echo Welcome", Err("its output is not a session")),
    ] {
        let mut scene = at(Place::Words, child.clone(), &json!({}));
        let mut own = launcher(scene.root.path(), "words");
        own["fetch"] = json!(["/bin/sh", "-c", fetch, scene.path("far/home").to_string_lossy()]);
        let context = Arc::make_mut(&mut scene.spec.context);
        context.config.as_mut().expect("the context has a configuration")["launchers"]["far"] = own;
        let result = scene.run_with(&User::default(), &Control::default()).await.0;
        let single = &result.details.results[0];
        assert_eq!(single.outcome, RunOutcome::Completed);
        match expected {
            Ok(session) => {
                let path = single.session_file.as_deref().expect("the run has a session file");
                assert_eq!(fs::read_to_string(path).expect("the file is readable"), session);
                let is_noted = single.diagnostics.iter().any(|notice| notice.contains("session"));
                assert!(!is_noted, "{:?}", single.diagnostics);
            }
            Err(why) => {
                let is_noted = single.diagnostics.iter().any(|notice| notice.contains(why));
                assert!(is_noted, "{:?}", single.diagnostics);
            }
        }
    }
}

#[tokio::test]
async fn local_only_features_are_refused_by_name() {
    let writer = |more: &str| format!("---\nname: explorer\n{more}\n---\nWrite.\n");
    let cases = [
        (
            writer("launcher: cluster"),
            "the agent requests the launcher `cluster`, but `launchers` in your configuration defines only `far`, `local`",
        ),
        (writer("check: make test"), "launcher: `check` is not available with `far`"),
        (
            writer("sandbox: required"),
            "the required sandbox is unavailable: `far` starts the child on another machine",
        ),
    ];
    for (agent, expected) in cases {
        let scene = at(Place::Words, Child::new(), &json!({ "allowWrite": true }));
        fs::create_dir_all(scene.path("agent/agents")).expect("the directory is created");
        fs::write(scene.path("agent/agents/explorer.md"), &agent).expect("the agent file is written");
        let result = scene.run_with(&User::default(), &Control::default()).await.0;
        let error = result.details.results[0].error.clone().expect("the run is refused");
        assert!(error.starts_with(expected), "{error}");

        let context = in_conversation(scene.spec.context.as_ref());
        let service = background(&scene.path("agent"));
        let request = SpawnRequest::new("look around".into(), scene.spec.cwd.clone(), context);
        let Receipt::Error { error } = spawn(&service, request, Arc::new(User::default())).await else {
            panic!("the run was accepted with {agent}");
        };
        assert!(error.starts_with(expected), "{error}");
        assert!(service.runs(Some(SESSION.into())).await.is_empty(), "no run was stored");
        assert_eq!(read(&scene, "far/launches"), "", "no child was started");
    }
}

#[tokio::test]
async fn a_remote_child_submits_a_structured_result() {
    let end = ordered!({
        "toolCallId": "c1",
        "toolName": "submit_result",
        "result": { "content": [], "details": { "submitted": { "files": ["a"] } } },
        "isError": false,
    });
    let child = Child::working()
        .calls_tool("Found.", "submit_result")
        .emits("tool_execution_end", &end)
        .emits("turn_end", &ordered!({ "message": {}, "toolResults": [] }))
        .settles()
        .listens();
    for place in places() {
        let mut scene = at(place, child.clone(), &json!({}));
        scene.spec.overrides.output_schema = Some(json!({ "type": "object" }));
        let result = scene.run_with(&User::default(), &Control::default()).await.0;
        let single = &result.details.results[0];
        assert_eq!(single.structured, Some(json!({ "files": ["a"] })), "{place:?}: {}", result.text);
    }
}

const SESSION: &str = "conversation";

fn in_conversation(context: &HostContext) -> Arc<HostContext> {
    let host = Host { session_id: Some(SESSION.into()), ..Host::default() };
    Arc::new(HostContext { host, ..context.clone() })
}

/// The context of a conversation whose children run at a place.
fn conversation(place: Place, child: Child) -> (Scene, Arc<HostContext>) {
    let mut scene = at(place, child, &json!({}));
    scene.spec.context = in_conversation(&scene.spec.context);
    let context = Arc::clone(&scene.spec.context);
    (scene, context)
}

#[tokio::test]
async fn a_remote_background_run_is_delivered_once_and_accepts_messages() {
    for place in places() {
        let (scene, context) =
            conversation(place, Child::working().receives().says("Heard you.").settles().listens());
        let service = background(&scene.path("agent"));
        let listener = EventRecorder::default();
        let cwd = scene.spec.cwd.clone();
        let scope = || ConversationScope {
            cwd: cwd.clone(),
            context: Arc::clone(&context),
            ends_with: Cancel::new(),
        };
        let view = open_conversation(
            &service,
            SESSION.into(),
            scope(),
            KnownDeliveries::default(),
            listener.clone(),
        )
        .await;
        let request = SpawnRequest::new("look around".into(), scene.spec.cwd.clone(), Arc::clone(&context));
        let receipt = spawn(&service, request, Arc::new(User::default())).await;
        eventually("the task", || !read(&scene, "received").is_empty()).await;
        let run = service.runs(Some(SESSION.into())).await.remove(0);
        let sent = send(&service, &run, "and mind the gap", &scope(), None, Arc::new(User::default())).await;
        timeout(PATIENCE, until_settled(&service, &view, None)).await.expect("all runs have ended");
        let messages =
            || listener.0.lock().iter().filter_map(|event| event.message.clone()).collect::<Vec<_>>();
        eventually("a message", || !messages().is_empty()).await;
        assert!(mark_delivered(&service, &view, messages()[0].delivery_ids.clone()).await);
        assert_eq!(messages().len(), 1, "{place:?} {receipt:?} {sent:?}");
        assert!(messages()[0].text.contains("Heard you."), "{place:?}: {:?}", messages());
        close_conversation(&service, &view).await;
    }
}

#[tokio::test]
async fn continuing_a_remote_run_is_refused_with_the_name_of_the_launcher() {
    let (scene, context) = conversation(Place::Words, Child::answering().listens());
    let service = background(&scene.path("agent"));
    let cwd = scene.spec.cwd.clone();
    let scope =
        || ConversationScope { cwd: cwd.clone(), context: Arc::clone(&context), ends_with: Cancel::new() };
    let known = KnownDeliveries::default();
    let view = open_conversation(&service, SESSION.into(), scope(), known, EventRecorder::default()).await;
    let request = SpawnRequest::new("look around".into(), cwd.clone(), Arc::clone(&context));
    spawn(&service, request, Arc::new(User::default())).await;
    timeout(PATIENCE, until_settled(&service, &view, None)).await.expect("the run has ended");
    let run = service.runs(Some(SESSION.into())).await.remove(0);
    let refused = resume(&service, &run, None, &scope(), Arc::new(User::default())).await;
    assert_eq!(
        refused.expect_err("the run is refused").to_string(),
        "launcher: a run cannot be continued with `far`, which starts the child on another machine; `launcher: local` keeps it on this one"
    );
    assert_eq!(service.runs(Some(SESSION.into())).await, [run]);
    close_conversation(&service, &view).await;
}

#[tokio::test]
async fn a_call_with_a_remote_child_is_moved_and_delivered_once() {
    for place in places() {
        let (scene, context) =
            conversation(place, Child::working().waits_for("go").says("Late answer.").settles().listens());
        let service = background(&scene.path("agent"));
        let listener = EventRecorder::default();
        let scope = ConversationScope { cwd: scene.spec.cwd.clone(), context, ends_with: Cancel::new() };
        let view =
            open_conversation(&service, SESSION.into(), scope, KnownDeliveries::default(), listener.clone())
                .await;
        let background_move = BackgroundMove::default();
        let call =
            Call { background_move: background_move.clone(), ..extension::call(Arc::new(User::default())) };
        let spec = RunSpec { overrides: RunOverrides::default(), ..scene.spec.clone() };
        let call = tokio::spawn(single(spec, call));
        eventually("the task", || !read(&scene, "received").is_empty()).await;
        let runs = timeout(PATIENCE, background_move.request())
            .await
            .expect("the request is answered in time")
            .expect("the call is moved");
        assert_eq!(runs.len(), 1, "{place:?}");
        let receipt =
            timeout(PATIENCE, call).await.expect("the call has ended").expect("the task does not panic");
        assert_eq!(receipt.details.results[0].outcome, RunOutcome::Background);
        fs::write(scene.path("go"), "").expect("the file is written");
        timeout(PATIENCE, until_settled(&service, &view, None)).await.expect("all runs have ended");
        let messages =
            || listener.0.lock().iter().filter_map(|event| event.message.clone()).collect::<Vec<_>>();
        eventually("a message", || !messages().is_empty()).await;
        assert!(mark_delivered(&service, &view, messages()[0].delivery_ids.clone()).await);
        assert_eq!(messages().len(), 1, "{place:?}");
        assert!(messages()[0].text.contains("Late answer."), "{place:?}: {:?}", messages());
        close_conversation(&service, &view).await;
    }
}

#[tokio::test]
async fn a_task_in_json_mode_is_not_a_command_of_the_remote_pi() {
    for place in places() {
        let mut scene = at(
            place,
            Child::new().reads_task().starts().says("Read it.").settles(),
            &json!({ "protocol": "json" }),
        );
        scene.spec.task = "/quit now".into();
        let result = scene.run_with(&User::default(), &Control::default()).await.0;
        assert_eq!(result.details.results[0].outcome, RunOutcome::Completed, "{place:?}: {}", result.text);
        assert_eq!(read(&scene, "task"), "Task: /quit now", "{place:?}");
    }
}

/// Names a real pi, its interpreter and its script. `npm run test:engines` sets it.
const PI: &str = "PI_SUBAGENT_TEST_PI";

#[tokio::test]
async fn doctor_starts_the_remote_pi_with_the_guard_or_reports_the_problem() {
    // Some versions of pi print it on standard error, for example 0.74.0.
    let child = Child::new()
        .runs(r#"[ "$1" = --version ] && { printf 'A word of its runtime.\n1.6.0\n' >&2; exit 0; }"#)
        .reports_state();
    let real = std::env::var(PI).ok().map(|words| json!(words.split(' ').collect::<Vec<_>>()));
    for place in remote_places() {
        for (pi, expected) in [(None, "`far`: pi 1.6.0 with our guard in"), (Some("no-such-pi"), "`far`: ")] {
            let mut scene = at(place, child.clone(), &json!({}));
            let context = Arc::make_mut(&mut scene.spec.context);
            let far =
                &mut context.config.as_mut().expect("the context has a configuration")["launchers"]["far"];
            match (pi, &real) {
                (Some(missing), _) => far["piCommand"] = json!([missing]),
                (None, Some(real)) => far["piCommand"] = real.clone(),
                (None, None) => {}
            }
            let context = Arc::clone(&scene.spec.context);
            let checks = doctor(scene.spec.cwd.clone(), context, Arc::new(User::default())).await;
            let found: Vec<_> = checks.iter().filter(|check| check.area == "launcher").collect();
            let [check] = &found[..] else {
                panic!("the report does not have exactly one launcher: {found:?}")
            };
            assert!(check.message.starts_with(expected), "{place:?}: {check:?}");
            assert_eq!(check.message.contains("no-such-pi"), pi.is_some(), "{place:?}: {check:?}");
        }
    }
}
