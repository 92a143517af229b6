//! The panel's keys, and the actions that they do.

use crate::present::paint::{Limit, Page, Span, clipped, width_of};
use sanitizer::text_enum;

/// Wide enough for `pageDown ctrl+f space`.
const KEY_COLUMNS: usize = 22;

text_enum! {
    /// An action of a key in the panel.
    pub enum PanelAction {
        /// The run above, or a line up.
        Up = "up",
        /// The run below, or a line down.
        Down = "down",
        /// A page up.
        PageUp = "pageUp",
        /// A page down.
        PageDown = "pageDown",
        /// Half a page up.
        HalfUp = "halfUp",
        /// Half a page down.
        HalfDown = "halfDown",
        /// To the beginning.
        Top = "top",
        /// To the end.
        Bottom = "bottom",
        /// Opens the transcript of a run. Shows or hides the runs of a workflow.
        Open = "open",
        /// Shows or hides what tools did.
        Tools = "tools",
        /// Opens the question of a run.
        Answer = "answer",
        /// Stops a run or a workflow.
        Stop = "stop",
        /// Lets go of the call that waits for a run.
        Background = "background",
        /// Asks for a message to a run.
        Message = "message",
        /// Resumes a run or a workflow.
        Resume = "resume",
        /// Shows the conversation of a run.
        Log = "log",
        /// Shows the details of a run or a workflow.
        Info = "info",
        /// Shows the changes of a run.
        Diff = "diff",
        /// Lists the runs of all sessions. Next to the changes of a run, applies them.
        All = "all",
        /// Next to the changes of a run, discards them.
        Discard = "discard",
        /// Asks for a report again. Next to the changes of a run, undoes them.
        Again = "again",
        /// Shows the keys.
        Keys = "keys",
        /// Goes back, or closes the panel.
        Back = "back",
        /// Goes back. In the list, hides the runs of a workflow.
        Left = "left",
    }
}

/// The keys of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PanelKey {
    /// The action.
    pub action: PanelAction,
    /// The same action of pi: the keys that the user has chosen for it come first.
    pub pi: Option<&'static str>,
    /// Ours, as pi names keys.
    pub own: &'static [&'static str],
    /// The action in words.
    pub description: &'static str,
}

/// All keys of the panel, in the order in which they are shown.
#[must_use]
pub fn panel_keys() -> Vec<PanelKey> {
    use PanelAction as A;
    let key = |action, own, description| PanelKey { action, pi: None, own, description };
    let bound = |pi, key| PanelKey { pi: Some(pi), ..key };
    vec![
        bound("tui.select.up", key(A::Up, &["up", "k"], "the run above; scroll up")),
        bound("tui.select.down", key(A::Down, &["down", "j"], "the run below; scroll down")),
        bound("tui.select.pageUp", key(A::PageUp, &["pageUp", "ctrl+b"], "a page up")),
        bound("tui.select.pageDown", key(A::PageDown, &["pageDown", "ctrl+f", "space"], "a page down")),
        bound("tui.altScreen.halfPageUp", key(A::HalfUp, &["ctrl+u"], "half a page up")),
        bound("tui.altScreen.halfPageDown", key(A::HalfDown, &["ctrl+d"], "half a page down")),
        bound("tui.altScreen.top", key(A::Top, &["home", "g"], "to the first")),
        bound(
            "tui.altScreen.bottom",
            key(A::Bottom, &["end", "shift+g"], "to the last; follow a transcript"),
        ),
        bound(
            "tui.select.confirm",
            key(A::Open, &["enter", "right"], "the transcript, as it grows; on a workflow: its runs"),
        ),
        bound("app.tools.expand", key(A::Tools, &["t"], "in a transcript: with or without tool calls")),
        key(A::Answer, &["o"], "open the question of a waiting run"),
        key(A::Stop, &["s"], "stop it and everything it started; asks once"),
        key(A::Background, &["b"], "move it to the background"),
        key(A::Message, &["m"], "send a message; an ended run continues with it"),
        key(A::Resume, &["r"], "resume a run that has ended; continue a workflow"),
        key(A::Log, &["l"], "the conversation so far"),
        key(A::Info, &["i"], "all details of the run or the workflow"),
        key(A::Diff, &["d"], "the changes of a run"),
        key(A::All, &["a"], "the runs of all sessions, or only of this one; in a diff: apply it"),
        key(A::Discard, &["x"], "in a diff: discard it"),
        key(A::Again, &["u"], "refresh the report; in a diff: undo an apply, or changes in your files"),
        key(A::Keys, &["?"], "these keys"),
        bound("tui.select.cancel", key(A::Back, &["escape", "q", "ctrl+c"], "back; from the list, close")),
        key(A::Left, &["left"], "back; in the list: hide the runs of a workflow"),
    ]
}

/// The names of the keys of each action, in the order of [`panel_keys`], with the user's own keys first.
#[derive(Clone, Copy, Debug)]
pub struct KeyNames<'a>(pub &'a [Vec<String>]);

impl KeyNames<'_> {
    /// Returns the name of the first key of an action.
    pub(super) fn of(&self, action: PanelAction) -> &str {
        // `panel_keys` has the same order.
        let at = PanelAction::TEXTS.iter().position(|text| *text == action.as_str());
        at.and_then(|at| self.0.get(at)?.first()).map_or("", String::as_str)
    }

    /// Draws all keys and their effects. A low terminal shows the first ones, so the keys that scroll come last.
    pub(super) fn draw(&self, page: &mut Page) {
        let columns = KEY_COLUMNS.min(page.width() / 2);
        let keys = panel_keys().into_iter().zip(self.0);
        let (scrolling, others): (Vec<_>, Vec<_>) =
            keys.partition(|(key, _)| scrolled(key.action, 1).is_some());
        for (PanelKey { description, .. }, names) in others.into_iter().chain(scrolling) {
            // A key that does not fit is left out. The first one is enough.
            let mut whole = (1..=names.len()).rev().map(|count| names[..count].join(" "));
            let fits = |names: &String| width_of(names) <= columns;
            let names = whole.clone().find(fits).or(whole.next_back()).unwrap_or_default();
            let names = clipped(&names, columns);
            let lead = format!("{names}{:1$} ", "", columns.saturating_sub(width_of(&names)));
            page.wrapped(&[Span::new("accent", lead)], &[Span::new("toolOutput", description)], Limit::None);
        }
    }
}

/// Returns the number of lines that an action scrolls on a screen of `rows`, or `None` for other actions. The ends are
/// infinitely far away.
pub(super) fn scrolled(action: PanelAction, rows: usize) -> Option<i64> {
    // A page keeps one line of the page before it, for orientation.
    let page = i64::try_from(rows.saturating_sub(1).max(1)).unwrap_or(i64::MAX);
    let half = page / 2 + page % 2;
    Some(match action {
        PanelAction::Up => -1,
        PanelAction::Down => 1,
        PanelAction::PageUp => -page,
        PanelAction::PageDown => page,
        PanelAction::HalfUp => -half,
        PanelAction::HalfDown => half,
        PanelAction::Top => i64::MIN,
        PanelAction::Bottom => i64::MAX,
        _ => return None,
    })
}

/// Moves a position by some lines.
pub(super) fn moved(at: usize, lines: i64) -> usize {
    let distance = usize::try_from(lines.unsigned_abs()).unwrap_or(usize::MAX);
    if lines < 0 { at.saturating_sub(distance) } else { at.saturating_add(distance) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_action_has_keys_and_no_key_two_actions() {
        let keys = panel_keys();
        let actions: Vec<_> = keys.iter().map(|key| key.action.as_str()).collect();
        assert_eq!(actions, PanelAction::TEXTS);
        let own: Vec<_> = keys.iter().flat_map(|key| key.own).collect();
        assert_eq!(own.iter().collect::<HashSet<_>>().len(), own.len());
        assert!(keys.iter().all(|key| !key.own.is_empty() && !key.description.is_empty()));
    }
}
