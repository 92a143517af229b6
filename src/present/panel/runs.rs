//! The rows that the panel lists: the session's runs from events, joined with the runs in the store, and the workflows of
//! the project with their runs below them.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;

use crate::present::ShownWorkflow;
use crate::present::runs::{ListRow, ShownRun, is_of, read_runs};
use crate::run::{NewestRuns, RunOutcome, RunRecord, WorkflowState};

/// The intervals for reading the store, in milliseconds. Runs of other sessions send no events here, and old runs may be
/// removed.
const ALL_EVERY_MS: u64 = 2_000;
const OWN_EVERY_MS: u64 = 10_000;

/// The answer of the store.
#[derive(Deserialize)]
struct Stored {
    runs: Value,
    workflows: Vec<ShownWorkflow>,
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// The index of a workflow.
    Workflow(usize),
    /// The index of a run.
    Run { index: usize, is_nested: bool },
}

/// The listed runs and workflows.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the list")]
pub(super) struct Runs {
    /// All listed runs, newest first.
    pub(super) list: Vec<ShownRun>,
    /// The keys of the runs with unread results.
    pub(super) unread: Vec<String>,
    /// The keys of the listed runs of other sessions. Empty for the list of all sessions.
    pub(super) others: Vec<String>,
    /// True for the runs of all sessions.
    pub(super) is_all: bool,
    /// True once the store has answered.
    pub(super) is_complete: bool,
    /// The store's error.
    pub(super) problem: Option<String>,
    /// The runs of workflows that the list of runs does not have.
    unlisted: Vec<ShownRun>,
    workflows: Vec<ShownWorkflow>,
    /// The workflows whose runs the user has hidden (true) or shown (false), by place.
    folded: HashMap<String, bool>,
    /// The places of the workflows that have run while the panel was open. Their runs are shown unless the user hides them.
    followed: HashSet<String>,
    rows: Vec<Row>,
    /// The indexes of the runs that have a row, or whose row is hidden below its workflow.
    counted: Vec<usize>,
    own: Vec<ShownRun>,
    stored: Vec<ShownRun>,
    /// The known ends of the session's runs.
    ends: Vec<(String, u32)>,
    read_ms: Option<i64>,
    is_reading: bool,
    /// True if the store was read after the last event.
    is_stored_newer: bool,
    /// True if another read was requested during the current one.
    is_wanted: bool,
}

impl Runs {
    pub(super) fn run(&self, key: &str) -> Option<&ShownRun> {
        self.list.iter().chain(&self.unlisted).find(|run| run.key == key)
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the key of a row. It stays the same while rows before it come and go.
    pub(super) fn key_of(&self, row: Row) -> String {
        match row {
            Row::Workflow(index) => place_of(&self.workflows[index]),
            Row::Run { index, .. } => self.at(index).key.clone(),
        }
    }

    fn at(&self, index: usize) -> &ShownRun {
        self.list.get(index).unwrap_or_else(|| &self.unlisted[index - self.list.len()])
    }

    /// Returns a row as it is drawn.
    pub(super) fn drawn(&self, row: Row) -> ListRow<'_> {
        match row {
            Row::Workflow(index) => {
                let workflow = &self.workflows[index];
                let is_folded = has_runs(workflow).then(|| self.is_folded(workflow));
                ListRow::Workflow { workflow, is_folded, asking: self.asking(workflow) }
            }
            Row::Run { index, is_nested } => {
                let number = (index < self.list.len()).then_some(index + 1);
                ListRow::Run { run: self.at(index), number, is_nested }
            }
        }
    }

    fn is_folded(&self, workflow: &ShownWorkflow) -> bool {
        let place = place_of(workflow);
        self.folded.get(&place).copied().unwrap_or_else(|| !self.followed.contains(&place))
    }

    /// Returns the run of a workflow that has waited for the answer to a question for the longest time.
    fn asking(&self, workflow: &ShownWorkflow) -> Option<&ShownRun> {
        self.list.iter().rev().find(|run| is_of(run, workflow) && run.asks())
    }

    /// Returns the runs that the rows stand for.
    pub(super) fn counted(&self) -> Vec<&ShownRun> {
        self.counted.iter().map(|index| self.at(*index)).collect()
    }

    /// Shows or hides the runs of a workflow. Without `folds`, switches between both.
    pub(super) fn fold(&mut self, workflow: &ShownWorkflow, folds: Option<bool>) {
        if !has_runs(workflow) {
            return;
        }
        let folds = folds.unwrap_or(!self.is_folded(workflow));
        self.folded.insert(place_of(workflow), folds);
        self.arrange();
    }

    /// Returns the workflow of a row, or the one above the row of its run.
    pub(super) fn workflow_of(&self, at: usize) -> Option<(usize, &ShownWorkflow)> {
        match self.rows.get(at)? {
            Row::Run { is_nested: false, .. } => None,
            _ => self.rows[..=at].iter().enumerate().rev().find_map(|(at, row)| match row {
                Row::Workflow(index) => Some((at, &self.workflows[*index])),
                Row::Run { .. } => None,
            }),
        }
    }

    /// Returns true if an event has reported the run.
    pub(super) fn is_own(&self, key: &str) -> bool {
        self.own.iter().any(|run| run.key == key)
    }

    /// Takes the session's runs.
    pub(super) fn set_own(&mut self, runs: &str, unread: Vec<String>) {
        (self.own, self.unread) = (read_runs(runs), unread);
        self.is_stored_newer = false;
        self.join();
    }

    /// Takes the answer of the store to a read for `is_all`.
    pub(super) fn take_stored(&mut self, answer: Result<&str, &str>, is_all: bool, now_ms: i64) {
        self.is_reading = false;
        match answer {
            // The user has switched to another list; the next read loads it.
            Ok(_) if is_all != self.is_all => return,
            Ok(answer) => match serde_json::from_str::<Stored>(answer) {
                Ok(Stored { runs, workflows }) => {
                    self.stored = read_runs(&runs.to_string());
                    self.workflows = workflows;
                    self.is_stored_newer = true;
                    self.is_complete = true;
                    self.problem = None;
                }
                Err(error) => self.problem = Some(error.to_string()),
            },
            Err(problem) => self.problem = Some(problem.to_owned()),
        }
        self.read_ms = Some(now_ms);
        self.join();
    }

    /// Joins the events with the stored runs. If a run has just ended, requests its result from the store.
    fn join(&mut self) {
        let stored = |run: &ShownRun| self.stored.iter().find(|stored| stored.key == run.key);
        let own = self.own.iter().map(|run| completed(run, stored(run), self.is_stored_newer));
        let others: Vec<_> = self.stored.iter().filter(|run| !self.is_own(&run.key)).cloned().collect();
        let named = others.iter().filter(|_| !self.is_all);
        self.others = named.map(|run| run.key.clone()).collect();
        self.list = own.chain(others).collect();
        self.list.sort_by_key(|run| std::cmp::Reverse(run.created_ms));
        self.arrange();
        let ended = self.own.iter().filter(|run| !run.is_live());
        let ends: Vec<_> = ended.map(|run| (run.key.clone(), run.times_resumed)).collect();
        if ends != self.ends {
            self.ends = ends;
            self.is_wanted = true;
        }
    }

    /// Puts the runs of workflows below them. Running workflows come first, then everything else, the newest first.
    fn arrange(&mut self) {
        let keys: HashMap<&str, usize> =
            self.list.iter().enumerate().map(|(index, run)| (run.key.as_str(), index)).collect();
        let mut unlisted = Vec::new();
        let mut is_below = vec![false; self.list.len()];
        let mut groups = Vec::new();
        for (at, workflow) in self.workflows.iter().enumerate() {
            let newest = newest_of_keys(&self.list, workflow);
            let before = unlisted.len();
            let mut below: Vec<usize> = Vec::new();
            for run in &workflow.runs {
                let key = run.workflow.as_ref().map(|place| place.key.as_str()).unwrap_or_default();
                // An event may have a newer run of the key than the last answer of the store.
                match newest.get(key).filter(|index| self.list[**index].created_ms >= run.created_ms) {
                    Some(index) => below.push(*index),
                    None if keys.contains_key(run.key.as_str()) => below.push(keys[run.key.as_str()]),
                    None => {
                        unlisted.push(ShownRun(run.clone()));
                        below.push(self.list.len() + unlisted.len() - 1);
                    }
                }
            }
            // An event may have a run that the store's last answer lacks.
            let stored = |key: &str| {
                workflow.runs.iter().any(|run| run.workflow.as_ref().is_some_and(|place| place.key == key))
            };
            let new = newest.iter().filter(|(key, _)| !stored(key)).map(|(_, index)| *index);
            let mut new: Vec<usize> = new.collect();
            new.sort_by_key(|index| self.list[*index].created_ms);
            below.extend(new);
            let is_listed = below.iter().any(|index| *index < self.list.len());
            if self.is_all || is_listed || workflow.state != WorkflowState::Completed {
                for index in &below {
                    if let Some(listed) = is_below.get_mut(*index) {
                        *listed = true;
                    }
                }
                groups.push((at, below));
            } else {
                unlisted.truncate(before);
            }
        }
        let stored = self.workflows.iter().flat_map(|workflow| &workflow.runs);
        let newest = NewestRuns::of(self.list.iter().map(|run| &**run).chain(stored));
        let mut entries: Vec<(bool, i64, Vec<Row>)> = Vec::new();
        self.counted.clear();
        for (index, run) in self.list.iter().enumerate() {
            if !is_below[index] && !newest.supersede(run) {
                entries.push((false, run.created_ms, vec![Row::Run { index, is_nested: false }]));
                self.counted.push(index);
            }
        }
        self.unlisted = unlisted;
        for (at, below) in groups {
            let runs: Vec<ShownRun> = below.iter().map(|index| self.at(*index).clone()).collect();
            let workflow = &mut self.workflows[at];
            follow(workflow, &runs);
            let is_running = workflow.is_running();
            if is_running {
                self.followed.insert(place_of(workflow));
            }
            let newest = runs.iter().map(|run| run.created_ms).max().unwrap_or(workflow.started_ms);
            let time = if is_running { workflow.started_ms } else { newest };
            self.counted.extend(&below);
            let mut rows = vec![Row::Workflow(at)];
            if !self.is_folded(&self.workflows[at]) {
                rows.extend(below.into_iter().map(|index| Row::Run { index, is_nested: true }));
            }
            entries.push((is_running, time, rows));
        }
        entries.sort_by_key(|(is_running, time, _)| (!is_running, std::cmp::Reverse(*time)));
        self.rows = entries.into_iter().flat_map(|(_, _, rows)| rows).collect();
    }

    /// Switches between the runs of all sessions and the runs of this one.
    pub(super) fn toggle_all(&mut self) {
        self.is_all = !self.is_all;
        if !self.is_all {
            let session = self.own.first().map(|run| run.session.clone());
            self.stored.retain(|run| Some(&run.session) == session.as_ref());
            // The next read has the other ones of this project.
            self.workflows.retain(|workflow| self.own.iter().any(|run| is_of(run, workflow)));
        }
        self.join();
        self.is_wanted = true;
    }

    /// Requests a read of the store, at once.
    pub(super) fn read(&mut self) {
        self.is_wanted = true;
    }

    /// Requests a read if the interval has passed. The system clock may be set back.
    pub(super) fn read_if_due(&mut self, now_ms: i64) {
        let is_followed = self.is_all || self.workflows.iter().any(ShownWorkflow::is_running);
        let every = if is_followed { ALL_EVERY_MS } else { OWN_EVERY_MS };
        let is_due = self.read_ms.is_none_or(|read_ms| now_ms.abs_diff(read_ms) >= every);
        self.is_wanted |= is_due && !self.is_reading;
    }

    /// Begins a requested read. Returns true if there is one.
    pub(super) fn begin_read(&mut self) -> bool {
        let begins = self.is_wanted && !self.is_reading;
        if begins {
            (self.is_wanted, self.is_reading) = (false, true);
        }
        begins
    }
}

/// Returns a text that names a workflow and no run.
fn place_of(workflow: &ShownWorkflow) -> String {
    format!("{} {}", workflow.id, workflow.project.display())
}

fn has_runs(workflow: &ShownWorkflow) -> bool {
    workflow.live + workflow.completed + workflow.unfinished > 0
}

/// Returns the index of the newest run of each key. `runs` are newest first.
fn newest_of_keys<'a>(runs: &'a [ShownRun], workflow: &ShownWorkflow) -> HashMap<&'a str, usize> {
    let mut newest = HashMap::new();
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| is_of(run, workflow)) {
        let key = run.workflow.as_ref().map(|place| place.key.as_str()).unwrap_or_default();
        newest.entry(key).or_insert(index);
    }
    newest
}

/// Brings the numbers of a workflow up to date: its runs may be newer than the last answer of the store.
fn follow(workflow: &mut ShownWorkflow, runs: &[ShownRun]) {
    let count = |fits: fn(&RunRecord) -> bool| runs.iter().filter(|run| fits(run)).count();
    workflow.live = count(RunRecord::is_live);
    workflow.completed = count(|run| run.outcome == Some(RunOutcome::Completed));
    workflow.unfinished = runs.len() - workflow.live - workflow.completed;
    let spent: f64 = runs.iter().map(|run| run.progress.usage.cost.total).sum();
    workflow.cost = workflow.cost.max(spent);
}

/// Adds the long texts of the stored run, which events leave out.
///
/// `is_newer`: the store was read after the event. A command may have moved the run's changes in between.
fn completed(own: &ShownRun, stored: Option<&ShownRun>, is_newer: bool) -> ShownRun {
    let mut run = own.clone();
    if let Some(stored) = stored.filter(|stored| stored.is_live() == own.is_live()) {
        let RunRecord { task, result, partial, artifacts, .. } = &**stored;
        run.0.task.clone_from(task);
        run.0.result = result.clone().or(run.0.result);
        run.0.artifacts.clone_from(artifacts);
        run.0.partial = partial.clone().or(run.0.partial);
        if is_newer {
            run.0.changes_state = stored.changes_state;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use worktree::ChangesState;

    #[test]
    fn the_newer_of_event_and_store_has_the_state_of_the_changes() {
        let json = |state: Option<ChangesState>| {
            let run = RunRecord { key: "k".to_owned(), changes_state: state, ..RunRecord::default() };
            serde_json::to_string(&[run]).expect("the run is serialized")
        };
        let mut runs = Runs::default();
        let state = |runs: &Runs| runs.run("k").and_then(|run| run.changes_state);
        runs.set_own(&json(Some(ChangesState::Unapplied)), Vec::new());
        let stored = json(Some(ChangesState::Applied));
        runs.take_stored(Ok(&format!("{{\"runs\":{stored},\"workflows\":[]}}")), false, 0);
        assert_eq!(state(&runs), Some(ChangesState::Applied), "a command has applied them since the event");
        runs.set_own(&json(None), Vec::new());
        assert_eq!(state(&runs), None, "the run was resumed since the store was read");
    }
}
