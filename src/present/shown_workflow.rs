//! A workflow as reports, the panel and the widget show it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};
use serde_with_macros::skip_serializing_none;

use super::report::Mark;
use crate::run::{RunRecord, WorkflowState, workflow_key, workflow_name};
use pi_events::rounded_amount;
use sanitizer::{figures, one_line, quoted_if_unusual, without_controls};

/// The longest error of a script in a sentence.
const MAX_ERROR: usize = 400;

/// The longest name that a person types, in characters.
const MAX_TYPED: usize = 80;

/// The beginning of a word in a command that names a workflow and no run. Its id follows, or its key in the store.
pub(crate) const WORKFLOW_WORD: &str = "workflow:";

/// A workflow. Times are milliseconds since 1970 in UTC.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShownWorkflow {
    /// Its id, which is unique in its project.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its name in commands, if that is not its id: a run has the same name, or no one can type the id.
    pub word: Option<String>,
    /// The directory that it belongs to.
    pub project: PathBuf,
    /// True if that is not the project of the conversation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_other_project: bool,
    /// The path of its script, relative to the project if it is in there. Absent if no one can type it.
    pub file: Option<String>,
    /// Its state.
    pub state: WorkflowState,
    /// The phase that it is in.
    pub phase: Option<String>,
    /// The number of its runs that have not ended.
    pub live: usize,
    /// The number of its runs with a result.
    pub completed: usize,
    /// The number of its other runs.
    pub unfinished: usize,
    /// Spent by its runs, in USD.
    #[serde(serialize_with = "rounded_amount")]
    pub cost: f64,
    /// The error of its script.
    pub error: Option<String>,
    /// The time of its first start.
    pub started_ms: i64,
    /// The absolute path of its script.
    #[serde(skip)]
    pub script: Option<PathBuf>,
    /// The process id of its host.
    #[serde(skip)]
    pub host_pid: Option<u32>,
    /// The current run of each of its keys, the key used first comes first, without long texts and files. Empty if only the
    /// workflow is shown.
    #[serde(deserialize_with = "known_runs", skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunRecord>,
}

/// Reads runs, without the ones of another form.
fn known_runs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RunRecord>, D::Error> {
    let runs = Vec::<serde_json::Value>::deserialize(deserializer)?;
    Ok(runs.iter().filter_map(|run| RunRecord::from_json(&run.to_string()).ok()).collect())
}

impl ShownWorkflow {
    /// The mark of its state.
    #[must_use]
    pub fn mark(&self) -> Mark {
        match self.state {
            WorkflowState::Running => Mark::Running,
            WorkflowState::Completed => Mark::Ok,
            WorkflowState::Failed => Mark::Error,
            WorkflowState::Stopped | WorkflowState::Interrupted => Mark::Warning,
        }
    }

    /// Returns true if its script runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state == WorkflowState::Running
    }

    /// Returns true if `stop` has an effect: it ends a script, or keeps an interrupted one from continuing by itself.
    #[must_use]
    pub fn can_stop(&self) -> bool {
        let is_interrupted = self.state == WorkflowState::Interrupted;
        self.has_script() && (self.is_running() || (is_interrupted && self.file.is_some()))
    }

    /// Returns true if `resume` can start its script again. A script of another project needs a pi with the settings of that
    /// project.
    #[must_use]
    pub fn can_resume(&self) -> bool {
        let has_ended = !matches!(self.state, WorkflowState::Running | WorkflowState::Completed);
        has_ended && self.file.is_some() && !self.is_other_project
    }

    /// Returns true if a script of a file or of a program runs it. Calls of a model in `codemode` have no such script.
    fn has_script(&self) -> bool {
        workflow_name(&self.id) == self.id
    }

    /// Returns its name as a word of a command.
    #[must_use]
    pub fn word(&self) -> String {
        self.word.clone().unwrap_or_else(|| quoted_word(&self.id))
    }

    /// Returns a word that names it and no run.
    #[must_use]
    pub fn distinct_word(&self) -> String {
        self.word.clone().unwrap_or_else(|| quoted_word(&format!("{WORKFLOW_WORD}{}", self.id)))
    }

    /// Returns the word that names it and no other workflow of any project.
    #[must_use]
    pub fn exact_word(&self) -> String {
        exact_word(&self.project, &self.id)
    }

    /// Returns the name of its project in a sentence, if that is another one.
    #[must_use]
    pub fn other_project(&self) -> Option<String> {
        let name = self.project.file_name().unwrap_or(self.project.as_os_str()).to_string_lossy();
        self.is_other_project.then(|| quoted_if_unusual(&name).into_owned())
    }

    /// Returns the numbers of its runs in each state: `1 running`, `3 completed`, `1 without a result`.
    #[must_use]
    pub fn counts(&self) -> Vec<String> {
        let counts =
            [(self.live, "running"), (self.completed, "completed"), (self.unfinished, "without a result")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, state)| format!("{count} {state}")).collect()
    }

    /// Returns its state as the rest of a sentence: `has completed: 12 runs, $0.42`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let state = match self.state {
            WorkflowState::Running => "is running",
            WorkflowState::Completed => "has completed",
            WorkflowState::Failed => "has failed",
            WorkflowState::Stopped => "was stopped",
            WorkflowState::Interrupted => "was interrupted, because its process ended",
        };
        let all = self.live + self.completed + self.unfinished;
        let runs = figures::counted(all, "run");
        let runs =
            if self.completed == all { runs } else { format!("{} of {runs} completed", self.completed) };
        let facts: Vec<String> = [runs].into_iter().chain(self.spent()).chain(self.failure()).collect();
        format!("{state}: {}", facts.join(", "))
    }

    /// Returns its cost. `None` if it has cost nothing.
    #[must_use]
    pub fn spent(&self) -> Option<String> {
        (self.cost > 0.0).then(|| figures::money(self.cost))
    }

    /// Returns the error of a failed workflow. The error of a stopped one only repeats that it was stopped.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let error = self.error.as_deref().filter(|_| self.state == WorkflowState::Failed);
        error.map(|error| one_line(error, MAX_ERROR).into_string())
    }

    /// Returns the commands that are useful in its state, in sentences.
    #[must_use]
    pub fn next_steps(&self) -> Vec<String> {
        let word = self.word();
        let resume = || match (&self.file, self.other_project()) {
            (Some(_), Some(project)) => format!("start pi in the project {project} to continue it"),
            (Some(_), None) => {
                format!("`/subagents resume {word}` continues it; completed runs cost nothing again")
            }
            (None, _) => "start its program again to continue it".to_owned(),
        };
        let discard = format!("`/subagents discard --yes {word}` removes it and its results");
        match (self.state, &self.file) {
            _ if !self.has_script() && self.is_running() => Vec::new(),
            _ if !self.has_script() => vec![discard],
            (WorkflowState::Running, _) => vec![format!("`/subagents stop {word}` ends it and its runs")],
            (WorkflowState::Completed, Some(file)) if !self.is_other_project => {
                vec![runs_again(file), format!("{discard}, so that it starts anew")]
            }
            (WorkflowState::Completed, _) => vec![format!("{discard}, so that it starts anew")],
            (WorkflowState::Interrupted, Some(_)) => {
                vec![resume(), format!("`/subagents stop {word}` gives it up")]
            }
            _ => vec![resume(), discard],
        }
    }

    /// Returns its parts in one line: its name, its project if that is another one, its file, its state, its phase, its counts, its cost and its error.
    pub(super) fn parts(&self) -> Vec<String> {
        let mut parts = vec![format!("workflow {}", quoted_if_unusual(&self.name))];
        parts.extend(self.other_project().map(|project| format!("project {project}")));
        parts.extend(self.file.as_deref().filter(|file| *file != self.name).map(str::to_owned));
        parts.push(self.state.to_string());
        parts.extend(self.phase.as_deref().map(|phase| format!("phase {}", quoted_if_unusual(phase))));
        let counts = self.counts();
        if !counts.is_empty() {
            parts.push(format!("runs: {}", counts.join(", ")));
        }
        parts.extend(self.spent());
        parts.extend(self.failure());
        parts
    }
}

/// Returns the command that runs a script again, in a sentence.
pub(super) fn runs_again(file: &str) -> String {
    format!("`/subagents workflow {file}` runs it again; completed runs cost nothing again")
}

/// Returns true if a person can type a path at the end of a command.
#[must_use]
pub(crate) fn can_type_path(path: &str) -> bool {
    let is_plain = without_controls(path) == path && !path.contains(char::is_control);
    is_plain && !path.is_empty() && path.trim().trim_matches('"') == path && !path.starts_with("--")
}

/// Returns true if a person can type a text as a name in a command.
#[must_use]
pub(crate) fn can_type_name(name: &str) -> bool {
    can_type_path(name) && !name.contains('"') && !name.contains("--") && name.chars().count() <= MAX_TYPED
}

/// Returns a name as one word of a command.
#[must_use]
pub(crate) fn quoted_word(name: &str) -> String {
    if name.contains(char::is_whitespace) { format!("\"{name}\"") } else { name.to_owned() }
}

/// Returns the word that names a workflow by its key in the store, whatever its id is.
#[must_use]
pub(crate) fn exact_word(project: &Path, id: &str) -> String {
    format!("{WORKFLOW_WORD}{}", workflow_key(project, id))
}
