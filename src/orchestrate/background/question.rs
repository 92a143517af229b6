//! Questions of agents with `ask: parent`: a background run asks the conversation that started it.
//!
//! The question is a delivery like the end of a run, stored, claimed and delivered in the same way, so it reaches the
//! conversation once. It is withdrawn when it is answered or time is up. The user can answer it as any other question;
//! the first answer counts. Questions of extensions never come this way: those are for a person alone.

use std::sync::Arc;
use std::time::Duration;

use tokio::select;

use super::deliver::withdraw;
use super::ending::{HostedBy, settle};
use super::live_run::LiveRun;
use super::service::BackgroundService;
use crate::present::RunQuestion;
use crate::run::{
    Answer, BoxFuture, ChildQuestion, ConfirmRequest, HostCallbacks, HostModel, RunRecord, spawn_task,
};
use sanitizer::figures::millis;
use store::{Delivery, now_ms};

/// The callbacks of a run in the list: they pass its requests to its host, and the questions of a background run also
/// to its conversation.
pub(super) struct ConversationCallbacks<'a> {
    pub service: &'a Arc<BackgroundService>,
    pub live: &'a Arc<LiveRun>,
    pub host: &'a dyn HostCallbacks,
}

impl HostCallbacks for ConversationCallbacks<'_> {
    fn is_interactive(&self) -> bool {
        self.host.is_interactive()
    }

    fn is_reachable(&self) -> bool {
        self.host.is_reachable()
    }

    fn answer_timeout(&self) -> Duration {
        self.host.answer_timeout()
    }

    fn confirm(&self, request: ConfirmRequest) -> BoxFuture<'_, Option<bool>> {
        self.host.confirm(request)
    }

    fn ask(&self, question: ChildQuestion) -> BoxFuture<'_, Answer> {
        let shown = ShownQuestion::new(self, &question.question.title);
        Box::pin(async move {
            let _shown = shown;
            self.host.ask(question).await
        })
    }

    fn ask_parent(&self, question: ChildQuestion) -> BoxFuture<'_, Answer> {
        if self.live.is_foreground() {
            return self.ask(question);
        }
        let shown = ShownQuestion::new(self, &question.question.title);
        Box::pin(async move {
            let _shown = shown;
            self.ask_conversation(question).await
        })
    }

    fn model<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<HostModel>> {
        self.host.model(name)
    }

    fn refresh<'a>(&'a self, provider: &'a str, valid_for: Duration) -> BoxFuture<'a, bool> {
        self.host.refresh(provider, valid_for)
    }
}

impl ConversationCallbacks<'_> {
    async fn ask_conversation(&self, question: ChildQuestion) -> Answer {
        let run = self.live.record();
        let Some((id, answered)) = self.live.question.open(&run, &question.question.title) else {
            return Answer::Cancelled;
        };
        let _withdraw = WithdrawOnDrop { service: self.service, live: self.live, id: id.clone() };
        let delivery = Delivery {
            id,
            session: run.session.clone(),
            key: run.key.clone(),
            body: self.body(&run, &question).to_json(),
            created_ms: now_ms(),
        };
        let person = async {
            match self.host.ask(ChildQuestion { is_for_conversation: true, ..question }).await {
                Answer::NoUser => std::future::pending().await,
                answer => answer,
            }
        };
        let conversation = async {
            let host = HostedBy::This(Arc::clone(self.live));
            settle(self.service, run, Some(delivery), host, None).await;
            match answered.await {
                Ok(text) => Answer::Value(text),
                Err(_) => std::future::pending().await,
            }
        };
        let (by, answer) = select! {
            biased;
            answer = conversation => ("conversation", answer),
            answer = person => ("user", answer),
        };
        let is_declined = answer == Answer::Cancelled;
        tracing::info!(target: "question", by, is_declined, "a question to the conversation has its answer");
        answer
    }

    fn body(&self, run: &RunRecord, ChildQuestion { question, .. }: &ChildQuestion) -> RunQuestion {
        let wait = question.timeout.unwrap_or_else(|| self.answer_timeout());
        RunQuestion {
            question: question.title.clone(),
            options: question.options.clone(),
            ends_ms: now_ms().saturating_add_unsigned(millis(wait)),
            triggers_turn: self.live.config.announce.trigger_turn,
            ..RunQuestion::of(run)
        }
    }
}

/// Shows the question on the run until this is dropped.
struct ShownQuestion<'a> {
    service: &'a BackgroundService,
    live: &'a LiveRun,
    title: String,
}

impl<'a> ShownQuestion<'a> {
    fn new(ConversationCallbacks { service, live, .. }: &ConversationCallbacks<'a>, title: &str) -> Self {
        live.add_question(title);
        service.registry.notify();
        Self { service, live, title: title.to_owned() }
    }
}

impl Drop for ShownQuestion<'_> {
    fn drop(&mut self) {
        self.live.remove_question(&self.title);
        self.service.registry.notify();
    }
}

/// Withdraws its question when dropped.
struct WithdrawOnDrop<'a> {
    service: &'a Arc<BackgroundService>,
    live: &'a Arc<LiveRun>,
    id: String,
}

impl Drop for WithdrawOnDrop<'_> {
    fn drop(&mut self) {
        self.live.question.close(&self.id);
        let service = Arc::clone(self.service);
        let live = Arc::clone(self.live);
        let id = self.id.clone();
        spawn_task(async move {
            withdraw(&service, &live, id).await;
        });
    }
}
