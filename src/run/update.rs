//! Updates on the way to a result: at most twenty a second, the newest state wins, the last one is never lost.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::clean::clean_items;
use super::protocol::SharedCollector;
use super::result::{Mode, RunDetails, Streaming, ToolResult};
use crate::event::DisplayItem;
use crate::text::Sanitizer;

/// Between two updates: twenty a second is what a person can see and a terminal can draw.
const INTERVAL: Duration = Duration::from_millis(50);
/// How long the last update waits for the host to take it.
const LAST_UPDATE: Duration = Duration::from_secs(1);
/// What the text of an update may hold. With the items it stays within 64 KiB.
const TEXT_BYTES: usize = 24 * 1024;
/// What the items of an update may hold together.
const ITEM_BYTES: usize = 32 * 1024;
/// The text of an update before the child has said anything.
const RUNNING: &str = "(running...)";

/// Where updates go: the channel's capacity of one is what coalesces them.
pub type UpdateSender = mpsc::Sender<ToolResult>;

/// What never changes between the updates of a run.
pub(super) struct Updates<'a> {
    /// The run's id.
    pub run_id: &'a str,
    /// When it started.
    pub started: Instant,
    /// The choke point that every string passes.
    pub sanitizer: &'a Sanitizer,
}

impl Updates<'_> {
    /// Sends updates for as long as it is polled. Cancel safe: [`Updates::last`] sends what was still to come.
    pub(super) async fn forward(&self, child: &SharedCollector, sender: &UpdateSender) {
        loop {
            child.changed().await;
            // Before the state is looked at: while a slow host works, the state grows, not a queue.
            let Ok(slot) = sender.reserve().await else { break };
            let _ = child.take_changed();
            slot.send(self.snapshot(child));
            tokio::time::sleep(INTERVAL).await;
        }
        // Nobody listens any more, which is no reason to end the run.
        std::future::pending::<()>().await;
    }

    /// Sends one more update when something changed since the last. A host that does not take it is not waited for.
    pub(super) async fn last(&self, child: &SharedCollector, sender: &UpdateSender) {
        if child.take_changed()
            && let Ok(Ok(slot)) = tokio::time::timeout(LAST_UPDATE, sender.reserve()).await
        {
            slot.send(self.snapshot(child));
        }
    }

    /// The state as an update shows it.
    #[must_use]
    pub(super) fn snapshot(&self, child: &SharedCollector) -> ToolResult {
        // Copied under the lock, sanitized outside it: the child's reader must not wait for a regular expression.
        let (text, items, usage, model, silent) = child.view(|collector, silent| {
            let live = collector.live();
            let model: Option<String> = live.model.map(str::to_owned);
            (live.text.to_owned(), live.display_items.to_vec(), live.usage.clone(), model, silent)
        });
        let text = if text.trim().is_empty() {
            RUNNING.to_owned()
        } else {
            self.sanitizer.sanitize(&text).clip_tail(TEXT_BYTES).into_string()
        };
        let streaming = Streaming {
            display_items: bounded(clean_items(&items, self.sanitizer), ITEM_BYTES),
            turn_count: usage.turns,
            usage,
            elapsed_ms: millis(self.started.elapsed()),
            since_event_ms: millis(silent),
            model: model.map(|model| self.sanitizer.sanitize(&model).into_string()),
        };
        ToolResult {
            text,
            is_error: false,
            usage: None,
            details: RunDetails {
                mode: Mode::Single,
                run_id: Some(self.run_id.to_owned()),
                results: Vec::new(),
                error: None,
                streaming: Some(streaming),
            },
        }
    }
}

/// Whole milliseconds; a duration too long to count is not one that can be waited for.
#[must_use]
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The newest items that fit, oldest first.
fn bounded(mut items: Vec<DisplayItem>, limit: usize) -> Vec<DisplayItem> {
    let mut room = limit;
    let keep = items.iter().rev().take_while(|item| {
        let size = size_of_item(item);
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    });
    let drop = items.len() - keep.count();
    items.drain(..drop);
    items
}

fn size_of_item(item: &DisplayItem) -> usize {
    match item {
        DisplayItem::Text { text } => text.len(),
        DisplayItem::ToolCall { name, args } => name.len() + args.to_string().len(),
    }
}
