//! Questions of runs: their drawing, and the one that a person wants to answer.

use napi::bindgen_prelude::Env;
use napi_derive::napi;

use crate::node::drawing::{Palette, drawn, extent};
use crate::node::json::{Json, Parsed};
use crate::orchestrate::background::commands::{self, WaitingQuestion};
use crate::present::{self, QuestionKeyNames};

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
#[napi(catch_unwind, ts_return_type = "ChosenQuestion | null")]
pub fn question_to_answer(
    line: String,
    #[napi(ts_arg_type = "Array<WaitingQuestion>")] waiting: Parsed<Vec<WaitingQuestion>>,
) -> napi::Result<Option<Json>> {
    commands::question_to_answer(&line, &waiting.0).map(|chosen| Json::new(&chosen)).transpose()
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
        #[napi(ts_arg_type = "QuestionKeyNames")] keys: Parsed<QuestionKeyNames>,
        input: Option<String>,
    ) -> Vec<String> {
        self.0.draw(&palette.styles, extent(width), extent(rows), &keys.0, input.as_deref())
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
