//! The guarantees for a host, seen from the other end of the socket.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, IoSlice, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use pi_subagent_warden::file_lock::{is_locked, try_lock};
use pi_subagent_warden::{
    Abilities, Ending, Mechanism, Options, Order, Report, SHORT_OF_RESOURCES, Sandbox, Stage, remove_group,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, send, sendmsg, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

const WARDEN: &str = env!("CARGO_BIN_EXE_pi-subagent-warden");

/// A host with one warden.
struct Host {
    socket: OwnedFd,
    warden: Child,
    output: BufReader<ChildStdout>,
}

impl Host {
    /// Starts a warden, by `before` if that is not empty, and through it a shell with this script.
    fn start(before: &[&str], change: impl FnOnce(&mut Options), script: &str) -> Self {
        let command = ["/bin/sh", "-c", script].map(OsString::from).to_vec();
        let mut options = Options { grace: Duration::from_millis(200), command, ..Options::default() };
        change(&mut options);
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .expect("a socket pair");
        let mut words: Vec<OsString> = before.iter().map(OsString::from).collect();
        words.push(WARDEN.into());
        words.extend(options.to_args());
        let mut warden = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the warden starts");
        let output = BufReader::new(warden.stdout.take().expect("a pipe"));
        let host = Self { socket, warden, output };
        let (reads, _) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        host.order_with(Order::Start, reads.as_fd());
        host
    }

    fn order_with(&self, order: Order, descriptor: BorrowedFd<'_>) {
        let descriptors = [descriptor];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let text = [IoSlice::new(order.as_str().as_bytes())];
        sendmsg(&self.socket, &text, &mut control, SendFlags::empty()).expect("it listens");
    }

    /// The next report; `None` at the end of the socket.
    fn hear(&self) -> Option<Report> {
        let mut bytes = [0; pi_subagent_warden::MAX_MESSAGE];
        let (count, _) = recv(&self.socket, &mut bytes, RecvFlags::empty()).expect("the socket works");
        (count > 0).then(|| Report::parse(&bytes[..count]).expect("a report"))
    }

    /// Returns the active mechanisms once the child has started.
    fn started(&self) -> Vec<Mechanism> {
        self.started_in().0
    }

    /// The same, and the control group of its tree, if it has one.
    fn started_in(&self) -> (Vec<Mechanism>, Option<PathBuf>) {
        let mut group = None;
        loop {
            match self.hear() {
                Some(Report::Started(mechanisms)) => return (mechanisms, group),
                Some(Report::Grouped(path)) => group = Some(path),
                other => panic!("not started: {other:?}"),
            }
        }
    }

    fn order(&self, order: Order) {
        send(&self.socket, order.as_str().as_bytes(), SendFlags::empty()).expect("it listens");
    }

    /// The next line that the child writes.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("text");
        line.trim_end_matches('\n').to_owned()
    }

    /// Closes the socket, as the end of the host does.
    fn die(&mut self) {
        let (unused, _) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .expect("a socket pair");
        self.socket = unused;
    }

    /// Waits for the end of the tree, and of the warden.
    fn leave(&mut self) {
        while !matches!(self.hear(), Some(Report::TreeEnded(_))) {}
        self.order(Order::Leave);
        self.warden.wait().expect("it ends");
    }

    /// Waits until no process of the tree holds the child's output.
    fn silence(&mut self) {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // After a failed test its tree may still run.
        let _ = send(&self.socket, Order::Kill.as_str().as_bytes(), SendFlags::NOSIGNAL);
        self.die();
        drop(self.warden.wait());
    }
}

#[test]
fn the_end_of_the_child_is_reported_and_passed_on() {
    for (script, ending, code, signal) in [
        ("exit 0", Ending::Code(0), Some(0), None),
        ("exit 77", Ending::Code(77), Some(77), None),
        ("kill -SEGV $$", Ending::Signal { number: 11, core: false }, None, Some(11)),
        ("kill -KILL $$", Ending::Signal { number: 9, core: false }, None, Some(9)),
    ] {
        let mut host = Host::start(&["prlimit", "--core=0"], |_| {}, script);
        host.started();
        assert_eq!(host.hear(), Some(Report::Ended(ending)), "{script}");
        assert!(matches!(host.hear(), Some(Report::TreeEnded(tally)) if tally.remaining == 0), "{script}");
        host.order(Order::Leave);
        assert_eq!(host.hear(), None, "{script}");
        let status = host.warden.wait().expect("it ends");
        assert_eq!((status.code(), status.signal()), (code, signal), "{script}");
    }
}

#[test]
fn a_program_that_cannot_be_executed_is_a_failure_of_that_stage() {
    let host = Host::start(&[], |options| options.command = vec!["/no/such/program".into()], "");
    assert_eq!(host.hear(), Some(Report::Failed { stage: Stage::Exec, errno: 2, path: None }));
    host.order(Order::Leave);
    assert_eq!(host.hear(), None);
}

#[test]
fn a_child_starts_with_its_three_descriptors_and_untouched_signals() {
    // Descriptor 7 represents a descriptor that a careless host leaks.
    let script =
        "ls /proc/self/fd | tr '\\n' ' '; grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\n'; echo";
    let mut host = Host::start(&["/bin/sh", "-c", "exec 7</dev/null \"$@\"", "sh"], |_| {}, script);
    host.started();
    let line = host.line();
    let (descriptors, signals) = line.split_once("SigBlk:").expect("both");
    // The fourth is the directory that `ls` reads.
    assert_eq!(descriptors, "0 1 2 3 ");
    for set in signals.split("SigIgn:") {
        let set = u64::from_str_radix(set.trim(), 16).expect("a set of signals");
        // Signals above 31 are not used by programs; the C library reserves two of them.
        assert_eq!(set & 0x7fff_ffff, 0, "{line}");
    }
}

#[test]
fn the_end_of_the_host_ends_the_tree_and_removes_what_it_would_have_removed() {
    let scene = tempfile::tempdir().expect("a directory");
    let at = |name: &str| scene.path().join(name);
    fs::write(at("kept"), "").expect("a file");
    fs::write(at("file"), "").expect("a file");
    fs::create_dir_all(at("folder/deep")).expect("a folder");
    std::os::unix::fs::symlink(scene.path(), at("folder/deep/link")).expect("a link");
    let scratch = ["file", "folder", "missing"].map(at).to_vec();
    let script =
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$; sleep 60; sleep 60' & sleep 60; sleep 60";
    let mut host = Host::start(&[], |options| options.scratch = scratch, script);
    host.started();
    let escaped = host.line();
    host.die();
    host.silence();
    let status = host.warden.wait().expect("it ends");
    assert_eq!(status.signal(), Some(9), "the child ignored the polite request");
    assert!(!Path::new("/proc").join(escaped).exists());
    let left: Vec<_> = fs::read_dir(scene.path())
        .expect("readable")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(left, ["kept"]);
}

#[test]
fn a_lock_of_the_host_lasts_until_the_tree_is_gone() {
    let scene = tempfile::tempdir().expect("a directory");
    let path = scene.path().join("lock");
    let lock = fs::File::create_new(&path).expect("a file");
    assert!(try_lock(&lock).expect("locks work"));
    let asked = fs::File::options().write(true).open(&path).expect("it is there");
    // The warden takes one order after the other: a child that was asked to exit shows that the lock was taken.
    let script =
        "trap 'echo asked' TERM; ls /proc/self/fd | tr '\\n' ' '; echo; while :; do sleep 0.02; done";
    let mut host = Host::start(&[], |options| options.grace = Duration::from_millis(300), script);
    host.started();
    // The fourth is the directory that `ls` reads.
    assert_eq!(host.line(), "0 1 2 3 ");
    host.order_with(Order::Hold, lock.as_fd());
    host.order(Order::Ask);
    assert_eq!(host.line(), "asked");
    drop(lock);
    assert!(is_locked(&asked).expect("locks work"), "the warden holds it");
    host.die();
    assert!(is_locked(&asked).expect("locks work"), "the child is there for its grace period");
    host.silence();
    host.warden.wait().expect("it ends");
    assert!(!is_locked(&asked).expect("locks work"));
}

#[test]
fn a_lock_is_free_when_the_host_learns_that_the_tree_has_ended() {
    let scene = tempfile::tempdir().expect("a directory");
    let path = scene.path().join("lock");
    let lock = fs::File::create_new(&path).expect("a file");
    assert!(try_lock(&lock).expect("locks work"));
    let host = Host::start(&[], |_| {}, "while :; do sleep 0.02; done");
    host.started();
    for _ in 0..20 {
        // More than it keeps do no harm.
        host.order_with(Order::Hold, lock.as_fd());
    }
    drop(lock);
    host.order(Order::Kill);
    while !matches!(host.hear(), Some(Report::TreeEnded(_))) {}
    let again = fs::File::options().write(true).open(&path).expect("it is there");
    assert!(try_lock(&again).expect("locks work"));
    host.order(Order::Leave);
}

#[test]
fn the_processes_left_by_a_child_are_asked_to_exit_before_they_are_killed() {
    let polite =
        "trap \"echo goodbye; exit 0\" TERM; echo ready; kill -USR1 $LEADER; while :; do sleep 0.05; done";
    let deaf = "trap \"\" TERM; echo ready; kill -USR1 $LEADER; while :; do sleep 0.05; done";
    for (label, begins, behind, goodbye) in [
        ("polite", "", polite, "goodbye"),
        ("polite and in a session of its own", "setsid", polite, "goodbye"),
        ("deaf", "", deaf, ""),
    ] {
        let script = format!(
            "export LEADER=$$; trap 'exit 0' USR1; {begins} sh -c '{behind}' & while :; do sleep 0.05; done"
        );
        let mut host = Host::start(&[], |_| {}, &script);
        host.started();
        assert_eq!(host.line(), "ready", "{label}");
        assert_eq!(host.line(), goodbye, "{label}");
        let ended = loop {
            match host.hear() {
                Some(Report::Using(_)) => {}
                other => break other,
            }
        };
        assert_eq!(ended, Some(Report::Ended(Ending::Code(0))), "{label}");
        assert!(matches!(host.hear(), Some(Report::TreeEnded(tally)) if tally.remaining == 0), "{label}");
    }
}

/// A child may end before the warden hears of its host's end: a killed host's end of the child's input can close first.
#[test]
fn a_dead_host_leaves_nothing_of_a_child_without_work_and_keeps_what_one_with_work_leaves() {
    for (label, has_work, script) in [
        ("without work", false, "echo up; sleep 60; sleep 60"),
        ("with work", true, "echo up; sleep 60; sleep 60"),
        ("that has ended by itself", false, "echo up"),
        ("that had work and has ended by itself", true, "echo up"),
    ] {
        let scene = tempfile::tempdir().expect("a directory");
        let directory = scene.path().join("run");
        fs::create_dir(&directory).expect("a folder");
        for name in ["prompt", "session"] {
            fs::write(directory.join(name), "").expect("a file");
        }
        let change = |options: &mut Options| {
            options.scratch = vec![directory.join("prompt")];
            options.unless_kept = vec![directory.join("session")];
            options.directory = Some(directory.clone());
        };
        let mut host = Host::start(&[], change, script);
        host.started();
        assert_eq!(host.line(), "up", "{label}");
        if has_work {
            host.order(Order::Keep);
        }
        if !script.contains("sleep") {
            while !matches!(host.hear(), Some(Report::TreeEnded(_))) {}
        }
        host.die();
        host.silence();
        host.warden.wait().expect("it ends");
        let left = fs::read_dir(&directory)
            .ok()
            .map(|entries| entries.map(|entry| entry.expect("an entry").file_name()).collect::<Vec<_>>());
        assert_eq!(left, has_work.then(|| vec!["session".into()]), "{label}");
    }
}

#[test]
fn a_slow_tree_reports_its_resource_use() {
    let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 60 & sleep 60";
    let host = Host::start(&[], |_| {}, script);
    host.started();
    let tally = loop {
        match host.hear() {
            // Two processes sleep next to the shell, once it has done its work.
            Some(Report::Using(tally)) if tally.processes >= 3 => break tally,
            Some(Report::Using(_)) => {}
            other => panic!("not told: {other:?}"),
        }
    };
    assert!(tally.cpu_ms > 0 && tally.peak_rss_bytes > 0, "{tally:?}");
    host.order(Order::Kill);
}

/// As a child does it where no filter of system calls holds it: it takes the warden's descriptors away, and leaves.
#[test]
fn a_warden_without_descriptors_still_ends_its_tree() {
    let escapes = "trap \"\" TERM; sleep 600 & echo $1 $$ $!; wait; sleep 600";
    let script =
        format!("trap 'exit 0' USR1; setsid env -i sh -c '{escapes}' sh $$ & while :; do sleep 0.05; done");
    let without_cgroup = "mount --bind /tmp /sys/fs/cgroup && exec \"$@\"";
    for before in [&[][..], &["unshare", "--mount", "sh", "-c", without_cgroup, "sh"]] {
        if before.first().is_some_and(|_| !rustix::process::getuid().is_root()) {
            continue;
        }
        let mut host = Host::start(before, |_| {}, &script);
        host.started();
        let pids: Vec<i32> = host.line().split(' ').map(|pid| pid.parse().expect("a number")).collect();
        let warden = rustix::process::Pid::from_child(&host.warden);
        let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
        rustix::process::prlimit(Some(warden), rustix::process::Resource::Nofile, none).expect("it is ours");
        let child = rustix::process::Pid::from_raw(pids[0]).expect("it is not zero");
        rustix::process::kill_process(child, rustix::process::Signal::USR1).expect("it runs");
        let left = loop {
            match host.hear() {
                Some(Report::TreeEnded(tally)) => break tally.remaining,
                Some(_) => {}
                None => panic!("nothing was reported"),
            }
        };
        let alive = pids.iter().any(|pid| Path::new("/proc").join(pid.to_string()).exists());
        assert!(!alive && left == 0, "{before:?}: alive: {alive}, reported: {left}");
    }
}

/// Processes that are replaced at every check. The test runs in a pid namespace with a limit of processes, because only these
/// would certainly stop them if the warden did not.
#[test]
fn processes_that_fork_without_a_pause_end_with_the_namespace() {
    let drop_root = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let limited = ["prlimit", "--nproc=256"];
    let before = if rustix::process::getuid().is_root() {
        [drop_root.as_slice(), &limited].concat()
    } else {
        limited.to_vec()
    };
    let probed = Command::new(before[0]).args(&before[1..]).args([WARDEN, "--probe"]).output();
    let probed = String::from_utf8(probed.expect("it can be probed").stdout).expect("text");
    if !probed.contains("\npid-ns yes") {
        return;
    }
    // A shell that cannot fork exits. The shell that the test waits for forks once, before they fill the limit.
    let script =
        "f() { f & }; (f; echo up; i=1; while [ $i -lt 20 ]; do f; i=$((i+1)); done) & exec sleep 60";
    let mut host = Host::start(&before, |options| options.pid_namespace = true, script);
    assert!(host.started().contains(&Mechanism::PidNamespace));
    assert_eq!(host.line(), "up");
    let ordered = Instant::now();
    host.order(Order::Kill);
    while !matches!(host.hear(), Some(Report::TreeEnded(_)) | None) {}
    host.silence();
    assert!(ordered.elapsed() < PATIENCE);
}

/// Those are of children of the child, whose own wardens were killed.
#[test]
fn a_tree_leaves_no_control_group_nor_those_below_it() {
    let mut host = Host::start(&[], |_| {}, "exec sleep 60");
    let (_, Some(group)) = host.started_in() else { return };
    let below = group.join("below/below");
    fs::create_dir_all(&below).expect("a group can have others");
    assert!(remove_group(&group).is_err() && below.exists(), "not while somebody could enter it");
    host.order(Order::Kill);
    host.leave();
    assert!(!group.exists());
}

#[test]
fn a_start_removes_the_control_groups_of_killed_wardens_but_none_that_may_be_in_use() {
    let groups = {
        let mut host = Host::start(&[], |_| {}, "exit 0");
        let (_, Some(group)) = host.started_in() else { return };
        host.leave();
        group.parent().expect("it is below another").to_owned()
    };
    let made = |name: &str, age: u64| {
        let group = groups.join(format!("pi-subagent-{name}-{}", std::process::id()));
        fs::create_dir_all(group.join("pi-subagent-below")).expect("it can be made");
        let times = fs::FileTimes::new().set_modified(SystemTime::now() - Duration::from_secs(age));
        fs::File::open(&group).and_then(|group| group.set_times(times)).expect("it is ours");
        group
    };
    let [old, young] = [made("old", 120), made("young", 0)];
    let mut host = Host::start(&[], |_| {}, "exit 0");
    host.started();
    host.leave();
    assert!(!old.exists());
    assert!(young.join("pi-subagent-below").exists());
    remove_group(&young).expect("nobody is in it");
    assert!(!young.exists());
}

#[test]
fn the_warden_cleans_up_only_if_the_host_cannot() {
    for (last, removes) in [(Some(Order::Clean), true), (None, true), (Some(Order::Leave), false)] {
        let scene = tempfile::tempdir().expect("a directory");
        let left = scene.path().join("left");
        fs::create_dir(&left).expect("a directory");
        let mut host = Host::start(&[], |options| options.scratch = vec![left.clone()], "exit 0");
        host.started();
        while !matches!(host.hear(), Some(Report::TreeEnded(_))) {}
        assert!(left.exists(), "it is the host's for as long as that lives");
        match last {
            Some(order) => host.order(order),
            None => host.die(),
        }
        host.warden.wait().expect("it ends");
        assert_eq!(left.exists(), !removes, "{last:?}");
    }
}

/// Runs the following words with this number of descriptors.
#[test]
fn the_last_command_runs_only_after_the_host_and_its_tree_have_ended() {
    for dies in [true, false] {
        let scene = tempfile::tempdir().expect("a directory");
        let folder = scene.path().as_os_str().to_owned();
        let last_command =
            r#"if kill -0 "$(cat "$0/pid")"; then echo early; else echo late; fi >"$0/note" 2>/dev/null"#;
        let script =
            r#"echo $$ >"$0/pid"; echo there; "#.to_owned() + if dies { "exec sleep 60" } else { ":" };
        let mut host = Host::start(
            &[],
            |options| {
                options.command.push(folder.clone());
                options.last_command = ["/bin/sh", "-c", last_command].map(OsString::from).to_vec();
                options.last_command.push(folder);
            },
            &script,
        );
        host.started();
        assert_eq!(host.line(), "there");
        if dies {
            host.die();
        } else {
            while !matches!(host.hear(), Some(Report::TreeEnded(_))) {}
            host.order(Order::Leave);
        }
        host.warden.wait().expect("it ends");
        let found = fs::read_to_string(scene.path().join("note")).unwrap_or_default();
        assert_eq!(found.trim(), if dies { "late" } else { "" });
    }
}

fn with_descriptors(count: &str) -> [&str; 4] {
    ["/bin/sh", "-c", "ulimit -n $0 && exec \"$@\"", count]
}

#[test]
fn a_probe_without_descriptors_reports_the_shortage_and_no_abilities() {
    let probe = |count: &str| {
        let [shell, words @ ..] = with_descriptors(count);
        Command::new(shell).args(words).args([WARDEN, "--probe"]).output().expect("it starts")
    };
    let abilities = |text: &[u8]| {
        let parsed = Abilities::parse(&String::from_utf8_lossy(text)).expect("a probe");
        (parsed.landlock, parsed.mount_namespace, parsed.pid_namespace)
    };
    let plenty = abilities(&probe("256").stdout);
    let mut short = 0;
    for count in ["4", "5", "6", "7", "8", "9", "10", "11", "12", "14", "16"] {
        let found = probe(count);
        if found.status.code() == Some(SHORT_OF_RESOURCES) {
            short += 1;
            assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{count}");
            let said = String::from_utf8_lossy(&found.stderr);
            assert!(said.contains("this process has reached its limit of open files"), "{count}: {said}");
        } else {
            assert_eq!(abilities(&found.stdout), plenty, "{count}");
        }
    }
    assert!(short > 0, "some of them are too few");
}

/// The filter of a sandbox refuses mounts and `clone3`, like the filters of containers. The group can still be made.
#[test]
fn a_probe_promises_no_mount_and_no_control_group_that_no_child_could_enter() {
    let probe = Command::new(WARDEN).arg("--probe").output().expect("it starts");
    let abilities = |text: &[u8]| Abilities::parse(&String::from_utf8_lossy(text)).expect("a probe");
    let Abilities { landlock: Ok(_), cgroup: Ok(directory), .. } = abilities(&probe.stdout) else { return };
    let sandbox = Sandbox { writable: vec![directory.into()], ..Sandbox::default() };
    let script = format!("{WARDEN} --probe");
    let mut host = Host::start(&[], |options| options.sandbox = Some(sandbox), &script);
    host.started();
    let mut said = String::new();
    host.output.read_to_string(&mut said).expect("text");
    let inside = abilities(said.as_bytes());
    let refused = inside.cgroup.expect_err("no group can be entered");
    assert!(refused.contains("entered"), "{refused}");
    inside.mount_namespace.expect_err("nothing can be mounted");
    inside.temporaries.expect_err("nothing can be mounted");
}

#[test]
fn a_sandbox_that_is_short_of_descriptors_is_a_failed_start_and_never_a_weaker_one() {
    let scene = tempfile::tempdir().expect("a directory");
    let start = |count: &str| {
        let place = fs::canonicalize(scene.path()).expect("it is there");
        let sandbox = Sandbox {
            writable: vec![place],
            metadata: true,
            temporary_bytes: Some(1 << 20),
            ..Sandbox::default()
        };
        // The check of the child's own directory for temporary files belongs to the sandbox too.
        let script = "true 2>/dev/null >/tmp/own-of-a-child";
        let host = Host::start(&with_descriptors(count), |options| options.sandbox = Some(sandbox), script);
        let mut held = Vec::new();
        loop {
            match host.hear() {
                Some(Report::Started(all)) => {
                    held = all.into_iter().filter(|held| *held != Mechanism::Cgroup).collect();
                }
                Some(Report::Ended(ending)) => break Ok((held, ending)),
                Some(Report::Grouped(_) | Report::Using(_)) => {}
                other => break Err(other),
            }
        }
    };
    // Without Landlock no sandbox starts at all.
    let Ok(plenty) = start("256") else { return };
    let mut short = 0;
    for count in ["9", "10", "11", "12", "13", "14", "15", "16", "18", "20", "24"] {
        match start(count) {
            Ok(held) => assert_eq!(held, plenty, "{count}"),
            Err(failed) => {
                short += 1;
                let errno = rustix::io::Errno::MFILE.raw_os_error();
                assert!(
                    matches!(failed, Some(Report::Failed { errno: number, .. }) if number == errno),
                    "{count}: {failed:?}"
                );
            }
        }
    }
    assert!(short > 0, "some of them are too few");
}
