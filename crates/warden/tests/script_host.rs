//! The guarantees for a shell script that starts a tree by `--hold`.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

const WARDEN: &str = env!("CARGO_BIN_EXE_pi-subagent-warden");

/// Leaves the group and the session, ignores requests to exit, and says who it is.
const STUBBORN: &str = "setsid sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1; done' &";

/// A shell with this script, held; `before` starts the warden.
fn held(before: &[&str], script: &str) -> Child {
    let warden = [WARDEN, "--hold", "--grace-ms", "200", "--", "/bin/sh", "-c", script];
    let words = [before, &warden].concat();
    Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

fn end(mut held: Child) -> (ExitStatus, String) {
    let mut said = String::new();
    held.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    (held.wait().expect("it ends"), said)
}

fn lines(held: &mut Child, count: usize) -> Vec<u32> {
    let output = BufReader::new(held.stdout.take().expect("a pipe"));
    output.lines().take(count).map(|line| line.expect("text").parse().expect("a process id")).collect()
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

fn assert_gone(pid: u32) {
    let deadline = Instant::now() + PATIENCE;
    while is_alive(pid) {
        assert!(Instant::now() < deadline, "{pid} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process id");
    kill_process(pid, signal).expect("it is there");
}

#[test]
fn the_child_has_its_own_input_output_and_exit_code() {
    let mut held = held(&[], "cat; exit 7");
    held.stdin.take().expect("a pipe").write_all(b"hello").expect("it reads");
    let mut output = String::new();
    held.stdout.take().expect("a pipe").read_to_string(&mut output).expect("text");
    let (status, said) = end(held);
    assert_eq!((output.as_str(), status.code(), said.as_str()), ("hello", Some(7), ""));
}

#[test]
fn a_signal_that_ends_the_child_ends_the_warden() {
    assert_eq!(end(held(&[], "kill -KILL $$")).0.signal(), Some(9));
}

#[test]
fn the_processes_left_by_a_child_end_before_the_warden() {
    let mut held = held(&[], &format!("{STUBBORN} read -r _; exit 0"));
    let left = lines(&mut held, 1);
    drop(held.stdin.take());
    assert_eq!(end(held).0.code(), Some(0));
    assert!(!is_alive(left[0]));
}

#[test]
fn a_request_to_exit_reaches_the_tree_and_waits_for_its_end() {
    let mut held = held(&[], &format!("trap 'exit 3' TERM; {STUBBORN} echo $$; while :; do sleep 0.1; done"));
    let pids = lines(&mut held, 2);
    signal(held.id(), Signal::TERM);
    assert_eq!(end(held).0.code(), Some(3), "as the child chose to");
    for pid in pids {
        assert!(!is_alive(pid));
    }
}

#[test]
fn the_tree_does_not_outlive_its_warden() {
    let mut held = held(&[], &format!("{STUBBORN} read -r _"));
    let left = lines(&mut held, 1);
    signal(held.id(), Signal::KILL);
    held.wait().expect("it ends");
    assert_gone(left[0]);
}

#[test]
fn the_tree_does_not_outlive_the_script_that_started_it() {
    // Not `exec`: the shell stays between this test and the warden.
    let mut script = held(&["/bin/sh", "-c", "\"$0\" \"$@\"; exit"], &format!("{STUBBORN} read -r _"));
    let left = lines(&mut script, 1);
    signal(script.id(), Signal::KILL);
    script.wait().expect("it ends");
    assert_gone(left[0]);
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let held = Command::new(WARDEN).args(["--hold", "--", "/no/such/program"]).output().expect("it starts");
    let said = String::from_utf8_lossy(&held.stderr);
    assert_eq!(
        (held.status.code(), &*said),
        (Some(125), "pi-subagent-warden: exec: No such file or directory (os error 2)\n")
    );
    let held = Command::new(WARDEN).args(["--hold", "--loud"]).output().expect("it starts");
    let said = String::from_utf8_lossy(&held.stderr);
    assert_eq!((held.status.code(), &*said), (Some(125), "pi-subagent-warden: unknown argument --loud\n"));
}
