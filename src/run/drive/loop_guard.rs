//! Ends a child that repeats itself: the same tool calls with the same results, or one refused result after another.

use crate::run::outcome::clean::clean_items;
use agents::config::LoopLimits;
use pi_events::{DisplayItem, Live, RefusedResults, Repeats, short_form};
use sanitizer::{Sanitizer, quoted_within};
use supervisor::{Cancel, CancelReason};

/// The smallest effective limit of repetitions. With a smaller one, every call would count.
const MIN_REPEATS: u64 = 2;
/// The maximum number of calls of a round that are named, and the maximum length of each name, in characters.
const MAX_NAMED: usize = 4;
const NAME_CHARS: usize = 120;
/// The number of refused results at which the run ends. These results differ, so the limits of repetition do not apply.
const MAX_REFUSED_RESULTS: u32 = 10;
/// Characters of the reason for a refusal.
const REASON_CHARS: usize = 2_000;

/// Watches one attempt of a run.
pub(super) struct LoopGuard<'a> {
    pub limits: LoopLimits,
    pub sanitizer: &'a Sanitizer,
    /// Cancels this run only, not its siblings.
    pub cancel: &'a Cancel,
    last_warning: Option<Warning>,
}

/// The repetition that the child was last warned about.
#[derive(Clone, Copy)]
struct Warning {
    began: u64,
    /// The number of repetitions at which the run ends. A child that is ahead of this process has made more calls by
    /// the time it is warned. Then the limit is raised, so that as many calls remain after the warning.
    stop_after: Option<u64>,
}

impl<'a> LoopGuard<'a> {
    pub(super) fn new(limits: LoopLimits, sanitizer: &'a Sanitizer, cancel: &'a Cancel) -> Self {
        Self { limits, sanitizer, cancel, last_warning: None }
    }

    /// Warns a child that repeats itself, once for each repetition, and ends its run if the warning did not help.
    /// Returns the repeated calls if the child was warned now.
    ///
    /// A message that is under way may be the answer, so the warning waits for its end.
    pub(super) fn check(&mut self, live: &Live<'_>, steer: impl FnOnce(&str) -> bool) -> Option<String> {
        self.check_refused(live.refused_results);
        let repeats = live.repeats?;
        let [warn_after, stop_after] = [self.limits.warn_after, self.limits.stop_after]
            .map(|limit| limit.map(|times| times.max(MIN_REPEATS)));
        let is_same = |warning: &Warning| warning.began == repeats.began;
        let warn_after = warn_after
            .filter(|times| {
                *times <= repeats.times && stop_after.is_none_or(|stop_after| *times < stop_after)
            })
            .filter(|_| !self.last_warning.as_ref().is_some_and(is_same));
        if let Some(warn_after) = warn_after.filter(|_| live.streaming) {
            // The child gets as many further calls as after a warning. Without this limit, a child whose messages are
            // always under way when they are read would never be ended.
            let limit = stop_after.map(|stop_after| 2 * stop_after - warn_after);
            if limit.is_none_or(|times| repeats.times < times) {
                return None;
            }
        }
        let new_warning = warn_after.filter(|_| live.continues()).and_then(|warn_after| {
            let repeated = self.repeated(live, repeats);
            let stop_after_warning = stop_after.map(|times| times.max(repeats.times + times - warn_after));
            let is_received = steer(&message(&repeated, stop_after_warning));
            tracing::info!(
                target: "child", times = repeats.times, is_received,
                "the child gets a warning about its repetition"
            );
            self.last_warning = Some(Warning {
                began: repeats.began,
                stop_after: if is_received { stop_after_warning } else { stop_after },
            });
            is_received.then_some(repeated)
        });
        let stop_after = self.last_warning.filter(is_same).map_or(stop_after, |warning| warning.stop_after);
        if stop_after.is_some_and(|times| repeats.times >= times) {
            tracing::warn!(
                target: "child", times = repeats.times, setting = "loop.stopAfter",
                "the run is ended"
            );
            let repeated = self.repeated(live, repeats);
            let reason = format!(
                "`loop.stopAfter` reached: the child repeated {repeated}; if such waiting is the task, \
                 raise that setting or let the call itself wait"
            );
            self.cancel.cancel(CancelReason::Stuck(reason));
        }
        new_warning
    }

    /// Ends a run whose child repeatedly submits results that do not match the schema.
    fn check_refused(&self, RefusedResults { count, reason }: &RefusedResults) {
        if *count >= MAX_REFUSED_RESULTS {
            tracing::warn!(target: "child", refused = *count, "the run is ended: it has submitted no valid result");
            // The event reader cuts a long reason.
            let reason = self.sanitizer.sanitize_growing(reason).into_string();
            let reason = quoted_within(&self.sanitizer.line(&reason, REASON_CHARS), REASON_CHARS);
            self.cancel.cancel(CancelReason::Stuck(format!(
                "pi refused {count} submitted results that do not match `outputSchema`; the last reason: {reason}"
            )));
        }
    }

    /// Formats the newest calls of a round, and the number of its repetitions.
    fn repeated(&self, live: &Live<'_>, Repeats { times, calls, .. }: Repeats) -> String {
        let calls_made =
            live.display_items.iter().filter(|item| matches!(item, DisplayItem::ToolCall { .. }));
        let newest: Vec<DisplayItem> = calls_made.rev().take(calls.min(MAX_NAMED)).cloned().collect();
        let names = clean_items(&newest, self.sanitizer);
        let mut names: Vec<String> = names.iter().rev().filter_map(name).collect();
        if calls > names.len() {
            names.insert(0, format!("{} more", calls - names.len()));
        }
        let (what, results) = if calls == 1 { ("", "result") } else { ("in turn ", "results") };
        format!("{what}{} {times} times, with the same {results} each time", names.join(", "))
    }
}

fn name(item: &DisplayItem) -> Option<String> {
    match item {
        DisplayItem::ToolCall { name, args, .. } => Some(quoted_within(&short_form(name, args), NAME_CHARS)),
        DisplayItem::Text { .. } => None,
    }
}

/// Returns the warning for the child.
fn message(repeated: &str, stop_after: Option<u64>) -> String {
    let end = stop_after.map_or_else(String::new, |limit| {
        format!(" Your run ends without a result when it has happened {limit} times.")
    });
    format!(
        "You have repeated {repeated}. Doing it again will tell you nothing new. Try another way; if there is none, or if you \
         wait for something that does not happen, give your final answer now from what you have and say what is missing.{end}"
    )
}
