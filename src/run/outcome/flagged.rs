//! Finds what a run leaves behind that runs code later, or tells other agents what to do.

use crate::run::admit::scope::WriteScope;
use crate::run::blocking::blocking;
use crate::workspace::Found;

/// The most that a result lists.
const MAX_FLAGGED: usize = 50;

/// The tree of a run at its start, as far as a person has to look at changes in it.
pub(in crate::run) struct Watched {
    scope: WriteScope,
    before: Found,
}

impl Watched {
    /// Looks at the tree of a run.
    pub(in crate::run) async fn look(scope: WriteScope) -> Self {
        blocking(move || Self { before: scope.look(), scope }).await
    }

    /// What is not protected although it should be.
    pub(in crate::run) fn gaps(&self) -> Vec<String> {
        self.before.gaps()
    }

    /// What has appeared or changed since, relative to the tree's root. Needs no git, and sees what git ignores.
    pub(in crate::run) async fn changes(self) -> Vec<String> {
        let paths = blocking(move || self.before.changes(&self.scope.look())).await;
        let more = paths.len().saturating_sub(MAX_FLAGGED);
        let mut flagged: Vec<String> =
            paths.iter().take(MAX_FLAGGED).map(|path| path.to_string_lossy().into_owned()).collect();
        if more > 0 {
            flagged.push(format!("and {more} more"));
        }
        flagged
    }
}
