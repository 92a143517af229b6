//! Reads one child: folds its events, reports activity to its supervisor, and decides what to write to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};

use super::child_control::{ANNOUNCE_TIMEOUT, ChildControl};
use super::commands::{CheckState, Next};
use super::control::ProviderGate;
use super::deadline::Deadline;
use super::loop_guard::LoopGuard;
use super::shared_collector::SharedCollector;
use crate::run::ANNOUNCE_SKIP;
use crate::run::budget::enforcer::BudgetEnforcer;
use crate::run::callbacks::Answer;
use crate::run::launcher::RemoteOutput;
use crate::run::outcome::retry::Limited;
use crate::run::protocol::{ANNOUNCE_ID, AskKey, Asker, CHECK_ID, Command, PROMPT_ID};
use crate::run::result::verdict::{Busy, ProtocolReport};
use pi_events::{Collector, Live, Question, Response, StopReason};
use supervisor::{Activity, Observer};

/// pi's answer to a prompt that one of its commands has handled: no model will work on it.
const HANDLED: &str = "handled";

/// The maximum time that a child may stay alive after its answer, while pi compacts the context, repeats a request, or
/// runs the handlers of extensions.
pub(super) const SETTLE_TIMEOUT: Duration = Duration::from_secs(60);

/// The idle limits of a child. `None` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SilenceLimits {
    /// Between events while no tool runs.
    pub idle: Option<Duration>,
    /// While a tool runs, a question waits or pi compacts the context.
    pub tool: Option<Duration>,
}

impl SilenceLimits {
    fn limit_for(self, busy: Option<Busy>) -> Option<Duration> {
        if busy.is_some() { self.tool } else { self.idle }
    }
}

/// The state of the request for an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announcing {
    /// The child will be asked once its work is done.
    Wanted,
    /// It will be asked if it has no answer by then.
    Missing,
    /// Its time is up: it was stopped, and will be asked for a report.
    Stopping,
    /// The child was asked and has not finished its reply.
    Requested,
    /// The child is not to be asked, or has replied.
    Never,
}

/// A question of the child that waits for its answer.
pub(super) struct PendingQuestion {
    pub question: Question,
    /// True if its agent asks, with the tool `ask`.
    pub is_from_agent: bool,
    /// The time of its arrival.
    pub since: Instant,
}

/// Observes one child for its supervisor.
pub(super) struct DrivenChild<'a> {
    /// Folds its events.
    pub collector: &'a SharedCollector,
    pub silence: SilenceLimits,
    /// The maximum time that it may stay after its answer, while pi has more to do.
    pub settle_timeout: Duration,
    pub child_control: &'a ChildControl,
    /// Gets its questions. Unbounded, because [`ChildControl::begin_question`] bounds how many are sent.
    pub questions: mpsc::UnboundedSender<PendingQuestion>,
    /// True if one of its extensions can ask. Otherwise a program that the child has started has forged the question.
    pub may_ask: bool,
    /// Tells the questions of its agent from all others.
    pub ask_key: AskKey,
    /// True if a pending question pauses the idle limits. The question has a limit of its own.
    pub pauses_while_asking: bool,
    pub enforcer: &'a BudgetEnforcer,
    pub loop_guard: LoopGuard<'a>,
    /// Is notified of the provider's rate limits and answers.
    pub provider: &'a dyn ProviderGate,
    /// The pause that the provider has asked for.
    pub limited: &'a Limited,
    pub announcing: Announcing,
    /// The state of its work's check.
    pub check: &'a CheckState,
    pub deadline: &'a Deadline,
    /// The child's responses to its commands.
    pub report: ProtocolReport,
    /// Removes the script's messages from its output.
    pub remote_output: Option<Box<RemoteOutput>>,
    /// True if its answer is the result, and it was told to stop.
    pub is_concluded: bool,
}

impl DrivenChild<'_> {
    fn busy(&self, live: &Live<'_>) -> Option<Busy> {
        if live.running_tools > 0 {
            return Some(Busy::Tool);
        }
        if self.child_control.is_asking() {
            return Some(Busy::Question);
        }
        live.compacting.then_some(Busy::Compaction)
    }

    /// Handles responses, questions, rate limits, spending and repetition.
    fn handle_events(&mut self, collector: &mut Collector) {
        for response in collector.take_responses() {
            let rejected = match response.id.as_deref() {
                Some(PROMPT_ID) => &mut self.report.prompt_rejected,
                Some(ANNOUNCE_ID) => &mut self.report.announcement_rejected,
                Some(CHECK_ID) => &mut self.report.check_rejected,
                _ => continue,
            };
            *rejected = rejected.take().or_else(|| rejection(response));
        }
        for id in collector.take_dropped_questions() {
            self.ask_key.note_lost_questions();
            self.child_control.send(Command::Answer(&id, &Answer::Cancelled));
        }
        for question in collector.take_questions() {
            self.ask(question);
        }
        if let Some(limit) = collector.take_rate_limit() {
            self.limited.note(limit);
            self.provider.limited(limit);
        }
        let live = collector.live();
        let has_turn = live.usage.turns > 0 && !live.stop_reason.is_some_and(StopReason::is_failure);
        if has_turn && self.limited.is_first_answer() {
            self.provider.answered();
        }
        self.enforcer.check(&live, |notice| self.child_control.handle_budget(notice));
        self.deadline.warn(&live, |message| self.child_control.advise(message));
        let warned = self.loop_guard.check(&live, |message| self.child_control.advise(message));
        self.report.loop_warning = warned.or_else(|| self.report.loop_warning.take());
    }

    /// Returns the child's current activity, and whether its work is done. Once it is, requests the announcement, or
    /// ends the child's input if nothing more is needed.
    fn advance(&mut self, collector: &mut Collector) -> (Option<Busy>, bool) {
        let live = collector.live();
        let busy = self.busy(&live);
        if live.is_concluded && !self.is_concluded {
            // It may have begun another turn, whose answer no one needs.
            self.child_control.pause_messages(true);
            self.child_control.send(Command::Abort);
        }
        self.is_concluded = live.is_concluded;
        match self.announcing {
            Announcing::Stopping => return self.ask_for_report(collector),
            Announcing::Requested => {
                let calls_tool = live.running_tools > 0 || live.stop_reason == Some(&StopReason::ToolUse);
                if calls_tool {
                    self.child_control.send(Command::Abort);
                }
                if live.finished || calls_tool || self.report.announcement_rejected.is_some() {
                    self.end_input();
                }
                // The work was done before the announcement was requested.
                return (None, true);
            }
            _ if self.report.check_rejected.is_some() => self.check.give_up(),
            _ if live.finished && self.may_check(&live) => {
                match self.check.next(|| self.enforcer.may_continue()) {
                    Next::Wait => {
                        self.child_control.pause_messages(true);
                        return (busy, false);
                    }
                    Next::Send(message) => {
                        self.child_control.pause_messages(false);
                        if self.child_control.send(Command::Check(&message)) {
                            collector.reopen();
                            return (None, false);
                        }
                        self.check.give_up();
                    }
                    Next::End => {}
                }
            }
            _ => {}
        }
        if self.check.has_failed() {
            // A run that fails announces nothing.
            self.announcing = Announcing::Never;
        }
        let live = collector.live();
        match self.announcing {
            Announcing::Wanted | Announcing::Missing
                if live.finished && self.may_announce(&live) && self.child_control.announce() =>
            {
                self.announcing = Announcing::Requested;
                collector.begin_epilogue();
                return (None, true);
            }
            _ => {}
        }
        let is_rejected = self.report.prompt_rejected.is_some() || self.report.check_rejected.is_some();
        let settled = live.settled || is_rejected || live.is_concluded || live.answered;
        if live.finished || is_rejected {
            self.end_input();
        }
        (busy, settled)
    }

    /// Asks the child for a report once it has stopped. Ends its input instead if it has answered already, if the
    /// budget does not cover another turn, or if it takes no request.
    fn ask_for_report(&mut self, collector: &mut Collector) -> (Option<Busy>, bool) {
        let live = collector.live();
        let has_answered = live.answered || (live.has_answer && live.stop_reason == Some(&StopReason::Stop));
        if !live.finished {
            return (self.busy(&live), false);
        }
        if has_answered || !self.enforcer.may_continue() || !self.child_control.ask_for_report() {
            self.end_input();
            return (None, true);
        }
        self.announcing = Announcing::Requested;
        self.report.asked_to_report = true;
        collector.begin_epilogue();
        (None, true)
    }

    /// Ends the child's input, so that it exits instead of waiting for more.
    fn end_input(&mut self) {
        self.announcing = Announcing::Never;
        // A child that takes no commands has already received its whole input. If it is remote, its input stays open as
        // its lifeline.
        if self.child_control.takes_commands() {
            self.child_control.input.end();
        }
    }

    /// Returns true if the child has done work that can be checked.
    fn may_check(&self, live: &Live<'_>) -> bool {
        let has_ended = live.stop_reason.is_none_or(|reason| !reason.is_failure());
        self.child_control.takes_commands()
            && has_ended
            && live.has_answer
            && self.report.prompt_rejected.is_none()
    }

    /// Returns true if the child can be asked for an announcement: its turn has ended well, and optional work still fits
    /// the budget. In the mode `auto` the child must also lack an answer.
    fn may_announce(&self, live: &Live<'_>) -> bool {
        self.report.prompt_rejected.is_none()
            && live.stop_reason == Some(&StopReason::Stop)
            && (self.announcing == Announcing::Wanted || !live.has_answer)
            && live.text.trim() != ANNOUNCE_SKIP
            && self.enforcer.has_room()
    }

    /// Forwards a question, or cancels it: if no extension of the child can ask, if the work is done, if too many
    /// questions are pending, or if a part of it was cut, because no one can approve hidden text.
    fn ask(&mut self, mut question: Question) {
        if !self.child_control.takes_commands() {
            return;
        }
        let is_done = self.announcing == Announcing::Requested;
        let is_from_agent = match self.ask_key.asker(&question.title) {
            Asker::Agent(text) => {
                question.title = text;
                true
            }
            Asker::Other => false,
            Asker::Key => return self.cancel(&question.id),
        };
        let is_forged = !is_from_agent && !self.may_ask;
        if is_forged {
            self.report.forged_questions = self.report.forged_questions.saturating_add(1);
        } else if !question.is_whole {
            self.report.has_cut_question = true;
        }
        if is_forged || is_done || !question.is_whole || !self.child_control.begin_question() {
            tracing::warn!(
                target: "question", is_forged, is_done, is_whole = question.is_whole,
                "a question of the child is declined"
            );
            self.cancel(&question.id);
        } else {
            // The receiver is gone once the run is ending. The child's question ends with it.
            let _ = self.questions.send(PendingQuestion { question, is_from_agent, since: Instant::now() });
        }
    }

    fn cancel(&self, question: &str) {
        self.child_control.send(Command::Answer(question, &Answer::Cancelled));
    }
}

/// Returns the reason why no model will work on a prompt, if there is one.
fn rejection(response: Response) -> Option<String> {
    match (response.success, response.disposition.as_deref()) {
        (false, _) => Some(response.error.unwrap_or_else(|| "it gave no reason".to_owned())),
        (true, Some(HANDLED)) => Some("one of its extensions took it for a command".to_owned()),
        (true, _) => None,
    }
}

impl Observer for DrivenChild<'_> {
    fn stdout(&mut self, chunk: &[u8]) -> Activity {
        let Some(mut remote_output) = self.remote_output.take() else { return self.read(chunk) };
        let own = remote_output.push(chunk);
        let is_transferring = remote_output.is_receiving() && !chunk.is_empty();
        let activity = self.read(&own);
        self.remote_output = Some(remote_output);
        Activity { is_transferring, ..activity }
    }

    fn interrupt(&mut self) -> bool {
        if self.announcing == Announcing::Wanted {
            self.announcing = Announcing::Never;
        }
        // Read before the abort, which ends the tool.
        self.report.stopped_in = self.busy(&self.collector.lock().collector.live());
        self.child_control.send(Command::Abort)
    }

    fn time_limit_reached(&mut self) -> Option<Duration> {
        let state = self.collector.lock();
        let live = state.collector.live();
        let has_begun = live.usage.turns > 0 || !live.text.is_empty();
        let may_report = has_begun
            && !live.is_concluded
            && !self.check.is_running()
            && self.announcing != Announcing::Requested
            && self.report.prompt_rejected.is_none();
        if !may_report || !self.child_control.send(Command::Abort) {
            return None;
        }
        tracing::info!(target: "run", "the child is stopped and asked for a report unless it has answered, because its time is up");
        self.child_control.pause_messages(true);
        self.report.was_speaking = live.streaming;
        self.announcing = Announcing::Stopping;
        Some(self.deadline.last_turn())
    }

    fn activity_changed(&self) -> Option<Arc<Notify>> {
        Some(self.child_control.activity_changed())
    }
}

impl DrivenChild<'_> {
    fn read(&mut self, chunk: &[u8]) -> Activity {
        let shared = self.collector;
        let mut state = shared.lock();
        let progress = state.collector.push(chunk);
        let has_event = progress.events > 0;
        if has_event {
            state.last_event = Instant::now();
            self.handle_events(&mut state.collector);
        }
        let (busy, settled) = self.advance(&mut state.collector);
        let live = state.collector.live();
        let pause = live.announced_pause.unwrap_or_default();
        let is_tidying = live.answered && !live.settled;
        state.changed |= progress.changed;
        drop(state);
        if progress.changed {
            shared.notify();
        }
        // A child that just got an answer needs time to act on it.
        let alive = has_event || self.child_control.take_answered();
        let stay = match self.announcing {
            Announcing::Requested => Some(ANNOUNCE_TIMEOUT),
            _ => is_tidying.then_some(self.settle_timeout),
        };
        let is_paused = self.check.is_running()
            || self.enforcer.is_waiting()
            || (self.pauses_while_asking && self.child_control.is_asking());
        let silence = self.silence.limit_for(busy).filter(|_| !is_paused);
        let silence = silence.map(|limit| limit.saturating_add(pause));
        Activity { alive, silence, settled, stay, is_transferring: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::budget::meter::Meter;
    use crate::run::callbacks::BoxFuture;
    use crate::run::drive::control::QuotaWaitTooLong;
    use crate::run::protocol::protocol_of;
    use agents::config::{Budget, LoopLimits, Protocol};
    use pi_events::RateLimit;
    use sanitizer::{Sanitizer, SanitizerOptions};
    use supervisor::Cancel;

    struct NoProvider;

    impl ProviderGate for NoProvider {
        fn limited(&self, _: RateLimit) {}

        fn answered(&self) {}

        fn wait_for_quota<'a>(
            &'a self,
            _: &'a (dyn Fn(Option<Duration>) + Sync),
        ) -> BoxFuture<'a, Result<(), QuotaWaitTooLong>> {
            let (provider, setting) = ("none".to_owned(), "quota.maxWaitMs");
            let refused = QuotaWaitTooLong { provider, next: None, limit: Duration::ZERO, setting };
            Box::pin(async { Err(refused) })
        }
    }

    /// Everything that a driven child refers to.
    struct Parts {
        collector: SharedCollector,
        child_control: Arc<ChildControl>,
        enforcer: BudgetEnforcer,
        sanitizer: Sanitizer,
        cancel: Cancel,
        limited: Limited,
        check: CheckState,
        deadline: Deadline,
    }

    impl Parts {
        fn new() -> Self {
            let rpc = protocol_of(Protocol::Rpc);
            Self {
                collector: SharedCollector::new(Collector::new()),
                child_control: ChildControl::new(rpc, rpc.first_input("look around"), None),
                enforcer: BudgetEnforcer::new(Meter::new(Budget::default(), None, "x"), Cancel::new()),
                sanitizer: Sanitizer::new(SanitizerOptions::default()),
                cancel: Cancel::new(),
                limited: Limited::default(),
                check: CheckState::new(false, 0),
                deadline: Deadline::new(Instant::now(), None),
            }
        }

        fn child(&self, questions: mpsc::UnboundedSender<PendingQuestion>) -> DrivenChild<'_> {
            DrivenChild {
                collector: &self.collector,
                silence: SilenceLimits { idle: None, tool: None },
                settle_timeout: SETTLE_TIMEOUT,
                child_control: &self.child_control,
                questions,
                may_ask: true,
                ask_key: AskKey::Never,
                pauses_while_asking: false,
                enforcer: &self.enforcer,
                loop_guard: LoopGuard::new(LoopLimits::default(), &self.sanitizer, &self.cancel),
                provider: &NoProvider,
                limited: &self.limited,
                announcing: Announcing::Never,
                check: &self.check,
                deadline: &self.deadline,
                report: ProtocolReport::default(),
                remote_output: None,
                is_concluded: false,
            }
        }
    }

    /// pi reports one compaction after the other, so the child is never silent.
    #[cfg(unix)]
    #[tokio::test]
    async fn a_child_that_never_rests_after_its_answer_is_ended_within_the_settle_timeout() {
        use supervisor::{ChildCommand, Outcome, SuperviseLimits, supervise};

        let script = r#"printf '%s\n' '{"type":"agent_start"}' \
            '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"The answer."}],"stopReason":"stop"}}' \
            '{"type":"agent_end","messages":[],"willRetry":false}'
            while :; do echo '{"type":"compaction_start"}'; sleep 0.02; echo '{"type":"compaction_end"}'; done"#;
        let command = ChildCommand {
            program: "/bin/sh".into(),
            args: ["-c", script].map(Into::into).to_vec(),
            cwd: "/".into(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            untrusted: Vec::new(),
            guardian: None,
        };
        let parts = Parts::new();
        let settle_timeout = Duration::from_millis(500);
        let mut child = DrivenChild { settle_timeout, ..parts.child(mpsc::unbounded_channel().0) };
        let limits = SuperviseLimits { grace: Duration::from_millis(200), ..SuperviseLimits::default() };
        let input = parts.child_control.input.clone();
        let run = supervise(command, input, limits, None, &parts.cancel, &mut child);
        let supervised = tokio::time::timeout(Duration::from_secs(30), run).await;
        let supervised = supervised.expect("the child is ended").expect("the shell starts");
        let Outcome::Settled { lingered, .. } = supervised.outcome else {
            panic!("the work was not settled: {:?}", supervised.outcome)
        };
        assert!(lingered && supervised.duration >= settle_timeout, "{:?}", supervised.duration);
        let text = parts.collector.finish().into_collected().text;
        assert_eq!(text.as_deref(), Some("The answer."));
    }

    /// Returns the record with which a child asks.
    fn question_event(number: usize) -> String {
        let fields = r#""method":"input","title":"Name?""#;
        format!("{{\"type\":\"extension_ui_request\",\"id\":\"q{number}\",{fields}}}\n")
    }

    #[test]
    fn sixteen_questions_wait_and_one_more_is_cancelled() {
        let rpc = protocol_of(Protocol::Rpc);
        // All numbers have two digits, so that all answers have the same length.
        let chunks: Vec<String> = (10..27).map(question_event).collect();
        let cancelled = rpc
            .encode(Command::Answer("q26", &Answer::Cancelled))
            .expect("the protocol has this command")
            .len();
        // If the questions arrive together, the newest ones are asked.
        for (chunks, waiting) in [(chunks.clone(), 10..26), (vec![chunks.concat()], 11..27)] {
            let parts = Parts::new();
            let child_control = &parts.child_control;
            let task = child_control.input.unwritten();
            let (questions, mut asked) = mpsc::unbounded_channel();
            let mut child = parts.child(questions);
            let mut passed_on = || {
                let ids = std::iter::from_fn(|| asked.try_recv().ok()).map(|asked| asked.question.id);
                ids.collect::<Vec<_>>()
            };
            for chunk in chunks {
                child.stdout(chunk.as_bytes());
            }
            assert_eq!(passed_on(), waiting.map(|number| format!("q{number}")).collect::<Vec<_>>());
            assert_eq!(child_control.input.unwritten() - task, cancelled, "one question is cancelled");

            child_control.end_question();
            child.stdout(question_event(30).as_bytes());
            child.stdout(question_event(31).as_bytes());
            assert_eq!(passed_on(), ["q30"], "an answer makes room for one question");
            assert_eq!(child_control.input.unwritten() - task, 2 * cancelled);
        }
    }
}
