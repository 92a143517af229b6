//! The commands of `/subagents …` and their answers.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use pi_events::{Cost, Usage};
use pi_subagent_native::orchestrate::background::commands::{
    Command, RunCommand, Target, Wanted, complete, complete_script, parse, resolve, usage_report,
};
use pi_subagent_native::orchestrate::background::{ActionOutcome, Cleanup, LiveSnapshot, RunRecord};
use pi_subagent_native::present::{
    Clock, Report, ShownWorkflow, WorkflowEnd, action_report, already_finished, info_paths_report,
    info_report, list_report, log_report, moved_to_background_report, refused_report, started_report,
    stopped_report, with_workflows, workflow_discarded_report, workflow_ended_report, workflow_report,
    workflow_runs_again, workflow_started_report, workflow_unchanged, workflows_report,
};
use pi_subagent_native::run::{AllowedScript, RunOutcome, RunState, WorkflowRun, WorkflowState};
use pi_subagent_native::transcript::{Transcript, TranscriptEntry};
use worktree::ChangesState;

/// 3 July 2026, 12:00:00 UTC.
const NOW: i64 = 1_783_080_000_000;
const MINUTE: i64 = 60_000;

fn clock() -> Clock {
    Clock::fixed(NOW, 2)
}

fn run(id: &str, agent: &str) -> RunRecord {
    let key = format!("{id}-0000-4000-8000-000000000000");
    RunRecord {
        session_key: format!("agent:{agent}:subagent:{key}"),
        key,
        run_id: id.to_owned(),
        session: "parent-session".to_owned(),
        agent: agent.to_owned(),
        task: "Find where\nchildren start.".to_owned(),
        cwd: PathBuf::from("~/project"),
        created_ms: NOW - 10 * MINUTE,
        is_in_process: true,
        host_pid: Some(4000),
        ..RunRecord::default()
    }
}

fn usage() -> Usage {
    let cost = Cost { total: 0.0432, ..Cost::default() };
    Usage {
        input: 9_000,
        output: 2_210,
        cache_read: 1_100,
        cache_write: 0,
        turns: 3,
        cost,
        ..Usage::default()
    }
}

fn ended(id: &str, agent: &str, outcome: RunOutcome) -> RunRecord {
    RunRecord {
        progress: LiveSnapshot { usage: usage(), ..LiveSnapshot::default() },
        outcome: Some(outcome),
        started_ms: Some(NOW - 9 * MINUTE),
        ended_ms: Some(NOW - 9 * MINUTE + 312_000),
        ..run(id, agent)
    }
}

/// Newest first, as in all lists.
fn runs() -> Vec<RunRecord> {
    vec![
        RunRecord {
            progress: LiveSnapshot { position: Some(2), ..LiveSnapshot::default() },
            label: Some("tests".to_owned()),
            ..run("5e5e5e5e", "tester")
        },
        RunRecord {
            state: RunState::Running,
            progress: LiveSnapshot {
                last_tool: Some("$ rg spawn".to_owned()),
                usage: usage(),
                ..LiveSnapshot::default()
            },
            label: Some("find \"the\" code".to_owned()),
            started_ms: Some(NOW - 65_000),
            ..run("1a2b3c4d", "explorer")
        },
        RunRecord {
            label: Some("Review".to_owned()),
            ..ended("1a2bffff", "reviewer", RunOutcome::Completed)
        },
        RunRecord {
            error: Some("the provider said\nno".to_owned()),
            label: Some("Review".to_owned()),
            ..ended("77777777", "explorer", RunOutcome::Failed)
        },
        ended("0badcafe", "explorer", RunOutcome::Interrupted),
    ]
}

fn section(text: &mut String, heading: &str, report: &Report) {
    let error = if report.is_error { " (error)" } else { "" };
    writeln!(text, "### {heading}{error}\n{}\n", report.plain()).expect("writing to a string succeeds");
}

#[test]
fn a_line_is_understood_or_refused_with_the_mistake() {
    let one = |name: &str| Target::new(name);
    let start = |agent: &str, task: &str, wait| Command::Run { agent: agent.into(), task: task.into(), wait };
    let log = |limit, tools| Command::On(one("2"), RunCommand::Log { limit, tools });
    let cases = [
        ("", Command::List { all: false }),
        ("  list ", Command::List { all: false }),
        ("list all", Command::List { all: true }),
        ("stop all", Command::StopAll),
        ("background", Command::Background { run: None }),
        ("background all", Command::Background { run: None }),
        ("background \"find the code\"", Command::Background { run: Some(one("find the code")) }),
        ("run explorer  find \"it\" ", start("explorer", "find \"it\"", false)),
        ("run --wait explorer find it", start("explorer", "find it", true)),
        ("stop #3", Command::On(one("#3"), RunCommand::Stop)),
        ("stop \"find the code\"", Command::On(one("find the code"), RunCommand::Stop)),
        ("stop find the code", Command::On(one("find the code"), RunCommand::Stop)),
        ("info last", Command::On(one("last"), RunCommand::Info { paths: false })),
        ("info --paths a name", Command::On(one("a name"), RunCommand::Info { paths: true })),
        ("info last --paths", Command::On(one("last"), RunCommand::Info { paths: true })),
        ("info \"--path\"", Command::On(one("--path"), RunCommand::Info { paths: false })),
        ("agents", Command::Agents { name: None }),
        ("agents explorer", Command::Agents { name: Some("explorer".to_owned()) }),
        ("log 2", log(20, false)),
        ("log 2 200 tools", log(200, true)),
        ("log 2 tools 1", log(1, true)),
        (
            "send  1a  go on:  \"now\"\nplease ",
            Command::On(one("1a"), RunCommand::Send { message: "go on:  \"now\"\nplease".to_owned() }),
        ),
        ("diff 1a2b", Command::On(one("1a2b"), RunCommand::Diff)),
        ("apply a name", Command::On(one("a name"), RunCommand::Apply { with_flagged: false })),
        ("apply 1a2b --with-flagged", Command::On(one("1a2b"), RunCommand::Apply { with_flagged: true })),
        ("apply --with-flagged 1a2b", Command::On(one("1a2b"), RunCommand::Apply { with_flagged: true })),
        ("apply --abort 1a2b", Command::On(one("1a2b"), RunCommand::AbortApply)),
        ("apply --abort", Command::AbortApply),
        ("discard 1a2b", Command::On(one("1a2b"), RunCommand::Discard { is_sure: false })),
        ("discard 1a2b --yes", Command::On(one("1a2b"), RunCommand::Discard { is_sure: true })),
        ("undo \"a name\"", Command::On(one("a name"), RunCommand::Undo)),
        ("resume 1a", Command::On(one("1a"), RunCommand::Resume { message: None })),
        (
            "resume 1a and more",
            Command::On(one("1a"), RunCommand::Resume { message: Some("and more".to_owned()) }),
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(parse(line), Ok(expected), "{line}");
    }
    let mut text = String::new();
    for line in [
        "list every",
        "stop",
        "stop \" \"",
        "info",
        "info 2 --path",
        "discard --sure 2",
        "diff 2 --stat",
        "run --wiat explorer go",
        "agents explorer now",
        "log",
        "log 2 0",
        "log 2 201",
        "log 2 -5",
        "log 2 99999999999999999999",
        "log 2 20 30",
        "log 2 all",
        "send",
        "send 1a",
        "resume",
        "doctor now",
        "workflow --now",
        "script x.ts",
        "stpo 2",
        "what \u{1b}[31mis this",
    ] {
        let report = parse(line).expect_err(line);
        assert!(report.is_error, "{line}");
        section(&mut text, line, &report);
    }
    section(&mut text, "(help)", &usage_report(Some("alt+g")));
    for line in ["help", "--help", "-h"] {
        assert_eq!(parse(line), Ok(Command::Help), "{line}");
    }
    insta::assert_snapshot!("misuse", text);
}

#[test]
fn a_run_is_found_by_each_of_its_names() {
    let runs = runs();
    let key = runs[2].key.clone();
    let session_key = runs[1].session_key.clone();
    for (name, expected) in [
        ("last", "5e5e5e5e"),
        ("1", "5e5e5e5e"),
        ("#2", "1a2b3c4d"),
        ("5", "0badcafe"),
        ("1a2b3", "1a2b3c4d"),
        ("1A2B3C4D", "1a2b3c4d"),
        ("77777777", "77777777"),
        ("777", "77777777"),
        ("tests", "5e5e5e5e"),
        ("TESTS", "5e5e5e5e"),
        ("find \"the\" code", "1a2b3c4d"),
        (&key, "1a2bffff"),
        (&key[..14], "1a2bffff"),
        (&session_key, "1a2b3c4d"),
    ] {
        let found = resolve(&Target::new(name), &runs, &[], Wanted::Any).expect(name);
        assert_eq!(found.run_id, expected, "{name}");
    }
}

#[test]
fn stop_prefers_the_active_one_of_runs_with_the_same_name() {
    let labelled =
        |id: &str, outcome| RunRecord { label: Some("review".into()), outcome, ..run(id, "explorer") };
    let mut runs = vec![labelled("aa000001", Some(RunOutcome::Completed)), labelled("aa000002", None)];
    let name = Target::new("review");
    let meant = |runs: &[RunRecord], wanted| resolve(&name, runs, &[], wanted).map(|run| run.run_id.clone());
    assert_eq!(meant(&runs, Wanted::Live).as_deref(), Ok("aa000002"));
    assert!(meant(&runs, Wanted::Any).is_err(), "other commands find two runs");
    assert!(
        resolve(&Target::new("#3"), &runs, &[], Wanted::Live).is_err(),
        "a number never matches a run ID"
    );
    runs.push(labelled("aa000003", None));
    assert!(meant(&runs, Wanted::Live).is_err(), "two active runs are ambiguous");
}

#[test]
fn a_number_refers_to_the_list_that_was_shown() {
    let before = runs();
    let shown: Vec<String> = before.iter().map(|run| run.key.clone()).collect();
    // A run that is newer than the list must not change the meaning of its numbers.
    let mut runs = before.clone();
    runs.insert(0, run("99999999", "explorer"));
    let found =
        |name: &str| resolve(&Target::new(name), &runs, &shown, Wanted::Any).map(|run| run.run_id.clone());
    assert_eq!(found("1").as_deref(), Ok("5e5e5e5e"));
    assert_eq!(found("last").as_deref(), Ok("99999999"));
    assert!(found("6").is_err());
    runs.remove(1);
    let gone = resolve(&Target::new("1"), &runs, &shown, Wanted::Any).expect_err("the run no longer exists");
    assert!(gone.lines[0].text.contains("no longer exists"), "{}", gone.plain());
}

#[test]
fn an_unknown_or_ambiguous_name_lists_the_candidates() {
    let runs = runs();
    let mut many = Vec::new();
    for index in 0..12 {
        many.push(run(&format!("aa0000{index:02}"), "explorer"));
    }
    let mut text = String::new();
    for (heading, name, runs) in [
        ("unknown", "nothing", runs.as_slice()),
        ("a slip of the finger", "tets", &runs),
        ("a number", "#9", &runs),
        ("the same label", "Review", &runs),
        ("the beginning of two ids", "1a2b", &runs),
        ("the beginning of many", "aa", &many),
        ("no runs", "last", &[]),
    ] {
        let report = resolve(&Target::new(name), runs, &[], Wanted::Any).expect_err(name);
        section(&mut text, heading, &report);
    }
    insta::assert_snapshot!("unresolved", text);
}

#[test]
fn lists_distinguish_runs_and_show_their_activity() {
    let mut text = String::new();
    section(&mut text, "list", &list_report(&runs(), 0, Some(&runs()[0].session), &clock()));
    section(&mut text, "list all", &list_report(&runs()[..1], 0, None, &clock()));
    section(&mut text, "nothing", &list_report(&[], 0, Some(""), &clock()));
    section(&mut text, "nothing anywhere", &list_report(&[], 0, None, &clock()));
    insta::assert_snapshot!("lists", text);
    let many: Vec<_> = (0..130).map(|index| run(&format!("{index:08x}"), "explorer")).collect();
    let report = list_report(&many, 30, Some(&many[0].session), &clock());
    let first = report.lines.first().map(|line| line.text.as_str());
    assert_eq!(first, Some("and 30 older ones; `/subagents info <id>` shows one"));
    assert_eq!(report.lines.len(), many.len() + 1, "every active run is listed");
}

#[test]
fn info_reports_every_fact_of_a_run() {
    let queued = RunRecord { is_in_process: false, ..runs().remove(0) };
    let running = RunRecord {
        model: Some("provider/model".to_owned()),
        thinking: Some("high".to_owned()),
        tools: vec!["read".to_owned(), "bash".to_owned()],
        sandbox: Some("enforced: landlock, seccomp".to_owned()),
        supervision: Some("warden".to_owned()),
        progress: LiveSnapshot {
            pid: Some(4242),
            processes: Some(3),
            cpu_ms: Some(4_200),
            rss_bytes: Some(120 << 20),
            ..runs().remove(1).progress
        },
        child_session_id: Some("0198-abc".to_owned()),
        transcript: Some("~/sessions/1a2b3c4d/session.jsonl".into()),
        directory: Some("~/sessions/1a2b3c4d".into()),
        is_detached: true,
        times_resumed: 2,
        previous_run_ms: 300_000,
        ..runs().remove(1)
    };
    let archived = RunRecord {
        cleanup: Cleanup::Delete,
        archived_ms: Some(NOW - MINUTE),
        result: Some("All is well.\nNothing to add.".to_owned()),
        notes: vec!["tool `lsp` was dropped".to_owned(), "partial output".to_owned()],
        progress: LiveSnapshot {
            processes: Some(1),
            rss_bytes: Some(80 << 20),
            cpu_ms: Some(350),
            ..runs().remove(2).progress
        },
        ..runs().remove(2)
    };
    let failed = RunRecord { archive_at_ms: Some(NOW + 42 * MINUTE), ..runs().remove(3) };
    let mut text = String::new();
    for (heading, run) in
        [("queued", queued), ("running", running), ("archived", archived), ("failed", failed)]
    {
        section(&mut text, heading, &info_report(&run, &clock()));
        section(&mut text, &format!("{heading}, --paths"), &info_paths_report(&run));
    }
    insta::assert_snapshot!("info", text);
}

#[test]
fn a_log_shows_the_newest_lines() {
    let assistant =
        |text: &str| TranscriptEntry::Assistant { text: text.to_owned(), model: None, error: None };
    let call =
        |summary: &str| TranscriptEntry::ToolCall { name: "bash".to_owned(), summary: summary.to_owned() };
    let result = |is_error, text: &str| TranscriptEntry::ToolResult {
        name: "bash".to_owned(),
        is_error,
        text: text.to_owned(),
    };
    let entries = vec![
        TranscriptEntry::User("Find where\nchildren start.".to_owned()),
        assistant("Looking."),
        call("$ rg spawn"),
        result(false, "src/a.rs\nsrc/b.rs\n"),
        call("$ false"),
        result(true, ""),
        assistant("\n## Findings\n\n\tfn main() {}\n- done\n"),
        TranscriptEntry::Assistant { text: String::new(), model: None, error: Some("overloaded".to_owned()) },
    ];
    let transcript = Transcript { entries, has_more: false, bytes: 5 };
    let more = Transcript { has_more: true, ..transcript.clone() };
    let run = RunRecord { transcript: Some("~/sessions/1a2b3c4d/session.jsonl".into()), ..runs().remove(1) };
    let archived = RunRecord { archived_ms: Some(NOW), ..runs().remove(2) };
    let mut text = String::new();
    for (heading, run, transcript, limit) in [
        ("the whole transcript", &run, Ok(transcript.clone()), 200),
        ("the newest three", &run, Ok(transcript), 3),
        ("a transcript of the maximum length", &run, Ok(more.clone()), 200),
        ("one line of a longer conversation", &run, Ok(more), 1),
        ("nothing yet", &run, Ok(Transcript::default()), 20),
        ("no file yet", &run, Err(io::Error::from(io::ErrorKind::NotFound)), 20),
        ("archived", &archived, Err(io::Error::from(io::ErrorKind::NotFound)), 20),
        ("unreadable", &run, Err(io::Error::other("it is not a regular file")), 20),
    ] {
        section(&mut text, heading, &log_report(run, &transcript, limit, &clock()));
    }
    insta::assert_snapshot!("log", text);
    let endless = assistant(&"long ".repeat(10_000));
    let endless = Transcript { entries: vec![endless; 50], ..Transcript::default() };
    let report = log_report(&run, &Ok(endless), 20, &clock());
    assert!(report.lines.len() <= 21 && report.lines.iter().all(|line| line.text.chars().count() <= 1_000));
}

#[test]
fn actions_report_their_result() {
    let run = runs().remove(1);
    let done = runs().remove(2);
    let mut text = String::new();
    for what in [
        ActionOutcome::Stopped,
        ActionOutcome::Stopping,
        ActionOutcome::Steered,
        ActionOutcome::Resumed,
        ActionOutcome::HandedOver,
    ] {
        section(&mut text, &format!("{what:?}"), &action_report(&run, what));
    }
    for (turn, foreground, background, unreachable) in
        [(false, 0, 0, 0), (false, 0, 1, 0), (true, 1, 2, 0), (false, 0, 0, 1), (true, 0, 0, 2)]
    {
        let label = format!("stop: {turn} {foreground} {background} {unreachable}");
        section(&mut text, &label, &stopped_report(turn, foreground, background, unreachable));
    }
    for (runs, refused) in [(0, 0), (1, 0), (2, 1), (0, 1)] {
        let refused = vec!["the store of runs cannot be used".to_owned(); refused];
        section(
            &mut text,
            &format!("background: {runs} {}", refused.len()),
            &moved_to_background_report(&vec![run.clone(); runs], &refused),
        );
    }
    let warnings = ["`model` was skipped".to_owned()];
    section(&mut text, "started", &started_report(Some(&run), &run.run_id, false, &warnings));
    section(&mut text, "not started yet", &started_report(Some(&run), &run.run_id, true, &[]));
    section(&mut text, "finished", &already_finished(&done, &clock()));
    let archived = RunRecord { archived_ms: Some(NOW), ..done };
    section(&mut text, "finished and archived", &already_finished(&archived, &clock()));
    for (action, done) in [("stop", "stopped"), ("send", "sent a message"), ("resume", "resumed")] {
        section(&mut text, action, &refused_report(&run, done, "it waits for its turn"));
    }
    let script = AllowedScript { path: "/project/scripts/review.ts".into(), ..AllowedScript::default() };
    section(&mut text, "workflow", &workflow_started_report(script));
    let end = |exit_code, was_stopped, output: &str| {
        let (file, duration) = ("scripts/review.ts".to_owned(), Duration::from_secs(75));
        let stopped = shown_workflow(WorkflowState::Stopped);
        let end = WorkflowEnd { file, exit_code, was_stopped, duration, output: output.to_owned() };
        let stored = match output {
            "It began." => vec![],
            "It threw after its workflow." => vec![shown_workflow(WorkflowState::Completed)],
            _ => vec![stopped],
        };
        workflow_ended_report(&end, &stored)
    };
    let long = (1..=60).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
    for (heading, report) in [
        ("workflow: ended", end(Some(0), false, "2 findings\n\n  in src/a.ts\n\tline  7\n")),
        ("workflow: long", end(Some(0), false, &long)),
        ("workflow: failed", end(Some(1), false, "So far.\nError: It went wrong.")),
        ("workflow: killed", end(None, false, "")),
        ("workflow: stopped", end(None, true, "It is half done.")),
        ("workflow: stopped, nothing stored", end(None, true, "It began.")),
        ("workflow: failed, results stored", end(Some(1), false, "It threw after its workflow.")),
    ] {
        section(&mut text, heading, &report);
    }
    insta::assert_snapshot!("done", text);
}

fn shown_workflow(state: WorkflowState) -> ShownWorkflow {
    let run = |key: &str, outcome, cost| {
        let place = WorkflowRun { key: key.to_owned(), ..WorkflowRun::default() };
        let mut run = RunRecord { outcome, workflow: Some(place), ..run("1a2b3c4d", "reviewer") };
        run.progress.usage.cost.total = cost;
        run
    };
    ShownWorkflow {
        id: "review".to_owned(),
        name: "review".to_owned(),
        file: Some("scripts/review.ts".to_owned()),
        state,
        phase: Some("merge".to_owned()),
        live: 1,
        completed: 1,
        unfinished: 1,
        cost: 0.42,
        runs: vec![
            run("src/a.ts", Some(RunOutcome::Completed), 0.4),
            run("src/b.ts", Some(RunOutcome::Failed), 0.02),
            run("merge", None, 0.0),
        ],
        ..ShownWorkflow::default()
    }
}

#[test]
fn workflows_are_listed_with_their_runs() {
    let failed = ShownWorkflow {
        id: "every night".to_owned(),
        name: "nightly".to_owned(),
        state: WorkflowState::Failed,
        error: Some("It went\nwrong.".to_owned()),
        ..ShownWorkflow::default()
    };
    let running = shown_workflow(WorkflowState::Running);
    let text = workflows_report(&[running.clone(), failed.clone()]).plain();
    insta::assert_snapshot!("workflows", text);
    insta::assert_snapshot!("no_workflows", workflows_report(&[]).plain());
    let listed = list_report(&runs()[..1], 0, Some(&runs()[0].session), &clock());
    let brief = |workflow: &ShownWorkflow| ShownWorkflow { runs: Vec::new(), ..workflow.clone() };
    let all = [brief(&running), brief(&shown_workflow(WorkflowState::Stopped)), brief(&failed)];
    insta::assert_snapshot!("list_with_workflows", with_workflows(listed, &all).plain());
}

#[test]
fn a_command_on_a_workflow_says_its_state_and_the_next_step() {
    let mut text = String::new();
    for state in WorkflowState::TEXTS {
        let state = WorkflowState::parse(state).expect("it is a state");
        let mut workflow = ShownWorkflow { runs: Vec::new(), ..shown_workflow(state) };
        if state == WorkflowState::Completed {
            (workflow.live, workflow.completed, workflow.unfinished) = (0, 12, 0);
        }
        section(&mut text, &state.to_string(), &workflow_unchanged(&workflow));
    }
    let completed = shown_workflow(WorkflowState::Completed);
    section(&mut text, "info", &workflow_report(&completed));
    for is_sure in [false, true] {
        section(&mut text, &format!("discard: {is_sure}"), &workflow_discarded_report(&completed, is_sure));
    }
    section(&mut text, "discard: continued since", &workflow_runs_again(&completed));
    for state in [WorkflowState::Running, WorkflowState::Interrupted, WorkflowState::Completed] {
        let project = "/work/other project".into();
        let word = Some("workflow:0f".to_owned());
        let other = ShownWorkflow { is_other_project: true, project, word, ..shown_workflow(state) };
        section(&mut text, &format!("of another project: {state}"), &workflow_report(&other));
    }
    insta::assert_snapshot!("workflow_states", text);
}

#[test]
fn the_names_of_workflows_are_completed_where_they_have_an_effect() {
    let named =
        |id: &str, state| ShownWorkflow { id: id.to_owned(), name: id.to_owned(), ..shown_workflow(state) };
    let workflows = [
        named("review", WorkflowState::Running),
        named("nightly run", WorkflowState::Stopped),
        named("migrate", WorkflowState::Completed),
        named("lost", WorkflowState::Interrupted),
        ShownWorkflow { file: None, ..named("program", WorkflowState::Running) },
        ShownWorkflow {
            file: None,
            name: "codemode".to_owned(),
            ..named("codemode 0198-abc", WorkflowState::Completed)
        },
        ShownWorkflow { word: Some("workflow:last".to_owned()), ..named("last", WorkflowState::Running) },
    ];
    let offered = |prefix: &str| {
        complete(prefix, &[], &workflows, &[]).into_iter().map(|one| one.value).collect::<Vec<_>>()
    };
    for (prefix, expected) in [
        ("stop ", ["stop review", "stop lost", "stop program", "stop workflow:last"].as_slice()),
        ("stop la", &["stop workflow:last"]),
        ("stop workflow:", &["stop workflow:last"]),
        ("resume ", &["resume \"nightly run\"", "resume lost"]),
        ("resume ni", &["resume \"nightly run\""]),
        ("info pro", &["info program"]),
        ("info co", &["info \"codemode 0198-abc\""]),
        (
            "discard ",
            &["discard \"nightly run\"", "discard migrate", "discard lost", "discard \"codemode 0198-abc\""],
        ),
        ("discard --yes m", &["discard --yes migrate"]),
        ("log ", &[]),
        ("stop review", &[]),
    ] {
        assert_eq!(offered(prefix), expected, "{prefix}");
    }
}

#[test]
fn the_file_of_a_workflow_is_completed() {
    let project = tempfile::tempdir().expect("a temporary directory is created");
    for file in ["review.ts", "notes.md", "scripts/one.mjs", "scripts/.hidden.ts", ".pi/x.ts"] {
        let path = project.path().join(file);
        fs::create_dir_all(path.parent().expect("the file has a directory"))
            .expect("the directory is created");
        fs::write(path, "").expect("the file is written");
    }
    let offered = |prefix: &str| {
        let offered = complete_script(prefix, project.path())?;
        Some(offered.into_iter().map(|one| one.value).collect::<Vec<_>>())
    };
    let cases: [(&str, Option<&[&str]>); 7] = [
        ("workflow ", Some(&["workflow review.ts", "workflow scripts/"])),
        ("workflow re", Some(&["workflow review.ts"])),
        ("workflow scripts/", Some(&["workflow scripts/one.mjs"])),
        ("workflow .", Some(&["workflow .pi/"])),
        // Enter runs a complete line at once.
        ("workflow review.ts", Some(&[])),
        ("workflow missing/", Some(&[])),
        ("stop re", None),
    ];
    for (prefix, expected) in cases {
        let expected =
            expected.map(|values| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>());
        assert_eq!(offered(prefix), expected, "{prefix}");
    }
}

#[test]
fn typed_commands_are_completed() {
    let runs = runs();
    let agents = ["explorer", "reviewer"].map(|name| (name.to_owned(), "looks".to_owned()));
    let values = |prefix: &str| {
        complete(prefix, &runs, &[], &agents).into_iter().map(|one| one.value).collect::<Vec<_>>()
    };
    let all = ["5e5e5e5e", "1a2b3c4d", "1a2bffff", "77777777", "0badcafe"];
    let with =
        |command: &str, ids: &[&str]| ids.iter().map(|id| format!("{command} {id}")).collect::<Vec<_>>();
    let every = [
        "list",
        "info",
        "log",
        "send",
        "stop",
        "run",
        "workflow",
        "background",
        "resume",
        "undo",
        "diff",
        "apply",
        "discard",
        "answer",
        "agents",
        "doctor",
    ];
    assert_eq!(values(""), every);
    assert_eq!(
        values("run "),
        ["run explorer ", "run reviewer "],
        "a space follows the agent, because the task comes next"
    );
    assert_eq!(values("run --wait rev"), ["run --wait reviewer "]);
    assert_eq!(values("background "), [""; 0], "no run can be moved, because no call waits");
    assert_eq!(values("s"), ["send", "stop"]);
    assert_eq!(values("list"), [""; 0], "a complete command has no completions");
    assert_eq!(values("list "), ["list all"]);
    assert_eq!(values("info "), with("info", &all));
    assert_eq!(values("info 1a2b"), with("info", &all[1..3]));
    assert_eq!(values("info 1a2b3c4d"), [""; 0]);
    assert_eq!(
        values("send 1a2b3"),
        ["send 1a2b3c4d "],
        "a space follows the run, because the message comes next"
    );
    assert_eq!(values("info rev"), ["info 1a2bffff", "info 77777777"], "labels and agents are completed too");
    assert_eq!(values("info \"find"), ["info 1a2b3c4d"]);
    assert_eq!(values("info 1a2b3c4d "), ["info 1a2b3c4d --paths"]);
    assert_eq!(values("info 1a2b3c4d --pa"), ["info 1a2b3c4d --paths"]);
    assert_eq!(values("info 1a2b3c4d --paths"), [""; 0]);
    assert_eq!(values("info --"), ["info --paths"]);
    assert_eq!(values("info --paths 5e"), ["info --paths 5e5e5e5e"]);
    assert_eq!(values("agents "), ["agents explorer", "agents reviewer"]);
    assert_eq!(values("agents explorer"), [""; 0]);
    for named in ["info last", "info 1", "info #2", "info find \"the\" code"] {
        assert_eq!(values(named), [""; 0], "{named} names a run");
    }
    assert_eq!(
        values("stop "),
        ["stop 5e5e5e5e", "stop 1a2b3c4d", "stop all"],
        "only active runs can be stopped"
    );
    let many: Vec<_> = (0..30_u32)
        .map(|number| RunRecord { run_id: format!("{number:08x}"), outcome: None, ..runs[0].clone() })
        .collect();
    let offered = complete("stop ", &many, &[], &agents);
    assert_eq!((offered.len(), offered[19].value.as_str()), (20, "stop all"));
    assert_eq!(complete(&format!("stop {}", many[0].agent), &many, &[], &agents).len(), 20);
    assert_eq!(values("undo "), [""; 0], "no run has changed files");
    assert_eq!(values("log 1a2b3c4d "), ["log 1a2b3c4d tools"]);
    assert_eq!(values("log 1a2b3c4d 50 to"), ["log 1a2b3c4d 50 tools"]);
    assert_eq!(values("log 1a2b3c4d tools "), [""; 0]);
    assert_eq!(values("send 1a2b3c4d he"), [""; 0]);
    assert_eq!(values("nonsense 1"), [""; 0]);
    let first = complete("stop 1a", &runs, &[], &agents).remove(0);
    assert_eq!(
        (first.label.as_str(), first.description.as_str()),
        ("1a2b3c4d", "explorer \"find 'the' code\" · running · Find where children start.")
    );
}

/// A run without a transcript cannot be resumed, and each state of changes has its own commands.
#[test]
fn only_runs_that_a_command_has_an_effect_on_are_completed() {
    let states = [
        ("00000001", Some(ChangesState::Unapplied)),
        ("00000002", Some(ChangesState::HalfApplied)),
        ("00000003", Some(ChangesState::Applied)),
        ("00000004", Some(ChangesState::AppliedOnly)),
        ("00000005", Some(ChangesState::InPlace)),
        ("00000006", Some(ChangesState::Undone)),
        ("00000007", Some(ChangesState::Discarded)),
        ("00000008", None),
    ];
    let mut runs = states.map(|(id, changes_state)| RunRecord {
        changes_state,
        transcript: None,
        directory: None,
        ..ended(id, "worker", RunOutcome::Completed)
    });
    runs[7].transcript = Some("/t".into());
    runs[7].directory = Some("/d".into());
    let numbers = |command: &str| {
        let offered = complete(&format!("{command} "), &runs, &[], &[]);
        offered.iter().map(|one| one.label.trim_start_matches('0').to_owned()).collect::<Vec<_>>().concat()
    };
    for (command, expected) in [
        ("apply", "1"),
        ("apply --abort", "234"),
        ("apply --with-flagged", "1"),
        ("diff", "1235"),
        ("discard", "123"),
        ("undo", "2345"),
        ("resume", "8"),
        ("send", "8"),
        ("log", "8"),
        ("info", "12345678"),
        ("stop", ""),
    ] {
        assert_eq!(numbers(command), expected, "{command}");
    }
    runs[7].archived_ms = Some(1);
    let offered = |command: &str| complete(command, &runs, &[], &[]).len();
    assert_eq!([offered("resume "), offered("log ")], [0, 1], "an archived run can only be read");
}

#[test]
fn reports_have_no_control_characters_and_no_overlong_lines() {
    let hostile = |text: &str| format!("{text}\u{1b}[31m\r\n{}", "x".repeat(5_000));
    let run = RunRecord {
        agent: hostile("agent"),
        label: Some(hostile("label")),
        task: hostile("task"),
        progress: LiveSnapshot { last_tool: Some(hostile("tool")), ..runs().remove(1).progress },
        error: Some(hostile("error")),
        result: Some(hostile("result")),
        notes: vec![hostile("note"); 50],
        session: hostile("session"),
        sandbox: Some(hostile("sandbox")),
        ..runs().remove(1)
    };
    let runs = [run];
    let unknown =
        resolve(&Target::new(hostile("x")), &runs, &[], Wanted::Any).expect_err("the name is unknown");
    for report in [
        list_report(&runs, 0, None, &clock()),
        info_report(&runs[0], &clock()),
        info_paths_report(&runs[0]),
        unknown,
        action_report(&runs[0], ActionOutcome::Stopped),
        refused_report(&runs[0], "stopped", &hostile("why")),
        parse(&format!("log 1 {}", hostile("y"))).expect_err("the command is refused"),
    ] {
        for line in &report.lines {
            let text = format!("{}{}", line.name, line.text);
            assert!(!text.chars().any(char::is_control), "{text}");
            assert!(text.chars().count() <= 700, "{text}");
        }
        assert!(!report.title.chars().any(char::is_control), "{}", report.title);
    }
}

#[test]
fn words_of_other_programs_suggest_the_subcommand() {
    for (words, expected) in [
        ("kill cancel abort end terminate KILL", "stop"),
        ("steer tell message", "send"),
        ("spawn start launch delegate", "run"),
        ("ls ps status", "list"),
        ("logs history transcript tail", "log"),
        ("continue restart retry", "resume"),
        ("rm remove delete", "discard"),
        ("bg detach", "background"),
        ("revert rollback", "undo"),
        ("merge accept", "apply"),
    ] {
        for word in words.split(' ') {
            let report = parse(&format!("{word} 2")).expect_err(word);
            let text = format!("there is no subcommand `{word}`; did you mean `{expected}`?");
            assert_eq!(report.lines[0].text, text);
        }
    }
}

#[test]
fn a_report_says_when_the_run_is_archived() {
    let completed = || ended("1a2b3c4d", "explorer", RunOutcome::Completed);
    for (run, expected) in [
        (run("1a2b3c4d", "explorer"), "a while after its end"),
        (RunRecord { is_foreground: true, ..completed() }, "never, unless it is resumed"),
        (ended("1a2b3c4d", "explorer", RunOutcome::Interrupted), "once its end was announced"),
        (completed(), "never"),
        (
            RunRecord { archive_at_ms: Some(NOW + 42 * MINUTE), ..completed() },
            "2026-07-03 14:42:00 +02:00 (in 42m00s)",
        ),
        (
            RunRecord { archived_ms: Some(NOW - MINUTE), ..completed() },
            "archived 2026-07-03 13:59:00 +02:00 (1m00s ago)",
        ),
    ] {
        let text = info_report(&run, &clock()).plain();
        let line = text.lines().find_map(|line| line.trim().strip_prefix("archive ")).unwrap_or_default();
        assert_eq!(line.trim(), expected, "{text}");
    }
}
