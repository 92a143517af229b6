//! Finds the waiting question that a person wants to answer.

use napi_derive::napi;

use crate::orchestrate::background::commands::{self, AskingRun};

/// A question that waits for a person.
#[napi(object, object_to_js = false)]
pub struct WaitingQuestion {
    /// Its id.
    pub id: u32,
    /// The run that asks; eight hexadecimal characters.
    pub run_id: String,
    /// The agent's name.
    pub agent: String,
    /// The name of the run, if it has one.
    pub label: Option<String>,
}

/// The question that a person wants to answer.
#[napi(object, object_from_js = false)]
pub struct ChosenQuestion {
    /// Its id; absent when there is none.
    pub id: Option<u32>,
    /// The reason why there is none.
    pub problem: Option<String>,
}

/// Returns the question that a line after `/subagents` refers to: the first matching one of `waiting`, which has the
/// oldest first. `null` if the line is another command.
///
/// @example
/// ```ts
/// import { questionToAnswer } from "pi-subagent-native";
///
/// const waiting = [{ id: 7, runId: "1a2b3c4d", agent: "explorer" }];
/// console.log(questionToAnswer("answer explorer", waiting)?.id);
/// ```
#[napi(catch_unwind)]
pub fn question_to_answer(line: String, waiting: Vec<WaitingQuestion>) -> Option<ChosenQuestion> {
    let (ids, runs): (Vec<u32>, Vec<AskingRun>) = waiting
        .into_iter()
        .map(|WaitingQuestion { id, run_id, agent, label }| (id, AskingRun { run_id, agent, label }))
        .unzip();
    let (id, problem) = match commands::question_to_answer(&line, &runs)? {
        Ok(index) => (ids.get(index).copied(), None),
        Err(problem) => (None, Some(problem.to_string())),
    };
    Some(ChosenQuestion { id, problem })
}
