//! What a child is asked for once its work is done, and what counts as its answer.

use std::time::Duration;

use crate::event::Collected;
use crate::process::Outcome;
use crate::run::result::Announcement;

/// What the child is asked. It begins with the words by which the guard in the child knows it and lets no tool run.
pub(crate) const ANNOUNCE_PROMPT: &str = "\
Your work on the task is done, and its result is kept. Write now what the session that asked for it is to be told: what \
came of the task, short, complete in itself, with the facts, names and paths that matter. That session sees nothing else of \
your work. Do not call tools: none can run any more. If there is nothing worth telling, reply with exactly ANNOUNCE_SKIP \
and nothing else.";

/// The words by which that request is known in a transcript.
pub(crate) const ANNOUNCE_WORDS: &str = "Your work on the task is done, and its result is kept.";

/// The reply that announces nothing.
const ANNOUNCE_SKIP: &str = "ANNOUNCE_SKIP";

/// How long the child may take for it. Whoever waits for the result waits for this too.
pub(crate) const ANNOUNCE_PATIENCE: Duration = Duration::from_secs(60);

/// What the child announced, or why there is nothing of it; neither when it was not asked. `epilogue` is what it has said
/// since it was, clean; `silenced` is why it did not take the request.
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
        return Err(format!("the child did not take the request: {reason}"));
    }
    let stop = epilogue.stop_reason.as_deref();
    if epilogue.tools_started > 0 || stop == Some("toolUse") {
        return Err("the child called a tool instead".to_owned());
    }
    let is_whole = matches!(stop, Some("stop" | "length"));
    if let Some(text) = epilogue.text.as_deref().map(str::trim).filter(|text| is_whole && !text.is_empty()) {
        return Ok(text);
    }
    let error = epilogue.error_message.as_deref().map_or(String::new(), |error| format!(": {error}"));
    Err(match (outcome, stop) {
        (Outcome::Cancelled(reason), _) => reason.to_string(),
        (_, Some("error")) => format!("the model's provider reported an error{error}"),
        (_, Some("aborted")) => format!("the child stopped its own turn{error}"),
        _ if epilogue.settled => "the child said nothing".to_owned(),
        (Outcome::Settled { lingered: true, .. }, _) => "the child took too long for it".to_owned(),
        _ => "the child ended before it".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_knows_the_request() {
        let guard = include_str!("../../../extension/child-guard.cjs");
        let (_, words) = guard.split_once("ANNOUNCING = \"").expect("the words");
        let (words, _) = words.split_once('"').expect("their end");
        assert!(ANNOUNCE_PROMPT.starts_with(words), "{words}");
    }
}
