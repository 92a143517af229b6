//! The tools with which a conversation's model queries and controls its runs. The children are scripted.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::child::Child;
use crate::support::extension::{self, EventRecorder};
use crate::support::hidden::{assert_all_seen, with_hidden};
use crate::support::pids::eventually;
use crate::support::stage::{self, PATIENCE, User, stage};
use agents::Tool;
use files::layout;
use pi_subagent_native::orchestrate::background::{
    BackgroundService, ConversationScope, ConversationView, KnownDeliveries, Receipt, RunRecord,
    SessionAnswer, SpawnRequest, background, close_conversation, commands, continue_run, mark_delivered,
    open_conversation, parse_call, spawn, until_settled, use_session_tool,
};
use pi_subagent_native::orchestrate::{EarlyCall, single};
use pi_subagent_native::run::{Host, HostContext, RunOutcome, RunOverrides, RunSpec, ToolResult};
use serde_json::{Value, json};
use supervisor::{Cancel, CancelReason};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::time::timeout;

const SESSION: &str = "conversation";
/// Repeats the task at once, and announces it.
fn answers() -> Child {
    Child::answering().replies("In short.").listens()
}
/// Works until it receives a second command, and repeats that command.
fn listens() -> Child {
    Child::working().receives().says("Heard you.").settles().replies("In short.").listens()
}

/// Writes to its session at its start, as an extension of pi may do, and with its answer.
fn writes() -> Child {
    Child::new()
        .runs(
            r#"while [ $# -gt 0 ]; do [ "$1" = --session ] && session=$2; shift; done
echo "{\"type\":\"custom\",\"by\":$$}" >> "$session"
echo $$ >> "$home/up""#,
        )
        .receives()
        .starts()
        .runs(r#"echo "{\"type\":\"message\",\"by\":$$}" >> "$session""#)
        .says_expanded("by $$")
        .settles()
        .replies("In short.")
        .listens()
}

struct Scene {
    root: TempDir,
    service: Arc<BackgroundService>,
    view: Arc<ConversationView>,
    listener: EventRecorder,
}

impl Scene {
    async fn new(child: Child) -> Self {
        let root = stage(child);
        let service = background(&root.path().join("agent"));
        let listener = EventRecorder::default();
        let scope = ConversationScope {
            cwd: root.path().join("project"),
            context: context(&root),
            ends_with: Cancel::new(),
        };
        let known = KnownDeliveries::default();
        let view = open_conversation(&service, SESSION.into(), scope, known, listener.clone()).await;
        Self { root, service, view, listener }
    }

    /// Writes messages into the transcript of the only run, one line each.
    async fn write_transcript(&self, messages: impl IntoIterator<Item = Value>) {
        let run = self.service.runs(Some(SESSION.into())).await.remove(0);
        let file = run.transcript.expect("the run has a transcript");
        let mut lines = fs::read_to_string(&file).expect("the file is readable");
        for (number, message) in messages.into_iter().enumerate() {
            let parent = number.checked_sub(1).map(|before| before.to_string());
            let entry = json!({ "type": "message", "id": number.to_string(), "parentId": parent, "message": message });
            lines.extend([entry.to_string(), "\n".to_owned()]);
        }
        fs::write(&file, lines).expect("the file is written");
    }

    async fn spawn(&self, label: &str) -> String {
        self.spawn_with(label, None).await
    }

    async fn spawn_with(&self, label: &str, cleanup: Option<&str>) -> String {
        let request = SpawnRequest::new(
            "look around\nand tell".into(),
            self.root.path().join("project"),
            context(&self.root),
        );
        let agent = Some("explorer".into());
        let label = Some(label.into());
        let request = SpawnRequest { agent, label, cleanup: cleanup.map(str::to_owned), ..request };
        match spawn(&self.service, request, Arc::new(User::default())).await {
            Receipt::Accepted { session_key, .. } => session_key,
            receipt => panic!("{receipt:?}"),
        }
    }

    /// A foreground call.
    async fn call(&self) -> ToolResult {
        self.call_with(RunOverrides::default()).await
    }

    async fn call_with(&self, overrides: RunOverrides) -> ToolResult {
        let spec = RunSpec {
            agent: "explorer".into(),
            label: None,
            task: "look".into(),
            cwd: self.root.path().join("project"),
            context: context(&self.root),
            share: 1,
            siblings: 1,
            overrides,
        };
        let call = extension::call(Arc::new(User::default()));
        timeout(PATIENCE, single(spec, call)).await.expect("the run ends")
    }

    async fn tool(&self, tool: &str, params: Value) -> SessionAnswer {
        self.tool_until(tool, params, &Cancel::new()).await
    }

    async fn tool_until(&self, tool: &str, params: Value, cancel: &Cancel) -> SessionAnswer {
        self.tool_of_call(tool, params, None, cancel).await
    }

    /// Calls a tool under this id of the host.
    async fn tool_of_call(
        &self,
        tool: &str,
        params: Value,
        host_id: Option<&str>,
        cancel: &Cancel,
    ) -> SessionAnswer {
        let call = match parse_call(tool, params).expect("the name is a session tool") {
            Ok(call) => call,
            Err(report) => return SessionAnswer::refused(report),
        };
        let user = Arc::new(User::default());
        timeout(PATIENCE, use_session_tool(&self.service, &self.view, call, host_id, user, cancel))
            .await
            .expect("the process answers")
    }

    /// Begins a call of `sessions_send` for this run, whose message has not arrived yet.
    fn begin_send(&self, run: &str) -> EarlyCall {
        let (project, context) = (self.root.path().join("project"), (*context(&self.root)).clone());
        let early = EarlyCall::new("call".into(), Tool::SessionsSend, project, context, Handle::current());
        early.push(&format!(r#"{{"sessionKey":"{run}","message":"#));
        early
    }

    /// Completes that call, and returns the reply of the run.
    async fn complete_send(&self, run: &str) -> Value {
        let params = json!({ "sessionKey": run, "message": "Go on.", "timeoutSeconds": 60 });
        self.tool_of_call("sessions_send", params, Some("call"), &Cancel::new()).await.value
    }

    /// Runs a first task, and returns its session file.
    async fn ended(&self, label: &str) -> PathBuf {
        self.spawn(label).await;
        self.settled().await;
        let run = self.service.runs(Some(SESSION.into())).await.remove(0);
        run.transcript.expect("the run has a transcript")
    }

    /// The number of the started children.
    fn started(&self) -> usize {
        fs::read_to_string(self.root.path().join("up")).unwrap_or_default().lines().count()
    }

    /// Waits until this number of children has written to its session.
    async fn until_started(&self, count: usize) {
        eventually(&format!("child {count}"), || self.started() >= count).await;
    }

    /// The paths in the directories of the runs.
    fn files_of_runs(&self) -> Vec<PathBuf> {
        let names = |path: &Path| {
            let entries = fs::read_dir(path).expect("the directory is readable");
            let mut paths: Vec<_> =
                entries.map(|entry| entry.expect("the entry is readable").path()).collect();
            paths.sort();
            paths
        };
        names(&self.root.path().join("sessions/conversation")).iter().flat_map(|run| names(run)).collect()
    }

    async fn settled(&self) {
        let settled = until_settled(&self.service, &self.view, Some(PATIENCE));
        timeout(PATIENCE, settled).await.expect("the conversation settles");
    }

    async fn until_received(&self, count: usize) {
        let received = self.root.path().join("received");
        eventually(&format!("command {count}"), || {
            fs::read_to_string(&received).is_ok_and(|text| text.lines().count() >= count)
        })
        .await;
    }

    /// The texts of the messages that the conversation received.
    fn messages(&self) -> Vec<String> {
        let events = self.listener.0.lock();
        events.iter().filter_map(|event| event.message.as_ref()).map(|message| message.text.clone()).collect()
    }

    async fn until_message(&self, count: usize) {
        eventually(&format!("message {count}"), || self.messages().len() >= count).await;
    }
}

fn context(root: &TempDir) -> Arc<HostContext> {
    let session_file = Some(root.path().join("sessions/conversation.jsonl"));
    let host = Host { session_id: Some(SESSION.into()), session_file, ..Host::default() };
    Arc::new(HostContext {
        host,
        ..stage::context(root.path(), json!({ "graceMs": 200, "announce": { "mode": "ask" } }))
    })
}

fn texts(value: &Value, list: &str, field: &str) -> Vec<String> {
    let items = value[list].as_array().expect("the value is an array");
    items.iter().map(|item| item[field].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn foreground_and_background_runs_are_listed_alike() {
    let scene = Scene::new(answers()).await;
    let key = scene.spawn("map").await;
    scene.settled().await;
    let result = scene.call().await;
    let run_id = result.details.run_id.clone().expect("the run has an ID");
    let SessionAnswer { value, is_error, .. } = scene.tool("sessions_list", json!({})).await;
    assert!(!is_error, "{value}");
    assert_eq!(texts(&value, "sessions", "state"), ["completed", "completed"]);
    assert_eq!(value["sessions"][0]["runId"], run_id, "the newest run comes first");
    assert_eq!(value["sessions"][0]["foreground"], true);
    assert_eq!(
        (&value["sessions"][1]["sessionKey"], &value["sessions"][1]["label"]),
        (&json!(key), &json!("map"))
    );
    assert_eq!(value["sessions"][1]["task"], "look around");
    assert_eq!(value["sessions"][1]["foreground"], Value::Null);
    for run in value["sessions"].as_array().expect("the value is an array") {
        assert!(run["tokens"].as_u64() > Some(0), "{run}");
        assert!(run["started"].as_str().is_some_and(|at| at.ends_with('Z')), "{run}");
    }
    let few = scene.tool("sessions_list", json!({ "limit": 1 })).await.value;
    assert_eq!((texts(&few, "sessions", "runId"), &few["more"]), (vec![run_id], &json!(1)));
    let listed = scene.service.runs(Some(SESSION.into())).await;
    assert_eq!(listed.len(), 2, "the user and the model see the same list");
}

#[tokio::test]
async fn last_names_the_newest_run_in_foreground_or_background() {
    let scene = Scene::new(answers()).await;
    let output_of = async |line: &str| {
        let answer = commands::answer(
            &scene.service,
            &scene.view,
            line,
            commands::CommandHost::default(),
            Arc::new(User::default()),
        );
        timeout(PATIENCE, answer).await.expect("the process answers").plain()
    };
    assert!(output_of("info last").await.contains("there is no run `last`"));
    scene.call().await;
    let run_id = scene.call().await.details.run_id.expect("the run has an ID");
    let output = output_of("info last").await;
    assert!(output.contains(&run_id), "{output}");
    let key = scene.spawn("map").await;
    scene.settled().await;
    let output = output_of("info last --paths").await;
    assert!(output.contains(&key), "{output}");
    let newest = scene.call().await.details.run_id.expect("the run has an ID");
    let list = output_of("list").await;
    let lines: Vec<_> = list.lines().filter(|line| line.contains('#')).collect();
    assert!(lines.len() == 4 && lines[3].contains(&newest), "{list}");
    assert!(!list.contains("its call"), "a run that has ended has no call: {list}");
    for command in ["info", "log", "diff", "apply", "discard", "undo", "resume"] {
        for name in ["last", "1"] {
            let output = output_of(format!("{command} {name}").as_str()).await;
            assert!(output.contains(&newest), "{command} {name}: {output}");
            scene.settled().await;
        }
    }
    // The list of an open conversation is updated with its next event.
    for command in ["info", "log", "resume", "send"] {
        eventually("the completion of the run's name", || {
            let offered = commands::complete(&format!("{command} "), &scene.view.runs(), &[], &[]);
            offered.first().is_some_and(|first| first.label == newest)
        })
        .await;
    }
}

/// The first run in the list may have ended.
#[tokio::test]
async fn stop_last_stops_the_newest_active_run() {
    let scene = Scene::new(listens()).await;
    let key = scene.spawn("map").await;
    scene.until_received(1).await;
    let older = scene.service.runs(Some(SESSION.into())).await.remove(0);
    let ended = RunRecord {
        key: "0badcafe-0000-4000-8000-000000000000".to_owned(),
        run_id: "0badcafe".to_owned(),
        created_ms: older.created_ms + 1,
        outcome: Some(RunOutcome::Completed),
        ..older.clone()
    };
    let target = commands::Target::new("last");
    let runs = [ended, older];
    let of =
        |wanted| commands::resolve(&target, &runs, &[], wanted).expect("the run is found").run_id.clone();
    assert_eq!(
        [of(commands::Wanted::Live), of(commands::Wanted::Any)],
        [runs[1].run_id.clone(), runs[0].run_id.clone()]
    );
    let stopped = scene.tool("sessions_stop", json!({ "sessionKey": key })).await;
    assert_eq!(stopped.value["status"], "stopped");
}

#[tokio::test]
async fn a_run_is_found_by_key_id_prefix_label_or_session_within_its_session_only() {
    let scene = Scene::new(answers()).await;
    let key = scene.spawn("map").await;
    scene.settled().await;
    let run = scene.service.runs(Some(SESSION.into())).await.remove(0);
    let session = run.child_session_id.clone().unwrap_or_default();
    for name in [&key, &run.run_id, &run.run_id[..5].to_owned(), &"map".to_owned(), &session] {
        let answer = scene.tool("sessions_history", json!({ "sessionKey": name })).await;
        assert!(
            !answer.is_error || answer.value["error"].as_str().is_some_and(|why| !why.contains("no run")),
            "{name}"
        );
    }
    let wrong = scene.tool("sessions_stop", json!({ "sessionKey": "mop" })).await;
    let why = wrong.value["error"].as_str().expect("the answer has an error");
    assert!(wrong.is_error && why.contains("`mop`") && why.contains("map"), "{why}");
    let number = scene.tool("sessions_history", json!({ "sessionKey": "1" })).await;
    assert!(number.is_error || run.run_id.starts_with('1'), "a list number does not name a run");
}

#[tokio::test]
async fn an_empty_name_matches_no_run() {
    let scene = Scene::new(Child::working().listens()).await;
    let key = scene.spawn("map").await;
    scene.until_received(1).await;
    for name in ["", "  ", "\n", "\u{200b}"] {
        for (tool, params) in [
            ("sessions_stop", json!({ "sessionKey": name })),
            ("sessions_history", json!({ "sessionKey": name })),
            ("sessions_send", json!({ "sessionKey": name, "message": "Stop." })),
        ] {
            let answer = scene.tool(tool, params).await;
            let why = answer.value["error"].as_str().unwrap_or_default();
            assert!(answer.is_error && why.contains("is empty"), "{tool} {name:?}: {why}");
        }
        let service = &scene.service;
        let continued = continue_run(service, &scene.view, name, None, Arc::new(User::default())).await;
        assert!(!matches!(continued, Receipt::Accepted { .. }), "{name:?}: {continued:?}");
        let target = commands::Target::new(name);
        let runs = service.runs(Some(SESSION.into())).await;
        assert!(commands::resolve(&target, &runs, &[], commands::Wanted::Live).is_err(), "{name:?}");
    }
    let list = scene.tool("sessions_list", json!({})).await;
    let states = texts(&list.value, "sessions", "state");
    assert!(matches!(&states[..], [state] if state == "starting" || state == "running"), "{states:?}");
    let stopped = scene.tool("sessions_stop", json!({ "sessionKey": key })).await;
    assert_eq!(stopped.value["status"], "stopped");
}

#[tokio::test]
async fn a_reply_with_a_waiting_caller_is_not_announced() {
    let scene = Scene::new(answers()).await;
    let key = scene.spawn("map").await;
    scene.until_message(1).await;
    let params = json!({ "sessionKey": key, "message": "And the tests?", "timeoutSeconds": 60 });
    let answer = scene.tool("sessions_send", params).await;
    assert_eq!(
        (answer.value["status"].as_str(), answer.value["reply"].as_str()),
        (Some("ok"), Some("In short."))
    );
    assert_eq!(answer.details.delivery_ids.len(), 1);
    scene.settled().await;
    assert_eq!(scene.messages().len(), 1, "only the first result is announced");
    assert!(mark_delivered(&scene.service, &scene.view, answer.details.delivery_ids).await);
    close_conversation(&scene.service, &scene.view).await;
}

#[tokio::test]
async fn an_unconfirmed_reply_is_offered_when_the_conversation_is_reopened() {
    let scene = Scene::new(answers()).await;
    let key = scene.spawn("map").await;
    scene.until_message(1).await;
    let delivered = {
        let events = scene.listener.0.lock();
        let message = events.iter().find_map(|event| event.message.as_ref()).expect("an event has a message");
        message.delivery_ids.clone()
    };
    let params = json!({ "sessionKey": key, "message": "And the tests?", "timeoutSeconds": 60 });
    let answer = scene.tool("sessions_send", params).await;
    close_conversation(&scene.service, &scene.view).await;
    let scope = ConversationScope {
        cwd: scene.root.path().join("project"),
        context: context(&scene.root),
        ends_with: Cancel::new(),
    };
    let known = KnownDeliveries { delivered, ..KnownDeliveries::default() };
    let again = EventRecorder::default();
    open_conversation(&scene.service, SESSION.into(), scope, known, again.clone()).await;
    eventually("the message with the reply", || {
        let events = again.0.lock();
        let mut messages = events.iter().filter_map(|event| event.message.as_ref());
        messages.any(|message| message.delivery_ids == answer.details.delivery_ids)
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_stopped_waiting_gets_a_message() {
    let scene = Scene::new(listens()).await;
    let key = scene.spawn("map").await;
    scene.until_received(1).await;
    let cancel = Cancel::new();
    cancel.cancel(CancelReason::Caller(None));
    let params = json!({ "sessionKey": key, "message": "Hurry.", "timeoutSeconds": 60 });
    let answer = scene.tool_until("sessions_send", params, &cancel).await;
    assert_eq!(answer.value["status"], "accepted");
    scene.until_message(1).await;
    assert!(scene.messages()[0].contains("In short."), "{}", scene.messages()[0]);
}

/// Works until the file `go` is there, and takes two messages in the meantime.
fn takes_two_messages() -> Child {
    let child = Child::working().receives().receives().waits_for("go");
    child.says("Heard you.").settles().replies("In short.").listens()
}

#[tokio::test]
async fn of_two_waiting_callers_one_gets_the_reply_and_the_other_one_does_not_get_an_empty_one() {
    let scene = Scene::new(takes_two_messages()).await;
    let key = scene.spawn("map").await;
    scene.until_received(1).await;
    let send = async |message: &str| {
        let params = json!({ "sessionKey": key, "message": message, "timeoutSeconds": 60 });
        scene.tool("sessions_send", params).await
    };
    let go = async {
        scene.until_received(3).await;
        fs::write(scene.root.path().join("go"), "").expect("the file is written");
    };
    let (one, other, ()) = tokio::join!(send("One."), send("Another."), go);
    let mut answers = [one.value, other.value].map(|answer| {
        let text = |field: &str| answer[field].as_str().unwrap_or_default().to_owned();
        (text("status"), text("reply"))
    });
    answers.sort();
    let text = str::to_owned;
    assert_eq!(answers, [(text("accepted"), text("")), (text("ok"), text("In short."))]);
    scene.settled().await;
    assert!(scene.messages().is_empty(), "the reply is not announced, too");
}

#[tokio::test]
async fn a_caller_still_gets_the_reply_after_another_one_stopped_waiting() {
    let scene = Scene::new(takes_two_messages()).await;
    let key = scene.spawn("map").await;
    scene.until_received(1).await;
    let send = async |seconds: u32| {
        let params = json!({ "sessionKey": key, "message": "Hurry.", "timeoutSeconds": seconds });
        scene.tool("sessions_send", params).await
    };
    let impatient = async {
        let answer = send(1).await;
        scene.until_received(3).await;
        fs::write(scene.root.path().join("go"), "").expect("the file is written");
        answer
    };
    let (impatient, patient) = tokio::join!(impatient, send(60));
    assert_eq!(impatient.value["status"], "timeout");
    assert_eq!(patient.value["reply"], "In short.", "{}", patient.value);
}

#[tokio::test]
async fn a_wait_ends_and_the_run_continues() {
    let scene = Scene::new(
        Child::working().receives().waits_for("go").says("Late.").settles().replies("In short.").listens(),
    )
    .await;
    let key = scene.spawn("map").await;
    scene.until_received(1).await;
    let params = json!({ "sessionKey": key, "message": "Hurry.", "timeoutSeconds": 1 });
    let answer = scene.tool("sessions_send", params).await;
    assert_eq!(
        (answer.value["status"].as_str(), answer.is_error),
        (Some("timeout"), false),
        "{}",
        answer.value
    );
    fs::write(scene.root.path().join("go"), "").expect("the file is written");
    scene.until_message(1).await;
}

#[tokio::test]
async fn an_ended_call_continues_in_the_background() {
    let scene = Scene::new(answers()).await;
    let run_id = scene.call().await.details.run_id.expect("the run has an ID");
    let sent =
        scene.tool("sessions_send", json!({ "sessionKey": run_id, "message": "And the tests?" })).await;
    assert_eq!((sent.value["status"].as_str(), sent.is_error), (Some("accepted"), false), "{}", sent.value);
    scene.until_message(1).await;
    assert!(scene.messages()[0].contains(&run_id), "{}", scene.messages()[0]);
    let list = scene.tool("sessions_list", json!({})).await.value;
    assert_eq!(texts(&list, "sessions", "runId"), [run_id], "the list has one run");
}

#[tokio::test]
async fn the_child_of_a_message_boots_while_its_call_arrives_and_continues_the_session() {
    let scene = Scene::new(writes()).await;
    let session = scene.ended("map").await;
    let (before, files) = (fs::read_to_string(&session).expect("it is readable"), scene.files_of_runs());
    let early = scene.begin_send("map");
    scene.until_started(2).await;
    assert_eq!(fs::read_to_string(&session).expect("it is readable"), before, "the run stays as it is");
    let reply = scene.complete_send("map").await;
    assert_eq!((&reply["status"], &reply["reply"]), (&json!("ok"), &json!("In short.")), "{reply}");
    timeout(PATIENCE, early.end()).await.expect("the call ends");
    scene.settled().await;
    assert_eq!(scene.started(), 2, "the run has started no other child");
    let after = fs::read_to_string(&session).expect("it is readable");
    let added = after.strip_prefix(&before).expect("the session continues");
    let types: Vec<Value> =
        added.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let types: Vec<_> = types.iter().map(|entry| &entry["type"]).collect();
    assert_eq!(types, ["custom", "message"], "{added}");
    eventually("the removal of the child's files", || scene.files_of_runs() == files).await;
    // The next message finds the run as usual.
    assert_eq!(scene.complete_send("map").await["status"], "ok");
    assert_eq!(scene.started(), 3);
}

#[tokio::test]
async fn a_discarded_child_of_a_message_leaves_the_run_as_it_was() {
    let scene = Scene::new(writes()).await;
    let session = scene.ended("map").await;
    let state = || (fs::read(&session).expect("it is readable"), scene.files_of_runs());
    let before = state();
    let early = scene.begin_send("map");
    scene.until_started(2).await;
    timeout(PATIENCE, early.end()).await.expect("the child ends");
    assert_eq!(state(), before);
    // The call turns out to be for another run.
    let other = scene.ended("other").await;
    let (before, at_first) = (state(), fs::read(&other).expect("it is readable"));
    let early = scene.begin_send("map");
    scene.until_started(4).await;
    assert_eq!(scene.complete_send("other").await["status"], "ok");
    timeout(PATIENCE, early.end()).await.expect("the child ends");
    scene.settled().await;
    assert_eq!((scene.started(), state()), (5, before));
    assert!(fs::read(&other).expect("it is readable").len() > at_first.len());
}

#[tokio::test]
async fn a_run_that_was_continued_in_the_meantime_gets_another_child() {
    let scene = Scene::new(writes()).await;
    let session = scene.ended("map").await;
    let early = scene.begin_send("map");
    scene.until_started(2).await;
    let params = json!({ "sessionKey": "map", "message": "First.", "timeoutSeconds": 60 });
    assert_eq!(scene.tool("sessions_send", params).await.value["status"], "ok", "the child blocks no one");
    assert_eq!(scene.complete_send("map").await["status"], "ok");
    timeout(PATIENCE, early.end()).await.expect("the call ends");
    assert_eq!(scene.started(), 4);
    let up = fs::read_to_string(scene.root.path().join("up")).expect("it is readable");
    let outdated = up.lines().nth(1).expect("it has started").to_owned();
    let text = fs::read_to_string(&session).expect("it is readable");
    assert!(!text.contains(&format!(":{outdated}}}")), "the outdated child has written nothing:\n{text}");
    assert_eq!(text.matches(r#""type":"message""#).count(), 3, "{text}");
}

#[tokio::test]
async fn no_child_boots_for_a_message_to_a_working_run_or_for_an_unknown_tool() {
    let works = Child::working().runs(r#"echo $$ >> "$home/up""#).listens().runs("exit 0");
    let child = Child::new().if_exists("work", &works).runs(&writes().to_string());
    let scene = Scene::new(child).await;
    scene.ended("ended").await;
    fs::write(scene.root.path().join("work"), "").expect("the file is written");
    scene.spawn("at work").await;
    scene.until_started(2).await;
    fs::remove_file(scene.root.path().join("work")).expect("the file is removed");
    let none = scene.begin_send("at work");
    let unknown = EarlyCall::new(
        "other".into(),
        None,
        scene.root.path().join("project"),
        (*context(&scene.root)).clone(),
        Handle::current(),
    );
    unknown.push(r#"{"agent":"explorer","sessionKey":"ended","task":"#);
    // It begins after the others.
    let last = scene.begin_send("ended");
    scene.until_started(3).await;
    for call in [none, unknown, last] {
        timeout(PATIENCE, call.end()).await.expect("the call ends");
    }
    assert_eq!(scene.started(), 3);
    let stopped = scene.tool("sessions_stop", json!({ "sessionKey": "at work" })).await;
    assert!(!stopped.is_error, "{:?}", stopped.value);
}

#[tokio::test]
async fn a_continued_run_keeps_the_schema_of_its_call() {
    let scene = Scene::new(answers()).await;
    let overrides =
        RunOverrides { output_schema: Some(json!({ "type": "object" })), ..RunOverrides::default() };
    let run_id = scene.call_with(overrides).await.details.run_id.expect("the run has an ID");
    let params = json!({ "sessionKey": run_id, "message": "And the tests?", "timeoutSeconds": 30 });
    let sent = scene.tool("sessions_send", params).await.value;
    assert_eq!(sent["status"], "error", "{sent}");
    assert!(sent.to_string().contains("the child has not submitted a result"), "{sent}");
}

#[tokio::test]
async fn the_history_states_the_omitted_part() {
    let scene = Scene::new(answers()).await;
    let key = scene.spawn("map").await;
    scene.settled().await;
    let long = "word ".repeat(4_000);
    let message = |number: usize| {
        let (role, text) = if number.is_multiple_of(2) {
            ("user", format!("question {number}"))
        } else {
            ("assistant", long.clone())
        };
        json!({ "role": role, "content": [{ "type": "text", "text": text }] })
    };
    scene.write_transcript((0..30).map(message)).await;
    let answer = scene.tool("sessions_history", json!({ "sessionKey": key, "limit": 200 })).await;
    let messages = answer.value["messages"].as_array().expect("the value is an array");
    assert_eq!(messages.last().expect("there is a message")["role"], "assistant");
    assert!(answer.value.to_string().len() < 64 * 1024, "{}", answer.value.to_string().len());
    assert!(messages.len() < 30);
    let note = answer.value["note"].as_str().expect("the answer has a note");
    assert!(note.contains("older messages were omitted"), "{note}");
    let two = scene.tool("sessions_history", json!({ "sessionKey": key, "limit": 2 })).await.value;
    assert_eq!(texts(&two, "messages", "role"), ["user", "assistant"]);
    assert_eq!(two["messages"][0]["text"], "question 28");
}

/// The names did not count towards the limit, so a child's model could fill the conversation with them.
#[tokio::test]
async fn invented_tool_names_are_limited_too() {
    let scene = Scene::new(answers()).await;
    let key = scene.spawn("map").await;
    scene.settled().await;
    let name = "all is well ".repeat(80);
    let call = json!([{ "type": "toolCall", "id": "c", "name": name, "arguments": {} }]);
    let message = json!({ "role": "assistant", "content": call });
    scene.write_transcript(vec![message; 200]).await;
    let wanted = json!({ "sessionKey": key, "limit": 200, "includeTools": true });
    let answer = scene.tool("sessions_history", wanted).await.value;
    assert!(answer.to_string().len() < 64 * 1024, "{}", answer.to_string().len());
    assert!(texts(&answer, "messages", "name").iter().all(|name| name.chars().count() <= 80));
}

#[tokio::test]
async fn texts_for_the_model_have_no_hidden_characters() {
    let hidden = with_hidden("word");
    let scene = Scene::new(Child::new().replies(&hidden).replies(&hidden).listens()).await;
    let key = scene.spawn(&hidden).await;
    scene.settled().await;
    let text = json!([{ "type": "text", "text": hidden }]);
    let call =
        json!([{ "type": "toolCall", "id": "c", "name": hidden, "arguments": { hidden.as_str(): hidden } }]);
    let model = |content: &Value| json!({ "role": "assistant", "provider": hidden, "model": hidden, "content": content });
    let mut failed = model(&text);
    failed["stopReason"] = hidden.as_str().into();
    failed["errorMessage"] = hidden.as_str().into();
    let messages = [
        json!({ "role": "user", "content": text }),
        model(&call),
        json!({ "role": "toolResult", "toolName": hidden, "isError": false, "content": text }),
        json!({ "role": "toolResult", "toolName": hidden, "isError": true, "content": text }),
        failed,
    ];
    scene.write_transcript(messages).await;
    let wanted = json!({ "sessionKey": key, "limit": 200, "includeTools": true });
    let history = scene.tool("sessions_history", wanted).await;
    assert_eq!(texts(&history.value, "messages", "role").len(), 5, "{}", history.value);
    assert_eq!(history.value["messages"][0]["text"], "word");
    let list = scene.tool("sessions_list", json!({})).await;
    assert_eq!(texts(&list.value, "sessions", "label"), ["word"]);
    let unknown = scene.tool("sessions_stop", json!({ "sessionKey": with_hidden("nothing") })).await;
    for (label, answer) in [("history", history), ("list", list), ("an unknown run", unknown)] {
        assert_all_seen(label, &answer.value.to_string());
    }
    for event in scene.listener.0.lock().iter() {
        assert_all_seen("an announcement", &format!("{event:?}"));
    }
}

#[tokio::test]
async fn a_run_is_stopped_once() {
    let scene = Scene::new(Child::working().listens()).await;
    let key = scene.spawn("map").await;
    scene.until_received(1).await;
    let stopped = scene.tool("sessions_stop", json!({ "sessionKey": key })).await;
    assert_eq!(stopped.value["status"], "stopped");
    let again = scene.tool("sessions_stop", json!({ "sessionKey": key })).await;
    assert!(
        again.is_error && again.value["error"].as_str().is_some_and(|why| why.contains("has already ended"))
    );
}

#[tokio::test]
async fn an_ended_call_is_found_by_its_id() {
    let scene = Scene::new(answers()).await;
    let run_id = scene.call().await.details.run_id.expect("the run has an ID");
    let command = |line: String| {
        let service = &scene.service;
        let view = &scene.view;
        async move {
            commands::answer(
                service,
                view,
                &line,
                commands::CommandHost::default(),
                Arc::new(User::default()),
            )
            .await
        }
    };
    assert!(command("list".to_owned()).await.plain().contains(&run_id));
    let resumed = command(format!("resume {run_id}")).await;
    assert!(!resumed.is_error, "{}", resumed.plain());
    scene.until_message(1).await;
    assert!(command("list".to_owned()).await.plain().contains(&run_id));
}

#[tokio::test]
async fn an_isolated_run_continues_with_its_branch() {
    let scene = Scene::new(
        Child::new()
            .runs(r#"cat made.txt > "$home/seen" 2>&1; echo more >> made.txt"#)
            .then(Child::answering())
            .replies("In short.")
            .listens(),
    )
    .await;
    let root = scene.root.path();
    let git = |args: &[&str]| {
        let done = std::process::Command::new("git").args(args).current_dir(root.join("project")).output();
        String::from_utf8_lossy(&done.expect("git runs").stdout).into_owned()
    };
    fs::remove_dir(root.join("project/.git")).expect("the directory is removed");
    git(&["init", "-q"]);
    fs::create_dir_all(root.join("agent/agents")).expect("the directory is created");
    let writer = "---\nname: writer\ntools: read, write\nisolation: private\n---\nWrite.";
    fs::write(root.join("agent/agents/writer.md"), writer).expect("the file is written");
    let settings = json!({ "subagents": { "allowWrite": true, "sandbox": { "mode": "off" } } });
    fs::write(root.join("agent/subagents.json"), settings.to_string()).expect("the file is written");
    let request = SpawnRequest::new("write".into(), root.join("project"), context(&scene.root));
    let request = SpawnRequest { agent: Some("writer".into()), label: Some("map".into()), ..request };
    let receipt = spawn(&scene.service, request, Arc::new(User::default())).await;
    let Receipt::Accepted { session_key, run_id, .. } = receipt else { panic!("{receipt:?}") };
    scene.until_message(1).await;
    let branch = format!("subagent/{run_id}");
    let first = git(&["rev-parse", &branch]);
    assert_eq!(git(&["show", &format!("{branch}:made.txt")]), "more\n");
    let params = json!({ "sessionKey": session_key, "message": "Go on.", "timeoutSeconds": 60 });
    let answer = scene.tool("sessions_send", params).await;
    assert_eq!(answer.value["status"].as_str(), Some("ok"), "{}", answer.value);
    assert_eq!(fs::read_to_string(root.join("seen")).expect("the file is readable"), "more\n");
    assert_eq!(git(&["show", &format!("{branch}:made.txt")]), "more\nmore\n");
    assert_eq!(git(&["rev-parse", &format!("{branch}^")]), first);
    close_conversation(&scene.service, &scene.view).await;
}

/// The transcript is renamed as soon as the result has been delivered.
#[tokio::test]
async fn an_archived_run_is_read_in_pages_and_every_answer_names_its_file() {
    let scene = Scene::new(answers()).await;
    let key = scene.spawn_with("map", Some("delete")).await;
    scene.until_message(1).await;
    scene.settled().await;
    let message = |number: usize| {
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        json!({ "role": role, "content": [{ "type": "text", "text": format!("message {number}") }] })
    };
    scene.write_transcript((0..45).map(message)).await;
    let (ids, delivered) = {
        let events = scene.listener.0.lock();
        let message = events.iter().find_map(|event| event.message.clone()).expect("an event has a message");
        (message.delivery_ids, message.text)
    };
    assert!(!delivered.contains("session.jsonl"), "the message does not name the archived file: {delivered}");
    assert!(delivered.contains("`sessions_history` reads its transcript"), "{delivered}");
    assert!(mark_delivered(&scene.service, &scene.view, ids).await);
    let archived = async {
        loop {
            let run = scene.service.runs(Some(SESSION.into())).await.remove(0);
            let path =
                run.transcript.clone().expect("the run has a transcript").to_string_lossy().into_owned();
            if path.contains(".deleted.") {
                return (run, path);
            }
            tokio::task::yield_now().await;
        }
    };
    let (run, path) = timeout(PATIENCE, archived).await.expect("the run is archived");
    assert!(fs::metadata(&path).is_ok(), "{path}");
    let mut offset = 0;
    let mut read = Vec::new();
    loop {
        let params = json!({ "sessionKey": key, "limit": 20, "offset": offset });
        let page = scene.tool("sessions_history", params).await;
        assert!(!page.is_error && page.value["run"]["transcript"] == path, "{}", page.value);
        let texts = texts(&page.value, "messages", "text");
        offset += texts.len();
        read.splice(0..0, texts);
        match page.value["note"].as_str() {
            Some(note) => assert!(note.contains(&format!("`offset: {offset}`")), "{note}"),
            None => break,
        }
    }
    assert_eq!(read, (0..45).map(|number| format!("message {number}")).collect::<Vec<_>>());
    let beyond = json!({ "sessionKey": key, "offset": offset });
    let beyond = scene.tool("sessions_history", beyond).await.value;
    assert_eq!(beyond["note"], "there are no older messages", "{beyond}");
    let output_of = async |line: &str| {
        let line = format!("{line} {}", run.run_id);
        let user = Arc::new(User::default());
        commands::answer(&scene.service, &scene.view, &line, commands::CommandHost::default(), user)
            .await
            .plain()
    };
    assert!(output_of("info --paths").await.contains(&path));
    assert!(output_of("log").await.contains("message 44"));
    assert!(output_of("resume").await.contains(&format!("/subagents log {}", run.run_id)));
    fs::remove_file(&path).expect("the file is removed");
    for line in ["info --paths", "log"] {
        let output = output_of(line).await;
        assert!(output.contains("deleted") && !output.contains(&path), "{line}: {output}");
    }
    let history = scene.tool("sessions_history", json!({ "sessionKey": key })).await.value;
    assert!(history["error"].as_str().is_some_and(|why| why.contains("was deleted")), "{history}");
    let list = scene.tool("sessions_list", json!({})).await.value;
    assert_eq!(list["sessions"][0]["transcript"], Value::Null, "{list}");
    close_conversation(&scene.service, &scene.view).await;
}

#[tokio::test]
async fn a_list_without_active_runs_says_in_which_time_none_was_active() {
    let scene = Scene::new(answers()).await;
    for (minutes, expected) in [(5, "5 minutes"), (1, "1 minute")] {
        let answer = scene.tool("sessions_list", json!({ "activeMinutes": minutes })).await;
        let text = answer.details.report.plain();
        let expected = format!("no run of this session was active in the last {expected}");
        assert!(text.contains(&expected), "{minutes}: {text}");
    }
}

/// Nothing can be said about the runs. The answer must not be that there are none.
#[tokio::test]
async fn commands_say_that_the_store_cannot_be_read() {
    let root = stage(answers());
    let agent_dir = root.path().join("agent");
    fs::create_dir_all(layout::store(&agent_dir)).expect("a directory is in the place of the file");
    let service = background(&agent_dir);
    let scope = ConversationScope {
        cwd: root.path().join("project"),
        context: context(&root),
        ends_with: Cancel::new(),
    };
    let (known, events) = (KnownDeliveries::default(), EventRecorder::default());
    let view = open_conversation(&service, SESSION.into(), scope, known, events).await;
    for line in ["list", "list all", "info last", "log 0badcafe"] {
        let user = Arc::new(User::default());
        let answer = commands::answer(&service, &view, line, commands::CommandHost::default(), user);
        let text = timeout(PATIENCE, answer).await.expect("the process answers").plain();
        let expected = "the stored runs cannot be read: the store of runs cannot be opened";
        assert!(
            text.contains(expected) && text.contains("`/subagents doctor` checks the store"),
            "{line}: {text}"
        );
    }
}
