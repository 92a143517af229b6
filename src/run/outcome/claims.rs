//! Recognizes a task that asks for a change, and an answer that claims one. Only English is understood. The words decide
//! how a fact is shown, never whether it is true.

/// Verbs at the beginning of a sentence that ask for changed files.
const ASKS: [&str; 11] = [
    "add",
    "delete",
    "edit",
    "fix",
    "implement",
    "insert",
    "modify",
    "refactor",
    "remove",
    "rename",
    "replace",
];
/// Verbs that ask for changed files only if the sentence names one: a summary is written, too.
const ASKS_WITH_FILE: [&str; 6] = ["change", "create", "make", "move", "update", "write"];
/// Forms of the same verbs that claim a change.
const CLAIMS: [&str; 18] = [
    "added",
    "changed",
    "created",
    "deleted",
    "edited",
    "fixed",
    "implemented",
    "inserted",
    "made",
    "modified",
    "moved",
    "refactored",
    "removed",
    "renamed",
    "replaced",
    "updated",
    "written",
    "wrote",
];
/// Words before a verb that do not change its meaning.
const FILLERS: [&str; 11] =
    ["also", "already", "and", "finally", "have", "just", "now", "please", "successfully", "then", "ve"];
/// Words after a claim that take it back.
const NEGATIONS: [&str; 4] = ["neither", "no", "none", "nothing"];
/// Words after a verb without a subject that make it a description: `Added in 1.2 by Ada`.
const DESCRIPTIONS: [&str; 7] = ["at", "by", "from", "in", "on", "since", "with"];

/// Returns true if a sentence of the task begins with a verb that asks for changed files.
pub(super) fn asks_for_change(task: &str) -> bool {
    sentences(task).any(|sentence| {
        let mut words = sentence.iter().skip_while(|word| FILLERS.contains(&word.as_str()));
        let Some(verb) = words.next().map(String::as_str) else { return false };
        let mut names_file = || words.any(|word| word.contains(['.', '/']));
        ASKS.contains(&verb) || (ASKS_WITH_FILE.contains(&verb) && names_file())
    })
}

/// Returns true if the answer says that its author has changed something: `I added …`, or a sentence that begins with
/// `Added …`.
pub(super) fn claims_change(answer: &str) -> bool {
    sentences(answer).any(|sentence| {
        let begins = sentence.iter().position(|word| !FILLERS.contains(&word.as_str()));
        let subjects = sentence.iter().enumerate().filter(|(_, word)| ["i", "we"].contains(&word.as_str()));
        let verb_at = |from: usize| {
            let verb = from + sentence[from..].iter().position(|word| !FILLERS.contains(&word.as_str()))?;
            CLAIMS.contains(&sentence[verb].as_str()).then_some(verb)
        };
        let is_followed_by = |verb: usize, words: &[&str]| {
            sentence.get(verb + 1).is_some_and(|next| words.contains(&next.as_str()))
        };
        let has_subject =
            subjects.filter_map(|(at, _)| verb_at(at + 1)).any(|verb| !is_followed_by(verb, &NEGATIONS));
        has_subject
            || begins
                .and_then(verb_at)
                .is_some_and(|verb| !is_followed_by(verb, &NEGATIONS) && !is_followed_by(verb, &DESCRIPTIONS))
    })
}

/// Returns the words of each sentence in lower case, without fenced and quoted lines, which are not the author's words.
fn sentences(text: &str) -> impl Iterator<Item = Vec<String>> {
    let mut is_fenced = false;
    let own = text.lines().map(str::trim_start).filter(move |line| {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence && !line.starts_with('>')
    });
    own.flat_map(|line| {
        let mut sentences = vec![Vec::new()];
        for word in line.split_whitespace() {
            let parts = word.split(['\'', '’']).map(|part| part.trim_matches(|c: char| !c.is_alphanumeric()));
            let words = parts.filter(|part| part.contains(char::is_alphabetic)).map(str::to_lowercase);
            if let Some(last) = sentences.last_mut() {
                last.extend(words);
            }
            // `Added: none` is one sentence.
            let is_heading =
                || sentences.last().is_some_and(|last| last.iter().any(|word| CLAIMS.contains(&&**word)));
            if word.ends_with(['.', ';', '!', '?']) || (word.ends_with(':') && !is_heading()) {
                sentences.push(Vec::new());
            }
        }
        sentences
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_asks_for_a_change_if_a_sentence_begins_with_its_verb() {
        for (task, expected) in [
            ("add a retry to src/fetch.js", true),
            ("Read src/fetch.js. Then please fix the retry.", true),
            ("Task: rename `a` to `b`", true),
            ("- Create src/retry.js", true),
            ("Write src/retry.js", true),
            ("Write a summary of the retries.", false),
            ("Create a plan", false),
            ("Why does the retry fail? Did someone remove it?", false),
            ("Explain how to add a retry", false),
            ("Which commit added src/retry.js?", false),
            ("", false),
        ] {
            assert_eq!(asks_for_change(task), expected, "{task}");
        }
    }

    #[test]
    fn an_answer_claims_a_change_only_in_the_words_of_its_author() {
        for (answer, expected) in [
            ("I added src/retry.js.", true),
            ("Done! I've also created `src/retry.js`.", true),
            ("We have just updated it", true),
            ("The work is complete.\n\n- Added a retry to `src/fetch.js`", true),
            ("**Fixed** the bug.", true),
            ("1. Wrote src/retry.js", true),
            ("I changed nothing.", false),
            ("Added: none", false),
            ("Added in 1.2 by Ada.", false),
            ("The retry was added by Ada in 2019.", false),
            ("I have not added anything.", false),
            ("I would have added a retry.", false),
            ("npm says:\n```\nadded 57 packages\n```\n> I added it.", false),
            ("Es gibt einen Wiederholungsversuch.", false),
            ("", false),
        ] {
            assert_eq!(claims_change(answer), expected, "{answer}");
        }
    }
}
