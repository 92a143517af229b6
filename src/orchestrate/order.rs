//! Keeps what starts together in its order, where each needs a moment before it can take its place.

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A row of those who come one after the other.
#[derive(Debug, Default)]
pub(super) struct Order(Mutex<Option<oneshot::Receiver<()>>>);

impl Order {
    /// A row in which nobody is.
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Comes after all that were asked for before. The next one may come when this is dropped.
    pub(super) fn next(&self) -> InOrder {
        let (done, next) = oneshot::channel();
        let before = self.0.lock().replace(next);
        InOrder { before, _done: done }
    }
}

/// A place in the row.
#[derive(Debug)]
pub(super) struct InOrder {
    before: Option<oneshot::Receiver<()>>,
    /// Those behind wait for its end.
    _done: oneshot::Sender<()>,
}

impl InOrder {
    /// Waits until all before it are done. Cancel safe.
    pub(super) async fn come(&mut self) {
        if let Some(before) = &mut self.before {
            // It ends without a word.
            let _ = before.await;
            self.before = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_comes_when_those_before_it_are_done() {
        let order = Order::default();
        let (mut first, mut second, third) = (order.next(), order.next(), order.next());
        first.come().await;
        tokio::select! {
            biased;
            () = second.come() => panic!("the first one is not done"),
            () = tokio::task::yield_now() => {}
        }
        drop(third);
        drop(first);
        second.come().await;
        second.come().await;
        drop(second);
        order.next().come().await;
    }
}
