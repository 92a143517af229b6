//! An error together with its causes.

use std::error::Error;

/// The messages of an error and of its sources, joined by `: `.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut sentence = said.clone();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // A wrapper that only forwards the message of its source says nothing new.
        if more != said {
            sentence.push_str(": ");
            sentence.push_str(&more);
            said = more;
        }
        cause = error.source();
    }
    sentence
}
