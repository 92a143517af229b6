//! Checks on processes.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// Longer than any machine needs, shorter than a person waits for a stuck test.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `condition` holds. Panics if it does not hold in time.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "timed out waiting for: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The processes that a fixture has reported. Processes that a failed test leaves behind are killed by PID.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pids(Vec<i32>);

impl Pids {
    pub(crate) fn push(&mut self, pid: i32) {
        self.0.push(pid);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Waits until no process is left, not even a zombie of this process.
    pub(crate) async fn gone(&self, label: &str) {
        for pid in &self.0 {
            eventually(&format!("{label}: the end of process {pid}"), || !is_there(*pid)).await;
        }
    }

    /// Ends the remaining processes, and returns their number.
    pub(crate) fn kill(&self) -> usize {
        let there = self.0.iter().filter(|pid| is_there(**pid)).filter_map(|pid| Pid::from_raw(*pid));
        there.filter(|pid| rustix::process::kill_process(*pid, Signal::KILL).is_ok()).count()
    }
}

impl Drop for Pids {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.kill();
        }
    }
}

/// Returns true if a process exists. A dead process that only waits for another parent does not count.
fn is_there(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut fields = fields.split_ascii_whitespace();
    let zombie = fields.next() == Some("Z");
    !zombie || fields.next() == Some(std::process::id().to_string().as_str())
}
