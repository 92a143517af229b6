//! Every end of a child, as a row: the observations, and the verdict on them.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Instant;

use super::*;
use sanitizer::SanitizerOptions;
use supervisor::LimitKind;

/// The error of a child that [`failed_by_provider`].
const PROVIDER: &str = "the model's provider reported an error: `500: overloaded`";

/// A child of which only the outcome is known.
fn report(outcome: Outcome) -> AttemptReport {
    let supervised = Supervised {
        outcome,
        duration: Duration::ZERO,
        ..Supervised::never_started(CancelReason::Dropped, Instant::now())
    };
    AttemptReport {
        supervised,
        collected: Collected::default(),
        protocol_report: ProtocolReport::default(),
        limited_by: "timeoutMs",
        permission_hooks: Vec::new(),
        check: None,
        submits: false,
        lacks_check: false,
        remote_end: None,
    }
}

fn verdict_of(report: &AttemptReport) -> Verdict {
    Verdict::of(report, &Sanitizer::new(SanitizerOptions::default()))
}

fn collected(outcome: Outcome, change: impl FnOnce(&mut Collected)) -> AttemptReport {
    let mut report = report(outcome);
    change(&mut report.collected);
    report
}

fn answered(outcome: Outcome) -> AttemptReport {
    collected(outcome, |collected| {
        collected.text = Some("The answer.".into());
        collected.stop_reason = Some("stop".into());
    })
}

/// A child that has finished its answer, and nothing else is expected of it.
fn finished(outcome: Outcome) -> AttemptReport {
    let mut report = answered(outcome);
    report.collected.ends_with_answer = true;
    report
}

fn failed_by_provider(outcome: Outcome) -> AttemptReport {
    collected(outcome, |collected| {
        collected.text = Some("An answer before that.".into());
        collected.stop_reason = Some("error".into());
        collected.error_message = Some("500: overloaded".into());
    })
}

fn stopped_in(busy: Option<Busy>) -> AttemptReport {
    let mut report = report(Outcome::IdleTimeout { limit: Duration::from_millis(1500) });
    report.protocol_report.stopped_in = busy;
    report
}

fn complains(code: i32, stderr: &str, noise: &str) -> AttemptReport {
    let mut report = answered(exited(code));
    report.supervised.stderr.push_str(stderr);
    report.collected.noise = noise.into();
    report
}

/// An exit with a code.
fn exited(code: i32) -> Outcome {
    Outcome::Exited(ExitStatus::from_raw(code << 8))
}

fn killed(signal: i32) -> Outcome {
    Outcome::Exited(ExitStatus::from_raw(signal))
}

fn settled(status: Option<i32>, lingered: bool) -> Outcome {
    Outcome::Settled { status: status.map(ExitStatus::from_raw), lingered }
}

fn over_limit(limit: LimitKind) -> Outcome {
    Outcome::OverLimit(OverLimit { limit, value: 5, allowed: 4, pid: 77, name: "node".into() })
}

fn cancelled(reason: CancelReason) -> Outcome {
    Outcome::Cancelled(reason)
}

/// A verdict as a row.
fn row(verdict: &Verdict) -> (RunOutcome, i32, Option<&str>) {
    (verdict.outcome, verdict.exit_code, verdict.error.as_deref())
}

/// The expected outcome, exit code and error of a row.
type Expected = (RunOutcome, i32, Option<&'static str>);

/// Checks the rows, and the fields that follow from outcome and error alone.
fn check(table: Vec<(&str, AttemptReport, Expected)>) {
    for (label, report, expected) in table {
        let verdict = verdict_of(&report);
        assert_eq!(row(&verdict), expected, "{label}");
        let (code, timeout) = match verdict.outcome {
            RunOutcome::Completed => (None, None),
            RunOutcome::HardTimeout => (Some(ErrorCode::SubagentTimeout), Some(TimeoutReason::Runtime)),
            RunOutcome::IdleTimeout => (Some(ErrorCode::SubagentTimeout), Some(TimeoutReason::Idle)),
            _ => (Some(ErrorCode::SubagentFailed), None),
        };
        assert_eq!((verdict.code, verdict.timeout), (code, timeout), "{label}");
        let signal = expected.2.and_then(|error| error.strip_prefix("the child was killed by "));
        assert_eq!(verdict.signal.as_deref(), signal, "{label}");
        assert_eq!(verdict.is_provider_error(), expected.2 == Some(PROVIDER), "{label}");
    }
}

#[test]
fn every_exit_of_a_child_has_its_outcome_exit_code_and_reason() {
    use RunOutcome::{Completed, Failed};
    let silent =
        "the child gave no answer (last event: none; stop reason: none; tool executions completed: 0)";
    check(vec![
        ("an answer", answered(exited(0)), (Completed, 0, None)),
        ("an answer, settled", answered(settled(Some(0), false)), (Completed, 0, None)),
        ("an answer, then no end", answered(settled(Some(9), true)), (Completed, 0, None)),
        ("an answer, then a lost status", answered(settled(None, false)), (Completed, 0, None)),
        ("an answer, not settled, status lost", answered(Outcome::Lost), (Completed, 0, None)),
        ("more work, then a code", answered(exited(3)), (Failed, 3, Some("the child gave no reason"))),
        (
            "an answer, then a message, then a code",
            answered(settled(Some(4 << 8), false)),
            (Failed, 4, Some("the child gave no reason")),
        ),
        (
            "an answer, then a message, then a signal",
            answered(settled(Some(15), false)),
            (Failed, 143, Some("the child was killed by SIGTERM")),
        ),
        ("a finished answer, then a code", finished(exited(3)), (Completed, 0, None)),
        (
            "a finished answer, settled, then a code",
            finished(settled(Some(4 << 8), false)),
            (Completed, 0, None),
        ),
        (
            "a finished answer, settled, then a signal",
            finished(settled(Some(15), false)),
            (Completed, 0, None),
        ),
        ("a signal", answered(killed(9)), (Failed, 137, Some("the child was killed by SIGKILL"))),
        (
            "a signal without a name",
            answered(killed(42)),
            (Failed, 170, Some("the child was killed by SIG42")),
        ),
        ("nothing", report(exited(0)), (Failed, 1, Some(silent))),
        ("nothing, status lost", report(Outcome::Lost), (Failed, 1, Some(silent))),
        ("nothing, lingering", report(settled(None, true)), (Failed, 1, Some(silent))),
        ("a code without output", report(exited(255)), (Failed, 255, Some("the child gave no reason"))),
        ("an error", failed_by_provider(exited(0)), (Failed, 1, Some(PROVIDER))),
        ("an error, lingering", failed_by_provider(settled(Some(9), true)), (Failed, 1, Some(PROVIDER))),
        ("an error, status lost", failed_by_provider(Outcome::Lost), (Failed, 1, Some(PROVIDER))),
        ("an error and a code", failed_by_provider(exited(2)), (Failed, 2, Some("500: overloaded"))),
        (
            "an error and a signal",
            failed_by_provider(killed(11)),
            (Failed, 139, Some("the child was killed by SIGSEGV")),
        ),
    ]);
}

#[test]
fn every_forced_end_of_a_child_has_its_outcome_exit_code_and_reason() {
    use RunOutcome::{Aborted, Budget, Failed, HardTimeout, IdleTimeout, Killed};
    let hard = || Outcome::HardTimeout { limit: Duration::from_millis(2500) };
    let orphaned =
        "the warden of the child was killed; every process of the child that could be found was ended";
    let by_caller = |why: Option<&str>| cancelled(CancelReason::Caller(why.map(Into::into)));
    check(vec![
        (
            "the hard limit",
            answered(hard()),
            (HardTimeout, 124, Some("hard limit reached: 2500 ms (`timeoutMs`)")),
        ),
        ("silence", stopped_in(None), (IdleTimeout, 124, Some("no activity for 1500 ms (`idleTimeoutMs`)"))),
        (
            "silence of a tool",
            stopped_in(Some(Busy::Tool)),
            (IdleTimeout, 124, Some("no activity for 1500 ms while a tool ran (`toolTimeoutMs`)")),
        ),
        (
            "silence of a person",
            stopped_in(Some(Busy::Question)),
            (
                IdleTimeout,
                124,
                Some("no activity for 1500 ms while a question waited for its answer (`toolTimeoutMs`)"),
            ),
        ),
        (
            "too much memory",
            answered(over_limit(LimitKind::Memory)),
            (Killed, 137, Some("`limits.memoryBytes` reached: 5 of 4 (largest: `node`, process 77)")),
        ),
        (
            "too many processes",
            answered(over_limit(LimitKind::Processes)),
            (Killed, 137, Some("`limits.processes` reached: 5 of 4 (largest: `node`, process 77)")),
        ),
        ("a warden that was killed", answered(Outcome::Orphaned), (Failed, 1, Some(orphaned))),
        ("an abort", answered(by_caller(None)), (Aborted, 130, Some("cancelled by user"))),
        (
            "an abort with a reason",
            answered(by_caller(Some("enough"))),
            (Aborted, 130, Some("cancelled by user: enough")),
        ),
        (
            "an abort with a blank one",
            answered(by_caller(Some(" "))),
            (Aborted, 130, Some("cancelled by user")),
        ),
        (
            "a dropped handle",
            answered(cancelled(CancelReason::Dropped)),
            (Aborted, 130, Some("cancelled: the handle of the run was dropped")),
        ),
        (
            "the end of the session",
            answered(cancelled(CancelReason::Shutdown)),
            (Aborted, 130, Some("cancelled: the session ended")),
        ),
        (
            "a bound",
            answered(cancelled(CancelReason::Bound("`budget.maxTurns` reached: 2 of 2".into()))),
            (Budget, 1, Some("`budget.maxTurns` reached: 2 of 2")),
        ),
    ]);
}

#[test]
fn neither_pi_nor_a_time_limit_turns_a_finished_answer_into_a_failure() {
    let limit = Duration::from_millis(1500);
    let with_stderr = |mut report: AttemptReport| {
        report.supervised.stderr.push_str(" boom\nat line 1\n");
        report
    };
    let waiting = |mut report: AttemptReport| {
        report.protocol_report.stopped_in = Some(Busy::Question);
        report
    };
    for (report, note) in [
        (finished(exited(0)), None),
        (finished(settled(Some(9), true)), None),
        (finished(exited(3)), Some("the child ended with exit code 3 after its answer")),
        (
            with_stderr(finished(settled(Some(4 << 8), false))),
            Some("the child ended with exit code 4 after its answer: `boom at line 1`"),
        ),
        (finished(killed(9)), Some("the child was killed by SIGKILL after its answer")),
        (finished(settled(Some(15), false)), Some("the child was killed by SIGTERM after its answer")),
        (
            finished(Outcome::HardTimeout { limit }),
            Some("the child was ended after its answer: hard limit reached: 1500 ms (`timeoutMs`)"),
        ),
        (
            waiting(finished(Outcome::IdleTimeout { limit })),
            Some(
                "the child was ended after its answer: no activity for 1500 ms while a question waited for its answer (`toolTimeoutMs`)",
            ),
        ),
    ] {
        let verdict = verdict_of(&report);
        assert_eq!(row(&verdict), (RunOutcome::Completed, 0, None), "{note:?}");
        assert_eq!((verdict.note.as_deref(), verdict.signal), (note, None));
    }
}

#[test]
fn a_finished_answer_does_not_replace_the_decision_of_a_caller_a_resource_limit_or_a_check() {
    let unchecked = |mut report: AttemptReport| {
        report.lacks_check = true;
        report
    };
    let unsubmitted = |mut report: AttemptReport| {
        report.submits = true;
        report
    };
    let limit = Duration::from_millis(1500);
    for (report, outcome) in [
        (finished(cancelled(CancelReason::Caller(None))), RunOutcome::Aborted),
        (finished(cancelled(CancelReason::Bound("the budget".into()))), RunOutcome::Budget),
        (finished(over_limit(LimitKind::Memory)), RunOutcome::Killed),
        (finished(Outcome::Orphaned), RunOutcome::Failed),
        (unchecked(finished(Outcome::HardTimeout { limit })), RunOutcome::HardTimeout),
        (unsubmitted(finished(Outcome::HardTimeout { limit })), RunOutcome::HardTimeout),
        (unsubmitted(finished(exited(3))), RunOutcome::Failed),
    ] {
        let verdict = verdict_of(&report);
        assert_eq!((verdict.outcome, verdict.note), (outcome, None));
    }
}

#[test]
fn the_last_message_decides_about_a_child_that_exited_by_itself() {
    use RunOutcome::{Completed, Failed};
    let message = |stop: &str, text: Option<&str>, error: Option<&str>| {
        collected(exited(0), |collected| {
            collected.stop_reason = Some(stop.into());
            collected.text = text.map(Into::into);
            collected.error_message = error.map(Into::into);
            collected.last_event = Some("agent_settled".into());
            collected.tools_completed = 3;
        })
    };
    let silent = |stop: &str| {
        format!(
            "the child gave no answer (last event: `agent_settled`; stop reason: `{stop}`; tool executions completed: 3)"
        )
    };
    let table = [
        (message("stop", Some("Yes."), None), Completed, None),
        (message("length", Some("Yes, bec"), None), Completed, None),
        (message("stop", Some("Yes."), Some("a warning")), Completed, None),
        (message("stop", Some(" \n\t"), None), Failed, Some(silent("stop"))),
        (message("stop", Some(""), None), Failed, Some(silent("stop"))),
        (message("toolUse", None, None), Failed, Some(silent("toolUse"))),
        (message("error", Some("Yes."), None), Failed, Some("the model's provider reported an error".into())),
        (
            message("error", Some("Yes."), Some("429")),
            Failed,
            Some("the model's provider reported an error: `429`".into()),
        ),
        (message("aborted", Some("Yes."), None), Failed, Some("the child stopped its own turn".into())),
        (
            message("aborted", None, Some("by a key")),
            Failed,
            Some("the child stopped its own turn: `by a key`".into()),
        ),
    ];
    for (report, outcome, error) in table {
        let verdict = verdict_of(&report);
        let exit_code = i32::from(outcome == Failed);
        assert_eq!(row(&verdict), (outcome, exit_code, error.as_deref()));
        let is_error = report.collected.stop_reason == Some(StopReason::Error);
        assert_eq!(verdict.is_provider_error(), is_error, "{error:?}");
    }
}

#[test]
fn a_rejected_prompt_is_a_failure_for_any_answer() {
    let refuses = |mut report: AttemptReport| {
        report.protocol_report.prompt_rejected = Some("busy".into());
        report
    };
    let error = Some("the child rejected the prompt: `busy`");
    for report in [answered(exited(0)), failed_by_provider(exited(0)), answered(settled(None, true))] {
        let verdict = verdict_of(&refuses(report));
        assert_eq!(row(&verdict), (RunOutcome::Failed, 1, error));
        assert!(!verdict.is_provider_error(), "a rejected prompt is not retried");
    }
    let verdict = verdict_of(&refuses(answered(exited(5))));
    assert_eq!(row(&verdict), (RunOutcome::Failed, 5, Some("the child gave no reason")));
}

#[test]
fn an_exit_code_is_explained_by_the_first_text_for_people() {
    let with_error = |mut report: AttemptReport| {
        report.collected.error_message = Some("the error".into());
        report
    };
    let table = [
        (with_error(complains(1, " stderr\n", "noise")), "the error"),
        (complains(1, " stderr\n", "noise"), "stderr"),
        (complains(1, " \n", " noise\n"), "noise"),
        (complains(1, "", " \n"), "the child gave no reason"),
    ];
    for (report, expected) in table {
        assert_eq!(verdict_of(&report).error.as_deref(), Some(expected));
    }
}

#[test]
fn a_failed_announcement_does_not_undo_finished_work() {
    let ends: [fn() -> Outcome; 8] = [
        || exited(3),
        || killed(9),
        || Outcome::Lost,
        || Outcome::Orphaned,
        || Outcome::HardTimeout { limit: Duration::ZERO },
        || Outcome::IdleTimeout { limit: Duration::ZERO },
        || over_limit(LimitKind::Cpu),
        || cancelled(CancelReason::Dropped),
    ];
    for outcome in ends {
        let mut announcing = answered(outcome());
        announcing.collected.epilogue = Some(Box::default());
        assert_eq!(row(&verdict_of(&announcing)), (RunOutcome::Completed, 0, None), "{:?}", outcome());
        if outcome() != Outcome::Lost {
            assert_ne!(verdict_of(&answered(outcome())).outcome, RunOutcome::Completed, "{:?}", outcome());
        }
    }
}

#[test]
fn only_provider_errors_count_as_provider_errors() {
    let ends: [fn() -> Outcome; 5] = [
        || exited(1),
        || Outcome::HardTimeout { limit: Duration::ZERO },
        || Outcome::IdleTimeout { limit: Duration::ZERO },
        || Outcome::Orphaned,
        || cancelled(CancelReason::Caller(None)),
    ];
    for outcome in ends {
        assert!(!verdict_of(&failed_by_provider(outcome())).is_provider_error(), "{:?}", outcome());
    }
    assert!(verdict_of(&failed_by_provider(exited(0))).is_provider_error());
}

#[test]
fn a_time_limit_names_its_setting() {
    let mut report = report(Outcome::HardTimeout { limit: Duration::from_secs(3) });
    report.limited_by = "runTimeoutSeconds";
    let error = verdict_of(&report).error;
    assert_eq!(error.as_deref(), Some("hard limit reached: 3000 ms (`runTimeoutSeconds`)"));
}

#[test]
fn a_reason_is_truncated_after_its_secrets_are_redacted() {
    let secret = "made-up value of some words 0123456789";
    let sanitizer =
        Sanitizer::new(SanitizerOptions { secrets: vec![secret.to_owned()], ..SanitizerOptions::default() });
    for back in 0..secret.len() {
        let reason = format!("{}{secret}", "x".repeat(REASON_CHARS - back));
        let mut rejected = answered(exited(0));
        rejected.protocol_report.prompt_rejected = Some(reason.clone());
        let failed = collected(exited(0), |collected| {
            collected.stop_reason = Some("error".into());
            collected.error_message = Some(reason.clone());
        });
        let reason = format!("Failed to load extension \"/hook.ts\": {}{secret}", "x".repeat(1_000 - back));
        let mut unguarded = complains(1, &reason, "");
        unguarded.permission_hooks = vec!["/hook.ts".to_owned()];
        for report in [rejected, failed, unguarded] {
            let error = Verdict::of(&report, &sanitizer).error.expect("the verdict has an error");
            assert!(!error.contains(&secret[..8]), "{back}: {}", &error[error.len() - 60..]);
        }
    }
}
