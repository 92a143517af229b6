//! Finds the question that `answer …` refers to, among the questions that wait for a person.

use serde::{Deserialize, Serialize, Serializer};

use super::parse::Words;
use crate::orchestrate::background::find::{Named, Names, matching};
use sanitizer::{nearest, quoted, suggestion};

/// A question that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingQuestion {
    /// Its id.
    pub id: u32,
    /// The id of the run that asks.
    pub run_id: String,
    /// The name of its agent.
    pub agent: String,
    /// Its own name, if it has one.
    pub label: Option<String>,
}

impl Named for WaitingQuestion {
    fn names(&self) -> Names<'_> {
        Names { run_id: &self.run_id, label: self.label.as_deref(), ..Names::default() }
    }
}

/// The question that a person wants to answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ChosenQuestion {
    /// Its id.
    Id(u32),
    /// The reason why there is none.
    Problem(#[serde(serialize_with = "NoQuestion::serialize")] NoQuestion),
}

/// The reason why a line refers to no question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoQuestion {
    /// The name is empty, but in quotes.
    #[error("the name of the question is empty: give its number, or the run's label or ID")]
    EmptyName,
    /// No question waits.
    #[error("No sub-agent waits for an answer in this terminal")]
    NoneWaits,
    /// No waiting question has this name.
    #[error("No sub-agent named {} waits for an answer{}", quoted(name), suggestion(nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The most similar name of a waiting run.
        nearest: Option<String>,
    },
}

impl NoQuestion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns the question that a line refers to: by its number from 1, by a name of its run, or by the agent. Without any of
/// these, and if several have the name, it is the oldest question, which is the first of `waiting`. `None` if the line is
/// another command.
#[must_use]
pub fn question_to_answer(line: &str, waiting: &[WaitingQuestion]) -> Option<ChosenQuestion> {
    let mut words = Words(line);
    if words.next()? != "answer" {
        return None;
    }
    let rest = words.rest();
    let which = rest.as_deref().unwrap_or_default().trim_matches('"').trim();
    let found = if which.is_empty() {
        waiting.first()
    } else {
        let numbered = which.parse::<usize>().ok().and_then(|number| waiting.get(number.checked_sub(1)?));
        numbered
            .or_else(|| matching(which, waiting).into_iter().next())
            .or_else(|| waiting.iter().find(|question| question.agent == which))
    };
    Some(match found {
        // Every id begins with an empty text.
        _ if rest.is_some() && which.is_empty() => ChosenQuestion::Problem(NoQuestion::EmptyName),
        Some(question) => ChosenQuestion::Id(question.id),
        None if waiting.is_empty() => ChosenQuestion::Problem(NoQuestion::NoneWaits),
        None => {
            let names = waiting.iter().flat_map(|question| question.label.iter().chain([&question.agent]));
            let nearest = nearest(which, names.map(String::as_str)).map(str::to_owned);
            ChosenQuestion::Problem(NoQuestion::Unknown { name: which.to_owned(), nearest })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(id: u32, run_id: &str, agent: &str, label: Option<&str>) -> WaitingQuestion {
        let label = label.map(str::to_owned);
        WaitingQuestion { id, run_id: run_id.to_owned(), agent: agent.to_owned(), label }
    }

    #[test]
    fn a_question_is_named_by_number_label_id_or_agent() {
        let waiting = [
            asking(0, "1a2b3c4d", "explorer", Some("the config")),
            asking(1, "5e6f7a8b", "reviewer", None),
            asking(2, "90abcdef", "reviewer", Some("2")),
            asking(3, "0badcafe", "reviewer", Some("5e6")),
        ];
        for (line, expected) in [
            ("answer", 0),
            ("  answer  ", 0),
            ("answer 2", 1),
            ("answer the config", 0),
            ("answer \"the config\"", 0),
            ("answer The Config", 0),
            ("answer 5e6f", 1),
            ("answer 5e6", 3),
            ("answer 90", 2),
            ("answer reviewer", 1),
            ("answer \"reviewer", 1),
        ] {
            assert_eq!(question_to_answer(line, &waiting), Some(ChosenQuestion::Id(expected)), "{line}");
        }
    }

    #[test]
    fn an_empty_name_is_refused() {
        let waiting = [asking(0, "1a2b3c4d", "explorer", Some(""))];
        for line in ["answer \"\"", "answer \" \"", "answer \""] {
            assert_eq!(
                question_to_answer(line, &waiting),
                Some(ChosenQuestion::Problem(NoQuestion::EmptyName)),
                "{line:?}"
            );
        }
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_known_one() {
        let waiting = [asking(0, "1a2b3c4d", "explorer", None)];
        let problem = |line| match question_to_answer(line, &waiting) {
            Some(ChosenQuestion::Problem(problem)) => problem.to_string(),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(
            problem("answer explorre"),
            "No sub-agent named `explorre` waits for an answer; did you mean `explorer`?"
        );
        for line in ["answer 0", "answer 2", "answer \u{1b}[31m"] {
            assert!(problem(line).starts_with("No sub-agent named `"), "{line}: {}", problem(line));
            assert!(!problem(line).contains('\u{1b}'));
        }
        let none = Some(ChosenQuestion::Problem(NoQuestion::NoneWaits));
        assert_eq!(question_to_answer("answer", &[]), none);
        assert_eq!(question_to_answer("answer explorer", &[]), none);
    }

    #[test]
    fn other_commands_are_ignored() {
        for line in ["", "list", "answers", "send answer x"] {
            assert_eq!(question_to_answer(line, &[]), None, "{line}");
        }
    }
}
