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
/// The claims that count only with a file or a change as their object: a plan is made and a summary is written, too.
const CLAIMS_WITH_FILE: [&str; 4] = ["created", "made", "written", "wrote"];
const CHANGES: [&str; 6] = ["change", "changes", "edit", "edits", "fix", "fixes"];
/// Words before a file that make it the subject of a text: `a summary of src/fetch.js`.
const ABOUT: [&str; 5] = ["about", "for", "from", "of", "sure"];
/// Words before a verb that do not change its meaning.
const FILLERS: [&str; 11] =
    ["also", "already", "and", "finally", "have", "just", "now", "please", "successfully", "then", "ve"];
/// Words after a claim that take it back.
const NEGATIONS: [&str; 6] = ["0", "neither", "no", "none", "not", "nothing"];
/// The number of words in which a heading without a subject says that there is nothing: `Changed files: there are none`.
const HEADING_WORDS: usize = 3;
/// Words after a verb without a subject that make it a description: `Added in 1.2 by Ada`.
const DESCRIPTIONS: [&str; 7] = ["at", "by", "from", "in", "on", "since", "with"];

/// The words of a sentence in lower case.
#[derive(Default)]
struct Sentence {
    words: Vec<String>,
    /// True if the next sentence says what this one announces.
    is_heading: bool,
}

/// Returns true if a sentence of the task begins with a verb that asks for changed files.
pub(super) fn asks_for_change(task: &str) -> bool {
    sentences(task).iter().any(|Sentence { words, .. }| {
        let mut words = words.iter().skip_while(|word| is_one_of(word, &FILLERS));
        let Some(verb) = words.next() else { return false };
        is_one_of(verb, &ASKS) || (is_one_of(verb, &ASKS_WITH_FILE) && words.any(|word| is_file(word)))
    })
}

/// Returns true if the answer says that its author has changed something: `I added …`, or a sentence that begins with
/// `Added …`.
pub(super) fn claims_change(answer: &str) -> bool {
    let sentences = sentences(answer);
    sentences.iter().enumerate().any(|(at, Sentence { words, is_heading })| {
        let announced = sentences.get(at + 1).filter(|_| *is_heading).map_or(&[][..], |next| &next.words);
        let subjects = words.iter().enumerate().filter(|(_, word)| is_one_of(word, &["i", "we"]));
        let mut objects = subjects.filter_map(|(at, _)| object_of(&words[at + 1..], announced));
        objects.any(|object| !begins_with(object, &NEGATIONS))
            || object_of(words, announced).is_some_and(|object| {
                !begins_with(object, &DESCRIPTIONS) && !denies(object) && !denies(announced)
            })
    })
}

/// Returns the words after a claim that `words` begin with. `announced` are the words below a heading.
fn object_of<'a>(words: &'a [String], announced: &[String]) -> Option<&'a [String]> {
    let verb = words.iter().position(|word| !is_one_of(word, &FILLERS))?;
    let (claim, object) = (&words[verb], &words[verb + 1..]);
    let names = |words: &[String]| {
        let direct = words.iter().take_while(|word| !is_one_of(word, &ABOUT));
        let (mut files, mut changes) = (direct.clone(), direct.take(HEADING_WORDS));
        files.any(|word| is_file(word)) || changes.any(|word| is_one_of(word, &CHANGES))
    };
    let is_claim = is_one_of(claim, &CLAIMS)
        && (!is_one_of(claim, &CLAIMS_WITH_FILE) || names(object) || names(announced));
    is_claim.then_some(object)
}

/// Returns true if the words say that there is nothing: `no files`, but not `no longer fails`.
fn denies(words: &[String]) -> bool {
    let mut negations = (0..words.len().min(HEADING_WORDS)).filter(|at| is_one_of(&words[*at], &NEGATIONS));
    negations.any(|at| !begins_with(&words[at + 1..], &["longer", "more"]))
        && !words.iter().any(|word| is_file(word))
}

fn begins_with(words: &[String], known: &[&str]) -> bool {
    words.first().is_some_and(|word| is_one_of(word, known))
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.contains(&word)
}

fn is_file(word: &str) -> bool {
    word.contains(['.', '/'])
}

/// Returns the sentences. Fenced and quoted lines are not the author's words: each is a sentence without words.
fn sentences(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut is_fenced = false;
    for line in text.lines().map(str::trim_start) {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        if is_fenced || is_fence || line.starts_with('>') {
            sentences.push(Sentence::default());
            continue;
        }
        let (mut own, mut last) = (Vec::new(), Sentence::default());
        for word in line.split_whitespace() {
            let parts = word.split(['\'', '’']).map(|part| part.trim_matches(|c: char| !c.is_alphanumeric()));
            let words = parts.filter(|part| part.contains(char::is_alphabetic) || *part == "0");
            last.words.extend(words.map(str::to_lowercase));
            // `**Changed files:**`
            let word = word.trim_end_matches(['*', '_']);
            last.is_heading = word.ends_with(':');
            if word.ends_with(['.', ';', '!', '?', ':']) {
                own.push(std::mem::take(&mut last));
            }
        }
        own.push(last);
        sentences.extend(own.into_iter().filter(|sentence| !sentence.words.is_empty()));
    }
    sentences
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
            ("Do this: update src/fetch.js", true),
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
            ("Changed files:\n\n- src/fetch.js", true),
            ("Changed files:\n```\nsrc/fetch.js\n```\nNo other files.", true),
            ("**Created files:** `src/retry.js`", true),
            ("I made the requested changes.", true),
            ("I made these changes:\n- src/fetch.js retries", true),
            ("Summary: I wrote src/retry.js", true),
            ("I changed src/fetch.js: no request is sent twice now.", true),
            ("Fixed: the retry no longer fails.", true),
            ("Changed files: none", false),
            ("**Changed files:** none, because the tests pass.", false),
            ("Changed files:\n- None", false),
            ("Changed files: there are no changes", false),
            ("Changed files - none", false),
            ("Files changed: 0", false),
            ("Modified files: 0", false),
            ("I made sure that the tests pass.", false),
            ("I made sure that src/fetch.js has a test.", false),
            ("I created a plan.", false),
            ("I wrote a summary of src/fetch.js above.", false),
            ("We made no changes.", false),
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
