//! Prepares a private tree with a command, before its child gets its first prompt.

use super::Tree;
use crate::process::Outcome;
use crate::run::drive::active_run::ActiveRun;
use crate::run::outcome::checked::SetUp;
use crate::run::result::verdict::Verdict;
use crate::text::with_cause;

impl ActiveRun<'_> {
    /// Runs the command that prepares the private tree, if there is one.
    ///
    /// # Errors
    ///
    /// The verdict on the run: a child in a tree that is not prepared would fail at something else.
    pub(crate) async fn set_up(&self, tree: &Tree<'_>) -> Result<(), Verdict> {
        let resolved = &self.admitted.resolved;
        let Some(command) = resolved.setup() else { return Ok(()) };
        self.show_command("setup", command);
        let limit = resolved.setup_timeout();
        let remaining = resolved.timeout.map(|limit| limit.saturating_sub(self.started.elapsed()));
        let sanitizer = self.sanitizer();
        let limit = remaining.map_or(limit, |remaining| remaining.min(limit));
        let failed = match self.run_in_tree(command, tree, limit, &self.cancel).await {
            Ok(ended) => match (&ended.outcome, resolved.timeout) {
                (Outcome::Cancelled(reason), _) => return Err(Verdict::cancelled(reason)),
                (Outcome::HardTimeout { limit }, Some(time_limit)) if remaining == Some(*limit) => {
                    return Err(Verdict::hard_limit(time_limit, resolved.limited_by));
                }
                _ => SetUp::failure(command, &ended, sanitizer),
            },
            Err(error) => Some(SetUp::never_started(command, &with_cause(&error), sanitizer)),
        };
        failed.map_or(Ok(()), |why| Err(Verdict::failed(1, why)))
    }
}
