//! Reads the announcement from a child's last words.

use crate::run::result::verdict::ProtocolReport;
use crate::run::result::{ANNOUNCE_SKIP, Announcement};
use pi_events::{Collected, StopReason, provider_message};
use sanitizer::quoted_within;
use supervisor::{CancelReason, Outcome};

/// Characters of a reason that came from the child.
const REASON_CHARS: usize = 2_000;

/// The reason why a child that was asked for an announcement gave none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum NoAnnouncement {
    #[error("the child rejected the prompt: {}", quoted_within(.0, REASON_CHARS))]
    Rejected(String),
    #[error("the child called a tool instead")]
    CalledTool,
    #[error("{0}")]
    Cancelled(CancelReason),
    /// Contains the provider's message, if it sent one.
    #[error("the model's provider reported an error{}", after_colon(.0.as_deref()))]
    ProviderError(Option<String>),
    /// Contains the message of the turn's end, if there is one.
    #[error("the child stopped its own turn{}", after_colon(.0.as_deref()))]
    StoppedTurn(Option<String>),
    #[error("the child gave no answer")]
    Empty,
    #[error("the child took too long for it")]
    TooSlow,
    #[error("the child ended before it")]
    EndedBefore,
}

fn after_colon(message: Option<&str>) -> String {
    message.map(|message| format!(": {}", quoted_within(message, REASON_CHARS))).unwrap_or_default()
}

/// Returns the child's announcement, or the reason why there is none. Returns neither if the child was not asked.
/// `epilogue` is the sanitized stream since the request; `silenced` is why the child rejected the request.
pub(crate) fn announced(
    outcome: &Outcome,
    silenced: Option<&str>,
    epilogue: Option<&Collected>,
) -> (Option<Announcement>, Option<String>) {
    let Some(epilogue) = epilogue else { return (None, None) };
    match answer(outcome, silenced, epilogue) {
        Ok(ANNOUNCE_SKIP) => (Some(Announcement::Skipped), None),
        Ok(text) => (Some(Announcement::Text(text.to_owned())), None),
        Err(why) => (None, Some(format!("no announcement: {why}"))),
    }
}

/// Uses the reply of a child to the last prompt as its answer, or as the partial result if its time was up.
pub(crate) fn use_reply(collected: &mut Collected, protocol_report: &ProtocolReport) {
    if protocol_report.asked_to_report {
        use_report(collected, protocol_report.was_speaking);
    } else {
        fill_empty_answer(collected);
    }
}

/// Uses the report of a child whose time is up as its partial result, after the message that was cut off. A report that
/// repeats that message replaces it.
fn use_report(collected: &mut Collected, was_speaking: bool) {
    let Some(epilogue) = collected.epilogue.take() else { return };
    let report = epilogue.text.or(epilogue.partial).filter(|text| !text.trim().is_empty());
    let Some(report) = report else { return };
    let is_missing = |text: &String| !text.trim().is_empty() && !report.contains(text.trim());
    let cut = collected.partial.take().filter(|text| was_speaking && is_missing(text));
    collected.partial = Some(cut.map_or_else(String::new, |text| text + "\n\n") + &report);
}

/// Uses the announcement as the answer of a child that gave none. Otherwise its run would fail although it replied.
fn fill_empty_answer(collected: &mut Collected) {
    let announced = collected.epilogue.as_deref().and_then(complete_text).map(str::to_owned);
    collected.text = collected.text.take().or(announced);
}

fn answer<'a>(
    outcome: &Outcome,
    silenced: Option<&str>,
    epilogue: &'a Collected,
) -> Result<&'a str, NoAnnouncement> {
    if let Some(reason) = silenced {
        return Err(NoAnnouncement::Rejected(reason.to_owned()));
    }
    let stop = epilogue.stop_reason.as_ref();
    if calls_tool(epilogue) {
        return Err(NoAnnouncement::CalledTool);
    }
    if let Some(text) = complete_text(epilogue) {
        return Ok(text);
    }
    let message = || epilogue.error_message.as_deref().map(|error| provider_message(error).to_string());
    Err(match (outcome, stop) {
        (Outcome::Cancelled(reason), _) => NoAnnouncement::Cancelled(reason.clone()),
        (_, Some(StopReason::Error)) => NoAnnouncement::ProviderError(message()),
        (_, Some(StopReason::Aborted)) => NoAnnouncement::StoppedTurn(message()),
        _ if epilogue.settled => NoAnnouncement::Empty,
        (Outcome::Settled { lingered: true, .. }, _) => NoAnnouncement::TooSlow,
        _ => NoAnnouncement::EndedBefore,
    })
}

/// The text of a reply that the child finished without a tool.
fn complete_text(epilogue: &Collected) -> Option<&str> {
    let is_complete = epilogue.stop_reason.as_ref().is_some_and(StopReason::ends_turn);
    let text = epilogue.text.as_deref().filter(|_| is_complete && !calls_tool(epilogue));
    text.map(str::trim).filter(|text| !text.is_empty())
}

fn calls_tool(epilogue: &Collected) -> bool {
    epilogue.tools_started > 0 || epilogue.stop_reason == Some(StopReason::ToolUse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str, stop: StopReason) -> Collected {
        Collected { text: Some(text.into()), stop_reason: Some(stop), ..Collected::default() }
    }

    fn silent(stop: StopReason) -> Collected {
        Collected { stop_reason: Some(stop), ..Collected::default() }
    }

    #[test]
    fn only_a_whole_answer_without_tools_is_an_announcement() {
        let lost = Outcome::Lost;
        let failed = Collected { error_message: Some("overloaded".into()), ..silent(StopReason::Error) };
        for (label, epilogue, expected) in [
            ("an answer", reply(" done ", StopReason::Stop), Ok("done")),
            ("an answer at the limit of tokens", reply("done", StopReason::Length), Ok("done")),
            (
                "an answer after a tool",
                Collected { tools_started: 1, ..reply("done", StopReason::Stop) },
                Err("the child called a tool instead"),
            ),
            (
                "a call of a tool that never began",
                reply("done", StopReason::ToolUse),
                Err("the child called a tool instead"),
            ),
            ("a blank answer", reply(" ", StopReason::Stop), Err("the child ended before it")),
            (
                "a blank answer, settled",
                Collected { settled: true, ..reply(" ", StopReason::Stop) },
                Err("the child gave no answer"),
            ),
            (
                "a text that the provider cut",
                reply("do", StopReason::Error),
                Err("the model's provider reported an error"),
            ),
            ("an error", failed, Err("the model's provider reported an error: `overloaded`")),
            (
                "a text that was aborted",
                reply("do", StopReason::Aborted),
                Err("the child stopped its own turn"),
            ),
        ] {
            let answer = answer(&lost, None, &epilogue).map_err(|why| why.to_string());
            assert_eq!(answer, expected.map_err(str::to_owned), "{label}");
        }
    }

    #[test]
    fn a_missing_announcement_has_the_reason_of_the_outcome() {
        let nothing = Collected::default();
        for (outcome, silenced, expected) in [
            (Outcome::Cancelled(CancelReason::Shutdown), None, "cancelled: the session ended".to_owned()),
            (
                Outcome::Settled { status: None, lingered: true },
                None,
                "the child took too long for it".to_owned(),
            ),
            (
                Outcome::Cancelled(CancelReason::Shutdown),
                Some("busy"),
                "the child rejected the prompt: `busy`".to_owned(),
            ),
            (Outcome::Lost, None, "the child ended before it".to_owned()),
        ] {
            let answer = answer(&outcome, silenced, &nothing).map_err(|why| why.to_string());
            assert_eq!(answer, Err(expected));
        }
    }
}
