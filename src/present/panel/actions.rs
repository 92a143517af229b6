//! The actions of keys on a run. Each of them runs a command of `/subagents`.

use super::keys::PanelAction;
use crate::present::paint::{Color, clipped};
use crate::present::runs::ShownRun;

/// The number of conversation entries that `log` shows, which is the maximum of the command.
const LOG: &str = "200 tools";
const MAX_NAME_COLUMNS: usize = 40;

/// A key's effect on a run.
pub(super) enum Effect {
    /// Opens its question.
    Answer,
    /// Asks for the same key again, and then runs the command.
    Confirm(&'static str),
    /// Runs a command and shows its result on the last line.
    Command(&'static str),
    /// Runs a command with these arguments and shows its report.
    Report(&'static str, &'static str),
    /// Asks for a message to it.
    Message(String),
    /// Shows a text on the last line.
    Notice(Color, String),
    None,
}

/// Returns the effect of an action on a run. `None` for an action that is not about a run.
pub(super) fn effect(action: PanelAction, run: &ShownRun, can_answer: bool) -> Option<Effect> {
    let name = quoted(run);
    let is_live = run.is_live();
    let notice = |text: &str| Effect::Notice("warning", format!("{name} {text}"));
    Some(match action {
        PanelAction::Answer if can_answer && run.asks() => Effect::Answer,
        PanelAction::Answer => Effect::None,
        PanelAction::Stop if is_live => Effect::Confirm("stop"),
        PanelAction::Stop => notice("has already ended"),
        PanelAction::Background => Effect::Command("background"),
        PanelAction::Resume if is_live => notice("has not ended. Send it a message instead"),
        PanelAction::Resume => Effect::Command("resume"),
        PanelAction::Message => {
            Effect::Message(format!("{} {name}", if is_live { "Message to" } else { "Continue" }))
        }
        PanelAction::Info => Effect::Report("info", ""),
        PanelAction::Diff => Effect::Report("diff", ""),
        PanelAction::Log => Effect::Report("log", LOG),
        _ => return None,
    })
}

/// A key's action and its description. The more important keys come first.
pub(super) type Hint = (PanelAction, &'static str);

/// Returns the keys that have an effect on a run.
pub(super) fn hints(run: &ShownRun, can_answer: bool) -> Vec<Hint> {
    use PanelAction as A;
    let is_live = run.is_live();
    let hints = [
        ((A::Answer, "question"), can_answer && run.asks()),
        ((A::Stop, "stop"), is_live),
        ((A::Resume, "resume"), !is_live),
        ((A::Background, "background"), is_live && run.is_foreground),
        ((A::Diff, "diff"), !is_live && run.has_diff()),
        ((A::Message, "message"), true),
        ((A::Info, "info"), true),
        ((A::Log, "log"), true),
    ];
    hints.into_iter().filter(|(_, is_shown)| *is_shown).map(|(hint, _)| hint).collect()
}

/// Returns the name of a run in quotes.
pub(super) fn quoted(run: &ShownRun) -> String {
    format!("“{}”", clipped(&run.name(), MAX_NAME_COLUMNS))
}
