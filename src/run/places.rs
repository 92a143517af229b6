//! What a sandboxed child may write beside its session.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::agent_dir::{AgentDirError, GiveBack, PrivateAgentDir, Refused, refresh_before_copy, remove_tree};
use super::cause::chain;
use super::files::{FilesError, private_dir_builder};
use super::refresh::Refresh;

/// What the names of temporary directories begin with; the run's id follows.
const PREFIX: &str = "pi-subagent-";

/// A temporary directory and an agent directory for one child. Both are removed with this value.
#[derive(Debug)]
pub(super) struct Places {
    temporary: PathBuf,
    agent: PrivateAgentDir,
}

impl Places {
    /// Makes them for a run with this directory. Blocks.
    ///
    /// The temporary directory lies among those of others where that can be, and only otherwise in the run's: programs make
    /// sockets in it, whose paths end after 107 bytes, and a run lies deep below the user's home.
    ///
    /// # Errors
    ///
    /// When one of them cannot be made; nothing of it is left then.
    pub(super) fn create(
        run: &Path,
        user_agent_dir: &Path,
        temporaries: Option<&Path>,
    ) -> Result<Self, FilesError> {
        let agent =
            PrivateAgentDir::create(user_agent_dir, &run.join("agent")).map_err(|error| match error {
                AgentDirError::Read { path, source } | AgentDirError::Write { path, source } => {
                    FilesError { path, source }
                }
            })?;
        let make = |path: PathBuf| match private_dir_builder().create(&path) {
            Ok(()) => Ok(path),
            Err(source) => Err(FilesError { path, source }),
        };
        // Made by us or not taken: nobody else can have put a directory of his own there.
        let short = temporaries.zip(run.file_name()).and_then(|(temporaries, id)| {
            let mut name = OsString::from(PREFIX);
            name.push(id);
            make(temporaries.join(name)).ok()
        });
        let temporary = short.map_or_else(|| make(run.join("tmp")), Ok)?;
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
    pub(super) fn give_back(&self, provider: &str, patience: Duration) -> Option<String> {
        match self.agent.give_back_within(provider, patience) {
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
