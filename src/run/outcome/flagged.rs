//! Finds what a run leaves behind that runs code later, or tells other agents what to do.

use super::changes::{listed, paths_of};
use crate::run::admit::scope::WriteScope;
use crate::run::blocking::blocking;
use crate::workspace::{Change, Found, is_flagged};

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
        listed(paths.iter().map(|path| path.to_string_lossy().into_owned()), MAX_FLAGGED)
    }
}

/// The same of what a run in a private tree has changed: it is on a branch, and the tree is gone.
pub(in crate::run) fn of_branch(changes: &[Change]) -> Vec<String> {
    let flagged: Vec<Change> = changes.iter().filter(|change| is_flagged(&change.path)).cloned().collect();
    listed(paths_of(&flagged), MAX_FLAGGED)
}
