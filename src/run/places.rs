//! What a sandboxed child may write beside its session.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::agent_dir::{AgentDirError, GiveBack, PrivateAgentDir, Refused, refresh_before_copy, remove_tree};
use super::cause::chain;
use super::files::FilesError;
use super::refresh::Refresh;

/// A temporary directory and an agent directory for one child. Both are removed with this value.
#[derive(Debug)]
pub(super) struct Places {
    temporary: PathBuf,
    agent: PrivateAgentDir,
}

impl Places {
    /// Where the two will be, for whoever has to remove them if this process cannot.
    pub(super) fn paths(run: &Path) -> [PathBuf; 2] {
        [run.join("tmp"), run.join("agent")]
    }

    /// Makes them in the run's directory. Blocks.
    ///
    /// # Errors
    ///
    /// When one of them cannot be made; nothing of it is left then.
    pub(super) fn create(run: &Path, user_agent_dir: &Path) -> Result<Self, FilesError> {
        let [temporary, agent] = Self::paths(run);
        let agent = PrivateAgentDir::create(user_agent_dir, &agent).map_err(|error| match error {
            AgentDirError::Read { path, source } | AgentDirError::Write { path, source } => {
                FilesError { path, source }
            }
        })?;
        super::files::private_dir_builder()
            .create(&temporary)
            .map_err(|source| FilesError { path: temporary.clone(), source })?;
        Ok(Self { temporary, agent })
    }

    /// Has a token refreshed that would expire before `until`, which the copy must have in time.
    pub(super) async fn refresh(
        user_agent_dir: &Path,
        provider: &str,
        until: SystemTime,
        host: &impl Refresh,
    ) {
        // One that expires all the same is refreshed by the child and taken back.
        let _ = refresh_before_copy(user_agent_dir, provider, until, host).await;
    }

    /// For `TMPDIR`.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// For `PI_CODING_AGENT_DIR`.
    pub(super) fn agent(&self) -> &Path {
        self.agent.path()
    }

    /// What the child does without, in words.
    pub(super) fn left_out(&self) -> Vec<String> {
        let left_out = self.agent.left_out().iter();
        left_out
            .map(|file| format!("the child does without `{}`: {}", file.path.display(), file.reason))
            .collect()
    }

    /// Takes a refreshed token of a provider back into the user's credentials. Blocks. Returns what the user should know.
    pub(super) fn give_back(&self, provider: &str) -> Option<String> {
        match self.agent.give_back(provider) {
            // Whoever never logged in has nothing to lose, and most providers are used with a key.
            Ok(GiveBack::Unchanged | GiveBack::Returned | GiveBack::Refused(Refused::NotLoggedIn)) => None,
            Ok(GiveBack::Refused(why)) => {
                Some(format!("the child's new token for `{provider}` was not taken over: {why}"))
            }
            Err(error) => Some(format!("the child's new token for `{provider}` is lost: {}", chain(&error))),
        }
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.temporary).is_ok() {
            let _ = remove_tree(&self.temporary);
        }
    }
}
