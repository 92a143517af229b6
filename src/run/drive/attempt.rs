//! One attempt of a run: a child gets its task and is followed to its end.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use super::execute::Watchers;
use super::protocol::{
    Asked, ChildControl, Command, DrivenChild, LastWord, ProtocolReport, SharedCollector, SilenceLimits,
    Steering,
};
use super::updates::{ChildFacts, Updates};
use crate::event::{Collected, Question, Usage};
use crate::process::{Cancel, SuperviseLimits, Supervised};
use crate::run::admit::ready::Ready;
use crate::run::budget::enforcer::BudgetEnforcer;
use crate::run::callbacks::{Answer, ChildQuestion, HostCallbacks};
use crate::run::launch::boot::Booted;
use crate::run::launch::files::RunFiles;
use crate::run::progress::{Progress, RunState};
use crate::text::chain;
use crate::text::figures::millis;

/// How long a child that has finished its work may take to leave.
const LINGER: Duration = Duration::from_secs(2);
/// How long output may go on after the child is gone, when something it left behind still holds the pipe.
const DRAIN: Duration = Duration::from_secs(1);

/// What an attempt works with.
pub(in crate::run) struct Attempt<'a> {
    /// The run.
    pub ready: &'a Ready,
    /// When its turn came.
    pub started: Instant,
    /// From 1.
    pub number: u32,
    /// What the attempts before have spent.
    pub earlier: &'a Usage,
    /// What it may spend.
    pub enforcer: &'a BudgetEnforcer,
    /// Ends the run.
    pub cancel: &'a Cancel,
    /// Takes messages for it.
    pub steering: &'a Steering,
    /// What is left of the run's hard limit.
    pub left: Option<Duration>,
}

/// How an attempt ended, with all that its child left behind.
pub(in crate::run) struct Attempted {
    pub supervised: Supervised,
    pub collected: Collected,
    /// What the child has said of itself.
    pub protocol_report: ProtocolReport,
    pub files: RunFiles,
}

impl Attempt<'_> {
    /// Gives the child its task and follows it to its end. Fails, with the files, when the child's pipes cannot be served.
    pub(in crate::run) async fn run(
        self,
        booted: Booted,
        watchers: &Watchers<'_>,
        callbacks: &impl HostCallbacks,
    ) -> Result<Attempted, (String, RunFiles)> {
        let Booted { mut files, child, .. } = booted;
        files.keep_session();
        child.keep();
        let (config, prepared) = (self.ready.config(), &self.ready.prepared);
        let silence = SilenceLimits { idle: prepared.idle_timeout(), tool: config.tool_timeout };
        let limits = SuperviseLimits { hard: self.left, grace: config.grace, linger: LINGER, drain: DRAIN };
        let child_control = ChildControl::new(config.protocol, &self.ready.spec.task);
        let _way = self.steering.open(&child_control);
        let collector = SharedCollector::new();
        let last_word = if prepared.overrides.announces { LastWord::Wanted } else { LastWord::None };
        let (mut observer, questions) = DrivenChild::new(
            collector.clone(),
            silence,
            child_control.clone(),
            self.enforcer,
            watchers.rate_limited,
            last_word,
        );
        let (started, attempt, earlier) = (self.started, self.number, self.earlier);
        let news = Updates {
            started,
            attempt,
            earlier,
            sanitizer: &self.ready.sanitizer,
            share: self.ready.spec.siblings.max(1),
            child: ChildFacts::of(&child, &files),
            // Nobody waits for a run that announces itself, so who watches it wants to see that it lives.
            shows_use: prepared.overrides.announces,
        };
        watchers.progress.send_replace(news.child.within(Progress {
            state: RunState::Starting,
            attempt,
            usage: earlier.clone(),
            turn_count: earlier.turns,
            elapsed_ms: millis(started.elapsed()),
            ..Progress::default()
        }));
        let supervised = {
            let drive =
                child.drive(child_control.input.clone(), limits, silence.idle, self.cancel, &mut observer);
            tokio::select! {
                biased;
                supervised = drive => supervised,
                () = news.forward(&collector, watchers.progress) => unreachable!("it forwards until the end"),
                () = self.answer(questions, &files, &child_control, callbacks) => unreachable!("it answers until the end"),
                () = self.share(&collector, &child_control) => unreachable!("it looks until the end"),
            }
        };
        news.last(&collector, watchers.progress);
        let supervised = match supervised {
            Ok(supervised) => supervised,
            Err(error) => return Err((format!("{}: {}", error.stage(), chain(&error)), files)),
        };
        let protocol_report = observer.into_sayings();
        let collected = collector.finish().into_collected();
        Ok(Attempted { supervised, collected, protocol_report, files })
    }

    /// Has the questions of the child's extensions answered, one at a time, for as long as it is polled.
    async fn answer(
        &self,
        mut questions: UnboundedReceiver<Asked>,
        files: &RunFiles,
        child_control: &ChildControl,
        callbacks: &impl HostCallbacks,
    ) {
        while let Some(Asked { question, since }) = questions.recv().await {
            let (id, originals) = (question.id.clone(), texts(&question.options, question.prefill.as_ref()));
            let over = question.timeout.and_then(|patience| since.checked_add(patience));
            let question = self.question(question, files);
            let shown = texts(&question.options, question.prefill.as_ref());
            let asked = callbacks.ask(question);
            let answer = match over {
                // The child has answered itself by then, perhaps while another question was answered.
                Some(over) if over <= Instant::now() => Answer::Cancelled,
                Some(over) => tokio::time::timeout_at(over.into(), asked).await.unwrap_or(Answer::Cancelled),
                None => asked.await,
            };
            child_control.tell(Command::Answer(&id, &original(answer, &shown, originals)));
            child_control.answered();
        }
        std::future::pending::<()>().await;
    }

    /// The question as a person may see it.
    fn question(&self, question: Question, files: &RunFiles) -> ChildQuestion {
        let clean = |text: String| self.ready.sanitizer.sanitize(&text).into_string();
        ChildQuestion {
            run_id: files.run_id().to_owned(),
            agent: self.ready.agent().to_owned(),
            method: question.method,
            title: clean(question.title),
            message: question.message.map(clean),
            options: distinct(question.options.into_iter().map(clean)),
            placeholder: question.placeholder.map(clean),
            prefill: question.prefill.map(clean),
            timeout_ms: question.timeout.map(millis),
        }
    }

    /// Looks at what the run may still spend whenever others have spent from it, for as long as it is polled.
    async fn share(&self, collector: &SharedCollector, child_control: &ChildControl) {
        let mut spending = self.enforcer.watch();
        loop {
            spending.changed().await;
            collector.view(|collector, _| self.enforcer.check(&collector.live(), child_control));
        }
    }
}

/// Options that a person can tell apart, even where they differed only in what was removed from them.
fn distinct(options: impl Iterator<Item = String>) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for option in options {
        let mut name = option.clone();
        let mut number = 1;
        while shown.contains(&name) {
            number += 1;
            name = format!("{option} ({number})");
        }
        shown.push(name);
    }
    shown
}

/// The texts of a question that a person can send back as they are.
fn texts(options: &[String], prefill: Option<&String>) -> Vec<String> {
    options.iter().chain(prefill).cloned().collect()
}

/// The answer in the child's own words, where a person sends back what was shown of them.
fn original(answer: Answer, shown: &[String], originals: Vec<String>) -> Answer {
    match answer {
        Answer::Value(value) => {
            let chosen = shown.iter().position(|text| *text == value);
            Answer::Value(chosen.and_then(|index| originals.into_iter().nth(index)).unwrap_or(value))
        }
        other => other,
    }
}
