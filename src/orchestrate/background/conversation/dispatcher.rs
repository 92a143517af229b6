//! Brings messages into the session of a host, each once.
//!
//! A host such as pi owns its session: it appends a message at some moments, drops or refuses it at others, and reports
//! neither. So a message counts once the session is seen to contain it. The host reports an event, and then takes
//! [`Step`]s until there is none. Nothing is put into pi's own queue of follow-ups: Escape empties that, an abort over
//! RPC leaves it full for the next prompt, and it is not visible which of the two has happened.

use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

/// The pause between two checks whether a waiting message can be sent now.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// No turn is started for so long after a session was opened: its first prompt may be on its way.
const OPENING_DELAY: Duration = Duration::from_secs(1);
/// The longest time that pi takes from a prompt to its turn; a turn in between would have the prompt refused.
const PREFLIGHT: Duration = Duration::from_secs(5);
/// A message that has not started its turn after this time was refused.
const REFUSED_AFTER: Duration = Duration::from_secs(30);
/// Attempts, after which a message waits for the next opening of its session: a disk can be full.
const MAX_ATTEMPTS: u32 = 3;

/// The next step of the host. A message is named by its first delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Step {
    /// Report the session's content with [`Dispatcher::report_contents`].
    Check,
    /// Give the message to the session, and confirm with [`Dispatcher::report_sent`]. Without the confirmation the sending ends, and the
    /// rest waits for a better moment.
    Send {
        /// The message.
        message: String,
        /// True if the host starts a turn with it.
        #[serde(rename = "triggerTurn")]
        starts_turn: bool,
    },
    /// The session contains the message. Notify the callers that wait for it.
    Arrived {
        /// The message.
        message: String,
    },
    /// The session's file contains these deliveries, or there is none: they are confirmed.
    Confirm {
        /// All of them that are not confirmed yet.
        delivery_ids: Vec<String>,
    },
}

/// Messages that join the session at the point at which its model would stop.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Joining {
    /// The messages, oldest first.
    pub messages: Vec<String>,
    /// True if the model continues because of them.
    #[serde(rename = "continue")]
    pub continues: bool,
}

/// The messages on their way into one session, from its opening to its end.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts about the session that change apart from each other"
)]
pub struct Dispatcher {
    /// True if there is a user, who decides when the model works. Otherwise every message makes it continue.
    has_user: bool,
    opened: Instant,
    /// The time of a prompt whose turn has not begun.
    prompted: Option<Instant>,
    /// True if the model's last message was cut off, by a person or an error.
    is_cut_off: bool,
    /// Not seen in the session yet, oldest first.
    outgoing: Vec<Outgoing>,
    /// Seen in the session, but not reported with [`Step::Arrived`] yet.
    arrived: VecDeque<String>,
    /// In the session, and not known to be in its file.
    unwritten: Vec<String>,
    is_written: bool,
    /// Every delivery that the session was given.
    known: HashSet<String>,
    must_check: bool,
    sending: Option<Sending>,
    /// The sending that continues once the host has confirmed the message of the last step.
    unsent: Option<Sending>,
}

#[derive(Debug)]
struct Outgoing {
    ids: Vec<String>,
    triggers_turn: bool,
    attempts: u32,
    /// The time of the last attempt to send it. `None` while it waits: before the first attempt, and again if it has
    /// not arrived.
    sent: Option<Instant>,
}

/// The sending of the waiting messages, once the session's content is known.
#[derive(Clone, Copy, Debug)]
struct Sending {
    resend: Resend,
    may_start_turn: bool,
    /// True if the last message starts a turn. Decided when the first one is sent.
    starts_turn: Option<bool>,
}

/// The messages that are sent again because they have not arrived.
#[derive(Clone, Copy, Debug)]
enum Resend {
    None,
    Refused,
    All,
}

impl Sending {
    fn new(resend: Resend, may_start_turn: bool) -> Self {
        Self { resend, may_start_turn, starts_turn: None }
    }
}

impl Outgoing {
    fn name(&self) -> String {
        self.ids.first().cloned().unwrap_or_default()
    }

    fn note_sent(&mut self, now: Instant) {
        self.attempts += 1;
        self.sent = Some(now);
    }
}

impl Dispatcher {
    /// Creates a dispatcher for a session that already contains the deliveries `delivered`.
    #[must_use]
    pub fn new(has_user: bool, delivered: Vec<String>, now: Instant) -> Self {
        Self {
            has_user,
            opened: now,
            prompted: None,
            is_cut_off: false,
            outgoing: Vec::new(),
            arrived: VecDeque::new(),
            unwritten: Vec::new(),
            is_written: false,
            known: delivered.into_iter().collect(),
            must_check: false,
            sending: None,
            unsent: None,
        }
    }

    /// Takes a message. `false`: the session was given all of it before.
    pub fn add(&mut self, ids: Vec<String>, triggers_turn: bool) -> bool {
        if ids.iter().all(|id| self.known.contains(id)) {
            return false;
        }
        self.known.extend(ids.iter().cloned());
        self.outgoing.push(Outgoing { ids, triggers_turn, attempts: 0, sent: None });
        true
    }

    /// The messages that wait or are on their way.
    #[must_use]
    pub fn waiting(&self) -> Vec<String> {
        self.arrived.iter().cloned().chain(self.outgoing.iter().map(Outgoing::name)).collect()
    }

    /// Returns true if the host should report again after [`CHECK_INTERVAL`].
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !(self.outgoing.is_empty() && self.unwritten.is_empty() && self.arrived.is_empty())
    }

    /// Time has passed. A turn is started only if none is under way (`is_idle`) or being prepared. Without a user there are
    /// better moments.
    pub fn check(&mut self, is_idle: bool, now: Instant) {
        let is_quiet = now.duration_since(self.opened) >= OPENING_DELAY
            && self.prompted.is_none_or(|prompted| now.duration_since(prompted) >= PREFLIGHT);
        let may_start = self.has_user && is_idle && is_quiet;
        self.begin(may_start.then(|| Sending::new(Resend::Refused, true)));
    }

    /// A prompt has come, and its turn is being prepared.
    pub fn prompted(&mut self, now: Instant) {
        self.prompted = Some(now);
    }

    /// The turn of a prompt is about to start: the waiting messages are sent before it.
    pub fn turn_starts(&mut self, now: Instant) {
        self.prompted = Some(now);
        self.begin(Some(Sending::new(Resend::None, false)));
    }

    /// A turn has started.
    pub fn turn_started(&mut self) {
        self.prompted = None;
    }

    /// The model has ended a message. `is_cut_off`: by an abort or an error.
    pub fn answered(&mut self, is_cut_off: bool) {
        self.is_cut_off = is_cut_off;
        if is_cut_off && !self.outgoing.is_empty() {
            tracing::info!(
                target: "delivery", reason = "the last answer was cut off",
                "results go out without a turn"
            );
        }
    }

    /// The session may contain more than before.
    pub fn session_extended(&mut self) {
        self.begin(None);
    }

    /// The model is about to stop: the waiting messages join the session, and the model may continue because of them.
    /// `None` if no message waits.
    pub fn join(&mut self, now: Instant) -> Option<Joining> {
        let waiting: Vec<_> = self.outgoing.iter_mut().filter(|each| each.sent.is_none()).collect();
        if waiting.is_empty() {
            return None;
        }
        let continues = !self.has_user || waiting.iter().any(|each| each.triggers_turn);
        let messages = waiting.into_iter().map(|each| {
            each.note_sent(now);
            each.name()
        });
        Some(Joining { messages: messages.collect(), continues })
    }

    /// The model has stopped: messages that were sent but have not arrived are sent again. A model that was aborted, or
    /// whose last answer was cut off, gets the messages without a turn.
    pub fn settled(&mut self, is_aborted: bool) {
        self.begin(Some(Sending::new(Resend::All, !is_aborted && !self.is_cut_off)));
    }

    /// The host is about to end unless the model continues.
    pub fn drain(&mut self) {
        self.begin(Some(Sending::new(Resend::None, true)));
    }

    /// The session is gone: the messages that it does not contain belong to the outbox again.
    pub fn forget(&mut self) {
        self.begin(None);
        self.outgoing.clear();
        self.arrived.clear();
        self.unwritten.clear();
    }

    /// Answers [`Step::Check`]. `file` is the session's, if it has one: pi writes a new session with its first answer, and
    /// from then on each entry as it comes.
    pub fn report_contents(&mut self, ids: &HashSet<String>, file: Option<&Path>) {
        self.must_check = false;
        self.is_written = file.is_none_or(Path::exists);
        // A message counts however it got there: a call may have waited for it.
        let is_contained = |each: &mut Outgoing| each.ids.iter().all(|id| ids.contains(id));
        for message in self.outgoing.extract_if(.., is_contained) {
            self.arrived.push_back(message.name());
            self.unwritten.extend(message.ids);
        }
    }

    /// Answers [`Step::Send`]: the host has taken the message.
    pub fn report_sent(&mut self) {
        self.sending = self.unsent.take();
        self.must_check = true;
    }

    /// Returns the next step of the host.
    pub fn next(&mut self, now: Instant) -> Option<Step> {
        if self.must_check && !(self.outgoing.is_empty() && self.unwritten.is_empty()) {
            return Some(Step::Check);
        }
        self.must_check = false;
        if let Some(message) = self.arrived.pop_front() {
            return Some(Step::Arrived { message });
        }
        if self.is_written && !self.unwritten.is_empty() {
            return Some(Step::Confirm { delivery_ids: std::mem::take(&mut self.unwritten) });
        }
        self.send(now)
    }

    fn begin(&mut self, sending: Option<Sending>) {
        self.must_check = true;
        (self.sending, self.unsent) = (sending, None);
    }

    fn send(&mut self, now: Instant) -> Option<Step> {
        let mut sending = self.sending.take()?;
        let starts_turn = sending.starts_turn.unwrap_or_else(|| self.begin_sending(sending, now));
        sending.starts_turn = Some(starts_turn);
        let mut waiting = self.outgoing.iter_mut().filter(|each| each.sent.is_none());
        let next = waiting.next()?;
        let is_last = waiting.next().is_none();
        next.note_sent(now);
        let next_attempt = next.attempts;
        let step = Step::Send {
            message: next.name(),
            starts_turn: is_last && starts_turn && next.attempts < MAX_ATTEMPTS,
        };
        tracing::info!(target: "delivery", ?step, attempt = next_attempt, "a result is sent to the session");
        self.unsent = Some(sending);
        Some(step)
    }

    /// Selects the messages to send, and decides whether they start a turn.
    fn begin_sending(&mut self, Sending { resend, may_start_turn, .. }: Sending, now: Instant) -> bool {
        for each in &mut self.outgoing {
            let must_resend = match resend {
                Resend::None => false,
                Resend::Refused => each.sent.is_some_and(|sent| now.duration_since(sent) > REFUSED_AFTER),
                Resend::All => true,
            };
            if must_resend {
                each.sent = None;
            }
        }
        self.outgoing.retain(|each| each.sent.is_some() || each.attempts < MAX_ATTEMPTS);
        let mut waiting = self.outgoing.iter().filter(|each| each.sent.is_none());
        may_start_turn && (!self.has_user || waiting.any(|each| each.triggers_turn))
    }
}

#[cfg(test)]
mod tests;
