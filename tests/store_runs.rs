//! The stored records of background runs, and their fate when a process or the disk fails.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::actor::{self, Actor, reply};
use rusqlite::Connection;
use rustix::fs::{FlockOperation, fcntl_lock};
use store::{Delivery, Request, Store, StoreError, StoredDirectory, StoredRun, StoredWorkflow, attach};
use tempfile::TempDir;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The second process changes runs as the test commands.
#[test]
fn a_second_process_ends_with_its_test() {
    actor::play(|agent_dir, script| {
        let mut store = None;
        let mut held = Vec::new();
        for line in script {
            let words: Vec<_> = line.split(' ').collect();
            if words == ["hold"] {
                // All operations of a process without write access.
                let index = fs::File::open(database(agent_dir).with_extension("db-shm"));
                held.push(index.expect("the index is readable"));
                fcntl_lock(&held[0], FlockOperation::NonBlockingLockShared).expect("the lock is free");
                reply("held");
            } else if words == ["open"] {
                reply(&answer(Store::open(agent_dir).map(|opened| store = Some(opened)), |()| "open".into()));
            } else {
                reply(&act(store.as_ref().expect("the store is open"), &words));
            }
        }
    });
}

/// The commands of both processes, each with a one-line answer.
fn act(store: &Store, words: &[&str]) -> String {
    match *words {
        // A live run, with its session and its creation time.
        ["start", key, session, created] => {
            let run = StoredRun { created_ms: number(created), ..live(key, session) };
            answer(store.put_run(&run), |()| "started".into())
        }
        // Its end, with or without a delivery.
        ["settle", key, session, ref deliveries @ ..] => {
            let delivery = deliveries.first().map(|id| delivery(id, session, key));
            answer(store.settle_run(&ended(key, session), delivery.as_ref(), false), |()| "settled".into())
        }
        ["adopt", key, session, from, id] => {
            let adopted = store.adopt_run(&ended(key, session), from, Some(&delivery(id, session, key)));
            answer(adopted, |is_ours| is_ours.to_string())
        }
        ["orphans"] => answer(store.orphans(), |runs| keys(&runs)),
        ["orphans", "of"] => answer(store.orphans(), |runs| {
            runs.into_iter().filter_map(|run| run.process).collect::<Vec<_>>().join(" ")
        }),
        ["runs"] => answer(store.runs(None, 100), |runs| keys(&runs)),
        ["runs", session, limit] => {
            answer(store.runs(Some(session), limit.parse().expect("the limit is a number")), |runs| {
                keys(&runs)
            })
        }
        ["run", key] => answer(store.run(key), |run| {
            run.map_or("none".into(), |run| if run.is_live { "live".into() } else { run.body })
        }),
        ["amend", key, session] => {
            let run = StoredRun { archived_ms: Some(20), body: "amended".into(), ..ended(key, session) };
            answer(store.amend_run(&run), |has_ended| has_ended.to_string())
        }
        ["directories", limit] => {
            answer(store.directories(limit.parse().expect("the limit is a number")), |runs| {
                let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
                let one = |run: StoredDirectory| {
                    format!(
                        "{}{}{}",
                        run.key.unwrap_or(run.directory),
                        mark(run.is_live, "+"),
                        mark(run.is_archived, "-")
                    )
                };
                runs.into_iter().map(one).collect::<Vec<_>>().join(" ")
            })
        }
        ["due", now] => answer(store.due_for_archive(number(now)), |runs| keys(&runs)),
        ["offer", session] => answer(store.claim_deliveries(session), |offered| {
            offered.iter().map(|delivery| delivery.id.as_str()).collect::<Vec<_>>().join(" ")
        }),
        ["release", ref ids @ ..] => answer(store.release(&owned(ids)), |()| "released".into()),
        ["delivered", ref ids @ ..] => answer(store.mark_delivered(&owned(ids)), |_| "delivered".into()),
        ["ask", key, action, text] => {
            answer(store.send_request(key, action, text), |is_heard| is_heard.to_string())
        }
        ["requests"] => answer(store.take_requests(), |requests| {
            let one = |Request { key, action, text }| format!("{key}:{action}:{text}");
            requests.into_iter().map(one).collect::<Vec<_>>().join(" ")
        }),
        // The script of a workflow begins in this process.
        ["script", key] => {
            let workflow = StoredWorkflow {
                key: key.to_owned(),
                is_live: true,
                expires_ms: i64::MAX,
                ..StoredWorkflow::default()
            };
            answer(store.open_workflow(&workflow), |is_open| is_open.to_string())
        }
        ["continue", key] => answer(store.claim_continuation(key), |is_ours| is_ours.to_string()),
        ["prune", now] => answer(store.prune(number(now)), |removed| removed.to_string()),
        // Stores one run after the other until one fails. Returns the number of stored runs.
        ["fill", session] => {
            let big = "x".repeat(4000);
            let kept = (0..).take_while(|number| {
                let key = format!("run-{number}");
                let run = StoredRun { body: big.clone(), ..ended(&key, session) };
                store.settle_run(&run, Some(&delivery(&format!("d-{number}"), session, &key)), false).is_ok()
            });
            kept.count().to_string()
        }
        _ => panic!("unknown command {words:?}"),
    }
}

fn answer<T>(result: Result<T, StoreError>, say: impl FnOnce(T) -> String) -> String {
    result.map_or_else(|error| format!("error {}", error.in_full()), say)
}

fn owned(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|&id| id.to_owned()).collect()
}

fn number(text: &str) -> i64 {
    text.parse().expect("the text is a number")
}

fn keys(runs: &[StoredRun]) -> String {
    runs.iter().map(|run| run.key.as_str()).collect::<Vec<_>>().join(" ")
}

fn live(key: &str, session: &str) -> StoredRun {
    StoredRun {
        key: key.into(),
        run_id: "0badcafe".into(),
        session_key: format!("agent:explorer:subagent:{key}"),
        session: session.into(),
        is_live: true,
        created_ms: 1,
        body: "works".into(),
        ..StoredRun::default()
    }
}

fn ended(key: &str, session: &str) -> StoredRun {
    StoredRun {
        is_live: false,
        ended_ms: Some(2),
        archive_at_ms: Some(10),
        directory: Some("/runs/0badcafe".into()),
        body: "ended".into(),
        ..live(key, session)
    }
}

fn delivery(id: &str, session: &str, key: &str) -> Delivery {
    Delivery {
        id: id.into(),
        session: session.into(),
        key: key.into(),
        body: format!("result of {key}"),
        created_ms: 2,
    }
}

fn agent_dir() -> TempDir {
    tempfile::tempdir().expect("a temporary directory is created")
}

fn open(dir: &TempDir) -> Store {
    Store::open(dir.path()).expect("the store is opened")
}

fn database(agent_dir: &Path) -> PathBuf {
    agent_dir.join("subagents/runs.db")
}

fn actors<const N: usize>(agent_dir: &Path) -> [Actor; N] {
    std::array::from_fn(|_| {
        let mut actor = Actor::start(agent_dir);
        assert_eq!(actor.ask("open"), "open");
        actor
    })
}

#[test]
fn a_stored_run_is_read_unchanged_newest_first() {
    let dir = agent_dir();
    let store = open(&dir);
    let run = StoredRun { created_ms: 5, body: "ü \" \u{0} {}".into(), ..live("a", "s") };
    store.put_run(&run).expect("the run is stored");
    let kept = StoredRun { process: Some(store.process()), ..run.clone() };
    assert_eq!(store.run("a").expect("the run is readable"), Some(kept), "the run belongs to this process");
    let settled = StoredRun {
        archived_ms: Some(i64::MAX),
        created_ms: 5,
        process: Some("nobody".into()),
        ..ended("a", "s")
    };
    store.settle_run(&settled, None, false).expect("the end is stored");
    assert_eq!(store.run("a").expect("the run is readable"), Some(StoredRun { process: None, ..settled }));
    assert_eq!(store.run("b").expect("the run is readable"), None);
    for (key, session, created) in [("b", "s", "7"), ("c", "other", "6"), ("d", "s", "7")] {
        assert_eq!(act(&store, &["start", key, session, created]), "started");
    }
    assert_eq!(act(&store, &["runs", "s", "100"]), "d b a", "the later of two simultaneous runs comes first");
    assert_eq!(act(&store, &["runs", "s", "2"]), "d b");
    assert_eq!(act(&store, &["runs"]), "d b c a");
}

#[test]
fn a_run_of_a_killed_process_is_adopted_once_and_of_a_living_process_never() {
    let dir = agent_dir();
    let [mut owner, mut first, mut second] = actors(dir.path());
    for key in ["a", "b", "c"] {
        assert_eq!(owner.ask(&format!("start {key} s 1")), "started");
    }
    assert_eq!(owner.ask("settle c s dc"), "settled");
    assert_eq!(first.ask("start mine s 1"), "started");
    assert_eq!(first.ask("orphans"), "");
    let owner_id = Connection::open(database(dir.path()))
        .and_then(|database| {
            database.query_row("SELECT process FROM run WHERE key = 'a'", (), |row| row.get::<_, String>(0))
        })
        .expect("the run has a process");
    assert_eq!(
        first.ask(&format!("adopt a s {owner_id} da")),
        "false",
        "a run of a living process is not adopted"
    );
    owner.kill();
    assert_eq!(first.ask("orphans"), "a b");
    assert_eq!(second.ask("orphans of"), format!("{owner_id} {owner_id}"));
    assert_eq!(second.ask("adopt a s somebody da"), "false", "a wrong owner prevents the adoption");
    assert_eq!(second.ask(&format!("adopt c s {owner_id} again")), "false", "an ended run is not adopted");
    // Both processes end both runs at once, each with its own delivery. For each run one process wins.
    let mut won = [0, 0];
    for key in ["a", "b"] {
        first.say(&format!("adopt {key} s {owner_id} {key}1"));
        second.say(&format!("adopt {key} s {owner_id} {key}2"));
        let answers = [first.answer(), second.answer()];
        assert_eq!(answers.iter().filter(|answer| *answer == "true").count(), 1, "{answers:?}");
        won = std::array::from_fn(|at| won[at] + usize::from(answers[at] == "true"));
    }
    assert_eq!(won.iter().sum::<usize>(), 2);
    assert_eq!(second.ask("orphans"), "", "a run of a living process is not an orphan");
    assert_eq!(second.ask("run a"), "ended");
    let offered = second.ask("offer s");
    assert_eq!(offered.split(' ').count(), 3, "each end has one delivery: {offered}");
}

#[test]
fn simultaneous_offers_give_each_delivery_to_one_process() {
    let dir = agent_dir();
    let mut all: [Actor; 4] = actors(dir.path());
    let mut expected = BTreeSet::new();
    for round in 0..10 {
        for number in 0..5 {
            let id = format!("{round}-{number}");
            assert_eq!(all[0].ask(&format!("settle k{id} s {id}")), "settled");
            expected.insert(id);
        }
        let offered = offers(&mut all);
        let mut taken = offered.iter().flat_map(|ids| ids.split_whitespace());
        assert!(taken.all(|id| expected.remove(id)), "each delivery is offered once: {offered:?}");
        assert!(expected.is_empty(), "these deliveries were not offered: {expected:?}");
    }
}

fn offers(all: &mut [Actor]) -> Vec<String> {
    for actor in &mut *all {
        actor.say("offer s");
    }
    all.iter().map(Actor::answer).collect()
}

#[test]
fn pending_deliveries_of_a_killed_process_are_offered_again_and_delivered_ones_are_not() {
    let dir = agent_dir();
    let [mut one, mut two, mut three] = actors(dir.path());
    for id in ["d1", "d2", "d3"] {
        assert_eq!(one.ask(&format!("settle k{id} s {id}")), "settled");
    }
    assert_eq!(one.ask("offer another"), "");
    assert_eq!(one.ask("offer s"), "d1 d2 d3");
    assert_eq!(one.ask("offer s"), "", "a taken delivery is not offered again");
    assert_eq!(two.ask("offer s"), "", "a delivery taken by another process is not offered");
    assert_eq!(two.ask("release d1 d2"), "released");
    assert_eq!(two.ask("offer s"), "", "only the process that took a delivery can release it");
    assert_eq!(one.ask("release d3 unknown"), "released");
    assert_eq!(two.ask("offer s"), "d3");
    assert_eq!(one.ask("delivered d1"), "delivered");
    one.kill();
    assert_eq!(three.ask("offer s"), "d2");
    // The session knows best which results it has received. Repeating a result, or naming an unknown one, does nothing.
    for _ in 0..2 {
        assert_eq!(three.ask("delivered d3 d1 unknown"), "delivered");
    }
    assert_eq!(two.ask("release d3"), "released", "releasing a delivered result has no effect");
    // Its end was stored twice, as after a failure that was reported by mistake.
    assert_eq!(three.ask("settle kd3 s d3"), "settled");
    two.kill();
    three.kill();
    let store = open(&dir);
    assert_eq!(act(&store, &["offer", "s"]), "d2");
    assert_eq!(store.claim_deliveries("s").expect("the deliveries are readable"), []);
    store.release(&owned(&["d2"])).expect("the deliveries are released");
    assert_eq!(
        store.claim_deliveries("s").expect("the deliveries are readable"),
        [delivery("d2", "s", "kd2")],
        "the delivery is unchanged"
    );
}

#[test]
fn requests_reach_only_the_process_of_the_run_and_in_order() {
    let dir = agent_dir();
    let store = open(&dir);
    let [mut one, mut two] = actors(dir.path());
    assert_eq!(one.ask("start a s 1"), "started");
    assert_eq!(one.ask("start b s 1"), "started");
    assert_eq!(two.ask("start c s 1"), "started");
    let looked = store.data_version().expect("the version is readable");
    for (key, action, text) in
        [("b", "steer", "first"), ("a", "stop", ""), ("b", "steer", "second"), ("c", "stop", "")]
    {
        assert!(store.send_request(key, action, text).expect("the store is readable"));
    }
    assert_eq!(
        store.data_version().expect("the version is readable"),
        looked,
        "own requests do not change the version"
    );
    assert!(
        !store.send_request("unknown", "stop", "").expect("the store is readable"),
        "an unknown run accepts no request"
    );
    assert_eq!(act(&store, &["requests"]), "");
    assert_eq!(one.ask("requests"), "b:steer:first a:stop: b:steer:second");
    assert_eq!(one.ask("requests"), "");
    assert_ne!(
        store.data_version().expect("the version is readable"),
        looked,
        "changes of other processes change the version"
    );
    assert_eq!(two.ask("settle c s"), "settled", "the run ends before its process reads the request");
    assert!(
        !store.send_request("c", "stop", "").expect("the store is readable"),
        "an ended run accepts no request"
    );
    // Requests from before the end do not reach the process that resumes the run.
    assert_eq!(two.ask("start c s 1"), "started");
    assert_eq!(two.ask("requests"), "");
}

#[test]
fn a_process_keeps_its_runs_and_deliveries_if_its_files_are_removed() {
    let dir = agent_dir();
    let store = open(&dir);
    let [mut other] = actors(dir.path());
    assert_eq!(act(&store, &["start", "a", "s", "1"]), "started");
    assert_eq!(act(&store, &["settle", "b", "s", "db"]), "settled");
    assert_eq!(act(&store, &["offer", "s"]), "db");
    let before = store.process();
    fs::remove_dir_all(dir.path().join("subagents/processes")).expect("the directory is removed");
    // A process name of an earlier process still means this process.
    store.put_run(&StoredRun { process: Some(before.clone()), ..live("c", "s") }).expect("the run is stored");
    assert_ne!(store.process(), before);
    assert_eq!(other.ask("orphans"), "");
    assert_eq!(other.ask("offer s"), "");
    assert_eq!(other.ask("ask a stop -"), "true");
    assert_eq!(other.ask("ask c stop -"), "true");
    assert_eq!(act(&store, &["requests"]), "a:stop:- c:stop:-");
    assert_eq!(act(&store, &["release", "db"]), "released");
    assert_eq!(other.ask("offer s"), "db");
    // The database itself: a new database continues, with everything that is stored from then on.
    let looked = store.data_version().expect("the version is readable");
    fs::remove_dir_all(dir.path().join("subagents")).expect("the directory is removed");
    assert_eq!(act(&store, &["run", "a"]), "none");
    assert_ne!(store.data_version().expect("the version is readable"), looked);
    for done in [
        act(&store, &["adopt", "a", "s", &before, "da"]),
        act(&store, &["release", "db"]),
        act(&store, &["delivered", "db"]),
        act(&store, &["settle", "a", "s", "da"]),
        act(&store, &["offer", "s"]),
    ] {
        assert!(["false", "released", "delivered", "settled", "da"].contains(&done.as_str()), "{done}");
    }
    assert_eq!(other.ask("run a"), "ended");
}

#[test]
fn one_process_continues_an_interrupted_workflow() {
    let dir = agent_dir();
    let [mut host, mut first, mut second] = actors(dir.path());
    assert_eq!(first.ask("continue w"), "false", "it is not known");
    assert_eq!(host.ask("script w"), "true");
    assert_eq!(first.ask("continue w"), "false", "it runs");
    host.kill();
    assert_eq!([first.ask("continue w"), second.ask("continue w")], ["true", "false"]);
    assert_eq!(first.ask("continue w"), "false", "the process has the right once");
    first.kill();
    assert_eq!(second.ask("continue w"), "true", "the process with the right has ended");
    assert_eq!(second.ask("script w"), "true");
    second.kill();
    let store = open(&dir);
    assert_eq!(act(&store, &["continue", "w"]), "true", "it has started again since the last claim");
    assert!(store.stop_workflow("w").expect("the store is usable"));
    let [mut last] = actors(dir.path());
    drop(store);
    assert_eq!(last.ask("continue w"), "false", "it was stopped");
}

#[test]
fn old_rows_are_removed_and_pending_deliveries_kept() {
    let dir = agent_dir();
    let store = open(&dir);
    // Far in the future, so that the retention removes none of the test's data.
    let now = i64::MAX / 2;
    let archived =
        |key: &str, days: i64| StoredRun { archived_ms: Some(now - days * DAY_MS), ..ended(key, "s") };
    store.settle_run(&archived("old", 31), None, false).expect("the end is stored");
    store.settle_run(&archived("young", 29), None, false).expect("the end is stored");
    store
        .settle_run(&archived("waits", 31), Some(&delivery("d", "s", "waits")), false)
        .expect("the end is stored");
    store.settle_run(&ended("never", "s"), None, false).expect("the end is stored");
    store.put_run(&StoredRun { is_live: true, ..archived("resumed", 31) }).expect("the run is stored");
    let prune = |now: i64| act(&store, &["prune", &now.to_string()]);
    assert_eq!(prune(now), "1");
    assert_eq!(act(&store, &["runs"]), "resumed never waits young");
    assert_eq!(act(&store, &["delivered", "d"]), "delivered");
    store.add_spending("s", 1.5).expect("the spending is stored");
    let database = Connection::open(database(dir.path())).expect("the database is opened");
    let today: i64 = database
        .query_row("SELECT delivered_ms FROM delivery", (), |row| row.get(0))
        .expect("the query succeeds");
    assert_eq!(prune(today + 29 * DAY_MS), "0");
    assert_eq!(prune(today + 31 * DAY_MS), "1", "the delivered run is removed");
    assert!((store.spent("s").expect("the spending is readable") - 1.5).abs() < f64::EPSILON);
    // An earlier release stores no time. Its time counts from the first reading.
    database
        .execute("INSERT INTO spending (session, cost) VALUES ('old', 2)", ())
        .expect("the statement succeeds");
    assert_eq!(prune(today + 91 * DAY_MS), "1");
    assert!(store.spent("s").expect("the spending is readable").abs() < f64::EPSILON);
    assert!((store.spent("old").expect("the spending is readable") - 2.0).abs() < f64::EPSILON);
    assert_eq!(prune(today + 182 * DAY_MS), "1");
    assert_eq!(prune(now), "1", "the run without a pending delivery is removed");
    assert_eq!(prune(now + 2 * DAY_MS), "1");
    assert_eq!(act(&store, &["runs"]), "resumed never");
    // Large numbers are archived in parts, so that no call waits long.
    let many = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1200)
                INSERT INTO spending SELECT 'many-' || x, 1.0, 5 FROM n";
    database.execute(many, ()).expect("the statement succeeds");
    for removed in ["500", "500", "200", "0"] {
        assert_eq!(prune(now), removed);
    }
}

/// Such runs are never archived, and each call leaves one.
#[test]
fn ended_foreground_runs_are_removed_by_age_and_their_directories_stay_known() {
    let dir = agent_dir();
    let store = open(&dir);
    let now = i64::MAX / 2;
    let run = |key: &str, days: i64, is_foreground: bool| StoredRun {
        ended_ms: Some(now - days * DAY_MS),
        created_ms: now - days * DAY_MS,
        directory: Some(format!("/{key}")),
        is_foreground,
        ..ended(key, "s")
    };
    for run in [run("old", 31, true), run("young", 29, true), run("not-archived", 31, false)] {
        store.put_run(&run).expect("the run is stored");
    }
    store
        .put_run(&StoredRun { is_live: true, ended_ms: None, ..run("live", 31, true) })
        .expect("the run is stored");
    let bare = StoredRun { directory: None, ..run("bare", 31, true) };
    store.put_run(&bare).expect("the run is stored");
    assert_eq!(act(&store, &["prune", &now.to_string()]), "2");
    let known = act(&store, &["directories", "9"]);
    let mut known: Vec<_> = known.split(' ').collect();
    known.sort_unstable();
    assert_eq!(known, ["/old-", "live+", "not-archived", "young"]);
    store.drop_forgotten(&["/old", "/young"]).expect("the directories are forgotten");
    assert_eq!(act(&store, &["directories", "9"]).split(' ').count(), 3, "every known directory is kept");
}

#[test]
fn the_time_of_an_end_is_stored_with_the_directory_of_the_run() {
    let dir = agent_dir();
    let store = open(&dir);
    for (key, created_ms) in [("silent", 1), ("waits", 2), ("told", 3), ("resumed", 4)] {
        let directory = Some(format!("/{key}"));
        let run = StoredRun { created_ms, ended_ms: Some(7), directory, ..ended(key, "s") };
        let one = delivery(key, "s", key);
        let two = delivery("again", "s", key);
        store.settle_run(&run, Some(&one).filter(|_| key != "silent"), false).expect("the end is stored");
        if key == "resumed" {
            store.settle_run(&run, Some(&two), false).expect("the end is stored");
        }
    }
    store.mark_delivered(&owned(&["told", "resumed"])).expect("the deliveries are confirmed");
    let delivered_ms: Vec<_> = store
        .directories(9)
        .expect("the directories are readable")
        .iter()
        .map(|run| run.delivered_ms)
        .collect();
    assert_eq!((delivered_ms[0], delivered_ms[1], delivered_ms[3]), (Some(7), None, None));
    assert!(delivered_ms[2].is_some_and(|ms| ms > 7));
}

#[test]
fn runs_due_for_archiving_are_found_after_a_restart() {
    let dir = agent_dir();
    let store = open(&dir);
    let at = |key, at| StoredRun { archive_at_ms: at, ..ended(key, "s") };
    for run in [at("late", Some(30)), at("early", Some(10)), at("never", None)] {
        store.settle_run(&run, None, false).expect("the end is stored");
    }
    store.put_run(&StoredRun { is_live: true, ..at("live", Some(10)) }).expect("the run is stored");
    store
        .settle_run(&StoredRun { archived_ms: Some(10), ..at("done", Some(10)) }, None, false)
        .expect("the end is stored");
    drop(store);
    let store = open(&dir);
    assert_eq!(act(&store, &["due", "9"]), "");
    assert_eq!(act(&store, &["due", "10"]), "early");
    assert_eq!(act(&store, &["due", "30"]), "early late");
}

#[test]
fn a_change_to_an_ended_run_is_stored_unless_the_run_was_resumed() {
    let dir = agent_dir();
    let store = open(&dir);
    let [mut other] = actors(dir.path());
    for key in ["a", "b"] {
        assert_eq!(act(&store, &["settle", key, "s"]), "settled");
    }
    let continued = StoredRun { directory: Some("/runs/b".into()), ..live("b", "s") };
    store.put_run(&continued).expect("the run is stored");
    assert_eq!(other.ask("amend a s"), "true");
    assert_eq!(other.ask("amend b s"), "false");
    assert_eq!(other.ask("amend c s"), "false");
    assert_eq!(act(&store, &["run", "a"]), "amended");
    assert_eq!(act(&store, &["run", "b"]), "live");
    assert_eq!(act(&store, &["start", "without", "s", "1"]), "started");
    assert_eq!(act(&store, &["directories", "9"]), "a- b+");
}

#[test]
fn on_a_full_disk_a_run_and_its_delivery_are_stored_together_or_not_at_all() {
    let dir = agent_dir();
    let mut filling = Actor::limited(dir.path(), "ulimit -f 400");
    assert_eq!(filling.ask("open"), "open");
    let kept: usize = filling.ask("fill s").parse().expect("the answer is a number");
    assert!(kept > 0);
    assert!(filling.ask("ask run-0 stop -").starts_with("false"), "the store is still readable");
    assert_eq!(filling.ask("runs s 1"), format!("run-{}", kept - 1));
    filling.kill();
    let store = open(&dir);
    assert_eq!(store.set_aside(), None, "a full disk does not count as damage");
    assert_eq!(store.runs(None, usize::MAX).expect("the runs are readable").len(), kept);
    assert_eq!(store.claim_deliveries("s").expect("the deliveries are readable").len(), kept);
}

#[test]
fn after_a_damaged_database_new_runs_are_stored() {
    let dir = agent_dir();
    drop(open(&dir));
    fs::write(database(dir.path()), "x".repeat(9000)).expect("the file is written");
    let attached = attach(dir.path());
    let store = attached.store.expect("the store is available");
    assert!(attached.notice.expect("the user gets a notice").contains("runs.db.damaged-1"));
    assert_eq!(act(&store, &["settle", "a", "s", "d"]), "settled");
    assert_eq!(act(&store, &["offer", "s"]), "d");
}

#[test]
fn a_file_of_the_first_version_is_migrated_while_its_release_still_uses_it() {
    let dir = agent_dir();
    fs::create_dir(dir.path().join("subagents")).expect("the directory is created");
    let old = Connection::open(database(dir.path())).expect("the database is opened");
    // The schema of the first release.
    old.execute_batch(
        "PRAGMA journal_mode = WAL;
         CREATE TABLE place (seq INTEGER PRIMARY KEY, process TEXT NOT NULL, started INTEGER NOT NULL,
             cap INTEGER NOT NULL, beat INTEGER NOT NULL) STRICT;
         CREATE TABLE spending (session TEXT PRIMARY KEY, cost REAL NOT NULL) STRICT, WITHOUT ROWID;
         INSERT INTO spending VALUES ('s', 2.5);
         PRAGMA user_version = 1;",
    )
    .expect("the statement succeeds");
    let store = open(&dir);
    assert!((store.spent("s").expect("the spending is readable") - 2.5).abs() < f64::EPSILON);
    let add = "INSERT INTO spending (session, cost) VALUES ('s', 1)
               ON CONFLICT (session) DO UPDATE SET cost = cost + excluded.cost";
    old.execute(add, ()).expect("the statement succeeds");
    assert!((store.spent("s").expect("the spending is readable") - 3.5).abs() < f64::EPSILON);
    assert_eq!(act(&store, &["settle", "a", "s", "d"]), "settled");
    let version: i64 = old
        .query_row("SELECT user_version FROM pragma_user_version", (), |row| row.get(0))
        .expect("the query succeeds");
    assert_eq!(version, 7);
}

#[test]
fn a_file_of_the_second_version_is_migrated_with_its_foreground_runs() {
    let dir = agent_dir();
    drop(open(&dir));
    let old = Connection::open(database(dir.path())).expect("the database is opened");
    // The schema of the previous release.
    old.execute_batch(
        r#"DROP TABLE workflow;
           DROP TABLE workflow_run;
           DROP TABLE forgotten;
           DROP INDEX run_waited_for;
           DROP INDEX run_of_session;
           DROP INDEX run_created;
           CREATE INDEX run_of_session ON run (session, created_ms);
           CREATE INDEX run_created ON run (created_ms);
           ALTER TABLE run DROP COLUMN is_foreground;
           ALTER TABLE run DROP COLUMN account;
           ALTER TABLE run DROP COLUMN cost;
           ALTER TABLE run DROP COLUMN tokens;
           INSERT INTO run (key, run_id, session_key, session, is_live, created_ms, body) VALUES
               ('waited', 'a', 'k', 's', 0, 1, '{"isForeground":true}'), ('other', 'b', 'k', 's', 0, 2, '{}'),
               ('odd', 'c', 'k', 's', 0, 3, 'not JSON');
           PRAGMA user_version = 2;"#,
    )
    .expect("the statement succeeds");
    drop(old);
    let store = open(&dir);
    let runs = store.runs(Some("s"), 9).expect("the runs are readable");
    let waited = |run: &StoredRun| (run.key.clone(), run.is_foreground);
    let expected = [("odd", false), ("other", false), ("waited", true)].map(|(key, is)| (key.to_owned(), is));
    assert_eq!(runs.iter().map(waited).collect::<Vec<_>>(), expected);
    assert_eq!(store.count_runs(Some("s")).expect("the runs are counted"), 3);
}

#[test]
fn foreground_runs_do_not_use_up_the_limit_of_background_runs() {
    let dir = agent_dir();
    let store = open(&dir);
    for (created_ms, is_foreground) in [(1, false), (2, false), (3, true), (4, true), (5, true), (6, true)] {
        let key = created_ms.to_string();
        store
            .put_run(&StoredRun { created_ms, is_foreground, ..ended(&key, "s") })
            .expect("the run is stored");
    }
    assert_eq!(keys(&store.runs(Some("s"), 2).expect("the runs are readable")), "6 5 2 1");
    assert_eq!(keys(&store.runs(None, 3).expect("the runs are readable")), "6 5 4 2 1");
}

#[test]
fn a_write_waits_for_the_holder_of_the_database() {
    let dir = agent_dir();
    let store = open(&dir);
    let holder = Connection::open(database(dir.path())).expect("the database is opened");
    holder.execute_batch("BEGIN IMMEDIATE").expect("the statement succeeds");
    let settling = std::thread::spawn({
        let store = store.clone();
        move || act(&store, &["settle", "a", "s", "d"])
    });
    // A reader gets its turn in between.
    assert_eq!(act(&store, &["runs"]), "");
    assert!(!settling.is_finished());
    holder.execute_batch("ROLLBACK").expect("the statement succeeds");
    assert_eq!(settling.join().expect("the task does not panic"), "settled");
}

/// Each write waited for five seconds, and each run writes several times.
#[test]
fn a_permanent_reader_delays_one_write_and_not_each_write() {
    let dir = agent_dir();
    let store = open(&dir);
    assert_eq!(act(&store, &["start", "a", "s", "1"]), "started");
    let mut reader = Actor::start(dir.path());
    assert_eq!(reader.ask("hold"), "held");
    let write = || (Instant::now(), act(&store, &["start", "b", "s", "2"]));
    let (_, first) = write();
    assert!(first.starts_with("error cannot use the database"), "{first}");
    let (since, next) = write();
    assert_eq!(next, first);
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    reader.kill();
    assert_eq!(write().1, "started");
}
