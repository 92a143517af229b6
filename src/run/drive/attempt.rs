//! One attempt of a run: gives a child its task and drives it to its end.

use std::time::{Duration, Instant};

use super::child::{Announcing, DrivenChild, SilenceLimits};
use super::child_control::ChildControl;
use super::control::{Steering, Watchers};
use super::protocol::protocol_of;
use super::questions::Questions;
use super::shared_collector::SharedCollector;
use super::updates::{ChildFacts, Updates};
use crate::event::Usage;
use crate::process::{Cancel, Outcome, SuperviseLimits};
use crate::run::admit::admitted::AdmittedRun;
use crate::run::budget::enforcer::BudgetEnforcer;
use crate::run::callbacks::HostCallbacks;
use crate::run::launch::boot::Booted;
use crate::run::launch::files::RunFiles;
use crate::run::outcome::verdict::AttemptReport;
use crate::run::progress::Progress;
use crate::run::state::RunState;
use crate::text::chain;
use crate::text::figures::millis;

/// How long a child that has finished its work may take to exit.
const LINGER: Duration = Duration::from_secs(2);
/// How long to read output after the child has exited, when a process that it left behind still holds the pipe.
const DRAIN: Duration = Duration::from_secs(1);

/// One attempt and everything it needs.
pub(super) struct Attempt<'a> {
    pub admitted: &'a AdmittedRun,
    /// When the run got its permit.
    pub started: Instant,
    /// The number of the attempt, from 1.
    pub number: u32,
    /// Usage of the earlier attempts.
    pub earlier: &'a Usage,
    pub enforcer: &'a BudgetEnforcer,
    /// Cancels the run.
    pub cancel: &'a Cancel,
    /// Delivers messages to the child.
    pub steering: &'a Steering,
}

impl Attempt<'_> {
    /// Gives the child its task and drives it to its end.
    ///
    /// # Errors
    ///
    /// When the child's pipes cannot be served. The error includes the files.
    pub(super) async fn run(
        self,
        booted: Booted,
        watchers: &Watchers<'_>,
        callbacks: &dyn HostCallbacks,
    ) -> Result<(AttemptReport, RunFiles), (String, RunFiles)> {
        let Booted { mut files, child, .. } = booted;
        files.keep_session();
        child.keep();
        let (config, resolved) = (self.admitted.config(), &self.admitted.resolved);
        let silence = SilenceLimits { idle: resolved.idle_timeout, tool: config.tool_timeout };
        let hard = resolved.timeout;
        let left = hard.map(|limit| limit.saturating_sub(self.started.elapsed()));
        let limits = SuperviseLimits { hard: left, grace: config.grace, linger: LINGER, drain: DRAIN };
        let child_control = ChildControl::new(protocol_of(config.protocol), &self.admitted.spec.task);
        let _open = self.steering.open(&child_control);
        let collector = SharedCollector::new();
        let announcing = if resolved.announces { Announcing::Wanted } else { Announcing::Never };
        let (mut observer, pending) = DrivenChild::new(
            collector.clone(),
            silence,
            child_control.clone(),
            self.enforcer,
            watchers.rate_limited,
            announcing,
        );
        let (started, attempt, earlier) = (self.started, self.number, self.earlier);
        let updates = Updates {
            started,
            attempt,
            earlier,
            sanitizer: &self.admitted.sanitizer,
            share: self.admitted.spec.siblings.max(1),
            child: ChildFacts::of(&child, &files),
            // Nobody waits for the result of such a run, so its watchers want to see that it is alive.
            shows_use: resolved.announces,
        };
        watchers.progress.send_replace(updates.child.within(Progress {
            state: RunState::Starting,
            attempt,
            usage: earlier.clone(),
            turn_count: earlier.turns,
            elapsed_ms: millis(started.elapsed()),
            ..Progress::default()
        }));
        let questions = Questions {
            run_id: files.run_id(),
            agent: self.admitted.agent(),
            sanitizer: &self.admitted.sanitizer,
        };
        let supervised = {
            let drive =
                child.drive(child_control.input.clone(), limits, silence.idle, self.cancel, &mut observer);
            tokio::select! {
                biased;
                supervised = drive => supervised,
                () = updates.forward(&collector, watchers.progress) => unreachable!("it forwards until the end"),
                () = questions.answer(pending, &child_control, callbacks) => unreachable!("it answers until the end"),
                () = self.watch_spending(&collector, &child_control) => unreachable!("it watches until the end"),
            }
        };
        updates.last(&collector, watchers.progress);
        let mut supervised = match supervised {
            Ok(supervised) => supervised,
            Err(error) => return Err((format!("{}: {}", error.stage(), chain(&error)), files)),
        };
        if let (Outcome::HardTimeout { limit }, Some(hard)) = (&mut supervised.outcome, hard) {
            // This attempt only had the rest that the earlier ones left; report the whole limit.
            *limit = hard;
        }
        let protocol_report = observer.into_report();
        let collected = collector.finish().into_collected();
        let limited_by = resolved.limited_by;
        Ok((AttemptReport { supervised, collected, protocol_report, limited_by }, files))
    }

    /// Checks the budget whenever another run of the session has spent from it. Runs until it is dropped.
    async fn watch_spending(&self, collector: &SharedCollector, child_control: &ChildControl) {
        let mut spending = self.enforcer.watch();
        loop {
            spending.changed().await;
            collector.view(|collector, _| {
                self.enforcer.check(&collector.live(), |words| child_control.wrap_up(words));
            });
        }
    }
}
