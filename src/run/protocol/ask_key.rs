//! Tells the questions of the tool `ask` from all others that a child's standard output shows.
//!
//! A permission hook asks in the same records, with text that may repeat words of the child's model. A program that a
//! tool has started may write such records, too. So our guard in the child makes a key before the first turn, prints
//! it, and begins each of its questions with it. The key is in no file and no variable: only that process and this one
//! know it.

/// The prefix of the key. 36 characters follow.
pub(crate) const PREFIX: &str = "pi-subagent-ask:";
/// Length of a UUID.
const UUID_LENGTH: usize = 36;

/// The key of one child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum AskKey {
    /// The child has no tool `ask`, or the beginning of its output is not known.
    #[default]
    Never,
    /// The child has not printed it yet. The first key counts: nothing else has run in the child by then.
    Expected,
    Known(String),
}

/// The asker of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The child's agent, with the tool `ask`; the words of its question.
    Agent(String),
    /// An extension of the child, or a program that one of its tools has started.
    Other,
    /// Not a question: it contains the key, or pretends to.
    Key,
}

impl AskKey {
    /// Returns the asker of a question with this title.
    pub(crate) fn asker(&mut self, title: &str) -> Asker {
        let Some(uuid) = title.strip_prefix(PREFIX) else { return Asker::Other };
        match self {
            Self::Expected if uuid.len() == UUID_LENGTH && !uuid.contains(char::is_whitespace) => {
                *self = Self::Known(format!("{title} "));
            }
            Self::Known(key) => {
                if let Some(question) = title.strip_prefix(key.as_str()) {
                    return Asker::Agent(question.to_owned());
                }
            }
            Self::Never | Self::Expected => {}
        }
        Asker::Key
    }

    /// Questions were lost. If the key was among them, the next sender of a key need not be our guard.
    pub(crate) fn note_lost_questions(&mut self) {
        if *self == Self::Expected {
            *self = Self::Never;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "pi-subagent-ask:00000000-0000-0000-0000-000000000000";
    const FORGED: &str = "pi-subagent-ask:11111111-1111-1111-1111-111111111111";

    #[test]
    fn only_text_with_the_first_key_is_a_question_of_the_agent() {
        let mut key = AskKey::Expected;
        for (title, expected) in [
            ("Allow `rm`?".to_owned(), Asker::Other),
            (KEY.to_owned(), Asker::Key),
            (format!("{KEY} Which?"), Asker::Agent("Which?".to_owned())),
            (FORGED.to_owned(), Asker::Key),
            (format!("{FORGED} Which?"), Asker::Key),
            (format!("Allow `{KEY} Which?`"), Asker::Other),
            ("Which?".to_owned(), Asker::Other),
        ] {
            assert_eq!(key.asker(&title), expected, "{title}");
        }
    }

    #[test]
    fn no_key_is_read_unless_every_question_has_one() {
        let mut missed = AskKey::Expected;
        missed.note_lost_questions();
        for mut key in [AskKey::Never, missed] {
            assert_eq!(key.asker(KEY), Asker::Key);
            assert_eq!(key.asker(&format!("{KEY} Which?")), Asker::Key);
        }
        let mut known = AskKey::Expected;
        known.asker(KEY);
        known.note_lost_questions();
        assert_eq!(known.asker(&format!("{KEY} Which?")), Asker::Agent("Which?".to_owned()));
    }
}
