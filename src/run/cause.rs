//! What an error says together with what caused it.

use std::error::Error;

/// An error with its causes, as one sentence.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
