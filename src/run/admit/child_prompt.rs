//! Writes the child's system prompt: the agent's prompt and facts about the run.

use super::resolve::ResolvedRun;
use crate::run::result::ANNOUNCE_SKIP;
use crate::run::sandbox::WriteScope;
use agents::config::AnnounceMode;
use agents::{SUBMIT, ToolPlan};
use sanitizer::figures;

/// Returns the child's system prompt: the agent's prompt, followed by facts about this run.
pub(crate) fn child_prompt(run: &ResolvedRun, plan: &ToolPlan) -> String {
    let own = run.agent.prompt.trim_end().to_owned();
    let notes = [
        plan.note().map(str::to_owned),
        write_note(run),
        check_note(run),
        submit_note(run).or_else(|| report_note(run)),
    ];
    let given = run.tool_notes.iter().cloned();
    let parts: Vec<String> = [own].into_iter().chain(given).chain(notes.into_iter().flatten()).collect();
    parts.join("\n\n") + "\n"
}

/// Returns the facts for a child that cannot write, or can write only in some directories.
fn write_note(run: &ResolvedRun) -> Option<String> {
    if let Some(WriteScope { root, is_private: true, .. }) = &run.scope {
        return Some(format!(
            "You work in a private copy of the project, `{}`. You can change files only there and in the temporary \
             directory. You may commit on its branch. When you are done, all changes in the copy, committed or not, are \
             imported into the project as a branch. Files that git ignores are lost.",
            root.display()
        ));
    }
    if run.is_isolated && run.launcher.remote_name().is_some() {
        return Some(
            "You work in a private copy of the project, without its history before the last commit. You may commit on its \
             branch. When you are done, all changes in the copy, committed or not, are imported into the project as a \
             branch. Then the copy is deleted, and files that git ignores are lost."
                .to_owned(),
        );
    }
    if let Some(WriteScope { root, .. }) = &run.scope {
        return Some(format!(
            "You can change files only in `{}` and in the temporary directory. The repository (`.git`), `.pi` and other \
             configuration of agents are read-only, so you cannot commit: leave your changes in the files.",
            root.display()
        ));
    }
    (!run.agent.readonly && !run.config.allow_write.is_on()).then(|| {
        "You cannot change files in this run: no tool that writes is allowed, even if the text above says otherwise. Do not try; \
         if the task asks for a change, describe the change exactly, and say that you did not make it."
            .to_owned()
    })
}

/// Returns the facts for a child whose work is checked.
fn check_note(run: &ResolvedRun) -> Option<String> {
    run.check().map(|command| {
        format!(
            "When you have finished, your work is checked with `{command}`, in the same sandbox as your shell. Make it pass."
        )
    })
}

/// Returns the facts for a child that submits its result.
fn submit_note(run: &ResolvedRun) -> Option<String> {
    run.agent.output_schema.as_ref().map(|_| {
        format!(
            "The session that gave you this task reads only the result that you submit. When the result is ready, call \
             `{SUBMIT}` once; that ends your work. If the call is refused, fix the named problem and call it again."
        )
    })
}

/// Returns the facts for a child whose final answer is announced.
fn report_note(run: &ResolvedRun) -> Option<String> {
    (run.announces && run.config.announce.mode != AnnounceMode::Ask).then(|| {
        let max_size = figures::bytes(run.config.output.max_bytes as u64);
        format!(
            "The session that gave you this task reads only your last message: make that message \
             the complete report, of at most {max_size}. If there is nothing to report, answer exactly {ANNOUNCE_SKIP}."
        )
    })
}
