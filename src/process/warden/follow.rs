//! Follows all wardens of this process on one thread.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pi_subagent_warden::Mechanism;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

use super::super::command::ChildCommand;
use super::super::error::SpawnError;
use super::super::guardian::Guardian;
use super::super::streams::Pipes;
use super::link::{Link, News, Reading};

/// How often to look for wardens that should have ended.
const LOOK: Duration = Duration::from_millis(500);

/// The same while a warden is about to exit: if another process holds its end of the socket, only a look shows that it
/// has, and a result waits for it.
const SOON: Duration = Duration::from_millis(10);

/// How many wardens with messages are served per call of the kernel.
const MAX_EVENTS: usize = 64;

/// The stack of a thread here, in bytes: it makes a few shallow system calls.
const STACK_BYTES: usize = 256 * 1024;

/// Receives the news of one tree.
pub(in crate::process) type Tell = Box<dyn FnMut(News) + Send>;

static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

/// What the thread watches. The thread runs as long as [`WATCHED`] holds one of these.
struct Watched {
    epoll: Arc<OwnedFd>,
    trees: HashMap<u64, Tree>,
    next_key: u64,
}

struct Tree {
    link: Arc<Link>,
    tell: Tell,
    /// The warden has reported that its tree is gone, and is about to exit.
    is_gone: bool,
}

/// Starts a child behind a warden. Blocks until the child has executed its program. `tell` receives what happens to
/// it, up to [`News::Cleared`], on another thread; it must not block.
///
/// # Errors
///
/// When the child did not start, or the system has no thread or descriptor to follow it. Nothing is left running
/// then.
pub(in crate::process) fn start(
    command: &ChildCommand,
    guardian: &Guardian,
    program: &Path,
    cwd: &Path,
    tell: Tell,
) -> Result<(Arc<Link>, Pipes, Vec<Mechanism>), SpawnError> {
    let (link, pipes, mechanisms) = Link::start(command, guardian, program, cwd)?;
    let link = Arc::new(link);
    if let Err(source) = follow(Arc::clone(&link), tell) {
        link.give_up();
        return Err(SpawnError::from_exec(program.into(), source));
    }
    Ok((link, pipes, mechanisms))
}

fn follow(link: Arc<Link>, tell: Tell) -> io::Result<()> {
    let mut slot = WATCHED.lock();
    let watched = match &mut *slot {
        Some(watched) => watched,
        // The lock is held until the first tree is registered, or the thread would exit at once.
        none => none.insert(Watched::start()?),
    };
    let key = watched.next_key;
    watched.next_key += 1;
    epoll::add(&*watched.epoll, link.socket(), epoll::EventData::new_u64(key), epoll::EventFlags::IN)?;
    watched.trees.insert(key, Tree { link, tell, is_gone: false });
    Ok(())
}

impl Watched {
    fn start() -> io::Result<Self> {
        let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        let served = Arc::clone(&epoll);
        spawn("subagent-trees", move || serve(&served))?;
        Ok(Self { epoll, trees: HashMap::new(), next_key: 0 })
    }

    fn read(&mut self, key: u64) {
        let Some(tree) = self.trees.get_mut(&key) else { return };
        let reading = tree.link.read(&mut |news| {
            tree.is_gone |= matches!(news, News::Gone(_));
            (tree.tell)(news);
        });
        if reading == Reading::Ended {
            self.finish(key);
        }
    }

    /// How long to wait for messages before the next look.
    fn pause(&self) -> Duration {
        if self.trees.values().any(|tree| tree.is_gone) { SOON } else { LOOK }
    }

    /// Checks the wardens that are silent: finishes those that have exited, kills those that take too long.
    fn look(&mut self) {
        let has_exited = |tree: &Tree| tree.is_gone && tree.link.has_exited();
        let exited: Vec<u64> =
            self.trees.iter().filter(|(_, tree)| has_exited(tree)).map(|(key, _)| *key).collect();
        for key in exited {
            self.finish(key);
        }
        self.trees.values().filter(|tree| tree.link.is_overdue()).for_each(|tree| tree.link.abandon());
    }

    /// Handles a warden that has ended. Sweeping up after a killed one gets its own thread, because it is rare and
    /// slow.
    fn finish(&mut self, key: u64) {
        let Some(mut tree) = self.trees.remove(&key) else { return };
        // Closing would not remove it, because the socket stays open for as long as somebody holds the tree.
        let _ = epoll::delete(&*self.epoll, tree.link.socket());
        if tree.is_gone {
            return tree.end();
        }
        let tree = Arc::new(Mutex::new(tree));
        let orphaned = Arc::clone(&tree);
        if spawn("subagent-sweep", move || orphaned.lock().end()).is_err() {
            // Without a thread the news of the other trees are late, which is better than losing those of this one.
            tree.lock().end();
        }
    }
}

impl Tree {
    /// What is left to do once the warden has ended. Blocks for up to two seconds when it was killed.
    fn end(&mut self) {
        if !self.is_gone {
            self.link.sweep();
            (self.tell)(News::Orphaned);
        }
        self.link.reap();
        (self.tell)(News::Cleared);
    }
}

/// The main loop of the thread.
fn serve(epoll: &OwnedFd) {
    let mut events = Vec::with_capacity(MAX_EVENTS);
    let mut looked = Instant::now();
    loop {
        let pause = {
            let mut slot = WATCHED.lock();
            let Some(watched) = slot.as_mut().filter(|watched| !watched.trees.is_empty()) else {
                *slot = None;
                return;
            };
            events.drain(..).for_each(|event: epoll::Event| watched.read(event.data.u64()));
            if looked.elapsed() >= watched.pause() {
                watched.look();
                looked = Instant::now();
            }
            if watched.trees.is_empty() {
                continue;
            }
            Timespec::try_from(watched.pause()).ok()
        };
        // An interrupted wait finds no events.
        let _ = epoll::wait(epoll, spare_capacity(&mut events), pause.as_ref());
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work).map(drop)
}
