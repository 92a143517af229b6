//! Each message arrives once, even if the host drops or refuses it, fails, is killed, or the user types.

use std::path::PathBuf;

use super::*;

/// A host that does the steps, and the session that it owns. Time passes only when a test advances it.
struct Host {
    dispatcher: Dispatcher,
    now: Instant,
    /// The deliveries in the session, in order.
    session: Vec<String>,
    file: Option<PathBuf>,
    /// The outcomes of the next messages. Further messages are appended to the session.
    failures: VecDeque<SendFailure>,
    /// Messages sent, and whether each was to start a turn.
    sent: Vec<(String, bool)>,
    arrived: Vec<String>,
    confirmed: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum SendFailure {
    /// The host takes it and loses it.
    Lost,
    /// The host throws.
    Thrown,
}

impl Host {
    fn new() -> Self {
        Self::opened(true, &[])
    }

    fn opened(has_user: bool, standing: &[&str]) -> Self {
        let now = Instant::now();
        let session = texts(standing);
        Self {
            dispatcher: Dispatcher::new(has_user, session.clone(), now),
            now,
            session,
            file: None,
            failures: VecDeque::new(),
            sent: Vec::new(),
            arrived: Vec::new(),
            confirmed: Vec::new(),
        }
    }

    fn offered(&mut self, id: &str) -> bool {
        self.dispatcher.add(texts(&[id]), true)
    }

    /// Does all steps. A host that throws ends them.
    fn steps(&mut self) {
        while let Some(step) = self.dispatcher.next(self.now) {
            match step {
                Step::Check => {
                    let ids = self.session.iter().cloned().collect();
                    self.dispatcher.report_contents(&ids, self.file.as_deref());
                }
                Step::Send { message, starts_turn } => {
                    self.sent.push((message.clone(), starts_turn));
                    match self.failures.pop_front() {
                        Some(SendFailure::Thrown) => return,
                        Some(SendFailure::Lost) => {}
                        None => self.session.push(message),
                    }
                    self.dispatcher.report_sent();
                }
                Step::Arrived { message } => self.arrived.push(message),
                Step::Confirm { delivery_ids } => self.confirmed.extend(delivery_ids),
            }
        }
    }

    fn check_after(&mut self, passed: Duration, is_idle: bool) {
        self.now += passed;
        self.dispatcher.check(is_idle, self.now);
        self.steps();
    }

    fn settled(&mut self, is_aborted: bool) {
        self.dispatcher.settled(is_aborted);
        self.steps();
    }

    #[track_caller]
    fn assert_once(&self, ids: &[&str]) {
        assert_eq!(self.session, texts(ids), "each message is in the session once");
        assert_eq!(
            (&self.arrived, &self.confirmed),
            (&texts(ids), &texts(ids)),
            "each message arrives and is confirmed once"
        );
        assert!(!self.dispatcher.is_waiting());
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn sent(sent: &[(&str, bool)]) -> Vec<(String, bool)> {
    sent.iter().map(|(id, starts)| ((*id).to_owned(), *starts)).collect()
}

#[test]
fn an_idle_session_gets_a_turn_if_no_first_prompt_arrives() {
    let mut host = Host::new();
    assert!(host.offered("a"));
    host.check_after(CHECK_INTERVAL, true);
    assert_eq!(host.sent, []);
    host.check_after(OPENING_DELAY, true);
    assert_eq!(host.sent, sent(&[("a", true)]));
    host.assert_once(&["a"]);
}

#[test]
fn the_last_of_several_messages_starts_one_turn() {
    let mut host = Host::new();
    assert!(host.offered("a"));
    assert!(host.dispatcher.add(texts(&["b"]), false));
    host.check_after(OPENING_DELAY, true);
    assert_eq!(host.sent, sent(&[("a", false), ("b", true)]));
    host.assert_once(&["a", "b"]);

    let mut quiet = Host::new();
    assert!(quiet.dispatcher.add(texts(&["a"]), false));
    quiet.check_after(OPENING_DELAY, true);
    assert_eq!(quiet.sent, sent(&[("a", false)]), "a message that needs no turn starts none");
}

#[test]
fn a_model_at_work_is_not_interrupted() {
    let mut host = Host::new();
    assert!(host.offered("a"));
    host.check_after(Duration::from_secs(60), false);
    assert_eq!(host.sent, []);
    assert!(host.dispatcher.is_waiting());
    assert_eq!(host.dispatcher.waiting(), ["a"]);
}

#[test]
fn a_prompt_typed_while_messages_wait_follows_them() {
    let mut host = Host::new();
    host.now += OPENING_DELAY;
    host.dispatcher.prompted(host.now);
    assert!(host.offered("a"));
    host.check_after(CHECK_INTERVAL, true);
    assert_eq!(host.sent, [], "no turn starts before the prompt");
    host.dispatcher.turn_starts(host.now);
    host.steps();
    assert_eq!(host.sent, sent(&[("a", false)]), "the message precedes the prompt and starts no turn");
    host.assert_once(&["a"]);
}

#[test]
fn the_wait_for_a_prompt_without_a_turn_is_bounded() {
    let mut host = Host::new();
    host.now += OPENING_DELAY;
    host.dispatcher.prompted(host.now);
    assert!(host.offered("a"));
    host.check_after(PREFLIGHT / 2, true);
    assert_eq!(host.sent, []);
    host.check_after(PREFLIGHT / 2, true);
    assert_eq!(host.sent, sent(&[("a", true)]));

    let mut host = Host::new();
    host.now += OPENING_DELAY;
    host.dispatcher.prompted(host.now);
    host.dispatcher.turn_started();
    assert!(host.offered("a"));
    host.check_after(CHECK_INTERVAL, true);
    assert_eq!(host.sent, sent(&[("a", true)]), "a prompt whose turn has ended delays no message");
}

#[test]
fn waiting_messages_join_the_session_before_the_model_stops() {
    let mut host = Host::new();
    assert!(host.offered("a"));
    assert!(host.dispatcher.add(texts(&["b"]), false));
    let joining = host.dispatcher.join(host.now).expect("both messages join the session");
    assert_eq!(joining, Joining { messages: texts(&["a", "b"]), continues: true });
    assert_eq!(host.dispatcher.join(host.now), None, "messages that were handed over do not join again");
    host.session = joining.messages;
    host.settled(false);
    assert_eq!(host.sent, []);
    host.assert_once(&["a", "b"]);

    assert!(host.dispatcher.add(texts(&["c"]), false));
    let joining = host.dispatcher.join(host.now).expect("the message joins the session");
    assert!(!joining.continues, "a message that needs no turn does not continue the model");
}

#[test]
fn a_message_dropped_by_another_extension_is_sent_again() {
    let mut host = Host::new();
    assert!(host.offered("a"));
    assert!(host.dispatcher.join(host.now).is_some());
    host.settled(false);
    assert_eq!(host.sent, sent(&[("a", true)]));
    host.assert_once(&["a"]);
}

#[test]
fn a_session_with_a_stopped_or_lost_model_gets_the_message_without_a_turn() {
    for (label, is_aborted, is_cut_off, starts) in
        [("aborted", true, false, false), ("an error", false, true, false), ("done", false, false, true)]
    {
        let mut host = Host::new();
        assert!(host.offered("a"));
        host.dispatcher.answered(is_cut_off);
        host.settled(is_aborted);
        assert_eq!(host.sent, sent(&[("a", starts)]), "{label}");
        host.assert_once(&["a"]);
    }
}

#[test]
fn a_message_lost_in_an_aborted_turn_is_sent_again() {
    let mut host = Host::new();
    host.failures.push_back(SendFailure::Lost);
    assert!(host.offered("a"));
    host.check_after(OPENING_DELAY, true);
    host.dispatcher.turn_started();
    host.dispatcher.answered(true);
    host.settled(true);
    assert_eq!(host.sent, sent(&[("a", true), ("a", false)]));
    host.assert_once(&["a"]);
}

#[test]
fn a_message_that_arrives_late_is_not_sent_again() {
    let mut host = Host::new();
    host.failures.push_back(SendFailure::Lost);
    assert!(host.offered("a"));
    host.check_after(OPENING_DELAY, true);
    // Its turn has put it there; the settling and a late look come after that.
    host.session.push("a".to_owned());
    host.settled(false);
    host.check_after(REFUSED_AFTER * 2, true);
    assert_eq!(host.sent.len(), 1);
    host.assert_once(&["a"]);
}

#[test]
fn a_message_without_a_turn_is_dropped_after_three_attempts() {
    let mut host = Host::new();
    host.failures.extend([SendFailure::Lost; 4]);
    assert!(host.offered("a"));
    host.check_after(OPENING_DELAY, true);
    host.check_after(REFUSED_AFTER, true);
    assert_eq!(host.sent.len(), 1, "a message whose turn may still start is not sent again");
    for _ in 0..6 {
        host.check_after(REFUSED_AFTER + CHECK_INTERVAL, true);
    }
    assert_eq!(
        host.sent,
        sent(&[("a", true), ("a", true), ("a", false)]),
        "the third attempt starts no turn"
    );
    assert!(!host.dispatcher.is_waiting(), "the message waits until the session is opened again");
    assert_eq!((host.arrived.len(), host.confirmed.len()), (0, 0));
}

#[test]
fn a_host_that_throws_gets_the_remaining_messages_once_later() {
    let mut host = Host::new();
    host.failures.push_back(SendFailure::Thrown);
    for id in ["a", "b", "c"] {
        assert!(host.offered(id));
    }
    host.settled(false);
    assert_eq!(host.sent.len(), 1, "the remaining messages wait");
    // Nothing goes out at a moment that was not made for it.
    host.dispatcher.session_extended();
    host.steps();
    assert_eq!(host.sent.len(), 1);
    host.settled(false);
    host.assert_once(&["a", "b", "c"]);
}

#[test]
fn a_failed_check_sends_nothing() {
    let mut host = Host::new();
    assert!(host.offered("a"));
    host.dispatcher.settled(false);
    assert_eq!(host.dispatcher.next(host.now), Some(Step::Check));
    // The host throws before it can report the session's content.
    host.check_after(CHECK_INTERVAL, false);
    assert_eq!(host.sent, []);
    host.settled(false);
    host.assert_once(&["a"]);
}

#[test]
fn a_listener_that_failed_is_offered_the_message_again_and_takes_it_once() {
    let mut host = Host::new();
    assert!(host.offered("a"));
    assert!(!host.offered("a"), "a message that was taken is not taken again");
    host.settled(false);
    assert!(!host.offered("a"));
    host.settled(false);
    host.assert_once(&["a"]);
}

#[test]
fn a_pi_killed_between_sending_and_arrival_sends_again_and_one_killed_after_does_not() {
    let mut killed = Host::new();
    killed.failures.push_back(SendFailure::Lost);
    assert!(killed.offered("a"));
    killed.settled(false);
    assert_eq!((killed.sent.len(), killed.confirmed.len()), (1, 0));

    let mut next = Host::opened(true, &[]);
    assert!(next.offered("a"));
    next.settled(false);
    next.assert_once(&["a"]);

    // It is in the session, and the pi was killed before it could confirm that.
    let mut after = Host::opened(true, &["a"]);
    assert!(!after.offered("a"));
    after.settled(false);
    assert_eq!(after.sent, []);
}

#[test]
fn a_reload_continues_at_the_state_of_the_session() {
    let mut host = Host::new();
    host.failures.push_back(SendFailure::Lost);
    assert!(host.offered("a"));
    assert!(host.offered("b"));
    host.settled(false);
    assert_eq!(host.session, ["b"]);
    host.dispatcher.forget();
    assert_eq!(host.dispatcher.next(host.now), None);
    assert!(!host.dispatcher.is_waiting());

    let standing: Vec<_> = host.session.iter().map(String::as_str).collect();
    let mut reloaded = Host::opened(true, &standing);
    assert!(reloaded.offered("a"));
    assert!(!reloaded.offered("b"));
    reloaded.settled(false);
    assert_eq!(reloaded.session, ["b", "a"]);
}

#[test]
fn a_message_already_in_the_session_is_confirmed_and_not_sent() {
    let mut host = Host::new();
    assert!(host.offered("a"));
    // Another pi on this session, or a reply that a tool has waited for.
    host.session.push("a".to_owned());
    host.check_after(OPENING_DELAY, true);
    assert_eq!(host.sent, []);
    host.assert_once(&["a"]);
}

#[test]
fn a_message_counts_once_the_session_has_a_file() {
    let folder = tempfile::tempdir().expect("a temporary directory is created");
    let file = folder.path().join("session.jsonl");
    let mut host = Host { file: Some(file.clone()), ..Host::new() };
    assert!(host.offered("a"));
    host.settled(false);
    assert_eq!((host.arrived.as_slice(), host.confirmed.len()), (texts(&["a"]).as_slice(), 0));
    assert!(host.dispatcher.is_waiting(), "a message waits until the session has a file");
    std::fs::write(file, "").expect("the file is written");
    host.check_after(CHECK_INTERVAL, false);
    host.assert_once(&["a"]);
}

#[test]
fn without_a_user_the_model_gets_all_messages_and_no_turn_starts_by_itself() {
    let mut host = Host::opened(false, &[]);
    assert!(host.dispatcher.add(texts(&["a"]), false));
    host.check_after(OPENING_DELAY * 10, true);
    assert_eq!(host.sent, [], "no turn starts without a user");
    let joining = host.dispatcher.join(host.now).expect("the message joins the session");
    assert!(joining.continues);
    host.session.extend(joining.messages);
    assert!(host.dispatcher.add(texts(&["b"]), false));
    host.dispatcher.drain();
    host.steps();
    assert_eq!(host.sent, sent(&[("b", true)]));
    host.assert_once(&["a", "b"]);
}

#[test]
fn a_turn_that_begins_during_a_delivery_sends_the_remaining_messages() {
    let mut host = Host::new();
    assert!(host.offered("a"));
    assert!(host.offered("b"));
    host.dispatcher.settled(false);
    assert_eq!(host.dispatcher.next(host.now), Some(Step::Check));
    host.dispatcher.report_contents(&HashSet::new(), None);
    let Some(Step::Send { message, .. }) = host.dispatcher.next(host.now) else {
        panic!("no message was sent")
    };
    host.session.push(message);
    host.dispatcher.turn_starts(host.now);
    host.steps();
    // Back in the outer sending.
    host.dispatcher.report_sent();
    host.steps();
    assert_eq!(host.sent, sent(&[("b", false)]));
    host.assert_once(&["a", "b"]);
}
