//! Asks a call to end its wait while its runs continue in the background.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::run::RunRecord;

/// The answer for a call that has stopped waiting.
const CALL_ENDED: &str = "the call has already ended";

/// The moved runs, or the reason why the call keeps waiting.
pub type BackgroundMoveAnswer = Result<Vec<RunRecord>, String>;

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
        async move { answer.await.unwrap_or_else(|_| Err(CALL_ENDED.to_owned())) }
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
            *state = State::Closed(Err(CALL_ENDED.to_owned()));
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
        call.answer(&Err("no".to_owned()));
        assert_eq!(first.await, Err("no".to_owned()));
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
        assert_eq!(request.await, Err(CALL_ENDED.to_owned()));
        assert_eq!(call.request().await, Err(CALL_ENDED.to_owned()));
    }
}
