//! Questions of runs: their drawing, and the one that a person wants to answer.

use napi::bindgen_prelude::Env;
use napi_derive::napi;

use crate::node::drawing::{Palette, drawn, extent};
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
/// import { questionToAnswer } from "pi-subagent-native/extension";
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

/// The names of the user's keys.
#[napi(object, object_to_js = false)]
pub struct QuestionKeyNames {
    /// Selects the choice above.
    pub up: String,
    /// Selects the choice below.
    pub down: String,
    /// Scrolls a page up.
    pub page_up: String,
    /// Scrolls a page down.
    pub page_down: String,
    /// Scrolls to the end.
    pub end: String,
    /// Takes the selected choice.
    pub confirm: String,
    /// Takes the harmless choice.
    pub cancel: String,
}

/// A question over the screen, of which no character is hidden. The first choice is the harmless one. Any other answer is accepted
/// only after the question was scrolled to its end.
///
/// @example
/// ```ts
/// import { Palette, QuestionScreen } from "pi-subagent-native/extension";
///
/// const question = new QuestionScreen("explorer asks", "Remove it?", "rm -rf build", ["No", "Yes"]);
/// const named = { up: "up", down: "down", pageUp: "pageUp", pageDown: "pageDown" };
/// const keys = { ...named, end: "end", confirm: "enter", cancel: "escape" };
/// for (const line of question.draw(new Palette("{}"), 40, 24, keys)) console.log(line);
/// question.press("down");
/// console.log(question.chosen, question.accepts(false));
/// ```
#[napi]
pub struct QuestionScreen(present::QuestionScreen);

#[napi]
impl QuestionScreen {
    /// Opens a question.
    #[napi(constructor, catch_unwind)]
    pub fn new(heading: String, title: String, message: String, choices: Vec<String>) -> Self {
        Self(present::QuestionScreen::new(heading, title, message, choices))
    }

    /// The position of the selected choice.
    #[napi(getter, catch_unwind)]
    pub fn chosen(&self) -> u32 {
        u32::try_from(self.0.chosen()).unwrap_or(u32::MAX)
    }

    /// Moves the selection, or scrolls.
    #[napi(catch_unwind)]
    pub fn press(
        &mut self,
        #[napi(ts_arg_type = "\"up\" | \"down\" | \"pageUp\" | \"pageDown\" | \"home\" | \"end\"")]
        key: String,
    ) {
        if let Some(key) = present::QuestionKey::parse(&key) {
            self.0.press(key);
        }
    }

    /// Returns true if an answer may be taken.
    #[napi(catch_unwind)]
    pub fn accepts(&mut self, is_harmless: bool) -> bool {
        self.0.accepts(is_harmless)
    }

    /// The columns of a row inside the frame of a question with this width, for the line of `draw`.
    #[napi(catch_unwind)]
    pub fn inner_width(&self, width: u32) -> u32 {
        u32::try_from(self.0.inner_width(width as usize)).unwrap_or(u32::MAX)
    }

    /// Draws the question for a screen of `rows`. `input` is the line in which the user writes the answer.
    #[napi(catch_unwind)]
    pub fn draw(
        &mut self,
        palette: &Palette,
        width: u32,
        rows: u32,
        keys: QuestionKeyNames,
        input: Option<String>,
    ) -> Vec<String> {
        let QuestionKeyNames { up, down, page_up, page_down, end, confirm, cancel } = keys;
        let keys = present::QuestionKeyNames { up, down, page_up, page_down, end, confirm, cancel };
        self.0.draw(&palette.styles, extent(width), extent(rows), &keys, input.as_deref())
    }
}

/// Draws a pending question on one line. `hint` says how to answer, and is shown if there is room for it.
///
/// @example
/// ```ts
/// import { drawQuestionLine, Palette } from "pi-subagent-native/extension";
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
