//! Notices that a helper program only waits, by what `/proc` says of its threads.
//!
//! A program that waits for the other end of a FIFO, or for a device, sleeps and is never woken. A working program runs, waits
//! for a disk, or is woken again and again, even on a machine under load. Systems without such a `/proc` show nothing.

use std::convert::Infallible;
use std::time::Duration;

use crate::cancel::{Cancel, CancelReason};

/// A helper program that is watched.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux shows the activity of a program")
)]
pub(super) struct Watched {
    /// The process id of the program, or of its warden.
    pub id: u32,
    /// True if `id` is a warden's. Its own sleep does not count.
    pub is_warden: bool,
}

impl Watched {
    /// Makes the request `stop` once all threads of the program have slept for `limit` without being woken.
    pub(super) async fn stop_when_stalled(self, limit: Option<Duration>, stop: &Cancel) -> Infallible {
        if let Some(limit) = limit {
            self.stalled(limit).await;
            let why = format!("it did nothing for {} ms", limit.as_millis());
            stop.cancel(CancelReason::Stuck(why));
        }
        std::future::pending().await
    }

    #[cfg(target_os = "linux")]
    async fn stalled(self, limit: Duration) {
        /// The pause between two looks. Several fit into any limit.
        const POLL: Duration = Duration::from_millis(250);
        let mut before = None;
        let mut asleep = Duration::ZERO;
        while asleep < limit {
            tokio::time::sleep(POLL).await;
            let now = tokio::task::spawn_blocking(move || sleepers(self)).await.ok().flatten();
            // Counted, not measured: if this process is stopped for a while, the program waits for it.
            asleep = if now.is_some() && now == before { asleep + POLL } else { Duration::ZERO };
            before = now;
        }
    }

    #[cfg(not(target_os = "linux"))]
    async fn stalled(self, _limit: Duration) {
        std::future::pending().await
    }
}

/// A sleeping thread: its id, and how often it has been put to sleep and woken.
#[cfg(target_os = "linux")]
type Sleeper = (i32, [u64; 2]);

/// Returns all threads of the program and its descendants if every one sleeps. Returns `None` if one works, or if `/proc` does
/// not show them. Blocks.
#[cfg(target_os = "linux")]
fn sleepers(Watched { id, is_warden }: Watched) -> Option<Vec<Sleeper>> {
    use std::fs;

    let mut sleepers = Vec::new();
    let mut waiting = vec![id];
    while let Some(pid) = waiting.pop() {
        for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
            let read = |name: &str| fs::read_to_string(thread.as_ref().ok()?.path().join(name)).ok();
            waiting
                .extend(read("children")?.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            if !(is_warden && pid == id) {
                sleepers.push(sleeper(&read("status")?)?);
            }
        }
    }
    sleepers.sort_unstable();
    (!sleepers.is_empty()).then_some(sleepers)
}

/// Reads the `status` of a thread; `None` unless it sleeps in a way that a signal ends, as it does for a FIFO.
#[cfg(target_os = "linux")]
fn sleeper(status: &str) -> Option<Sleeper> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.strip_prefix(':')).map(str::trim)
    };
    let number = |name| field(name)?.parse().ok();
    let is_asleep = field("State")?.starts_with('S');
    let switches = [number("voluntary_ctxt_switches")?, number("nonvoluntary_ctxt_switches")?];
    is_asleep.then_some((field("Pid")?.parse().ok()?, switches))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_a_sleeping_thread_is_a_sleeper() {
        let status = |state: &str| {
            format!(
                "Name:\tgit\nState:\t{state}\nTgid:\t7\nPid:\t9\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t1\n"
            )
        };
        assert_eq!(sleeper(&status("S (sleeping)")), Some((9, [3, 1])));
        for state in ["R (running)", "D (disk sleep)", "T (stopped)", "Z (zombie)"] {
            assert_eq!(sleeper(&status(state)), None, "{state}");
        }
        assert_eq!(
            sleeper("State:\tS (sleeping)\nPid:\t9\n"),
            None,
            "a thread without counters is not a sleeper"
        );
    }
}
