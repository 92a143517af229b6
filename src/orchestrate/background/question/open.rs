//! The open question of a run, and the ids that identify the delivery of a question.

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::run::RunRecord;
use store::Delivery;

/// The maximum number of questions of one run. Each costs the conversation a turn.
const MAX_QUESTIONS: u32 = 32;
/// Between the id of a run's end and the number of its question.
const QUESTION_INFIX: &str = "-q";

/// Returns true if a delivery is a question.
pub(in super::super) fn is_question(delivery: &Delivery) -> bool {
    is_question_id(&delivery.id)
}

/// Returns true if this is the id of a question instead of an end.
pub(in super::super) fn is_question_id(id: &str) -> bool {
    id.contains(QUESTION_INFIX)
}

/// The question of a run that waits for its conversation's answer, if there is one.
#[derive(Debug, Default)]
pub(in super::super) struct OpenQuestion(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    asked: u32,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    id: String,
    text: String,
    answer: oneshot::Sender<String>,
}

impl OpenQuestion {
    /// Answers the question. `false`: there is none.
    pub(in super::super) fn answer(&self, text: &str) -> bool {
        let open = self.0.lock().open.take();
        open.is_some_and(|open| open.answer.send(text.to_owned()).is_ok())
    }

    /// Returns the pending question, if there is one.
    pub(in super::super) fn text(&self) -> Option<String> {
        self.0.lock().open.as_ref().map(|open| open.text.clone())
    }

    pub(super) fn is(&self, id: &str) -> bool {
        self.0.lock().open.as_ref().is_some_and(|open| open.id == id)
    }

    /// Opens one for a run. `None`: it has asked often enough.
    pub(super) fn open(&self, run: &RunRecord, text: &str) -> Option<(String, oneshot::Receiver<String>)> {
        let mut state = self.0.lock();
        state.asked = state.asked.checked_add(1).filter(|asked| *asked <= MAX_QUESTIONS)?;
        let (answer, answered) = oneshot::channel();
        let id = format!("{}-{}{QUESTION_INFIX}{}", run.key, run.times_resumed, state.asked);
        state.open = Some(Open { id: id.clone(), text: text.to_owned(), answer });
        Some((id, answered))
    }

    pub(super) fn close(&self, id: &str) {
        let mut state = self.0.lock();
        if state.open.as_ref().is_some_and(|open| open.id == id) {
            state.open = None;
        }
    }
}
