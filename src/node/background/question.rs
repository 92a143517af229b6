//! Questions of runs: their drawing, and the one that a person wants to answer.

use napi::bindgen_prelude::Env;
use napi_derive::napi;

use crate::node::drawing::{Palette, drawn};
use crate::orchestrate::background::commands::{self, AskingRun};
use crate::present;

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

/// A row of a question on the screen.
#[napi(object, object_from_js = false)]
pub struct QuestionRow {
    /// The text of the row.
    pub text: String,
    /// True if the word continues in the next row, without a blank.
    pub is_broken: bool,
}

/// Breaks a question into rows without hiding a character: its title, its message, and the choices that are too long for
/// their list. No row is wider than `width` in any terminal.
///
/// @example
/// ```ts
/// import { Palette, questionRows } from "pi-subagent-native";
///
/// const rows = questionRows(new Palette("{}"), 40, "Remove it?", "rm -rf build", ["No", "Yes"]);
/// for (const { text } of rows) console.log(text);
/// ```
#[napi(catch_unwind)]
pub fn question_rows(
    palette: &Palette,
    width: u32,
    title: String,
    message: String,
    choices: Vec<String>,
) -> Vec<QuestionRow> {
    let rows = present::question_rows(&palette.styles, width as usize, &title, &message, &choices);
    let row = |present::QuestionRow { text, is_broken }| QuestionRow { text, is_broken };
    rows.into_iter().map(row).collect()
}

/// Draws a pending question on one line. `hint` says how to answer, and is shown if there is room for it.
///
/// @example
/// ```ts
/// import { drawQuestionLine, Palette } from "pi-subagent-native";
///
/// console.log(drawQuestionLine(new Palette("{}"), 40, "explorer asks: Remove it?", "alt+a answers").length);
/// ```
#[napi(catch_unwind)]
pub fn draw_question_line(
    env: Env,
    palette: &Palette,
    width: u32,
    sentence: String,
    hint: String,
) -> Vec<String> {
    drawn(env, palette, width, |page| present::draw_question_line(page, &sentence, &hint))
}
