//! The runs that a person sees in a conversation: its own, and the ones of its project's other sessions whose work waits.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::view::ConversationView;
use crate::orchestrate::background::run_store::{RunStore, sort_newest_first};
use crate::orchestrate::background::service::BackgroundService;
use crate::run::{
    RunOutcome, RunRecord, Settled, interrupted_text, project_of, remove_superseded, waiting_text,
};
use sanitizer::figures::epoch_ms;
use worktree::{all_changes, changes_in, changes_of};

/// The maximum number of runs of other sessions. Changes that were not applied come before all others.
const MAX_OTHERS: usize = 50;
/// The agent of a run without a record.
pub(crate) const UNKNOWN: &str = "unknown";

impl BackgroundService {
    /// Returns the conversation's runs, and the runs of its project's other sessions whose work waits for a person; newest
    /// first. The ended ones have the state of their changes.
    pub async fn runs_of_person(self: &Arc<Self>, view: &ConversationView) -> Vec<RunRecord> {
        let mut runs = self.runs_with_changes(Some(view.session().to_owned())).await;
        let session = view.session().to_owned();
        let cwd = view.scope.cwd.clone();
        let read = move |service: &Self| {
            let all = service.store.runs(None);
            let others = service.store.waiting_elsewhere(&session, &cwd, &all);
            remove_superseded(&mut runs, &all);
            (runs, others)
        };
        let (mut runs, others) = self.blocking(read).await;
        view.set_others(&others);
        runs.extend(others);
        sort_newest_first(&mut runs);
        runs
    }

    /// Returns the runs of a session, or of all, newest first. The ended ones have the state of their changes.
    pub async fn runs_with_changes(self: &Arc<Self>, session: Option<String>) -> Vec<RunRecord> {
        let runs = self.runs(session).await;
        let mut runs = self.blocking(move |service| service.store.with_changes(runs)).await;
        remove_superseded(&mut runs, &[]);
        runs
    }

    /// Shows in all views that a command may have changed the state of a run's changes.
    pub(crate) async fn note_changes(self: &Arc<Self>, view: &ConversationView) {
        let _ = self.runs_of_person(view).await;
        self.invalidate(false);
    }

    /// Returns sentences about the changes that wait in the project of a conversation, and about the runs of its other
    /// sessions that were interrupted. `None` if there are none, or if the conversation has already shown these sentences in
    /// this process.
    pub(super) async fn waiting_notice(self: &Arc<Self>, view: &ConversationView) -> Option<String> {
        let session = view.session().to_owned();
        let (shown, cwd) = (session.clone(), view.scope.cwd.clone());
        let text = self.blocking(move |service| {
            let store = &service.store;
            let stored = |id: &str| store.with_id(id).into_iter().next();
            let agent_of = |id: &str| stored(id).or_else(|| store.step_with_id(id)).map(|run| run.agent);
            let changes = waiting_text(&store.agent_dir, &cwd, agent_of);
            let others = store.waiting_elsewhere(&shown, &cwd, &store.runs(None));
            let sentences = changes.into_iter().chain(interrupted_text(&others, epoch_ms(SystemTime::now())));
            sentences.collect::<Vec<_>>().join("\n")
        });
        let text = Some(text.await).filter(|text| !text.is_empty());
        text.filter(|text| self.conversations.note_waiting(&session, text))
    }
}

impl RunStore {
    /// Adds the state of their changes to the ended runs.
    pub(crate) fn with_changes(&self, mut runs: Vec<RunRecord>) -> Vec<RunRecord> {
        for run in runs.iter_mut().filter(|run| !run.is_live()) {
            let state = |id: &str| changes_of(&self.agent_dir, id).map(|changes| changes.state);
            run.changes_state = state(&run.run_id);
            for artifacts in &mut run.artifacts {
                artifacts.settled = state(artifacts.id(&run.run_id)).and_then(Settled::of);
            }
        }
        runs
    }

    /// Returns what commands have done with the changes of runs, by the ids of the runs: of any age, and of any step of a
    /// chain.
    pub(super) fn settled(&self) -> BTreeMap<String, Settled> {
        let changes = all_changes(&self.agent_dir).into_iter();
        changes.filter_map(|changes| Some((changes.id, Settled::of(changes.state)?))).collect()
    }

    /// Returns the record of a step of a chain that continued in the background.
    pub(crate) fn step_with_id(&self, id: &str) -> Option<RunRecord> {
        self.runs(None).iter().find_map(|run| run.step(id))
    }

    /// Returns the ended runs of other sessions in the project around `cwd` whose work waits for a person, newest first. An
    /// unfinished run of a script does not wait itself, because its workflow does. `all` are the runs of all sessions.
    fn waiting_elsewhere(&self, session: &str, cwd: &Path, all: &[RunRecord]) -> Vec<RunRecord> {
        let root = project_of(cwd);
        let mut projects: HashMap<PathBuf, PathBuf> = HashMap::new();
        let mut is_here = |run: &RunRecord| {
            let project = projects.entry(run.cwd.clone()).or_insert_with(|| project_of(&run.cwd));
            *project == root
        };
        let mut runs = all.to_vec();
        runs.retain(|run| run.session != session && !run.is_live() && is_here(run));
        // The snapshots also know the runs that are too old for the lists, and the ones without a record.
        for changes in changes_in(&self.agent_dir, &root) {
            if runs.iter().any(|run| run.run_id == changes.id) {
                continue;
            }
            let known = self.with_id(&changes.id);
            if known.is_empty() {
                let step = all.iter().find_map(|run| run.step(&changes.id));
                runs.push(step.unwrap_or_else(|| without_record(changes.id, changes.root)));
            }
            runs.extend(known.into_iter().filter(|run| run.session != session && !run.is_live()));
        }
        let mut runs = self.with_changes(runs);
        let is_of_script =
            |run: &RunRecord| run.workflow.as_ref().is_some_and(|place| place.id == place.workflow_name());
        runs.retain(|run| run.has_open_changes() || (run.awaits_person() && !is_of_script(run)));
        remove_superseded(&mut runs, all);
        sort_newest_first(&mut runs);
        runs.sort_by_key(|run| !run.can_apply());
        runs.truncate(MAX_OTHERS);
        sort_newest_first(&mut runs);
        runs
    }
}

/// Returns a run of which only the snapshot is left: its record was removed, or a program without a conversation has
/// started it. Its id is also its key.
pub(crate) fn without_record(id: String, root: PathBuf) -> RunRecord {
    RunRecord {
        key: id.clone(),
        run_id: id,
        agent: UNKNOWN.to_owned(),
        cwd: root,
        outcome: Some(RunOutcome::Completed),
        ..RunRecord::default()
    }
}
