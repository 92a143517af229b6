//! The private directories of a child. It gets an agent directory if it is sandboxed or its agent has its own
//! credentials, and a temporary directory if it is sandboxed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::private_files::{PrivateDirsSpec, TokenUse};
use crate::credentials::{
    GiveBack, PrivateAgentDir, Refused, has_entry, link_shell, needs_refresh, refresh_before_copy,
    remove_tree, rewrite_options,
};
use crate::run::blocking::blocking;
use crate::run::callbacks::HostCallbacks;
use crate::run::context::{COMPILE_CACHE_VARIABLE, NO_COMPILE_CACHE_VARIABLE};
use files::{FileError, private};
use sanitizer::chain;

/// The prefix of the names of temporary directories. The run's id follows.
pub(super) const TEMPORARY_PREFIX: &str = "pi-subagent-";
/// The name of the child's agent directory, if it is inside the run's directory.
pub(super) const AGENT: &str = "agent";
/// The name of the temporary directory, if it is inside the run's directory.
pub(super) const TEMPORARY: &str = "tmp";
/// The names of the directories inside the run's directory from which the child's shell and the shell of its checks
/// start.
pub(super) const SHELL: &str = "shell";
pub(super) const CHECK: &str = "check";
/// The permission bits that let group and others write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A private agent directory for one child, and a temporary directory if the child is sandboxed. [`Self::remove`]
/// removes both.
#[derive(Debug)]
pub(crate) struct PrivateDirs {
    temporary: Option<PathBuf>,
    agent: PrivateAgentDir,
    compile_cache: Option<(&'static str, OsString)>,
    fixed: Vec<PathBuf>,
    /// True if pi can write renewed tokens.
    renews: bool,
}

impl PrivateDirs {
    /// Creates them for the run in the directory `run`. The agent directory is at the path `agent`, or else inside
    /// `run`. Blocks.
    ///
    /// The temporary directory is inside the system's temporary directory if possible, because programs create sockets
    /// in it. The paths of sockets are limited to 107 bytes, and the run's directory is deep below the user's home.
    /// The run's directory is the fallback.
    ///
    /// By default, pi's compile cache would be in this temporary directory, where the child's tools can write. They
    /// could replace the code that pi loads later. So a variable makes pi use the user's cache, which it can only
    /// read. Without a cache, pi would compile all of its code.
    ///
    /// # Errors
    ///
    /// Fails if one of them cannot be created. Then neither is left.
    pub(crate) fn create(
        run: &Path,
        agent: Option<PathBuf>,
        wanted: PrivateDirsSpec<'_>,
    ) -> Result<Self, FileError> {
        let PrivateDirsSpec {
            agent_dir, credentials, keys, is_sandboxed, temporaries, compile_cache, ..
        } = wanted;
        let mut agent = PrivateAgentDir::create(agent_dir, &agent.unwrap_or_else(|| run.join(AGENT)))?;
        agent.add_keys(keys.iter().map(|known| (known.provider.as_str(), known.key.as_str())))?;
        if let Some(credentials) = credentials {
            agent.merge_credentials(credentials)?;
        }
        if !is_sandboxed {
            return Ok(Self { temporary: None, agent, compile_cache: None, fixed: Vec::new(), renews: true });
        }
        let renews = agent.may_renew(wanted.provider, wanted.until);
        let fixed = agent.fixed(renews, wanted.downloads)?;
        let make = |path: PathBuf| match private::create_dir(&path) {
            Ok(()) => Ok(path),
            Err(error) => Err(FileError::at(&path)(error)),
        };
        // Used only if this call creates it, so no other user can have put a directory there.
        let short = Self::temporary_of(run, temporaries).and_then(|path| make(path).ok());
        let temporary = short.map_or_else(|| make(run.join(TEMPORARY)), Ok)?;
        let compile_cache = compile_cache.map(|cache| {
            if is_own_and_private(cache) {
                (COMPILE_CACHE_VARIABLE, cache.into())
            } else {
                (NO_COMPILE_CACHE_VARIABLE, "1".into())
            }
        });
        Ok(Self { temporary: Some(temporary), agent, compile_cache, fixed, renews })
    }

    /// Returns the path of the run's temporary directory inside the system's temporary directory.
    pub(super) fn temporary_of(run: &Path, temporaries: Option<&Path>) -> Option<PathBuf> {
        temporaries.zip(run.file_name()).map(|(temporaries, id)| temporaries.join(temporary_name(id)))
    }

    /// Removes private directories that remain in a run's directory after its host and child were killed together.
    pub(crate) fn clear(run: &Path) -> io::Result<()> {
        [AGENT, TEMPORARY, SHELL, CHECK].iter().try_for_each(|name| remove_tree(&run.join(name)))
    }

    /// Removes them. Returns true if nothing remains.
    pub(crate) fn remove(self) -> bool {
        let Self { temporary, agent, .. } = self;
        // Tries to remove both, even if the first fails.
        let removals = [temporary.map(|temporary| remove_tree(&temporary)), Some(remove_tree(agent.path()))];
        removals.into_iter().flatten().all(|removed| removed.is_ok())
    }

    /// Returns the value of `TMPDIR`, if the child has its own temporary directory.
    pub(crate) fn temporary(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }

    /// Returns the variable that names the compile cache of a sandboxed child, or disables it. `None` if the user has
    /// set one.
    pub(crate) fn compile_cache(&self) -> Option<&(&'static str, OsString)> {
        self.compile_cache.as_ref()
    }

    /// Returns the value of `PI_CODING_AGENT_DIR`.
    pub(crate) fn agent(&self) -> &Path {
        self.agent.path()
    }

    /// Returns the shell that the user's settings name.
    pub(crate) fn shell(&self) -> Option<&str> {
        self.agent.shell()
    }

    /// Returns the paths in the agent directory that a sandboxed child must not change, where a mount namespace can
    /// prevent it.
    pub(crate) fn fixed(&self) -> &[PathBuf] {
        &self.fixed
    }

    /// Returns true if pi can write each token of this provider that it may have to renew before `until`.
    pub(crate) fn covers(&self, provider: Option<&str>, until: Option<SystemTime>) -> bool {
        self.renews || !self.agent.may_renew(provider, until)
    }

    /// Makes pi start `program` as its shell, with these options. They are in the run's directory `run`, where the child
    /// cannot write: with other options, the shell would have no sandbox.
    pub(crate) fn replace_shell(&self, run: &Path, program: &Path, options: &[u8]) -> Result<(), FileError> {
        self.agent.set_shell(&link_shell(&run.join(SHELL), program, options)?)
    }

    /// Replaces the options of the shell. No shell may have been started yet.
    pub(crate) fn rewrite_shell_options(run: &Path, options: &[u8]) -> Result<(), FileError> {
        rewrite_options(&run.join(SHELL), options)
    }

    /// Creates a shell like the child's for a check. Blocks.
    pub(crate) fn shell_of_commands(
        run: &Path,
        program: &Path,
        options: &[u8],
    ) -> Result<PathBuf, FileError> {
        let place = run.join(CHECK);
        remove_tree(&place).map_err(FileError::at(&place))?;
        link_shell(&place, program, options)
    }

    /// Returns the directories of these shells.
    pub(crate) fn shells(run: &Path) -> [PathBuf; 2] {
        [SHELL, CHECK].map(|name| run.join(name))
    }

    /// Returns notices about files that the child does not get.
    pub(crate) fn skipped_files(&self) -> Vec<String> {
        let notice =
            |(path, why): &(PathBuf, String)| format!("the child does not get `{}`: {why}", path.display());
        self.agent.skipped_files().iter().map(notice).collect()
    }

    /// Copies a provider's refreshed token back into the user's credentials. Blocks. If the child has a new token,
    /// returns a notice that says what happened to it.
    pub(crate) fn give_back(&self, provider: &str, lock_timeout: Duration) -> Option<String> {
        match self.agent.give_back(provider, lock_timeout) {
            // Without a login there is nothing to lose: most providers are used with a key.
            Ok(GiveBack::Unchanged | GiveBack::Refused(Refused::NotLoggedIn)) => None,
            Ok(GiveBack::Returned) => Some(format!(
                "the child renewed the expiring login for `{provider}`, and its new token is now in your credentials"
            )),
            Ok(GiveBack::Refused(why)) => {
                Some(format!("the child's new token for `{provider}` was not saved: {why}"))
            }
            Err(error) => Some(format!("the child's new token for `{provider}` is lost: {}", chain(&error))),
        }
    }
}

impl TokenUse {
    /// Returns true if the token should be refreshed before it is copied. Blocks.
    pub(crate) fn needs_refresh(&self) -> bool {
        // The host's pi does not have the agent's own credentials, so the child always refreshes these tokens itself.
        let has_own_entry = self.credentials.as_ref().is_some_and(|path| has_entry(path, &self.provider));
        !has_own_entry && needs_refresh(&self.agent_dir, &self.provider, self.until)
    }

    /// Refreshes the token if it would expire during the run. If it still expires, the child refreshes it, and the new
    /// token is copied back.
    pub(crate) async fn refresh(self, host: &dyn HostCallbacks) {
        let (is_needed, Self { agent_dir, provider, until, .. }) =
            blocking(move || (self.needs_refresh(), self)).await;
        if is_needed {
            let refresh = |valid_for| host.refresh(&provider, valid_for);
            refresh_before_copy(&agent_dir, &provider, until, refresh).await;
        }
    }
}

/// Returns true if only this user can have written to this directory. pi runs compiled code without checking it, and
/// anyone can create directories in the system's temporary directory.
fn is_own_and_private(directory: &Path) -> bool {
    let own_uid = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(directory)
        .is_ok_and(|found| found.is_dir() && found.uid() == own_uid && found.mode() & WRITABLE_BY_OTHERS == 0)
}

/// Returns the name of a run's temporary directory.
pub(super) fn temporary_name(id: &OsStr) -> OsString {
    let mut name = OsString::from(TEMPORARY_PREFIX);
    name.push(id);
    name
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Creates a compile cache with one file, and private directories next to it.
    fn scene(mode: u32) -> (tempfile::TempDir, PathBuf, PrivateDirs) {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let cache = root.path().join("cache");
        fs::create_dir(&cache).expect("the directory is created");
        fs::write(cache.join("code"), "compiled").expect("the file is written");
        fs::set_permissions(&cache, fs::Permissions::from_mode(mode)).expect("the permissions are set");
        let private_dirs = private_dirs(root.path(), &cache);
        (root, cache, private_dirs)
    }

    fn private_dirs(root: &Path, cache: &Path) -> PrivateDirs {
        let run = root.join("run");
        fs::create_dir_all(&run).expect("the directory is created");
        let agent_dir = root.join("agent");
        let wanted = PrivateDirsSpec {
            agent_dir: &agent_dir,
            credentials: None,
            keys: &[],
            is_sandboxed: true,
            temporaries: None,
            compile_cache: Some(cache),
            provider: None,
            until: None,
            downloads: false,
        };
        PrivateDirs::create(&run, None, wanted).expect("the private directories are created")
    }

    #[test]
    fn compiled_code_is_read_from_a_directory_that_the_child_s_tools_cannot_write() {
        let (_root, cache, private_dirs) = scene(0o755);
        assert_eq!(private_dirs.compile_cache(), Some(&(COMPILE_CACHE_VARIABLE, cache.clone().into())));
        let temporary =
            private_dirs.temporary().expect("a sandboxed run has a temporary directory").to_path_buf();
        assert_eq!(fs::read_dir(&temporary).expect("the directory is readable").count(), 0);
        assert!(private_dirs.remove());
        assert!(!temporary.exists());
        assert_eq!(fs::read_to_string(cache.join("code")).expect("the cache is readable"), "compiled");
    }

    #[test]
    fn compiled_code_that_others_could_have_written_is_not_used() {
        let none = (NO_COMPILE_CACHE_VARIABLE, OsString::from("1"));
        for mode in [0o775, 0o757, 0o777, 0o1777] {
            let (_root, _cache, private_dirs) = scene(mode);
            assert_eq!(private_dirs.compile_cache(), Some(&none), "{mode:o}");
        }
        let root = tempfile::tempdir().expect("a temporary directory is created");
        assert_eq!(private_dirs(root.path(), &root.path().join("absent")).compile_cache(), Some(&none));
        let (root, cache, before) = scene(0o755);
        before.remove();
        let link = root.path().join("link");
        symlink(&cache, &link).expect("the link is created");
        let private_dirs = private_dirs(root.path(), &link);
        assert_eq!(private_dirs.compile_cache(), Some(&none), "a link in place of the cache is not used");
    }
}
