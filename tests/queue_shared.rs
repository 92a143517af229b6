//! The admission of runs if several processes share a cap, and the cap's fate if the store fails.
#![cfg(target_os = "linux")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::actor::{self, Actor, reply};
use crate::support::pids::eventually;
use pi_subagent_native::orchestrate::queue::{EarlyPermit, Permit, Queue, Request, Ticket, UserCap};
use rusqlite::{Connection, OpenFlags};
use store::{Store, attach};
use tempfile::TempDir;
use tokio::task::{JoinSet, yield_now};

/// The second process enters its queue on command, and reports its admission.
#[test]
fn a_second_process_ends_with_its_test() {
    actor::play(|agent_dir, script| {
        let runtime = tokio::runtime::Runtime::new().expect("the runtime starts");
        let queue = Queue::default();
        let store = attach(agent_dir).store.expect("the store is available");
        let permits = Arc::new(Mutex::new(HashMap::new()));
        for line in script {
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["enter", name, cap] => {
                    let mut waiting = queue.enter(request(&store, cap.parse().expect("the cap is a number")));
                    let name = (*name).to_owned();
                    let permits = permits.clone();
                    runtime.spawn(async move {
                        let permit = waiting.admitted().await;
                        permits.lock().expect("no thread panicked").insert(name.clone(), permit);
                        reply(&format!("{name} admitted"));
                    });
                }
                ["leave", name] => drop(permits.lock().expect("no thread panicked").remove(*name)),
                _ => panic!("unknown command {line:?}"),
            }
        }
    });
}

fn request(store: &Store, cap: usize) -> Request {
    let per_user = Some(UserCap { store: store.clone(), cap });
    Request {
        provider: None,
        max_concurrent: 256,
        lane: None,
        early_limit: 4,
        ahead_limit: 1,
        per_user,
        group: None,
        writes: None,
    }
}

struct Scene {
    dir: TempDir,
    store: Store,
    queue: Queue,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory is created");
        let attached = attach(dir.path());
        assert_eq!(attached.notice, None);
        Self { store: attached.store.expect("the store is available"), dir, queue: Queue::default() }
    }

    fn actor(&self) -> Actor {
        Actor::start(self.dir.path())
    }

    fn enter(&self, cap: usize) -> Ticket {
        self.queue.enter(request(&self.store, cap))
    }

    fn early(&self, cap: usize) -> EarlyPermit {
        self.queue.early(&request(&self.store, cap)).expect("the queue grants an early permit")
    }

    fn database(&self) -> Connection {
        database(self.dir.path())
    }

    /// Waits until the queue of all processes looks like this, oldest first: `+` has started, `.` waits.
    async fn queue(&self, expected: &str) {
        let database = self.database();
        let mut last = String::new();
        eventually(&format!("the queue {expected:?}"), || {
            last = queue(&database);
            last == expected
        })
        .await;
    }
}

fn database(agent_dir: &Path) -> Connection {
    let database = Connection::open(agent_dir.join("subagents/runs.db")).expect("the database is opened");
    database.busy_timeout(Duration::from_secs(10)).expect("the timeout is set");
    database
}

fn queue(database: &Connection) -> String {
    try_queue(database).expect("the queue table is readable")
}

fn try_queue(database: &Connection) -> rusqlite::Result<String> {
    let text = "SELECT coalesce(group_concat(iif(started, '+', '.'), '' ORDER BY seq), '') FROM place";
    database.query_row(text, (), |row| row.get(0))
}

fn position(waiting: &Ticket) -> Option<usize> {
    waiting.status().borrow().position
}

#[tokio::test]
async fn a_slot_released_by_another_process_goes_to_the_oldest_run() {
    let scene = Scene::new();
    let mut mine = scene.enter(1).admitted().await;
    let mut other = scene.actor();
    other.say("enter first 1");
    scene.queue("+.").await;
    let mut last = scene.enter(1);
    scene.queue("+..").await;
    assert_eq!(position(&last), Some(1), "the run is the first of its process");
    assert_eq!(mine.take_notice(), None);
    drop(mine);
    assert_eq!(other.answer(), "first admitted");
    scene.queue("+.").await;
    other.say("leave first");
    drop(last.admitted().await);
    scene.queue("").await;
}

#[tokio::test]
async fn a_cap_of_zero_counts_as_one() {
    let scene = Scene::new();
    let mut first = scene.enter(0);
    let admitted = tokio::time::timeout(Duration::from_secs(20), first.admitted());
    let permit = admitted.await.expect("a cap of 0 counts as 1");
    let mut second = scene.enter(0);
    scene.queue("+.").await;
    drop(permit);
    drop(second.admitted().await);
}

#[tokio::test]
async fn slots_of_killed_processes_are_released() {
    let scene = Scene::new();
    let [mut running, mut waiting] = [scene.actor(), scene.actor()];
    running.say("enter a 1");
    assert_eq!(running.answer(), "a admitted");
    waiting.say("enter b 1");
    scene.queue("+.").await;
    let mut last = scene.enter(1);
    scene.queue("+..").await;
    waiting.kill();
    running.kill();
    let permit = last.admitted().await;
    scene.queue("+").await;
    drop(permit);
}

#[tokio::test]
async fn a_run_that_gives_up_waiting_does_not_block_other_processes() {
    let scene = Scene::new();
    let running = scene.enter(1).admitted().await;
    let waiting = scene.enter(1);
    scene.queue("+.").await;
    let mut other = scene.actor();
    other.say("enter a 1");
    scene.queue("+..").await;
    drop(waiting);
    scene.queue("+.").await;
    drop(running);
    assert_eq!(other.answer(), "a admitted");
}

#[tokio::test]
async fn a_run_paused_for_its_provider_does_not_block_other_processes() {
    let scene = Scene::new();
    let running = scene.enter(1).admitted().await;
    let mut held = scene.queue.enter(Request { provider: Some("p".into()), ..request(&scene.store, 1) });
    scene.queue("+.").await;
    let until = Instant::now() + Duration::from_secs(3600);
    scene.queue.pause("p", until);
    scene.queue("+").await;
    assert_eq!(held.status().borrow().rate_limited_until, Some(until));
    drop(running);
    let mut other = scene.actor();
    other.say("enter a 1");
    assert_eq!(other.answer(), "a admitted");
    tokio::select! {
        biased;
        _ = held.admitted() => panic!("the run did not wait for its provider"),
        () = yield_now() => (),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hundreds_of_runs_never_exceed_the_cap_of_all_processes() {
    const RUNS: usize = 256;
    const CAP: usize = 8;
    let scene = Scene::new();
    let running = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..RUNS {
        let mut waiting = scene.enter(CAP);
        let running = running.clone();
        tasks.spawn(async move {
            let permit = waiting.admitted().await;
            assert!(running.fetch_add(1, Ordering::SeqCst) < CAP);
            yield_now().await;
            running.fetch_sub(1, Ordering::SeqCst);
            drop(permit);
        });
    }
    assert_eq!(tasks.join_all().await.len(), RUNS);
    scene.queue("").await;
}

#[tokio::test]
async fn an_early_child_counts_in_all_processes_and_is_evicted_for_another() {
    let scene = Scene::new();
    let mut older = scene.early(2);
    scene.queue("+").await;
    let mut newer = scene.early(2);
    scene.queue("++").await;
    let mut refused = scene.early(2);
    refused.evicted().await;
    drop(refused);
    let mut other = scene.actor();
    other.say("enter a 2");
    newer.evicted().await;
    drop(newer);
    assert_eq!(other.answer(), "a admitted");
    tokio::select! {
        biased;
        () = older.evicted() => panic!("a second early child was evicted"),
        () = yield_now() => (),
    }
    drop(older);
    scene.queue("+").await;
}

#[tokio::test]
async fn an_early_child_is_evicted_only_if_that_lets_a_run_start() {
    let scene = Scene::new();
    let running = [scene.enter(3).admitted().await, scene.enter(3).admitted().await];
    let mut early = scene.early(3);
    scene.queue("+++").await;
    // It has no slot to give back.
    let mut refused = scene.early(3);
    refused.evicted().await;
    let quieter = [scene.enter(2), scene.enter(2)];
    scene.queue("+++..").await;
    // The answer to that turn has arrived once the next turn was taken.
    let _last = scene.enter(2);
    scene.queue("+++...").await;
    tokio::select! {
        biased;
        () = early.evicted() => panic!("the early child was evicted although the running children already fill the limit"),
        () = yield_now() => (),
    }
    drop(quieter);
    let mut waiting = scene.enter(3);
    early.evicted().await;
    drop((early, refused));
    drop(waiting.admitted().await);
    drop(running);
}

#[tokio::test]
async fn an_evicted_early_child_counts_as_leaving_before_another_is_evicted() {
    let scene = Scene::new();
    let mut older = scene.early(2);
    scene.queue("+").await;
    let mut newer = scene.early(2);
    scene.queue("++").await;
    let _first = scene.enter(2);
    newer.evicted().await;
    // It takes its time. Runs that could not start next to the first need no slot of the other.
    let _strict = scene.enter(1);
    scene.queue("++..").await;
    // The answer to that turn has arrived once the next turn was taken.
    let _stricter = scene.enter(1);
    scene.queue("++...").await;
    tokio::select! {
        biased;
        () = older.evicted() => panic!("a second early child was evicted"),
        () = yield_now() => (),
    }
    let _second = scene.enter(2);
    older.evicted().await;
}

#[tokio::test]
async fn an_early_child_that_a_run_takes_over_is_never_evicted_and_counts() {
    let scene = Scene::new();
    let early = scene.early(1);
    scene.queue("+").await;
    let mut refused = scene.early(1);
    refused.evicted().await;
    let used = [early.into_permit(), refused.into_permit()];
    scene.queue("++").await;
    let mut waiting = scene.enter(1);
    scene.queue("++.").await;
    drop(used);
    let permit: Permit = waiting.admitted().await;
    drop(permit);
    // Used before the store's first answer.
    let used = scene.early(1).into_permit();
    scene.queue("+").await;
    drop(used);
    scene.queue("").await;
}

#[tokio::test]
async fn when_the_store_fails_runs_start_without_the_cap_and_one_of_them_warns() {
    let scene = Scene::new();
    let running = scene.enter(1).admitted().await;
    let mut waiting = scene.enter(1);
    scene.queue("+.").await;
    scene.database().execute_batch("DROP TABLE place").expect("the statement succeeds");
    let notice = waiting.admitted().await.take_notice().expect("a run gets the notice");
    assert!(
        notice.starts_with("`maxConcurrentPerUser` has no effect: cannot use the database `"),
        "{notice}"
    );
    assert!(notice.contains("no such table"), "{notice}");
    let mut later = scene.enter(1).admitted().await;
    assert_eq!(later.take_notice(), None, "the notice is shown once");
    let early = scene.early(1);
    drop((running, early, later));
}

#[tokio::test]
async fn runs_wait_without_a_warning_while_the_database_is_locked_briefly() {
    let scene = Scene::new();
    let holder = scene.database();
    holder.execute_batch("BEGIN IMMEDIATE").expect("no other connection writes");
    let mut waiting = scene.enter(1);
    // Longer than one try waits.
    let early = tokio::time::timeout(Duration::from_secs(1), waiting.admitted()).await;
    assert!(early.is_err(), "no early permit is granted before the store answers");
    assert!(waiting.status().borrow().is_unanswered, "the run is unanswered");
    holder.execute_batch("ROLLBACK").expect("the statement succeeds");
    assert_eq!(waiting.admitted().await.take_notice(), None);
}

#[tokio::test]
async fn a_slot_is_released_once_a_locked_database_is_free() {
    let scene = Scene::new();
    let permit = scene.enter(1).admitted().await;
    let holder = scene.database();
    holder.execute_batch("BEGIN IMMEDIATE").expect("no other connection writes");
    drop(permit);
    holder.execute_batch("ROLLBACK").expect("the statement succeeds");
    scene.queue("").await;
}

#[tokio::test]
async fn a_run_that_leaves_while_it_gets_a_slot_keeps_none() {
    let scene = Scene::new();
    let holder = scene.database();
    holder.execute_batch("BEGIN IMMEDIATE").expect("no other connection writes");
    drop(scene.enter(1));
    holder.execute_batch("ROLLBACK").expect("the statement succeeds");
    let mut next = scene.enter(1);
    let admitted = tokio::time::timeout(Duration::from_secs(20), next.admitted());
    drop(admitted.await.expect("the slot is free"));
}

#[tokio::test]
async fn running_children_are_counted_again_after_the_database_was_removed() {
    let scene = Scene::new();
    let running = scene.enter(1).admitted().await;
    std::fs::remove_dir_all(scene.dir.path().join("subagents")).expect("the directory is removed");
    let waiting = scene.enter(1);
    // Opened without creating it: the next turn must create it.
    let path = scene.dir.path().join("subagents/runs.db");
    eventually("both requests in the new database", || {
        let found = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE);
        found.is_ok_and(|database| try_queue(&database).is_ok_and(|queue| queue == "+."))
    })
    .await;
    assert_eq!(position(&waiting), Some(1));
    drop(running);
}

#[tokio::test]
async fn runs_start_without_the_cap_if_the_database_stays_locked() {
    let scene = Scene::new();
    let holder = scene.database();
    holder.execute_batch("BEGIN IMMEDIATE").expect("no other connection writes");
    let notice = scene.enter(1).admitted().await.take_notice().expect("a run gets the notice");
    assert!(notice.contains("database is locked"), "{notice}");
    assert_eq!(position(&scene.enter(1)), None, "the failed store is not asked again for a while");
}
