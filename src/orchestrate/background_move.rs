//! Asks a call to end its wait while its runs continue in the background.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use super::background::SpawnRefusal;
use crate::run::RunRecord;

/// The reason why a call keeps waiting for its runs, or why there is no such call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MoveError {
    /// The call has stopped waiting.
    #[error("the call has already ended")]
    CallEnded,
    /// The run has ended.
    #[error("it has already ended")]
    Ended,
    /// The run is being ended.
    #[error("it is ending")]
    Ending,
    /// No call waits for the run.
    #[error("it is already in the background")]
    InBackground,
    /// The call belongs to no conversation.
    #[error("a background run needs a conversation for its result, and there is no session")]
    NoSession,
    /// The moved run could not be stored.
    #[error("the store of runs cannot be used, as `/subagents doctor` says, and its result could be lost")]
    NoStore,
    /// The run may not continue in the background.
    #[error(transparent)]
    Refused(#[from] SpawnRefusal),
}

/// The moved runs, or the reason why the call keeps waiting.
pub type BackgroundMoveAnswer = Result<Vec<RunRecord>, MoveError>;

/// The handle that moves the runs of a call to the background. Clones serve the same call.
#[derive(Clone, Debug, Default)]
pub struct BackgroundMove(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    requested_signal: Notify,
}

#[derive(Debug)]
enum State {
    /// The call waits, or will. The requesters wait for the answer.
    Open(Vec<oneshot::Sender<BackgroundMoveAnswer>>),
    /// The last answer.
    Closed(BackgroundMoveAnswer),
}

impl Default for State {
    fn default() -> Self {
        Self::Open(Vec::new())
    }
}

impl BackgroundMove {
    /// Asks the call to move its runs to the background. Resolves with the moved runs once they are stored. A later
    /// request resolves with the same runs. A call that is still being prepared answers when it waits.
    ///
    /// # Errors
    ///
    /// With the reason why the call keeps waiting, or that it has ended.
    pub fn request(&self) -> impl Future<Output = BackgroundMoveAnswer> + Send + use<> {
        let (sender, answer) = oneshot::channel();
        match &mut *self.0.state.lock() {
            State::Open(requesters) => requesters.push(sender),
            State::Closed(answer) => drop(sender.send(answer.clone())),
        }
        self.0.requested_signal.notify_one();
        async move { answer.await.unwrap_or(Err(MoveError::CallEnded)) }
    }

    /// Resolves when a requester waits for an answer. Cancel safe.
    pub(super) async fn requested(&self) {
        loop {
            if matches!(&*self.0.state.lock(), State::Open(requesters) if !requesters.is_empty()) {
                return;
            }
            self.0.requested_signal.notified().await;
        }
    }

    /// Answers all open requests. After a refusal the call can be asked again.
    pub(super) fn answer(&self, answer: &BackgroundMoveAnswer) {
        let after = if answer.is_ok() { State::Closed(answer.clone()) } else { State::Open(Vec::new()) };
        let mut state = self.0.state.lock();
        if let State::Open(requesters) = std::mem::replace(&mut *state, after) {
            for sender in requesters {
                // The requester may be gone.
                let _ = sender.send(answer.clone());
            }
        }
    }

    /// Refuses all requests once the returned guard is dropped, because the call has then ended.
    pub(super) fn close_on_drop(&self) -> CloseOnDrop {
        CloseOnDrop(self.clone())
    }
}

/// Refuses further moves when the wait of its call ends.
pub(super) struct CloseOnDrop(BackgroundMove);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        let mut state = self.0.0.state.lock();
        if matches!(&*state, State::Open(_)) {
            // Dropping the senders answers the callers that have asked.
            *state = State::Closed(Err(MoveError::CallEnded));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_is_moved_once_and_can_be_requested_again_after_a_refusal() {
        let call = BackgroundMove::default();
        let guard = call.close_on_drop();
        let first = call.request();
        call.requested().await;
        call.answer(&Err(MoveError::Ending));
        assert_eq!(first.await, Err(MoveError::Ending));
        let second = call.request();
        let third = call.clone().request();
        call.requested().await;
        call.answer(&Ok(vec![RunRecord::default()]));
        assert_eq!(
            (second.await, third.await.map(|runs| runs.len())),
            (Ok(vec![RunRecord::default()]), Ok(1))
        );
        drop(guard);
        assert_eq!(call.request().await.map(|runs| runs.len()), Ok(1), "a later request gets the same runs");
    }

    #[tokio::test]
    async fn an_ended_call_refuses_requests() {
        let call = BackgroundMove::default();
        let guard = call.close_on_drop();
        let request = call.request();
        drop(guard);
        assert_eq!(request.await, Err(MoveError::CallEnded));
        assert_eq!(call.request().await, Err(MoveError::CallEnded));
    }
}
