//! The runs that have names in workflows: claims, results and retention.
#![cfg(target_os = "linux")]

use store::{Claim, HostProcess, NamedRun, Store, StoredRun, StoredWorkflow, workflow_account};
use tempfile::TempDir;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Far in the future, so that the retention removes none of the test's data.
const NOW: i64 = i64::MAX / 2;

fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().expect("a temporary directory is created");
    let store = Store::open(dir.path()).expect("the store is opened");
    (dir, store)
}

fn workflow(expires_ms: i64) -> StoredWorkflow {
    StoredWorkflow { key: "w".to_owned(), expires_ms, body: "{}".to_owned(), ..StoredWorkflow::default() }
}

fn live(key: &str) -> StoredRun {
    StoredRun { key: key.to_owned(), is_live: true, is_foreground: true, ..StoredRun::default() }
}

fn ended(key: &str, ended_ms: i64) -> StoredRun {
    StoredRun { is_live: false, ended_ms: Some(ended_ms), ..live(key) }
}

/// Gives the name `n` to a run.
fn claim(store: &Store, run: &str, known: Option<&NamedRun>) -> bool {
    let run = live(run);
    let claim = Claim { workflow: "w", name: "n", digest: "d", run: &run, known };
    store.claim_name(&claim, &workflow(NOW)).expect("the claim is decided")
}

fn known(store: &Store) -> NamedRun {
    store.named_run("w", "n").expect("the run is readable").expect("the name has a run")
}

#[test]
fn a_name_goes_to_the_first_claim_and_to_a_claim_that_knows_its_run() {
    let (_dir, store) = store();
    assert!(claim(&store, "one", None));
    assert!(!claim(&store, "two", None), "the name has a run");
    let first = known(&store);
    assert_eq!(
        (first.run.key.as_str(), first.host, first.result.as_deref()),
        ("one", HostProcess::This, None)
    );
    store.settle_named_run(&ended("one", 5), None, false, Some("done")).expect("the end is stored");
    assert!(!claim(&store, "two", Some(&first)), "the run has ended since");
    let complete = known(&store);
    assert_eq!((complete.host, complete.result.as_deref()), (HostProcess::None, Some("done")));
    assert!(claim(&store, "two", Some(&complete)));
    let second = known(&store);
    assert_eq!((second.run.key.as_str(), second.result), ("two", None), "a new run has no result");
    store.settle_named_run(&ended("one", 6), None, false, Some("late")).expect("the end is stored");
    assert_eq!(known(&store).result, None, "a run that has lost its name gives no result");
    assert!(store.workflow("w").expect("the workflow is readable").is_some(), "the claim stores it");
}

#[test]
fn a_run_with_a_name_is_kept_as_long_as_its_workflow() {
    let (_dir, store) = store();
    assert!(claim(&store, "one", None));
    let run = StoredRun { directory: Some("/runs/one".to_owned()), ..ended("one", NOW - 60 * DAY_MS) };
    store.settle_named_run(&run, None, false, Some("done")).expect("the end is stored");
    assert_eq!(store.prune(NOW).expect("the old rows are pruned"), 0);
    assert!(store.directories(9).expect("the directories are readable")[0].is_named);
    store.touch_workflow("w", NOW + DAY_MS).expect("the workflow is changed");
    assert_eq!(store.prune(NOW + DAY_MS).expect("the old rows are pruned"), 0);
    let removed = store.prune(NOW + 2 * DAY_MS).expect("the old rows are pruned");
    assert_eq!(removed, 2, "the workflow and its run");
    assert_eq!(store.named_run("w", "n").expect("the store is readable"), None);
    assert!(!store.directories(9).expect("the directories are readable")[0].is_named);
}

#[test]
fn a_workflow_is_not_removed_while_its_script_runs() {
    let (dir, store) = store();
    let live = StoredWorkflow { is_live: true, ..workflow(1) };
    assert!(store.put_workflow(&live).expect("the workflow is stored"));
    assert!(!store.remove_workflow("w").expect("the store is usable"));
    assert_eq!(store.prune(NOW).expect("the old rows are pruned"), 0);
    assert!(store.stop_workflow("w").expect("the store is usable"));
    let (row, host) = store.workflow("w").expect("the store is readable").expect("the workflow is stored");
    assert_eq!((row.is_stopping, host), (true, HostProcess::This));
    drop(store);
    // The next process finds its host dead.
    let store = Store::open(dir.path()).expect("the store is opened");
    let (_, host) = store.workflow("w").expect("the store is readable").expect("the workflow is stored");
    assert_eq!(host, HostProcess::Dead);
    assert!(store.put_workflow(&live).expect("the workflow is stored"), "it is taken over");
    assert!(store.put_workflow(&workflow(1)).expect("the workflow is stored"));
    let account = workflow_account("w");
    store.add_spending(&account, 0.5).expect("the spending is stored");
    assert!(store.remove_workflow("w").expect("the store is usable"));
    let spent = store.spent(&account).expect("the spending is readable");
    assert!(spent.abs() < f64::EPSILON, "its spending is removed, too");
    assert_eq!(store.workflows().expect("the store is readable"), []);
}

#[test]
fn a_request_to_end_a_workflow_lasts_until_the_workflow_starts_again() {
    let (_dir, store) = store();
    let live = StoredWorkflow { is_live: true, ..workflow(NOW) };
    let is_stopping =
        || store.workflow("w").expect("the store is readable").expect("the workflow is stored").0.is_stopping;
    assert!(store.open_workflow(&live).expect("the workflow is stored"));
    assert!(store.stop_workflow("w").expect("the store is usable"));
    assert!(store.put_workflow(&live).expect("the workflow is stored"));
    assert!(is_stopping(), "a change of the record keeps the request");
    assert!(store.open_workflow(&live).expect("the workflow is stored"));
    assert!(!is_stopping());
}

#[test]
fn the_cost_of_a_run_is_charged_once_however_often_the_run_is_stored() {
    let (dir, store) = store();
    let paid = |run: StoredRun, tokens: i32| StoredRun {
        account: Some("account".to_owned()),
        cost: f64::from(tokens) / 100.0,
        tokens: tokens.into(),
        ..run
    };
    let check = |store: &Store, tokens: i32| {
        let sum = store.spent("account").expect("the spending is readable");
        assert!((sum * 100.0 - f64::from(tokens)).abs() < 1e-9, "{sum} for {tokens} tokens");
        let charged = store.workflow_tokens("w").expect("the tokens are readable");
        assert_eq!(i128::from(charged), i128::from(tokens));
    };
    assert!(claim(&store, "one", None));
    for (used, sum) in [(0, 0), (25, 25), (25, 25), (75, 75), (50, 75)] {
        store.put_run(&paid(live("one"), used)).expect("the run is stored");
        check(&store, sum);
    }
    let process = store.process();
    drop(store);
    // The next process adds only what the dead one has not stored.
    let store = Store::open(dir.path()).expect("the store is opened");
    for is_first in [true, false] {
        let adopted = store.adopt_run(&paid(ended("one", 5), 100), &process, None);
        assert_eq!(adopted.expect("the run is adopted"), is_first);
        check(&store, 100);
    }
    let known = known(&store);
    assert!(claim(&store, "one", Some(&known)), "the run continues");
    check(&store, 100);
    store
        .settle_named_run(&paid(ended("one", 6), 150), None, false, Some("done"))
        .expect("the end is stored");
    check(&store, 150);
}
