//! One attempt of a run: gives a child its task and drives it to its end.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;

use super::active_run::ActiveRun;
use super::child::{Announcing, DrivenChild, SETTLE_TIMEOUT, SilenceLimits};
use super::child_control::ChildControl;
use super::child_control::TurnGrants;
use super::commands::{CheckState, Checks, Tree};
use super::deadline::Deadline;
use super::loop_guard::LoopGuard;
use super::shared_collector::SharedCollector;
use super::updates::Updates;
use crate::run::launch::boot::{Booted, Prepared};
use crate::run::launch::files::RunFiles;
use crate::run::launcher::RemoteOutput;
use crate::run::outcome::announcement::use_reply;
use crate::run::protocol::AskKey;
use crate::run::result::verdict::{AttemptReport, ProtocolReport, Verdict};
use agents::config::AnnounceMode;
use agents::{AskTarget, SUBMIT};
use pi_events::Collector;
use sanitizer::chain;
use supervisor::{CancelReason, ChildCommand, Outcome, Started, SuperviseLimits};

/// The maximum time that a child may take to exit after its work.
const LINGER: Duration = Duration::from_secs(2);
/// The same for a remote child, whose launcher cleans up on the remote machine before it exits.
const REMOTE_LINGER: Duration = Duration::from_secs(10);
/// The maximum time that a remote child with a private tree may take to send its changes after it was ended. The caller
/// is waiting.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(20);
/// The maximum wait for the end of the output after the child has exited, if a process that it left behind holds the
/// pipe.
const DRAIN: Duration = Duration::from_secs(1);

impl ActiveRun<'_> {
    /// Gives a child its task and drives it to its end. Attempts are counted from 1.
    ///
    /// # Errors
    ///
    /// Fails if the tree cannot be prepared, or if the child's pipes cannot be served. The files are returned in any
    /// case.
    #[tracing::instrument(target = "run", name = "attempt", skip_all, fields(number = attempt))]
    pub(super) async fn attempt(
        &self,
        attempt: u32,
        Booted { mut prepared, child }: Booted,
    ) -> (RunFiles, Result<AttemptReport, Verdict>) {
        let protocol = self.admitted.resolved.protocol;
        let input = prepared.first_input(protocol, &self.admitted.spec.task);
        let turns = self.admitted.resolved.needs_turn_grants();
        let turns = turns.then(|| TurnGrants::new(prepared.files.guard.clone(), self.cancel.clone()));
        let child_control = ChildControl::new(protocol, input, turns);
        let Prepared { mut files, command, remote_output, .. } = prepared;
        files.keep_session();
        child.tree.keep();
        self.hold_locks(&child.tree);
        let ended = self.drive_child(attempt, &files, &command, child, child_control, remote_output).await;
        (files, ended)
    }

    #[tracing::instrument(target = "child", name = "child", skip_all, fields(pid = child.tree.id()))]
    async fn drive_child(
        &self,
        attempt: u32,
        files: &RunFiles,
        command: &ChildCommand,
        child: Started,
        child_control: Arc<ChildControl>,
        script: Option<Box<RemoteOutput>>,
    ) -> Result<AttemptReport, Verdict> {
        let resolved = &self.admitted.resolved;
        let tree = Tree { files, child: command, mechanisms: child.tree.mechanisms() };
        if attempt == 1
            && let Err(verdict) = self.set_up(&tree).await
        {
            child.discard().await;
            return Err(verdict);
        }
        let silence =
            SilenceLimits { idle: resolved.config.idle_timeout, tool: resolved.config.tool_timeout };
        let hard = resolved.timeout;
        let limits = self.limits(script.is_some());
        self.steering.register(&child_control);
        let submits = resolved.agent.output_schema.is_some();
        let collector = Collector::new()
            .after_banner(resolved.launcher.first_line())
            .with_sent_messages(child_control.sent.clone());
        let collector =
            SharedCollector::new(if submits { collector.with_submit_tool(SUBMIT) } else { collector });
        let can_ask = self.admitted.ask_target() != AskTarget::NoOne;
        let check = CheckState::new(resolved.check().is_some(), resolved.config.check.attempts);
        let deadline = Deadline::new(self.started, hard);
        let (questions, pending) = mpsc::unbounded_channel();
        let mut observer = DrivenChild {
            collector: &collector,
            silence,
            settle_timeout: SETTLE_TIMEOUT,
            child_control: &child_control,
            questions,
            may_ask: resolved.may_ask(&self.admitted.spec.context, self.admitted.tools()),
            ask_key: if can_ask { AskKey::Expected } else { AskKey::Never },
            pauses_while_asking: can_ask,
            enforcer: &self.enforcer,
            loop_guard: LoopGuard::new(resolved.config.loops, self.sanitizer(), &self.cancel),
            provider: self.watchers.provider,
            limited: &self.limited,
            announcing: self.announcing(),
            check: &check,
            deadline: &deadline,
            report: ProtocolReport::default(),
            remote_output: script,
            is_concluded: false,
        };
        let checks = Checks { state: &check, tree: &tree };
        let updates = Updates { run: self, attempt, resource_monitor: child.tree.resource_monitor() };
        updates.first(child.tree.id(), files);
        let stop = self.cancel.child();
        let has_ended = AtomicBool::new(false);
        let mut checking = pin!(self.run_checks(&checks, &child_control, &stop));
        let supervised = {
            let checking = async {
                checking.as_mut().await;
                has_ended.store(true, Ordering::Relaxed);
                std::future::pending::<()>().await;
            };
            let drive =
                child.drive(child_control.input.clone(), limits, silence.idle, &self.cancel, &mut observer);
            tokio::select! {
                biased;
                supervised = drive => supervised,
                () = updates.forward(&collector) => unreachable!("it forwards until the end"),
                () = self.answer_questions(pending, &child_control) => unreachable!("it answers until the end"),
                () = checking => unreachable!("it waits for the end"),
                () = self.watch_limits(&collector, &child_control, &deadline) => unreachable!("it watches until the end"),
            }
        };
        if !has_ended.load(Ordering::Relaxed) {
            // A running check has lost its child. None of its processes may remain.
            stop.cancel(CancelReason::Dropped);
            checking.await;
        }
        updates.last(&collector);
        let mut supervised = match supervised {
            Ok(supervised) => supervised.logged(),
            Err(error) => return Err(Verdict::failed(1, format!("{}: {}", error.stage(), chain(&error)))),
        };
        if let (Outcome::HardTimeout { limit }, Some(hard)) = (&mut supervised.outcome, hard) {
            // This attempt had only the rest of the limit, but the report names the whole limit.
            *limit = hard;
        }
        let protocol_report = observer.report;
        *self.remote_output.lock() = observer.remote_output;
        let mut collected = collector.finish().into_collected();
        use_reply(&mut collected, &protocol_report);
        let remote_end = resolved.launcher.remote_end(&collected.noise, collected.last_event.is_some());
        collected.noise = resolved.launcher.own_output(collected.noise);
        let mut report = AttemptReport {
            supervised,
            collected,
            protocol_report,
            limited_by: resolved.limited_by,
            permission_hooks: resolved.permission_hooks.clone(),
            submits,
            check: None,
            lacks_check: check.is_due(),
            remote_end,
        };
        self.check_late(&checks, hard, &mut report).await;
        (report.check, report.lacks_check) = (check.report(), check.is_due());
        Ok(report)
    }

    /// Runs the check of a child that succeeded but takes no messages, or has exited by itself.
    async fn check_late(&self, checks: &Checks<'_>, hard: Option<Duration>, report: &mut AttemptReport) {
        if !checks.state.is_due() || !Verdict::of(report, self.sanitizer()).is_success() {
            return;
        }
        let remaining = hard.map(|limit| limit.saturating_sub(self.started.elapsed()));
        if let Some(outcome) = self.check(checks, remaining, &self.cancel).await {
            report.supervised.outcome = match (outcome, hard) {
                (Outcome::HardTimeout { .. }, Some(limit)) => Outcome::HardTimeout { limit },
                (outcome, _) => outcome,
            };
        }
    }

    fn announcing(&self) -> Announcing {
        let resolved = &self.admitted.resolved;
        match resolved.config.announce.mode {
            AnnounceMode::Ask if resolved.announces => Announcing::Wanted,
            AnnounceMode::Auto if resolved.announces => Announcing::Missing,
            _ => Announcing::Never,
        }
    }

    /// Returns the limits of a child. `may_transfer` is true for a remote child that may have to send changes back.
    fn limits(&self, may_transfer: bool) -> SuperviseLimits {
        let resolved = &self.admitted.resolved;
        SuperviseLimits {
            hard: resolved.timeout.map(|limit| limit.saturating_sub(self.started.elapsed())),
            grace: resolved.config.grace,
            linger: if resolved.launcher.remote_name().is_some() { REMOTE_LINGER } else { LINGER },
            drain: DRAIN,
            leave: if may_transfer { TRANSFER_TIMEOUT } else { Duration::ZERO },
        }
    }

    /// Checks the budget whenever another run of the session has spent from it, and the time once it is near its limit.
    /// Runs until it is dropped.
    async fn watch_limits(
        &self,
        collector: &SharedCollector,
        child_control: &ChildControl,
        deadline: &Deadline,
    ) {
        let mut spending = self.enforcer.watch();
        let mut near = pin!(deadline.is_near());
        let mut is_near = false;
        loop {
            tokio::select! {
                () = spending.changed() => collector.view(|collector, _| {
                    self.enforcer.check(&collector.live(), |notice| child_control.handle_budget(notice));
                }),
                () = &mut near, if !is_near => {
                    is_near = true;
                    collector.view(|collector, _| {
                        deadline.warn(&collector.live(), |message| child_control.advise(message));
                    });
                }
            }
        }
    }
}
