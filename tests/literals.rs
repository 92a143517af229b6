//! `native.d.ts` spells states, outcomes and codes as literals, which have to match the code.

use std::collections::{BTreeMap, BTreeSet};

use agents::config::{OnRestart, Origin};
use agents::{AskTarget, Network, Source, Tool};
use pi_events::QuestionMethod;
use pi_subagent_native::doctor::Status as CheckStatus;

use pi_subagent_native::orchestrate::background::{BackgroundStatus, Cleanup, RunEventKind, RunRecord};
use pi_subagent_native::present::panel::{PanelAction, PanelStepName};
use pi_subagent_native::present::{Mark, QuestionKey};
use pi_subagent_native::run::{
    Caveat, ErrorCode, Mode, NameKind, RunDetails, RunOutcome, RunState, Settled, StoredChanges, TaskState,
    TimeoutReason, WorkflowState, WriteReach,
};
use pi_subagent_native::transcript::TranscriptRole;
use sanitizer::{HomePaths, Severity};
use supervisor::Supervision;
use worktree::ChangesState;

type Literals<'a> = BTreeSet<&'a str>;

/// Every field of `native.d.ts` whose type is a choice of literals: `Interface.field`, and the literals.
fn declared(types: &str) -> BTreeMap<String, Literals<'_>> {
    let mut fields = BTreeMap::new();
    let mut interface = "";
    // Comments hold examples.
    for line in types.lines().filter(|line| !line.trim_start().starts_with('*')) {
        if let Some(rest) =
            line.strip_prefix("export interface ").or(line.strip_prefix("export declare class "))
        {
            interface = rest.split(' ').next().unwrap_or_default();
        }
        // Examples in comments look the same.
        if line.trim_start().starts_with('*') {
            continue;
        }
        let Some((field, choice)) = line.split_once(": \"") else { continue };
        // An argument of a method is followed by others, or by the end of the arguments.
        let end = ["\",", "\")"].iter().filter_map(|end| choice.find(end)).min();
        let choice = &choice[..end.unwrap_or(choice.len())];
        let literals = choice.trim_end_matches('"').split("\" | \"").collect();
        let field = field.rsplit([' ', '(']).next().unwrap_or_default();
        fields.insert(format!("{interface}.{}", field.trim_end_matches('?')), literals);
    }
    fields
}

#[test]
fn every_union_in_the_types_matches_the_code() {
    let types = include_str!("../native.d.ts");
    let texts = |texts: &'static [&'static str]| texts.iter().copied().collect::<Literals>();
    let states = [TaskState::Waiting]
        .into_iter()
        .chain(RunState::TEXTS.iter().filter_map(|text| RunState::parse(text)).map(TaskState::Live))
        .chain(RunOutcome::TEXTS.iter().filter_map(|text| RunOutcome::parse(text)).map(TaskState::Ended));
    let marks = Mark::TEXTS.iter().copied().filter(|mark| *mark != Mark::None.as_str());
    let delegating = [Tool::Subagent, Tool::Parallel, Tool::Chain, Tool::SessionsSpawn, Tool::SessionsSend];
    let expected = [
        ("AgentInfo.source", texts(Source::TEXTS)),
        ("AgentInfo.writes", texts(WriteReach::TEXTS)),
        ("RunArtifacts.settled", texts(Settled::TEXTS)),
        ("RunRecord.changesState", texts(ChangesState::TEXTS)),
        ("RunRecord.cleanup", texts(Cleanup::TEXTS)),
        ("RunRecord.outcome", texts(RunOutcome::TEXTS)),
        ("RunRecord.state", RunState::TEXTS.iter().copied().chain([RunRecord::ENDED]).collect()),
        ("KeyedRecord.state", RunState::TEXTS.iter().copied().chain([RunRecord::ENDED]).collect()),
        ("KeyedRecord.outcome", texts(RunOutcome::TEXTS)),
        ("WorkflowRecord.state", texts(WorkflowState::TEXTS)),
        ("ShownWorkflow.state", texts(WorkflowState::TEXTS)),
        (
            "WorkflowHandle.state",
            WorkflowState::TEXTS.iter().copied().filter(|text| *text != "running").collect(),
        ),
        ("RunRecord.storedChanges", texts(StoredChanges::TEXTS)),
        ("RunRecord.status", texts(BackgroundStatus::TEXTS)),
        ("CallError.code", texts(ErrorCode::TEXTS)),
        ("ConfigSource.origin", texts(Origin::TEXTS)),
        ("Diagnostic.severity", texts(Severity::TEXTS)),
        ("DoctorCheck.status", texts(CheckStatus::TEXTS)),
        ("ArrivingCall.tool", delegating.iter().map(|tool| tool.as_str()).collect()),
        ("DeliveryStep.step", ["check", "send", "arrived", "confirm"].into_iter().collect()),
        ("EarlyOptions.tool", delegating.into_iter().map(Tool::as_str).collect()),
        ("MarkStyle.color", Mark::ALL.into_iter().map(Mark::color).collect()),
        ("MarkStyle.name", texts(Mark::TEXTS)),
        ("PanelKey.action", texts(PanelAction::TEXTS)),
        ("PanelStep.step", texts(PanelStepName::TEXTS)),
        ("Question.method", texts(QuestionMethod::TEXTS)),
        ("QuestionScreen.key", texts(QuestionKey::TEXTS)),
        ("ReportLine.mark", marks.collect()),
        ("RunDetails.kind", [RunDetails::KIND].into()),
        ("RunDetails.mode", texts(Mode::TEXTS)),
        ("RunEvent.event", texts(RunEventKind::TEXTS)),
        ("RunStatus.caveat", texts(Caveat::TEXTS)),
        ("SandboxReport.network", texts(Network::TEXTS)),
        ("SanitizeOptions.homePaths", texts(HomePaths::TEXTS)),
        ("ShadowedAgent.by", texts(Source::TEXTS)),
        ("ShadowedAgent.source", texts(Source::TEXTS)),
        ("SingleResult.outcome", texts(RunOutcome::TEXTS)),
        ("SingleResult.supervision", texts(Supervision::TEXTS)),
        ("SingleResult.timeoutReason", texts(TimeoutReason::TEXTS)),
        ("SpawnReceipt.status", ["accepted", "forbidden", "error"].into_iter().collect()),
        ("SpawnableAgent.writes", texts(WriteReach::TEXTS)),
        ("Restart.mode", [OnRestart::Ask, OnRestart::Resume].into_iter().map(OnRestart::as_str).collect()),
        (
            "SpawnableAgent.askTarget",
            [AskTarget::User, AskTarget::Parent].into_iter().map(AskTarget::as_str).collect(),
        ),
        ("SpawnableAgent.source", texts(Source::TEXTS)),
        ("StateLabel.mark", texts(Mark::TEXTS)),
        ("Streaming.state", texts(RunState::TEXTS)),
        ("TakenName.kind", texts(NameKind::TEXTS)),
        ("TaskProgress.state", states.map(TaskState::as_str).collect()),
        ("TextContent.type", Literals::from(["text"])),
        ("PublishedRun.outcome", texts(RunOutcome::TEXTS)),
        ("PublishedRun.state", RunState::TEXTS.iter().copied().chain([RunRecord::ENDED]).collect()),
        ("PublishedRun.status", texts(BackgroundStatus::TEXTS)),
        ("ScriptToolSurface.exposure", Literals::from(["codemode"])),
        ("ToolSurface.exposure", Literals::from(["model-only"])),
        ("TranscriptEntry.role", texts(TranscriptRole::TEXTS)),
    ];
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|(field, literals)| (field.to_owned(), literals)).collect();
    assert_eq!(declared(types), expected);
}
