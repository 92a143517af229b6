//! One attempt of a run: a child gets its task and is followed to its end.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use super::boot::Booted;
use super::caller::{Answer, Caller, ChildQuestion};
use super::cause::chain;
use super::execute::Watchers;
use super::files::RunFiles;
use super::progress::{Progress, RunState};
use super::protocol::{
    Asked, Command, DrivenChild, LastWord, Reins, Sayings, SharedCollector, SilenceLimits, Steering,
};
use super::purse::Purse;
use super::ready::Ready;
use super::update::{ChildFacts, Updates, millis};
use crate::event::{Collected, Question, Usage};
use crate::process::{Cancel, SuperviseLimits, Supervised};

/// How long a child that has finished its work may take to leave.
const LINGER: Duration = Duration::from_secs(2);
/// How long output may go on after the child is gone, when something it left behind still holds the pipe.
const DRAIN: Duration = Duration::from_secs(1);

/// What an attempt works with.
pub(super) struct Attempt<'a> {
    /// The run.
    pub ready: &'a Ready,
    /// When its turn came.
    pub started: Instant,
    /// From 1.
    pub number: u32,
    /// What the attempts before have spent.
    pub earlier: &'a Usage,
    /// What it may spend.
    pub purse: &'a Purse,
    /// Ends the run.
    pub cancel: &'a Cancel,
    /// Takes messages for it.
    pub steering: &'a Steering,
    /// What is left of the run's hard limit.
    pub left: Option<Duration>,
}

/// How an attempt ended, with all that its child left behind.
pub(super) struct Attempted {
    pub supervised: Supervised,
    pub collected: Collected,
    /// What the child has said of itself.
    pub sayings: Sayings,
    pub files: RunFiles,
}

impl Attempt<'_> {
    /// Gives the child its task and follows it to its end. Fails, with the files, when the child's pipes cannot be served.
    pub(super) async fn run(
        self,
        booted: Booted,
        watchers: &Watchers<'_>,
        caller: &impl Caller,
    ) -> Result<Attempted, (String, RunFiles)> {
        let Booted { mut files, child, .. } = booted;
        files.keep_session();
        child.keep();
        let (config, prepared) = (self.ready.config(), &self.ready.prepared);
        let silence = SilenceLimits { idle: prepared.idle_timeout(), tool: config.tool_timeout };
        let limits = SuperviseLimits { hard: self.left, grace: config.grace, linger: LINGER, drain: DRAIN };
        let reins = Reins::new(config.protocol, &self.ready.spec.task);
        let _way = self.steering.open(&reins);
        let collector = SharedCollector::new();
        let last_word = if prepared.wishes.announces { LastWord::Wanted } else { LastWord::None };
        let (mut observer, questions) = DrivenChild::new(
            collector.clone(),
            silence,
            reins.clone(),
            self.purse,
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
            shows_use: prepared.wishes.announces,
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
            let drive = child.drive(reins.input.clone(), limits, silence.idle, self.cancel, &mut observer);
            tokio::select! {
                biased;
                supervised = drive => supervised,
                () = news.forward(&collector, watchers.progress) => unreachable!("it forwards until the end"),
                () = self.answer(questions, &files, &reins, caller) => unreachable!("it answers until the end"),
                () = self.share(&collector, &reins) => unreachable!("it looks until the end"),
            }
        };
        news.last(&collector, watchers.progress);
        let supervised = match supervised {
            Ok(supervised) => supervised,
            Err(error) => return Err((format!("{}: {}", error.stage(), chain(&error)), files)),
        };
        let sayings = observer.into_sayings();
        let collected = collector.finish().into_collected();
        Ok(Attempted { supervised, collected, sayings, files })
    }

    /// Has the questions of the child's extensions answered, one at a time, for as long as it is polled.
    async fn answer(
        &self,
        mut questions: UnboundedReceiver<Asked>,
        files: &RunFiles,
        reins: &Reins,
        caller: &impl Caller,
    ) {
        while let Some(Asked { question, since }) = questions.recv().await {
            let (id, originals) = (question.id.clone(), texts(&question.options, question.prefill.as_ref()));
            let over = question.timeout.and_then(|patience| since.checked_add(patience));
            let question = self.question(question, files);
            let shown = texts(&question.options, question.prefill.as_ref());
            let asked = caller.ask(question);
            let answer = match over {
                // The child has answered itself by then, perhaps while another question was answered.
                Some(over) if over <= Instant::now() => Answer::Cancelled,
                Some(over) => tokio::time::timeout_at(over.into(), asked).await.unwrap_or(Answer::Cancelled),
                None => asked.await,
            };
            reins.tell(Command::Answer(&id, &original(answer, &shown, originals)));
            reins.answered();
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
    async fn share(&self, collector: &SharedCollector, reins: &Reins) {
        let mut spending = self.purse.watch();
        loop {
            spending.changed().await;
            collector.view(|collector, _| self.purse.check(&collector.live(), reins));
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
