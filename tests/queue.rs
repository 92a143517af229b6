//! The admission of runs by the queue of one process: which run may start, and when.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use pi_subagent_native::orchestrate::queue::{EarlyPermit, Group, Permit, Queue, Request, Ticket, Writes};
use tokio::task::yield_now;

fn request(max_concurrent: usize) -> Request {
    Request {
        provider: None,
        max_concurrent,
        lane: None,
        early_limit: 4,
        ahead_limit: 1,
        per_user: None,
        group: None,
        writes: None,
    }
}

fn of(provider: &str) -> Request {
    Request { provider: Some(provider.into()), ..request(1) }
}

fn position(waiting: &Ticket) -> Option<usize> {
    waiting.status().borrow().position
}

fn positions<'a>(waiting: impl IntoIterator<Item = &'a Ticket>) -> Vec<Option<usize>> {
    waiting.into_iter().map(position).collect()
}

/// The permit of an admitted run.
async fn permit(waiting: &mut Ticket) -> Permit {
    assert_eq!(position(waiting), None, "the run was admitted");
    waiting.admitted().await
}

/// Measured by the clock of the test, which can be paused.
fn later(delay: Duration) -> Instant {
    (tokio::time::Instant::now() + delay).into_std()
}

#[tokio::test]
async fn runs_start_in_the_order_of_arrival_with_matching_positions() {
    let queue = Queue::default();
    let mut all: Vec<_> = (0..5).map(|_| queue.enter(request(2))).collect();
    assert_eq!(positions(&all), [None, None, Some(1), Some(2), Some(3)]);
    let first = permit(&mut all[0]).await;
    let second = permit(&mut all[1]).await;
    drop(second);
    assert_eq!(positions(&all), [None, None, None, Some(1), Some(2)]);
    drop(first);
    assert_eq!(positions(&all), [None, None, None, None, Some(1)]);
}

#[tokio::test]
async fn distant_positions_are_rounded_up() {
    let queue = Queue::default();
    let running = permit(&mut queue.enter(request(1))).await;
    let all: Vec<_> = (0..200).map(|_| queue.enter(request(1))).collect();
    let shown: Vec<_> = positions(&all).into_iter().flatten().collect();
    assert_eq!(shown[..16], (1..=16).collect::<Vec<_>>(), "near positions are exact");
    assert_eq!((shown[16], shown[17], shown[32], shown[199]), (18, 18, 36, 208));
    assert!(shown.iter().zip(1..).all(|(shown, exact)| (exact..=exact + exact / 8).contains(shown)));
    drop(running);
}

#[tokio::test]
async fn a_run_that_leaves_moves_the_later_runs_up() {
    let queue = Queue::default();
    let running = permit(&mut queue.enter(request(1))).await;
    let mut all: Vec<_> = (0..4).map(|_| queue.enter(request(1))).collect();
    let mut last = all[3].status();
    assert_eq!(last.borrow_and_update().position, Some(4));
    drop(all.remove(1));
    last.changed().await.expect("the queue exists");
    assert_eq!(last.borrow_and_update().position, Some(3));
    assert_eq!(positions(&all), [Some(1), Some(2), Some(3)]);
    drop(running);
    assert_eq!(positions(&all), [None, Some(1), Some(2)]);
}

#[tokio::test]
async fn an_untaken_permit_is_released() {
    let queue = Queue::default();
    let admitted = queue.enter(request(1));
    let blocked_by = queue.enter(request(1));
    assert_eq!(positions([&admitted, &blocked_by]), [None, Some(1)]);
    drop(admitted);
    assert_eq!(position(&blocked_by), None);
}

#[tokio::test]
async fn a_wait_for_a_permit_can_be_abandoned_and_continued() {
    let queue = Queue::default();
    let running = permit(&mut queue.enter(request(1))).await;
    let mut waiting = queue.enter(request(1));
    for _ in 0..3 {
        tokio::select! {
            biased;
            _ = waiting.admitted() => panic!("the permit was granted although the queue is full"),
            () = yield_now() => (),
        }
    }
    assert_eq!(position(&waiting), Some(1));
    drop(running);
    let permit = waiting.admitted().await;
    assert_eq!(position(&queue.enter(request(1))), Some(1));
    tokio::select! {
        biased;
        _ = waiting.admitted() => panic!("the run got a second permit"),
        () = yield_now() => (),
    }
    drop(permit);
    assert_eq!(position(&queue.enter(request(1))), None);
}

#[tokio::test]
async fn a_call_at_its_own_limit_does_not_block_later_calls() {
    let queue = Queue::default();
    let call = Group::default();
    let mine = || Request { group: Some((call.clone(), 2)), ..request(4) };
    let mut calls: Vec<_> = (0..4).map(|_| queue.enter(mine())).collect();
    let mut other = queue.enter(request(4));
    assert_eq!(positions(&calls), [None, None, Some(1), Some(2)]);
    let other = permit(&mut other).await;
    // As soon as the call has room, its third run starts before all later runs.
    let full = permit(&mut queue.enter(request(4))).await;
    let last = queue.enter(request(4));
    assert_eq!(position(&last), Some(3));
    drop(permit(&mut calls[0]).await);
    assert_eq!(positions(&calls), [None, None, None, Some(1)]);
    assert_eq!(position(&last), Some(2));
    drop(full);
    assert_eq!(position(&last), None, "the limit of the call does not block other calls");
    drop(other);
}

#[tokio::test]
async fn a_run_with_a_lower_limit_is_not_overtaken() {
    let queue = Queue::default();
    let mut running: Vec<_> = (0..3).map(|_| queue.enter(request(8))).collect();
    let strict = queue.enter(request(2));
    let blocked_by = queue.enter(request(8));
    assert_eq!(positions([&strict, &blocked_by]), [Some(1), Some(2)]);
    running.pop();
    assert_eq!(positions([&strict, &blocked_by]), [Some(1), Some(2)]);
    running.pop();
    assert_eq!(positions([&strict, &blocked_by]), [None, None]);
}

#[tokio::test]
async fn a_limit_of_zero_counts_as_one() {
    let queue = Queue::default();
    let group = Some((Group::default(), 0));
    let mut only = queue.enter(Request { group, ..request(0) });
    let _permit = permit(&mut only).await;
    assert_eq!(position(&queue.enter(request(0))), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_provider_gets_no_child_until_its_pause_has_ended() {
    let queue = Queue::default();
    let short = later(Duration::from_secs(10));
    let long = later(Duration::from_secs(30));
    queue.pause("busy", long);
    queue.pause("busy", short);
    let mut held = queue.enter(of("busy"));
    assert_eq!(held.status().borrow().rate_limited_until, Some(long), "the longer pause applies");
    // Runs of other providers are not delayed.
    let other = permit(&mut queue.enter(of("idle"))).await;
    drop(other);
    let permit = held.admitted().await;
    assert!(tokio::time::Instant::now().into_std() >= long);
    assert_eq!(held.status().borrow().rate_limited_until, None);
    drop(permit);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_begins_or_grows_applies_to_waiting_runs() {
    let queue = Queue::default();
    let running = permit(&mut queue.enter(of("p"))).await;
    let mut waiting = queue.enter(of("p"));
    let mut seen = waiting.status();
    assert_eq!(seen.borrow_and_update().rate_limited_until, None);
    let first = later(Duration::from_secs(5));
    queue.pause("p", first);
    seen.changed().await.expect("the queue exists");
    assert_eq!(seen.borrow_and_update().rate_limited_until, Some(first));
    drop(running);
    assert_eq!(position(&waiting), Some(1), "the run waits although there is room");
    let second = later(Duration::from_secs(60));
    let (_permit, ()) = tokio::join!(waiting.admitted(), async {
        yield_now().await;
        queue.pause("p", second);
    });
    assert!(tokio::time::Instant::now().into_std() >= second);
}

#[tokio::test]
async fn early_permits_exist_only_while_no_run_waits_and_there_is_room() {
    let queue = Queue::default();
    let early = |limit| Request { early_limit: limit, ..request(3) };
    assert!(queue.early(&early(0)).is_none(), "an early limit of zero grants no permit");
    let first = queue.early(&early(1)).expect("an empty queue has room");
    assert!(queue.early(&early(1)).is_none(), "only one early permit is allowed");
    let second = queue.early(&early(2)).expect("the queue grants an early permit");
    let _running = permit(&mut queue.enter(request(3))).await;
    assert!(queue.early(&early(9)).is_none(), "a full process grants no early permit");
    drop(second);
    let _waiting = queue.enter(request(1));
    assert!(queue.early(&early(9)).is_none(), "no permit is granted while a run waits");
    drop(first);
}

#[tokio::test]
async fn early_permits_respect_pauses_and_limits_of_calls() {
    let queue = Queue::default();
    queue.pause("p", later(Duration::from_secs(60)));
    assert!(queue.early(&of("p")).is_none());
    let call = Group::default();
    let mine = || Request { group: Some((call.clone(), 1)), ..request(4) };
    let early = queue.early(&mine()).expect("the queue grants an early permit");
    assert!(queue.early(&mine()).is_none());
    let same = queue.enter(mine());
    assert_eq!(position(&same), Some(1), "the early child counts towards the limit of its call");
    drop(early);
    assert_eq!(position(&same), None);
}

#[tokio::test]
async fn an_early_permit_is_evicted_for_a_waiting_run() {
    let queue = Queue::default();
    let mut older = queue.early(&request(3)).expect("the queue grants an early permit");
    let mut newer = queue.early(&request(3)).expect("the queue grants an early permit");
    let _running = permit(&mut queue.enter(request(3))).await;
    let first = queue.enter(request(3));
    newer.evicted().await;
    newer.evicted().await;
    assert!(!is_evicted(&mut older).await, "one slot is enough for one run");
    assert_eq!(position(&first), Some(1), "the run waits until the early child has ended");
    drop(newer);
    assert_eq!(position(&first), None);
    assert!(!is_evicted(&mut older).await, "no second early child is evicted");
    let second = queue.enter(request(3));
    older.evicted().await;
    drop(older);
    assert_eq!(position(&second), None);
}

#[tokio::test]
async fn early_permits_are_kept_if_evicting_them_would_not_start_a_run() {
    let queue = Queue::default();
    let _running: Vec<_> = (0..2).map(|_| queue.enter(request(3))).collect();
    let mut early = queue.early(&request(3)).expect("the queue grants an early permit");
    let _waits_anyway = [queue.enter(request(1)), queue.enter(request(3))];
    assert!(
        !is_evicted(&mut early).await,
        "no early child is evicted if the first waiting run could not start"
    );
}

/// Returns true if an early child has been asked to end.
async fn is_evicted(early: &mut EarlyPermit) -> bool {
    tokio::select! {
        biased;
        () = early.evicted() => true,
        () = yield_now() => false,
    }
}

#[tokio::test]
async fn an_early_permit_is_evicted_only_if_that_lets_a_run_start() {
    let queue = Queue::default();
    let _running = permit(&mut queue.enter(request(3))).await;
    let mut early = queue.early(&request(3)).expect("the queue grants an early permit");
    let quieter = queue.enter(request(1));
    assert!(
        !is_evicted(&mut early).await,
        "no early child is evicted if the running child already fills the limit"
    );
    drop(quieter);
    let waiting = queue.enter(request(2));
    assert!(is_evicted(&mut early).await);
    drop(early);
    assert_eq!(position(&waiting), None);
}

#[tokio::test]
async fn early_permits_are_evicted_for_no_more_runs_than_could_start() {
    let queue = Queue::default();
    let _running = permit(&mut queue.enter(request(3))).await;
    let [mut older, mut newer] =
        [(); 2].map(|()| queue.early(&request(3)).expect("the queue grants an early permit"));
    let strict = [(); 2].map(|()| queue.enter(request(2)));
    assert!(is_evicted(&mut newer).await);
    assert!(!is_evicted(&mut older).await, "only one of the two runs could start");
    drop(newer);
    assert_eq!(positions(&strict), [Some(1), Some(2)], "two runs still wait");
    drop(older);
    assert_eq!(positions(&strict), [None, Some(1)]);
}

#[tokio::test]
async fn early_permits_are_evicted_for_no_more_runs_of_a_call_than_its_limit_allows() {
    let queue = Queue::default();
    let call = Group::default();
    let mine = || Request { group: Some((call.clone(), 1)), ..request(3) };
    let _running = permit(&mut queue.enter(request(3))).await;
    let [mut older, mut newer] =
        [(); 2].map(|()| queue.early(&request(3)).expect("the queue grants an early permit"));
    let mut calls = [(); 2].map(|()| queue.enter(mine()));
    assert!(is_evicted(&mut newer).await);
    assert!(!is_evicted(&mut older).await, "only one run of the call could start");
    drop(newer);
    assert_eq!(positions(&calls), [None, Some(1)]);
    drop(permit(&mut calls[0]).await);
    assert_eq!(position(&calls[1]), None, "the second run waits only for the first");
}

#[tokio::test]
async fn a_run_takes_over_its_early_permit_even_in_a_full_process() {
    let queue = Queue::default();
    let mut early = queue.early(&request(1)).expect("the queue grants an early permit");
    let waiting = queue.enter(request(1));
    early.evicted().await;
    // Its run was the first after all.
    let permit = early.into_permit();
    assert_eq!(position(&waiting), Some(1));
    drop(permit);
    assert_eq!(position(&waiting), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hundreds_of_runs_never_exceed_the_limit() {
    const RUNS: usize = 256;
    const MAX: usize = 7;
    let queue = Queue::default();
    let running = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..RUNS {
        let mut waiting = queue.enter(request(MAX));
        let running = running.clone();
        tasks.spawn(async move {
            if number % 5 == 4 {
                // Some leave.
                tokio::select! {
                    biased;
                    _ = waiting.admitted() => (),
                    () = yield_now() => (),
                }
                return None;
            }
            let permit = waiting.admitted().await;
            let now = running.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
            assert!(now <= MAX);
            yield_now().await;
            running.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
            drop(permit);
            Some(number)
        });
    }
    let done: HashSet<_> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(done.len(), RUNS - RUNS / 5);
    assert_eq!(positions(&(0..=MAX).map(|_| queue.enter(request(MAX))).collect::<Vec<_>>())[MAX], Some(1));
}

#[tokio::test]
async fn one_queue_is_shared_by_the_process_and_others_are_independent() {
    let _permit = permit(&mut Queue::shared().enter(request(1))).await;
    assert_eq!(position(&Queue::shared().enter(request(1))), Some(1));
    assert_eq!(position(&Queue::default().enter(request(1))), None);
}

#[tokio::test]
async fn a_spare_permit_needs_only_room_and_is_not_early_before_its_adoption() {
    let queue = Queue::default();
    let mine = Request { early_limit: 1, group: Some((Group::default(), 1)), ..request(3) };
    let spare = queue.spare(&mine).expect("the queue grants a spare permit");
    let other = queue.spare(&mine).expect("a spare permit counts towards no call");
    assert!(spare.adopt(&mine), "the call adopts its first spare child");
    assert!(!other.adopt(&mine), "a call at its limit adopts no second child");
    assert!(!queue.may_adopt(&mine));
    assert!(
        queue.early(&Request { group: None, ..mine.clone() }).is_none(),
        "an adopted child counts as an early child"
    );
    let running = queue.enter(mine.clone());
    assert_eq!(position(&running), Some(1), "the adopted child counts towards the limit of its call");
    assert!(queue.spare(&request(9)).is_none(), "no permit is granted while a run waits");
    drop(spare.into_permit());
    assert_eq!(position(&running), None);
}

#[tokio::test]
async fn spare_permits_are_evicted_before_early_ones_and_are_not_adopted_then() {
    let queue = Queue::default();
    let mut spare = queue.spare(&request(2)).expect("the queue grants a spare permit");
    let mut early = queue.early(&request(2)).expect("the queue grants an early permit");
    let first = queue.enter(request(2));
    assert!(is_evicted(&mut spare).await && !is_evicted(&mut early).await);
    assert!(!spare.adopt(&request(2)), "no spare child is adopted while a run waits");
    let second = queue.enter(request(2));
    assert!(is_evicted(&mut early).await);
    drop((spare, early));
    assert_eq!(positions([&first, &second]), [None, None]);
}

#[tokio::test]
async fn a_child_that_boots_ahead_takes_no_slot_from_a_run() {
    let queue = Queue::default();
    let running = permit(&mut queue.enter(request(1))).await;
    let mut waiting = queue.enter(request(1));
    assert!(queue.ahead(&Request { ahead_limit: 0, ..request(1) }).is_none(), "zero is no child");
    let mut ahead = queue.ahead(&request(1)).expect("one child may boot above the limit");
    assert!(queue.ahead(&request(1)).is_none(), "only one child may boot above the limit");
    drop(running);
    assert_eq!(position(&waiting), None, "the child does not keep the run from its slot");
    assert!(!is_evicted(&mut ahead).await);
    let permit = permit(&mut waiting).await;
    assert!(ahead.adopt(&request(1)), "the run takes the child");
    drop(ahead);
    assert_eq!(position(&queue.enter(request(1))), Some(1), "the run has one slot");
    drop(permit);
}

#[tokio::test]
async fn children_that_booted_ahead_end_if_other_runs_take_the_slots() {
    let queue = Queue::default();
    let mut runs: Vec<_> = (0..4).map(|_| queue.enter(request(8))).collect();
    let mut ahead: Vec<_> = (0..4).map(|_| queue.ahead(&request(8)).expect("there is room")).collect();
    runs.extend((0..4).map(|_| queue.enter(request(8))));
    let mut evicted = Vec::new();
    for child in &mut ahead {
        evicted.push(is_evicted(child).await);
    }
    assert_eq!(evicted, [false, true, true, true], "one child may exist above the limit, the oldest one");
    assert_eq!(positions(&runs), [None; 8]);
}

#[tokio::test(start_paused = true)]
async fn no_child_boots_ahead_while_its_provider_pauses() {
    let queue = Queue::default();
    queue.pause("p", later(Duration::from_secs(10)));
    assert!(queue.ahead(&of("p")).is_none());
    assert!(queue.ahead(&of("q")).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_spare_permit_is_not_adopted_while_its_provider_pauses() {
    let queue = Queue::default();
    let spare = queue.spare(&of("p")).expect("the queue grants a spare permit");
    queue.pause("p", later(Duration::from_secs(10)));
    assert!(!queue.may_adopt(&of("p")) && !spare.adopt(&of("p")));
    assert!(queue.may_adopt(&of("q")));
    tokio::time::advance(Duration::from_secs(11)).await;
    assert!(spare.adopt(&of("p")));
}

fn writing(tree: &str, by: &str) -> Request {
    Request { writes: Some(Writes { tree: tree.into(), by: by.into() }), ..request(9) }
}

fn blocked_by(waiting: &Ticket) -> Option<String> {
    waiting.status().borrow().blocked_by.as_deref().map(str::to_owned)
}

#[tokio::test]
async fn one_run_writes_to_a_tree_at_a_time_and_readers_pass_it() {
    let queue = Queue::default();
    let first = permit(&mut queue.enter(writing("a", "first"))).await;
    let mut second = queue.enter(writing("a", "second"));
    let mut third = queue.enter(writing("a", "third"));
    let _reader = permit(&mut queue.enter(request(9))).await;
    let _other = permit(&mut queue.enter(writing("b", "other"))).await;
    assert_eq!((position(&second), blocked_by(&second).as_deref()), (Some(1), Some("first")));
    assert_eq!((position(&third), blocked_by(&third).as_deref()), (Some(2), Some("first")));
    drop(first);
    let second = permit(&mut second).await;
    assert_eq!(blocked_by(&third).as_deref(), Some("second"));
    let last = queue.enter(writing("a", "last"));
    drop(second);
    let third = permit(&mut third).await;
    assert_eq!(blocked_by(&last).as_deref(), Some("third"));
    drop((third, last));
    permit(&mut queue.enter(writing("a", "next"))).await;
}

#[tokio::test]
async fn a_run_that_waits_for_its_tree_takes_no_slot() {
    let queue = Queue::default();
    let two = |request: Request| Request { max_concurrent: 2, ..request };
    let _first = permit(&mut queue.enter(two(writing("a", "first")))).await;
    let second = queue.enter(two(writing("a", "second")));
    let reader = permit(&mut queue.enter(request(2))).await;
    let full = queue.enter(request(2));
    assert_eq!(positions([&second, &full]), [Some(1), Some(2)]);
    assert_eq!(blocked_by(&full), None, "the run waits for a slot, not for the lock");
    drop(reader);
    assert_eq!(positions([&second, &full]), [Some(1), None]);
}

#[tokio::test]
async fn an_early_child_writes_only_if_its_tree_is_free() {
    let queue = Queue::default();
    let request = writing("a", "early");
    let early = queue.early(&request).expect("the queue grants an early permit");
    let booted = queue.spare(&request).expect("the queue grants a spare permit");
    assert!(early.write(&request), "the early child gets the write lock");
    let _writes = early.into_permit();
    assert!(!booted.write(&request));
    assert!(
        queue.early(&request).is_none() && queue.spare(&request).is_none(),
        "no early child is granted while another run writes"
    );
    drop(booted);

    let early = queue.early(&writing("b", "early")).expect("the queue grants an early permit");
    let blocks = permit(&mut queue.enter(writing("b", "first"))).await;
    let waits = queue.enter(writing("b", "waits"));
    drop(blocks);
    assert_eq!(position(&waits), None, "the run is admitted");
    assert!(!early.write(&writing("b", "early")));
}

fn on_launcher(launcher: &str, max_concurrent: usize) -> Request {
    Request { lane: Some(launcher.into()), ..request(max_concurrent) }
}

#[tokio::test]
async fn runs_of_a_launcher_take_no_local_slots_and_no_slots_of_other_launchers() {
    let queue = Queue::default();
    let mut far: Vec<_> = (0..3).map(|_| queue.enter(on_launcher("far", 2))).collect();
    let mut here: Vec<_> = (0..2).map(|_| queue.enter(request(1))).collect();
    let other = queue.enter(on_launcher("other", 1));
    assert_eq!(positions(&far), [None, None, Some(1)], "the launcher has its own slots");
    assert_eq!(positions(&here), [None, Some(2)], "runs that wait for a launcher do not block others");
    assert_eq!(position(&other), None);

    let first = permit(&mut here[0]).await;
    drop(permit(&mut far[0]).await);
    assert_eq!(positions(&far[1..]), [None, None], "the slot goes to the launcher's next run");
    assert_eq!(position(&here[1]), Some(1), "the slot goes to no local run");
    drop(first);
    assert_eq!(position(&here[1]), None);
}

#[tokio::test(start_paused = true)]
async fn after_a_used_up_quota_one_run_tries_and_the_others_follow_its_answer() {
    let queue = Queue::default();
    let of_provider = || Request { provider: Some("p".into()), ..request(8) };
    let mut working = queue.enter(of_provider());
    let working = working.admitted().await;
    let reset = later(Duration::from_secs(7_200));
    queue.pause_for_quota("p", reset);
    let [mut first, mut second, mut third] = [(); 3].map(|()| queue.enter(of_provider()));
    let quota = first.status().borrow().quota.clone().expect("the run waits for the quota");
    assert_eq!((&*quota.provider, quota.until), ("p", Some(reset)));
    assert!(queue.early(&of_provider()).is_none(), "no child is booted early");
    // The working child does not say anything about the quota.
    queue.answered("p");
    assert_eq!(positions([&first, &second, &third]), [Some(1), Some(2), Some(3)]);
    working.park();
    let trial = first.admitted().await;
    assert!(later(Duration::ZERO) >= reset, "the wait lasts until the reset time");
    assert_eq!(positions([&second, &third]), [Some(1), Some(2)], "the other runs wait while one run tries");
    assert_eq!(second.status().borrow().quota.as_ref().map(|quota| quota.until), Some(None));
    // A trial that ends without an answer lets the next run try.
    drop(trial);
    let trial = second.admitted().await;
    assert_eq!(position(&third), Some(1));
    // Another refusal begins the wait again, and a person ends it.
    queue.pause_for_quota("p", later(Duration::from_secs(900)));
    drop(trial);
    assert_eq!(position(&third), Some(1));
    assert_eq!(queue.try_quotas(), ["p"]);
    let _trial = third.admitted().await;
    let mut fourth = queue.enter(of_provider());
    assert_eq!(position(&fourth), Some(1));
    queue.answered("p");
    let _fourth = fourth.admitted().await;
    assert!(queue.try_quotas().is_empty());
}
