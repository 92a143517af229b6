//! Sends progress during a run: at most ten times a second, newest state only, and the last one is never lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::active_run::ActiveRun;
use super::shared_collector::SharedCollector;
use crate::run::launch::files::RunFiles;
use crate::run::outcome::clean::clean_items;
use crate::run::progress::{Progress, Resources, RetryNotice};
use crate::run::state::RunState;
use pi_events::{DisplayItem, short_form};
use sanitizer::Sanitized;
use sanitizer::figures::millis;
use supervisor::ResourceMonitor;

/// The shortest time between two updates. Each one makes pi draw its screen, and people read no faster.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// Bytes for the text of an update. Text and items stay within 64 KiB.
const TEXT_BYTES: usize = 24 * 1024;
/// Bytes for all items of an update.
const ITEM_BYTES: usize = 32 * 1024;

/// Characters of the model's name.
const MODEL_CHARS: usize = 300;

/// Limits updates to one per [`UPDATE_INTERVAL`].
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    due: Option<Instant>,
}

impl Throttle {
    /// Waits until another update may be sent, then for the change to send. Cancel safe if `change` is.
    pub(crate) async fn next<T>(&mut self, change: impl Future<Output = T>) -> T {
        if let Some(due) = self.due {
            sleep_until(due).await;
        }
        let value = change.await;
        self.due = Some(Instant::now() + UPDATE_INTERVAL);
        value
    }
}

/// Sends the progress of an attempt to the watchers of its run.
pub(super) struct Updates<'a> {
    pub run: &'a ActiveRun<'a>,
    /// The current attempt, counted from 1.
    pub attempt: u32,
    pub resource_monitor: ResourceMonitor,
}

impl Updates<'_> {
    /// Sends the fields that are known from a child's start. Later updates keep them.
    pub(super) fn first(&self, pid: u32, files: &RunFiles) {
        let usage = self.run.earlier_usage().clone();
        self.run.watchers.progress.send_replace(Progress {
            session_file: files.session().map(Arc::from),
            directory: Some((&*files.directory).into()),
            pid: Some(pid),
            resources: self.resources(),
            ..self.run.progress(RunState::Starting, self.attempt, usage)
        });
    }

    /// Sends progress until it is dropped. Cancel safe: [`Updates::last`] sends the pending progress.
    pub(super) async fn forward(&self, child: &SharedCollector) {
        let mut resource_monitor = self.resource_monitor.clone();
        let mut throttle = Throttle::default();
        loop {
            tokio::select! {
                biased;
                () = throttle.next(child.changed()) => self.last(child),
                () = resource_monitor.changed() => {
                    self.run.watchers.progress.send_if_modified(|progress| {
                        progress.resources = self.resources();
                        // No caller waits for the result of a run that announces it, so its watchers want a sign of
                        // life. For other runs a change of this field alone sends no update.
                        self.run.admitted.resolved.announces
                    });
                }
            }
        }
    }

    /// Sends a last update if something changed since the previous one.
    pub(super) fn last(&self, child: &SharedCollector) {
        if !child.take_changed() {
            return;
        }
        // Copied under the lock and sanitized outside it, to hold the lock only briefly.
        let (text, items, retry, mut usage, context, model, silent) = child.view(|collector, silent| {
            let live = collector.live();
            let model: Option<String> = live.model.map(str::to_owned);
            let text = live.fenced_text();
            let items = live.display_items.to_vec();
            (text, items, live.retry.cloned(), live.usage.clone(), live.context, model, silent)
        });
        usage.add(self.run.earlier_usage());
        let sanitizer = self.run.sanitizer();
        let share = self.run.admitted.spec.siblings.max(1);
        let items = clean_items(&items, sanitizer);
        let progress = Progress {
            text: newest(&sanitizer.sanitize_growing(&text), TEXT_BYTES / share).into(),
            last_tool: items.iter().rev().find_map(tool_line).map(Into::into),
            display_items: Arc::from(bounded(items, ITEM_BYTES / share)),
            retry: retry.map(|retry| RetryNotice::by_pi(&retry, sanitizer)),
            context,
            since_event_ms: millis(silent),
            model: model.map(|model| sanitizer.line(&model, MODEL_CHARS).into_string()),
            resources: self.resources(),
            ..self.run.progress(RunState::Running, self.attempt, usage)
        };
        self.run.watchers.progress.send_modify(|shown| {
            let Progress { session_file, directory, pid, .. } = std::mem::take(shown);
            *shown = Progress { session_file, directory, pid, ..progress };
        });
    }

    fn resources(&self) -> Option<Resources> {
        self.resource_monitor.tally().map(Into::into)
    }
}

/// Formats a tool call on one line.
fn tool_line(item: &DisplayItem) -> Option<String> {
    match item {
        DisplayItem::ToolCall { name, args, .. } => Some(short_form(name, args)),
        DisplayItem::Text { .. } => None,
    }
}

/// Returns the newest items that fit, the oldest of them first.
fn bounded(mut items: Vec<DisplayItem>, limit: usize) -> Vec<DisplayItem> {
    let mut room = limit;
    let fitting = items.iter().rev().take_while(|item| {
        let size = item.json_bytes();
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    });
    let drop = items.len() - fitting.count();
    items.drain(..drop);
    items
}

/// Returns the newest part of a text that fits as JSON, where a quote or a line break takes two bytes.
fn newest(text: &Sanitized, limit: usize) -> String {
    let clipped = text.clip_tail(limit);
    let surplus = json_len(&clipped).saturating_sub(limit);
    if surplus == 0 { clipped.into_string() } else { text.clip_tail(limit / 2).into_string() }
}

fn json_len(text: &str) -> usize {
    serde_json::to_string(text).map_or(text.len(), |json| json.len())
}
