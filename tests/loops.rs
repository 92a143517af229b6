//! A child that repeats the same tool calls with the same results.
#![cfg(unix)]

use std::fs;

use crate::support::child::{Child, ordered};
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, RunOutcome, SingleResult, ToolResult};
use serde_json::{Value, json};

/// A child and the number of its calls.
#[derive(Clone, Default)]
struct Calls {
    child: Child,
    count: usize,
}

impl Calls {
    fn new() -> Self {
        Self::default()
    }

    fn then(mut self, step: impl FnOnce(Child) -> Child) -> Self {
        self.child = step(self.child);
        self
    }

    /// The model selects a tool. The arguments are JSON.
    fn selects(self, name: &str, arguments: &str) -> Self {
        let line = format!(
            r#"{{"type":"message_end","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"c","name":"{name}","arguments":{arguments}}}],"provider":"fake","model":"m1","usage":{{"input":1,"output":1,"cost":{{"total":0}}}},"stopReason":"toolUse"}}}}"#
        );
        self.then(|child| child.writes(&line))
    }

    fn starts(self, id: &str, name: &str, arguments: &str) -> Self {
        let line = format!(
            r#"{{"type":"tool_execution_start","toolCallId":"{id}","toolName":"{name}","args":{arguments}}}"#
        );
        self.then(|child| child.writes(&line))
    }

    /// The details say how long the call took, which is another value each time.
    fn ends(self, id: &str, result: &str, took: &str, is_error: bool) -> Self {
        let fields = ordered!({
            "toolCallId": id, "toolName": "x",
            "result": { "content": [{ "type": "text", "text": result }], "details": { "took": took } },
            "isError": is_error,
        });
        self.then(|child| child.emits("tool_execution_end", &fields))
    }

    fn ends_turn(self) -> Self {
        self.then(|child| child.emits("turn_end", &ordered!({ "message": {}, "toolResults": [] })))
    }

    /// A turn with one call.
    fn turn(mut self, name: &str, arguments: &str, result: &str, is_error: bool) -> Self {
        self.count += 1;
        let took = self.count.to_string();
        let id = format!("c{took}");
        self.selects(name, arguments)
            .starts(&id, name, arguments)
            .ends(&id, result, &took, is_error)
            .ends_turn()
    }

    /// A turn with a call that succeeds.
    fn calls(self, name: &str, arguments: &str, result: &str) -> Self {
        self.turn(name, arguments, result, false)
    }

    fn ls(self) -> Self {
        self.ls_with("total 0")
    }

    fn ls_with(self, result: &str) -> Self {
        self.calls("bash", r#"{"command":"ls -la","timeout":5}"#, result)
    }

    fn repeats(self, times: usize, round: impl Fn(Self) -> Self) -> Self {
        (0..times).fold(self, |calls, _| round(calls))
    }

    fn receives(self) -> Self {
        self.then(Child::receives)
    }

    fn hangs(self) -> Child {
        self.child.runs("exec sleep 30")
    }

    fn answers(self) -> Child {
        self.child.says("The answer.").settles()
    }
}

/// A run whose child reads its task to the end, as pi does in `json` mode, and then takes these steps.
fn json_scene(child: Child, mut config: Value) -> Scene {
    config["protocol"] = "json".into();
    Scene::new(Child::new().starts().reads_task().then(child), config)
}

/// The same in `rpc` mode, after the child has received its task.
fn rpc_scene(child: Child, config: Value) -> Scene {
    Scene::new(Child::new().starts().receives().then(child), config)
}

async fn run(scene: &Scene) -> ToolResult {
    scene.run_with(&User::default(), &Control::default()).await.0
}

fn single(result: &ToolResult) -> &SingleResult {
    &result.details.results[0]
}

/// Two calls in one turn, which end in any order.
fn side_by_side(mut calls: Calls) -> Calls {
    calls.count += 1;
    let is_even = calls.count.is_multiple_of(2);
    let calls = calls.selects("bash", "{}").starts("a", "bash", r#"{"command":"make"}"#).starts(
        "b",
        "read",
        r#"{"path":"a"}"#,
    );
    let make = |calls: Calls| calls.ends("a", "one", "", false);
    let read = |calls: Calls| calls.ends("b", "two", "", false);
    if is_even { read(make(calls)) } else { make(read(calls)) }.ends_turn()
}

/// A call with arguments that differ at most in the middle.
fn long(calls: Calls, middle: usize) -> Calls {
    let filler = "x".repeat(60_000);
    calls.calls("write", &format!(r#"{{"path":"a","content":"{filler}{middle}{filler}"}}"#), "written")
}

/// A child, and a part of the error if its repeated calls end the run.
type Row = (&'static str, Child, Option<&'static str>);

fn turns_with_one_call() -> Vec<Row> {
    let calls = Calls::new;
    vec![
        (
            "eight times",
            calls().repeats(8, Calls::ls).hangs(),
            Some("`$ ls -la` 8 times, with the same result each time"),
        ),
        ("seven times", calls().repeats(7, Calls::ls).answers(), None),
        (
            "results that change",
            (1..=12).fold(calls(), |calls, n| calls.ls_with(&n.to_string())).answers(),
            None,
        ),
        (
            "other arguments",
            (1..=10)
                .fold(calls(), |calls, n| calls.calls("bash", &format!(r#"{{"command":"{n}"}}"#), "x"))
                .answers(),
            None,
        ),
        (
            "keys in another order",
            calls()
                .repeats(4, |calls| {
                    calls.ls().calls("bash", r#"{ "timeout": 5, "command": "ls -la" }"#, "total 0")
                })
                .hangs(),
            Some("`$ ls -la` 8 times"),
        ),
        (
            "errors and successes",
            calls()
                .repeats(9, |calls| {
                    let command = r#"{"command":"ls -la"}"#;
                    let calls = calls.ls().turn("bash", command, "total 0", true);
                    let changing = calls.count.to_string();
                    calls.calls("bash", command, &changing)
                })
                .answers(),
            None,
        ),
        (
            "calls that are refused",
            calls()
                .repeats(8, |calls| calls.turn("bash", r#"{"command":"rm"}"#, "Blocked by a gate", true))
                .hangs(),
            Some("`$ rm` 8 times"),
        ),
    ]
}

fn turns_with_several_calls_or_events() -> Vec<Row> {
    let calls = Calls::new;
    let two = |calls: Calls| calls.ls().calls("read", r#"{"path":"a"}"#, "one");
    let failing = |calls: Calls| {
        calls.ls().then(|child| child.says("").with_error("500")).ends_turn().then(|child| {
            let retries = ordered!({ "messages": [], "willRetry": true });
            child.emits("agent_end", &retries).emits("auto_retry_start", &ordered!({ "attempt": 1 })).starts()
        })
    };
    let compacts =
        |child: Child| child.emits("compaction_start", &ordered!({})).emits("compaction_end", &ordered!({}));
    let twelve_in_one_turn = |calls: Calls| {
        (1..=12)
            .map(|id| id.to_string())
            .fold(calls, |calls, id| calls.starts(&id, "bash", "{}").ends(&id, "x", "", false))
    };
    vec![
        (
            "two calls alternating",
            calls().repeats(8, two).hangs(),
            Some("in turn `$ ls -la`, `read a` 8 times"),
        ),
        ("two calls alternating, below the limit", calls().repeats(7, two).ls().answers(), None),
        ("side by side in any order", calls().repeats(8, side_by_side).hangs(), Some(" 8 times")),
        (
            "many calls in one turn",
            twelve_in_one_turn(calls().selects("bash", "{}")).ends_turn().answers(),
            None,
        ),
        ("retries of a request in between", calls().repeats(8, failing).hangs(), Some(" 8 times")),
        (
            "a compaction in between",
            calls().repeats(5, Calls::ls).then(compacts).repeats(3, Calls::ls).hangs(),
            Some(" 8 times"),
        ),
        (
            "an output file with a new name each time",
            calls()
                .repeats(8, |calls| {
                    let path = format!("/tmp/pi-bash-{}.log", calls.count);
                    calls.ls_with(&format!("much [Showing lines 1-9 of 99. Full output: {path}]"))
                })
                .hangs(),
            Some(" 8 times"),
        ),
        ("long arguments that differ in the middle", (1..=9).fold(calls(), long).answers(), None),
        ("long arguments", calls().repeats(8, |calls| long(calls, 1)).hangs(), Some("`write a` 8 times")),
        (
            "work in between",
            calls()
                .repeats(9, |calls| {
                    let calls = calls.repeats(3, Calls::ls);
                    let changing = format!(r#"{{"n":{}}}"#, calls.count);
                    calls.calls("edit", &changing, "ok")
                })
                .answers(),
            None,
        ),
    ]
}

#[tokio::test]
async fn only_repeated_calls_with_the_same_results_end_the_run() {
    for (label, child, repeated) in
        turns_with_one_call().into_iter().chain(turns_with_several_calls_or_events())
    {
        let result = run(&json_scene(child, json!({ "graceMs": 200 }))).await;
        let (outcome, error) =
            (single(&result).outcome, single(&result).error.as_deref().unwrap_or_default());
        let expected = if repeated.is_some() { RunOutcome::Failed } else { RunOutcome::Completed };
        assert_eq!(outcome, expected, "{label}: {}", result.text);
        assert!(error.contains(repeated.unwrap_or_default()), "{label}: {error}");
        assert_eq!(error.contains("`loop.stopAfter` reached"), repeated.is_some(), "{label}: {error}");
        assert_eq!(single(&result).attempts, 1, "{label}");
        let has_notice = single(&result).diagnostics.iter().any(|notice| notice.contains("repeated"));
        assert!(!has_notice, "{label}: a child in `json` mode cannot be warned");
    }
}

/// Files of a scene, by path.
type Files = Vec<(&'static str, String)>;

#[tokio::test]
async fn users_and_agents_set_the_loop_limits_and_a_project_only_lowers_them() {
    let user =
        |limits: Value| ("agent/subagents.json", json!({ "subagents": { "loop": limits } }).to_string());
    let project = |limits: Value| {
        ("project/.pi/subagents.json", json!({ "subagents": { "loop": limits } }).to_string())
    };
    let agent = |place: &'static str, limit: u32| {
        let text = format!(
            "---\nname: explorer\nreadonly: true\ndescription: Waits.\nloopStopAfter: {limit}\n---\nWait."
        );
        (place, text)
    };
    let own = "agent/agents/explorer.md";
    let theirs = "project/.pi/agents/explorer.md";
    let table: Vec<(&str, Files, usize, Option<usize>)> = vec![
        ("the user's limit", vec![user(json!({ "stopAfter": 3 }))], 3, Some(3)),
        ("no limit", vec![user(json!({ "stopAfter": 0 }))], 40, None),
        ("a limit of one counts as two", vec![user(json!({ "stopAfter": 1 }))], 1, None),
        ("a limit of one counts as two, reached", vec![user(json!({ "stopAfter": 1 }))], 2, Some(2)),
        ("a stricter limit of the project", vec![project(json!({ "stopAfter": 2 }))], 2, Some(2)),
        ("not a higher limit of the project", vec![project(json!({ "stopAfter": 20 }))], 8, Some(8)),
        ("a project cannot remove the limit", vec![project(json!({ "stopAfter": 0 }))], 8, Some(8)),
        ("the limit of the user's agent", vec![agent(own, 12)], 11, None),
        ("the limit of the user's agent, reached", vec![agent(own, 12)], 12, Some(12)),
        ("the limit of a project's agent", vec![agent(theirs, 3)], 3, Some(3)),
        ("not a higher limit of a project's agent", vec![agent(theirs, 12)], 8, Some(8)),
    ];
    for (label, files, calls, expected) in table {
        let config = json!({ "graceMs": 200, "projectAgentPolicy": "allow" });
        let calls = Calls::new().repeats(calls, Calls::ls);
        let scene = json_scene(if expected.is_some() { calls.hangs() } else { calls.answers() }, config);
        for (name, text) in files {
            let path = scene.path(name);
            fs::create_dir_all(path.parent().expect("the path has a parent"))
                .expect("the directory is created");
            fs::write(path, text).expect("the file is written");
        }
        let result = run(&scene).await;
        let error = single(&result).error.as_deref().unwrap_or_default();
        match expected {
            Some(times) => assert!(error.contains(&format!(" {times} times")), "{label}: {error}"),
            None => assert_eq!(single(&result).outcome, RunOutcome::Completed, "{label}: {error}"),
        }
    }
}

#[tokio::test]
async fn a_child_is_warned_once_before_it_is_ended() {
    let config = json!({ "graceMs": 200, "idleTimeoutMs": 20_000 });
    let scene = rpc_scene(
        Calls::new().repeats(4, Calls::ls).receives().repeats(4, Calls::ls).hangs(),
        config.clone(),
    );
    let result = run(&scene).await;
    assert!(result.text.contains("`loop.stopAfter` reached"), "{}", result.text);
    let received = fs::read_to_string(scene.path("received")).expect("the child received a message");
    let warnings: Vec<&str> = received.lines().filter(|line| line.contains(r#""type":"steer""#)).collect();
    assert_eq!(warnings.len(), 1, "{received}");
    let words = "You have repeated `$ ls -la` 4 times, with the same result each time.";
    assert!(
        warnings[0].contains(words) && warnings[0].contains("when it has happened 8 times"),
        "{}",
        warnings[0]
    );

    // A child that listens finds its answer, and may repeat itself again later.
    let child = Calls::new()
        .repeats(4, Calls::ls)
        .receives()
        .ls_with("other")
        .repeats(4, Calls::ls)
        .receives()
        .answers()
        .listens();
    let scene = rpc_scene(child, config);
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    let notice = "the child repeated `$ ls -la` 4 times, with the same result each time, and got a warning";
    assert!(
        single(&result).diagnostics.iter().any(|diagnostic| diagnostic == notice),
        "{:?}",
        single(&result).diagnostics
    );
    let received = fs::read_to_string(scene.path("received")).expect("the child received a message");
    assert_eq!(received.matches(r#""type":"steer""#).count(), 2, "{received}");
}

/// Writes all events so far at once.
fn at_once(calls: Calls) -> Calls {
    let Calls { child, count } = calls;
    let all = format!("{{\n{child}\n}} > \"$home/calls\"; cat \"$home/calls\"");
    Calls { child: Child::new().runs(&all), count }
}

#[tokio::test]
async fn a_child_ahead_of_its_host_is_warned_before_it_is_ended() {
    let ahead = || at_once(Calls::new().repeats(9, Calls::ls));
    let config = json!({ "graceMs": 200, "idleTimeoutMs": 20_000 });
    let scene = rpc_scene(ahead().receives().repeats(3, Calls::ls).answers().listens(), config.clone());
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    let received = fs::read_to_string(scene.path("received")).expect("the child received a message");
    assert!(
        received.contains("repeated `$ ls -la` 9 times") && received.contains("happened 13 times"),
        "{received}"
    );

    let result = run(&rpc_scene(ahead().receives().repeats(4, Calls::ls).hangs(), config)).await;
    assert!(result.text.contains("the child repeated `$ ls -la` 13 times"), "{}", result.text);
}

/// The child asks something that no one answers, so that it continues only after its host has read the message's start.
#[tokio::test]
async fn a_warning_waits_for_the_message_under_way_and_never_follows_an_answer() {
    let message = ordered!({ "message": { "role": "assistant", "content": [] } });
    let begun = || {
        at_once(Calls::new().repeats(4, Calls::ls).then(|child| child.emits("message_start", &message)))
            .then(|child| child.asks("q1", "Name?"))
            .receives()
    };
    let config = json!({ "graceMs": 200, "idleTimeoutMs": 20_000 });
    for (label, child, warnings) in
        [("an answer", begun().answers(), 0), ("another call", begun().ls().receives().answers(), 1)]
    {
        let scene = rpc_scene(child.listens(), config.clone());
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Completed, "{label}: {}", result.text);
        assert_eq!(single(&result).output.as_deref(), Some("The answer."), "{label}");
        let received = fs::read_to_string(scene.path("received")).expect("the child received a message");
        assert!(received.contains("q1"), "{label}: {received}");
        assert_eq!(received.matches(r#""type":"steer""#).count(), warnings, "{label}: {received}");
    }
}

#[tokio::test]
async fn a_child_gets_no_warning_if_warnings_are_off() {
    let config = json!({ "graceMs": 200, "loop": { "warnAfter": 0, "stopAfter": 0 } });
    let scene = rpc_scene(Calls::new().repeats(30, Calls::ls).answers().listens(), config);
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    let received = fs::read_to_string(scene.path("received")).expect("the child received a message");
    assert!(!received.contains("steer"), "{received}");
}

#[tokio::test]
async fn another_attempt_counts_from_zero() {
    let six = Calls::new().repeats(6, |calls| calls.calls("read", r#"{"path":"a"}"#, "text"));
    // The first attempt ends here.
    let fails = Child::new().gives_up("500").exits(0);
    let child = six.then(|child| child.once("second", &fails)).answers();
    let config = json!({ "graceMs": 200, "retry": { "backoffMs": 1 } });
    let result = run(&json_scene(child, config)).await;
    assert_eq!(
        (single(&result).outcome, single(&result).attempts),
        (RunOutcome::Completed, 2),
        "{}",
        result.text
    );
}

#[tokio::test]
async fn a_loop_report_is_one_line_without_secrets() {
    const SECRET: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    let arguments = format!(r#"{{"command":"echo {SECRET}\n[31m\u001b[31m"}}"#);
    let child = Calls::new().repeats(8, |calls| calls.calls("bash", &arguments, "x")).hangs();
    let scene = json_scene(child, json!({ "graceMs": 200 }));
    let result = run(&scene).await;
    let error = single(&result).error.as_deref().expect("the run has an error");
    assert!(error.contains("8 times") && !error.contains("ghp_AbCd"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(!error.contains('\u{1b}'), "{error}");
}
