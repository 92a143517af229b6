//! Reads the announcement from a child's last words.

use crate::event::{Collected, StopReason};
use crate::process::Outcome;
use crate::run::result::Announcement;

/// The reply that announces nothing.
const ANNOUNCE_SKIP: &str = "ANNOUNCE_SKIP";

/// The child's announcement, or why there is none. Neither when it was not asked. `epilogue` is the sanitized stream
/// since the request; `silenced` is why the child rejected the request.
pub(crate) fn announced(
    outcome: &Outcome,
    silenced: Option<&str>,
    epilogue: Option<&Collected>,
) -> (Option<Announcement>, Option<String>) {
    let Some(epilogue) = epilogue else { return (None, None) };
    match answer(outcome, silenced, epilogue) {
        Ok(ANNOUNCE_SKIP) => (Some(Announcement::Skipped), None),
        Ok(text) => (Some(Announcement::Said(text.to_owned())), None),
        Err(why) => (None, Some(format!("no announcement: {why}"))),
    }
}

fn answer<'a>(outcome: &Outcome, silenced: Option<&str>, epilogue: &'a Collected) -> Result<&'a str, String> {
    if let Some(reason) = silenced {
        return Err(format!("the child rejected the prompt: {reason}"));
    }
    let stop = epilogue.stop_reason.as_ref();
    if epilogue.tools_started > 0 || stop == Some(&StopReason::ToolUse) {
        return Err("the child called a tool instead".to_owned());
    }
    let is_whole = stop.is_some_and(StopReason::ends_turn);
    if let Some(text) = epilogue.text.as_deref().map(str::trim).filter(|text| is_whole && !text.is_empty()) {
        return Ok(text);
    }
    let error = epilogue.error_message.as_deref().map_or(String::new(), |error| format!(": {error}"));
    Err(match (outcome, stop) {
        (Outcome::Cancelled(reason), _) => reason.to_string(),
        (_, Some(StopReason::Error)) => format!("the model's provider reported an error{error}"),
        (_, Some(StopReason::Aborted)) => format!("the child stopped its own turn{error}"),
        _ if epilogue.settled => "the child said nothing".to_owned(),
        (Outcome::Settled { lingered: true, .. }, _) => "the child took too long for it".to_owned(),
        _ => "the child ended before it".to_owned(),
    })
}
