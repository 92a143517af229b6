//! Who may start, and when: the lane of one process.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use pi_subagent_native::orchestrate::queue::{EarlySlot, Group, Queue, Slot, Ticket, Waiting};
use tokio::task::yield_now;

fn ticket(max_concurrent: usize) -> Ticket {
    Ticket { provider: None, max_concurrent, early_limit: 4, per_user: None, group: None }
}

fn of(provider: &str) -> Ticket {
    Ticket { provider: Some(provider.into()), ..ticket(1) }
}

fn position(waiting: &Waiting) -> Option<usize> {
    *waiting.position().borrow()
}

fn positions<'a>(waiting: impl IntoIterator<Item = &'a Waiting>) -> Vec<Option<usize>> {
    waiting.into_iter().map(position).collect()
}

/// The slot of somebody who has been admitted.
async fn slot(waiting: &mut Waiting) -> Slot {
    assert_eq!(position(waiting), None, "not admitted");
    waiting.admitted().await
}

/// In the clock of the test.
fn later(delay: Duration) -> Instant {
    (tokio::time::Instant::now() + delay).into_std()
}

#[tokio::test]
async fn whoever_came_first_starts_first_and_positions_say_so() {
    let queue = Queue::new();
    let mut all: Vec<_> = (0..5).map(|_| queue.enter(ticket(2))).collect();
    assert_eq!(positions(&all), [None, None, Some(1), Some(2), Some(3)]);
    let first = slot(&mut all[0]).await;
    let second = slot(&mut all[1]).await;
    drop(second);
    assert_eq!(positions(&all), [None, None, None, Some(1), Some(2)]);
    drop(first);
    assert_eq!(positions(&all), [None, None, None, None, Some(1)]);
}

#[tokio::test]
async fn whoever_leaves_the_queue_lets_those_behind_move_up_and_they_are_told() {
    let queue = Queue::new();
    let running = slot(&mut queue.enter(ticket(1))).await;
    let mut all: Vec<_> = (0..4).map(|_| queue.enter(ticket(1))).collect();
    let mut last = all[3].position();
    assert_eq!(*last.borrow_and_update(), Some(4));
    drop(all.remove(1));
    last.changed().await.expect("the lane is there");
    assert_eq!(*last.borrow_and_update(), Some(3));
    assert_eq!(positions(&all), [Some(1), Some(2), Some(3)]);
    drop(running);
    assert_eq!(positions(&all), [None, Some(1), Some(2)]);
}

#[tokio::test]
async fn a_slot_that_nobody_came_for_is_free_again() {
    let queue = Queue::new();
    let admitted = queue.enter(ticket(1));
    let behind = queue.enter(ticket(1));
    assert_eq!(positions([&admitted, &behind]), [None, Some(1)]);
    drop(admitted);
    assert_eq!(position(&behind), None);
}

#[tokio::test]
async fn waiting_for_a_slot_can_be_given_up_and_taken_up_again() {
    let queue = Queue::new();
    let running = slot(&mut queue.enter(ticket(1))).await;
    let mut waiting = queue.enter(ticket(1));
    for _ in 0..3 {
        tokio::select! {
            biased;
            _ = waiting.admitted() => panic!("there is no room"),
            () = yield_now() => (),
        }
    }
    assert_eq!(position(&waiting), Some(1));
    drop(running);
    let slot = waiting.admitted().await;
    assert_eq!(position(&queue.enter(ticket(1))), Some(1));
    tokio::select! {
        biased;
        _ = waiting.admitted() => panic!("one slot each"),
        () = yield_now() => (),
    }
    drop(slot);
    assert_eq!(position(&queue.enter(ticket(1))), None);
}

#[tokio::test]
async fn a_call_that_runs_as_many_as_it_may_holds_up_nobody_behind() {
    let queue = Queue::new();
    let call = Group::new();
    let mine = || Ticket { group: Some((call.clone(), 2)), ..ticket(4) };
    let mut calls: Vec<_> = (0..4).map(|_| queue.enter(mine())).collect();
    let mut other = queue.enter(ticket(4));
    assert_eq!(positions(&calls), [None, None, Some(1), Some(2)]);
    let other = slot(&mut other).await;
    // The third of the call comes before anybody who comes later, as soon as the call has room.
    let full = slot(&mut queue.enter(ticket(4))).await;
    let last = queue.enter(ticket(4));
    assert_eq!(position(&last), Some(3));
    drop(slot(&mut calls[0]).await);
    assert_eq!(positions(&calls), [None, None, None, Some(1)]);
    assert_eq!(position(&last), Some(2));
    drop(full);
    assert_eq!(position(&last), None, "the call is full, not the lane");
    drop(other);
}

#[tokio::test]
async fn a_ticket_that_needs_a_quieter_lane_is_not_overtaken() {
    let queue = Queue::new();
    let mut running: Vec<_> = (0..3).map(|_| queue.enter(ticket(8))).collect();
    let strict = queue.enter(ticket(2));
    let behind = queue.enter(ticket(8));
    assert_eq!(positions([&strict, &behind]), [Some(1), Some(2)]);
    running.pop();
    assert_eq!(positions([&strict, &behind]), [Some(1), Some(2)]);
    running.pop();
    assert_eq!(positions([&strict, &behind]), [None, None]);
}

#[tokio::test]
async fn a_limit_of_none_still_lets_one_start() {
    let queue = Queue::new();
    let group = Some((Group::new(), 0));
    let mut only = queue.enter(Ticket { group, ..ticket(0) });
    let _slot = slot(&mut only).await;
    assert_eq!(position(&queue.enter(ticket(0))), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_asked_for_a_pause_gets_no_child_until_then() {
    let queue = Queue::new();
    let short = later(Duration::from_secs(10));
    let long = later(Duration::from_secs(30));
    queue.hold("busy", long);
    queue.hold("busy", short);
    let mut held = queue.enter(of("busy"));
    assert_eq!(*held.held_until().borrow(), Some(long), "the longer one counts");
    // It holds up nobody, of another provider or of none.
    let other = slot(&mut queue.enter(of("idle"))).await;
    drop(other);
    let slot = held.admitted().await;
    assert!(tokio::time::Instant::now().into_std() >= long);
    assert_eq!(*held.held_until().borrow(), None);
    drop(slot);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_begins_or_grows_reaches_those_who_wait_already() {
    let queue = Queue::new();
    let running = slot(&mut queue.enter(of("p"))).await;
    let mut waiting = queue.enter(of("p"));
    let mut seen = waiting.held_until();
    assert_eq!(*seen.borrow_and_update(), None);
    let first = later(Duration::from_secs(5));
    queue.hold("p", first);
    seen.changed().await.expect("the lane is there");
    assert_eq!(*seen.borrow_and_update(), Some(first));
    drop(running);
    assert_eq!(position(&waiting), Some(1), "held although there is room");
    let second = later(Duration::from_secs(60));
    let (_slot, ()) = tokio::join!(waiting.admitted(), async {
        yield_now().await;
        queue.hold("p", second);
    });
    assert!(tokio::time::Instant::now().into_std() >= second);
}

#[tokio::test]
async fn early_slots_exist_only_while_nobody_waits_and_there_is_room() {
    let queue = Queue::new();
    let early = |limit| Ticket { early_limit: limit, ..ticket(3) };
    assert!(queue.early(early(0)).is_none(), "no early child is wanted");
    let first = queue.early(early(1)).expect("an empty lane has room");
    assert!(queue.early(early(1)).is_none(), "one is as many as may be");
    let second = queue.early(early(2)).expect("there is room");
    let _running = slot(&mut queue.enter(ticket(3))).await;
    assert!(queue.early(early(9)).is_none(), "the lane is full");
    drop(second);
    let _waiting = queue.enter(ticket(1));
    assert!(queue.early(early(9)).is_none(), "somebody waits");
    drop(first);
}

#[tokio::test]
async fn early_slots_heed_pauses_and_calls() {
    let queue = Queue::new();
    queue.hold("p", later(Duration::from_secs(60)));
    assert!(queue.early(of("p")).is_none());
    let call = Group::new();
    let mine = || Ticket { group: Some((call.clone(), 1)), ..ticket(4) };
    let early = queue.early(mine()).expect("there is room");
    assert!(queue.early(mine()).is_none());
    let same = queue.enter(mine());
    assert_eq!(position(&same), Some(1), "the early child counts as one of its call");
    drop(early);
    assert_eq!(position(&same), None);
}

#[tokio::test]
async fn an_early_slot_makes_way_for_whoever_waits() {
    let queue = Queue::new();
    let mut older = queue.early(ticket(3)).expect("there is room");
    let mut newer = queue.early(ticket(3)).expect("there is room");
    let _running = slot(&mut queue.enter(ticket(3))).await;
    let first = queue.enter(ticket(3));
    newer.evicted().await;
    newer.evicted().await;
    tokio::select! {
        biased;
        () = older.evicted() => panic!("one place is enough for one who waits"),
        () = yield_now() => (),
    }
    assert_eq!(position(&first), Some(1), "until the early child has gone");
    drop(newer);
    assert_eq!(position(&first), None);
    let second = queue.enter(ticket(3));
    older.evicted().await;
    drop(older);
    assert_eq!(position(&second), None);
}

#[tokio::test]
async fn early_slots_are_not_given_up_in_vain() {
    let queue = Queue::new();
    let _running: Vec<_> = (0..2).map(|_| queue.enter(ticket(3))).collect();
    let mut early = queue.early(ticket(3)).expect("there is room");
    let _waits_anyway = [queue.enter(ticket(1)), queue.enter(ticket(3))];
    tokio::select! {
        biased;
        () = early.evicted() => panic!("the first in the queue could not start, and nobody overtakes it"),
        () = yield_now() => (),
    }
}

/// Whether an early child is asked to make way, as far as that is known by now.
async fn is_evicted(early: &mut EarlySlot) -> bool {
    tokio::select! {
        biased;
        () = early.evicted() => true,
        () = yield_now() => false,
    }
}

#[tokio::test]
async fn an_early_slot_is_given_up_only_where_its_place_is_the_one_that_is_missing() {
    let queue = Queue::new();
    let _running = slot(&mut queue.enter(ticket(3))).await;
    let mut early = queue.early(ticket(3)).expect("there is room");
    let quieter = queue.enter(ticket(1));
    assert!(!is_evicted(&mut early).await, "the one that runs is one too many already");
    drop(quieter);
    let waiting = queue.enter(ticket(2));
    assert!(is_evicted(&mut early).await);
    drop(early);
    assert_eq!(position(&waiting), None);
}

#[tokio::test]
async fn early_slots_are_given_up_for_no_more_runs_than_could_start() {
    let queue = Queue::new();
    let _running = slot(&mut queue.enter(ticket(3))).await;
    let [mut older, mut newer] = [(); 2].map(|()| queue.early(ticket(3)).expect("there is room"));
    let strict = [(); 2].map(|()| queue.enter(ticket(2)));
    assert!(is_evicted(&mut newer).await);
    assert!(!is_evicted(&mut older).await, "beside the first there is no room for the second");
    drop(newer);
    assert_eq!(positions(&strict), [Some(1), Some(2)], "there are two still");
    drop(older);
    assert_eq!(positions(&strict), [None, Some(1)]);
}

#[tokio::test]
async fn early_slots_are_given_up_for_no_more_runs_of_a_call_than_it_may_have() {
    let queue = Queue::new();
    let call = Group::new();
    let mine = || Ticket { group: Some((call.clone(), 1)), ..ticket(3) };
    let _running = slot(&mut queue.enter(ticket(3))).await;
    let [mut older, mut newer] = [(); 2].map(|()| queue.early(ticket(3)).expect("there is room"));
    let mut calls = [(); 2].map(|()| queue.enter(mine()));
    assert!(is_evicted(&mut newer).await);
    assert!(!is_evicted(&mut older).await, "the second of the call waits for the first");
    drop(newer);
    assert_eq!(positions(&calls), [None, Some(1)]);
    drop(slot(&mut calls[0]).await);
    assert_eq!(position(&calls[1]), None, "and only for that");
}

#[tokio::test]
async fn an_early_slot_becomes_that_of_its_run_even_in_a_full_lane() {
    let queue = Queue::new();
    let mut early = queue.early(ticket(1)).expect("there is room");
    let waiting = queue.enter(ticket(1));
    early.evicted().await;
    // Its run came first after all.
    let slot = early.into_slot();
    assert_eq!(position(&waiting), Some(1));
    drop(slot);
    assert_eq!(position(&waiting), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hundreds_come_and_go_and_never_more_than_allowed() {
    const RUNS: usize = 256;
    const MOST: usize = 7;
    let queue = Queue::new();
    let running = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..RUNS {
        let mut waiting = queue.enter(ticket(MOST));
        let running = running.clone();
        tasks.spawn(async move {
            if number % 5 == 4 {
                // Some lose patience.
                tokio::select! {
                    biased;
                    _ = waiting.admitted() => (),
                    () = yield_now() => (),
                }
                return None;
            }
            let slot = waiting.admitted().await;
            let now = running.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
            assert!(now <= MOST);
            yield_now().await;
            running.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
            drop(slot);
            Some(number)
        });
    }
    let done: HashSet<_> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(done.len(), RUNS - RUNS / 5);
    assert_eq!(positions(&(0..=MOST).map(|_| queue.enter(ticket(MOST))).collect::<Vec<_>>())[MOST], Some(1));
}

#[tokio::test]
async fn a_lane_is_one_for_the_process_and_can_be_had_apart() {
    let _slot = slot(&mut Queue::shared().enter(ticket(1))).await;
    assert_eq!(position(&Queue::shared().enter(ticket(1))), Some(1));
    assert_eq!(position(&Queue::new().enter(ticket(1))), None);
}
