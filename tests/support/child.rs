//! Fixture programs, and what became of them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pi_subagent_native::process::ChildCommand;
use rustix::process::{Pid, Signal};

/// More than any machine needs, less than a stuck test may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program from `children/`, which are named after what they do.
pub fn fixture(name: &str, args: &[&str]) -> ChildCommand {
    let script = support().join("children").join(format!("{name}.sh"));
    assert!(script.is_file(), "no fixture {name}");
    ChildCommand {
        program: "/bin/sh".into(),
        args: std::iter::once(script.into()).chain(args.iter().map(Into::into)).collect(),
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        stdin: Vec::new(),
    }
}

pub fn support() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/support")
}

/// Waits until `condition` holds, and fails when it does not in time.
pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Processes that a fixture said it consists of. Those that a failed test leaves behind are killed by number.
#[derive(Clone, Debug, Default)]
pub struct Pids(Vec<i32>);

impl Pids {
    pub fn push(&mut self, pid: i32) {
        self.0.push(pid);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Waits until none of them is left, a zombie of ours included.
    pub async fn gone(&self, label: &str) {
        for pid in &self.0 {
            eventually(&format!("{label}: the end of process {pid}"), || !is_there(*pid)).await;
        }
    }
}

impl Drop for Pids {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for pid in self.0.iter().filter_map(|pid| Pid::from_raw(*pid)) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// Whether a process is there. One that is dead and only waits for a parent other than us to notice is not.
fn is_there(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut fields = fields.split_ascii_whitespace();
    let zombie = fields.next() == Some("Z");
    !zombie || fields.next() == Some(std::process::id().to_string().as_str())
}
