//! The changes and the interrupted runs in a project that wait for a person, in any session.

use std::path::{Path, PathBuf};

use crate::run::{RunOutcome, RunRecord};
use files::canonical;
use sanitizer::figures::counted;
use sanitizer::quoted_if_unusual;
use worktree::{ChangesState, changes_in, root_of};

/// The time for which an interrupted run is named, in milliseconds.
const INTERRUPTED_MS: i64 = 24 * 60 * 60 * 1_000;

/// Returns the root of the project around a directory: its work tree, or the directory itself. Blocks.
pub(crate) fn project_of(cwd: &Path) -> PathBuf {
    root_of(&canonical(cwd))
}

/// Returns a sentence about the changes that were neither applied nor discarded in the project around `cwd`, with the
/// command for them: `1 branch waits: worker 1a2b3c4d (3 files) · /subagents apply 1a2b3c4d`. `None` if there are none.
/// `agent_of` returns the agent of a run, if its record still exists. Blocks.
pub(crate) fn waiting_text(
    agent_dir: &Path,
    cwd: &Path,
    agent_of: impl FnOnce(&str) -> Option<String>,
) -> Option<String> {
    let mut waiting = changes_in(agent_dir, &project_of(cwd));
    waiting.retain(|changes| changes.state == ChangesState::Unapplied);
    // Without a branch, a patch has the changes.
    let noun = if waiting.iter().all(|changes| changes.has_branch) {
        ["branch", "branches"]
    } else {
        ["run", "runs"]
    };
    let [one] = &waiting[..] else {
        let wait = || format!("{} {} wait: /subagents list", waiting.len(), noun[1]);
        return (!waiting.is_empty()).then(wait);
    };
    let id = &one.id;
    let agent = agent_of(id).map(|agent| format!("{} ", quoted_if_unusual(&agent))).unwrap_or_default();
    let files = one.files.map(|files| format!(" ({})", counted(files, "file"))).unwrap_or_default();
    Some(format!("1 {} waits: {agent}{id}{files} · /subagents apply {id}", noun[0]))
}

/// Returns a sentence about the runs that were interrupted within a day before `now_ms`, with the command for them:
/// `1 run was interrupted: explorer 1a2b3c4d · /subagents resume 1a2b3c4d`. A run with changes to apply is not named again.
pub(crate) fn interrupted_text(runs: &[RunRecord], now_ms: i64) -> Option<String> {
    let is_new = |run: &RunRecord| run.ended_ms.is_some_and(|ended| now_ms - ended < INTERRUPTED_MS);
    let is_named = |run: &&RunRecord| {
        run.outcome == Some(RunOutcome::Interrupted) && run.can_resume() && !run.can_apply() && is_new(run)
    };
    let named: Vec<&RunRecord> = runs.iter().filter(is_named).collect();
    match &named[..] {
        [] => None,
        [RunRecord { run_id, agent, .. }] => {
            let agent = quoted_if_unusual(agent);
            Some(format!("1 run was interrupted: {agent} {run_id} · /subagents resume {run_id}"))
        }
        several => Some(format!("{} runs were interrupted: /subagents list", several.len())),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use files::layout;

    #[test]
    fn one_branch_is_named_with_its_command_and_several_are_counted() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let agent_dir = root.path().join("agent");
        let project = root.path().join("project").join("src");
        let git = root.path().join("project/.git");
        for directory in [&project, &git.join("objects"), &git.join("refs/heads/subagent")] {
            fs::create_dir_all(directory).expect("the directory is created");
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("the file is written");
        let text = || waiting_text(&agent_dir, &project, |_| Some("worker".to_owned()));
        let add = |id: &str, files: &str, branch: bool| {
            let directory = layout::snapshots(&agent_dir).join(id);
            fs::create_dir_all(&directory).expect("the directory is created");
            let root = serde_json::to_string(&project_of(&project)).expect("a path is text");
            let name = if branch { format!("\"subagent/{id}\"") } else { "null".to_owned() };
            let record = format!(
                r#"{{"id":"{id}","root":{root},"tree":"t","end":"t","artifacts":{{"branch":{name},"commit":"c"{files}}}}}"#
            );
            fs::write(directory.join("snapshot.json"), record).expect("the file is written");
            fs::write(git.join("refs/heads/subagent").join(id), "c\n").expect("the file is written");
        };
        assert_eq!(text(), None);
        add("1a2b3c4d", r#","files":3"#, true);
        let one = "1 branch waits: worker 1a2b3c4d (3 files) · /subagents apply 1a2b3c4d";
        assert_eq!(text().as_deref(), Some(one));
        add("0badcafe", "", true);
        assert_eq!(text().as_deref(), Some("2 branches wait: /subagents list"));
        fs::remove_file(git.join("refs/heads/subagent/1a2b3c4d")).expect("the branch is deleted");
        assert_eq!(
            text().as_deref(),
            Some("1 branch waits: worker 0badcafe · /subagents apply 0badcafe"),
            "the number of files may be unknown"
        );
        add("0badcafe", "", false);
        let patch = "1 run waits: worker 0badcafe · /subagents apply 0badcafe";
        assert_eq!(text().as_deref(), Some(patch), "a patch is no branch");
    }

    #[test]
    fn a_run_that_was_interrupted_is_named_for_a_day_with_the_command_that_resumes_it() {
        let run = RunRecord {
            run_id: "1a2b3c4d".to_owned(),
            agent: "explorer".to_owned(),
            outcome: Some(RunOutcome::Interrupted),
            ended_ms: Some(0),
            transcript: Some("/s.jsonl".into()),
            directory: Some("/s".into()),
            ..RunRecord::default()
        };
        let one = "1 run was interrupted: explorer 1a2b3c4d · /subagents resume 1a2b3c4d";
        let text = |runs: &[RunRecord]| interrupted_text(runs, INTERRUPTED_MS - 1);
        assert_eq!(text(std::slice::from_ref(&run)).as_deref(), Some(one));
        assert_eq!(
            text(&[run.clone(), run.clone()]).as_deref(),
            Some("2 runs were interrupted: /subagents list")
        );
        assert_eq!(interrupted_text(std::slice::from_ref(&run), INTERRUPTED_MS), None, "a day has passed");
        let changed = |change: &dyn Fn(&mut RunRecord)| {
            let mut run = run.clone();
            change(&mut run);
            text(&[run])
        };
        assert_eq!(changed(&|run| run.outcome = Some(RunOutcome::Failed)), None);
        assert_eq!(changed(&|run| run.transcript = None), None, "it cannot be resumed");
        let unapplied = |run: &mut RunRecord| run.changes_state = Some(ChangesState::Unapplied);
        assert_eq!(changed(&unapplied), None, "the other sentence names it");
    }
}
