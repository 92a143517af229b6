//! The actions of keys on a run or a workflow. Each of them runs a command of `/subagents`.

use super::keys::PanelAction;
use crate::present::ShownWorkflow;
use crate::present::paint::{Color, clipped};
use crate::present::runs::ShownRun;

/// The number of conversation entries that `log` shows, which is the maximum of the command.
const LOG: &str = "200 tools";
const MAX_NAME_COLUMNS: usize = 40;
/// The columns of two quotes.
const QUOTES: usize = 2;

/// A command that runs once its key was pressed again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Confirmed {
    pub(super) name: &'static str,
    /// The words between the name of the command and the run.
    pub(super) flag: &'static str,
    /// The words after the run.
    pub(super) rest: &'static str,
    /// Its effect, after the name of the key.
    pub(super) effect: &'static str,
    /// True if the panel shows its report instead of one line.
    pub(super) has_report: bool,
}

const STOP: Confirmed = Confirmed {
    name: "stop",
    flag: "",
    rest: "",
    effect: "stops it and everything it started",
    has_report: false,
};
const STOP_WORKFLOW: Confirmed = Confirmed { effect: "stops the workflow and all of its runs", ..STOP };
const GIVE_UP_WORKFLOW: Confirmed = Confirmed { effect: "gives up the workflow", ..STOP };
const APPLY: Confirmed =
    Confirmed { name: "apply", effect: "applies it to your files", has_report: true, ..STOP };
const ABORT_APPLY: Confirmed = Confirmed { flag: "--abort", effect: "undoes the apply", ..APPLY };
/// A run that has done its work would work on, and cost more.
const RESUME: Confirmed =
    Confirmed { name: "resume", effect: "continues it, although it has completed", ..STOP };
const UNDO: Confirmed = Confirmed { name: "undo", effect: "undoes it in your files", ..APPLY };
const DISCARD: Confirmed =
    Confirmed { name: "discard", rest: "--yes", effect: "deletes the only copy", ..APPLY };
/// The same after an apply.
const DISCARD_APPLIED: Confirmed = Confirmed { effect: "deletes the branch", ..DISCARD };

/// A key's effect on a run.
pub(super) enum Effect {
    /// Opens its question.
    Answer,
    /// Asks for the same key again, and then runs the command.
    Confirm(Confirmed),
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
    let name = quoted(&run.name());
    let is_live = run.is_live();
    let notice = |text: &str| Effect::Notice("warning", format!("{name} {text}"));
    Some(match action {
        PanelAction::Answer if can_answer && run.asks() => Effect::Answer,
        PanelAction::Answer => Effect::None,
        PanelAction::Stop if is_live => Effect::Confirm(STOP),
        PanelAction::Stop => notice("has already ended"),
        PanelAction::Background => Effect::Command("background"),
        PanelAction::Resume if is_live => notice("has not ended. Send it a message instead"),
        PanelAction::Resume if run.can_resume() && !run.is_unfinished() => Effect::Confirm(RESUME),
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
        ((A::Resume, "resume"), run.can_resume()),
        ((A::Background, "background"), is_live && run.is_foreground),
        ((A::Diff, "diff"), run.can_diff()),
        ((A::Message, "message"), is_live || run.can_resume()),
        ((A::Info, "info"), true),
        ((A::Log, "log"), true),
    ];
    hints.into_iter().filter(|(_, is_shown)| *is_shown).map(|(hint, _)| hint).collect()
}

/// Returns the effect of an action on a workflow. `None` for an action that is not about one. `asks`: the question of one of
/// its runs can be opened.
pub(super) fn workflow_effect(action: PanelAction, workflow: &ShownWorkflow, asks: bool) -> Option<Effect> {
    let name = quoted(&workflow.name);
    let notice = |text: String| Effect::Notice("warning", format!("the workflow {name} {text}"));
    Some(match action {
        PanelAction::Stop if workflow.is_running() && workflow.can_stop() => Effect::Confirm(STOP_WORKFLOW),
        PanelAction::Stop if workflow.can_stop() => Effect::Confirm(GIVE_UP_WORKFLOW),
        PanelAction::Resume if workflow.can_resume() => Effect::Command("resume"),
        PanelAction::Stop | PanelAction::Resume => {
            let other = workflow.other_project().filter(|_| action == PanelAction::Resume);
            notice(other.map_or_else(
                || workflow.sentence(),
                |project| format!("belongs to the project {project}: a pi there can continue it"),
            ))
        }
        PanelAction::Info => Effect::Report("info", ""),
        PanelAction::Answer if asks => Effect::Answer,
        PanelAction::Answer => Effect::None,
        PanelAction::Background | PanelAction::Message | PanelAction::Diff | PanelAction::Log => {
            let text = format!("this key is for a run: choose one of the workflow {name}");
            Effect::Notice("warning", text)
        }
        _ => return None,
    })
}

/// Returns the keys that have an effect on a workflow. `is_folded`: None if it has no runs.
pub(super) fn workflow_hints(workflow: &ShownWorkflow, is_folded: Option<bool>, asks: bool) -> Vec<Hint> {
    use PanelAction as A;
    let stop = if workflow.is_running() { "stop" } else { "give up" };
    let hints = [
        ((A::Open, if is_folded == Some(true) { "show runs" } else { "hide runs" }), is_folded.is_some()),
        ((A::Answer, "question"), asks),
        ((A::Stop, stop), workflow.can_stop()),
        ((A::Resume, "continue"), workflow.can_resume()),
        ((A::Info, "info"), true),
    ];
    hints.into_iter().filter(|(_, is_shown)| *is_shown).map(|(hint, _)| hint).collect()
}

/// Returns the effect of a key next to the changes of a run. There `a` and `u` do not have their other effects. `None` if
/// the key has no effect on the changes.
pub(super) fn change_effect(action: PanelAction, run: &ShownRun) -> Option<Effect> {
    let confirmed = match action {
        PanelAction::All if run.can_apply() => APPLY,
        PanelAction::Discard if run.can_apply() => DISCARD,
        PanelAction::Discard if run.can_discard() => DISCARD_APPLIED,
        PanelAction::Again if run.can_abort_apply() => ABORT_APPLY,
        PanelAction::Again if run.can_undo() => UNDO,
        _ => return None,
    };
    Some(Effect::Confirm(confirmed))
}

/// Returns the keys that have an effect on the changes of a run.
pub(super) fn change_hints(run: &ShownRun) -> Vec<Hint> {
    use PanelAction as A;
    let hints = [(A::All, "apply"), (A::Discard, "discard"), (A::Again, "undo")];
    hints.into_iter().filter(|(action, _)| change_effect(*action, run).is_some()).collect()
}

/// Returns the name of a run or a workflow in quotes.
pub(super) fn quoted(name: &str) -> String {
    quoted_within(name, MAX_NAME_COLUMNS + QUOTES)
}

/// Returns a name in quotes, in at most `columns`.
pub(super) fn quoted_within(name: &str, columns: usize) -> String {
    format!("“{}”", clipped(name, columns.saturating_sub(QUOTES).min(MAX_NAME_COLUMNS)))
}

/// The run or the workflow that a command is for.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// Its name in a command, which nothing else has: the key of a run, or the exact word of a workflow.
    pub(super) word: String,
    /// The id of a run.
    pub(super) run_id: String,
    /// Its name for people.
    pub(super) name: String,
}

impl Named {
    pub(super) fn run(run: &ShownRun) -> Self {
        Self { word: run.key.clone(), run_id: run.run_id.clone(), name: run.name() }
    }

    pub(super) fn workflow(workflow: &ShownWorkflow) -> Self {
        Self { word: workflow.exact_word(), run_id: String::new(), name: workflow.name.clone() }
    }
}
