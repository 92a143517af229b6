//! `/subagents info`.

use std::time::Duration;

use crate::present::clock::Clock;
use crate::present::paint::gist;
use crate::present::report::{Mark, Report, ReportLine};
use crate::present::run_label::{WAITED_FOR, changes, mark, name, state_and_time};
use crate::present::state_label::reason;
use crate::run::{CheckReport, Cleanup, RunOutcome, RunRecord};
use sanitizer::{figures, one_line};

/// The flag of `/subagents info` that shows paths and keys.
pub(crate) const PATHS: &str = "--paths";
/// Longest line of a task, an error or a result; the transcript has all of it.
const MAX_TEXT: usize = 400;
/// A run that waited for less has started at once.
const SHORT_WAIT_MS: i64 = 1_000;
/// Most notes shown.
const MAX_NOTES: usize = 20;

/// Reports everything known about a run, except its paths and keys. A low terminal shows the end, so the state, the
/// task, the last tool and the costs come last.
#[must_use]
pub fn info_report(run: &RunRecord, clock: &Clock) -> Report {
    let mut facts = Facts::new(run);
    facts.add_if_some("label", run.label.as_deref());
    facts.add("agent", &run.agent);
    facts.add("model", &model(run));
    facts.add("tools", &if run.tools.is_empty() { "none".to_owned() } else { run.tools.join(", ") });
    facts.add_if_some("sandbox", run.sandbox.as_deref());
    processes(&mut facts, run);
    let is_waited_for = run.is_foreground && run.is_live();
    if is_waited_for {
        facts.add("foreground", WAITED_FOR);
    } else {
        retention(&mut facts, run, clock);
    }
    times(&mut facts, run, clock);
    for note in run.notes.iter().take(MAX_NOTES) {
        facts.add("note", note);
    }
    outcome(&mut facts, run);
    facts.0.lines.push(ReportLine::new(mark(run), "state", state_and_time(run, clock)));
    facts.add("task", &run.task);
    facts.add_if_some("last tool", run.progress.last_tool.as_deref());
    facts.add("usage", &usage(run));
    let paths = format!("`/subagents info {} {PATHS}` shows its paths and keys", run.run_id);
    facts.0.with(ReportLine::new(Mark::None, "", paths))
}

/// Reports the paths and keys of a run.
#[must_use]
pub fn info_paths_report(run: &RunRecord) -> Report {
    let mut facts = Facts::new(run);
    if !(run.is_foreground && run.is_live()) {
        facts.add("session key", &run.session_key);
    }
    let unknown = if run.is_live() { "unknown until its child has started" } else { "not known" };
    facts.add("session id", run.child_session_id.as_deref().unwrap_or(unknown));
    facts.add("started by", &format!("session {}", run.session));
    facts.add("directory", &run.cwd.to_string_lossy());
    facts.add_if_some("supervision", run.supervision.as_deref());
    facts.add_if_some("files", run.directory.as_deref().map(|path| path.to_string_lossy()).as_deref());
    let transcript = run.transcript.as_ref().map(|path| path.to_string_lossy().into_owned());
    let without = run.lost_transcript().map_or("none", |why| why.trim_start_matches("its transcript was "));
    facts.add("transcript", transcript.as_deref().unwrap_or(without));
    facts.0
}

struct Facts(Report);

impl Facts {
    fn new(run: &RunRecord) -> Self {
        Self(Report::new(format!("Run {}", name(run))))
    }

    fn add(&mut self, name: &str, text: &str) {
        self.0.lines.push(ReportLine::new(Mark::None, name, one_line(text, MAX_TEXT)));
    }

    fn add_if_some(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            self.add(name, text);
        }
    }
}

fn outcome(facts: &mut Facts, run: &RunRecord) {
    facts.add_if_some("result", run.result.as_deref().map(|text| gist(text, false)).as_deref());
    let state = run.outcome.map_or("", RunOutcome::as_str);
    let error = run.error.as_deref().map(|error| reason(state, error));
    if let Some(error) = error.filter(|error| !error.is_empty()) {
        facts.0.lines.push(ReportLine::new(Mark::Error, "error", one_line(&error, MAX_TEXT)));
    }
    for caveat in &run.caveats {
        facts.0.lines.push(ReportLine::new(Mark::Warning, "note", caveat.message()));
    }
    let partial = run.partial.as_deref().filter(|_| run.result.is_none());
    facts.add_if_some("last said", partial.map(|text| gist(text, true)).as_deref());
    facts.add_if_some("changes", changes(run));
    for artifacts in &run.artifacts {
        facts.add_if_some("changed", Some(&artifacts.changes.join(", ")));
        facts.add_if_some("look at first", Some(&artifacts.flagged.join(", ")));
        facts.add_if_some("unchecked", artifacts.flagged_gap.as_deref());
        let is_error = |check: &&CheckReport| run.error.as_deref().is_some_and(|error| check.is_error(error));
        let check = artifacts.check.as_ref().filter(|check| !is_error(check));
        facts.add_if_some("check", check.map(|check| check.ended.as_str()));
        let Some(isolation) = &artifacts.isolation else { continue };
        facts.add_if_some("branch", isolation.branch.as_deref());
        facts.add_if_some("patch", isolation.patch.as_deref());
        facts.add_if_some("kept tree", isolation.kept_tree.as_deref());
    }
}

fn model(run: &RunRecord) -> String {
    let model = run.model.as_deref().unwrap_or("pi's default");
    run.thinking.as_ref().map_or_else(|| model.to_owned(), |level| format!("{model}, thinking {level}"))
}

fn times(facts: &mut Facts, run: &RunRecord, clock: &Clock) {
    if run.started_ms.is_none_or(|started| started - run.created_ms >= SHORT_WAIT_MS) {
        facts.add("accepted", &clock.at(run.created_ms));
    }
    if let Some(started) = run.started_ms {
        facts.add("started", &clock.at(started));
        // The state has the runtime of a run that was not resumed.
        if let Some(all) = run.runtime(clock.now_ms()).filter(|_| run.previous_run_ms > 0) {
            let last = figures::between(started, run.ended_ms.unwrap_or(clock.now_ms()));
            let all = figures::duration(all);
            facts.add("runtime", &format!("{all}, {last} of it since it was resumed"));
        }
    }
    if let Some(ended) = run.ended_ms {
        facts.add("ended", &clock.at(ended));
    }
    if run.times_resumed > 0 {
        let times =
            if run.times_resumed == 1 { "once".to_owned() } else { format!("{} times", run.times_resumed) };
        facts.add("resumed", &times);
    }
}

fn usage(run: &RunRecord) -> String {
    let usage = &run.progress.usage;
    let tokens = figures::tokens;
    let sent = usage.sent();
    let cached = if usage.cache_read > 0 || usage.cache_write > 0 {
        format!(" / cache read {} / cache written {}", tokens(usage.cache_read), tokens(usage.cache_write))
    } else {
        String::new()
    };
    format!(
        "{}, {} tokens (in {} / out {}{cached}), est. {}",
        figures::counted(usize::try_from(usage.turns).unwrap_or(usize::MAX), "turn"),
        tokens(usage.tokens()),
        tokens(sent),
        tokens(usage.output),
        figures::money(usage.cost.total)
    )
}

fn processes(facts: &mut Facts, run: &RunRecord) {
    let is_live = run.is_live();
    let mut parts = Vec::new();
    parts.extend(run.progress.pid.filter(|_| is_live).map(|pid| format!("child {pid}")));
    parts.extend(run.host_pid.filter(|_| is_live).map(|pid| {
        let owner = if run.is_in_process { "this pi" } else { "another process" };
        format!("host {pid} ({owner})")
    }));
    parts.extend(run.progress.processes.map(|count| {
        let count = if count == 1 { "1 process".to_owned() } else { format!("{count} processes") };
        if is_live { format!("{count} in its tree") } else { format!("up to {count}") }
    }));
    parts.extend(
        run.progress
            .cpu_ms
            .map(|cpu_ms| format!("{} of CPU time", figures::duration(Duration::from_millis(cpu_ms)))),
    );
    parts.extend(run.progress.rss_bytes.map(|rss| {
        let peak = if is_live { "" } else { "up to " };
        format!("{peak}{} of memory", figures::bytes(rss))
    }));
    facts.add_if_some("processes", Some(&parts.join(", ")));
}

fn retention(facts: &mut Facts, run: &RunRecord, clock: &Clock) {
    let archive = match (run.archived_ms, run.archive_at_ms) {
        (Some(at), _) => format!("archived {}", clock.at(at)),
        (None, Some(at)) => clock.at(at),
        (None, None) if run.is_live() && run.cleanup == Cleanup::Delete => {
            "once its end was announced".to_owned()
        }
        (None, None) if run.is_live() => "a while after its end".to_owned(),
        (None, None) if run.is_foreground => "never, unless it is resumed".to_owned(),
        (None, None) if run.outcome == Some(RunOutcome::Interrupted) => {
            "once its end was announced".to_owned()
        }
        (None, None) => "never".to_owned(),
    };
    facts.add("archive", &archive);
    if run.is_live() {
        let exit = if run.is_detached { "it continues" } else { "it is interrupted" };
        facts.add("when pi exits", exit);
    }
}
