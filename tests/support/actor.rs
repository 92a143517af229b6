//! A second process that acts on the commands of a test: the test program itself, started again.
//!
//! A test program can only be started at one of its tests. A file that uses an actor therefore has a test whose name is [`ENTRY`]
//! and whose body is [`play`]. In the second process it plays the role. In the first it checks that such a process never outlives
//! its test.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::program;

/// Names the agent directory. Its presence marks the second process.
const SWITCH: &str = "TEST_ACTOR_AGENT_DIR";
/// The test at which the second process begins.
const ENTRY: &str = "a_second_process_ends_with_its_test";
/// Marks the lines that are answers. The test harness prints other lines.
const MARK: &str = "@ ";
/// More than any machine needs, less than a stuck test may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A second process. Dropping it kills the process.
pub(crate) struct Actor {
    child: Child,
    /// The commands. `None` once the test sends no more.
    stdin: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Actor {
    /// Starts the process at the entry test of the caller's file.
    #[track_caller]
    pub(crate) fn start(agent_dir: &Path) -> Self {
        Self::run(Command::new(program::path()).args(arguments()), agent_dir)
    }

    /// Starts the process under a limit of the shell, such as `ulimit -f 0`.
    #[track_caller]
    pub(crate) fn limited(agent_dir: &Path, limit: &str) -> Self {
        // Beyond the file size limit the process would be killed instead of getting an error.
        let script = format!("trap '' XFSZ; {limit} && exec \"$0\" \"$@\"");
        let mut shell = Command::new("/bin/sh");
        Self::run(shell.args(["-c", &script]).arg(program::path()).args(arguments()), agent_dir)
    }

    fn run(command: &mut Command, agent_dir: &Path) -> Self {
        let mut child = command
            .env(SWITCH, agent_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the test program starts");
        let stdin = Some(child.stdin.take().expect("the input is a pipe"));
        let stdout = BufReader::new(child.stdout.take().expect("the output is a pipe"));
        let (send, answers) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                // The harness does not end its own line before the first answer.
                if let Some((_, answer)) = line.split_once(MARK) {
                    let _ = send.send(answer.to_owned());
                }
            }
        });
        Self { child, stdin, answers }
    }

    /// Sends a command and does not wait for an answer.
    pub(crate) fn say(&mut self, words: &str) {
        let stdin = self.stdin.as_mut().expect("the input of the actor is open");
        writeln!(stdin, "{words}").expect("the actor reads its input");
    }

    /// Returns the next answer.
    pub(crate) fn answer(&self) -> String {
        self.answers.recv_timeout(PATIENCE).expect("the actor answers")
    }

    pub(crate) fn ask(&mut self, words: &str) -> String {
        self.say(words);
        self.answer()
    }

    /// Ends the commands.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Closes the connection, as a test that has died does, and checks that the process ends by itself.
    fn ends_by_itself(&mut self) {
        self.close();
        // Its output ends with it.
        let last = self.answers.recv_timeout(PATIENCE);
        let _ = self.child.kill();
        let status = self.child.wait().expect("the process ends");
        assert_eq!(last, Err(RecvTimeoutError::Disconnected), "the process continued without its test");
        assert!(status.success(), "{status}");
    }

    /// Stops the process, as Ctrl-Z does, and waits until it is stopped.
    pub(crate) fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP)
            .expect("the process can be signalled");
        let stat = format!("/proc/{}/stat", self.child.id());
        let is_stopped = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "));
        let deadline = std::time::Instant::now() + PATIENCE;
        while !is_stopped() {
            assert!(std::time::Instant::now() < deadline, "the process did not stop");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills the process without warning, and waits until it has ended.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("the process ends");
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn arguments() -> [String; 4] {
    ["--exact".into(), program::test_name(ENTRY), "--nocapture".into(), "--test-threads=1".into()]
}

/// The body of the test [`ENTRY`]. `role` gets the agent directory and each command, until the test sends no more.
#[track_caller]
pub(crate) fn play(role: impl FnOnce(&Path, &mut dyn Iterator<Item = String>)) {
    if let Some(agent_dir) = std::env::var_os(SWITCH) {
        // Locked for one line only, because a role may read the rest itself.
        let mut lines = std::iter::from_fn(|| std::io::stdin().lines().next()?.ok());
        return role(Path::new(&agent_dir), &mut lines);
    }
    let dir = tempfile::tempdir().expect("a temporary directory is created");
    Actor::start(dir.path()).ends_by_itself();
}

/// Answers, in the second process.
pub(crate) fn reply(words: &str) {
    let mut stdout = std::io::stdout().lock();
    // A closed pipe means that the test has ended.
    let _ = writeln!(stdout, "{MARK}{words}");
    let _ = stdout.flush();
}
