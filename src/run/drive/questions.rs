//! Forwards questions of the child's extensions to the user, and the answers back.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use super::active_run::ActiveRun;
use super::child::PendingQuestion;
use super::child_control::ChildControl;
use crate::run::callbacks::{Answer, ChildQuestion, ShownQuestion};
use crate::run::protocol::Command;
use agents::AskTarget;
use pi_events::Question;

impl ActiveRun<'_> {
    /// Gets the answers to questions, one at a time. Runs until it is dropped.
    pub(super) async fn answer_questions(
        &self,
        mut pending: UnboundedReceiver<PendingQuestion>,
        child_control: &ChildControl,
    ) {
        while let Some(PendingQuestion { question, is_from_agent, since }) = pending.recv().await {
            let id = question.id.clone();
            let originals = texts(&question);
            let now = Instant::now();
            // The child's own limit starts when it asks, even if another question is still being answered.
            let child_deadline = question.timeout.and_then(|timeout| since.checked_add(timeout));
            let host_deadline = now + self.callbacks.answer_timeout();
            let deadline =
                child_deadline.map_or(host_deadline, |child_deadline| child_deadline.min(host_deadline));
            let remaining = deadline.saturating_duration_since(now);
            let question = self.child_question(Question { timeout: Some(remaining), ..question });
            let shown = shown_texts(&question.shown);
            let sanitized = texts(&question.question);
            let asked = if is_from_agent && self.admitted.ask_target() == AskTarget::Parent {
                self.callbacks.ask_parent(question)
            } else {
                self.callbacks.ask(question)
            };
            let answer = match remaining {
                Duration::ZERO => Answer::Cancelled,
                _ => tokio::time::timeout_at(deadline.into(), asked).await.unwrap_or(Answer::Cancelled),
            };
            let is_answered = answer != Answer::Cancelled;
            tracing::info!(
                target: "question", id, is_from_agent, waited = ?since.elapsed(), is_answered,
                "a question of the child has ended"
            );
            child_control.send(Command::Answer(&id, &original(answer, &[shown, sanitized], originals)));
            child_control.end_question();
        }
        std::future::pending::<()>().await;
    }

    /// Returns the question as the user sees it, and sanitized.
    fn child_question(&self, question: Question) -> ChildQuestion {
        let shown = ShownQuestion::of(&question);
        let clean = |text: String| self.sanitizer().sanitize(&text).into_string();
        let question = Question {
            title: clean(question.title),
            message: question.message.map(clean),
            options: distinct(question.options.into_iter().map(clean)),
            placeholder: question.placeholder.map(clean),
            prefill: question.prefill.map(clean),
            ..question
        };
        ChildQuestion {
            run_id: self.admitted.builder.run_id.get().into(),
            agent: self.admitted.resolved.agent.name.clone(),
            label: self.admitted.spec.label.clone(),
            is_for_conversation: false,
            question,
            shown,
        }
    }
}

/// Makes options distinct that sanitizing has made equal.
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

/// Returns the texts of a question that may come back unchanged as an answer.
fn texts(Question { options, prefill, .. }: &Question) -> Vec<String> {
    options.iter().chain(prefill).cloned().collect()
}

/// Returns the same texts as the user sees them.
fn shown_texts(ShownQuestion { options, prefill, .. }: &ShownQuestion) -> Vec<String> {
    options.iter().chain(prefill).map(ToString::to_string).collect()
}

/// Maps an answer that repeats a text, as it was shown or sanitized, back to the child's original text.
fn original(answer: Answer, as_given: &[Vec<String>], originals: Vec<String>) -> Answer {
    match answer {
        Answer::Value(value) => {
            let chosen = as_given.iter().find_map(|texts| texts.iter().position(|text| *text == value));
            Answer::Value(chosen.and_then(|index| originals.into_iter().nth(index)).unwrap_or(value))
        }
        other => other,
    }
}
