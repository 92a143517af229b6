//! Finds the run that a name refers to: for the commands and answers of a person, the tools of a model and the calls of a
//! program.
//!
//! All of them get the same refusals, with the nearest name and the candidates.

use std::sync::Arc;

use uuid::Uuid;

use super::conversation::view::ConversationView;
use super::service::BackgroundService;
use crate::present::{Mark, Report, ReportLine, agent_and_label, mark, state};
use crate::run::{RunRecord, blocking};
use crate::transcript::session_id;
use sanitizer::{nearest, quoted, quoted_within, suggestion, without_controls};

/// The maximum number of runs listed in an error.
const MAX_NAMED: usize = 8;
/// The maximum length of a task in that list.
const MAX_TASK: usize = 60;
/// The minimum number of characters of a UUID that name a run. Fewer do not distinguish runs.
const MIN_KEY_CHARS: usize = 4;

/// A name for a run: a number in a list, the beginning of an id, a label, a session key, or `last`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target(pub(super) String);

impl Target {
    /// The target with this name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns true if it names the newest run.
    fn is_last(&self) -> bool {
        self.0 == "last"
    }

    /// Returns true if it is `last` and means a run of another conversation.
    pub(super) fn is_last_of(&self, run: &RunRecord, view: &ConversationView) -> bool {
        self.is_last() && run.session != view.session()
    }

    /// The number in a list, `2` or `#2`, if the name looks like one.
    fn number(&self) -> Option<&str> {
        let number = self.0.strip_prefix('#').unwrap_or(&self.0);
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
    }

    /// The run's key, if the name is a whole key, alone or at the end of a session key.
    pub(super) fn key(&self) -> Option<&str> {
        let key = self.0.rsplit(':').next().unwrap_or_default();
        Uuid::try_parse(key).is_ok().then_some(key)
    }
}

/// The runs that a command is for. If several runs have a name, it means one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Any run.
    Any,
    /// A run that has not ended.
    Live,
    /// A run with changes. This includes applied and discarded ones: a command that is typed twice must not reach another
    /// run.
    Changed,
}

impl Wanted {
    fn is(self, run: &RunRecord) -> bool {
        match self {
            Self::Any => false,
            Self::Live => run.is_live(),
            Self::Changed => run.changes_state.is_some(),
        }
    }
}

/// The author of a name, which decides about the kinds of names and the runs that they reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedBy {
    /// A person, who has seen a list: its numbers and `last` are names, too. The runs of the project's other sessions have
    /// names if their work waits. A whole id, a key or a number of `list all` reaches any run.
    Person(Wanted),
    /// A model or a program. It reaches only the runs of its own conversation.
    Program,
}

/// Finds a run by its session key, its id or the beginning of either, its label, or the id of its child's session.
///
/// # Errors
///
/// With a report of the reason, the nearest name and the candidates.
pub(super) async fn find(
    service: &Arc<BackgroundService>,
    view: &ConversationView,
    target: &Target,
    by: NamedBy,
) -> Result<RunRecord, Report> {
    let NamedBy::Person(wanted) = by else {
        let own = service.runs(Some(view.session().to_owned())).await;
        let found = named(target.0.trim(), &own, Wanted::Any).cloned();
        let Err(unknown) = found else { return found };
        return by_live_session(target.0.trim(), own).await.ok_or(unknown);
    };
    let listed = view.listed();
    let known = service.runs_of_person(view).await;
    let own: Vec<_> = known.iter().filter(|run| run.session == view.session()).cloned().collect();
    let has_meant = own.iter().any(|run| wanted.is(run)) || !known.iter().any(|run| wanted.is(run));
    // Numbers count the whole list. All other names mean the conversation's own runs first.
    if !own.is_empty()
        && target.number().is_none()
        && (has_meant || !target.is_last())
        && let Ok(run) = resolve(target, &own, &[], wanted)
    {
        return Ok(run.clone());
    }
    let unknown = match resolve(target, &known, &listed, wanted) {
        Ok(run) => return Ok(run.clone()),
        Err(report) => match service.blocking(|service| service.store.problem()).await {
            Some(problem) => unreadable(&problem),
            None => report,
        },
    };
    let mut found = by_live_session(target.0.trim(), own).await;
    if found.is_none() {
        found = in_other_conversations(service, target, &listed).await;
    }
    found.ok_or(unknown)
}

/// Finds an active run by the id of its child's session, which is only in the session's file until the run has ended.
async fn by_live_session(id: &str, mut runs: Vec<RunRecord>) -> Option<RunRecord> {
    runs.retain(RunRecord::is_live);
    let wanted = id.to_owned();
    let is_wanted = move |run: &RunRecord| {
        let id = run.transcript.as_deref().and_then(session_id);
        id.is_some_and(|id| id == wanted)
    };
    blocking(move || runs.into_iter().find(is_wanted)).await
}

/// Finds a run of another conversation, only by its whole id or by its number in the list that was shown: a typing
/// error must not reach the runs of another project.
async fn in_other_conversations(
    service: &Arc<BackgroundService>,
    target: &Target,
    listed: &[String],
) -> Option<RunRecord> {
    if let Some(key) = target.key() {
        let run = service.run(key).await?;
        return service.blocking(move |service| service.store.with_changes(vec![run]).pop()).await;
    }
    let mut all = service.runs_with_changes(None).await;
    let id = target.0.clone();
    let stored =
        service.blocking(move |service| service.store.with_changes(service.store.with_id(&id))).await;
    // A run that is too old for the lists can still be found by its id.
    all.extend(
        stored.into_iter().filter(|run| all.iter().all(|known| known.key != run.key)).collect::<Vec<_>>(),
    );
    let mut exact = all.iter().filter(|run| target.0 == run.run_id);
    if let (Some(run), None) = (exact.next(), exact.next()) {
        return Some(run.clone());
    }
    // `last`, a label and the beginning of an id are names of this conversation's runs.
    target.number()?;
    resolve(target, &all, listed, Wanted::Any).ok().filter(|run| listed.contains(&run.key)).cloned()
}

/// Finds a run among `runs`, newest first. A number is a position in the list shown last, whose keys are in `shown`. If
/// no list was shown, it is a position in `runs`. If several runs have the name, it means the `wanted` one.
///
/// # Errors
///
/// If no run matches, or several do. The report lists the candidates.
pub fn resolve<'a>(
    target: &Target,
    runs: &'a [RunRecord],
    shown: &[String],
    wanted: Wanted,
) -> Result<&'a RunRecord, Report> {
    let name = &target.0;
    if is_blank(name) {
        return Err(unnamed());
    }
    if runs.is_empty() {
        return Err(none(name, "this session has no stored run, and no earlier work waits in this project"));
    }
    if target.is_last() {
        // The newest run may be one that the command cannot act on. Then the answer says so.
        return Ok(runs.iter().find(|run| wanted.is(run)).unwrap_or(&runs[0]));
    }
    let number = target.number();
    let listed = if shown.is_empty() { runs.len() } else { shown.len() };
    if let Some(number) = number {
        let index = number.parse().ok().filter(|index| (1..=listed).contains(index));
        if let Some(index) = index {
            let found = match shown.get(index - 1) {
                Some(key) => runs.iter().find(|run| run.key == *key),
                None => runs.get(index - 1),
            };
            return found.ok_or_else(|| {
                some_of(format!("run {} of the list no longer exists", quoted(name)), runs.iter())
            });
        }
    }
    match named(name, runs, wanted) {
        Err(_) if number.is_some() && matching(name, runs).is_empty() => {
            let runs = if listed == 1 { "1 run" } else { &format!("{listed} runs") };
            Err(Report::error(format!("there is no run {}: the list has {runs}", quoted(name))))
        }
        found => found,
    }
}

/// Finds a run among `runs` by an id or its label. If several runs have the name, it means the `wanted` one.
///
/// # Errors
///
/// If no run matches, or several do. The report lists the candidates.
fn named<'a>(name: &str, runs: &'a [RunRecord], wanted: Wanted) -> Result<&'a RunRecord, Report> {
    if is_blank(name) {
        return Err(unnamed());
    }
    if runs.is_empty() {
        return Err(none(name, "this session has no stored run"));
    }
    let mut found = matching(name, runs);
    if found.len() > 1 && found.iter().any(|run| wanted.is(run)) {
        found.retain(|run| wanted.is(run));
    }
    match found[..] {
        [run] => Ok(run),
        [] => Err(unknown(name, runs)),
        _ => Err(some_of(format!("{} matches {} runs", quoted(name), found.len()), found.into_iter())),
    }
}

/// Returns true if a name has no visible character. Every id begins with an empty text, so such a name would match any run.
fn is_blank(name: &str) -> bool {
    without_controls(name).trim().is_empty()
}

/// Reports that no run can be listed or found, because the store cannot be read.
pub(super) fn unreadable(problem: &str) -> Report {
    let hint = ReportLine::below("`/subagents doctor` checks the store");
    Report::error(format!("the stored runs cannot be read: {problem}")).with(hint)
}

fn none(name: &str, why: &str) -> Report {
    Report::error(format!("there is no run {}: {why}", quoted(name)))
}

fn unnamed() -> Report {
    Report::error("the name of the run is empty: give its ID or its label")
}

/// The names of a run.
#[derive(Clone, Copy, Default)]
pub(super) struct Names<'a> {
    pub run_id: &'a str,
    pub key: &'a str,
    pub session_key: &'a str,
    pub child_session_id: Option<&'a str>,
    pub label: Option<&'a str>,
}

/// A run, or something of a run that is found by the same names.
pub(super) trait Named {
    fn names(&self) -> Names<'_>;
}

impl Named for RunRecord {
    fn names(&self) -> Names<'_> {
        let Self { run_id, key, session_key, child_session_id, label, .. } = self;
        let (child_session_id, label) = (child_session_id.as_deref(), label.as_deref());
        Names { run_id, key, session_key, child_session_id, label }
    }
}

/// Returns the matches of a name, by the strictest kind of match that finds any.
pub(super) fn matching<'a, T: Named>(name: &str, all: &'a [T]) -> Vec<&'a T> {
    let lower = name.to_lowercase();
    let is_long = lower.len() >= MIN_KEY_CHARS;
    let ways: [&dyn Fn(Names) -> bool; 5] = [
        &|of| of.run_id == lower || of.key == lower || of.session_key == name,
        &|of| of.child_session_id == Some(name),
        &|of| of.label.is_some_and(|label| label.trim() == name),
        &|of| of.label.is_some_and(|label| label.trim().to_lowercase() == lower),
        &|of| of.run_id.starts_with(&lower) || (is_long && of.key.starts_with(&lower)),
    ];
    let found = ways.iter().map(|way| all.iter().filter(|one| way(one.names())).collect::<Vec<_>>());
    found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// Returns true if a person may mean a run with this name.
pub(super) fn may_mean_run(name: &str, runs: &[RunRecord]) -> bool {
    let target = Target::new(name);
    target.is_last()
        || target.number().is_some()
        || target.key().is_some()
        || !matching(name, runs).is_empty()
}

fn unknown(name: &str, runs: &[RunRecord]) -> Report {
    let names = runs.iter().flat_map(|run| run.label.as_deref().into_iter().chain([run.run_id.as_str()]));
    let meant = suggestion(nearest(name, names));
    some_of(format!("there is no run {}{meant}", quoted(name)), runs.iter())
}

/// A report of why the name is not clear, with the candidates.
fn some_of<'a>(why: String, runs: impl ExactSizeIterator<Item = &'a RunRecord>) -> Report {
    let mut report = Report::error(why);
    let more = runs.len().saturating_sub(MAX_NAMED);
    report.lines.extend(runs.take(MAX_NAMED).map(candidate));
    if more > 0 {
        let text = format!("and {more} more: /subagents list");
        report.lines.push(ReportLine { indent: 1, ..ReportLine::new(Mark::Info, "", text) });
    }
    report
}

/// Returns the line of a run in a list of candidates.
pub(super) fn candidate(run: &RunRecord) -> ReportLine {
    let task = run.task.trim().lines().next().filter(|_| run.label.is_none());
    let task = task.map(|task| quoted_within(task, MAX_TASK));
    let parts = [Some(agent_and_label(run)), task, Some(state(run))];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    ReportLine { indent: 1, ..ReportLine::new(mark(run), run.run_id.clone(), text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunOutcome;

    #[tokio::test]
    async fn an_active_run_is_found_by_the_id_in_its_session_file() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let transcript = root.path().join("session.jsonl");
        std::fs::write(&transcript, "{\"type\":\"session\",\"id\":\"0198-abc\"}\n")
            .expect("the file is written");
        let active = RunRecord { transcript: Some(transcript), ..RunRecord::default() };
        let ended = RunRecord { outcome: Some(RunOutcome::Completed), ..active.clone() };
        assert_eq!(
            by_live_session("0198-abc", vec![ended.clone(), active.clone()]).await,
            Some(active.clone())
        );
        assert_eq!(by_live_session("0198-abd", vec![active]).await, None);
        assert_eq!(by_live_session("0198-abc", vec![ended]).await, None, "its record has the id");
    }
}
