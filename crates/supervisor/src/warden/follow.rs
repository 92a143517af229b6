//! Follows all wardens of this process on one thread.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use tokio::sync::watch;

use super::super::command::Located;
use super::super::error::SpawnError;
use super::super::guardian::Guardian;
use super::super::signaller::{Known, Signaller};
use super::super::streams::Pipes;
use super::super::thread::spawn;
use super::link::Link;

/// The interval between checks for wardens that should have ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The same while a warden is about to exit: if another process holds its end of the socket, only a look shows that it
/// has, and a result waits for it.
const EXIT_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// The maximum number of wardens whose messages are read per call of the kernel.
const MAX_EVENTS: usize = 64;

static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

/// The wardens that the thread watches. The thread runs as long as [`WATCHED`] holds one of them.
struct Watched {
    epoll: Arc<OwnedFd>,
    wardens: HashMap<u64, Arc<Link>>,
    next_key: u64,
}

/// Starts a child behind a warden. Blocks until the child has executed its program. Another thread writes the state of
/// its tree into `known`, until neither the tree nor its warden is left.
///
/// # Errors
///
/// If the child did not start, or the system has no thread or descriptor to follow it. Nothing is left running then.
pub(crate) fn start(
    located: &Located<'_>,
    guardian: &Guardian,
    known: watch::Sender<Known>,
) -> Result<(Arc<dyn Signaller>, Pipes), SpawnError> {
    let (link, pipes) = Link::start(located, guardian, known)?;
    let link = Arc::new(link);
    if let Err(source) = follow(Arc::clone(&link)) {
        link.clean_up_failed_start();
        return Err(SpawnError::from_exec(&located.program, source));
    }
    Ok((link, pipes))
}

fn follow(link: Arc<Link>) -> io::Result<()> {
    let mut slot = WATCHED.lock();
    let watched = match &mut *slot {
        Some(watched) => watched,
        // The lock is held until the first tree is registered, or the thread would exit at once.
        none => none.insert(Watched::start()?),
    };
    let key = watched.next_key;
    watched.next_key += 1;
    epoll::add(&*watched.epoll, link.socket(), epoll::EventData::new_u64(key), epoll::EventFlags::IN)?;
    watched.wardens.insert(key, link);
    Ok(())
}

impl Watched {
    fn start() -> io::Result<Self> {
        let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        let served = Arc::clone(&epoll);
        spawn("subagent-trees", move || serve(&served))?;
        Ok(Self { epoll, wardens: HashMap::new(), next_key: 0 })
    }

    fn read(&mut self, key: u64) {
        if self.wardens.get(&key).is_some_and(|link| !link.read()) {
            self.finish(key);
        }
    }

    /// Returns the longest wait for messages before the next check.
    fn pause(&self) -> Duration {
        if self.wardens.values().any(|link| link.is_leaving()) { EXIT_CHECK_INTERVAL } else { CHECK_INTERVAL }
    }

    /// Checks the silent wardens: finishes those that have exited, and kills those that take too long.
    fn check(&mut self) {
        let has_exited = |link: &Link| link.is_leaving() && link.has_exited();
        let exited: Vec<u64> =
            self.wardens.iter().filter(|(_, link)| has_exited(link)).map(|(key, _)| *key).collect();
        for key in exited {
            self.finish(key);
        }
        self.wardens.values().filter(|link| link.is_overdue()).for_each(|link| link.abandon());
    }

    /// Handles a warden that has ended. Sweeping up after a killed one gets its own thread, because it is rare and
    /// slow.
    fn finish(&mut self, key: u64) {
        let Some(link) = self.wardens.remove(&key) else { return };
        // Closing would not remove it, because the socket stays open for as long as another owner holds the tree.
        let _ = epoll::delete(&*self.epoll, link.socket());
        let orphaned = Arc::clone(&link);
        // Without a thread the reports of the other trees are late, which is better than losing the reports of this tree.
        if link.tree_has_ended() || spawn("subagent-sweep", move || orphaned.end()).is_err() {
            link.end();
        }
    }
}

/// The main loop of the thread.
fn serve(epoll: &OwnedFd) {
    let mut events = Vec::with_capacity(MAX_EVENTS);
    let mut last_check = Instant::now();
    loop {
        let pause = {
            let mut slot = WATCHED.lock();
            let Some(watched) = slot.as_mut().filter(|watched| !watched.wardens.is_empty()) else {
                *slot = None;
                return;
            };
            events.drain(..).for_each(|event: epoll::Event| watched.read(event.data.u64()));
            if last_check.elapsed() >= watched.pause() {
                watched.check();
                last_check = Instant::now();
            }
            if watched.wardens.is_empty() {
                continue;
            }
            Timespec::try_from(watched.pause()).ok()
        };
        // An interrupted wait finds no events.
        let _ = epoll::wait(epoll, spare_capacity(&mut events), pause.as_ref());
    }
}
