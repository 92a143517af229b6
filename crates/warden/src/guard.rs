//! Guards one tree, from its start to its end.
//!
//! If the host has died, it runs the last command after the tree has ended. No other process remains that could end
//! work on a remote machine.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pi_subagent_warden::{Ending, Mechanism, Options, Order, Report, Stage, Tally};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use crate::channel::{Channel, ChannelEnd, HostMessage};
use crate::sandbox::Prepared;
use crate::start::{At as _, Failure, start};
use crate::sys;
use crate::tree::{Cgroup, Meter, Tree};

/// The interval at which the tree's resource use is sampled.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);

/// The time of the first sample, after the start. By then a child has claimed most of what it needs, and a short-lived
/// child is not missed.
const FIRST_SAMPLE: Duration = Duration::from_millis(50);

/// The interval at which changed resource use is reported to the host. It is short enough to watch a long run.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// The time that the processes left by a child have to exit after SIGTERM. They were abandoned, so they need less time than a
/// working child.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);

/// The interval at which SIGKILL is repeated, for processes born in the meantime.
const KILL_INTERVAL: Duration = Duration::from_millis(2);

/// The time that a killed process has to exit. The kernel needs milliseconds, unless the process hangs in a system call that
/// cannot be interrupted, or is not ours to kill (a set-user-ID program). The host waits longer than this.
const KILL_WAIT: Duration = Duration::from_millis(1500);

/// The maximum number of descriptors that are held for the host. A run has two locks at most.
const MAX_LOCKS: usize = 8;

/// The maximum number of ended processes that are reaped before the host and the clock are checked.
const MAX_REAPED_AT_ONCE: usize = 64;

/// The result of a round of reaping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaped {
    /// More may have ended.
    More,
    /// All that have ended are reaped; others still run.
    NoneReady,
    /// No process is left.
    NoChildren,
}

/// The phases in the end of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The child is running.
    Working,
    /// Processes were asked to exit; those left at this time are killed.
    Leaving { until: Instant },
    /// Every process is being killed.
    Killing { since: Instant },
}

/// A tree, and the warden's knowledge of it.
struct Guard<'a> {
    channel: &'a Channel,
    options: &'a Options,
    tree: Tree,
    cgroup: Option<Cgroup>,
    child: Pid,
    meter: Meter,
    /// The time and the content of the last usage report to the host.
    last_report: (Instant, Tally),
    phase: Phase,
    ending: Option<Ending>,
    host_has_died: bool,
    keeps_files: bool,
    has_asked: bool,
    /// Locks of the host that outlast it.
    host_locks: Vec<OwnedFd>,
}

/// Starts the child and guards its tree until no process is left. `active` lists the mechanisms already active. Returns the exit
/// status of the child itself.
pub(crate) fn guard(
    options: &Options,
    channel: &Channel,
    stdin: OwnedFd,
    active: &[Mechanism],
) -> Result<(Ending, ChannelEnd), Failure> {
    let events = sys::child_events().at(Stage::Warden)?;
    let null = OpenOptions::new().write(true).open("/dev/null").at(Stage::Warden)?;
    let sandbox = options.sandbox.as_ref().map(Prepared::new).transpose().at(Stage::Sandbox)?;
    let cgroup = Cgroup::create().ok();
    let tree = Tree::with(active);
    let (child, applied) = start(&options.command, stdin, cgroup.as_ref(), sandbox)?;
    let cgroup = cgroup.filter(|_| applied.contains(&Mechanism::Cgroup));
    // Closes the warden's copies of the child's output, so that the reader sees its end while the warden still runs.
    // Both descriptors are open, so this succeeds, and no error may be returned any more now that the child exists.
    let _ = rustix::stdio::dup2_stdout(&null);
    let _ = rustix::stdio::dup2_stderr(&null);
    let mechanisms = [active, &applied].concat();
    if let Some(cgroup) = &cgroup {
        channel.report(&Report::Grouped(cgroup.path().to_path_buf()));
    }
    channel.report(&Report::Started(mechanisms));
    let mut guard = Guard {
        channel,
        options,
        tree,
        cgroup,
        child,
        meter: Meter::new(options.limits),
        last_report: (Instant::now(), Tally::default()),
        phase: Phase::Working,
        ending: None,
        host_has_died: false,
        keeps_files: false,
        has_asked: false,
        host_locks: Vec::new(),
    };
    let remaining = guard.watch(&events);
    // Before the last report: the host that hears it may take the same locks again.
    guard.host_locks.clear();
    let channel_end = channel.finish(&Report::TreeEnded(Tally { remaining, ..guard.meter.tally() }));
    // A child that not even SIGKILL ended is reported as killed.
    let ending = guard.ending.unwrap_or(Ending::Signal { number: libc::SIGKILL, core: false });
    Ok((ending, ChannelEnd { keeps_files: guard.keeps_files || channel_end.keeps_files, ..channel_end }))
}

impl Guard<'_> {
    /// Runs until the tree has ended. Returns how many processes could not be ended.
    fn watch(&mut self, events: &OwnedFd) -> u64 {
        let mut sample = Instant::now() + FIRST_SAMPLE;
        loop {
            let reaped = self.reap();
            if reaped == Reaped::NoChildren {
                return 0;
            }
            let now = Instant::now();
            if now >= sample {
                self.measure();
                sample = now + SAMPLE_INTERVAL;
            }
            match self.phase {
                Phase::Leaving { until } if now >= until => self.kill(),
                Phase::Killing { since } if now >= since + KILL_WAIT => return self.tree.remaining(),
                Phase::Killing { .. } => self.kill_all(),
                _ => {}
            }
            self.wait(events, if reaped == Reaped::More { now } else { sample });
        }
    }

    /// Reaps ended processes, but not so many at once that nothing else is served.
    fn reap(&mut self) -> Reaped {
        for _ in 0..MAX_REAPED_AT_ONCE {
            match sys::reap() {
                Ok(Some(process)) => {
                    self.meter.ended(&process);
                    // Once reaped, its id may belong to another process, so it is matched only once.
                    if self.ending.is_none() && process.pid == self.child {
                        self.child_ended(process.ending);
                    }
                }
                Ok(None) => return Reaped::NoneReady,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // No child means no descendant, because orphans become children of the warden.
                Err(_) => return Reaped::NoChildren,
            }
        }
        Reaped::More
    }

    /// The rest of the tree ran for the child. Without it they are asked to exit, and soon killed.
    fn child_ended(&mut self, ending: Ending) {
        self.ending = Some(ending);
        self.channel.report(&Report::Ended(ending));
        if !self.has_asked {
            self.ask();
        }
        self.set_exit_deadline(Instant::now() + LEFTOVER_GRACE);
    }

    fn ask(&mut self) {
        self.tree.ask();
        self.has_asked = true;
    }

    fn set_exit_deadline(&mut self, until: Instant) {
        self.phase = match self.phase {
            Phase::Working => Phase::Leaving { until },
            Phase::Leaving { until: sooner } => Phase::Leaving { until: until.min(sooner) },
            killing @ Phase::Killing { .. } => killing,
        };
    }

    fn measure(&mut self) {
        if let Some(excess) = self.meter.sample()
            && !matches!(self.phase, Phase::Killing { .. })
        {
            self.channel.report(&Report::OverLimit(excess));
            self.kill();
        }
        let (when, what) = self.last_report;
        let so_far = self.meter.so_far();
        if self.phase == Phase::Working && when.elapsed() >= REPORT_INTERVAL && what != so_far {
            self.channel.report(&Report::Using(so_far));
            self.last_report = (Instant::now(), so_far);
        }
    }

    fn kill(&mut self) {
        if !matches!(self.phase, Phase::Killing { .. }) {
            self.phase = Phase::Killing { since: Instant::now() };
        }
        self.kill_all();
    }

    fn kill_all(&mut self) {
        // First, because it kills everything at once, including processes that would have forked and exited by the
        // end of a walk over the tree.
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
        self.tree.kill();
    }

    /// Sleeps until a child ends, the host sends something, or the next thing is due, but not beyond `latest`.
    fn wait(&mut self, events: &OwnedFd, latest: Instant) {
        let until = match self.phase {
            Phase::Working => latest,
            Phase::Leaving { until } => until.min(latest),
            Phase::Killing { .. } => latest.min(Instant::now() + KILL_INTERVAL),
        };
        let timeout = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
        let mut watched = [PollFd::new(events, PollFlags::IN), PollFd::new(self.channel, PollFlags::IN)];
        // The socket of a host that has died is always readable.
        let count = if self.host_has_died { 1 } else { 2 };
        // After an interrupted or failed wait everything is checked, as after any other.
        let _ = poll(&mut watched[..count], timeout.as_ref());
        let has_host_message = !watched[1].revents().is_empty();
        drain(events);
        if has_host_message {
            self.handle();
        }
    }

    fn handle(&mut self) {
        loop {
            match self.channel.next_message() {
                HostMessage::Order(Order::Ask, _) => self.ask(),
                HostMessage::Order(Order::Keep, _) => self.keeps_files = true,
                HostMessage::Order(Order::Hold, lock) => {
                    self.host_locks.extend(lock.filter(|_| self.host_locks.len() < MAX_LOCKS));
                }
                HostMessage::Order(Order::Kill, _) => self.kill(),
                HostMessage::Order(Order::Start | Order::Leave | Order::Clean, _) | HostMessage::Noise => {}
                HostMessage::Nothing => return,
                HostMessage::HostDied => return self.end_without_host(),
            }
        }
    }

    /// The host cannot send any more orders, so the tree is asked to exit now, and killed after the grace period.
    fn end_without_host(&mut self) {
        self.host_has_died = true;
        self.ask();
        self.set_exit_deadline(Instant::now() + self.options.grace);
    }
}

/// Empties the descriptor, or it would stay readable. Reaping finds the ended processes.
fn drain(events: &OwnedFd) {
    let mut bytes = [0; 1024];
    while rustix::io::read(events, &mut bytes).is_ok_and(|count| count == bytes.len()) {}
}

/// The time limit of the command, as long as a host would wait.
const LIMIT: Duration = Duration::from_secs(10);

/// The interval between checks whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Runs a command to its end, at the latest to the limit. Errors are ignored, because no process remains to receive them.
pub(crate) fn run_last_command(command_line: &[OsString]) {
    let Some((program, args)) = command_line.split_first() else { return };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return };
    let until = Instant::now() + LIMIT;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= until {
            drop(child.kill());
            drop(child.wait());
            return;
        }
        sleep(POLL_INTERVAL);
    }
}
