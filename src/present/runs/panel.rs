//! The parts of the panel other than runs: its keys, and the text that it shows if there are no runs.

use crate::present::paint::{Color, INDENT, Limit, Page, folded};
use sanitizer::text_enum;

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
        /// Opens the transcript.
        Open = "open",
        /// Shows or hides what tools did.
        Tools = "tools",
        /// Opens the question of a run.
        Answer = "answer",
        /// Stops a run.
        Stop = "stop",
        /// Lets go of the call that waits for a run.
        Background = "background",
        /// Asks for a message to a run.
        Message = "message",
        /// Resumes a run.
        Resume = "resume",
        /// Shows the conversation of a run.
        Log = "log",
        /// Shows the details of a run.
        Info = "info",
        /// Shows the changes of an isolated run.
        Diff = "diff",
        /// Lists the runs of all sessions.
        All = "all",
        /// Asks for a report again.
        Again = "again",
        /// Shows the keys.
        Keys = "keys",
        /// Goes back, or closes the panel.
        Back = "back",
        /// Goes back.
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
            key(
                A::Bottom,
                &["end", "shift+g"],
                "to the last; a transcript then shows new entries as they \
                                                 arrive",
            ),
        ),
        bound("tui.select.confirm", key(A::Open, &["enter", "right"], "the transcript, as it grows")),
        bound("app.tools.expand", key(A::Tools, &["t"], "in a transcript: with or without tool calls")),
        key(A::Answer, &["o"], "open the question of a waiting run"),
        key(A::Stop, &["s"], "stop the run and everything it started; asks once"),
        key(A::Background, &["b"], "move it to the background; the call that waits for it returns"),
        key(
            A::Message,
            &["m"],
            "send a message: a running run reads it next, an ended one continues with it",
        ),
        key(A::Resume, &["r"], "resume a run that has ended"),
        key(A::Log, &["l"], "the conversation so far"),
        key(A::Info, &["i"], "all details of the run"),
        key(A::Diff, &["d"], "the changes of an isolated run"),
        key(A::All, &["a"], "the runs of all sessions, or only of this one"),
        key(A::Again, &["u"], "refresh the report"),
        key(A::Keys, &["?"], "these keys"),
        bound("tui.select.cancel", key(A::Back, &["escape", "q", "ctrl+c"], "back; from the list, close")),
        key(A::Left, &["left"], "back"),
    ]
}

/// Draws the text that the panel shows if there are no runs. `is_all`: of all sessions; `is_complete`: the store has
/// answered; `problem`: the reason why it has not.
pub fn draw_empty_list(page: &mut Page, is_all: bool, is_complete: bool, problem: Option<&str>) {
    let mut draw = |color: Color, text: &str| {
        page.blank();
        page.indented(INDENT, |page| page.text(color, text, Limit::None));
    };
    if let Some(problem) = problem {
        draw("error", &format!("The runs cannot be listed: {}", folded(problem)));
    } else if !is_complete {
        draw("dim", "Loading runs …");
    } else if is_all {
        draw("toolOutput", "There are no background runs in any session.");
    } else {
        draw("toolOutput", "No background runs in this session.");
        draw("muted", "The model starts them with sessions_spawn. Ask for it in your own words:");
        let example = "“Look for dead code in the background, and tell me when you are done.”";
        page.indented(INDENT, |page| page.text("accent", example, Limit::None));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::present::paint::Palette;

    #[test]
    fn every_action_has_keys_and_no_key_two_actions() {
        let keys = panel_keys();
        let actions: Vec<_> = keys.iter().map(|key| key.action.as_str()).collect();
        assert_eq!(actions, PanelAction::TEXTS);
        let own: Vec<_> = keys.iter().flat_map(|key| key.own).collect();
        assert_eq!(own.iter().collect::<HashSet<_>>().len(), own.len());
        assert!(keys.iter().all(|key| !key.own.is_empty() && !key.description.is_empty()));
    }

    #[test]
    fn an_empty_list_shows_the_reason() {
        let text = |is_all, is_complete, problem| {
            let draw = |page: &mut Page| draw_empty_list(page, is_all, is_complete, problem);
            format!("{:?}", Page::draw(&Palette::default(), 100, draw))
        };
        assert!(text(true, false, Some("the store\nis locked")).contains("listed: the store is locked"));
        assert!(text(false, false, None).contains("Loading runs"));
        assert!(text(true, true, None).contains("in any session"));
        assert!(text(false, true, None).contains("sessions_spawn"));
    }
}
