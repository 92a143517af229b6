//! The behaviour of supervised children, and the outcome of each. The fixtures are named after their behaviour.
#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::time::Duration;

use crate::support::pids::{Pids, eventually};
use crate::support::program::{self, fixture, warden};
use supervisor::{
    Activity, Cancel, CancelReason, ChildCommand, Guardian, Input, Observer, Options, Outcome, SpawnError,
    SuperviseLimits, Supervised, exit_code, exit_signal, start, supervise,
};
use tokio::runtime;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Longer than any run here takes, unless a test waits in vain.
const FOREVER: Duration = Duration::from_secs(30);

/// Understands the fixtures: `pid N`, `alive`, `pause`, `resume`, `settled`. Anything else is noise.
///
/// The idle limit counts from the first `pid`, so that the start time of a fixture does not matter.
struct Recorder {
    silence: Option<Duration>,
    paused: bool,
    settled: bool,
    delay: Duration,
    partial: Vec<u8>,
    seen: watch::Sender<Seen>,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    pids: Pids,
    bytes: usize,
    text: String,
}

impl Recorder {
    fn new(silence: Option<Duration>) -> (Self, watch::Receiver<Seen>) {
        let (seen, receiver) = watch::channel(Seen::default());
        let delay = Duration::ZERO;
        (Self { silence, paused: true, settled: false, delay, partial: Vec::new(), seen }, receiver)
    }
}

impl Observer for Recorder {
    fn stdout(&mut self, chunk: &[u8]) -> Activity {
        std::thread::sleep(self.delay);
        let mut alive = false;
        self.partial.extend_from_slice(chunk);
        let whole = self.partial.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.partial.drain(..whole).collect();
        self.seen.send_modify(|seen| {
            seen.bytes += chunk.len();
            for line in String::from_utf8(lines).expect("the output is UTF-8").lines() {
                match line.split_once(' ') {
                    Some(("pid" | "stray", pid)) => {
                        self.paused &= seen.pids.len() > 0;
                        seen.pids.push(pid.parse().expect("the ID is a number"));
                    }
                    _ => match line {
                        "alive" => alive = true,
                        "pause" => (alive, self.paused) = (true, true),
                        "resume" => (alive, self.paused) = (true, false),
                        "settled" => (alive, self.settled) = (true, true),
                        _ => {}
                    },
                }
                if !line.is_empty() && seen.text.len() < 4096 {
                    seen.text.push_str(line);
                    seen.text.push('\n');
                }
            }
        });
        Activity {
            alive,
            silence: self.silence.filter(|_| !self.paused),
            settled: self.settled,
            ..Activity::default()
        }
    }
}

struct Case {
    label: &'static str,
    command: ChildCommand,
    input: Input,
    limits: SuperviseLimits,
    silence: Option<Duration>,
    cancel: Cancel,
    delay: Duration,
}

impl Case {
    fn new(name: &'static str, args: &[&str]) -> Self {
        Self {
            label: name,
            command: fixture(name, args),
            input: Input::once(Vec::new()),
            limits: SuperviseLimits {
                hard: Some(FOREVER),
                grace: FOREVER,
                linger: FOREVER,
                drain: FOREVER,
                ..SuperviseLimits::default()
            },
            silence: Some(FOREVER),
            cancel: Cancel::new(),
            delay: Duration::ZERO,
        }
    }

    fn label(self, label: &'static str) -> Self {
        Self { label, ..self }
    }

    fn hard(mut self, ms: u64) -> Self {
        self.limits.hard = Some(MS(ms));
        self
    }

    fn grace(mut self, ms: u64) -> Self {
        self.limits.grace = MS(ms);
        self
    }

    fn linger(mut self, ms: u64) -> Self {
        self.limits.linger = MS(ms);
        self
    }

    fn drain(mut self, ms: u64) -> Self {
        self.limits.drain = MS(ms);
        self
    }

    fn silence(mut self, ms: u64) -> Self {
        self.silence = Some(MS(ms));
        self
    }

    fn input(mut self, bytes: usize) -> Self {
        self.input = Input::once(vec![b'x'; bytes]);
        self
    }

    fn observed_slowly(mut self, ms: u64) -> Self {
        self.delay = MS(ms);
        self
    }

    fn start(self) -> (impl Future<Output = Result<Supervised, SpawnError>>, watch::Receiver<Seen>) {
        let (mut recorder, seen) = Recorder::new(self.silence);
        recorder.delay = self.delay;
        let run = async move {
            supervise(self.command, self.input, self.limits, None, &self.cancel, &mut recorder).await
        };
        (run, seen)
    }

    async fn run(self) -> (Supervised, Seen) {
        let label = self.label;
        let (run, seen) = self.start();
        let ended = tokio::time::timeout(Duration::from_secs(60), run).await;
        let ended = ended.unwrap_or_else(|_| panic!("{label} hangs")).expect("the program starts");
        let seen = seen.borrow().clone();
        (ended, seen)
    }
}

/// Returns the outcome in words, with a readable status.
fn words(ended: &Supervised) -> String {
    let status = ended.status.map_or("unknown".into(), |status| exit_code(status).to_string());
    match &ended.outcome {
        Outcome::Exited(_) => format!("exited {status}"),
        Outcome::Lost => "lost".into(),
        Outcome::Settled { lingered: false, .. } => format!("settled {status}"),
        Outcome::Settled { lingered: true, .. } => format!("lingered {status}"),
        Outcome::IdleTimeout { .. } => format!("idle {status}"),
        Outcome::HardTimeout { .. } => format!("hard {status}"),
        Outcome::OverLimit(_) => format!("over a limit {status}"),
        Outcome::Orphaned => format!("orphaned {status}"),
        Outcome::Cancelled(_) => format!("cancelled {status}"),
    }
}

/// Each row: the child's behaviour and limits, the outcome with its exit code, and the output that must have arrived.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_behaviour_has_the_expected_outcome() {
    let table = vec![
        (Case::new("exits", &["0"]), "exited 0", ""),
        (Case::new("exits", &["3"]).label("exits with a code"), "exited 3", ""),
        (Case::new("dies", &["KILL"]), "exited 137", ""),
        (Case::new("dies", &["SEGV"]).label("crashes"), "exited 139", ""),
        (Case::new("silent", &[]).silence(200), "idle 143", "pid"),
        (Case::new("silent", &[]).hard(2000).label("silent for too long in all"), "hard 143", "pid"),
        (Case::new("chatty", &["60"]).silence(2000), "exited 0", "alive"),
        (
            Case::new("chatty", &["600"]).silence(2000).hard(3000).label("chatty for too long"),
            "hard 143",
            "alive",
        ),
        (Case::new("polite", &[]).silence(300), "idle 0", "goodbye"),
        (Case::new("stubborn", &[]).silence(300).grace(2000), "idle 137", "asked"),
        (Case::new("stops", &[]).silence(300), "idle 0", "goodbye"),
        (Case::new("floods", &[]).silence(300), "idle 143", "noise"),
        (Case::new("floods", &[]).hard(2000).label("floods for too long"), "hard 143", "noise"),
        (Case::new("complains_for_ever", &[]).silence(300), "idle 143", "pid"),
        (Case::new("complains_for_ever", &[]).hard(2000).label("complains for too long"), "hard 143", "pid"),
        (Case::new("works", &["1"]).silence(300), "idle 143", "resume"),
        (Case::new("settles", &[]), "settled 0", "settled"),
        (Case::new("lingers", &[]).linger(200), "lingered 143", "settled"),
        (
            Case::new("lingers", &[]).hard(2000).label("lingers beyond the hard limit"),
            "lingered 143",
            "settled",
        ),
        (Case::new("lingers_chatting", &[]).linger(200), "lingered 143", "settled"),
        (Case::new("holds_pipe", &["0"]), "exited 0", "pid"),
        (Case::new("holds_pipe", &["4"]).label("fails and leaves others behind"), "exited 4", "pid"),
        (Case::new("leaves_a_flood", &[]), "exited 0", "pid"),
        (Case::new("leaves_a_polite_one", &[]), "exited 0", "goodbye"),
        (Case::new("forks", &[]).silence(300), "idle 143", "pid"),
        (Case::new("never_reads", &[]).input(8 << 20), "exited 0", "alive"),
        (Case::new("closes_input", &[]).input(8 << 20), "exited 0", "alive"),
        (Case::new("counts_input", &[]).input(8 << 20), "exited 0", "8388608"),
        (
            Case::new("counts_input", &[]).input(1000).observed_slowly(10).label("slow observer"),
            "exited 0",
            "1000",
        ),
    ];
    // All at once would make each limit meaningless on a small machine. The limits of the whole run are long enough for a fixture
    // to start.
    let places = Arc::new(Semaphore::new(4));
    let mut rows = JoinSet::new();
    for (case, outcome, output) in table {
        let places = Arc::clone(&places);
        rows.spawn(async move {
            let _place = places.acquire_owned().await.expect("the semaphore stays open");
            let label = case.label;
            let (ended, seen) = case.run().await;
            assert_eq!(words(&ended), outcome, "{label}");
            assert!(ended.complete, "{label} was read to the end");
            assert!(seen.text.contains(output), "{label} said: {}", seen.text);
            seen.pids.gone(label).await;
        });
    }
    while let Some(row) = rows.join_next().await {
        row.expect("the case succeeds");
    }
}

/// Runs a case until its output satisfies `when`, then calls `then` with the output while the run continues.
async fn run_until(case: Case, when: impl Fn(&Seen) -> bool, then: impl FnOnce()) -> (Supervised, Seen) {
    let label = case.label;
    let (run, mut seen) = case.start();
    let watched = seen.clone();
    let act = async move {
        seen.wait_for(when).await.expect("the run continues");
        then();
    };
    let both = async { tokio::join!(run, act).0 };
    let ended = tokio::time::timeout(Duration::from_secs(60), both).await;
    let ended = ended.unwrap_or_else(|_| panic!("{label} hangs")).expect("the program starts");
    let seen = watched.borrow().clone();
    (ended, seen)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_ends_the_tree_and_keeps_its_reason() {
    for (name, pids) in [("silent", 1), ("forks", 5), ("floods", 1), ("complains_for_ever", 1), ("stops", 1)]
    {
        let case = Case::new(name, &[]).grace(300);
        let cancel = case.cancel.clone();
        let (ended, seen) = run_until(
            case,
            |seen| seen.pids.len() == pids,
            || {
                cancel.cancel(CancelReason::Caller(Some("enough".into())));
                cancel.cancel(CancelReason::Shutdown);
            },
        )
        .await;
        assert_eq!(ended.outcome, Outcome::Cancelled(CancelReason::Caller(Some("enough".into()))), "{name}");
        assert!(ended.complete, "{name}");
        seen.pids.gone(name).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_during_the_grace_period_does_not_replace_the_first_cause() {
    let case = Case::new("stubborn", &[]).silence(200);
    let cancel = case.cancel.clone();
    let (ended, seen) =
        run_until(case, |seen| seen.text.contains("asked"), || cancel.cancel(CancelReason::Shutdown)).await;
    assert_eq!(ended.outcome, Outcome::IdleTimeout { limit: MS(200) });
    assert_eq!(ended.status.and_then(exit_signal), Some(9));
    seen.pids.gone("stubborn").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_while_lingering_is_still_a_cancel() {
    let case = Case::new("lingers", &[]);
    let cancel = case.cancel.clone();
    let (ended, seen) =
        run_until(case, |seen| seen.text.contains("settled"), || cancel.cancel(CancelReason::Dropped)).await;
    assert_eq!(ended.outcome, Outcome::Cancelled(CancelReason::Dropped));
    seen.pids.gone("lingers").await;
}

#[tokio::test]
async fn a_cancelled_run_starts_no_process() {
    let directory = tempfile::tempdir().expect("a temporary directory is created");
    let trace = directory.path().join("trace");
    let mut case = Case::new("silent", &[]);
    case.command.args = vec!["-c".into(), format!("echo > '{}'", trace.display()).into()];
    case.cancel.cancel(CancelReason::Shutdown);
    let (ended, _) = case.run().await;
    assert_eq!(ended.outcome, Outcome::Cancelled(CancelReason::Shutdown));
    assert_eq!(ended.status, None);
    assert!(!trace.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_run_leaves_nothing() {
    for (label, case, when, pids) in [
        ("at work", Case::new("forks", &[]), "", 5),
        ("in a flood", Case::new("floods", &[]), "noise", 1),
        ("during its grace period", Case::new("stubborn", &[]).silence(200), "asked", 1),
        ("lingering", Case::new("lingers", &[]), "settled", 1),
    ] {
        let (run, mut seen) = case.start();
        let pids = tokio::select! {
            _ = run => panic!("{label}: the run ended before it was dropped"),
            seen = seen.wait_for(|seen| seen.text.contains(when) && seen.pids.len() == pids) => {
                seen.expect("the run continues").pids.clone()
            }
        };
        pids.gone(label).await;
    }
}

#[test]
fn a_runtime_that_shuts_down_leaves_no_process() {
    let (run, mut seen) = Case::new("forks", &[]).start();
    let host = runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("the runtime starts");
    host.spawn(run);
    let pids = host
        .block_on(async { seen.wait_for(|seen| seen.pids.len() == 5).await.map(|seen| seen.pids.clone()) })
        .expect("the run continues");
    host.shutdown_background();
    let witness = runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    witness.block_on(pids.gone("forks"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_dropped_while_it_starts_leaves_nothing() {
    let mark = format!("MARK={}-{}", std::process::id(), line!());
    for round in 0..20 {
        let mut case = Case::new("silent", &[]);
        case.command.env.push(("MARK".into(), mark.trim_start_matches("MARK=").into()));
        let (run, _) = case.start();
        drop(tokio::time::timeout(Duration::from_micros(100 * round), run).await);
    }
    // A child may still be starting, so its absence must last.
    let mut quiet = 0;
    eventually("the end of all processes", || {
        quiet = if is_marked_process_there(&mark) { 0 } else { quiet + 1 };
        quiet == 50
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_start_leaves_nothing_once_it_returns() {
    let mark = format!("MARK={}-{}", std::process::id(), line!());
    let mut never_started = 0;
    for round in 0..100 {
        let mut command = fixture("silent", &[]);
        command.env.push(("MARK".into(), mark.trim_start_matches("MARK=").into()));
        command.guardian = Some(Guardian { program: warden(), options: Options::default() });
        let cancel = Cancel::new();
        let cancelling = async {
            tokio::time::sleep(Duration::from_micros(100 * round)).await;
            cancel.cancel(CancelReason::Dropped);
        };
        let (started, ()) = tokio::join!(start(command, &cancel), cancelling);
        match started.expect("the start succeeds") {
            Some(started) => started.discard().await,
            None => never_started += 1,
        }
        assert!(!is_marked_process_there(&mark), "round {round}");
    }
    assert!(never_started > 0, "every start finished before its cancel");
}

fn is_marked_process_there(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("the directory is readable");
    processes.filter_map(Result::ok).any(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gibibyte_of_stderr_is_folded() {
    let (ended, seen) = Case::new("complains", &["1024"]).run().await;
    assert_eq!(words(&ended), "exited 0");
    assert_eq!(seen.text, "alive\n");
    let stderr = ended.stderr;
    assert!(stderr.starts_with("first\n") && stderr.ends_with("\0last\n"));
    let (head, rest) = stderr.split_once("\n[").expect("the text has a note");
    let (omitted, tail) = rest.split_once(" bytes omitted]\n").expect("the note has an end");
    assert!(head.len() <= 16 * 1024 && tail.len() <= 16 * 1024, "{} {}", head.len(), tail.len());
    let all = (1 << 30) + "first\nlast\n".len();
    assert_eq!(omitted.parse(), Ok(all - head.len() - tail.len()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipe_held_by_an_unreachable_process_is_not_awaited_forever() {
    for name in ["escapes", "trickles"] {
        let (ended, seen) = Case::new(name, &[]).drain(200).run().await;
        assert_eq!(words(&ended), "exited 0", "{name}");
        assert!(!ended.complete, "{name}");
        assert_eq!(seen.pids.kill(), 1, "the stray of `{name}` still held the pipe");
        seen.pids.gone(name).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_output_is_read_however_long_that_takes() {
    // The child has ended long before a busy host has read the pipe.
    let (ended, seen) = Case::new("says_much", &[]).observed_slowly(40).drain(1).run().await;
    assert_eq!(words(&ended), "exited 0");
    assert!(ended.complete, "{} bytes", seen.bytes);
    assert_eq!(seen.bytes, 600_000 + "\nlast\n".len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_is_given_exactly_its_directory_environment_and_arguments() {
    let directory = tempfile::tempdir().expect("a temporary directory is created");
    let directory = directory.path().canonicalize().expect("the path exists");
    let mut case = Case::new("shows", &["-x", "@y", "a b", "$HOME `id`"]);
    case.command.cwd.clone_from(&directory);
    case.command.env.push(("ONLY".into(), "this".into()));
    let (ended, seen) = case.run().await;
    assert_eq!(words(&ended), "exited 0");
    let (place, rest) = seen.text.split_once('\n').expect("the output has several lines");
    assert_eq!(place, directory.to_str().expect("the path is UTF-8"));
    let (environment, arguments) = rest.split_at(rest.find("-x\n").expect("the output has the arguments"));
    let mut names: Vec<_> =
        environment.lines().filter_map(|line| line.split_once('=')).map(|(n, _)| n).collect();
    names.sort_unstable();
    // The shell itself adds PWD.
    names.retain(|name| !matches!(*name, "PWD" | "_" | "SHLVL" | "OLDPWD"));
    assert_eq!(names, ["ONLY", "PATH"]);
    assert_eq!(arguments, "-x\n@y\na b\n$HOME `id`\n");
}

/// A host may have been started with SIGCHLD ignored. The kernel then reaps its children, and their status is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_ignores_sigchld_sees_the_end_without_the_status() {
    const INSIDE: &str = "SUPERVISE_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        assert_eq!(words(&Case::new("exits", &["3"]).run().await.0), "lost");
        assert_eq!(words(&Case::new("settles", &[]).run().await.0), "settled unknown");
        return;
    }
    let name = program::test_name("a_host_that_ignores_sigchld_sees_the_end_without_the_status");
    let mut case = Case::new("silent", &[]);
    case.command.program = "env".into();
    case.command.args =
        vec!["--ignore-signal=CHLD".into(), program::path().into(), "--exact".into(), name.into()];
    case.command.env.push((INSIDE.into(), "1".into()));
    let (ended, seen) = case.run().await;
    assert_eq!(words(&ended), "exited 0", "{} {}", seen.text, ended.stderr);
    assert!(seen.text.contains("1 passed"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_may_finish_its_output_before_it_gets_a_signal() {
    for (leave, reason, expected) in [
        (FOREVER, CancelReason::Dropped, "cancelled 0"),
        (Duration::ZERO, CancelReason::Dropped, "cancelled 9"),
        // No process is left to take it.
        (FOREVER, CancelReason::Shutdown, "cancelled 9"),
    ] {
        let mut case = Case::new("hands_over", &[]);
        case.input = Input::open(b"work\n".to_vec());
        case.limits.leave = leave;
        let cancel = case.cancel.clone();
        let (run, mut seen) = case.start();
        let end = async {
            seen.wait_for(|seen| seen.pids.len() > 0).await.expect("the child starts");
            cancel.cancel(reason.clone());
        };
        let (ended, ()) = tokio::join!(run, end);
        assert_eq!(words(&ended.expect("the program starts")), expected, "{leave:?} {reason:?}");
    }
}
