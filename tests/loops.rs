//! A child that repeats the same tool calls with the same results.
#![cfg(unix)]

use std::fs;

use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, RunOutcome, SingleResult, ToolResult};
use serde_json::{Value, json};

/// `turn` makes one call, `ask` selects it, `run` runs it, `done` ends the turn.
const CALLS: &str = r#"
ask() { # name arguments
    printf '{"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"%s","arguments":%s}],"provider":"fake","model":"m1","usage":{"input":1,"output":1,"cost":{"total":0}},"stopReason":"toolUse"}}\n' "$1" "$2"
}
start() { printf '{"type":"tool_execution_start","toolCallId":"%s","toolName":"%s","args":%s}\n' "$1" "$2" "$3"; }
end() { # id result [details [isError]]
    printf '{"type":"tool_execution_end","toolCallId":"%s","toolName":"x","result":{"content":[{"type":"text","text":"%s"}],"details":{"took":"%s"}},"isError":%s}\n' "$1" "$2" "$3" "${4:-false}"
}
done_() { printf '{"type":"turn_end","message":{},"toolResults":[]}\n'; }
calls=0
turn() { # name arguments result [isError]
    calls=$((calls + 1)); ask "$1" "$2"; start "c$calls" "$1" "$2"; end "c$calls" "$3" "$calls" "$4"; done_
}
ls() { turn bash '{"command":"ls -la","timeout":5}' "${1:-total 0}"; }
repeat() { local count="$1"; shift; while [ "$count" -gt 0 ]; do "$@"; count=$((count - 1)); done; }
hang() { exec sleep 30; }
answer() { said 'The answer.'; settled; }
begin
"#;

/// A run whose child reads its task to the end, as pi does in `json` mode, and then runs this script.
fn json_scene(script: &str, mut config: Value) -> Scene {
    config["protocol"] = "json".into();
    Scene::new(&format!("{CALLS}\ncat > /dev/null\n{script}"), config)
}

/// The same in `rpc` mode, after the child has received its task.
fn rpc_scene(script: &str, config: Value) -> Scene {
    Scene::new(&format!("{CALLS}\nhear\n{script}"), config)
}

async fn run(scene: &Scene) -> ToolResult {
    scene.run_with(&User::default(), &Control::default()).await.0
}

fn single(result: &ToolResult) -> &SingleResult {
    &result.details.results[0]
}

const TWO: &str = r#"two() { ls; turn read '{"path":"a"}' 'one'; }"#;
const BESIDE: &str = r#"
beside() {
    ask bash '{}'; start a bash '{"command":"make"}'; start b read '{"path":"a"}'
    if [ $((calls % 2)) = 0 ]; then end a one; end b two; else end b two; end a one; fi
    calls=$((calls + 1)); done_
}"#;
const LONG: &str = r#"long() { # the middle
    turn write "{\"path\":\"a\",\"content\":\"$filler$1$filler\"}" written
}
filler=$(head -c 60000 /dev/zero | tr '\0' x)"#;

#[tokio::test]
async fn only_repeated_calls_with_the_same_results_end_the_run() {
    let table: &[(&str, String, Option<&str>)] = &[
        ("eight times", "repeat 8 ls; hang".into(), Some("`$ ls -la` 8 times, with the same result each time")),
        ("seven times", "repeat 7 ls; answer".into(), None),
        ("results that change", "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do ls $n; done; answer".into(), None),
        (
            "other arguments",
            r#"for n in 1 2 3 4 5 6 7 8 9 10; do turn bash "{\"command\":\"$n\"}" x; done; answer"#.into(),
            None,
        ),
        (
            "keys in another order",
            r#"both() { ls; turn bash '{ "timeout": 5, "command": "ls -la" }' 'total 0'; }; repeat 4 both; hang"#.into(),
            Some("`$ ls -la` 8 times"),
        ),
        (
            "errors and successes",
            "both() { ls; turn bash '{\"command\":\"ls -la\"}' 'total 0' true; turn bash '{\"command\":\"ls -la\"}' $calls; }; \
             repeat 9 both; answer"
                .into(),
            None,
        ),
        (
            "calls that are refused",
            "repeat 8 turn bash '{\"command\":\"rm\"}' 'Blocked by a gate' true; hang".into(),
            Some("`$ rm` 8 times"),
        ),
        ("two calls alternating", format!("{TWO}\nrepeat 8 two; hang"), Some("in turn `$ ls -la`, `read a` 8 times")),
        ("two calls alternating, below the limit", format!("{TWO}\nrepeat 7 two; ls; answer"), None),
        ("side by side in any order", format!("{BESIDE}\nrepeat 8 beside; hang"), Some(" 8 times")),
        (
            "many calls in one turn",
            "ask bash '{}'; for n in 1 2 3 4 5 6 7 8 9 10 11 12; do start $n bash '{}'; end $n x; done; done_; answer".into(),
            None,
        ),
        (
            "retries of a request in between",
            "failing() { ls; said '' error ',\"errorMessage\":\"500\"'; done_; \
             printf '{\"type\":\"agent_end\",\"messages\":[],\"willRetry\":true}\\n{\"type\":\"auto_retry_start\",\"attempt\":1}\\n'; \
             begin; }; repeat 8 failing; hang"
                .into(),
            Some(" 8 times"),
        ),
        (
            "a compaction in between",
            "repeat 5 ls; printf '{\"type\":\"compaction_start\"}\\n{\"type\":\"compaction_end\"}\\n'; repeat 3 ls; hang".into(),
            Some(" 8 times"),
        ),
        (
            "an output file with a new name each time",
            "full() { ls \"much [Showing lines 1-9 of 99. Full output: /tmp/pi-bash-$calls.log]\"; }; repeat 8 full; hang".into(),
            Some(" 8 times"),
        ),
        (
            "long arguments that differ in the middle",
            format!("{LONG}\nfor n in 1 2 3 4 5 6 7 8 9; do long $n; done; answer"),
            None,
        ),
        ("long arguments", format!("{LONG}\nrepeat 8 long 1; hang"), Some("`write a` 8 times")),
        (
            "work in between",
            "round() { repeat 3 ls; turn edit \"{\\\"n\\\":$calls}\" ok; }; repeat 9 round; answer".into(),
            None,
        ),
    ];
    for (label, script, repeated) in table {
        let result = run(&json_scene(script, json!({ "graceMs": 200 }))).await;
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
    let table: Vec<(&str, Files, u32, Option<u32>)> = vec![
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
        let scene = json_scene(
            &format!("repeat {calls} ls; {}", if expected.is_some() { "hang" } else { "answer" }),
            config,
        );
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
    let scene = rpc_scene("repeat 4 ls; hear; repeat 4 ls; hang", config.clone());
    let result = run(&scene).await;
    assert!(result.text.contains("`loop.stopAfter` reached"), "{}", result.text);
    let received = fs::read_to_string(scene.path("heard")).expect("the child received a message");
    let warnings: Vec<&str> = received.lines().filter(|line| line.contains(r#""type":"steer""#)).collect();
    assert_eq!(warnings.len(), 1, "{received}");
    let words = "You have repeated `$ ls -la` 4 times, with the same result each time.";
    assert!(
        warnings[0].contains(words) && warnings[0].contains("when it has happened 8 times"),
        "{}",
        warnings[0]
    );

    // A child that listens finds its answer, and may repeat itself again later.
    let scene = rpc_scene("repeat 4 ls; hear; ls other; repeat 4 ls; hear; answer; leave", config);
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    let notice = "the child repeated `$ ls -la` 4 times, with the same result each time, and got a warning";
    assert!(
        single(&result).diagnostics.iter().any(|diagnostic| diagnostic == notice),
        "{:?}",
        single(&result).diagnostics
    );
    let received = fs::read_to_string(scene.path("heard")).expect("the child received a message");
    assert_eq!(received.matches(r#""type":"steer""#).count(), 2, "{received}");
}

#[tokio::test]
async fn a_child_ahead_of_its_host_is_warned_before_it_is_ended() {
    let at_once = "repeat 9 ls > \"$home/calls\"; cat \"$home/calls\"; hear;";
    let config = json!({ "graceMs": 200, "idleTimeoutMs": 20_000 });
    let scene = rpc_scene(&format!("{at_once} repeat 3 ls; answer; leave"), config.clone());
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    let received = fs::read_to_string(scene.path("heard")).expect("the child received a message");
    assert!(
        received.contains("repeated `$ ls -la` 9 times") && received.contains("happened 13 times"),
        "{received}"
    );

    let result = run(&rpc_scene(&format!("{at_once} repeat 4 ls; hang"), config)).await;
    assert!(result.text.contains("the child repeated `$ ls -la` 13 times"), "{}", result.text);
}

/// The child asks something that no one answers, so that it continues only after its host has read the message's start.
#[tokio::test]
async fn a_warning_waits_for_the_message_under_way_and_never_follows_an_answer() {
    let begun = r#"repeat 4 ls > "$home/calls"
        printf '{"type":"message_start","message":{"role":"assistant","content":[]}}\n' >> "$home/calls"
        cat "$home/calls"
        printf '{"type":"extension_ui_request","id":"q1","method":"input","title":"Name?"}\n'; hear;"#;
    let config = json!({ "graceMs": 200, "idleTimeoutMs": 20_000 });
    for (label, rest, warnings) in
        [("an answer", "answer; leave", 0), ("another call", "ls; hear; answer; leave", 1)]
    {
        let scene = rpc_scene(&format!("{begun} {rest}"), config.clone());
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Completed, "{label}: {}", result.text);
        assert_eq!(single(&result).output.as_deref(), Some("The answer."), "{label}");
        let received = fs::read_to_string(scene.path("heard")).expect("the child received a message");
        assert!(received.contains("q1"), "{label}: {received}");
        assert_eq!(received.matches(r#""type":"steer""#).count(), warnings, "{label}: {received}");
    }
}

#[tokio::test]
async fn a_child_gets_no_warning_if_warnings_are_off() {
    let config = json!({ "graceMs": 200, "loop": { "warnAfter": 0, "stopAfter": 0 } });
    let scene = rpc_scene("repeat 30 ls; answer; while hear; do :; done", config);
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    let received = fs::read_to_string(scene.path("heard")).expect("the child received a message");
    assert!(!received.contains("steer"), "{received}");
}

#[tokio::test]
async fn another_attempt_counts_from_zero() {
    let script = r#"
read_() { turn read '{"path":"a"}' text; }
repeat 6 read_
if mkdir "$home/second" 2>/dev/null; then
    said '' error ',"errorMessage":"500"'
    printf '{"type":"auto_retry_end","success":false,"attempt":3,"finalError":"500"}\n'; settled
else
    answer
fi"#;
    let config = json!({ "graceMs": 200, "retry": { "backoffMs": 1 } });
    let result = run(&json_scene(script, config)).await;
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
    let call = format!(r#"turn bash '{{"command":"echo {SECRET}\n[31m\u001b[31m"}}' x"#);
    let scene = json_scene(&format!("repeat 8 {call}; hang"), json!({ "graceMs": 200 }));
    let result = run(&scene).await;
    let error = single(&result).error.as_deref().expect("the run has an error");
    assert!(error.contains("8 times") && !error.contains("ghp_AbCd"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(!error.contains('\u{1b}'), "{error}");
}
