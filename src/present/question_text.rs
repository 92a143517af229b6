//! The words around a question that a run asks a person, and the ways to answer it.

use super::paint::folded;
use sanitizer::{Visible, quoted_if_unusual};

/// The texts around a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionText {
    /// The asker: `cleanup (explorer) asks`.
    pub heading: String,
    /// The question on one line, with who asks it.
    pub sentence: String,
    /// The ways to answer. The first one changes nothing: it is what Enter takes before anything else was chosen.
    pub choices: Vec<Choice>,
}

/// A way to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its words, on one line. An option is shown exactly.
    pub label: String,
    /// The meaning. Absent if the answer must be written.
    pub answer: Option<ChosenAnswer>,
}

/// The meaning of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenAnswer {
    /// No answer.
    None,
    /// A yes or a no.
    Confirmed(bool),
    /// One of the options.
    Value(String),
}

/// The way to answer a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerKind<'a> {
    /// With a yes or a no.
    Confirm,
    /// With one of these.
    Select(&'a [Visible]),
    /// With a text.
    Written,
}

/// The words around a question of a child. `label` is the name of its run.
#[must_use]
pub fn question_text(label: Option<&str>, agent: &str, title: &str, kind: AnswerKind<'_>) -> QuestionText {
    text_of(&format!("{} asks", asker(label, agent)), title, kind)
}

/// The words around a question that its conversation is asked, too.
#[must_use]
pub fn conversation_question_text(
    label: Option<&str>,
    agent: &str,
    title: &str,
    kind: AnswerKind<'_>,
) -> QuestionText {
    text_of(&format!("{} asks the conversation", asker(label, agent)), title, kind)
}

fn text_of(heading: &str, title: &str, kind: AnswerKind<'_>) -> QuestionText {
    let none = Choice { label: "No answer".to_owned(), answer: Some(ChosenAnswer::None) };
    let choices = match kind {
        AnswerKind::Confirm => yes_or_no("No", "Yes"),
        AnswerKind::Select(options) => {
            let option = |text: &Visible| Choice {
                label: text.to_string(),
                answer: Some(ChosenAnswer::Value(text.to_string())),
            };
            std::iter::once(none).chain(options.iter().map(option)).collect()
        }
        AnswerKind::Written => vec![none, Choice { label: "Write an answer".to_owned(), answer: None }],
    };
    QuestionText { sentence: format!("{heading}: {}", folded(title)), heading: heading.to_owned(), choices }
}

/// The words around our own question, whether a project's agent may run.
#[must_use]
pub fn consent_text(title: &str) -> QuestionText {
    QuestionText {
        heading: "sub-agent".to_owned(),
        sentence: folded(title),
        choices: yes_or_no("No, do not run it", "Yes, run it"),
    }
}

fn yes_or_no(no: &str, yes: &str) -> Vec<Choice> {
    [(no, false), (yes, true)]
        .map(|(label, yes)| Choice { label: label.to_owned(), answer: Some(ChosenAnswer::Confirmed(yes)) })
        .to_vec()
}

/// The run by its name, if it has one, and the agent.
fn asker(label: Option<&str>, agent: &str) -> String {
    let name = folded(label.unwrap_or_default());
    let kind = folded(agent);
    let shown = quoted_if_unusual(&kind);
    if name.is_empty() || name == kind {
        return shown.into_owned();
    }
    format!("{} ({shown})", quoted_if_unusual(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_asker_is_shown_as_the_run_and_its_agent() {
        let heading = |label| question_text(label, "explorer", "", AnswerKind::Written).heading;
        assert_eq!(heading(Some("cleanup")), "cleanup (explorer) asks");
        assert_eq!(heading(Some("explorer")), "explorer asks");
        assert_eq!(heading(Some(" \n ")), "explorer asks");
        assert_eq!(heading(None), "explorer asks");
        assert_eq!(heading(Some("a\u{1b}[31m\nb")), "`a b` (explorer) asks");
        assert_eq!(heading(Some("pi asks: Yes?` x")), "`pi asks: Yes?\\u{60} x` (explorer) asks");
    }

    #[test]
    fn a_question_of_several_lines_is_one_sentence() {
        let text = question_text(Some("cleanup"), "explorer", "Remove\n\tthis?", AnswerKind::Confirm);
        assert_eq!(text.sentence, "cleanup (explorer) asks: Remove this?");
        assert_eq!(consent_text("Run\nit?").sentence, "Run it?");
    }

    #[test]
    fn the_first_choice_changes_nothing() {
        let options = ["All", "Two\nlines"].map(Visible::prose_line);
        for kind in [AnswerKind::Confirm, AnswerKind::Select(&options), AnswerKind::Written] {
            let first = question_text(None, "explorer", "Which?", kind).choices.swap_remove(0);
            assert!(
                matches!(first.answer, Some(ChosenAnswer::None | ChosenAnswer::Confirmed(false))),
                "{kind:?}"
            );
        }
        assert_eq!(consent_text("Run it?").choices[0].answer, Some(ChosenAnswer::Confirmed(false)));
    }

    #[test]
    fn an_option_is_shown_exactly_on_one_line() {
        let options = ["Two  \n\u{200b}lines"].map(Visible::prose_line);
        let choices = question_text(None, "explorer", "Which?", AnswerKind::Select(&options)).choices;
        let expected = Choice {
            label: "Two  <U+000A><U+200B>lines".to_owned(),
            answer: Some(ChosenAnswer::Value("Two  <U+000A><U+200B>lines".to_owned())),
        };
        assert_eq!(choices[1], expected);
    }
}
