//! The types of `src/node/types.d.ts`, which callers program against, compared with the JSON of the core's values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use agents::config::{ConfigSource, OnRestart, Origin};
use agents::{AskTarget, DropReason, DroppedTool, Network, Shadowed, Source};
use pi_events::{Collected, ContextUse, Cost, DisplayItem, StopReason, Usage};
use pi_subagent_native::doctor::{Check, Status};
use pi_subagent_native::orchestrate::background::commands::{
    ChosenQuestion, Completion, InterruptedWorkflow, question_to_answer,
};
use pi_subagent_native::orchestrate::background::{
    Announcement, BackgroundEvent, Cleanup, DeliveredEvent, DeliveryMessage, Joining, KeyedRecord,
    LiveSnapshot, PublishedRun, Restart, RunEvent, RunEventKind, RunRecord, SessionAnswer, Step,
    WorkflowLimits, WorkflowRecord,
};
use pi_subagent_native::present::{
    Mark, Receipt, Report, ReportLine, RunQuestion, SessionDetails, ShownWorkflow, SpawnableAgent,
    SpawnableAgents, StateLabel, ToolDetails, UsageText,
};
use pi_subagent_native::run::{
    AgentInfo, AllowedScript, CallError, Caveat, CheckReport, ErrorCode, IsolationReport, Mode, Progress,
    Resources, RetryNotice, RunArtifacts, RunDetails, RunOutcome, RunState, SandboxReport, Settled,
    SingleResult, StoredChanges, TaskProgress, TaskState, TimeoutReason, ToolResult, WorkflowRun,
    WorkflowState, WriteReach,
};
use pi_subagent_native::transcript::{Transcript, TranscriptEntry};
use sanitizer::{Diagnostic, RedactedValues, Redaction, Severity, TruncateLimits};
use serde::Serialize;
use serde_json::{Value, json};
use worktree::ChangesState;

const TYPES: &str = include_str!("../src/node/types.d.ts");

/// Optional fields that are always there today: values of earlier releases lack them.
const ALWAYS: [&str; 3] = ["RunDetails.kind", "RunDetails.version", "SingleResult.displayItems"];

/// The interfaces of values that only a caller writes.
const INPUTS: [&str; 22] = [
    "ArrivingCall",
    "BackgroundOptions",
    "ChainOptions",
    "EarlyOptions",
    "HostExtension",
    "HostModel",
    "HostScript",
    "HostSkill",
    "HostTool",
    "ParallelOptions",
    "QuestionKeyNames",
    "RunBudget",
    "RunOptions",
    "RunStatus",
    "SessionKey",
    "SpawnOptions",
    "SpawnableOptions",
    "TakenName",
    "TaskOptions",
    "WaitingQuestion",
    "WorkflowKey",
    "WorkflowOptions",
];

/// The interfaces of values that `src/node` puts together: no value of the core is the whole of one.
/// `__test__/edge/types.spec.ts` compares them.
const OF_THE_EDGE: [&str; 13] = [
    "AgentCatalog",
    "Choice",
    "ConfirmRequest",
    "DoctorReport",
    "LoadedConfig",
    "ModelRequest",
    "PreparedArguments",
    "Question",
    "RefreshRequest",
    "ScriptToolSurface",
    "ToolAnnotations",
    "ToolSurface",
    "ToolSurfaces",
];

/// The interfaces that this process has compared.
static COMPARED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// The fields of an interface: the type of each, and whether it may be absent.
type Fields<'a> = BTreeMap<&'a str, (&'a str, bool)>;

fn fields_of(name: &str) -> Option<Fields<'static>> {
    let start = TYPES.find(&format!("export interface {name} "))?;
    let (_, body) = TYPES[start..].split_once("{\n")?;
    let (body, _) = body.split_once("\n}")?;
    let fields = body.lines().filter(|line| !line.trim_start().starts_with(['*', '/']));
    let field = |line: &'static str| {
        let (name, kind) = line.trim().split_once(": ")?;
        Some((name.trim_end_matches('?'), (kind, name.ends_with('?'))))
    };
    Some(fields.filter_map(field).collect())
}

/// Returns true if `value` has the declared type.
fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "unknown" => true,
        "DisplayItem" | "Record<string, unknown>" => value.is_object(),
        _ if kind.starts_with('"') => {
            value.as_str().is_some_and(|value| kind.split(" | ").any(|text| text.trim_matches('"') == value))
        }
        _ => {
            if let Some(of) = kind.strip_prefix("Array<").and_then(|kind| kind.strip_suffix('>')) {
                return value.as_array().is_some_and(|items| items.iter().all(|item| is_of(item, of)));
            }
            if let Some(of) = kind.strip_prefix("Record<string, ").and_then(|kind| kind.strip_suffix('>')) {
                return value.as_object().is_some_and(|items| items.values().all(|item| is_of(item, of)));
            }
            let fields = fields_of(kind).unwrap_or_else(|| panic!("the type {kind} is not declared"));
            let value = value.as_object().expect("the value is an object");
            let is_declared = |(name, value)| fields.get(name).is_some_and(|(kind, _)| is_of(value, kind));
            fields.iter().all(|(name, (_, is_optional))| *is_optional || value.contains_key(*name))
                && value.iter().all(|(name, value)| is_declared((name.as_str(), value)))
        }
    }
}

/// Compares an interface with a `full` value, which has all of its fields, and a `bare` value without optional fields.
fn compare(name: &'static str, full: &impl Serialize, bare: &impl Serialize) {
    COMPARED.lock().expect("no comparison has failed").insert(name);
    let fields = fields_of(name).unwrap_or_else(|| panic!("the type {name} is not declared"));
    let full = serde_json::to_value(full).expect("the value is serialized");
    let bare = serde_json::to_value(bare).expect("the value is serialized");
    let keys = |value: &Value| {
        let fields = value.as_object().expect("the value is an object").keys();
        fields.map(String::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut declared: Vec<_> = fields.keys().map(|name| (*name).to_owned()).collect();
    let mut found = keys(&full);
    declared.sort();
    found.sort();
    assert_eq!(found, declared, "all fields of {name}");
    let mut required: Vec<_> = fields
        .iter()
        .filter(|(field, (_, is_optional))| !is_optional || ALWAYS.contains(&&*format!("{name}.{field}")))
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let mut found = keys(&bare);
    required.sort();
    found.sort();
    assert_eq!(found, required, "the fields of {name} that are always there");
    for value in [&full, &bare] {
        for (field, (kind, _)) in &fields {
            let is_right = value.get(field).is_none_or(|value| is_of(value, kind));
            assert!(is_right, "{name}.{field} is not of the type {kind}: {}", value[field]);
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the fields are optional")]
fn text() -> Option<String> {
    Some("x".to_owned())
}

fn texts() -> Vec<String> {
    vec!["x".to_owned()]
}

#[expect(clippy::unnecessary_wraps, reason = "the fields are optional")]
fn context() -> Option<ContextUse> {
    Some(ContextUse { tokens: Some(1), window: 2 })
}

fn retry() -> RetryNotice {
    RetryNotice { attempt: 1, max_attempts: Some(2), at_ms: 3, error: text() }
}

fn items() -> Vec<DisplayItem> {
    let call = DisplayItem::ToolCall { name: "read".to_owned(), args: json!({}), is_error: true, id: None };
    vec![DisplayItem::Text { text: "x".to_owned() }, call]
}

fn sandbox() -> SandboxReport {
    SandboxReport { enforced: true, mechanism: texts(), network: Network::Off, reason: text() }
}

fn check() -> CheckReport {
    CheckReport {
        command: "c".to_owned(),
        passed: true,
        ended: "e".to_owned(),
        runs: 1,
        output: "o".to_owned(),
    }
}

fn isolation() -> IsolationReport {
    IsolationReport { branch: text(), patch: text(), kept_tree: text(), ..IsolationReport::default() }
}

/// A result with all that callers may see.
fn single() -> SingleResult {
    SingleResult {
        context: context(),
        error: text(),
        session_file: text(),
        output: text(),
        display_items: items(),
        reused: true,
        quota_exhausted: text(),
        model: text(),
        stop_reason: text(),
        signal: text(),
        timeout_reason: Some(TimeoutReason::Idle),
        sandbox: Some(sandbox()),
        supervision: Some("warden"),
        resources: Some(Resources { peak_rss_bytes: 1, cpu_ms: 2, processes: 3 }),
        full_output_file: text(),
        structured: Some(json!({})),
        structured_file: text(),
        check: Some(check()),
        caveats: vec![Caveat::Refused],
        changes: Some(texts()),
        flagged: texts(),
        flagged_gap: text(),
        isolation: Some(isolation()),
        redacted: vec![RedactedValues { rule: "r".into(), count: 1 }],
        model_note: text(),
        diagnostics: texts(),
        ..bare_single()
    }
}

fn bare_single() -> SingleResult {
    SingleResult::new("a".to_owned(), "t".to_owned(), RunOutcome::Completed)
}

#[test]
fn a_result_has_the_declared_fields() {
    let with_id = SingleResult { run_id: text(), ..single() };
    compare("SingleResult", &with_id, &bare_single());
    let artifacts = RunArtifacts::of(&with_id).expect("the result has artifacts");
    let artifacts = RunArtifacts { settled: Some(Settled::Undone), ..artifacts };
    compare("RunArtifacts", &artifacts, &RunArtifacts::default());
    compare("SandboxReport", &sandbox(), &SandboxReport { reason: None, ..sandbox() });
    compare("CheckReport", &check(), &check());
    compare("IsolationReport", &isolation(), &IsolationReport::default());
    let progress = || TaskProgress::of_call(Progress::default());
    let details = RunDetails {
        results: vec![with_id],
        error: Some(CallError { code: ErrorCode::SubagentFailed, message: "m".to_owned() }),
        streaming: Some(progress()),
        tasks: vec![TaskProgress::new("a".to_owned(), TaskState::Waiting, Progress::default())],
        ..RunDetails::single("1a2b3c4d")
    };
    compare("RunDetails", &details, &RunDetails::new(Mode::Chain, None));
    compare("CallError", &details.error, &details.error);
    let bare = RunDetails::new(Mode::Chain, None);
    let bare = ToolResult { text: String::new(), is_error: false, usage: None, details: bare };
    let usage = Usage { cost: Cost::default(), ..Usage::default() };
    let full = ToolResult { text: "x".to_owned(), is_error: true, usage: Some(usage), details };
    compare("ToolResult", &full, &bare);
    let usage = full.usage.as_ref().expect("there is one");
    compare("PiUsage", usage, usage);
    compare("PiCost", &usage.cost, &usage.cost);
    let json = serde_json::to_value(&full).expect("the value is serialized");
    compare("TextContent", &json["content"][0], &json["content"][0]);
    let usage = &json["details"]["results"][0]["usage"];
    compare("RunUsage", usage, usage);
    let mut context_after_compaction = context().expect("there is one");
    context_after_compaction.tokens = None;
    compare("ContextUse", &context().expect("there is one"), &context_after_compaction);
    let resources = Resources { peak_rss_bytes: 1, cpu_ms: 2, processes: 3 };
    compare("Resources", &resources, &resources);
    let redacted = RedactedValues { rule: "r".into(), count: 1 };
    compare("RedactedValues", &redacted, &redacted);
}

/// A session keeps the details of a call, and cards are drawn from them.
#[test]
fn details_are_read_as_they_were_written() {
    let task = TaskProgress {
        text: Some(Arc::from("x")),
        display_items: Some(items().into()),
        ..TaskProgress::new("a".to_owned(), TaskState::Ended(RunOutcome::Failed), Progress::default())
    };
    let details = RunDetails {
        results: vec![SingleResult { supervision: None, ..single() }, bare_single()],
        error: Some(CallError { code: ErrorCode::SubagentFailed, message: "m".to_owned() }),
        tasks: vec![task],
        ..RunDetails::single("1a2b3c4d")
    };
    let json = serde_json::to_string(&details).expect("the details are serialized");
    let read: RunDetails = serde_json::from_str(&json).expect("the details are readable");
    assert_eq!(read, details);
}

#[test]
fn progress_has_the_declared_fields() {
    let full = || Progress {
        position: Some(1),
        rate_limited_for_ms: Some(1),
        blocked_by: Some(Arc::from("x")),
        undo_note: Some("x".into()),
        display_items: items().into(),
        retry: Some(retry()),
        context: context(),
        model: text(),
        ..Progress::default()
    };
    compare("Streaming", &TaskProgress::of_call(full()), &TaskProgress::of_call(Progress::default()));
    let task = |progress| TaskProgress::new("a".to_owned(), TaskState::Live(RunState::Running), progress);
    let ended = TaskProgress { error: text(), state: TaskState::Ended(RunOutcome::Failed), ..task(full()) };
    let unchanged = TaskProgress { text: None, display_items: None, ..task(Progress::default()) };
    compare("TaskProgress", &ended, &unchanged);
    compare("RetryNotice", &retry(), &RetryNotice::default());
}

fn record() -> RunRecord {
    RunRecord {
        session_file: Some("/s".into()),
        label: text(),
        model: text(),
        thinking: text(),
        cleanup: Cleanup::Delete,
        progress: LiveSnapshot {
            position: Some(1),
            blocked_by: text(),
            pending_question: text(),
            pid: Some(1),
            last_tool: text(),
            retry: Some(retry()),
            updated_ms: Some(1),
            text: text(),
            context: context(),
            cpu_ms: Some(1),
            rss_bytes: Some(1),
            processes: Some(1),
            ..LiveSnapshot::default()
        },
        outcome: Some(RunOutcome::Failed),
        error: text(),
        started_ms: Some(1),
        ended_ms: Some(1),
        archive_at_ms: Some(1),
        archived_ms: Some(1),
        timeout_ms: Some(1),
        call_timeout_ms: Some(1),
        output_schema: Some(json!({})),
        structured: Some(json!({})),
        structured_file: Some("/r".into()),
        workflow: Some(workflow_run()),
        directory: Some("/d".into()),
        transcript: Some("/t".into()),
        child_session_id: text(),
        result: text(),
        partial: text(),
        notes: texts(),
        tools: texts(),
        artifacts: RunArtifacts::of(&single()).into_iter().collect(),
        caveats: vec![Caveat::Refused],
        sandbox: text(),
        supervision: text(),
        stored_changes: Some(StoredChanges::Nothing),
        restarts: 1,
        host_pid: Some(1),
        changes_state: Some(ChangesState::Applied),
        ..RunRecord::default()
    }
}

fn workflow_run() -> WorkflowRun {
    WorkflowRun { phase: text(), digest: "d".to_owned(), account: text(), ..WorkflowRun::default() }
}

#[test]
fn a_workflow_and_its_runs_have_the_declared_fields() {
    compare("WorkflowRun", &workflow_run(), &WorkflowRun::default());
    let limits = WorkflowLimits { max_cost: Some(1.0), max_tokens: Some(1), max_runs: Some(1) };
    compare("WorkflowLimits", &limits, &WorkflowLimits::default());
    let bare = KeyedRecord {
        key: "k".to_owned(),
        run_id: "r".to_owned(),
        run_key: "u".to_owned(),
        phase: None,
        agent: "a".to_owned(),
        task: "t".to_owned(),
        state: "ended",
        outcome: None,
        error: None,
        cost: 0.5,
        tokens: 1,
        started_ms: None,
        ended_ms: None,
    };
    let run = KeyedRecord {
        phase: text(),
        outcome: Some(RunOutcome::Failed),
        error: text(),
        started_ms: Some(1),
        ended_ms: Some(1),
        ..bare.clone()
    };
    compare("KeyedRecord", &run, &bare);
    let workflow = WorkflowRecord {
        name: text(),
        file: Some("/f".into()),
        parent: text(),
        state: WorkflowState::Failed,
        error: text(),
        ended_ms: Some(1),
        phases: texts(),
        phase: text(),
        limits,
        host_pid: Some(1),
        runs: vec![run],
        ..WorkflowRecord::default()
    };
    compare("WorkflowRecord", &workflow, &WorkflowRecord::default());
    let shown = ShownWorkflow {
        word: text(),
        is_other_project: true,
        file: text(),
        phase: text(),
        error: text(),
        runs: vec![RunRecord::default()],
        ..ShownWorkflow::default()
    };
    compare("ShownWorkflow", &shown, &ShownWorkflow::default());
}

fn published() -> PublishedRun {
    PublishedRun {
        label: text(),
        position: Some(1),
        blocked_by: text(),
        status: record().status(),
        outcome: Some(RunOutcome::Failed),
        error: text(),
        model: text(),
        started_ms: Some(1),
        ended_ms: Some(1),
        last_tool: text(),
        text: text(),
        transcript: Some("/t".into()),
        result: text(),
        ..bare_published()
    }
}

fn bare_published() -> PublishedRun {
    PublishedRun::of(&RunRecord::default())
}

#[test]
fn a_run_and_its_events_have_the_declared_fields() {
    compare("RunRecord", &record(), &RunRecord::default());
    compare("PublishedRun", &published(), &bare_published());
    let event = RunEvent { kind: RunEventKind::Ended, run: published() };
    compare("RunEvent", &event, &event);
    let question = RunQuestion { label: text(), options: texts(), ..RunQuestion::default() };
    compare("RunQuestion", &question, &RunQuestion::default());
    let announcement = Announcement {
        custom_type: "subagent-announcement",
        content: "x".to_owned(),
        display: true,
        details: json!({}),
    };
    let delivered = DeliveredEvent { run_ids: texts(), delivery_ids: texts(), runs: vec![published()] };
    let message = DeliveryMessage {
        delivery_ids: texts(),
        run_ids: texts(),
        runs: vec![record()],
        questions: vec![question],
        delivered_event: delivered,
        text: "x".to_owned(),
        triggers_turn: true,
        announcement,
        restart: Some(Restart { mode: OnRestart::Ask, keys: texts() }),
    };
    compare("Announcement", &message.announcement, &message.announcement);
    compare("DeliveredEvent", &message.delivered_event, &message.delivered_event);
    compare("Restart", &message.restart, &message.restart);
    compare("DeliveryMessage", &message, &DeliveryMessage { restart: None, ..message.clone() });
    let event = BackgroundEvent {
        runs: Some(vec![record()]),
        workflows: Some(vec![ShownWorkflow::default()]),
        message: Some(message),
        run_events: vec![event],
        notices: texts(),
        waiting: text(),
        settled: Some([("1a2b3c4d".to_owned(), Settled::Applied)].into()),
        ..BackgroundEvent::default()
    };
    compare("BackgroundEvent", &event, &BackgroundEvent::default());
}

#[test]
fn agents_and_transcripts_have_the_declared_fields() {
    let agent = || AgentInfo {
        name: "a".to_owned(),
        description: "d".to_owned(),
        source: Source::User,
        path: None,
        readonly: true,
        tools: texts(),
        dropped: Vec::new(),
        runnable: false,
        problem: None,
        model: None,
        thinking: None,
        can_write: false,
        writes: None,
        settings: texts(),
        notices: texts(),
    };
    let full = AgentInfo {
        path: Some("/a".into()),
        problem: text(),
        model: text(),
        thinking: text(),
        writes: Some(WriteReach::Tree),
        ..agent()
    };
    compare("AgentInfo", &full, &agent());
    let spawnable = || SpawnableAgent {
        id: "a".to_owned(),
        description: "d".to_owned(),
        source: Source::User,
        readonly: true,
        model: text(),
        model_from: text(),
        thinking: text(),
        can_write: true,
        writes: Some(WriteReach::Tree),
        ask_target: AskTarget::User,
    };
    let bare = SpawnableAgent {
        model: None,
        model_from: None,
        thinking: None,
        writes: None,
        ask_target: AskTarget::NoOne,
        ..spawnable()
    };
    compare("SpawnableAgent", &spawnable(), &bare);
    let listed = |default_agent| SpawnableAgents { agents: vec![spawnable()], default_agent };
    compare("SpawnableAgents", &listed(text()).stamped(), &listed(None).stamped());
    let shadowed = |path| Shadowed { name: "a".to_owned(), source: Source::Builtin, path, by: Source::User };
    compare("ShadowedAgent", &shadowed(Some("/a".into())), &shadowed(None));
    let entry = TranscriptEntry::Assistant { text: String::new(), model: text(), error: text() };
    let json = serde_json::to_string(&entry).expect("the entry is serialized");
    assert_eq!(serde_json::from_str::<TranscriptEntry>(&json).ok(), Some(entry));
    let failed =
        TranscriptEntry::ToolResult { name: "read".to_owned(), is_error: true, text: "x".to_owned() };
    compare("TranscriptEntry", &failed, &TranscriptEntry::User("x".to_owned()));
    let mut transcript = serde_json::to_value(Transcript::default()).expect("the value is serialized");
    // `src/node` adds it.
    transcript["version"] = json!("1");
    compare("Transcript", &transcript, &transcript);
}

#[test]
fn the_steps_of_a_delivery_have_the_declared_fields() {
    let message = || "m".to_owned();
    let steps = [
        Step::Check,
        Step::Send { message: message(), starts_turn: true },
        Step::Arrived { message: message() },
        Step::Confirm { delivery_ids: texts() },
    ];
    let steps = steps.map(|step| serde_json::to_value(step).expect("the value is serialized"));
    let mut all = json!({});
    for step in &steps {
        assert!(is_of(step, "DeliveryStep"), "{step}");
        let fields = step.as_object().expect("the value is an object").clone();
        all.as_object_mut().expect("the value is an object").extend(fields);
    }
    compare("DeliveryStep", &all, &steps[0]);
    let joining = Joining { messages: texts(), continues: true };
    compare("JoiningMessages", &joining, &joining);
}

#[test]
fn receipts_and_answers_have_the_declared_fields() {
    let (run_id, session_key, note) = ("r".to_owned(), "k".to_owned(), "n".to_owned());
    let accepted = Receipt::Accepted { run_id, session_key, note, warnings: texts(), awaits_consent: false };
    let error = || "e".to_owned();
    let mut all = json!({});
    for receipt in [accepted, Receipt::Forbidden { error: error() }, Receipt::Error { error: error() }] {
        let mut json = serde_json::to_value(receipt.stamped()).expect("the value is serialized");
        assert!(is_of(&json, "SpawnReceipt"), "{json}");
        all.as_object_mut()
            .expect("it is an object")
            .append(json.clone().as_object_mut().expect("so is this"));
        assert_eq!(serde_json::from_value(json.take()).ok(), Some(receipt));
    }
    compare("SpawnReceipt", &all, &json!({ "kind": "k", "version": 1, "status": "error" }));
    let refused = SessionAnswer::refused(report());
    let mut full = serde_json::to_value(&refused).expect("the value is serialized");
    compare("SessionToolAnswer", &full, &SessionAnswer { is_error: false, ..refused.clone() });
    let details = |delivery_ids| SessionDetails { report: report(), delivery_ids };
    compare("SessionToolDetails", &details(texts()).stamped(), &details(Vec::new()).stamped());
    assert!(is_of(&full["details"].take(), "SessionToolDetails"));
}

/// A report with all that it may have.
fn report() -> Report {
    Report {
        is_error: true,
        title: "t".to_owned(),
        lines: vec![ReportLine { text: "t".to_owned(), ..ReportLine::default() }],
        exact: Some(vec![ReportLine::default()]),
        watch: Some("k".into()),
        workflow: Some(Box::new(AllowedScript { path: "/f".into(), ..AllowedScript::default() })),
        stops: [7].into(),
        is_on_card: true,
    }
}

/// A new interface is compared here, or is in one of the lists.
#[test]
fn every_interface_has_its_comparison() {
    a_result_has_the_declared_fields();
    progress_has_the_declared_fields();
    a_run_and_its_events_have_the_declared_fields();
    a_workflow_and_its_runs_have_the_declared_fields();
    agents_and_transcripts_have_the_declared_fields();
    receipts_and_answers_have_the_declared_fields();
    reports_and_findings_have_the_declared_fields();
    the_words_of_the_screens_have_the_declared_fields();
    the_steps_of_a_delivery_have_the_declared_fields();
    let declared = TYPES.lines().filter_map(|line| line.strip_prefix("export interface ")?.split(' ').next());
    let declared: BTreeSet<_> = declared.collect();
    let mut known = COMPARED.lock().expect("no comparison has failed").clone();
    known.extend(INPUTS.into_iter().chain(OF_THE_EDGE));
    assert_eq!(known, declared);
}

#[test]
fn reports_and_findings_have_the_declared_fields() {
    let line = ReportLine { mark: Mark::Ok, name: "n".to_owned(), text: "t".to_owned(), indent: 1 };
    let bare = ReportLine { text: "t".to_owned(), ..ReportLine::default() };
    compare("ReportLine", &line, &bare);
    let check = |hint| Check { area: "pi", status: Status::Warning, message: "m".to_owned(), hint };
    compare("DoctorCheck", &check(text()), &check(None));
    let diagnostic = Diagnostic {
        severity: Severity::Warning,
        code: "C",
        message: "m".to_owned(),
        path: Some("/p".into()),
        line: Some(1),
        column: Some(2),
    };
    let bare = Diagnostic { path: None, line: None, column: None, ..diagnostic.clone() };
    compare("Diagnostic", &diagnostic, &bare);
    let source = ConfigSource { origin: Origin::User, path: "/p".into(), present: true };
    compare("ConfigSource", &source, &source);
    let dropped = DroppedTool { tool: "bash".to_owned(), reason: DropReason::Readonly };
    compare("DroppedTool", &dropped, &dropped);
    let offered =
        Completion { value: "stop".to_owned(), label: "stop".to_owned(), description: "d".to_owned() };
    compare("Completion", &offered, &offered);
    let script = AllowedScript {
        path: "/f".into(),
        sha256: "0".to_owned(),
        imports_file: "/i".into(),
        imports: Some([("/g".into(), "1".to_owned())].into()),
    };
    compare("AllowedScript", &script, &AllowedScript { imports: None, ..script.clone() });
    let interrupted = |script| InterruptedWorkflow { text: "t".to_owned(), script };
    compare("InterruptedWorkflow", &interrupted(Some(script)), &interrupted(None));
    compare("CommandReport", &report(), &Report::default());
    let json = serde_json::to_value(report()).expect("the value is serialized");
    compare("ExactReport", &json["exact"], &json["exact"]);
    assert_eq!(serde_json::from_value::<Report>(json).ok(), Some(Report { exact: None, ..report() }));
    let found = Redaction { rule: "r", what: "a token".to_owned(), count: 2, ranges: vec![0..1, 2..4] };
    compare("Redaction", &found, &found);
    compare("ByteRange", &found.ranges[0], &found.ranges[0]);
    let cut = sanitizer::truncate("x", TruncateLimits::default(), None);
    compare("TruncatedOutput", &cut, &cut);
    let collected = Collected {
        error_message: text(),
        partial: text(),
        stop_reason: Some(StopReason::Stop),
        model: text(),
        last_event: text(),
        display_items: items(),
        ..Collected::default()
    };
    compare("CollectedOutput", &collected, &Collected::default());
    compare("StreamCounts", &collected.counts, &collected.counts);
}

#[test]
fn the_words_of_the_screens_have_the_declared_fields() {
    let words = UsageText { turns: text(), tokens: text(), cost: text() };
    compare("UsageText", &words, &UsageText::default());
    let label = |note| StateLabel { mark: Mark::Ok, word: "w".to_owned(), note };
    compare("StateLabel", &label(text()), &label(None));
    let chosen = question_to_answer("answer", &[]).expect("the line is an answer");
    let mut all = serde_json::to_value(chosen).expect("the value is serialized");
    all["id"] = json!(ChosenQuestion::Id(7))["id"].take();
    compare("ChosenQuestion", &all, &json!({}));
}
