//! What an error says together with what caused it.

use std::error::Error;

/// An error with its causes, as one sentence.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut sentence = said.clone();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // One that only passes on what another says has the same words.
        if more != said {
            sentence.push_str(": ");
            sentence.push_str(&more);
            said = more;
        }
        cause = error.source();
    }
    sentence
}
