//! Faults between this machine and a remote child: each row checks the user's message, and that nothing remains on the remote
//! machine. The launcher is a stand-in; `docs/launchers/faults.md` lists the rows.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::child::Child;
use crate::support::engine::naming;
use crate::support::pids::{Pids, eventually};
use crate::support::remote::{FAR, Place, at, endless, read};
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, Progress, RunOutcome, SingleResult};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::sync::watch;

/// The next step if the launcher has failed.
const TRY_IT: &str =
    "the launcher failed, not the task: tell the user, who can test it with `/subagents doctor`";
/// The next step if the child may have changed something on the remote machine.
const LOOK_FIRST: &str = "it was not restarted: check what it has already done there before you run it again; `/subagents doctor` tests \
                          the launcher";
/// The launcher of a scene.
fn far(scene: &mut Scene) -> &mut Value {
    let context = Arc::make_mut(&mut scene.spec.context);
    &mut context.config.as_mut().expect("the context has a configuration")["launchers"]["far"]
}

/// Puts words before a launcher's own.
fn before(far: &mut Value, words: &[&str]) {
    let own = far["command"].as_array().expect("the value is an array").clone();
    far["command"] = words.iter().copied().map(Value::from).chain(own).collect();
}

/// The remaining entries in the remote directory for temporary files.
fn remote_entries(scene: &Scene) -> usize {
    fs::read_dir(scene.path("far/tmp")).expect("the directory is readable").count()
}

async fn run(scene: &Scene) -> (SingleResult, String) {
    let mut result = scene.run_with(&User::default(), &Control::default()).await.0;
    (result.details.results.remove(0), result.text)
}

/// The number of the launcher's starts.
fn launches(scene: &Scene) -> usize {
    read(scene, "far/launches").lines().count()
}

#[tokio::test]
async fn a_launcher_that_starts_nothing_fails_with_its_own_message() {
    let sh = |script: &str| json!(["/bin/sh", "-c", script, "sh", "{argv}"]);
    for (command, expected) in [
        (sh("echo 'Host key verification failed.' >&2; exit 255"), "Host key verification failed."),
        (sh("echo 'Permission denied (publickey).' >&2; exit 255"), "Permission denied (publickey)."),
        (sh("echo Welcome; echo 'no route to host' >&2; exit 255"), "no route to host"),
        (sh("exit 1"), "the child gave no reason"),
        (json!(["/bin/sh", FAR, "words", "/dev/null/far", "{argv}"]), "Not a directory"),
    ] {
        for protocol in ["rpc", "json"] {
            let mut scene = at(Place::Words, Child::new(), &json!({ "protocol": protocol }));
            far(&mut scene)["command"] = command.clone();
            let (single, text) = run(&scene).await;
            assert_eq!(single.outcome, RunOutcome::Failed);
            let error = single.error.as_deref().unwrap_or_default();
            assert!(
                error.starts_with("`far` ended before it started a child: ") && error.contains(expected),
                "{error}"
            );
            assert!(text.contains(TRY_IT), "{text}");
        }
    }
}

#[tokio::test]
async fn a_missing_launcher_is_named() {
    let mut scene = at(Place::Words, Child::new(), &json!({}));
    far(&mut scene)["command"] = json!(["no-such-launcher", "{argv}"]);
    let (single, _) = run(&scene).await;
    assert_eq!(single.outcome, RunOutcome::Failed);
    assert!(
        single.error.as_deref().is_some_and(|error| error.contains("no-such-launcher")),
        "{:?}",
        single.error
    );
}

#[tokio::test]
async fn a_queued_launcher_is_quoted_when_its_run_ends() {
    for (protocol, printed) in [("rpc", "job 7 queued"), ("json", "job 7 queued"), ("rpc", "")] {
        let mut scene = at(Place::Words, Child::new(), &json!({ "timeoutMs": 800, "protocol": protocol }));
        let waits = format!("echo '{printed}' >&2; exec cat >/dev/null");
        far(&mut scene)["command"] = json!(["/bin/sh", "-c", waits, "sh", "{argv}"]);
        let (single, text) = run(&scene).await;
        let notices = &single.diagnostics;
        let expected = format!("the child had sent nothing until then; `far` printed: `{printed}`");
        assert_eq!(notices.contains(&expected), !printed.is_empty(), "{protocol}: {notices:?}");
        assert_eq!(
            notices.iter().any(|notice| notice.contains("`far` printed")),
            !printed.is_empty(),
            "{notices:?}"
        );
        assert!(
            text.contains("next: give it a smaller task; if it produced no output, the user can test"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_remote_machine_that_cannot_run_the_child_fails_the_run_with_the_reason() {
    let ends = || Child::new();
    let old = || Child::new().runs("echo 'Error: Unknown option: --no-extensions' >&2").exits(1);
    // A write to any file fails, as on a full disk.
    let full = ["/bin/sh", "-c", r#"trap '' XFSZ; ulimit -f 0; exec "$@""#, "sh"];
    let not_started = "`far` ended before it started a child: ";
    let silent = "pi on the other machine (`far`) ended before it answered: ";
    for place in [Place::Words, Place::Shell] {
        for protocol in ["rpc", "json"] {
            for (label, child, begins, expected) in [
                ("no pi", ends(), silent, "no-such-pi"),
                ("an old pi", old(), silent, "Unknown option: --no-extensions"),
                ("a pi without output", Child::new().exits(9), silent, "the child gave no reason"),
                ("a full disk", ends(), not_started, "is the disk full?"),
                ("no directory for temporary files", ends(), not_started, "is the disk full?"),
                ("no directory of the project", ends(), not_started, "cd: "),
            ] {
                let mut scene = at(place, child, &json!({ "protocol": protocol }));
                let blocked = scene.path("far/tmp");
                let far = far(&mut scene);
                match label {
                    "no pi" => far["piCommand"] = json!(["no-such-pi"]),
                    "a full disk" => before(far, &full),
                    "no directory of the project" => far["cwd"] = "/no/such/project".into(),
                    "no directory for temporary files" => {
                        // A file in place of a directory that the stand-in cannot create.
                        fs::create_dir_all(blocked.parent().expect("the path has a parent"))
                            .expect("the directory is created");
                        std::os::unix::fs::symlink("/dev/null/nowhere", &blocked)
                            .expect("the link is created");
                    }
                    _ => {}
                }
                let (single, text) = run(&scene).await;
                let case = format!("{label}, {place:?}, {protocol}");
                assert_eq!(single.outcome, RunOutcome::Failed, "{case}");
                let error = single.error.as_deref().unwrap_or_default();
                assert!(error.starts_with(begins) && error.contains(expected), "{case}: {error}");
                assert!(text.contains(TRY_IT), "{case}: {text}");
                if label != "no directory for temporary files" {
                    assert_eq!(remote_entries(&scene), 0, "{case}");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_stream_after_any_banner_is_read() {
    let long =
        "i=0; while [ $i -lt 4000 ]; do echo 'All activity on this system is recorded.'; i=$((i+1)); done";
    // A shell prints such lines from a resource file. A line of JSON is an event only after the child's first output.
    let json = r#"printf '{"motd":"{\n"}\n{"type":"agent_settled"}\nLast login: never'"#;
    for (label, banner) in [("long", long), ("json", json), ("bytes", r"printf '\377\000\033[31mroot\r\n\n'")]
    {
        for protocol in ["rpc", "json"] {
            let answer = Child::working_in(protocol).says("The whole answer.").settles();
            let child = if protocol == "json" { answer } else { answer.listens() };
            let mut scene = at(Place::Shell, child, &json!({ "protocol": protocol }));
            before(
                far(&mut scene),
                &["/bin/sh", "-c", &format!("{banner}; {banner} >&2; exec \"$@\""), "sh"],
            );
            let (single, _) = run(&scene).await;
            assert_eq!(single.outcome, RunOutcome::Completed, "{label}, {protocol}: {:?}", single.error);
            assert_eq!(single.output.as_deref(), Some("The whole answer."), "{label}, {protocol}");
            assert_eq!(remote_entries(&scene), 0, "{label}, {protocol}");
        }
    }
}

/// Forwards its input to a launcher whose children are not in its process group, as `ssh` does. Its first argument is a file for
/// the PIDs of its processes.
const RELAY: &str =
    r#"echo $$ >"$0"; b='echo $$ >>"$0"; exec cat'; sh -c "$b" "$0" | setsid "$@" | sh -c "$b" "$0""#;

/// A scene whose launcher has a connection that can fail.
fn connected(child: Child, config: &Value) -> Scene {
    let mut scene = at(Place::Words, child, config);
    let relay = scene.path("relay").to_string_lossy().into_owned();
    before(far(&mut scene), &["/bin/sh", "-c", RELAY, &relay]);
    scene
}

/// Waits until the child works. Returns it, and the processes of its connection.
async fn at_work(scene: &Scene) -> (Pids, Vec<Pid>) {
    eventually("the start of the child", || read(scene, "pid").ends_with('\n')).await;
    eventually("the connection", || read(scene, "relay").lines().count() == 3).await;
    let mut child = Pids::default();
    child.push(read(scene, "pid").trim().parse().expect("the text is a number"));
    let number = |line: &str| {
        Pid::from_raw(line.parse().expect("the line is a number")).expect("the ID is a process ID")
    };
    (child, read(scene, "relay").lines().map(number).collect())
}

fn signal(connection: &[Pid], signal: Signal) {
    for pid in connection {
        kill_process(*pid, signal).expect("the process can be signalled");
    }
}

#[tokio::test]
async fn a_lost_connection_fails_the_run_and_leaves_no_remote_process() {
    for (protocol, exits_with_success) in [("rpc", false), ("json", false), ("rpc", true), ("json", true)] {
        let retry = json!({ "enabled": true, "backoffMs": 1 });
        let mut scene = connected(endless(protocol), &json!({ "protocol": protocol, "retry": retry }));
        if exits_with_success {
            before(far(&mut scene), &["/bin/sh", "-c", r#""$@"; exit 0"#, "sh"]);
        }
        let case = format!("{protocol}, success: {exits_with_success}");
        let mut child = Pids::default();
        let (progress, mut seen) = watch::channel(Progress::default());
        let cut = async {
            let connection;
            (child, connection) = at_work(&scene).await;
            // The output so far must not pass for an answer.
            let arrived = |progress: &Progress| format!("{progress:?}").contains("So far.");
            seen.wait_for(arrived).await.expect("the run continues");
            signal(&connection[..1], Signal::KILL);
        };
        let user = User::default();
        let control = Control::default();
        let (result, ()) = tokio::join!(scene.execute(&user, &control, &progress), cut);
        let single = &result.details.results[0];
        assert_eq!(single.outcome, RunOutcome::Failed, "{case}: {}", result.text);
        let error = single.error.as_deref().unwrap_or_default();
        assert!(error.starts_with("`far` ended without reporting the end of its child: "), "{case}: {error}");
        assert!(exits_with_success || error.contains("SIGKILL"), "{case}: {error}");
        assert!(result.text.contains(LOOK_FIRST), "{case}: {}", result.text);
        child.gone("the child").await;
        eventually("an empty directory", || remote_entries(&scene) == 0).await;
        assert_eq!(Some(read(&scene, "cancelled").trim()), result.details.run_id.as_deref(), "{case}");
        assert_eq!(launches(&scene), 1, "the child is started only once");
    }
}

#[tokio::test]
async fn a_stalled_connection_ends_the_run_at_its_idle_limit_and_leaves_no_remote_process() {
    for protocol in ["rpc", "json"] {
        let scene = connected(endless(protocol), &json!({ "protocol": protocol, "idleTimeoutMs": 1_000 }));
        let mut child = Pids::default();
        let stall = async {
            let connection;
            (child, connection) = at_work(&scene).await;
            signal(&connection[1..], Signal::STOP);
        };
        let user = User::default();
        let control = Control::default();
        let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), stall);
        let single = &result.details.results[0];
        assert_eq!(single.outcome, RunOutcome::IdleTimeout, "{protocol}: {}", result.text);
        assert!(result.text.contains("(`idleTimeoutMs`)"), "{}", result.text);
        assert!(
            result.text.contains("the user can test the launcher with `/subagents doctor`"),
            "{}",
            result.text
        );
        child.gone("the child").await;
        eventually("an empty directory", || remote_entries(&scene) == 0).await;
        assert_eq!(Some(read(&scene, "cancelled").trim()), result.details.run_id.as_deref(), "{protocol}");
    }
}

#[tokio::test]
async fn a_short_stall_and_a_slow_connection_do_no_harm() {
    let works = Child::new()
        .runs(r#"echo $$ >"$home/pid""#)
        .receives()
        .starts()
        .says("So far.")
        .with_stop_reason("toolUse")
        .waits_for("go")
        .says("The whole answer.")
        .settles()
        .listens();
    let scene = connected(works, &json!({ "idleTimeoutMs": 30_000 }));
    let stall = async {
        let (_, connection) = at_work(&scene).await;
        // The child answers while no output arrives. Repeated pauses make the connection slow.
        // Continues each process: a process that has ended must not keep another one stopped.
        let signalled =
            |signal| connection[1..].iter().filter(|pid| kill_process(**pid, signal).is_ok()).count();
        for round in 0..6 {
            if signalled(Signal::STOP) == 0 {
                break;
            }
            if round == 2 {
                fs::write(scene.path("go"), "").expect("the file is written");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            signalled(Signal::CONT);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let user = User::default();
    let control = Control::default();
    let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), stall);
    let single = &result.details.results[0];
    assert_eq!(single.outcome, RunOutcome::Completed, "{}", result.text);
    assert_eq!(single.output.as_deref(), Some("The whole answer."));
    assert_eq!((launches(&scene), remote_entries(&scene)), (1, 0));
    assert_eq!(read(&scene, "cancelled"), "");
}

/// A cluster ends all processes of a job, one after the other, and the script is not always the first to notice.
#[tokio::test]
async fn a_child_killed_with_its_job_does_not_count_as_ended_by_itself() {
    for (label, script, is_lost) in [
        ("the job", "(sleep 0.3; kill -TERM $PPID) & kill -TERM $$", true),
        ("the child alone", "kill -TERM $$", false),
    ] {
        let scene = at(
            Place::Words,
            Child::working().says("So far.").with_stop_reason("toolUse").runs(script),
            &json!({}),
        );
        let (single, text) = run(&scene).await;
        assert_eq!(single.outcome, RunOutcome::Failed, "{label}: {text}");
        let error = single.error.as_deref().unwrap_or_default();
        assert_eq!(
            error.starts_with("`far` ended without reporting the end of its child: "),
            is_lost,
            "{label}: {error}"
        );
        assert_eq!(remote_entries(&scene), 0, "{label}");
    }
}

/// `cancel` has 10 s. In the meantime the remote child ends because its input has ended.
#[tokio::test]
async fn a_cancel_that_fails_or_hangs_is_reported_within_its_limit() {
    for (cancel, expected) in [
        ("exit 3", "`launchers.far.cancel` failed: it exited with 3 and printed no error"),
        ("echo 'no such job' >&2; exit 3", "`launchers.far.cancel` failed: no such job"),
        ("kill -9 $$", "`launchers.far.cancel` failed: it was ended by signal 9 and printed no error"),
        ("sleep 30", "`launchers.far.cancel` failed: it took longer than 10 s"),
    ] {
        // The remote script cleans up when it gets a request to exit. This one is a local process, which is killed after the grace
        // period.
        let mut scene = at(Place::Words, endless("rpc"), &json!({ "timeoutMs": 600, "graceMs": 10_000 }));
        far(&mut scene)["cancel"] = json!(["/bin/sh", "-c", cancel]);
        let since = Instant::now();
        let (single, text) = run(&scene).await;
        assert_eq!(single.outcome, RunOutcome::HardTimeout, "{cancel}: {text}");
        assert_eq!(single.diagnostics.last().map(String::as_str), Some(expected), "{cancel}");
        assert!(since.elapsed() < Duration::from_secs(25), "{cancel} took {:?}", since.elapsed());
        eventually("the end of the child", || naming(&scene.path("pi.sh")) == 0).await;
        eventually("an empty directory", || remote_entries(&scene) == 0).await;
    }
}
