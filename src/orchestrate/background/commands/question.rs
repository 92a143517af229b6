//! Finds the question that `answer …` refers to, among the questions that wait for a person.

use super::parse::Words;
use sanitizer::{nearest, quoted, suggestion};

/// The run whose question waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskingRun {
    /// Its id.
    pub run_id: String,
    /// The name of its agent.
    pub agent: String,
    /// Its own name, if it has one.
    pub label: Option<String>,
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

/// Returns the index of the question that a line refers to, oldest first: by its number from 1, by the run's label or
/// the beginning of its id, or by the agent. Without any of these, it is the oldest question. `None` if the line is
/// another command.
///
/// # Errors
///
/// If no question waits, or none has this name.
#[must_use]
pub fn question_to_answer(line: &str, waiting: &[AskingRun]) -> Option<Result<usize, NoQuestion>> {
    let mut words = Words(line);
    if words.next()? != "answer" {
        return None;
    }
    let rest = words.rest();
    let which = rest.as_deref().unwrap_or_default().trim_matches('"').trim().to_owned();
    if rest.is_some() && which.is_empty() {
        // Every id begins with an empty text.
        return Some(Err(NoQuestion::EmptyName));
    }
    let numbered = || which.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < waiting.len());
    let is_of = |run: &AskingRun| {
        run.run_id.starts_with(&which) || run.label.as_ref() == Some(&which) || run.agent == which
    };
    let found = numbered().or_else(|| waiting.iter().position(is_of));
    Some(found.ok_or_else(|| {
        if which.is_empty() || waiting.is_empty() {
            return NoQuestion::NoneWaits;
        }
        let names = waiting.iter().flat_map(|run| run.label.iter().chain([&run.agent]));
        let nearest = nearest(&which, names.map(String::as_str)).map(str::to_owned);
        NoQuestion::Unknown { name: which.clone(), nearest }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(run_id: &str, agent: &str, label: Option<&str>) -> AskingRun {
        AskingRun { run_id: run_id.to_owned(), agent: agent.to_owned(), label: label.map(str::to_owned) }
    }

    #[test]
    fn a_question_is_named_by_number_label_id_or_agent() {
        let waiting = [
            asking("1a2b3c4d", "explorer", Some("the config")),
            asking("5e6f7a8b", "reviewer", None),
            asking("90abcdef", "reviewer", Some("2")),
        ];
        for (line, expected) in [
            ("answer", 0),
            ("  answer  ", 0),
            ("answer 2", 1),
            ("answer the config", 0),
            ("answer \"the config\"", 0),
            ("answer 5e6", 1),
            ("answer 90", 2),
            ("answer reviewer", 1),
            ("answer \"reviewer", 1),
        ] {
            assert_eq!(question_to_answer(line, &waiting), Some(Ok(expected)), "{line}");
        }
    }

    #[test]
    fn an_empty_name_is_refused() {
        let waiting = [asking("1a2b3c4d", "explorer", Some(""))];
        for line in ["answer \"\"", "answer \" \"", "answer \""] {
            assert_eq!(question_to_answer(line, &waiting), Some(Err(NoQuestion::EmptyName)), "{line:?}");
        }
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_known_one() {
        let waiting = [asking("1a2b3c4d", "explorer", None)];
        let problem = |line| {
            let problem = question_to_answer(line, &waiting).and_then(Result::err);
            problem.expect("no question has the name").to_string()
        };
        assert_eq!(
            problem("answer explorre"),
            "No sub-agent named `explorre` waits for an answer; did you mean `explorer`?"
        );
        for line in ["answer 0", "answer 2", "answer \u{1b}[31m"] {
            assert!(problem(line).starts_with("No sub-agent named `"), "{line}: {}", problem(line));
            assert!(!problem(line).contains('\u{1b}'));
        }
        let none = Some(Err(NoQuestion::NoneWaits));
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
