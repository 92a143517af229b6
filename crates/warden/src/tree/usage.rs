//! Measures the resource use of a tree.

use std::fs;
use std::time::Duration;

use pi_subagent_warden::{LimitKind, Limits, OverLimit, Stat, Tally};
use rustix::process::Pid;

use super::descendants;
use crate::sys::Reaped;

/// Adds up the resource use of a tree, and compares it with its limits.
pub(crate) struct Meter {
    limits: Limits,
    page_bytes: u64,
    ticks_per_second: u64,
    /// CPU time of the processes that have ended.
    ended_cpu: Duration,
    /// CPU time of all processes at the last sample.
    cpu_ms: u64,
    tally: Tally,
}

/// A process's share of a limited resource. The largest share is named in the report.
type ShareOf<'a> = &'a dyn Fn(&Share) -> u64;

/// The resource use of one process at the time of a sample.
struct Share {
    pid: i32,
    stat: Stat,
    rss_bytes: u64,
    cpu_ms: u64,
    files: u64,
}

impl Meter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            page_bytes: rustix::param::page_size() as u64,
            ticks_per_second: rustix::param::clock_ticks_per_second().max(1),
            ended_cpu: Duration::ZERO,
            cpu_ms: 0,
            tally: Tally { processes: 1, ..Tally::default() },
        }
    }

    /// Adds the usage of a process that has ended.
    pub(crate) fn ended(&mut self, process: &Reaped) {
        self.ended_cpu += process.cpu;
        self.tally.peak_rss_bytes = self.tally.peak_rss_bytes.max(process.max_rss_bytes);
    }

    /// Samples the whole tree. Returns the first limit that it exceeds.
    pub(crate) fn sample(&mut self) -> Option<OverLimit> {
        let shares: Vec<Share> = descendants().into_iter().filter_map(|pid| self.share(pid)).collect();
        let total = |share: fn(&Share) -> u64| shares.iter().map(share).sum::<u64>();
        let rss = total(|share| share.rss_bytes);
        let count = shares.len() as u64;
        self.tally.peak_rss_bytes = self.tally.peak_rss_bytes.max(rss);
        self.tally.processes = self.tally.processes.max(count);
        // Rounded up: a tree that has used 2.1 of 2 seconds is over.
        self.cpu_ms = millis(self.ended_cpu) + total(|share| share.cpu_ms);
        let cpu_seconds = self.cpu_ms.div_ceil(1000);
        let children =
            |parent: &Share| shares.iter().filter(|share| share.stat.parent == parent.pid).count() as u64;
        let Limits { memory_bytes, processes, cpu_seconds: cpu_allowed, open_files } = self.limits;
        // Each limit with the measured value, the allowed value, and a process's share of it.
        let limits: [(LimitKind, u64, Option<u64>, ShareOf<'_>); 4] = [
            (LimitKind::Memory, rss, memory_bytes, &|share| share.rss_bytes),
            (LimitKind::Processes, count, processes, &children),
            (LimitKind::Cpu, cpu_seconds, cpu_allowed, &|share| share.cpu_ms),
            (LimitKind::OpenFiles, total(|share| share.files), open_files, &|share| share.files),
        ];
        limits.into_iter().find_map(|(limit, value, allowed, share)| {
            let allowed = allowed.filter(|allowed| value > *allowed)?;
            let offender = shares.iter().max_by_key(|process| share(process))?;
            let pid = offender.pid.unsigned_abs();
            let name = offender.stat.name.clone();
            Some(OverLimit { limit, value, allowed, pid, name })
        })
    }

    /// The usage up to the last sample.
    pub(crate) fn so_far(&self) -> Tally {
        Tally { cpu_ms: self.cpu_ms, ..self.tally }
    }

    /// The usage of the whole tree, once no process is left.
    pub(crate) fn tally(&self) -> Tally {
        Tally { cpu_ms: millis(self.ended_cpu), ..self.tally }
    }

    fn share(&self, pid: Pid) -> Option<Share> {
        let pid = pid.as_raw_pid();
        let stat = Stat::of(pid).filter(|stat| stat.alive)?;
        let count_files = self.limits.open_files.is_some();
        let files = || fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        Some(Share {
            pid,
            rss_bytes: stat.rss_pages * self.page_bytes,
            cpu_ms: stat.cpu_ticks * 1000 / self.ticks_per_second,
            files: if count_files { files() as u64 } else { 0 },
            stat,
        })
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
