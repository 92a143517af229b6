//! Makes a private agent directory and removes it again.

use std::fs::{self};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pi_subagent_warden::remove_tree;
use rustix::fs::CWD;
use serde_json::Value;

use super::auth_file::Credentials;
use super::layout::{AUTH, Content, Treatment, treatment};
use super::read::{MAX_COPIED, read_file, read_settled};
use crate::files::open::directory_no_follow_at;
use crate::files::private::{create_dir, write_new};

/// More entries than anyone's agent directory has.
const MAX_ENTRIES: usize = 4096;
/// The lists in pi's settings that hold paths.
const PATH_LISTS: [&str; 5] = ["packages", "extensions", "skills", "prompts", "themes"];
/// What an MCP server's tokens are refreshed with.
const MCP_REFRESH: &str = "refresh_token";

/// A private agent directory could not be made. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum AgentDirError {
    /// The user's directory is there and cannot be read.
    #[error("cannot read the agent directory `{path}`")]
    Read {
        /// The user's directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Something could not be written.
    #[error("cannot write `{path}`")]
    Write {
        /// What could not be written.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Something that the child does without, because it could not be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The user's file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// A private copy of the user's agent directory, for one child. Dropping it removes it with everything in it; links are
/// removed, not followed.
#[derive(Debug)]
pub struct PrivateAgentDir {
    path: PathBuf,
    /// The directory itself, whatever its name comes to mean.
    pub(super) directory: OwnedFd,
    /// The user's credentials.
    pub(super) auth: PathBuf,
    /// What they were.
    pub(super) copied: Credentials,
    /// What lies over them.
    pub(super) overlay: Option<Overlay>,
    pub(super) left_out: Vec<LeftOut>,
}

/// A file of credentials beside pi's own, and what was in it.
#[derive(Debug)]
pub(super) struct Overlay {
    /// The user's file.
    pub(super) path: PathBuf,
    /// What was taken over from it.
    pub(super) credentials: Credentials,
}

impl PrivateAgentDir {
    /// Makes the directory `at`, which must not exist yet while its parent must, from the user's directory `real`, which
    /// need not exist. Blocks; while another process refreshes a token, for up to 35 s, because the token before that one
    /// may be good for nothing.
    ///
    /// Files that cannot be copied are left out and named by [`Self::left_out`], as pi does without what it cannot read.
    ///
    /// # Errors
    ///
    /// When the user's directory cannot be listed or `at` cannot be written.
    pub fn create(real: &Path, at: &Path) -> Result<Self, AgentDirError> {
        let unreadable = |source| AgentDirError::Read { path: real.to_owned(), source };
        let real = std::path::absolute(real).map_err(unreadable)?;
        let names = names_in(&real).map_err(unreadable)?;
        let unwritable = |source| AgentDirError::Write { path: at.to_owned(), source };
        create_dir(at).map_err(unwritable)?;
        let directory = directory_no_follow_at(CWD, at).map_err(|error| {
            let _ = fs::remove_dir(at);
            unwritable(error.into())
        })?;
        // From here on, dropping it removes it.
        let mut private = Self {
            path: at.to_owned(),
            directory,
            auth: real.join(AUTH),
            copied: Credentials::default(),
            overlay: None,
            left_out: Vec::new(),
        };
        for name in names {
            private.add(&real, &name)?;
        }
        Ok(private)
    }

    /// Where it is: the child's `PI_CODING_AGENT_DIR`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the child does without.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    fn add(&mut self, real: &Path, name: &Path) -> Result<(), AgentDirError> {
        let (original, own) = (real.join(name), self.path.join(name));
        let content = match treatment(name.as_os_str()) {
            Treatment::LeaveOut => return Ok(()),
            Treatment::Link => {
                return symlink(&original, &own).map_err(|source| AgentDirError::Write { path: own, source });
            }
            Treatment::Copy(content) => content,
        };
        match self.copy_of(&original, content, real) {
            Ok(bytes) => write_new(&own, &bytes).map_err(|source| AgentDirError::Write { path: own, source }),
            // Removed meanwhile, or a link to nothing: to pi it is not there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => {
                self.left_out.push(LeftOut { path: original, reason: error.to_string() });
                Ok(())
            }
        }
    }

    fn copy_of(&mut self, original: &Path, content: Content, real: &Path) -> io::Result<Vec<u8>> {
        if content == Content::Credentials {
            let bytes = read_settled(original)?;
            self.copied = Credentials::parse(&bytes).unwrap_or_default();
            return Ok(bytes);
        }
        let bytes = read_file(original, MAX_COPIED)?;
        match content {
            Content::Settings => Ok(anchored(&bytes, real).unwrap_or(bytes)),
            Content::McpTokens => without_refresh(&bytes),
            Content::Credentials | Content::Plain => Ok(bytes),
        }
    }
}

impl Drop for PrivateAgentDir {
    fn drop(&mut self) {
        // It lies in the run's own directory, and whoever removes that meets what is left.
        let _ = remove_tree(&self.path);
    }
}

/// The names in a directory; none where there is none, as for a pi that has never run.
fn names_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.take(MAX_ENTRIES).map(|entry| Ok(entry?.file_name().into())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Settings whose paths lead to where they led: those that leave the directory would leave another one now. `None` when
/// nothing has to change.
fn anchored(settings: &[u8], real: &Path) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(settings).ok()?;
    let mut parsed: Value = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()?;
    let mut changed = false;
    for list in PATH_LISTS {
        for item in parsed.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            // A package may be an object that says what of it is wanted.
            let path = if item.is_object() { item.get_mut("source") } else { Some(item) };
            let Some(Value::String(path)) = path else { continue };
            if path.trim_start().starts_with("..") {
                *path = format!("{}/{}", real.to_str()?, path.trim());
                changed = true;
            }
        }
    }
    changed.then(|| serde_json::to_vec_pretty(&parsed).ok()).flatten()
}

/// The tokens of MCP servers, good until they expire. One that a child refreshed could not come back, and the user's own
/// would be spent.
fn without_refresh(tokens: &[u8]) -> io::Result<Vec<u8>> {
    let mut parsed: Value = serde_json::from_slice(tokens)?;
    strip(&mut parsed);
    Ok(serde_json::to_vec_pretty(&parsed)?)
}

/// The parser has bounded the nesting.
fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove(MCP_REFRESH);
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => (),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(settings: &str) -> Option<Value> {
        let bytes = anchored(settings.as_bytes(), Path::new("/home/me/.pi/agent"))?;
        serde_json::from_slice(&bytes).ok()
    }

    #[test]
    fn only_paths_that_leave_the_directory_are_anchored() {
        let unchanged =
            r#"{"extensions":["./own.ts","-../x","~/x.ts"],"packages":["npm:a",{"source":"git:b"}]}"#;
        assert_eq!(anchor(unchanged), None);
        let moved = anchor(r#"{"theme":"dark","packages":["../../code/a",{"source":"../b","skills":[]}]}"#);
        let expected = serde_json::json!({
            "theme": "dark",
            "packages": ["/home/me/.pi/agent/../../code/a", {"source": "/home/me/.pi/agent/../b", "skills": []}],
        });
        assert_eq!(moved, Some(expected));
        assert_eq!(anchor("{ broken"), None);
    }

    #[test]
    fn tokens_of_mcp_servers_lose_what_refreshes_them() {
        let tokens =
            br#"{"s|https://x/":{"tokens":{"access_token":"a","refresh_token":"r"},"tokensExpireAt":1}}"#;
        let text = String::from_utf8(without_refresh(tokens).expect("JSON")).expect("text");
        assert!(text.contains("access_token") && !text.contains("refresh_token"), "{text}");
    }
}
