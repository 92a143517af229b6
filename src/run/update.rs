//! Updates on the way to a result: at most twenty a second, the newest state wins, the last one is never lost.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::clean::clean_items;
use super::protocol::SharedCollector;
use super::result::{Mode, RunDetails, Streaming, ToolResult};
use crate::event::DisplayItem;
use crate::text::{Sanitized, Sanitizer};

/// Between two updates: twenty a second is what a person can see and a terminal can draw.
const INTERVAL: Duration = Duration::from_millis(50);
/// What the text of an update may hold. With the items it stays within 64 KiB.
const TEXT_BYTES: usize = 24 * 1024;
/// What the items of an update may hold together.
const ITEM_BYTES: usize = 32 * 1024;
/// The text of an update before the child has said anything.
const RUNNING: &str = "(running...)";

/// Where updates go. It holds the newest state only: while a host is busy, states are replaced, not queued.
pub type UpdateSender = watch::Sender<Option<ToolResult>>;

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
            self.last(child, sender);
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Sends one more update when something changed since the last.
    pub(super) fn last(&self, child: &SharedCollector, sender: &UpdateSender) {
        if child.take_changed() {
            sender.send_replace(Some(self.snapshot(child)));
        }
    }

    /// The state as an update shows it.
    #[must_use]
    pub(super) fn snapshot(&self, child: &SharedCollector) -> ToolResult {
        // Copied under the lock, which is held for as short as can be, and sanitized outside it.
        let (text, items, usage, model, silent) = child.view(|collector, silent| {
            let live = collector.live();
            let model: Option<String> = live.model.map(str::to_owned);
            (live.text.to_owned(), live.display_items.to_vec(), live.usage.clone(), model, silent)
        });
        let text = if text.trim().is_empty() {
            RUNNING.to_owned()
        } else {
            newest(&self.sanitizer.sanitize_growing(&text), TEXT_BYTES)
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
        DisplayItem::Text { text } => json_len(text),
        DisplayItem::ToolCall { name, args } => json_len(name) + args.to_string().len(),
    }
}

/// The newest part of a text that fits as JSON, where a quote or a line end counts twice.
fn newest(text: &Sanitized, limit: usize) -> String {
    let clipped = text.clip_tail(limit);
    let surplus = json_len(&clipped).saturating_sub(limit);
    if surplus == 0 { clipped.into_string() } else { text.clip_tail(limit / 2).into_string() }
}

fn json_len(text: &str) -> usize {
    serde_json::to_string(text).map_or(text.len(), |json| json.len())
}
