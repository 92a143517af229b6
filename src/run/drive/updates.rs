//! Sends progress during a run: at most twenty times a second, newest state only, and the last one is never lost.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::shared_collector::SharedCollector;
use crate::event::{DisplayItem, Usage, short_form};
use crate::process::{Started, Vitals};
use crate::run::launch::files::RunFiles;
use crate::run::outcome::clean::clean_items;
use crate::run::progress::{Progress, ProgressSender, Resources};
use crate::run::state::RunState;
use crate::text::figures::millis;
use crate::text::{Sanitized, Sanitizer};

/// The shortest time between two updates: more than twenty a second nobody can see.
pub(crate) const UPDATE_INTERVAL: Duration = Duration::from_millis(50);
/// Bytes for the text of an update. Text and items stay within 64 KiB.
const TEXT_BYTES: usize = 24 * 1024;
/// Bytes for all items of an update.
const ITEM_BYTES: usize = 32 * 1024;

/// The values that all updates of an attempt share.
pub(in crate::run) struct Updates<'a> {
    /// When the run got its permit.
    pub started: Instant,
    /// The current attempt, counted from 1.
    pub attempt: u32,
    /// Usage of the earlier attempts.
    pub earlier: &'a Usage,
    /// Sanitizes every string of an update.
    pub sanitizer: &'a Sanitizer,
    /// How many runs share the size limit of an update.
    pub share: usize,
    /// The facts about the child that are known from its start.
    pub child: ChildFacts,
    /// Whether a change of the child's resource usage alone sends an update. Otherwise it only rides along with other
    /// changes.
    pub shows_use: bool,
}

/// The facts about a child that are known from its start.
pub(in crate::run) struct ChildFacts {
    session_file: Option<Arc<Path>>,
    directory: Arc<Path>,
    pid: u32,
    vitals: Vitals,
}

impl ChildFacts {
    pub(in crate::run) fn of(child: &Started, files: &RunFiles) -> Self {
        Self {
            session_file: files.session().map(Arc::from),
            directory: files.directory().into(),
            pid: child.id(),
            vitals: child.vitals(),
        }
    }

    fn resources(&self) -> Option<Resources> {
        self.vitals.tally().map(Into::into)
    }

    /// Adds these facts to a progress.
    pub(in crate::run) fn within(&self, progress: Progress) -> Progress {
        Progress {
            session_file: self.session_file.clone(),
            directory: Some(Arc::clone(&self.directory)),
            pid: Some(self.pid),
            resources: self.resources(),
            ..progress
        }
    }
}

impl Updates<'_> {
    /// Sends progress until it is dropped. Cancel safe: [`Updates::last`] sends what is still pending.
    pub(in crate::run) async fn forward(&self, child: &SharedCollector, sender: &ProgressSender) {
        let mut vitals = self.child.vitals.clone();
        loop {
            tokio::select! {
                biased;
                () = child.changed() => {
                    self.last(child, sender);
                    tokio::time::sleep(UPDATE_INTERVAL).await;
                }
                () = vitals.changed() => {
                    sender.send_if_modified(|progress| {
                        progress.resources = self.child.resources();
                        self.shows_use
                    });
                }
            }
        }
    }

    /// Sends a last update if something changed since the previous one.
    pub(in crate::run) fn last(&self, child: &SharedCollector, sender: &ProgressSender) {
        if child.take_changed() {
            sender.send_replace(self.snapshot(child));
        }
    }

    /// The current state.
    #[must_use]
    fn snapshot(&self, child: &SharedCollector) -> Progress {
        // Copied under the lock and sanitized outside it, to hold the lock only briefly.
        let (text, items, mut usage, model, silent) = child.view(|collector, silent| {
            let live = collector.live();
            let model: Option<String> = live.model.map(str::to_owned);
            (live.text.to_owned(), live.display_items.to_vec(), live.usage.clone(), model, silent)
        });
        usage.add(self.earlier);
        let items = clean_items(&items, self.sanitizer);
        self.child.within(Progress {
            state: RunState::Running,
            attempt: self.attempt,
            text: newest(&self.sanitizer.sanitize_growing(&text), TEXT_BYTES / self.share).into(),
            last_tool: items.iter().rev().find_map(tool_line).map(Into::into),
            display_items: Arc::from(bounded(items, ITEM_BYTES / self.share)),
            turn_count: usage.turns,
            usage,
            elapsed_ms: millis(self.started.elapsed()),
            since_event_ms: millis(silent),
            model: model.map(|model| self.sanitizer.sanitize(&model).into_string()),
            ..Progress::default()
        })
    }
}

/// A tool call on one line.
fn tool_line(item: &DisplayItem) -> Option<String> {
    match item {
        DisplayItem::ToolCall { name, args } => Some(short_form(name, args)),
        DisplayItem::Text { .. } => None,
    }
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

/// The newest part of a text that fits as JSON, where a quote or a line end takes two bytes.
fn newest(text: &Sanitized, limit: usize) -> String {
    let clipped = text.clip_tail(limit);
    let surplus = json_len(&clipped).saturating_sub(limit);
    if surplus == 0 { clipped.into_string() } else { text.clip_tail(limit / 2).into_string() }
}

fn json_len(text: &str) -> usize {
    serde_json::to_string(text).map_or(text.len(), |json| json.len())
}
