//! The data that one user's processes share, and its fate when a process or the disk fails.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::actor::{self, Actor, reply};
use pi_subagent_warden::file_lock::try_lock;
use rusqlite::Connection;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, FlockOperation, Mode, fcntl_lock, flock, inotify, mknodat};
use store::{Store, StoreError, StoredTicket, TicketRequest, TicketState, WhenFull, attach};
use tempfile::TempDir;

/// The second process acts on the commands of the test.
#[test]
fn a_second_process_ends_with_its_test() {
    actor::play(|agent_dir, script| {
        let mut store = None;
        let mut requests = Vec::new();
        for line in script {
            let words: Vec<_> = line.split(' ').collect();
            reply(&match words.as_slice() {
                ["open"] => {
                    answer(Store::open(agent_dir).map(|opened| store = Some(opened)), |()| "open".into())
                }
                ["attach"] => {
                    let attached = attach(agent_dir);
                    store = attached.store;
                    format!(
                        "{} {}",
                        if store.is_some() { "store" } else { "none" },
                        attached.notice.unwrap_or_default()
                    )
                }
                ["close"] => {
                    requests.clear();
                    store = None;
                    "closed".into()
                }
                // Opens and closes the store repeatedly, which sweeps the remains of other processes.
                ["open", times] => {
                    let times: u32 = times.parse().expect("the text is a number");
                    let all: Result<Vec<_>, _> =
                        (0..times).map(|_| Store::open(agent_dir).map(drop)).collect();
                    answer(all, |_| "opened".into())
                }
                ["request", cap] => {
                    requests
                        .push(TicketRequest::new(cap.parse().expect("the cap is a number"), WhenFull::Wait));
                    update(store.as_ref().expect("the store is open"), &[], &mut requests)
                }
                ["turn"] => update(store.as_ref().expect("the store is open"), &[], &mut requests),
                ["leave"] => {
                    let ticket = requests.remove(0).ticket.expect("the request has a ticket");
                    update(store.as_ref().expect("the store is open"), &[ticket], &mut requests)
                }
                ["spend", session, cost] => {
                    let cost = cost.parse().expect("the text is a number");
                    answer(store.as_ref().expect("the store is open").add_spending(session, cost), |()| {
                        "spent".into()
                    })
                }
                _ => panic!("unknown command {line:?}"),
            });
        }
    });
}

fn answer<T>(result: Result<T, StoreError>, say: impl FnOnce(T) -> String) -> String {
    result.map_or_else(|error| format!("error {}", error.in_full()), say)
}

fn update(store: &Store, leaving: &[StoredTicket], requests: &mut [TicketRequest]) -> String {
    answer(store.update_tickets(leaving, requests, 0), |_| states(requests))
}

/// `+` has started, `.` waits, `-` was refused.
fn states(requests: &[TicketRequest]) -> String {
    let mark = |request: &TicketRequest| match request.state {
        TicketState::Started => '+',
        TicketState::Waiting => '.',
        TicketState::Refused => '-',
    };
    requests.iter().map(mark).collect()
}

fn database(agent_dir: &Path) -> PathBuf {
    agent_dir.join("subagents/runs.db")
}

fn processes(agent_dir: &Path) -> PathBuf {
    agent_dir.join("subagents/processes")
}

/// Returns the names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory is readable");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("the entry is readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn agent_dir() -> TempDir {
    tempfile::tempdir().expect("a temporary directory is created")
}

fn requests<const N: usize>(cap: usize, when_full: WhenFull) -> [TicketRequest; N] {
    std::array::from_fn(|_| TicketRequest::new(cap, when_full))
}

#[test]
fn the_database_is_private_shared_and_has_a_version() {
    let dir = agent_dir();
    // Another program had created it before, with the wrong permissions.
    fs::create_dir(dir.path().join("subagents")).expect("the directory is created");
    fs::write(database(dir.path()), "").expect("the file is written");
    fs::set_permissions(database(dir.path()), fs::Permissions::from_mode(0o644))
        .expect("the permissions are set");
    let store = Store::open(dir.path()).expect("the store is opened");
    store.add_spending("s", 1.0).expect("the spending is stored");
    for name in ["runs.db", "runs.db-wal", "runs.db-shm"] {
        let found = fs::metadata(dir.path().join("subagents").join(name)).expect(name);
        assert_eq!(found.permissions().mode() & 0o777, 0o600, "{name}");
    }
    let mode = fs::metadata(processes(dir.path())).expect("the file exists").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let other = Connection::open(database(dir.path())).expect("the database is opened");
    let ask = |pragma: &str| {
        other.query_row(pragma, (), |row| row.get::<_, String>(0)).expect("the query succeeds")
    };
    assert_eq!(ask("SELECT user_version || '' FROM pragma_user_version"), "7");
    assert_eq!(ask("PRAGMA journal_mode"), "wal");
}

#[test]
fn tickets_are_granted_in_order_within_one_process() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    let mut all: [TicketRequest; 4] = requests(2, WhenFull::Wait);
    assert_eq!(
        store.update_tickets(&[], &mut all, 1).expect("the store grants tickets"),
        1,
        "one released slot admits one run"
    );
    assert_eq!(states(&all), "++..");
    let second = all[1].ticket.expect("the request has a ticket");
    assert_eq!(store.update_tickets(&[second], &mut all[2..], 0).expect("the store grants tickets"), 0);
    assert_eq!(states(&all[2..]), "+.");
    // The waiting call leaves without having started.
    let tickets =
        [all[0].ticket, all[2].ticket, all[3].ticket].map(|ticket| ticket.expect("the request has a ticket"));
    assert_eq!(store.update_tickets(&tickets, &mut [], 0).expect("the store grants tickets"), 0);
    let mut next: [TicketRequest; 3] = requests(2, WhenFull::Wait);
    store.update_tickets(&[], &mut next, 0).expect("the store grants tickets");
    assert_eq!(states(&next), "++.");
}

#[test]
fn early_requests_are_refused_while_a_run_waits_and_existing_children_always_count() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    let mut early: [TicketRequest; 3] = requests(2, WhenFull::Refuse);
    store.update_tickets(&[], &mut early, 0).expect("the store grants tickets");
    assert_eq!(states(&early), "++-");
    assert_eq!(early[2].ticket, None);
    early[2].when_full = WhenFull::Exceed;
    store.update_tickets(&[], &mut early[2..], 0).expect("the store grants tickets");
    assert_eq!(states(&early), "+++");
    let mut queued: [TicketRequest; 1] = requests(3, WhenFull::Wait);
    store.update_tickets(&[], &mut queued, 0).expect("the store grants tickets");
    assert_eq!(states(&queued), ".", "the child beyond the cap is counted");
    // Two leave. There is room now, but the queued call needs it.
    let leaving = [early[0].ticket, early[1].ticket].map(|ticket| ticket.expect("the request has a ticket"));
    let mut late: [TicketRequest; 1] = requests(2, WhenFull::Refuse);
    store.update_tickets(&leaving, &mut late, 0).expect("the store grants tickets");
    assert_eq!(states(&late), "-");
}

#[test]
fn processes_get_tickets_in_the_order_of_their_arrival() {
    let dir = agent_dir();
    let [mut one, mut two, mut three] = std::array::from_fn(|_| Actor::start(dir.path()));
    for actor in [&mut one, &mut two, &mut three] {
        assert_eq!(actor.ask("open"), "open");
    }
    assert_eq!(one.ask("request 1"), "+");
    assert_eq!(three.ask("request 1"), ".");
    assert_eq!(two.ask("request 1"), ".");
    assert_eq!(one.ask("leave"), "");
    assert_eq!(two.ask("turn"), ".", "the earlier request is granted first");
    assert_eq!(three.ask("turn"), "+");
    assert_eq!(three.ask("leave"), "");
    assert_eq!(two.ask("turn"), "+");
}

#[test]
fn a_process_with_a_smaller_cap_waits_without_blocking_others() {
    let dir = agent_dir();
    let [mut wide, mut narrow] = std::array::from_fn(|_| Actor::start(dir.path()));
    assert_eq!([wide.ask("open"), narrow.ask("open")], ["open", "open"]);
    assert_eq!(wide.ask("request 4"), "+");
    assert_eq!(wide.ask("request 4"), "++");
    assert_eq!(narrow.ask("request 1"), ".");
    assert_eq!(wide.ask("request 4"), "+++");
    assert_eq!(wide.ask("request 4"), "++++");
    assert_eq!(wide.ask("request 4"), "++++.");
    assert_eq!(wide.ask("leave"), "++++");
    for rest in ["+++", "++", "+", ""] {
        assert_eq!(narrow.ask("turn"), ".");
        assert_eq!(wide.ask("leave"), rest);
    }
    assert_eq!(narrow.ask("turn"), "+");
}

#[test]
fn the_tickets_of_a_killed_process_are_released_running_or_waiting() {
    let dir = agent_dir();
    let [mut running, mut waiting, mut last] = std::array::from_fn(|_| Actor::start(dir.path()));
    for actor in [&mut running, &mut waiting, &mut last] {
        assert_eq!(actor.ask("open"), "open");
    }
    assert_eq!(running.ask("request 1"), "+");
    assert_eq!(waiting.ask("request 1"), ".");
    assert_eq!(last.ask("request 1"), ".");
    waiting.kill();
    assert_eq!(last.ask("turn"), ".", "the slot is still in use");
    running.kill();
    assert_eq!(last.ask("turn"), "+");
    // Two files of the remaining process: its presence, and its lock on the only copy.
    assert_eq!(names(&processes(dir.path())).len(), 2 + 2, "the unexamined files of dead processes remain");
    assert_eq!(Actor::start(dir.path()).ask("open"), "open");
    let remaining = names(&processes(dir.path()));
    assert_eq!(remaining.iter().filter(|name| name.starts_with("process-")).count(), 2, "{remaining:?}");
}

/// The process kept its entries until another process resumed it.
#[test]
fn a_stopped_process_does_not_keep_the_slots_of_ended_children() {
    let dir = agent_dir();
    let mut other = Actor::start(dir.path());
    assert_eq!((other.ask("open"), other.ask("request 1")), ("open".into(), "+".into()));
    let store = Store::open(dir.path()).expect("the store is opened");
    let mut mine: [TicketRequest; 1] = requests(1, WhenFull::Wait);
    store.update_tickets(&[], &mut mine, 0).expect("the store grants tickets");
    assert_eq!(states(&mine), ".", "a request waits while the other process runs");
    other.stop();
    store.update_tickets(&[], &mut mine, 0).expect("the store grants tickets");
    assert_eq!(states(&mine), "+", "a stopped process without a child keeps no slot");
}

#[test]
fn only_a_lock_shows_that_a_process_is_alive() {
    for (label, process, waits) in [
        ("no file", "0123", false),
        ("a file without a lock", "free", false),
        ("a file with a lock", "held", true),
        ("a file locked by a process with read access", "read", false),
        ("an entry that cannot be opened", "odd", true),
        ("no name", "", false),
        ("a path to another directory", "../processes/held", false),
    ] {
        let dir = agent_dir();
        let store = Store::open(dir.path()).expect("the store is opened");
        let free = processes(dir.path()).join("free.lock");
        fs::write(&free, "").expect("the file is written");
        fs::create_dir(processes(dir.path()).join("odd.lock")).expect("the directory is created");
        let held = fs::File::create(processes(dir.path()).join("held.lock")).expect("the file is created");
        assert!(try_lock(&held).expect("the lock can be tested"), "no other process holds the lock");
        let read = processes(dir.path()).join("read.lock");
        fs::write(&read, "").expect("the file is written");
        let read = fs::File::open(read).expect("the file is opened");
        flock(&read, FlockOperation::NonBlockingLockExclusive).expect("the lock is free");
        fcntl_lock(&read, FlockOperation::NonBlockingLockShared).expect("the lock is free");
        let other = Connection::open(database(dir.path())).expect("the database is opened");
        other
            .execute("INSERT INTO place (process, started, cap, beat) VALUES (?1, 1, 1, 0)", [process])
            .expect("the statement succeeds");
        let mut mine: [TicketRequest; 1] = requests(1, WhenFull::Wait);
        store.update_tickets(&[], &mut mine, 0).expect("the store grants tickets");
        assert_eq!(states(&mine), if waits { "." } else { "+" }, "{label}");
        assert_eq!(free.exists(), process != "free", "{label}: only the requested process is checked");
    }
}

#[test]
fn files_of_dead_processes_are_removed_and_files_of_living_processes_kept() {
    let dir = agent_dir();
    let mut alive = Actor::start(dir.path());
    assert_eq!(alive.ask("open"), "open");
    let held = names(&processes(dir.path()));
    let mut dead = Actor::start(dir.path());
    assert_eq!(dead.ask("open"), "open");
    dead.kill();
    fs::write(processes(dir.path()).join("0123.lock"), "").expect("the file is written");
    fs::write(processes(dir.path()).join("note.txt"), "").expect("the file is written");
    fs::create_dir(processes(dir.path()).join("odd.lock")).expect("the directory is created");
    drop(Store::open(dir.path()).expect("the store is opened"));
    let mut expected = held;
    expected.extend(["note.txt".to_owned(), "odd.lock".to_owned()]);
    expected.sort();
    assert_eq!(names(&processes(dir.path())), expected);
}

#[test]
fn processes_that_open_and_sweep_at_the_same_time_do_not_disturb_each_other() {
    let dir = agent_dir();
    let mut actors: [_; 6] = std::array::from_fn(|_| Actor::start(dir.path()));
    // All processes start at once, and at first no file exists.
    for actor in &mut actors {
        actor.say("open 20");
    }
    for actor in &actors {
        assert_eq!(actor.answer(), "opened");
    }
    for actor in &mut actors {
        actor.say("open");
    }
    for actor in &mut actors {
        assert_eq!(actor.answer(), "open");
        assert_eq!(actor.ask("request 6"), "+");
    }
    assert_eq!(actors[0].ask("request 6"), "+.", "all six requests are counted");
    assert_eq!(names(&processes(dir.path())).len(), 2 * actors.len());
}

#[test]
fn opening_waits_for_a_process_that_is_sweeping() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    let own = names(&processes(dir.path())).into_iter().find(|name| name.starts_with("process-"));
    let own = own.expect("the process has its file");
    drop(store);
    // A sweep locks each file that it finds, to see whether a process holds it. This file was just created.
    let held = ["opening.lock".to_owned(), own].map(|name| {
        let path = processes(dir.path()).join(name);
        let file = fs::File::create(&path).expect("the file is created");
        assert!(try_lock(&file).expect("the lock can be tested"), "no other process holds the lock");
        (path, file)
    });
    let watch = inotify::init(inotify::CreateFlags::empty()).expect("the watch is created");
    inotify::add_watch(&watch, &held[0].0, inotify::WatchFlags::OPEN).expect("the file is there");
    let agent_dir = dir.path().to_owned();
    let opening = std::thread::spawn(move || Store::open(&agent_dir).map(drop));
    // It has failed to take the lock once, and must try again.
    let timeout = Timespec { tv_sec: 20, tv_nsec: 0 };
    let tried =
        poll(&mut [PollFd::new(&watch, PollFlags::IN)], Some(&timeout)).expect("the watch can be polled");
    assert_eq!(tried, 1, "the process did not try the lock in time");
    for (path, file) in held.into_iter().rev() {
        fs::remove_file(path).expect("the file is removed");
        drop(file);
    }
    opening.join().expect("the task does not panic").expect("the store is opened");
}

#[test]
fn a_process_whose_lock_file_was_removed_gets_another_and_keeps_its_tickets() {
    let dir = agent_dir();
    let [mut running, mut other] = std::array::from_fn(|_| Actor::start(dir.path()));
    assert_eq!([running.ask("open"), other.ask("open")], ["open", "open"]);
    assert_eq!(running.ask("request 2"), "+");
    fs::remove_dir_all(processes(dir.path())).expect("the directory is removed");
    assert_eq!(running.ask("request 2"), "++");
    assert_eq!(other.ask("request 2"), ".");
    assert_eq!(other.ask("turn"), ".");
}

#[test]
fn processes_whose_files_were_removed_find_each_other_again() {
    let dir = agent_dir();
    let [mut one, mut two] = std::array::from_fn(|_| Actor::start(dir.path()));
    assert_eq!([one.ask("open"), two.ask("open")], ["open", "open"]);
    assert_eq!(one.ask("request 2"), "+");
    fs::remove_dir_all(dir.path().join("subagents")).expect("the directory is removed");
    assert_eq!(two.ask("request 1"), "+");
    assert_eq!(one.ask("request 2"), "+.", "the running child is counted again");
    for file in ["runs.db", "runs.db-wal", "runs.db-shm"] {
        fs::remove_file(dir.path().join("subagents").join(file)).expect("the file is removed");
    }
    assert_eq!(one.ask("turn"), "++", "the other process has not yet re-read its slots");
    assert_eq!(two.ask("turn"), "+");
    let mut three = Actor::start(dir.path());
    assert_eq!(three.ask("open"), "open");
    assert_eq!(three.ask("request 3"), ".");
}

#[test]
fn a_waiting_process_writes_seldom_and_an_idle_process_never() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    let reader = Connection::open(database(dir.path())).expect("the database is opened");
    let written = || {
        let version = reader.query_row("PRAGMA data_version", (), |row| row.get::<_, i64>(0));
        version.expect("the version is readable")
    };
    let mut queue: [TicketRequest; 2] = requests(1, WhenFull::Wait);
    assert_eq!(update(&store, &[], &mut queue), "+.");
    let since = Instant::now();
    let before = written();
    assert_eq!(update(&store, &[], &mut queue[..1]), "+");
    assert_eq!(written(), before, "a started run writes no new heartbeat");
    while written() == before {
        assert!(since.elapsed() < Duration::from_secs(20), "the waiting run wrote no heartbeat");
        assert_eq!(update(&store, &[], &mut queue), "+.");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(
        since.elapsed() >= Duration::from_secs(1),
        "the heartbeat was written after {:?}, too early",
        since.elapsed()
    );
}

#[test]
fn an_invalid_amount_of_money_is_not_stored() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    for nothing in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -0.0, 0.0] {
        store.add_spending("s", nothing).expect("the spending is stored");
    }
    assert_eq!(store.prune(i64::MAX).expect("the store is pruned"), 0, "there is no row to prune");
    store.add_spending("s", f64::MIN_POSITIVE).expect("the spending is stored");
    assert_eq!(store.prune(i64::MAX).expect("the store is pruned"), 1);
}

#[test]
fn spending_of_a_session_adds_up_over_processes() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    assert!(store.spent("s").expect("the spending is readable").abs() < f64::EPSILON);
    let mut other = Actor::start(dir.path());
    assert_eq!(other.ask("open"), "open");
    for _ in 0..10 {
        assert_eq!(other.ask("spend s 0.25"), "spent");
        store.add_spending("s", 0.5).expect("the spending is stored");
    }
    for nothing in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0] {
        store.add_spending("s", nothing).expect("the spending is stored");
    }
    other.kill();
    assert!((store.spent("s").expect("the spending is readable") - 7.5).abs() < 1e-9);
    assert!(store.spent("another").expect("the spending is readable").abs() < f64::EPSILON);
    drop(store);
    let again = Store::open(dir.path()).expect("the store is opened");
    assert!(
        (again.spent("s").expect("the spending is readable") - 7.5).abs() < 1e-9,
        "the spending outlives the process"
    );
}

#[test]
fn a_damaged_file_is_kept_under_another_name_and_replaced() {
    let dir = agent_dir();
    let directory = dir.path().join("subagents");
    fs::create_dir(&directory).expect("the directory is created");
    for (number, damage) in [(1, "this is no database".repeat(100)), (2, "x".repeat(5000))] {
        fs::write(database(dir.path()), &damage).expect("the file is written");
        fs::write(directory.join("runs.db-wal"), "the log of the damaged one").expect("the file is written");
        let attached = attach(dir.path());
        let store = attached.store.expect("the store is available");
        let kept = directory.join(format!("runs.db.damaged-{number}"));
        assert_eq!(fs::read_to_string(&kept).expect("the file is readable"), damage);
        assert_eq!(store.set_aside(), Some(fs::canonicalize(&kept).expect("the path exists").as_path()));
        let notice = attached.notice.expect("the user gets a notice");
        assert!(
            notice.contains("was damaged") && notice.contains(&format!("runs.db.damaged-{number}")),
            "{notice}"
        );
        store.add_spending("s", 1.0).expect("the spending is stored");
    }
}

#[test]
fn damage_within_a_database_is_found_when_it_is_opened() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    store.add_spending("s", 1.0).expect("the spending is stored");
    drop(store);
    let mut bytes = fs::read(database(dir.path())).expect("the file is readable");
    let page = 4096;
    assert!(bytes.len() >= 3 * page, "the file has a page for each table");
    bytes[2 * page..3 * page].fill(0xAA);
    fs::write(database(dir.path()), &bytes).expect("the file is written");
    let store = Store::open(dir.path()).expect("the store is opened");
    assert!(store.set_aside().is_some());
    assert!(store.spent("s").expect("the spending is readable").abs() < f64::EPSILON);
    let kept = fs::read(dir.path().join("subagents/runs.db.damaged-1")).expect("the file is readable");
    assert_eq!(kept.len(), bytes.len());
}

#[test]
fn the_file_of_a_newer_release_is_left_alone() {
    let dir = agent_dir();
    fs::create_dir(dir.path().join("subagents")).expect("the directory is created");
    // Its process was killed, so a part of the database is still in the log.
    let other = agent_dir();
    let newer = Connection::open(other.path().join("runs.db")).expect("the database is opened");
    newer
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE future (x); PRAGMA user_version = 99")
        .expect("the statement succeeds");
    let files = ["runs.db", "runs.db-wal"].map(|name| dir.path().join("subagents").join(name));
    for file in &files {
        let name = file.file_name().expect("the file has a name");
        fs::copy(other.path().join(name), file).expect("the file is copied");
    }
    let read = || files.each_ref().map(|file| fs::read(file).expect("the file is readable"));
    let before = read();
    let error = Store::open(dir.path()).expect_err("the database is newer");
    assert!(matches!(error, StoreError::Newer { found: 99, known: 7, .. }), "{error}");
    let attached = attach(dir.path());
    let notice = attached.notice.expect("the user gets a notice");
    assert!(attached.store.is_none());
    assert!(notice.contains("has version 99, but this release supports only versions up to 7"), "{notice}");
    assert_eq!(attach(dir.path()).notice, None, "the notice is shown once");
    assert_eq!(read(), before);
    // The index of the log.
    let expected = ["processes", "runs.db", "runs.db-shm", "runs.db-wal"];
    assert_eq!(names(&dir.path().join("subagents")), expected);
}

#[test]
fn foreign_tables_are_not_changed() {
    let dir = agent_dir();
    fs::create_dir(dir.path().join("subagents")).expect("the directory is created");
    let other = Connection::open(database(dir.path())).expect("the database is opened");
    other.execute_batch("CREATE TABLE spending (mine)").expect("the statement succeeds");
    drop(other);
    let error = Store::open(dir.path()).expect_err("the database is foreign");
    assert!(error.in_full().contains("already exists"), "{}", error.in_full());
    let tables = Connection::open(database(dir.path())).expect("the database is opened");
    let count: i64 = tables
        .query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))
        .expect("the query succeeds");
    assert_eq!(count, 1, "no migration step is applied");
}

#[test]
fn a_locked_database_is_busy_and_usable_again_afterwards() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    let holder = Connection::open(database(dir.path())).expect("the database is opened");
    holder.execute_batch("BEGIN IMMEDIATE").expect("the statement succeeds");
    let mut waiting: [TicketRequest; 1] = requests(1, WhenFull::Wait);
    let error = store.update_tickets(&[], &mut waiting, 0).expect_err("the database is locked");
    assert!(error.is_busy(), "{error}");
    assert_eq!(waiting[0].ticket, None, "the request got no ticket");
    assert!(store.spent("s").is_ok(), "a reader does not wait for a writer");
    holder.execute_batch("ROLLBACK").expect("the statement succeeds");
    store.update_tickets(&[], &mut waiting, 0).expect("the store grants tickets");
    assert_eq!(states(&waiting), "+");
}

#[test]
fn an_unwritable_directory_has_no_store_and_causes_one_notice() {
    let dir = agent_dir();
    fs::write(dir.path().join("file"), "").expect("the file is written");
    // A file in place of a directory, and a file system that accepts no files. Permissions do not stop root.
    for place in [dir.path().join("file"), PathBuf::from("/proc/self/agent")] {
        let first = attach(&place);
        assert!(first.store.is_none());
        let notice = first.notice.expect("the user gets a notice");
        assert!(
            notice.starts_with(
                "`maxConcurrentPerUser` has no effect and the spending of sessions is not saved: cannot use `"
            ),
            "{notice}"
        );
        assert_eq!(attach(&place).notice, None, "the notice is shown once");
    }
}

#[test]
fn a_full_disk_is_an_error_and_does_no_damage() {
    let dir = agent_dir();
    // From the start: not even an empty database fits.
    let mut full = Actor::limited(dir.path(), "ulimit -f 1");
    let answer = full.ask("attach");
    assert!(answer.starts_with("none `maxConcurrentPerUser` has no effect"), "{answer}");
    drop(full);
    // Later: the log grows until it reaches the limit.
    let mut filling = Actor::limited(dir.path(), "ulimit -f 200");
    assert_eq!(filling.ask("open"), "open");
    let mut spent = 0;
    let answer = loop {
        let answer = filling.ask("spend s 1");
        if answer != "spent" {
            break answer;
        }
        spent += 1;
        assert!(spent < 10_000, "the disk never became full");
    };
    assert!(answer.starts_with("error cannot use the database"), "{answer}");
    filling.kill();
    let store = Store::open(dir.path()).expect("the store is opened");
    assert_eq!(store.set_aside(), None);
    assert!(
        (store.spent("s").expect("the spending is readable") - f64::from(spent)).abs() < f64::EPSILON,
        "every reported spending is stored"
    );
}

#[test]
fn a_second_copy_of_the_addon_in_the_process_is_refused() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    let own = names(&processes(dir.path()));
    let own = own.iter().find(|name| name.starts_with("process-")).expect("the process has its file").clone();
    let error = Store::open(dir.path()).expect_err("a second copy is refused");
    assert!(matches!(error, StoreError::SecondCopy { .. }), "{error}");
    drop(store);
    // The entry that the other copy would hold.
    let held = fs::File::create(processes(dir.path()).join(own)).expect("the file is created");
    assert!(try_lock(&held).expect("the lock can be tested"), "no other process holds the lock");
    let error = Store::open(dir.path()).expect_err("a second copy is refused");
    assert!(matches!(error, StoreError::SecondCopy { .. }), "{error}");
    // Another process is not affected.
    assert_eq!(Actor::start(dir.path()).ask("open"), "open");
    drop(held);
    Store::open(dir.path()).expect("the store is opened");
}

/// Each of these files was written to, given another mode, or waited for without an end.
#[test]
fn a_foreign_file_is_refused_unchanged_and_named() {
    for name in ["runs.db", "runs.db-wal", "runs.db-shm", "processes/opening.lock"] {
        for (kind, reason) in [
            ("link", "it is a link, which is not followed here"),
            ("hard link", "it has another name (a hard link)"),
            ("fifo", "it is not a regular file"),
            ("directory", "it is not a regular file"),
            ("another user's", "it belongs to another user"),
        ] {
            let dir = agent_dir();
            let (target, file) =
                (dir.path().join("of somebody else"), dir.path().join("subagents").join(name));
            fs::create_dir_all(processes(dir.path())).expect("the directory is created");
            fs::write(&target, "").expect("the file is written");
            fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).expect("the permissions are set");
            match kind {
                "link" => std::os::unix::fs::symlink(&target, &file).expect("the link is created"),
                "hard link" => fs::hard_link(&target, &file).expect("the hard link is created"),
                "directory" => fs::create_dir(&file).expect("the directory is created"),
                "another user's" => {
                    fs::write(&file, "").expect("the file is written");
                    if std::os::unix::fs::chown(&file, Some(4242), None).is_err() {
                        // Only root can change a file's owner.
                        continue;
                    }
                }
                _ => mknodat(CWD, &file, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
                    .expect("the FIFO is created"),
            }
            let attached = attach(dir.path());
            assert!(attached.store.is_none(), "{name}: {kind}");
            let notice = attached.notice.expect("the user gets a notice");
            assert!(notice.contains(name) && notice.ends_with(reason), "{name}: {kind}: {notice}");
            let found = fs::metadata(&target).expect("the file exists");
            assert_eq!((found.permissions().mode() & 0o777, found.len()), (0o644, 0), "{name}: {kind}");
            let there = fs::symlink_metadata(&file).expect("the file exists");
            assert!(kind != "another user's" || (there.uid(), there.len()) == (4242, 0), "{name}");
        }
    }
}

/// A process without write access cannot even open the files of waiting processes.
#[test]
fn the_lock_files_are_unreadable() {
    let dir = agent_dir();
    let _store = Store::open(dir.path()).expect("the store is opened");
    for name in names(&processes(dir.path())) {
        let found = fs::metadata(processes(dir.path()).join(&name)).expect("the file exists");
        assert_eq!(found.permissions().mode() & 0o777, 0o200, "{name}");
    }
}

#[test]
fn all_paths_to_an_agent_directory_share_one_store() {
    let dir = agent_dir();
    let agent = dir.path().join("agent");
    let first = attach(&agent);
    assert_eq!(first.notice, None);
    let first = first.store.expect("the store is available");
    std::os::unix::fs::symlink(&agent, dir.path().join("link")).expect("the link is created");
    for spelling in [agent.join("."), dir.path().join("link"), agent.join("subagents/..")] {
        let again = attach(&spelling);
        assert!(again.store.is_some_and(|store| store.is(&first)), "{spelling:?}");
        assert_eq!(again.notice, None);
    }
    let other = attach(&dir.path().join("other")).store.expect("the store is available");
    assert!(!other.is(&first));
    drop(first);
    assert!(attach(&agent).store.is_some(), "the store can be opened again");
}

/// The descriptors stayed open for good, five for each agent directory.
#[test]
fn unused_stores_keep_no_files_open() {
    let dir = agent_dir();
    let open = || {
        let descriptors = fs::read_dir("/proc/self/fd").expect("the directory is readable");
        let paths = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        paths.filter(|path| path.starts_with(dir.path())).count()
    };
    let place = |number: usize| dir.path().join(number.to_string());
    let stores: Vec<_> =
        (0..12).map(|number| attach(&place(number)).store.expect("the store is available")).collect();
    assert!(open() <= 4 * 5, "{}", open());
    // They still work, and the database with a ticket stays open: it shows that its process is alive.
    let mut mine: [TicketRequest; 1] = requests(1, WhenFull::Wait);
    stores[0].update_tickets(&[], &mut mine, 0).expect("the store grants tickets");
    for (number, store) in stores.iter().enumerate() {
        store.add_spending("s", 1.0).expect("the spending is stored");
        assert!(attach(&place(number)).store.is_some_and(|known| known.is(store)));
    }
    assert!(open() <= 5 * 5, "{}", open());
    assert_eq!(Actor::start(&place(0)).ask("open"), "open");
    let mut other = Actor::start(&place(0));
    assert_eq!((other.ask("open"), other.ask("request 1")), ("open".into(), ".".into()));
    assert!(
        stores
            .iter()
            .all(|store| (store.spent("s").expect("the spending is readable") - 1.0).abs() < f64::EPSILON)
    );
}

#[test]
fn only_the_database_remains() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    store.update_tickets(&[], &mut requests::<3>(1, WhenFull::Wait), 0).expect("the store grants tickets");
    drop(store);
    assert_eq!(names(&dir.path().join("subagents")), ["processes", "runs.db"]);
    assert_eq!(names(&processes(dir.path())), [""; 0]);
}

#[test]
fn tickets_of_a_removed_database_match_no_ticket_of_the_next_one() {
    let dir = agent_dir();
    let store = Store::open(dir.path()).expect("the store is opened");
    let mut old: [TicketRequest; 3] = requests(2, WhenFull::Wait);
    store.update_tickets(&[], &mut old, 0).expect("the store grants tickets");
    assert_eq!(states(&old), "++.");
    fs::remove_dir_all(dir.path().join("subagents")).expect("the directory is removed");
    // The call that ran first has left, so the others begin a new database with its number.
    let first = old[0].ticket.expect("the request has a ticket");
    store.update_tickets(&[first], &mut old[1..], 0).expect("the store grants tickets");
    assert_eq!(states(&old[1..]), "++");
    store.update_tickets(&[first], &mut [], 0).expect("the store grants tickets");
    let mut next: [TicketRequest; 1] = requests(2, WhenFull::Wait);
    store.update_tickets(&[], &mut next, 0).expect("the store grants tickets");
    fs::remove_dir_all(dir.path().join("subagents")).expect("the directory is removed");
    store.add_spending("s", 1.0).expect("the spending is stored");
    assert!(database(dir.path()).exists());
    assert_eq!(states(&next), ".", "releasing an old ticket releases no current one");
}
