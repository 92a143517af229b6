//! Bringing messages into a session that the host owns.

use std::path::PathBuf;
use std::time::Instant;

use napi_derive::napi;

use crate::node::json::Json;
use crate::orchestrate::background::{self, DISPATCHER_CHECK_INTERVAL, Dispatcher};
use pi_events::StopReason;

/// Returns the ids of the deliveries in entries of a session, given as a list in JSON: of messages that announce
/// results or questions, and of replies that a tool waited for. Entries that cannot contain deliveries may be omitted.
///
/// @example
/// ```ts
/// import { deliveredIn } from "pi-subagent-native/extension";
///
/// console.log(deliveredIn("[]").length);
/// ```
#[napi(catch_unwind)]
pub fn delivered_in(entries: String) -> Vec<String> {
    background::delivered_in(&entries)
}

/// Decides when the messages of `openBackground` go into a session, so that each message is in it exactly once: a host
/// such as pi drops or refuses a message at some moments without saying so. Report each event, then take steps until
/// there is none.
///
/// @example
/// ```ts
/// import { DeliveryDispatcher } from "pi-subagent-native/extension";
///
/// const session = ["delivery-1"];
/// const dispatcher = new DeliveryDispatcher(true, session);
/// dispatcher.add(["delivery-2"], true);
/// dispatcher.settled(false);
/// for (let step = dispatcher.next(); step; step = dispatcher.next()) {
/// 	if (step.step === "check") dispatcher.contains(session);
/// 	if (step.step !== "send") continue;
/// 	session.push(step.message ?? "");
/// 	dispatcher.sent();
/// }
/// console.log(session, dispatcher.waiting());
/// ```
#[napi]
pub struct DeliveryDispatcher(Dispatcher);

#[napi]
impl DeliveryDispatcher {
    /// Creates the dispatcher of a session that already contains the deliveries `delivered`. `hasUser`: a user decides
    /// when the model works.
    #[napi(constructor, catch_unwind)]
    pub fn new(has_user: bool, delivered: Vec<String>) -> Self {
        Self(Dispatcher::new(has_user, delivered, Instant::now()))
    }

    /// Takes a message. False: the session was given all of it before.
    #[napi(catch_unwind)]
    pub fn add(&mut self, delivery_ids: Vec<String>, trigger_turn: bool) -> bool {
        self.0.add(delivery_ids, trigger_turn)
    }

    /// The messages that wait or are on their way, each by the first of its `deliveryIds`.
    #[napi(catch_unwind)]
    pub fn waiting(&self) -> Vec<String> {
        self.0.waiting()
    }

    /// Returns the time until the next call of `check`, in milliseconds. Absent if there is nothing left to do.
    #[napi(catch_unwind)]
    pub fn check_after_ms(&self) -> Option<f64> {
        self.0.is_waiting().then(|| DISPATCHER_CHECK_INTERVAL.as_secs_f64() * 1_000.0)
    }

    /// Time has passed. `isIdle`: no turn is running.
    #[napi(catch_unwind)]
    pub fn check(&mut self, is_idle: bool) {
        self.0.check(is_idle, Instant::now());
    }

    /// A prompt has arrived, and its turn is being prepared.
    #[napi(catch_unwind)]
    pub fn prompted(&mut self) {
        self.0.prompted(Instant::now());
    }

    /// The turn of a prompt is about to start.
    #[napi(catch_unwind)]
    pub fn turn_starts(&mut self) {
        self.0.turn_starts(Instant::now());
    }

    /// A turn has started.
    #[napi(catch_unwind)]
    pub fn turn_started(&mut self) {
        self.0.turn_started();
    }

    /// The model has ended a message, for this reason.
    #[napi(catch_unwind)]
    pub fn answered(&mut self, stop_reason: Option<String>) {
        self.0.answered(stop_reason.is_some_and(|reason| StopReason::from(&*reason).is_failure()));
    }

    /// The session may contain more than before.
    #[napi(catch_unwind)]
    pub fn session_extended(&mut self) {
        self.0.session_extended();
    }

    /// The model is about to stop: returns the messages that join the session now. Take steps first.
    #[napi(catch_unwind, ts_return_type = "JoiningMessages | null")]
    pub fn join(&mut self) -> napi::Result<Option<Json>> {
        self.0.join(Instant::now()).map(|joining| Json::new(&joining)).transpose()
    }

    /// The model has stopped. `aborted`: it was aborted; otherwise it is done.
    #[napi(catch_unwind)]
    pub fn settled(&mut self, aborted: bool) {
        self.0.settled(aborted);
    }

    /// The host would exit now, unless the model continues.
    #[napi(catch_unwind)]
    pub fn drain(&mut self) {
        self.0.drain();
    }

    /// The session has been closed: forgets its messages, which are offered again when it is opened.
    #[napi(catch_unwind)]
    pub fn forget(&mut self) {
        self.0.forget();
    }

    /// Answers `check`: the deliveries in the session, and its file, if it has one.
    #[napi(catch_unwind)]
    pub fn contains(&mut self, delivery_ids: Vec<String>, file: Option<String>) {
        self.0.report_contents(&delivery_ids.into_iter().collect(), file.map(PathBuf::from).as_deref());
    }

    /// Answers `send`: the session has taken the message.
    #[napi(catch_unwind)]
    pub fn sent(&mut self) {
        self.0.report_sent();
    }

    /// Returns the next step. Absent if there is none.
    #[napi(catch_unwind, ts_return_type = "DeliveryStep | null")]
    pub fn next(&mut self) -> napi::Result<Option<Json>> {
        self.0.next(Instant::now()).map(|step| Json::new(&step)).transpose()
    }
}
